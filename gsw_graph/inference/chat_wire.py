"""One call to an OpenAI-compatible chat server: what it understands is found out from its refusals, and remembered."""

from __future__ import annotations

import codecs
import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from gsw_graph.errors import ReplyError, StoppedError
from gsw_graph.inference.chat_errors import URL, AgainError, meaning, said_in, too_long
from gsw_graph.inference.endpoint import Endpoint

log = logging.getLogger(__name__)

OPENAI = "https://api.openai.com/v1"
CONNECT = 10.0  # seconds
NO_KEY = "none"  # the client insists on a key; local servers take any
FORMAT_WORDS = ("response_format", "response format", "schema", "json_object", "json mode", "grammar", "structured output")
MODES = ("schema", "json", "plain")

Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Received:
    """What came back. finish: why it ended, as the server says. refusal: the model's own words for not answering. Tokens are 0 where the server does not
    count; prompt_tokens include those that it had in its own cache."""

    text: str
    finish: str = "stop"
    refusal: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Wire:
    """A chat server that is asked for one model; safe for many threads. Nothing is imported or connected before the first call."""

    def __init__(self, end: Endpoint, model: str, timeout: float) -> None:
        self.end, self.model = end, model
        self._timeout = timeout
        self._lock = threading.Lock()
        self._client: Any = None
        self._mode, self._temperature, self._stream_usage = 0, True, True
        self._schema_told = False

    def body(self, messages: Messages, schema: Mapping[str, Any] | None, name: str) -> dict[str, Any]:
        """The request as it goes to the server."""
        body: dict[str, Any] = {"model": self.model, "messages": [{**m, "content": _clean(m["content"])} for m in messages]}
        if self._temperature:
            body["temperature"] = 0
        if schema is None:
            return body
        mode = MODES[self._mode]
        if mode == "schema":
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": is_strict(schema)}}
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

    def send(self, messages: Messages, schema: Mapping[str, Any] | None, name: str, on_text: Callable[[str], None] | None = None) -> Received:
        """The server's reply to one request. Raises AgainError, ReplyError, StoppedError."""
        import openai

        while True:
            sent = self.body(messages, schema, name)
            options = {"include_usage": True} if on_text and self._stream_usage else None
            try:
                return self._stream(sent, options, on_text) if on_text else self._call(sent)
            except openai.OpenAIError as error:
                said = said_in(error) if isinstance(error, openai.APIStatusError) else {}
                if said.get("code") == "json_validate_failed":  # Groq: the reply is there, and no JSON
                    return Received(_clean(said.get("failed_generation", "")))
                if not (isinstance(error, openai.APIStatusError) and error.status_code in (400, 422) and self._learn(said, sent, options)):
                    raise meaning(error, self.end) from None  # some servers repeat the key

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None

    def _learn(self, said: dict[str, str], sent: dict[str, Any], options: Any) -> bool:
        """Whether the refusal names something that can be left out; it is left out from now on."""
        text = f"{said['message']} {said.get('param')}".lower()
        if too_long(text):
            return False
        with self._lock:
            if "temperature" in text and "temperature" in sent:
                self._temperature = False
            elif options and "stream_options" in text:
                self._stream_usage = False
            elif "response_format" in sent and any(word in text for word in FORMAT_WORDS):
                mode = MODES.index({"json_schema": "schema", "json_object": "json"}[sent["response_format"]["type"]])
                self._mode = max(self._mode, mode + 1)  # another thread may have learned the same
            else:
                return False
        log.info("%s refuses part of a request, left out from now on: %s", self.end.host, self.end.short(said["message"]))
        return True

    def _call(self, sent: dict[str, Any]) -> Received:
        # As an extra the schema goes as it is; else the client walks through it for each call, a third of the time that a call computes.
        extra = {name: value for name, value in sent.items() if name not in ("model", "messages")}
        reply = self.client().chat.completions.with_raw_response.create(model=sent["model"], messages=sent["messages"], extra_body=extra)
        try:
            return read_completion(json.loads(reply.content), self.end)
        except (ValueError, RecursionError) as error:
            if "json" in reply.headers.get("content-type", ""):
                raise AgainError(f"its answer is no JSON ({self.end.short(str(error))})") from error
            raise StoppedError("what answers there is no chat server", where=self.end.host, hint=URL) from error

    def _stream(self, sent: dict[str, Any], options: Any, on_text: Callable[[str], None]) -> Received:
        import openai

        pieces: list[str] = []
        finish, refusal, usage = "", "", None
        halves = codecs.getincrementaldecoder("utf-16-le")("replace")  # of a surrogate pair may come in two pieces

        def hear(piece: str, last: bool = False) -> None:
            if whole := halves.decode(piece.encode("utf-16-le", "surrogatepass"), last):
                pieces.append(whole)
                on_text(whole)

        try:
            for chunk in self._chunks(sent, options):
                usage = _field(chunk, "usage") or usage
                for choice in _field(chunk, "choices") or ():
                    delta = _field(choice, "delta")
                    finish = _field(choice, "finish_reason") or finish
                    refusal += _field(delta, "refusal") or ""
                    hear(_field(delta, "content") or "")
            hear("", last=True)
        except (openai.OpenAIError, AgainError) as error:
            if pieces:  # on the screen already: a second reply after half of the first would be none
                raise ReplyError("the connection broke in the middle of the reply", where=self.end.host, hint="Ask again") from error
            raise
        if pieces and not finish:
            raise ReplyError("the reply broke off in the middle", where=self.end.host, hint="Ask again")
        return Received("".join(pieces), finish, _clean(refusal), _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))

    def _chunks(self, sent: dict[str, Any], options: Any) -> Iterator[Any]:
        """A reply as it comes. Raises AgainError where the connection breaks, which the client leaves to its HTTP library to say."""
        import openai

        try:
            with self.client().chat.completions.create(**sent, stream=True, **({"stream_options": options} if options else {})) as stream:
                yield from stream
        except openai.OpenAIError:
            raise
        except Exception as error:
            raise AgainError(f"the connection broke ({self.end.short(str(error) or type(error).__name__)})") from error

    def client(self) -> Any:
        """The openai client."""
        with self._lock:
            if self._client is None:
                import openai

                timeout = openai.Timeout(self._timeout, connect=CONNECT)
                # trust_env: a proxy named in the environment must not see what is meant for this machine.
                http = openai.DefaultHttpxClient(timeout=timeout, follow_redirects=False, trust_env=not self.end.here)
                key, url = self.end.key or NO_KEY, str(self.end.url)
                self._client = openai.OpenAI(api_key=key, base_url=url, timeout=timeout, max_retries=0, http_client=http)
                if not self._openai:  # the client takes them from OPENAI_ORG_ID and OPENAI_PROJECT_ID, and tells them to any server
                    self._client.organization = self._client.project = None
            return self._client


def read_completion(data: Any, end: Endpoint) -> Received:
    """A chat completion as servers write it. Raises AgainError where it is none."""
    choice = next(iter(_field(data, "choices") or ()), None)
    message = _field(choice, "message")
    if message is None:
        what = _field(_field(data, "error"), "message") or _field(data, "error") or "there is no message in it"
        raise AgainError(f"its answer cannot be used ({end.short(str(what))})")
    content = _field(message, "content") or ""
    if isinstance(content, list):  # in parts, of which some may be thoughts
        content = "".join(str(_field(part, "text") or "") for part in content)
    finish, refusal = str(_field(choice, "finish_reason") or ""), str(_field(message, "refusal") or "")
    usage = _field(data, "usage")
    return Received(_clean(str(content)), finish, _clean(refusal), _count(usage, "prompt_tokens"), _count(usage, "completion_tokens"))


def with_schema(messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> list[dict[str, str]]:
    """The messages with the schema told in the first, so that what is the same for every call stays in front."""
    told = f"Reply with JSON that fits this JSON schema, and with nothing else:\n{json.dumps(schema, ensure_ascii=False)}"
    first, *others = [dict(message) for message in messages]
    if first["role"] != "system":
        return [{"role": "system", "content": told}, first, *others]
    return [{**first, "content": f"{first['content']}\n\n{told}"}, *others]


def is_strict(schema: Any) -> bool:
    """Whether a schema keeps the rules of `strict`: every object names all its keys, requires each and allows no others."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    keys = schema.get("properties")
    if isinstance(keys, Mapping) and (schema.get("additionalProperties") is not False or set(keys) != set(schema.get("required", ()))):
        return False
    return all(map(is_strict, schema.values()))


def _field(thing: Any, name: str) -> Any:
    """What a server may or may not give, of a dict or an object of the client."""
    return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)


def _count(usage: Any, name: str) -> int:
    found = _field(usage, name)
    return int(found) if isinstance(found, int | float) and found > 0 else 0


def _clean(text: str) -> str:
    """Surrogates joined to the characters that they stand for; a single one, which can be neither sent nor kept, becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
