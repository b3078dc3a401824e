"""Reading a reply in whichever form a server sends it: whole, as events (SSE), or as a line of JSON for each
piece. What was asked for does not tell: some servers never stream, others always do."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from gsw_graph.models.chat.request import answer_text
from gsw_graph.text.words import without_surrogates

MAX_COUNT = 1_000_000_000  # a larger number of tokens is no count
_LINE_END = re.compile(rb"[\r\n]")
_NO_DATA = re.compile(rb":|(event|id|retry)(:|$)|data$")  # lines of events that carry nothing of the reply
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")


def json_values(chunks: Iterable[bytes]) -> Iterator[Any]:
    """Yield the JSON values of a body as they come.

    Args:
        chunks: Bytes of the body, cut anywhere.

    Raises:
        ValueError: A part of the body is no JSON.
    """
    begun = b""  # lines of a value that is not whole yet
    for line in _lines(chunks):
        data = line.removeprefix(b"data:").strip()
        if data == b"[DONE]":
            return
        if not data or _NO_DATA.match(line):
            continue
        begun += data + b"\n"
        if data.endswith((b"}", b"]", b"null")):
            try:
                value = json.loads(begun)
            except (ValueError, RecursionError):
                continue
            begun = b""
            yield value
    if begun:
        raise ValueError(f"this is no JSON: {begun[:100].decode(errors='replace').strip()}")


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a body. Only CR and LF end a line: other breaks may stand within JSON."""
    rest = b""
    for chunk in chunks:
        *lines, rest = _LINE_END.split(rest + chunk)
        yield from lines
    yield rest


class Pieces:
    """The pieces of one reply, put together.

    Attributes:
        text: All that came.
        finish: Why the reply ended, in the server's words.
        refusal: The model's own words for not answering.
        usage: Tokens, as the server counts them.
        found: A message or a part of a message came.
    """

    def __init__(self) -> None:
        self.text = self.finish = self.refusal = ""
        self.usage: Any = None
        self.found = self._in_pieces = self._thinks = False
        # Halves of a surrogate pair may come in two pieces.
        self._decoder = codecs.getincrementaldecoder("utf-16-le")("replace")

    @property
    def is_cut(self) -> bool:
        """Return whether pieces came, and nothing said that they are all."""
        return bool(self._in_pieces and self.text and not self.finish)

    @property
    def thinking(self) -> bool:
        """Return whether some of the reply are thoughts, in the text or beside it."""
        return self._thinks or answer_text(self.text) != self.text

    def add(self, value: Any) -> str:
        """Add what the server sent, and return the new part of the text.

        Raises:
            TypeError: The value is nothing of a reply; the message is the server's own, if it has one.
        """
        if not isinstance(value, dict):
            raise TypeError("there is no message in it")
        choices = value.get("choices")
        if not isinstance(choices, list | None):
            raise TypeError("`choices` is no list")
        failure = value.get("error")
        if failure and not choices:
            raise TypeError(get(failure, "message") or failure)
        choice = choices[0] if choices else value
        self.usage = value.get("usage") or self.usage
        self.finish = text_of(choice, "finish_reason") or self.finish
        if value.get("done") is True and not self.finish:  # of Ollama's own protocol
            self.finish = text_of(value, "done_reason") or "stop"
        delta = get(choice, "delta")
        part = get(choice, "message") if delta is None else delta
        if part is None:
            return ""
        self.found = True
        if any(get(part, name) for name in _THOUGHTS):
            self._thinks = True
        self.refusal += without_surrogates(text_of(part, "refusal"))
        content = content_of(part)
        whole = False
        if delta is not None:
            self._in_pieces = True
        elif self._in_pieces:  # the whole text again, after its pieces
            content = content.removeprefix(self.text)
        else:
            whole = self.finish != ""
        new = self._decoder.decode(content.encode("utf-16-le", "surrogatepass"), final=whole)
        self.text += new
        return new


def content_of(message: Any) -> str:
    """Return the text of a message, which may be a list of parts; some of these may be thoughts.

    Raises:
        TypeError: The content is no text.
    """
    content = get(message, "content")
    if not isinstance(content, list):
        return text_of(message, "content")
    return "".join(part if isinstance(part, str) else text_of(part, "text") for part in content)


def counts_of(usage: Any) -> tuple[int, int]:
    """Return the tokens of prompt and reply; 0 if a server does not count."""
    counts = []
    for name in ("prompt_tokens", "completion_tokens"):
        value = get(usage, name)
        is_count = isinstance(value, int | float) and 0 < value < MAX_COUNT
        counts.append(int(value) if is_count else 0)
    return counts[0], counts[1]


def get(thing: Any, name: str) -> Any:
    """Return what a server may or may not give; None if `thing` has no parts."""
    return thing.get(name) if isinstance(thing, dict) else None


def text_of(thing: Any, name: str) -> str:
    """Return a text or "". Raises TypeError if it is something else."""
    value = get(thing, name)
    if not isinstance(value, str | None):
        raise TypeError(f"`{name}` is no text")
    return value or ""
