"""The question that a language model gets about one passage. Texts of documents stand between two lines
that no document can write."""

from __future__ import annotations

import re

from gsw_graph.extract.llm_reply import SCHEMA, SHORT_SCHEMA
from gsw_graph.inference.chat.chat import Request
from gsw_graph.inference.chat.tokens import estimate
from gsw_graph.model import Document, Passage
from gsw_graph.prompts import fence, prompt

_CONTEXT = 300  # characters of the passage before that are shown with a passage
_TITLE = 200  # characters
_LEAST, _A_TOKEN = 1000, 16  # tokens of a reply at most: any, and for each of the passage
_SHORT = 1000  # tokens of a reply to the short prompt, whose lists are short
_AGAIN = (
    "Write that passage down as JSON: the names in it, questions about them with their answers, "
    "and "
    "its facts. Take all of it from the passage."
)
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")


def request(document: Document, position: int) -> Request:
    """What is asked about the passage at this position; the same text in the same place of its document
    gives the same request."""
    text, limit = shown(document, position), reply_limit(document, position)
    few = messages("extract_short", f"{text}\n\n{_AGAIN}")
    short = Request("extract", few, SHORT_SCHEMA, document.source, min(limit, _SHORT))
    return Request("extract", messages("extract", text), SCHEMA, document.source, limit, short)


def reply_limit(document: Document, position: int) -> int:
    """Tokens that no sound reply about a passage takes: two and a half times the usual seven a token of
    the passage."""
    return _LEAST + _A_TOKEN * estimate(document.passages[position].text)


def messages(name: str, text: str) -> tuple[dict[str, str], ...]:
    """A prompt of ours, and what it is about."""
    return ({"role": "system", "content": prompt(name)}, {"role": "user", "content": text})


def shown(document: Document, position: int) -> str:
    """A passage with its title and the end of the passage before it."""
    passage = document.passages[position]
    title = " ".join(passage.title.split())[:_TITLE]
    parts = [f"Title:\n{fence('title', title)}"] if title else []
    if position and (end := _end(document.passages[position - 1])):
        parts.append(
            "The text before it ends as follows (context only: take nothing from "
            f"it):\n{fence('context', end)}"
        )
    return "\n\n".join([*parts, fence("passage", passage.text)])


def _end(passage: Passage) -> str:
    """The last sentences of a passage, or the last words of a long one."""
    text = " ".join(passage.text[-4 * _CONTEXT :].split())
    sentences = _SENTENCE.split(text)
    end = sentences.pop()
    while sentences and len(end) + len(sentences[-1]) < _CONTEXT:
        end = f"{sentences.pop()} {end}"
    return end if len(end) <= _CONTEXT else end[-_CONTEXT:].partition(" ")[2]
