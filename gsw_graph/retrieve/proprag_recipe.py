"""Every constant of PropRAG by name: the paper's recipe, the authors' code's, and ours."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gsw_graph.retrieve.proposition_graph import Weights


@dataclass(frozen=True, slots=True)
class Recipe:
    """The constants of `retrieve.proprag`. The defaults are those of the authors' code (commit dd90210); where the paper has another value, it is in brackets.

    Graph. weights: of the edges; the code's cliques and synonyms are parallel edges and weigh twice (the paper gives none).
    Stage 1. propositions: nearest to the question (10). entities: concepts of these that are seeds, each of weight 1, those with the largest sum of cosines
    first (all). passage_weight: of a passage's scaled cosine in the first reset (0). damping: 0.75.
    Stage 2. focus: passages of the subgraph (100). focus_passage_weight: 0.05. focus_damping: 0.45.
    Beam. width (5), length 3. jumps: best propositions that can follow any (all that start). coherence: least cosine of one proposition with the next,
    -1 for no filter (0.075). exact: paths of a depth whose text is embedded (40 in both), 0: the mean of the stored vectors is their score.
    one_order: two orders of the same propositions count as one path, the first found (the paper says nothing).
    Seeds of stage 2. paths: best paths, of all lengths. path_entities: concepts of these (5). first_entities: concepts of the best single propositions (5).
    Ours. linked_mass: weight of the question's names where the other seeds have 1 together. names: edges of `linked` between passages and names join the
    graph. preference: exponent of the walk's preference for passages near the question. steps: most of a walk.
    """

    weights: Weights = field(default_factory=lambda: Weights(clique=2.0, containment=1.0, synonymy=2.0))
    propositions: int = 20
    entities: int = 40
    passage_weight: float = 0.05
    damping: float = 0.75
    focus: int = 50
    focus_passage_weight: float = 0.05
    focus_damping: float = 0.45
    width: int = 4
    length: int = 3
    jumps: int = 3
    coherence: float = -1.0
    exact: int = 40
    one_order: bool = True
    paths: int = 5
    path_entities: int = 5
    first_entities: int = 5
    linked_mass: float = 0.0
    names: bool = False
    preference: float = 0.0
    steps: int = 200


CODE = Recipe()
PAPER = Recipe(
    weights=Weights(),
    propositions=10,
    entities=1_000_000,
    passage_weight=0.0,
    focus=100,
    width=5,
    jumps=5,
    coherence=0.075,
    one_order=False,
)
# The code's, but no path is embedded: that costs many times what all else does and finds less (docs/proprag.md).
QUICK = replace(CODE, exact=0)
# With the names of the question, over the edges of `linked` too and with its preference and restart.
LINKED = replace(
    QUICK, weights=Weights(clique=0.5, containment=0.5, synonymy=0.5), damping=0.9, focus_damping=0.9, linked_mass=4.0, names=True, preference=3.0, steps=15
)
RECIPES = {"paper": PAPER, "code": CODE, "quick": QUICK, "linked": LINKED}
