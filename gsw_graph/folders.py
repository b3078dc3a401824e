"""A folder of files that is written whole or not at all."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gsw_graph.errors import InputError


@contextmanager
def new_folder(folder: str | Path) -> Iterator[Path]:
    """A folder beside one that is new or empty, which takes its place when all went well, and goes after an
    error. InputError: there is something in the folder, or it is a file."""
    target = Path(folder).resolve()
    _check(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.parent / f".{target.name}-{secrets.token_hex(4)}"
    beside.mkdir()
    try:
        yield beside
        _check(target)
        if target.exists():  # Windows renames onto nothing
            target.rmdir()
        beside.rename(target)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def _check(target: Path) -> None:
    if target.is_dir():
        if any(target.iterdir()):
            raise InputError("the folder is not empty", where=str(target), hint="Name a new one")
    elif target.exists():
        raise InputError("this is a file", where=str(target), hint="Name a new folder")
