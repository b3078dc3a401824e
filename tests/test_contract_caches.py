"""Caches, on every engine: a write is seen at once, and what one process kept the next finds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import fakes
import pytest
from contract import CORPUS, QUESTIONS, records, sources
from dump import version

from gsw_graph.config import Settings
from gsw_graph.inference.embed.embedder import Embedder
from gsw_graph.memory import Memory


def test_two_memories_in_turn_at_one_place_do_not_share_their_names(fresh_settings: Settings, fake_embedder: None, tmp_path: Path) -> None:
    """The name graph on disk belongs to one memory: another at the same url, with the same version stamp, must not find it."""
    settings, question = replace(fresh_settings, cache_dir=tmp_path / "cache"), "Who is Ingrid Sølvær?"
    with Memory.open(settings=fresh_settings) as opened:
        first = Memory(opened._connection, settings)
        first.load(CORPUS)
        assert len(first.ask(question).passages) == 5
        stamp = version(first)
        first.forget(everything=True)
        first.cypher("MATCH (m:Memory) DETACH DELETE m", write=True)
        second = Memory(first._connection, settings)
        second.load(records(tmp_path, "So Ingrid Sølvær sang."))
        second.cypher("MATCH (m:Memory) SET m.version = $version - 1", write=True, version=stamp)
        assert version(second) == stamp
        found = Memory(first._connection, settings).ask(question)
        assert [p.text for p in found.passages] == ["So Ingrid Sølvær sang."]


def test_every_write_is_seen_at_once(memory: Memory, tmp_path: Path) -> None:
    other = Memory(memory._connection, memory._settings)  # as another process of a server would be
    for number in range(3):
        memory.load(records(tmp_path, *[f"Then Person{n} Smith came." for n in range(number + 1)]))
        for one in (memory, other):
            assert f"d{number}" in sources(one.ask(f"Who is Person{number} Smith?", k=number + 1))
            assert len(one.ask(f"Who is Person{number} Smith?", k=9).passages) == number + 1
    memory.forget("d1")
    assert set(sources(other.ask("Who is Person1 Smith?", k=9))) == {"d0", "d2"}


def test_the_name_graph_is_found_again_on_disk(corpus: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = replace(corpus._settings, cache_dir=tmp_path / "cache")
    question = QUESTIONS[0]["question"]
    first = Memory(corpus._connection, settings).ask(question)
    monkeypatch.setattr("gsw_graph.store.reader.Reader.name_graph", lambda self: pytest.fail("read again"))
    assert [p.id for p in Memory(corpus._connection, settings).ask(question)] == [p.id for p in first]
    (kept,) = (tmp_path / "cache" / "graphs").rglob("*.npz")
    kept.write_bytes(kept.read_bytes()[:-50])
    monkeypatch.undo()
    monkeypatch.setattr(Embedder, "load", staticmethod(fakes.embedder))
    assert [p.id for p in Memory(corpus._connection, settings).ask(question)] == [p.id for p in first]
