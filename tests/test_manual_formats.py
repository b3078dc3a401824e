"""reStructuredText and AsciiDoc, in which manuals are written."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gsw_graph import loaders
from gsw_graph.loaders import asciidoc, converter
from gsw_graph.model.documents import Document, Skipped

RST = """
.. _top:

==========
Quickstart
==========

See :ref:`the guide <guide>` and :func:`~flask.Flask.run`.

.. comment here

Installing
----------

.. code-block:: bash
   :linenos:

   $ pip install skarholm

.. note:: Mind the gap.

   Gaps are wide.

.. versionadded:: 2.0
   The ``x`` option.

.. py:function:: run(host, port=5000)
   :async:

   Run the server.

.. toctree::
   :maxdepth: 2

   other

.. include:: secret.txt
.. image:: harbour.png

1. one
2. two

.. list-table:: Days
   :header-rows: 1

   * - Name
     - Days
   * - Ana
     - 5

.. tabs::

   .. tab:: Linux

      Use the package.

.. raw:: html

   <b>raw</b>
"""
ADOC = """= Leave Handbook
Jane Doe <jane@example.org>
v2, 2024-03-05
:days: five

Up to *{days}* days carry over. See link:https://example.org[the law] and <<carry,Carry-over>>.

[[carry]]
== Carry-over

NOTE: Ask your manager.

[WARNING]
====
They expire on 31 March.

* one
** two
====

.An example
[source,python]
----
import x # <1>
include::other.py[]
# *not bold*
----
<1> Imports x

Holiday:: A day off

[cols="1,2"]
|===
|Name |Days

|Ana
|5 days
|Bob |7
|===

////
hidden
////
include::chapter.adoc[]
image::harbour.png[Harbour]

=== Keys
Press kbd:[Ctrl+C].
"""


def read(folder: Path, name: str, text: str) -> tuple[Document, str, dict[str, int]]:
    """The document of a file, its whole text, and what was left out by kind."""
    (folder / "secret.txt").write_text("SECRET", encoding="utf-8")
    file = folder / name
    file.write_text(text, encoding="utf-8")
    document, *others = loaders.read([str(file)])
    assert isinstance(document, Document)
    skipped: dict[str, int] = {}
    for other in others:
        assert isinstance(other, Skipped)
        skipped |= other.kinds
    return document, "\n".join(passage.text for passage in document.passages), skipped


def test_restructured_text_keeps_its_structure(tmp_path: Path) -> None:
    document, text, left_out = read(tmp_path, "manual.rst", RST)
    assert document.title == "Quickstart"
    shown = (
        "See the guide and run.",
        "$ pip install skarholm",
        "Mind the gap.",
        "New in version 2.0 The x option.",
        "run(host, port=5000)",
        "Run the server.",
        "1. one",
        "| Ana | 5 |",
        "Use the package.",
    )
    assert [part for part in shown if part not in " ".join(text.split())] == []
    assert left_out == {"comment": 1, "include": 2, "picture": 1}
    assert not [word for word in (":ref:", "linenos", "SECRET", "<b>", "toctree", "::") if word in text]


def test_asciidoc_keeps_its_structure(tmp_path: Path) -> None:
    document, text, left_out = read(tmp_path, "handbook.adoc", ADOC)
    assert document.title == "Leave Handbook"
    assert document.meta["author"] == "Jane Doe"
    assert document.meta["date"] == "2024-03-05"
    shown = (
        "Up to five days carry over. See the law and Carry-over.",
        "Ask your manager.",
        "They expire on 31 March.",
        "import x",
        "# *not bold*",
        "Holiday: A day off",
        "| Ana | 5 days |",
        "| Bob | 7 |",
        "Press Ctrl+C.",
    )
    assert [part for part in shown if part not in " ".join(text.split())] == []
    assert left_out["include"] == 2
    assert left_out["picture"] == left_out["comment"] == 1
    assert not [
        word for word in ("hidden", "<1>", "====", "[source", "|===", "kbd:", "{days}") if word in text
    ]


@pytest.mark.parametrize(("name", "text"), [("a.rst", RST), ("a.adoc", ADOC)])
def test_headings_are_sections(tmp_path: Path, name: str, text: str) -> None:
    long = "The harbour was dredged again in that year, and the lamp was lit. " * 40
    document, _, _ = read(tmp_path, name, f"{text}\n\n{long}\n")
    sections = [passage.section for passage in document.passages]
    assert sections[-1] in ("Quickstart > Installing", "Leave Handbook > Carry-over > Keys")


def test_restructured_text_without_its_libraries_is_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converter, "find_spec", lambda _: None)
    _, text, _ = read(tmp_path, "manual.rst", "Quickstart\n==========\n\nSee :ref:`guide`.\n")
    assert ":ref:" in text


def asciidoc_lines(text: str) -> list[str]:
    """The lines of Markdown that AsciiDoc is written as, without the blank ones."""
    return [line for line in asciidoc._Writer(text, Counter()).markdown() if line]


HOSTILE = (
    *("[[", "((", "xref:", "link:", "<<,   ", "link:x[aaaa", "<1>", '"`x', "include::[", "footnote:[", "{a}"),
    *("image:x[", "   ", "[]#", "anchor:a["),
)


@pytest.mark.parametrize("pattern", HOSTILE)
def test_hostile_asciidoc_is_read_in_time(pattern: str) -> None:
    line = pattern * (200_000 // len(pattern))
    short = f"a {pattern * (3900 // len(pattern))} x\n"
    assert asciidoc_lines(f"{line}x\n\n----\n{line}x\n----\n|===\n|{line}x\n|===")
    assert asciidoc_lines(f"{short * 10}\n----\n{short * 40}----\n")


@pytest.mark.parametrize(
    "text",
    [
        "= T\nAuthor\n" + "1" * 200_000 + "\nx",
        "\n" * 200_000 + "x",
        "|===\n|a\n" + "bb\n" * 60_000 + "|===",
        "\n".join("-*_="[number % 4] * (4 + number // 4) for number in range(1250)),
        "x\n" + "\n".join("=" * (5 + number) for number in range(630)),
        ("link:x[" + "a" * 3900 + "\n") * 50,
        ("<<," + " " * 3900 + "x\n") * 50,
    ],
    ids=["revision", "blank lines", "cell", "fences", "fences of one mark", "link", "reference"],
)
def test_hostile_asciidoc_files_are_read_in_time(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.adoc").write_text(text, encoding="utf-8")
    assert list(loaders.read([str(tmp_path / "a.adoc")]))


def test_values_of_attributes_do_not_grow_without_end() -> None:
    grown = "".join(f":a{number + 1}: {f'{{a{number}}}' * 20}\n" for number in range(50))
    writer = asciidoc._Writer(f":a0: xxxxxxxxxx\n{grown}" + "\n{a50}" * 5000, Counter())
    assert sum(map(len, writer.markdown())) < 2_000_000
    assert max(map(len, writer.attributes.values())) == 1000


@pytest.mark.parametrize("columns", ["2000000000*", "²*", "999*", "2*"])
def test_columns_of_a_table_are_no_more_than_its_cells(columns: str) -> None:
    lines = asciidoc_lines(f'[cols="{columns}"]\n|===\n|a |b\n|===')
    assert lines == ["| a | b |", "| --- | --- |"]


def test_titles_underlined_by_a_row_are_titles() -> None:
    text = (
        "git-add(1)\n==========\n\n[[NAME]]\nNAME\n----\ntext\n\nThird\n~~~~~\n\nFourth\n^^^^^^^\n\nFifth\n++++\n"
        "\nlonger text\n----\ncode\n----\n\n.Name\n-----\ncode\n-----\n\n[source]\n--------\ncode\n--------\n"
    )
    assert asciidoc_lines(text) == [
        *("# git-add(1)", "## NAME", "text", "### Third", "#### Fourth", "##### Fifth"),
        *("longer text", "```", "code", "```", "**Name**", "```", "code", "```", "```", "code", "```"),
    ]


def test_callouts_at_the_end_of_code_are_left_out() -> None:
    text = "----\na  # <1>\nb <1> <2>\nc // <.>\nif a <1> b\n----"
    assert asciidoc_lines(text) == ["```", "a", "b", "c", "if a <1> b", "```"]


def test_what_docutils_refuses_is_kept(tmp_path: Path) -> None:
    text = (
        "Titles\n=====\n\n=== ===\na   bcdef\n=== ===\nxx yyy zzz\n===  ===\n\n"
        ".. note::\n   :foo: x\n\n   Mind the gap.\n"
    )
    document, text, _ = read(tmp_path, "a.rst", text)
    assert document.title == "Titles"
    assert "Titles" not in text
    assert "xx yyy zzz" in text
    assert "Mind the gap." in text


def test_names_of_directives_may_have_capitals(tmp_path: Path) -> None:
    text = (
        "Text.\n\n.. VersionAdded:: 2.0\n   New.\n\n.. Toctree::\n\n   other\n\n.. Zork:: it\n\n   Shown.\n"
    )
    _, text, left_out = read(tmp_path, "a.rst", text)
    assert "New in version 2.0" in text
    assert "Shown." in text
    assert "other" not in text
    assert left_out == {"include": 1}
