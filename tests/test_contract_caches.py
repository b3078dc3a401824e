"""Two clients of one memory by turns, on every engine: each sees what the other wrote in its next question."""

from __future__ import annotations

from contract import records, sources

from gsw_graph.memory import Memory


def test_every_write_is_seen_at_once(memory, tmp_path):
    other = Memory(memory._connection, memory._settings)  # as another process of a server would be
    for number in range(3):
        (memory, other)[number % 2].load(
            records(tmp_path, *[f"Then Person{n} Smith came." for n in range(number + 1)])
        )
        for one in (memory, other):
            assert f"d{number}" in sources(one.ask(f"Who is Person{number} Smith?", k=number + 1))
            assert len(one.ask(f"Who is Person{number} Smith?", k=9).passages) == number + 1
    memory.forget("d1")
    assert set(sources(other.ask("Who is Person1 Smith?", k=9))) == {"d0", "d2"}
    other.forget("d2")
    assert set(sources(memory.ask("Who is Person1 Smith?", k=9))) == {"d0"}
