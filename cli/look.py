"""Commands that show what the memory holds: documents, counts, questions, and what language models took."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.cli.options import (
    Url,
    count,
    flag,
    json_option,
    memory_command,
    open_memory,
    print_memories,
    settings,
)
from gsw_graph.cli.text.output import (
    counted,
    duration,
    moment,
    money,
    print_items,
    print_json,
    print_record,
    print_records,
    print_result,
)
from gsw_graph.explore.notebook import sure
from gsw_graph.text.safe_text import clean, one_line

if TYPE_CHECKING:
    from gsw_graph.model.ledger import Entry
    from gsw_graph.model.results import (
        AskedQuestion,
        Documents,
        History,
        Shown,
        Status,
    )

LISTED = 50  # documents, for people
SHOWN = 20  # questions, and documents of the ledger, for people
# Columns of the tables, by the names in the JSON.
COLUMNS = ("source", "title", "passages", "status", "unread", "superseded")
QUESTION_COLUMNS = (
    *("number", "question", "answer", "confidence", "strategy", "asked", "seconds"),
    *("verdict", "model", "tokens", "dollars"),
)
LEDGER_COLUMNS = ("calls", "cached", "failed", "tokens in", "tokens out", "seconds", "cost")


@memory_command("list")
@click.argument("text", nargs=-1, metavar="[TEXT]")
@click.option(
    "--extractor", metavar="NAME", help="Those that this extractor read, as `status` and this list name it."
)
@click.option("--loader", metavar="NAME", help="Those of a format: markdown, pdf, corpus and so on.")
@flag("--unfinished", help="Those whose load was cut off, or with passages that could not be read.")
@count("-n", "--limit", help=f"How many at most; {LISTED} unless --json.")
@flag("--long", "is_long", help="Also how each was read, its dates and metadata.")
def list_documents(
    url: Url,
    /,
    text: tuple[str, ...],
    limit: int | None,
    is_long: bool,
    as_json: bool,
    **filters: Any,
) -> None:
    """List the documents of the memory: all, or those with TEXT in their source or title, or in the folder TEXT.

    On a terminal each takes a line. `show` has the whole of one document.

    \b
    Example:
      gswgraph list
      gswgraph list notes/ --unfinished
      gswgraph list lantern expedition -n 10
      gswgraph list --extractor rules --json
    """
    most = limit or (None if as_json else LISTED)
    with open_memory(url) as memory:
        result = memory.documents(" ".join(text), **filters, limit=most)
        print_memories(memory, empty=not (result.total or text or any(filters.values())))
    print_result(result, as_json, partial(_print_documents, is_long=is_long))


def _print_documents(result: Documents, *, is_long: bool) -> None:
    rows = []
    for document in result.documents:
        row = document.to_dict()
        row["unread"] = len(document.unread) or None
        row["superseded"] = document.superseded or None
        row["status"] = "" if document.status == "ready" else document.status
        rows.append(row)
    if is_long:
        print_items(rows, hidden=["id"])
    else:
        print_records(rows, COLUMNS)
    _print_total(len(rows), result.total, "document")


def _print_total(shown: int, total: int, noun: str) -> None:
    if shown < total:
        click.echo(f"{shown:,} of {counted(total, noun)}; -n shows more")
    else:
        click.echo(counted(total, noun))


@memory_command()
@click.argument("name", nargs=-1, required=True)
@count("-p", "--passage", metavar="N", help="Only this passage, counted from 1.")
def show(url: Url, name: tuple[str, ...], passage: int | None, as_json: bool) -> None:
    """Show a document whole, with what was found in it: names, questions with their answers, propositions.

    NAME is a source or file, the end of one source, a title, or an id; with the id of a passage that passage is shown alone.

    \b
    Example:
      gswgraph show examples/corpus/port_aldous.md
      gswgraph show Marrow Bridge
      gswgraph show notes.md -p 3 --json
    """
    with open_memory(url) as memory:
        result = memory.show(" ".join(name), passage)
    print_result(result, as_json, _print_shown)


def _print_shown(shown: Shown) -> None:
    print_record(shown.document.to_dict())
    for passage in shown.passages:
        heading = f"Passage {passage.position + 1}  {one_line(passage.title)}"
        click.echo(f"\n{click.style(heading, bold=True)}  {passage.id}")
        click.echo(f"{clean(passage.text).rstrip()}\n")
        fields = passage.to_dict()
        for name in ("position", "title", "text"):
            del fields[name]
        print_record(fields, hidden=["id", "passage"])


@memory_command()
def status(url: Url, as_json: bool) -> None:
    """Show what the memory holds: engine, embedding model, nodes and relationships.

    \b
    Example:
      gswgraph status
      gswgraph --memory bolt://localhost:7687 status --json
    """
    with open_memory(url) as memory:
        result = memory.status()
        print_memories(memory, empty=not any(result.nodes.values()))
    print_result(result, as_json, _print_status)


def _print_status(status: Status) -> None:
    print_record(status.to_dict())
    if not any(status.nodes.values()):
        click.echo("\nNothing is loaded yet. Load something: gswgraph load PATH")
    if status.unread:
        passages = sum(map(len, status.unread.values()))
        click.echo(
            f"\nNo language model could read {counted(passages, 'passage')}; the next load of the same "
            "file asks again. gswgraph list --unfinished"
        )
    elif status.unfinished:
        documents = counted(len(status.unfinished), "document")
        click.echo(
            f"\nThe load of {documents} was cut off; load again to complete. gswgraph list --unfinished"
        )


@memory_command()
def memories(url: Url, as_json: bool) -> None:
    """List the memories of a database: the default one, and those opened with ?memory=NAME behind its address.

    \b
    Example:
      gswgraph --memory 'bolt://localhost:7687/?memory=letters' load letters/
      gswgraph --memory bolt://localhost:7687 memories
    """
    with open_memory(url) as opened:
        stored = opened.memories()
    rows = [memory.to_dict() for memory in stored]
    if as_json:
        print_json({"memories": rows})
        return
    for row in rows:
        row["name"] = row["name"] or "(the default memory)"
    print_records(rows, ("name", "documents", "passages", "embedder", "created"))


@memory_command()
@click.argument("which", required=False, metavar="[WHICH]")
@click.option(
    "--find", metavar="TEXT", default="", help="Only questions with this text in them or in their answers."
)
@count("-n", "--limit", help=f"How many at most; {SHOWN} unless --json.")
def history(url: Url, which: str | None, find: str, limit: int | None, as_json: bool) -> None:
    """Show the questions that were asked, the latest first, with their answers and what these took.

    WHICH is a number of the list (1 is the latest) or the beginning of an id: that question, with what its answer used, as it was kept.

    \b
    Example:
      gswgraph history
      gswgraph history --find bridge -n 5
      gswgraph history 2
    """
    if which is not None and (find or limit):
        raise click.UsageError("--find and -n are for the list; WHICH is of the whole list.")
    with open_memory(url) as memory:
        if which is None:
            questions = memory.history(find, limit=limit or (None if as_json else SHOWN))
            print_result(questions, as_json, _print_history)
        else:
            print_result(memory.question(which), as_json)


def _print_history(history: History) -> None:
    rows = []
    for number, question in enumerate(history.questions, 1):
        row = question.to_dict()
        row["number"] = number
        row["asked"] = moment(question.asked_at)
        row["answer"] = question.answer or ("not in memory" if question.abstained else "no answer")
        row["seconds"] = duration(question.seconds)
        row["confidence"] = None if question.confidence is None else sure(question.confidence)
        row["tokens"] = sum(question.tokens.values()) or None
        row["dollars"] = money(question.dollars) if question.model else None
        rows.append(row)
    print_records(rows, QUESTION_COLUMNS)
    _print_total(len(rows), history.total, "question")
    if any(history.tokens.values()):
        spent = f"{history.tokens['in']:,} tokens in and {history.tokens['out']:,} out"
        click.echo(f"All together: {spent}, {money(history.dollars)}")


def _verdict(name: str, meaning: str) -> Any:
    """Return the command that judges an answer by the method of `Memory` of that name."""

    @memory_command(
        name,
        help=f"""Say that an answer was {meaning}

    WHICH is an id as `ask` prints it, or its beginning, or a number of `gswgraph history` (1 is the latest).

    \b
    Example:
      gswgraph {name} 1
      gswgraph {name} 3fa2c91b
    """,
    )
    @click.argument("which")
    def judge(url: Url, which: str, as_json: bool) -> None:
        with open_memory(url) as memory:
            print_result(getattr(memory, name)(which), as_json, _print_verdict)

    return judge


def _print_verdict(question: AskedQuestion) -> None:
    verdict = str(question.verdict).capitalize()
    click.echo(f"{verdict}: {one_line(question.question)} -> {one_line(str(question.answer))}")


confirm = _verdict(
    "confirm",
    "right: when its question is asked again, in whatever words, it is given as it is, unless its documents "
    "changed or were forgotten.",
)
reject = _verdict("reject", "wrong: nothing of it is used when its question is asked again.")


@click.command()
@json_option
def ledger(as_json: bool) -> None:
    """Show calls, tokens and money by stage and model, and the documents that took most: of all loads and questions with this user's cache.

    Tokens are as the servers counted them, dollars by list prices or GSWGRAPH_LLM_PRICE.

    \b
    Example:
      gswgraph ledger
      gswgraph ledger --json
    """
    from gsw_graph.models.chat.cache import stored, total

    rows = stored(settings())
    if as_json:
        print_json({"total": asdict(total(rows)), "rows": [asdict(row) for row in rows]})
        return
    if not rows:
        click.echo("No language model was asked yet.")
        return
    by_stage: dict[tuple[str, str], list[Entry]] = {}
    by_document: dict[str, list[Entry]] = {}
    for row in rows:
        by_stage.setdefault((row.stage, row.model), []).append(row)
        if row.document:
            by_document.setdefault(row.document, []).append(row)
    stages = [_ledger_row(by_stage[key]) for key in sorted(by_stage)]
    print_records(stages, ("stage", "model", *LEDGER_COLUMNS))
    documents = [_ledger_row(entries) for entries in by_document.values()]
    documents.sort(key=lambda row: -row["tokens in"])
    if documents:
        click.echo(f"\n{counted(len(documents), 'document')}, most tokens first:")
        print_records(documents[:SHOWN], ("source", *LEDGER_COLUMNS))


def _ledger_row(entries: list[Entry]) -> dict[str, Any]:
    """Return the sums of entries, by the columns of the table."""
    from gsw_graph.models.chat.cache import total

    row = asdict(total(entries))
    row["source"] = row["document"]
    row["tokens in"] = row["prompt_tokens"]
    row["tokens out"] = row["completion_tokens"]
    row["seconds"] = round(row["seconds"], 1)
    row["cost"] = money(row["dollars"])
    if row["dollars"] is not None and any(entry.dollars is None and entry.calls for entry in entries):
        row["cost"] = f"at least {row['cost']}"
    return row
