"""Take a question apart in triples, as AutoPrunedRetriever does with questions, answers and facts alike
(section 2.2); the parser is the language model that was set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from gsw_graph.ask.answer.evidence import flat
from gsw_graph.ask.retrieve.agents import Team, request_for

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.context import Context

MOST = 4  # triples of a question: what one-to-one matching costs doubles with each
_TOKENS = 300
_TEXT = {"type": "string", "maxLength": 200}


class Triple(NamedTuple):
    """What a question says or asks; its fields joined by spaces are the line that is embedded (A.3)."""

    subject: str
    relation: str
    object: str


_FIELDS: dict[str, Any] = dict.fromkeys(Triple._fields, _TEXT)
_TRIPLE = {
    "type": "object",
    "properties": _FIELDS,
    "required": list(_FIELDS),
    "additionalProperties": False,
}
_SCHEMA = {
    "type": "object",
    "properties": {"triples": {"type": "array", "maxItems": MOST, "items": _TRIPLE}},
    "required": ["triples"],
    "additionalProperties": False,
}


def ask_triples(context: Context, question: str) -> list[Triple]:
    """Ask the language model for the triples of a question, MOST at the most, in one short call.

    Raises:
        ReplyError: The reply cannot be used.
    """
    request = request_for("pruned_question", f"Question: {flat(question)}", _SCHEMA, limit=_TOKENS)
    return Team(context).agent("question").ask(request, parse_triples, question, _written)


def parse_triples(reply: object) -> list[Triple]:
    """Read the triples of a reply; those with an empty field are left out.

    Raises:
        ValueError: The reply has no list of triples.
    """
    listed = reply.get("triples") if isinstance(reply, Mapping) else None
    if type(listed) is not list:
        raise ValueError('the reply has no list "triples"')
    triples = []
    for item in listed[:MOST]:
        if isinstance(item, Mapping):
            texts = [flat(str(item.get(name) or "")) for name in Triple._fields]
            if all(texts):
                triples.append(Triple(*texts))
    return triples


def _written(triples: list[Triple]) -> str:
    return "; ".join(map(" ".join, triples)) or "none"
