"""OpenIE results as HippoRAG keeps them: `{"docs": [{"passage", "extracted_entities": [...],
"extracted_triples": [[s, p, o], ...]}]}`.

`passage` is title, newline, text; where the record has `title` and `text` these are taken. So the document
is that of the corpus record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gsw_graph.assemble import Assembler
from gsw_graph.loaders import corpus
from gsw_graph.loaders.files import Item, Record
from gsw_graph.loaders.workspaces.parts import Node, Places, finished, place_entity
from gsw_graph.model import Document, Failure

_SHOWN = 80  # characters of a faulty triple


def is_record(value: Mapping[str, object]) -> bool:
    """Whether an object holds the entities or triples of a passage."""
    return not value.keys().isdisjoint(("extracted_entities", "extracted_triples")) or (
        "passage" in value and "text" not in value
    )


def read(record: Record) -> Iterator[Item]:
    """The workspace of one passage, then what is wrong with parts of it."""
    made = document(record, "openie")
    if isinstance(made, Failure):
        yield made
        return
    assembler, places, node = Assembler(made), Places(made.passages), Node(record.value)
    names_and_triples(assembler, places, node)
    yield from finished(assembler, "openie", record.place, node.faults)


def document(record: Record, loader: str) -> Document | Failure:
    """The document of one passage."""
    value, passage = record.value, record.value.get("passage")
    if not (isinstance(value.get("title"), str) and isinstance(value.get("text"), str)) and isinstance(
        passage, str
    ):
        title, text = corpus.titled(passage)
        value = {**value, "title": title, "text": text}
    return corpus.document(value, record.place, loader)


def names_and_triples(assembler: Assembler, places: Places, node: Node) -> None:
    """The entities and triples of one passage; triples that are none are one fault, as they may be many."""
    for name in node.strings("extracted_entities"):
        place_entity(assembler, places, name)
    triples = node.value.get("extracted_triples", [])
    if not isinstance(triples, list):
        node.faults.append("`extracted_triples` is not a list")
        return
    bad = [triple for triple in triples if not _sound(triple)]
    for subject, relation, object_ in (triple for triple in triples if _sound(triple)):
        assembler.triple(subject, relation, object_, places.best([subject, object_]))
    if bad:
        node.faults.append(
            f"left out, being no three texts: {len(bad)} of {len(triples)} triples, the first "
            f"{repr(bad[0])[:_SHOWN]}"
        )


def _sound(triple: object) -> bool:
    return (
        isinstance(triple, list)
        and len(triple) == 3
        and all(isinstance(part, str) and part.strip() for part in triple)
    )
