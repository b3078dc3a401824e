"""Reranking with a CrossEncoder of sentence-transformers. On a GPU in half precision."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsw_graph.errors import ModelError
from gsw_graph.inference.embed.embedder import choose_device
from gsw_graph.inference.embed.model_files import find_model
from gsw_graph.inference.embed.quiet import quiet_libraries
from gsw_graph.inference.embed.torch_backend import BATCH, PROBES
from gsw_graph.inference.rerank.reranker import distinct, sigmoid

ELSE = (
    "Give the name or folder of a CrossEncoder that scores with one number, such "
    "as "
    "cross-encoder/ms-marco-MiniLM-L6-v2"
)


class CrossEncoderReranker:
    """A CrossEncoder on one device, downloaded only if it is nowhere on this machine. Raises ModelError,
    InputError (device).

    The model is asked for logits, whether it would answer with them (`Identity`, as the ms-marco models) or
    with a `Sigmoid` of them: the sigmoid is taken here, once and in full precision. A model whose last
    layer ends in a sigmoid has taken it already.
    """

    def __init__(self, name: str, device: str = "auto") -> None:
        self.name, self.device = name, choose_device(device)
        self._folder = find_model(name)
        self._lock = threading.Lock()
        self._batch = BATCH[self.device]
        self.model = _load(name, self._folder, self.device)
        self._ready = _gives_probabilities(name, self.model)
        if self.device == "cuda":
            self._halve()

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Relevance in [0, 1] of each document to its query, in the order given. Raises ModelError."""
        if not pairs:
            return np.empty(0, np.float32)
        different, places = distinct(pairs)
        by_length = sorted(range(len(different)), key=lambda i: -len(different[i][0]) - len(different[i][1]))
        raw = np.empty(len(different))
        try:
            with self._lock:
                raw[by_length] = self._predict([different[i] for i in by_length])
        except (RuntimeError, MemoryError) as error:
            raise ModelError(
                f"scoring {len(different)} pairs failed ({error})",
                where=self.name,
                hint="Try GSWGRAPH_DEVICE=cpu",
            ) from error
        if not np.isfinite(raw).all():
            raise ModelError(
                "the reranker gives scores that are not numbers",
                where=self.name,
                hint="Try GSWGRAPH_DEVICE=cpu or another model",
            )
        return (raw if self._ready else sigmoid(raw))[places].astype(np.float32)

    def _predict(self, pairs: list[tuple[str, str]]) -> NDArray[Any]:
        """What the model gives for each pair. A batch that does not fit into the memory of the GPU is
        halved, for good."""
        import torch

        while True:
            try:
                scores = self.model.predict(
                    pairs, batch_size=self._batch, show_progress_bar=False, activation_fn=torch.nn.Identity()
                )
                return np.asarray(scores, np.float64).reshape(len(pairs))
            except torch.OutOfMemoryError:
                if self._batch == 1:
                    raise
                self._batch //= 2
            torch.cuda.empty_cache()

    def _halve(self) -> None:
        """float16, which keeps three more bits than bfloat16; but bfloat16 for the models whose
        activations are too large for float16."""
        self.model.half()
        if not np.isfinite(self._predict([(PROBES[1], text) for text in PROBES])).all():
            self.model = _load(self.name, self._folder, self.device).bfloat16()


def _load(name: str, folder: Path | None, device: str) -> Any:
    with quiet_libraries():
        from sentence_transformers import CrossEncoder

        try:
            model = CrossEncoder(
                name if folder is None else str(folder), device=device, local_files_only=folder is not None
            )
        except Exception as error:  # every library below raises its own kinds
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")
            what = (
                f"the reranker cannot be loaded ({reason})"
                if folder
                else "no such model is here, nor could it be downloaded"
            )
            raise ModelError(
                what,
                where=name,
                hint="Check the name and the network, give a folder, or do without: GSWGRAPH_RERANKER=cosine",
            ) from error
    return model.eval()


def _gives_probabilities(name: str, model: Any) -> bool:
    """Whether scores in [0, 1] come out of the model itself. Raises ModelError for a model that is no
    reranker."""
    kind, made_as = type(model.model).__name__, model.config.architectures or []
    if (
        kind.endswith("ForSequenceClassification") and kind not in made_as
    ):  # loaded all the same, with random numbers for what is missing
        raise ModelError(
            f"this is not a CrossEncoder: it was saved as {', '.join(made_as) or 'something else'}",
            where=name,
            hint=ELSE,
        )
    if model.num_labels != 1:
        raise ModelError(
            f"this model gives {model.num_labels} labels, not one relevance", where=name, hint=ELSE
        )
    if (activation := type(model.activation_fn).__name__) not in ("Identity", "Sigmoid"):
        raise ModelError(
            f"the scores of this model end in {activation}, which is not known to give a relevance",
            where=name,
            hint=ELSE,
        )
    *_, last = model.children()
    return type(getattr(last, "activation_function", None)).__name__ == "Sigmoid"
