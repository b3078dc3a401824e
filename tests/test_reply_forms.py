"""A chat server answers in a form of its own: whole when pieces were asked for, in pieces when nobody asked, as events or lines of JSON."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import engines
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_server import SCHEMA, Listener, RawServer

from gsw_graph.concurrency import Cancel
from gsw_graph.errors import InvalidReplyError, ModelUnavailableError, WorkCancelledError
from gsw_graph.memory import Memory
from gsw_graph.models.chat import chat as chat_calls
from gsw_graph.models.chat.chat import CallContext, Chat, Request
from gsw_graph.models.chat.pieces import Pieces, json_values

TEXT = '{"a": 7, "b": "Ærø \u2028\x85 {brace}\\r\\n"}'
ASKED = Request("plan", ({"role": "user", "content": "Which number?"},), SCHEMA)
TOLD = Request("answer", ASKED.messages)
EVENTS = {"Content-Type": "text/event-stream"}
JSON = {"Content-Type": "application/json"}
LINES = {"Content-Type": "application/x-ndjson"}
PARTS = [TEXT[:5], TEXT[5:9], TEXT[9:]]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(chat_calls, "BACKOFF", 0.001)


def chunk(text, finish=None, **more):
    return {"choices": [{"index": 0, "delta": {"content": text, **more}, "finish_reason": finish}]}


def whole(content, finish="stop", **more):
    return {
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **more},
                "finish_reason": finish,
            }
        ]
    }


CHUNKS = [chunk(part) for part in PARTS] + [chunk("", "stop")]


def events(values, before="data: ", end="\n\n", done="[DONE]"):
    return "".join(f"{before}{json.dumps(value, ensure_ascii=False)}{end}" for value in values) + (
        f"{before}{done}{end}" if done else ""
    )


FORMS = {
    "whole": (JSON, json.dumps(whole(TEXT))),
    "whole, over many lines": (JSON, json.dumps(whole(TEXT), indent=2, ensure_ascii=False)),
    "whole, with CRLF and a byte order mark": (JSON, "\ufeff" + json.dumps(whole(TEXT), indent=1).replace("\n", "\r\n")),
    "whole, without a reason of its end": (JSON, json.dumps(whole(TEXT, None))),
    "whole, called a stream and followed by its end": (EVENTS, json.dumps(whole(TEXT)) + "\n\ndata: [DONE]\n\n"),
    "whole, as one event": (EVENTS, events([whole(TEXT)])),
    "content in parts": (JSON, json.dumps(whole([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": TEXT[:7]}, {"type": "text", "text": TEXT[7:]}]))),
    "content in texts": (JSON, json.dumps(whole([TEXT[:7], TEXT[7:]]))),
    "events": (EVENTS, events(CHUNKS)),
    "events with CRLF": (EVENTS, events(CHUNKS, end="\r\n\r\n")),
    "events with CR": (EVENTS, events(CHUNKS, end="\r\r")),
    "events without a space": (EVENTS, events(CHUNKS, before="data:")),
    "events with comments, names and ids": (EVENTS, ": OPENROUTER PROCESSING\n\nretry: 300\n\n" + events(CHUNKS, before="event: chunk\nid: 7\ndata: ")),
    "events without their end": (EVENTS, events(CHUNKS, done="")),
    "events without the last line end": (EVENTS, events(CHUNKS, done="").rstrip("\n")),
    "events called JSON": (JSON, events(CHUNKS)),
    "events called text": ({"Content-Type": "text/plain"}, events(CHUNKS)),
    "messages in place of deltas": (EVENTS, events([whole(part, None) for part in PARTS[:-1]] + [whole(PARTS[-1])])),
    "deltas in parts": (EVENTS, events([chunk([{"type": "text", "text": part}]) for part in PARTS] + [chunk(None, "stop")])),
    "deltas, then the whole again": (EVENTS, events([*CHUNKS[:-1], whole(TEXT)])),
    "deltas beside what came so far": (EVENTS, events([{"choices": [{**chunk(part)["choices"][0], **whole(TEXT, None)["choices"][0]}]} for part in PARTS] + [chunk("", "stop")])),
    "a usage and nothing else at both ends": (EVENTS, events([{"choices": [], "prompt_filter_results": []}, *CHUNKS, {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}}])),
    "lines of JSON": (LINES, events(CHUNKS, before="", end="\n", done="")),
    "lines of JSON of Ollama": (LINES, events([{"message": {"content": part}, "done": False} for part in PARTS] + [{"message": {"content": ""}, "done": True, "done_reason": "stop"}], before="", end="\n", done="")),
    "an event over two lines": (EVENTS, "".join(f"data: {json.dumps(value)[:12]}\ndata: {json.dumps(value)[12:]}\n\n" for value in CHUNKS)),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_case_50_a_reply_is_read_in_every_form(form, tmp_path):
    headers, body = FORMS[form]
    pieces = []
    with RawServer(lambda *_: (200, headers, body)) as server, Chat.open(server.settings(tmp_path)) as chat:
        assert chat.ask(TOLD, str, on_text=pieces.append).value == TEXT
        assert "".join(pieces) == TEXT
        assert chat.ask(ASKED, lambda value: value["a"]).value == 7
        assert ["stream" in asked for asked in server.bodies] == [True, False]
        assert len(server.bodies) == 2


@pytest.mark.parametrize(
    ("headers", "body", "said"),
    [
        (JSON, json.dumps(whole(None, reasoning_content="It is 7.")), "thoughts and no answer"),
        (
            EVENTS,
            events([chunk(None, reasoning_content="It is 7."), chunk(None, "stop")]),
            "thoughts and no answer",
        ),
        (JSON, json.dumps(whole("")), "the reply is empty"),
        (JSON, json.dumps(whole(7)), "`content` is no text"),
        (JSON, json.dumps({"choices": {"message": TEXT}}), "`choices` is no list"),
        (JSON, json.dumps({"detail": "no such thing"}), "there is no message in it"),
        (JSON, "[]", "there is no message in it"),
        (JSON, "", "there is no message in it"),
        (JSON, "{'a': 7}", "its answer is no JSON"),
        (EVENTS, 'data: {"error": {"message": "out of memory"}}\n\n', "out of memory"),
        (JSON, '{"error": "out of memory"}', "out of memory"),
    ],
)
@pytest.mark.parametrize("streamed", [True, False])
def test_case_50_what_is_no_reply_is_named(headers, body, said, streamed, tmp_path):
    with RawServer(lambda *_: (200, headers, body)) as server, Chat.open(server.settings(tmp_path)) as chat:
        with pytest.raises(InvalidReplyError, match=said):
            chat.ask(TOLD if streamed else ASKED, str, on_text=(lambda _: None) if streamed else None)
        assert not chat.known(TOLD)


def test_case_50_pieces_without_an_end_are_no_reply(tmp_path):
    """Also where nobody asked for pieces: half a plan would be taken for the whole."""
    with (
        RawServer(lambda *_: (200, EVENTS, events(CHUNKS[:-1], done=""))) as server,
        Chat.open(server.settings(tmp_path)) as chat,
    ):
        for on_text in (None, lambda _: None):
            with pytest.raises(InvalidReplyError, match="broke off in the middle"):
                chat.ask(TOLD, str, on_text=on_text)


@pytest.mark.parametrize("streamed", [True, False])
def test_case_50_a_page_of_the_web_is_no_chat_server(streamed, tmp_path):
    with (
        RawServer(
            lambda *_: (200, {"Content-Type": "text/html"}, "<html>\n<p>Welcome</p>\n</html>")
        ) as server,
        Chat.open(server.settings(tmp_path)) as chat,
        pytest.raises(ModelUnavailableError, match="no chat server"),
    ):
        chat.ask(TOLD, str, on_text=(lambda _: None) if streamed else None)


@given(st.lists(st.integers(1, 40), max_size=30), st.sampled_from(sorted(FORMS)))
def test_case_50_where_a_body_is_cut_does_not_matter(sizes, form):
    body = FORMS[form][1].encode()
    chunks = []
    for size in sizes:
        chunks.append(body[:size])
        body = body[size:]
    reply = Pieces()
    for value in json_values([*chunks, body]):
        reply.add(value)
    assert reply.text == TEXT
    assert not reply.is_cut


@pytest.mark.parametrize("form", ["whole", "events", "lines of JSON"])
def test_case_50_load_and_answer(form, fresh_settings, tmp_path):
    """A load, whose replies have a schema, and an answer, which is shown as it comes."""
    written = json.dumps(
        {
            "entities": [{"name": "Maren Osterholt", "roles": []}, {"name": "Quillon Bridge", "roles": []}],
            "verb_phrases": [],
            "propositions": ["Maren Osterholt designed the Quillon Bridge."],
        }
    )

    def served(_, asked):
        if "entities" in json.dumps(asked.get("response_format", "")):
            said = written
        else:
            said = "Answer: Maren Osterholt\nSources: 1"
        if form == "whole":
            return 200, JSON, json.dumps(whole(said))
        before, end, done = ("data: ", "\n\n", "[DONE]") if form == "events" else ("", "\n", "")
        return (
            200,
            EVENTS if form == "events" else LINES,
            events([chunk(said[:9]), chunk(said[9:]), chunk("", "stop")], before, end, done),
        )

    (tmp_path / "bridge.txt").write_text(
        "The Quillon Bridge was designed by Maren Osterholt in 1904.", encoding="utf-8"
    )
    with RawServer(served) as server:
        settings = replace(
            engines.own_replies(fresh_settings, tmp_path / "cache"), llm="m", llm_url=server.url
        )
        with Memory.open(settings=settings) as memory:
            assert memory.load(tmp_path / "bridge.txt", extractor="llm").documents.new == 1
            shown = []
            answer = memory.ask("Who designed the Quillon Bridge?", strategy="linked", on_text=shown.append)
    assert answer.answer == "Maren Osterholt"
    assert answer.answer_source == "llm"
    assert "".join(shown) == "Maren Osterholt"


def test_a_second_equal_request_can_be_cancelled(tmp_path):
    """It waits for the first, whose reply it would get."""
    arrived = threading.Event()
    free = threading.Event()
    cancel = Cancel()

    def serve(*_):
        arrived.set()
        free.wait(30)
        return 200, JSON, json.dumps(whole(TEXT))

    listener = Listener(serve)
    settings = RawServer(lambda *_: None)
    settings.url = listener.url
    raised = []
    with Chat.open(settings.settings(tmp_path, llm_timeout=60)) as chat:

        def ask_again():
            try:
                chat.ask(ASKED, str, context=CallContext(check=cancel.check))
            except WorkCancelledError as error:
                raised.append(error)

        first = threading.Thread(target=lambda: chat.ask(ASKED, str))
        first.start()
        assert arrived.wait(30)
        second = threading.Thread(target=ask_again)
        second.start()
        cancel.cancel()
        second.join(30)
        try:
            assert [type(error) for error in raised] == [WorkCancelledError]
            assert first.is_alive()
        finally:
            free.set()
            first.join(30)
    listener.close()
