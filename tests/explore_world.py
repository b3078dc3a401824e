"""A memory of which every answer of `cypher/explore/` is known: the small world of `samples`, a guide that contradicts it, and questions that were asked.

Lena Fox is joined to Carlo Bass by a number of years and a date alone.
"""

from __future__ import annotations

import json

import samples

WORLD = json.loads(samples.DATA.joinpath("explore_world.json").read_text(encoding="utf-8"))
USED_PASSAGE = "MATCH (q:Question {id: $id}), (p:Passage {title: $title}) CREATE (q)-[:USED {rank: $rank, cited: $cited}]->(p)"
USED_PAIR = (
    "MATCH (q:Question {id: $id}), (p:QAPair {question: $pair}) CREATE (q)-[:USED {rank: 1, hop: 1}]->(p)"
)
LAST = (
    "MATCH (d:Document) SET d.loaded_at = '2026-01-01T10:00:00'",
    "MATCH (d:Document) WHERE d.title IN ['Harbour Guide', 'Lena Fox', ''] SET d.loaded_at = '2026-01-02T11:30:00'",
    "MATCH (a:Concept {id: 'ruiz'}), (b:Concept {id: 'ana ruiz'})"
    " CREATE (a)-[:ALIAS_OF {score: 0.9, reason: 'the surname', method: 'rules', run: 'r1', at: '2026-02-05T12:00:00'}]->(b)",
    "MATCH (q:Question {id: 'q1'}), (s:Question {id: 'q0'}) SET q.verdict = 'rejected' CREATE (q)-[:REUSED]->(s)",
)


def fill(memory, folder):
    """Load this world into an empty memory; each file is a load of its own minute."""
    files = samples.write(folder)
    files.append(samples.jsonl(folder / "guide.jsonl", WORLD["documents"]))
    for file in files:
        assert memory.load(file).failures == []
    for asked in WORLD["asked"]:
        properties = asked["properties"]
        question = properties["id"]
        memory.cypher("CREATE (q:Question) SET q += $properties", write=True, properties=properties)
        for rank, used in enumerate(asked["passages"], 1):
            memory.cypher(USED_PASSAGE, write=True, id=question, rank=rank, **used)
        for pair in asked["pairs"]:
            memory.cypher(USED_PAIR, write=True, id=question, pair=pair)
    for statement in LAST:
        memory.cypher(statement, write=True)
