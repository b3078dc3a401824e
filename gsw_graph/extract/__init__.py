"""Extractors: documents go in, their workspaces come out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from gsw_graph.extract import rules
from gsw_graph.model.documents import Document, Failure, Workspace

if TYPE_CHECKING:
    from gsw_graph.store.reader import DocumentState
    from gsw_graph.store.rows import Mode

BY_MODEL = ("triples", "propositions", "two-step", "llm")  # these ask a language model
EXTRACTORS = ("none", "rules", "sentences", *BY_MODEL)  # each finds more than those before it


@dataclass(slots=True)
class ExtractionJob:
    """Hold a document on its way through a load: the item of the loader, the mode of writing, the stored
    state (None for a new document), and in the end the workspace or the failures.

    `faults` are parts of a model's reply that were left out.
    """

    item: Document | Workspace
    mode: Mode
    state: DocumentState | None = None
    workspace: Workspace | None = None
    failures: list[Failure] = field(default_factory=list)
    faults: list[Failure] = field(default_factory=list)

    @property
    def document(self) -> Document:
        """Return the document, also of a workspace that came ready."""
        return self.item.document if isinstance(self.item, Workspace) else self.item


class Extractor(Protocol):
    """Fills in the workspaces of work as it comes, in any order, a bounded number at a time; a workspace that
    came ready is let through.

    `window`: how many passages are then embedded together.
    """

    name: str
    model: str | None
    window: int

    def run(self, work: Iterable[ExtractionJob]) -> Iterator[ExtractionJob]: ...


class Rules:
    """Extract names by rules or, as `none`, nothing but passages, without any model. A dry run, which
    extracts nothing, gives it the name of another extractor."""

    model: str | None = None
    window = 256

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, work: Iterable[ExtractionJob]) -> Iterator[ExtractionJob]:
        for task in work:
            if task.workspace is None:
                if self.name == "none":
                    task.workspace = Workspace(task.document, "none")
                elif self.name == "sentences":
                    task.workspace = rules.extract_sentences(task.document)
                else:
                    task.workspace = rules.extract(task.document)
            yield task


def with_names(workspace: Workspace) -> Workspace:
    """Return a workspace with the names that rules find in its text, which its own entities need not hold."""
    return replace(workspace, names=rules.extract(workspace.document).entities)
