"""The layers of a BERT-family encoder as an ONNX graph, built from a safetensors file without torch.

Devlin et al. (2019), BERT: per layer self-attention and a feed-forward part, each added to its input and
normalised (post-norm). The graph uses the fused operators of onnxruntime (`com.microsoft`).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

WEIGHTS = "model.safetensors"
# Model types with the layer names of BERT, and the position of their first token.
POSITION_OFFSET = {"bert": 0, "roberta": 2, "xlm-roberta": 2}
INPUTS = ("input_ids", "attention_mask", "position_ids")
FLOAT, INT32, INT64 = 1, 6, 7  # element types of ONNX


def is_supported(folder: Path) -> bool:
    """Tell whether `folder` holds a model that `build` can read."""
    if not (folder / WEIGHTS).is_file() or not (folder / "config.json").is_file():
        return False
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return (
        config.get("model_type") in POSITION_OFFSET
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
    )


def build(folder: Path) -> bytes:
    """Build the ONNX model from the weights in `folder`: token ids to the states of the last layer.

    Positions are an input, which starts at `position_offset`. The single token type is folded into the table
    of positions.
    """
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    prefix = f"{config['model_type'].replace('xlm-', '')}."  # which some files leave out
    weights = {name.removeprefix(prefix): array for name, array in read_safetensors(folder / WEIGHTS).items()}
    tensors: dict[str, NDArray[Any]] = {}
    nodes: list[bytes] = []

    def weight(name: str, *, transpose: bool = False) -> str:
        tensors[name] = weights[name].T if transpose else weights[name]
        return name

    def node(kind: str, inputs: Sequence[str], output: str, domain: str = "", **attributes: float) -> str:
        nodes.append(_node(kind, inputs, output, domain, attributes))
        return output

    def norm(name: str) -> list[str]:
        return [weight(f"{name}.weight"), weight(f"{name}.bias")]

    epsilon = float(config.get("layer_norm_eps", 1e-12))
    words = weight("embeddings.word_embeddings.weight")
    tensors["positions"] = (
        weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    node("Gather", [words, "input_ids"], "word")
    node("Gather", ["positions", "position_ids"], "position")
    node("Add", ["word", "position"], "embedded")
    state = node("LayerNormalization", ["embedded", *norm("embeddings.LayerNorm")], "state", epsilon=epsilon)
    node("Cast", ["attention_mask"], "mask", to=INT32)
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        parts = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        tensors[f"{layer}.qkv"] = np.concatenate([weights[f"{part}.weight"].T for part in parts], axis=1)
        tensors[f"{layer}.qkv_bias"] = np.concatenate([weights[f"{part}.bias"] for part in parts])
        inputs = [state, f"{layer}.qkv", f"{layer}.qkv_bias", "mask"]
        node("Attention", inputs, f"{layer}.attended", MS, num_heads=config["num_attention_heads"])
        for part, source in (("attention.output", f"{layer}.attended"), ("output", f"{layer}.inner")):
            if part == "output":
                dense = weight(f"{layer}.intermediate.dense.weight", transpose=True)
                node("MatMul", [state, dense], f"{layer}.wide")
                node("BiasGelu", [f"{layer}.wide", weight(f"{layer}.intermediate.dense.bias")], source, MS)
            dense = weight(f"{layer}.{part}.dense.weight", transpose=True)
            output = node("MatMul", [source, dense], f"{layer}.{part}")
            inputs = [output, state, *norm(f"{layer}.{part}.LayerNorm"), weight(f"{layer}.{part}.dense.bias")]
            state = node("SkipLayerNormalization", inputs, f"{layer}.{part}.state", MS, epsilon=epsilon)
    node("Identity", [state], "last_hidden_state")
    return _model(nodes, tensors, weights[words].shape[1])


def position_offset(folder: Path) -> int:
    """Return the position of the first token."""
    return POSITION_OFFSET[json.loads((folder / "config.json").read_text(encoding="utf-8"))["model_type"]]


def read_safetensors(file: Path) -> dict[str, NDArray[np.float32]]:
    """Read the float tensors of a safetensors file as float32."""
    data = np.memmap(file, np.uint8, "r")
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    tensors: dict[str, NDArray[np.float32]] = {}
    for name, entry in json.loads(data[8:start].tobytes()).items():
        if name == "__metadata__" or entry["dtype"] not in ("F32", "F16", "BF16"):
            continue
        first, last = entry["data_offsets"]
        raw = data[start + first : start + last]
        array = raw.view({"F32": "<f4", "F16": "<f2", "BF16": "<u2"}[entry["dtype"]])
        if entry["dtype"] == "BF16":  # the upper half of a float32
            array = (array.astype("<u4") << 16).view("<f4")
        tensors[name] = array.astype("<f4", copy=False).reshape(entry["shape"])
    return tensors


# The few messages of ONNX's protobuf format (onnx.proto) that a graph needs.
MS = "com.microsoft"


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    value = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _node(
    kind: str, inputs: Sequence[str], output: str, domain: str, attributes: Mapping[str, float]
) -> bytes:
    parts = [_field(1, name) for name in inputs] + [_field(2, output), _field(4, kind), _field(7, domain)]
    for name, value in attributes.items():
        if isinstance(value, int):
            body = _field(3, value) + _field(20, 2)
        else:
            body = _varint(2 << 3 | 5) + struct.pack("<f", value) + _field(20, 1)
        parts.append(_field(5, _field(1, name) + body))
    return b"".join(parts)


def _tensor(name: str, array: NDArray[Any]) -> bytes:
    dims = b"".join(_field(1, size) for size in array.shape)
    return dims + _field(2, FLOAT) + _field(8, name) + _field(9, np.ascontiguousarray(array, "<f4").tobytes())


def _value(name: str, kind: int, *dims: str | int) -> bytes:
    shape = b"".join(_field(1, _field(1 if isinstance(dim, int) else 2, dim)) for dim in dims)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def _model(nodes: Sequence[bytes], tensors: Mapping[str, NDArray[Any]], hidden: int) -> bytes:
    graph = b"".join(
        [
            *(_field(1, node) for node in nodes),
            _field(2, "encoder"),
            *(_field(5, _tensor(name, array)) for name, array in tensors.items()),
            *(_field(11, _value(name, INT64, "texts", "tokens")) for name in INPUTS),
            _field(12, _value("last_hidden_state", FLOAT, "texts", "tokens", hidden)),
        ]
    )
    opsets = b"".join(
        _field(8, _field(1, domain) + _field(2, version)) for domain, version in (("", 17), (MS, 1))
    )
    return _field(1, 8) + opsets + _field(7, graph)
