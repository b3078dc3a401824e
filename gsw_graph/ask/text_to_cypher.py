"""Answer a question by a Cypher statement that a language model writes.

The model sees the schema, examples, and of the memory the keys of metadata and the names of the question. It
never sees a text of a document: the rows are the answer. `store/adhoc.py`, and not the prompt, refuses a
statement that does more than read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from gsw_graph.ask.answer.evidence import flat
from gsw_graph.ask.answer.quotes import cite
from gsw_graph.ask.retrieve.names.linking import link, mentions
from gsw_graph.ask.strategy import AnswerDraft, Query, Retrieved
from gsw_graph.concurrency import Check, never_cancelled
from gsw_graph.errors import InputError, ReplyError
from gsw_graph.model.results import AskedTable, Statement
from gsw_graph.models.chat.request import Request, parse_json
from gsw_graph.models.prompts import prompt
from gsw_graph.store import adhoc
from gsw_graph.store.patterns import STARTS
from gsw_graph.text.safe_text import to_json

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.model.results import RankedPassage
    from gsw_graph.models.chat.request import LanguageModel
    from gsw_graph.store.reader import Reader

ROWS = 100  # of a result
EVIDENCE = "evidence"  # the column that has the ids of the passages behind a row
_SECONDS = 10.0  # of a statement for `ask`
_CITED = 20  # passages of an answer, and at least one a row
_LONGEST_KEY = 60  # characters of a key of metadata
_LIMIT = 1000  # tokens of a reply
_WHY = "the question asks for all or for a number, and a statement over the graph has it"
_BLOCK = re.compile(r"```[ \t]*\w*[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_VALUES = re.compile(r"\s*//\s*(\{.*\})[ \t]*(?:\n|\Z)")
_FIRST_WORD = re.compile(r"\s*([A-Z]+)\b")


@dataclass(frozen=True, slots=True)
class WrittenStatement:
    """A statement of a language model, with the values of its parameters."""

    text: str
    parameters: dict[str, Any]


def query_by_question(
    question: str,
    reader: Reader,
    llm: LanguageModel,
    *,
    timeout: float | None,
    check: Check = never_cancelled,
) -> AskedTable | None:
    """Have a model write one statement for a question, and run it. The model is told once what is wrong with
    its statement.

    Args:
        question: The question.
        reader: Of the memory; its scope is not applied.
        llm: The model.
        timeout: In seconds, of a statement.
        check: Called now and then; what it raises ends the statement.

    Returns:
        The first rows; None if the model says that no statement answers the question.

    Raises:
        ReplyError: No statement of the model could be run.
        StoppedError: No call works any more.
    """

    def run(reply: object) -> AskedTable | None:
        written = parse_reply(str(reply))
        if written is None:
            return None
        text, parameters = written.text, written.parameters
        try:
            table = adhoc.run(
                reader.connection,
                text,
                parameters,
                write=False,
                timeout=timeout,
                check=check,
                most=ROWS + 1,
            )
        except InputError as error:  # its hint is for people
            raise ValueError(error.message) from error
        is_cut = len(table.rows) > ROWS
        return AskedTable(table.columns, table.rows[:ROWS], question, text, parameters, is_cut)

    return llm.ask(build_request(question, reader), run).value


def build_request(question: str, reader: Reader) -> Request:
    """Build the request: prompt, schema and examples; keys of metadata, names and the question."""
    keys = [flat(row["key"]) for row in reader.rows("read/metadata_keys")]
    short_keys = [key for key in keys if len(key) <= _LONGEST_KEY]
    candidates = mentions(question)
    known = reader.concept_names(list({mention.key for mention in candidates}))
    names = [mention.key for mention in link(candidates, known)]
    lines = [
        f"Keys of metadata: {', '.join(short_keys) or 'none'}",
        f"Names of the question: {to_json(names)}",
        f"Question: {flat(question)}",
    ]
    messages = (
        {"role": "system", "content": system_message()},
        {"role": "user", "content": "\n".join(lines)},
    )
    return Request("cypher", messages, limit=_LIMIT)


@cache
def system_message() -> str:
    """Return the prompt with the schema and the examples, the same for every memory."""
    from gsw_graph.store.described import described_schema  # neomodel takes a moment

    parts = [prompt("cypher"), described_schema(), "Examples"]
    for question, statement in examples().items():
        parts.append(f"Question: {question}\n```cypher\n{statement}\n```")
    return "\n\n".join(parts)


@cache
def examples() -> Mapping[str, str]:
    """Return the statements of `cypher/examples/` by their questions, the first line of each file."""
    found = {}
    folder = files("gsw_graph.cypher") / "examples"
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        first, _, rest = file.read_text(encoding="utf-8").partition("\n")
        found[first.removeprefix("//").strip()] = rest.strip()
    return found


def parse_reply(reply: str) -> WrittenStatement | None:
    """Read the statement in a reply: a block, a JSON object with `statement` and `parameters`, or a text that
    begins with a clause. Every other reply is a refusal.

    Returns:
        The statement, or None for a refusal.

    Raises:
        ValueError: JSON cannot be read; the message is meant for the model.
    """
    block = _BLOCK.search(reply)
    text = block[1] if block else reply
    if text.lstrip().startswith("{"):
        return _of_json(text)
    values = _VALUES.match(text)
    parameters = parse_json(values[1]) if values else {}
    statement = text[values.end() :] if values else text
    if block is None:
        word = _FIRST_WORD.match(statement)
        if word is None or word[1] not in STARTS:
            return None
    return _written(statement, parameters)


def _of_json(text: str) -> WrittenStatement | None:
    value = parse_json(text, ("statement",))
    if not isinstance(value, dict):
        return None
    return _written(value.get("statement"), value.get("parameters"))


def _written(statement: object, parameters: object) -> WrittenStatement | None:
    if not isinstance(statement, str) or not statement.strip():
        return None
    return WrittenStatement(statement.strip(), parameters if isinstance(parameters, dict) else {})


# Answers


def answer_from_graph(query: Query, context: Context) -> Retrieved | None:
    """Answer a question from the rows of a statement.

    Returns:
        The passages behind the rows with a draft of the answer; None if the model writes no statement that
        runs, or there is no passage behind its rows: then sentences may still have the answer.
    """
    llm = context.llm
    assert llm is not None  # noqa: S101 - the caller has looked
    with context.clock("cypher"):
        try:
            table = query_by_question(query.question, context.reader, llm, timeout=_SECONDS, check=llm.check)
        except ReplyError as error:
            context.notes.append(f"{llm.model} wrote no statement that can be run: {error}")
            return None
        if table is None:
            return None
        ids = _evidence(table)
        wanted = list(dict.fromkeys(id_ for row_ids in ids for id_ in row_ids))
        passages = context.reader.passages(wanted, [1.0] * len(wanted))
    if not passages:
        return None
    if table.cut:
        context.notes.append(f"these are the first {ROWS} rows, there are more")
    if context.trace is not None:
        context.trace.statement = table.statement
        context.trace.parameters = table.parameters
    draft = _draft(table, ids, passages)
    return Retrieved(passages[: query.k], draft=draft, ran="cypher", why=_WHY)


def _evidence(table: AskedTable) -> list[list[str]]:
    """Return the ids of the passages to cite for each row."""
    each = max(1, _CITED // max(1, len(table.rows)))
    ids = []
    for row in table.rows:
        value = row.get(EVIDENCE)
        listed = value if isinstance(value, list) else [value]
        ids.append([id_ for id_ in listed if isinstance(id_, str)][:each])
    return ids


def _draft(table: AskedTable, ids: list[list[str]], passages: list[RankedPassage]) -> AnswerDraft:
    """Return the answer that the rows of a table are, a statement each.

    Args:
        table: The rows.
        ids: Of the passages behind each row.
        passages: The passages that are still there.
    """
    columns = [column for column in table.columns if column != EVIDENCE]
    is_named = len(columns) > 1 or len(table.rows) == 1
    places = {passage.id: place for place, passage in enumerate(passages)}
    answers, statements, lines = [], [], []
    for row, row_ids in zip(table.rows, ids, strict=True):
        values = [flat(_text(row[column])) for column in columns]
        named = [f"{flat(column)}: {value}" for column, value in zip(columns, values, strict=True)]
        told = ", ".join(named if is_named else values)
        cited = [places[id_] for id_ in row_ids if id_ in places]
        answers.append(", ".join(values))
        statements.append(Statement(told, cited))
        lines.append(" ".join([told, *(f"[{place + 1}]" for place in cited)]))
    answer = "; ".join(answers)
    citations = [cite(passage, table.question, answer) for passage in passages]
    return AnswerDraft(answer, "graph", citations=citations, text="\n".join(lines), statements=statements)


def _text(value: Any) -> str:
    """Write a value of a row for people."""
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if value is None:
        return "none"
    return value if isinstance(value, str) else to_json(value)
