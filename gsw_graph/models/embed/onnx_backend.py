"""Embedding on a processor with onnxruntime: a ready ONNX graph, or the layers of a safetensors file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsw_graph.errors import ModelError
from gsw_graph.models.embed import bert
from gsw_graph.models.embed.torch_backend import first_line
from gsw_graph.values import Fields

GRAPHS = ("onnx/model.onnx", "model.onnx")
TOKENIZER = "tokenizer.json"
POOLINGS = ("mean", "cls")
LENGTH = 512  # tokens of a text, if neither the model nor its tokenizer says
BATCH_TOKENS = 1024
WINDOW = 4096  # texts that are tokenised together


Ids = list[int]  # tokens of a text
Batch = list[tuple[int, Ids]]  # places of texts, with their tokens


class OnnxBackend:
    """Run the model in `folder`; safe to use from several threads. Raises ModelError.

    `modules.json` and `1_Pooling/config.json` say how token vectors become one vector; without these files it
    is their mean. The vector of a graph that gives one for a text is used unchanged.
    """

    backend, device = "onnxruntime", "cpu"

    def __init__(self, name: str, folder: Path) -> None:
        # Set outright, or tokenizers prints a warning when the process forks.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        import onnxruntime
        from tokenizers import Tokenizer

        onnxruntime.disable_telemetry_events()  # for who imported it before gsw_graph
        try:
            self._pooling, self.prompts = pooling(folder) or "mean", _prompts(folder)
            self._tokenizer = tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
            self._pad = (tokenizer.padding or {}).get("pad_id", 0)
            length = _length(folder, tokenizer)
            tokenizer.no_padding()
            tokenizer.enable_truncation(length)
            options = onnxruntime.SessionOptions()
            # Batches run side by side, each in one thread: several threads for one small matrix gain less.
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.enable_mem_pattern = False  # each batch has another shape
            options.log_severity_level = 4
            graph = _graph(folder)
            self._session = onnxruntime.InferenceSession(
                str(graph) if graph else bert.build(folder), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # whatever a broken file leads to
            message = f"the model cannot be loaded ({first_line(error)})"
            raise ModelError(message, where=name, hint=f"Remove {folder} and get it again") from error
        self._first = 0 if graph else bert.position_offset(folder)
        self._inputs = [value.name for value in self._session.get_inputs()]
        outputs = [value.name for value in self._session.get_outputs()]
        self._output = outputs[0]
        for name in ("last_hidden_state", "sentence_embedding"):
            if name in outputs:
                self._output = name
        self._workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        self.dimension: int = self._run([[self._pad]]).shape[1]

    def encode(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:  # noqa: ARG002
        """Return normalised vectors (n, d), in the order of `texts`."""
        vectors = np.empty((len(texts), self.dimension), np.float32)

        def run(batch: Batch) -> None:
            places = [place for place, _ in batch]
            vectors[places] = self._run([ids for _, ids in batch])

        with ThreadPoolExecutor(self._workers) as pool:
            for _ in pool.map(run, self._batches(texts)):
                pass
        return vectors

    def _batches(self, texts: Sequence[str]) -> Iterator[Batch]:
        """Yield batches of about BATCH_TOKENS tokens, texts of one length together."""
        by_size = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        for start in range(0, len(by_size), WINDOW):
            window = by_size[start : start + WINDOW]
            encodings = self._tokenizer.encode_batch([texts[i] for i in window])
            rows = [(i, encoding.ids) for i, encoding in zip(window, encodings, strict=True)]
            batch: Batch = []
            longest = 0
            for i, ids in sorted(rows, key=lambda row: -len(row[1])):
                if batch and (len(batch) + 1) * longest > BATCH_TOKENS:
                    yield batch
                    batch = []
                longest = longest if batch else len(ids)
                batch.append((i, ids))
            yield batch

    def _run(self, ids: list[Ids]) -> NDArray[np.float32]:
        longest = max(map(len, ids))
        tokens = np.full((len(ids), longest), self._pad, np.int64)
        mask = np.zeros_like(tokens)
        for row, some in enumerate(ids):
            tokens[row, : len(some)] = some
            mask[row, : len(some)] = 1
        positions = np.arange(self._first, self._first + longest)
        feed = {
            "input_ids": tokens,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(tokens),
            "position_ids": np.tile(positions, (len(ids), 1)),
        }
        known = {name: value for name, value in feed.items() if name in self._inputs}
        (states,) = self._session.run([self._output], known)
        if states.ndim == 3 and self._pooling == "cls":
            states = states[:, 0]
        elif states.ndim == 3:
            states = np.einsum("btd,bt->bd", states, mask.astype(np.float32))
        norms = np.maximum(np.linalg.norm(states, axis=1, keepdims=True), 1e-12)
        return np.asarray(states / norms, np.float32)


def is_ready(folder: Path) -> bool:
    """Tell whether onnxruntime can run the model in `folder`: a graph or BERT layers, a tokenizer, and no
    module after the pooling but the normalisation."""
    runnable = _graph(folder) is not None or bert.is_supported(folder)
    return runnable and (folder / TOKENIZER).is_file() and pooling(folder) is not None


def pooling(folder: Path) -> str | None:
    """Return how token vectors become one, `mean` without any word on it; None if it is another way."""
    place = "1_Pooling"
    for module in _json(folder / "modules.json") or ():
        kind = module["type"].rpartition(".")[2]
        if kind == "Pooling":
            place = module["path"]
        elif kind not in ("Transformer", "Normalize"):
            return None
    config = _json(folder / place / "config.json") or {"pooling_mode": "mean"}
    mode = config.get("pooling_mode")
    if not mode:
        flags = [name for name, value in config.items() if name.startswith("pooling_mode_") and value]
        mode = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}.get("+".join(flags))
    return mode if mode in POOLINGS else None


def _graph(folder: Path) -> Path | None:
    return next((folder / name for name in GRAPHS if (folder / name).is_file()), None)


def _prompts(folder: Path) -> dict[str, str]:
    prompts = _object(folder / "config_sentence_transformers.json").get("prompts") or {}
    return {kind: prompts.get(kind) or "" for kind in ("query", "document")}


def _length(folder: Path, tokenizer: Any) -> int:
    """Return how many tokens of a text the model reads."""
    config = _object(folder / "config.json")
    positions = config.get("max_position_embeddings") or LENGTH
    positions -= bert.POSITION_OFFSET.get(str(config.get("model_type")), 0)
    chosen = _object(folder / "sentence_bert_config.json").get("max_seq_length")
    tokens = _object(folder / "tokenizer_config.json").get("model_max_length")
    length = chosen or tokens or (tokenizer.truncation or {}).get("max_length") or LENGTH
    return int(min(length, positions))


def _object(file: Path) -> Fields:
    return _json(file) or {}


def _json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None
