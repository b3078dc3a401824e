"""The command line with the fake embedder, as a process of its own: `serve_runner.py --memory FOLDER serve`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import fakes

from gsw_graph.models.embed.embedder import Embedder

if __name__ == "__main__":
    Embedder.load = staticmethod(fakes.embedder)
    runpy.run_module("gsw_graph.cli", run_name="__main__")
