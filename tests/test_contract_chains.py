"""Chains of pairs along a plan, on every engine: the same everywhere, one query a level, and never an error for want of something."""

from __future__ import annotations

import pytest
import samples
from contract import HOSTILE, records
from dump import differences, dump, version

from gsw_graph.ask.plan import parse
from gsw_graph.ask.retrieve.recipes import ChainRecipe
from gsw_graph.loaders import read
from gsw_graph.memory import Memory
from gsw_graph.model.documents import Workspace
from gsw_graph.store.facts import entities_of, hop
from gsw_graph.store.reader import Reader

PLANS = {
    "three hops": samples.PLAN,
    "one hop": ["Who sang at the Stone Pier?"],
    "two ends": ["Who built the Stone Pier?", "Where was #1 born?", "When was #1 born?"],
    "two parents": ["Who built the Stone Pier?", "Where was Ana Ruiz born?", "Did #1 lie in #2?"],
    "comparison": [
        {"id": 1, "question": "When was Ana Ruiz born?"},
        {"id": 2, "question": "When was the Stone Pier built?"},
        {"id": 3, "question": "Which is earlier, #1 or #2?", "retrieve": False},
    ],
}
LIMITS = {name: getattr(ChainRecipe(), name) for name in ("pairs", "entities", "common")}


def found(answer):
    """What must be the same on every engine: chains with their hops, to the digits that 32 bits leave."""
    return [
        answer.answer,
        [
            (
                round(c.score, 3),
                [
                    (h.step, h.concrete_question, h.answer, h.qa.id, h.passage, h.via, round(h.score, 3))
                    for h in c.hops
                ],
            )
            for c in answer.chains
        ],
        [p.id for p in answer.passages],
    ]


@pytest.mark.parametrize("name", list(PLANS))
def test_chains_are_the_same_on_every_engine(sample, embedded_sample, name):
    plan = PLANS[name]
    stamp = version(sample)
    answer = sample.ask(samples.QUESTION, strategy="ricr", plan=plan, k=4, trace=True)
    assert answer.chains
    assert found(answer) == found(
        embedded_sample.ask(samples.QUESTION, strategy="ricr", plan=plan, k=4, keep=False)
    )
    assert answer.round_trips <= len(parse(plan).levels()) + 3, "the last asks what contradicts the answer"
    assert version(sample) == stamp
    assert found(sample.ask(samples.QUESTION, strategy="ricr", plan=plan, k=4)) == found(answer)
    together = sample.ask(samples.QUESTION, plan=plan, k=4)  # with a plan, `auto` is `fusion`
    assert together.strategy == "fusion"
    assert found(together) == found(embedded_sample.ask(samples.QUESTION, plan=plan, k=4, keep=False))


def test_a_question_of_one_hop_whose_pair_is_sure_is_answered(sample):
    answer = sample.ask("Who is the mayor of Valle Alto?", k=2, keep=False)
    assert answer.strategy == "fusion"
    assert answer.answer == "Carla Duarte"
    assert answer.answer_source == "chain"
    assert answer.abstained is False
    assert answer.confidence >= 0.8
    assert [len(chain.hops) for chain in answer.chains[:1]] == [1]
    assert [citation.source for citation in answer.citations] == ["valle"]
    of_several = sample.ask(samples.QUESTION, k=2, keep=False)
    assert of_several.answer is None
    assert of_several.chains == []
    assert of_several.abstained is False
    assert sample.ask("Who is the mayor of Valle Alto?", k=2, keep=False, answer=False).chains == []


def test_every_way_brings_its_pairs(sample):
    """What the query says of a hop: vectors, words of entities and their roles, and names."""
    (vector,) = sample.embedder.encode_query(["Who built the Stone Pier?"])
    reader = Reader(sample._connection)

    def asked(**changed):
        result = hop(reader, [{"embedding": vector.tolist(), "words": "", "keys": [], **changed}], **LIMITS)
        ways = {}
        for pair, way in result.candidates[0]:
            for one in way:
                ways.setdefault((one,), set()).add(pair.question)
        return ways

    every = {question for r in samples.RECORDS for _, question, _ in samples.pairs(r)}
    assert asked()[("vector",)] == every  # fewer than the thirty nearest
    assert ("words",) not in asked()
    assert ("name",) not in asked()
    husband = {"Whom did Ana Ruiz marry?"}
    assert asked(words="husband")[("words",)] == husband  # a state of Bruno Keller
    expected = {question for question, names in samples.ABOUT.items() if "Valle Alto" in names}
    assert asked(keys=["valle alto"])[("name",)] == expected
    assert ("name",) not in asked(keys=["no such name"])
    both = hop(
        reader,
        [{"embedding": vector.tolist(), "words": w, "keys": []} for w in ("husband", "", "mayor")],
        **LIMITS,
    )
    found = [{pair.question for pair, way in candidate if "words" in way} for candidate in both.candidates]
    assert found == [husband, set(), {"Who is the mayor of Valle Alto?"}]
    assert len(both.pairs) == len(both.phrases) == len(both.passages) == len(every)
    assert reader.round_trips == 7
    (few,) = hop(
        reader, [{"embedding": vector.tolist(), "words": "", "keys": []}], **{**LIMITS, "pairs": 4}
    ).candidates
    assert len(few) == 4
    # the ablation of the paper: entities alone, pairs alone
    (alone,) = hop(
        reader, [{"embedding": vector.tolist(), "words": "husband", "keys": []}], **{**LIMITS, "pairs": 0}
    ).candidates
    assert {way for _, ways in alone for way in ways} == {"words"}


def test_a_hop_takes_names_and_not_mentions_of_names(fresh_settings, fake_embedder, tmp_path):
    """It took five entities before it dropped the frequent ones, and before equal names were one."""
    people = [("Salt", n) for n in range(6)] + [("Ana Ruiz", 6)]
    found = [
        {
            "title": f"Page {n}",
            "text": f"{name} is mayor {n}.",
            "entities": [samples.entity(name, mayor=[])],
            "verb_phrases": [
                {"phrase": "is", "questions": [{"text": f"Who is mayor {n}?", "answers": [name]}]}
            ],
        }
        for name, n in people
    ]
    with Memory.open(settings=fresh_settings) as memory:
        memory.load(samples.jsonl(tmp_path / "w.jsonl", found), extractor="rules")
        vector = memory.embedder.encode_query(["mayor"])[0].tolist()

        def answers(**limits):
            asked = {"embedding": vector, "words": "mayor", "keys": []}
            (pairs,) = hop(Reader(memory._connection), [asked], **{**LIMITS, "pairs": 0, **limits}).candidates
            return {pair.answers[0] for pair, _ in pairs}

        assert answers(entities=2) == {"Salt", "Ana Ruiz"}, "six documents with one name are one name"
        assert answers(entities=1, common=3) == {"Ana Ruiz"}, "a frequent name takes no place"


def test_documents_meet_in_answers_alone_if_their_names_are_apart(sample):
    """Panini, 5.3: links between documents arise as they are read. An entity brings the pairs of its own document, and is found by its words and by its vector."""
    reader = Reader(sample._connection)
    found = entities_of(reader, ["ana ruiz", "ana ruiz", "", "husband"], most=9)
    assert list(found) == ["ana ruiz", "husband"]
    assert len([entity for entity in found["ana ruiz"] if entity.text.startswith("Ana Ruiz")]) == 2
    assert [entity.text.split()[0] for entity in found["husband"]] == ["Bruno"], "by a state"
    vector = sample.embedder.encode_query(["Ana Ruiz"])[0].tolist()
    for entity in found["ana ruiz"][:2]:
        asked = {"embedding": vector, "words": "", "entities": [entity.id], "keys": []}
        (pairs,) = hop(reader, [asked], **{**LIMITS, "pairs": 0}).candidates
        assert len({pair.passage for pair, _ in pairs}) == 1
        assert {way for _, ways in pairs for way in ways} == {"words"}
    answer = sample.ask(samples.QUESTION, strategy="ricr[recipe=paper]", plan=samples.PLAN, k=4, llm=False)
    assert answer.chains
    assert not any("name" in hop.via for chain in answer.chains for hop in chain.hops)
    (source,) = {
        passage.source for passage in answer.passages if passage.id == answer.chains[0].hops[0].passage
    }
    within = sample.ask(
        samples.QUESTION, strategy="ricr[recipe=paper]", plan=samples.PLAN, llm=False, inside=(source,)
    )
    found = {passage.source for passage in within.passages}
    assert found == {source}


def test_a_memory_without_pairs_abstains(memory, tmp_path):
    for plan in (None, samples.PLAN):
        empty = memory.ask(samples.QUESTION, strategy="ricr", plan=plan)
        assert empty.abstained is True
        assert empty.answer is None
        assert empty.chains == []
        assert empty.passages == []
    memory.load(
        records(tmp_path, "Then Ana Ruiz built the Stone Pier in Porto Velho.", "Then Bruno Keller slept.")
    )
    for plan in (None, samples.PLAN, PLANS["comparison"]):
        answer = memory.ask(samples.QUESTION, strategy="ricr", plan=plan, k=2, trace=True)
        assert answer.abstained is True
        assert answer.answer is None
        assert answer.chains == []
        assert answer.citations == []
        assert answer.passages  # what is nearest is shown all the same
        assert answer.missing == "the memory holds no question-answer pairs, of which chains are made"
        assert answer.round_trips <= (len(parse(plan).levels()) if plan else 2) + 3, (
            "the last asks whether there are pairs"
        )
    memory.load(samples.jsonl(tmp_path / "open.jsonl", [{**samples.RECORDS[1], "verb_phrases": []}]))
    assert memory.ask(samples.QUESTION, strategy="ricr", plan=samples.PLAN).abstained


@pytest.fixture
def hostile(memory, tmp_path):
    """Hostile names, questions, answers, phrases, roles, states and propositions, as the loader gives them."""
    rows = []
    for n, text in enumerate(HOSTILE):
        name = f"{text[:200]} N{n}"
        rows.append(
            {
                "id": f"h{n} {text[:80]}",
                "title": text,
                "text": f"{text} stands here.",
                "entities": [
                    {
                        "name": name,
                        "roles": [
                            {"role": f"r {text[:100]}", "states": [f"s {text[:100]}", text[:50] + "x"]}
                        ],
                    },
                    {"name": f"Person{n} Smith"},
                ],
                "verb_phrases": [
                    {
                        "phrase": f"p {text}",
                        "questions": [
                            {"text": f"Who met {text} {n}?", "answers": [name, f"TEXT:t {text}"]},
                            {"text": f"{text} {n}", "answers": [f"Person{n} Smith"]},
                        ],
                    }
                ],
                "propositions": [{"text": f"f {text}", "entities": [name]}],
            }
        )
    path = samples.jsonl(tmp_path / "hostile.jsonl", rows)
    report = memory.load(path)
    assert report.failures == []
    assert report.documents.new == len(HOSTILE)
    return memory, [item for item in read([path]) if isinstance(item, Workspace)]


def test_hostile_findings_come_back_as_they_were(hostile, tmp_path):
    memory, workspaces = hostile
    assert len(workspaces) == len(HOSTILE)

    def rows(query):
        return sorted(repr(tuple(row.values())) for row in memory.cypher(query).rows)

    def expected(items):
        return sorted(map(repr, items))

    pairs = [
        (w.source, v.phrase, q.question, list(q.answers))
        for w in workspaces
        for v in w.verb_phrases
        for q in v.pairs
    ]
    assert len(pairs) == 2 * len(HOSTILE)
    assert rows(
        "MATCH (v:VerbPhrase)-[:ASKS]->(q:QAPair)-[:IN]->(:Passage)-[:PART_OF]->(d:Document)"
        " RETURN d.source AS s, v.phrase AS v, q.question AS q, q.answers AS a"
    ) == expected(pairs)
    assert rows(
        "MATCH (e:Entity)-[:PLAYS]->(r:Role) RETURN e.name AS e, e.description AS d, r.name AS r"
    ) == expected(
        (e.name, e.description, role) for w in workspaces for e in w.entities for role, _ in e.roles
    )
    assert rows("MATCH (:Entity)-[p:PLAYS]->(r:Role) RETURN r.name AS r, p.states AS s") == expected(
        (role, list(states)) for w in workspaces for e in w.entities for role, states in e.roles
    )
    assert rows("MATCH (f:Proposition)-[:MENTIONS]->(e:Entity) RETURN f.text AS f, e.name AS e") == expected(
        (f.text, name) for w in workspaces for f in w.propositions for name, _ in f.mentions
    )
    assert rows(
        "MATCH (:QAPair)-[a:ANSWERED_BY]->(e:Entity) RETURN a.position AS p, e.name AS e"
    ) == expected((0, e.name) for w in workspaces for e in w.entities)
    assert [finding for finding in memory.doctor() if not finding.ok] == []
    before = dump(memory)
    stamp = version(memory)
    assert memory.load(str(tmp_path / "hostile.jsonl")).documents.unchanged == len(HOSTILE)
    assert version(memory) == stamp
    assert differences(dump(memory), before) == []
    memory.forget(*(w.source for w in workspaces))
    assert [label for label, _, _ in dump(memory)["nodes"]] == ["Memory"]
