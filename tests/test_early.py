"""Models that are loaded while the embedded engine starts."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import engines
import pytest
from waiting import until

from gsw_graph.config import Settings
from gsw_graph.engine.embedded import EngineProcess
from gsw_graph.engine.opening import connect
from gsw_graph.errors import InputError, ModelError
from gsw_graph.memory import Memory
from gsw_graph.models.embed.embedder import EarlyModels, Embedder

LOADED = """
import sys
from gsw_graph.config import Settings
from gsw_graph.models.embed.embedder import EarlyModels
EarlyModels(Settings(embedder="/no/such/folder", llm=sys.argv[1] or None), sys.argv[2:]).load()
print("openai" in sys.modules)
"""


@pytest.fixture
def settings(tmp_path):
    return engines.own_replies(Settings(memory=str(tmp_path / "memory"), device="cpu"), tmp_path / "cache")


def test_an_embedder_that_cannot_be_loaded_is_told_when_it_is_needed(settings, tmp_path):
    (tmp_path / "note.txt").write_text("Ana Ruiz was born in Oslo.", encoding="utf-8")
    with Memory.open(
        settings=replace(settings, embedder="/no/such/folder"), models=("embedder", "llm")
    ) as memory:
        assert memory.status().nodes.get("Document", 0) == 0
        with pytest.raises(ModelError, match="no model here"):
            memory.load(str(tmp_path / "note.txt"))


@pytest.fixture
def here(tmp_path):
    """An embedder whose files are on this machine."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text("{}", encoding="utf-8")
    return str(tmp_path / "model")


def test_a_model_that_nobody_knows_is_refused(settings):
    with pytest.raises(InputError, match="no model 'embeder' to load"):
        Memory.open(settings=settings, models=["embeder", "llm"])
    assert not Path(settings.memory).exists()


def test_no_embedder_is_downloaded_before_it_is_needed(here, monkeypatch):
    asked = []
    monkeypatch.setattr(Embedder, "load", staticmethod(lambda settings: asked.append(settings.embedder)))
    EarlyModels(Settings(embedder="nobody/no-such-model"), ["embedder", "llm"]).load()
    assert asked == []
    EarlyModels(Settings(embedder=here), ["embedder", "llm"]).load()
    assert asked == [here]


@pytest.mark.parametrize(
    ("llm", "models", "there"),
    [("", ("llm",), False), ("m", ("embedder",), False), ("m", ("embedder", "llm"), True)],
)
def test_the_client_of_a_language_model_is_there_where_one_is_named(llm, models, there):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", LOADED, llm, *models],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.strip() == str(there)
    assert done.stderr == ""


def test_an_interrupt_while_models_load_ends_the_engine_cleanly(settings, monkeypatch):
    started = []
    spawn = EngineProcess._spawn

    def noted(self):
        started.append(self)
        return spawn(self)

    def interrupted():
        until(lambda: not started[0]._lines.empty(), 60)  # the engine has started
        raise KeyboardInterrupt

    monkeypatch.setattr(EngineProcess, "_spawn", noted)
    with pytest.raises(KeyboardInterrupt):
        connect(settings, interrupted)
    assert started[0]._process.returncode == 0
    with Memory.open(settings=settings) as memory:
        assert memory.status().unfinished == []
