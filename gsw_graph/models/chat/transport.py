"""One call to an OpenAI-compatible server. What the server refuses is learned, and left out from then on."""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from gsw_graph.concurrency import Check, never_cancelled
from gsw_graph.errors import GswGraphError, InvalidReplyError, ModelError, ModelUnavailableError
from gsw_graph.models.chat.pieces import Pieces, counts_of, json_values
from gsw_graph.models.chat.request import OnText
from gsw_graph.models.endpoint import Endpoint, retry_after
from gsw_graph.text.words import without_surrogates
from gsw_graph.values import Fields

log = logging.getLogger(__name__)

OPENAI = "https://api.openai.com/v1"
LONGEST_PAUSE = 300.0  # seconds that a server may ask for; beyond that a load is better run again later

SLOW_HINT = "Give it more time by GSWGRAPH_LLM_TIMEOUT, or fewer calls at once by GSWGRAPH_CONCURRENCY"
KEPT_HINT = "What is paid for is kept; the same command goes on later"
KEY_HINT = "Check GSWGRAPH_LLM_KEY (or OPENAI_API_KEY)"
URL_HINT = "Check GSWGRAPH_LLM_URL (or OPENAI_BASE_URL), such as https://host/v1"
MODEL_HINT = "Check the model in GSWGRAPH_LLM (or OPENAI_MODEL), and its server in GSWGRAPH_LLM_URL"
CONTEXT_HINT = (
    "Load in smaller passages, or give the server a larger context (Ollama: OLLAMA_CONTEXT_LENGTH, or "
    "num_ctx in a Modelfile; vLLM: --max-model-len)"
)

_CONTEXT = re.compile(
    r"context[ _]?(length|window|size)|maximum context|too many tokens|(prompt|input) is too long"
    r"|exceeds? the available context",
    re.IGNORECASE,
)
_TOO_LARGE = re.compile(r"request too large|payload too large", re.IGNORECASE)
_DAILY = re.compile(r"per[ _-]?day|daily|\b[RT]PD\b", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model_not_found|model.{0,80}(not found|not exist|no such|not loaded)"
    r"|(no such|unknown|invalid|not a valid) model",
    re.IGNORECASE,
)
_FLAGGED = re.compile(r"moderation|flagged|content[ _](filter|policy|management)", re.IGNORECASE)
_NO_MONEY = re.compile(
    "insufficient_quota|billing_hard_limit_reached|billing_not_active|insufficient_balance"
)
_UNREACHED = ("ConnectError", "ConnectTimeout", "ProxyError")  # exceptions of the SDK's HTTP library
# What a server says of a part of a request that it does not take, in the order of the check.
_REFUSALS = {
    "max_tokens": re.compile("max_tokens|max_completion_tokens|max_new_tokens|in the completion"),
    "context": _CONTEXT,  # nothing to leave out
    "temperature": re.compile("temperature"),
    "bounds": re.compile("maxitems|maxlength|repetition|grammar"),
    "stream_options": re.compile("stream_options"),
    "response_format": re.compile(
        "response.?format|schema|json_object|json mode|grammar|structured output|guided"
    ),
    "system": re.compile(
        r"system\W{0,3} ?(role|message|prompt|instruction)|role\b.{0,40}\bsystem|only user\b.{0,40}\brole"
        r"|roles must alternate|developer instruction|(unexpected|invalid|unsupported) role"
    ),
}

Messages = Sequence[Mapping[str, str]]
Schema = Mapping[str, Any] | None  # of a reply; None for a text
Body = Fields


@dataclass(frozen=True, slots=True)
class RawReply:
    """A reply as the server gave it.

    Attributes:
        finish: Why it ended, in the server's words.
        refusal: The model's own words for not answering.
        prompt_tokens: 0 if the server does not count.
        thinking: Some of it are thoughts, in the text or beside it.
        seconds: That the call took.
    """

    text: str
    finish: str = "stop"
    refusal: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    thinking: bool = False
    seconds: float = 0.0


@dataclass(eq=False)
class RetryableError(Exception):
    """A call that may succeed the next time.

    Attributes:
        message: What happened.
        retry_after: Seconds that the server asks for.
        busy: It has too many requests.
        unreached: Nothing was sent.
        timed_out: It was silent for too long.
        hint: The next step.
    """

    message: str
    retry_after: float = 0.0
    busy: bool = False
    unreached: bool = False
    timed_out: bool = False
    hint: str = f"See that it runs. {URL_HINT}"

    def __post_init__(self) -> None:
        if self.timed_out:
            self.hint = SLOW_HINT


class RefusedError(InvalidReplyError):
    """A refusal that names nothing wrong with this request: the server may refuse every other as well."""


class Transport:
    """A server that is asked for one model; safe for many threads. Nothing is imported before the first
    call."""

    def __init__(
        self, endpoint: Endpoint, model: str, timeout: float, options: Mapping[str, Any] | None = None
    ) -> None:
        self.endpoint = endpoint
        self.model = model
        self.options = dict(options or {})
        self._timeout = timeout
        self._lock = threading.Lock()
        self._client: Any = None
        self._left_out: set[str] = set()
        self._format = 0  # of a reply with a schema: by the schema, as JSON, as text
        self._format_accepted = False
        self._schema_in_prompt = False

    def body(self, messages: Messages, schema: Schema, name: str, limit: int = 0) -> Body:
        """Return the request as it goes to the server.

        Args:
            messages: What is asked.
            schema: Of the reply; None for a text.
            name: Of the schema.
            limit: Most tokens of the reply; 0 for none.
        """
        sent = [{**message, "content": without_surrogates(message["content"])} for message in messages]
        options = {"temperature": 0, "max_tokens": limit, **self.options}
        extra = options.pop("extra_body", {})
        body = {"model": self.model, **extra, **options}
        if schema is not None:
            if "bounds" in self._left_out:
                schema = _without_bounds(schema)
            if self._format == 0:
                form = {"name": name, "schema": schema, "strict": True}
                body["response_format"] = {"type": "json_schema", "json_schema": form}
            elif self._format == 1:
                body["response_format"] = {"type": "json_object"}
            if self._format or self._schema_in_prompt:
                sent = _with_schema(sent, schema)
        if "system" in self._left_out and sent[0]["role"] == "system" and len(sent) > 1:
            system = sent.pop(0)["content"]
            sent[0]["content"] = f"{system}\n\n{sent[0]['content']}"
        if not body["max_tokens"]:
            del body["max_tokens"]
        for left_out in self._left_out & body.keys():
            del body[left_out]
        return {**body, "messages": sent}

    def put_schema_in_prompt(self) -> None:
        """Put the schema into the messages from now on: the server takes it and does not keep to it."""
        self._schema_in_prompt = True

    def drop_token_limit(self) -> bool:
        """Send no limit of the reply from now on, as thoughts count too; False if that was so."""
        with self._lock:
            dropped = "max_tokens" not in self._left_out
            self._left_out.add("max_tokens")
        return dropped

    def send(
        self,
        messages: Messages,
        schema: Schema,
        name: str,
        *,
        on_text: OnText = None,
        limit: int = 0,
        attempt: int = 1,
        check: Check = never_cancelled,
    ) -> RawReply:
        """Return the server's reply; see `body` and, of `on_text`, `Chat.ask`.

        Raises:
            RetryableError: It may succeed the next time.
            InvalidReplyError: The server refuses this request.
            ModelUnavailableError: It refuses every request.
        """
        import openai

        tried = self._format
        while True:
            body = self.body(messages, schema, name, limit)
            try:
                reply = self._request(body, on_text, check)
            except openai.APIStatusError as error:
                fields = _error_fields(error)
                if fields.get("code") == "json_validate_failed":  # Groq: the reply is there, and no JSON
                    return RawReply(without_surrogates(fields.get("failed_generation", "")))
                if self._learn(error.status_code, fields, body, attempt):
                    continue
                if not self._format_accepted:
                    self._format = tried
                raise to_error(error, self.endpoint) from None  # some servers repeat the key
            except openai.OpenAIError as error:
                raise to_error(error, self.endpoint) from None
            if "response_format" in body:
                self._format_accepted = True
            return reply

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None

    def _learn(self, status: int, fields: dict[str, str], body: Body, attempt: int) -> bool:
        """Return whether something can be left out of the request, which it is from now on."""
        text = f"{fields['message']} {fields.get('code')} {fields.get('param')}".lower()
        if status not in (400, 404, 422, 500, 501) or _NO_MODEL.search(text):
            return False
        with_format = "response_format" in body
        sent = {*body, "context", "stream_options"}
        sent.update(message["role"] for message in body["messages"])
        if with_format:
            sent.add("bounds")
        refused = ""
        for name, words in _REFUSALS.items():
            if name in sent - self._left_out and words.search(text):
                refused = name
                break
        # Some servers fail without a word on a format that they do not know. Others fail for a moment.
        is_suspect = with_format and not self._format_accepted
        if not refused and is_suspect and (status == 404 or (status >= 500 and attempt == 2)):
            refused = "response_format"
        if refused in ("", "context"):
            return False
        with self._lock:
            if refused == "response_format":
                has_schema = body["response_format"]["type"] == "json_schema"
                # Another thread may have learned the same.
                self._format = max(self._format, 1 if has_schema else 2)
            else:
                self._left_out.add(refused)
        log.info(
            "%s refuses %s, left out from now on: %s", self.endpoint.host, refused, fields["message"][:200]
        )
        return True

    def _request(self, body: Body, on_text: OnText, check: Check) -> RawReply:
        """Return the reply to one request. It is asked for in pieces if somebody listens, and read in
        whichever form it comes.

        Raises:
            RetryableError: It may succeed the next time.
            InvalidReplyError: It broke off after something was shown: a second reply after half of the first
                would be none.
            ModelUnavailableError: No chat server answers there.
        """
        deadline = time.monotonic() + self._timeout
        reply = Pieces()
        with closing(self._received(body, reply, stream=on_text is not None)) as received:
            for new in received:
                check()
                if on_text is None:
                    continue
                if new:
                    on_text(new)
                if time.monotonic() > deadline:
                    raise self._broken(reply, _late())
        if reply.is_cut:
            raise self._broken_off("the reply broke off in the middle")
        return _whole(reply)

    def _received(self, body: Body, reply: Pieces, *, stream: bool) -> Generator[str, None, None]:
        """Yield the text as it comes, also "", and put it into `reply`. Raises as `_request`."""
        # As extra_body all goes as it is; else the SDK walks through the schema for each call, and refuses
        # names that it does not know.
        extra = dict(body)
        arguments = {"model": extra.pop("model"), "messages": extra.pop("messages"), "extra_body": extra}
        if stream:
            arguments["stream"] = True
            if "stream_options" not in self._left_out:
                extra["stream_options"] = {"include_usage": True}
        content_type = ""
        create = self.client().chat.completions.with_streaming_response.create
        try:
            with create(**arguments) as response:
                content_type = response.headers.get("content-type", "")
                for value in json_values(response.iter_bytes()):
                    yield reply.add(value)
        except Exception as error:
            failure = self._failure(error, content_type)
            if stream:
                failure = self._broken(reply, failure)
            if failure is error:
                raise
            raise failure from error

    def _broken(self, reply: Pieces, failure: Exception) -> Exception:
        """Return what to raise if a reply that is shown as it comes breaks off."""
        return self._broken_off("the connection broke in the middle of the reply") if reply.text else failure

    def _broken_off(self, message: str) -> InvalidReplyError:
        return InvalidReplyError(message, where=self.endpoint.host, hint="Ask again")

    def _failure(self, error: Exception, content_type: str) -> Exception:
        """Return what to raise for an error while a reply comes."""
        if isinstance(error, TypeError):  # of `Pieces.add`
            return _unusable(error, self.endpoint)
        if isinstance(error, ValueError):  # of `json_values`
            if "json" in content_type or "event-stream" in content_type:
                return RetryableError(f"its answer is no JSON ({self.endpoint.short(str(error))})")
            message = "what answers there is no chat server"
            return ModelUnavailableError(message, where=self.endpoint.host, hint=URL_HINT)
        kind = type(error)
        if kind.__name__ == "ReadTimeout":  # of the SDK's HTTP library, which it does not wrap
            return _late()
        if kind.__module__.startswith("http"):
            return RetryableError(
                f"the connection broke ({self.endpoint.short(str(error) or kind.__name__)})"
            )
        return error

    def client(self) -> Any:
        """Return the SDK's client. It tries nothing twice: `Chat` does, and counts each try in the ledger."""
        with self._lock:
            try:
                self._client = self._client or self.endpoint.client(self._timeout, retries=0)
            except ModelError as error:  # what the environment sets: no request can be sent
                raise ModelUnavailableError(error.message, where=error.where, hint=error.hint) from error
            return self._client


def to_error(error: Exception, endpoint: Endpoint) -> RetryableError | GswGraphError:
    """Return what to raise for an error of the SDK."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return _of_status(error, endpoint)
    cause = type(error.__cause__).__name__
    reason = endpoint.short(str(error.__cause__ or error) or cause)
    if cause in _UNREACHED:
        message, hint = endpoint.unreached(reason)
        if hint == URL_HINT:
            hint = f"See that it runs. {hint}"
        return RetryableError(f"it {message}", unreached=True, hint=hint)
    if isinstance(error, openai.APITimeoutError):
        return _late()
    return RetryableError(f"the connection broke ({reason})")


def read_completion(data: Any, endpoint: Endpoint) -> RawReply:
    """Read a chat completion. Raises RetryableError if it is none."""
    reply = Pieces()
    try:
        reply.add(data)
    except TypeError as error:
        raise _unusable(error, endpoint) from error
    return _whole(reply)


def _whole(reply: Pieces) -> RawReply:
    """Return a reply that came whole. Raises RetryableError if there is none."""
    if not reply.found:
        raise RetryableError("its answer cannot be used (there is no message in it)")
    counts = counts_of(reply.usage)
    return RawReply(reply.text, reply.finish, reply.refusal, *counts, thinking=reply.thinking)


def _unusable(error: TypeError, endpoint: Endpoint) -> RetryableError:
    return RetryableError(f"its answer cannot be used ({endpoint.short(str(error))})")


def _late() -> RetryableError:
    return RetryableError("it did not answer in time", timed_out=True)


def _error_fields(error: Any) -> dict[str, str]:
    """Return what the server says is wrong, as texts: message, code, type and param."""
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error")
    if isinstance(inner, dict):
        body = inner
    elif isinstance(inner, str):
        body = {"message": inner, **body}
    fields = {"message": str(body.get("detail") or error.body or error.message)}
    for name in ("message", "code", "type", "param", "failed_generation"):
        if body.get(name) is not None:
            fields[name] = str(body[name])
    return fields


def _of_status(error: Any, endpoint: Endpoint) -> RetryableError | GswGraphError:
    """Return what to raise for a status."""
    status, fields = error.status_code, _error_fields(error)
    text = fields["message"]
    words = f"{text} {fields.get('code')} {fields.get('type')}"
    short = endpoint.short(text)
    wait = retry_after(error.response.headers)
    busy = status == 429
    passing = busy or status in (408, 409, 425) or status >= 500
    kind: type[GswGraphError] = ModelUnavailableError
    message = f"the server answered {status}: {short}"
    hint: str | None = MODEL_HINT
    if status == 402 or (busy and _NO_MONEY.search(words)):
        message = f"the account has no credit left ({short})"
        hint = f"Check plan and billing there. {KEPT_HINT}"
    elif status == 413 or _TOO_LARGE.search(text):
        kind, hint = InvalidReplyError, "Load in smaller passages, or ask for a higher limit"
    elif busy and _DAILY.search(text):
        message, hint = f"the limit of the day is reached ({short})", KEPT_HINT
    elif passing and wait > LONGEST_PAUSE:
        message = f"{message}; it asks for a pause of {wait / 60:,.0f} minutes"
        hint = KEPT_HINT
    elif passing:
        return RetryableError(message, retry_after=wait, busy=busy or status == 503)
    elif _CONTEXT.search(words):
        kind, hint = InvalidReplyError, CONTEXT_HINT
        message = f"the prompt is longer than the model can read ({short})"
    elif status in (400, 403) and _FLAGGED.search(words):
        kind, hint = InvalidReplyError, None
        message = f"the server refused the content ({short})"
    elif status in (401, 403):
        hint = KEY_HINT
        if endpoint.key:
            message = f"the server refused the key ({status}: {short})"
    elif _NO_MODEL.search(words) or status == 404:
        pass
    elif status in (400, 422):
        kind = RefusedError
    else:
        hint = URL_HINT
    return kind(message, where=endpoint.host, hint=hint)


def _with_schema(messages: list[dict[str, str]], schema: Schema) -> list[dict[str, str]]:
    """Put the schema into the first message, so that what is the same for every call stays in front."""
    order = "Reply with JSON that fits this JSON schema, and with nothing else:"
    text = f"{order}\n{json.dumps(schema, ensure_ascii=False)}"
    first, *others = messages
    if first["role"] != "system":
        return [{"role": "system", "content": text}, *messages]
    return [{**first, "content": f"{first['content']}\n\n{text}"}, *others]


def _without_bounds(schema: Any) -> Any:
    """Return a schema without how many and how long."""
    if isinstance(schema, list):
        return [_without_bounds(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    bounds = ("maxItems", "maxLength")
    return {name: _without_bounds(part) for name, part in schema.items() if name not in bounds}
