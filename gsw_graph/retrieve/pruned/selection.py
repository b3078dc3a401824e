"""Which runs of a channel are kept (AutoPrunedRetriever, section 2.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.retrieve.pruned.runs import Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.retrieve.pruned.codebook import Codebook


def chosen(book: Codebook, found: Scored, choice: str, same: float) -> Scored:
    """`all` runs, none (`drop`), or of those that say the same one (`unique`).

    The paper has the medoid of each cluster of run vectors. Here a run joins the cluster of the best run
    that it is near to, not of any member, so that no chain of likenesses joins what is different; the medoid
    stands in the place of the best.
    """
    if choice == "all" or not len(found.runs):
        return found
    if choice == "drop":
        return found.taken(np.zeros(0, np.intp))
    vectors = book.means(found.runs)
    cosines = vectors @ vectors.T
    clusters: dict[int, list[int]] = {}
    for n in range(len(found.runs)):
        leader = next((one for one in clusters if cosines[one, n] >= same), n)
        clusters.setdefault(leader, []).append(n)
    medoids = [_medoid(cosines, members) for members in clusters.values()]
    return found.taken(np.array(medoids, dtype=np.intp))


def _medoid(cosines: NDArray[np.float32], members: list[int]) -> int:
    """The member that is nearest to the others; of equal ones the best."""
    return members[int(np.argmax(cosines[np.ix_(members, members)].sum(axis=1).round(5)))]
