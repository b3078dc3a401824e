"""What a policy chooses, what for, and what a choice was worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from itertools import product

CHANNELS = ("facts", "answers", "thinking")
ACTIONS = ("all", "unique", "drop")  # the choices of `retrieve/recipes.py`


@dataclass(frozen=True, slots=True)
class Selection:
    """An action for each channel: runs of what documents say, of what answers to earlier questions used, and
    of their chains. The default is what the paper's published results used."""

    facts: str = "all"
    answers: str = "unique"
    thinking: str = "drop"

    @property
    def places(self) -> tuple[int, ...]:
        """The actions by their place in ACTIONS. ValueError: one is none."""
        return tuple(map(ACTIONS.index, astuple(self)))

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> Selection:
        """What the settings of a variant of `eval` choose, the default elsewhere."""
        return cls(**{name: str(settings[name]) for name in CHANNELS if name in settings})


SELECTIONS = tuple(Selection(*actions) for actions in product(ACTIONS, repeat=len(CHANNELS)))


@dataclass(frozen=True, slots=True)
class Utility:
    """U = quality - tokens * thousand tokens - seconds * seconds: of the paper lambda and mu, which it does
    not publish. With these a thousand tokens must be worth a twentieth of a right answer."""

    tokens: float = 0.05
    seconds: float = 0.01

    def of(self, quality: float, tokens: float, seconds: float) -> float:
        """quality in [0, 1]."""
        return quality - self.tokens * tokens / 1000 - self.seconds * seconds
