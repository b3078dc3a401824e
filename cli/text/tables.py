"""The result of a Cypher query as people read it: a node by its labels and its name, a path as it is
drawn, vectors left out."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.cli.text.output import counted, print_table, to_json
from gsw_graph.model.results import Table
from gsw_graph.text.safe_text import clean, cut, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gsw_graph.model.results import Analysis

VECTORS = ("embedding", "vector")  # properties that nobody reads
_NAMES = (
    "name",
    "title",
    "question",
    "phrase",
    "text",
    "source",
    "id",
)  # the first of these that a node has is what it is called
_NAME, _VALUE = 40, 300  # letters


def without_vectors(table: Table) -> tuple[Table, bool]:
    """The table without the vectors inside of nodes and maps, and whether there were any; a vector that is
    a column was asked for."""
    left_out = False

    def stripped(value: Any) -> Any:
        nonlocal left_out
        if isinstance(value, dict):
            kept = {
                name: stripped(item)
                for name, item in value.items()
                if not (name in VECTORS and isinstance(item, list | str))
            }
            left_out = left_out or len(kept) < len(value)
            return kept
        return [stripped(item) for item in value] if isinstance(value, list) else value

    rows = [{column: stripped(value) for column, value in row.items()} for row in table.rows]
    return Table(table.columns, rows), left_out


def print_rows(table: Table, *, full: bool) -> None:
    """Rows with whole nodes, paths or maps as blocks, a property a line; others as a table. Long values
    are cut unless `full`."""
    if not any(isinstance(value, dict) or _is_path(value) for row in table.rows for value in row.values()):
        print_grid(table, full=full)
        return
    width = max(len(one_line(column)) for column in table.columns)
    for row in table.rows:
        for column in table.columns:
            head, *more = _lines(row.get(column), full=full)
            click.echo(f"{one_line(column):<{width}}  {head}".rstrip())
            for line in more:
                click.echo(" " * (width + 4) + line)
        click.echo()
    click.echo(counted(len(table.rows), "row"))


def print_grid(table: Table, *, full: bool) -> None:
    """A row a line."""
    rows = [
        {column: value if _is_plain(value) else shown(value) for column, value in row.items()}
        for row in table.rows
    ]
    print_table(Table(table.columns, rows), full=full)


def print_analyses(found: Sequence[Analysis]) -> None:
    """The analyses: name and what each shows, below them what it can be told, with its default."""
    width = max(len(one.name) for one in found)
    for one in found:
        click.echo(f"{one.name:<{width}}  {one.summary}")
        values = ", ".join(f"{p.name}={to_json(p.default)}" for p in one.parameters)
        click.echo(f"{'':<{width}}  {values}{'; has a plot' if one.plot else ''}")
    click.echo(f"\n{len(found)} analyses. One is run by gswgraph cypher NAME KEY=VALUE ...")


def joined(table: Table) -> Table:
    """The table with lists of texts as one text, as people write them."""

    def text(value: Any) -> Any:
        plain = isinstance(value, list) and all(isinstance(item, str | int | float) for item in value)
        return "; ".join(map(str, value)) if plain else value

    rows = [{column: text(value) for column, value in row.items()} for row in table.rows]
    return Table(table.columns, rows)


def print_csv(table: Table) -> None:
    """The rows as CSV with a header; lists, maps and nodes as JSON, null as nothing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(clean, table.columns))
    for row in table.rows:
        writer.writerow(
            [
                clean(value) if isinstance(value, str) else _plain_csv(value)
                for value in (row.get(column) for column in table.columns)
            ]
        )
    click.echo(text.getvalue(), nl=False)


def _plain_csv(value: Any) -> Any:
    return value if _is_plain(value) and not isinstance(value, bool) else clean(to_json(value))


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def shown(value: Any) -> str:
    """A value in one line: `(:Concept "Vellmouth")`, `[:IN {title: true}]`, `(:Concept
    "Vellmouth")<-[:REFERS_TO]-(:Entity "Vellmouth")`."""
    if _is_node(value):
        properties = value["properties"]
        name = next(
            (
                f' "{cut(one_line(str(properties[key])), _NAME)}"'
                for key in _NAMES
                if properties.get(key) not in (None, "")
            ),
            "",
        )
        return f"({_labels(value)}{name})"
    if _is_relationship(value):
        return f"[:{one_line(value['type'])}{' ' + _map(value['properties']) if value['properties'] else ''}]"
    if _is_path(value):
        return "".join(_arrow(part) if _is_relationship(part) else shown(part) for part in value)
    if isinstance(value, dict):
        return _map(value)
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    return f'"{one_line(value)}"' if isinstance(value, str) else to_json(value)


def _lines(value: Any, *, full: bool) -> list[str]:
    """A value in lines; of a node or a map each property has one."""
    if not isinstance(value, dict) or _is_relationship(value):
        return [_fit(one_line(value) if isinstance(value, str) else shown(value), full=full)]
    if _is_node(value):
        head, inside = f"({_labels(value)})", value["properties"]
    else:
        head, inside = "", value
    width = max((len(one_line(name)) for name in inside), default=0)
    texts = (
        (one_line(name), one_line(item) if isinstance(item, str) else shown(item))
        for name, item in inside.items()
        if item is not None
    )
    return [head, *(f"{name:<{width}}  {_fit(text, full=full)}" for name, text in texts)]


def _fit(text: str, *, full: bool) -> str:
    return text if full else cut(text, _VALUE)


def _labels(node: Mapping[str, Any]) -> str:
    return "".join(f":{one_line(label)}" for label in node["labels"])


def _map(value: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{one_line(name)}: {shown(item)}" for name, item in value.items()) + "}"


def _arrow(relationship: Mapping[str, Any]) -> str:
    return f"-{shown(relationship)}->" if relationship.get("forward", True) else f"<-{shown(relationship)}-"


def _is_node(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"labels", "properties"}


def _is_relationship(value: Any) -> bool:
    return isinstance(value, dict) and set(value) - {"forward"} == {"type", "properties"}


def _is_path(value: Any) -> bool:
    items: Sequence[Any] = value if isinstance(value, list) else ()
    return len(items) > 1 and all(
        "forward" in item if at % 2 and isinstance(item, dict) else _is_node(item)
        for at, item in enumerate(items)
    )
