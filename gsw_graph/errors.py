"""The one exception family. A message says what happened, where, and what to do next."""

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
    """A file, record, plan or argument cannot be used."""


class EngineError(GswGraphError):
    """The graph engine cannot be started or reached, or refused a statement."""


class MemoryLockedError(EngineError):
    """Another process has the embedded memory open."""


class SchemaError(GswGraphError):
    """The memory was made by another schema or with another embedding model."""


class ModelError(GswGraphError):
    """A model cannot be loaded or run."""


class UnembeddableError(ModelError):
    """Some texts have no vector, which says nothing about others: `reasons` has why, by text."""

    def __init__(self, reasons: dict[str, str], *, where: str | None = None, hint: str | None = None) -> None:
        self.reasons = reasons
        text, reason = next(iter(reasons.items()))
        shown = " ".join(text.split())
        message = f'the text "{shown[:60]}{"..." if len(shown) > 60 else ""}" cannot be embedded ({reason})'
        super().__init__(message, where=where, hint=hint)


class InvalidReplyError(ModelError):
    """A language model gave no reply that can be used, for this request: it is skipped and listed; the
    next load tries it again."""


class BudgetError(InvalidReplyError):
    """This request does not fit the budget of a question: the question goes on with what it has."""


class ModelUnavailableError(ModelError):
    """A language model will not answer any more requests: the key is refused, the server is away, the
    budget is used up."""


class WorkCancelledError(ModelUnavailableError):
    """Whoever asked for this ended it, or its time is over; see `gsw_graph.concurrency.Cancel`."""
