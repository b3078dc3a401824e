"""What a question needs, and where among ranked passages it was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gsw_graph.loaders.split import SENTENCE_LIMIT, words

if TYPE_CHECKING:
    from gsw_graph.results import RankedPassage


@dataclass(frozen=True, slots=True)
class Gold:
    """One passage that must be found: by its title and text (without a title by either), or by the source
    of its document (whole, or the end of a path)."""

    title: str = ""
    text: str = ""
    source: str = ""


def ranks(gold: Sequence[Gold], passages: Sequence[RankedPassage]) -> list[int | None]:
    """For each thing that must be found its first rank, from 1, or None.

    Passages are told apart by their exact text (`title\\ntext`, HippoRAG's rule), white space aside. Of a
    passage so long that loading cuts it any piece will do.
    """
    shown = [
        (_bare(passage.title, passage.text), _bare("", passage.text), passage.source) for passage in passages
    ]
    return [next((rank for rank, one in enumerate(shown, 1) if _fits(wanted, *one)), None) for wanted in gold]


def _fits(wanted: Gold, whole: str, text: str, source: str) -> bool:
    if wanted.source:
        return source == wanted.source or source.endswith(f"/{wanted.source}")
    bare = _bare(wanted.title, wanted.text)
    if bare == whole or (not wanted.title and bare == text):
        return True
    if text and words(wanted.text) > SENTENCE_LIMIT:
        begins = _bare(wanted.title, "")
        return whole.startswith(begins) and (text in bare)
    return False


def _bare(title: str, text: str) -> str:
    """Title and text without white space, the title once."""
    return "".join((text if title and text.startswith(f"{title}\n") else f"{title}\n{text}").split())
