"""Answer a question by a Cypher statement that a language model writes.

The model sees the schema, examples, and of the memory the keys of metadata and the names of the question. It
sees no document: the rows are the answer. Only the error of a statement may quote a value. `store/adhoc.py`,
and not the prompt, refuses a statement that does more than read.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import TYPE_CHECKING, Any

from gsw_graph.ask.answer.evidence import single_line
from gsw_graph.ask.answer.quotes import cite
from gsw_graph.ask.retrieve.names.linking import link, mentions
from gsw_graph.ask.strategy import AnswerDraft, Query, RetrievalResult
from gsw_graph.concurrency import Check
from gsw_graph.errors import InputError, InvalidReplyError
from gsw_graph.model.results import AskedTable, Statement
from gsw_graph.models.chat.request import Request, parse_json
from gsw_graph.models.prompts import prompt
from gsw_graph.store import adhoc
from gsw_graph.text.safe_text import to_json
from gsw_graph.values import Fields, unique

if TYPE_CHECKING:
    from collections.abc import Collection

    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.models.chat.chat import QuestionModel
    from gsw_graph.models.chat.request import LanguageModel
    from gsw_graph.store.reader import Reader

ROWS = 100  # of a result
EVIDENCE = "evidence"  # the column that has the ids of the passages behind a row
_SECONDS = 10.0  # of a statement for `ask`
_CITED = 20  # passages of an answer, and at least one a row
_LIMIT = 1000  # tokens of a reply
_NO_VALUE = "–"  # in a row that has other values
_FLOATS = 64  # of a list: from here on it is a vector
_BYTES = re.compile(r"[0-9a-f]{128,}")  # a stored vector, longer than a hash
# A block, or a text that begins with a clause: comments, of which the last may have the values, and the rest.
_REPLY = re.compile(
    r"(?:```[ \t]*\w*[ \t]*\n|\A(?=\s*(?://|[A-Z]{3,}\b(?!:))))\s*(?://[^\n{]*\n\s*)*"
    r"(?://\s*(?P<values>\{[^\n]*\})\s*)?(?P<statement>(?!```)\S.*?)\s*(?:```|\Z)",
    re.DOTALL,
)
# What a statement says itself, and its columns of that.
_VALUE = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\$\w+|-?\d[\w.]*|true|false|null)"""
_CONSTANT = rf"(?:\[\s*{_VALUE}(?:\s*,\s*{_VALUE})*\s*\]|{_VALUE}(?:\s*\+\s*{_VALUE})*)"
_UNNAMED = re.compile(_CONSTANT, re.IGNORECASE | re.DOTALL)
_NAMED = re.compile(
    rf"(?:\bRETURN\s(?:\s*DISTINCT\s)?|,)\s*{_CONSTANT}\s+AS\s+`?(\w+)", re.IGNORECASE | re.DOTALL
)


def query_by_question(
    question: str,
    reader: Reader,
    llm: LanguageModel,
    *,
    timeout: float | None,
    check: Check,
) -> AskedTable | None:
    """Let a model write a statement for a question, and run the statement. If it cannot be run, the model is
    told once.

    Args:
        question: The question.
        reader: Reader of the memory, whose scope is not applied.
        llm: The model.
        timeout: Seconds for a statement.
        check: Called now and then; an error ends the statement.

    Returns:
        The first rows; None if the model says that no statement answers the question.

    Raises:
        InvalidReplyError: No statement of the model could be run.
        ModelUnavailableError: No request will get a reply any more.
    """

    def run(reply: object) -> AskedTable | None:
        written = parse_reply(str(reply))
        if written is None:
            return None
        statement, values = written
        try:
            table = adhoc.run(
                reader.connection,
                statement,
                values,
                write=False,
                timeout=timeout,
                check=check,
                most=ROWS + 1,
            )
        except InputError as error:  # its hint is for people
            raise ValueError(error.message) from error
        columns = [column for column in table.columns if column.lower() != EVIDENCE]
        _check_columns(columns, statement)
        rows, evidence = [], []
        for row in table.rows[:ROWS]:
            _check_values(row)
            rows.append({column: row[column] for column in columns})
            evidence.append(_ids(row))
        return AskedTable(columns, rows, statement, values, evidence, cut=len(table.rows) > ROWS)

    return llm.ask(build_request(question, reader), run).value


def build_request(question: str, reader: Reader) -> Request:
    """Build the request: prompt, schema and examples; keys of metadata, names and the question."""
    keys = [single_line(row["key"]) for row in reader.rows("read/metadata_keys")]
    candidates = mentions(question)
    known = reader.concept_names([mention.key for mention in candidates])
    names = [mention.key for mention in link(candidates, known)]
    text = f"Keys of metadata: {keys}\nNames of the question: {names}\nQuestion: {single_line(question)}"
    system = {"role": "system", "content": system_message()}
    return Request("cypher", (system, {"role": "user", "content": text}), limit=_LIMIT)


@cache
def system_message() -> str:
    """Return the prompt with the schema and the statements of `cypher/examples/`, the same for every
    memory."""
    from gsw_graph.store.described import described_schema  # neomodel takes a moment

    folder = files("gsw_graph.cypher") / "examples"
    examples = sorted(f"```cypher\n{file.read_text('utf-8')}```" for file in folder.iterdir())
    return "\n\n".join([prompt("cypher"), described_schema(), *examples])


def parse_reply(reply: str) -> tuple[str, Fields] | None:
    """Read the statement in a reply, and the values of its parameters; every reply without one is a refusal.

    Returns:
        The statement with its values, or None for a refusal.

    Raises:
        ValueError: The values cannot be read; the message is meant for the model.
    """
    found = _REPLY.search(reply)
    if found is None:
        return None
    values = found["values"]
    return found["statement"], parse_json(values) if values else {}


def _check_columns(columns: list[str], statement: str) -> None:
    """Raise ValueError, for the model, if the statement says all that its columns have."""
    named = set(_NAMED.findall(statement))
    if all(column in named or _UNNAMED.fullmatch(column) for column in columns):
        raise ValueError("no column but `evidence` comes from the graph: return properties or counts")


def _check_values(row: Fields) -> None:
    """Raise ValueError, for the model, if a column is no text, no number and no list of these."""
    for column, value in row.items():
        if _is_map(value):
            raise ValueError(f"the column {column} has nodes or maps: return their properties instead")
        if _is_vector(value):
            raise ValueError(f"the column {column} is a vector: leave it out")


def _is_map(value: object) -> bool:
    """Return whether a value is a map, as nodes are here, or has one."""
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_is_map, value)))


def _is_vector(value: object) -> bool:
    """Return whether a value is a vector: floats, or bytes, which are hexadecimal here."""
    if isinstance(value, list):
        return len(value) >= _FLOATS and all(isinstance(item, float) for item in value)
    return isinstance(value, str) and _BYTES.fullmatch(value) is not None


def _ids(row: Fields) -> list[str]:
    """Return the ids of the passages behind a row: a list, or one text."""
    ids = []
    for column, value in row.items():
        if column.lower() == EVIDENCE:
            listed = value if isinstance(value, list) else [value]
            ids += [str(id_) for id_ in listed if id_ is not None]
    return ids


def answer_from_graph(query: Query, context: RetrievalContext, llm: QuestionModel) -> RetrievalResult | None:
    """Answer a question from the rows of a statement. Each row is a part of the answer, and cites its
    passages.

    Returns:
        The passages with a draft of the answer; None if the model writes no statement that runs, no row has a
        value, or no row has a passage. Sentences may still have the answer then.
    """
    try:
        with context.clock("cypher"):
            table = query_by_question(query.question, context.reader, llm, timeout=_SECONDS, check=llm.check)
    except InvalidReplyError as error:
        context.notes.append(f"{llm.model} wrote no statement that can be run: {error}")
        return None
    if table is None:
        return None
    wanted = unique(chain.from_iterable(ids[:_CITED] for ids in table.evidence))
    found = {passage.id: passage for passage in context.reader.passages(wanted, [1.0] * len(wanted))}
    behind = _ids_by_text(table, found.keys())
    order = unique(chain.from_iterable(behind.values()))
    if not order:
        return None
    if table.cut:
        context.notes.append(f"these are the first {ROWS} rows, and there are more")
    statements, lines = [], []
    for text, ids in behind.items():
        cited = [order.index(id_) for id_ in ids]
        statements.append(Statement(text, cited))
        marks = "".join(f"[{place + 1}]" for place in cited)
        lines.append(f"{text} {marks}".rstrip())
    answer = "; ".join(behind)
    passages = [found[id_] for id_ in order]
    citations = [cite(passage, query.question, answer) for passage in passages]
    draft = AnswerDraft(answer, "graph", citations=citations, text="\n".join(lines), statements=statements)
    why = f"the graph has it by {table.statement} {to_json(table.parameters)}"
    return RetrievalResult(passages[: query.k], draft=draft, ran="cypher", why=why)


def _ids_by_text(table: AskedTable, found: Collection[str]) -> dict[str, list[str]]:
    """Return the ids of the passages to cite, by the text of the rows that they are behind.

    Rows of one text are one statement. A row without a value says nothing. A row is left out too if none of
    its passages is found: their documents are being loaded or removed. One that names none, as that of a
    count of 0, stays.
    """
    behind: dict[str, dict[str, None]] = {}
    for row, ids in zip(table.rows, table.evidence, strict=True):
        text = _row_text(row)
        ready = [id_ for id_ in ids if id_ in found]
        if text and (ready or not ids):
            share = _CITED // len(table.rows) or 1
            behind.setdefault(text, {}).update(dict.fromkeys(ready[:share]))
    return {text: list(ids) for text, ids in behind.items()}


def _row_text(row: Fields) -> str:
    """Write the values of a row for people, in one line; a row without a value is empty."""
    texts = [_text(value) for value in row.values()]
    return ", ".join(text or _NO_VALUE for text in texts) if any(texts) else ""


def _text(value: Any) -> str:
    """Write a value for people, in one line; null and an empty list are empty."""
    if value is None or value == []:
        return ""
    return single_line(value if isinstance(value, str) else to_json(value))
