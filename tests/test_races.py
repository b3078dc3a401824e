"""What one thread does between two steps of another: each test makes it happen at that moment, and at no other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
import samples

from gsw_graph.ask.retrieve import pruned
from gsw_graph.ask.retrieve.strategies import STRATEGIES, proprag
from gsw_graph.concurrency import Once
from gsw_graph.errors import InputError
from gsw_graph.memory import Memory
from gsw_graph.store.reader import Reader

WAIT = 60  # seconds, after which a thread that never comes fails a test


class Seen(dict[Any, Any]):
    """Scopes: another thread runs `meanwhile` once, right after a scope was looked up."""

    meanwhile: Callable[[], None] | None = None

    def _looked(self):
        if (work := self.meanwhile) is not None:
            self.meanwhile = None
            thread = threading.Thread(target=work)
            thread.start()
            thread.join(WAIT)

    def __contains__(self, key):
        there = super().__contains__(key)
        self._looked()
        return there

    def get(self, key, default=None):
        value = super().get(key, default)
        self._looked()
        return value


def test_threads_share_scopes(embedded_sample, monkeypatch):
    scopes = Seen()
    monkeypatch.setattr(embedded_sample, "_scopes", scopes)

    def ask(*sources):
        return [
            passage.source
            for passage in embedded_sample.ask(
                samples.QUESTION, inside=sources, strategy="dense", k=1, keep=False
            )
        ]

    sources = [record["id"] for record in samples.RECORDS]
    assert ask(sources[0]) == sources[:1]

    def others():  # more scopes than are kept, so that all are dropped
        for second in sources:
            for third in sources:
                ask(*{sources[0], second, third})

    scopes.meanwhile = others
    assert ask(sources[0]) == sources[:1]
    assert scopes.meanwhile is None, "it came between"


def between(monkeypatch, statement, work):
    """Run something once, right before a statement. Returns the statements that came after it."""
    rows = Reader.rows
    after = list[str]()

    def watched(reader, name, **parameters):
        if name == statement and not after:
            after.append(name)
            work()
        return rows(reader, name, **parameters)

    monkeypatch.setattr(Reader, "rows", watched)
    return after


def rewritten(folder):
    """The samples with other texts and facts: every passage, pair and proposition has another id."""
    records = [
        {
            **record,
            "text": f"{record['text']} So it was.",
            "verb_phrases": [],
            "propositions": [f"{record['title']} is known."],
        }
        for record in samples.RECORDS
    ]
    return samples.jsonl(folder / "workspaces.jsonl", records)


SECOND = {  # a statement that looks up what an earlier one named
    "proprag": ("read/proposition_vectors", "read/passages"),
    "linked": ("read/passages",),
    "fusion": ("read/pairs_of", "read/passages"),
    "ricr": ("read/passages",),
    "pruned": ("read/passages",),
    "pathwise": ("read/claims", "read/passages"),
    "auto": ("read/hop", "read/passages", "read/claims"),
}


@pytest.mark.parametrize(
    ("strategy", "statement"), [(name, statement) for name, some in SECOND.items() for statement in some]
)
@pytest.mark.parametrize("planned", [False, True])
def test_documents_are_replaced_between_two_statements(
    sample, tmp_path, monkeypatch, strategy, statement, planned
):
    if planned and not STRATEGIES[strategy].follows_plan:
        pytest.skip("it follows no plan")
    other = Memory(
        sample._connection, sample._settings, sample.embedder
    )  # as another process of a server would be
    after = between(monkeypatch, statement, lambda: other.load(rewritten(tmp_path)))
    plan = samples.PLAN if planned else None
    answer = sample.ask(
        samples.QUESTION, strategy=strategy, plan=plan, k=9, trace=True, keep=False, question_cache=False
    )
    if not after:
        pytest.skip("it needs no such statement here")
    there = {row["id"] for row in sample.cypher("MATCH (p:Passage) RETURN p.id AS id").rows}
    if statement == "read/passages":
        assert {passage.id for passage in answer.passages if passage.id not in there} <= set(), (
            "what is gone is not returned"
        )
    assert answer.answer is None or answer.citations, "an answer is proved"


def test_all_is_forgotten_between_two_statements(sample, monkeypatch):
    other = Memory(sample._connection, sample._settings, sample.embedder)
    after = between(monkeypatch, "read/name_found", lambda: other.forget(everything=True))
    with pytest.raises(InputError, match="removed meanwhile"):
        sample.name("Stone Pier")
    assert after


def test_the_graph_of_propositions_is_read_once_whoever_asks(sample, tmp_path, monkeypatch):
    from gsw_graph.ask.retrieve import propositions

    threads = 16
    here = threading.Barrier(threads)
    read = list[int]()
    compared = list[int]()
    similar = propositions.similar_names
    rows = Reader.proposition_graph
    look = proprag._whole

    def counted(names, *rest):
        compared.append(len(names))
        return similar(names, *rest)

    def counted_rows(reader):
        read.append(1)
        return rows(reader)

    def together(*arguments):
        here.wait(WAIT)
        return look(*arguments)

    monkeypatch.setattr(propositions, "similar_names", counted)
    monkeypatch.setattr(Reader, "proposition_graph", counted_rows)
    monkeypatch.setattr(proprag, "_whole", together)
    graphs = Once(4)
    monkeypatch.setattr(proprag, "_GRAPHS", graphs)
    paper = STRATEGIES["proprag"].with_recipe(STRATEGIES["proprag"].recipes["paper"])
    other = paper.with_recipe(replace(paper.recipe, synonyms=0.9))
    source = samples.RECORDS[0]["id"]

    def ask(number):
        options = {"inside": (source,)} if number % 4 > 1 else {}
        strategy = (paper, other)[number % 2]
        answer = sample.ask(samples.QUESTION, strategy=strategy, llm=False, keep=False, **options)
        return [passage.id for passage in answer.passages]

    for _ in range(2):
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(ask, range(threads)))
        for number in range(4, threads):
            assert found[number] == found[number % 4]
        assert len(found[2]) < len(found[0]), "a scope has fewer passages"
        assert len(read) == len(compared) == 2, "once for each threshold, in a scope too"
    assert sample.load(rewritten(tmp_path)).documents.replaced == len(samples.RECORDS)
    here = threading.Barrier(1)
    for record in samples.RECORDS:
        source = record["id"]
        ask(2)
    assert len(read) == len(compared) == 3, "the memory has another version now"
    assert len(graphs._slots) == 4, "no more are kept"


def test_all_runs_are_read_once_for_every_scope(sample, tmp_path, monkeypatch):
    """Each scope once read them again, and five in turn took one another's place."""
    monkeypatch.setattr(pruned, "_WHOLE", Once(1))
    stream = Reader.stream
    read = list[str]()

    def counted(reader, name, **parameters):
        read.append(name)
        return stream(reader, name, **parameters)

    monkeypatch.setattr(Reader, "stream", counted)
    sources = [record["id"] for record in samples.RECORDS]
    scopes = [{}, *({"inside": (source,)} for source in sources), {"inside": sources[1:]}]
    hidden = sample.ask(samples.QUESTION, strategy="dense", keep=False).passages[0].id
    scopes.append({"excluded": (hidden,)})

    def ask(scope):
        answer = sample.ask(
            samples.QUESTION, strategy="pruned[recipe=paper]", trace=True, keep=False, llm=False, **scope
        )
        return [run.edges for run in answer.trace.runs]

    first = [ask(scope) for scope in scopes]
    assert len({str(runs) for runs in first}) > len(sources)
    assert [ask(scope) for scope in scopes] == first
    assert read == ["read/all_runs"]
    sample.load(rewritten(tmp_path))
    ask({})
    assert read == ["read/all_runs"] * 2, "the memory has another version now"


def test_one_computes_while_others_wait():
    once = Once(2)
    begun = threading.Event()
    go_on = threading.Event()
    computed = list[str]()

    def slow():
        begun.set()
        assert go_on.wait(WAIT)
        computed.append("slow")
        return 1

    def quick(value):
        return lambda: (computed.append("quick"), value)[1]

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(once.get, "a", slow)
        assert begun.wait(WAIT)
        second = pool.submit(once.get, "a", quick(2))
        assert once.get("b", quick(3)) == 3, "another key waits for nobody"
        go_on.set()
        assert first.result(WAIT) == 1
        assert second.result(WAIT) == 1
    assert computed == ["quick", "slow"]
    assert once.get("c", quick(4)) == 4
    assert once.get("b", quick(5)) == 3 or computed[-1] == "quick"
    assert once.get("a", quick(6)) == 6, "what was used longest ago is dropped"


def test_what_fails_is_computed_again_and_a_wait_can_be_ended():
    once = Once(2)

    def fail():
        raise InputError("no")

    with pytest.raises(InputError):
        once.get("a", fail)
    assert once.get("a", lambda: 1) == 1
    begun = threading.Event()
    go_on = threading.Event()

    def slow():
        begun.set()
        go_on.wait(WAIT)
        return 2

    def ended():
        raise InputError("ended")

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(once.get, "b", slow)
        assert begun.wait(WAIT)
        with pytest.raises(InputError, match="ended"):
            once.get("b", slow, ended)
        go_on.set()
        assert first.result(WAIT) == 2
