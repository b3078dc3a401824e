"""Find the place of a passage that answers: the sentences, items of lists and rows of tables with most words
of the question.

A word counts more if it is rare among the passages of the answer. Headings, and the head of a table, count
for what stands below them. Code, and the line that front matter has become, are no places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from gsw_graph.text.words import idf, term_coverage, terms, written_sentences

if TYPE_CHECKING:
    from gsw_graph.model.results import Answer, RankedPassage

MOST = 2  # places of a passage
NEAR = 0.8  # share of the score of the best place that another has at least
ABOVE = 0.5  # what a word of the headings counts beside a word of the place itself
_READ = 20_000  # characters of a passage
_HEADING = 80  # characters of a heading

_BLANK = re.compile(r"\n[ \t]*\n")
_CODE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_MARKED = re.compile(r"^(?=[ \t]*(?:[-*+•>|#]|\d{1,3}[.)])[ \t]?\S)", re.MULTILINE)
_RULE = re.compile(r"[\s|:+=-]*")  # of a table
_NO_HEADING = re.compile(r"[.:;,!?…]$|: ")
_FRONT = re.compile(r"[\w][\w .-]{0,40}: [^;\n]+(?:; [\w][\w .-]{0,40}: [^;\n]+)+|[a-z][\w-]{0,40}: [^\n]+")


class _Part(NamedTuple):
    """A sentence, an item or a row, and the headings above it."""

    above: str
    text: str


def places(answer: Answer) -> dict[str, list[str]]:
    """Return for each passage of an answer the places that answer, as written and in the order of the text.
    Of a passage that the answer cites they are what it cites."""
    found: dict[str, list[str]] = {}
    for citation in answer.citations:
        found.setdefault(citation.passage, []).append(citation.text)
    parts = {passage.id: list(_parts(passage)) for passage in answer.passages}
    asked = terms(answer.question)
    part_terms: list[frozenset[str]] = []
    for own in parts.values():
        part_terms += [terms(part.text) for part in own]
    weights = idf(asked, part_terms)
    for passage, own in parts.items():
        if passage not in found:
            scores = [_score(part, weights, answer.answer) for part in own]
            found[passage] = _best(own, scores)
    return {passage: found[passage] for passage in parts}


def _score(part: _Part, weights: Mapping[str, float], answer: str | None) -> float:
    """Return the share of the question's words that a part has, and 1 more if the part holds the answer."""
    score = term_coverage(weights.keys(), terms(part.text), idf=weights)
    if score:
        score += ABOVE * term_coverage(weights.keys(), terms(part.above), idf=weights)
    if answer and answer.casefold() in part.text.casefold():
        score += 1
    return score


def _best(parts: list[_Part], scores: list[float]) -> list[str]:
    """Return the texts with the best scores; the first of equals."""
    best = max(scores, default=0.0)
    near = [number for number, score in enumerate(scores) if score and score >= NEAR * best]
    near.sort(key=scores.__getitem__, reverse=True)
    return [parts[number].text for number in sorted(near[:MOST])]


def _parts(passage: RankedPassage) -> Iterator[_Part]:
    """Yield the parts of a passage."""
    text = passage.text.removeprefix(f"{passage.title}\n")
    text = _CODE.sub("\n\n", text[:_READ])
    heading = passage.section or ""
    for position, block in enumerate(_BLANK.split(text.strip("\n"))):
        line = block.strip()
        is_front = position == 0 and _FRONT.fullmatch(line)
        if not line or is_front or _is_code(block):
            continue
        if _is_heading(line):
            heading = line
            continue
        pieces = _MARKED.split(block) if _MARKED.search(block) else written_sentences(block)
        texts = [piece.strip() for piece in pieces if not _RULE.fullmatch(piece)]
        above = heading
        if line.startswith("|") and len(texts) > 1:
            head = texts.pop(0)
            above = f"{heading} {head}"
        for piece in texts:
            yield _Part(above, piece)


def _is_code(block: str) -> bool:
    return all(line.startswith(("    ", "\t")) for line in block.split("\n"))


def _is_heading(line: str) -> bool:
    if "\n" in line or len(line) > _HEADING:
        return False
    return not _MARKED.search(line) and not _NO_HEADING.search(line)
