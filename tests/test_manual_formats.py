"""reStructuredText and AsciiDoc, in which manuals are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from gsw_graph import loaders
from gsw_graph.loaders import restructured
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
    monkeypatch.setattr(restructured, "find_spec", lambda _: None)
    _, text, _ = read(tmp_path, "manual.rst", "Quickstart\n==========\n\nSee :ref:`guide`.\n")
    assert ":ref:" in text
