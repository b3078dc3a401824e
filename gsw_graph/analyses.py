"""The analyses of `cypher/explore/`: queries with parameters, each a file that says itself what it shows.

A file runs as it stands, in Neo4j Browser too, which knows no default of a parameter: its first clause,
`WITH null AS concept, 2 AS least`, has the defaults. Here `WITH $concept AS concept, $least AS least` takes
that line's place, and `LIMIT $limit` that of the last one and of lines like it. So a default stands in one
place, and what people give is always a parameter.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from gsw_graph.errors import InputError
from gsw_graph.names import normalise
from gsw_graph.results import Analysis, Parameter

NAMES = ("concept", "other")  # parameters that are names of concepts, looked up in their normal form
LIMIT = "limit"
_LITERAL = r"null|true|false|-?\d+(?:\.\d+)?|'[^'\\]*'|\[[^\[\]]*\]"
_DEFAULT = re.compile(rf"({_LITERAL}) AS (\w+)")
_DEFAULTS = re.compile(rf"^WITH ((?:(?:{_LITERAL}) AS \w+(?:, )?)+)$", re.MULTILINE)
_LIMIT = re.compile(r"^LIMIT (\d+)\s*\Z", re.MULTILINE)
_DRAWING = re.compile(r"^\s*, .+ AS drawing\n", re.MULTILINE)  # what Browser draws; others have no use for it
_NAMED = re.compile(r"[\w-]+")


@cache
def analyses() -> Mapping[str, Analysis]:
    """All of them by name."""
    found = sorted(
        (file for file in (files("gsw_graph.cypher") / "explore").iterdir() if file.name.endswith(".cypher")),
        key=lambda file: file.name,
    )
    read = (parse(file.name.removesuffix(".cypher"), file.read_text(encoding="utf-8")) for file in found)
    return {one.name: one for one in read}


def analysis(name: str) -> Analysis:
    """The one of that name; `-` is as good as `_`. InputError for none, with the nearest."""
    wanted = name.strip().lower().replace("-", "_")
    if wanted in analyses():
        return analyses()[wanted]
    near = difflib.get_close_matches(wanted, analyses(), n=3, cutoff=0.5)
    near += [one for one in analyses() if wanted and wanted in one and one not in near]
    hint = f"Near it: {', '.join(near[:5])}. " if near else ""
    raise InputError(
        f"no analysis is called {name[:100]!r}", hint=f"{hint}gswgraph cypher --list shows them all"
    )


def is_name(text: str) -> bool:
    """Whether a text can only be meant as the name of an analysis: no Cypher is one word."""
    return _NAMED.fullmatch(text.strip()) is not None


def parse(name: str, text: str) -> Analysis:
    """An analysis from its file: comments, then the defaults, then the query."""
    header = [line[2:].strip() for line in text.partition("\n\n")[0].splitlines() if line.startswith("//")]
    said: list[str] = []
    meanings: dict[str, str] = {}
    plot: list[str] = []
    for line in header:
        if line.startswith("$"):
            parameter, _, what = line[1:].partition(": ")
            meanings[parameter] = what
        elif line.startswith("plot: "):
            plot = line.split()[1:]
        else:
            said.append(line)
    defaults = _DEFAULTS.search(text)
    values = {one: _read(literal) for literal, one in _DEFAULT.findall(defaults[1])} if defaults else {}
    limit = _LIMIT.search(text)
    if limit is None or list(meanings) != list(values):
        raise ValueError(f"{name}: it must say what its parameters are, in their order, and end in LIMIT")
    parameters = [Parameter(one, value, meanings[one]) for one, value in values.items()]
    parameters.append(Parameter(LIMIT, int(limit[1]), "at most so many rows"))
    return Analysis(name, said[0], " ".join(said[1:]), parameters, plot, text)


def bind(found: Analysis, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The query of an analysis with parameters, and their values: those given, else the defaults.

    Raises InputError for a parameter that it has not, and a value of another kind.
    """
    known = {parameter.name: parameter for parameter in found.parameters}
    unknown = [name for name in given if name not in known]
    if unknown:
        raise InputError(
            f"{found.name} has no parameter {unknown[0][:100]!r}", hint=f"It has: {', '.join(known)}"
        )
    # of the last rows, and of what they are made of
    most = re.compile(rf"^LIMIT {known[LIMIT].default}$", re.MULTILINE)
    query = most.sub("LIMIT $limit", _DRAWING.sub("", found.query))
    own = [name for name in known if name != LIMIT]
    query = _DEFAULTS.sub("WITH " + ", ".join(f"${name} AS {name}" for name in own), query, count=1)
    values = {name: _value(found, one, given.get(name, one.default)) for name, one in known.items()}
    return query, values


def _read(literal: str) -> Any:
    """A literal of Cypher without escapes: JSON but for its quotes."""
    return json.loads(literal.replace("'", '"'))


def _value(found: Analysis, parameter: Parameter, value: Any) -> Any:
    """A value in the kind of its default; a text as the command line gives it is read."""
    name, default = parameter.name, parameter.default
    if value is None or value == "null":
        if default is None:
            return None
        raise InputError(f"{found.name} needs a value for {name}", hint=parameter.what)
    if name in NAMES:
        return normalise(str(value)) or str(value)
    if default is None or isinstance(default, str):
        return str(value)
    read = _as_json(value) if isinstance(value, str) else value
    if isinstance(default, list):
        items = read if isinstance(read, list) else str(value).split(",")
        return [str(item).strip() for item in items]
    wanted, fits = (
        ("true or false", isinstance(read, bool))
        if isinstance(default, bool)
        else ("a whole number from 0", isinstance(read, int) and not isinstance(read, bool) and read >= 0)
        if isinstance(default, int)
        else ("a number", isinstance(read, int | float) and not isinstance(read, bool))
    )
    if not fits:
        raise InputError(
            f"{name} of {found.name} is {wanted}, and {str(value)[:100]!r} is none", hint=parameter.what
        )
    return read


def _as_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def markdown() -> str:
    """A section about each, as `docs/explore.md` has them."""
    rows = []
    for one in analyses().values():
        told = [f"| `{p.name}` | {_shown(p.default)} | {p.what} |" for p in one.parameters if p.name != LIMIT]
        limit = one.parameters[-1].default
        plot = f" Has a plot ({one.plot[0]})." if one.plot else ""
        rows += [f"## {one.name}", "", f"{one.summary} {one.details}".strip(), ""]
        if told:
            rows += ["| parameter | default | |", "|---|---|---|", *told, ""]
        rows += [f"At most {limit} rows.{plot}", ""]
    return "\n".join(rows)


def _shown(default: Any) -> str:
    return "" if default in (None, "") else f"`{default}`"
