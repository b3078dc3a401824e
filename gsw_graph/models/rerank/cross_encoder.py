"""Reranking with a CrossEncoder of sentence-transformers (extra `gpu`). On a GPU in half precision."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsw_graph.errors import ModelError
from gsw_graph.models.embed.model_files import find_model
from gsw_graph.models.embed.torch_backend import BATCH, PROBES, choose_device, in_memory, load_model
from gsw_graph.models.rerank.reranker import distinct, sigmoid

ELSE = "Give a CrossEncoder that scores with one number, such as cross-encoder/ms-marco-MiniLM-L6-v2"
DO_WITHOUT = "Try GSWGRAPH_DEVICE=cpu, or do without: GSWGRAPH_RERANKER=cosine"


class CrossEncoderReranker:
    """A CrossEncoder on one device, downloaded only if it is nowhere on this machine. Raises ModelError,
    InputError (device).

    The model is asked for logits, whether it would answer with them (`Identity`, as the ms-marco models) or
    with a `Sigmoid` of them: the sigmoid is taken here, once and in full precision. A model whose last
    layer ends in a sigmoid has taken it already.
    """

    def __init__(self, name: str, device: str = "auto", *, trust: bool = False) -> None:
        self.name, self.device = name, choose_device(device)
        self._load = partial(load_model, "CrossEncoder", name, find_model(name), self.device, trust)
        self._lock = threading.Lock()
        self._batch = BATCH[self.device]
        self.model = self._load()
        self._is_sigmoid = _ends_in_sigmoid(name, self.model)
        if self.device == "cuda":
            self._halve()

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Return the relevance in [0, 1] of each document to its query, in the order given.

        Raises:
            ModelError: the model fails.
        """
        if not pairs:
            return np.empty(0, np.float32)
        different, places = distinct(pairs)
        by_length = sorted(range(len(different)), key=lambda i: -len(different[i][0]) - len(different[i][1]))
        raw = np.empty(len(different))
        try:
            with self._lock:
                raw[by_length] = self._predict([different[i] for i in by_length])
        except (RuntimeError, MemoryError) as error:
            what = f"scoring {len(different)} pairs failed ({error})"
            raise ModelError(what, where=self.name, hint=DO_WITHOUT) from error
        if not np.isfinite(raw).all():
            raise ModelError(
                "the reranker gives scores that are not numbers", where=self.name, hint=DO_WITHOUT
            )
        return (raw if self._is_sigmoid else sigmoid(raw))[places].astype(np.float32)

    def _halve(self) -> None:
        """Use float16, which keeps three more bits than bfloat16, unless activations are too large for it."""
        self.model.half()
        if not np.isfinite(self._predict([(PROBES[1], text) for text in PROBES])).all():
            self.model = self._load().bfloat16()

    def _predict(self, pairs: list[tuple[str, str]]) -> NDArray[Any]:
        import torch

        def run(size: int) -> Any:
            return self.model.predict(
                pairs, batch_size=size, show_progress_bar=False, activation_fn=torch.nn.Identity()
            )

        scores, self._batch = in_memory(run, self._batch, self.name, self.device)
        return np.asarray(scores, np.float64).reshape(len(pairs))


def _ends_in_sigmoid(name: str, model: Any) -> bool:
    """Tell whether scores in [0, 1] come out of the model itself. Raises ModelError for one that is no
    reranker."""
    kind, made_as = type(model.model).__name__, model.config.architectures or []
    activation = type(model.activation_fn).__name__
    # Another class is loaded all the same, with random numbers for what is missing.
    if kind.endswith("ForSequenceClassification") and kind not in made_as:
        problem = f"this is not a CrossEncoder: it was saved as {', '.join(made_as) or 'something else'}"
    elif model.num_labels != 1:
        problem = f"this model gives {model.num_labels} labels, not one relevance"
    elif activation not in ("Identity", "Sigmoid"):
        problem = f"the scores of this model end in {activation}, which is not known to give a relevance"
    else:
        *_, last = model.children()
        return type(getattr(last, "activation_function", None)).__name__ == "Sigmoid"
    raise ModelError(problem, where=name, hint=ELSE)
