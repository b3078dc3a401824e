"""Parts of documents that were once lost: text boxes, fields, columns of tables, powers and notes."""

from __future__ import annotations

import os
from importlib.util import find_spec

import document_files as make
import pytest

from gsw_graph.loaders import read
from gsw_graph.loaders.text import join_lines
from gsw_graph.model.documents import Document

if not os.environ.get("CI") and not all(map(find_spec, ("pypdfium2", "mammoth", "markdownify"))):
    pytest.skip("needs the extra documents", allow_module_level=True)

NAMESPACES = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="s" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:m="m" xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'


def load(path, content):
    """The text of a file, and what was left out of it."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found, *rest = read([str(path)])
    assert isinstance(found, Document), found
    left_out = {kind: number for item in rest for kind, number in item.kinds}
    return "\n\n".join(passage.text for passage in found.passages), left_out


def test_case_07_a_hyphen_at_a_line_end_of_a_pdf(tmp_path):
    lines = [
        "The council of Anne-",
        "Marie Duval met in the Upper-",
        "Rhine hall of a self-",
        "governing town of twenty-",
        "one under an inter-",
        "national treaty.",
    ]
    expected = "The council of Anne-Marie Duval met in the Upper-Rhine hall of a self-governing town of twenty-one under an international treaty."
    assert load(tmp_path / "a.pdf", make.pdf(lines))[0] == expected
    assert (
        join_lines("self-\nish, well-\nington, selfmade self-\nmade")
        == "selfish, wellington, selfmade selfmade"
    )


BOX = f"<w:txbxContent>{make.paragraph('Kept by Edda Morland.')}{make.paragraph('In 1871.')}</w:txbxContent>"
BOXES = {
    "a drawing": f"<w:drawing><wps:txbx>{BOX}</wps:txbx></w:drawing>",
    "an old one": f"<w:pict><v:shape><v:textbox>{BOX}</v:textbox></v:shape></w:pict>",
    "both": f"<mc:AlternateContent><mc:Choice><w:drawing><wps:txbx>{BOX}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>{BOX}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent>",
    "without an old one": f"<mc:AlternateContent><mc:Choice><w:drawing><wps:txbx>{BOX}</wps:txbx></w:drawing></mc:Choice></mc:AlternateContent>",
    "a picture instead of it": f"<mc:AlternateContent><mc:Choice><w:drawing><wps:txbx>{BOX}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict/></mc:Fallback></mc:AlternateContent>",
}


@pytest.mark.parametrize("kind", BOXES)
def test_case_11_text_boxes_of_word(tmp_path, kind):
    body = f"<w:p {NAMESPACES}><w:r><w:t>Before.</w:t></w:r><w:r>{BOXES[kind]}</w:r></w:p>{make.paragraph('After.')}"
    found = load(tmp_path / "a.docx", make.docx(body))[0].split("\n\n")
    assert found == [
        "Before.",
        "Kept by Edda Morland.",
        "In 1871.",
        "After.",
    ]


PIECES = {
    "a display formula": "<m:oMathPara><m:oMath><m:r><m:t>E=mc</m:t></m:r></m:oMath></m:oMathPara>",
    "a field": '<w:fldSimple w:instr="AUTHOR"><w:r><w:t>E=mc</w:t></w:r></w:fldSimple>',
    "a direction": "<w:bdo><w:dir><w:r><w:t>E=mc</w:t></w:r></w:dir></w:bdo>",
    "ruby": "<w:r><w:ruby><w:rt><w:r><w:t>no</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>E=mc</w:t></w:r></w:rubyBase></w:ruby></w:r>",
    "a smart tag": "<w:smartTag><w:r><w:t>E=mc</w:t></w:r></w:smartTag>",
    "a control": "<w:sdt><w:sdtContent><w:r><w:t>E=mc</w:t></w:r></w:sdtContent></w:sdt>",
    "a choice": '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="no"/><w:listEntry w:val="E=mc"/></w:ddList></w:ffData></w:fldChar></w:r><w:r><w:instrText>FORMDROPDOWN</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>',
}


@pytest.mark.parametrize("kind", PIECES)
def test_case_11_pieces_of_a_paragraph_of_word(tmp_path, kind):
    body = f'<w:p {NAMESPACES}><w:r><w:t xml:space="preserve">It is </w:t></w:r>{PIECES[kind]}<w:r><w:t xml:space="preserve"> here.</w:t></w:r></w:p>'
    assert load(tmp_path / "a.docx", make.docx(body))[0] == "It is E=mc here."


def test_case_11_boxes_to_tick_and_hidden_slides(tmp_path):
    box = '<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="{}"/></w14:checkbox></w:sdtPr><w:sdtContent><w:r><w:t>x</w:t></w:r></w:sdtContent></w:sdt>'.format
    body = f"<w:p {NAMESPACES}>{box(1)}<w:r><w:t>paid</w:t></w:r></w:p><w:p {NAMESPACES}>{box(0)}<w:r><w:t>sent</w:t></w:r></w:p>"
    assert load(tmp_path / "a.docx", make.docx(body))[0] == "[x] paid\n\n[ ] sent"
    hidden = make.slide(make.shape("Aside.")).replace("<p:sld ", '<p:sld show="0" ')
    found = load(tmp_path / "a.pptx", make.pptx({"slide1.xml": hidden}))[0].split("\n\n")
    assert found == [
        "(The next slide is hidden.)",
        "Aside.",
    ]


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("10<sup>6</sup> people in 1902<sup>3</sup>.", "10^6 people in 1902[3]."),
        (
            "By Ida Falk<sup>1</sup> and H<sub>2</sub>O of 3 m<sup>2</sup>.",
            "By Ida Falk[1] and H2O of 3 m^2.",
        ),
        (
            "It ended.<sup>12</sup> On the 19<sup>th</sup> x<sup>n+1</sup>.",
            "It ended.[12] On the 19th x^n+1.",
        ),
    ],
)
def test_case_12_powers_and_notes(tmp_path, words, shown):
    assert load(tmp_path / "a.html", f"<html><p>{words}</p>")[0] == shown


def test_case_12_powers_of_word(tmp_path):
    raised = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>{}</w:t></w:r>'.format
    body = (
        f"<w:p><w:r><w:t>4 × 10</w:t></w:r>{raised(9)}<w:r><w:t> litres in 1902</w:t></w:r>{raised(3)}</w:p>"
    )
    assert load(tmp_path / "a.docx", make.docx(body))[0] == "4 × 10^9 litres in 1902[3]"


# --- tables ---


def rows(text):
    return [
        line for line in text.split("\n") if line.startswith("|") and "---" not in line and line.strip("| ")
    ]


def test_cells_over_several_rows_and_columns_of_a_page(tmp_path):
    page = (
        "<html><table><thead><tr><th rowspan=2>Region<th colspan=2>Town</tr><tr><th>Name<th>Mayor</tr></thead><tbody><tr><td rowspan=2>North<td>Pell<td>Bo</tr><tr><td>Aske<td>Ida</tr>"
        "<tr><td>South<td rowspan=0>Sund<td>Jon</tr><tr><td>West<td>Ada</tr></tbody></table>"
    )
    found = [
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in rows(load(tmp_path / "a.html", page)[0])
    ]
    expected = [
        ["Region", "Town", ""],
        ["", "Name", "Mayor"],
        ["North", "Pell", "Bo"],
        ["", "Aske", "Ida"],
        ["South", "Sund", "Jon"],
        ["West", "", "Ada"],
    ]
    assert found == expected


def test_cells_over_several_rows_and_columns_of_word(tmp_path):
    def cell(text, look=""):
        return f"<w:tc><w:tcPr>{look}</w:tcPr>{make.paragraph(text)}</w:tc>"

    wide = '<w:gridSpan w:val="2"/>'
    begins = '<w:vMerge w:val="restart"/>'
    goes_on = "<w:vMerge/>"
    table = [
        [cell("Region"), cell("Town"), cell("Mayor")],
        [cell("North", begins), cell("Pell"), cell("Bo")],
        [cell("", goes_on), cell("Aske"), cell("Ida")],
        [cell("All", wide), cell("Jon")],
        ['<w:trPr><w:gridBefore w:val="1"/></w:trPr>', cell("Sund"), cell("Ada")],
    ]
    body = f"<w:tbl>{''.join(f'<w:tr>{chr(0).join(row)}</w:tr>' for row in table)}</w:tbl>".replace("\0", "")
    found = [
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in rows(load(tmp_path / "a.docx", make.docx(body))[0])
    ]
    expected = [
        ["Region", "Town", "Mayor"],
        ["North", "Pell", "Bo"],
        ["", "Aske", "Ida"],
        ["All", "", "Jon"],
        ["", "Sund", "Ada"],
    ]
    assert found == expected
