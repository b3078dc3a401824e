"""What a language model is asked, and how a reply is read; how many tokens texts take.

JSON in a reply may be among prose and fences, in a list or under a key, with curly quotes or with the
backslashes of formulas. What is cut off is never completed: the model is asked to repair it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from gsw_graph.values import Fields

T = TypeVar("T")
CheckReply = Callable[[Any], T]
OnText = Callable[[str], None] | None
# Of a question, which a planner may be asked.
PLAN_STAGES = ("plan", "grasp_plan", "pathwise_intent", "standalone")
BYTES_A_TOKEN = 4.0  # of UTF-8: four letters of English, a letter and a third of Chinese
MESSAGE_TOKENS, REQUEST_TOKENS = 4, 3  # around each message and around all
LONGEST_REPLY = 4000  # tokens, if a request has no limit
SHORT_REPLY = 200  # tokens of a stage of a question: a plan has 100, an answer 30

# gpt-oss: <|channel|>analysis<|message|>...<|channel|>final<|message|>..., or what servers leave of it.
_CHANNELS = re.compile(r"\s*(?:<\|start\|>assistant)?<\|channel\|>", re.IGNORECASE)
_FINAL = re.compile(
    r"<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>|\Aanalysis.*?assistantfinal",
    re.DOTALL,
)
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start)\|>.*", re.DOTALL)
_TAG = r"(think|thinking|thought|reasoning)"
# A tag inside a line may be what the text is about; a thought begins a line.
_THOUGHT = re.compile(rf"^[ \t]*<{_TAG}>.*?</\1>", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_OPEN_THOUGHT = re.compile(rf"\A\s*<{_TAG}>.*", re.DOTALL | re.IGNORECASE)
# Some servers put the opening tag into the prompt. A reply that begins with a label is no thought, unless an
# answer follows.
_UNOPENED = re.compile(
    rf"\A(?:(?!<{_TAG}>).)*</{_TAG}>(?=\W*(?:final )?answer\W*[:：])"
    rf"|\A(?!\W*(?:\w+ )?\w+ ?[:：])(?:(?!<{_TAG}>).)*</{_TAG}>(?=\s*\n|\w|[{{\[*#<])",
    re.DOTALL | re.IGNORECASE,
)
# A backslash that begins no escape which a model means: \beta is no backspace and \frac no form feed.
_LATEX = (
    "nabla|neq|neg|not|notin|nu|rho|right|rightarrow|Rightarrow|rangle|rceil|rfloor|rm|tan|tanh|tau|text|textbf"
    "|textit|textrm|therefore|theta|tilde|times|to|top|triangle"
)
_BACKSLASH = re.compile(
    rf'\\(?:["\\/]|u[0-9a-fA-F]{{4}}|(?!(?:{_LATEX})(?![A-Za-z]))[nrt]|(?P<quote>\'))|(?P<alone>\\)'
)
_CURLY = str.maketrans("“”„‟", '""""')
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_OPENINGS = ("{", "[", '"', "`", "“")
_STARTS = re.compile(r"[\[{]")
_BEGUN = re.compile(r"[\[{]\s*[\"'“{\[]")  # what follows the bracket of JSON, and seldom that of prose
_MAX_STARTS = 1000  # brackets of a reply from which JSON is tried
_MAX_WRAPPERS = 3


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a language model.

    stage: `extract`, `mend`, `plan`, `answer` or a strategy's own, for the ledger and as the name of the
    schema. messages: each with `role` (`system`, `user`, `assistant`) and `content`. schema: the JSON schema
    of the reply, every key of an object required and no other allowed (OpenAI's strict mode); without one the
    reply is text. document: the source it is about, for the ledger. limit:
    tokens that no sound reply takes, 0 if unknown. short: the same, asked in few
    words: for small models. final: it is the answer to a question, for which a budget holds something back.
    """

    stage: str
    messages: tuple[dict[str, str], ...]
    schema: Fields | None = None
    document: str = ""
    limit: int = 0
    short: Request | None = None
    final: bool = False

    @property
    def prompt_tokens(self) -> int:
        """Estimate the tokens of the prompt."""
        return estimate_messages(self.messages)

    @property
    def longest_reply(self) -> int:
        """Return the tokens that no sound reply takes."""
        return self.limit or LONGEST_REPLY

    @property
    def usual_reply(self) -> int:
        """Estimate the tokens of a usual reply: limits are about three times as many."""
        return self.longest_reply // 3


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    """A reply that passed its check.

    cached: it was kept from an earlier call, and nothing was asked. prompt_tokens, completion_tokens: as the
    server counted them (estimated if it does not), of all calls that this reply took; a kept reply says
    what it took then. seconds: of the calls, without waiting for limits.
    """

    value: T
    cached: bool
    prompt_tokens: int
    completion_tokens: int
    seconds: float


class LanguageModel(Protocol):
    """What answers requests: a `Chat`, or what wraps one. model: its name at the server."""

    model: str

    def ask(self, request: Request, check: CheckReply[T], *, on_text: OnText = None) -> Reply[T]:
        """Return the reply to a request, as `Chat.ask` does."""


def estimate(text: str) -> int:
    """Estimate how many tokens a language model reads in a text."""
    return round(len(text.encode("utf-8", "replace")) / BYTES_A_TOKEN + 0.49)


def estimate_messages(messages: Sequence[Mapping[str, str]]) -> int:
    """Estimate how many prompt tokens some messages take."""
    return REQUEST_TOKENS + sum(MESSAGE_TOKENS + estimate(message["content"]) for message in messages)


def answer_text(text: str) -> str:
    """Return what a reply says after its thoughts, or in its final channel."""
    if _CHANNELS.match(text) or text.startswith("analysis"):
        finals = list(_FINAL.finditer(text))
        if finals:
            text = _CHANNEL_END.sub("", text[finals[-1].end() :])
        elif _CHANNELS.match(text):
            return ""
    return _OPEN_THOUGHT.sub("", _UNOPENED.sub("", _THOUGHT.sub("", text)))


def parse_json(text: str, keys: Collection[str] = ()) -> Any:
    """Read the JSON object or list in a reply.

    Args:
        text: The reply.
        keys: Keys that the object should have; it is looked for in lists and under other keys.

    Raises:
        ValueError: There is none, or it cannot be read; the message is meant for the model.
    """
    problem = ""
    text, answer = text.strip("\ufeff \t\r\n"), answer_text(text).strip()
    # A sound value may hold what looks like a thought, and a thought a value.
    for candidate in dict.fromkeys((text, answer) if text[:1] in _OPENINGS else (answer,)):
        straight = candidate.translate(_CURLY)
        for variant in dict.fromkeys((candidate, straight, _TRAILING_COMMA.sub(r"\1", straight))):
            try:
                values = [unwrapped(value, keys) for value in _values(variant)]
            except (ValueError, RecursionError) as error:
                problem = problem or f"the JSON cannot be read: {str(error)[:200] or 'it is nested too deep'}"
                continue
            with_keys = [value for value in values if _has_keys(value, keys)]
            if values:
                return with_keys[-1] if with_keys else max(values, key=lambda value: len(json.dumps(value)))
    raise ValueError(problem or "there is no JSON object or list in the reply")


def _has_keys(value: Any, keys: Collection[str]) -> bool:
    return isinstance(value, dict) and not value.keys().isdisjoint(keys)


def unwrapped(value: Any, keys: Collection[str]) -> Any:
    """Return the object with some of the keys that is alone in a list or in an object; else the value."""
    inner = value
    for _ in range(_MAX_WRAPPERS):
        if _has_keys(inner, keys):
            return inner
        parts = inner.values() if isinstance(inner, dict) else inner
        nested = [part for part in parts if isinstance(part, dict | list)]
        if len(nested) != 1:
            return value
        inner = nested[0]
    return value


def _values(text: str) -> Iterator[Any]:
    """Yield the objects and lists in a text, from left to right. Raises ValueError if one is broken."""
    text = _BACKSLASH.sub(_escaped, text)
    decoder = json.JSONDecoder(strict=False, parse_constant=_refuse_constant)
    if text.startswith('"'):  # JSON written into a JSON string
        text = str(decoder.decode(text))
    end = 0
    for match in islice(_STARTS.finditer(text), _MAX_STARTS):
        if match.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            if _BEGUN.match(text, match.start()):  # a part of what is cut off or broken is not the reply
                raise
            continue
        # Halves of surrogate pairs are no characters.
        yield json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _escaped(match: re.Match[str]) -> str:
    """Return a backslash as JSON has it."""
    if match["quote"]:
        return "'"
    return r"\\" if match["alone"] else match[0]


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
