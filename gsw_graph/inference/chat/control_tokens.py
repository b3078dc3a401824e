"""The control tokens of chat templates: in a text of a document they would end our message for a model and
begin one of another role."""

from __future__ import annotations

import re

# All of `<|...|>` (ChatML, Llama 3, Phi) and `<｜...｜>` (DeepSeek); by name those of Gemma, Llama 2 and
# Mistral.
_TOKEN = re.compile(r"<(?=[|｜])|<(?=(?:start_of_turn|end_of_turn|/?s)>)|<(?=</?SYS>>)|\[(?=/?INST\])")


def broken(text: str) -> str:
    """The text with a space after the first sign of each control token, so that no tokeniser knows it."""
    return _TOKEN.sub(r"\g<0> ", text)
