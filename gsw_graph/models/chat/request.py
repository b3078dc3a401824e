"""What a language model is asked, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")
PLAN_STAGES = ("plan", "grasp_plan", "pathwise_intent")  # of a question, which a planner may be asked


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a language model.

    stage: `extract`, `mend`, `plan`, `answer` or a strategy's own, for the ledger and as the name of the
    schema. messages: each with `role` (`system`, `user`, `assistant`) and `content`. schema: the JSON schema
    of the reply; without one the reply is text. document: the source it is about, for the ledger. limit:
    tokens that no sound reply takes, 0 where those of the stage so far tell. short: the same, asked in few
    words: for small models. final: it is the answer to a question, for which a budget holds something back.
    """

    stage: str
    messages: tuple[dict[str, str], ...]
    schema: Mapping[str, Any] | None = None
    document: str = ""
    limit: int = 0
    short: Request | None = None
    final: bool = False


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """A reply that passed its check.

    cached: it was kept from an earlier call, and nothing was asked. prompt_tokens, completion_tokens: as the
    server counted them (estimated where it does not), of all calls that this reply took; a kept reply says
    what it took then. seconds: of the calls, without waiting for limits.
    """

    value: T
    cached: bool
    prompt_tokens: int
    completion_tokens: int
    seconds: float
