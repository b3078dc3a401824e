"""Extraction profiles: which calls they make, and what comes into the memory."""

from __future__ import annotations

import json

import pytest
from model_server import RawServer, ok

from gsw_graph.extract import ExtractionJob
from gsw_graph.extract.pool import ByModel
from gsw_graph.model.documents import Document, Passage
from gsw_graph.models.chat.chat import Chat

DOCUMENT = Document(
    "a.md",
    "",
    (
        Passage("Ana Ruiz built the Stone Pier in 1902.", "Pier", 0),
        Passage("Juan Ruiz bought the Stone Pier.", "Pier", 1),
    ),
    "test",
)
PROPOSITIONS = [
    {
        "number": 2,
        "entities": ["Juan Ruiz: person", "Stone Pier"],
        "propositions": ["Juan Ruiz bought the Stone Pier."],
    },
    {
        "number": 1,
        "entities": ["Ana Ruiz: person", "Stone Pier: pier", "1902: date"],
        "propositions": ["Ana Ruiz built the Stone Pier in 1902."],
    },
]
TRIPLES = [
    {"number": 1, "triples": [{"subject": "Ana Ruiz", "relation": "built", "object": "Stone Pier"}]},
    {"number": 2, "triples": [{"subject": "Juan Ruiz", "relation": "bought", "object": "Stone Pier"}]},
]
NAMES = {
    "Ana": ["Ana Ruiz: person", "Stone Pier: pier", "1902: date"],
    "Juan": ["Juan Ruiz: person", "Stone Pier: pier"],
}


def reply(_, body):
    """Answer as a model that understands the schema it is given."""
    form = body["response_format"]["json_schema"]
    text = body["messages"][1]["content"]
    who = "Ana" if "Ana Ruiz built" in text.rpartition("<<<passage")[2] else "Juan"
    if form["name"] == "extract_entities":
        return ok({"entities": NAMES[who]})
    if form["name"] == "extract_listed":
        assert "Stone Pier" in text.rpartition("<<<entities")[2]
        fact = (
            "Ana Ruiz built the Stone Pier in 1902." if who == "Ana" else "Juan Ruiz bought the Stone Pier."
        )
        return ok({"propositions": [{"text": fact, "entities": ["Stone Pier", "the sea"]}]})
    return ok({"passages": PROPOSITIONS if form["name"] == "extract_propositions" else TRIPLES})


def workspace(profile, folder, answer=reply):
    with RawServer(answer) as server, Chat.open(server.settings(folder)) as chat:
        (work,) = ByModel(chat, 2, profile).run([ExtractionJob(DOCUMENT, "new")])
    return work, server


@pytest.mark.parametrize(
    ("profile", "calls", "mentions"),
    [
        ("propositions", 1, ["Ana Ruiz", "Stone Pier", "1902"]),
        ("two-step", 4, ["Stone Pier"]),
        ("triples", 1, ["Ana Ruiz", "Stone Pier"]),
    ],
)
def test_what_a_profile_brings(profile, calls, mentions, tmp_path):
    work, server = workspace(profile, tmp_path)
    assert work.failures == []
    assert work.faults == []
    assert len(server.bodies) == calls
    found = work.workspace
    assert found.extractor == profile
    assert found.model == "m"
    assert found.verb_phrases == ()
    assert found.unread == ()
    facts = {fact.passage: fact for fact in found.propositions}
    assert [name for name, _ in facts[0].mentions] == mentions
    assert facts[1].text.startswith("Juan Ruiz bought")
    assert {entity.name: entity.passages for entity in found.entities}["Stone Pier"] == (0, 1)
    if profile != "triples":
        assert ("person", ()) in next(entity for entity in found.entities if entity.name == "Ana Ruiz").roles


def test_a_proposition_mentions_the_entities_that_have_its_number(tmp_path):
    parts = [
        {
            "number": 1,
            "propositions": [
                "Ana Ruiz built the Stone Pier.",
                "It was built in 1902.",
                "Ana Ruiz was known.",
            ],
            "entities": ["Ana Ruiz|person|0", "Stone Pier | pier | 0, 1", "1902|date|1 7"],
        },
        PROPOSITIONS[0],
    ]
    work, _ = workspace("propositions", tmp_path, lambda *_: ok({"passages": parts}))
    assert work.failures == []
    found = {fact.text: [name for name, _ in fact.mentions] for fact in work.workspace.propositions}
    assert found["Ana Ruiz built the Stone Pier."] == ["Ana Ruiz", "Stone Pier"]
    assert found["It was built in 1902."] == ["Stone Pier", "1902"], "though its words name one of them"
    assert found.get("Ana Ruiz was known.", []) == [], "its number is at no entity"
    assert found["Juan Ruiz bought the Stone Pier."] == ["Juan Ruiz", "Stone Pier"], (
        "without numbers by words"
    )
    roles = {entity.name: entity.roles for entity in work.workspace.entities}
    assert ("pier", ()) in roles["Stone Pier"]


def test_a_reply_without_one_of_its_passages_is_repaired_or_listed(tmp_path):
    def answer(call, body):
        if call == 2:
            assert "passage 1 is missing in `passages`" in body["messages"][-1]["content"]
        return ok({"passages": PROPOSITIONS[:1]})

    work, server = workspace("propositions", tmp_path, answer)
    assert len(server.bodies) == 2
    assert "passage 1 is missing" in work.failures[0].reason


def test_what_a_passage_does_not_say_is_refused(tmp_path):
    strange = json.loads(
        json.dumps(PROPOSITIONS)
        .replace("Ana Ruiz built the Stone Pier", "Vera Holm sold a Boat")
        .replace("Ana Ruiz", "Vera Holm")
    )
    work, _ = workspace("propositions", tmp_path, lambda *_: ok({"passages": strange}))
    assert "name what the passage does not name" in work.failures[0].reason
