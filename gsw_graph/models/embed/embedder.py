"""Texts to vectors: on this machine with onnxruntime or torch, or by a server."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gsw_graph.config import Settings
from gsw_graph.errors import InputError, ModelError
from gsw_graph.models.embed.model_files import download, find_model


class Backend(Protocol):
    """One way of running a model; safe to use from several threads. `encode` gets texts with their prompt."""

    @property
    def backend(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    def encode(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]: ...


class Embedder:
    """A model that is ready to run; safe to use from several threads.

    name: as configured, with prompts that stand in for its own. dimension: length of a vector. device: `cpu`,
    `cuda`, `mps` or the host of a server. backend: `onnxruntime`, `torch` or `server`, run by `runner`.
    query_prompt, document_prompt: what stands before a question and before a document; left out, the model's
    own.
    """

    def __init__(
        self, name: str, backend: Backend, query_prompt: str | None = None, document_prompt: str | None = None
    ) -> None:
        self.name, self.runner = name, backend
        self.device, self.backend = backend.device, backend.backend
        own: dict[str, str] = getattr(backend, "prompts", {})
        self.query_prompt = own.get("query", "") if query_prompt is None else query_prompt
        self.document_prompt = own.get("document", "") if document_prompt is None else document_prompt

    @classmethod
    def load(cls, settings: Settings) -> Embedder:
        """Load the embedder that the settings name, downloaded only if it is nowhere on this machine.

        Raises:
            ModelError: it cannot be loaded.
            InputError: there is no such device.
        """
        return cls(
            settings.embedder_label,
            _backend(settings),
            settings.embedder_query_prompt,
            settings.embedder_document_prompt,
        )

    @property
    def dimension(self) -> int:
        """Length of a vector. A server is asked for it."""
        return self.runner.dimension

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of documents: (n, dimension), each of length 1, in the order of `texts`. What UTF-8
        cannot hold counts as `?`."""
        return self._encode(texts, self.document_prompt, query=False)

    def encode_query(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of questions, like `encode`."""
        return self._encode(texts, self.query_prompt, query=True)

    def _encode(self, texts: Sequence[str], prompt: str, *, query: bool) -> NDArray[np.float32]:
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise InputError("only a list of texts can be embedded", hint="Give [text] for one text")
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        clean = [text if text.isascii() else text.encode("utf-8", "replace").decode() for text in texts]
        try:
            return self.runner.encode([prompt + text for text in clean] if prompt else clean, query=query)
        except (RuntimeError, MemoryError) as error:
            what = f"embedding {len(texts)} texts failed ({error})"
            raise ModelError(what, where=self.name, hint="Try GSWGRAPH_DEVICE=cpu") from error


class EarlyModels:
    """Models that are loaded while an engine starts, which takes about as long.

    Raises:
        InputError: `models` names another than `embedder` and `llm`.
    """

    def __init__(self, settings: Settings, models: Collection[str]) -> None:
        if unknown := set(models) - {"embedder", "llm"}:
            raise InputError(f"there is no model {min(unknown)!r} to load", hint="Use some of embedder, llm")
        self.embedder: Embedder | None = None
        self._settings, self._models = settings, models

    def load(self) -> None:
        """Load the embedder unless it must be downloaded or cannot be loaded, which waits until it is needed,
        and the client of the language model."""
        if "embedder" in self._models:
            with suppress(Exception):  # of whatever kind: raised again where it is needed
                if self._settings.embedder_url or find_model(self._settings.embedder):
                    self.embedder = Embedder.load(self._settings)
        if "llm" in self._models and self._settings.llm:
            import openai  # noqa: F401 - takes most of a second, for which the first calls would wait


def _backend(settings: Settings) -> Backend:
    if settings.embedder_url:
        from gsw_graph.models.embed.server import ServerBackend

        return ServerBackend(settings)
    from gsw_graph.models.embed.onnx_backend import OnnxBackend, is_ready
    from gsw_graph.models.embed.torch_backend import TorchBackend, choose_device

    name, device = settings.embedder, choose_device(settings.device)
    folder = find_model(name)
    if folder is None and device == "cpu" and not settings.trust_remote_code:
        folder = download(name)
    if folder and is_ready(folder) and (device == "cpu" or not (folder / "config.json").is_file()):
        return OnnxBackend(name, folder)
    # What `download` took may lack the weights that torch reads.
    whole = (
        folder
        if folder and any(any(folder.rglob(kind)) for kind in ("*.safetensors", "pytorch_model*.bin"))
        else None
    )
    return TorchBackend(name, whole, device, trust=settings.trust_remote_code)
