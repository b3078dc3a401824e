"""The analyses of `cypher/explore/`: queries with parameters, each a file that says itself what it shows; and
their plots, by matplotlib (extra `plots`).

A file runs as it stands, in Neo4j Browser too, which knows no default of a parameter: its first clause,
`WITH null AS concept, 2 AS least`, has the defaults. Here `WITH $concept AS concept, $least AS least` takes
that line's place, and `LIMIT $limit` that of the last one and of lines like it. So a default stands in one
place, and what people give is always a parameter.
"""

from __future__ import annotations

import difflib
import json
import re
import warnings
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gsw_graph.errors import InputError
from gsw_graph.explore.picture import page
from gsw_graph.model.results import Analysis, Parameter
from gsw_graph.text.names import normalise
from gsw_graph.text.safe_text import cut, one_line

if TYPE_CHECKING:
    from gsw_graph.model.results import Table

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
    """Read all analyses, by name."""
    found = sorted(
        (file for file in (files("gsw_graph.cypher") / "explore").iterdir() if file.name.endswith(".cypher")),
        key=lambda file: file.name,
    )
    read = (parse(file.name.removesuffix(".cypher"), file.read_text(encoding="utf-8")) for file in found)
    return {analysis.name: analysis for analysis in read}


def analysis(name: str) -> Analysis:
    """Return the analysis of a name; `-` is as good as `_`. InputError for none, with the nearest."""
    wanted = name.strip().lower().replace("-", "_")
    if wanted in analyses():
        return analyses()[wanted]
    near = ", ".join(difflib.get_close_matches(wanted, analyses(), n=3, cutoff=0.5))
    hint = f"Near it: {near}. " if near else ""
    raise InputError(
        f"no analysis is called {name[:100]!r}", hint=f"{hint}gswgraph cypher --list shows them all"
    )


def is_name(text: str) -> bool:
    """Tell whether a text can only be meant as the name of an analysis: no Cypher is one word."""
    return _NAMED.fullmatch(text.strip()) is not None


def parse(name: str, text: str) -> Analysis:
    """Read an analysis from its file: comments, then the defaults, then the query."""
    header = [line[2:].strip() for line in text.partition("\n\n")[0].splitlines() if line.startswith("//")]
    text_lines: list[str] = []
    meanings: dict[str, str] = {}
    plotted: list[str] = []
    for line in header:
        if line.startswith("$"):
            parameter, _, what = line[1:].partition(": ")
            meanings[parameter] = what
        elif line.startswith("plot: "):
            plotted = line.split()[1:]
        else:
            text_lines.append(line)
    defaults = _DEFAULTS.search(text)
    values = {one: _read(literal) for literal, one in _DEFAULT.findall(defaults[1])} if defaults else {}
    limit = _LIMIT.search(text)
    if limit is None or list(meanings) != list(values):
        raise ValueError(f"{name}: it must say what its parameters are, in their order, and end in LIMIT")
    parameters = [Parameter(one, value, meanings[one]) for one, value in values.items()]
    parameters.append(Parameter(LIMIT, int(limit[1]), "at most so many rows"))
    return Analysis(name, text_lines[0], " ".join(text_lines[1:]), parameters, plotted, text)


def bind(found: Analysis, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Bind the parameters of an analysis: its query, and the values given, else the defaults.

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
    """Read a literal of Cypher without escapes: JSON but for its quotes."""
    return json.loads(literal.replace("'", '"'))


def _value(found: Analysis, parameter: Parameter, value: Any) -> Any:
    """Return a value in the kind of its default."""
    name, default = parameter.name, parameter.default
    if value is None:
        if default is None:
            return None
        raise InputError(f"{found.name} needs a value for {name}", hint=parameter.what)
    if name in NAMES:
        return normalise(str(value)) or str(value)
    if default is None or isinstance(default, str):
        return str(value)
    if isinstance(default, list):
        return [str(item).strip() for item in (value if isinstance(value, list) else str(value).split(","))]
    wanted, fits = (
        ("true or false", isinstance(value, bool))
        if isinstance(default, bool)
        else ("a whole number from 0", isinstance(value, int) and not isinstance(value, bool) and value >= 0)
        if isinstance(default, int)
        else ("a number", isinstance(value, int | float) and not isinstance(value, bool))
    )
    if not fits:
        raise InputError(
            f"{name} of {found.name} is {wanted}, and {str(value)[:100]!r} is none", hint=parameter.what
        )
    return value


# Plots

FORMATS = (".png", ".svg", ".pdf")
MOST = 40  # rows in one picture; more cannot be read
_LETTERS = 60
_COLOUR = "#0072b2"


def check_plot(analysis: Analysis, file: str | Path) -> None:
    """Raise InputError where this analysis cannot be drawn into that file, before anything is asked."""
    from importlib.util import find_spec

    if not analysis.plot:
        hint = "gswgraph cypher --list says which have one"
        raise InputError(f"{analysis.name} has no shape to be drawn", hint=hint)
    if Path(file).suffix.lower() not in FORMATS:
        raise InputError("a plot is a .png, .svg or .pdf", where=str(file))
    page.check(file)
    if find_spec("matplotlib") is None:
        raise InputError("matplotlib is not installed", hint="pip install 'gswgraph[plots]'")


def plot(analysis: Analysis, table: Table, file: str | Path) -> None:
    """Write the picture of an analysis and its rows, at most MOST of them: a bar a row, or a stretch of time.
    Raises InputError as `check_plot`, and where there are no rows."""
    check_plot(analysis, file)
    if not table.rows:
        raise InputError(f"{analysis.name} found nothing to draw")
    import matplotlib as mpl

    with mpl.rc_context({"text.parse_math": False, "svg.fonttype": "none", "font.size": 9}):
        from matplotlib.figure import Figure

        made = BytesIO()
        kind, label, value, *end = analysis.plot
        rows = table.rows[:MOST]
        figure = Figure(figsize=(9, 1.2 + 0.26 * len(rows)), layout="constrained")
        axes = figure.subplots()
        axes.set_yticks(range(len(rows)), [cut(one_line(str(row[label])), _LETTERS) for row in rows])
        if kind == "bars":
            drawn = axes.barh(range(len(rows)), [row[value] or 0 for row in rows], color=_COLOUR)
            axes.bar_label(drawn, padding=3)
            axes.set_xlabel(value.replace("_", " "))
        else:
            for place, row in enumerate(rows):
                days = [date.fromisoformat(row[column] or row[value]) for column in (value, *end)]
                # a day alone would have no length
                axes.plot(days, [place] * 2, color=_COLOUR, linewidth=4, marker="o", markersize=4)  # type: ignore[arg-type]
        axes.set_title(analysis.summary.rstrip("."), loc="left", wrap=True)
        axes.invert_yaxis()
        axes.grid(axis="x", alpha=0.3)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph")  # a letter that the fonts here have not is a box
            figure.savefig(made, dpi=150, format=Path(file).suffix.lower()[1:])
    page.write(made.getvalue(), file)
