"""What a model server can take of us: tokens, time, connections and memory have bounds, and odd answers are failed replies."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from model_server import SCHEMA, RawServer, error, ok
from model_server import Raw as Answer

from gsw_graph.config import Settings
from gsw_graph.errors import ModelError, ReplyError, StoppedError
from gsw_graph.inference import bodies
from gsw_graph.inference.batch import state as batch_state
from gsw_graph.inference.chat import calls as chat_calls
from gsw_graph.inference.chat.chat import Chat, Request
from gsw_graph.inference.chat.limiter import Limiter
from gsw_graph.inference.endpoint import Endpoint
from gsw_graph.inference.rerank.http_reranker import HttpReranker

ASKED = Request("extract", ({"role": "user", "content": "the passage"},), SCHEMA, "a.txt", limit=300)
TOLD = Request("answer", ({"role": "user", "content": "Which city?"},), limit=50)
BOUNDED = {**SCHEMA, "properties": {"a": {"type": "array", "maxItems": 3, "items": {"type": "string", "maxLength": 5}}}}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_calls, "BACKOFF", 0.001)
    monkeypatch.setattr(chat_calls, "LOOK", 0.02)


@contextmanager
def serving(answer: Callable[[BaseHTTPRequestHandler, int], None]) -> Iterator[Callable[..., Settings]]:
    """A server that answers as a function writes, given the number of the call from 1; gives what makes settings for it."""
    lock, count = threading.Lock(), 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            nonlocal count
            with lock:
                count += 1
                number = count
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.close_connection = True
            with suppress(OSError):
                answer(self, number)

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield lambda folder, **others: Settings(llm="m", llm_url=f"http://127.0.0.1:{server.server_address[1]}/v1", cache_dir=folder, **{"llm_timeout": 5, **others})
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def head(handler: BaseHTTPRequestHandler, kind: str = "application/json", **headers: str) -> None:
    handler.send_response(200)
    for name, value in {"Content-Type": kind, "Connection": "close", **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def test_a_reply_has_a_limit(tmp_path: Path) -> None:
    with RawServer(lambda *_: ok({"a": 1})) as server, Chat.open(server.settings(tmp_path)) as chat:
        chat.ask(ASKED, dict)
        chat.ask(Request("plan", ASKED.messages), str)
        assert server.bodies[0]["max_tokens"] == 300
        assert server.bodies[1]["max_tokens"] >= chat_calls.LEAST


@pytest.mark.parametrize(
    "refusal",
    [
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "'max_tokens' is too large: 300. This model's maximum context length is 200 tokens",
        "maximum context length is 200 tokens. However, you requested 320 tokens (20 in the messages, 300 in the completion)",
    ],
)
def test_it_is_left_out_where_a_server_refuses_it(refusal: str, tmp_path: Path) -> None:
    with RawServer(lambda _, body: error(400, refusal) if "max_tokens" in body else ok({"a": 1})) as server, Chat.open(server.settings(tmp_path)) as chat:
        assert chat.ask(ASKED, dict).value == {"a": 1}
        chat.ask(TOLD, str)
        assert ["max_tokens" in body for body in server.bodies] == [True, False, False]


def test_bounds_of_a_schema_are_left_out_where_a_server_refuses_them(tmp_path: Path) -> None:
    def answer(_: int, body: dict[str, Any]) -> Answer:
        return error(400, "Invalid schema: 'maxLength' is not permitted") if "maxLength" in json.dumps(body["response_format"]) else ok({"a": []})

    with RawServer(answer) as server, Chat.open(server.settings(tmp_path)) as chat:
        chat.ask(Request("extract", ASKED.messages, BOUNDED), dict)
        assert [body["response_format"]["type"] for body in server.bodies] == ["json_schema"] * 2
        assert "maxItems" not in json.dumps(server.bodies[1])


def test_a_reply_cut_by_the_limit_is_one_that_repeats_itself(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 20, "completion_tokens": 300}
    with RawServer(lambda *_: ok("[[[[", finish="length", usage=usage)) as server, Chat.open(server.settings(tmp_path)) as chat:
        with pytest.raises(ReplyError, match=r"cut off after 300 tokens.*repeats itself"):
            chat.ask(ASKED, dict)
        assert len(server.bodies) == 1


def test_thoughts_take_no_part_of_the_limit(tmp_path: Path) -> None:
    def answer(_: int, body: dict[str, Any]) -> Answer:
        return ok("", finish="length", reasoning_content="Hm, let me see") if "max_tokens" in body else ok({"a": 1})

    with RawServer(answer) as server, Chat.open(server.settings(tmp_path)) as chat:
        assert chat.ask(ASKED, dict).value == {"a": 1}
        chat.ask(TOLD, str)
        assert ["max_tokens" in body for body in server.bodies] == [True, False, False]


def test_after_a_time_out_once_more_and_otherwise(tmp_path: Path) -> None:
    end = threading.Event()
    with RawServer(lambda *_: (end.wait(20), ok({"a": 1}))[1]) as server, Chat.open(server.settings(tmp_path, llm_timeout=0.2)) as chat:
        with pytest.raises(ReplyError, match=r"no reply after 2 tries: .*GSWGRAPH_LLM_TIMEOUT.*--concurrency.*The next load asks again"):
            chat.ask(ASKED, dict)
        with pytest.raises(ReplyError, match="Ask again"):
            chat.ask(TOLD, str)
        assert [body["temperature"] > 0 for body in server.bodies] == [False, True] * 2
        assert chat._calls.limiter.at_once == 1  # eight that nobody answered
        end.set()


def test_time_outs_lower_the_calls_at_once_to_what_was_answered() -> None:
    limit = Limiter(8)
    with limit.slot(1) as late, limit.slot(1) as also_late:
        for _ in range(3):
            with limit.slot(1) as slot:
                limit.answered(slot, 1)
        limit.late(late)
        assert limit.at_once == 3
        limit.late(also_late)  # it began before the first was known
        assert limit.at_once == 3
    for _ in range(4):
        with limit.slot(1) as slot:
            limit.answered(slot, 1)
    assert limit.at_once == 3  # and they do not come back at once


@pytest.mark.parametrize("shown", [True, False])
def test_a_stream_that_is_given_up_is_closed_and_what_was_shown_not_asked_again(shown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_calls, "LATE", 0.1)
    closed: list[float] = []
    calls: list[int] = []

    def trickle(handler: BaseHTTPRequestHandler, number: int) -> None:
        calls.append(number)
        head(handler, "text/event-stream")
        piece = f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': 'word '}}]})}\n\n" if shown else ": wait\n\n"
        try:
            for _ in range(1000):
                handler.wfile.write(piece.encode())
                handler.wfile.flush()
                time.sleep(0.01)
        except OSError:
            closed.append(time.monotonic())

    pieces: list[str] = []
    with serving(trickle) as settings, Chat.open(settings(tmp_path, llm_timeout=0.3)) as chat:
        with pytest.raises(ReplyError, match="did not end in time" if shown else "2 tries: it did not answer in time"):
            chat.ask(TOLD, str, on_text=pieces.append)
        end = time.monotonic() + 5
        while len(closed) < len(calls) and time.monotonic() < end:
            time.sleep(0.01)
        assert calls == ([1] if shown else [1, 2])
        assert len(closed) == len(calls), "the server still writes"
        assert bool(pieces) is shown


def test_a_call_that_nobody_waits_for_is_closed_before_it_is_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_calls, "GRACE", 0.1)
    begun, gone = threading.Event(), threading.Event()

    def wait(handler: BaseHTTPRequestHandler, _: int) -> None:
        begun.set()
        if handler.connection.recv(1) == b"":
            gone.set()

    with serving(wait) as settings, Chat.open(settings(tmp_path, llm_timeout=60)) as chat:
        threading.Thread(target=lambda: (begun.wait(10), chat.stop()), daemon=True).start()
        with pytest.raises(StoppedError):
            chat.ask(ASKED, dict)
        assert gone.wait(5)


def endless(handler: BaseHTTPRequestHandler, _: int) -> None:
    head(handler)
    handler.wfile.write(b'{"choices": [{"message": {"content": "')
    while True:
        handler.wfile.write(b"x" * 65536)


def endless_stream(handler: BaseHTTPRequestHandler, _: int) -> None:
    head(handler, "text/event-stream")
    while True:
        handler.wfile.write(f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': ''}}]})}\n\n".encode() * 1000)


def endless_line(handler: BaseHTTPRequestHandler, _: int) -> None:
    head(handler, "text/event-stream")
    while True:
        handler.wfile.write(b"data: " + b"x" * 65536)


def bomb(handler: BaseHTTPRequestHandler, _: int) -> None:
    data = gzip.compress(b'{"choices": "' + b"0" * 40_000_000)
    head(handler, Content_Encoding="gzip", Content_Length=str(len(data)))
    handler.wfile.write(data)


@pytest.mark.parametrize(("answer", "streamed"), [(endless, False), (bomb, False), (endless_stream, True), (endless_line, True)])
def test_what_has_no_end_is_one_failed_reply(answer: Any, streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MOST", 1_000_000)
    calls: list[int] = []
    with serving(lambda handler, number: (calls.append(number), answer(handler, number))[0]) as settings, Chat.open(settings(tmp_path)) as chat:
        with pytest.raises(ReplyError, match="more than 1 MB"):
            chat.ask(TOLD, str, on_text=(lambda _: None) if streamed else None)
        assert (chat.ledger.total().calls, chat.ledger.total().failed) == (1, 1)
    assert calls == [1]


def test_a_packed_answer_is_read_and_an_unknown_packing_is_none(tmp_path: Path) -> None:
    def answer(handler: BaseHTTPRequestHandler, number: int) -> None:
        data = gzip.compress(ok({"a": 1})[2].encode())
        head(handler, Content_Encoding="gzip" if number == 1 else "br", Content_Length=str(len(data)))
        handler.wfile.write(data)

    with serving(answer) as settings, Chat.open(settings(tmp_path)) as chat:
        assert chat.ask(ASKED, dict).value == {"a": 1}
        with pytest.raises(ReplyError, match="packs its answers"):
            chat.ask(TOLD, str)


MESSAGE = '{"message": {"content": "{\\"a\\": 1}"}, "finish_reason": "stop"}'
ODD = [
    f'{{"choices": [{MESSAGE}], "usage": {{"prompt_tokens": 1e999, "completion_tokens": 1}}}}',
    f'{{"choices": [{MESSAGE}], "usage": {{"prompt_tokens": 1{"0" * 30}, "completion_tokens": 1}}}}',
    f'{{"choices": [{MESSAGE}], "usage": {{"prompt_tokens": 1, "completion_tokens": "many"}}}}',
    f'{{"choices": [{MESSAGE}], "usage": {{"prompt_tokens": NaN}}}}',
    '{"choices": 7}',
    '{"choices": [{"message": {"content": 7}}]}',
    '{"choices": [{"message": {"content": [{"text": {}}]}}]}',
    '{"choices": [{"message": {"content": "x"}, "finish_reason": []}]}',
    '{"choices": [{"message": {"content": "x", "refusal": {}}}]}',
]
ODD_STREAMED = [
    '{"choices": 7}',
    '{"choices": [{"index": 0, "delta": {"content": 7}}]}',
    '{"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": {}}]}',
    '{"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1e999}}',
]


@pytest.mark.parametrize("text", ODD)
def test_odd_numbers_and_types_are_one_failed_reply(text: str, tmp_path: Path) -> None:
    with RawServer(lambda *_: (200, {}, text)) as server, Chat.open(server.settings(tmp_path)) as chat:
        with pytest.raises(ReplyError, match="its answer cannot be used: `"):
            chat.ask(ASKED, dict)
        assert len(server.bodies) == 1


@pytest.mark.parametrize("text", ODD_STREAMED)
def test_also_in_streams(text: str, tmp_path: Path) -> None:
    events = {"Content-Type": "text/event-stream"}
    with RawServer(lambda *_: (200, events, f"data: {text}\n\ndata: [DONE]\n\n")) as server, Chat.open(server.settings(tmp_path)) as chat:
        with pytest.raises(ReplyError, match="its answer cannot be used: `"):
            chat.ask(TOLD, str, on_text=lambda _: None)
        assert len(server.bodies) == 1


@pytest.mark.parametrize("answer", [endless, bomb])
def test_a_reranker_without_end(answer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MOST", 1_000_000)
    with serving(answer) as settings, pytest.raises(ModelError, match="more than 1 MB"):
        HttpReranker(str(settings(tmp_path).llm_url)).score([("a", "b")])


def endless_lines(handler: BaseHTTPRequestHandler, _: int) -> None:
    head(handler)
    while True:
        handler.wfile.write(b'{"custom_id": "x"}\n' * 1000)


def no_line(handler: BaseHTTPRequestHandler, _: int) -> None:
    head(handler)
    while True:
        handler.wfile.write(b"x" * 65536)


@pytest.mark.parametrize("answer", [endless_lines, no_line])
def test_a_file_of_a_batch_without_end(answer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_state, "MOST", 1_000_000)
    with serving(answer) as settings, Chat.open(settings(tmp_path)) as chat, pytest.raises(bodies.BodyError, match="more than 1 MB"):
        for _ in batch_state.lines(chat._calls.wire.client(), "file-1", 2):
            pass


@pytest.mark.parametrize(
    "odd", [{"status": 7}, {"id": None}, {"metadata": 7}, {"request_counts": SimpleNamespace(completed="all")}, {"errors": SimpleNamespace(data=7)}, {"output_file_id": 7}]
)
def test_what_is_said_of_a_batch_is_checked(odd: dict[str, Any]) -> None:
    end = Endpoint.check("the language model", "http://127.0.0.1:1/v1", None, whole="", key_name="")
    sound = {"id": "b", "status": "completed", "metadata": None, "request_counts": None, "errors": None, "output_file_id": "f", "error_file_id": None}
    assert batch_state.read_batch(SimpleNamespace(**sound), end).output == "f"
    with pytest.raises(StoppedError, match="of a batch cannot be used"):
        batch_state.read_batch(SimpleNamespace(**{**sound, **odd}), end)
