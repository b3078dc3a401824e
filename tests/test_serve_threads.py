"""One memory for many threads: answers are those asked alone, loads come one after another, and nothing is lost."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import contract
import pytest

from gsw_graph.concurrency import Cancel, FairLock
from gsw_graph.errors import WorkCancelledError
from gsw_graph.serve import context

QUESTIONS = (
    "Who drew the Old Customs House of Port Aldous?",
    "With which opera did the theatre designed by Ottilie Grau open?",
    "Where was Élodie Castellan born?",
)
STRATEGIES = ("linked", "dense", "bm25", "auto", "pathwise")
ASKED = [(question, strategy) for question in QUESTIONS for strategy in STRATEGIES]


def same(answer):
    """What of an answer does not depend on the moment; an engine gives the last digits of a score now so, now so."""
    return steady({**answer.to_dict(), "id": None, "round_trips": None})


def steady(value):
    if isinstance(value, dict):
        return {name: steady(one) for name, one in value.items() if name != "seconds"}
    if isinstance(value, list):
        return [steady(one) for one in value]
    if isinstance(value, float):
        return round(value, 5)
    return value


def at_once(threads, *works):
    """The results of works, each begun in every thread in turn."""
    with ThreadPoolExecutor(threads) as pool:
        return [
            one.result(120) for one in [pool.submit(works[n % len(works)], n) for n in range(threads * 2)]
        ]


def test_answers_of_32_threads_are_those_asked_alone(corpus):
    alone = {one: same(corpus.ask(one[0], strategy=one[1], trace=True, keep=False)) for one in ASKED}
    before = corpus.status().nodes["Question"]

    def ask(number):
        one = ASKED[number % len(ASKED)]
        return one, corpus.ask(one[0], strategy=one[1], trace=True)

    corpus._held = corpus._state = None  # what they share is made by one of them
    found = at_once(32, ask)
    assert all(same(answer) == alone[one] for one, answer in found)
    assert all(answer.id for _, answer in found), "each is kept"
    assert corpus.status().nodes["Question"] == before + len(found)


def test_32_threads_ask_load_and_forget(corpus):
    corpus.load(uploads={"seen.md": BytesIO(b"Whoever visits Port Aldous sees the harbour.")})
    before = same(corpus.ask(QUESTIONS[0], keep=False))

    def ask(number):
        assert len(corpus.ask(QUESTIONS[number % 3], strategy=STRATEGIES[number % 5]).passages) == 5

    def load(number):
        text = f"Zorvik {number} met Quellam {number} in Brundle.\n\nNobody else was there."
        assert corpus.load(uploads={f"{number}.md": BytesIO(text.encode())}).documents.new == 1

    def forget(number):
        load(number)
        assert corpus.forget(f"upload:{number}.md").forgotten == [f"upload:{number}.md"]

    at_once(32, ask, load, ask, forget)
    kept = {f"upload:{number}.md" for number in range(1, 64, 4)}
    assert {document.source for document in corpus.documents("upload:").documents} == kept | {
        "upload:seen.md"
    }
    found = [one for one in corpus.doctor(deep=True) if not one.ok and one.check not in ("cpu", "memory")]
    assert found == []
    corpus.forget(*kept)
    assert same(corpus.ask(QUESTIONS[0], keep=False)) == before
    corpus.forget(everything=True)


def test_a_question_waits_for_the_indexes_of_the_first_load(memory, monkeypatch):
    """Until then the memory has no index: to build it beside the load would fail one of the two."""
    from gsw_graph.store import schema

    built = []
    build = schema.build_search_indexes
    begun = threading.Event()

    def slowly(*args):
        built.append(threading.current_thread().name)
        begun.set()
        time.sleep(0.5)
        build(*args)

    monkeypatch.setattr(schema, "build_search_indexes", slowly)
    with memory._connection.session() as session:
        session.run("MATCH (m:Memory) SET m.indexed = false").consume()
    load = threading.Thread(target=memory.load, args=(contract.CORPUS,), name="load")
    load.start()
    assert begun.wait(60)
    answer = memory.ask(QUESTIONS[0], keep=False)
    load.join(60)
    assert built == ["load"]
    assert len(answer.passages) == 5


def test_what_nobody_waits_for_is_ended(corpus, monkeypatch):
    cancel = Cancel()
    stages = []

    def end(stage, text):
        stages.append(stage)
        cancel.cancel("the client is gone")

    with pytest.raises(WorkCancelledError, match="the client is gone"):
        corpus.ask(QUESTIONS[0], on_stage=end, cancel=cancel)
    assert len(stages) == 1, "the next stage did not begin"
    with pytest.raises(WorkCancelledError):
        corpus.cypher(
            "UNWIND range(1, 10000) AS a UNWIND range(1, 10000) AS b RETURN count(a % b)", cancel=cancel
        )
    with pytest.raises(WorkCancelledError):
        corpus.load(uploads={"gone.md": BytesIO(b"Nobody waits.")}, cancel=cancel)
    assert corpus.documents("gone.md").total == 0
    with corpus._locks.write():  # a load waits for its turn, and is ended there too
        found = ThreadPoolExecutor(1).submit(corpus.load, uploads={"gone.md": BytesIO(b"")}, cancel=cancel)
        assert isinstance(found.exception(30), WorkCancelledError)
    assert corpus.ask(QUESTIONS[0], keep=False).passages, "the memory is as it was"


def test_a_lock_goes_round_in_the_order_of_asking():
    lock = FairLock()
    order = []
    asking = threading.Event()

    def greedy():
        for _ in range(50):
            with lock:
                order.append("greedy")
                asking.wait(10)
                time.sleep(0.005)

    def modest():
        asking.set()
        with lock:
            order.append("modest")

    threads = [threading.Thread(target=one) for one in (greedy, modest)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert order.index("modest") < 49


@pytest.mark.parametrize(
    ("processors", "model", "expected"), [(1, False, 4), (3, False, 6), (2, True, 8), (64, False, 16)]
)
def test_default_asks_follow_the_processors(monkeypatch, processors, model, expected):
    monkeypatch.setattr(context.os, "sched_getaffinity", lambda _: range(processors), raising=False)
    assert context.default_asks(model=model) == expected
