"""How many tokens a text takes: four bytes a token, corrected by what the server counted for earlier
calls."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from gsw_graph.models.chat.request import Request
from gsw_graph.models.costs import Entry

BYTES_A_TOKEN = 4.0  # of UTF-8: four letters of English, a letter and a third of Chinese
MESSAGE_TOKENS, REQUEST_TOKENS = 4, 3  # around each message and around all
FIRST_GUESS = 1000  # tokens of a reply to a stage that was never asked
SHORT_GUESS = 200  # of a stage of a question: a plan has 100, an answer 30


def estimate(text: str) -> int:
    """Estimate how many tokens a language model reads in a text."""
    return round(len(text.encode("utf-8", "replace")) / BYTES_A_TOKEN + 0.49)


def estimate_messages(messages: Sequence[Mapping[str, str]]) -> int:
    """Estimate how many prompt tokens some messages take."""
    return REQUEST_TOKENS + sum(MESSAGE_TOKENS + estimate(message["content"]) for message in messages)


class Estimator:
    """Estimates what requests to one model take, by the calls of their stage so far; safe for many threads.

    Args:
        model: Its name; entries of other models are ignored.
        entries: Of a ledger.
        counts_schema: Whether the server counts a schema as part of the prompt.
    """

    def __init__(self, model: str, entries: Iterable[Entry] = (), *, counts_schema: bool = False) -> None:
        self._model, self._counts_schema = model, counts_schema
        self._sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0] * 4)
        self._lock = threading.Lock()
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Learn from calls."""
        if entry.model != self._model or not entry.calls:
            return
        counted = entry.prompt_tokens if entry.prompt_estimate else 0
        sums = counted, entry.prompt_estimate, entry.completion_tokens, entry.calls
        with self._lock:
            for stage in (entry.stage, ""):
                self._sums[stage] = [a + b for a, b in zip(self._sums[stage], sums, strict=True)]

    def prompt(self, request: Request) -> int:
        """Estimate the tokens of a prompt."""
        tokens = estimate_messages(request.messages)
        if ratio := self._ratio(request.stage, 0, 1):
            return round(tokens * ratio)
        return tokens + (
            estimate(json.dumps(request.schema)) if self._counts_schema and request.schema else 0
        )

    def completion(self, stage: str, guess: int = FIRST_GUESS, *, of_others: bool = True) -> int:
        """Estimate the tokens of a reply: the mean of its stage, else of all stages, else a guess."""
        return round(self._ratio(stage, 2, 3, of_others=of_others) or guess)

    def _ratio(self, stage: str, over: int, under: int, *, of_others: bool = True) -> float:
        with self._lock:
            known = [
                self._sums[name] for name in ((stage, "") if of_others else (stage,)) if name in self._sums
            ]
        return next((sums[over] / sums[under] for sums in known if sums[over] and sums[under]), 0.0)
