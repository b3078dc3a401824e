"""Embedding on a processor with OpenVINO: the same vectors as torch, several times faster, and without
importing torch.

The whole sentence-transformers model (transformer, pooling, normalisation and whatever else it is made of) is
exported once as one
graph from token ids to vectors. Later starts need that graph and the tokenizer file only, which saves the
seconds that importing
torch and transformers takes.
"""

from __future__ import annotations

import json
import platform
import shutil
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsw_graph.inference.embed.quiet import no_openvino_telemetry, quiet_libraries
from gsw_graph.inference.embed.torch_backend import PROBES, TorchBackend
from gsw_graph.turns import InTurn

GRAPH, WEIGHTS, TOKENIZER, META = "model.xml", "model.bin", "tokenizer.json", "meta.json"
SAME = 0.9999  # two vectors of one text with at least this cosine count as the same
BULK = 32  # from this many texts on a call is about throughput, below it about latency
BATCH_TOKENS = 1024
STEP = {
    "bf16": 8,
    "f32": 1,
}  # of lengths in bulk: kernels for a new shape cost more than a few empty tokens where these are cheap
WINDOW = 4096  # texts that are tokenised together
DAY = 86_400
_CORE: list[Any] = []
_CORE_LOCK = threading.Lock()


class OpenVinoBackend:
    """An exported model, ready to run. Raises an exception of any kind if the export in `folder` is broken.

    precision: `f32` or `bf16`; left out, it is bf16 where this processor is made for it and the model
    keeps its vectors with it.
    """

    backend, device = "openvino", "cpu"

    def __init__(self, folder: Path, precision: str | None = None) -> None:
        from tokenizers import Tokenizer

        self.folder = folder
        meta = json.loads((folder / META).read_text(encoding="utf-8"))
        for file, size in meta["sizes"].items():
            if (folder / file).stat().st_size != size:
                raise OSError(f"{folder / file} was changed")
        self.dimension: int = meta["dimension"]
        self._prompts: dict[str, str] = meta["prompts"]
        self._inputs: list[str] = meta["inputs"]
        self._pad: int = meta["pad"]
        self._core = _core()
        self.precision = precision or ("bf16" if meta["bf16"] and _has_fast_bf16(self._core) else "f32")
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._model = self._core.read_model(str(folder / GRAPH))
        self._compiled: dict[str, list[Any]] = {}
        self._few, self._many = InTurn(), InTurn()  # a question does not wait for the texts of a load
        if (self.encode(PROBES[:1], query=False) @ np.asarray(meta["probe"], np.float32)).min() < SAME:
            raise OSError(f"{folder} gives other vectors than it did when it was made")

    def encode(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        """Normalised vectors (n, d), in the order of `texts`."""
        prompt = self._prompts["query" if query else "document"]
        vectors = np.empty((len(texts), self.dimension), np.float32)
        if len(texts) < BULK:
            with self._few:
                request = self._requests("LATENCY")[0]
                for batch, feed in self._batches(texts, prompt, 1):
                    request.infer(feed, share_inputs=True)
                    vectors[batch] = request.get_output_tensor(0).data
        else:
            with self._many:
                self._in_bulk(texts, prompt, vectors)
        return vectors

    def _in_bulk(self, texts: Sequence[str], prompt: str, vectors: NDArray[np.float32]) -> None:
        """Several requests at once, waited for in turn. Without OpenVINO's queue: its callbacks want
        Python's lock, and abort a program that ends just then."""
        free = deque(self._requests("THROUGHPUT"))
        running: deque[tuple[Any, list[int], Any]] = (
            deque()
        )  # with what it is fed: it reads that while it runs

        def take() -> None:
            request, batch, _ = running[0]
            request.wait()
            running.popleft()
            vectors[batch] = request.get_output_tensor(0).data
            free.append(request)

        try:
            for batch, feed in self._batches(texts, prompt, STEP[self.precision]):
                if not free:
                    take()
                request = free.popleft()
                request.start_async(feed, share_inputs=True)
                running.append((request, batch, feed))
            while running:
                take()
        finally:
            for request, *_ in running:  # after an error
                with suppress(RuntimeError):
                    request.wait()

    def _requests(self, hint: str) -> list[Any]:
        """As many requests as are best at once, of a model compiled at the first use. The precision is
        said: left alone, OpenVINO takes what is fastest."""
        if hint not in self._compiled:
            model = self._core.compile_model(
                self._model, "CPU", {"PERFORMANCE_HINT": hint, "INFERENCE_PRECISION_HINT": self.precision}
            )
            self._compiled[hint] = [
                model.create_infer_request()
                for _ in range(model.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
            ]
        return self._compiled[hint]

    def _batches(
        self, texts: Sequence[str], prompt: str, step: int
    ) -> Iterator[tuple[list[int], dict[str, NDArray[np.int64]]]]:
        """Batches of about BATCH_TOKENS tokens, texts of one length together, and what the model is fed with
        for each.

        Lengths are filled up to multiples of `step`.
        """
        by_size = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        for start in range(0, len(by_size), WINDOW):
            window = by_size[start : start + WINDOW]
            ids = {
                i: e.ids
                for i, e in zip(
                    window, self._tokenizer.encode_batch([prompt + texts[i] for i in window]), strict=True
                )
            }
            batch: list[int] = []
            for i in sorted(window, key=lambda i: -len(ids[i])):
                if batch and (len(batch) + 1) * len(ids[batch[0]]) > BATCH_TOKENS:
                    yield batch, self._feed([ids[j] for j in batch], step)
                    batch = []
                batch.append(i)
            yield batch, self._feed([ids[j] for j in batch], step)

    def _feed(self, ids: list[list[int]], step: int) -> dict[str, NDArray[np.int64]]:
        longest = max(map(len, ids))
        shape = (len(ids), longest if len(ids) == 1 else -(-longest // step) * step)
        feed = {name: np.zeros(shape, np.int64) for name in self._inputs}
        feed["input_ids"].fill(self._pad)
        for row, tokens in enumerate(ids):
            feed["input_ids"][row, : len(tokens)] = tokens
            feed["attention_mask"][row, : len(tokens)] = 1
        return feed


def export(source: TorchBackend, target: Path) -> None:
    """Write the export of a model to `target`, whole or not at all, also with another process doing the same.

    Raises an exception of any kind where the model cannot be exported, or where its export does not give the
    same vectors on PROBES,
    as documents and as queries.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    for left in target.parent.glob(".new-*"):  # of processes that were killed
        if time.time() - left.stat().st_mtime > DAY:
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(
        prefix=".new-", dir=target.parent, ignore_cleanup_errors=True
    ) as temporary:
        made = Path(temporary) / "made"
        made.mkdir()
        meta = _write_graph(source.model, made)
        wanted = [source.encode(PROBES, query=query) for query in (False, True)]
        meta |= {"dimension": source.dimension, "probe": wanted[0][0].tolist(), "bf16": False}
        meta["sizes"] = {file: (made / file).stat().st_size for file in (GRAPH, WEIGHTS, TOKENIZER)}
        (made / META).write_text(json.dumps(meta), encoding="utf-8")
        if (worst := _worst_cosine(OpenVinoBackend(made, "f32"), wanted)) < SAME:
            raise ValueError(f"the export gives other vectors (cosine {worst:.5f})")
        with suppress(OSError):  # the check of the probe may fail already
            # Half the tolerance, because other texts may come out a little worse than the probes.
            meta["bf16"] = _worst_cosine(OpenVinoBackend(made, "bf16"), wanted) >= (1 + SAME) / 2
            (made / META).write_text(json.dumps(meta), encoding="utf-8")
        if target.exists() and not _loads(target):
            with suppress(FileNotFoundError):  # another process was faster in removing it
                target.rename(Path(temporary) / "broken")
        if not target.exists():
            with suppress(
                OSError
            ):  # another process was faster in making it; if not, the caller finds nothing at `target`
                made.rename(target)


def _worst_cosine(backend: OpenVinoBackend, wanted: list[NDArray[np.float32]]) -> float:
    return min(
        float((backend.encode(PROBES, query=query) * wanted[query]).sum(1).min()) for query in (False, True)
    )


def _loads(folder: Path) -> bool:
    try:
        OpenVinoBackend(folder)
    except Exception:  # whatever a broken file leads to
        return False
    return True


def _write_graph(model: Any, folder: Path) -> dict[str, Any]:
    import torch

    with quiet_libraries(), no_openvino_telemetry(), torch.no_grad():
        import openvino

        tokenizer = model.tokenizer
        features = getattr(model, "preprocess", None) or model.tokenize
        example = {
            key: value
            for key, value in features(list(PROBES[2:4])).items()
            if isinstance(value, torch.Tensor)
        }
        if not {"input_ids", "attention_mask"} <= example.keys() or tokenizer.padding_side != "right":
            raise ValueError("not a text model that pads on the right")

        class Whole(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
                vectors = self.model(dict(zip(example, tensors, strict=True)))["sentence_embedding"]
                return torch.nn.functional.normalize(vectors, dim=-1)

        any_size = tuple({0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC} for _ in example)
        graph = openvino.convert_model(
            torch.export.export(Whole().eval(), tuple(example.values()), dynamic_shapes=(any_size,))
        )
        for port, name in zip(graph.inputs, example, strict=True):
            port.get_tensor().set_names({name})
        openvino.save_model(graph, folder / GRAPH, compress_to_fp16=False)

    fast = tokenizer.backend_tokenizer
    padding, truncation = fast.padding, fast.truncation
    fast.no_padding()
    fast.enable_truncation(model.max_seq_length)
    fast.save(str(folder / TOKENIZER))
    fast.no_truncation()
    if padding:
        fast.enable_padding(**padding)
    if truncation:
        fast.enable_truncation(**truncation)
    prompts = {
        kind: (getattr(model, "prompts", None) or {}).get(kind) or "" for kind in ("query", "document")
    }
    return {"inputs": list(example), "pad": tokenizer.pad_token_id, "prompts": prompts}


def _core() -> Any:
    """OpenVINO's one core of this process, kept to its end.

    On Linux, OpenVINO's CPU plugin gives the thread that loads it another signal stack and frees that with
    the last core, in whatever thread
    this happens: the next signal of the first thread, Ctrl-C for one, would end the program with a
    segmentation fault.
    """
    with _CORE_LOCK:
        if not _CORE:
            with no_openvino_telemetry():
                from openvino import Core
            _CORE.append(Core())
        return _CORE[0]


def _has_fast_bf16(core: Any) -> bool:
    """Whether the processor multiplies bf16 matrices in hardware (AMX); without it, bf16 is slower than f32.

    OpenVINO names no AMX, but it names both half formats only for those x86 processors that came together
    with AMX.
    """
    can = set(core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"))
    return platform.machine().lower() in ("x86_64", "amd64") and {"BF16", "FP16"} <= can
