"""Models of sentence-transformers on torch (extra `gpu`): every model and device."""

from __future__ import annotations

import logging
import os
import platform
import sys
import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsw_graph.errors import InputError, ModelError

GPU = "pip install 'gswgraph[gpu]'"
DEVICES = ("auto", "cpu", "cuda", "mps")
# Short, long, with accents and capitals: what half precision must be able to hold.
PROBES = (
    "gswgraph",
    "Łódź, naïve café, 東京: €1,234.50",
    "Who wrote it? The treaty was signed in spring. " * 40,
)
BATCH = {"cpu": 32, "mps": 64, "cuda": 256}


class TorchModel(ABC):
    """Run a sentence-transformers model on a device, in half precision on a GPU; safe for many threads."""

    kind = ""  # a class of sentence-transformers

    def __init__(self, name: str, folder: Path | None, device: str, *, trust: bool = False) -> None:
        self.name, self.device = name, device
        self._load = partial(load_model, self.kind, name, folder, device, trust)
        self._lock = threading.Lock()
        self._batch = BATCH[device]
        self.model = self._load()

    @abstractmethod
    def _probe(self) -> NDArray[Any]:
        """Run the model on texts that half precision must be able to hold."""

    def _halve(self) -> None:
        """Run in float16, which keeps three more bits than bfloat16; in bfloat16 if the activations are too
        large for float16."""
        self.model.half()
        if not np.isfinite(self._probe()).all():
            self.model = self._load().bfloat16()

    def _in_memory(self, run: Callable[[int], Any]) -> Any:
        """Return the result of `run`, which gets a batch size that fits into the memory of the device."""
        import torch

        while True:
            try:
                return run(self._batch)
            except torch.OutOfMemoryError as error:
                if self._batch == 1:
                    message = f"one text does not fit into the memory of {self.device}"
                    hint = "Free its memory, or use the processor with GSWGRAPH_DEVICE=cpu"
                    raise ModelError(message, where=self.name, hint=hint) from error
                self._batch //= 2
            torch.cuda.empty_cache()


class TorchBackend(TorchModel):
    """Embed by a model on a device; safe to use from several threads."""

    backend = "torch"
    kind = "SentenceTransformer"

    def __init__(self, name: str, folder: Path | None, device: str, *, trust: bool = False) -> None:
        super().__init__(name, folder, device, trust=trust)
        prompts = getattr(self.model, "prompts", None) or {}
        self.prompts = {kind: prompts.get(kind) or "" for kind in ("query", "document")}
        if device == "cuda":
            self._halve()
        self.dimension = self.encode(PROBES[:1], query=False).shape[1]

    def encode(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        """Return normalised vectors (n, d) of texts that have their prompt."""
        encode = self.model.encode_query if query else self.model.encode_document

        def run(size: int) -> Any:
            return encode(
                list(texts), batch_size=size, show_progress_bar=False, normalize_embeddings=True, prompt=""
            )

        with self._lock:
            return np.asarray(self._in_memory(run), np.float32)

    def _probe(self) -> NDArray[Any]:
        return self.encode(PROBES, query=False)


def load_model(kind: str, name: str, folder: Path | None, device: str, trust: bool) -> Any:
    """Load a class of sentence-transformers; `trust` runs code that the model brings.

    Raises:
        ModelError: the extra is not installed, or the model cannot be loaded.
    """
    if not (find_spec("sentence_transformers") and find_spec("torch")):
        raise ModelError("this model needs torch, which is not installed", where=name, hint=GPU)
    with quiet_libraries():
        import sentence_transformers

        try:
            model = getattr(sentence_transformers, kind)(
                str(folder or name),
                device=device,
                local_files_only=folder is not None,
                trust_remote_code=trust,
            )
        except Exception as error:  # every library below raises its own kinds
            message = f"the model cannot be loaded ({first_line(error)})"
            if not folder:
                message = "no such model is here, nor could it be downloaded"
            hint = "Check the name and the network, or give a folder"
            if kind == "CrossEncoder":
                hint += ", or do without: GSWGRAPH_RERANKER=cosine"
            if "trust_remote_code" in str(error):
                hint = "It brings code of its own: to run that, set GSWGRAPH_TRUST_REMOTE_CODE=1"
            raise ModelError(message, where=name, hint=hint) from error
    return model.eval()


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, else its kind."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")


def choose_device(wanted: str) -> str:
    """Return the device to use. torch is imported only if there may be a GPU, as this takes seconds.

    Raises:
        InputError: There is no device of this name.
        ModelError: The device is not on this machine.
    """
    if wanted not in DEVICES:
        raise InputError(f"there is no device {wanted!r}", hint=f"Use one of {', '.join(DEVICES)}")
    installed = find_spec("torch") is not None
    if wanted == "cpu" or (wanted == "auto" and not (installed and _may_have_gpu())):
        return "cpu"
    if not installed:
        raise ModelError(f"the device {wanted} needs torch, which is not installed", hint=GPU)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an old driver is no reason to stop
        import torch

        present = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if wanted == "auto":
        return "cuda" if present["cuda"] else "mps" if present["mps"] else "cpu"
    if not present[wanted]:
        hint = "Use GSWGRAPH_DEVICE=auto, or install the torch build for it"
        raise ModelError(f"torch sees no {wanted} device here", hint=hint)
    return wanted


def _may_have_gpu() -> bool:
    """Guess from the files of the drivers, never missing one: NVIDIA, NVIDIA Tegra, AMD and WSL on Linux."""
    if sys.platform == "darwin":
        return platform.machine() == "arm64"
    if sys.platform == "win32":
        return (Path(os.environ.get("SYSTEMROOT", "C:/Windows")) / "System32/nvcuda.dll").exists()
    return any(Path("/dev", device).exists() for device in ("nvidiactl", "nvmap", "kfd", "dxg"))


@contextmanager
def quiet_libraries() -> Iterator[None]:
    """Silence progress bars, reports and warnings of transformers, the hub client and torch in here."""
    # Set outright, or tokenizers prints a warning when the process forks.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    with warnings.catch_warnings(), ExitStack() as restore:
        warnings.simplefilter("ignore")
        from huggingface_hub.utils.tqdm import (
            are_progress_bars_disabled,
            disable_progress_bars,
            enable_progress_bars,
        )
        from transformers.utils import logging as reports

        for enabled, disable, enable in (
            (not are_progress_bars_disabled(), disable_progress_bars, enable_progress_bars),
            (reports.is_progress_bar_enabled(), reports.disable_progress_bar, reports.enable_progress_bar),
        ):
            if enabled:
                disable()
                restore.callback(enable)
        for name in ("transformers", "huggingface_hub", "sentence_transformers", "torch"):
            logger = logging.getLogger(name)
            restore.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL)
        yield
