"""The model server for tests: chat completions as the openai SDK speaks them, scripted replies, and what is counted."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from model_clients import KEY, ask, client, post, schema
from waiting import until

from gsw_graph.errors import InputError
from gsw_graph.prompts import prompt
from gsw_graph.testing import ModelServer, Reply, calls
from gsw_graph.testing.tokens import count, count_messages

TOWN = {"town": "Vellmouth"}


def test_a_text_and_a_json_reply_with_their_tokens() -> None:
    replies = [{"when": {"contains": ["capital"]}, "reply": "Paris, of course."}, {"when": {"stage": "extract"}, "reply": TOWN}]
    with ModelServer(replies) as server, client(server) as sdk:
        said = ask(sdk, "What is the capital of France?", system="Be brief.")
        assert (said.choices[0].message.content, said.choices[0].finish_reason, said.object) == ("Paris, of course.", "stop", "chat.completion")
        messages = [{"content": "Be brief."}, {"content": "What is the capital of France?"}]
        assert (said.usage.prompt_tokens, said.usage.completion_tokens) == (count_messages(messages), count("Paris, of course."))
        assert said.usage.total_tokens == said.usage.prompt_tokens + said.usage.completion_tokens

        found = ask(sdk, "A passage.", response_format=schema("extract"))
        assert json.loads(found.choices[0].message.content) == TOWN
        with_json = ask(sdk, "As json: A passage.", response_format=schema("extract", strict=False))
        assert json.loads(with_json.choices[0].message.content) == TOWN
        assert [model.id for model in sdk.models.list()] == ["test-model"]


def test_tokens_are_counted_as_is_said() -> None:
    assert count("Hello world") == 2
    assert count("wonderfully") == 2  # eight letters, then three
    assert count("12345") == 2
    assert count('{"a": "b"}') == 6  # {"  a  ":  "  b  "}
    assert count("日本語") == 3
    assert count_messages([{"content": "Hello world"}]) == 2 + 4 + 3
    assert count_messages([{"content": [{"type": "text", "text": "Hello"}, {"type": "text", "text": "world"}]}]) == 3 + 4 + 3  # and the line break between


def test_a_stream_brings_the_text_in_pieces_and_the_usage_last() -> None:
    text = "The Great Tide Engine was built by Ada Quill in Port Aldous, 日本語 and all."
    with ModelServer([{"reply": text}]) as server, client(server) as sdk:
        chunks = list(ask(sdk, "Who?", stream=True, stream_options={"include_usage": True}))
        pieces = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices and chunk.choices[0].delta.content]
        assert len(pieces) > 2
        assert "".join(pieces) == text
        assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
        assert chunks[-1].choices == []
        assert chunks[-1].usage.completion_tokens == count(text)
        assert all(chunk.usage is None for chunk in ask(sdk, "Who?", stream=True))


def test_the_line_with_the_longest_texts_answers() -> None:
    replies = [
        {"reply": "anything else"},
        {"when": {"contains": ["Ottilie Grau"]}, "reply": "short"},
        {"when": {"contains": ["Ottilie Grau designed the Tidewater Theatre"]}, "reply": "long"},
        {"when": {"contains": ["Ottilie Grau", "mended"]}, "reply": "both"},
        {"when": {"stage": "mend", "contains": ["Ottilie Grau"]}, "reply": "of its stage"},
        {"when": {"contains": ["Grau's"]}, "reply": "part of a word"},
    ]
    with ModelServer(replies) as server, client(server) as sdk:

        def said(text: str, **options: Any) -> str | None:
            return ask(sdk, text, **options).choices[0].message.content

        assert said("Somebody else") == "anything else"
        assert said("About Ottilie Grau.") == "short"
        assert said("It is known:\n  Ottilie Grau designed\n  the Tidewater Theatre.") == "long"  # white space counts as one space
        assert said("Ottilie Grau, mended") == "both"
        assert said("xOttilie Graux") == "short"
        assert said("Ottilie Grau", response_format=schema("mend")) == "of its stage"
        assert said("Mrs Grau's") == "part of a word"
        messages: Any = [{"role": r, "content": c} for r, c in (("user", "Ottilie Grau"), ("assistant", "?"), ("user", "This is not valid: mended"))]
        assert sdk.chat.completions.create(model="any", messages=messages).choices[0].message.content == "both"  # a repair: all user messages are looked at


def test_a_key_is_a_whole_marked_part() -> None:
    replies = [
        {"when": {"contains": ["The lamp. The tower fell."]}, "reply": "text"},
        {"when": {"key": "The tower fell."}, "reply": "second"},
        {"when": {"key": "The lamp."}, "reply": "first"},
    ]
    with ModelServer(replies) as server, client(server) as sdk:
        for said, reply in (
            ("Context: The lamp. The tower fell.\n<passage>\nThe lamp.\n</passage>", "first"),
            ('Context: The lamp. The tower fell.\n<passage title="x">The tower\nfell.</passage>', "second"),
            ("<<<context 1f\nThe tower\n\ncontext 1f>>>\n\n<<<passage 2e\nThe lamp.\npassage 2e>>>", "first"),
            ("The lamp. The tower fell.", "text"),
        ):
            assert ask(sdk, said).choices[0].message.content == reply


def test_thousands_of_lines_are_looked_up_by_a_word() -> None:
    number = 3000
    replies = [{"when": {"contains": [f"the passage about thing{i} and no other"]}, "reply": f"reply {i}"} for i in range(number)]
    with ModelServer(replies) as server, client(server) as sdk:
        for i in (0, 1, 1234, number - 1):
            assert ask(sdk, f"Read the passage about thing{i} and no other, please").choices[0].message.content == f"reply {i}"
        script = server._script
        assert script._others == []
        assert max(map(len, script._by_word.values())) == 1  # so that a request is compared with one line


def test_the_stage_comes_from_the_schema_or_our_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    assert calls.stage_of({"messages": [], "response_format": schema("plan")}) == "plan"
    monkeypatch.setattr(calls, "_prompts", lambda: {"extract": "Take the passage apart.", "mend": ""})
    system = {"role": "system", "content": "Take the passage apart.\nReply as this schema says: {}"}
    assert calls.stage_of({"messages": [system, {"role": "user", "content": "x"}]}) == "extract"
    assert calls.stage_of({"messages": [{"role": "user", "content": "Take the passage apart."}]}) == ""


def test_our_prompts_are_known_by_their_text() -> None:
    for name in calls._prompts():
        assert calls.stage_of({"messages": [{"role": "system", "content": prompt(name)}]}) == name


def test_replies_from_a_file_and_what_is_wrong_in_one(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    lines = [
        {"when": {"contains": "cut"}, "reply": "Par", "finish_reason": "length", "usage": {"completion_tokens": 1}},
        {"when": {"contains": ["no"]}, "refusal": "I will not."},
        {"fault": {"kind": "server_error", "contains": ["bad luck"]}},
    ]
    file.write_text("\n\n".join(map(json.dumps, lines)), encoding="utf-8")
    with ModelServer(file) as server, client(server) as sdk:
        cut = ask(sdk, "cut")
        assert (cut.choices[0].finish_reason, cut.usage.completion_tokens, cut.usage.prompt_tokens) == ("length", 1, 8)
        assert ask(sdk, "no").choices[0].message.refusal == "I will not."
        with pytest.raises(openai.InternalServerError):
            ask(sdk, "cut, bad luck")
    for text, what in (
        ('{"reply": 1}\n{"reply"', "replies.jsonl:2: this is no JSON"),
        ('{"when": {"contain": ["x"]}, "reply": 1}', "replies.jsonl:1: nothing is known of 'contain'"),
        ('{"when": {}}', "replies.jsonl:1: a line is an object"),
        ('{"when": {"contains": [7]}, "reply": 1}', "`contains` a list of texts"),
        ('{"fault": {"kind": "flood"}}', "'flood' is no fault"),
        ('{"fault": {"kind": "empty", "often": 1}}', "a fault has no 'often'"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=what):
            ModelServer(file)
    with pytest.raises(InputError, match="cannot be read"):
        ModelServer(tmp_path / "none.jsonl")


def test_a_function_replies() -> None:
    def reply(body: dict[str, Any]) -> Reply | str | dict[str, Any] | None:
        said = body["messages"][-1]["content"]
        known: dict[str, Reply | str | dict[str, Any]] = {"text": "yes", "json": TOWN, "reply": Reply("no", usage={"prompt_tokens": 7})}
        if said == "broken":
            raise RuntimeError("my own mistake")
        return known.get(said)

    with ModelServer(reply) as server, client(server) as sdk:
        assert ask(sdk, "text").choices[0].message.content == "yes"
        assert json.loads(ask(sdk, "json").choices[0].message.content) == TOWN
        assert ask(sdk, "reply").usage.prompt_tokens == 7
        with pytest.raises(openai.UnprocessableEntityError, match="No scripted reply answers this request: 'unknown'"):
            ask(sdk, "unknown")
        with pytest.raises(openai.UnprocessableEntityError) as refused:
            ask(sdk, "[1] Evidence. " * 50 + "\nQuestion: Who built the bridge that never saw a train?")
        assert "request: 'Question: Who built the bridge that never saw a train?'" in str(refused.value)
        assert "Evidence" not in str(refused.value), "the prompt is not repeated"
        with pytest.raises(openai.BadRequestError, match="my own mistake"):
            ask(sdk, "broken")
        assert server.count(status=422) == 2


def test_many_at_once_are_held_to_the_limit() -> None:
    working, most, lock = 0, 0, threading.Lock()

    def reply(body: dict[str, Any]) -> str:
        nonlocal working, most
        with lock:
            working += 1
            most = max(most, working)
        deadline = time.monotonic() + 20
        while (most < 8 or server.most_in_flight <= 8) and time.monotonic() < deadline:
            time.sleep(0.001)  # until as many work as may, and more wait
        with lock:
            working -= 1
        return body["messages"][0]["content"]

    with ModelServer(reply, limit=8) as server, client(server) as sdk, ThreadPoolExecutor(32) as pool:
        said = list(pool.map(lambda i: ask(sdk, f"call {i}").choices[0].message.content, range(96)))
        assert said == [f"call {i}" for i in range(96)]
        assert most == 8
        assert 8 < server.most_in_flight <= 32
        assert (server.in_flight, server.count(), server.count(status=200)) == (0, 96, 96)


def test_over_the_limit_a_call_may_be_refused() -> None:
    free = threading.Event()
    with ModelServer(lambda body: str(free.wait(10)), limit=1, over_limit="refuse") as server, client(server) as sdk, ThreadPoolExecutor(1) as pool:
        first = pool.submit(ask, sdk, "one")
        until(lambda: server.in_flight)
        with pytest.raises(openai.RateLimitError) as refused:
            ask(sdk, "two")
        assert refused.value.response.headers["Retry-After"] == "1"
        free.set()
        assert first.result().choices[0].message.content == "True"


def test_calls_are_kept_as_they_came_and_no_key_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="gsw_graph.testing")
    with ModelServer([{"reply": "x"}], keep=2) as server, client(server) as sdk:
        for said in ("a", "b", "b"):
            ask(sdk, said, response_format=schema("extract"))
        kept = server.calls
        assert [(call.number, call.stage, call.said, call.attempt, call.status, call.fault) for call in kept] == [
            (2, "extract", "b", 1, 200, ""),
            (3, "extract", "b", 2, 200, ""),
        ]
        assert all(call.answered is not None and call.arrived <= call.answered for call in kept)
        assert (server.count(), server.count(stage="extract"), server.count(stage="mend")) == (3, 3, 0)
        assert KEY not in repr(kept)
    assert "chat/completions" in caplog.text
    assert KEY not in caplog.text


def test_the_delay_and_an_end_that_cuts_it_short() -> None:
    with ModelServer([{"reply": "x"}], delay=0.2) as server, client(server) as sdk:
        start = time.monotonic()
        ask(sdk, "x")
        assert time.monotonic() - start >= 0.2
    with ThreadPoolExecutor(1) as pool, ModelServer([{"reply": "x"}], delay=600) as server:
        waiting = pool.submit(post, server, "/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "x"}]})
        until(lambda: server.in_flight)
        server.__exit__(None, None, None)
        assert waiting.exception(10) is None or isinstance(waiting.exception(), httpx.TransportError)  # ten seconds, not six hundred


def test_what_no_client_should_send() -> None:
    with ModelServer([{"reply": "x"}]) as server:
        assert post(server, "/completions", {}).json()["error"]["code"] == "unknown_url"
        assert post(server, "/chat/completions", {"messages": []}).status_code == 400
        assert post(server, "/chat/completions", {"model": "m", "messages": "x"}).status_code == 400
        bad = httpx.post(f"{server.url}/chat/completions", content=b"[1", trust_env=False)
        assert (bad.status_code, bad.json()["error"]["message"]) == (400, "We could not parse the JSON body of your request.")
        assert httpx.get(f"{server.url}/chat/completions", trust_env=False).status_code == 405
        assert httpx.post(f"{server.url}/models", content=iter([b"{}"]), trust_env=False).status_code == 411
        with socket.create_connection(("127.0.0.1", int(server.url.split(":")[2].split("/")[0]))) as raw:
            raw.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")  # and goes away
        assert post(server, "/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "x"}]}).status_code == 200


def test_a_port_that_is_taken_and_one_that_is_free_again() -> None:
    with ModelServer() as server:
        port = int(server.url.split(":")[2].split("/")[0])
        with pytest.raises(InputError, match=f"the port {port} cannot be used"), ModelServer(port=port):
            pass
    with ModelServer([{"reply": "x"}], port=port) as server, client(server) as sdk:  # at once: a server that was away and came back
        assert ask(sdk, "x").choices[0].message.content == "x"
