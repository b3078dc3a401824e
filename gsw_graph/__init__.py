"""gswgraph: a knowledge store. `from gsw_graph import Memory` is the way in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gsw_graph.config import Settings
    from gsw_graph.errors import GswGraphError
    from gsw_graph.memory import Memory

__all__ = ["GswGraphError", "Memory", "Settings", "__version__"]
__version__ = "0.1.0"

_HOME = {"Memory": "gsw_graph.memory", "Settings": "gsw_graph.config", "GswGraphError": "gsw_graph.errors"}


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used: `gswgraph --help` needs none of them."""
    if name not in _HOME:
        raise AttributeError(f"module 'gsw_graph' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)
