"""The forms of a result for people. The packages that write them register here; without them a result is
shown by its fields."""

from __future__ import annotations

from functools import singledispatch


@singledispatch
def as_text(result: object) -> str:
    """Write a result as text."""
    return repr(result)


@singledispatch
def as_html(_: object) -> str | None:
    """Write a result for a notebook; None if it has no form of its own."""
    return None
