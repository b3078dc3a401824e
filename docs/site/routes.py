"""The routes of the HTTP API, from what the application says of itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gsw_graph.serve.app import described


def sections() -> str:
    """A section for each route: what it does, its parameters."""
    schema = described().openapi()
    parts: list[str] = []
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            parts += [
                f"## {method.upper()} {path}",
                "",
                f"{route['summary']}. {route.get('description', '')}",
                "",
            ]
            rows = [
                _row(each["name"], each["schema"], each.get("required", False))
                for each in route.get("parameters", ())
            ]
            for body in route.get("requestBody", {}).get("content", {}).values():
                kind = schema["components"]["schemas"][body["schema"]["$ref"].rpartition("/")[2]]
                rows += [
                    _row(name, field, name in kind.get("required", ()))
                    for name, field in kind["properties"].items()
                ]
            if rows:
                parts += ["| | | |", "|---|---|---|", *rows, ""]
    return "\n".join(parts)


def _row(name: str, field: Mapping[str, Any], needed: bool) -> str:
    default = "needed" if needed else f"`{json.dumps(field['default'])}`" if "default" in field else ""
    return f"| `{name}` | {field.get('description', '')} | {default} |"
