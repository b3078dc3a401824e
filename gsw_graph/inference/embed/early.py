"""Models that are loaded while an engine starts, which takes about as long."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING

from gsw_graph.errors import InputError

if TYPE_CHECKING:
    from gsw_graph.config import Settings
    from gsw_graph.inference.embed.embedder import Embedder

MODELS = ("embedder", "llm")


class Early:
    """`load` loads some of MODELS: the embedder, None where it must be downloaded or cannot be loaded, which
    waits until it is needed, and the client of the language model that the settings name. InputError where
    `models` names another."""

    def __init__(self, settings: Settings, models: Collection[str]) -> None:
        if unknown := set(models) - set(MODELS):
            raise InputError(
                f"there is no model {min(unknown)!r} to load", hint=f"Use some of {', '.join(MODELS)}"
            )
        self.embedder: Embedder | None = None
        self._settings, self._models = settings, models

    def load(self) -> None:
        from gsw_graph.inference.embed.embedder import Embedder
        from gsw_graph.inference.embed.model_files import find_model

        if "embedder" in self._models:
            with suppress(Exception):  # of whatever kind: raised again by who needs it
                if find_model(self._settings.embedder):
                    self.embedder = Embedder.load(self._settings)
        if "llm" in self._models and self._settings.llm:
            import openai  # noqa: F401 - takes most of a second, for which the first calls would wait
