"""One call to an OpenAI-compatible chat server: what it understands is found out from its refusals, and
remembered."""

from __future__ import annotations

import codecs
import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from gsw_graph.characters import without_halves
from gsw_graph.errors import ReplyError, StoppedError
from gsw_graph.inference.bodies import BodyError, hooks
from gsw_graph.inference.chat.errors import URL, AgainError, meaning, said_in, too_long
from gsw_graph.inference.chat.json_reply import without_thoughts
from gsw_graph.inference.endpoint import Endpoint

log = logging.getLogger(__name__)

OPENAI = "https://api.openai.com/v1"
CONNECT = 10.0  # seconds
NO_KEY = "none"  # the client insists on a key; local servers take any
WARMTH = 0.4  # the temperature of a second try, which else would be the first again
LIMIT_WORDS = ("max_tokens", "max_completion_tokens", "max_new_tokens", "in the completion")
BOUND_WORDS = ("maxitems", "maxlength", "repetition", "grammar")
FORMAT_WORDS = (
    "response_format",
    "response format",
    "schema",
    "json_object",
    "json mode",
    "grammar",
    "structured output",
)
MODES = ("schema", "json", "plain")

MOST_TOKENS = 1_000_000_000  # what is more is no count

Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Received:
    """What came back. finish: why it ended, as the server says. refusal: the model's own words for not
    answering. Tokens are 0 where the server does not count; prompt_tokens include those that it had in its
    own cache."""

    text: str
    finish: str = "stop"
    refusal: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    thought: bool = False  # some of it were thoughts aloud, beside the text or in it


class Wire:
    """A chat server that is asked for one model; safe for many threads. Nothing is imported or connected
    before the first call."""

    def __init__(self, end: Endpoint, model: str, timeout: float) -> None:
        self.end, self.model = end, model
        self._timeout = timeout
        self._lock = threading.Lock()
        self._client: Any = None
        self._mode, self._temperature, self._stream_usage = 0, True, True
        self._schema_told = False
        self._limited = self._bounded = True

    def body(
        self,
        messages: Messages,
        schema: Mapping[str, Any] | None,
        name: str,
        limit: int = 0,
        warm: bool = False,
    ) -> dict[str, Any]:
        """The request as it goes to the server. limit: tokens of the reply, 0 for none. warm: other words
        than the last time."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{**m, "content": without_halves(m["content"])} for m in messages],
        }
        if self._temperature:
            body["temperature"] = WARMTH if warm else 0
        if limit and self._limited:
            body["max_tokens"] = limit
        if schema is None:
            return body
        if not self._bounded:
            schema = without_bounds(schema)
        mode = MODES[self._mode]
        if mode == "schema":
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": name, "schema": schema, "strict": is_strict(schema)},
            }
        elif mode == "json":
            body["response_format"] = {"type": "json_object"}
        if mode != "schema" or self._schema_told:
            body["messages"] = with_schema(body["messages"], schema)
        return body

    @property
    def reads_schema(self) -> bool:
        """Whether the server counts a schema as part of the prompt, wherever it stands in the request."""
        return self._openai

    @property
    def _openai(self) -> bool:
        return self.end.host == httpx.URL(OPENAI).host

    def tell_schema(self) -> None:
        """From now on the schema stands in the messages too: the server takes it and does not keep to it."""
        self._schema_told = True

    def let_think(self) -> bool:
        """From now on replies have no limit, as thoughts count too; False where that was so."""
        was, self._limited = self._limited, False
        return was

    def send(
        self,
        messages: Messages,
        schema: Mapping[str, Any] | None,
        name: str,
        on_text: Callable[[str], None] | None = None,
        limit: int = 0,
        warm: bool = False,
    ) -> Received:
        """The server's reply to one request; limit and warm as of `body`. Raises AgainError, ReplyError,
        StoppedError."""
        import openai

        while True:
            sent = self.body(messages, schema, name, limit, warm)
            options = {"include_usage": True} if on_text and self._stream_usage else None
            try:
                return self._stream(sent, options, on_text) if on_text else self._call(sent)
            except BodyError as error:
                raise ReplyError(str(error), where=self.end.host) from error
            except openai.OpenAIError as error:
                said = said_in(error) if isinstance(error, openai.APIStatusError) else {}
                if said.get("code") == "json_validate_failed":  # Groq: the reply is there, and no JSON
                    return Received(without_halves(said.get("failed_generation", "")))
                if not (
                    isinstance(error, openai.APIStatusError)
                    and error.status_code in (400, 422)
                    and self._learn(said, sent, options)
                ):
                    raise meaning(error, self.end) from None  # some servers repeat the key

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None

    def _learn(self, said: dict[str, str], sent: dict[str, Any], options: Any) -> bool:
        """Whether the refusal names something that can be left out; it is left out from now on."""
        text = f"{said['message']} {said.get('param')}".lower()
        with self._lock:
            if "max_tokens" in sent and any(
                word in text for word in LIMIT_WORDS
            ):  # it may sound as if the prompt were too long
                self._limited = False
            elif too_long(text):
                return False
            elif "temperature" in text and "temperature" in sent:
                self._temperature = False
            elif self._bounded and "response_format" in sent and any(word in text for word in BOUND_WORDS):
                self._bounded = False
            elif options and "stream_options" in text:
                self._stream_usage = False
            elif "response_format" in sent and any(word in text for word in FORMAT_WORDS):
                mode = MODES.index(
                    {"json_schema": "schema", "json_object": "json"}[sent["response_format"]["type"]]
                )
                self._mode = max(self._mode, mode + 1)  # another thread may have learned the same
            else:
                return False
        log.info(
            "%s refuses part of a request, left out from now on: %s",
            self.end.host,
            self.end.short(said["message"]),
        )
        return True

    def _call(self, sent: dict[str, Any]) -> Received:
        # As an extra the schema goes as it is; else the client walks through it for each call, a third of the
        # time that a call computes.
        extra = {name: value for name, value in sent.items() if name not in ("model", "messages")}
        reply = self.client().chat.completions.with_raw_response.create(
            model=sent["model"], messages=sent["messages"], extra_body=extra
        )
        try:
            found = json.loads(reply.content)
        except (ValueError, RecursionError) as error:
            if "json" in reply.headers.get("content-type", ""):
                raise AgainError(f"its answer is no JSON ({self.end.short(str(error))})") from error
            raise StoppedError(
                "what answers there is no chat server", where=self.end.host, hint=URL
            ) from error
        return read_completion(found, self.end)

    def _stream(self, sent: dict[str, Any], options: Any, on_text: Callable[[str], None]) -> Received:
        import openai

        pieces: list[str] = []
        finish, refusal, usage, thought = "", "", None, False
        halves = codecs.getincrementaldecoder("utf-16-le")(
            "replace"
        )  # of a surrogate pair may come in two pieces

        def hear(piece: str, last: bool = False) -> None:
            if whole := halves.decode(piece.encode("utf-16-le", "surrogatepass"), last):
                pieces.append(whole)
                on_text(whole)

        try:
            for chunk in self._chunks(sent, options):
                usage = _field(chunk, "usage") or usage
                for choice in _list(chunk, "choices", self.end):
                    delta = _field(choice, "delta")
                    finish = _text(choice, "finish_reason", self.end) or finish
                    refusal += _text(delta, "refusal", self.end)
                    thought = thought or _thinks(delta)
                    hear(_text(delta, "content", self.end))
            hear("", last=True)
        except (openai.OpenAIError, AgainError) as error:
            if pieces:  # on the screen already: a second reply after half of the first would be none
                raise ReplyError(
                    "the connection broke in the middle of the reply", where=self.end.host, hint="Ask again"
                ) from error
            raise
        if pieces and not finish:
            raise ReplyError("the reply broke off in the middle", where=self.end.host, hint="Ask again")
        text, counts = "".join(pieces), _counts(usage, self.end)
        return Received(
            text,
            finish,
            without_halves(refusal),
            *counts,
            thought=thought or without_thoughts(text) != text.strip(),
        )

    def _chunks(self, sent: dict[str, Any], options: Any) -> Iterator[Any]:
        """A reply as it comes. Raises AgainError where the connection breaks, which the client leaves to
        its HTTP library to say."""
        import openai

        try:
            with self.client().chat.completions.create(
                **sent, stream=True, **({"stream_options": options} if options else {})
            ) as stream:
                yield from stream
        except (openai.OpenAIError, BodyError):
            raise
        except Exception as error:
            if type(error).__name__ == "ReadTimeout":  # of the HTTP library that the client uses
                raise AgainError("it did not answer in time", late=True) from error
            raise AgainError(
                f"the connection broke ({self.end.short(str(error) or type(error).__name__)})"
            ) from error

    def client(self) -> Any:
        """The openai client."""
        with self._lock:
            if self._client is None:
                import openai

                timeout = openai.Timeout(self._timeout, connect=CONNECT)
                # trust_env: a proxy named in the environment must not see what is meant for this machine.
                # A connection to this machine costs nothing, and one of its own can be closed whenever its
                # call is given up.
                limits = type(openai.DEFAULT_CONNECTION_LIMITS)(
                    max_connections=1000, max_keepalive_connections=0 if self.end.here else 100
                )
                http = openai.DefaultHttpxClient(
                    timeout=timeout,
                    limits=limits,
                    event_hooks=hooks(),
                    follow_redirects=False,
                    trust_env=not self.end.here,
                )
                key, url = self.end.key or NO_KEY, str(self.end.url)
                self._client = openai.OpenAI(
                    api_key=key, base_url=url, timeout=timeout, max_retries=0, http_client=http
                )
                # the client takes them from OPENAI_ORG_ID and OPENAI_PROJECT_ID, and tells them to any server
                if not self._openai:
                    self._client.organization = self._client.project = None
            return self._client


def read_completion(data: Any, end: Endpoint) -> Received:
    """A chat completion as servers write it. Raises AgainError where it is none, ReplyError where what is
    in it has not the types it should have."""
    choice = next(iter(_list(data, "choices", end)), None)
    message = _field(choice, "message")
    if message is None:
        what = (
            _field(_field(data, "error"), "message") or _field(data, "error") or "there is no message in it"
        )
        raise AgainError(f"its answer cannot be used ({end.short(str(what))})")
    content = _field(message, "content")
    parts = content if isinstance(content, list) else ()  # some of them may be thoughts
    text = "".join(_text(part, "text", end) for part in parts) or _text(
        {"content": None if parts else content}, "content", end
    )
    finish, refusal = _text(choice, "finish_reason", end), _text(message, "refusal", end)
    thought = _thinks(message) or without_thoughts(text) != text.strip()
    return Received(
        without_halves(text),
        finish,
        without_halves(refusal),
        *_counts(_field(data, "usage"), end),
        thought=thought,
    )


def with_schema(messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> list[dict[str, str]]:
    """The messages with the schema told in the first, so that what is the same for every call stays in
    front."""
    told = (
        "Reply with JSON that fits this JSON schema, and with "
        "nothing "
        f"else:\n{json.dumps(schema, ensure_ascii=False)}"
    )
    first, *others = [dict(message) for message in messages]
    if first["role"] != "system":
        return [{"role": "system", "content": told}, first, *others]
    return [{**first, "content": f"{first['content']}\n\n{told}"}, *others]


def without_bounds(schema: Any) -> Any:
    """A schema without how many and how long."""
    if isinstance(schema, list):
        return [without_bounds(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        name: without_bounds(one) for name, one in schema.items() if name not in ("maxItems", "maxLength")
    }


def is_strict(schema: Any) -> bool:
    """Whether a schema keeps the rules of `strict`: every object names all its keys, requires each and
    allows no others."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    keys = schema.get("properties")
    if isinstance(keys, Mapping) and (
        schema.get("additionalProperties") is not False or set(keys) != set(schema.get("required", ()))
    ):
        return False
    return all(map(is_strict, schema.values()))


def _field(thing: Any, name: str) -> Any:
    """What a server may or may not give, of a dict or an object of the client."""
    return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)


def _list(thing: Any, name: str, end: Endpoint) -> list[Any]:
    found = _field(thing, name)
    if not isinstance(found, list | tuple | None):
        raise _odd(name, found, end)
    return list(found or ())


def _text(thing: Any, name: str, end: Endpoint) -> str:
    found = _field(thing, name)
    if not isinstance(found, str | None):
        raise _odd(name, found, end)
    return found or ""


def _counts(usage: Any, end: Endpoint) -> tuple[int, int]:
    """Tokens of the prompt and of the reply; 0 where a server does not count, which some say by -1 or
    null."""
    counts = []
    for name in ("prompt_tokens", "completion_tokens"):
        found = _field(usage, name)
        if not isinstance(found, int | float | None) or not (found is None or found < MOST_TOKENS):
            raise _odd(name, found, end)
        counts.append(max(int(found or 0), 0))
    return counts[0], counts[1]


def _odd(name: str, found: Any, end: Endpoint) -> ReplyError:
    said = end.short(json.dumps(found, default=repr)[:60])
    return ReplyError(f"its answer cannot be used: `{name}` is {said}", where=end.host)


def _thinks(message: Any) -> bool:
    return any(_field(message, name) for name in ("reasoning_content", "reasoning", "thinking"))
