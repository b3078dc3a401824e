"""A language model's word on pairs that rules leave open: some pairs a request, each with what is known of
both names and a piece of text around each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from gsw_graph.errors import ReplyError
from gsw_graph.inference.chat.request import Request
from gsw_graph.merging.groups import SURE
from gsw_graph.merging.pairs import Pair
from gsw_graph.merging.seen import Concept, Seen
from gsw_graph.prompts import prompt

if TYPE_CHECKING:
    from gsw_graph.inference.chat.language_model import LanguageModel

MOST = 100  # pairs that are asked about in one merge, the likeliest first
_TOGETHER = 10  # pairs of a request
_AROUND = 150  # characters of text on each side of a name
_VERDICTS = ("same", "different", "unsure")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "verdicts": {
            "type": "array",
            "maxItems": _TOGETHER,
            "items": {
                "type": "object",
                "properties": {
                    "pair": {"type": "integer"},
                    "verdict": {"type": "string", "enum": list(_VERDICTS)},
                },
                "required": ["pair", "verdict"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["verdicts"],
    "additionalProperties": False,
}


def judged(
    llm: LanguageModel, seen: Seen, pairs: Sequence[Pair], texts: Mapping[str, str]
) -> tuple[dict[Pair, str], int]:
    """What a model says of the first MOST of some pairs, and of how many its replies could not be used.
    texts: of passages by id. StoppedError: no call works any more."""
    found: dict[Pair, str] = {}
    lost = 0
    asked = list(pairs[:MOST])
    for start in range(0, len(asked), _TOGETHER):
        some = asked[start : start + _TOGETHER]
        shown = "\n\n".join(_shown(n, pair, seen, texts) for n, pair in enumerate(some, 1))
        messages = ({"role": "system", "content": prompt("merge")}, {"role": "user", "content": shown})
        request = Request("merge", messages, SCHEMA, limit=40 * len(some) + 200)
        try:
            reply = llm.ask(request, partial(_read, size=len(some)))
        except ReplyError:
            lost += len(some)
            continue
        found.update((some[number - 1], verdict) for number, verdict in reply.value.items())
    return found, lost


def decided(pairs: Sequence[Pair], verdicts: Mapping[Pair, str], model: str) -> list[Pair]:
    """Pairs as a model's verdicts leave them: surer, or gone."""
    left = []
    for pair in pairs:
        verdict = verdicts.get(pair)
        if verdict == "same":
            left.append(replace(pair, score=max(pair.score, SURE), method=model))
        elif verdict != "different":
            left.append(pair)
    return left


def passages(seen: Seen, pairs: Sequence[Pair]) -> list[str]:
    """The ids of the passages whose text is shown with some pairs."""
    keys = (key for pair in pairs[:MOST] for key in (pair.one, pair.other))
    return list(dict.fromkeys(seen.passages[seen.concepts[key].passages[0]] for key in keys))


def _shown(number: int, pair: Pair, seen: Seen, texts: Mapping[str, str]) -> str:
    names = (seen.concepts[key] for key in (pair.one, pair.other))
    lines = [_line(letter, concept, seen, texts) for letter, concept in zip("AB", names, strict=True)]
    return "\n".join([f"Pair {number}", *lines])


def _line(letter: str, concept: Concept, seen: Seen, texts: Mapping[str, str]) -> str:
    text = " ".join(texts.get(seen.passages[concept.passages[0]], "").split())
    at = max((text.find(name) for name in concept.spellings), default=-1)
    piece = text[max(0, at - _AROUND) : max(at, 0) + len(concept.name) + _AROUND]
    known = "; ".join(concept.roles[:3])
    return f"{letter}: {concept.name}{f' ({known})' if known else ''}\n   text: {piece}"


def _read(reply: object, size: int) -> dict[int, str]:
    """Verdicts by the number of the pair. ValueError: the reply is none; the text says how to mend that."""
    rows = reply.get("verdicts", ()) if isinstance(reply, dict) else ()
    if not rows or not isinstance(rows, list):
        raise ValueError('write {"verdicts": [{"pair": 1, "verdict": "same"}, ...]}')
    found: dict[int, str] = {}
    for row in rows:
        if not isinstance(row, dict) or row.get("verdict") not in _VERDICTS:
            raise ValueError(f"each verdict is one of {', '.join(_VERDICTS)}")
        number = row.get("pair")
        if not isinstance(number, int) or not 1 <= number <= size or number in found:
            raise ValueError(f"write one verdict for each of the pairs 1 to {size}")
        found[number] = str(row["verdict"])
    return found
