"""What a language model is shown: one numbered line a pair or passage, and for each line the passage of
the graph that it stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gsw_graph.inference.chat.control_tokens import broken
from gsw_graph.inference.chat.tokens import estimate
from gsw_graph.model import content_id

if TYPE_CHECKING:
    from gsw_graph.results import RankedPassage
    from gsw_graph.retrieve.chains.grow import Beams
    from gsw_graph.retrieve.strategy import Retrieved

ROOM = 2_000  # tokens of all lines: with the prompt it fits the 4,096 that small servers give
# from this confidence on the answer stands in the chains for four questions of five (docs/ricr.md); below,
# passages are read too
SURE = 0.5
_PAIR = 200  # tokens of a pair, which may list hundreds of answers
_ROLES = 100  # characters of roles and states
_READ = 5  # passages that are read at the most, as in the papers; however many were asked for
_PASSAGE = 150  # tokens that a passage gets at least, or there are fewer of them

_UNSEEN = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_MARK = re.compile(r"\[(\s*\d+(?:\s*[,;]\s*\d+)*\s*)\]")


@dataclass(frozen=True, slots=True)
class Item:
    """One line of evidence and the passage it stands for; of a pair also its question and answer, by which
    its sentence is found there."""

    text: str
    passage: RankedPassage
    question: str = ""
    answer: str = ""


def gather(found: Retrieved, confidence: float | None) -> list[Item]:
    """The pairs of the chains hop by hop, the best chain first; the passages too where the chains are not
    sure, or there are none."""
    items = list(_pairs(found.beams, found)) if found.beams is not None else []
    kept, room = [], ROOM
    for item in items:
        if (room := room - estimate(item.text)) < 0:
            break
        kept.append(item)
    if confidence is None or confidence < SURE:
        kept += texts(found.passages, max(room, 0))
    return kept


def _pairs(beams: Beams, found: Retrieved) -> Iterator[Item]:
    """Pairs of chains that reach an end of the plan, each once. One whose passage was forgotten meanwhile
    could not be cited, so it is not read either."""
    seen: set[str] = set()
    for chain in beams.ends():
        for hop in chain.hops:
            pair = hop.pair
            if pair.id in seen or pair.passage not in found.cited:
                continue
            seen.add(pair.id)
            roles = flat("; ".join(filter(None, pair.descriptions)))[:_ROLES]
            text = f"{pair.question} {', '.join(pair.answers)}{f' ({roles})' if roles else ''}"
            yield Item(_cut(flat(text), _PAIR), found.cited[pair.passage], pair.question, hop.answer)


def texts(passages: Sequence[RankedPassage], room: int = ROOM, most: int = _READ) -> Iterator[Item]:
    """Titles and texts of at most so many passages, the best first, in so many tokens. What a short one
    leaves of its share goes to the next."""
    shown = passages[: min(most, room // _PASSAGE)]
    for left, passage in zip(range(len(shown), 0, -1), shown, strict=True):
        text = passage.text.removeprefix(f"{passage.title}\n")
        item = Item(_cut(flat(f"{passage.title}: {text}" if passage.title else text), room // left), passage)
        room -= estimate(item.text)
        yield item


def listed(items: Sequence[Item]) -> str:
    """The lines with their numbers from 1, between two lines with a code made from them, which none of
    them can therefore contain."""
    lines = "\n".join(f"[{number}] {item.text}" for number, item in enumerate(items, 1))
    code = content_id("evidence", lines)[:12]
    return f"<<<evidence {code}\n{lines}\nevidence {code}>>>"


def flat(text: str) -> str:
    """A text in one line, in which no number stands in square brackets and no control token of a chat
    template is left: `[1]` and line breaks are ours."""
    return broken(_MARK.sub(r"(\1)", " ".join(_UNSEEN.sub(" ", text).split())))


def _cut(text: str, tokens: int) -> str:
    """The beginning of a text that has about so many tokens, up to a space."""
    begin = text[: 10 * tokens]  # no token is longer in the mean
    if len(begin) == len(text) and estimate(text) <= tokens:
        return text
    while (size := estimate(begin)) >= tokens:  # one is for the sign that it goes on
        begin = begin[: len(begin) * (tokens - 1) // size]
    return f"{begin.rpartition(' ')[0] or begin} …"
