"""The routes of the HTTP API, from what the application says of itself."""

from __future__ import annotations

from typing import Any

from gsw_graph.serve.app import described


def sections() -> str:
    """A section for each route: what it does, what it is told."""
    schema = described()
    kinds = schema["components"]["schemas"]
    parts: list[str] = []
    for path, methods in schema["paths"].items():
        for method, one in methods.items():
            parts += [
                f"## {method.upper()} {path}",
                "",
                f"{one['summary']}. {one.get('description', '')}",
                "",
            ]
            rows = [
                _row(each["name"], each["schema"], each.get("required", False))
                for each in one.get("parameters", ())
            ]
            for body in one.get("requestBody", {}).get("content", {}).values():
                kind = kinds[body["schema"]["$ref"].rpartition("/")[2]]
                needed = kind.get("required", ())
                rows += [_row(name, field, name in needed) for name, field in kind["properties"].items()]
            if rows:
                parts += ["| | | |", "|---|---|---|", *rows, ""]
    return "\n".join(parts)


def _row(name: str, field: dict[str, Any], required: bool) -> str:
    default = "needed" if required else f"`{field['default']!r}`" if "default" in field else ""
    return f"| `{name}` | {field.get('description', '')} | {default} |"
