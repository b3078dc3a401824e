"""A first session in small, in a process of its own, which Java writes its start cache from
(`engine/embedded_child.py`)."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from gsw_graph.engine import Connection, embedded_child, embedded_folder, open_driver
from gsw_graph.engine.embedded import EmbeddedDialect
from gsw_graph.extract import rules
from gsw_graph.model.documents import Document, Passage
from gsw_graph.store import schema, writer
from gsw_graph.store.reader import Reader

_PASSAGES = 300


def rehearse(memory: Path, heap: str, arguments: list[str]) -> None:
    """Do what a first session does, in small: schema, a load, the search indexes, a question, a removal."""
    embedded_folder.prepare(memory)
    server, ready = embedded_child.start_server(memory, heap, arguments)
    server.create_database(embedded_child.DATABASE)
    auth = ("root", embedded_folder.read_password(memory))
    process: Any = SimpleNamespace(
        ready=ready, ask=lambda question, _: embedded_child.answer(server, question)
    )
    with open_driver(f"bolt://127.0.0.1:{ready['bolt']}", auth) as driver:
        connection = Connection(driver, embedded_child.DATABASE, EmbeddedDialect(process), str(memory))
        schema.prepare(connection, "rehearsal", 384)
        vectors = np.random.default_rng(0).normal(size=(_PASSAGES, 384)).astype(np.float32)
        batch = writer.Batch()
        ids = []
        for number in range(_PASSAGES):
            passage = Passage(
                f"Some Name {number} met Another Name {number % 7} in the Town of Place {number % 50} on 3 "
                f"May {1900 + number % 90}.",
                "Title",
                0,
            )
            document = Document(f"rehearsal/{number}", "Title", (passage,), "text")
            ids.append(document.id)
            batch.add(rules.extract(document), {passage.full_text: vectors[number]})
        reader = Reader(connection)
        reader.document_states(ids)
        writer.write_batch(connection, batch)
        with driver.session(database=connection.database) as session:
            schema.build_search_indexes(connection, 384)
            vector = vectors[0].tolist()
            results = reader.neighbourhood(
                [vector], ["some name 0"], near=100, best=3, cap=100, scan=500, limit=2000, texts=30
            )
            reader.passages([passage for passage, _ in results.near[0][:5]], [0.0] * 5)
            reader.counts()
            writer.forget(session, ids)
    server.stop()


if __name__ == "__main__":
    embedded_child.record(Path(sys.argv[1]), sys.argv[2], rehearse)
