"""The table of strategies, from which `--strategy`, `eval`, errors and the table of `docs/strategies.md` are
made. The order is that of the help."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from gsw_graph.ask.retrieve.strategies.auto import AUTO, SELECT
from gsw_graph.ask.retrieve.strategies.baselines import BM25, DENSE, IRCOT, NONE
from gsw_graph.ask.retrieve.strategies.fusion import FUSION, RICR
from gsw_graph.ask.retrieve.strategies.grasp import GRASP
from gsw_graph.ask.retrieve.strategies.linked import LINKED
from gsw_graph.ask.retrieve.strategies.overview import OVERVIEW
from gsw_graph.ask.retrieve.strategies.pathwise import PATHWISE
from gsw_graph.ask.retrieve.strategies.proprag import PROPRAG
from gsw_graph.ask.retrieve.strategies.pruned import PRUNED
from gsw_graph.ask.strategy import Strategy

__all__ = ["STRATEGIES", "strategies"]

GROUP = "gswgraph.strategies"

STRATEGIES: dict[str, Strategy[Any]] = {
    strategy.name: strategy
    for strategy in (
        AUTO,
        LINKED,
        RICR,
        FUSION,
        PATHWISE,
        PROPRAG,
        PRUNED,
        GRASP,
        SELECT,
        OVERVIEW,
        IRCOT,
        DENSE,
        BM25,
        NONE,
    )
}


@cache
def strategies() -> dict[str, Strategy[Any]]:
    """Return all strategies by name: of this package and of installed packages.

    A package adds a strategy by an entry point of the group `gswgraph.strategies` that names a `Strategy`. A
    strategy that cannot be loaded, or whose name is taken, is left out with a warning.
    """
    registry = dict(STRATEGIES)
    for entry in entry_points(group=GROUP):
        try:
            strategy = entry.load()
        except Exception as error:  # code of others may raise anything
            problem = f"it cannot be loaded ({error})"
        else:
            if not isinstance(strategy, Strategy):
                problem = "it is no Strategy"
            elif strategy.name in registry:
                problem = "its name is taken"
            else:
                registry[strategy.name] = strategy
                continue
        warnings.warn(f"the strategy {entry.name!r} of {entry.value} is left out: {problem}", stacklevel=2)
    return registry
