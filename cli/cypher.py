"""`gswgraph cypher`: any query."""

from __future__ import annotations

import json
import math
from typing import Any, BinaryIO

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.output import print_json, print_table

_TAKEN = {"write"}  # a name that `Memory.cypher` has for itself


def _parameters(_: click.Context, __: click.Parameter, pairs: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name = name.strip().removeprefix("$")
        if not equals or not name:
            raise click.BadParameter(f"{pair!r} is not NAME=VALUE")
        if name in _TAKEN or name in found:
            raise click.BadParameter(f"the name {name!r} is {'given twice' if name in found else 'not possible; choose another'}")
        found[name] = _value(value)
    return found


def _value(text: str) -> Any:
    """JSON where it is JSON, else the text itself: `3`, `true`, `["a"]`, but `007` and `NaN` as text."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, float) and not math.isfinite(value) else value


def _refuse(name: str) -> Any:
    raise ValueError(name)


@click.command()
@memory_option
@click.argument("query", required=False)
@click.option("--file", "-f", type=click.File("rb"), metavar="FILE", help="Read the query from a file, or - for standard input.")
@click.option("--write", is_flag=True, help="Allow the query to change the memory.")
@click.option("-p", "--parameter", "parameters", multiple=True, callback=_parameters, metavar="NAME=VALUE", help="$NAME; JSON, else text.")
@json_option
@click.pass_obj
def cypher(url: str | None, query: str | None, file: BinaryIO | None, write: bool, parameters: dict[str, Any], as_json: bool) -> None:
    """Run a Cypher query. One that would change the memory is refused without --write.

    The table cuts long values, --json does not.

    \b
    Example:
      gswgraph cypher 'MATCH (d:Document) RETURN d.title, d.source LIMIT 10'
      gswgraph cypher 'MATCH (c:Concept {id: $id}) RETURN c.name' -p id=vellmouth
      gswgraph cypher --file query.cypher --json
    """
    if (query is None) == (file is None):
        raise click.UsageError("Give either a query or --file.")
    text = query if file is None else _read(file)
    if not text or not text.strip():
        raise click.UsageError("The query is empty.")
    with open_memory(url) as memory:
        table = memory.cypher(text, write=write, **parameters)
    if as_json:
        print_json(table.to_dict())
    else:
        print_table(table)


def _read(file: BinaryIO) -> str:
    try:
        return file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"The file is not UTF-8 text: {error}") from error
