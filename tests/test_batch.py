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
from waiting import until

from gsw_graph.config import Settings
from gsw_graph.errors import InputError, StoppedError
from gsw_graph.extract.llm import check, request
from gsw_graph.inference.batch import batch
from gsw_graph.inference.batch.log import BatchLog
from gsw_graph.inference.chat.chat import Chat, Request
from gsw_graph.inference.chat.wire import Wire
from gsw_graph.inference.costs.budget import Budget
from gsw_graph.loaders import read
from gsw_graph.memory import Memory
from gsw_graph.model import Document

PASSAGES = 14


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setattr(batch, "POLL", 0.01)
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
        assert all(chat.known(one) for one in requests(documents))
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


def test_a_batch_that_was_sent_and_not_written_down_is_taken_over(settings: Settings, server: ModelServer, documents: list[Document], tmp_path: Path) -> None:
    with Chat.open(settings) as chat:
        fetch(chat, documents)
    with Chat.open(replace(settings, cache_dir=tmp_path / "empty")) as chat:
        fetch(chat, documents)
        ask_all(chat, documents)
    assert (batches(server), server.count()) == (1, PASSAGES + 1), "the ordinary call of each"


def test_a_batch_is_taken_over_after_a_kill(settings: Settings, server: ModelServer, documents: list[Document], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched, Chat.open(settings) as chat:
        patched.setattr(BatchLog, "sent", killed)
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
    with Chat.open(settings) as chat:
        some = sum(chat.estimate(one) + 1000 for one in requests(documents)[:3])
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


def test_a_batch_without_any_reply_says_why_and_is_not_taken_over(settings: Settings, server: ModelServer, documents: list[Document]) -> None:
    server.faults = (Fault("server_error", calls=tuple(range(2, PASSAGES + 1))),)
    with Chat.open(settings) as chat:
        with pytest.raises(StoppedError, match=r"the batch brought no reply \(The server had an error.*Load without --batch"):
            fetch(chat, documents)
        fetch(chat, documents)
        ask_all(chat, documents)
    assert (batches(server), server.count()) == (2, 2 * PASSAGES - 1)


def test_a_failed_batch_is_sent_anew(settings: Settings, server: ModelServer, documents: list[Document], monkeypatch: pytest.MonkeyPatch) -> None:
    with Chat.open(settings) as chat:
        with monkeypatch.context() as patched:
            patched.setattr(batch.Batches, "_line", lambda *_: b"{}\n")
            with pytest.raises(StoppedError, match=r"the batch failed .*This line is no request"):
                fetch(chat, documents)
        fetch(chat, documents)
        assert all(map(chat.known, requests(documents)))
    assert batches(server) == 2


def test_a_batch_that_this_key_does_not_see_is_not_bought_again(settings: Settings, server: ModelServer, documents: list[Document]) -> None:
    with Chat.open(settings) as chat:
        keys = [chat._cache.key("m", one) for one in requests(documents)]
        host = chat._calls.wire.end.host
        chat._batched.sent("batch_of_another_key", host, "m", [(keys[1], "extract", "", 1)])
        for _ in range(2):
            with pytest.raises(StoppedError, match=r"batch_of_another_key.*the key.*without --batch"):
                fetch(chat, documents)
            assert chat._batched.batch(keys[1], host) == "batch_of_another_key"
        there = [chat._cache.has(key) or chat._batched.reply(key) is not None for key in keys]
        assert there == [key != keys[1] for key in keys], "what other batches bring is kept"
        ask_all(chat, documents)
        fetch(chat, documents)
    assert (batches(server), server.count()) == (1, PASSAGES), "without --batch it is asked anew, and is done"


def test_a_plain_load_pays_nothing_that_a_batch_brings(settings: Settings, server: ModelServer, documents: list[Document]) -> None:
    with Chat.open(settings) as chat, pytest.raises(KeyboardInterrupt):
        chat.batches().fetch(pairs(documents), killed)
    with Chat.open(settings) as chat:
        (id_,) = chat._batched.open(chat._calls.wire.end.host, "m")
        until(lambda: chat._calls.wire.client().batches.retrieve(id_).output_file_id)
        ask_all(chat, documents)
        assert not chat._batched.open(chat._calls.wire.end.host, "m")
        total = chat.ledger.total()
    assert (batches(server), server.count()) == (1, PASSAGES), "and what is ready is taken, without --batch too"
    assert (total.calls, total.cached) == (PASSAGES - 1, 1), "the batch is counted where it is fetched"


def test_a_plain_load_stops_at_a_batch_under_way(settings: Settings, server: ModelServer, documents: list[Document], fake_embedder: None, tmp_path: Path) -> None:
    server._batches._seconds = 60.0
    with Memory.open(settings=settings) as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.load(str(tmp_path / "corpus"), batch=True, progress=lambda progress: killed() if progress.stage == "waiting" else None)
        retrieved = sum(call.endpoint == "batches" for call in server.calls)
        reasons = {failure.reason for failure in memory.load(str(tmp_path / "corpus")).failures}
        assert any("holds this request and is under way (0 done)" in reason and "Load with --batch" in reason for reason in reasons), reasons
        assert server.count() == 1, "the trial before the batch"
        assert sum(call.endpoint == "batches" for call in server.calls) == retrieved + 1, "one look for all its requests"
        estimate = memory.load(str(tmp_path / "corpus"), dry_run=True).estimate
        assert estimate is not None
        assert (estimate.calls, estimate.cached) == (0, PASSAGES), "what is ordered is paid for"
        server._batches._seconds = 0.0
        assert memory.load(str(tmp_path / "corpus"), batch=True).failures == []
    assert (batches(server), server.count()) == (1, PASSAGES)


@pytest.mark.parametrize("kind", ["expired", "failed"])
def test_a_plain_load_asks_what_a_batch_did_not_bring(
    settings: Settings, server: ModelServer, documents: list[Document], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    if kind == "expired":
        server.faults = (Fault("expired", contains=(model_corpus.sentence(3),)),)
    with monkeypatch.context() as patched, Chat.open(settings) as chat:
        patched.setattr(batch.Batches, "_wait", killed)
        if kind == "failed":
            patched.setattr(batch.Batches, "_line", lambda *_: b"{}\n")
        with pytest.raises(KeyboardInterrupt):
            chat.batches().fetch(pairs(documents), killed)
    with Chat.open(settings) as chat:
        (id_,) = chat._batched.open(chat._calls.wire.end.host, "m")
        until(lambda: chat._calls.wire.client().batches.retrieve(id_).status in batch.ENDED)
        server.faults = ()
        ask_all(chat, documents)
    assert batches(server) == 1
    assert server.count() == PASSAGES + (kind == "expired")
    assert [record.getMessage() for record in caplog.records if "the batch failed" in record.getMessage()][1:] == []
    assert ("its requests are asked anew" in caplog.text) == (kind == "failed"), "and it says so"


def test_a_failed_batch_is_said_though_the_look_at_another_fails(
    settings: Settings, server: ModelServer, documents: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Chat.open(settings) as chat:
        with monkeypatch.context() as patched:
            patched.setattr(batch.Batches, "_wait", killed)
            patched.setattr(batch.Batches, "_line", lambda *_: b"{}\n")
            with pytest.raises(KeyboardInterrupt):
                chat.batches().fetch(pairs(documents[:5]), nothing)
        looks = []
        look = batch.Batches._look

        def once(self: batch.Batches, id_: str) -> Any:
            looks.append(id_)
            if looks.count(id_) == 1 and len(set(looks)) == 2:
                raise httpx_error()
            return look(self, id_)

        monkeypatch.setattr(batch.Batches, "_look", once)
        with pytest.raises(StoppedError, match="the batch failed"):
            fetch(chat, documents)
    assert len(looks) >= 2


def httpx_error() -> Exception:
    import httpx
    import openai

    return openai.APIConnectionError(request=httpx.Request("GET", "http://127.0.0.1/v1/batches"))


def test_a_plain_load_says_when_a_batch_is_lost(settings: Settings, server: ModelServer, documents: list[Document], caplog: pytest.LogCaptureFixture) -> None:
    with Chat.open(settings) as chat:
        keys = [chat._cache.key("m", one) for one in requests(documents)]
        chat._batched.sent("batch_of_another_key", chat._calls.wire.end.host, "m", [(key, "extract", "", 1) for key in keys])
        ask_all(chat, documents)
    assert [record.getMessage().count("does not show the batch batch_of_another_key") for record in caplog.records] == [1], "said once"
    assert server.count() == PASSAGES


def brought(server: ModelServer) -> tuple[str, dict[str, Any], bytes]:
    """The id of the output file of the one batch, and the file."""
    ((id_, (shown, content)),) = ((id_, file) for id_, file in server._batches._files.items() if "_output" in file[0]["filename"])
    return id_, shown, content


def test_replies_that_are_gone_from_the_server(settings: Settings, server: ModelServer, documents: list[Document]) -> None:
    with Chat.open(settings) as chat, pytest.raises(KeyboardInterrupt):
        chat.batches().fetch(pairs(documents), killed)
    until(lambda: server._batches._look(server._batches._batches["batch_1"])["status"] == "completed")
    server._batches._files.clear()
    with Chat.open(settings) as chat:
        with pytest.raises(StoppedError, match=r"batch_1.*without --batch"):
            fetch(chat, documents)
        ask_all(chat, documents)
    assert server.count() == 2 * PASSAGES - 1


ODD_TEXT = "a\u2028b\u2029c\u0085d\x0be\x0cf"


def test_a_reply_may_hold_what_only_looks_like_the_end_of_a_line(settings: Settings) -> None:
    asked = [Request("answer", ({"role": "user", "content": f"{at}?"},)) for at in range(3)]
    with ModelServer([{"reply": ODD_TEXT}]) as server, Chat.open(replace(settings, llm_url=server.url)) as chat:
        chat.batches().fetch([(one, str) for one in asked], nothing)
        assert [chat.ask(one, str).value for one in asked] == [ODD_TEXT] * 3
        assert "\u2028" in brought(server)[2].decode(), "not escaped, so that this tests something"
    assert server.count() == 3


UNSOUND = (b"not json", b"[1]", b'{"response": {"status_code": 200}}', b'{"custom_id": 7, "response": 7}', b"\xff\xfe", b"[" * 100_000)


def spoil(server: ModelServer, monkeypatch: pytest.MonkeyPatch, lines: int) -> None:
    """The first so many lines of what a batch brings cannot be read."""
    keep = server._batches._keep

    def kept(content: bytes, name: str, purpose: str) -> dict[str, Any]:
        if "_output" in name:
            sound = content.split(b"\n")
            content = b"\n".join([*(UNSOUND[at % len(UNSOUND)] for at in range(lines)), *sound[lines:]])
        return keep(content, name, purpose)

    monkeypatch.setattr(server._batches, "_keep", kept)


def test_lines_that_cannot_be_read_are_counted_and_asked_anew(
    settings: Settings, server: ModelServer, documents: list[Document], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    spoil(server, monkeypatch, len(UNSOUND))
    with Chat.open(settings) as chat:
        fetch(chat, documents)
        assert f"{len(UNSOUND)} lines" in caplog.text
        assert sum(map(chat.known, requests(documents))) == PASSAGES - len(UNSOUND)
        ask_all(chat, documents)
    assert server.count() == PASSAGES + len(UNSOUND)


def test_a_batch_of_which_no_line_can_be_read_ends_the_load(
    settings: Settings, server: ModelServer, documents: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(server, monkeypatch, PASSAGES)
    with Chat.open(settings) as chat, pytest.raises(StoppedError, match=r"brought no reply.*cannot be read.*Load without --batch"):
        fetch(chat, documents)


def test_a_batch_without_token_counts_is_estimated_and_kept(settings: Settings, documents: list[Document]) -> None:
    long = [Request("answer", ({"role": "user", "content": f"{at}: {'some words of a passage ' * 200}"},)) for at in range(3)]
    with ModelServer([{"reply": "Paris", "usage": {"prompt_tokens": 0, "completion_tokens": 0}}]) as server:
        with Chat.open(replace(settings, llm_url=server.url)) as chat:
            chat.batches().fetch([(one, str) for one in long], nothing)
            total = chat.ledger.total()
            assert (total.calls, total.estimated) == (3, 3)
            assert total.prompt_tokens == total.prompt_estimate > 3 * 500
            assert total.completion_tokens >= 3
            replies = [chat.ask(one, str) for one in long]
            assert [reply.value for reply in replies] == ["Paris"] * 3
            assert sum(reply.prompt_tokens for reply in replies) == total.prompt_tokens
            assert total.dollars == pytest.approx(
                chat.dollars(total.prompt_tokens + replies[0].prompt_tokens, total.completion_tokens + replies[0].completion_tokens) / 2
            )
        assert server.count() == 3


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


def test_a_batch_of_an_earlier_run_counts_where_it_is_read(settings: Settings, server: ModelServer, documents: list[Document]) -> None:
    with Chat.open(settings) as chat, pytest.raises(KeyboardInterrupt):
        chat.batches().fetch(pairs(documents), killed)
    budget = Budget.parse("1Mtok")
    with Chat.open(settings, budget=budget) as chat:
        fetch(chat, documents)
        total = chat.ledger.total()
        assert budget.spent == pytest.approx(total.prompt_tokens + total.completion_tokens)
        assert budget.spent > 0


def test_a_batch_of_another_server_is_not_waited_for(settings: Settings, server: ModelServer, documents: list[Document]) -> None:
    with Chat.open(settings) as chat, pytest.raises(KeyboardInterrupt):
        chat.batches().fetch(pairs(documents), killed)
    with ModelServer(model_corpus.reply) as other, Chat.open(replace(settings, llm_url=other.url)) as chat:
        fetch(chat, documents)
        assert all(map(chat.known, requests(documents)))
        assert (batches(other), other.count()) == (1, PASSAGES - 1), "the first passage is known"
    with Chat.open(settings) as chat:
        fetch(chat, documents)
        ask_all(chat, documents)
        assert chat.ledger.total().calls == 0
    assert batches(server) == 1


def test_what_another_server_brought_is_not_sent_again(settings: Settings, documents: list[Document]) -> None:
    with Chat.open(settings) as chat:
        fetch(chat, documents)
    with ModelServer(model_corpus.reply) as other, Chat.open(replace(settings, llm_url=other.url)) as chat:
        fetch(chat, documents)
        ask_all(chat, documents)
        assert (batches(other), other.count()) == (0, 0)


def test_a_reply_that_waits_for_its_repair_is_not_sent_again(
    settings: Settings, server: ModelServer, documents: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Chat.open(settings) as chat:
        fetch(chat, documents)
        with monkeypatch.context() as patched:
            patched.setattr(Wire, "send", killed)
            asked, _ = pairs(documents)[1]
            with pytest.raises(KeyboardInterrupt):
                chat.ask(asked, never)
        fetch(chat, documents)
        assert batches(server) == 1
        ask_all(chat, documents)
    assert server.count() == PASSAGES


def never(_: Any) -> None:
    raise ValueError("it will not do")


@pytest.mark.parametrize("kind", ["server_error", "close"])
def test_a_look_that_fails_is_repeated(settings: Settings, server: ModelServer, documents: list[Document], kind: str) -> None:
    server.faults = (Fault(kind, endpoint="batches", calls=tuple(range(4, 4 + batch.IN_VAIN - 1))),)  # listed twice and created
    with Chat.open(settings) as chat:
        fetch(chat, documents)
        assert all(map(chat.known, requests(documents)))
    assert server.fault_counts() == {kind: batch.IN_VAIN - 1}


def test_a_server_that_stays_away_ends_the_wait(settings: Settings, server: ModelServer, documents: list[Document]) -> None:
    server.faults = (Fault("server_error", endpoint="batches", calls=tuple(range(4, 99))),)
    with Chat.open(settings) as chat, pytest.raises(StoppedError, match=r"^127\.0\.0\.1:\d+: the server answered 500: .*run the same command again") as caught:
        fetch(chat, documents)
    assert str(caught.value).count("127.0.0.1") == 1
    assert server.fault_counts() == {"server_error": batch.IN_VAIN}


def test_what_a_batch_takes_teaches_estimates(settings: Settings, documents: list[Document]) -> None:
    with Chat.open(settings) as chat:
        fetch(chat, documents)
        total = chat.ledger.total()
        before = sum(map(chat.estimate, requests(documents)))
    with Chat.open(settings) as chat:
        assert sum(map(chat.estimate, requests(documents))) == pytest.approx(total.prompt_tokens, rel=0.01)
        assert before == pytest.approx(total.prompt_tokens, rel=0.1)


def test_two_who_wait_count_a_batch_once(settings: Settings, documents: list[Document], monkeypatch: pytest.MonkeyPatch) -> None:
    with Chat.open(settings) as one, Chat.open(settings) as other:
        read_replies, at = batch.Batches._replies, iter(range(9))

        def late(self: batch.Batches, *given: Any) -> Any:
            replies = read_replies(self, *given)
            if not next(at):
                fetch(other, documents)
            return replies

        monkeypatch.setattr(batch.Batches, "_replies", late)
        fetch(one, documents)
        assert one.ledger.total().calls + other.ledger.total().calls == PASSAGES
        assert sum(row.calls for row in one.ledger.stored()) == PASSAGES


def test_a_batch_that_cannot_be_counted_is_fetched_again(settings: Settings, documents: list[Document], monkeypatch: pytest.MonkeyPatch) -> None:
    with Chat.open(settings) as chat:
        with monkeypatch.context() as patched:
            patched.setattr(batch, "Entry", killed)
            with pytest.raises(KeyboardInterrupt):
                fetch(chat, documents)
        fetch(chat, documents)
        assert sum(row.calls for row in chat.ledger.stored()) == PASSAGES


def test_replies_of_a_batch_are_kept_once(settings: Settings, documents: list[Document]) -> None:
    with Chat.open(settings) as chat:
        fetch(chat, documents)
        keys = [chat._cache.key("m", one) for one in requests(documents)]
        assert sum(chat._batched.reply(key) is not None for key in keys) == PASSAGES - 1
        ask_all(chat, documents)
        assert not any(map(chat._batched.reply, keys))


def test_batches_of_other_documents_are_left_alone(settings: Settings, server: ModelServer, documents: list[Document]) -> None:
    with Chat.open(settings) as chat:
        chat._batched.sent("of_others", chat._calls.wire.end.host, "m", [("key of another", "extract", "", 1)])
        fetch(chat, documents)
        host = chat._calls.wire.end.host
        assert chat._batched.batch("key of another", host) == "of_others"
        assert list(chat._batched.open(host, "m")) == ["of_others"]


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
