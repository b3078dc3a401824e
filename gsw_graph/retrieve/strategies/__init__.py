"""The table of strategies, from which `--strategy`, `eval`, errors and the README's table are made. A file
a strategy; the order is that of the help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gsw_graph.retrieve.strategies.auto import AUTO
from gsw_graph.retrieve.strategies.baselines import BM25, DENSE
from gsw_graph.retrieve.strategies.fusion import FUSION
from gsw_graph.retrieve.strategies.grasp import GRASP
from gsw_graph.retrieve.strategies.ircot import IRCOT
from gsw_graph.retrieve.strategies.linked import LINKED
from gsw_graph.retrieve.strategies.pathwise import PATHWISE
from gsw_graph.retrieve.strategies.proprag import PROPRAG
from gsw_graph.retrieve.strategies.pruned import PRUNED
from gsw_graph.retrieve.strategies.ricr import RICR

if TYPE_CHECKING:
    from gsw_graph.retrieve.strategy import Strategy

__all__ = ["STRATEGIES"]

STRATEGIES: dict[str, Strategy[Any]] = {
    one.name: one
    for one in (
        AUTO,
        LINKED,
        RICR,
        FUSION,
        PATHWISE,
        PROPRAG,
        PRUNED,
        GRASP,
        IRCOT,
        DENSE,
        BM25,
    )
}
