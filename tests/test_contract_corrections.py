"""Corrections by hand on every engine: what they change, that later loads keep it, and that it can be undone."""

from __future__ import annotations

import json

import pytest
from contract import rows, troubles
from dump import differences, dump

from gsw_graph.errors import InputError

LIGHT = {
    "id": "light",
    "title": "Old Light",
    "text": "Ana Ruiz built the Old Light in 1863. Ottile Grau kept it.",
    "entities": [
        {"name": "Ana Ruiz", "roles": [{"role": "engineer"}]},
        {"name": "Old Light"},
        {"name": "Ottile Grau"},
    ],
    "verb_phrases": [
        {
            "phrase": "built",
            "questions": [
                {"text": "Who built the Old Light?", "answers": ["Ana Ruiz"]},
                {"text": "Who kept the Old Light?", "answers": ["Ottile Grau"]},
            ],
        }
    ],
    "propositions": [{"text": "Ana Ruiz built the Old Light.", "entities": ["Ana Ruiz", "Old Light"]}],
}
WORLD = [
    LIGHT,
    {"id": "metal", "title": "Quay", "text": "Mercury was stored on the quay of Sellick."},
    {"id": "planet", "title": "Observatory", "text": "From the roof of Sellick they saw Mercury rise."},
    {
        "id": "new",
        "title": "Old Light, repaired",
        "text": "The Old Light was built by Bo Lind in 1863, says the ledger.",
    },
]


@pytest.fixture
def world(memory, tmp_path):
    load(memory, tmp_path)
    return memory


def load(memory, folder, **change):
    records = [{**record, **change} if record is LIGHT else record for record in WORLD]
    (folder / "world.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    assert memory.load(folder / "world.jsonl").failures == []


def texts(memory, question, **how):
    return [passage.text for passage in memory.ask(question, keep=False, **how)]


def pairs(memory):
    answer = memory.ask(
        "Who built the Old Light?", strategy="ricr", plan=["Who built the Old Light?"], keep=False
    )
    return {hop.qa.question for chain in answer.chains for hop in chain.hops}


def test_a_name_is_renamed(world, tmp_path):
    before = dump(world)
    made = world.correct("rename", "Ottile Grau", "Ottilie Grau", by="Ada")
    assert made.action == "rename"
    assert made.value == "Ottilie Grau"
    assert made.by == "Ada"
    for _ in range(2):
        assert world.name("Ottilie Grau").places[0].title == "Old Light"
        assert world.merged("Ottile Grau").groups[0].name == "Ottilie Grau"
        assert "Ottile" in texts(world, "What did Ottilie Grau keep?")[0]
        assert troubles(world) == {}
        world.forget("light")
        load(world, tmp_path)
    with pytest.raises(InputError, match="cannot be renamed"):
        world.correct("rename", "Ottile Grau", "Tilly")
    assert world.undo_correction(made.id) == made
    assert world.corrections() == []
    assert differences(dump(world), before) == []


def test_a_name_is_split(world, tmp_path):
    before = dump(world)
    made = world.correct("split", "Mercury", "Mercury planet", "planet", by="Ada")
    for _ in range(2):
        assert [place.title for place in world.name("Mercury").places] == ["Quay"]
        assert [place.title for place in world.name("Mercury planet").places] == ["Observatory"]
        assert troubles(world) == {}
        world.forget("planet")
        load(world, tmp_path)
    world.doctor(mend=True)
    assert [place.title for place in world.name("Mercury planet").places] == ["Observatory"]
    world.undo_correction(made.id)
    assert differences(dump(world), before) == []


def test_a_fact_is_removed(world, tmp_path):
    world.build_runs()
    before = dump(world)
    assert "Who built the Old Light?" in pairs(world)
    pair = world.correct("remove", "Who built the Old Light?", by="Ada")
    fact = world.correct("remove", "Ana Ruiz built the Old Light.", by="Ada")
    assert pair.value == "Who built the Old Light? Ana Ruiz"
    for text in (LIGHT["text"], f"{LIGHT['text']} So it was."):
        load(world, tmp_path, text=text)
        assert pairs(world) == {"Who kept the Old Light?"}
        assert rows(world, "MATCH (f:Proposition)-[:IN]->(:Passage) RETURN f.text AS text") == []
        assert world.ask("Who built the Old Light?", strategy="pruned", keep=False).passages
        assert troubles(world) == {}
    load(world, tmp_path)
    assert [correction.id for correction in world.corrections()] == [pair.id, fact.id]
    for made in (pair, fact):
        world.undo_correction(made.id)
    world.build_runs()
    assert differences(dump(world), before) == []
    world.correct("remove", "Who built the Old Light?")
    world.forget("light")
    assert rows(world, "MATCH (q:QAPair) RETURN q.id AS id") == []
    with pytest.raises(InputError, match="no facts are called so") as raised:
        world.correct("remove", "Mercury was stored on the quay of Sellick.")
    assert "What rules read has no facts" in str(raised.value.hint)


def test_a_passage_is_superseded(world, tmp_path):
    world.build_runs()
    before = dump(world)
    ids = {
        row["title"]: row["id"]
        for row in world.cypher("MATCH (p:Passage) RETURN p.title AS title, p.id AS id").rows
    }
    made = world.correct("supersede", ids["Old Light"], ids["Old Light, repaired"], by="Ada")
    for _ in range(2):
        for strategy in ("linked", "dense", "bm25", "ricr", "proprag", "pruned", "fusion"):
            assert LIGHT["text"] not in texts(world, "Who built the Old Light?", strategy=strategy, k=10), (
                strategy
            )
        assert texts(world, "Who built the Old Light?")[0] == WORLD[3]["text"]
        assert troubles(world) == {}
        world.forget("light")
        load(world, tmp_path)
    world.undo_correction(made.id)
    assert LIGHT["text"] in texts(world, "Who built the Old Light?")
    world.build_runs()
    assert differences(dump(world), before) == []
    with pytest.raises(InputError, match="no passage has this id"):
        world.correct("supersede", ids["Quay"], "0" * 32)
    with pytest.raises(InputError, match="cannot supersede itself"):
        world.correct("supersede", ids["Quay"], ids["Quay"])


def test_a_passage_whose_text_has_changed_is_superseded_no_more(world, tmp_path):
    ids = {
        row["title"]: row["id"]
        for row in world.cypher("MATCH (p:Passage) RETURN p.title AS title, p.id AS id").rows
    }
    made = world.correct("supersede", ids["Old Light"], ids["Old Light, repaired"], by="Ada")
    assert made.texts == [LIGHT["text"], WORLD[3]["text"]]
    document = world.documents("light").documents[0]
    assert document.passages == 0
    assert document.superseded == 1
    assert world.show("light").document.superseded == 1
    text = "Ana Ruiz mended the Old Light in 1871."
    load(world, tmp_path, text=text)
    report = world.load(tmp_path / "world.jsonl", replace=True)
    assert "corrections that no longer apply" in str(report.note)
    assert text in texts(world, "Who mended the Old Light?")
    assert [correction.lapsed for correction in world.corrections()] == [True]
    load(world, tmp_path)
    assert [correction.lapsed for correction in world.corrections()] == [False]
    assert LIGHT["text"] not in texts(world, "Who built the Old Light?", k=10)
    load(world, tmp_path, text=text)
    world.undo_correction(made.id)
    assert troubles(world) == {}


def test_a_fact_is_added(world, tmp_path):
    made = world.correct("add", "Who painted the Old Light?", "Ida Holm", by="Ada")
    answer = world.ask(
        "Who painted the Old Light?", strategy="ricr", plan=["Who painted the Old Light?"], keep=False
    )
    assert answer.chains[0].hops[-1].qa.answers == ["Ida Holm"]
    (stored,) = world.documents(made.target).documents
    assert stored.meta["author"] == "Ada"
    assert stored.source == f"correction:{made.id}"
    stated = world.correct("add", "Ida Holm lived in Sellick.", by="Ada")
    assert stated.value in texts(world, "Where did Ida Holm live?")
    world.undo_correction(made.id)
    world.undo_correction(stated.id)
    assert [document.source for document in world.documents().documents] == [
        "light",
        "metal",
        "new",
        "planet",
    ]
    world.correct("rename", "Ottile Grau", "Ottilie Grau")
    world.forget(everything=True)
    assert world.corrections() == []
    assert rows(world, "MATCH (c:Concept) RETURN c.id AS id") == []


def test_an_added_answer_is_given_and_changes_no_strategy(memory, tmp_path):
    (tmp_path / "notes.jsonl").write_text("\n".join(map(json.dumps, WORLD[1:])), encoding="utf-8")
    memory.load(tmp_path / "notes.jsonl")
    others = ("What was stored on the quay?", "Who painted the Quay?")
    before = [memory.ask(question, keep=False, strategy="auto") for question in others]
    made = memory.correct("add", "Who paid for the launch band?", "Hamish MacCorrigan", "Ida Holm", by="Ada")
    for question in ("Who paid for the launch band?", "who paid  for the launch band"):
        answer = memory.ask(question, keep=False)
        assert answer.answer == "Hamish MacCorrigan, Ida Holm"
        assert answer.answer_source == "added"
        assert [citation.source for citation in answer.citations] == [made.target]
    for question, old in zip(others, before, strict=True):
        answer = memory.ask(question, keep=False)
        assert answer.strategy == "linked"
        assert answer.answer is None
        assert (answer.confidence is None) == (old.confidence is None)
    memory.undo_correction(made.id)
    assert memory.ask("Who paid for the launch band?", keep=False).answer is None


@pytest.mark.parametrize("question", ["Who paid for the launch band?", "Who paid for the launch band"])
def test_an_added_answer_answers_however_the_question_is_written(memory, tmp_path, question):
    records = [
        {
            "id": f"band{n}",
            "title": "Launch band",
            "text": f"Who paid for the launch band of boat {n} is in book {n}.",
        }
        for n in range(12)
    ]
    (tmp_path / "bands.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    memory.load(tmp_path / "bands.jsonl")
    made = memory.correct("add", question, "Hamish MacCorrigan", by="Ada")
    ways = (
        "Who paid for the launch band?",
        "who paid for the launch band",
        "  WHO paid  for the launch band ??",
        "Who paid for the launch band？",
        "Who paid for the launch band.",
    )
    for asked in ways:
        for k in (1, 5):
            answer = memory.ask(asked, k=k, keep=False)
            assert answer.answer == "Hamish MacCorrigan", asked
            assert answer.answer_source == "added", asked
            assert len(answer.passages) == k, asked
            assert [citation.source for citation in answer.citations] == [made.target]
    for asked in (
        "Who paid for the launch",
        "Who paid for the launch band of boat 3?",
        "Who paid for the launch-band money?",
    ):
        assert memory.ask(asked, keep=False).answer is None, asked
    passage = memory.ask(question, keep=False).citations[0].passage
    for how in ({"excluded": passage}, {"outside": made.target}, {"answer": False}, {"strategy": "linked"}):
        assert memory.ask(question, keep=False, **how).answer_source != "added", how  # type: ignore[arg-type]
    memory.confirm(memory.ask(question).id)
    later = memory.correct("add", question, "Ida Holm", by="Ada")
    assert memory.ask(question, keep=False).answer == "Ida Holm", (
        "what was added last, and not what was confirmed before"
    )
    memory.undo_correction(later.id)
    memory.undo_correction(made.id)
    assert memory.ask(question, keep=False).answer is None


def test_a_document_that_calls_itself_a_correction_answers_nothing(memory, tmp_path):
    record = {"id": "correction:x", "title": "t", "text": "Who pays? Mallory Smith"}
    (tmp_path / "notes.jsonl").write_text(json.dumps(record), encoding="utf-8")
    assert memory.load(tmp_path / "notes.jsonl").failures == []
    answer = memory.ask("Who pays?", keep=False)
    assert [passage.source for passage in answer.passages] == ["correction:x"]
    assert answer.answer is None
    assert answer.answer_source == "none"


@pytest.mark.parametrize(
    ("action", "values", "message"),
    [
        ("turn", ["a"], "no correction 'turn'"),
        ("rename", ["Ana Ruiz"], "rename needs NAME"),
        ("rename", ["Nobody", "x"], "no name in the memory is so"),
        ("split", ["Mercury", "M", "nowhere.md"], "no document is called so"),
        ("split", ["Mercury", "M", "light"], "does not occur in these"),
        ("add", [" "], "add needs"),
    ],
)
def test_what_cannot_be_corrected(world, action, values, message):
    with pytest.raises(InputError, match=message):
        world.correct(action, *values)
    assert world.corrections() == []
    with pytest.raises(InputError, match="no correction '0'"):
        world.undo_correction("0")
