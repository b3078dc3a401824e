"""Spans of OpenTelemetry (extra `otel`): a question with its stages, and a load. Without the extra or a
tracer provider that the program sets, nothing is measured; gswgraph itself sends nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any


@contextmanager
def span(name: str, **attributes: Any) -> Iterator[Any]:
    """Open a span `gswgraph.NAME` and give it, or None without the extra; values None are left out."""
    if find_spec("opentelemetry") is None:
        yield None
        return
    from opentelemetry import trace

    present = {f"gswgraph.{key}": value for key, value in attributes.items() if value is not None}
    with trace.get_tracer("gswgraph").start_as_current_span(
        f"gswgraph.{name}", attributes=present
    ) as current:
        yield current


def annotate(current: Any, **attributes: Any) -> None:
    """Add attributes to a span, where there is one; values that are None are left out."""
    if current is not None:
        current.set_attributes({f"gswgraph.{key}": v for key, v in attributes.items() if v is not None})
