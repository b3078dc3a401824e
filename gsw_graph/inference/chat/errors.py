"""What a chat server's refusals mean: ask again, give this request up, or stop."""

from __future__ import annotations

import re
from typing import Any

from gsw_graph.errors import GswGraphError, ReplyError, StoppedError
from gsw_graph.inference.bodies import BodyError
from gsw_graph.inference.endpoint import Endpoint, retry_after

LONGEST_PAUSE = (
    300.0  # seconds that a server may ask us to wait; beyond that a load is better run again later
)

LATE = (
    "Give it more time by GSWGRAPH_LLM_TIMEOUT, or fewer calls at once by --concurrency "
    "or "
    "GSWGRAPH_CONCURRENCY"
)
KEPT = "What is paid for is kept; the same command goes on later"
KEY = "Check GSWGRAPH_LLM_KEY (or OPENAI_API_KEY)"
URL = "Check GSWGRAPH_LLM_URL (or OPENAI_BASE_URL), such as https://host/v1"
MODEL = "Check the model in GSWGRAPH_LLM (or OPENAI_MODEL), and the url of its server in GSWGRAPH_LLM_URL"
CONTEXT = (
    "Load in smaller passages, or give the server a larger context (Ollama: "
    "OLLAMA_CONTEXT_LENGTH, "
    "or num_ctx in a Modelfile; vLLM: --max-model-len)"
)

_CONTEXT = re.compile(
    r"context[ _]?(length|window|size)|maximum context|too many tokens|(prompt|input) is too long"
    r"|exceeds? the available context",
    re.IGNORECASE,
)
_TOO_LARGE = re.compile(r"request too large|payload too large", re.IGNORECASE)
_DAILY = re.compile(r"per[ _-]?day|daily|\b[RT]PD\b", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model.{0,80}(not found|not exist|no such|not loaded)|(no such|unknown|invalid|not a valid) model",
    re.IGNORECASE,
)
_FLAGGED = re.compile(r"moderation|flagged|content[ _](filter|policy|management)", re.IGNORECASE)
_UNREACHED = ("ConnectError", "ConnectTimeout", "ProxyError")  # of the HTTP library that the client uses
_NO_MONEY = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance")


class AgainError(Exception):
    """It may go better the next time. message: what happened. wait: seconds that the server asks for, 0 where
    it does not. busy: it had too many calls. unreached: there was no connection at all. late: the time was
    over."""

    def __init__(
        self,
        message: str,
        *,
        wait: float = 0.0,
        busy: bool = False,
        unreached: bool = False,
        late: bool = False,
    ) -> None:
        super().__init__(message)
        self.message, self.wait, self.busy, self.unreached, self.late = message, wait, busy, unreached, late


class UnusableError(ReplyError):
    """A reply that failed its check, and its repair too, or had no end."""


class RefusedError(ReplyError):
    """A refusal that does not say what is wrong with this very request: the server may refuse every other
    as well."""


def meaning(error: Exception, end: Endpoint) -> AgainError | GswGraphError:
    """What to raise for an error of the openai client."""
    import openai

    if isinstance(error, openai.APIConnectionError):
        cause = type(error.__cause__).__name__
        if cause in _UNREACHED:
            return AgainError(
                f"it cannot be reached ({end.short(str(error.__cause__) or cause)})", unreached=True
            )
        if isinstance(error.__cause__, BodyError):
            return ReplyError(str(error.__cause__), where=end.host)
        if isinstance(error, openai.APITimeoutError):
            return AgainError("it did not answer in time", late=True)
        return AgainError(f"the connection broke ({end.short(str(error.__cause__ or error))})")
    if isinstance(error, openai.APIStatusError):
        return _of_status(error.status_code, said_in(error), error.response.headers, end)
    return AgainError(f"the connection broke ({end.short(str(error))})")


def said_in(error: Any) -> dict[str, str]:
    """What the server says is wrong: `message`, `code`, `type` and `param`, as text, where they are given."""
    body = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error")
    body = (
        inner if isinstance(inner, dict) else {"message": inner, **body} if isinstance(inner, str) else body
    )
    found = {
        name: str(body[name])
        for name in ("message", "code", "type", "param", "failed_generation")
        if body.get(name) is not None
    }
    return {"message": str(body.get("detail") or error.body or error.message), **found}


def too_long(text: str) -> bool:
    """Whether a refusal says that the prompt does not fit the model's context."""
    return _CONTEXT.search(text) is not None


def _of_status(status: int, said: dict[str, str], headers: Any, end: Endpoint) -> AgainError | GswGraphError:
    text, code = said["message"], f"{said.get('code')} {said.get('type')}"
    answer = f"the server answered {status}: {end.short(text)}"
    if status in (402, 429):
        if status == 402 or any(name in code for name in _NO_MONEY):
            return StoppedError(
                f"the account has no credit left ({end.short(text)})",
                where=end.host,
                hint="Check plan and billing there. " + KEPT,
            )
        if _TOO_LARGE.search(text):
            return ReplyError(
                answer, where=end.host, hint="Load in smaller passages, or ask for a higher limit"
            )
        if _DAILY.search(text):
            return StoppedError(
                f"the limit of the day is reached ({end.short(text)})", where=end.host, hint=KEPT
            )
        return _again(answer, headers, end, busy=True)
    if status in (408, 409, 425) or status >= 500:
        return _again(answer, headers, end, busy=status == 503)
    if too_long(f"{text} {code}"):
        return ReplyError(
            f"the prompt is longer than the model can read ({end.short(text)})", where=end.host, hint=CONTEXT
        )
    if status == 413 or _TOO_LARGE.search(text):
        return ReplyError(answer, where=end.host, hint="Load in smaller passages")
    if _FLAGGED.search(f"{text} {code}") and status in (400, 403):
        return ReplyError(f"the server refused the content ({end.short(text)})", where=end.host)
    if status in (401, 403):
        return StoppedError(
            f"the server refused the key ({status}: {end.short(text)})" if end.key else answer,
            where=end.host,
            hint=KEY,
        )
    if "model_not_found" in code or _NO_MODEL.search(text):
        return StoppedError(answer, where=end.host, hint=MODEL)
    if status in (400, 422):
        return RefusedError(answer, where=end.host)
    return StoppedError(answer, where=end.host, hint=MODEL if status == 404 else URL)


def _again(answer: str, headers: Any, end: Endpoint, *, busy: bool) -> AgainError | GswGraphError:
    wait = _milliseconds(headers) or retry_after(headers)
    if wait > LONGEST_PAUSE:
        return StoppedError(
            f"{answer}; it asks for a pause of {wait / 60:,.0f} minutes", where=end.host, hint=KEPT
        )
    return AgainError(answer, wait=max(wait, 0.0), busy=busy)


def _milliseconds(headers: Any) -> float:
    """As OpenAI gives them, beside the seconds."""
    return retry_after({"Retry-After": headers.get("retry-after-ms", "")}) / 1000
