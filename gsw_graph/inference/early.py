"""Models that are loaded while an engine starts, which takes about as long."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gsw_graph.errors import GswGraphError

if TYPE_CHECKING:
    from gsw_graph.config import Settings
    from gsw_graph.inference.embedder import Embedder


class Early:
    """The embedder of some settings once `load` was called; None before, and where it must be downloaded or cannot be loaded: that waits until it is needed."""

    def __init__(self, settings: Settings) -> None:
        self.embedder: Embedder | None = None
        self._settings = settings

    def load(self) -> None:
        from gsw_graph.inference.embedder import Embedder
        from gsw_graph.inference.model_files import find_model

        with suppress(GswGraphError):
            if find_model(self._settings.embedder):
                self.embedder = Embedder.load(self._settings)
        if self._settings.llm:
            import openai  # noqa: F401 - takes most of a second, for which the first calls would wait
