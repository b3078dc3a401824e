"""Text that is struck out is marked, so that nobody reads it as current."""

from __future__ import annotations

import io
import os
import zipfile
from importlib.util import find_spec

import document_files as make
import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font

from gsw_graph.extract import rules
from gsw_graph.loaders import read
from gsw_graph.model.documents import Document

if not os.environ.get("CI") and not all(map(find_spec, ("mammoth", "markdownify"))):
    pytest.skip("needs the extra documents", allow_module_level=True)


def load(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found, *_ = read([str(path)])
    assert isinstance(found, Document), found
    return "\n\n".join(passage.text for passage in found.passages)


STRUCK = {
    "del": "<del>40 crowns</del>",
    "s": "<s>40 <b>crowns</b></s>",
    "strike": "<strike>40 crowns</strike>",
    "style": '<span style="color: red; text-decoration: line-through">40 crowns</span>',
    "style of CSS 3": '<i style="TEXT-DECORATION-LINE:Line-Through">40 crowns</i>',
    "class": '<span class="x old">40 crowns</span>',
    "rule for a tag": "<em>40 crowns</em>",
    "id": '<span id="gone">40 crowns</span>',
    "in each other": '<s><del>40 <span class="old">crowns</span></del></s>',
    "beside each other": "<s>40</s> <del>crowns</del>",
}
RULES = "/* .none { */ .old, #gone {color: red; text-decoration: red line-through} @media screen { em {text-decoration-line: line-through} } a:hover {text-decoration: line-through} !bad {"


@pytest.mark.parametrize("kind", STRUCK)
def test_case_32_struck_out_text_of_a_page_is_marked(tmp_path, kind):
    page = f"<html><head><style>{RULES}</style></head><body><p>The ferry costs {STRUCK[kind]} 55 crowns to <a>Pell</a>.</p></body></html>"
    assert load(tmp_path / "a.html", page) == "The ferry costs ~~40 crowns~~ 55 crowns to Pell."


def test_case_32_blocks_of_a_page_are_marked_each(tmp_path):
    page = "<html><del><p>One <b>two</b>.</p><ul><li>three</ul></del><table><tr><th>a<th>b<tr><td>c<td><s>d</s> e</table><pre>f <s>g</s></pre>"
    assert (
        load(tmp_path / "a.html", page)
        == "~~One two.~~\n\n- ~~three~~\n\n| a | b |\n| --- | --- |\n| c | ~~d~~ e |\n\n```\nf ~~g~~\n```"
    )


def run(text, look=""):
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


STYLES = (
    f'<w:styles xmlns:w="{make.WORD}"><w:style w:type="character" w:styleId="Old"><w:rPr><w:strike/></w:rPr></w:style>'
    '<w:style w:type="character" w:styleId="Older"><w:basedOn w:val="Old"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Gone"><w:rPr><w:dstrike/></w:rPr></w:style></w:styles>'
)


@pytest.mark.parametrize(
    ("pays", "shown"),
    [
        (run("600 crowns", "<w:strike/>"), "~~600 crowns~~"),
        (run("600 ", "<w:dstrike/>") + run("crowns", '<w:strike w:val="true"/>'), "~~600 crowns~~"),
        (run("600 crowns", '<w:rStyle w:val="Older"/>'), "~~600 crowns~~"),
        (run("600 crowns", '<w:rStyle w:val="Older"/><w:strike w:val="0"/>'), "600 crowns"),
        (f"<w:del><w:r><w:delText>600 crowns</w:delText></w:r></w:del><w:ins>{run('700')}</w:ins>", "700"),
        (f"<w:moveFrom>{run('600 crowns')}</w:moveFrom><w:moveTo>{run('500')}</w:moveTo>", "500"),
    ],
)
def test_case_32_struck_out_and_deleted_text_of_word(tmp_path, pays, shown):
    body = f"<w:p>{run('The tenant pays ')}{pays}{run(' 720 crowns.')}</w:p>"
    assert (
        load(tmp_path / "a.docx", make.docx(body, **{"word/styles.xml": STYLES}))
        == f"The tenant pays {shown} 720 crowns."
    )


def test_case_32_a_paragraph_of_word_that_its_style_strikes_out(tmp_path):
    body = f'<w:p><w:pPr><w:pStyle w:val="Gone"/></w:pPr>{run("All of it.")}</w:p><w:p>{run("None.")}</w:p>'
    assert (
        load(tmp_path / "a.docx", make.docx(body, **{"word/styles.xml": STYLES})) == "~~All of it.~~\n\nNone."
    )


def test_case_32_deleted_text_of_word_is_counted(tmp_path):
    deleted = "<w:del><w:r><w:delText>600</w:delText></w:r></w:del>"
    (tmp_path / "a.docx").write_bytes(make.docx(f"<w:p>{run('Pays ')}{deleted}{run('720.')}</w:p>"))
    _, left_out = read([str(tmp_path / "a.docx")])
    assert left_out.kinds == (("deleted text", 1),)


def test_case_32_struck_out_text_of_slides(tmp_path):
    piece = "<a:r><a:rPr {}/><a:t>{}</a:t></a:r>".format
    words = (
        piece("", "Costs ")
        + piece('strike="sngStrike"', "40 ")
        + piece('strike="dblStrike"', "crowns")
        + piece('strike="noStrike"', " 55.")
    )
    shape = f"<p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:txBody><a:p>{words}</a:p></p:txBody></p:sp>"
    assert (
        load(tmp_path / "a.pptx", make.pptx({"slide1.xml": make.slide(shape)})) == "Costs ~~40 crowns~~ 55."
    )


def test_case_32_struck_out_cells_and_parts_of_cells(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Fare", "Now"])
    sheet.append([40, 55])
    sheet["A2"].font = Font(strike=True)
    sheet["A3"] = CellRichText(TextBlock(InlineFont(strike=True), "90 crowns"), " 75 crowns")
    sheet["B3"] = CellRichText("10", TextBlock(InlineFont(vertAlign="superscript"), "6"))
    stream = io.BytesIO()
    book.save(stream)
    shown = load(tmp_path / "a.xlsx", stream.getvalue())
    assert "| ~~40~~ | 55 |" in shown
    assert "| ~~90 crowns~~ 75 crowns | 10^6 |" in shown


def test_case_32_parts_of_cells_that_excel_keeps_apart(tmp_path):
    book = make.xlsx(("Fares", [["x", "y"]]))
    strings = (
        '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><r><rPr><strike/></rPr><t>90 crowns</t></r><r><t xml:space="preserve"> 75 crowns</t></r></si>'
        '<si><r><t>10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>6</t></r></si></sst>'
    )
    cells = '<c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c>'
    sheet = f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1">{cells}</row></sheetData></worksheet>'
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    with zipfile.ZipFile(io.BytesIO(book)) as file:
        types = file.read("[Content_Types].xml").decode()
    types = types.replace(
        "</Types>", f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}"/></Types>'
    )
    book = make.changed(
        book,
        {"[Content_Types].xml": types, "xl/sharedStrings.xml": strings, "xl/worksheets/sheet1.xml": sheet},
    )
    assert "| ~~90 crowns~~ 75 crowns | 10^6 |" in load(tmp_path / "a.xlsx", book)


def test_case_32_the_marks_part_no_names(tmp_path):
    (tmp_path / "a.html").write_text(
        "<html><p>The keeper is <s>Ida Falkenrath</s> Bo Lind of <del>Aske</del> Pell.</p>"
    )
    (found,) = read([str(tmp_path / "a.html")])
    assert {"Ida Falkenrath", "Bo Lind", "Aske", "Pell"} <= {
        entity.name for entity in rules.extract(found).entities
    }
