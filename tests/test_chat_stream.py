"""Replies as they come."""

from __future__ import annotations

import json

import pytest
from model_server import RawServer, error, ok

from gsw_graph.errors import InvalidReplyError
from gsw_graph.models.chat import chat as chat_calls
from gsw_graph.models.chat.chat import Chat, Request

TOLD = Request("answer", ({"role": "user", "content": "Which city?"},))


EVENTS = {"Content-Type": "text/event-stream"}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(chat_calls, "BACKOFF", 0.001)


def stream(*pieces, finish="stop", usage=None, done=True):
    """A reply in pieces as OpenAI writes it."""
    rows = [
        {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]} for piece in pieces
    ]
    if finish:
        rows.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if usage:
        rows.append({"choices": [], "usage": usage})
    text = "".join(f"data: {json.dumps(row)}\n\n" for row in rows) + ("data: [DONE]\n\n" if done else "")
    return 200, EVENTS, text


def words(text):
    if not text:
        raise ValueError("there are no words")
    return text.split()


def test_pieces_come_as_they_are_and_a_kept_reply_as_a_whole(tmp_path):
    pieces = []
    usage = {"prompt_tokens": 9, "completion_tokens": 4}
    with (
        RawServer(lambda *_: stream("Pa", "ris", " it is", usage=usage)) as server,
        Chat.open(server.settings(tmp_path)) as chat,
    ):
        first = chat.ask(TOLD, words, on_text=pieces.append)
        assert first.value == ["Paris", "it", "is"]
        assert first.cached is False
        assert first.prompt_tokens == 9
        assert first.completion_tokens == 4
        assert pieces == ["Pa", "ris", " it is"]
        assert server.bodies[0]["stream"] is True
        assert server.bodies[0]["stream_options"] == {"include_usage": True}
        again = chat.ask(TOLD, words, on_text=pieces.append)
        assert again.value == first.value
        assert again.cached is True
        assert pieces == ["Pa", "ris", " it is", "Paris it is"]
        assert len(server.bodies) == 1


def test_a_server_without_stream_options(tmp_path):
    def answer(_, body):
        if "stream_options" in body:
            return error(400, "unknown field: stream_options")
        return stream("Paris")

    with RawServer(answer) as server, Chat.open(server.settings(tmp_path)) as chat:
        assert chat.ask(TOLD, words, on_text=lambda _: None).value == ["Paris"]
        assert chat.ledger.total().estimated == 1
        other = Request("answer", ({"role": "user", "content": "Another?"},))
        assert chat.ask(other, words, on_text=lambda _: None).value == ["Paris"]
        assert ["stream_options" in body for body in server.bodies] == [True, False, False]


def test_before_the_first_piece_a_call_is_made_again(tmp_path):
    answers = [
        error(503, "overloaded"),
        (200, {**EVENTS, "Content-Length": "500"}, ""),
        (200, EVENTS, 'data: {"error": {"message": "busy"}}\n\n'),
        stream("Paris"),
    ]
    pieces = []
    with (
        RawServer(lambda call, _: answers[call - 1]) as server,
        Chat.open(server.settings(tmp_path, llm_timeout=3)) as chat,
    ):
        assert chat.ask(TOLD, words, on_text=pieces.append).value == ["Paris"]
        assert pieces == ["Paris"]
        assert len(server.bodies) == 4


@pytest.mark.parametrize(
    "broken",
    [
        (200, {**EVENTS, "Content-Length": "5000"}, stream("Par", finish=None, done=False)[2]),
        (200, EVENTS, stream("Par", finish=None, done=False)[2] + 'data: {"error": {"message": "busy"}}\n\n'),
        (200, EVENTS, stream("Par", finish=None, done=False)[2] + "data: {no json\n\n"),
    ],
)
def test_after_it_the_reply_is_given_up(broken, tmp_path):
    pieces = []
    with RawServer(lambda *_: broken) as server, Chat.open(server.settings(tmp_path, llm_timeout=1)) as chat:
        with pytest.raises(InvalidReplyError, match="broke in the middle"):
            chat.ask(TOLD, words, on_text=pieces.append)
        assert pieces == ["Par"]
        assert len(server.bodies) == 1
        assert not chat.known(TOLD)


def test_a_cut_reply_and_a_refusal(tmp_path):
    refusal = {"choices": [{"index": 0, "delta": {"refusal": "I can't"}, "finish_reason": "stop"}]}
    answers = [
        stream("Par", finish="length"),
        (200, EVENTS, f"data: {json.dumps(refusal)}\n\ndata: [DONE]\n\n"),
    ]
    with RawServer(lambda call, _: answers[call - 1]) as server, Chat.open(server.settings(tmp_path)) as chat:
        for said in ("cut off", "refused: I can't"):
            with pytest.raises(InvalidReplyError, match=said):
                chat.ask(TOLD, words, on_text=lambda _: None)


def test_half_a_surrogate_pair_is_no_text(tmp_path):
    """As servers write them who cut a reply between bytes: joined where the other half comes, else replaced, so that the reply can be kept."""
    pieces = []
    answers = [stream("A \ud83d", "\ude00 b\ud83d", "c \ud83d"), ok("A\ud83d"), ok("x", refusal="No\ud83d")]
    with RawServer(lambda call, _: answers[call - 1]) as server, Chat.open(server.settings(tmp_path)) as chat:
        first = chat.ask(TOLD, str, on_text=pieces.append)
        assert first.value == "".join(pieces).strip() == "A \U0001f600 b\ufffdc"
        assert pieces == ["A ", "\U0001f600 b", "\ufffdc "]
        assert chat.ask(TOLD, str).cached
        others = [Request("answer", ({"role": "user", "content": str(number)},)) for number in range(2)]
        assert chat.ask(others[0], str).value == "A\ufffd"
        assert chat.ask(others[0], str).cached
        with pytest.raises(InvalidReplyError, match="refused: No\ufffd"):
            chat.ask(others[1], str)
