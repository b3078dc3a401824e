"""Whether an answer of a language model stands in the evidence, and on which lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from gsw_graph.names import CONNECTORS, FUNCTION_WORDS, LETTERS, normalise

if TYPE_CHECKING:
    from gsw_graph.answer.evidence import Item

# share of an answer's words that must stand somewhere, where no line has them all: "Rome and Oslo", two parts
# of a date in another form
_HELD = 0.6
_STEM = 5  # letters: "American" stands for America, "Roomassa" for Rooma
_YES_NO = frozenset(
    """yes no oui non si sí sì sim não nao ja nein nee nej nei jo tak nie
    ano ne evet hayır da nu igen nem kyllä ei ya tidak có không
    ναι όχι да нет так ні
    はい いいえ 是 是的 不是 否 不 예 네 아니요 아니오 हाँ हां नहीं نعم لا כן לא""".split()
)
_CLAUSE = re.compile("[,.;:!，。、！]")
_WORD = re.compile(LETTERS)
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)  # scripts without spaces


def supported(
    question: str,
    answer: str,
    named: Sequence[int],
    items: Sequence[Item],
    *,
    judged: bool,
    inferred: bool = False,
) -> list[int]:
    """The places of the lines that an answer stands on: those that a model named, and the first that holds
    its words if none of these does.

    Empty where it stands on nothing. A judgement (yes or no, one of the things that the question names, what
    a comparing step says: `judged`) need not stand anywhere in words; without named lines it stands on the
    one that is nearest to it. Nor need an answer of which the model says that it follows from the lines that
    it names (`inferred`); it stands on these, and on nothing without them.
    """
    named = list(dict.fromkeys(place for place in named if 0 <= place < len(items)))
    # "Three" is a function word, "!!!" is none at all.
    words = words_of(answer) or words_of(answer, every=True) or frozenset([answer.casefold()])
    yes_no = is_yes_no(answer)
    if judged or yes_no or words <= words_of(question):
        return named or _most(words_of(question) if yes_no else words, items)[:1]
    shares = [_share(words, item.text) for item in items]
    if max(shares, default=0.0) < 1:  # a line is short; the passage it was taken from may say more
        shares = [
            max(share, _share(words, item.passage.text)) for share, item in zip(shares, items, strict=True)
        ]
    if held := [place for place, share in enumerate(shares) if share == 1]:
        return named if set(named) & set(held) else [*named, held[0]]
    if inferred:
        return named
    if _share(words, " ".join(f"{item.text} {item.passage.text}" for item in items)) < _HELD:
        return []
    return named or _most(words, items)[:1]


def is_yes_no(answer: str) -> bool:
    """Whether an answer is yes or no, whatever follows: "No, he was not", and not "No Doubt"."""
    return _CLAUSE.split(answer.casefold(), maxsplit=1)[0].strip() in _YES_NO


def _most(words: Collection[str], items: Sequence[Item]) -> list[int]:
    """Places of lines, those with most of some words first."""
    shares = [_share(words, item.text) for item in items]
    return sorted(range(len(items)), key=lambda place: -shares[place])


def _share(words: Collection[str], text: str) -> float:
    """The share of some words that stand in a text."""
    there, whole = words_of(text, every=True), text.casefold()
    return sum(_stands(word, there, whole) for word in words) / len(words) if words else 0.0


def _stands(word: str, there: Collection[str], whole: str) -> bool:
    if word in there or (word in whole and (_UNSPACED.search(word) or not _WORD.search(word))):
        return True
    return (
        word.isalpha()
        and len(word) >= _STEM
        and any(len(other) >= _STEM and (other.startswith(word) or word.startswith(other)) for other in there)
    )


def words_of(text: str, *, every: bool = False) -> frozenset[str]:
    """The words of a text of any length, each in the normal form of names; without `every` function words
    apart."""
    words = frozenset(filter(None, map(normalise, _WORD.findall(text))))
    return words if every else words - FUNCTION_WORDS - CONNECTORS
