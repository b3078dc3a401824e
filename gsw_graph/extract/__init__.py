"""Extractors: a document goes in, its workspace comes out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gsw_graph.model import Document, Workspace

EXTRACTORS = ("rules", "none")


def extract(document: Document, extractor: str) -> Workspace:
    """The workspace that an extractor finds; `none` finds nothing but the passages."""
    if extractor == "none":
        from gsw_graph.model import Workspace

        return Workspace(document, "none")
    from gsw_graph.extract import rules

    return rules.extract(document)


def with_names(workspace: Workspace) -> Workspace:
    """A ready workspace with the names that rules find in its text, which its own entities need not hold."""
    from gsw_graph.extract import rules

    return replace(workspace, names=rules.extract(workspace.document).entities)
