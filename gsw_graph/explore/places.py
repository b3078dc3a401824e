"""Find the place of a passage that answers: the sentences, items of lists and rows of tables with most words
of the question, and the lines around them.

A word counts more if it is rare among the passages of the answer; of the first passages the meaning counts
too, if an embedder is at hand. Headings, and the head of a table, count for the parts below them. Code and
the line of front matter are no places; code is shown beside a place.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from gsw_graph.text.safe_text import clean, one_line
from gsw_graph.text.words import idf, term_coverage, terms, written_sentences
from gsw_graph.values import unique

if TYPE_CHECKING:
    from gsw_graph.model.results import Answer, RankedPassage
    from gsw_graph.models.embed.embedder import Embedder

MOST = 2  # places of a passage
NEAR = 0.8  # share of the score of the best place that another has at least
ABOVE = 0.5  # what a word of the headings counts beside a word of the place itself
AROUND = 0.7  # share of the best score that what stands beside the best place has more
_READ = 20_000  # characters of a passage
_HEADING = 80  # characters of a heading
_EMBEDDED = 3  # passages whose parts are embedded, and at most so many parts with so many characters
_EMBEDDED_PARTS = 120
_EMBEDDED_CHARACTERS = 500
_TRIED = 60  # parts for an excerpt

_BLANK = re.compile(r"\n[ \t]*\n")
_CODE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"[ \t]*(?:`{3}|~{3})")
_MARKED = re.compile(r"^(?=[ \t]*(?:[-*+•>|#]|\d{1,3}[.)])[ \t]?\S)", re.MULTILINE)
_RULE = re.compile(r"[\s|:+=-]*")  # of a table
_NO_HEADING = re.compile(r"[.:;,!?…]$|: ")
_FRONT = re.compile(r"[\w][\w .-]{0,40}: [^;\n]+(?:; [\w][\w .-]{0,40}: [^;\n]+)+|[a-z][\w-]{0,40}: [^\n]+")


class Part(NamedTuple):
    """Hold a piece of a passage as written: a `heading`, `sentence`, `item` of a list, `row` of a table or
    `code`; with its block, the heading above, and the head of its table."""

    kind: str
    block: int
    heading: str
    head: str
    written: str

    @property
    def text(self) -> str:
        return self.written.strip()

    @property
    def is_place(self) -> bool:
        return self.kind not in ("heading", "code")


class Line(NamedTuple):
    """Hold a line of an excerpt."""

    text: str
    is_heading: bool = False


class Found(NamedTuple):
    """Hold the parts of a passage with their scores."""

    parts: list[Part]
    scores: list[float]
    cited: list[str]

    def places(self) -> list[str]:
        """Return the texts with the best scores, the first of equals; for a cited passage the cited text."""
        if self.cited:
            return self.cited
        least = NEAR * max(self.scores, default=0.0)
        near = [number for number, score in enumerate(self.scores) if score and score >= least]
        near.sort(key=self.scores.__getitem__, reverse=True)
        return [self.parts[number].text for number in sorted(near[:MOST])]

    def excerpt(self, most: int, width: int) -> tuple[str, list[Line]]:
        """Return the best place with the lines around it, within a number of lines, and the heading above. An
        ellipsis marks an omission."""
        body = [number for number, part in enumerate(self.parts) if part.kind != "heading"]
        if not body:
            return "", []
        best = max(body, key=self.scores.__getitem__)
        near = AROUND * (self.scores[best] or 1)
        worth = {number: self.scores[number] + near / (1 + abs(number - best)) for number in body}
        later = [number for number in body if number > best]
        following = later[0] if later else None
        if following is not None and self.parts[best].text.endswith(":"):
            worth[following] += worth[best]
        worth[best] = math.inf
        chosen: list[int] = []
        shown: list[Line] = []
        for number in sorted(body, key=worth.__getitem__, reverse=True)[:_TRIED]:
            tried = sorted([*chosen, number])
            lines = _laid(self.parts, tried, width, most)
            spare = most - len(shown)
            if len(lines) > most and number == following and spare > 1:
                lines = _laid(self.parts, tried, width, spare)
            if len(lines) <= most:
                chosen, shown = tried, lines
        return self.parts[chosen[0]].heading, shown


def places(answer: Answer, embedder: Embedder | None = None) -> dict[str, list[str]]:
    """Return the answering places of each passage of an answer, as written and in the order of the text. For
    a cited passage they are the cited text."""
    return {passage: found.places() for passage, found in find(answer, embedder).items()}


def find(answer: Answer, embedder: Embedder | None = None) -> dict[str, Found]:
    """Return the parts of each passage of an answer, with their scores.

    Args:
        answer: Answer of `Memory.ask`.
        embedder: Compares the parts of the first passages with the question.
    """
    cited: dict[str, list[str]] = {}
    for citation in answer.citations:
        cited.setdefault(citation.passage, []).append(citation.text)
    parts = {passage.id: list(_parts(passage)) for passage in answer.passages}
    texts = [[part.text for part in own if part.is_place] for own in parts.values()]
    question_terms = terms(answer.question)
    weights = idf(question_terms, [terms(text) for text in chain.from_iterable(texts)])
    nearness: Mapping[str, float] = {}
    if embedder is not None:
        read = unique(chain.from_iterable(texts[:_EMBEDDED]))
        nearness = _nearness(answer.question, read[:_EMBEDDED_PARTS], embedder)
    found = {}
    for passage, own in parts.items():
        quotes = cited.get(passage, [])
        said = [text.casefold() for text in [answer.answer, *quotes] if text]
        scores = [_score(part, weights, said) + nearness.get(part.text, 0.0) for part in own]
        found[passage] = Found(own, scores, quotes)
    return found


def shown_text(passage: RankedPassage) -> str:
    """Return the text of a passage without its title, and without the line that front matter has become."""
    text = passage.text.removeprefix(f"{passage.title}\n").strip("\n")
    first = _BLANK.split(text, maxsplit=1)[0]
    return text.removeprefix(first).lstrip("\n") if _FRONT.fullmatch(first.strip()) else text


def section_line(passage: RankedPassage, heading: str) -> str:
    """Return the place of a passage in its document: its section, and the heading above the shown part."""
    steps = [*(passage.section or "").split(" > "), heading]
    return one_line(" › ".join(dict.fromkeys(step for step in steps if step not in ("", passage.title))))


def _score(part: Part, weights: Mapping[str, float], said: Sequence[str]) -> float:
    """Return the share of the question's words that a part has, and 1 more if it holds what is said."""
    if not part.is_place:
        return 0.0
    score = term_coverage(weights.keys(), terms(part.text), idf=weights)
    if score:
        score += ABOVE * term_coverage(weights.keys(), terms(f"{part.heading} {part.head}"), idf=weights)
    text = part.text.casefold()
    return score + any(known in text for known in said)


def _nearness(question: str, texts: list[str], embedder: Embedder) -> dict[str, float]:
    """Return for texts how near each is to the question, from 0 to 1."""
    if not texts:
        return {}
    vectors = embedder.encode([text[:_EMBEDDED_CHARACTERS] for text in texts])
    cosines = vectors @ embedder.encode_query([question])[0]
    least = cosines.min()
    nearness = (cosines - least) / (cosines.max() - least or 1.0)
    return dict(zip(texts, nearness.tolist(), strict=True))


def _parts(passage: RankedPassage) -> Iterator[Part]:
    """Yield the parts of a passage."""
    text = shown_text(passage)[:_READ]
    heading = (passage.section or "").rpartition(" > ")[2]
    block = end = 0
    for code in [*_CODE.finditer(text), None]:
        until = code.start() if code else len(text)
        for written in _BLANK.split(text[end:until].strip("\n")):
            if not written.strip():
                continue
            block += 1
            if _is_heading(written.strip()):
                heading = written.strip()
                yield Part("heading", block, heading, "", heading)
            elif _is_code(written):
                yield Part("code", block, heading, "", written)
            else:
                yield from _pieces(written, block, heading)
        if code:
            block += 1
            end = code.end()
            yield Part("code", block, heading, "", code[0])


def _pieces(written: str, block: int, heading: str) -> Iterator[Part]:
    """Yield the sentences, items or rows of a block."""
    kind, head = "sentence", ""
    if _MARKED.search(written):
        kind = "item"
        pieces = _MARKED.split(written)
    else:
        pieces = list(written_sentences(written))
    texts = [piece for piece in pieces if not _RULE.fullmatch(piece)]
    if written.lstrip().startswith("|"):
        kind = "row"
        if len(texts) > 1:
            head = texts.pop(0)
    for text in texts:
        yield Part(kind, block, heading, head, text)


def _laid(parts: list[Part], chosen: list[int], width: int, most: int) -> list[Line]:
    """Lay out some parts of a passage: sentences that follow each other run on, all else has its own lines,
    at most so many each."""
    lines: list[Line] = []
    heading, head = parts[chosen[0]].heading, ""
    for part in _joined(parts, chosen):
        if part.heading != heading:
            lines.append(Line(one_line(part.heading), is_heading=True))
        if part.head not in ("", head):
            lines.append(Line(one_line(part.head)))
        heading, head = part.heading, part.head
        lines += map(Line, _lines(part, width, most))
    return lines


def _joined(parts: list[Part], chosen: list[int]) -> list[Part]:
    """Return the parts, sentences that follow each other as one; an ellipsis is for what is left out."""
    joined: list[Part] = []
    before = -1  # the number of the last part
    for number, following in zip(chosen, [*chosen[1:], len(parts)], strict=True):
        part = parts[number]
        if any(other.kind != "heading" for other in parts[number + 1 : following]):
            end = "\n…" if part.kind == "code" else " …"
            part = part._replace(written=part.written.rstrip() + end)
        goes_on = joined and before == number - 1 and part.kind == "sentence"
        if goes_on and joined[-1][:2] == part[:2]:
            joined[-1] = joined[-1]._replace(written=joined[-1].written + part.written)
        else:
            joined.append(part)
        before = number
    return joined


def _lines(part: Part, width: int, most: int) -> list[str]:
    if part.kind == "code":
        code = [line for line in clean(part.written).expandtabs().split("\n") if not _FENCE.match(line)]
        lines = list(filter(str.strip, textwrap.dedent("\n".join(code)).split("\n")))
        return [*lines[: most - 1], "…"] if len(lines) > most else lines
    start = later = ""
    if part.kind == "item":
        start = part.written[: -len(part.written.lstrip())]
    if part.kind in ("item", "row"):
        later = f"{start}  "
    return textwrap.wrap(
        one_line(part.written),
        max(width, 20 + len(later)),
        initial_indent=start,
        subsequent_indent=later,
        max_lines=most,
        placeholder=" …",
    )


def _is_code(block: str) -> bool:
    return all(line.startswith(("    ", "\t")) for line in block.split("\n"))


def _is_heading(line: str) -> bool:
    if "\n" in line or len(line) > _HEADING:
        return False
    return not _MARKED.search(line) and not _NO_HEADING.search(line)
