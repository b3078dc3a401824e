"""The model server for tests: every fault as the openai SDK sees it, by share, by number and by content, and servers that know less."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import openai
import pytest
from model_clients import SCHEMA, ask, client, schema

from gsw_graph.errors import InputError
from gsw_graph.testing import Fault, ModelServer
from gsw_graph.testing.faults import KINDS, MIX

REPLY = {"entities": [{"name": "Ada Quill", "roles": ["engineer"]}], "propositions": ["Ada Quill built it."]}
TEXT = json.dumps(REPLY)


def served(kind: str, **options: Any) -> ModelServer:
    return ModelServer([{"reply": REPLY}], faults=[Fault(kind, **options)])


@pytest.mark.parametrize(
    ("kind", "error", "status", "code"),
    [
        ("rate_limit", openai.RateLimitError, 429, "rate_limit_exceeded"),
        ("quota", openai.RateLimitError, 429, "insufficient_quota"),
        ("key", openai.AuthenticationError, 401, "invalid_api_key"),
        ("context", openai.BadRequestError, 400, "context_length_exceeded"),
        ("server_error", openai.InternalServerError, 500, None),
        ("overloaded", openai.InternalServerError, 503, None),
    ],
)
def test_faults_that_are_errors(kind: str, error: type[openai.APIStatusError], status: int, code: str | None) -> None:
    with served(kind, seconds=0.5) as server, client(server) as sdk:
        with pytest.raises(error) as raised:
            ask(sdk, "x")
        assert (raised.value.status_code, raised.value.code) == (status, code)
        assert raised.value.response.headers.get("Retry-After") == ("0.5" if kind == "rate_limit" else None)
        assert (server.count(status=status), server.count(fault=kind), server.fault_counts()) == (1, 1, {kind: 1})


@pytest.mark.parametrize(
    ("kind", "content", "reason", "refusal"),
    [
        ("length", TEXT[: len(TEXT) // 2], "length", None),
        ("invalid", TEXT[: len(TEXT) // 2], "stop", None),
        ("wrong_schema", '{"unexpected": [1, 2, 3]}', "stop", None),
        ("refusal", None, "stop", "I'm sorry, but I can't help with that."),
        ("content_filter", "", "content_filter", None),
        ("empty", "", "stop", None),
    ],
)
def test_faults_that_are_replies(kind: str, content: str | None, reason: str, refusal: str | None) -> None:
    with served(kind) as server, client(server) as sdk:
        choice = ask(sdk, "x", response_format=schema("extract")).choices[0]
        assert (choice.message.content, choice.finish_reason, choice.message.refusal) == (content, reason, refusal)
        chunks = [chunk.choices[0] for chunk in ask(sdk, "x", stream=True)]
        assert "".join(chunk.delta.content or "" for chunk in chunks) == (content or "")
        assert "".join(chunk.delta.refusal or "" for chunk in chunks) == (refusal or "")
        assert chunks[-1].finish_reason == reason


def test_no_fault_is_left_out() -> None:
    tested = {"rate_limit", "quota", "key", "context", "server_error", "overloaded", "length", "invalid", "wrong_schema", "refusal", "content_filter", "empty"}
    assert set(KINDS) == tested | {"hang", "close", "expired"}


def test_a_call_that_hangs_outlasts_the_client_or_ends_without_an_answer() -> None:
    with served("hang", seconds=60) as server, client(server, timeout=0.3) as sdk, pytest.raises(openai.APITimeoutError):
        ask(sdk, "x")
    with served("hang", seconds=0.1) as server, client(server) as sdk:
        start = time.monotonic()
        with pytest.raises(openai.APIConnectionError) as raised:
            ask(sdk, "x")
        assert not isinstance(raised.value, openai.APITimeoutError)
        assert time.monotonic() - start >= 0.1
        assert server.count(status=0) == 1


def test_a_connection_that_closes_also_in_the_middle_of_a_stream() -> None:
    with served("close") as server, client(server) as sdk:
        with pytest.raises(openai.APIConnectionError):
            ask(sdk, "x")
        said: list[str] = []
        with pytest.raises(Exception, match=r"closed|incomplete|Connection"):  # of the SDK or of its HTTP library, as the version may be
            said.extend(chunk.choices[0].delta.content or "" for chunk in ask(sdk, "x", stream=True))
        assert 0 < len("".join(said)) < len(TEXT)
        assert TEXT.startswith("".join(said))


def outcomes(faults: Any, texts: list[str]) -> list[str]:
    with ModelServer([{"reply": "x"}], faults=faults) as server, client(server) as sdk:
        for text in texts:
            with contextlib.suppress(openai.OpenAIError):
                ask(sdk, text)
        return [call.fault for call in server.calls]


def test_a_share_is_drawn_from_content_and_attempt_and_not_from_the_order() -> None:
    faults = [Fault("rate_limit", share=0.2, seconds=0), Fault("refusal", share=0.1)]
    texts = [f"text {i}" for i in range(200)]
    drawn = outcomes(faults, texts)
    assert dict(zip(texts, drawn, strict=True)) == dict(zip(reversed(texts), outcomes(faults, texts[::-1]), strict=True))
    assert 20 <= drawn.count("rate_limit") <= 60  # 40 are expected
    assert 8 <= drawn.count("refusal") <= 35  # 20 are expected, as the shares lie side by side
    again = outcomes(faults, [texts[0]] * 200)
    assert 30 <= sum(map(bool, again)) <= 90  # an attempt is drawn anew
    assert drawn != outcomes([Fault("rate_limit", share=0.2, seed=1), Fault("refusal", share=0.1, seed=1)], texts)


def test_a_share_alone_is_spread_over_all_usual_faults() -> None:
    with ModelServer([{"reply": REPLY}], faults=0.5) as server:
        assert [fault.kind for fault in server.faults] == list(MIX)
        assert sum(fault.share for fault in server.faults) == pytest.approx(0.5)
        server.faults = ()
        with client(server) as sdk:
            assert all(json.loads(ask(sdk, f"{i}").choices[0].message.content) == REPLY for i in range(20))


def test_faults_by_number_attempt_stage_and_text() -> None:
    assert outcomes([Fault("empty", calls=(2, 4))], list("abcde")) == ["", "empty", "", "empty", ""]
    assert outcomes([Fault("server_error", attempts=2)], list("aaab")) == ["server_error", "server_error", "", "server_error"]
    assert outcomes([Fault("refusal", contains=("bad", "luck")), Fault("empty", contains=("bad",))], ["good", "bad luck", "bad"]) == ["", "refusal", "empty"]
    with ModelServer([{"reply": "x"}], faults=[Fault("empty", stage="mend")]) as server, client(server) as sdk:
        assert ask(sdk, "x", response_format=schema("mend")).choices[0].message.content == ""
        assert ask(sdk, "x", response_format=schema("extract")).choices[0].message.content == "x"


def test_faults_of_other_endpoints() -> None:
    faults = [Fault("overloaded", endpoint="embeddings", calls=(1,)), Fault("rate_limit", endpoint="batches", seconds=0), Fault("close", endpoint="models")]
    with ModelServer([{"reply": "x"}], faults=faults) as server, client(server) as sdk:
        with pytest.raises(openai.InternalServerError):
            sdk.embeddings.create(model="m", input="x")
        assert sdk.embeddings.create(model="m", input="x").data
        with pytest.raises(openai.RateLimitError):
            sdk.batches.list()
        with pytest.raises(openai.APIConnectionError):
            sdk.models.list()
        assert ask(sdk, "x").choices[0].message.content == "x"


def test_faults_that_cannot_be() -> None:
    for options, what in (
        ({"kind": "flood"}, "'flood' is no fault. The kinds are rate_limit"),
        ({"kind": "empty", "share": 1.5}, "does not lie between 0 and 1"),
        ({"kind": "empty", "endpoint": "rerank"}, "can strike chat only"),
        ({"kind": "key", "endpoint": "audio"}, "is no endpoint"),
    ):
        with pytest.raises(InputError) as raised:
            Fault(**options)
        assert what in str(raised.value)


@pytest.mark.parametrize(("accepts", "taken"), [("schema", 3), ("json", 2), ("plain", 1)])
def test_servers_that_know_less_of_response_formats(accepts: Any, taken: int) -> None:
    with ModelServer([{"reply": REPLY}], accepts=accepts) as server, client(server) as sdk:
        for number, asked in enumerate(({"type": "text"}, {"type": "json_object"}, schema("extract"))):
            if number < taken:
                assert json.loads(ask(sdk, "as json", response_format=asked).choices[0].message.content) == REPLY
            else:
                with pytest.raises(openai.BadRequestError, match=r"'response_format' of type .* is not supported") as raised:
                    ask(sdk, "as json", response_format=asked)
                assert raised.value.param == "response_format"
        if accepts != "plain":
            with pytest.raises(openai.BadRequestError, match="must contain the word 'json'"):
                ask(sdk, "no such word", response_format={"type": "json_object"})


def test_parameters_and_models_that_a_server_does_not_know() -> None:
    with ModelServer([{"reply": "x"}], refuses=["temperature"], models=["small", "large"]) as server, client(server) as sdk:
        messages: Any = [{"role": "user", "content": "x"}]
        with pytest.raises(openai.BadRequestError, match="Unsupported parameter: 'temperature'") as raised:
            sdk.chat.completions.create(model="small", messages=messages, temperature=0)
        assert (raised.value.param, raised.value.code) == ("temperature", "unsupported_parameter")
        assert sdk.chat.completions.create(model="small", messages=messages).model == "small"
        with pytest.raises(openai.NotFoundError) as unknown:
            sdk.chat.completions.create(model="other", messages=messages)
        assert unknown.value.code == "model_not_found"
        assert [model.id for model in sdk.models.list()] == ["small", "large"]


def test_schemas_that_openai_refuses_are_refused() -> None:
    open_object = {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]}
    inner = {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}, "required": [], "additionalProperties": False}}
    wrong = [
        (open_object, "'additionalProperties' is required"),
        ({**SCHEMA, "properties": {"town": inner}}, r"In context=\('properties', 'town', 'items'\), 'required' is required"),
        ({**SCHEMA, "properties": {"town": {"type": "string", "default": "x"}}}, "'default' is not permitted"),
        ({**SCHEMA, "properties": {"town": {"type": "array"}}}, "array schema missing items"),
        ({**SCHEMA, "properties": {"town": {"anyOf": [{"type": "null"}, open_object]}}}, "'additionalProperties' is required"),
        ({**SCHEMA, "$defs": {"open": open_object}}, "'additionalProperties' is required"),
        ({"type": "array", "items": SCHEMA}, "must have type 'object'"),
    ]
    with ModelServer([{"reply": "x"}]) as server, client(server) as sdk:
        for of, what in wrong:
            with pytest.raises(openai.BadRequestError, match=what):
                ask(sdk, "x", response_format=schema("extract", of))
            assert ask(sdk, "x", response_format=schema("extract", of, strict=False)).choices
        with pytest.raises(openai.BadRequestError, match="name"):
            ask(sdk, "x", response_format=schema("two words"))
        assert ask(sdk, "x", response_format=schema("extract", {**SCHEMA, "properties": {"town": {"type": ["string", "null"]}}})).choices
