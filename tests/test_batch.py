"""Loading by the Batch API: one batch, resumable, at half the price, and what it leaves out by ordinary calls."""

from __future__ import annotations

from dataclasses import replace

import engines
import model_corpus
import pytest
from model_server import Fault, ModelServer

from gsw_graph.config import Settings
from gsw_graph.errors import InputError, ModelUnavailableError
from gsw_graph.extract.llm import check, request
from gsw_graph.loaders import read
from gsw_graph.memory import Memory
from gsw_graph.model.documents import Document
from gsw_graph.models.chat import batch
from gsw_graph.models.chat.chat import Chat
from gsw_graph.models.chat.limits import Budget

PASSAGES = 14


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(batch, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(batch, "LONGEST_POLL", 0.02)
    with ModelServer(model_corpus.reply) as running:
        yield running


@pytest.fixture
def settings(server, tmp_path):
    given = Settings(memory=str(tmp_path / "memory"), llm="m", llm_url=server.url, llm_price=(1.0, 2.0))
    return engines.own_replies(given, tmp_path / "cache")


@pytest.fixture
def documents(tmp_path):
    assert model_corpus.write(tmp_path / "corpus", 10) == PASSAGES
    return [item for item in read([str(tmp_path / "corpus")]) if isinstance(item, Document)]


def requests(documents):
    return [request(document, passage.position) for document in documents for passage in document.passages]


def pairs(documents):
    return [
        (request(document, passage.position), check(document, passage.position))
        for document in documents
        for passage in document.passages
    ]


def fetch(chat, documents):
    chat.batches().fetch(pairs(documents), nothing)


def ask_all(chat, documents):
    for document in documents:
        for passage in document.passages:
            chat.ask(request(document, passage.position), check(document, passage.position))


def killed(*_, **__):
    raise KeyboardInterrupt


def nothing(done, sent):
    assert 0 <= done <= sent


def batches(server):
    """How many were created."""
    return sum(call.endpoint == "batches" and bool(call.body) for call in server.calls)


def test_a_batch_brings_what_ordinary_calls_would_at_half_the_price(settings, server, documents):
    with Chat.open(settings) as chat:
        fetch(chat, documents)
        assert batches(server) == 1
        assert server.count() == PASSAGES, "one by an ordinary call, the others as lines of the batch"
        assert chat.ledger.total().calls == PASSAGES
        assert not chat.known(requests(documents)[1]), "it waits for its check"
        ask_all(chat, documents)
        assert server.count() == PASSAGES
        total = chat.ledger.total()
        assert total.calls == PASSAGES
        assert total.prompt_tokens > 0
        first, *_ = pairs(documents)
        whole = chat.ask(*first)
        expected = pytest.approx(
            chat.dollars(
                total.prompt_tokens + whole.prompt_tokens, total.completion_tokens + whole.completion_tokens
            )
            / 2
        )
        assert total.dollars == expected
        fetch(chat, documents)
        assert batches(server) == 1, "what is known is not sent"
    with Chat.open(settings) as chat:
        ask_all(chat, documents)
        assert chat.ledger.total().cached == PASSAGES
        assert chat.ledger.total().dollars == 0.0


def test_a_batch_is_taken_over_after_a_kill(settings, server, documents, monkeypatch):
    with monkeypatch.context() as patched, Chat.open(settings) as chat:
        patched.setattr(batch, "estimate_messages", killed)
        with pytest.raises(KeyboardInterrupt):
            fetch(chat, documents)
    with Chat.open(settings) as chat:
        fetch(chat, documents)
        ask_all(chat, documents)
    assert batches(server) == 1
    assert server.count() == PASSAGES


@pytest.mark.parametrize("kind", ["expired", "server_error", "length", "invalid", "refusal"])
def test_what_a_batch_leaves_out_is_asked_by_ordinary_calls(settings, server, documents, kind):
    server.faults = (Fault(kind, contains=(model_corpus.sentence(3),)),)
    with Chat.open(settings) as chat:
        fetch(chat, documents)
        server.faults = ()
        ask_all(chat, documents)
    assert server.count() == PASSAGES + 1


def test_a_batch_keeps_to_its_budget(settings, server, documents):
    some = sum(one.prompt_tokens + one.usual_reply for one in requests(documents)[:3])
    with Chat.open(settings, budget=Budget.parse(f"{some}tok")) as chat:
        fetch(chat, documents)
        assert 1 < (sent := server.count()) < PASSAGES
        with pytest.raises(ModelUnavailableError, match=r"the budget of .* is used up"):
            ask_all(chat, documents)
    assert sent <= server.count() < PASSAGES


def test_what_the_server_refuses_is_left_out_of_the_batch(settings, documents):
    with (
        ModelServer(model_corpus.reply, refuses=("temperature",)) as server,
        Chat.open(replace(settings, llm_url=server.url)) as chat,
    ):
        fetch(chat, documents)
        ask_all(chat, documents)
        assert server.count(status=400) == 1
        assert server.count(status=200) == PASSAGES


def test_a_server_without_batches_says_so(settings, documents):
    nowhere = replace(settings, llm_url=str(settings.llm_url).replace("/v1", "/v3"))
    with Chat.open(nowhere) as chat, pytest.raises(ModelUnavailableError, match=r"no Batch API.*Load without --batch"):
        fetch(chat, documents)


def test_a_load_by_batch(settings, server, documents, fake_embedder, tmp_path):
    stages = []
    with Memory.open(settings=settings) as memory:
        with pytest.raises(InputError, match="standard input and uploads can be read once"):
            memory.load("-", extractor="llm", batch=True)
        report = memory.load(
            str(tmp_path / "corpus"), batch=True, progress=lambda progress: stages.append(progress.stage)
        )
        assert report.documents.new == 10
        assert report.failures == []
        assert report.calls == PASSAGES
        assert report.tokens["in"] > 0
        assert "waiting" in stages
        assert memory.status().nodes["QAPair"] == 3 * PASSAGES
        assert memory.load(str(tmp_path / "corpus"), batch=True).calls == 0
    assert batches(server) == 1
    assert server.count() == PASSAGES
