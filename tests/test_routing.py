"""On a cluster (`neo4j://`) statements that read go to readers, and every session has seen what this process wrote before."""

from __future__ import annotations

import re
from pathlib import Path

import samples

from gsw_graph.memory import Memory

CYPHER = Path(__file__).parents[1] / "cypher"


class Watched:
    """A driver, a session or a transaction that notes with which access each statement ran."""

    def __init__(self, inner, seen, access="", ordered=False):
        self._inner = inner
        self._seen = seen
        self._access = access
        self._ordered = ordered

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def __enter__(self):
        self._inner.__enter__()
        return self

    def __exit__(self, *given):
        self._inner.__exit__(*given)

    def session(self, **given):
        ordered = given.get("bookmark_manager") is self._inner.execute_query_bookmark_manager
        return Watched(
            self._inner.session(**given), self._seen, given.get("default_access_mode", "WRITE"), ordered
        )

    def execute_query(self, text, parameters_=None, **given):
        self._note(
            text, {"r": "READ"}.get(given.get("routing_", "w"), "WRITE"), "bookmark_manager_" not in given
        )
        return self._inner.execute_query(text, parameters_, **given)

    def begin_transaction(self, **given):
        return Watched(self._inner.begin_transaction(**given), self._seen, self._access, self._ordered)

    def execute_read(self, work, *rest, **given):
        return self._inner.execute_read(
            lambda tx, *some, **more: work(Watched(tx, self._seen, "READ", self._ordered), *some, **more),
            *rest,
            **given,
        )

    def execute_write(self, work, *rest, **given):
        return self._inner.execute_write(
            lambda tx, *some, **more: work(Watched(tx, self._seen, "WRITE", self._ordered), *some, **more),
            *rest,
            **given,
        )

    def run(self, text, *rest, **given):
        self._note(text, self._access, self._ordered)
        return self._inner.run(text, *rest, **given)

    def _note(self, text, access, ordered):
        self._seen.append((text, access, ordered))


def test_reads_go_to_readers_and_see_what_was_written(tmp_path, fake_embedder):
    seen = []
    with Memory.open(str(tmp_path / "memory")) as memory:
        memory._connection.driver = Watched(memory._connection.driver, seen)
        assert memory.load(*samples.write(tmp_path)).failures == []
        for strategy in ("linked", "ricr", "dense", "bm25"):
            memory.ask("Where was Ana Ruiz born?", strategy=strategy)
        memory.show("Ana Ruiz")
        memory.status()
    writes = re.compile(r"\b(CREATE|MERGE|SET|DELETE|REMOVE)\b")
    code = [(re.sub(r"//.*|'[^']*'|`[^`]*`", "", text), access, ordered) for text, access, ordered in seen]
    reading = {text: access for text, access, _ in code if not writes.search(text)}
    assert len(reading) > 10
    assert {access for text, access, _ in code if writes.search(text)} == {"WRITE"}
    assert [text for text, access in reading.items() if access != "READ" and not part_of_a_write(text)] == []
    assert [text for text, _, ordered in code if not ordered] == []


def part_of_a_write(text):
    """Whether a statement is of those that only writers run, in the transaction of what they write."""
    return any(
        text.strip() == re.sub(r"//.*|'[^']*'|`[^`]*`", "", file.read_text(encoding="utf-8")).strip()
        for file in (CYPHER / "write").glob("*.cypher")
    )
