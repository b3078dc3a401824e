"""The style of our labels in Neo4j Browser: `gswgraph.grass`, as a file to drop on it and as a command that a
server gives it."""

from __future__ import annotations

import json
import re
from importlib.resources import files

_RULE = re.compile(r"([\w.]+) \{\n(.*?)\n\}", re.DOTALL)
_SETTING = re.compile(r"^\s*([\w-]+): (.*);$", re.MULTILINE)


def grass() -> str:
    """Return the style sheet in Browser's own language."""
    return (files("gsw_graph.engine") / "gswgraph.grass").read_text(encoding="utf-8")


def rules() -> dict[str, dict[str, str]]:
    """Return the style sheet as Browser keeps it: by node or relationship and its label, what is set."""
    return {
        selector: {name: value.strip("'") for name, value in _SETTING.findall(body)}
        for selector, body in _RULE.findall(grass())
    }


def after_login() -> str:
    """Write what a server has Browser do after a login (`browser.post_connect_cmd`): take the style, and put
    away the frames that greet, which speak of films. As JSON, because a semicolon ends a command."""
    return f"style {json.dumps(rules(), separators=(',', ':'))}; clear"
