"""A picture as one HTML file. The library that draws it (Cytoscape.js), our script and the data stand in the
file; its Content-Security-Policy lets these two scripts run and nothing be fetched.

What documents say reaches the page as JSON alone, which `assets/page.js` shows as text and never as HTML.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
from dataclasses import asdict
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from gsw_graph.errors import InputError
from gsw_graph.explore.picture.colours import COLOURS, FOUND, OTHER
from gsw_graph.text.safe_text import clean, cut, one_line

if TYPE_CHECKING:
    from gsw_graph.explore.picture.picture import Picture

CAPTION = 300
VALUE = 2_000
FRAME = 560  # pixels, in a notebook
SCRIPTS = "cytoscape.min.js", "page.js"


def page(picture: Picture) -> str:
    """Render the page of a picture."""
    return rendered(data(picture))


def rendered(shown: dict[str, Any]) -> str:
    """Render the page of what `data` gave."""
    loader = PackageLoader("gsw_graph.explore.picture", "assets")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    library, script = (_asset(name) for name in SCRIPTS)
    return environment.get_template("page.html.j2").render(
        title=shown["title"],
        policy=f"default-src 'none'; script-src {scripts()}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        style=_asset("page.css"),
        library=library,
        script=script,
        data=_json(shown),
    )


def scripts() -> str:
    """Return the scripts of a page as a Content-Security-Policy names them; a page that frames one must allow
    them too."""
    return " ".join(_hash(_asset(name)) for name in SCRIPTS)


def framed(picture: Picture) -> str:
    """Render the page inside another, such as a notebook: in a frame that may run its scripts alone."""
    inner = escape(page(picture))
    style = f"width: 100%; height: {FRAME}px; border: 1px solid #8886; border-radius: 6px"
    return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{inner}"></iframe>'


def write(made: str | bytes, path: str | Path) -> Path:
    """Write a page, or a picture in bytes, whole or not at all: beside its place, then renamed onto it.
    Raises InputError where that cannot be done."""
    target = check(path)
    part = target.with_name(f".{target.name[:100]}.{secrets.token_hex(4)}")
    try:
        part.write_bytes(made if isinstance(made, bytes) else made.encode("utf-8", "replace"))
        part.replace(target)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"the picture cannot be written ({reason})", where=str(path)) from error
    finally:
        part.unlink(missing_ok=True)
    return target


def check(path: str | Path) -> Path:
    """Check that a file can be written there, before work is done for it. Raises InputError where there is a
    folder, or none around it."""
    target = Path(path).expanduser()
    try:
        os.fsencode(target)
        if "\0" in str(path):
            raise InputError("this is no name of a file", where=one_line(str(path)))
        if not str(path).strip() or target.is_dir():
            hint = "Name a file in it, such as picture.html"
            raise InputError("this is a folder", where=str(path), hint=hint)
        if not target.parent.is_dir():
            raise InputError("there is no such folder", where=str(target.parent), hint="Make it first")
    except (ValueError, OSError) as error:  # a name that no file can have
        raise InputError(f"this is no name of a file ({error})", where=one_line(str(path))) from error
    return target


def data(picture: Picture) -> dict[str, Any]:
    """Return what the script is given: `title`, `said`, `notes`, `columns`, `colours` by label, `nodes`,
    `edges`, and by id the `passages` behind them; texts within bounds."""
    nodes, edges = picture.nodes.values(), picture.edges.values()
    labels = dict.fromkeys(node.label for node in nodes)
    behind = {id_ for node in nodes for id_ in node.behind} | {id_ for edge in edges for id_ in edge.behind}
    return {
        "title": cut(one_line(picture.title), CAPTION),
        "said": cut(one_line(picture.said), VALUE),
        "notes": picture.notes,
        "columns": [cut(one_line(column), CAPTION) for column in picture.columns],
        "colours": {label: {**COLOURS, **FOUND}.get(label, OTHER) for label in labels},
        "nodes": [
            {
                **asdict(node),
                "caption": cut(one_line(node.caption), CAPTION),
                "lines": [(one_line(head), cut(text, VALUE)) for head, text in node.lines],
            }
            for node in nodes
        ],
        "edges": [{**asdict(edge), "caption": one_line(edge.caption)} for edge in edges],
        "passages": {id_: asdict(passage) for id_, passage in picture.passages.items() if id_ in behind},
    }


def _json(value: Any) -> str:
    """Return JSON that can stand in an HTML document: no `<`, no character but ASCII, nothing that drives a
    terminal or reorders text."""
    text = json.dumps(_cleaned(value), ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key): _cleaned(item) for key, item in value.items()}
    return [_cleaned(item) for item in value] if isinstance(value, list | tuple) else value


@cache
def _asset(name: str) -> str:
    return files("gsw_graph.explore.picture").joinpath("assets").joinpath(name).read_text("utf-8").strip()


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
