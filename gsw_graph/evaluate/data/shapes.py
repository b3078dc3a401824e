"""What a record says of its question, whatever data set it is from. Each thing is looked for under the keys
that the data sets publish it under.

MuSiQue: `paragraphs` with `is_supporting`, `question_decomposition`, `answer_aliases`, `answerable`. HotpotQA
and 2WikiMultiHopQA: `_id`, `supporting_facts`, `context`. PopQA and NQ as HippoRAG 2 publishes them:
`paragraphs` or `contexts`, answers in `obj` and beside it or in `reference`. LV-Eval: `input` or
`question`, `answers`, no gold passages. Ours: `id`, `question`, `answers`, `passages`, `sources`, `plan`,
`answerable`, `hops`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gsw_graph.errors import InputError
from gsw_graph.evaluate.data.gold import Gold

# The first key that stands in a record has its answers; beside some there are more.
_ANSWERS = (
    ("answer", ()),
    ("gold_ans", ()),
    ("reference", ()),
    ("obj", ("possible_answers", "o_wiki_title", "o_aliases")),
    ("possible_answers", ()),
    ("answers", ()),
)
_JSON_TEXT = ("possible_answers", "o_aliases")  # PopQA writes these lists as text
_NONE = {"no answer", "n/a"}  # what Panini's Platinum sets have where there is no answer
_TWO_WIKI = {"compositional", "inference", "bridge_comparison"}  # types that HotpotQA does not have


@dataclass(frozen=True, slots=True)
class Record:
    """A question and what is known of it.

    answers: any of them is right. gold: what must be found. answerable: the corpus holds the answer. plan:
    the gold decomposition as it was written. hops: of the gold decomposition, else the number of
    supporting titles; None where a record does not tell. shape: the data set whose keys it has.
    """

    id: str
    question: str
    answers: tuple[str, ...] = ()
    gold: tuple[Gold, ...] = ()
    answerable: bool = True
    plan: object = None
    hops: int | None = None
    shape: str = "own"


def record(value: object, number: str) -> Record:
    """What a record says; `number` is its id where it has none. InputError: it is no question, or
    something in it has not the type it must have."""
    if not isinstance(value, Mapping):
        raise InputError("not a record")
    question = value.get("question", value.get("input"))
    if not isinstance(question, str) or not question.strip():
        raise InputError("no `question`")
    id = value.get("id", value.get("_id"))
    answers = tuple(dict.fromkeys(_answers(value)))
    answerable = value.get("answerable")
    if answerable is None:
        answerable = not answers or not all(answer.strip().casefold() in _NONE for answer in answers)
    if not isinstance(answerable, bool):
        raise InputError("`answerable` is neither true nor false")
    gold = tuple(dict.fromkeys(_gold(value)))
    plan = value.get("plan", value.get("question_decomposition"))
    return Record(
        number if id in (None, "") else str(id),
        question.strip(),
        answers if answerable else (),
        gold,
        answerable,
        plan,
        _hops(value, plan),
        _shape(value),
    )


def _answers(value: Mapping[str, object]) -> Iterator[str]:
    first = next((names for names in _ANSWERS if value.get(names[0]) is not None), None)
    for key in (first[0], *first[1], "answer_aliases") if first else ():
        found = value.get(key)
        if key in _JSON_TEXT and isinstance(found, str) and found.lstrip().startswith("["):
            try:
                found = json.loads(found)
            except ValueError:
                raise InputError(f"`{key}` is text that is no JSON") from None
        for answer in found if isinstance(found, list) else [] if found is None else [found]:
            if not isinstance(answer, str | int | float) or isinstance(answer, bool):
                raise InputError(f"`{key}` has an answer that is not text")
            yield str(answer)


def _gold(value: Mapping[str, object]) -> Iterator[Gold]:
    """The references: HippoRAG 2, `get_gold_docs`; the white space between sentences, which differs
    between its two sets, is not looked at."""
    if "supporting_facts" in value:
        titles = _supporting(value)
        for passage in _pairs(value, "context", "sentences"):
            if (title := _text(passage, 0, "context")) in titles:
                sentences = passage[1] if isinstance(passage, list) and len(passage) > 1 else None
                if not isinstance(sentences, list) or not all(
                    isinstance(sentence, str) for sentence in sentences
                ):
                    raise InputError("`context` has a passage that is not [title, [sentence, ...]]")
                yield Gold(title, " ".join(sentences))
    for key in ("contexts", "paragraphs"):
        for passage in _list(value, key):
            if not isinstance(passage, Mapping):
                raise InputError(f"`{key}` has an entry that is not a record")
            if passage.get("is_supporting", True):
                text = "text" if "text" in passage else "paragraph_text"
                yield Gold(_text(passage, "title", key), _text(passage, text, key))
    for passage in _list(value, "passages"):
        yield (
            Gold("", passage)
            if isinstance(passage, str)
            else Gold(_text(passage, "title", "passages"), _text(passage, "text", "passages"))
        )
    for key in ("sources", "supporting"):
        for source in _list(value, key):
            if not isinstance(source, str):
                raise InputError(f"`{key}` has an entry that is not text")
            yield Gold(source=source)


def _supporting(value: Mapping[str, object]) -> set[str]:
    return {_text(fact, 0, "supporting_facts") for fact in _pairs(value, "supporting_facts", "sent_id")}


def _pairs(value: Mapping[str, object], key: str, second: str) -> list[object]:
    """A list of [title, something], also where it is written as a record of two lists, as Hugging Face's
    copies have it."""
    found = value.get(key)
    if not isinstance(found, Mapping):
        return _list(value, key)
    titles, others = _list(found, "title"), _list(found, second)
    if len(titles) != len(others):
        raise InputError(f"`{key}` has {len(titles)} titles and {len(others)} of `{second}`")
    return [list(pair) for pair in zip(titles, others, strict=True)]


def _list(value: Mapping[str, object], key: str) -> list[object]:
    found = value.get(key)
    if found is not None and not isinstance(found, list):
        raise InputError(f"`{key}` is not a list")
    return found or []


def _text(value: object, key: str | int, where: str) -> str:
    """The text under a key of a record, or in a place of a list."""
    found = None
    if isinstance(key, str) and isinstance(value, Mapping):
        found = value.get(key)
    elif isinstance(key, int) and isinstance(value, list) and key < len(value):
        found = value[key]
    if not isinstance(found, str):
        raise InputError(
            f"`{where}` has an entry without {f'`{key}`' if isinstance(key, str) else 'a title'}"
        )
    return found


def _hops(value: Mapping[str, object], plan: object) -> int | None:
    said = value.get("hops")
    if isinstance(said, int) and not isinstance(said, bool):
        return said
    if isinstance(plan, list):
        return len(plan) or None
    if "supporting_facts" in value:
        return len(_supporting(value)) or None
    return 1 if "obj" in value or "reference" in value or "possible_answers" in value else None


def _shape(value: Mapping[str, object]) -> str:
    if "supporting_facts" in value:
        return "2wikimultihopqa" if "evidences" in value or value.get("type") in _TWO_WIKI else "hotpotqa"
    if "obj" in value or "possible_answers" in value:
        return "popqa"
    if "reference" in value:
        return "nq"
    if "paragraphs" in value:
        return "musique"
    return "lveval" if "input" in value or "answer_keywords" in value or "confusing_facts" in value else "own"
