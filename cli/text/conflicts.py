"""What passages say against each other, for people: a line a question, who says what, the most supported
first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.cli.text.safe_text import cut, one_line

if TYPE_CHECKING:
    from gsw_graph.results import Answer, Claim

_LONG = 80  # characters of an answer or title; the JSON has all


def conflict_lines(answer: Answer) -> list[str]:
    """Lines of what passages say differently; none where they do not."""
    return [
        f"Passages disagree: {one_line(conflict.question)} {' / '.join(map(_said, conflict.claims))}"
        for conflict in answer.conflicts
    ]


def _said(claim: Claim) -> str:
    titles = ", ".join(cut(one_line(title), _LONG) or "(no title)" for title in claim.titles)
    return f"{cut(one_line(claim.answer), _LONG)} ({claim.confidence:.0%}: {titles})"
