"""Loading by the Batch API: one batch, resumable, at half the price, and what it leaves out by ordinary calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import engines
import model_corpus
import pytest
from model_server import Fault, ModelServer

from gsw_graph.config import Settings
from gsw_graph.errors import InputError, StoppedError
from gsw_graph.extract.llm import check, request
from gsw_graph.loaders import read
from gsw_graph.memory import Memory
from gsw_graph.model.documents import Document
from gsw_graph.models.chat import batch
from gsw_graph.models.chat.chat import Chat, Request
from gsw_graph.models.chat.limits import Budget

PASSAGES = 14


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setattr(batch, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(batch, "LONGEST_POLL", 0.02)
    with ModelServer(model_corpus.reply) as running:
        yield running


@pytest.fixture
def settings(server: ModelServer, tmp_path: Path) -> Settings:
    given = Settings(memory=str(tmp_path / "memory"), llm="m", llm_url=server.url, llm_price=(1.0, 2.0))
    return engines.own_replies(given, tmp_path / "cache")


@pytest.fixture
def documents(tmp_path: Path) -> list[Document]:
    assert model_corpus.write(tmp_path / "corpus", 10) == PASSAGES
    return [item for item in read([str(tmp_path / "corpus")]) if isinstance(item, Document)]


def requests(documents: list[Document]) -> list[Request]:
    return [request(document, passage.position) for document in documents for passage in document.passages]


def pairs(documents: list[Document]) -> list[tuple[Request, Callable[[Any], Any]]]:
    return [(request(document, passage.position), check(document, passage.position)) for document in documents for passage in document.passages]


def fetch(chat: Chat, documents: list[Document]) -> None:
    chat.batches().fetch(pairs(documents), nothing)


def ask_all(chat: Chat, documents: list[Document]) -> None:
    for document in documents:
        for passage in document.passages:
            chat.ask(request(document, passage.position), check(document, passage.position))


def killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def nothing(done: int, sent: int) -> None:
    assert 0 <= done <= sent


def batches(server: ModelServer) -> int:
    """How many were created."""
    return sum(call.endpoint == "batches" and bool(call.body) for call in server.calls)


def test_a_batch_brings_what_ordinary_calls_would_at_half_the_price(settings: Settings, server: ModelServer, documents: list[Document]) -> None:
    with Chat.open(settings) as chat:
        fetch(chat, documents)
        assert batches(server) == 1
        assert server.count() == PASSAGES, "one by an ordinary call, the others as lines of the batch"
        assert chat.ledger.total().calls == PASSAGES
        assert not chat.known(requests(documents)[1]), "it waits for its check"
        ask_all(chat, documents)
        assert server.count() == PASSAGES
        total = chat.ledger.total()
        assert (total.calls, total.prompt_tokens > 0) == (PASSAGES, True)
        first, *_ = pairs(documents)
        whole = chat.ask(*first)
        assert total.dollars == pytest.approx(chat.dollars(total.prompt_tokens + whole.prompt_tokens, total.completion_tokens + whole.completion_tokens) / 2)
        fetch(chat, documents)
        assert batches(server) == 1, "what is known is not sent"
    with Chat.open(settings) as chat:
        ask_all(chat, documents)
        assert (chat.ledger.total().cached, chat.ledger.total().dollars) == (PASSAGES, 0.0)


def test_an_interrupted_wait_goes_on_in_another_process(settings: Settings, server: ModelServer, documents: list[Document]) -> None:
    with Chat.open(settings) as chat, pytest.raises(KeyboardInterrupt):
        chat.batches().fetch(pairs(documents), killed)
    with Chat.open(settings) as chat:
        fetch(chat, documents)
        ask_all(chat, documents)
    assert (batches(server), server.count()) == (1, PASSAGES)


def test_a_batch_is_taken_over_after_a_kill(settings: Settings, server: ModelServer, documents: list[Document], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched, Chat.open(settings) as chat:
        patched.setattr(batch, "estimate_messages", killed)
        with pytest.raises(KeyboardInterrupt):
            fetch(chat, documents)
    with Chat.open(settings) as chat:
        fetch(chat, documents)
        ask_all(chat, documents)
    assert (batches(server), server.count()) == (1, PASSAGES)


@pytest.mark.parametrize("kind", ["expired", "server_error", "length", "invalid", "refusal"])
def test_what_a_batch_leaves_out_is_asked_by_ordinary_calls(settings: Settings, server: ModelServer, documents: list[Document], kind: str) -> None:
    server.faults = (Fault(kind, contains=(model_corpus.sentence(3),)),)
    with Chat.open(settings) as chat:
        fetch(chat, documents)
        server.faults = ()
        ask_all(chat, documents)
    assert server.count() == PASSAGES + 1


def test_a_batch_keeps_to_its_budget(settings: Settings, server: ModelServer, documents: list[Document]) -> None:
    some = sum(one.prompt_tokens + one.usual_reply for one in requests(documents)[:3])
    with Chat.open(settings, budget=Budget.parse(f"{some}tok")) as chat:
        fetch(chat, documents)
        assert 1 < (sent := server.count()) < PASSAGES
        with pytest.raises(StoppedError, match=r"the budget of .* is used up"):
            ask_all(chat, documents)
    assert sent <= server.count() < PASSAGES


def test_what_the_server_refuses_is_left_out_of_the_batch(settings: Settings, documents: list[Document]) -> None:
    with ModelServer(model_corpus.reply, refuses=("temperature",)) as server, Chat.open(replace(settings, llm_url=server.url)) as chat:
        fetch(chat, documents)
        ask_all(chat, documents)
        assert (server.count(status=400), server.count(status=200)) == (1, PASSAGES)


@pytest.mark.parametrize("unit", ["tok", "$"])
def test_a_budget_is_settled_by_what_a_batch_took(settings: Settings, server: ModelServer, documents: list[Document], unit: str) -> None:
    server.faults = (Fault("server_error", contains=(model_corpus.sentence(3),)),)
    budget = Budget.parse("1Mtok" if unit == "tok" else "$100")
    with Chat.open(settings, budget=budget) as chat:
        charged: list[float] = []
        chat.batches().fetch(pairs(documents), lambda *_: charged.append(budget.spent))
        total = chat.ledger.total()
        took = total.prompt_tokens + total.completion_tokens if unit == "tok" else total.dollars
        assert budget.spent == pytest.approx(took)
        assert charged[0] > budget.spent, "what brought no reply is given back"


def test_a_server_without_batches_says_so(settings: Settings, documents: list[Document]) -> None:
    nowhere = replace(settings, llm_url=str(settings.llm_url).replace("/v1", "/v3"))
    with Chat.open(nowhere) as chat, pytest.raises(StoppedError, match=r"no Batch API.*Load without --batch"):
        fetch(chat, documents)


def test_a_load_by_batch(settings: Settings, server: ModelServer, documents: list[Document], fake_embedder: None, tmp_path: Path) -> None:
    stages = []
    with Memory.open(settings=settings) as memory:
        with pytest.raises(InputError, match="standard input and uploads can be read once"):
            memory.load("-", extractor="llm", batch=True)
        report = memory.load(str(tmp_path / "corpus"), batch=True, progress=lambda progress: stages.append(progress.stage))
        assert (report.documents.new, report.failures, report.calls, report.tokens["in"] > 0) == (10, [], PASSAGES, True)
        assert "waiting" in stages
        assert memory.status().nodes["QAPair"] == 3 * PASSAGES
        assert memory.load(str(tmp_path / "corpus"), batch=True).calls == 0
    assert (batches(server), server.count()) == (1, PASSAGES)
