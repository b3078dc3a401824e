"""Prompts: one Markdown file a task, sent as the system message, the same for every call so that servers can
cache it; and the fence around texts of documents."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

from gsw_graph.errors import InputError
from gsw_graph.model.documents import content_id

# Control tokens of chat templates: all of `<|...|>` (ChatML, Llama 3, Phi) and `<｜...｜>` (DeepSeek), and
# by name those of Gemma, Llama 2 and Mistral. In a document they would end our message and begin one of
# another role.
_CONTROL_TOKEN = re.compile(
    r"<(?=[|｜])|<(?=(?:start_of_turn|end_of_turn|/?s)>)|<(?=</?SYS>>)|\[(?=/?INST\])"
)


@cache
def prompt(name: str) -> str:
    """Return the text of `prompts/NAME.md`."""
    return files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


def replacements(folder: Path) -> dict[str, str]:
    """Read the prompts of a user's folder: by the text of ours, theirs of the same name.

    Raises:
        InputError: There is no such folder, or a file in it has no name of ours.
    """
    names = sorted(file.name for file in files(__package__).iterdir() if file.name.endswith(".md"))
    if not folder.is_dir():
        message = "there is no such folder of prompts"
        raise InputError(message, where=str(folder), hint="Check GSWGRAPH_PROMPTS")
    texts = {}
    for file in sorted(folder.glob("[!.]*")):
        if file.name not in names:
            hint = f"Use some of {', '.join(names)}"
            raise InputError("no prompt has this name", where=str(file), hint=hint)
        texts[prompt(file.stem)] = file.read_text(encoding="utf-8").strip()
    return texts


def fence(kind: str, text: str) -> str:
    """Put an untrusted text between two lines with a code made from it, which it therefore cannot contain."""
    text = break_control_tokens(text.strip())
    code = content_id(kind, text)[:12]
    return f"<<<{kind} {code}\n{text}\n{kind} {code}>>>"


def break_control_tokens(text: str) -> str:
    """Put a space after the first sign of each control token, so that no tokeniser knows it."""
    return _CONTROL_TOKEN.sub(r"\g<0> ", text)
