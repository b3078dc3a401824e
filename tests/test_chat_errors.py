"""What becomes of each refusal and each useless reply: asked again, given up, or the end."""

from __future__ import annotations

import json
import time
import traceback

import pytest
from model_server import KEY, SCHEMA, RawServer, error, ok

from gsw_graph.config import Settings
from gsw_graph.errors import InputError, InvalidReplyError, ModelError, ModelUnavailableError
from gsw_graph.models.chat import chat as chat_calls
from gsw_graph.models.chat.chat import Chat, Request
from gsw_graph.models.chat.transport import RefusedError

ASKED = Request(
    "extract",
    ({"role": "system", "content": "be brief"}, {"role": "user", "content": "the passage"}),
    SCHEMA,
    "a.txt",
)
LONG = Request("extract", ({"role": "user", "content": "some words of a passage " * 200},), SCHEMA, "a.txt")
COUNTED = {"prompt_tokens": 20, "completion_tokens": 5}


def number(value):
    if not isinstance(value, dict) or type(value.get("a")) is not int:
        raise ValueError("`a` is no whole number")
    return int(value["a"])


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(chat_calls, "BACKOFF", 0.001)


def asked(answer, folder, request=ASKED, **settings):
    """What comes of one request; the server and the chat are closed."""
    with RawServer(answer) as server, Chat.open(server.settings(folder, **settings)) as chat:
        try:
            return chat.ask(request, number).value, server, chat
        except ModelError as caught:
            return caught, server, chat


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (
            error(401, f"Incorrect API key provided: {KEY}", "invalid_api_key"),
            ModelUnavailableError,
            "refused the key.*GSWGRAPH_LLM_KEY",
        ),
        (error(403, "You are not allowed to use this model"), ModelUnavailableError, "GSWGRAPH_LLM_KEY"),
        (
            error(404, "The model `m` does not exist", "model_not_found"),
            ModelUnavailableError,
            "does not exist.*GSWGRAPH_LLM ",
        ),
        ((405, {}, "{}"), ModelUnavailableError, "GSWGRAPH_LLM_URL"),
        ((307, {"Location": "https://example.org/v1"}, ""), ModelUnavailableError, "307.*GSWGRAPH_LLM_URL"),
        (
            (200, {"Content-Type": "text/html"}, "<html>a router</html>"),
            ModelUnavailableError,
            "no chat server.*GSWGRAPH_LLM_URL",
        ),
        (error(400, "m is not a valid model ID"), ModelUnavailableError, "valid model"),
        (error(402, "Insufficient Balance"), ModelUnavailableError, "no credit.*billing"),
        (error(429, "You exceeded your current quota", "insufficient_quota"), ModelUnavailableError, "no credit"),
        (
            error(429, "Rate limit reached: Limit 200 requests per day (RPD)"),
            ModelUnavailableError,
            "limit of the day",
        ),
        (error(429, "Too many", headers={"Retry-After": "7200"}), ModelUnavailableError, "pause of 120 minutes"),
        (
            error(400, "This model's maximum context length is 8192 tokens", "context_length_exceeded"),
            InvalidReplyError,
            "longer than the model.*OLLAMA_CONTEXT_LENGTH",
        ),
        (error(429, "Request too large for m: Limit 1000, Requested 2000"), InvalidReplyError, "smaller passages"),
        (error(413, "Payload Too Large"), InvalidReplyError, "smaller passages"),
        (error(400, "The response was filtered", "content_filter"), InvalidReplyError, "refused the content"),
        (error(400, "Something is odd"), RefusedError, "400: Something is odd"),
        (ok({"a": 1}, finish="length", usage=COUNTED), InvalidReplyError, "cut off after 5 tokens.*max_tokens"),
        (ok("", finish="content_filter"), InvalidReplyError, "content filter"),
        (ok("", refusal=f"I can't help with {KEY}"), InvalidReplyError, "refused: I can't"),
    ],
)
def test_final_at_once_and_the_key_is_never_shown(answer, kind, said, tmp_path, caplog):
    with caplog.at_level("DEBUG", "gsw_graph"):
        came, server, _ = asked(lambda *_: answer, tmp_path)
    assert type(came) is kind
    assert len(server.bodies) == 1
    with pytest.raises(kind, match=said):
        raise came  # type: ignore[misc]
    assert KEY not in "".join(traceback.format_exception(came)) + caplog.text  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fault",
    [
        error(429, "Too many requests"),
        error(500, "oops"),
        error(503, "overloaded"),
        (502, {"Content-Type": "text/html"}, "<html>bad gateway</html>"),
        (200, {}, '{"choices": [{"mess'),
        (200, {}, '{"error": {"message": "upstream is away"}}'),
        (200, {}, '{"choices": []}'),
        (200, {}, "null"),
        (200, {"Content-Length": "1000"}, "{"),
        ok(""),
    ],
)
def test_asked_again(fault, tmp_path):
    came, server, _ = asked(lambda call, _: fault if call == 1 else ok({"a": 7}), tmp_path, llm_timeout=3)
    assert came == 7
    assert len(server.bodies) == 2


def test_six_tries_then_this_one_is_given_up(tmp_path):
    with (
        RawServer(lambda call, _: error(503, "oops") if call <= 8 else ok({"a": 1})) as server,
        Chat.open(server.settings(tmp_path)) as chat,
    ):
        with pytest.raises(InvalidReplyError, match="no reply after 6 tries: the server answered 503: oops"):
            chat.ask(ASKED, number)
        assert chat.ledger.total().calls == 6
        assert chat.ledger.total().failed == 6
        assert chat.ask(ASKED, number).value == 1


def test_all_wait_as_long_as_the_server_asks(tmp_path):
    times = []

    def answer(call, _):
        times.append(time.monotonic())
        if call == 1:
            return error(429, "slow down", headers={"Retry-After": "0.5"})
        return ok({"a": call})

    with RawServer(answer) as server, Chat.open(server.settings(tmp_path)) as chat:
        assert chat.ask(ASKED, number).value == 2
    assert times[1] - times[0] >= 0.45


def test_a_server_that_is_not_there(tmp_path):
    settings = Settings(llm="m", llm_url="http://127.0.0.1:1/v1", cache_dir=tmp_path)
    with Chat.open(settings) as chat:
        with pytest.raises(
            ModelUnavailableError, match=r"gives no replies: it cannot be reached.*See that it runs"
        ) as first:
            chat.ask(ASKED, number)
        with pytest.raises(ModelUnavailableError, match="gives no replies") as second:  # and nobody tries any more
            chat.ask(LONG, number)
        assert second.value is not first.value
        assert chat.ledger.rows() == []  # nothing reached it


def test_a_server_that_goes_away(tmp_path):
    with (
        RawServer(lambda call, _: ok({"a": 1}) if call == 1 else error(500, "oops")) as server,
        Chat.open(server.settings(tmp_path, concurrency=2)) as chat,
    ):
        chat.ask(ASKED, number)
        came = []
        for text in range(20):
            try:
                chat.ask(Request("plan", ({"role": "user", "content": str(text)},), SCHEMA), number)
            except ModelError as caught:
                came.append(type(caught))
        assert came == [InvalidReplyError] * 5 + [ModelUnavailableError] * 15
        assert len(server.bodies) == 1 + 6 * 6


REFUSALS = (
    error(400, "Something is odd"),
    error(413, "payload"),
    error(422, "unprocessable"),
    error(400, "maximum context length"),
    error(400, "flagged"),
)


def plan(text):
    return Request("plan", ({"role": "user", "content": f"passage {text}."},), SCHEMA)


def came_of(chat, texts):
    """What becomes of each request: the class of its error, or that of the value."""
    found = []
    for text in texts:
        try:
            found.append(type(chat.ask(plan(text), number).value))
        except ModelError as caught:
            found.append(type(caught))
    return found


@pytest.mark.parametrize("refusal", REFUSALS)
def test_refused_requests_do_not_stop_the_others(refusal, tmp_path):
    def answer(_, body):
        if "bad" in body["messages"][0]["content"]:
            return refusal
        return ok({"a": 1})

    texts = ["good", *(f"bad {at}" for at in range(20)), "good too"]
    with RawServer(answer) as server:
        with Chat.open(server.settings(tmp_path, concurrency=1)) as chat:
            came = came_of(chat, texts)
        assert came[0] is int
        assert came[-1] is int
        assert all(issubclass(kind, InvalidReplyError) for kind in came[1:-1])
        with Chat.open(
            server.settings(tmp_path, concurrency=1)
        ) as chat:  # what is good comes from the cache, so that all calls are refused
            again = came_of(chat, [*texts[1:], "the last"])
        assert again[-2] is int
        assert again[-1] is int
        assert all(issubclass(kind, InvalidReplyError) for kind in again[:-2])


def test_a_server_that_is_too_slow(tmp_path, monkeypatch):
    monkeypatch.setattr(chat_calls, "MAX_TRIES", 2)
    came, server, _ = asked(lambda *_: (time.sleep(2), ok({"a": 1}))[1], tmp_path, llm_timeout=0.3)
    assert isinstance(came, InvalidReplyError)
    assert "did not answer in time" in str(came)
    assert len(server.bodies) == 2


def test_a_context_that_is_too_small_is_noticed(tmp_path):
    came, *_ = asked(
        lambda *_: ok({"a": 1}, usage={"prompt_tokens": 300, "completion_tokens": 5}), tmp_path, LONG
    )
    assert isinstance(came, InvalidReplyError)
    assert "read only 300 of about" in str(came)
    assert "OLLAMA_CONTEXT_LENGTH" in str(came)
    fine, *_ = asked(
        lambda *_: ok({"a": 1}, usage={"prompt_tokens": 900, "completion_tokens": 5}), tmp_path / "2", LONG
    )
    assert fine == 1
    uncounted, *_ = asked(
        lambda *_: ok({"a": 1}, usage={"prompt_tokens": 0, "completion_tokens": 0}), tmp_path / "3", LONG
    )
    assert uncounted == 1  # a server that does not count says nothing


def test_settings_that_cannot_work(tmp_path):
    for settings, kind, said in (
        (Settings(), InputError, "GSWGRAPH_LLM.*GSWGRAPH_LLM_URL.*OPENAI_API_KEY"),
        (Settings(llm_key=KEY), InputError, "no language model is set.*GSWGRAPH_LLM,"),
        (Settings(llm_url="http://10.0.0.7:8000/v1"), InputError, "no language model is set.*GSWGRAPH_LLM,"),
        (Settings(llm="gpt-4.1-mini"), InputError, "needs a key"),
        (
            Settings(llm="m", llm_url="http://example.org/v1", llm_key=KEY),
            ModelError,
            "the key would travel unencrypted",
        ),
        (Settings(llm="m", llm_url="ftp://example.org/v1"), ModelError, "GSWGRAPH_LLM_URL"),
        (Settings(llm="m", llm_url="https://me:hidden@example.org/v1"), ModelError, "GSWGRAPH_LLM_KEY"),
    ):
        with pytest.raises(kind, match=said) as caught:
            Chat.open(settings)
        assert KEY not in str(caught.value)
        assert "hidden" not in str(caught.value)
    with Chat.open(Settings(llm="gpt-4.1-mini", llm_key=KEY, cache_dir=tmp_path)) as chat:
        assert chat.dollars(1_000_000, 0) == 0.4


JINJA = "Error rendering prompt with jinja template: System role not supported"


@pytest.mark.parametrize(
    ("refused", "status", "message"),
    [
        *(
            ("system", status, message)
            for status, message in (
                (400, "System role not supported"),
                (500, JINJA),
                (422, "Unexpected role 'system'"),
            )
        ),
        ("system", 400, "Unsupported value: 'messages[0].role' does not support 'system' with this model."),
        ("system", 400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        ("system", 400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
        *(
            ("response_format", status, "response_format is not supported")
            for status in (400, 404, 422, 500, 501)
        ),
        ("response_format", 404, "No endpoints found that can handle the requested parameters."),
        ("response_format", 500, "Internal Server Error"),
        *((name, 400, f"{name} is not supported") for name in ("temperature", "max_tokens")),
    ],
)
def test_what_a_server_refuses_is_left_out_from_then_on(refused, status, message, tmp_path):
    def answer(_, body):
        sent = refused in body or (refused == "system" and body["messages"][0]["role"] == "system")
        if sent:
            return error(status, message)
        return ok({"a": 7})

    with RawServer(answer) as server, Chat.open(server.settings(tmp_path)) as chat:
        assert chat.ask(ASKED, number).value == 7
        first = len(server.bodies)
        assert chat.ask(LONG, number).value == 7
        assert len(server.bodies) == first + 1
    said = server.bodies[first - 1]["messages"]
    assert "be brief" in json.dumps(said)
    assert "the passage" in said[-1]["content"]


def test_case_24_a_server_without_a_system_role_gets_the_instructions_with_the_question(tmp_path):
    """As vLLM answers for Gemma; from then on nothing is refused again."""

    def answer(_, body):
        if body["messages"][0]["role"] == "system":
            return (
                400,
                {},
                json.dumps(
                    {
                        "object": "error",
                        "message": "System role not supported",
                        "type": "BadRequestError",
                        "code": 400,
                    }
                ),
            )
        return ok({"a": 7})

    with RawServer(answer) as server, Chat.open(server.settings(tmp_path)) as chat:
        assert chat.ask(ASKED, number).value == 7
        other = Request(
            "extract", (ASKED.messages[0], {"role": "user", "content": "another passage"}), SCHEMA, "a.txt"
        )
        assert chat.ask(other, number).value == 7
    assert [body["messages"][0]["role"] for body in server.bodies] == ["system", "user", "user"]
    assert "be brief" in server.bodies[1]["messages"][0]["content"]
    assert "the passage" in server.bodies[1]["messages"][0]["content"]
