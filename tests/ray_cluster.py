"""A Ray cluster of two nodes on this machine, on loopback, whose workers import what stands beside this file."""

from __future__ import annotations

import contextlib
import importlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import engines
import pytest


@contextlib.contextmanager
def two_nodes() -> Iterator[str]:
    """Its address; each node has one processor."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # loopback
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
        engines.needs("ray", "ray")
        room = {"num_cpus": 1, "object_store_memory": 100_000_000}
        nodes = importlib.import_module("ray.cluster_utils").Cluster(initialize_head=True, head_node_args={**room, "include_dashboard": False})
        try:
            nodes.add_node(**room)
            yield nodes.address
        finally:
            nodes.shutdown()
