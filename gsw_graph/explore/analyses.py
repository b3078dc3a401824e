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
    folder = (files("gsw_graph.cypher") / "explore").iterdir()
    texts = {file.name: file.read_text(encoding="utf-8") for file in folder if file.name.endswith(".cypher")}
    names = (name.removesuffix(".cypher") for name in sorted(texts))
    return {name: parse(name, texts[f"{name}.cypher"]) for name in names}


def analysis(name: str) -> Analysis:
    """Return the analysis of a name, in which `-` counts as `_`. Raises InputError where there is none, with
    similar names."""
    key = name.strip().lower().replace("-", "_")
    if key in analyses():
        return analyses()[key]
    near = ", ".join(difflib.get_close_matches(key, analyses(), n=3, cutoff=0.5))
    hint = f"Near it: {near}. " if near else ""
    raise InputError(
        f"no analysis is called {name[:100]!r}", hint=f"{hint}gswgraph cypher --list shows them all"
    )


def is_name(text: str) -> bool:
    """Tell whether a text can only be the name of an analysis: no Cypher query is one word."""
    return _NAME.fullmatch(text.strip()) is not None


def parse(name: str, text: str) -> Analysis:
    """Read an analysis from its file: comments, then the defaults, then the query."""
    header = [line[2:].strip() for line in text.partition("\n\n")[0].splitlines() if line.startswith("//")]
    meanings: dict[str, str] = {}
    description: list[str] = []
    for line in header:
        if line.startswith("$"):
            parameter, _, meaning = line[1:].partition(": ")
            meanings[parameter] = meaning
        else:
            description.append(line)
    defaults = _DEFAULTS.search(text)
    values = {key: _literal(value) for value, key in _DEFAULT.findall(defaults[1])} if defaults else {}
    limit = _LIMIT.search(text)
    if limit is None or list(meanings) != list(values):
        raise ValueError(f"{name}: it must say what its parameters are, in their order, and end in LIMIT")
    parameters = [Parameter(key, value, meanings[key]) for key, value in values.items()]
    parameters.append(Parameter(LIMIT, int(limit[1]), "at most so many rows"))
    return Analysis(name, description[0], " ".join(description[1:]), parameters, text)


def bind(analysis: Analysis, values: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the query of an analysis with its parameters: these values, else the defaults.

    Raises:
        InputError: The analysis has no such parameter, or the value is of another type.
    """
    parameters = {parameter.name: parameter for parameter in analysis.parameters}
    unknown = [name for name in values if name not in parameters]
    if unknown:
        raise InputError(
            f"{analysis.name} has no parameter {unknown[0][:100]!r}", hint=f"It has: {', '.join(parameters)}"
        )
    # of the rows of the result, and of the rows that they are made from
    limits = re.compile(rf"^LIMIT {parameters[LIMIT].default}$", re.MULTILINE)
    query = limits.sub("LIMIT $limit", _DRAWING.sub("", analysis.query))
    clause = ", ".join(f"${name} AS {name}" for name in parameters if name != LIMIT)
    query = _DEFAULTS.sub(f"WITH {clause}", query, count=1)
    bound = {
        name: _value(analysis, parameter, values.get(name, parameter.default))
        for name, parameter in parameters.items()
    }
    return query, bound


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
