"""What a language model is shown: one numbered line a pair or passage, and for each line the passage of
the graph that it stands for. Which of them are shown, of what was found, is in `gather.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gsw_graph.answer.payload import Run, payload
from gsw_graph.inference.chat.tokens import estimate
from gsw_graph.model import content_id
from gsw_graph.prompts import break_control_tokens

if TYPE_CHECKING:
    from gsw_graph.results import RankedPassage

ROOM = 2_000  # tokens of all lines: with the prompt it fits the 4,096 that small servers give
READ = 5  # passages that are read at the most, as in the papers; however many were asked for
_PASSAGE = 150  # tokens that a passage gets at least, or there are fewer of them

_UNSEEN = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_MARK = re.compile(r"\[(\s*\d+(?:\s*[,;]\s*\d+)*\s*)\]")


@dataclass(frozen=True, slots=True)
class Item:
    """One line of evidence and the passage it stands for; of a pair also its question and answer, by which
    its sentence is found there. run: its facts, where the evidence is compact."""

    text: str
    passage: RankedPassage
    question: str = ""
    answer: str = ""
    run: Run | None = None


def texts(passages: Sequence[RankedPassage], room: int = ROOM, most: int = READ) -> Iterator[Item]:
    """Titles and texts of at most so many passages, the best first, in so many tokens."""
    for passage, tokens, whole in share(passages, room, most):
        yield Item(cut(whole, tokens), passage)


def share(
    passages: Sequence[RankedPassage], room: int, most: int
) -> Iterator[tuple[RankedPassage, int, str]]:
    """Of at most so many passages, the best first: each with the tokens it may take, and its title and text
    in a line. What a short one leaves of its share goes to the next."""
    shown = passages[: min(most, max(room, 0) // _PASSAGE)]
    for left, passage in zip(range(len(shown), 0, -1), shown, strict=True):
        text = passage.text.removeprefix(f"{passage.title}\n")
        whole, tokens = flat(f"{passage.title}: {text}" if passage.title else text), room // left
        yield passage, tokens, whole
        room -= tokens if len(whole) > 10 * tokens else min(estimate(whole), tokens)


def listed(items: Sequence[Item]) -> str:
    """The lines with their numbers from 1, or the shortest codebook of compact evidence, between two lines
    with a code made from them, which none of them can therefore contain."""
    runs = [item.run for item in items if item.run is not None]
    if runs and len(runs) == len(items):
        lines = payload(runs)
    else:
        lines = "\n".join(f"[{number}] {item.text}" for number, item in enumerate(items, 1))
    return listed_lines(lines)


def listed_lines(lines: str) -> str:
    """Put lines between two fences with a code made from them, which none of them can therefore contain."""
    code = content_id("evidence", lines)[:12]
    return f"<<<evidence {code}\n{lines}\nevidence {code}>>>"


def flat(text: str) -> str:
    """A text in one line, in which no number stands in square brackets and no control token of a chat
    template is left: `[1]` and line breaks are ours."""
    return break_control_tokens(_MARK.sub(r"(\1)", " ".join(_UNSEEN.sub(" ", text).split())))


def cut(text: str, tokens: int) -> str:
    """The beginning of a text that has about so many tokens, up to a space."""
    begin = text[: 10 * tokens]  # no token is longer in the mean
    if len(begin) == len(text) and estimate(text) <= tokens:
        return text
    while (size := estimate(begin)) >= tokens:  # one is for the sign that it goes on
        begin = begin[: len(begin) * (tokens - 1) // size]
    return f"{begin.rpartition(' ')[0] or begin} …"
