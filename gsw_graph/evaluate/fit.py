"""Fit the scores of pairs and the confidence of chains to the models of a memory, on questions with gold
plans whose steps have answers, as in MuSiQue.

A pair is right if it occurs in a gold passage and has the step's answer. The weights of a softmax over the
candidates of a sub-question are put on a logistic scale. A chain is right if the answer occurs in its hops;
each question counts a second time without the pairs of its gold passages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from gsw_graph.ask.answer.chains import features as chain_features
from gsw_graph.ask.options import AskOptions
from gsw_graph.ask.plan import parse
from gsw_graph.ask.retrieve.chains.beam import grow_chains
from gsw_graph.ask.retrieve.chains.candidates import CandidateSearch, WalkingCandidateSearch
from gsw_graph.ask.retrieve.context import RetrievalContext
from gsw_graph.ask.retrieve.pair_score import ConcreteQuestion, features, fill_references
from gsw_graph.ask.retrieve.recipes import Fit
from gsw_graph.ask.retrieve.strategies.fusion import FUSION, RICR
from gsw_graph.errors import InputError
from gsw_graph.evaluate.data import Question, QuestionSet
from gsw_graph.evaluate.metrics import gold_ranks
from gsw_graph.memory import Memory
from gsw_graph.values import unique

Rows: TypeAlias = "list[tuple[NDArray[np.float64], NDArray[np.bool_]]]"
_LEAST = 20  # sub-questions
_COSINES = 4  # the first features of a pair


class _Recorder(CandidateSearch):
    """Keeps the candidates of the last concrete question and their features."""

    def _ranked(
        self, question: ConcreteQuestion, candidates: Any, hop_result: Any, original: Any, vectors: Any
    ) -> Any:
        self.pairs = [pair for pair, _ in candidates]
        vectors_of = vectors[question.text], original, vectors[question.relation]
        self.values = features(question, self.pairs, hop_result, *vectors_of)
        return super()._ranked(question, candidates, hop_result, original, vectors)


def fit_scores(memory: Memory, questions: QuestionSet) -> tuple[Fit, int]:
    """Fit the scores of pairs, then the confidence of the chains that they make.

    Returns:
        The fit, and the number of sub-questions that it is based on.

    Raises:
        InputError: The questions have too few steps with answers.
    """
    planned = [question for question in questions.questions if question.answerable and _answers(question)]
    rows: Rows = []
    used: dict[str, str] = {}
    for question in planned:
        context = memory._context(AskOptions())
        rows += _pair_rows(question, context)
        used = context.models_used
    if len(rows) < _LEAST or not any(right.any() for _, right in rows):
        raise InputError(
            f"there are {len(rows)} sub-questions with candidates",
            where=questions.name,
            hint="Give questions with gold decompositions and answers of their steps, as MuSiQue has them",
        )
    cosines = np.concatenate([values for values, _ in rows])[:, :_COSINES]
    fit = Fit(
        used["embedder"],
        used.get("reranker", "cosine"),
        _pair_weights(rows),
        mean=_rounded(cosines.mean(axis=0)),
        deviation=_rounded(cosines.std(axis=0)),
    )
    chains: dict[str, tuple[float, ...]] = {}
    for strategy in (RICR, FUSION):
        values: list[list[float]] = []
        right: list[bool] = []
        for question in planned:
            for row_values, is_right in _chain_rows(question, memory, fit, strategy.name):
                values.append(row_values)
                right.append(is_right)
        chains[strategy.name] = _rounded(_logistic(np.array(values), np.array(right), 0.001))
    return replace(fit, chains=chains), len(rows)


def _rounded(values: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(values.round(3).tolist())


def _answers(question: Question) -> list[str]:
    """Return the gold answers of the steps, empty if one has none."""
    if not isinstance(question.plan, list):
        return []
    answers = []
    for step in question.plan:
        answer = step.get("answer") if isinstance(step, dict) else None
        if not answer:
            return []
        answers.append(str(answer))
    return answers


def _gold(question: Question, context: RetrievalContext, passages: Sequence[str]) -> set[str]:
    """Return the ids of gold passages among some."""
    ids = unique(passages)
    ranked = context.reader.passages(ids, [0.0] * len(ids))
    ranks = gold_ranks(question.gold, ranked)
    return {ranked[rank - 1].id for rank in ranks if rank is not None}


def _pair_rows(question: Question, context: RetrievalContext) -> Rows:
    """Return for each sub-question, asked with the true answers before it, its candidates' features and which
    candidates are right."""
    find = _Recorder(context, RICR.recipe)
    rows = []
    answers = dict(enumerate(_answers(question), 1))
    for step in parse(question.plan).steps:
        known = {id_: answers[id_] for id_ in step.parents}
        find(question.question, [fill_references(step.question, known)])
        gold = _gold(question, context, [pair.passage for pair in find.pairs])
        answer = answers[step.id].casefold()
        right = []
        for pair in find.pairs:
            text = " | ".join(pair.answers).casefold()
            right.append(pair.passage in gold and answer in text)
        if right:
            rows.append((find.values.astype(np.float64), np.array(right)))
    return rows


def _chain_rows(
    question: Question, memory: Memory, fit: Fit, strategy: str
) -> list[tuple[list[float], bool]]:
    """Return the features of the best chain and whether a chain holds the answer, with the gold passages and
    without."""
    rows = []
    hidden: set[str] = set()
    for _ in range(2):
        context = memory._context(AskOptions(excluded=tuple(hidden)))
        context.fit = fit
        chains, find = RICR.recipe, CandidateSearch(context, RICR.recipe)
        if strategy == FUSION.name:
            chains, find = FUSION.recipe.chains, WalkingCandidateSearch(context, FUSION.recipe)
        chain_search = grow_chains(parse(question.plan), question.question, find, chains)
        texts: list[str] = []
        for chain in chain_search.ends():
            for hop in chain.hops:
                texts += (hop.pair.question, *hop.pair.answers)
        text = " ".join(texts).casefold()
        right = not hidden and any(answer.casefold() in text for answer in question.answers)
        best = next(iter(chain_search.best()), None)
        if best is not None:
            rows.append((chain_features([hop.score for hop in best.hops], best.score), right))
        considered: list[str] = []
        for expansion in chain_search.expansions:
            considered += [candidate.scored.pair.passage for candidate in expansion.considered]
        hidden = _gold(question, context, considered)
    return rows


def _pair_weights(rows: Rows) -> tuple[float, ...]:
    """Return the weights of the features of a pair, and the bias."""
    useful = [(values, right) for values, right in rows if right.any()]

    def loss(weights: NDArray[np.float64]) -> float:
        total = 5e-4 * len(rows) * (weights**2).sum()
        for values, right in useful:
            logits = values @ weights
            total += logsumexp(logits) - logsumexp(logits[right])
        return float(total / len(rows))

    all_values = np.concatenate([values for values, _ in rows])
    all_right = np.concatenate([right for _, right in rows])
    weights = minimize(loss, np.zeros(all_values.shape[1])).x
    scale, bias = _logistic((all_values @ weights)[:, None], all_right, 0.0)
    return (*_rounded(weights * scale), float(bias.round(3)))


def _logistic(values: NDArray[np.float64], right: NDArray[np.bool_], penalty: float) -> NDArray[np.float64]:
    """Return the weights and the bias of a logistic regression."""
    signs = np.where(right, 1.0, -1.0)

    def loss(weights: NDArray[np.float64]) -> float:
        off = np.logaddexp(0, -signs * (values @ weights[:-1] - weights[-1]))
        return float(off.mean() + penalty * (weights[:-1] ** 2).sum())

    weights: NDArray[np.float64] = minimize(loss, np.zeros(values.shape[1] + 1)).x
    return weights
