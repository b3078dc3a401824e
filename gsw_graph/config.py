"""One settings object. Nothing is read from the environment before `Settings.from_env()` is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gsw_graph.errors import InputError

DEFAULT_MEMORY = ".gswgraph"


def default_cache_dir(env: Mapping[str, str]) -> Path:
    """The folder of files that can be made again: exported models, matrices, private servers."""
    if chosen := env.get("GSWGRAPH_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(env.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "gswgraph"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/gswgraph"
    return Path(env.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gswgraph"


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{text!r} is not a whole number", where="GSWGRAPH_LINKED_CLIENT_PASSAGES", hint="Give a number of passages") from None


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the memory is and which models serve it.

    memory: a folder (embedded engine) or a `bolt://` or `neo4j://` url. username, password, database: of a server.
    embedder: a sentence-transformers model name or path. device: `auto`, `cpu`, `cuda` or `mps`.
    reranker: `cosine` (the embedder's vectors), a CrossEncoder model name or path, or the http(s) url of a /rerank endpoint, which is asked for the
    model `reranker_model` with the key `reranker_key`.
    linked_client_passages: up to this many passages `linked` walks matrices kept by the client, above it fetches the neighbourhood of the seeds.
    """

    memory: str = DEFAULT_MEMORY
    username: str = "neo4j"
    password: str | None = field(default=None, repr=False)
    database: str | None = None
    embedder: str = "all-MiniLM-L6-v2"
    device: str = "auto"
    reranker: str = "cosine"
    reranker_model: str | None = None
    reranker_key: str | None = field(default=None, repr=False)
    cache_dir: Path = field(default_factory=lambda: default_cache_dir(os.environ))
    linked_client_passages: int = 1_000_000

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> Settings:
        """Settings from the usual Neo4j names (NEO4J_URI, NEO4J_USERNAME, NEO4J_PASSWORD, NEO4J_DATABASE) and our own (GSWGRAPH_*)."""
        env = os.environ if env is None else env
        limit = env.get("GSWGRAPH_LINKED_CLIENT_PASSAGES")
        return cls(
            memory=env.get("NEO4J_URI") or DEFAULT_MEMORY,
            username=env.get("NEO4J_USERNAME") or "neo4j",
            password=env.get("NEO4J_PASSWORD"),
            database=env.get("NEO4J_DATABASE") or None,
            embedder=env.get("GSWGRAPH_EMBEDDER") or "all-MiniLM-L6-v2",
            device=env.get("GSWGRAPH_DEVICE") or "auto",
            reranker=env.get("GSWGRAPH_RERANKER") or "cosine",
            reranker_model=env.get("GSWGRAPH_RERANKER_MODEL") or None,
            reranker_key=env.get("GSWGRAPH_RERANKER_KEY") or None,
            cache_dir=default_cache_dir(env),
            linked_client_passages=_whole(limit) if limit else 1_000_000,
        )
