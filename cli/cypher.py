"""`gswgraph cypher`: any query."""

from __future__ import annotations

import json
import math
from typing import Any, BinaryIO

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import print_failure, print_json

_TAKEN = {"write", "timeout"}  # names that `Memory.cypher` has for itself
_PROGRAM_SECONDS = 60.0  # by default for --json and --csv: nobody sits there to end it


def _parameters(_: click.Context, __: click.Parameter, pairs: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name = name.strip().removeprefix("$")
        if not equals or not name:
            raise click.BadParameter(f"{pair!r} is not NAME=VALUE")
        if name in _TAKEN or name in found:
            raise click.BadParameter(
                f"the name {name!r} is {'given twice' if name in found else 'not possible; choose another'}"
            )
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


parameters_option = click.option(
    "-p",
    "--parameter",
    "parameters",
    multiple=True,
    callback=_parameters,
    metavar="NAME=VALUE",
    help="$NAME; JSON, else text.",
)


@click.command()
@memory_option
@click.argument("query", required=False)
@click.option(
    "--file",
    "-f",
    type=click.File("rb"),
    metavar="FILE",
    help="Read the query from a file, or - for standard input.",
)
@click.option("--write", is_flag=True, help="Allow the query to change the memory.")
@parameters_option
@click.option("--table", "as_table", is_flag=True, help="A table, though there are whole nodes in it.")
@click.option("--csv", "as_csv", is_flag=True, help="CSV with a header; lists, maps and nodes as JSON.")
@click.option("--full", is_flag=True, help="Cut nothing, however wide it is; CSV and JSON are never cut.")
@click.option("--vectors", is_flag=True, help="Show `embedding` and `vector` of whole nodes too.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="End the query after that long; 0: never. 60 for --json and --csv.",
)
@json_option
@click.pass_obj
def cypher(
    url: str | None,
    query: str | None,
    file: BinaryIO | None,
    write: bool,
    parameters: dict[str, Any],
    as_table: bool,
    as_csv: bool,
    full: bool,
    vectors: bool,
    timeout: float | None,
    as_json: bool,
) -> None:
    """Run a Cypher query. One that does more than read the memory is refused without --write.

    Rows with whole nodes are shown a property a line, others as a table. Ctrl-C ends the query, on the server too.

    \b
    Example:
      gswgraph cypher 'MATCH (d:Document) RETURN d.title, d.source LIMIT 10'
      gswgraph cypher 'MATCH (c:Concept {id: $id}) RETURN c.name' -p id=vellmouth
      gswgraph cypher --file query.cypher --csv > rows.csv
    """
    if as_table + as_csv + as_json > 1:
        raise click.UsageError("Give one of --table, --csv and --json.")
    text = query_of(query, file)
    if timeout is None and (as_json or as_csv):
        timeout = _PROGRAM_SECONDS
    with open_memory(url) as memory:
        table = memory.cypher(text, write=write, timeout=timeout or None, **parameters)
    from gsw_graph.cli.text.tables import print_csv, print_grid, print_rows, without_vectors

    table, left_out = (table, False) if vectors else without_vectors(table)
    if as_json:
        print_json(table.to_dict())
    elif as_csv:
        print_csv(table)
    elif as_table:
        print_grid(table, full=full)
    else:
        print_rows(table, full=full)
    if left_out and not as_table:
        print_failure("Vectors are left out; --vectors shows them.")


def query_of(query: str | None, file: BinaryIO | None) -> str:
    """The query, given as an argument or in a file."""
    if (query is None) == (file is None):
        raise click.UsageError("Give either a query or --file.")
    text = query if file is None else _read(file)
    if not text or not text.strip():
        raise click.UsageError("The query is empty.")
    return text


def _read(file: BinaryIO) -> str:
    try:
        return file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"The file is not UTF-8 text: {error}") from error
