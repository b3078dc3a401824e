"""Commands that query and draw the graph: Cypher, analyses, pictures, Neo4j Browser."""

from __future__ import annotations

import csv
import io
import json
import math
import shlex
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from gsw_graph.cli.options import flag, html_option, json_option, open_memory, with_memory
from gsw_graph.cli.text.output import counted, print_failure, print_json, print_table, to_json
from gsw_graph.errors import EngineError
from gsw_graph.explore import analyses
from gsw_graph.explore.browser import is_grey, open_page, overview, style_sheet
from gsw_graph.model.results import AskedTable, Table
from gsw_graph.text.safe_text import clean, cut, one_line
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gsw_graph.memory import Memory
    from gsw_graph.model.results import Analysis, Answer

_TAKEN = {"write", "timeout", "cancel"}  # names that `Memory.cypher` has for itself
_PROGRAM_SECONDS = 60.0  # by default for --json and --csv: nobody sits there to end it


def _parameters(_: click.Context, __: click.Parameter, pairs: tuple[str, ...]) -> Fields:
    values: Fields = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name = name.strip().removeprefix("$")
        if not equals or not name:
            raise click.BadParameter(f"{pair!r} is not NAME=VALUE")
        if name in _TAKEN or name in values:
            problem = "given twice" if name in values else "not possible; choose another"
            raise click.BadParameter(f"the name {name!r} is {problem}")
        values[name] = _value(value)
    return values


def _value(text: str) -> Any:
    """Return JSON where it is JSON, else the text itself: `3`, `true`, `["a"]`, but `007` as text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, float) and not math.isfinite(value) else value


_file_option = click.option(
    "--file",
    "-f",
    type=click.File("rb"),
    metavar="FILE",
    help="Read the query from a file, or - for standard input.",
)
_parameters_option = click.option(
    "-p",
    "--parameter",
    "parameters",
    multiple=True,
    callback=_parameters,
    metavar="NAME=VALUE",
    help="$NAME; JSON, else text.",
)


@click.command()
@with_memory
@click.argument("query", required=False, metavar="[QUERY | NAME]")
@click.argument("values", nargs=-1, metavar="[KEY=VALUE]...", callback=_parameters)
@flag("--list", "as_list", help="The analyses by name, what each shows and its parameters.")
@_file_option
@click.option(
    "--ask",
    metavar="QUESTION",
    help="Have the language model (GSWGRAPH_LLM) write the query for a question; it only reads.",
)
@flag("--write", help="Allow the query to change the memory.")
@_parameters_option
@flag("--csv", "as_csv", help="CSV with a header; lists, maps and nodes as JSON.")
@flag("--full", help="Cut nothing, however wide it is; CSV and JSON are never cut.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="End the query after that long; 0: never. 60 for --json and --csv.",
)
@json_option
def cypher(
    url: str | None,
    query: str | None,
    values: Fields,
    as_list: bool,
    file: BinaryIO | None,
    ask: str | None,
    write: bool,
    parameters: Fields,
    as_csv: bool,
    full: bool,
    timeout: float | None,
    as_json: bool,
) -> None:
    """Run an analysis by its name, or any Cypher query. One that does more than read the memory is refused without --write.

    --list shows the analyses and their parameters, as KEY=VALUE; what is not given has a default.
    Whole nodes are shown by label and name; --json and --csv have their properties, but no vectors, which a column shows.
    Ctrl-C ends the query, on the server too.

    \b
    Example:
      gswgraph cypher --list
      gswgraph cypher timeline since=1880 until=1890
      gswgraph cypher 'MATCH (d:Document) RETURN d.title, d.source LIMIT 10'
      gswgraph cypher 'MATCH (c:Concept {id: $id}) RETURN c.name' -p id=vellmouth
      gswgraph cypher --file query.cypher --csv > rows.csv
      gswgraph cypher --ask "how many documents mention Ottilie Grau, by year?"
    """
    if as_csv and as_json:
        raise click.UsageError("Give one of --csv and --json.")
    if as_list:
        if query is not None or file is not None:
            raise click.UsageError("--list stands alone.")
        every = list(analyses.analyses().values())
        print_json([each.to_dict() for each in every]) if as_json else print_analyses(every)
        return
    if timeout is None and (ask or as_json or as_csv):
        timeout = _PROGRAM_SECONDS
    text = _query(query or ask, file)
    table: Table
    if ask:
        if query or write or parameters:
            raise click.UsageError("--ask writes the query: it takes no other, no parameters and no --write.")
        with open_memory(url) as memory:
            table = memory.ask_cypher(ask, timeout=timeout or None)
    elif file is None and analyses.is_name(text):
        if write:
            raise click.UsageError("An analysis only reads: it takes no --write.")
        analysis = analyses.analysis(text)
        arguments = {**values, **parameters}
        analyses.bind(analysis, arguments)  # what is wrong with them is reported before an engine starts
        with open_memory(url) as memory:
            table = memory.explore(analysis.name, timeout=timeout or None, **arguments)
    elif values:
        raise click.UsageError("KEY=VALUE are for analyses: see --list.")
    else:
        with open_memory(url) as memory:
            table = memory.cypher(text, write=write, timeout=timeout or None, **parameters)
    table = without_vectors(table)
    if as_json:
        print_json(table.to_dict())
    elif as_csv:
        print_csv(table)
    else:
        print_rows(table, full=full)
    if isinstance(table, AskedTable):
        print_query(table)


def _query(query: str | None, file: BinaryIO | None) -> str:
    """Return the query, given as an argument or in a file."""
    if (query is None) == (file is None):
        raise click.UsageError("Give either a query or --file.")
    try:
        text = query if file is None else file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"The file is not UTF-8 text: {error}") from error
    if not text or not text.strip():
        raise click.UsageError("The query is empty.")
    return text


@click.command()
@with_memory
@click.argument("query", required=False)
@_file_option
@html_option(required=True)
@_parameters_option
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="End the query after that long; 0, the default: never.",
)
@json_option
def draw(
    url: str | None,
    query: str | None,
    file: BinaryIO | None,
    html: str,
    parameters: Fields,
    timeout: float | None,
    as_json: bool,
) -> None:
    """Draw the nodes, relationships and paths that a Cypher query returns: one HTML file that needs no network.

    Each name is there once, over all documents. Dates, numbers and common words join nothing.
    A click shows what a node is, and of a node or an arrow the passage behind it.

    \b
    Example:
      gswgraph draw 'MATCH way = (:QAPair)-[:ANSWERED_BY]->(:Entity) RETURN way LIMIT 25' --html pairs.html
      gswgraph draw 'MATCH way = (c:Concept {id: $id})<-[:NAMES]-() RETURN way' -p id=vellmouth --html vellmouth.html
    """
    from gsw_graph.explore.picture.picture import check_path

    text = _query(query, file)
    check_path(html)
    with open_memory(url) as memory:
        picture = memory.draw(text, timeout=timeout or None, **parameters)
    path = str(picture.save(html).absolute())
    if as_json:
        print_json(
            {"html": path, "nodes": len(picture.nodes), "edges": len(picture.edges), "notes": picture.notes}
        )
    else:
        drawn = f"{counted(len(picture.nodes), 'node')} and {counted(len(picture.edges), 'edge')}"
        click.echo("\n".join([f"{drawn} drawn: {path}", *picture.notes]))


@click.command()
@with_memory
@click.option(
    "--style",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Save the colours and captions of the memory in a file; drop it on a Browser that shows grey nodes.",
)
@json_option
def browse(url: str | None, /, style: Path | None, as_json: bool) -> None:
    """Open Neo4j Browser at the memory: server and user filled in, a first query in the editor.

    A memory in a folder has no Browser: there it is a picture in an HTML file, opened.
    `gswgraph db status` says where the password of a private server is.

    \b
    Example:
      gswgraph --memory bolt://127.0.0.1:7687 browse
    """
    with open_memory(url) as memory:
        if style is not None:
            style.write_text(style_sheet(memory.settings), encoding="utf-8")
            click.echo(f"Drop this file on Neo4j Browser: {style.absolute()}", err=as_json)
        if as_json:
            print_json({"address": memory.browser()})
        elif _on_server(memory):
            _show_page(
                memory.browser(), "the blue arrow beside the query draws what brings the documents together"
            )
            if is_grey(memory.settings):
                click.echo(
                    "Its nodes are grey there: the server is older than the memory. Start it again (gswgraph db stop, "
                    "gswgraph db start), or save the colours: gswgraph browse --style FILE"
                )
        else:
            if not memory.status().nodes.get("Concept"):
                raise EngineError("the memory holds no names yet", hint="gswgraph load FILES")
            _show_picture(memory, overview())


def show_answer(memory: Memory, answer: Answer) -> None:
    """Draw what an answer is based on: open Neo4j Browser, or a picture of a memory that has none."""
    if not _on_server(memory):
        _show_picture(memory, answer)
    elif answer.id is None:
        print_failure("Neo4j Browser draws what is kept, and this question could not be kept.")
    else:
        then = "the blue arrow beside the query draws what the answer is based on"
        _show_page(memory.browser(answer.id), then)


def _on_server(memory: Memory) -> bool:
    return "://" in memory.settings.memory


def _show_page(address: str, then: str) -> None:
    """Open an address of Browser, and say what is left to do there."""
    if open_page(address):
        click.echo(f"Neo4j Browser is open: log in, and {then}.")
    else:
        click.echo(f"Open Neo4j Browser, log in, and {then}:\n  {address}")


def _show_picture(memory: Memory, content: Answer | str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="gswgraph-"))  # of the user alone
    path = memory.draw(content).save(folder / "picture.html")
    click.echo(f"The picture is {'open' if open_page(path.as_uri()) else 'here'}: {path}")
    click.echo(
        "A memory in a folder has no Neo4j Browser. To have it there, load the documents into a server:\n"
        "  gswgraph db start\n"
        "  gswgraph --memory bolt://127.0.0.1:7687 load FILES"
    )


# --- tables ---

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


def print_query(asked: AskedTable) -> None:
    """Print the query that a language model wrote as a command, and whether it finds more rows."""
    if asked.cut:
        click.echo("There are more rows.", err=True)
    options = [f"-p{name}={to_json(value)}" for name, value in asked.parameters.items()]
    command = shlex.join(["gswgraph", "cypher", asked.statement, *options])
    click.echo(f"\n{clean(command)}", err=True)


def print_analyses(listed: Sequence[Analysis]) -> None:
    """Print the name of each analysis and what it shows, below them its parameters with their defaults."""
    width = max(len(analysis.name) for analysis in listed)
    for analysis in listed:
        click.echo(f"{analysis.name:<{width}}  {analysis.summary}")
        values = ", ".join(f"{p.name}={to_json(p.default)}" for p in analysis.parameters)
        click.echo(f"{'':<{width}}  {values}")
    click.echo(f"\n{len(listed)} analyses. Run one: gswgraph cypher NAME KEY=VALUE ...")


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
    return replace(table, rows=rows)
