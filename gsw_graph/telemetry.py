"""Spans of OpenTelemetry (extra `otel`): a question with its stages, and a load. Without the extra or a
tracer provider that the program sets, nothing is measured; gswgraph itself sends nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from gsw_graph.values import Fields


@contextmanager
def span(name: str, **attributes: Any) -> Iterator[Any]:
    """Open a span `gswgraph.NAME` and yield it, or None without the extra. Values None are left out."""
    if find_spec("opentelemetry") is None:
        yield None
        return
    from opentelemetry import trace

    tracer = trace.get_tracer("gswgraph")
    with tracer.start_as_current_span(f"gswgraph.{name}", attributes=_present(attributes)) as current:
        yield current


def annotate(current: Any, **attributes: Any) -> None:
    """Add attributes to a span, if there is one; values that are None are left out."""
    if current is not None:
        current.set_attributes(_present(attributes))


def _present(attributes: Fields) -> Fields:
    return {f"gswgraph.{name}": value for name, value in attributes.items() if value is not None}
