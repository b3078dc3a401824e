"""Blocks of text to passages of about 200 words that end where a sentence ends.

Sentence ends come from `sentencex`, which knows abbreviations and quotations and rather leaves two sentences
together than cut one. Splitters that only follow Unicode's sentence rule or line ends cut after "J. R. R."
and at every line of hard-wrapped text.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from gsw_graph.text.words import SPACELESS, written_sentences

# Small embedding models read about 256 tokens, which is about 200 English words; MOST leaves space for
# the end of a paragraph.
TARGET, MOST, LEAST, CRUMB = 200, 240, 80, 20
TOPIC = 100  # words that a section has, and what precedes it, if a cut falls between them
SENTENCE_LIMIT = 1000
"""A sentence of more words than this is cut; a corpus record of at most this many words stays one passage."""

# A script without spaces counts a word a character, as embedding models do, or every four, if it is an
# alphabet as that of Thai; a long run without spaces counts a word every 16 characters.
_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]|[{SPACELESS}]{{1,4}}|[^\s{_CJK}{SPACELESS}]{{1,16}}")
_SPACELESS = re.compile(rf"[{SPACELESS}]")
# Some punctuation without end takes `segment` quadratic time: it sees this many characters at once, more than
# a sentence may have.
_WINDOW = 20_000
_PARAGRAPH_END = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading or code block with the white space that follows it. A heading is never cut off
    from the next block; `level` is its depth."""

    text: str
    kind: Literal["prose", "heading", "lines"] = "prose"
    level: int = 0


def words(text: str) -> int:
    """Return how many words a text counts as."""
    return len(_WORD.findall(text))


def paragraphs(text: str) -> Iterator[Block]:
    """Yield the paragraphs of a plain text; joined they are the text."""
    ends = [0, *(match.end() for match in _PARAGRAPH_END.finditer(text)), len(text)]
    return (Block(text[a:b]) for a, b in pairwise(ends) if a < b)


def split(blocks: Iterable[Block]) -> list[str]:
    """Return passages of about 200 words, in order, with nothing lost but the white space between them.

    A cut falls before a heading if the text before and the text below are of fair size, and between
    paragraphs if that gives a passage of fair size, else between sentences. A code block or table of up to
    240 words stays whole. Only a sentence above 1000 words is cut inside: at a line end, else at white space,
    else between characters. Headings without text give nothing.
    """
    passages: list[list[str]] = [[]]
    size = 0

    for begins_topic, units in _with_headings([*blocks]):
        counts = [words(unit) for unit in units]
        is_full = size >= LEAST and size + sum(counts) > MOST
        if is_full or (begins_topic and size >= TOPIC):
            passages.append([])
            size = 0
        total = size + sum(counts)
        if total <= MOST:
            passages[-1].extend(units)
            size = total
            continue
        # Equal shares, so that a paragraph a little too long does not leave a crumb.
        share = total / math.ceil(total / MOST)
        for unit, count in zip(units, counts, strict=True):
            if size >= share or (size > CRUMB and size + count > MOST):
                passages.append([])
                size = 0
            passages[-1].append(unit)
            size += count
    texts = ["".join(units) for units in passages]
    if len(texts) > 1 and size < LEAST and words(texts[-2]) + size <= MOST + LEAST:
        # A short end belongs to what precedes it; a crumb of its own is hard to find.
        texts[-2:] = [texts[-2] + texts[-1]]
    return [text.strip() for text in texts if text.strip()]


def _with_headings(blocks: list[Block]) -> Iterator[tuple[bool, list[str]]]:
    """Yield whether each block begins a topic, and its units that are not to be cut; headings come before the
    first unit of the block they lead."""
    topics = _topics(blocks)
    heading = ""
    begins_topic = is_next = False
    units: list[str] = []
    for number, block in enumerate(blocks):
        if block.kind == "heading" and block.text.strip():
            heading += block.text
            is_next |= number in topics
        elif block.text.strip():
            if units:
                yield begins_topic, units
            units = [piece for unit in _units(block) for piece in _cut(unit)]
            units[0] = heading + units[0]
            heading = ""
            begins_topic = is_next
            is_next = False
    if units:  # a heading that leads nothing stays with what precedes it
        units[-1] += heading
        yield begins_topic, units


def _topics(blocks: Iterable[Block]) -> set[int]:
    """Return the numbers of the headings that lead at least TOPIC words, with what subheadings lead."""
    topics: set[int] = set()
    above: list[tuple[int, int, int]] = []  # headings: level, number, how many words precede it
    total = 0
    for number, block in enumerate([*blocks, Block("", "heading")]):
        if block.kind != "heading":
            total += words(block.text)
            continue
        while above and above[-1][0] >= block.level:
            _, heading, before = above.pop()
            if total - before >= TOPIC:
                topics.add(heading)
        above.append((block.level, number, total))
    return topics


def _units(block: Block) -> list[str]:
    if block.kind == "lines":
        return [block.text] if words(block.text) <= MOST else block.text.splitlines(keepends=True)
    units: list[str] = []
    start = 0
    while start < len(block.text):
        sentences = written_sentences(block.text[start : start + _WINDOW])
        if start + _WINDOW < len(block.text) and len(sentences) > 1:
            sentences.pop()  # it may go on after the window
        for sentence in sentences:
            if units and (sentence[:1].islower() or not sentence.strip()):
                units[-1] += sentence  # no sentence begins with a small letter: an abbreviation was before it
            else:
                units.append(sentence)
        start += sum(map(len, sentences))
    return units


def _cut(unit: str) -> list[str]:
    """Return a unit as it is, or in pieces of about 200 words where it is above the limit."""
    starts = [match.start() for match in _WORD.finditer(unit)]
    # No sentence end can be told in Thai, so that a long sentence is none.
    if len(starts) <= (MOST if _SPACELESS.search(unit) else SENTENCE_LIMIT):
        return [unit]
    cuts = [0]
    at = 0
    while len(starts) - at > MOST:
        at = _best(unit, starts, range(at + MOST, at + TARGET - LEAST, -1))
        cuts.append(starts[at])
    return [unit[a:b] for a, b in pairwise([*cuts, len(unit)])]


def _best(unit: str, starts: list[int], candidates: range) -> int:
    """Return the last candidate word that begins a line, else one after white space, else one that parts no
    combined character."""
    for n in candidates:
        if "\n" in unit[starts[n - 1] : starts[n]]:
            return n
    for n in candidates:
        if unit[starts[n] - 1].isspace():
            return n
    for n in candidates:
        around = unit[starts[n] - 1 : starts[n] + 1]
        if "\u200d" not in around and not unicodedata.category(around[-1]).startswith("M"):
            return n
    return candidates[0]
