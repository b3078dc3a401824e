"""Which strategy fits an intent (PathwiseRAG, equations 4 and 33 to 36).

S = alpha M_I + beta M_B + gamma M_D + eps M_C, with
- M_I = cos(e_s, e_I) exp(-lambda_I KL(P_s || P_I)),
- M_B = 1 - exp(-lambda_B |C_s & C_q| / |C_q|),
- M_D = exp(-lambda_D |d_s - d_q|), depths 1 to 5,
- M_C = the share of critical aspects that the strategy covers.

Ours: the encoders of e and the distributions P are not public. Both are here a distribution over five kinds
of information, a table for strategies and read off the intent for a question; so no model runs. The weights
of the terms are not published either: they are equal. What a question needs most is its critical aspect.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from gsw_graph.retrieve.pathwise.intent import Intent
    from gsw_graph.retrieve.recipes import PathwiseRecipe

Approach = Literal["dense precision", "deep chain", "multi-aspect", "comparative matrix", "temporal-ordered"]
INFORMATION = ("fact", "chain", "aspects", "sides", "times")


@dataclass(frozen=True, slots=True)
class Profile:
    """A strategy as the scores see it: what it finds, in the order of INFORMATION, and how deep it goes."""

    shares: tuple[float, float, float, float, float]
    depth: int

    @property
    def covers(self) -> frozenset[str]:
        """The kinds of information of which it finds a good part."""
        return frozenset(
            kind for kind, share in zip(INFORMATION, self.shares, strict=True) if share >= _COVERED
        )


_COVERED = 0.15
_FLOOR = 0.05  # of a share: KL has no value where the question needs nothing of a kind
PROFILES: dict[Approach, Profile] = {
    "dense precision": Profile((0.80, 0.05, 0.05, 0.05, 0.05), 1),
    "deep chain": Profile((0.20, 0.60, 0.08, 0.06, 0.06), 3),
    "multi-aspect": Profile((0.15, 0.10, 0.65, 0.05, 0.05), 2),
    "comparative matrix": Profile((0.10, 0.15, 0.05, 0.50, 0.20), 3),
    "temporal-ordered": Profile((0.20, 0.05, 0.05, 0.05, 0.65), 2),
}


@dataclass(frozen=True, slots=True)
class Score:
    """How well a strategy fits: the four terms, each in [0, 1], and their weighted sum."""

    approach: Approach
    intent: float
    breadth: float
    depth: float
    critical: float
    total: float

    def words(self) -> str:
        """The terms in one line, for the trace."""
        terms = {"M_I": self.intent, "M_B": self.breadth, "M_D": self.depth, "M_C": self.critical}
        told = ", ".join(f"{name} {term:.2f}" for name, term in terms.items())
        return f"{self.approach} {self.total:.2f} ({told})"


def select(intent: Intent, recipe: PathwiseRecipe) -> list[Score]:
    """The strategies with their scores, the best first; of equal ones the first of the table."""
    needs = needed(intent)
    wanted = frozenset(kind for kind, weight in needs.items() if weight > 0)
    total = sum(needs.values())
    shares = [(needs[kind] / total + _FLOOR) / (1 + _FLOOR * len(INFORMATION)) for kind in INFORMATION]
    critical = _critical(needs)
    scores = []
    for approach, profile in PROFILES.items():
        covers = profile.covers
        terms = (
            _cosine(profile.shares, shares)
            * math.exp(-recipe.intent_decay * _divergence(profile.shares, shares)),
            1 - math.exp(-recipe.breadth_decay * len(covers & wanted) / len(wanted)),
            math.exp(-recipe.depth_decay * abs(profile.depth - intent.depth)),
            len(covers & critical) / len(critical),
        )
        weights = (recipe.intent, recipe.breadth, recipe.depth, recipe.critical)
        score = sum(weight * term for weight, term in zip(weights, terms, strict=True))
        scores.append(Score(approach, *terms, total=score))
    return sorted(scores, key=lambda score: -score.total)


def needed(intent: Intent) -> dict[str, float]:
    """How much of each kind of information a question needs; not a distribution yet."""
    deep = intent.depth - 1 if intent.sides is None else max(intent.depth - 2, 0)
    return {
        "fact": 1.0,
        "chain": float(deep),
        "aspects": 3.0 if intent.broad or intent.kind in ("procedural", "hypothetical") else 0.0,
        "sides": 4.0 if intent.sides is not None else 0.0,
        "times": 3.0 if intent.bounded and intent.depth <= _SHALLOW else 0.0,
    }


_SHALLOW = 2  # facts: in a longer chain a time narrows down one hop, and the chain comes first


def _critical(needs: dict[str, float]) -> frozenset[str]:
    most = max(needs.values())
    return frozenset(kind for kind, need in needs.items() if need == most)


def _cosine(first: tuple[float, ...], second: list[float]) -> float:
    dot = sum(a * b for a, b in zip(first, second, strict=True))
    return dot / math.sqrt(sum(a * a for a in first) * sum(b * b for b in second))


def _divergence(first: tuple[float, ...], second: list[float]) -> float:
    return sum(a * math.log(a / b) for a, b in zip(first, second, strict=True))
