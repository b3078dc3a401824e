"""The schemas that OpenAI refuses with `strict`:
https://platform.openai.com/docs/guides/structured-outputs, "Supported schemas"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_REFUSED = (
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
    "default",
)


def problem(asked: object) -> str | None:
    """What OpenAI would have against the `json_schema` of a `response_format`, or None."""
    if not isinstance(asked, Mapping):
        return "Missing required parameter: 'response_format.json_schema'."
    name, schema = asked.get("name"), asked.get("schema")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return "Invalid 'response_format.json_schema.name': letters, digits, '_' and '-', at most 64."
    if not isinstance(schema, Mapping):
        return "Missing required parameter: 'response_format.json_schema.schema'."
    if not asked.get("strict"):
        return None
    wrong = (
        "schema must have type 'object' and no 'anyOf' at its root"
        if schema.get("type") != "object" or "anyOf" in schema
        else _wrong(schema, ())
    )
    return f"Invalid schema for response_format '{name}': {wrong}." if wrong else None


def _wrong(schema: Any, place: tuple[str, ...]) -> str | None:
    if not isinstance(schema, Mapping):
        return f"In context={place}, a schema is an object"
    if refused := [word for word in _REFUSED if word in schema]:
        return f"In context={place}, '{refused[0]}' is not permitted"
    properties = schema.get("properties", {})
    if schema.get("type") == "object" or "properties" in schema:
        if schema.get("additionalProperties") is not False:
            return f"In context={place}, 'additionalProperties' is required to be supplied and to be false"
        if set(schema.get("required", ())) != set(properties):
            return (
                f"In context={place}, 'required' is required to be supplied and to be an "
                "array "
                "including every key in properties"
            )
    if schema.get("type") == "array" and "items" not in schema:
        return f"In context={place}, array schema missing items"
    inner = [((*place, "properties", key), value) for key, value in properties.items()]
    inner += [((*place, "$defs", key), value) for key, value in schema.get("$defs", {}).items()]
    inner += [((*place, "anyOf", str(number)), value) for number, value in enumerate(schema.get("anyOf", ()))]
    inner += [((*place, "items"), schema["items"])] if "items" in schema else []
    return next((wrong for where, value in inner if (wrong := _wrong(value, where))), None)
