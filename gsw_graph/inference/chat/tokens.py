"""How many tokens a text takes, told without a tokenizer and made exact by what servers counted."""

from __future__ import annotations

import json
import re
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from gsw_graph.inference.chat.request import Request
from gsw_graph.inference.chat.wire import Received
from gsw_graph.inference.costs.ledger import Entry

MESSAGE, REQUEST = 4, 3  # tokens around each message and around all
FIRST_GUESS = 1000  # completion tokens of a stage that was never asked
SHORT_GUESS = 200  # of one of a question: a plan has 100, an answer 30

# Fitted to the mean of three tokenizers (o200k, cl100k, DeepSeek's) on English passages, JSON and Markdown.
# On texts kept aside the sums come out within 5 % of each of them, a single passage 4 to 6 % off in the mean.
# Other scripts are read off o200k; older tokenizers take up to three times as many.
_CLOSE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese, Japanese, Korean
_PIECE = re.compile(
    r"(?P<lower>[a-z]+)|(?P<capital>[A-Z][A-Za-z]*)|(?P<digits>\d+)|(?P<accents>[\u00aa-\u036f\u1e00-\u1eff])|(?P<cyrillic>[\u0400-\u052f])"
    rf"|(?P<far>[\u0370-\u1fff])|(?P<close>[{_CLOSE}])|(?P<space>\n\s*|[ \t]{{2,}})|(?P<signs>[^\w\s]+|\w)"
)
_EACH = {"accents": 1.0, "cyrillic": 0.37, "far": 0.45, "close": 0.8, "space": 1.0}


@lru_cache(maxsize=256)  # prompts come with every call
def estimate(text: str) -> int:
    """About how many tokens a language model reads in this text."""
    tokens = 0.0
    for piece in _PIECE.finditer(text):
        kind, length = piece.lastgroup or "", piece.end() - piece.start()
        if kind == "lower":
            tokens += 0.97 + 0.2 * max(0, length - 8)
        elif kind == "capital":  # names are rarer words
            tokens += 1 + 0.13 * max(0, length - 3)
        elif kind == "digits":
            tokens += 1.5 * -(-length // 3)
        elif kind == "signs":
            tokens += 0.63 + 0.28 * length
        else:
            tokens += _EACH[kind]
    return max(1, round(tokens)) if text else 0


def estimate_messages(messages: Sequence[Mapping[str, str]]) -> int:
    """About how many prompt tokens these messages take."""
    return REQUEST + sum(MESSAGE + estimate(message["content"]) for message in messages)


def estimate_request(request: Request) -> int:
    """About how many prompt tokens a request takes where the schema is read with the messages."""
    return estimate_messages(request.messages) + (
        estimate(json.dumps(request.schema)) if request.schema is not None else 0
    )


def with_counts(received: Received, prompt: int) -> tuple[Received, bool]:
    """A reply with its token counts, and whether they are estimates since the server did not count;
    `prompt` is the estimate of what it read."""
    if received.prompt_tokens and (received.completion_tokens or not received.text):
        return received, False
    return replace(received, prompt_tokens=prompt, completion_tokens=estimate(received.text)), True


class Estimator:
    """What a request to one model takes, by the calls made so far; safe for many threads.

    rows: of a ledger. How many tokens servers counted for one that `estimate_messages` counts, schemas and
    all, is taken from the calls of the same stage, else from those of the model. Before the first call it is
    1, with the schema added where `reads_schema`: servers that force a schema on the reply need not read
    it, OpenAI's does.
    """

    def __init__(self, model: str, rows: Iterable[Entry] = (), *, reads_schema: bool = False) -> None:
        self._reads_schema = reads_schema
        self._model = model
        self._sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0] * 4)
        self._lock = threading.Lock()
        for row in rows:
            self.add(row)

    def add(self, entry: Entry) -> None:
        """Learns from calls; those for other models teach nothing, and those whose prompts were not
        estimated nothing about prompts."""
        if entry.model == self._model and entry.calls:
            sums = (
                entry.prompt_tokens if entry.prompt_estimate else 0,
                entry.prompt_estimate,
                entry.completion_tokens,
                entry.calls,
            )
            with self._lock:
                for stage in (entry.stage, ""):
                    self._sums[stage] = [a + b for a, b in zip(self._sums[stage], sums, strict=True)]

    def prompt(self, request: Request) -> int:
        """Prompt tokens."""
        if ratio := self._ratio(request.stage, 0, 1):
            return round(estimate_messages(request.messages) * ratio)
        return estimate_request(request) if self._reads_schema else estimate_messages(request.messages)

    def completion(self, stage: str) -> int:
        """Tokens of a reply: the mean of those before."""
        return round(self._ratio(stage, 2, 3) or FIRST_GUESS)

    def short_completion(self, stage: str) -> int:
        """Tokens of a reply in a question: the mean of those of its stage. Before the first, a guess of
        ours: the mean of other stages is mostly that of extraction, whose replies are longer by far."""
        return round(self._ratio(stage, 2, 3, others=False) or SHORT_GUESS)

    def _ratio(self, stage: str, over: int, under: int, *, others: bool = True) -> float:
        """One sum by another, of the stage or, with `others`, of all; 0 where nothing is known."""
        with self._lock:
            known = [self._sums[name] for name in ((stage, "") if others else (stage,)) if name in self._sums]
        return next((sums[over] / sums[under] for sums in known if sums[over] and sums[under]), 0.0)
