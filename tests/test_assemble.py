"""The assembler: names, questions and facts in any order become one sound workspace."""

from __future__ import annotations

import pytest

from gsw_graph.model.assemble import Assembler
from gsw_graph.model.documents import Document, Entity, Passage, Proposition


def assembler(*texts, title="The Old Pier"):
    return Assembler(
        Document("s", title, tuple(Passage(text, title, n) for n, text in enumerate(texts or ("x",))), "test")
    )


def test_a_name_said_twice_is_one_entity_with_the_roles_of_both():
    given = assembler("x", "y")
    given.entity("Ana  Ruiz", 0, [("keeper", ["young"]), (" ", ["lost"])])
    given.entity("Ana Ruiz", 1, [("keeper", ["young", " old ", ""]), ("writer", [])])
    (ana,) = given.workspace("test").entities
    expected = Entity("Ana Ruiz", "ana ruiz", (0, 1), (), (("keeper", ("young", "old")), ("writer", ())))
    assert ana == expected
    assert ana.description == "keeper: young, old; writer"
    assert given.faults == []


def test_titles_and_dates_are_marked():
    given = assembler("x", "y")
    given.entity("old pier", 1)
    given.entity("May 1902")
    given.entity("about May 1902")
    pier, date, text = given.workspace("test").entities
    assert pier.passages == (1,)
    assert pier.titles == (1,)
    assert date.from_ == "1902-05-01"
    assert date.to == "1902-05-31"
    assert date.titles == ()
    assert text.from_ is None
    assert text.to is None


@pytest.mark.parametrize("name", ["", " \n", "x" * 501, "\u200b"])
def test_what_is_no_name_is_left_out_and_told(name):
    given = assembler()
    assert not given.entity(name)
    assert given.workspace("test").entities == ()
    (fault,) = given.faults
    assert "blank or too long" in fault


def test_the_same_pair_twice_in_a_passage_is_one_and_told():
    given = assembler("x", "y")
    given.verb_phrase(
        "built", [("Who built it?", ["Ana"]), ("Who built it?", ["Bo"]), ("Who built it?", ["Ana"])]
    )
    given.verb_phrase("made", [("Who built it?", ["Bo"])])
    given.verb_phrase("made", [("Who built it?", ["Bo"])], 1)
    first, second, other = given.workspace("test").verb_phrases
    found = [[pair.answers for pair in phrase.pairs] for phrase in (first, second, other)]
    expected = [
        [("Ana",), ("Bo",)],
        [],
        [("Bo",)],
    ]
    assert found == expected
    assert other.passage == 1
    assert [fault[:31] for fault in given.faults] == ["the question 'Who built it?' oc"] * 2


def test_facts_make_entities_of_their_names():
    given = assembler("x", "y")
    given.proposition("Ana  built the pier.", ["Ana", "pier", "Ana", " "], 1)
    given.proposition("Ana built the pier.", ["Ana"], 1)
    given.triple("Ana", " built ", "pier")
    workspace = given.workspace("test")
    expected = (
        Proposition("Ana built the pier.", 1, (("Ana", None), ("pier", None))),
        Proposition("Ana built pier", 0, (("Ana", "subject"), ("pier", "object")), "built"),
    )
    assert workspace.propositions == expected
    found = [(e.name, e.passages) for e in workspace.entities]
    expected = [("Ana", (1, 0)), ("pier", (1, 0))]
    assert found == expected
    assert len(given.faults) == 1
