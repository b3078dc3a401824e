"""Ready workspaces, one record a line (JSONL) or in a JSON array: a corpus record that also says what was
found in its text.

    {"title", "text", "id"?, "source"?,
     "entities": [{"name", "roles": [{"role", "states": [...]}]}],
     "verb_phrases": [{"phrase", "questions": [{"text", "answers": [...]}]}],
     "propositions": [{"text", "entities": [...]}]}

Every list may be left out. An answer is the name of an entity or any text ("TEXT:" before it is taken off);
null and "None" are no answer. A proposition may be a string alone. Where the text is so long that it
becomes several passages, a part stands where its names stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gsw_graph.assemble import Assembler
from gsw_graph.loaders.corpus import document
from gsw_graph.loaders.files import Item, Record
from gsw_graph.loaders.workspaces.parts import Node, Places, finished, place_entity
from gsw_graph.model import Failure


def is_record(value: Mapping[str, object]) -> bool:
    """Whether an object says what was found in a text."""
    return not value.keys().isdisjoint(("entities", "verb_phrases", "propositions"))


def read(record: Record) -> Iterator[Item]:
    """The workspace of one record, then what is wrong with parts of it."""
    made = document(record.value, record.place, "workspaces")
    if isinstance(made, Failure):
        yield made
        return
    assembler, places, node = Assembler(made), Places(made.passages), Node(record.value)
    for entity in node.objects("entities"):
        if (name := entity.string("name")) is not None:
            place_entity(assembler, places, name, entity.roles())
    for verb in node.objects("verb_phrases"):
        if (phrase := verb.string("phrase")) is not None:
            asked = [
                (text, [a.removeprefix("TEXT:") for a in q.answers()])
                for q in verb.objects("questions")
                if (text := q.string("text")) is not None
            ]
            assembler.verb_phrase(
                phrase, asked, places.best(answer for _, answers in asked for answer in answers)
            )
    for fact, names in node.facts("propositions"):
        assembler.proposition(fact, names, places.best(names or [fact]))
    yield from finished(assembler, "workspaces", record.place, node.faults)
