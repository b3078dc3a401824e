"""gswgraph: a knowledge store. `from gsw_graph import Memory` is the way in."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gsw_graph.version import __version__

if TYPE_CHECKING:
    from gsw_graph.config import Settings
    from gsw_graph.errors import GswGraphError
    from gsw_graph.memory import Memory

__all__ = ["GswGraphError", "Memory", "Settings", "__version__"]

# Libraries read these when they are imported, so they are set before any other module of ours is. Without
# them onnxruntime makes an id of the device and reports to its maker, and huggingface-hub says more than a
# download needs. A value that the user gave stays.
for _name in ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY"):
    os.environ[_name] = os.environ.get(_name) or "1"

_HOME = {"Memory": "gsw_graph.memory", "Settings": "gsw_graph.config", "GswGraphError": "gsw_graph.errors"}


def __getattr__(name: str) -> Any:
    """Import a public name at its first use, so that `gswgraph --help` starts without them."""
    if name not in _HOME:
        raise AttributeError(f"module 'gsw_graph' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
