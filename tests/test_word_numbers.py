"""The numbers that Word and other programs make by themselves are in the text."""

from __future__ import annotations

import os
from importlib.util import find_spec

import document_files as make
import pytest

from gsw_graph.loaders import read
from gsw_graph.loaders.numerals import letters, ordinal, roman
from gsw_graph.model.documents import Document

if not os.environ.get("CI") and not all(map(find_spec, ("mammoth", "markdownify"))):
    pytest.skip("needs the extra documents", allow_module_level=True)


def level(number, form, text, more=""):
    return f'<w:lvl w:ilvl="{number}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/>{more}</w:lvl>'


def abstract(key, *levels, more=""):
    return f'<w:abstractNum w:abstractNumId="{key}">{more}{"".join(levels)}</w:abstractNum>'


def num(key, base, more=""):
    return f'<w:num w:numId="{key}"><w:abstractNumId w:val="{base}"/>{more}</w:num>'


def item(text, key=None, depth=0, style="", mark=""):
    name = f'<w:pStyle w:val="{style}"/>' if style else ""
    depth = "" if depth is None else f'<w:ilvl w:val="{depth}"/>'
    numbered = f'<w:numPr>{depth}<w:numId w:val="{key}"/></w:numPr>' if key is not None else ""
    words = f"<w:r><w:t>{text}</w:t></w:r>" if text else ""
    return f"<w:p><w:pPr>{name}{numbered}{mark}</w:pPr>{words}</w:p>"


def load(path, body, numbering, styles=""):
    parts = {
        "word/numbering.xml": f'<w:numbering xmlns:w="{make.WORD}">{numbering}</w:numbering>',
        "word/styles.xml": f'<w:styles xmlns:w="{make.WORD}">{styles}</w:styles>',
    }
    path.write_bytes(make.docx(body, **parts))
    found, *_ = read([str(path)])
    assert isinstance(found, Document), found
    text = "\n\n".join(passage.text for passage in found.passages)
    return [line for line in text.split("\n") if line]


CLAUSES = abstract(
    1,
    level(0, "decimal", "%1."),
    level(1, "decimal", "%1.%2"),
    level(2, "lowerLetter", "(%3)"),
    level(3, "upperRoman", "%4)"),
)


def test_case_34_clauses_of_several_levels(tmp_path):
    places = [
        ("Term", 0),
        ("Ten years.", 1),
        ("Renewed once.", 1),
        ("by letter", 2),
        ("by word", 2),
        ("or not", 3),
        ("Repairs", 0),
        ("The wheel.", 1),
        ("by hand", 2),
    ]
    body = "".join(item(text, 1, depth) for text, depth in places) + item("Clause 2.1 holds.")
    assert load(tmp_path / "a.docx", body, CLAUSES + num(1, 1)) == [
        "1. Term", "1.1 Ten years.", "1.2 Renewed once.", "(a) by letter", "(b) by word", "I) or not", "2. Repairs", "2.1 The wheel.", "(a) by hand", "Clause 2.1 holds.",
    ]  # fmt: skip


def test_case_34_headings_have_the_numbers_of_their_style(tmp_path):
    styles = (
        '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/><w:basedOn w:val="H1"/></w:style>'
    )
    numbering = abstract(
        1,
        level(0, "upperRoman", "Article %1", '<w:pStyle w:val="H1"/>'),
        level(1, "decimal", "%1.%2", '<w:isLgl/><w:pStyle w:val="H2"/>'),
    )
    body = (
        item("Term", style="H1")
        + item("Words.")
        + item("Length", style="H2")
        + item("More.")
        + item("None", 0, style="H1")
        + item("Text.")
    )
    found = load(tmp_path / "a.docx", item("Lease", style="H0") + body, numbering + num(1, 1), styles)
    assert found == ["Lease", "Article I Term", "Words.", "1.1 Length", "More.", "None", "Text."]


def test_case_34_lists_go_on_and_begin_anew(tmp_path):
    numbering = (
        abstract(1, level(0, "decimal", "%1.")) + abstract(2, level(0, "bullet", "-"), level(1, "bullet", "o"))
        + num(1, 1) + num(2, 2) + num(3, 1) + num(4, 1, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>')
    )  # fmt: skip
    body = "".join([
        item("one", 1), item("two", 1), item("tallow", 2), item("oil", 2, 1), item("three", 1), item("Between."), item("four", 3), item("seven", 4), item("", 4), item("nine", 4, None),
        item("", 4, mark="<w:rPr><w:del/></w:rPr>"), item("ten", 4),
    ])  # fmt: skip
    found = load(tmp_path / "a.docx", body, numbering)
    assert found == [
        "1. one",
        "2. two",
        "- tallow",
        "  - oil",
        "3. three",
        "Between.",
        "4. four",
        "7. seven",
        "9. nine",
        "10. ten",
    ]


def test_case_34_levels_that_begin_anew_otherwise(tmp_path):
    never = abstract(1, level(0, "decimal", "%1"), level(1, "decimal", "§%2", '<w:lvlRestart w:val="0"/>'))
    body = "".join(item("x", 1, depth) for depth in (0, 1, 1, 0, 1))
    found = load(tmp_path / "a.docx", body, never + num(1, 1))
    assert found == ["1 x", "§1 x", "§2 x", "2 x", "§3 x"]


def test_case_34_a_list_by_a_style_of_lists(tmp_path):
    numbering = (
        abstract(1, more='<w:numStyleLink w:val="Legal"/>') + abstract(2, level(0, "decimalZero", "%1"), level(1, "lowerRoman", "%2."), more='<w:styleLink w:val="Legal"/>')
        + num(1, 1) + num(2, 2)
    )  # fmt: skip
    found = load(tmp_path / "a.docx", item("x", 1) + item("y", 2) + item("z", 1, 1), numbering)
    assert found == [
        "01 x",
        "02 y",
        "i. z",
    ]


def test_case_34_numbers_in_tables_and_boxes(tmp_path):
    cell = f"<w:tc>{item('in a cell', 1)}</w:tc>"
    box = f"<w:p><w:r><w:pict><w:txbxContent>{item('in a box', 1)}</w:txbxContent></w:pict></w:r></w:p>"
    body = item("before", 1) + f"<w:tbl><w:tr>{cell}</w:tr></w:tbl>" + box + item("after", 1)
    found = " ".join(load(tmp_path / "a.docx", body, CLAUSES + num(1, 1)))
    for text in ("1. before", "2. in a cell", "3. in a box", "4. after"):
        assert text in found


def test_numerals():
    found = [roman(number) for number in (1, 4, 9, 14, 40, 1990, 0)]
    assert found == [
        "i",
        "iv",
        "ix",
        "xiv",
        "xl",
        "mcmxc",
        "0",
    ]
    assert [letters(number) for number in (1, 26, 27, 53)] == ["a", "z", "aa", "aaa"]
    found = [ordinal(number) for number in (1, 2, 3, 4, 11, 22, 112)]
    assert found == [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "11th",
        "22nd",
        "112th",
    ]


def test_numbers_of_slides_and_of_lists_of_a_page(tmp_path):
    point = '<a:p><a:pPr lvl="{}"><a:buAutoNum type="{}" startAt="{}"/></a:pPr><a:r><a:t>{}</a:t></a:r></a:p>'.format
    points = (
        point(0, "arabicPeriod", 3, "x")
        + point(0, "arabicPeriod", 3, "y")
        + point(1, "alphaLcParenBoth", 1, "z")
        + point(0, "arabicPeriod", 3, "w")
    )
    shape = f"<p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:txBody>{points}</p:txBody></p:sp>"
    (tmp_path / "a.pptx").write_bytes(make.pptx({"slide1.xml": make.slide(shape)}))
    (found,) = read([str(tmp_path / "a.pptx")])
    assert found.passages[0].text.split("\n\n") == ["3. x", "4. y", "(a) z", "5. w"]
    (tmp_path / "a.html").write_text(
        "<html><ol type=a start=3><li>x<li value=9>y</ol><ol reversed><li>p<li>q</ol><ol style='list-style: upper-roman'><li>r</ol><ol start=4><li>s</ol>"
    )
    (found,) = read([str(tmp_path / "a.html")])
    assert found.passages[0].text.split("\n\n") == ["c. x", "i. y", "2. p", "1. q", "I. r", "4. s"]
