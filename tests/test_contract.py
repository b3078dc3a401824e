"""What a memory promises, on every engine: embedded, Neo4j 5.26, Neo4j 2026."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import engines
import fakes
import pytest
from dump import Dump, differences, dump, version

from gsw_graph import pipeline
from gsw_graph.config import Settings
from gsw_graph.errors import InputError, SchemaError
from gsw_graph.extract import rules
from gsw_graph.inference.embedder import Embedder
from gsw_graph.loaders import read
from gsw_graph.memory import Memory
from gsw_graph.model import Document
from gsw_graph.names import normalise
from gsw_graph.store import schema, writer

EXAMPLES = Path(__file__).parents[1] / "examples"
CORPUS = str(EXAMPLES / "corpus")
FILES = sorted(str(file) for file in Path(CORPUS).iterdir())
QUESTIONS = [json.loads(line) for line in (EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
DOCUMENTS = [item for item in read([CORPUS]) if isinstance(item, Document)]


@pytest.fixture(scope="module")
def shared(engine_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One memory for each engine, whatever is in it; a new schema costs a server seconds."""
    folder = tmp_path_factory.mktemp("contract")
    settings = engine_settings
    if "://" in settings.memory:
        engines.empty(settings)
    else:
        settings = replace(settings, memory=str(folder / "memory"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Embedder, "load", staticmethod(fakes.embedder))
        with Memory.open(settings=settings) as memory:
            yield memory


@pytest.fixture
def memory(shared: Memory) -> Memory:
    """A memory that holds nothing."""
    shared.forget(everything=True)
    return shared


@pytest.fixture
def corpus(shared: Memory) -> Memory:
    """A memory that holds the example corpus and nothing else."""
    if set(shared.status().nodes.items()) != set(CORPUS_NODES.items()) or shared.load(CORPUS).documents.unchanged != len(FILES):
        shared.forget(everything=True)
        shared.load(CORPUS)
    return shared


def by_query(memory: Memory) -> Memory:
    """The same memory, with `linked` in the form for memories too large for the client."""
    return Memory(memory._connection, replace(memory._settings, linked_client_passages=0))


def expected_counts(documents: list[Document]) -> tuple[dict[str, int], dict[str, int]]:
    """Nodes and relationships of these documents, counted from what the extractor says."""
    workspaces = [rules.extract(document) for document in documents]
    entities = [entity for workspace in workspaces for entity in workspace.entities]
    nodes = {
        "Document": len(documents),
        "Passage": sum(len(d.passages) for d in documents),
        "Entity": len(entities),
        "Role": len({role for e in entities for role, _ in e.roles}),
        "Concept": len({e.key for e in entities}),
        "VerbPhrase": 0,
        "QAPair": 0,
        "Proposition": 0,
        "Question": 0,
    }
    relationships = {
        "PART_OF": nodes["Passage"],
        "NEXT": sum(len(d.passages) - 1 for d in documents),
        "IN": sum(len(e.passages) for e in entities),
        "PLAYS": sum(len(e.roles) for e in entities),
        "REFERS_TO": len(entities),
    }
    return nodes, relationships


FIRST_DUMP: dict[str, Dump] = {}  # of the engine that is tested first
CORPUS_NODES, CORPUS_RELATIONSHIPS = expected_counts(DOCUMENTS)


def records(folder: Path, *texts: str, title: str = "", name: str = "records") -> str:
    """A file of documents called d0, d1 and so on; their path."""
    file = folder / f"{name}.jsonl"
    rows = [json.dumps({"id": f"d{n}", "title": title, "text": text}) for n, text in enumerate(texts)]
    file.write_text("\n".join(rows), encoding="utf-8")
    return str(file)


def sources(answer) -> list[str]:
    return [Path(passage.source).name for passage in answer.passages]


# Loading


def test_from_nothing(fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Embedder, "load", staticmethod(fakes.embedder))
    with Memory.open(settings=fresh_settings) as memory:
        before = memory.status()
        assert (before.nodes, before.relationships, before.schema, before.version, before.indexed) == ({}, {}, None, None, None)
        assert memory.ask("Who is Ana?").abstained
        assert memory.ask("Who is Ana?", strategy="bm25").passages == []
        assert memory.forget("x").unknown == ["x"]
        assert memory.load(CORPUS, dry_run=True).documents.new == len(FILES)
        assert memory.status().schema is None  # a dry run writes nothing, not even a schema
        assert all(finding.ok for finding in memory.doctor())
        report = memory.load(CORPUS)
        assert (report.documents.new, report.documents.failed, report.failures) == (len(FILES), 0, [])
        assert report.nodes == CORPUS_NODES
        after = memory.status()
        assert (after.nodes, after.relationships) == (CORPUS_NODES, CORPUS_RELATIONSHIPS)
        assert (after.schema, after.embedder, after.dimension, after.indexed) == (1, fresh_settings.embedder, fakes.DIMENSION, True)
        assert after.unfinished == []
        assert all(finding.ok for finding in memory.doctor())
        assert memory.ask("Who is Ingrid Sølvær?").passages


def test_every_name_and_place_is_stored_as_the_extractor_says(corpus: Memory) -> None:
    expected, concepts, display = set(), Counter(), {}
    for document in DOCUMENTS:
        for entity in rules.extract(document).entities:
            concepts[entity.key] += len(entity.passages)
            display[entity.key] = max(display.get(entity.key, ""), entity.name)
            for position in entity.passages:
                expected.add((document.passage_id(position), entity.key, entity.name, entity.from_, entity.to, position in entity.titles))
    rows = corpus.cypher(
        "MATCH (p:Passage)<-[i:IN]-(e:Entity)-[:REFERS_TO]->(c:Concept)"
        " RETURN p.id AS p, c.id AS c, e.name AS name, e.from AS begin, e.to AS end, i.title AS title"
    ).rows
    assert {tuple(row.values()) for row in rows} == expected
    assert len(rows) == len(expected)
    rows = corpus.cypher("MATCH (c:Concept) RETURN c.id AS id, c.name AS name, c.passages AS passages").rows
    assert {row["id"]: row["passages"] for row in rows} == concepts
    assert {row["id"]: row["name"] for row in rows} == display


def test_the_graph_is_the_same_on_every_engine(corpus: Memory) -> None:
    first = FIRST_DUMP.setdefault("corpus", dump(corpus, vectors=False))
    assert differences(dump(corpus, vectors=False), first) == []


def test_texts_come_back_as_they_were(corpus: Memory) -> None:
    rows = corpus.cypher("MATCH (p:Passage)-[:PART_OF]->(d:Document) RETURN d.source AS s, p.position AS n, p.title AS t, p.text AS x").rows
    stored = {(row["s"], row["n"]): (row["t"], row["x"]) for row in rows}
    assert stored == {(d.source, p.position): (p.title, p.text) for d in DOCUMENTS for p in d.passages}
    rows = corpus.cypher("MATCH (a:Passage)-[:NEXT]->(b:Passage) RETURN a.id AS a, b.id AS b").rows
    assert {(row["a"], row["b"]) for row in rows} == {(d.passage_id(n), d.passage_id(n + 1)) for d in DOCUMENTS for n in range(len(d.passages) - 1)}


def test_the_second_load_writes_nothing(corpus: Memory) -> None:
    before, stamp = dump(corpus), version(corpus)
    report = corpus.load(CORPUS)
    assert (report.documents.new, report.documents.unchanged, report.documents.replaced) == (0, len(FILES), 0)
    assert not any(report.nodes.values())
    assert version(corpus) == stamp
    assert differences(dump(corpus), before) == []


def test_a_dry_run_writes_nothing(corpus: Memory, tmp_path: Path) -> None:
    before, stamp = dump(corpus), version(corpus)
    report = corpus.load(CORPUS, records(tmp_path, "So Ana met Bo."), dry_run=True)
    assert (report.documents.new, report.documents.unchanged, report.nodes) == (1, len(FILES), {"Passage": 1})
    assert (version(corpus), differences(dump(corpus), before)) == (stamp, [])


@pytest.mark.parametrize("way", ["reversed", "halves", "one by one", "replaced"])
def test_the_graph_does_not_depend_on_the_way_of_loading(corpus: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    spellings = records(tmp_path, *[f"Then {name} came to Vellmouth." for name in ("BEYONCE", "Beyoncé", "Beyonce", "beyoncé Knowles", "Vellmouth")])
    corpus.load(spellings)
    expected = dump(corpus)
    if way == "replaced":
        monkeypatch.setattr(pipeline, "WINDOW", 7)
        assert corpus.load(CORPUS, spellings, replace=True).documents.replaced == len(FILES) + 5
    else:
        corpus.forget(everything=True)
        monkeypatch.setattr(pipeline, "WINDOW", 3)
        paths = [*FILES, spellings][:: -1 if way == "reversed" else 1]
        if way == "reversed":
            lines = Path(spellings).read_text().splitlines()[::-1]
            Path(spellings).write_text("\n".join(lines))
            corpus.load(*paths)
        elif way == "halves":
            corpus.load(*paths[10:])
            corpus.load(*paths)
        else:
            monkeypatch.setattr(writer, "BATCH_BYTES", 1)
            corpus.load(*paths)
    assert differences(dump(corpus), expected) == []


def test_changed_content_replaces_the_old(memory: Memory, tmp_path: Path) -> None:
    old = "Then Old Name met Shared Name in 1901 by Only Once. And BEYONCÉ sang."
    path = records(tmp_path, old, "So Shared Name stayed. Then Beyonce sang. So Beyonce sang.")
    memory.load(path)
    report = memory.load(records(tmp_path, "Then New Name met Shared Name.\n\nAnd all.", "So Shared Name stayed. Then Beyonce sang. So Beyonce sang."))
    assert (report.documents.new, report.documents.replaced, report.documents.unchanged) == (0, 1, 1)
    after = dump(memory)
    rows = memory.cypher("MATCH (c:Concept) RETURN c.id AS id, c.name AS name, c.passages AS passages").rows
    assert {(row["id"], row["name"], row["passages"]) for row in rows} == {
        ("new name", "New Name", 1),
        ("shared name", "Shared Name", 2),
        ("beyonce", "Beyonce", 1),  # BEYONCÉ is gone with its document
    }
    assert memory.status().nodes["Role"] == 0  # nothing is a date any more
    assert memory.cypher("MATCH (p:Passage) WHERE p.text CONTAINS 'Old Name' RETURN p").rows == []
    memory.forget(everything=True)
    memory.load(path)
    assert differences(dump(memory), after) == []


def test_display_names_and_counts_of_shared_concepts(memory: Memory, tmp_path: Path) -> None:
    path = records(tmp_path, "So BEYONCE sang.", "So Beyoncé sang.", "So Beyonce sang, as Beyonce did.")

    def concept() -> tuple[str, int]:
        (row,) = memory.cypher("MATCH (c:Concept {id: 'beyonce'}) RETURN c.name AS name, c.passages AS passages").rows
        return row["name"], row["passages"]

    memory.load(path)
    assert concept() == ("Beyoncé", 3)
    memory.forget("d1")
    assert concept() == ("Beyonce", 2)
    memory.forget("d2")
    assert concept() == ("BEYONCE", 1)
    memory.load(path)
    assert concept() == ("Beyoncé", 3)


def test_what_fails_is_listed_and_the_rest_is_loaded(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    path.write_text('{"id": "good", "text": "So Ana met Bo."}\n{"id": "bad"}\n[1\n', encoding="utf-8")
    report = memory.load(str(path))
    assert (report.documents.new, report.documents.failed, len(report.failures)) == (1, 2, 2)
    assert memory.status().nodes["Document"] == 1


def test_without_an_extractor_there_are_passages_only(memory: Memory, tmp_path: Path) -> None:
    path = records(tmp_path, "Then Ana met Bo in the old tower.", "Then Cy slept.")
    assert memory.load(path, extractor="none").nodes == {**dict.fromkeys(CORPUS_NODES, 0), "Document": 2, "Passage": 2}
    assert memory.ask("Where did Ana meet Bo?", k=1).passages[0].source == "d0"


# Forgetting


def test_forgetting_one_is_never_having_loaded_it(corpus: Memory, tmp_path: Path) -> None:
    before = dump(corpus)
    extra = records(tmp_path, "Then Ingrid Sølvær met Zora Zebedee on 3 May 1871 in Vellmouth.", "Then Zora Zebedee left.")
    corpus.load(extra)
    assert corpus.ask("Who is Zora Zebedee?", k=2).passages[0].source in {"d0", "d1"}
    found = corpus.forget("d0", "no such document")
    assert (found.forgotten, found.unknown) == (["d0"], ["no such document"])
    assert sources(corpus.ask("Who is Zora Zebedee?", k=3)).count("d1") == 1  # the caches follow
    assert "d0" not in sources(corpus.ask("Who is Zora Zebedee?", k=40))
    corpus.forget("d1")
    assert differences(dump(corpus), before) == []


def test_forgetting_by_path_and_by_folder(corpus: Memory, tmp_path: Path) -> None:
    before = dump(corpus)
    (tmp_path / "notes").mkdir()
    for name in ("one.txt", "two.md"):
        (tmp_path / "notes" / name).write_text(f"Then {name[:3].title()} Person came to Vellmouth.")
    corpus.load(str(tmp_path / "notes"))
    assert corpus.forget(str(tmp_path / "notes" / "one.txt")).forgotten == [(tmp_path / "notes" / "one.txt").as_posix()]
    assert corpus.status().nodes["Document"] == len(FILES) + 1
    assert len(corpus.forget(str(tmp_path / "notes")).forgotten) == 1
    assert corpus.forget(str(tmp_path / "notes")).unknown == [str(tmp_path / "notes")]
    assert differences(dump(corpus), before) == []


def test_forgetting_everything_leaves_the_memory_node_only(corpus: Memory) -> None:
    before, kept = version(corpus), corpus.status()
    assert corpus.forget(everything=True).forgotten == sorted(d.source for d in DOCUMENTS)
    left = dump(corpus)
    assert [label for label, _, _ in left["nodes"]] == ["Memory"]
    assert left["relationships"] == []
    after = corpus.status()
    assert version(corpus) > before
    assert (after.created, after.embedder, after.indexed) == (kept.created, kept.embedder, True)
    for strategy in ("linked", "dense", "bm25"):
        assert corpus.ask("Who is Ingrid Sølvær?", strategy=strategy).abstained
    assert corpus.forget(everything=True).forgotten == []


# Asking


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_both_forms_of_linked_agree(corpus: Memory, question: dict) -> None:
    whole, query = (m.ask(question["question"], strategy="linked", k=5, trace=True) for m in (corpus, by_query(corpus)))
    assert whole.trace is not None
    assert query.trace is not None
    assert (whole.trace.walked, query.trace.walked) == ("whole graph", "neighbourhood by query")
    assert query.trace.passages_walked == whole.trace.passages_walked == CORPUS_NODES["Passage"]
    assert [p.id for p in query.passages] == [p.id for p in whole.passages]
    assert [p.score for p in query.passages] == pytest.approx([p.score for p in whole.passages], rel=1e-3)
    assert query.trace.linked == whole.trace.linked
    assert question["supporting"][0] in sources(whole)  # the first hop names what the question names


def test_the_trace_of_linked(corpus: Memory) -> None:
    answer = corpus.ask("In what disaster did the architect of the Vellmouth Observatory die?", strategy="linked", trace=True)
    trace = answer.trace
    assert trace is not None
    assert [mention["concept"] for mention in trace.linked] == ["vellmouth observatory"]
    assert trace.seeds[0]["concept"] == "vellmouth observatory"
    assert set(trace.paths) == {p.id for p in answer.passages}
    for passage in answer.passages:
        steps = trace.paths[passage.id]
        assert (steps[-1].kind, steps[-1].id, steps[-1].label) == ("passage", passage.id, passage.title)
        for step in steps:
            label = "Concept" if step.kind == "name" else "Passage"
            (row,) = corpus.cypher(f"MATCH (n:{label} {{id: $id}}) RETURN coalesce(n.title, n.name) AS label", id=step.id).rows
            assert row["label"] == step.label
    assert corpus.ask("Who is Ana?", strategy="linked").trace is None


def test_dense_is_the_cosine(corpus: Memory) -> None:
    embedder = corpus.embedder
    texts = {d.passage_id(p.position): p.full_text for d in DOCUMENTS for p in d.passages}
    stored = dict(zip(texts, embedder.encode(list(texts.values())), strict=True))
    for question in [*(q["question"] for q in QUESTIONS[:3]), next(iter(texts.values()))]:
        (vector,) = embedder.encode_query([question])
        cosines = {i: float(v @ vector) for i, v in stored.items()}
        answer = corpus.ask(question, strategy="dense", k=40)
        assert {p.id: p.score for p in answer.passages} == pytest.approx(cosines, abs=1e-4)
        assert [p.id for p in answer.passages][:5] == sorted(cosines, key=lambda i: -cosines[i])[:5]
    assert answer.passages[0].score == pytest.approx(1, abs=1e-4)


def test_bm25_finds_rare_words_in_any_form(corpus: Memory) -> None:
    rare = Counter(word for d in DOCUMENTS for word in {w for p in d.passages for w in re.findall(r"[a-z]{7,}", p.full_text.lower())})
    checked = 0
    for document in DOCUMENTS:
        words = sorted({w for p in document.passages for w in re.findall(r"[a-z]{7,}", p.full_text.lower()) if rare[w] == 1})
        if words:
            answer = corpus.ask(f"{words[0]}?", strategy="bm25")
            assert document.source in {p.source for p in answer.passages}
            assert [p.score for p in answer.passages] == sorted((p.score for p in answer.passages), reverse=True)
            checked += 1
    assert checked > 20
    assert sources(corpus.ask("observatories", strategy="bm25", k=1)) == ["vellmouth_observatory.md"]  # stemmed
    assert corpus.ask("xyzzyq", strategy="bm25").abstained
    assert corpus.ask("?! ...", strategy="bm25").abstained


@pytest.mark.parametrize("strategy", ["auto", "linked", "dense", "bm25"])
def test_an_answer_has_what_it_promises(corpus: Memory, strategy: str) -> None:
    for k in (1, 3, 12, 100):
        answer = corpus.ask("Who built the Great Tide Engine in Vellmouth?", strategy=strategy, k=k)
        assert 0 < len(answer.passages) <= k
        assert strategy == "bm25" or len(answer.passages) == min(k, CORPUS_NODES["Passage"])
        assert len({p.id for p in answer.passages}) == len(answer.passages)
        assert [p.score for p in answer.passages] == sorted((p.score for p in answer.passages), reverse=True)
        for passage in answer.passages:
            document = next(d for d in DOCUMENTS if d.source == passage.source)
            assert passage.document == document.id
            assert (passage.title, passage.text) in {(p.title, p.text) for p in document.passages}
        assert (answer.answer, answer.citations) == (None, [])  # nothing is stated, so nothing is cited
    assert answer.strategy == strategy.replace("auto", "linked")
    assert not answer.abstained
    assert answer.round_trips >= 1
    assert json.loads(json.dumps(answer.to_dict()))["passages"][0]["source"] == answer.passages[0].source


def test_questions_that_cannot_be_asked(corpus: Memory) -> None:
    for question, options, message in [
        ("", {}, "empty"),
        (" \n", {}, "empty"),
        ("Who?", {"k": 0}, "k is 0"),
        ("Who?", {"strategy": "magic"}, "no strategy 'magic'"),
        ("Who?", {"plan": [{"id": 1, "question": "Who?"}]}, "plan"),
    ]:
        with pytest.raises(InputError, match=message):
            corpus.ask(question, **options)


HOSTILE = [
    'Simple AND (title:foo OR "bar") NOT baz~2^3 [a TO b] {x} \\ /regex/ && || ! * ?',
    "'; MATCH (n) DETACH DELETE n //",
    "$id {id: 'x'} `Backtick` ``",
    "a\\'b \\\\ \\n \\u0041 \\",
    "NULL",
    "null",
    "None NaN undefined true -0 1e309 Infinity",
    "Robert'); DROP TABLE Students;--",
    "🙂 Emoji 👩‍👩‍👧 Family 🇩🇪",
    "مرحبا بالعالم Arabic",
    "\u202eRight To Left\u202c",
    "e\u0301\u0302\u0303 Combining Zalgo\u0335\u0321\u0322",
    "हिन्दी भाषा",
    "東京 都庁",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \U0001f468 \ufdfa",
    "\ufeffBom Zero\u200bWidth\u00adShy",
    "Tab\tNew\nLine\r\nTitle",
    "O'Neil's \"Quoted\" ‘Name’ «Guillemets»",
    "x" * 600,
    "The " * 300,
    "Long " * 2000 + "Title",
    "%s %d {} {0} #{x} ${jndi:ldap://x}",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "-- comment /* x */ # y",
    "a:b c:d id:* _exists_:x",
    " ",
]


@pytest.fixture
def hostile(memory: Memory, tmp_path: Path) -> Memory:
    rows = [
        {"id": f"h{n} {title[:80]}", "title": title, "text": f"{title}\n\nIt is said that {title} met Word{n}x Person{n} on 3 May 18{n:02}. So {title}!"}
        for n, title in enumerate(HOSTILE)
    ]
    (tmp_path / "hostile.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    report = memory.load(str(tmp_path / "hostile.jsonl"))
    assert report.failures == []
    assert report.documents.new == len(HOSTILE)
    return memory


def test_hostile_text_comes_back_as_it_was(hostile: Memory, tmp_path: Path) -> None:
    documents = [item for item in read([str(tmp_path / "hostile.jsonl")]) if isinstance(item, Document)]
    nodes, relationships = expected_counts(documents)
    assert (hostile.status().nodes, hostile.status().relationships) == (nodes, relationships)
    rows = hostile.cypher("MATCH (p:Passage)-[:PART_OF]->(d:Document) RETURN d.source AS s, p.position AS n, p.title AS t, p.text AS x").rows
    assert {(r["s"], r["n"]): (r["t"], r["x"]) for r in rows} == {(d.source, p.position): (p.title, p.text) for d in documents for p in d.passages}
    keys = {entity.key for document in documents for entity in rules.extract(document).entities}
    assert {row["id"] for row in hostile.cypher("MATCH (c:Concept) RETURN c.id AS id").rows} == keys
    assert {"null", "emoji"} <= keys
    assert all(finding.ok for finding in hostile.doctor())
    stamp = version(hostile)
    assert hostile.load(str(tmp_path / "hostile.jsonl")).documents.unchanged == len(HOSTILE)
    assert version(hostile) == stamp


def test_hostile_questions_are_only_words(hostile: Memory) -> None:
    before, stamp = hostile.status(), version(hostile)
    for n, title in enumerate(HOSTILE):
        for asked in (f"{title} and Word{n}x Person{n}?", title, f'{title}\'s "{title}"'):
            if not asked.strip():
                continue
            for memory, strategy in ((hostile, "linked"), (by_query(hostile), "linked"), (hostile, "dense"), (hostile, "bm25")):
                answer = memory.ask(asked, strategy=strategy, trace=True)
                if asked.endswith("?") and len(title) < 200 and strategy != "dense":
                    assert any(p.source.startswith(f"h{n} ") for p in answer.passages), (strategy, title)
    assert (hostile.status(), version(hostile)) == (before, stamp)


def test_hostile_sources_are_forgotten_by_their_names(hostile: Memory) -> None:
    names = [row["s"] for row in hostile.cypher("MATCH (d:Document) RETURN d.source AS s").rows]
    assert sorted(hostile.forget(*names).forgotten) == sorted(names)
    assert [label for label, _, _ in dump(hostile)["nodes"]] == ["Memory"]


def test_questions_without_end(corpus: Memory) -> None:
    for question in ("Vellmouth " * 3000, "(" * 5000, "a" * 20_000, "Ana of the " * 500):
        for memory, strategy in ((corpus, "linked"), (by_query(corpus), "linked"), (corpus, "dense"), (corpus, "bm25")):
            assert len(memory.ask(question, strategy=strategy).passages) <= 5


# Caches


def test_every_write_is_seen_at_once(memory: Memory, tmp_path: Path) -> None:
    other = Memory(memory._connection, memory._settings)  # as another process of a server would be
    for number in range(3):
        memory.load(records(tmp_path, *[f"Then Person{n} Smith came." for n in range(number + 1)]))
        for one in (memory, other):
            assert f"d{number}" in sources(one.ask(f"Who is Person{number} Smith?", k=number + 1))
            assert len(one.ask(f"Who is Person{number} Smith?", k=9).passages) == number + 1
    memory.forget("d1")
    assert set(sources(other.ask("Who is Person1 Smith?", k=9))) == {"d0", "d2"}


def test_the_name_graph_is_found_again_on_disk(corpus: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = replace(corpus._settings, cache_dir=tmp_path / "cache")
    question = QUESTIONS[0]["question"]
    first = Memory(corpus._connection, settings).ask(question)
    monkeypatch.setattr("gsw_graph.store.reader.Reader.name_graph", lambda self: pytest.fail("read again"))
    assert [p.id for p in Memory(corpus._connection, settings).ask(question)] == [p.id for p in first]
    (kept,) = (tmp_path / "cache" / "graphs").rglob("*.npz")
    kept.write_bytes(kept.read_bytes()[:-50])
    monkeypatch.undo()
    monkeypatch.setattr(Embedder, "load", staticmethod(fakes.embedder))
    assert [p.id for p in Memory(corpus._connection, settings).ask(question)] == [p.id for p in first]


# Documents larger than a transaction


class CutOffError(Exception):
    pass


BIG = "\n\n".join(
    f"In the year 18{n:02} came Kestrel{n} Marlowe to Vellmouth, where Quintus Albatross kept the kestrel{n} tower. "
    + " ".join(f"On 3 May 18{n:02} they wrote of word{n}x{m} and of Ingrid Sølvær." for m in range(14))
    for n in range(40)
)


@pytest.fixture
def big(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A document that takes many transactions."""
    monkeypatch.setattr(writer, "TRANSACTION_BYTES", 10_000)
    monkeypatch.setattr(writer, "MESSAGE_BYTES", 9_000)
    monkeypatch.setattr(writer, "_FORGET_PASSAGES", 9)
    file = tmp_path / "big.txt"
    file.write_text("The Big One\n\n" + BIG, encoding="utf-8")
    return str(file)


def cut_off(monkeypatch: pytest.MonkeyPatch, after: int, names: tuple[str, ...]) -> list[int]:
    """Let functions of the writer fail before their call number `after`, counted together; gives the counter."""
    calls = [0]

    def counted(function):
        def call(*args):
            if calls[0] == after:
                raise CutOffError
            calls[0] += 1
            return function(*args)

        return call

    for name in names:
        monkeypatch.setattr(writer, name, counted(getattr(writer, name)))
    return calls


def seen(memory: Memory) -> set[str]:
    """The sources that any strategy shows for questions about the big document."""
    found: set[str] = set()
    for question in ("Who is Quintus Albatross of the Big One?", "Was Kestrel7 Marlowe at the kestrel7 tower?", "word20x3"):
        for one, strategy in ((memory, "linked"), (by_query(memory), "linked"), (memory, "dense"), (memory, "bm25")):
            found |= set(sources(one.ask(question, strategy=strategy, k=20, trace=True)))
    return found


def test_a_document_of_many_transactions_is_the_same_as_of_one(corpus: Memory, big: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = cut_off(monkeypatch, -1, ("_run", "_mark"))
    corpus.load(big)
    assert calls[0] > 20
    assert "big.txt" in seen(corpus)
    many = dump(corpus)
    corpus.forget(big)
    monkeypatch.setattr(writer, "TRANSACTION_BYTES", 10**9)
    monkeypatch.setattr(writer, "MESSAGE_BYTES", 10**9)
    corpus.load(big)
    assert differences(dump(corpus), many) == []
    assert corpus.status().nodes["Passage"] > CORPUS_NODES["Passage"] + 30


@pytest.mark.parametrize("share", [0.2, 0.7, 1.0])
def test_a_document_that_is_half_written_is_not_seen_until_it_is_whole(corpus: Memory, big: str, monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    calls = cut_off(monkeypatch, -1, ("_run", "_mark"))
    corpus.load(big)
    whole, total = dump(corpus), calls[0]
    corpus.forget(big)
    for old in ("none", "half written", "ready"):  # what stood there before
        with monkeypatch.context() as patch:
            if old == "ready":
                corpus.load(big)
                Path(big).write_text(Path(big).read_text(encoding="utf-8").replace("kept the", "kept  the"), encoding="utf-8")
            cut_off(patch, round(share * (total - 1)), ("_run", "_mark"))
            with pytest.raises(CutOffError):
                corpus.load(big)
        assert corpus.status().unfinished == [Path(big).as_posix()]
        assert "big.txt" not in seen(corpus)
        failed = [finding for finding in corpus.doctor() if not finding.ok]
        assert [finding.check for finding in failed] == ["documents"]
        assert big in (failed[0].mend or "")
    Path(big).write_text(Path(big).read_text(encoding="utf-8").replace("kept  the", "kept the"), encoding="utf-8")
    corpus.load(big)
    assert corpus.status().unfinished == []
    assert "big.txt" in seen(corpus)
    assert differences(dump(corpus), whole) == []
    assert all(finding.ok for finding in corpus.doctor())


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_document_that_is_half_forgotten_is_not_seen(corpus: Memory, big: str, monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    before = dump(corpus)
    corpus.load(big)
    with monkeypatch.context() as patch:
        cut_off(patch, steps, ("_forget", "_mark"))
        with pytest.raises(CutOffError):
            corpus.forget(big)
    assert corpus.status().unfinished == [Path(big).as_posix()]
    assert "big.txt" not in seen(corpus)
    corpus.forget(big)
    assert differences(dump(corpus), before) == []


def test_who_asks_before_the_last_transaction_sees_the_document_after_it(corpus: Memory, big: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inner, asked = writer._mark, []

    def ask() -> list[str]:
        return sources(corpus.ask("Who is Quintus Albatross of the Big One?", k=20))

    def ask_first(tx, name, document):
        asked.append(ask())  # and keeps the name graph of this version
        inner(tx, name, document)

    monkeypatch.setattr(writer, "_mark", ask_first)
    corpus.load(big)
    assert len(asked) == 1
    assert "big.txt" not in asked[0]
    assert "big.txt" in ask()


# The doctor


def troubles(memory: Memory) -> dict[str, str]:
    return {finding.check: f"{finding.found} | {finding.mend}" for finding in memory.doctor() if not finding.ok}


def test_a_sound_memory_is_well(corpus: Memory) -> None:
    findings = corpus.doctor()
    assert all(finding.ok for finding in findings)
    assert [finding.check for finding in findings] == ["engine", "embedder", "memory", "indexes", "documents", "graph"]
    assert all(finding.mend is None for finding in findings)


@pytest.mark.parametrize("index", schema.SEARCH_INDEXES)
def test_a_lost_index_is_found_and_made_again(corpus: Memory, index: str) -> None:
    corpus._connection.dialect.run_schema(f"DROP INDEX {index}")
    try:
        assert list(troubles(corpus)) == ["indexes"]
        assert index in troubles(corpus)["indexes"]
        assert "gswgraph doctor --mend" in troubles(corpus)["indexes"]
        if index.startswith("passage"):
            corpus.load(CORPUS)
    finally:
        corpus.doctor(mend=True)
    assert troubles(corpus) == {}
    for strategy in ("linked", "dense", "bm25"):
        assert corpus.ask("Who is Ingrid Sølvær?", strategy=strategy).passages


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        ("MATCH (c:Concept {id: 'vellmouth'}) SET c.passages = c.passages + 1", "1 miscounted"),
        ("CREATE (:Concept {id: 'x y z', name: 'X', passages: 1})", "1 miscounted"),
        ("CREATE (:Entity {id: 'x', name: 'X'})", "1 loose entities"),
        ("CREATE (:Passage {id: 'x', text: 'X'})", "1 loose passages"),
    ],
)
def test_damage_is_found_and_mended(corpus: Memory, harm: str, words: str) -> None:
    before = dump(corpus)
    corpus.cypher(harm, write=True)
    try:
        assert list(troubles(corpus)) == ["graph"]
        assert words in troubles(corpus)["graph"]
        assert "gswgraph doctor --mend" in troubles(corpus)["graph"]
    finally:
        corpus.doctor(mend=True)
    assert troubles(corpus) == {}
    assert dump(corpus) == before


def test_a_first_load_that_was_cut_off_is_found_and_mended(corpus: Memory) -> None:
    corpus.cypher("MATCH (m:Memory) SET m.indexed = false", write=True)
    fresh = Memory(corpus._connection, corpus._settings)
    assert "not built" in troubles(fresh)["indexes"]
    assert fresh.ask("Who is Ingrid Sølvær?").passages
    assert troubles(fresh) == {}
    corpus.cypher("MATCH (m:Memory) SET m.indexed = false", write=True)
    corpus.load(CORPUS)
    assert troubles(corpus) == {}


def test_another_embedder_is_refused(corpus: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, stamp = dump(corpus), version(corpus)
    other = Memory(corpus._connection, replace(corpus._settings, embedder="another-model"))
    message = rf"made with the embedder all-MiniLM-L6-v2 \({fakes.DIMENSION} dimensions\), now another-model .*GSWGRAPH_EMBEDDER=all-MiniLM-L6-v2"
    for refused in (lambda: other.load(records(tmp_path, "So Ana.")), lambda: other.ask("Who?"), lambda: other.ask("Who?", strategy="bm25")):
        with pytest.raises(SchemaError, match=message):
            refused()
    assert "GSWGRAPH_EMBEDDER=all-MiniLM-L6-v2" in troubles(other)["memory"]
    monkeypatch.setattr(fakes.BagOfWords, "dimension", 32)  # the same name, another size
    with pytest.raises(SchemaError, match=r"now all-MiniLM-L6-v2 \(32\) is set"):
        Memory(corpus._connection, corpus._settings).load(CORPUS)
    assert (version(corpus), differences(dump(corpus), before)) == (stamp, [])


def test_a_memory_of_a_newer_program_is_refused(corpus: Memory) -> None:
    corpus.cypher("MATCH (m:Memory) SET m.schema = 99", write=True)
    try:
        fresh = Memory(corpus._connection, corpus._settings)
        for refused in (lambda: fresh.load(CORPUS), lambda: fresh.ask("Who?")):
            with pytest.raises(SchemaError, match="schema 99"):
                refused()
    finally:
        corpus.cypher("MATCH (m:Memory) SET m.schema = 1", write=True)


# Cypher


@pytest.mark.parametrize(
    "query",
    [
        "CREATE (:Concept {id: 'new'})",
        "MATCH (n) DETACH DELETE n",
        "MATCH (c:Concept) SET c.name = 'x' RETURN count(c)",
        "MATCH (c:Concept) REMOVE c.name",
        "MERGE (c:Concept {id: 'new'}) RETURN c",
        "MATCH (c:Concept) CALL (c) { SET c.name = 'x' } RETURN count(c)",
        "DROP CONSTRAINT concept_id",
        "CREATE INDEX x IF NOT EXISTS FOR (n:X) ON (n.x)",
    ],
)
def test_updates_are_refused(corpus: Memory, query: str) -> None:
    before, stamp = dump(corpus), version(corpus)
    with pytest.raises(InputError, match=r"only reading is allowed\. Add --write"):
        corpus.cypher(query)
    assert (version(corpus), differences(dump(corpus), before)) == (stamp, [])


def test_updates_are_allowed_when_meant(corpus: Memory) -> None:
    stamp = version(corpus)
    table = corpus.cypher("CREATE (n:Note {id: $id, text: $text}) RETURN n.id AS id", write=True, id="n1", text='it\'s "x"')
    assert (table.columns, table.rows) == (["id"], [{"id": "n1"}])
    assert version(corpus) > stamp
    assert corpus.cypher("MATCH (n:Note) RETURN n.text AS text").rows == [{"text": 'it\'s "x"'}]
    corpus.cypher("MATCH (n:Note) DELETE n", write=True)
    assert corpus.cypher("MATCH (n:Note) RETURN n").rows == []


def test_parameters(corpus: Memory) -> None:
    values = {"text": "x' OR 1=1 //", "number": 3, "real": 1.5, "yes": True, "none": None, "many": [1, "a", [2]], "map": {"a": {"b": [1]}}}
    names = ", ".join(f"${name} AS {name}" for name in values)
    assert corpus.cypher(f"RETURN {names}", **values).rows == [values]
    assert corpus.cypher("RETURN $query AS a, $self AS b", query=1, self=2).rows == [{"a": 1, "b": 2}]


@pytest.mark.parametrize("query", ["", " \n", "MATCH", "RETURN $missing", "NONSENSE", "RETURN 1 AS x; RETURN 2 AS y", "MATCH (n) RETURN n.", "RETURN 1/0"])
def test_what_cannot_be_run_is_an_input_error(corpus: Memory, query: str) -> None:
    with pytest.raises(InputError):
        corpus.cypher(query)


def test_values_in_json_types(corpus: Memory) -> None:
    (row,) = corpus.cypher("MATCH (c:Concept {id: 'vellmouth'}) RETURN c").rows
    assert row["c"]["labels"] == ["Concept"]
    assert row["c"]["properties"]["name"] == "Vellmouth"
    (row,) = corpus.cypher("MATCH (:Entity {name: 'Vellmouth'})-[i:IN {title: true}]->(:Passage) RETURN i LIMIT 1").rows
    assert row["i"] == {"type": "IN", "properties": {"title": True}}
    (row,) = corpus.cypher("MATCH p = (c:Concept {id: 'vellmouth'})<-[:REFERS_TO]-(e:Entity)-[:IN]->(:Passage) RETURN p LIMIT 1").rows
    kinds = [part.get("labels") or part["type"] for part in row["p"]]
    assert kinds == [["Concept"], "REFERS_TO", ["Entity"], "IN", ["Passage"]]
    (row,) = corpus.cypher(
        "RETURN date('1871-05-03') AS day, datetime('1871-05-03T10:20:30Z') AS moment, [1, null] AS list, {a: date('1871-05-03')} AS map"
    ).rows
    assert row["day"] == "1871-05-03"
    assert row["moment"].startswith("1871-05-03T10:20:30")
    assert row["list"] == [1, None]
    assert row["map"] == {"a": "1871-05-03"}
    json.dumps(row)


def test_an_empty_result_keeps_its_columns(corpus: Memory) -> None:
    table = corpus.cypher("MATCH (c:Concept {id: 'no such'}) RETURN c.name AS name, c.id AS id")
    assert table.rows == []
    if corpus.status().engine == "neo4j":  # the embedded engine names the columns of rows only
        assert table.columns == ["name", "id"]


def test_dates_are_in_order(corpus: Memory) -> None:
    rows = corpus.cypher("MATCH (e:Entity) WHERE e.from >= '1850-01-01' AND e.to <= '1899-12-31' RETURN e.from AS begin ORDER BY e.from").rows
    expected = sorted(e.from_ for d in DOCUMENTS for e in rules.extract(d).entities if e.from_ and e.to and e.from_ >= "1850-01-01" and e.to <= "1899-12-31")
    assert [row["begin"] for row in rows] == expected
    assert expected


def test_names_are_stored_in_normal_form(corpus: Memory) -> None:
    ids = [row["id"] for row in corpus.cypher("MATCH (c:Concept) RETURN c.id AS id").rows]
    assert [normalise(i) for i in ids] == ids


def test_two_memories_in_turn_at_one_place_do_not_share_their_names(fresh_settings: Settings, tmp_path: Path) -> None:
    """The name graph on disk belongs to one memory: another at the same url, with the same version stamp, must not find it."""
    settings, question = replace(fresh_settings, cache_dir=tmp_path / "cache"), "Who is Ingrid Sølvær?"
    with Memory.open(settings=fresh_settings) as opened:
        first = Memory(opened._connection, settings)
        first.load(CORPUS)
        assert len(first.ask(question).passages) == 5
        stamp = version(first)
        first.forget(everything=True)
        first.cypher("MATCH (m:Memory) DETACH DELETE m", write=True)
        second = Memory(first._connection, settings)
        second.load(records(tmp_path, "So Ingrid Sølvær sang."))
        second.cypher("MATCH (m:Memory) SET m.version = $version - 1", write=True, version=stamp)
        assert version(second) == stamp
        found = Memory(first._connection, settings).ask(question)
        assert [p.text for p in found.passages] == ["So Ingrid Sølvær sang."]


def test_a_database_of_another_application_is_left_alone(fresh_settings: Settings, tmp_path: Path) -> None:
    with Memory.open(settings=fresh_settings) as memory:
        memory.cypher("CREATE (:Document {id: 'theirs', name: 'invoice'})", write=True)
        with pytest.raises(SchemaError, match=r"another application with the label Document.*NEO4J_DATABASE"):
            memory.load(records(tmp_path, "So Ana."))
        assert memory.cypher("MATCH (n) RETURN count(n) AS n").rows == [{"n": 1}]


def test_forget_knows_a_file_that_is_gone(fresh_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("one", "two", "three"):
        (folder / f"{name}.txt").write_text(f"This is about Number {name.title()}.", encoding="utf-8")
    with Memory.open(settings=fresh_settings) as memory:
        memory.load(str(folder))
        (folder / "one.txt").unlink()
        monkeypatch.chdir(tmp_path)
        assert [Path(source).name for source in memory.forget("notes/one.txt").forgotten] == ["one.txt"]
        for name in ("two", "three"):
            (folder / f"{name}.txt").unlink()
        folder.rmdir()
        assert len(memory.forget("notes").forgotten) == 2
        assert memory.forget("notes").unknown == ["notes"]


def test_another_extractor_loads_again(fresh_settings: Settings, tmp_path: Path) -> None:
    with Memory.open(settings=fresh_settings) as memory:
        path = records(tmp_path, "So Ana Petrova sang.")
        assert memory.load(path, extractor="none").nodes["Entity"] == 0
        report = memory.load(path, extractor="rules")
        assert (report.documents.replaced, report.nodes["Entity"] > 0, report.nodes["Passage"]) == (1, True, 0)
        assert memory.load(path).documents.unchanged == 1
