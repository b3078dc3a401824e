"""What goes wrong on purpose: by share of the requests, by number of the call, or for requests that hold
some text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from gsw_graph.errors import InputError
from gsw_graph.testing.calls import Call

# Answered instead of a reply: HTTP status, message, type and code as OpenAI sends them.
REFUSED = {
    "rate_limit": (429, "Rate limit reached: too many requests", "requests", "rate_limit_exceeded"),
    "quota": (
        429,
        "You exceeded your current quota, please check your plan and billing details",
        "insufficient_quota",
        "insufficient_quota",
    ),
    "key": (401, "Incorrect API key provided", "invalid_request_error", "invalid_api_key"),
    "context": (
        400,
        "The messages are longer than the maximum context length of this model",
        "invalid_request_error",
        "context_length_exceeded",
    ),
    "server_error": (500, "The server had an error while processing your request", "server_error", None),
    "overloaded": (503, "The engine is currently overloaded, please try again later", "server_error", None),
}
DROPPED = ("hang", "close")
SPOILED = ("length", "invalid", "wrong_schema", "refusal", "content_filter", "empty")
KINDS = (*REFUSED, *DROPPED, *SPOILED, "expired")
MIX = ("rate_limit", "server_error", "overloaded", "hang", *SPOILED)
"""What a share alone (`faults=0.3`) is spread over, in equal parts."""

_ENDPOINTS = ("chat", "embeddings", "rerank", "files", "batches", "models")
_MIX_HANG = 2.0  # seconds


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault and the requests it strikes.

    kind, answered with an error: `rate_limit` (429 with Retry-After), `quota` (429, nothing left to spend),
    `key` (401), `context` (400, too long), `server_error` (500), `overloaded` (503). Without an answer:
    `hang` (holds the call, then closes the connection), `close` (closes at once; a stream in its middle). As
    a reply: `length` (half of it, finish_reason length), `invalid` (half of it, finish_reason stop),
    `wrong_schema` (JSON of another shape), `refusal`, `content_filter`, `empty`. In a batch alone: `expired`
    (not run when the time was up).

    share: of the requests that fit, drawn from their content, the attempt and `seed`: the same in every run
    and order, and drawn anew when a request is sent again. Shares of faults that fit the same request lie
    side by side: 0.2 and 0.1 strike three of ten. calls: these calls of the endpoint only, counted from 1.
    attempts: only the first so many times that the same request comes. stage, contains: only chat requests of
    this stage, and whose user messages hold all these texts. seconds: how long `hang` holds (30), and what
    `rate_limit` says in Retry-After (1).
    """

    kind: str
    share: float = 1.0
    calls: tuple[int, ...] = ()
    attempts: int | None = None
    stage: str | None = None
    contains: tuple[str, ...] = ()
    seconds: float | None = None
    endpoint: str = "chat"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"{self.kind!r} is no fault", hint=f"The kinds are {', '.join(KINDS)}")
        if self.endpoint not in _ENDPOINTS:
            raise InputError(
                f"{self.endpoint!r} is no endpoint", hint=f"The endpoints are {', '.join(_ENDPOINTS)}"
            )
        if self.endpoint != "chat" and self.kind not in (*REFUSED, *DROPPED):
            raise InputError(f"{self.kind!r} can strike chat only, not {self.endpoint}")
        if not 0 <= self.share <= 1:
            raise InputError(f"the share {self.share} of {self.kind!r} does not lie between 0 and 1")

    @classmethod
    def read(cls, value: object) -> Fault:
        """From JSON with the names of the attributes. InputError names what is wrong."""
        if not isinstance(value, Mapping) or "kind" not in value:
            raise InputError("a fault is an object with a `kind`")
        if unknown := value.keys() - {field.name for field in fields(cls)}:
            raise InputError(f"a fault has no {', '.join(map(repr, sorted(unknown)))}")
        lists = {name: tuple(value[name]) for name in ("calls", "contains") if name in value}
        return cls(**{**value, **lists})

    def fits(self, call: Call) -> bool:
        """Whether it may strike this call; its share is not looked at."""
        return (
            call.endpoint == self.endpoint
            and (not self.calls or call.number in self.calls)
            and (self.attempts is None or call.attempt <= self.attempts)
            and self.stage in (None, call.stage)
            and (self.kind != "expired" or bool(call.batch))
            and (not self.contains or all(text in call.said for text in self.contains))
        )

    @property
    def wait(self) -> float:
        """Seconds: see `seconds`."""
        return self.seconds if self.seconds is not None else 30.0 if self.kind == "hang" else 1.0


def read_faults(given: float | Iterable[Fault]) -> tuple[Fault, ...]:
    """Faults as given, or a share of the requests spread over `MIX`."""
    if isinstance(given, (int, float)):
        return tuple(
            Fault(kind, share=given / len(MIX), seconds=_MIX_HANG if kind == "hang" else None) for kind in MIX
        )
    return tuple(given)


def draw(faults: Iterable[Fault], call: Call) -> Fault | None:
    """The fault that strikes the call."""
    reached: dict[int, float] = {}
    for fault in faults:
        if fault.fits(call):
            start = reached.get(fault.seed, 0.0)
            reached[fault.seed] = start + fault.share
            if start <= _chance(call, fault.seed) < start + fault.share:
                return fault
    return None


def _chance(call: Call, seed: int) -> float:
    """In [0, 1), the same for the same content, attempt and seed."""
    drawn = hashlib.blake2b(f"{seed} {call.attempt} ".encode() + call.digest, digest_size=8).digest()
    return (int.from_bytes(drawn, "big") >> 11) / 2**53
