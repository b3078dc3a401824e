"""Training of a policy: direct preference optimisation (Rafailov 2023, equation 7) on pairs of selections of
which one was worth more for a question (AutoPrunedRetriever, section 2.8 and lemma 12).

    loss = -log sigmoid(beta * ((log p(y+) - log p(y-)) - (log r(y+) - log r(y-))))

The reference r is the policy as it begins, which prefers the default selection; beta scales its part too, as
the paper writes and its public code does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.policy.features import FEATURES
from gsw_graph.policy.policy import Policy
from gsw_graph.policy.selection import ACTIONS, CHANNELS, Selection

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DEFAULT = 1.0  # logit by which the policy prefers each action of the default as it begins


@dataclass(frozen=True)
class Case:
    """A question as it was seen, and what selections were worth for it."""

    seen: list[float]
    utilities: dict[Selection, float]


@dataclass(frozen=True, slots=True)
class Training:
    """beta: of the loss. margin: utility that one selection of a pair is ahead at least. width: of the layer
    between. steps, rate, decay: of AdamW, over all pairs at once. seed: of the first weights."""

    beta: float = 0.5
    margin: float = 0.02
    width: int = 16
    steps: int = 300
    rate: float = 0.02
    decay: float = 0.05
    seed: int = 0


@dataclass(frozen=True)
class HeldOut:
    """Of each case, in order, what was worth of it: of the choice of a policy that was trained without it, of
    the default, of the one selection that was best for the others, and of the best; and the choices."""

    policy: list[float]
    default: list[float]
    fixed: list[float]
    best: list[float]
    choices: list[Selection]


def train(cases: Sequence[Case], training: Training | None = None) -> Policy:
    """A policy from some cases; the same for the same cases. ValueError: there are none, or nothing
    was tried for them."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # so small matrices cost more to share than to multiply
    try:
        return _trained(cases, training or Training())
    finally:
        torch.set_num_threads(threads)


def _trained(cases: Sequence[Case], training: Training) -> Policy:
    import torch
    from torch.nn.functional import log_softmax, logsigmoid

    if not any(case.utilities for case in cases):
        raise ValueError("there is nothing to train on")
    seen = np.array([case.seen for case in cases])
    middle, spread = seen.mean(axis=0), seen.std(axis=0)
    spread[spread == 0] = 1.0
    draw = torch.Generator().manual_seed(training.seed)
    first = torch.randn(training.width, len(FEATURES), generator=draw) / len(FEATURES) ** 0.5
    first_bias = torch.zeros(training.width)
    last = torch.zeros(len(CHANNELS) * len(ACTIONS), training.width)
    last_bias = torch.zeros(len(CHANNELS), len(ACTIONS))
    for channel, action in enumerate(Selection().places):
        last_bias[channel, action] = _DEFAULT
    weights = [first, first_bias, last, last_bias.reshape(-1)]
    tried = list(dict.fromkeys(selection for case in cases for selection in case.utilities))
    marks = torch.from_numpy(np.array([_marked(one) for one in tried]))  # (selections, channels * actions)
    begin = log_softmax(last_bias.clone(), dim=-1).reshape(-1) @ marks.T  # (selections,)
    better = torch.from_numpy(_better(cases, tried, training.margin))  # (cases, selections, selections)
    if better.any():
        inputs = torch.tensor((seen - middle) / spread, dtype=torch.float32)
        for weight in weights:
            weight.requires_grad_()
        optimiser = torch.optim.AdamW(weights, lr=training.rate, weight_decay=training.decay)
        for _ in range(training.steps):
            inside = torch.tanh(inputs @ weights[0].T + weights[1])
            logits = (inside @ weights[2].T + weights[3]).reshape(-1, len(CHANNELS), len(ACTIONS))
            reward = log_softmax(logits, dim=-1).flatten(1) @ marks.T - begin  # (cases, selections)
            gap = reward[:, :, None] - reward[:, None, :]
            loss = -(logsigmoid(training.beta * gap) * better).sum() / better.sum()
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    first, first_bias, last, last_bias = (weight.detach().double().tolist() for weight in weights)
    return Policy(
        list(FEATURES),
        middle.tolist(),
        spread.tolist(),
        first,
        first_bias,
        last,
        last_bias,
        [list(astuple(selection)) for selection in tried],
    )


def held_out(
    cases: Sequence[Case], folds: int = 5, training: Training | None = None, *, seed: int = 0
) -> HeldOut:
    """What a policy is worth for cases that it was not trained on, fold by fold. A selection that was not
    tried for a case is worth what the default is. ValueError: there are fewer cases than folds."""
    if len(cases) < folds or folds < 2:
        raise ValueError(f"{len(cases)} cases do not make {folds} folds")
    order = np.random.default_rng(seed).permutation(len(cases))
    chosen: dict[int, tuple[Selection, Selection]] = {}
    for fold in range(folds):
        out = set(order[fold::folds].tolist())
        others = [case for number, case in enumerate(cases) if number not in out]
        policy, fixed = train(others, training), best_fixed(others)
        chosen |= {number: (policy.choose(cases[number].seen), fixed) for number in out}
    rows = [(case, *chosen[number]) for number, case in enumerate(cases)]
    return HeldOut(
        [_worth(case, choice) for case, choice, _ in rows],
        [_worth(case, Selection()) for case, _, _ in rows],
        [_worth(case, fixed) for case, _, fixed in rows],
        [max(case.utilities.values()) for case, _, _ in rows],
        [choice for _, choice, _ in rows],
    )


def best_fixed(cases: Sequence[Case]) -> Selection:
    """The one selection that is worth most over all cases."""
    tried = {selection: None for case in cases for selection in case.utilities}
    return max(tried, key=lambda one: sum(_worth(case, one) for case in cases))


def _worth(case: Case, selection: Selection) -> float:
    return case.utilities.get(selection, case.utilities.get(Selection(), 0.0))


def _better(cases: Sequence[Case], tried: Sequence[Selection], margin: float) -> NDArray[np.float32]:
    """(cases, selections, selections): 1 where the first is worth more than the second, by the margin."""
    nothing = float("nan")
    worth = np.array([[case.utilities.get(one, nothing) for one in tried] for case in cases])
    better: NDArray[np.float32] = (worth[:, :, None] - worth[:, None, :] > margin).astype(np.float32)
    return better


def _marked(selection: Selection) -> NDArray[np.float32]:
    return np.eye(len(ACTIONS), dtype=np.float32)[list(selection.places)].ravel()
