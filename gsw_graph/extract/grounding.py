"""Whether a reply is about its passage at all: a small model may repeat its instructions or an example of
them, or dream."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gsw_graph.extract.lint_words import folded, stands_in
from gsw_graph.extract.llm_reply import Found
from gsw_graph.names import normalise

SHARE = 0.5  # of the entities, and of the questions, answers and propositions, that must stand in the passage
_NOTHING = re.compile(r"[.…\s]*")  # "...", as models write it where a text belongs
_SHOWN = 3  # of what does not stand there


def without_placeholders(found: Found) -> Found:
    """A result without texts that are nothing but dots."""
    phrases = []
    for phrase, asked in found.phrases:
        kept = tuple(
            (question, tuple(filter(_says, answers))) for question, answers in asked if _says(question)
        )
        if _says(phrase) and (kept or not asked):
            phrases.append((phrase, kept))
    entities = (
        (name, tuple((role, tuple(filter(_says, states))) for role, states in roles if _says(role)))
        for name, roles in found.entities
        if _says(name)
    )
    return Found(tuple(entities), tuple(phrases), tuple(filter(_says, found.facts)), found.unmended)


def check_grounded(found: Found, text: str) -> None:
    """ValueError where less than half of what a result names stands in the text, by `lint`'s rule for
    names: half of the words of each, in any form."""
    text = folded(text)
    answers = [(question, *answers) for _, asked in found.phrases for question, answers in asked]
    _check("entities", (name for name, _ in found.entities), text)
    _check(
        "questions, answers and propositions",
        [*(one for some in answers for one in some), *found.facts],
        text,
    )


def _check(what: str, names: Iterable[str], text: str) -> None:
    names = list(
        {normalise(name): name for name in names if any(map(str.isalnum, name))}.values()
    )  # one that is said six times is one
    strange = [name for name in names if not stands_in(name, text)]
    if len(strange) > (1 - SHARE) * len(names):
        some = ", ".join(repr(name[:60]) for name in dict.fromkeys(strange[:_SHOWN]))
        raise ValueError(
            f"{len(strange)} of {len(names)} {what} name what the passage does not name ({some}): take "
            "them from the passage"
        )


def _says(text: str) -> bool:
    return not _NOTHING.fullmatch(text)
