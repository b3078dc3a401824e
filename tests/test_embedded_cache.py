"""The start cache of the embedded engine: one recorder at a time, whole or not at all."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from gsw_graph.engine import embedded_cache
from gsw_graph.engine.embedded_folder import FolderLock


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jpype", SimpleNamespace(shutdownJVM=lambda: None))
    monkeypatch.setattr(embedded_cache, "cache_file", lambda folder: folder / "engine.aot")
    monkeypatch.setattr(os, "nice", lambda _: 0)
    monkeypatch.setattr(threading, "Timer", lambda *_: SimpleNamespace(daemon=False, start=lambda: None))


def test_only_one_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet: None) -> None:
    held = []

    def rehearse(memory: Path, heap: str, arguments: list[str]) -> None:
        held.append(FolderLock(tmp_path).acquire({"pid": 1, "command": "second"}, patience=0))
        Path(arguments[0].partition("=")[2]).write_bytes(b"cache")

    monkeypatch.chdir(tmp_path)
    embedded_cache.record(tmp_path, "512m", rehearse)
    assert held == [{"pid": os.getpid(), "command": "embedded_cache"}]
    assert embedded_cache.cache_file(tmp_path).read_bytes() == b"cache"
    assert embedded_cache.jvm_arguments(tmp_path)[0] == f"-XX:AOTCache={embedded_cache.cache_file(tmp_path)}"


def test_a_recorder_that_is_second_does_nothing(tmp_path: Path, quiet: None) -> None:
    lock = FolderLock(tmp_path)
    assert lock.acquire({"pid": 1, "command": "first"}) is None
    embedded_cache.record(tmp_path, "512m", lambda *_: pytest.fail("it began"))
    assert not embedded_cache.cache_file(tmp_path).exists()
    assert embedded_cache.jvm_arguments(tmp_path) == []
    lock.release()


def test_a_failure_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet: None) -> None:
    def rehearse(*_: object) -> None:
        raise RuntimeError("no engine")

    monkeypatch.chdir(tmp_path)
    with pytest.raises(RuntimeError, match="no engine"):
        embedded_cache.record(tmp_path, "512m", rehearse)
    assert not list(tmp_path.glob("*.aot"))
    assert not list(tmp_path.glob("recording-*"))
