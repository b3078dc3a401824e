"""`gswgraph cypher`: any query, and the analyses that come with gswgraph."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from gsw_graph.cli.options import json_option, memory_option, open_memory
from gsw_graph.cli.text.output import print_failure, print_json

if TYPE_CHECKING:
    from gsw_graph.model.results import Analysis, Table

_TAKEN = {"write", "timeout", "cancel"}  # names that `Memory.cypher` has for itself
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
@click.argument("query", required=False, metavar="[QUERY | NAME]")
@click.argument("values", nargs=-1, metavar="[KEY=VALUE]...")
@click.option(
    "--list", "as_list", is_flag=True, help="The analyses by name, what each shows and can be told."
)
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
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, writable=True),
    metavar="FILE",
    help="Draw the rows of an analysis too: .png, .svg or .pdf.",
)
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
    values: tuple[str, ...],
    as_list: bool,
    file: BinaryIO | None,
    write: bool,
    parameters: dict[str, Any],
    as_table: bool,
    as_csv: bool,
    plot: str | None,
    full: bool,
    vectors: bool,
    timeout: float | None,
    as_json: bool,
) -> None:
    """Run an analysis by its name, or any Cypher query. One that does more than read the memory is refused without --write.

    --list shows the analyses and what each can be told, as KEY=VALUE; what is not given has a default.
    Rows with whole nodes are shown a property a line, others as a table. Ctrl-C ends the query, on the server too.

    \b
    Example:
      gswgraph cypher --list
      gswgraph cypher timeline since=1880 until=1890 --plot timeline.svg
      gswgraph cypher 'MATCH (d:Document) RETURN d.title, d.source LIMIT 10'
      gswgraph cypher 'MATCH (c:Concept {id: $id}) RETURN c.name' -p id=vellmouth
      gswgraph cypher --file query.cypher --csv > rows.csv
    """
    if as_table + as_csv + as_json > 1:
        raise click.UsageError("Give one of --table, --csv and --json.")
    if as_list:
        if query is not None or file is not None:
            raise click.UsageError("--list stands alone.")
        _list(as_json=as_json)
        return
    text = query_of(query, file)
    if timeout is None and (as_json or as_csv):
        timeout = _PROGRAM_SECONDS
    found = None
    if file is None and _is_name(text):
        if write:
            raise click.UsageError("An analysis only reads: it takes no --write.")
        found, table = _explore(url, text, {**_texts(values), **parameters}, timeout, plot)
    elif plot or values:
        raise click.UsageError(f"{'--plot is' if plot else 'KEY=VALUE are'} for analyses: see --list.")
    else:
        with open_memory(url) as memory:
            table = memory.cypher(text, write=write, timeout=timeout or None, **parameters)
    from gsw_graph.cli.text.tables import joined, print_csv, print_grid, print_rows, without_vectors

    table, left_out = (table, False) if vectors else without_vectors(table)
    if as_json:
        print_json(table.to_dict())
    elif as_csv:
        print_csv(table)
    elif found is not None:
        print_grid(joined(table), full=full)
    elif as_table:
        print_grid(table, full=full)
    else:
        print_rows(table, full=full)
    if left_out and not as_table:
        print_failure("Vectors are left out; --vectors shows them.")
    if found is not None and plot:  # last: what cannot be drawn takes no row away
        from gsw_graph.explore.analyses import plot as draw

        draw(found, table, plot)
        print_failure(f"Drawn: {plot}")


def _is_name(text: str) -> bool:
    from gsw_graph.explore.analyses import is_name

    return is_name(text)


def _texts(pairs: tuple[str, ...]) -> dict[str, str]:
    """Values of an analysis as they were typed; the analysis knows of what kind each is."""
    found = dict(pair.partition("=")[::2] for pair in pairs)
    for pair in pairs:
        if not pair.partition("=")[0] or "=" not in pair:
            raise click.UsageError(f"{pair!r} is not KEY=VALUE.")
    if len(found) < len(pairs):
        raise click.UsageError("A value is given twice.")
    return {name.strip().removeprefix("$"): value for name, value in found.items()}


def _explore(
    url: str | None, name: str, values: dict[str, Any], timeout: float | None, plot: str | None
) -> tuple[Analysis, Table]:
    """The rows of an analysis, which can be drawn where a file for that is named."""
    from gsw_graph.explore.analyses import analysis, bind

    found = analysis(name)
    bind(found, values)  # what is wrong with them is said before an engine starts
    if plot:
        from gsw_graph.explore.analyses import check_plot

        check_plot(found, plot)
    with open_memory(url) as memory:
        table = memory.explore(found.name, timeout=timeout or None, **values)
    return found, table


def _list(*, as_json: bool) -> None:
    """All analyses: a line each with its parameters below."""
    from gsw_graph.cli.text.tables import print_analyses
    from gsw_graph.explore.analyses import analyses

    if as_json:
        print_json([one.to_dict() for one in analyses().values()])
    else:
        print_analyses(list(analyses().values()))


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
