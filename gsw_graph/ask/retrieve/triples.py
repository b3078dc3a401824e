"""Take a question apart in triples, as AutoPrunedRetriever does with questions, answers and facts alike
(section 2.2); the parser is the language model that was set."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gsw_graph.ask.answer.evidence import single_line
from gsw_graph.ask.retrieve.agents import Team, request_for

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.context import RetrievalContext

MOST = 4  # triples of a question: what one-to-one matching costs doubles with each
_TOKENS = 200


class Triple(NamedTuple):
    """Hold what a question says or asks. The fields joined by spaces are the embedded line (A.3)."""

    subject: str
    relation: str
    object: str


def ask_triples(context: RetrievalContext, question: str) -> list[Triple]:
    """Ask the language model for the triples of a question, MOST at the most, in one short call.

    Raises:
        InvalidReplyError: The reply cannot be used.
    """
    request = request_for("pruned_question", f"Question: {single_line(question)}", limit=_TOKENS)
    return Team(context).agent("question").ask(request, read_triples, question, _written)


def read_triples(reply: object) -> list[Triple]:
    """Read the triples of a reply, a triple a line.

    Raises:
        ValueError: The reply has no triple.
    """
    triples = []
    for line in str(reply).splitlines():
        parts = single_line(line).split(" | ")
        if len(parts) == len(Triple._fields):
            triples.append(Triple(*parts))
    if not triples:
        raise ValueError("write one triple a line: subject | relation | object")
    return triples[:MOST]


def _written(triples: list[Triple]) -> str:
    return "; ".join(map(" ".join, triples))
