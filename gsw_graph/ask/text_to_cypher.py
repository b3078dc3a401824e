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

from gsw_graph.ask.answer.evidence import flat
from gsw_graph.ask.answer.quotes import cite
from gsw_graph.ask.retrieve.names.linking import link, mentions
from gsw_graph.ask.strategy import AnswerDraft, Query, Retrieved
from gsw_graph.concurrency import Check
from gsw_graph.errors import InputError, ReplyError
from gsw_graph.model.results import AskedTable, Statement
from gsw_graph.models.chat.request import Request, parse_json
from gsw_graph.models.prompts import prompt
from gsw_graph.store import adhoc
from gsw_graph.text.safe_text import to_json

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.models.chat.chat import QuestionModel
    from gsw_graph.models.chat.request import LanguageModel
    from gsw_graph.store.reader import Reader

ROWS = 100  # of a result
EVIDENCE = "evidence"  # the column that has the ids of the passages behind a row
_SECONDS = 10.0  # of a statement for `ask`
_CITED = 20  # passages of an answer, and at least one a row
_LIMIT = 1000  # tokens of a reply
# A block, or a text that begins with a clause: comments, of which the last may have the values, and the rest.
_REPLY = re.compile(
    r"(?:```[ \t]*\w*[ \t]*\n|\A(?=\s*(?://|[A-Z]{3,}\b(?!:))))\s*(?://[^\n{]*\n\s*)*"
    r"(?://\s*(?P<values>\{[^\n]*\})\s*)?(?P<statement>(?!```)\S.*?)\s*(?:```|\Z)",
    re.DOTALL,
)


def query_by_question(
    question: str,
    reader: Reader,
    llm: LanguageModel,
    *,
    timeout: float | None,
    check: Check,
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
        rows = table.rows[:ROWS]
        evidence = [_ids(row.pop(EVIDENCE, None)) for row in rows]
        columns = [column for column in table.columns if column != EVIDENCE]
        return AskedTable(columns, rows, statement, values, evidence, cut=len(table.rows) > ROWS)

    return llm.ask(build_request(question, reader), run).value


def build_request(question: str, reader: Reader) -> Request:
    """Build the request: prompt, schema and examples; keys of metadata, names and the question."""
    keys = [flat(row["key"]) for row in reader.rows("read/metadata_keys")]
    candidates = mentions(question)
    known = reader.concept_names([mention.key for mention in candidates])
    names = [mention.key for mention in link(candidates, known)]
    text = f"Keys of metadata: {keys}\nNames of the question: {names}\nQuestion: {flat(question)}"
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


def parse_reply(reply: str) -> tuple[str, dict[str, Any]] | None:
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


def _ids(value: object) -> list[str]:
    return [str(id_) for id_ in value] if isinstance(value, list) else []


def answer_from_graph(query: Query, context: Context, llm: QuestionModel) -> Retrieved | None:
    """Answer a question from the rows of a statement: each is a part of the answer, and cites passages behind
    it.

    Returns:
        The passages with a draft of the answer; None if the model writes no statement that runs, or there is
        no passage behind its rows: then sentences may still have the answer.
    """
    try:
        with context.clock("cypher"):
            table = query_by_question(query.question, context.reader, llm, timeout=_SECONDS, check=llm.check)
    except ReplyError as error:
        context.notes.append(f"{llm.model} wrote no statement that can be run: {error}")
        return None
    if table is None:
        return None
    behind = [ids[: _CITED // len(table.rows) or 1] for ids in table.evidence]
    wanted = list(dict.fromkeys(chain.from_iterable(behind)))
    passages = context.reader.passages(wanted, [1.0] * len(wanted))
    if not passages:
        return None
    if table.cut:
        context.notes.append(f"these are the first {ROWS} rows, and there are more")
    order = [passage.id for passage in passages]
    statements, lines = [], []
    for row, ids in zip(table.rows, behind, strict=True):
        told = ", ".join(map(_text, row.values()))
        cited = [order.index(id_) for id_ in ids if id_ in order]
        statements.append(Statement(told, cited))
        lines.append(" ".join([told, *(f"[{place + 1}]" for place in cited)]))
    answer = "; ".join(statement.text for statement in statements)
    citations = [cite(passage, query.question, answer) for passage in passages]
    draft = AnswerDraft(answer, "graph", citations=citations, text="\n".join(lines), statements=statements)
    why = f"the graph has it by {table.statement} {to_json(table.parameters)}"
    return Retrieved(passages[: query.k], draft=draft, ran="cypher", why=why)


def _text(value: Any) -> str:
    """Write a value of a row for people, in one line."""
    return flat(value if isinstance(value, str) else to_json(value))
