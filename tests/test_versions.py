"""What the client keeps of a memory: one version, from this process, from disk or made anew, and right while others write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gsw_graph.errors import EndedError
from gsw_graph.retrieve.versions import Files, Versions, packed, unpacked


class Memory:
    """A memory at a version, of which `made` notes the earlier one that was at hand; `writes` are the versions that others raise it to meanwhile."""

    def __init__(self, folder: Path, *, looks_back: bool = True, form: str = "1") -> None:
        self.version, self.writes = 1, iter(())
        self.made: list[str | None] = []
        self.files = Files(folder, form, lambda value: {"text": packed([value])}, lambda found: unpacked(found["text"])[0])
        self.looks_back = looks_back
        reader: Any = SimpleNamespace(size=lambda: (self.version, 3))
        self.kept = Versions(reader, self.files, self.make)

    def make(self, earlier: Callable[[], str | None]) -> str:
        self.made.append(earlier() if self.looks_back else None)
        text = f"of {self.version}"
        self.version = next(self.writes, self.version)
        return text


def numbers(*versions: int) -> Iterator[int]:
    return iter(versions)


def test_a_version_is_made_once_and_found_by_the_next_process(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    assert memory.kept.of(1) == memory.kept.of(1) == "of 1"
    assert memory.made == [None]
    other = Memory(tmp_path)
    assert (other.kept.of(1), other.made) == ("of 1", [])
    assert (Memory(tmp_path, form="2").kept.of(1)) == "of 1"


def test_what_comes_before_it_is_made_is_done_for_the_one_who_waits(tmp_path: Path) -> None:
    """A question that is ended while it builds ends no other, which builds on."""

    def ended() -> None:
        raise EndedError("ended")

    memory, built = Memory(tmp_path), list[int]()
    with pytest.raises(EndedError):
        memory.kept.of(1, ended)
    assert memory.kept.of(1, lambda: built.append(1)) == memory.kept.of(1, ended) == "of 1"
    assert built == [1]


def test_the_next_version_is_made_with_what_is_known_of_an_earlier_one(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.kept.of(1)
    memory.version = 2
    assert memory.kept.of(2) == "of 2"
    other = Memory(tmp_path)
    other.version = 3
    assert other.kept.of(3) == "of 3"
    assert (memory.made, other.made) == ([None, "of 1"], ["of 2"]), "from this process, and from disk"
    assert [file.name for file in tmp_path.iterdir()] == ["3.npz"]


def test_an_earlier_version_is_read_by_those_only_who_need_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of a million passages has gigabytes."""
    Memory(tmp_path).kept.of(1)
    other = Memory(tmp_path, looks_back=False)
    other.version = 2
    opened: list[Any] = []
    monkeypatch.setattr(np, "load", lambda file, load=np.load, **how: (opened.append(file), load(file, **how))[1])
    assert (other.kept.of(2), opened) == ("of 2", [])


def test_what_was_written_meanwhile_is_in_the_later_version(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.writes = numbers(2)
    assert memory.kept.of(1) == "of 2", "what was made first may have missed it"
    assert len(memory.made) == 2
    assert (memory.kept.of(2), len(memory.made)) == ("of 2", 2)


def test_what_is_written_all_the_time_is_not_kept(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.writes = numbers(2, 3, 4)
    assert memory.kept.of(1) == "of 3"
    assert list(tmp_path.iterdir()) == []
    assert memory.kept.of(4) == "of 4"
    assert len(memory.made) == 4
