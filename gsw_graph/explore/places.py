"""Find the place of a passage that answers: the sentences, items of lists and rows of tables with most words
of the question.

A word counts more if it is rare among the passages of the answer. Headings, and the head of a table, count for
what stands below them. Code, and the line that front matter has become, are no places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gsw_graph.text.words import idf, term_coverage, terms, written_sentences

if TYPE_CHECKING:
    from gsw_graph.model.results import Answer, RankedPassage

MOST = 2  # places of a passage
NEAR = 0.8  # share of the score of the best place that another has at least
HEADING = 0.5  # what a word of the heading counts beside a word of the place itself
_READ = 20_000  # characters of a passage
_HEADING = 80  # characters of a heading

_BLANK = re.compile(r"\n[ \t]*\n")
_CODE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:(?: {4}|\t)[^\n]*\n?)+")
_MARKED = re.compile(r"^(?=[ \t]*(?:[-*+•>|#]|\d{1,3}[.)])[ \t]?\S)", re.MULTILINE)
_RULE = re.compile(r"[\s|:+=-]*")  # of a table
_NO_HEADING = re.compile(r"[.:;,!?…]$|: ")
FRONT = re.compile(r"[\w][\w .-]{0,40}: [^;\n]+(?:; [\w][\w .-]{0,40}: [^;\n]+)+|[a-z][\w-]{0,40}: [^\n]+")


def places(answer: Answer) -> dict[str, list[str]]:
    """Return for each passage of an answer the places that answer, as written and in the order of the text.
    Of a passage that the answer cites they are what it cites."""
    cited: dict[str, list[str]] = {}
    for citation in answer.citations:
        cited.setdefault(citation.passage, []).append(citation.text)
    parts = {passage.id: list(_parts(passage)) for passage in answer.passages}
    asked = terms(answer.question)
    weights = idf(asked, [terms(text) for found in parts.values() for _, text in found])
    wanted = (answer.answer or "").casefold()

    def score(part: tuple[str, str]) -> float:
        heading, text = (term_coverage(asked, terms(piece), idf=weights) for piece in part)
        holds_answer = bool(wanted) and wanted in part[1].casefold()
        return holds_answer + text + (HEADING * heading if text else 0.0)

    return {id_: cited.get(id_) or _best(found, list(map(score, found))) for id_, found in parts.items()}


def _best(parts: list[tuple[str, str]], scores: list[float]) -> list[str]:
    """Return the parts with the best scores, the better ones of equals first in the text."""
    least = max(NEAR * max(scores, default=0.0), 1e-9)
    ranked = sorted(range(len(parts)), key=lambda number: -scores[number])[:MOST]
    return [parts[number][1] for number in sorted(ranked) if scores[number] >= least]


def _parts(passage: RankedPassage) -> Iterator[tuple[str, str]]:
    """Yield the sentences, items and rows of a passage, each after the heading that it stands below."""
    text = passage.text.removeprefix(f"{passage.title}\n")[:_READ]
    heading = passage.section or ""
    for position, block in enumerate(_BLANK.split(_CODE.sub("\n\n", text).strip("\n"))):
        line = block.strip()
        if not line or _INDENTED.fullmatch(block) or (position == 0 and FRONT.fullmatch(line)):
            continue
        marked = _MARKED.search(block)
        if "\n" not in line and not marked and len(line) <= _HEADING and not _NO_HEADING.search(line):
            heading = line
            continue
        pieces = [piece.strip() for piece in (_MARKED.split(block) if marked else written_sentences(block))]
        pieces = [piece for piece in pieces if not _RULE.fullmatch(piece)]
        head = pieces.pop(0) if line.startswith("|") and len(pieces) > 1 else ""  # of a table
        yield from ((f"{heading} {head}", piece) for piece in pieces)
