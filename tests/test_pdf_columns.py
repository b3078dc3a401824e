"""Pages of a PDF whose columns were written line by line, and pages that only look so."""

from __future__ import annotations

import os
from importlib.util import find_spec

import document_files as make
import pytest

from gsw_graph.extract import rules
from gsw_graph.loaders import read
from gsw_graph.model.documents import Document

if not os.environ.get("CI") and not find_spec("pypdfium2"):
    pytest.skip("needs the extra documents", allow_module_level=True)

MILL = ["The mill at Aske was", "founded by Dorrit Vane", "in 1744. It burned down", "twice in one year."]
BRIDGE = [
    "The toll bridge was let",
    "to Casper Iwu, who sold",
    "the rights to the town",
    "of Marrowby in 1811.",
]
LOCK = [
    "A lock at Pell Bay was",
    "dug by Ida Falkenrath and",
    "her brothers, who kept it",
    "until the flood of 1850.",
]
WIDE = "This line of the page crosses every column from the left edge to the right edge of it"


def page(*rows, rules=""):
    """A page of rows, from the top; each is a list of (x, text), written in this order."""
    shown = []
    for number, row in enumerate(rows):
        for x, text in row:
            shown.append(f"1 0 0 1 {x} {740 - 14 * number} Tm ({text}) Tj")
    return make.pdf_of(f"{rules} BT /F1 11 Tf {' '.join(shown)} ET")


def beside(*columns, places=(60, 330)):
    """The rows of columns beside each other."""

    def row(number):
        return [
            (x, column[number]) for x, column in zip(places, columns, strict=False) if number < len(column)
        ]

    return [row(number) for number in range(max(map(len, columns)))]


def lines(tmp_path, content):
    (tmp_path / "a.pdf").write_bytes(content)
    (found,) = read([str(tmp_path / "a.pdf")])
    assert isinstance(found, Document), found
    return "\n\n".join(passage.text for passage in found.passages).split("\n")


def test_case_08_two_columns_written_line_by_line(tmp_path):
    assert lines(tmp_path, page(*beside(MILL, BRIDGE))) == MILL + BRIDGE
    (found,) = read([str(tmp_path / "a.pdf")])
    names = {entity.name for entity in rules.extract(found).entities}
    assert {"Dorrit Vane", "Casper Iwu"} <= names
    assert "Dorrit Vane to Casper Iwu" not in names


def test_case_08_three_columns(tmp_path):
    rows = beside(MILL, BRIDGE, LOCK, places=(40, 230, 420))
    assert lines(tmp_path, page(*rows)) == MILL + BRIDGE + LOCK


def test_case_08_columns_of_unequal_length(tmp_path):
    assert lines(tmp_path, page(*beside(MILL, BRIDGE + LOCK))) == MILL + BRIDGE + LOCK
    assert lines(tmp_path, page(*beside(MILL + LOCK, BRIDGE))) == MILL + LOCK + BRIDGE
    found = lines(tmp_path, page(*beside(MILL + LOCK, BRIDGE[:2])))
    assert found == MILL + LOCK + BRIDGE[:2]


def test_case_08_a_headline_and_a_footer_cross_the_columns(tmp_path):
    rows = [[(200, "News of the Harbor and Town")], *beside(MILL, BRIDGE), [], [(300, "17")]]
    assert lines(tmp_path, page(*rows)) == ["News of the Harbor and Town", *MILL, *BRIDGE, "17"]
    rows = [[(60, WIDE)], *beside(MILL, BRIDGE), [(60, WIDE)], *beside(LOCK, MILL), [(60, WIDE)]]
    expected = [WIDE, *MILL, *BRIDGE, WIDE, *LOCK, *MILL, WIDE]
    assert lines(tmp_path, page(*rows)) == expected


def test_case_08_a_footer_at_the_edge_stays_last(tmp_path):
    rows = [*beside(MILL, BRIDGE), [], [], [(60, "17")]]
    assert lines(tmp_path, page(*rows)) == [*MILL, *BRIDGE, "17"]


def test_case_08_a_heading_over_two_of_three_columns(tmp_path):
    rows = beside(MILL, BRIDGE, places=(40, 200))
    above = [[(40, "All of the mills and bridges of Aske"), (420, LOCK[0])]]
    rows = [[*row, (420, text)] for row, text in zip(rows, [*LOCK[1:], "Then it fell in."], strict=True)]
    found = lines(tmp_path, page(*above, *rows))
    expected = [
        "All of the mills and bridges of Aske",
        *MILL,
        *BRIDGE,
        *LOCK,
        "Then it fell in.",
    ]
    assert found == expected


def test_case_08_columns_whose_lines_are_not_level(tmp_path):
    shown = []
    for number, (left, right) in enumerate(zip(MILL, BRIDGE, strict=True)):
        shown += [
            f"1 0 0 1 60 {700 - 14 * number} Tm ({left}) Tj",
            f"1 0 0 1 330 {693 - 14 * number} Tm ({right}) Tj",
        ]
    assert lines(tmp_path, make.pdf_of(f"BT /F1 11 Tf {' '.join(shown)} ET")) == MILL + BRIDGE


def test_case_08_a_line_in_one_piece_with_a_wide_gap(tmp_path):
    shown = []
    for number, (left, right) in enumerate(zip(MILL, BRIDGE, strict=True)):
        gap = 600 * (40 - len(left))  # each letter is 600 wide
        shown.append(f"1 0 0 1 60 {700 - 14 * number} Tm [({left}) {-gap} ({right})] TJ")
    content = make.pdf_of(f"BT /F1 11 Tf {' '.join(shown)} ET").replace(b"/Helvetica", b"/Courier  ")
    assert lines(tmp_path, content) == MILL + BRIDGE


def test_case_08_a_word_that_is_parted_at_the_end_of_a_column_line(tmp_path):
    left = [
        "The treaty was an inter-",
        "national one, as the town",
        "of Aske wanted it to be",
        "for many years.",
    ]
    assert (
        lines(tmp_path, page(*beside(left, BRIDGE)))[0] == "The treaty was an international one, as the town"
    )


@pytest.mark.parametrize(
    "table",
    [
        [
            ("Name of keeper", "Name of lighthouse", "1871"),
            ("Ottilie Grau Smith", "Port Aldous Old Light", "1902"),
            ("Bo Lind Andersen", "Skarholm Head Light", "1911"),
            ("Ida Falkenrath", "Harrow Mill Light", "1920"),
        ],
        [
            ("Opening hours", "from nine to five on weekdays"),
            ("Entry fee", "four crowns, two for children"),
            ("Closed", "on the first Monday of a month"),
            ("Parking", "behind the old customs house"),
        ],
        [
            ("1.", "the first of the rules of the house"),
            ("2.", "the second of the rules of it"),
            ("3.", "the third of the rules of it"),
            ("4.", "and the fourth of the rules"),
        ],
    ],
)
def test_case_08_a_table_stays_in_rows(tmp_path, table):
    rows = [list(zip((60, 230, 420), row, strict=False)) for row in table]
    assert lines(tmp_path, page(*rows)) == [" ".join(row) for row in table]


def test_case_08_cells_of_several_lines_stay_in_rows(tmp_path):
    cells = [beside(MILL[:2], BRIDGE[:2]), beside(LOCK[:2], MILL[2:]), beside(BRIDGE[2:], LOCK[2:])]
    apart = [row for cell in cells for row in [*cell, []]]
    found = lines(tmp_path, page(*apart))[0]
    expected = f"{MILL[0]} {BRIDGE[0]}"
    assert found == expected
    ruled = [row for cell in cells for row in cell]
    rules = "50 715 m 550 715 l S 50 687 m 550 687 l S"
    found = lines(tmp_path, page(*ruled, rules=rules))[0]
    expected = f"{MILL[0]} {BRIDGE[0]}"
    assert found == expected


def test_case_08_what_was_written_in_order_stays_so(tmp_path):
    rows = beside(MILL, BRIDGE)
    shown = [
        f"1 0 0 1 {row[n][0]} {700 - 14 * y} Tm ({row[n][1]}) Tj"
        for n in (1, 0)
        for y, row in enumerate(rows)
    ]
    assert lines(tmp_path, make.pdf_of(f"BT /F1 11 Tf {' '.join(shown)} ET")) == BRIDGE + MILL
    prose = [[(60, WIDE)] for _ in range(5)]
    found = lines(tmp_path, page(*prose, [(60, "It ends.")]))
    assert found == [WIDE] * 5 + ["It ends."]
