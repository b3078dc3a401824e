"""Models that are loaded while the embedded engine starts."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import engines
import fakes
import pytest

from gsw_graph.config import Settings
from gsw_graph.errors import ModelError
from gsw_graph.inference.early import Early
from gsw_graph.inference.embedder import Embedder
from gsw_graph.memory import Memory

LOADED = """
import sys
from gsw_graph.config import Settings
from gsw_graph.inference.early import Early
Early(Settings(embedder="/no/such/folder", llm=sys.argv[1] or None)).load()
print("openai" in sys.modules)
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return engines.own_replies(Settings(memory=str(tmp_path / "memory"), device="cpu"), tmp_path / "cache")


def test_a_memory_may_come_with_its_embedder(settings: Settings, fake_embedder: None) -> None:
    for models in (False, True):
        with Memory.open(settings=settings, models=models) as memory:
            assert (memory._embedder is not None) == models
            assert memory.embedder.dimension == fakes.DIMENSION


def test_an_embedder_that_cannot_be_loaded_is_told_when_it_is_needed(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("Ana Ruiz was born in Oslo.", encoding="utf-8")
    with Memory.open(settings=replace(settings, embedder="/no/such/folder"), models=True) as memory:
        assert memory.status().nodes.get("Document", 0) == 0
        with pytest.raises(ModelError, match="no sentence-transformers model here"):
            memory.load(str(tmp_path / "note.txt"))


def test_no_embedder_is_downloaded_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(Embedder, "load", staticmethod(lambda settings: asked.append(settings.embedder)))
    Early(Settings(embedder="nobody/no-such-model")).load()
    assert asked == []
    Early(Settings()).load()
    assert asked == [Settings().embedder]


@pytest.mark.parametrize("llm", ["", "m"])
def test_the_client_of_a_language_model_is_there_where_one_is_named(llm: str) -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", LOADED, llm], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.strip(), done.stderr) == (str(bool(llm)), "")
