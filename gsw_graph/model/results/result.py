"""What every result can do: say itself in JSON types."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gsw_graph.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Result:
    """A result that can say itself in JSON types."""

    def to_dict(self) -> dict[str, Any]:
        """This result as JSON types, keys in their documented order."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]


def frame(rows: list[dict[str, Any]], columns: Sequence[str]) -> Any:
    """Rows as a data frame of pandas. Raises InputError where pandas is not installed."""
    try:
        from pandas import DataFrame
    except ImportError:
        raise InputError("pandas is not installed", hint="pip install pandas, or use to_dict()") from None
    return DataFrame(rows, columns=list(columns))
