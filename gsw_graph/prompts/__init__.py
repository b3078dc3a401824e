"""What language models are told: one Markdown file a task, sent as the system message, the same for every
call so that servers can cache it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def prompt(name: str) -> str:
    """The text of `prompts/NAME.md`."""
    return files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8").strip()
