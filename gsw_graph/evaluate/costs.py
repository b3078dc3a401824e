"""Sum up the cost of a memory's index: the calls of language models that extracted it, and its size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gsw_graph.extract.pool import PROFILES
from gsw_graph.models.chat.cache import stored, total
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from gsw_graph.memory import Memory
    from gsw_graph.model.results import Status


def index_costs(memory: Memory, status: Status) -> Fields:
    """Return the costs of the index of a memory.

    Args:
        memory: The memory.
        status: Its status.

    Returns:
        `tokens` in and out, `seconds` and `dollars` of the calls of its documents' extractor and model, as
        the ledger has them for all loads with the cache of the settings; `nodes` and `relationships`;
        `bytes` of the folder of an embedded memory, None for a server.
    """
    calls: set[tuple[str, str, str | None]] = set()
    for document in memory.documents().documents:
        profile = PROFILES.get(document.extractor)
        if profile is not None:
            calls.update((document.source, stage, document.model) for stage in profile().stages)
    entries = [
        entry for entry in stored(memory.settings) if (entry.document, entry.stage, entry.model) in calls
    ]
    spent = total(entries)
    folder = Path(status.memory)
    return {
        "tokens": {"in": spent.prompt_tokens, "out": spent.completion_tokens},
        "seconds": spent.seconds,
        "dollars": spent.dollars,
        "nodes": sum(status.nodes.values()),
        "relationships": sum(status.relationships.values()),
        "bytes": _size(folder) if folder.is_dir() else None,
    }


def _size(folder: Path) -> int:
    """Return the bytes of the files of a folder; a file that goes meanwhile counts nothing."""
    size = 0
    for path in folder.rglob("*"):
        try:
            size += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return size
