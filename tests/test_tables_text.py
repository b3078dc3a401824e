"""Tables as text (CSV, TSV): stray quotation marks, cells of several lines, rows that do not fit the head."""

from __future__ import annotations

import pytest

from gsw_graph.loaders import read
from gsw_graph.model.documents import Document, Skipped


def load(path, content):
    """Return the lines of a table, and what the load says of it."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found, *rest = read([str(path)])
    assert isinstance(found, Document), found
    assert all(isinstance(item, Skipped) and item.part for item in rest)
    return "\n".join(passage.text for passage in found.passages).split("\n"), [item.reason for item in rest]


@pytest.mark.parametrize("delimiter", list(",;\t|"))
@pytest.mark.parametrize(
    "stray",
    ['"Tern engine', 'Tern "Old engine', 'Tern 3.5"', '"Tern" engine', "'Tern engine", '"Tern "Old" engine'],
)
def test_case_35_a_stray_mark_glues_no_rows(tmp_path, delimiter, stray):
    rows = [("Item", "Maker", "Year"), *((f"Gull {n}", "Per Vik", str(n)) for n in range(3000))]
    rows[10], rows[2000] = (stray, "Ida Holm", "1920"), ('Heron 7"', "Rolf", "9")
    lines, notices = load(tmp_path / "a.csv", "\n".join(delimiter.join(row) for row in rows))
    assert len(lines) == 3000
    assert lines[9] == f"Item: {stray}; Maker: Ida Holm; Year: 1920"
    assert lines[8] == "Item: Gull 8; Maker: Per Vik; Year: 8"
    assert lines[10] == "Item: Gull 10; Maker: Per Vik; Year: 10"
    assert notices == []


@pytest.mark.parametrize(
    ("table", "lines"),
    [
        (
            'Name,Note\nAnn,"Met Bo, late,\nand Ida, at\nPell, in May"\nBo,x\n',
            ["Name: Ann; Note: Met Bo, late, and Ida, at Pell, in May", "Name: Bo; Note: x"],
        ),
        ('Name;Note\nAnn;"12 Main St\nHarrow"\n', ["Name: Ann; Note: 12 Main St Harrow"]),
        ('Name,Note\nAnn,"He said ""no, never"" to\nBo"\n', ['Name: Ann; Note: He said "no, never" to Bo']),
        (
            'Name,Note\nAnn,"He said \\"no, never\\" to Bo"\nBo,"C:\\dir\\"\n',
            ['Name: Ann; Note: He said "no, never" to Bo', "Name: Bo; Note: C:\\dir\\"],
        ),
        (
            "'Name','Town'\n'Vik, Per','Pell'\n'Holm, Ida','Harrow'\n",
            ["Name: Vik, Per; Town: Pell", "Name: Holm, Ida; Town: Harrow"],
        ),
        (
            "Name,Town\n't Hooft,Pell\nO'Hara,Harrow\n",
            ["Name: 't Hooft; Town: Pell", "Name: O'Hara; Town: Harrow"],
        ),
        ("Name;Size\nAnn;1,50\nBo;1,60\n", ["Name: Ann; Size: 1,50", "Name: Bo; Size: 1,60"]),
        ("\ufeffName,Town,\r\nAnn,Pell,\r\n,,\r\n\r\n", ["Name: Ann; Town: Pell"]),
    ],
)
def test_cells_stay_as_they_were_written(tmp_path, table, lines):
    assert load(tmp_path / "a.csv", table) == (lines, [])


def test_no_cell_of_a_record_is_lost(tmp_path):
    (tmp_path / "a.csv").write_text('title,text,year\nA,"Some\nwords",1904\nB,More words,1911,harbour\n')
    first, second, notice = read([str(tmp_path / "a.csv")])
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert first.passages[0].text == "Some words"
    assert dict(first.meta) == {"year": 1904}
    assert dict(second.meta) == {"year": 1911, "column_4": "harbour"}
    assert isinstance(notice, Skipped)
    assert notice.reason.endswith("line 4")


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_encodings_of_spreadsheets(tmp_path, codec):
    assert load(tmp_path / "a.csv", "Name\tTown\r\nAnn\tPell\r\n".encode(codec)) == (
        ["Name: Ann; Town: Pell"],
        [],
    )


@pytest.mark.parametrize(
    ("table", "lines"),
    [
        ("Region,2019,2020\nNorth,410,433\n", ["Region: North; 2019: 410; 2020: 433"]),
        ("sep=;\nTown;Mayor\nPell;Jon\n", ["Town: Pell; Mayor: Jon"]),
        (
            "Report of the office,,\n,,\nTown,Mayor,Founded\nPell,Jon,1702\n",
            ["Report of the office", "Town: Pell; Mayor: Jon; Founded: 1702"],
        ),
    ],
)
def test_case_09_the_head_of_a_table(tmp_path, table, lines):
    assert load(tmp_path / "a.csv", table) == (lines, [])
