"""A policy over the channels of `pruned`: which runs of each are worth their tokens for a question
(AutoPrunedRetriever, section 2.8), trained by direct preference optimisation. docs/pruned.md.

The paper's features are query length, ambiguity scores, model and token budget; its public code has the
embedding of the question instead. Ours are numbers that mean the same in every memory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from itertools import product
from math import exp, log, log1p
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.errors import InputError
from gsw_graph.text.names import find_names
from gsw_graph.text.words import content_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHANNELS = ("facts", "answers")
ACTIONS = ("all", "unique", "drop")
FEATURES = (
    *("words", "names", "steps", "model", "budget"),
    *(f"{channel}.{name}" for channel in CHANNELS for name in ("runs", "best", "margin", "ambiguity")),
)
_LARGEST = 1_000_000  # bytes of a file
_DEFAULT_LOGIT = 1.0  # by which the policy prefers each action of the default as it begins


@dataclass(frozen=True, slots=True)
class Selection:
    """Choose an action for each channel; the default is what the paper's published results used."""

    facts: str = "all"
    answers: str = "unique"

    @property
    def places(self) -> tuple[int, ...]:
        """Return the actions by their place in ACTIONS. Raises ValueError for one that is none."""
        return tuple(map(ACTIONS.index, astuple(self)))


SELECTIONS = tuple(Selection(*actions) for actions in product(ACTIONS, repeat=len(CHANNELS)))


def features(
    question: str,
    scores: Mapping[str, Sequence[float]],
    *,
    steps: int = 0,
    model: bool = False,
    budget: int | None = None,
) -> list[float]:
    """Compute the values of FEATURES.

    Args:
        question: its words and names count.
        scores: of the runs of each channel, best first.
        steps: of its plan.
        model: whether a language model answers.
        budget: tokens that the question may take.
    """
    values = [
        log1p(len(content_words(question))),
        float(len({name.text for name in find_names(question)})),
        float(steps),
        float(model),
        log1p(budget / 1000) if budget else 0.0,
    ]
    for channel in CHANNELS:
        best, *rest = scores.get(channel) or (0.0,)
        count = len(scores.get(channel, ()))
        values += [log1p(count), best, best - (rest[0] if rest else 0.0), _ambiguity(scores.get(channel, ()))]
    return values


def _ambiguity(scores: Sequence[float]) -> float:
    """Return the entropy of the softmax of scores, as a share of the largest possible."""
    if len(scores) < 2:
        return 0.0
    weights = [exp(score - max(scores)) for score in scores]
    shares = [weight / sum(weights) for weight in weights]
    return -sum(share * log(share) for share in shares if share) / log(len(scores))


@dataclass(frozen=True)
class Policy:
    """Map features to an action for each channel by one hidden layer.

    Attributes:
        mean, std: of each feature, as in training.
        w1, b1, w2, b2: of the two layers, tanh between them.
        selections: those it was trained on, among which it chooses.
    """

    mean: list[float]
    std: list[float]
    w1: list[list[float]]
    b1: list[float]
    w2: list[list[float]]
    b2: list[float]
    selections: list[list[str]]

    def logits(self, values: Sequence[Sequence[float]]) -> NDArray[np.float64]:
        """Compute the logits of (questions, channels, actions)."""
        hidden = np.tanh((np.asarray(values) - self.mean) / self.std @ np.transpose(self.w1) + self.b1)
        out: NDArray[np.float64] = hidden @ np.transpose(self.w2) + self.b2
        return out.reshape(len(values), len(CHANNELS), len(ACTIONS))

    def choose(self, values: Sequence[float]) -> Selection:
        """Choose the likeliest of the selections it knows."""
        logits = self.logits([values])[0]
        known = [Selection(*actions) for actions in self.selections]
        return max(known, key=lambda one: logits[range(len(CHANNELS)), one.places].sum())

    def save(self, path: str | Path) -> None:
        """Write it as JSON."""
        Path(path).write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy that `save` wrote; no code runs. Raises InputError."""
        hint = "bench/policy.py makes one"
        try:
            with Path(path).open("rb") as file:
                data = file.read(_LARGEST + 1)
            policy = cls(**json.loads(data[:_LARGEST]))
            width = len(policy.b1)
            shapes = [(len(FEATURES),), (len(FEATURES),), (width, len(FEATURES)), (width,)]
            shapes += [(len(CHANNELS) * len(ACTIONS), width), (len(CHANNELS) * len(ACTIONS),)]
            arrays = [np.asarray(getattr(policy, field.name), np.float64) for field in fields(cls)[:-1]]
            sound = [array.shape for array in arrays] == shapes and all(np.isfinite(a).all() for a in arrays)
            known = [Selection(*actions).places for actions in policy.selections]
        except OSError as error:
            raise InputError(f"it cannot be read ({error.strerror})", where=str(path), hint=hint) from None
        except (ValueError, TypeError, RecursionError):
            raise InputError("this is no policy", where=str(path), hint=hint) from None
        if not (sound and known and (arrays[1] > 0).all()):
            raise InputError("this is no policy", where=str(path), hint=hint)
        return policy


@dataclass(frozen=True)
class Case:
    """Hold the features of a question, and what selections were worth for it."""

    values: list[float]
    utilities: dict[Selection, float]


@dataclass(frozen=True, slots=True)
class Training:
    """Set the training: beta of the loss, the least margin of a pair, the hidden width, and AdamW."""

    beta: float = 0.5
    margin: float = 0.02
    width: int = 16
    steps: int = 300
    rate: float = 0.02
    decay: float = 0.05
    seed: int = 0


def train(cases: Sequence[Case], training: Training | None = None) -> Policy:
    """Train a policy on pairs of selections of which one was worth more (Rafailov 2023, equation 7).

    loss = -log sigmoid(beta ((log p(y+) - log p(y-)) - (log r(y+) - log r(y-)))): the reference r is the
    policy as it begins, which prefers the default selection. The same cases give the same policy.

    Raises:
        ValueError: there is nothing to train on.
    """
    import torch
    from torch.nn.functional import log_softmax, logsigmoid

    training = training or Training()
    if not any(case.utilities for case in cases):
        raise ValueError("there is nothing to train on")
    torch.set_num_threads(1)  # such small matrices cost more to share than to multiply
    values = np.array([case.values for case in cases])
    mean, std = values.mean(axis=0), values.std(axis=0)
    std[std == 0] = 1.0
    out = len(CHANNELS) * len(ACTIONS)
    w1 = torch.randn(training.width, len(FEATURES), generator=torch.Generator().manual_seed(training.seed))
    weights = [w1 / len(FEATURES) ** 0.5, torch.zeros(training.width), torch.zeros(out, training.width)]
    prior = torch.zeros(len(CHANNELS), len(ACTIONS))
    prior[range(len(CHANNELS)), Selection().places] = _DEFAULT_LOGIT
    weights.append(prior.reshape(-1).clone())
    tried = list(dict.fromkeys(selection for case in cases for selection in case.utilities))
    marks = torch.from_numpy(
        np.array([np.eye(len(ACTIONS), dtype=np.float32)[list(s.places)].ravel() for s in tried])
    )
    reference = log_softmax(prior, dim=-1).reshape(-1) @ marks.T  # (selections,)
    worth = np.array([[case.utilities.get(s, float("nan")) for s in tried] for case in cases])
    better = torch.from_numpy((worth[:, :, None] - worth[:, None, :] > training.margin).astype(np.float32))
    inputs = torch.tensor((values - mean) / std, dtype=torch.float32)
    optimiser = torch.optim.AdamW(
        [w.requires_grad_() for w in weights], lr=training.rate, weight_decay=training.decay
    )
    for _ in range(training.steps if better.any() else 0):
        logits = torch.tanh(inputs @ weights[0].T + weights[1]) @ weights[2].T + weights[3]
        log_p = log_softmax(logits.reshape(-1, len(CHANNELS), len(ACTIONS)), dim=-1).flatten(1)
        reward = log_p @ marks.T - reference  # (cases, selections)
        gap = reward[:, :, None] - reward[:, None, :]
        loss = -(logsigmoid(training.beta * gap) * better).sum() / better.sum()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    w1_, b1, w2, b2 = (weight.detach().double().tolist() for weight in weights)
    return Policy(mean.tolist(), std.tolist(), w1_, b1, w2, b2, [list(astuple(s)) for s in tried])
