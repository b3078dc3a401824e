"""A language model asked through a real server: what is sent, what is kept, what is counted."""

from __future__ import annotations

import json
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from model_server import KEY, SCHEMA, ModelServer, RawServer, error, ok

from gsw_graph.config import Settings
from gsw_graph.errors import InputError, InvalidReplyError, ModelUnavailableError
from gsw_graph.models.chat import chat as chat_calls
from gsw_graph.models.chat.chat import Chat, Reply, Request
from gsw_graph.models.chat.limits import Budget
from gsw_graph.models.chat.transport import Transport

ASKED = Request(
    "extract",
    ({"role": "system", "content": "be brief"}, {"role": "user", "content": "the passage"}),
    SCHEMA,
    "a.txt",
)


COUNTED = {"prompt_tokens": 20, "completion_tokens": 5}


def number(value):
    if not isinstance(value, dict) or type(value.get("a")) is not int:
        raise ValueError("`a` is no whole number")
    return int(value["a"])


def request(text, document=""):
    return Request("extract", ({"role": "user", "content": f"passage {text}."},), SCHEMA, document)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(chat_calls, "BACKOFF", 0.001)


def settings(server, folder, **others):
    return Settings(**{"llm": "m", "llm_url": server.url, "llm_timeout": 10, "cache_dir": folder, **others})


def test_the_body(tmp_path):
    def answer(_, body):
        kind = body.get("response_format", {}).get("type")
        if kind:
            return error(400, f"response_format {kind} is not supported", param="response_format")
        return ok({"a": 1})

    with RawServer(answer) as server, Chat.open(server.settings(tmp_path)) as chat:
        chat.ask(ASKED, number)
        by_schema, by_mode, plain = server.bodies
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    expected = {
        "model": "m",
        "messages": list(ASKED.messages),
        "temperature": 0,
        "max_tokens": 4000,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "extract", "schema": SCHEMA, "strict": True},
        },
    }
    assert by_schema == expected
    assert by_mode["response_format"] == {"type": "json_object"}
    assert "response_format" not in plain
    for body in (
        by_mode,
        plain,
    ):  # a schema that the server does not know is told in words, after what is the same in every call
        system, user = body["messages"]
        assert system["content"].startswith("be brief\n\n")
        assert json.dumps(SCHEMA) in system["content"]
        assert user == ASKED.messages[1]


def test_a_server_that_ignores_schemas_is_told_in_words(tmp_path):
    with (
        RawServer(lambda call, _: ok("Let me see." if call == 1 else {"a": 1})) as server,
        Chat.open(server.settings(tmp_path)) as chat,
    ):
        assert [chat.ask(request(text), number).value for text in range(2)] == [1, 1]
        first, repair, later = (json.dumps(body["messages"]) for body in server.bodies)
    assert ["JSON schema" in text for text in (first, repair, later)] == [False, True, True]


def test_a_reply_is_kept_for_every_chat(tmp_path):
    with ModelServer([{"reply": {"a": 3}, "usage": COUNTED}]) as server:
        with Chat.open(settings(server, tmp_path)) as chat:
            assert not chat.known(ASKED)
            first = chat.ask(ASKED, number)
            assert chat.known(ASKED)
        with Chat.open(settings(server, tmp_path)) as chat:
            again = chat.ask(ASKED, number)
            total = chat.ledger.total()
        assert first.value == 3
        assert first.cached is False
        assert first.prompt_tokens == 20
        assert first.completion_tokens == 5
        assert again == Reply(3, True, 20, 5, first.seconds)
        assert total.calls == 0
        assert total.cached == 1
        assert total.prompt_tokens == 0
        assert server.count() == 1
    with Chat.open(settings(server, tmp_path)) as chat:  # the server is gone, nobody notices
        assert chat.ask(ASKED, number).value == 3


def test_a_kept_reply_that_passes_no_more_is_asked_for_anew(tmp_path):
    with RawServer(lambda call, _: ok({"a": call})) as server, Chat.open(server.settings(tmp_path)) as chat:
        assert chat.ask(ASKED, number).value == 1

        def stricter(value):
            if number(value) < 2:
                raise ValueError("too small")
            return number(value)

        again = chat.ask(ASKED, stricter)
        assert again.value == 2
        assert again.cached is False
        assert chat.ask(ASKED, stricter).cached


def test_one_repair_with_what_is_wrong(tmp_path):
    replies = [ok({"a": "three"}, usage=COUNTED), ok({"a": 3}, usage=COUNTED)]
    with RawServer(lambda call, _: replies[call - 1]) as server, Chat.open(server.settings(tmp_path)) as chat:
        reply = chat.ask(ASKED, number)
        assert reply.value == 3
        assert reply.prompt_tokens == 40
        assert reply.completion_tokens == 10
        before, told = server.bodies[1]["messages"][-2:]
        assert before == {"role": "assistant", "content": '{"a": "three"}'}
        assert "`a` is no whole number" in told["content"]
        total = chat.ledger.total()
        assert total.calls == 2
        assert total.failed == 1
        assert total.prompt_tokens == 40
        assert total.completion_tokens == 10
        assert chat.ask(ASKED, number).cached  # under the request as it was
        assert len(server.bodies) == 2


@pytest.mark.parametrize("error_", [KeyboardInterrupt(), ModelUnavailableError("stopped")])
def test_a_reply_that_failed_its_check_is_not_paid_again_where_its_repair_was_cut_off(
    error_, tmp_path, monkeypatch
):
    replies = [ok({"a": "three"}, usage=COUNTED), ok({"a": 3}, usage=COUNTED)]
    with RawServer(lambda call, _: replies[call - 1]) as server:
        with Chat.open(server.settings(tmp_path)) as chat, monkeypatch.context() as patched:
            send = Transport.send
            calls = iter(range(9))

            def cut(self, *given, **options):
                if next(calls):
                    raise error_
                return send(self, *given, **options)

            patched.setattr(Transport, "send", cut)
            with pytest.raises(type(error_)):
                chat.ask(ASKED, number)
            assert not chat.known(ASKED), "the repair has its price"
        with Chat.open(server.settings(tmp_path)) as chat:
            reply = chat.ask(ASKED, number)
            assert reply.value == 3
            assert reply.prompt_tokens == 40
            assert chat.ledger.total().calls == 1
            assert chat.ledger.total().failed == 0
            assert chat.ask(ASKED, number).cached
    assert len(server.bodies) == 2
    assert [message["content"] for message in server.bodies[1]["messages"]][-2] == '{"a": "three"}'


def test_a_reply_cut_by_its_length_is_not_repaired(tmp_path):
    with (
        RawServer(lambda *_: ok('{"a": 1', finish="length", usage=COUNTED)) as server,
        Chat.open(server.settings(tmp_path)) as chat,
    ):
        with pytest.raises(InvalidReplyError, match="cut off after 5 tokens"):
            chat.ask(ASKED, number)
        assert len(server.bodies) == 1
        assert chat.ledger.total().calls == 1
        assert chat.ledger.total().failed == 1
        assert chat.ledger.total().completion_tokens == 5


def test_equal_requests_at_the_same_time_are_one_call(tmp_path):
    with (
        ModelServer([{"reply": {"a": 3}}], delay=0.2) as server,
        Chat.open(settings(server, tmp_path)) as chat,
    ):
        with ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda _: chat.ask(ASKED, number), range(8)))
        assert server.count() == 1
        assert sorted(reply.cached for reply in replies) == [False] + [True] * 7


def test_many_threads_keep_the_limit(tmp_path):
    with (
        ModelServer([{"reply": {"a": 3}}], delay=0.05, limit=4, over_limit="refuse") as server,
        Chat.open(settings(server, tmp_path, concurrency=4)) as chat,
    ):
        with ThreadPoolExecutor(16) as pool:
            found = list(pool.map(lambda text: chat.ask(request(text), number).value, range(40)))
            assert found == [3] * 40
        assert server.count() == 40  # none was refused


def test_a_budget_ends_the_calls_and_keeps_what_was_paid(tmp_path):
    usage = {"prompt_tokens": 60, "completion_tokens": 40}
    with ModelServer([{"reply": {"a": 3}, "usage": usage}]) as server:
        asked = settings(server, tmp_path, llm_price=(10_000.0, 10_000.0))  # a call is a dollar
        with Chat.open(asked, budget=Budget.parse("$100")) as chat:
            chat.ask(replace(request("first"), limit=90), number)
        with Chat.open(asked, budget=Budget.parse("$5.5")) as chat:
            with pytest.raises(ModelUnavailableError, match=r"budget of \$5.50 is used up"):
                deque((chat.ask(replace(request(text), limit=90), number) for text in range(50)), maxlen=0)
            assert 4 <= chat.ledger.total().calls <= 5
            assert chat.ledger.total().dollars == pytest.approx(chat.ledger.total().calls)
            kept = chat.ledger.total().calls
            found = [chat.known(request(text)) for text in range(6)]
            expected = [True] * kept + [False] * (6 - kept)
            assert found == expected
    with pytest.raises(InputError, match="GSWGRAPH_LLM_PRICE"):
        Chat.open(settings(server, tmp_path), budget=Budget.parse("$5"))


def test_what_utf8_cannot_hold(tmp_path):
    with ModelServer([{"reply": {"a": 3}}]) as server, Chat.open(settings(server, tmp_path)) as chat:
        assert chat.ask(request("\udc80 Łódź \U0001f600\0"), number).value == 3
