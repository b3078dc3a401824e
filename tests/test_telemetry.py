"""Spans of OpenTelemetry: a question with its stages, a load, and nothing without a provider."""

from __future__ import annotations

import fakes
import samples
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gsw_graph.memory import Memory
from gsw_graph.models.embed.embedder import Embedder


def test_a_load_and_a_question_are_spans(fresh_settings, monkeypatch, tmp_path):
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    monkeypatch.setattr(Embedder, "load", staticmethod(fakes.embedder))
    with Memory.open(settings=fresh_settings) as memory:
        memory.load(*samples.write(tmp_path))
        documents = memory.status().nodes["Document"]
        memory.ask("Who built the Stone Pier?", strategy="linked", k=3, keep=False)
    spans = {span.name: span for span in exporter.get_finished_spans()}
    load, ask, database = (spans[f"gswgraph.{name}"] for name in ("load", "ask", "database"))
    assert load.attributes["gswgraph.documents_new"] == documents > 0
    assert load.attributes["gswgraph.seconds_embed"] >= 0
    assert ask.attributes["gswgraph.strategy"] == "linked"
    assert ask.attributes["gswgraph.k"] == 3
    assert ask.attributes["gswgraph.passages"] == 3
    assert database.parent is not None
    assert database.parent.span_id == ask.context.span_id
    assert not any(
        "Stone Pier" in str(value) for span in spans.values() for value in span.attributes.values()
    ), "no text of questions or documents"
