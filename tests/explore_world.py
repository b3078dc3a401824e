"""A memory of which every answer of `cypher/explore/` is known: the small world of `samples`, a guide that contradicts it, and questions that were asked."""

from __future__ import annotations

import samples
from samples import entity

GUIDE = {
    "id": "guide",
    "title": "Harbour Guide",
    "text": "Carlo Bass built the Stone-Pier in Porto Velho in 1902, twenty-eight years after the first. In May 1903 Ana  Ruiz left.",
    "entities": [
        entity("Carlo Bass", person=["builder"]),
        entity("Stone-Pier", structure=[]),
        entity("Porto Velho", place=[]),
        entity("1902", date=[]),
        entity("May 1903", date=[]),
        entity("twenty-eight years", duration=[]),
        entity("Ruiz", person=[]),
        entity("ANA RUIZ", person=["left"]),
        entity("Stone Pier", structure=[]),
    ],
    "verb_phrases": [
        {
            "phrase": "built",
            "questions": [
                {"text": "Who built the stone pier?", "answers": ["Carlo Bass"]},
                {"text": "When was the Stone Pier built?", "answers": ["1902"]},
                {"text": "Who built", "answers": ["TEXT:built"]},
            ],
        },
        {
            "phrase": "waited",
            "questions": [{"text": "How long did Carlo Bass wait?", "answers": ["twenty-eight years"]}],
        },
    ],
    "propositions": ["It is said that the sea is near."],
}
LENA = {  # joined to Carlo Bass by a number of years and a date alone
    "id": "lena",
    "title": "Lena Fox",
    "text": "Lena Fox was mayor for twenty-eight years, until 1902.",
    "entities": [
        entity("Lena Fox", person=["mayor"]),
        entity("twenty-eight years", duration=[]),
        entity("1902", date=[]),
    ],
    "verb_phrases": [
        {
            "phrase": "was mayor",
            "questions": [
                {"text": "How long was Lena Fox mayor?", "answers": ["twenty-eight years"]},
                {"text": "Until when was Lena Fox mayor?", "answers": ["1902"]},
            ],
        }
    ],
}
EMPTY = {
    "id": "blank",
    "title": "",
    "text": "nothing of note was ever found here, and nobody came.",
    "entities": [],
    "verb_phrases": [],
}
ASKED = [  # question, answer, abstained, strategy, model, tokens in and out, dollars, seconds, confidence, titles of passages used and whether cited, pairs used
    (
        "Who built the pier?",
        "Ana Ruiz",
        False,
        "fusion",
        "m1",
        100,
        20,
        0.012,
        2.0,
        0.8,
        [("Stone Pier", True), ("Ana Ruiz", False)],
        ["Who built the Stone Pier?"],
    ),
    (
        "who built the PIER? ",
        "Ana Ruiz",
        False,
        "fusion",
        "m1",
        100,
        20,
        0.006,
        4.0,
        0.6,
        [("Stone Pier", True)],
        ["Who built the Stone Pier?"],
    ),
    ("Where is Atlantis?", None, True, "fusion", None, 0, 0, None, 1.0, 0.1, [("Valle Alto", False)], []),
    ("What is there?", None, False, "linked", None, 0, 0, None, 0.5, None, [], []),
]


def fill(memory, folder):
    """Load this world into an empty memory; each file is a load of its own minute."""
    files = [*samples.write(folder), samples.jsonl(folder / "guide.jsonl", [GUIDE, LENA, EMPTY])]
    for file in files:
        assert memory.load(file).failures == []
    memory.cypher("MATCH (d:Document) SET d.loaded_at = '2026-01-01T10:00:00'", write=True)
    memory.cypher(
        "MATCH (d:Document) WHERE d.title IN ['Harbour Guide', 'Lena Fox', ''] SET d.loaded_at = '2026-01-02T11:30:00'",
        write=True,
    )
    memory.cypher(
        "MATCH (a:Concept {id: 'ruiz'}), (b:Concept {id: 'ana ruiz'})"
        " CREATE (a)-[:ALIAS_OF {score: 0.9, reason: 'the surname', method: 'rules', run: 'r1', at: '2026-02-05T12:00:00'}]->(b)",
        write=True,
    )
    for number, (
        question,
        answer,
        abstained,
        strategy,
        model,
        prompt,
        completion,
        dollars,
        seconds,
        confidence,
        passages,
        pairs,
    ) in enumerate(ASKED):
        properties = {
            "id": f"q{number}",
            "question": question,
            "answer": answer,
            "abstained": abstained,
            "strategy": strategy,
            "model": model,
            "asked_at": f"2026-02-0{number + 1}T12:00:00.000000+00:00",
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "dollars": dollars,
            "seconds": seconds,
            "confidence": confidence,
        }
        memory.cypher(
            "CREATE (q:Question) SET q += $properties",
            write=True,
            properties={name: value for name, value in properties.items() if value is not None},
        )
        for rank, (title, cited) in enumerate(passages, 1):
            query = "MATCH (q:Question {id: $id}), (p:Passage {title: $title}) CREATE (q)-[:USED {rank: $rank, cited: $cited}]->(p)"
            memory.cypher(query, write=True, id=f"q{number}", title=title, rank=rank, cited=cited)
        for pair in pairs:
            query = "MATCH (q:Question {id: $id}), (p:QAPair {question: $pair}) CREATE (q)-[:USED {rank: 1, hop: 1}]->(p)"
            memory.cypher(query, write=True, id=f"q{number}", pair=pair)
    memory.cypher(
        "MATCH (q:Question {id: 'q1'}), (s:Question {id: 'q0'}) SET q.verdict = 'rejected' CREATE (q)-[:REUSED]->(s)",
        write=True,
    )
