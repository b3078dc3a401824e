"""A cell of a workbook says what Excel shows of it."""

from __future__ import annotations

import datetime
import io
import os
from importlib.util import find_spec

import openpyxl
import pytest

from gsw_graph.loaders import read
from gsw_graph.loaders.number_formats import shown
from gsw_graph.model.documents import Document

if not os.environ.get("CI") and not find_spec("mammoth"):
    pytest.skip("needs the extra documents", allow_module_level=True)

DAY = datetime.datetime(2026, 3, 15)
FORMATS = [
    (0.075, "0.0%", "7.5%"),
    (0.653035934239184, "0%", "65%"),
    (-0.25, "0.00%;[Red]-0.00%", "-25.00%"),
    (501, "00000", "00501"),
    (123456789, "000-00-0000", "123-45-6789"),
    (2025550123, "(000) 000-0000", "(202) 555-0123"),
    (12345678, r"00\ 00\ 00\ 00", "12 34 56 78"),
    (1234567.5, '"$"#,##0.00', "$1,234,567.50"),
    (1234.5, "#,##0.00 [$€-407]", "1,234.50 €"),
    (1500, "[$£-809]#,##0", "£1,500"),
    (-1234.5, "#,##0.00_);(#,##0.00)", "(1,234.50)"),
    (-1234.5, "#,##0.00", "-1,234.50"),
    (0, '_-* #,##0.00_-;-* #,##0.00_-;_-* "-"??_-;_-@_-', "-"),
    (1234567, '#,##0,"k"', "1,235k"),
    (1234567, '0.0,,"M"', "1.2M"),
    (12, '0 "km"', "12 km"),
    (12.5, '0.0"°C"', "12.5°C"),
    (42, 'General" pcs"', "42 pcs"),
    (0.5, "# ?/?", "1/2"),
    (2.75, "# ??/??", "2 3/4"),
    (1.3, "# ?/8", "1 2/8"),
    (12345, "0.00E+00", "1.23E+04"),
    (99999, "0.0E+0", "1.0E+5"),
    (0.00012, "0.0E-0", "1.2E-4"),
    (5, "[Red][>=100]0;[Blue]0.0", "5.0"),
    (150, "[Red][>=100]0;[Blue]0.0", "150"),
    (0, '"Yes";"Yes";"No"', "No"),
    (1.005, "0.00", "1.01"),
    (2.5, "0", "3"),
    (3.25, "0.##", "3.25"),
    (0.1 + 0.2, "General", "0.3"),
    (900.0, "General", "900"),
    (5, "@", "5"),
    (True, "General", "TRUE"),
    ("Bo", '"Dear "@', "Dear Bo"),
    (12, "0 unknown", "12"),
    (1e300, "0.00", "1e+300"),
    (12, ";;;", "12"),
    (0.125, f"0.{'0' * 60}", "0.125"),
    (DAY, "dd.mm.yyyy", "2026-03-15"),
    (DAY, "[$-407]d. mmmm yyyy", "2026-03-15"),
    (DAY, "mmm yyyy", "2026-03"),
    (DAY, "yyyy", "2026"),
    (DAY.replace(hour=9, minute=5), "dd/mm/yyyy hh:mm", "2026-03-15 09:05"),
    (datetime.time(9, 30), "hh:mm", "09:30"),
    (datetime.time(21, 30, 5), "h:mm:ss AM/PM", "21:30:05"),
    (datetime.timedelta(hours=26, minutes=30), "[h]:mm", "26:30"),
    (datetime.timedelta(hours=26, minutes=30, seconds=5), "[h]:mm:ss", "26:30:05"),
    (datetime.time(1, 30), "[mm]:ss", "90:00"),
]


@pytest.mark.parametrize(("value", "code", "text"), FORMATS)
def test_case_33_what_a_number_format_makes_of_a_value(value, code, text):
    assert shown(value, code) == text


def load(path, book):
    stream = io.BytesIO()
    book.save(stream)
    path.write_bytes(stream.getvalue())
    found, *_ = read([str(path)])
    assert isinstance(found, Document), found
    return found.passages[0].text


def test_case_33_a_workbook(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Branch", "Postcode", "Rate", "Sum", "Shift", "Paid", "Ratio"])
    sheet.append(["Pell Bay", 501, 0.075, -900, datetime.timedelta(hours=30), False, "#DIV/0!"])
    for cell, code in {"B2": "00000", "C2": "0.0%", "D2": "#,##0.00;(#,##0.00)", "E2": "[h]:mm"}.items():
        sheet[cell].number_format = code
    assert "| Pell Bay | 00501 | 7.5% | (900.00) | 30:00 | FALSE | #DIV/0! |" in load(
        tmp_path / "a.xlsx", book
    )


def test_what_is_hidden_in_a_workbook_is_said(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    for number in range(1, 7):
        sheet.append([f"a{number}", f"b{number}", f"c{number}"])
    for row in (3, 4, 6, 90):
        sheet.row_dimensions[row].hidden = True
    sheet.column_dimensions["B"].hidden = True
    sheet.column_dimensions["X"].hidden = True
    text = load(tmp_path / "a.xlsx", book)
    assert "Hidden in the workbook: rows 3-4, 6; columns B." in text
    assert "| a3 | b3 | c3 |" in text


def test_merged_cells_of_a_workbook_keep_the_columns(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (
        ["Region", "Town", "Mayor"],
        ["North", "Pell", "Bo"],
        [None, "Aske", "Ida"],
        ["All", None, "Jon"],
    ):
        sheet.append(row)
    sheet.merge_cells("A2:A3")
    sheet.merge_cells("A4:B4")
    assert load(tmp_path / "a.xlsx", book).split("\n")[-3:] == [
        "| North | Pell | Bo |",
        "|  | Aske | Ida |",
        "| All |  | Jon |",
    ]
