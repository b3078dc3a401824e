"""A memory of any size, made from a small one by renaming: every copy has names of its own, so that it
links up like the original."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from gsw_graph import loaders
from gsw_graph.extract import rules, with_names
from gsw_graph.model.documents import Document, Entity, Failure, QAPair, Workspace
from gsw_graph.text.names import normalise

EXAMPLES = str(Path(__file__).parent.parent / "examples/corpus")
COMMON = (
    0.05  # names in more than this share of the passages stay as they are in every copy: countries, months
)


def originals(path: str | None) -> list[Workspace]:
    """Workspaces of a file: ready ones as they are, of texts by rule."""
    items = loaders.read([path or EXAMPLES])
    return [
        rules.extract(item) if isinstance(item, Document) else with_names(item)
        for item in items
        if not isinstance(item, Failure)
    ]


def copies(workspaces: list[Workspace], passages: int) -> Iterator[tuple[int, int, Workspace]]:
    """Workspaces renamed until there are so many passages: number of the copy, number of its first passage
    in the original, workspace."""
    size = sum(len(w.document.passages) for w in workspaces)
    frequency: dict[str, int] = {}
    for workspace in workspaces:
        for entity in workspace.entities:
            frequency[entity.key] = frequency.get(entity.key, 0) + len(entity.passages)
    written, copy = 0, 0
    while True:
        first = 0
        for workspace in workspaces:
            if written >= passages:
                return
            yield (
                copy,
                first,
                _renamed(workspace, copy, {key for key, count in frequency.items() if count > COMMON * size}),
            )
            written += len(workspace.document.passages)
            first += len(workspace.document.passages)
        copy += 1


def _renamed(workspace: Workspace, copy: int, common: set[str]) -> Workspace:
    if copy == 0:
        return workspace
    document = workspace.document
    passages = tuple(
        replace(p, text=f"{p.text} ({copy})", title=rename(p.title, copy)) for p in document.passages
    )
    new = {e.name: e.name if e.from_ or e.key in common else rename(e.name, copy) for e in workspace.entities}

    def of(entities: tuple[Entity, ...]) -> tuple[Entity, ...]:
        names = (new.get(e.name) or (e.name if e.from_ else rename(e.name, copy)) for e in entities)
        return tuple(
            replace(e, name=name, key=normalise(name)) for e, name in zip(entities, names, strict=True)
        )

    def text(old: str) -> str:
        for name in sorted(new, key=len, reverse=True):
            old = old.replace(name, new[name]) if len(name) > 3 else old
        return old

    def renamed(pair: QAPair) -> QAPair:
        return QAPair(
            text(pair.question),
            tuple(new.get(a, a) for a in pair.answers),
            tuple(new[name] for name in pair.about),
        )

    phrases = tuple(
        replace(phrase, pairs=tuple(map(renamed, phrase.pairs))) for phrase in workspace.verb_phrases
    )
    facts = tuple(
        replace(f, text=text(f.text), mentions=tuple((new[n], part) for n, part in f.mentions))
        for f in workspace.propositions
    )
    return replace(
        workspace,
        document=replace(
            document,
            source=f"{document.source}#{copy}",
            title=rename(document.title, copy),
            passages=passages,
        ),
        entities=of(workspace.entities),
        verb_phrases=phrases,
        propositions=facts,
        names=None if workspace.names is None else of(workspace.names),
    )


def rename(name: str, copy: int) -> str:
    """A name as it is in a copy: its last word with letters that no other copy has."""
    letters = "".join("abcdefghij"[int(digit)] for digit in str(copy))
    return re.sub(r"(\w+)(\W*)$", rf"\1{letters}\2", name)


def vectors(base: np.ndarray, copy: int, first: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Vectors of a copy's passages: the originals' with noise, so that copies are near each other as
    passages on one subject are."""
    part = base[first : first + size]
    if copy:
        part = part + rng.normal(0, 0.6 / np.sqrt(part.shape[1]), part.shape).astype(np.float32)
    unit: np.ndarray = part / np.linalg.norm(part, axis=1, keepdims=True)
    return unit
