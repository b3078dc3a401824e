"""A connection that tells each statement it runs: by its file, with its parameters, so that it can be
pasted into Neo4j Browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from time import perf_counter
from typing import Any

from gsw_graph.cypher import file_of

Tracer = Callable[[str], object]
_ITEMS, _LETTERS = 3, 200  # of a list and of a text that are shown
_COMMENTS = re.compile(r"\A(?:\s*//[^\n]*\n)+")


def told(
    text: str, parameters: Mapping[str, Any], rows: int, seconds: float, failure: BaseException | None = None
) -> str:
    """One statement with its parameters, shortened, in the form of Neo4j Browser."""
    what = (
        f"failed ({type(failure).__name__})"
        if failure is not None
        else f"{rows:,} row{'' if rows == 1 else 's'}"
    )
    head = f"// {file_of(text) or 'a query'}: {what}, {seconds * 1000:.1f} ms"
    given = [f":param {_name(name)} => {literal(value)};" for name, value in parameters.items()]
    return "\n".join([head, *given, _COMMENTS.sub("", text).strip().removesuffix(";") + ";", ""])


def literal(value: Any) -> str:
    """A value in Cypher, shortened: a comment says what is missing, and numbers of a vector that are not
    shown are zeros, so that it still runs."""
    if isinstance(value, str):
        more = f" /* {len(value):,} letters */" if len(value) > _LETTERS else ""
        return json.dumps(value[:_LETTERS], ensure_ascii=False) + more
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_name(name)}: {literal(item)}" for name, item in value.items()) + "}"
    if isinstance(value, bytes | bytearray):
        return f"null /* {len(value):,} bytes */"
    if isinstance(value, list | tuple):
        items = list(value)
        shown = "[" + ", ".join(literal(item) for item in items[:_ITEMS]) + "]"
        if len(items) <= _ITEMS:
            return shown
        if all(isinstance(item, float) for item in items):
            return f"{shown} + [i IN range({_ITEMS + 1}, {len(items)}) | 0.0] /* {len(items):,} numbers */"
        return f"{shown} /* {len(items):,} items */"
    if isinstance(value, float):
        return f"{value:.4g}" if value % 1 else f"{value:.1f}"
    return "null" if value is None else json.dumps(value, default=str)


def _name(name: str) -> str:
    return name if re.fullmatch(r"[^\W\d]\w*", name) else "`" + name.replace("`", "``") + "`"


class _Traced:
    """What the driver gave, all of it; subclasses look at the calls that run statements."""

    def __init__(self, inner: Any, tracer: Tracer) -> None:
        self._inner, self._tracer = inner, tracer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class TracedDriver(_Traced):
    """A driver whose sessions and queries are told."""

    def session(self, **given: Any) -> TracedSession:
        return TracedSession(self._inner.session(**given), self._tracer)

    def execute_query(self, text: str, parameters_: Mapping[str, Any] | None = None, **given: Any) -> Any:
        named = {name: value for name, value in given.items() if not name.endswith("_")}
        start = perf_counter()
        try:
            found = self._inner.execute_query(text, parameters_, **given)
        except BaseException as failure:
            self._tracer(told(text, {**(parameters_ or {}), **named}, 0, perf_counter() - start, failure))
            raise
        self._tracer(told(text, {**(parameters_ or {}), **named}, len(found.records), perf_counter() - start))
        return found


class _Runs(_Traced):
    """A session or a transaction."""

    def run(self, text: str, parameters: Mapping[str, Any] | None = None, **named: Any) -> TracedResult:
        start = perf_counter()
        given = {**(parameters or {}), **named}
        try:
            return TracedResult(self._inner.run(text, parameters, **named), self._tracer, text, given, start)
        except BaseException as failure:
            self._tracer(told(str(getattr(text, "text", text)), given, 0, perf_counter() - start, failure))
            raise

    def __enter__(self) -> Any:
        self._inner.__enter__()
        return self

    def __exit__(self, *given: Any) -> Any:
        return self._inner.__exit__(*given)


class TracedTransaction(_Runs):
    """A transaction whose statements are told."""


class TracedSession(_Runs):
    """A session whose statements are told, those of its transactions too."""

    def begin_transaction(self, *args: Any, **given: Any) -> TracedTransaction:
        return TracedTransaction(self._inner.begin_transaction(*args, **given), self._tracer)

    def execute_read(self, work: Callable[..., Any], *args: Any, **given: Any) -> Any:
        return self._inner.execute_read(self._told(work), *args, **given)

    def execute_write(self, work: Callable[..., Any], *args: Any, **given: Any) -> Any:
        return self._inner.execute_write(self._told(work), *args, **given)

    def _told(self, work: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(work)  # with the time limit and the mark that `unit_of_work` put on it
        def run(tx: Any, *args: Any, **given: Any) -> Any:
            return work(TracedTransaction(tx, self._tracer), *args, **given)

        return run


class TracedResult(_Traced):
    """A result that counts its rows, and is told when they have all come."""

    def __init__(
        self, inner: Any, tracer: Tracer, text: Any, parameters: Mapping[str, Any], start: float
    ) -> None:
        super().__init__(inner, tracer)
        self._text, self._parameters, self._start = str(getattr(text, "text", text)), parameters, start
        self._rows, self._is_told = 0, False

    def __iter__(self) -> Iterator[Any]:
        try:
            for record in self._inner:
                self._rows += 1
                yield record
        except BaseException as failure:
            self._tell(failure)
            raise
        self._tell()

    def data(self, *keys: str) -> list[dict[str, Any]]:
        return [record.data(*keys) for record in self]

    def values(self, *keys: str) -> list[list[Any]]:
        return [record.values(*keys) for record in self]

    def single(self, *, strict: bool = False) -> Any:
        found = self._inner.single(strict=strict)
        self._rows = int(found is not None)
        self._tell()
        return found

    def consume(self) -> Any:
        try:
            summary = self._inner.consume()
        except BaseException as failure:
            self._tell(failure)
            raise
        self._tell()
        return summary

    def _tell(self, failure: BaseException | None = None) -> None:
        if not self._is_told:
            self._is_told = True
            self._tracer(
                told(self._text, self._parameters, self._rows, perf_counter() - self._start, failure)
            )


class TracedDialect(_Traced):
    """A dialect whose changes of the schema are told."""

    def run_schema(self, ddl: str) -> None:
        start = perf_counter()
        self._inner.run_schema(ddl)
        self._tracer(told(ddl, {}, 0, perf_counter() - start))
