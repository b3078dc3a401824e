"""An agent as a language model: what is written for a model alone can be asked by an agent, as a step of the
trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gsw_graph.inference.chat.request import Reply, Request, T

if TYPE_CHECKING:
    from collections.abc import Callable

    from gsw_graph.retrieve.agents.agent import Agent


class Spoken:
    """A `LanguageModel`. model: its name. asked: the steps in words; told: what came of one. Its replies do
    not say what they took: the steps do."""

    def __init__(self, agent: Agent, model: str, asked: str, told: Callable[[Any], str]) -> None:
        self.model, self._agent, self._asked, self._told = model, agent, asked, told

    def ask(
        self, request: Request, check: Callable[[Any], T], *, on_text: Callable[[str], None] | None = None
    ) -> Reply[T]:
        """As `Agent.ask`."""
        value = self._agent.ask(request, check, self._asked, self._told, on_text=on_text)
        return Reply(value, False, 0, 0, 0.0)
