"""The routes of the HTTP API as people read them, from what the application says of itself by OpenAPI."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Told:
    """What a route is told. kind: its type. default: as JSON, None where there is none."""

    name: str
    kind: str
    about: str
    needed: bool
    default: str | None


@dataclass(frozen=True)
class Route:
    """A route, what it does, and what it is told."""

    method: str
    path: str
    summary: str
    about: str
    told: list[Told]


def routes(schema: Mapping[str, Any]) -> Iterator[Route]:
    """The routes of an OpenAPI document, in its order."""
    kinds = schema["components"]["schemas"]
    for path, methods in schema["paths"].items():
        for method, one in methods.items():
            told = [
                _told(each["name"], each["schema"], needed=each.get("required", False))
                for each in one.get("parameters", ())
            ]
            for body in one.get("requestBody", {}).get("content", {}).values():
                kind = kinds[body["schema"]["$ref"].rpartition("/")[2]]
                needed = kind.get("required", ())
                told += [
                    _told(name, field, needed=name in needed) for name, field in kind["properties"].items()
                ]
            yield Route(method.upper(), path, one["summary"], one.get("description", ""), told)


def page(schema: Mapping[str, Any]) -> str:
    """The routes as a page, which asks nobody for anything but the style of the server's other page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    inner = Environment(
        autoescape=True, loader=PackageLoader("gsw_graph.serve", "."), undefined=StrictUndefined
    )
    info = schema["info"]
    return inner.get_template("routes.html").render(info=info, routes=list(routes(schema)))


def _told(name: str, field: Mapping[str, Any], *, needed: bool) -> Told:
    default = _json(field["default"]) if "default" in field and not needed else None
    return Told(name, _kind(field), field.get("description", ""), needed, default)


def _kind(field: Mapping[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_kind(one) for one in field["anyOf"])
    if "enum" in field:
        return " or ".join(map(_json, field["enum"]))
    kind = str(field.get("format", field.get("type", "anything")))
    if kind == "array":
        return f"list of {_kind(field['items'])}"
    bounds = [f"{word} {field[key]:.0f}" for key, word in _BOUNDS.items() if key in field]
    return f"{kind} {' '.join(bounds)}".strip()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


_BOUNDS = {
    "minimum": "from",
    "exclusiveMinimum": "above",
    "maximum": "to",
    "minLength": "of at least",
    "maxLength": "of at most",
}
