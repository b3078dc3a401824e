"""Define the errors of gswgraph. A message says what happened, where, and what to do next."""

from __future__ import annotations


class GswGraphError(Exception):
    """Base of every error that gswgraph raises on purpose.

    `message` says what happened, `where` names the place (file, line, id, url) and `hint` the next step;
    `str()` joins them in one line.
    """

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        self.message, self.where, self.hint = message, where, hint
        super().__init__(message)

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}. {self.hint}" if self.hint else text


class InputError(GswGraphError):
    """Raised if a file, record, plan or argument cannot be used."""


class EngineError(GswGraphError):
    """Raised if the graph engine cannot be started or reached, or refuses a statement."""


class MemoryLockedError(EngineError):
    """Another process has the embedded memory open."""


class SchemaError(GswGraphError):
    """Raised if a memory has another schema or another embedding model."""


class ModelError(GswGraphError):
    """Raised if a model cannot be loaded or run."""


class UnembeddableError(ModelError):
    """Raised if some texts have no vector, which says nothing about other texts. `reasons` has the reasons by
    text."""

    def __init__(self, reasons: dict[str, str], *, where: str | None = None, hint: str | None = None) -> None:
        self.reasons = reasons
        text, reason = next(iter(reasons.items()))
        shown = " ".join(text.split())
        message = f'the text "{shown[:60]}{"..." if len(shown) > 60 else ""}" cannot be embedded ({reason})'
        super().__init__(message, where=where, hint=hint)


class InvalidReplyError(ModelError):
    """Raised if a language model gives no usable reply to a request. The request is skipped and listed; the
    next load tries again."""


class BudgetError(InvalidReplyError):
    """Raised if a request does not fit the budget of a question, which then goes on without a reply."""


class ModelUnavailableError(ModelError):
    """Raised if a language model will answer no more requests: the key is refused, the server is away, or the
    budget is used up."""


class WorkCancelledError(ModelUnavailableError):
    """Raised if the caller cancelled the work, or if time is over; see `gsw_graph.concurrency.Cancel`."""
