"""A connection that tells each statement it runs: by its file, with its parameters, so that it can be
pasted into Neo4j Browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import wraps
from time import perf_counter
from typing import Any

from gsw_graph.cypher import file_of

Tracer = Callable[[str], object]
_ITEMS, _LETTERS = 3, 200  # of a list and of a text that are shown
_COMMENTS = re.compile(r"\A(?:\s*//[^\n]*\n)+")


def told(
    text: str, parameters: Mapping[str, Any], seconds: float, failure: BaseException | None = None
) -> str:
    """Return one statement with its parameters, shortened, in the form of Neo4j Browser."""
    failed = f"failed ({type(failure).__name__}), " if failure is not None else ""
    head = f"// {file_of(text) or 'a query'}: {failed}{seconds * 1000:.1f} ms"
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


class Traced:
    """A driver, session, transaction or dialect that tells each statement it runs, with the seconds until its
    first row; all else is that of `inner`."""

    def __init__(self, inner: Any, tracer: Tracer) -> None:
        self._inner, self._tracer = inner, tracer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __enter__(self) -> Any:
        self._inner.__enter__()
        return self

    def __exit__(self, *given: Any) -> Any:
        return self._inner.__exit__(*given)

    def session(self, **given: Any) -> Traced:
        return Traced(self._inner.session(**given), self._tracer)

    def begin_transaction(self, *args: Any, **given: Any) -> Traced:
        return Traced(self._inner.begin_transaction(*args, **given), self._tracer)

    def execute_read(self, work: Callable[..., Any], *args: Any, **given: Any) -> Any:
        return self._inner.execute_read(self._traced(work), *args, **given)

    def execute_write(self, work: Callable[..., Any], *args: Any, **given: Any) -> Any:
        return self._inner.execute_write(self._traced(work), *args, **given)

    def execute_query(self, text: str, parameters_: Mapping[str, Any] | None = None, **given: Any) -> Any:
        return self._run("execute_query", text, parameters_, given)

    def run(self, text: Any, parameters: Mapping[str, Any] | None = None, **given: Any) -> Any:
        return self._run("run", text, parameters, given)

    def run_schema(self, ddl: str) -> Any:
        return self._run("run_schema", ddl)

    def _run(self, method: str, text: Any, parameters: Any = None, given: Mapping[str, Any] = {}) -> Any:
        start, failure = perf_counter(), None
        arguments = (text,) if method == "run_schema" else (text, parameters)
        try:
            return getattr(self._inner, method)(*arguments, **given)
        except BaseException as error:
            failure = error
            raise
        finally:
            named = {name: value for name, value in given.items() if not name.endswith("_")}
            values = {**(parameters or {}), **named}
            self._tracer(told(str(getattr(text, "text", text)), values, perf_counter() - start, failure))

    def _traced(self, work: Callable[..., Any]) -> Callable[..., Any]:
        # With the time limit and the mark that `unit_of_work` put on it.
        @wraps(work)
        def run(tx: Any, *args: Any, **given: Any) -> Any:
            return work(Traced(tx, self._tracer), *args, **given)

        return run
