"""A made world of any size in bounded memory: passage `i` is about a thing of its own name and names four others,
some far oftener than most (Zipf and Mandelbrot), so that names bridge passages; every second passage has a
question-answer pair. Vectors stand in clusters of a hundred passages. Everything follows from the number of the
passage and of all, so that nothing is kept.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from gsw_graph.model import Document, Entity, Passage, QAPair, VerbPhrase, Workspace
from gsw_graph.names import normalise
from gsw_graph.store.rows import Vectors

NAME, DIMENSION, BLOCK = "made", 384, 256
_MOST, _STEP, _SECONDS, _WORDS = 10**6, 617_363, 2000, 3000  # _STEP has an inverse modulo _MOST
_FLAT, _CLUSTER = 20, 100
_PASSAGE, _PAIR, _QUESTION = 0.7, 0.5, 0.4  # noise of a passage around its cluster, of what is about it around it
_SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvwyzx" for vowel in "aeiou"]
_FIRST = re.compile(r"\b((?:[bcdfghjklmnprstvwyzx][aeiou]){3}) [A-Z]", re.IGNORECASE)


def name(number: int) -> str:
    """The name of a thing: a word that only it has, and one that many have."""
    first = _syllables(number * _STEP % _MOST, 3)
    return f"{first.capitalize()} {_syllables(number * 7919 % _SECONDS, 2).capitalize()}n"


def number(text: str) -> int | None:
    """The number of the first thing that a text names."""
    found = _FIRST.search(text)
    if found is None:
        return None
    letters = found[1].lower()
    value = sum(_SYLLABLES.index(letters[2 * n : 2 * n + 2]) * 100**n for n in range(3))
    return int(value * pow(_STEP, -1, _MOST) % _MOST)


def _syllables(value: int, count: int) -> str:
    return "".join(_SYLLABLES[value // 100**n % 100] for n in range(count))


class World:
    """A world of `size` passages, 1,000,000 at most."""

    name, dimension = NAME, DIMENSION

    def __init__(self, size: int) -> None:
        self.size = size
        centres = np.random.default_rng(7).standard_normal((max(size // _CLUSTER, 1), DIMENSION), np.float32)
        self._centres = _unit(centres)
        words = 1 / np.arange(1, _WORDS + 1)
        self._words, self._shares = [_syllables(7 * n, 2) for n in range(_WORDS)], words / words.sum()
        phrases = _unit(np.random.default_rng(8).standard_normal((2, DIMENSION), np.float32))
        self._phrases = dict(zip(("founded", "stands in"), phrases, strict=True))
        self._block = lru_cache(64)(self._vectors)

    def blocks(self) -> Iterator[tuple[list[Workspace], list[Vectors]]]:
        """All workspaces with their vectors, some at a time."""
        for block in range(-(-self.size // BLOCK)):
            others, rng = self.others(block), np.random.default_rng([3, block])
            fill = rng.choice(self._words, (BLOCK, 40), p=self._shares)
            passages, pairs = self._vectors(block)
            workspaces, vectors = [], []
            for n in range(min(BLOCK, self.size - block * BLOCK)):
                workspaces.append(self._workspace(block * BLOCK + n, others[n].tolist(), fill[n].tolist()))
                has = workspaces[-1].verb_phrases
                phrases = {one.phrase: self._phrases[one.phrase] for one in has}
                vectors.append(Vectors(passages[n : n + 1], pairs[n : n + len(has)], phrases=phrases))
            yield workspaces, vectors

    def others(self, block: int) -> np.ndarray:
        """The things that the passages of a block name beside their own: (BLOCK, 4), place, founder and two more."""
        drawn = np.random.default_rng([2, block]).random((BLOCK, 4))
        return np.minimum(_FLAT * ((self.size + _FLAT) / _FLAT) ** drawn - _FLAT, self.size - 1).astype(np.int64)

    def _workspace(self, own: int, others: list[int], fill: list[str]) -> Workspace:
        title, (place, founder, one, other) = name(own), map(name, others)
        text = (
            f"{title} is a {fill[0]} {fill[1]} in {place}. It was founded by {founder}. "
            f"{' '.join(fill[2:20]).capitalize()}. There are {one}, {' '.join(fill[20:38])} and {other}."
        )
        things = list(dict.fromkeys([title, place, founder, one, other]))
        entities = tuple(
            Entity(thing, normalise(thing), passages=(0,), titles=(0,) if thing == title else ()) for thing in things
        )
        phrases: tuple[VerbPhrase, ...] = ()
        if kind := pair_of(own):
            question, answer = (founder_of(title), founder) if kind == "founded" else (place_of(title), place)
            phrases = (VerbPhrase(kind, 0, (QAPair(question, (answer,), (title,)),)),)
        document = Document(f"made/{own}", title, (Passage(text, title, 0),), NAME)
        return Workspace(document, NAME, entities, phrases)

    def _vectors(self, block: int) -> tuple[np.ndarray, np.ndarray]:
        """Of the passages of a block, and of what is asked about each: (BLOCK, DIMENSION)."""
        rng = np.random.default_rng([1, block])
        own = np.arange(block * BLOCK, (block + 1) * BLOCK) * 7919 % len(self._centres)
        passages = _near(self._centres[own], _PASSAGE, rng)
        return passages, _near(passages, _PAIR, rng)

    def encode_query(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of questions: near what they name first; others anywhere, the same each time."""
        found = []
        for text in texts:
            rng = np.random.default_rng(zlib.crc32(text.encode()))
            about = number(text)
            if about is None or about >= self.size:
                found.append(_unit(rng.standard_normal((1, DIMENSION), np.float32))[0])
            else:
                found.append(_near(self._block(about // BLOCK)[1][about % BLOCK][None], _QUESTION, rng)[0])
        return np.array(found, np.float32)

    encode = encode_query

    def questions(self, count: int) -> list[tuple[str, list[str]]]:
        """Questions of two hops with their plans: where the founder of a thing stands."""
        rng = np.random.default_rng(5)
        found: list[tuple[str, list[str]]] = []
        while len(found) < count:
            own = int(rng.integers(self.size))
            founder = int(self.others(own // BLOCK)[own % BLOCK][1])
            if pair_of(own) == "founded" and pair_of(founder) == "stands in":
                asked = f"Where does the founder of {name(own)} stand?"
                found.append((asked, [founder_of(name(own)), place_of("#1")]))
        return found


def pair_of(number: int) -> str | None:
    """The verb phrase of the pair that a passage has, if it has one."""
    return None if number % 2 else "founded" if number % 4 else "stands in"


def founder_of(thing: str) -> str:
    """The question for the founder of a thing."""
    return f"Who founded {thing}?"


def place_of(thing: str) -> str:
    """The question for the place of a thing."""
    return f"Where does {thing} stand?"


def _near(vectors: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    return _unit(vectors + rng.standard_normal(vectors.shape, np.float32) * np.float32(noise / DIMENSION**0.5))


def _unit(vectors: np.ndarray) -> np.ndarray:
    found: np.ndarray = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return found
