"""What an index and a question cost, as `eval` reports it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from evaluate_fakes import FakeMemory, questions, record

from gsw_graph.config import Settings
from gsw_graph.evaluate import evaluate
from gsw_graph.evaluate.costs import index_costs
from gsw_graph.evaluate.report import figures, protocol
from gsw_graph.model.ledger import Entry
from gsw_graph.models.chat.cache import FILE, Cache, Ledger

TWO = questions(record("a", 1), record("bbbb", 1))


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr("gsw_graph.evaluate.run.WARM", 0.0)


class Extracted(FakeMemory):
    """Holds two documents that a model read, in a folder if it is given one."""

    folder = None

    def documents(self):
        read = [SimpleNamespace(source=f"/far/{n}.md", extractor="llm", model="m") for n in (1, 2)]
        return SimpleNamespace(documents=read)

    def status(self):
        status = replace(super().status(), relationships={"IN": 5, "ASKS": 2})
        return replace(status, memory=str(self.folder)) if self.folder else status


@pytest.fixture
def memory(tmp_path):
    cache = Cache(tmp_path / FILE)
    for source in ("/far/1.md", "/far/2.md", "/another/memory.md", ""):
        entry = Entry(source, "extract", "m", calls=1, prompt_tokens=100, completion_tokens=20, seconds=2.5)
        Ledger(cache).add(entry)
        for other in ({"stage": "extract_propositions"}, {"model": "another"}):  # of another memory
            Ledger(cache).add(replace(entry, **other))
    cache.close()
    return Extracted(lambda *_: [1], settings=Settings(cache_dir=tmp_path))


def test_an_index_costs_the_calls_about_its_documents_and_its_place(memory, tmp_path):
    costs = index_costs(memory, memory.status())
    assert costs["tokens"] == {"in": 200, "out": 40}
    assert costs["seconds"] == 5
    assert (costs["nodes"], costs["relationships"], costs["bytes"]) == (12, 7, None)
    memory.folder = tmp_path / "memory"
    memory.folder.mkdir()
    (memory.folder / "part").write_bytes(b"x" * 1500)
    assert index_costs(memory, memory.status())["bytes"] == 1500


def test_the_table_has_the_costs_of_the_index(memory, tmp_path):
    memory.folder = tmp_path
    columns, rows = figures(evaluate(memory, TWO, ["linked", "dense"]))
    for row in rows:
        shown = dict(zip(columns, row, strict=True))
        assert shown["index tokens"] == ("200 + 40", "in + out")
        assert shown["index seconds"][0] == "5.0"
        assert shown["index nodes"] == ("12", "7 edges")
        assert "index MB" in shown
    plain = figures(
        evaluate(FakeMemory(lambda *_: [1], settings=Settings(cache_dir=tmp_path / "none")), TWO)
    )[0]
    assert not {"index tokens", "index seconds", "index MB"} & set(plain)


def test_questions_side_by_side_have_times_of_their_own(memory):
    alone = evaluate(memory, TWO, ["linked"])
    beside = evaluate(memory, TWO, ["linked"], at_once=2)
    assert beside.strategies["linked"]["ms"] == alone.strategies["linked"]["ms"]
    assert [row["strategies"]["linked"]["ms"] for row in beside.questions] == [20, 50]
    assert "2 at once" in protocol(beside)
    assert "at once" not in protocol(alone)
