"""Lint: each kind of fault is found where it is, and what is sound is left alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsw_graph.extract.lint import KINDS, Issue, lint
from gsw_graph.load.assemble import Assembler
from gsw_graph.loaders import read
from gsw_graph.model.documents import Document, Passage, Workspace

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "gsw" / "workspaces.jsonl"
TEXT = "The Stone Pier was built by Ana Ruiz in 1902. Her brother Juan Ruiz bought it from Oslo Harbour."
SOUND = [
    ("Who built the Stone Pier?", ["Ana Ruiz"]),
    ("What did Ana Ruiz build in 1902?", ["Stone Pier"]),
    ("When did Ana Ruiz build the Stone Pier?", ["1902"]),
    ("Who is the brother of Ana Ruiz?", ["Juan Ruiz"]),
    ("Whose brother is Juan Ruiz?", ["Ana Ruiz"]),
    ("Who sold the Stone Pier to Juan Ruiz?", ["Oslo Harbour"]),
    ("Which pier did Oslo Harbour sell to Juan Ruiz?", ["Stone Pier"]),
]
NAMES = ["Stone Pier", "Ana Ruiz", "1902", "Juan Ruiz", "Oslo Harbour"]


def workspace(asked=SOUND, names=NAMES, facts=(), text=TEXT, title="Stone Pier", extractor="llm"):
    assembler = Assembler(Document("s", title, (Passage(text, title, 0),), "test"))
    for name in names:
        assembler.entity(name)
    assembler.verb_phrase("does", asked)
    for fact in facts:
        assembler.proposition(fact)
    return assembler.workspace(extractor)


def kinds(**parts):
    return {(fault.kind, fault.subject) for fault in lint(workspace(**parts))}


def test_a_sound_workspace_has_no_faults():
    assert lint(workspace(facts=["Ana Ruiz built the Stone Pier in 1902.", "It was built there that the ships might land."])) == []


@pytest.mark.parametrize(
    ("added", "names", "fault"),
    [
        ([], ["Boats"], ("orphan", "Boats")),
        ([("Who owned the Stone Pier?", ["a bank"])], [], ("dangling answer", "Who owned the Stone Pier?")),
        ([("Why was the Stone Pier built?", [])], [], ("unanswered", "Why was the Stone Pier built?")),
        ([("Who built the Stone Pier?", ["Juan Ruiz"])], [], ("conflict", "Who built the Stone Pier?")),
        ([("Who lives in towns?", ["Juan Ruiz"])], [], ("no name", "Who lives in towns?")),
        ([("When and where did Ana Ruiz work?", ["Oslo Harbour"])], [], ("several unknowns", "When and where did Ana Ruiz work?")),
        ([("Who was Ana Ruiz, and when was she born?", ["1902"])], [], ("several unknowns", "Who was Ana Ruiz, and when was she born?")),
        ([("When did she build it?", ["1902"])], [], ("pronoun", "When did she build it?")),
        ([("Who was her brother?", ["Juan Ruiz"])], [], ("pronoun", "Who was her brother?")),
        ([("Who built the Stone Pier with Ana Ruiz?", ["him"])], ["him"], ("pronoun", "him")),
        ([("Who bought the Stone Pier?", ["her brother"])], ["her brother"], ("pronoun", "her brother")),
        ([("What did Ana Ruiz buy?", ["something"])], ["something"], ("vague", "something")),
        ([("Who bought the Stone Pier?", ["Ruiz's brother"])], ["Ruiz's brother"], ("merged possessive", "Ruiz's brother")),
        ([("When did Juan Ruiz buy it?", ["two years later"])], ["two years later"], ("relative date", "two years later")),
        ([("What did Ana Ruiz build last year?", ["Stone Pier"])], [], ("relative date", "What did Ana Ruiz build last year?")),
        (
            [("Who helped Ana Ruiz?", ["Barack Obama"]), ("Whom did Barack Obama help?", ["Ana Ruiz"])],
            ["Barack Obama"],
            ("name not in passage", "Barack Obama"),
        ),
    ],
)
def test_each_kind_is_found(added, names, fault):
    found = kinds(asked=[*SOUND, *added], names=[*NAMES, *names])
    assert fault in found


def test_what_no_question_covers():
    assert kinds(names=NAMES[:4], asked=SOUND[:5]) == {("missing name", "Oslo Harbour")}
    assert kinds(names=NAMES, asked=[]) == {("empty", "Stone Pier"), *(("orphan", name) for name in NAMES)}
    assert kinds(names=[], asked=[], text="and so on.", title="") == set()


def test_a_question_without_its_inverse():
    found = kinds(asked=[pair for pair in SOUND if "sell" not in pair[0]])
    assert found == {("missing inverse", "Who sold the Stone Pier to Juan Ruiz?")}


def test_the_inverse_may_name_an_alias():
    text = f"{TEXT} It is also known as SP and opened in 1905."
    asked = [*SOUND, ("What is the Stone Pier also known as?", ["SP"]), ("Which pier is also known as SP?", ["Stone Pier"])]
    asked += [("When was SP opened?", ["1905"]), ("Which pier opened in 1905?", ["Stone Pier"])]
    assert kinds(asked=asked, names=[*NAMES, "SP", "1905"], text=text) == set()


@pytest.mark.parametrize(
    "question",
    [
        "Which builder has her brother as buyer of the Stone Pier?",
        "How long did it take Ana Ruiz to build the Stone Pier?",
        "What did Ana Ruiz say that she built?",
        "Between Ana Ruiz and which man was the Stone Pier sold?",
        'Who wrote the song "Who and When?" about Ana Ruiz?',
        "Who owned the Stone Pier two years after 1902?",
    ],
)
def test_sound_questions_are_left_alone(question):
    assert kinds(asked=[*SOUND, (question, ["Juan Ruiz"])]) <= {("missing inverse", question)}


@pytest.mark.parametrize("name", ["King Philip's War", "Men's singles", "Moore's law", "Master's degree", "Women's Guild", "28 Days Later"])
def test_names_of_their_own_are_left_alone(name):
    asked = [*SOUND, ("What did Ana Ruiz win?", [name]), (f"Who won {name}?", ["Ana Ruiz"])]
    assert kinds(asked=asked, names=[*NAMES, name], text=f"{TEXT} She won {name}.") == set()


@pytest.mark.parametrize(
    ("name", "text"), [("Québec", "In QUEBEC he stayed."), ("Canada", "A Canadian city."), ("1946", "In 1945–46 it snowed."), ("京都", "彼は京都に住む。")]
)
def test_a_name_stands_in_a_text_in_other_forms(name, text):
    asked = [("Where?", [name])]
    assert ("name not in passage", name) not in kinds(asked=asked, names=[name], text=text)


def test_propositions_say_the_name():
    facts = ["She built it.", "This pier is old and long.", "Ana Ruiz built it."]
    assert kinds(facts=facts) == {("pronoun", "She built it."), ("pronoun", "This pier is old and long.")}


def test_other_languages_are_not_read_as_english():
    asked = [("Wer baute den Stone Pier?", ["Ana Ruiz"]), ("Was baute Ana Ruiz 1902?", ["Stone Pier"]), ("Wann baute Ana Ruiz den Stone Pier?", ["1902"])]
    found = kinds(asked=asked, names=NAMES[:3], text="Ana Ruiz baute den Stone Pier im Jahr 1902.")
    assert found == set()


def test_triples_have_no_questions_to_miss():
    assert lint(workspace(asked=[], extractor="openie")) == []


def test_faults_come_passage_by_passage():
    assembler = Assembler(Document("s", "T", (Passage("Ana sings in Oslo.", "T", 0), Passage("Then Bo sings in Rome.", "T", 1)), "test"))
    assembler.entity("Zed", 1)
    assembler.entity("Yan", 0)
    found = lint(assembler.workspace("llm"))
    assert [(fault.passage, fault.kind) for fault in found] == [(n, kind) for n in (0, 1) for kind in ("empty", "name not in passage", "orphan")]
    assert found[1] == Issue("name not in passage", 0, "Yan", "the text does not name it")


@given(st.lists(st.text(max_size=40), max_size=4), st.lists(st.text(max_size=60), max_size=4), st.text(max_size=200))
@settings(max_examples=150, deadline=None)
def test_no_text_breaks_it(names, questions, text):
    found = lint(workspace([(q, names) for q in questions], names, questions, text))
    assert all(fault.kind in KINDS and fault.passage == 0 and fault.message for fault in found)
    assert len(found) == len(set(found))


@pytest.mark.skipif(not SHARED.exists(), reason="the workspaces to measure on are not part of the project")
def test_ready_workspaces_have_the_faults_that_were_found_by_hand():
    found = [(item.document.title, fault) for item in read([str(SHARED)]) if isinstance(item, Workspace) for fault in lint(item)]
    assert set(Counter(fault.kind for _, fault in found)) == {"missing name", "missing inverse", "no name", "merged possessive"}
    faults = {(title, fault.kind, fault.subject) for title, fault in found}
    assert ("Namibia", "missing name", "Windhoek Country Club Resort") in faults
    assert ("Deninu School", "missing inverse", "In which territory is Fort Resolution located?") in faults
    assert ("Alps", "no name", "Where were the 1924 Winter Olympics held?") in faults
    assert not any(title in ("Ambra Migliori", "Asker", "Angula da Costa", "Ababel Yeshaneh") for title, *_ in faults)


@pytest.mark.parametrize(("text", "found"), [("Ana Ruiz came in 1863 and left a year later.", False), ("Ana Ruiz came in 1863 and left.", True)])
def test_a_date_that_was_worked_out_is_no_fault_and_one_made_up_is(text, found):
    asked = [("When did Ana Ruiz leave?", ["1864"])]
    assert (("name not in passage", "1864") in kinds(asked=asked, names=["Ana Ruiz", "1864"], text=text)) is found
