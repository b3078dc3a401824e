"""Former names of what is in `gsw_graph.concurrency`, for callers that are not renamed yet."""

from gsw_graph.concurrency import Check
from gsw_graph.concurrency import FairLock as InTurn
from gsw_graph.concurrency import acquired as held
from gsw_graph.concurrency import never_cancelled as wanted

__all__ = ["Check", "InTurn", "held", "wanted"]
