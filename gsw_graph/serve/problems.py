"""Say in words of the API what does not fit in a request or a call of a tool, without what was sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# What pydantic says of these kinds names classes of Python.
_LIST = "Input should be a list"
_OBJECT = "Input should be an object"
_WORDS = {
    "tuple_type": _LIST,
    "list_type": _LIST,
    "dict_type": _OBJECT,
    "dataclass_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "bool_type": "Input should be true or false",
    "bool_parsing": "Input should be true or false",
    "unexpected_keyword_argument": "Unexpected keyword: there is no such field",
    "extra_forbidden": "Unexpected keyword: there is no such field",
    "value_error": "Input should be a file with its name",  # only what checks an upload raises it
}
_BRANCHES = {"bool", "str", "int", "float"}  # of a value that may be of several types
_MOST = 5  # problems of a message


def describe(problems: Iterable[Mapping[str, Any]], start: int = 0) -> str:
    """Return in one sentence what pydantic lists.

    Args:
        problems: As `ValidationError.errors()` returns them.
        start: The number of parts of a place that do not name a field: 1 where `body` or `query` is first.
    """
    messages: dict[str, dict[str, None]] = {}
    for problem in problems:
        kind = problem["type"]
        fields = [str(part) for part in problem["loc"][start:] if _is_field(part)]
        place = ".".join(fields)
        if kind == "json_invalid" or not fields:
            place = "body"
        texts = messages.setdefault(place, {})
        texts[_WORDS.get(kind, problem["msg"])] = None
    lines = [f"{place}: {' or '.join(texts)}" for place, texts in messages.items()]
    return "; ".join(lines[:_MOST]).replace(" or Input should be", " or")


def _is_field(part: Any) -> bool:
    """Tell whether a part of a place is a field or a position, and not the branch of a type."""
    return isinstance(part, int) or ("[" not in part and part not in _BRANCHES)
