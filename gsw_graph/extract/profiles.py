"""Extraction profiles: what a language model is asked for, in which calls, and how the replies are read.

`llm` asks for a whole workspace. `propositions` asks for names and sentences alone, several passages a call,
as GRASP does; `two-step` for the names first and then for sentences over just these names, as PropRAG does
(appendix A); `triples` for subject, relation and object, as the language-model front end of
AutoPrunedRetriever does. The prompts are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gsw_graph.extract.llm import (
    Extraction,
    Part,
    check,
    check_extraction,
    extract_passage,
    list_of,
    messages,
    object_of,
    reply_limit,
    request,
    shown,
    text_of,
)
from gsw_graph.model.documents import Document
from gsw_graph.models.chat.request import Request, estimate
from gsw_graph.models.prompts import fence

if TYPE_CHECKING:
    from gsw_graph.models.chat.chat import Chat

TOGETHER = 1500  # tokens of the passages of one document that are read in one call
_NAMES = list_of(text_of(200), 100)
_LISTS = {
    "propositions": {"entities": _NAMES, "propositions": list_of(text_of(400), 100)},
    "triples": {
        "triples": list_of(object_of(**dict.fromkeys(("subject", "relation", "object"), text_of(200))), 100)
    },
}
_STEPS = (
    object_of(entities=_NAMES),
    object_of(propositions=list_of(object_of(text=text_of(400), entities=_NAMES), 100)),
)

Positions = tuple[int, ...]


class Profile:
    """Ask for a whole workspace of each passage. calls: for each group of passages, but for a `second_pass`,
    which repairs what lint reports."""

    calls = 1
    second_pass = False

    def groups(self, document: Document) -> Iterator[Positions]:
        """Yield the positions of passages that are read in one call."""
        yield from ((passage.position,) for passage in document.passages)

    def request(self, document: Document, positions: Positions) -> Request:
        """Return the first request about a group of passages."""
        return request(document, positions[0])

    def check(self, document: Document, positions: Positions) -> Callable[[object], Any]:
        """Return the check of the reply to the first request."""
        return check(document, positions[0])

    def extract(self, document: Document, positions: Positions, chat: Chat) -> dict[int, Extraction]:
        """Return what a model finds in a group of passages, by position. Raises as `Chat.ask`."""
        return {positions[0]: extract_passage(document, positions[0], chat, second_pass=self.second_pass)}


class Together(Profile):
    """Ask for the lists of one kind, `propositions` or `triples`, of several passages of a document."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def groups(self, document: Document) -> Iterator[Positions]:
        group: list[int] = []
        tokens = 0
        for passage in document.passages:
            size = estimate(passage.text)
            if group and tokens + size > TOGETHER:
                yield tuple(group)
                group, tokens = [], 0
            group.append(passage.position)
            tokens += size
        if group:
            yield tuple(group)

    def request(self, document: Document, positions: Positions) -> Request:
        texts = (
            f"Passage {number}\n{shown(document, position, context=number == 1)}"
            for number, position in enumerate(positions, 1)
        )
        passage = object_of(number={"type": "integer"}, **_LISTS[self.kind])
        schema = object_of(passages=list_of(passage, len(positions)))
        limit = sum(reply_limit(document, position) for position in positions)
        name = f"extract_{self.kind}"
        return Request(name, messages(name, "\n\n".join(texts)), schema, document.source, limit)

    def check(self, document: Document, positions: Positions) -> Callable[[object], dict[int, Extraction]]:
        def checked(value: object) -> dict[int, Extraction]:
            parts = {part.text("number"): part for part in Part(value).objects("passages")}
            if missing := [n for n in range(1, len(positions) + 1) if str(n) not in parts]:
                raise ValueError(f"passage {missing[0]} is missing in `passages`")
            return {
                position: check_extraction(self._read(parts[str(number)]), document, position)
                for number, position in enumerate(positions, 1)
            }

        return checked

    def extract(self, document: Document, positions: Positions, chat: Chat) -> dict[int, Extraction]:
        return chat.ask(self.request(document, positions), self.check(document, positions)).value

    def _read(self, part: Part) -> Extraction:
        if self.kind == "propositions":
            return Extraction(_entities(part.texts("entities")), facts=tuple(part.texts("propositions")))
        triples = tuple(
            (triple.text("subject"), triple.text("relation"), triple.text("object"))
            for triple in part.objects("triples")
        )
        names = dict.fromkeys(name for subject, _, object_ in triples for name in (subject, object_))
        return Extraction(tuple((name, ()) for name in names), triples=triples)


class TwoStep(Profile):
    """Ask for the names of a passage, then for its propositions over these names."""

    calls = 2

    def request(self, document: Document, positions: Positions) -> Request:
        return self._request("extract_entities", document, positions[0], shown(document, positions[0]), 0)

    def check(self, document: Document, positions: Positions) -> Callable[[object], Extraction]:
        return lambda value: check_extraction(
            Extraction(_entities(Part(value).texts("entities"))), document, positions[0]
        )

    def extract(self, document: Document, positions: Positions, chat: Chat) -> dict[int, Extraction]:
        (position,) = positions
        found = chat.ask(self.request(document, positions), self.check(document, positions)).value
        names = [name for name, _ in found.entities]
        listed = fence("entities", "\n".join(names))
        text = f"{shown(document, position)}\n\nThe entities of the passage:\n{listed}"

        def read_facts(value: object) -> Extraction:
            facts = {
                part.text("text"): [name for name in part.texts("entities") if name in names]
                for part in Part(value).objects("propositions")
            }
            whole = Extraction(found.entities, facts=tuple(facts), mentions=facts)
            return check_extraction(whole, document, position)

        asked = self._request("extract_listed", document, position, text, 1)
        return {position: chat.ask(asked, read_facts).value}

    def _request(self, name: str, document: Document, position: int, text: str, step: int) -> Request:
        limit = reply_limit(document, position)
        return Request(name, messages(name, text), _STEPS[step], document.source, limit)


PROFILES: dict[str, Callable[[], Profile]] = {
    "llm": Profile,
    "propositions": lambda: Together("propositions"),
    "triples": lambda: Together("triples"),
    "two-step": TwoStep,
}


def _entities(texts: Sequence[str]) -> tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]:
    """Read "name: type"."""
    parts = (text.rpartition(": ") for text in texts)
    return tuple((name.strip(), ((kind, ()),)) if name else (kind, ()) for name, _, kind in parts)
