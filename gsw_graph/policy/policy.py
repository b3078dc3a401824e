"""The policy: features to an action for each channel, by a network of one layer between; numbers in a JSON
file, so that reading one runs no code, and choosing needs no torch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.errors import InputError
from gsw_graph.policy.features import FEATURES
from gsw_graph.policy.selection import ACTIONS, CHANNELS, Selection

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST = 1_000_000  # bytes of a file
Rows = list[list[float]]


@dataclass(frozen=True)
class Policy:
    """features: what it sees, in order; middle, spread: of each, as in training. first (width, features) and
    first_bias, last (channels * actions, width) and last_bias: of the two layers, tanh between them.
    selections: those that it was trained on, among which it chooses."""

    features: list[str]
    middle: list[float]
    spread: list[float]
    first: Rows
    first_bias: list[float]
    last: Rows
    last_bias: list[float]
    selections: list[list[str]]

    def logits(self, seen: Sequence[Sequence[float]]) -> NDArray[np.float64]:
        """(questions, channels, actions)"""
        inside = (np.asarray(seen, dtype=np.float64) - self.middle) / self.spread
        inside = np.tanh(inside @ np.transpose(self.first) + self.first_bias)
        found: NDArray[np.float64] = inside @ np.transpose(self.last) + self.last_bias
        return found.reshape(len(seen), len(CHANNELS), len(ACTIONS))

    def choose(self, seen: Sequence[float]) -> Selection:
        """The likeliest selection of those that it knows. seen: the values of `features`."""
        logits = self.logits([seen])[0]
        known = [Selection(*actions) for actions in self.selections]
        likely = [logits[range(len(CHANNELS)), one.places].sum() for one in known]
        return known[int(np.argmax(likely))]

    def save(self, path: str | Path) -> None:
        """Write it as JSON."""
        Path(path).write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """A policy that `save` wrote. InputError: the file cannot be read, or holds none for these
        features."""
        hint = "bench/policy.py makes one"
        try:
            with Path(path).open("rb") as file:
                data = file.read(_LARGEST + 1)
            policy = cls(**json.loads(data)) if len(data) <= _LARGEST else None
        except OSError as error:
            raise InputError(f"it cannot be read ({error.strerror})", where=str(path), hint=hint) from None
        except (ValueError, TypeError, RecursionError):
            policy = None
        if policy is None or not policy._sound():
            raise InputError("this is no policy", where=str(path), hint=hint)
        return policy

    def _sound(self) -> bool:
        """Whether all is there, in the shapes that belong together, and finite."""
        seen, out = len(FEATURES), len(CHANNELS) * len(ACTIONS)
        try:
            width = len(self.first_bias)
            shapes = {
                "middle": (seen,),
                "spread": (seen,),
                "first": (width, seen),
                "first_bias": (width,),
                "last": (out, width),
                "last_bias": (out,),
            }
            arrays = {name: np.asarray(getattr(self, name), dtype=np.float64) for name in shapes}
            known = [Selection(*actions).places for actions in self.selections]
        except (ValueError, TypeError):
            return False
        whole = all(
            array.shape == shapes[name] and np.isfinite(array).all() for name, array in arrays.items()
        )
        return (
            self.features == list(FEATURES) and whole and bool(known) and bool((arrays["spread"] > 0).all())
        )
