"""What is wrong with a workspace, found by rules: what breaks chains of questions, each fault with what it is
about.

The kinds are those of Panini's appendix F.2 (what the text says and no question asks, questions without their
inverse) and of its rules for extraction: docs/extraction.md. A rule that is in doubt is silent, and the
rules about English words say nothing about other languages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from gsw_graph.extract.lint_words import (
    asks_other_name,
    asks_what_kind,
    folded,
    is_covered,
    is_english,
    leads_back,
    names_of,
    owner_and_owned,
    pronoun_as_name,
    pronoun_in_fact,
    pronoun_in_question,
    proper,
    relative_date,
    several_unknowns,
    stands_in,
    stems,
    tells_dates_apart,
    vague,
)
from gsw_graph.model import QAPair, Workspace
from gsw_graph.names import normalise

KINDS = {
    "empty": "a passage in which nothing was found",
    "name not in passage": "an entity that the text does not name",
    "missing name": "a name or date of the text that is in no entity, question or answer",
    "orphan": "an entity in no question and no answer",
    "missing inverse": "a question whose answer no question leads back from",
    "dangling answer": "an answer that is no entity",
    "unanswered": "a question without an answer",
    "no name": "a question that names no entity",
    "conflict": "a question asked twice with different answers",
    "several unknowns": "a question that asks for more than one thing",
    "pronoun": "a pronoun where a name belongs",
    "vague": "an entity that could be anything",
    "merged possessive": "two entities in one name",
    "relative date": "a date that says when only beside its text",
}
"""Every kind of fault and what it means."""
_WITHOUT_QUESTIONS = frozenset(("openie", "propositions", "rebel"))  # triples and sentences


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong in the passage at position `passage`. `subject` is the entity, question or
    proposition as it stands in the workspace, or the name that is missing there."""

    kind: str
    passage: int
    subject: str
    message: str


def lint(workspace: Workspace) -> list[Fault]:
    """The faults of a workspace, passage by passage, in the order of `KINDS`."""
    order = list(KINDS)
    return sorted(
        dict.fromkeys(_Lint(workspace).faults()), key=lambda fault: (fault.passage, order.index(fault.kind))
    )


class _Lint:
    """A workspace, by passage, and the rules that look at it."""

    def __init__(self, workspace: Workspace) -> None:
        self._passages = {passage.position: passage for passage in workspace.document.passages}
        self._entities = workspace.entities
        self._names = [entity.name for entity in workspace.entities]
        self._facts = workspace.propositions
        self._pairs: dict[int, list[QAPair]] = {position: [] for position in self._passages}
        for phrase in workspace.verb_phrases:
            self._pairs[phrase.passage] += phrase.pairs
        self._asks = workspace.extractor not in _WITHOUT_QUESTIONS
        self._keys = {entity.key for entity in workspace.entities}

    def faults(self) -> Iterator[Fault]:
        yield from self._of_entities()
        for position, pairs in self._pairs.items():
            if self._asks:
                yield from self._uncovered(position, pairs)
                yield from self._inverses(position, pairs)
            yield from self._of_questions(position, pairs)
        english = any(is_english(pair.question) for pairs in self._pairs.values() for pair in pairs)
        for fact in self._facts if english else ():
            if pronoun := pronoun_in_fact(fact.text):
                yield Fault("pronoun", fact.passage, fact.text, f"it begins with {pronoun!r}: say the name")

    def _of_entities(self) -> Iterator[Fault]:
        texts = {position: folded(passage.full_text) for position, passage in self._passages.items()}
        used = {
            normalise(name)
            for pairs in self._pairs.values()
            for pair in pairs
            for name in pair.about + pair.answers
        }
        for entity in self._entities:
            place = entity.passages[0]
            worked_out = entity.from_ is not None and any(
                tells_dates_apart(texts[position]) for position in entity.passages
            )
            if not worked_out and not any(
                stands_in(entity.name, texts[position]) for position in entity.passages
            ):
                yield Fault("name not in passage", place, entity.name, "the text does not name it")
            if self._asks and entity.key not in used:
                yield Fault("orphan", place, entity.name, "no question names it and none is answered by it")
            if not entity.titles:  # a title is a name, whatever it says
                yield from _of_name(place, entity.name)

    def _uncovered(self, position: int, pairs: list[QAPair]) -> Iterator[Fault]:
        """What the text names and no question leads to."""
        said = list(names_of(self._passages[position].text))
        if said and not pairs:
            yield Fault(
                "empty", position, self._passages[position].title, "no question is asked about this passage"
            )
            return
        covered = {
            stem
            for name in [*self._names, *(answer for pair in pairs for answer in pair.answers)]
            for stem in stems(name)
        }
        covered.update(*(proper(pair.question) for pair in pairs))
        for name in said:
            if (own := stems(name)) and not is_covered(own, covered):
                covered |= own
                yield Fault(
                    "missing name",
                    position,
                    name,
                    "the text names it, and no entity, question or answer does",
                )

    def _inverses(self, position: int, pairs: list[QAPair]) -> Iterator[Fault]:
        """Questions that lead from one name to another, with no question that leads back to what the first
        one names, by whatever name."""
        back = [
            (proper(pair.question).union(*map(stems, pair.about)), [stems(answer) for answer in pair.answers])
            for pair in pairs
        ]
        groups = [{*pair.about, *pair.answers} for pair in pairs if asks_other_name(pair.question)]

        def also(called: Collection[str]) -> Collection[str]:
            return {*called}.union(*(group for group in groups if not group.isdisjoint(called)))

        for pair in pairs:
            if not pair.about or not any(map(leads_back, pair.answers)) or asks_what_kind(pair.question):
                continue
            about, answered = (
                (pair.about, pair.answers)
                if asks_other_name(pair.question)
                else (also(pair.about), also(pair.answers))
            )
            own, answers = stems(pair.question).union(*map(stems, about)), [*map(stems, answered)]
            if not any(
                question & answer and any(to & own for to in backs)
                for answer in answers
                for question, backs in back
            ):
                named = " or ".join(repr(name) for name in pair.about[:2])
                yield Fault(
                    "missing inverse",
                    position,
                    pair.question,
                    f"no question about {pair.answers[0]!r} is answered by {named}",
                )

    def _of_questions(self, position: int, pairs: list[QAPair]) -> Iterator[Fault]:
        first: dict[str, QAPair] = {}
        for pair in pairs:
            question = pair.question
            if not pair.answers:
                yield Fault("unanswered", position, question, "it has no answer")
            for answer in pair.answers:
                if normalise(answer) not in self._keys:
                    yield Fault("dangling answer", position, question, f"the answer {answer!r} is no entity")
                    yield from (
                        Fault(fault.kind, position, question, f"the answer {answer!r}: {fault.message}")
                        for fault in _of_name(position, answer)
                    )
            if first.setdefault(question, pair).answers != pair.answers:
                yield Fault(
                    "conflict",
                    position,
                    question,
                    f"answered by {', '.join(first[question].answers)} and by {', '.join(pair.answers)}",
                )
            if not pair.about and not self._named(pair):
                yield Fault("no name", position, question, "it names no entity, so that nothing leads to it")
            if is_english(question):
                yield from _of_question(position, question)

    def _named(self, pair: QAPair) -> bool:
        """Whether a question may mean an entity, though it says it in other words."""
        own = stems(pair.question)
        return any(own & stems(entity.name) for entity in self._entities if entity.name not in pair.answers)


def _of_name(position: int, name: str) -> Iterator[Fault]:
    if pronoun_as_name(name):
        yield Fault("pronoun", position, name, "say whom it means")
    elif vague(name):
        yield Fault("vague", position, name, "it could be anything")
    if both := owner_and_owned(name):
        yield Fault("merged possessive", position, name, f"{both[0]!r} and {both[1]!r} are two entities")
    if when := relative_date(name):
        yield Fault("relative date", position, name, f"{when!r} says when only beside its text")


def _of_question(position: int, question: str) -> Iterator[Fault]:
    if pronoun := pronoun_in_question(question):
        yield Fault("pronoun", position, question, f"{pronoun!r} stands for no name in it")
    if several_unknowns(question):
        yield Fault("several unknowns", position, question, "ask one thing at a time")
    if when := relative_date(question):
        yield Fault("relative date", position, question, f"{when!r} says when only beside its text")
