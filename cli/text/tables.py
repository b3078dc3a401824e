"""The result of a Cypher query as people read it: a node by its labels and its name, a path as it is
drawn, vectors left out."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.cli.text.output import print_table, to_json
from gsw_graph.model.results import Table
from gsw_graph.text.safe_text import clean, cut, one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gsw_graph.model.results import Analysis

VECTORS = ("embedding", "vector")  # properties that nobody reads
# A node is called by the first of these that it has.
_NAMES = ("name", "title", "question", "phrase", "text", "source", "id")
_NAME = 40  # letters


def without_vectors(table: Table) -> Table:
    """Leave the vectors inside of nodes and maps out; a vector that is a column was asked for."""

    def stripped(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: stripped(item)
                for name, item in value.items()
                if not (name in VECTORS and isinstance(item, list | str))
            }
        return [stripped(item) for item in value] if isinstance(value, list) else value

    return _mapped(table, stripped)


def print_rows(table: Table, *, full: bool) -> None:
    """Print a row a line; lists of texts as one text. Long values are cut unless `full`."""

    def text(value: Any) -> Any:
        if isinstance(value, list) and all(map(_is_plain, value)):
            return "; ".join("null" if item is None else str(item) for item in value)
        return value if _is_plain(value) else shown(value)

    print_table(_mapped(table, text), full=full)


def print_analyses(found: Sequence[Analysis]) -> None:
    """Print the name of each analysis and what it shows, below them its parameters with their defaults."""
    width = max(len(analysis.name) for analysis in found)
    for analysis in found:
        click.echo(f"{analysis.name:<{width}}  {analysis.summary}")
        values = ", ".join(f"{p.name}={to_json(p.default)}" for p in analysis.parameters)
        click.echo(f"{'':<{width}}  {values}")
    click.echo(f"\n{len(found)} analyses. Run one: gswgraph cypher NAME KEY=VALUE ...")


def print_csv(table: Table) -> None:
    """Print the rows as CSV with a header; lists, maps and nodes as JSON, null as nothing."""

    def cell(value: Any) -> Any:
        if isinstance(value, str):
            return clean(value)
        return value if _is_plain(value) and not isinstance(value, bool) else clean(to_json(value))

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(clean, table.columns))
    writer.writerows([cell(row.get(column)) for column in table.columns] for row in table.rows)
    click.echo(text.getvalue(), nl=False)


def shown(value: Any) -> str:
    """Write a value in one line: `(:Concept "Vellmouth")`, `[:IN {title: true}]`, `(:Concept
    "Vellmouth")<-[:REFERS_TO]-(:Entity "Vellmouth")`."""
    kind = set(value) - {"forward"} if isinstance(value, dict) else set()
    if kind == {"labels", "properties"}:
        labels, properties = "".join(f":{one_line(label)}" for label in value["labels"]), value["properties"]
        name = next((str(properties[key]) for key in _NAMES if properties.get(key) not in (None, "")), None)
        return f"({labels})" if name is None else f'({labels} "{cut(one_line(name), _NAME)}")'
    if kind == {"type", "properties"}:
        inside = f" {shown(value['properties'])}" if value["properties"] else ""
        return f"[:{one_line(value['type'])}{inside}]"
    if isinstance(value, list) and any(isinstance(item, dict) and "forward" in item for item in value):
        return "".join(map(_part_of_path, value))
    if isinstance(value, dict):
        return f"{{{', '.join(f'{one_line(name)}: {shown(item)}' for name, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    return f'"{one_line(value)}"' if isinstance(value, str) else to_json(value)


def _part_of_path(value: Any) -> str:
    arrows = {True: "-{}->", False: "<-{}-"}
    return arrows.get(value.get("forward"), "{}").format(shown(value))


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _mapped(table: Table, change: Callable[[Any], Any]) -> Table:
    rows = [{column: change(value) for column, value in row.items()} for row in table.rows]
    return Table(table.columns, rows)
