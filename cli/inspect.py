"""Commands that show what the memory holds: documents, counts, questions, and what language models took."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from gsw_graph.cli.options import (
    POSITIVE,
    flag,
    json_option,
    open_memory,
    print_memories,
    settings,
    with_memory,
)
from gsw_graph.cli.text.output import (
    counted,
    duration,
    moment,
    money,
    print_json,
    print_pairs,
    print_result,
    print_table,
    terminal_width,
)
from gsw_graph.explore.notebook import confidence_text, title_and_source
from gsw_graph.model.results import Table
from gsw_graph.text.names import normalise
from gsw_graph.text.safe_text import clean, cut, cut_front, one_line, short_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gsw_graph.model.ledger import Entry
    from gsw_graph.model.results import (
        AskedQuestion,
        Documents,
        FoundEntity,
        History,
        Shown,
        Status,
        StoredDocument,
        WholePassage,
    )

LISTED = 50  # for people
LONGEST = 80  # characters of a value of metadata
SHORTEST = 12  # characters of a title in the list


@click.command("list")
@with_memory
@click.argument("text", nargs=-1, metavar="[TEXT]")
@click.option(
    "--extractor", metavar="NAME", help="Those that this extractor read, as `status` and this list name it."
)
@click.option("--loader", metavar="NAME", help="Those of a format: markdown, pdf, corpus and so on.")
@flag(
    "--unfinished",
    help="Those whose load was cut off, or with passages that could not be read.",
)
@click.option("-n", "--limit", type=POSITIVE, help=f"How many at most; {LISTED} unless --json.")
@flag("--long", "is_long", help="Also how each was read, its dates and metadata.")
@json_option
def list_documents(
    url: str | None,
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
    print_result(result, as_json, _print_long if is_long else _print_documents)


def _print_documents(result: Documents) -> None:
    """Print a line a document; on a terminal the beginning of a long source and the end of a title go."""
    room = terminal_width()
    sources = [short_source(document.source) for document in result.documents]
    facts = [
        ", ".join([counted(document.passages, "passage"), *_troubles(document)])
        for document in result.documents
    ]
    beside = max(map(len, facts), default=0) + SHORTEST + 4
    width = min(max(map(len, sources), default=0), room // 2, max(room - beside, SHORTEST))
    for source, document, fact in zip(sources, result.documents, facts, strict=True):
        title = one_line(document.title) or "(no title)"
        left = max(room - width - len(fact) - 4, SHORTEST)
        click.echo(f"{cut_front(source, width):<{width}}  {cut(title, left)}, {fact}")
    _print_total(result)


def _print_long(result: Documents) -> None:
    print_pairs(
        (short_source(document.source), f"{document.title or '(no title)'}, {about(document)}")
        for document in result.documents
    )
    _print_total(result)


def _print_total(result: Documents) -> None:
    more = "" if result.total == len(result.documents) else f"{len(result.documents):,} of "
    click.echo(f"{more}{counted(result.total, 'document')}{'; -n shows more' if more else ''}")


def about(document: StoredDocument) -> str:
    """Return what is known of a document beside its source and title, in one line."""
    reader = document.extractor + (f" ({document.model})" if document.model else "")
    parts = [counted(document.passages, "passage"), reader, document.loaded_at[:10]]
    parts += [f"about {document.about}"] if document.about else []
    parts += [f"in {short_source(document.file)}"] if document.file else []
    values = {key: value if isinstance(value, list) else [value] for key, value in document.meta.items()}
    parts += (f"{key}: {cut(one_line(', '.join(map(str, some))), LONGEST)}" for key, some in values.items())
    if document.superseded:
        parts.append(f"{document.superseded:,} more superseded (gswgraph correct --list, --undo ID)")
    if document.status != "ready":
        parts.append(f"cut off while {document.status}; load it again")
    if document.unread:
        parts.append(f"{counted(len(document.unread), 'passage')} not read; the next load asks again")
    return ", ".join(parts)


def _troubles(document: StoredDocument) -> list[str]:
    """Return in a few words what is not as it should be with a document."""
    troubles = [f"{document.superseded:,} superseded"] if document.superseded else []
    troubles += [f"cut off while {document.status}"] if document.status != "ready" else []
    troubles += [f"{len(document.unread):,} not read"] if document.unread else []
    return troubles


@click.command()
@with_memory
@click.argument("name", nargs=-1, required=True)
@click.option("-p", "--passage", metavar="N", type=POSITIVE, help="Only this passage, counted from 1.")
@json_option
def show(url: str | None, name: tuple[str, ...], passage: int | None, as_json: bool) -> None:
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
    click.echo(click.style(one_line(shown.document.title) or "(no title)", bold=True))
    click.echo(f"{short_source(shown.document.source)}\n{one_line(about(shown.document))}")
    for passage in shown.passages:
        title = "" if passage.title in ("", shown.document.title) else f"  {one_line(passage.title)}"
        click.echo(f"\n{click.style(f'Passage {passage.position + 1}{title}', bold=True)}  {passage.id}")
        if passage.section:
            click.echo(one_line(passage.section))
        click.echo(clean(passage.text).rstrip())
        if lines := [*_inside(passage)]:
            click.echo("\n" + "\n".join(lines))


def _inside(passage: WholePassage) -> Iterator[str]:
    """Yield what was found in a passage, line by line."""
    if passage.entities:
        yield "Names"
        yield from (f"  {_named(entity)}" for entity in passage.entities)
    shown = {normalise(entity.name) for entity in passage.entities}
    if others := [name for name in passage.names if name not in shown]:
        yield f"Names that rules found\n  {one_line('; '.join(others))}"
    if passage.phrases:
        yield "Questions and answers"
    for phrase in passage.phrases:
        yield f"  {one_line(phrase.phrase)}"
        for pair in phrase.pairs:
            yield f"    {one_line(pair.question)} -> {one_line(', '.join(pair.answers)) or 'no answer'}"
    if passage.propositions:
        yield "Propositions"
        yield from (f"  {one_line(fact.text)}" for fact in passage.propositions)


def _named(entity: FoundEntity) -> str:
    roles = "; ".join(
        f"{role}: {', '.join(states)}" if states else role for role, states in entity.roles.items()
    )
    days = None if entity.from_ is None else " to ".join(dict.fromkeys((entity.from_, str(entity.to))))
    notes = ", ".join(filter(None, ["the title" if entity.title else "", roles, days]))
    return one_line(entity.name) + (f"  ({one_line(notes)})" if notes else "")


SHOWN = 20  # questions and documents, listed for people


@click.command()
@with_memory
@json_option
def status(url: str | None, as_json: bool) -> None:
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
    facts = {
        "memory": status.memory,
        "engine": f"{status.engine} {status.engine_version}",
        "schema": status.schema,
        "embedder": status.embedder and f"{status.embedder} ({status.dimension} dimensions)",
        "created": status.created,
        "version": status.version,
        "indexed": {None: None, True: "yes", False: "no"}[status.indexed],
    }
    print_pairs(facts.items())
    judged = {name: number for name, number in status.questions.items() if name != "kept" and number}
    several = len(status.extractors) > 1 or any("(" in name for name in status.extractors)
    for title, numbers in (
        ("Nodes", status.nodes),
        ("Relationships", status.relationships),
        ("Questions", judged),
        ("Documents by extractor", status.extractors if several else {}),
    ):
        if any(numbers.values()):
            click.echo(f"\n{title}")
            print_pairs(((name, f"{number:,}") for name, number in numbers.items()), indent="  ")
    if not any(status.nodes.values()):
        click.echo("\nNothing is loaded yet. Load something: gswgraph load PATH")
    if status.unread:
        passages = sum(map(len, status.unread.values()))
        click.echo(
            f"\nNo language model could read {counted(passages, 'passage')}; the next load of the same "
            "file asks again. gswgraph list --unfinished"
        )
    elif status.unfinished:
        click.echo(
            f"\nThe load of {counted(len(status.unfinished), 'document')} was cut off; load again to complete. "
            "gswgraph list --unfinished"
        )


LONG = 300  # characters of an answer in the list


@click.command()
@with_memory
@json_option
def memories(url: str | None, as_json: bool) -> None:
    """List the memories of a database: the default one, and those opened with ?memory=NAME behind its address.

    \b
    Example:
      gswgraph --memory 'bolt://localhost:7687/?memory=letters' load letters/
      gswgraph --memory bolt://localhost:7687 memories
    """
    with open_memory(url) as opened:
        stored = opened.memories()
    if as_json:
        print_json({"memories": [memory.to_dict() for memory in stored]})
        return
    for memory in stored:
        name, size = (
            memory.name or "(the default memory)",
            f"{memory.documents:,} documents, {memory.passages:,} passages",
        )
        click.echo(f"{name}: {size}, {memory.embedder}, since {memory.created}")


@click.command()
@with_memory
@click.argument("which", required=False, metavar="[WHICH]")
@click.option(
    "--find", metavar="TEXT", default="", help="Only questions with this text in them or in their answers."
)
@click.option("-n", "--limit", type=POSITIVE, help=f"How many at most; {SHOWN} unless --json.")
@json_option
def history(url: str | None, which: str | None, find: str, limit: int | None, as_json: bool) -> None:
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
            print_result(memory.question(which), as_json, _print_question)


def _print_history(history: History) -> None:
    for number, question in enumerate(history.questions, 1):
        click.echo(f"{number}. {one_line(question.question)}\n   {_answered(question)}\n   {_took(question)}")
    shown = len(history.questions)
    line = f"{shown:,} of " * (shown < history.total) + counted(history.total, "question")
    if any(history.tokens.values()):
        line += f"; all together {_tokens(history.tokens)}, {money(history.dollars)}"
    click.echo(("\n" if shown else "") + line)


def _print_question(question: AskedQuestion) -> None:
    click.echo(
        f"{click.style(one_line(question.question), bold=True)}\n{_answered(question)}\n{_took(question)}, id {question.id}"
    )
    if question.plan:
        click.echo("\nPlan")
        for step in question.plan:
            click.echo(f"  #{step['id']}  {one_line(str(step['question']))}")
    if question.pairs:
        click.echo("\nPairs of its chains, the best chain first")
        for used in question.pairs:
            answers = one_line(", ".join(used.qa.answers)) or "no answer"
            click.echo(f"  {used.rank}, hop {used.hop}: {one_line(used.qa.question)} -> {answers}")
    if question.passages:
        click.echo("\nPassages")
        for passage in question.passages:
            place = title_and_source(passage)
            click.echo(f"  {passage.rank}. {place}{'  (cited)' if passage.cited else ''}")


def _answered(question: AskedQuestion) -> str:
    if question.answer is not None:
        confidence = (
            f"  (confidence {confidence_text(question.confidence)})"
            if question.confidence is not None
            else ""
        )
        return f"{cut(one_line(question.answer), LONG)}{confidence}"
    return "not in memory" if question.abstained else "no answer, passages only"


def _took(question: AskedQuestion) -> str:
    parts = [moment(question.asked_at), question.strategy, duration(question.seconds), question.verdict]
    parts.append(question.cached_from and f"from {question.cached_from[:8]}")
    if question.model:
        parts += [question.model, _tokens(question.tokens), money(question.dollars)]
    return one_line(", ".join(filter(None, parts)))


def _tokens(tokens: dict[str, int]) -> str:
    return f"{tokens['in']:,} tokens in and {tokens['out']:,} out"


def _verdict(name: str, meaning: str) -> click.Command:
    """Return the command that judges an answer by the method of `Memory` of that name."""

    @click.command(
        name,
        help=f"""Say that an answer was {meaning}

    WHICH is an id as `ask` prints it, or its beginning, or a number of `gswgraph history` (1 is the latest).

    \b
    Example:
      gswgraph {name} 1
      gswgraph {name} 3fa2c91b
    """,
    )
    @with_memory
    @click.argument("which")
    @json_option
    def judge(url: str | None, which: str, as_json: bool) -> None:
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
    _print_entries(["stage", "model"], dict(sorted(by_stage.items())))
    most = sorted(by_document.items(), key=lambda item: -total(item[1]).prompt_tokens)
    if most:
        click.echo(f"\n{counted(len(most), 'document')}, those that took most first:")
        _print_entries(["document"], {(short_source(name),): entries for name, entries in most[:SHOWN]})


def _print_entries(names: list[str], parts: dict[tuple[str, ...], list[Entry]]) -> None:
    from gsw_graph.models.chat.cache import total

    columns = [*names, "calls", "cached", "failed", "tokens in", "tokens out", "seconds", "cost"]
    rows = []
    for key, entries in parts.items():
        s = total(entries)
        unpriced = s.dollars is not None and any(entry.dollars is None and entry.calls for entry in entries)
        cost = f"at least {money(s.dollars)}" if unpriced else money(s.dollars)
        counts = (s.calls, s.cached, s.failed, s.prompt_tokens, s.completion_tokens, round(s.seconds, 1))
        rows.append((*key, *counts, cost))
    print_table(Table(columns, [dict(zip(columns, row, strict=True)) for row in rows]))
