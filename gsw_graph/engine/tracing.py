"""A connection that reports each statement it runs: by its file, with its parameters, so that it can be
pasted into Neo4j Browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial, wraps
from time import perf_counter
from typing import Any

from gsw_graph.cypher import file_of, of_memory

Tracer = Callable[[str], object]
Run = Callable[..., Any]  # runs a statement: (method, text, ...)
_ITEMS, _LETTERS = 3, 200  # of a list and of a text that are shown
_COMMENTS = re.compile(r"\A(?:\s*//[^\n]*\n)+")
_RUNS = {"run", "execute_query", "run_schema"}
_BEGINS = {"session", "begin_transaction"}
_CALLS_BACK = {"execute_read", "execute_write"}


def pasteable(
    text: str,
    parameters: Mapping[str, Any],
    seconds: float,
    failure: BaseException | None = None,
    memory: str = "",
) -> str:
    """Return one statement with its parameters, shortened, in the form of Neo4j Browser."""
    failed = f"failed ({type(failure).__name__}), " if failure is not None else ""
    lines = [f"// {file_of(text) or 'a query'}: {failed}{seconds * 1000:.1f} ms"]
    lines += (f":param {_name(name)} => {literal(value)};" for name, value in parameters.items())
    query = of_memory(_COMMENTS.sub("", text), memory)
    return "\n".join([*lines, query.strip().removesuffix(";") + ";", ""])


def literal(value: Any) -> str:
    """Return a value as shortened Cypher. A comment names the missing part; hidden numbers of a vector are
    zeros, so that the statement still runs."""
    if isinstance(value, str):
        text = json.dumps(value[:_LETTERS], ensure_ascii=False)
        return f"{text} /* {len(value):,} letters */" if len(value) > _LETTERS else text
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_name(name)}: {literal(item)}" for name, item in value.items()) + "}"
    if isinstance(value, bytes | bytearray):
        return f"null /* {len(value):,} bytes */"
    if isinstance(value, list | tuple):
        shown = f"[{', '.join(map(literal, value[:_ITEMS]))}]"
        length = len(value)
        if length <= _ITEMS:
            return shown
        if all(isinstance(item, float) for item in value):
            return f"{shown} + [i IN range({_ITEMS + 1}, {length}) | 0.0] /* {length:,} numbers */"
        return f"{shown} /* {length:,} items */"
    if isinstance(value, float):
        value = round(value, 4)
    return json.dumps(value, default=str)


def _name(name: str) -> str:
    return name if re.fullmatch(r"[^\W\d]\w*", name) else "`" + name.replace("`", "``") + "`"


class Wrapped:
    """Wrap a driver, session, transaction or dialect. What a subclass does not override is that of
    `inner`."""

    def __init__(self, inner: Any, own: Any) -> None:
        self._inner, self._own = inner, own

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __enter__(self) -> Any:
        self._inner.__enter__()
        return self

    def __exit__(self, *details: Any) -> Any:
        return self._inner.__exit__(*details)


class OneWriter(Wrapped):
    """Wrap a session so that its writing transactions wait for others by a lock. The embedded engine would
    run both and fail the second, and the driver would try again a second later."""

    def execute_write(self, work: Run, *args: Any, **options: Any) -> Any:
        """As the driver's, one after another."""
        with self._own:
            return self._inner.execute_write(work, *args, **options)


class Intercepted(Wrapped):
    """Wrap an object so that its statements go through a function, `run(method, text, ...)`."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        if name in _RUNS:
            return partial(self._own, value)
        if name in _BEGINS:
            return lambda *args, **options: Intercepted(value(*args, **options), self._own)
        if name in _CALLS_BACK:
            return lambda work, *args, **options: value(self._intercepting(work), *args, **options)
        return value

    def _intercepting(self, work: Run) -> Callable[..., Any]:
        @wraps(work)  # with the time limit and the mark that `unit_of_work` put on it
        def run(tx: Any, *args: Any, **options: Any) -> Any:
            return work(Intercepted(tx, self._own), *args, **options)

        return run


def renaming(memory: str) -> Run:
    """Return a function that runs each statement in a named memory."""

    def run(method: Run, text: Any, *args: Any, **options: Any) -> Any:
        if hasattr(text, "metadata"):  # a `Query` of the driver
            text = type(text)(of_memory(text.text, memory), text.metadata, text.timeout)
        else:
            text = of_memory(text, memory)
        return method(text, *args, **options)

    return run


def reporting(tracer: Tracer, memory: str) -> Run:
    """Return a function that runs each statement and reports it, with the seconds until its first row."""

    def run(method: Run, text: Any, *args: Any, **options: Any) -> Any:
        start, failure = perf_counter(), None
        try:
            return method(text, *args, **options)
        except BaseException as error:
            failure = error
            raise
        finally:
            seconds = perf_counter() - start
            values = {name: value for name, value in options.items() if not name.endswith("_")}
            if args and args[0]:
                values |= args[0]
            tracer(pasteable(str(getattr(text, "text", text)), values, seconds, failure, memory))

    return run
