"""Recognise questions that ask for a number or for all of something. A search returns the first `k` passages,
so such a question reads more passages, and the answer says how many were left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gsw_graph.text.words import content_words, idf, sentences, stem, term_coverage

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from gsw_graph.model.results import RankedPassage

LOOKED_AT = 100  # passages of a search for everything
_FITS = 0.8  # share of what the best sentence has of the question, from which another sentence fits like it
_LEAST = 0.3  # of the question, which the best sentence has at least
_FOR_ALL = re.compile(
    r"""^\W*(?:
      (?:.{,40}\W)?how\s+many\b
    | (?:.{,40}\W)?what\s+number\s+of\b
    | (?:what\s+is\s+the\s+)?(?:total\s+)?number\s+of\b
    | (?:please\s+)?(?:list|enumerate|count|name|give|show|find)\s+(?:me\s+)?(?:all|every|each)\b
    | (?:please\s+)?(?:list|enumerate|count)\b
    | (?:what|which|who)\s+(?:are|were)\s+all\b
    | wie\s*viele\b
    | (?:nenne|liste|zähle)\b.{,20}\balle
    | combien\s+d
    | (?:liste|énumère|nomme)[rz]?\b.{,20}\bt(?:ous|outes)\b
    | cu[aá]nt[oa]s\b
    | (?:lista|enumera|nombra)\b.{,20}\btod[oa]s\b
    | quant[ie]\b
    | elenca\b.{,20}\btutt[ie]\b
    | quant[oa]s\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)


def asks_for_all(question: str) -> bool:
    """Tell whether a question asks for a number or for all of something."""
    return _FOR_ALL.search(question) is not None


def fitting(question: str, passages: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Return the passages with a sentence that has about as much of the question as the best sentence has."""
    every: list[frozenset[str]] = []
    ends = []
    for passage in passages:
        every += [_stems(f"{passage.title} {sentence}") for sentence in sentences(passage.text)]
        ends.append(len(every))
    wanted = _stems(question) & frozenset().union(*every)
    weights = idf(wanted, every)
    shares = [term_coverage(wanted, words, idf=weights) for words in every]
    least = max(_FITS * max(shares, default=0.0), _LEAST)
    fits = []
    begin = 0
    for passage, end in zip(passages, ends, strict=True):
        if max(shares[begin:end], default=0.0) >= least:
            fits.append(passage)
        begin = end
    return fits


def left_out(
    question: str, looked_at: Sequence[RankedPassage], used: Collection[str], verb: str
) -> list[str]:
    """Return a note that says how many of the fitting passages were used; no note if all were.

    Args:
        question: The question.
        looked_at: The passages of a wide search.
        used: Ids of the passages that were used.
        verb: The use of the passages: "shown" or "read".
    """
    fits = fitting(question, looked_at)
    number = sum(passage.id in used for passage in fits)
    if number >= len(fits):
        return []
    least = "at least " if len(fits) >= LOOKED_AT else ""
    more = "; a larger k shows more" if verb == "shown" else ""
    return [f"{number} of {least}{len(fits)} passages that fit the question were {verb}{more}"]


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, content_words(text)))
