"""Every constant that a strategy runs with and that `gswgraph eval` can vary, as frozen records: a strategy
is given one and reads nothing else.

A record within a record is a part of its strategy: `walk.restart` of `linked`, `chains.beam` of `fusion`.
docs/evaluation.md shows how they are set; linked.md, ricr.md and proprag.md beside it how they were
chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cache
from math import exp, log
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from gsw_graph.ask.options import EVIDENCE
from gsw_graph.errors import InputError
from gsw_graph.values import single_spaced

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAST_SCORE = 1e-6


def geometric(scores: Sequence[float]) -> float:
    """Return the geometric mean of the hop scores (Panini, Eq. 1)."""
    return exp(sum(log(max(score, _LEAST_SCORE)) for score in scores) / len(scores))


def panini_code(scores: Sequence[float]) -> float:
    """Return the geometric mean of (s + 1) / 2, as in the published code and the trace of appendix C: 0.8320
    -> 0.9160, then with 0.8945 -> 0.9315.

    One weak hop costs a chain less than in Eq. 1.
    """
    return geometric([min(max((score + 1) / 2, _LEAST_SCORE), 1.0) for score in scores])


def last_hop(scores: Sequence[float]) -> float:
    """Return the score of the last hop alone (Panini, E.1.4: greedy)."""
    return scores[-1]


CHAIN_SCORES = {
    "panini_code": panini_code,
    "geometric": geometric,
    "last_hop": last_hop,
    "similarity": geometric,
    "combined": geometric,
}
# Share that the cosine of the question and the text of a chain has in its score (Panini, E.1.4; the paper
# prints no value for `combined`).
SIMILARITY_SHARE = {"similarity": 1.0, "combined": 0.5}


def positive_int(default: int) -> Any:
    """Return a field that is 1 at least."""
    return field(default=default, metadata={"least": 1})


def _any_number(default: float) -> Any:
    """Return a field that may be below 0."""
    return field(default=default, metadata={"least": float("-inf")})


def choice(default: str, *others: str) -> Any:
    """Return a field that is one of some names."""
    return field(default=default, metadata={"among": dict.fromkeys((default, *others))})


class Recipe:
    """Check a record of constants when it is made; subclasses are frozen dataclasses. Metadata of a field:
    `least`, if not 0, or `among`, the possible names. Raises InputError."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for item in fields(self):  # type: ignore[arg-type]  # every heir is a dataclass
            value = getattr(self, item.name)
            least = item.metadata.get("least", 0)
            among = item.metadata.get("among", (value,))
            hint = ""
            if value not in among:
                hint = f"Use one of {', '.join(among)}"
            elif isinstance(value, int | float) and not least <= value < float("inf"):
                hint = f"Give a number of at least {least}"
            if hint:
                raise InputError(f"{item.name} cannot be {value!r}", hint=hint)


@dataclass(frozen=True, slots=True)
class WalkRecipe(Recipe):
    """Hold the constants of the walk over names and passages (docs/linked.md)."""

    nearest: int = positive_int(100)  # passages of the vector index that seed the walk and steer it
    best: int = 3  # the best of them, whose names are seeds too
    sharpness: float = 20.0  # of the softmax over cosines
    passage_mass: float = 0.2  # seed weight of all passages; names have 1
    linked_mass: float = 4.0  # seed weight of the question's names; names of the best passages have 1
    title_bonus: float = 3.0  # factor for a name of the question that is the title of a passage
    preference: float = 3.0  # exponent of the preference for passages near the question
    restart: float = 0.1  # share of the weight that returns to the seeds at each step
    steps: int = positive_int(15)  # steps of the walk
    cap: int = positive_int(100)  # passages fetched for a name
    limit: int = positive_int(2000)  # passages fetched in all


@dataclass(frozen=True, slots=True)
class BridgeRecipe(Recipe):
    """Hold the constants of bridge entities, which lead from a first walk to a second; docs/linked.md."""

    passages: int = positive_int(3)  # best passages of the first walk, whose sentences are read
    names: int = 2  # names from the best sentences that the second question adds; 0 for one walk alone
    sharpness: float = 4.0  # exponent of a sentence's share of the question's words, in its weight
    nearest: int = positive_int(30)  # passages near the second question


@dataclass(frozen=True, slots=True)
class RerankRecipe(Recipe):
    """Hold the constants of the last order of passages; docs/linked.md. Fields without a comment are weights
    of features (names/rerank.py). bench/linked_order.py fits them on sets of questions, all sets alike."""

    passages: int = 30  # ordered passages, of the walk and of the nearest each; 0 for the walk's order
    first: int = positive_int(5)  # first passages that may name a title, or be named
    read: int = positive_int(2)  # first passages whose words count as said
    walk_score: float = _any_number(0.44)
    rank: float = _any_number(-1.15)
    uncovered: float = _any_number(6.4)
    named: float = _any_number(0.95)
    joint: float = _any_number(1.33)
    unread: float = _any_number(3.0)
    nearness: float = _any_number(2.3)
    coverage: float = _any_number(4.2)
    relevance: float = 6.0  # weight of the reranker, if one is set
    unnamed: float = 0.5  # specificity of a question without names


@dataclass(frozen=True, slots=True)
class LinkedRecipe(Recipe):
    """Hold the constants of `linked`: of its walk, its bridge entities, and the order of passages."""

    walk: WalkRecipe = WalkRecipe()
    bridges: BridgeRecipe = BridgeRecipe()
    rerank: RerankRecipe = RerankRecipe()


@dataclass(frozen=True, slots=True)
class ChainRecipe(Recipe):
    """Hold the constants of chains of question-answer pairs, in `ricr` and in `fusion` with a plan;
    docs/ricr.md.

    Candidates: `pairs` to `reranked`. With `concepts`, equal names of several documents are one name, and
    bring the pairs of all. Without, an entity of one document brings its own pairs; words and the vector of
    its name, roles and states choose the entity. Growth: `beam` to `fallback`. Ranking: `sharpness` to
    `walked_from`.
    """

    pairs: int = 30  # nearest pairs of the vector index; 0 for entities alone
    entities: int = 5  # names of the full-text index; 0 for pairs alone
    concepts: bool = True  # whether names are shared between documents
    common: int = 30  # passages of a name that still brings its pairs
    reranked: int = positive_int(30)  # candidates that the reranker reads
    beam: int = positive_int(5)  # chains kept for each sub-question
    candidates: int = positive_int(15)  # best pairs of a question that may extend a chain
    score: str = field(default="panini_code", metadata={"among": CHAIN_SCORES})
    unplanned: str = choice("bridge", "one")  # without a plan: a way over a bridge too, or one hop only
    own: bool = False  # whether an answer may be an entity of its question
    fallback: bool = True  # whether to ask the original question if a hop finds nothing
    sharpness: float = 40.0  # of the softmax over chain scores
    walk_weight: float = 4.0  # weight of the walk; the chains together have 1
    walked: int = positive_int(30)  # passages that the walk adds
    walked_from: int = positive_int(3)  # best chains of each end whose questions start the walk
    evidence: str = choice("lines", *EVIDENCE)  # form of the evidence, if the question names none
    reader: str = choice("answer", "answer_panini")  # prompt of the answer
    walk: WalkRecipe = WalkRecipe()


# Panini, sections 2.2 and 5.3 and appendix C: 20 entities, all candidates reranked, of which 15 are kept, a
# beam of 5, Eq. 1, and a reader that sees pairs alone. Documents meet in the answers of a chain alone.
PANINI = ChainRecipe(
    entities=20,
    concepts=False,
    common=1_000_000,
    reranked=10_000,
    score="geometric",
    unplanned="one",
    own=True,
    fallback=False,
    evidence="chains",
    reader="answer_panini",
)


@dataclass(frozen=True, slots=True)
class FusionRecipe(Recipe):
    """Hold the constants of `fusion`, which joins walks and chains; docs/proprag.md.

    Without a plan there are two walks: `best` to `sharpness`. With a plan, each hop of the chains has a walk:
    `walk_weight` to `walked`.
    """

    best: int = positive_int(3)  # passages of the first walk whose pairs are read
    bridges: int = 2  # answers in the second walk
    least: float = 0.7  # least weight of an answer; the best answer has 1
    ask: float = 0.75  # weight of the question with the answers; the question alone has 1
    nearest: int = positive_int(30)  # passages near the question with the answers
    sharpness: float = 10.0  # exponent of the cosine with the question, in a pair's weight
    walk_weight: float = 2.0  # weight, in the logit of a pair, of the root of its passage's relative weight
    offered: int = 3  # passages of the walk whose pairs become candidates
    walked: int = positive_int(200)  # passages of the walk that count
    walk: WalkRecipe = WalkRecipe()
    chains: ChainRecipe = ChainRecipe(walked_from=1)  # one, as walks chose it already


@dataclass(frozen=True, slots=True)
class AutoRecipe(Recipe):
    """Hold the constant of `auto`; docs/ricr.md."""

    sure: float = 0.8  # confidence from which one pair answers a question without a plan


@dataclass(frozen=True, slots=True)
class GraspRecipe(Recipe):
    """Hold the constants of `grasp`; docs/grasp.md. Search: `units` to `scan`; `facts` are propositions and
    pairs. Agents: `rewrite` to `rounds`."""

    units: str = choice("facts", "propositions", "pairs", "sentences", "passages")
    near: int = positive_int(30)  # units from each vector index
    lexical: int = 0  # propositions from the full-text index
    worded: int = 5  # passages from the full-text index whose facts are searched
    common: int = 30  # passages of a name that still brings its facts
    most: int = positive_int(120)  # facts of a search
    voting: int = positive_int(20)  # best facts, which vote for their passages
    scan: int = positive_int(2000)  # facts of a common name that an agent follows
    rewrite: str = choice("late", "first")  # the search before which a sub-question is rewritten
    read: str = choice("lines", "passages")  # what an agent reads: facts, or the passages that they vote for
    lines: int = positive_int(10)  # lines that an agent reads
    voted: int = positive_int(5)  # passages of a search
    rounds: int = 3  # further searches of an agent


# GRASP, section 3: a rewrite first, vectors and full text over propositions, all of which vote; the agent
# reads the passages. How many of them the text that we have does not say.
GRASP_PAPER = GraspRecipe(
    units="propositions",
    lexical=30,
    worded=0,
    common=0,
    voting=120,
    rewrite="first",
    read="passages",
)


@dataclass(frozen=True, slots=True)
class PathwiseRecipe(Recipe):
    """Hold the constants of `pathwise`; docs/pathwise.md. The last four switch components off for an
    ablation; paths=1 is without multi-path reasoning."""

    paths: int = positive_int(4)  # largest number of paths (N)
    documents: int = 0  # passages of a path (k); 0: those asked for, at least 5, of which 5 are read
    hybrid: float = 1.0  # lambda of equation 12, 1 for vectors alone
    gain: float = 0.05  # least expected gain of a sub-problem (tau_gain, not published)
    rounds: int = 2  # rounds of added sub-problems (T, not published)
    whole: float = 0.5  # weight of a search by the whole question; a path has 1. 0: no such search, no chains
    rank: float = 1.0  # constant of the reciprocal rank fusion
    duplicate: float = 0.9  # share of common words from which two passages are duplicates
    intent: bool = True
    selection: bool = True
    adjustment: bool = True
    integration: bool = True


_PATHS = PathwiseRecipe(documents=5, hybrid=0.6, whole=0.0)
PATHWISE_RECIPES = {  # the paper's A.2, and its table 10
    "default": PathwiseRecipe(),
    "paper": _PATHS,
    "hotpotqa": replace(_PATHS, hybrid=0.7, documents=7),
    "strategyqa": _PATHS,
    "complexwebqa": replace(_PATHS, paths=3, documents=6),
    "nq": replace(_PATHS, paths=3, hybrid=0.4),
    "triviaqa": replace(_PATHS, hybrid=0.5),
}
CHOICES = ("all", "unique", "none")


@dataclass(frozen=True, slots=True)
class FineRecipe(Recipe):
    """Hold the constants of the fine score of `pruned`: five terms over the cosines of question lines and run
    lines (AutoPrunedRetriever, A.3). The defaults are those of the authors' code, commit feec9916."""

    top: int = positive_int(3)  # largest cosines in the mean
    top_weight: float = 1.0
    cover: float = 0.45  # cosine from which a line of the question is covered
    cover_weight: float = 0.1
    pair: float = 0.55  # middle of the many-to-many sigmoid
    pair_scale: float = 0.1  # scale of that sigmoid
    pair_weight: float = 0.2
    match: float = 0.5  # least cosine of a one-to-one match
    match_weight: float = 0.1
    gate: float = 0.55  # middle of the sigmoid that gates the whole run
    gate_scale: float = 0.15  # scale of that sigmoid
    gate_weight: float = 0.1


@dataclass(frozen=True, slots=True)
class PrunedRecipe(Recipe):
    """Hold the constants of `pruned`; docs/pruned.md.

    With `symbols`, all runs are compared by symbols, each edge is a line, and a language model, if one is
    set, gives triples of the question. Without, runs come from the statements near the question, which are
    their lines, and a language model makes a plan, whose steps are lines. The channels `facts` (runs of
    documents), `answers` (runs that answers to similar questions cite) and `questions` (similar questions
    with their answers) each have one of CHOICES.
    """

    symbols: bool = False
    near: int = positive_int(60)  # nearest pairs, and propositions, whose runs are candidates
    common: int = 100  # passages of a name that still brings its runs
    candidates: int = positive_int(400)  # candidate runs in all
    concept_weight: float = 1.0  # of the largest cosine of concepts, in the coarse score
    relation_weight: float = 0.3  # of the largest cosine of relations
    shortlist: int = positive_int(200)  # runs for the fine score (k = 200)
    fine: FineRecipe = FineRecipe()
    runs: int = positive_int(20)  # best runs of each channel (m = 20)
    facts: str = choice("all", *CHOICES)
    answers: str = choice("unique", *CHOICES)
    questions: str = choice("none", *CHOICES)
    near_questions: int = positive_int(5)  # earlier questions that are compared
    like: float = 0.6  # least cosine of a similar question
    same: float = 0.93  # cosine from which two runs, or two questions, say the same
    tokens: int = 500  # tokens of all runs in the prompt
    passages: int = 2  # first passages in the prompt, below the runs; 0 in the paper
    names: int = 2  # names of the best runs in the second walk; 0 for none
    toward: float = 0.5  # share by which the question's vector moves towards the names
    nearest: int = positive_int(30)  # passages near that vector
    walk: WalkRecipe = WalkRecipe()
    rerank: RerankRecipe = RerankRecipe()


PRUNED_RECIPES = {
    "default": PrunedRecipe(),
    "paper": PrunedRecipe(symbols=True, questions="unique", tokens=2000, passages=0),
}


@dataclass(frozen=True, slots=True)
class SearchRecipe(Recipe):
    """Hold the constant of `dense` and `bm25`."""

    rerank: int = 30  # passages that the reranker orders, if one is set


@dataclass(frozen=True, slots=True)
class IRCoTRecipe(Recipe):
    """Hold the constants of `ircot`."""

    search: str = choice("linked", "dense", "bm25", "proprag")  # strategy of each search
    near: int = positive_int(5)  # passages of each search
    steps: int = positive_int(4)  # largest number of sentences
    held: int = positive_int(15)  # passages in the prompt


@dataclass(frozen=True, slots=True)
class OverviewRecipe(Recipe):
    """Hold the constants of `overview`."""

    budget: int = positive_int(20_000)  # tokens of all calls, if the question has no budget
    group: int = positive_int(2_500)  # tokens of the passages in a call
    longest: int = positive_int(400)  # tokens from the beginning of a passage
    shortest: int = positive_int(120)  # tokens from the beginning, if there are many documents
    near: int = positive_int(40)  # passages for a topic


@dataclass(frozen=True, slots=True)
class SelectRecipe(Recipe):
    """Hold the constants of `select`."""

    shown: int = positive_int(24)  # passages of which the model sees a line
    more: int = positive_int(2)  # passages of the second search that come before passages not selected


@dataclass(frozen=True, slots=True)
class EdgeWeights(Recipe):
    """Hold the weights of edges in the graph of propositions."""

    clique: float = 1.0  # between two concepts, for each proposition that mentions both
    containment: float = 1.0  # between a passage and a concept that its propositions mention
    synonymy: float = 1.0  # times the cosine, between concepts of similar names; added to the clique's


@dataclass(frozen=True, slots=True)
class PropositionRecipe(Recipe):
    """Hold the constants of PropRAG (docs/proprag.md). Defaults are those of the authors' code (commit
    dd90210), except `exact` and `whole`, which cost many times all else and find less. Brackets have other
    values of the paper. weights: In the code, cliques and synonyms are parallel edges and weigh twice (not
    given).
    """

    weights: EdgeWeights = EdgeWeights(clique=2.0, containment=1.0, synonymy=2.0)
    propositions: int = positive_int(20)  # stage 1: propositions nearest to the question (10)
    entities: int = 40  # concepts with the largest sums of cosines, seeds of weight 1 (all)
    passage_weight: float = 0.05  # of a passage's scaled cosine in the first reset (0)
    damping: float = 0.75
    focus: int = positive_int(50)  # stage 2: passages of the subgraph (100)
    focus_passage_weight: float = 0.05
    focus_damping: float = 0.45
    width: int = positive_int(4)  # beam: paths of each length (5)
    length: int = positive_int(3)  # propositions of a path
    jumps: int = 3  # best propositions that may follow any other (all that start)
    coherence: float = field(default=-1.0, metadata={"least": -1})  # least cosine of neighbours (0.075)
    exact: int = 0  # paths of a length whose text is embedded (40 in code and paper); 0: none
    one_order: bool = True  # whether paths in another order are one, the first found (not given)
    paths: int = 5  # seeds of stage 2: best paths, of all lengths
    path_entities: int = 5  # concepts from the paths (5)
    path_weight: str = choice("best", "sum")  # of a concept: its best path, or all its paths (sum)
    first_entities: int = 5  # concepts of the best single propositions (5)
    first_stage: bool = False  # whether they come from stage 1, else from the subgraph
    nearest: int = positive_int(100)  # passages whose cosines count
    steps: int = positive_int(30)  # steps of a walk
    whole: bool = False  # whether walks use the whole graph, kept for a version of the memory
    synonyms: float = 0.8  # least cosine of an edge between names, in the whole graph
    instruction: str = ""  # before the question, for an embedder (code: for NV-Embed-v2; not given)
    cap: int = positive_int(100)  # propositions of a concept, without `whole`
    limit: int = positive_int(1000)  # passages around the question, without `whole`


PROPRAG_PAPER = PropositionRecipe(
    weights=EdgeWeights(),
    propositions=10,
    entities=1_000_000,
    passage_weight=0.0,
    focus=100,
    width=5,
    jumps=5,
    coherence=0.075,
    one_order=False,
    first_stage=True,
    path_weight="sum",
    exact=40,
    whole=True,
)
PROPOSITION_RECIPES = {"default": PropositionRecipe(), "paper": PROPRAG_PAPER}


@dataclass(frozen=True)
class Fit:
    """Hold weights that are fitted to an embedder and a reranker, by default the ones of a fresh
    installation.

    pair: Weights of the features of a pair (`pair_score`), then the bias. chains: By strategy, weights of the
    features of a chain (`answer.chains`), then the bias; a missing strategy has its own. mean, deviation: Of
    the cosines among the candidates of a question; cosines of another embedder are scaled to them.
    """

    embedder: str = "all-MiniLM-L6-v2"
    reranker: str = "cosine"
    pair: tuple[float, ...] = (3.92, 1.97, 0.97, 2.88, 1.79, 1.05, 1.16, 0.36, 10.68)
    chains: dict[str, tuple[float, ...]] = field(default_factory=dict)
    mean: tuple[float, ...] = (0.46, 0.35, 0.2, 0.4)
    deviation: tuple[float, ...] = (0.18, 0.17, 0.18, 0.2)

    def fits_embedder(self, name: str) -> bool:
        """Return whether an embedder, by its name or path, is the one of the fit."""
        return name.rstrip("/").rpartition("/")[2] == self.embedder.rpartition("/")[2]


@cache
def read_fit(path: str | None) -> Fit:
    """Return the fit of a file that `gswgraph eval fit` wrote, without one the usual fit.

    Raises:
        InputError: The file cannot be read.
    """
    if path is None:
        return Fit()
    try:
        return TypeAdapter(Fit).validate_json(Path(path).read_bytes())
    except (OSError, ValidationError) as error:
        hint = "Write one: gswgraph eval fit QUESTIONS --out FILE"
        reason = single_spaced(str(error).split("[type=")[0])
        raise InputError(f"the fit cannot be read ({reason})", where=path, hint=hint) from error
