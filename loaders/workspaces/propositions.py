"""Propositions as PropRAG keeps them: OpenIE results whose records have `"propositions": [{"text",
"entities": [...]}]` beside, or instead of, triples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gsw_graph.assemble import Assembler
from gsw_graph.loaders.files import Item, Record
from gsw_graph.loaders.workspaces.openie import document, names_and_triples
from gsw_graph.loaders.workspaces.parts import Node, Places, finished
from gsw_graph.model import Failure


def is_record(value: Mapping[str, object]) -> bool:
    """Whether an object holds the propositions of a passage."""
    return "passage" in value and "propositions" in value


def read(record: Record) -> Iterator[Item]:
    """The workspace of one passage, then what is wrong with parts of it."""
    made = document(record, "propositions")
    if isinstance(made, Failure):
        yield made
        return
    assembler, places, node = Assembler(made), Places(made.passages), Node(record.value)
    names_and_triples(assembler, places, node)
    for text, names in node.facts("propositions"):
        assembler.proposition(text, names, places.best(names or [text]))
    yield from finished(assembler, "propositions", record.place, node.faults)
