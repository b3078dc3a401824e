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
    """Return the geometric mean of (s + 1) / 2, what the published code does and the trace of appendix C
    shows: 0.8320 -> 0.9160, then with 0.8945 -> 0.9315.

    One weak hop costs a chain less than in Eq. 1."""
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
    """A record of constants, checked when it is made: heirs are frozen dataclasses. metadata of a field:
    `least`, where that is not 0, or `among`, names that there are. Raises InputError."""

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
    """The walk over names and passages that `linked` is, and that others take a part of; docs/linked.md.

    Seeds. nearest: passages of the vector index that seed the walk and steer it. best: of them, those whose
    names are seeds too. sharpness: of the softmax over cosines. passage_mass: seed weight of all passages
    where names have 1. linked_mass: seed weight of the question's names where those of the best passages have
    1. title_bonus: factor for a name of the question that is the title of a passage.
    Walk. preference: exponent of its preference for passages near the question. restart: share that goes back
    to the seeds at each of `steps`. Neighbourhood. cap: passages of one name. limit: of all.
    """

    nearest: int = positive_int(100)
    best: int = 3
    sharpness: float = 20.0
    passage_mass: float = 0.2
    linked_mass: float = 4.0
    title_bonus: float = 3.0
    preference: float = 3.0
    restart: float = 0.1
    steps: int = positive_int(15)
    cap: int = positive_int(100)
    limit: int = positive_int(2000)


@dataclass(frozen=True, slots=True)
class BridgeRecipe(Recipe):
    """Bridge entities that lead from a first walk to a second; docs/linked.md. passages: best of the first
    whose sentences are read. names: of the best sentences, that the question of the second walk has beside
    its own; 0 for one walk alone. sharpness: of a sentence's weight over its share of the question's words.
    nearest: passages near that question."""

    passages: int = positive_int(3)
    names: int = 2
    sharpness: float = 4.0
    nearest: int = positive_int(30)


@dataclass(frozen=True, slots=True)
class RerankRecipe(Recipe):
    """The last order of what a walk found, and of the passages nearest to the question; docs/linked.md.
    passages: of each of the two that are put in order, 0 for the walk's own order. first: of them, those that
    can name a title, or be named. read: of them, those whose words count as said. unnamed: specificity of a
    question without names. relevance: weight of the reranker, where one is set. The others are weights of
    features (names/rerank.py), fitted by bench/linked_order.py on sets of questions, each with the same
    weight."""

    passages: int = 30
    first: int = positive_int(5)
    read: int = positive_int(2)
    walk_score: float = _any_number(0.44)
    rank: float = _any_number(-1.15)
    uncovered: float = _any_number(6.4)
    named: float = _any_number(0.95)
    joint: float = _any_number(1.33)
    unread: float = _any_number(3.0)
    nearness: float = _any_number(2.3)
    coverage: float = _any_number(4.2)
    relevance: float = 6.0
    unnamed: float = 0.5


@dataclass(frozen=True, slots=True)
class LinkedRecipe(Recipe):
    """Of `linked`: its walk, the bridge entities for another one, and the order."""

    walk: WalkRecipe = WalkRecipe()
    bridges: BridgeRecipe = BridgeRecipe()
    rerank: RerankRecipe = RerankRecipe()


@dataclass(frozen=True, slots=True)
class ChainRecipe(Recipe):
    """Chains of question-answer pairs: `ricr`, and `fusion` with a plan; docs/ricr.md.

    Candidates of a concrete question. pairs: nearest of the vector index; 0 for entities alone. entities:
    names of the full-text index; 0 for pairs alone. concepts: whether equal names of several documents are
    one name, which brings the pairs of all; else an entity of a document, chosen by words and by the vector
    of its name, roles and states, brings its own. common: passages in which a name occurs that still brings
    its pairs. reranked: candidates that a reranker reads.
    Growing. beam: chains kept for each sub-question. candidates: best pairs of a question that may extend a
    chain. score: of a chain from its hops, one of CHAIN_SCORES. unplanned: how a question without a plan is
    followed, over a `bridge` entity too or in `one` step. own: whether an answer may be an entity of its
    question. fallback: whether the original question is asked if a hop finds nothing.
    Passages. sharpness: of the softmax over chain scores. walk_weight: of the walk where the chains have 1
    together. walked: passages that it adds. walked_from: chains of each end whose concrete questions it
    starts from, as the best may have gone astray.
    Reading. evidence: form in which a language model is shown what was found, where the question says none.
    reader: its prompt.
    """

    pairs: int = 30
    entities: int = 5
    concepts: bool = True
    common: int = 30
    reranked: int = positive_int(30)
    beam: int = positive_int(5)
    candidates: int = positive_int(15)
    score: str = field(default="panini_code", metadata={"among": CHAIN_SCORES})
    unplanned: str = choice("bridge", "one")
    own: bool = False
    fallback: bool = True
    sharpness: float = 40.0
    walk_weight: float = 4.0
    walked: int = positive_int(30)
    walked_from: int = positive_int(3)
    evidence: str = choice("lines", *EVIDENCE)
    reader: str = choice("answer", "answer_panini")
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
    """Walks and chains together; docs/proprag.md.

    Without a plan, two walks. best: passages of the first whose pairs are looked at. bridges: answers that
    the second goes over. least: weight of an answer where the best has 1, as one of less would lead away.
    ask: weight in the second walk of the question with the answers in it, where the question alone has 1.
    nearest: passages near that. sharpness: of a pair's weight over its cosine with the question.
    With a plan, chains whose every hop walks. walk_weight: in the logit of a pair's score, of the root of its
    passage's share of the best passage's weight. offered: passages of the walk whose pairs become
    candidates. walked: passages whose weight is looked at; what is beyond counts as nothing.
    """

    best: int = positive_int(3)
    bridges: int = 2
    least: float = 0.7
    ask: float = 0.75
    nearest: int = positive_int(30)
    sharpness: float = 10.0
    walk_weight: float = 2.0
    offered: int = 3
    walked: int = positive_int(200)
    walk: WalkRecipe = WalkRecipe()
    chains: ChainRecipe = ChainRecipe(walked_from=1)  # one, as walks chose it already


@dataclass(frozen=True, slots=True)
class AutoRecipe(Recipe):
    """Of `auto`. sure: confidence from which one pair answers a question without a plan; docs/ricr.md."""

    sure: float = 0.8


@dataclass(frozen=True, slots=True)
class GraspRecipe(Recipe):
    """Of `grasp`; docs/grasp.md.

    Search. units: what is searched; `facts` are propositions and pairs. near: of each vector index. lexical:
    propositions of the full-text index; worded: passages of it whose facts are looked at. common: passages in
    which a name occurs that still brings its facts. most: facts of a search; voting: of them, those that vote
    for their passages, before which there is no other. scan: facts of a common name that an agent follows.
    Agents. rewrite: whether a sub-question becomes a statement before the first search ("first", as in the
    paper), or not until the agent asks for another search ("late"). read: whether an agent is shown facts as
    `lines`, or the `passages` that they vote for. lines: that an agent is shown; voted: passages of a search.
    rounds: further looks of an agent.
    """

    units: str = choice("facts", "propositions", "pairs", "sentences", "passages")
    near: int = positive_int(30)
    lexical: int = 0
    worded: int = 5
    common: int = 30
    most: int = positive_int(120)
    voting: int = positive_int(20)
    scan: int = positive_int(2000)
    rewrite: str = choice("late", "first")
    read: str = choice("lines", "passages")
    lines: int = positive_int(10)
    voted: int = positive_int(5)
    rounds: int = 3


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
    """Of `pathwise`; docs/pathwise.md.

    Paths. paths: at most (N). documents: of each (k); 0: as many as are asked for, 5 at least, of which 5 are
    read. hybrid: lambda of equation 12, 1 for vectors alone.
    gain: least expected share of something new, or a sub-problem is not searched for (tau_gain, not
    published). rounds: of added sub-problems (T, not published).
    Integration. whole: weight of what the question as a whole finds, where that of a path is 1; 0: it is not
    searched for, and no chains are followed in the place of paths. rank:
    constant of the reciprocal rank by which lists are merged. duplicate: share of words in common from which
    two passages are one.
    Switches of the ablation. intent, selection, adjustment, integration: the component works; paths=1 is
    without multi-path reasoning.
    """

    paths: int = positive_int(4)
    documents: int = 0
    hybrid: float = 1.0
    gain: float = 0.05
    rounds: int = 2
    whole: float = 0.5
    rank: float = 1.0
    duplicate: float = 0.9
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
    """The fine score of `pruned`: five terms over the cosines of a question's lines with those of a run, each
    with its weight (AutoPrunedRetriever, A.3; the defaults are those of the authors' code, commit feec9916).
    top: largest cosines whose mean counts. cover: cosine from which a line of the question is covered. pair,
    pair_scale: of the sigmoid of many-to-many. match: least cosine of one-to-one. gate, gate_scale: of the
    sigmoid that gates the run as a whole."""

    top: int = positive_int(3)
    top_weight: float = 1.0
    cover: float = 0.45
    cover_weight: float = 0.1
    pair: float = 0.55
    pair_scale: float = 0.1
    pair_weight: float = 0.2
    match: float = 0.5
    match_weight: float = 0.1
    gate: float = 0.55
    gate_scale: float = 0.15
    gate_weight: float = 0.1


@dataclass(frozen=True, slots=True)
class PrunedRecipe(Recipe):
    """Of `pruned`; docs/pruned.md.

    symbols: all runs are compared by their symbols, and their edges as lines of a triple, with the triples of
    the question where a language model is set; else the runs come from the statements near to the question,
    which are their lines, and a language model makes a plan, whose steps are lines.
    Candidates. near: pairs, and propositions, of the vector indexes whose runs come into
    question. common: passages in which a name occurs that still brings its runs. candidates: runs in all.
    Coarse. concept_weight, relation_weight: of the largest cosines. shortlist: runs for the fine stage (k =
    200). Fine: `fine`. runs: best of each channel (m = 20).
    Selection, one of CHOICES for each channel. facts: runs of what documents say. answers: runs that answers
    to questions like it cite. questions: such questions with their answers. near_questions: how many
    are compared. like: least cosine of one. same: cosine from which two runs, or two questions, say the same.
    Reader. tokens: of all runs. passages: the first, which it reads below the runs; 0 in the paper.
    Passages, by a walk over names. names: of the best runs, that the walk starts from beside the question's
    own; 0 for none. toward: how far the question's vector moves towards theirs. nearest: passages near that
    vector. walk, rerank: as of `linked`.
    """

    symbols: bool = False
    near: int = positive_int(60)
    common: int = 100
    candidates: int = positive_int(400)
    concept_weight: float = 1.0
    relation_weight: float = 0.3
    shortlist: int = positive_int(200)
    fine: FineRecipe = FineRecipe()
    runs: int = positive_int(20)
    facts: str = choice("all", *CHOICES)
    answers: str = choice("unique", *CHOICES)
    questions: str = choice("none", *CHOICES)
    near_questions: int = positive_int(5)
    like: float = 0.6
    same: float = 0.93
    tokens: int = 500
    passages: int = 2
    names: int = 2
    toward: float = 0.5
    nearest: int = positive_int(30)
    walk: WalkRecipe = WalkRecipe()
    rerank: RerankRecipe = RerankRecipe()


PRUNED_RECIPES = {
    "default": PrunedRecipe(),
    "paper": PrunedRecipe(symbols=True, questions="unique", tokens=2000, passages=0),
}


@dataclass(frozen=True, slots=True)
class SearchRecipe(Recipe):
    """Of `dense` and `bm25`. rerank: so many passages are put in order by the reranker, where one is set."""

    rerank: int = 30


@dataclass(frozen=True, slots=True)
class IRCoTRecipe(Recipe):
    """Of `ircot`. search: the strategy that searches. near: passages of each search. steps: sentences at the
    most. held: passages shown."""

    search: str = choice("linked", "dense", "bm25", "proprag")
    near: int = positive_int(5)
    steps: int = positive_int(4)
    held: int = positive_int(15)


@dataclass(frozen=True, slots=True)
class OverviewRecipe(Recipe):
    """Of `overview`. budget: tokens of all calls, if the question has no budget. group: tokens of passages in
    a call. longest: tokens of a passage, of which the beginning is read; shortest: these, if there are many
    documents. near: passages that are read for a topic."""

    budget: int = positive_int(20_000)
    group: int = positive_int(2_500)
    longest: int = positive_int(400)
    shortest: int = positive_int(120)
    near: int = positive_int(40)


@dataclass(frozen=True, slots=True)
class SelectRecipe(Recipe):
    """Of `select`. shown: passages of which the model sees a line. more: passages of the second search that
    come before those that were not selected."""

    shown: int = positive_int(24)
    more: int = positive_int(2)


@dataclass(frozen=True, slots=True)
class EdgeWeights(Recipe):
    """What an edge of the graph of propositions weighs. clique: between two concepts, for each proposition
    that mentions both. containment: between a passage and a concept that its propositions mention.
    synonymy: times the cosine, between two concepts of similar names; added to the clique's."""

    clique: float = 1.0
    containment: float = 1.0
    synonymy: float = 1.0


@dataclass(frozen=True, slots=True)
class PropositionRecipe(Recipe):
    """The constants of PropRAG. The defaults are those of the authors' code (commit dd90210), but for `exact`
    and `whole`, which cost many times what all else does and find less (docs/proprag.md); where the paper has
    another value, it is in brackets.

    Graph. weights: of the edges; the code's cliques and synonyms are parallel edges and weigh twice (the
    paper gives none).
    Stage 1. propositions: nearest to the question (10). entities: concepts of these that are seeds, each of
    weight 1, those with the largest sum of cosines first (all). passage_weight: of a passage's scaled cosine
    in the first reset (0). damping: 0.75.
    Stage 2. focus: passages of the subgraph (100). focus_passage_weight: 0.05. focus_damping: 0.45.
    Beam. width (5), length 3. jumps: best propositions that can follow any (all that start). coherence: least
    cosine of one proposition with the next,
    -1 for no filter (0.075). exact: paths of a depth whose text is embedded (40 in both), 0: the mean of the
    stored vectors is their score. one_order: two orders of the same propositions count as one path, the first
    found (the paper says nothing).
    Seeds of stage 2. paths: best paths, of all lengths. path_entities: concepts of these (5). path_weight: of
    such a concept the score of its `best` path, or the `sum` of its paths (sum). first_entities: concepts of
    the best single propositions (5): first_stage, of those of stage 1, else of those within the subgraph.
    Size. nearest: passages whose cosines it knows. steps: of a walk. whole: whether it goes over the whole
    graph, which is kept for a version of the memory, with edges between names whose cosine is `synonyms` at
    least; else over `limit` passages around the question, `cap`
    propositions of one concept, without. instruction: before the question where it is embedded, which
    belongs to an embedder (the code's to NV-Embed-v2; the paper prints none).
    """

    weights: EdgeWeights = EdgeWeights(clique=2.0, containment=1.0, synonymy=2.0)
    propositions: int = positive_int(20)
    entities: int = 40
    passage_weight: float = 0.05
    damping: float = 0.75
    focus: int = positive_int(50)
    focus_passage_weight: float = 0.05
    focus_damping: float = 0.45
    width: int = positive_int(4)
    length: int = positive_int(3)
    jumps: int = 3
    coherence: float = field(default=-1.0, metadata={"least": -1})
    exact: int = 0
    one_order: bool = True
    paths: int = 5
    path_entities: int = 5
    path_weight: str = choice("best", "sum")
    first_entities: int = 5
    first_stage: bool = False
    nearest: int = positive_int(100)
    steps: int = positive_int(30)
    whole: bool = False
    synonyms: float = 0.8
    instruction: str = ""
    cap: int = positive_int(100)
    limit: int = positive_int(1000)


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
    """Weights that were fitted to an embedder and a reranker; the defaults to those of a fresh installation.

    pair: of the features of a pair (`pair_score`), then the bias. chains: by strategy, of the features of a
    chain (`answer.chains`), then the bias; a strategy that is missing has its own. mean, deviation: of the
    cosines among the candidates of a question, to which those of another embedder are scaled.
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
