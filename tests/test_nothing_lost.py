"""What documents say is in the text, or the load report counts what was left out: small inputs that were once read wrongly."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec

import document_files as make
import pytest

from gsw_graph.loaders import read
from gsw_graph.loaders.text import join_lines, shifted
from gsw_graph.model.documents import Document, Skipped

if not os.environ.get("CI") and not all(map(find_spec, ("pypdfium2", "mammoth", "markdownify"))):
    pytest.skip("needs the extra documents", allow_module_level=True)


def load(path, content):
    """The text of a file, its title, and what was left out of it."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found, *rest = read([str(path)])
    assert isinstance(found, Document), found
    left_out = {kind: number for item in rest if isinstance(item, Skipped) for kind, number in item.kinds}
    return "\n\n".join(passage.text for passage in found.passages), found.title, left_out


def test_what_stands_above_or_below_the_line_is_marked():
    assert [shifted(mark, "^") for mark in ("6", "n+1", "th", "[3]")] == ["^6", "^n+1", "th", "[3]"]
    assert [shifted(mark, "_") for mark in ("2", "i")] == ["2", "_i"]


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("Anne-\nMarie", "Anne-Marie"),
        ("inter-\nnational", "international"),
        ("INTER-\nNATIONAL", "INTERNATIONAL"),
        ("a tide-\ntable of the tide-table", "a tide-table of the tide-table"),
        ("a 20-\nyear plan", "a 20-year plan"),
        ("co\u00ad\noperation, soft\u00adhyphen", "cooperation, softhyphen"),
        ("one -\ntwo\n- three", "one -\ntwo\n- three"),
    ],
)
def test_a_hyphen_at_a_line_end_stays_where_it_belongs_to_the_word(tmp_path, text, joined):
    assert join_lines(text) == joined
    assert load(tmp_path / "a.txt", text)[0] == joined
    lines = [line for line in text.split("\n") if "\u00ad" not in line]
    if len(lines) == 2:
        assert load(tmp_path / "a.pdf", make.pdf(lines))[0] == joined.replace(" -\n", " -\n")


@pytest.mark.parametrize(
    ("table", "lines"),
    [
        ("Region,2019,2020\nNorth,410,433\n", ["Region: North; 2019: 410; 2020: 433"]),
        ("\ufeffRegion\t0-14\t15-64\nNorth\t12\t30\n", ["Region: North; 0-14: 12; 15-64: 30"]),
        ("sep=;\nTown;Share\nPell;3,5\n", ["Town: Pell; Share: 3,5"]),
        ("Name;Height;Weight\nAnn;1,50;60,5\n", ["Name: Ann; Height: 1,50; Weight: 60,5"]),
        (
            "Report,,\n,,\nTown,Mayor,Founded\nPell,Jon,1702\n",
            ["Report", "Town: Pell; Mayor: Jon; Founded: 1702"],
        ),
        ("Report 2020\n\nTown;Mayor\nPell;Jon\n", ["Report 2020", "Town: Pell; Mayor: Jon"]),
        ("Town|2019\nPell|410\n", ["Town: Pell; 2019: 410"]),
        ("Bo,1871\nAna,1863\n", ["column 1: Bo; column 2: 1871", "column 1: Ana; column 2: 1863"]),
    ],
)
def test_the_head_of_a_table_names_its_columns(tmp_path, table, lines):
    assert load(tmp_path / "a.csv", table)[0].split("\n") == lines


@pytest.mark.parametrize(
    ("front", "about"),
    [
        (
            "---\ntitle: Kiln\nauthor: [Ida Falk, Bo Lind]\ndate: 2024-03-09\naliases: ['[[people/Old Furnace]]']\n---\n",
            "author: Ida Falk, Bo Lind; date: 2024-03-09; aliases: Old Furnace",
        ),
        ("---\ntitle: Kiln\nbomb: &a [1, 2]\nagain: *a\n---\n", "bomb: 1, 2; again: a"),
        ("---\ntitle: Kiln\ntags: [a, b]\nby: {name: Bo}\n...\n", "tags: a, b; by name: Bo"),
    ],
)
def test_front_matter_is_a_line_of_the_text(tmp_path, front, about):
    assert load(tmp_path / "a.md", front + "\nWords.")[:2] == (f"{about}\n\nWords.", "Kiln")


def test_front_matter_that_is_broken_stays_text(tmp_path):
    assert "Rex Vane" in load(tmp_path / "a.md", "---\nbroken: [a, 'Rex Vane\n---\nWords.")[0]


def test_links_comments_and_tags_of_notes(tmp_path):
    note = (
        "Met [[Ilse Karnov]] at [[Blue Harbor|the harbor]] with [[people/Tom Adeyemi.md]]. <!-- Rex\nVane --> %%Ada%% ![[map.png]] ![[old note]]\n\n"
        "10<sup>6</sup> of 1902[^1], [site](http://x.y).\n\n| [[a\\|b]] | `<!-- kept -->` |\n\n```\n%% kept %%\n```\n\n[^1]: By Ida Falk.\n"
    )
    text, _, left_out = load(tmp_path / "a.md", note)
    assert text.split("\n\n") == [
        "Met Ilse Karnov at the harbor with Tom Adeyemi.", "10^6 of 1902[1], site.", "| b | `<!-- kept -->` |", "```\n%% kept %%\n```", "[1] By Ida Falk.",
    ]  # fmt: skip
    assert left_out == {"comment": 2, "picture": 1, "embedded note": 1, "link address": 1}


def test_a_notebook_is_its_markdown_code_and_output(tmp_path):
    outputs = [
        {"output_type": "stream", "text": ["1\n"]},
        {"output_type": "display_data", "data": {"image/png": "A", "text/plain": "<Figure>"}},
        {"output_type": "stream", "text": "x" * 9000},
    ]
    cells = [
        {"cell_type": "markdown", "source": ["# Tide\n", "By Ida."]},
        {"cell_type": "code", "source": "print(1)", "outputs": outputs},
        {"cell_type": "raw", "source": "Raw."},
    ]
    text, title, left_out = load(
        tmp_path / "a.ipynb", json.dumps({"cells": cells, "nbformat": 4, "metadata": {}})
    )
    assert title == "Tide"
    assert text.startswith("By Ida.\n\n```\nprint(1)\n```\n\n```\n1\n```\n\n```\nxxx")
    assert text.endswith("Raw.")
    assert left_out == {"picture": 1, "long output": 1}


def test_blocks_of_a_page_are_apart_and_what_it_hides_is_left_out(tmp_path):
    page = (
        "<html><address>Ida Falk</address><address>Bo Lind</address><details><summary>More</summary>Inner</details>"
        "<label>Name</label><label>Town</label><p style='DISPLAY : none'>s2</p><p hidden>s3</p><template>s4</template><!-- s5 -->"
        "<p>Seen <span aria-hidden=true>s6</span>10<sup>6</sup> of 1902<sup><a>3</a></sup>, <math alttext='10^9'><msup><mn>10</mn><mn>9</mn></msup></math></p><img src=x>"
    )
    text, _, left_out = load(tmp_path / "a.html", page)
    assert text.split("\n\n") == [
        "Ida Falk",
        "Bo Lind",
        "More",
        "Inner",
        "Name",
        "Town",
        "Seen 10^6 of 1902[3], 10^9",
    ]
    assert left_out == {"hidden text": 4, "comment": 1, "picture": 1}


NAMESPACES = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="s" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:m="m"'


def test_parts_of_a_word_document(tmp_path):
    box = f"<w:txbxContent>{make.paragraph('Boxed Edda.')}</w:txbxContent>"
    run = "<m:r><m:t>{}</m:t></m:r>".format
    body = (
        f"<w:p {NAMESPACES}><w:r><w:t>Before.</w:t></w:r><w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
        f"<w:p {NAMESPACES}><m:oMath><m:f><m:num>{run('a+b')}</m:num><m:den><m:sSup><m:e>{run('x')}</m:e><m:sup>{run(2)}</m:sup></m:sSup></m:den></m:f></m:oMath></w:p>"
        "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>Hidden.</w:t></w:r><w:r><w:t>4 × 10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr><w:t>9</w:t></w:r></w:p>"
    )
    parts = {
        "word/comments.xml": f'<w:comments xmlns:w="{make.WORD}"><w:comment w:id="1"/></w:comments>',
        "word/header1.xml": f'<w:hdr xmlns:w="{make.WORD}">{make.paragraph("Town of Marrowby")}</w:hdr>',
        "docProps/core.xml": '<c:p xmlns:c="c" xmlns:dc="d"><dc:creator>Ida Falk</dc:creator></c:p>',
    }
    text, _, left_out = load(tmp_path / "a.docx", make.docx(body, **parts))
    assert text.split("\n\n") == ["author: Ida Falk", "Before.", "Boxed Edda.", "a+bx2", "4 × 10^9"]
    assert left_out == {"hidden text": 1, "comment": 1, "layout of a formula": 1, "page header or footer": 1}


def test_notes_groups_and_diagrams_of_slides(tmp_path):
    grouped = f"<p:grpSp>{make.shape('Grouped Kaspar.')}</p:grpSp>"
    twice = f"<mc:AlternateContent {NAMESPACES}><mc:Choice>{make.shape('Once.')}</mc:Choice><mc:Fallback>{make.shape('Once.')}</mc:Fallback></mc:AlternateContent>"
    diagram = f'<d:m xmlns:d="d" xmlns:a="{make.DRAWING}"><d:ptLst><d:pt><d:t><a:p><a:r><a:t>Smart.</a:t></a:r></a:p></d:t></d:pt></d:ptLst></d:m>'
    more = {
        "notesSlide": make.slide(make.shape("Say it."), make.shape("1", kind="sldNum")),
        "diagrams/data1": diagram,
    }
    text, _, left_out = load(
        tmp_path / "a.pptx", make.pptx({"slide1.xml": make.slide(grouped, twice)}, more=more)
    )
    assert text.split("\n\n") == ["Grouped Kaspar.", "Once.", "notes: Say it."]
    assert left_out == {"diagram": 1}
