"""Texts to vectors, on whatever this machine computes fastest with."""

from __future__ import annotations

import logging
import os
import platform
import sys
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gsw_graph.config import Settings
from gsw_graph.errors import InputError, ModelError
from gsw_graph.inference.embed.model_files import export_key, find_model

log = logging.getLogger(__name__)

DEVICES = ("auto", "cpu", "cuda", "mps")


class Backend(Protocol):
    """One way of running a model; safe to use from several threads."""

    @property
    def backend(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    def encode(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]: ...


class Embedder:
    """A sentence-transformers model that is ready to run; safe to use from several threads.

    name: as configured. dimension: length of a vector. device: `cpu`, `cuda` or `mps`. backend: `torch` or
    `openvino`, run by `runner`.
    """

    def __init__(self, name: str, backend: Backend) -> None:
        self.name, self.runner = name, backend
        self.dimension, self.device, self.backend = backend.dimension, backend.device, backend.backend

    @classmethod
    def load(cls, settings: Settings) -> Embedder:
        """The embedder that the settings name, downloaded only if it is nowhere on this machine. Raises
        ModelError, InputError (device)."""
        name = settings.embedder
        device = choose_device(settings.device)
        folder = find_model(name)
        if device == "cpu" and find_spec("openvino") and find_spec("tokenizers"):
            return cls(name, _load_openvino(name, folder, settings.cache_dir / "models"))
        return cls(name, _load_torch(name, folder, device))

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of documents: (n, dimension), each of length 1, in the order of `texts`. What UTF-8
        cannot hold counts as `?`."""
        return self._encode(texts, query=False)

    def encode_query(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of questions: like `encode`, with the model's prompt for queries where it has one."""
        return self._encode(texts, query=True)

    def _encode(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise InputError("only a list of texts can be embedded", hint="Give [text] for one text")
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        clean = [text if text.isascii() else text.encode("utf-8", "replace").decode() for text in texts]
        try:
            return self.runner.encode(clean, query=query)
        except (RuntimeError, MemoryError) as error:
            raise ModelError(
                f"embedding {len(texts)} texts failed ({error})",
                where=self.name,
                hint="Try GSWGRAPH_DEVICE=cpu",
            ) from error


def choose_device(wanted: str) -> str:
    """The device to use. torch is asked only where there may be a GPU: importing it takes seconds. Raises
    InputError, ModelError."""
    if wanted not in DEVICES:
        raise InputError(f"there is no device {wanted!r}", hint=f"Use one of {', '.join(DEVICES)}")
    if wanted == "cpu" or (wanted == "auto" and not _may_have_gpu()):
        return "cpu"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an old driver is no reason to stop
        import torch

        found = [
            name
            for name, present in (("cuda", torch.cuda.is_available), ("mps", torch.backends.mps.is_available))
            if present()
        ]
    if wanted == "auto":
        return found[0] if found else "cpu"
    if wanted not in found:
        raise ModelError(
            f"torch finds no {wanted} device here",
            hint="Use GSWGRAPH_DEVICE=auto, or install the torch build for it",
        )
    return wanted


def _may_have_gpu() -> bool:
    """A guess from the files of the drivers that never misses one: NVIDIA, NVIDIA Tegra, AMD and WSL on
    Linux."""
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    if sys.platform == "win32":
        return (Path(os.environ.get("SYSTEMROOT", "C:/Windows")) / "System32/nvcuda.dll").exists()
    return any(Path("/dev", device).exists() for device in ("nvidiactl", "nvmap", "kfd", "dxg"))


def _load_torch(name: str, folder: Path | None, device: str) -> Backend:
    from gsw_graph.inference.embed.torch_backend import TorchBackend

    return TorchBackend(name, folder, device)


def _load_openvino(name: str, folder: Path | None, cache: Path) -> Backend:
    """The export in the cache; else the model is loaded with torch and exported. A model that cannot be
    exported stays with torch."""
    from gsw_graph.inference.embed.openvino_backend import OpenVinoBackend, export
    from gsw_graph.inference.embed.torch_backend import TorchBackend

    target = cache / export_key(name, folder) if folder else None
    if target and target.exists():
        try:
            return OpenVinoBackend(target)
        except Exception as error:  # broken in one of many ways: it is made again
            log.info("making %s again: %s", target, error)
    source = TorchBackend(name, folder, "cpu")
    if not (folder := folder or find_model(name)):
        return source
    target = cache / export_key(name, folder)
    try:
        export(source, target)
        return OpenVinoBackend(target)
    except Exception as error:  # torch gives the same vectors, only slower
        log.info("no export of %s: %s", name, error)
        return source
