"""Read and bind the analyses of `cypher/explore/`: queries with parameters, each in a file that describes
itself.

A file also runs as it is in Neo4j Browser, which has no defaults of parameters: its first clause, such as
`WITH null AS concept, 2 AS least`, has the defaults. `bind` replaces that line by `WITH $concept AS concept,
$least AS least`, and the last `LIMIT` and equal ones by `LIMIT $limit`. So a default is written once, and
values of users are always parameters.
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
from gsw_graph.model.results import Analysis, Parameter
from gsw_graph.text.names import normalise
from gsw_graph.values import Fields

NAMES = ("concept", "other")  # parameters that are names of concepts, looked up in their normal form
LIMIT = "limit"
_LITERAL = r"null|\d+|'[^'\\]*'"
_DEFAULT = re.compile(rf"({_LITERAL}) AS (\w+)")
_DEFAULTS = re.compile(rf"^WITH ((?:(?:{_LITERAL}) AS \w+(?:, )?)+)$", re.MULTILINE)
_LIMIT = re.compile(r"^LIMIT (\d+)\s*\Z", re.MULTILINE)
_DRAWING = re.compile(r"^\s*, .+ AS drawing\n", re.MULTILINE)  # only Neo4j Browser draws it
_NAME = re.compile(r"[\w-]+")


@cache
def analyses() -> Mapping[str, Analysis]:
    """Read all analyses, by name."""
    found = {}
    for file in (files("gsw_graph.cypher") / "explore").iterdir():
        name, _, ending = file.name.partition(".")
        if ending == "cypher":
            found[name] = parse(name, file.read_text(encoding="utf-8"))
    return dict(sorted(found.items()))


def analysis(name: str) -> Analysis:
    """Return an analysis by name, in which `-` counts as `_`. Raises InputError, with similar names, if there
    is none."""
    key = name.strip().lower().replace("-", "_")
    if key in analyses():
        return analyses()[key]
    hint = "gswgraph cypher --list shows them all"
    near = difflib.get_close_matches(key, analyses(), n=3, cutoff=0.5)
    if near:
        hint = f"Near it: {', '.join(near)}. {hint}"
    raise InputError(f"no analysis is called {name[:100]!r}", hint=hint)


def is_name(text: str) -> bool:
    """Tell whether a text can only be the name of an analysis: no Cypher query is one word."""
    return _NAME.fullmatch(text.strip()) is not None


def parse(name: str, text: str) -> Analysis:
    """Read an analysis from its file: comments, then the defaults, then the query."""
    meanings: dict[str, str] = {}
    description: list[str] = []
    for line in text.partition("\n\n")[0].splitlines():
        comment = line.removeprefix("//").strip()
        if comment.startswith("$"):
            parameter, _, meaning = comment[1:].partition(": ")
            meanings[parameter] = meaning
        elif line.startswith("//"):
            description.append(comment)
    parameters = []
    if defaults := _DEFAULTS.search(text):
        for value, key in _DEFAULT.findall(defaults[1]):
            parameters.append(Parameter(key, _literal(value), meanings.get(key, "")))
    limit = _LIMIT.search(text)
    if limit is None or list(meanings) != [parameter.name for parameter in parameters]:
        raise ValueError(f"{name}: it must say what its parameters are, in their order, and end in LIMIT")
    parameters.append(Parameter(LIMIT, int(limit[1]), "at most so many rows"))
    return Analysis(name, description[0], " ".join(description[1:]), parameters, text)


def bind(analysis: Analysis, values: Fields) -> tuple[str, Fields]:
    """Return the query of an analysis with its parameters: these values, else the defaults.

    Raises:
        InputError: The analysis has no such parameter, or the value is of another type.
    """
    names = [parameter.name for parameter in analysis.parameters]
    for name in values:
        if name not in names:
            raise InputError(
                f"{analysis.name} has no parameter {name[:100]!r}", hint=f"It has: {', '.join(names)}"
            )
    bound: Fields = {}
    query = _DRAWING.sub("", analysis.query)
    for parameter in analysis.parameters:
        name = parameter.name
        bound[name] = _value(analysis, parameter, values.get(name, parameter.default))
        if name == LIMIT:  # of the rows of the result, and of the rows that they are made from
            query = re.sub(rf"^LIMIT {parameter.default}$", "LIMIT $limit", query, flags=re.MULTILINE)
    clause = ", ".join(f"${name} AS {name}" for name in names if name != LIMIT)
    return _DEFAULTS.sub(f"WITH {clause}", query, count=1), bound


def _literal(text: str) -> Any:
    """Read a literal of Cypher without escapes, which is JSON but for its quotes."""
    return json.loads(text.replace("'", '"'))


def _value(analysis: Analysis, parameter: Parameter, value: Any) -> Any:
    """Return a value in the type of the default."""
    name, default = parameter.name, parameter.default
    if value is None:
        if default is None:
            return None
        raise InputError(f"{analysis.name} needs a value for {name}", hint=parameter.description)
    if name in NAMES:
        return normalise(str(value)) or str(value)
    if default is None or isinstance(default, str):
        return str(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(
            f"{name} of {analysis.name} is a whole number from 0, and {str(value)[:100]!r} is none",
            hint=parameter.description,
        )
    return value
