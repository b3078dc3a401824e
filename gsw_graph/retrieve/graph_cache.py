"""The name graph on disk: read from the memory once a version, found again by later processes. Plain numpy arrays, no pickle."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from gsw_graph.retrieve.name_graph import CONTAINMENT_WEIGHT, TITLE_WEIGHT, NamedGraph, NameGraph

_FORMAT = f"1 {TITLE_WEIGHT} {CONTAINMENT_WEIGHT}"  # graphs made with other weights are other graphs


def save(graph: NamedGraph, folder: Path, version: int) -> None:
    """Keep a graph."""
    inner = graph.graph
    arrays = {
        "format": np.array(_FORMAT),
        "passages": _packed(graph.passages),
        "names": _packed(graph.names),
        "frequency": inner.frequency,
        "titled": inner.titled,
        **{f"incidence_{part}": getattr(inner.incidence, part) for part in ("data", "indices", "indptr")},
        **{f"containment_{part}": getattr(inner.containment, part) for part in ("data", "indices", "indptr")},
    }
    keep(arrays, folder, version)


def keep(arrays: Mapping[str, Any], folder: Path, version: int) -> None:
    """Arrays of one version; the file appears whole or not at all, and older versions go. A folder that cannot be written is no error."""
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **arrays)
            Path(temporary).replace(folder / f"{version}.npz")
        finally:
            Path(temporary).unlink(missing_ok=True)
        for old in folder.glob("*.npz"):
            if old.stem != str(version):
                old.unlink(missing_ok=True)


def load(folder: Path, version: int) -> NamedGraph | None:
    """The graph of this version, None where there is none that can be read."""
    try:
        with (folder / f"{version}.npz").open("rb") as file, np.load(file, allow_pickle=False) as found:
            if str(found["format"]) != _FORMAT:
                return None
            passages, names = _unpacked(found["passages"]), _unpacked(found["names"])
            incidence, containment = (
                sparse.csr_array((found[f"{kind}_data"], found[f"{kind}_indices"], found[f"{kind}_indptr"]), shape=(size, len(names)))
                for kind, size in (("incidence", len(passages)), ("containment", len(names)))
            )
            return NamedGraph(NameGraph(incidence, containment, found["frequency"], found["titled"]), passages, names)
    except Exception:  # a file can be broken in many ways; it is made again
        return None


def _packed(texts: list[str]) -> np.ndarray:
    return np.frombuffer("\n".join(texts).encode("utf-8"), dtype=np.uint8)  # neither ids nor normalised names hold a line feed


def _unpacked(data: np.ndarray) -> list[str]:
    return data.tobytes().decode("utf-8").split("\n") if len(data) else []
