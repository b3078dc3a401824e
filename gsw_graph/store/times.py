"""What is asked of the graph about time: dates within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gsw_graph.store.reader import Reader

FIRST, LAST = "0001-01-01", "9999-12-31"


@dataclass(frozen=True, slots=True)
class DateBounds:
    """Bound the first and the last day of a date, as ISO days, inclusive."""

    from_least: str = FIRST
    from_most: str = LAST
    to_least: str = FIRST
    to_most: str = LAST


def dated(
    reader: Reader,
    embedding: Sequence[float],
    keys: Sequence[str],
    bounds: DateBounds,
    *,
    near: int,
    common: int,
) -> dict[str, str]:
    """Return passages near a question with a date that lies within bounds, and the first day of the earliest.

    Args:
        reader: of the memory.
        embedding: of the question.
        keys: what may be names in it, in their normal form.
        bounds: of the dates.
        near: passages of the vector index that are looked at.
        common: passages in which a name stands that still brings its own.
    """
    rows = reader._run(
        "read/dated", embedding=embedding, keys=keys, **asdict(bounds), near=near, common=common
    )
    return {row["passage"]: row["first"] for row in rows}
