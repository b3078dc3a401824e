"""Prompts: one Markdown file a task, sent as the system message, the same for every call so that servers can
cache it; and the fence around texts of documents."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from gsw_graph.model.documents import content_id

# The control tokens of chat templates: all of `<|...|>` (ChatML, Llama 3, Phi) and `<｜...｜>` (DeepSeek), by
# name
# those of Gemma, Llama 2 and Mistral. In a document they would end our message and begin one of another role.
_CONTROL_TOKEN = re.compile(
    r"<(?=[|｜])|<(?=(?:start_of_turn|end_of_turn|/?s)>)|<(?=</?SYS>>)|\[(?=/?INST\])"
)


@cache
def prompt(name: str) -> str:
    """Return the text of `prompts/NAME.md`."""
    return files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


def fence(kind: str, text: str) -> str:
    """Put an untrusted text between two lines with a code made from it, which it therefore cannot contain."""
    text = break_control_tokens(text.strip())
    code = content_id(kind, text)[:12]
    return f"<<<{kind} {code}\n{text}\n{kind} {code}>>>"


def break_control_tokens(text: str) -> str:
    """Put a space after the first sign of each control token, so that no tokeniser knows it."""
    return _CONTROL_TOKEN.sub(r"\g<0> ", text)
