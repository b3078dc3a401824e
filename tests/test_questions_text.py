"""A question whose text no database takes is answered and kept all the same."""

from __future__ import annotations

from types import SimpleNamespace

from fake_memory import chained

from gsw_graph.store.questions import keep


def test_half_a_surrogate_pair_in_a_question():
    sent = []

    def write(_, *, properties, **others):
        for value in filter(lambda value: isinstance(value, str), properties.values()):
            value.encode()  # as the driver does
        sent.append(properties)

    connection = SimpleNamespace(write=write)
    answer = chained(
        "Who \ud83d built it?", answer="the \udc00 mayor", plan=[{"id": 1, "question": "Who \ud83d?"}]
    )
    assert keep(connection, answer)
    assert sent[0]["question"] == "Who \ufffd built it?"
    assert sent[0]["answer"] == "the \ufffd mayor"
    assert sent[0]["plan"] == '[{"id": 1, "question": "Who \ufffd?"}]'
