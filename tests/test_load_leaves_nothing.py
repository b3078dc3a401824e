"""A load that fails before it writes leaves no memory behind, and one that is there as it was."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path

import engines
import pytest
from contract import rows
from dump import differences, dump

from gsw_graph.config import Settings
from gsw_graph.errors import InputError
from gsw_graph.inference.chat import chat as chat_calls
from gsw_graph.memory import Memory

VERSION = "MATCH (m:Memory) RETURN m.version AS version"


@pytest.fixture
def settings(fake_embedder: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """An embedded memory that is not there yet, and a language model at a port where nobody listens."""
    monkeypatch.setattr(chat_calls, "BACKOFF", 0.01)
    (tmp_path / "notes").mkdir()
    for number in range(40):
        (tmp_path / "notes" / f"{number}.txt").write_text(f"Ana met Bo{number} in Rome.", encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    return Settings(memory=str(tmp_path / "memory"), cache_dir=engines.quick_cache(tmp_path / "cache"), llm="m", llm_url=url, concurrency=2)


def fails_to_load(settings: Settings, tmp_path: Path) -> None:
    with Memory.open(settings=settings) as memory:
        report = memory.load(str(tmp_path / "notes"))
        assert (report.documents.new, report.documents.failed) == (0, 40)
        assert all("reached" in failure.reason for failure in report.failures)
        with pytest.raises(InputError):
            memory.load(str(tmp_path / "nowhere"))


def test_a_model_that_cannot_be_reached_leaves_no_memory(settings: Settings, tmp_path: Path) -> None:
    fails_to_load(settings, tmp_path)
    assert not (tmp_path / "memory").exists()
    (tmp_path / "memory").mkdir()
    fails_to_load(settings, tmp_path)
    assert list((tmp_path / "memory").iterdir()) == [], "a folder that was there stays, empty as it was"


def test_a_failed_load_leaves_the_memory_that_is_there(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text("Cy lives in Oslo.", encoding="utf-8")
    with Memory.open(settings=replace(settings, llm=None)) as memory:
        assert memory.load(str(tmp_path / "old.txt")).documents.new == 1
        before, version = dump(memory), rows(memory, VERSION)
    fails_to_load(settings, tmp_path)
    with Memory.open(settings=replace(settings, llm=None)) as memory:
        assert (differences(dump(memory), before), rows(memory, VERSION)) == ([], version)


def test_what_people_wrote_into_a_new_memory_stays(settings: Settings, tmp_path: Path) -> None:
    with Memory.open(settings=settings) as memory:
        memory.cypher("CREATE (:Mine)", write=True)
        assert memory.load(str(tmp_path / "notes")).documents.new == 0
    with Memory.open(settings=settings, create=False) as memory:
        assert rows(memory, "MATCH (n:Mine) RETURN count(n) AS n") == [(1,)]
