"""Agents at the same time: a thread each, and the first error that ends the question ends the others."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, TypeVar

from gsw_graph.errors import ReplyError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gsw_graph.retrieve.agents.agent import Team

T = TypeVar("T")
_LOOK = 0.5  # seconds: a wait without end would not see Ctrl-C on Windows


def side_by_side(team: Team, tasks: Sequence[Callable[[], T]]) -> list[T | ReplyError]:
    """What each task returns, in their order; a ReplyError costs its own task alone. Any other error, of a
    task or of who waits (Ctrl-C), ends the team and is raised."""
    results: queue.SimpleQueue[tuple[int, T | BaseException]] = queue.SimpleQueue()
    found: dict[int, T | ReplyError] = {}

    def work(number: int, task: Callable[[], T]) -> None:
        try:
            results.put((number, task()))
        except BaseException as error:
            results.put((number, error))

    def take() -> None:
        try:
            number, result = results.get(timeout=_LOOK)
        except queue.Empty:
            return
        if isinstance(result, BaseException) and not isinstance(result, ReplyError):
            raise result
        found[number] = result

    try:
        # Threads of our own: those of an executor would keep an interrupted program alive until the last
        # reply.
        for number, task in enumerate(tasks):
            threading.Thread(target=work, args=(number, task), name="gswgraph-agent", daemon=True).start()
        while len(found) < len(tasks):
            take()
    except BaseException:
        team.end()
        raise
    return [found[number] for number in range(len(tasks))]
