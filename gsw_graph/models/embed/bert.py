"""The layers of a BERT-family encoder as an ONNX graph, built from a safetensors file without torch.

Devlin et al. (2019), BERT: per layer self-attention and a feed-forward part, each added to its input and
normalised (post-norm). The graph uses the fused operators of onnxruntime (`com.microsoft`).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gsw_graph.values import Fields

WEIGHTS, CONFIG = "model.safetensors", "config.json"
WORDS = "embeddings.word_embeddings.weight"
# Model types with the layer names of BERT, and the position of their first token.
POSITION_OFFSET = {"bert": 0, "roberta": 2, "xlm-roberta": 2}
INPUTS = ("input_ids", "attention_mask", "position_ids")
FLOAT, INT32, INT64 = 1, 6, 7  # element types of ONNX
_KINDS = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}  # of a safetensors file, as numpy reads them

Tensors = dict[str, NDArray[Any]]
Field = tuple[int, int | str | bytes]  # a number of the protobuf format, and a value


def is_supported(folder: Path) -> bool:
    """Tell whether `folder` holds a model that `build` can read."""
    if not (folder / WEIGHTS).is_file() or not (folder / CONFIG).is_file():
        return False
    config = _config(folder)
    return (
        config.get("model_type") in POSITION_OFFSET
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
    )


def _config(folder: Path) -> Fields:
    return dict(json.loads((folder / CONFIG).read_text(encoding="utf-8")))


def build(folder: Path) -> bytes:
    """Build the ONNX model from the weights in `folder`: token ids to the states of the last layer.

    Positions are an input, which starts at `position_offset`. The single token type is folded into the table
    of positions.
    """
    config = _config(folder)
    prefix = f"{config['model_type'].replace('xlm-', '')}."  # which some files leave out
    weights = {name.removeprefix(prefix): array for name, array in read_safetensors(folder / WEIGHTS).items()}
    epsilon = float(config.get("layer_norm_eps", 1e-12))
    tensors: Tensors = {}
    for name, array in weights.items():
        if name.startswith(("embeddings.word", "embeddings.Layer", "encoder.")) and ".self." not in name:
            tensors[name] = array.T if name.endswith("dense.weight") else array
    positions = weights["embeddings.position_embeddings.weight"]
    tensors["positions"] = positions + weights["embeddings.token_type_embeddings.weight"][0]
    nodes: list[bytes] = []

    def node(kind: str, inputs: list[str], output: str, domain: str = "", **attributes: float) -> str:
        nodes.append(_node(kind, inputs, output, domain, attributes))
        return output

    def norm(name: str) -> list[str]:
        return [f"{name}.LayerNorm.weight", f"{name}.LayerNorm.bias"]

    def add_and_norm(name: str, source: str, state: str) -> str:
        output = node("MatMul", [source, f"{name}.dense.weight"], name)
        inputs = [output, state, *norm(name), f"{name}.dense.bias"]
        return node("SkipLayerNormalization", inputs, f"{name}.state", MS, epsilon=epsilon)

    node("Gather", [WORDS, "input_ids"], "word")
    node("Gather", ["positions", "position_ids"], "position")
    node("Add", ["word", "position"], "embedded")
    state = node("LayerNormalization", ["embedded", *norm("embeddings")], "state", epsilon=epsilon)
    node("Cast", ["attention_mask"], "mask", to=INT32)
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        parts = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        table, bias = f"{layer}.qkv", f"{layer}.qkv_bias"
        tensors[table] = np.concatenate([weights[f"{part}.weight"].T for part in parts], axis=1)
        tensors[bias] = np.concatenate([weights[f"{part}.bias"] for part in parts])
        inputs = [state, table, bias, "mask"]
        attended = f"{layer}.attended"
        node("Attention", inputs, attended, MS, num_heads=config["num_attention_heads"])
        state = add_and_norm(f"{layer}.attention.output", attended, state)
        dense = f"{layer}.intermediate.dense"
        wide = node("MatMul", [state, f"{dense}.weight"], f"{layer}.wide")
        inner = node("BiasGelu", [wide, f"{dense}.bias"], f"{layer}.inner", MS)
        state = add_and_norm(f"{layer}.output", inner, state)
    node("Identity", [state], "last_hidden_state")
    return _model(nodes, tensors, weights[WORDS].shape[1])


def position_offset(folder: Path) -> int:
    """Return the position of the first token."""
    return POSITION_OFFSET[_config(folder)["model_type"]]


def read_safetensors(file: Path) -> Tensors:
    """Read the float tensors of a safetensors file as float32."""
    data = np.memmap(file, np.uint8, "r")
    start = 8 + int.from_bytes(data[:8].tobytes(), "little")
    tensors: Tensors = {}
    for name, entry in json.loads(data[8:start].tobytes()).items():
        kind = _KINDS.get(entry.get("dtype", ""))
        if kind is None:
            continue
        first, last = entry["data_offsets"]
        array = data[start + first : start + last].view(kind)
        if kind == "<u2":  # BF16 is the upper half of a float32
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


def _message(*fields: Field) -> bytes:
    """Return a message with fields of whole numbers, texts and messages."""
    parts = []
    for number, value in fields:
        if isinstance(value, int):
            parts += [_varint(number << 3), _varint(value)]
        else:
            body = value.encode() if isinstance(value, str) else value
            parts += [_varint(number << 3 | 2), _varint(len(body)), body]
    return b"".join(parts)


def _node(kind: str, inputs: list[str], output: str, domain: str, attributes: Mapping[str, float]) -> bytes:
    fields: list[Field] = [(1, name) for name in inputs]
    fields += [(2, output), (4, kind), (7, domain)]
    for name, value in attributes.items():
        if isinstance(value, int):
            body = _message((1, name), (3, value), (20, 2))
        else:
            body = _message((1, name)) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _message((20, 1))
        fields.append((5, body))
    return _message(*fields)


def _tensor(name: str, array: NDArray[Any]) -> bytes:
    raw = np.ascontiguousarray(array, "<f4").tobytes()
    return _message(*((1, size) for size in array.shape), (2, FLOAT), (8, name), (9, raw))


def _value(name: str, kind: int, *dims: str | int) -> bytes:
    sizes = [_message((1 if isinstance(dim, int) else 2, dim)) for dim in dims]
    shape = _message(*((1, size) for size in sizes))
    return _message((1, name), (2, _message((1, _message((1, kind), (2, shape))))))


def _model(nodes: list[bytes], tensors: Tensors, hidden: int) -> bytes:
    fields: list[Field] = [(1, node) for node in nodes]
    fields.append((2, "encoder"))
    fields += ((5, _tensor(name, array)) for name, array in tensors.items())
    fields += ((11, _value(name, INT64, "texts", "tokens")) for name in INPUTS)
    fields.append((12, _value("last_hidden_state", FLOAT, "texts", "tokens", hidden)))
    operators = (8, _message((1, ""), (2, 17))), (8, _message((1, MS), (2, 1)))
    return _message((1, 8), *operators, (7, _message(*fields)))
