"""The memory and its answers as Python shows them: opened by mistake, closed, printed, in a notebook, as data frames."""

from __future__ import annotations

from dataclasses import replace

import fake_memory
import pytest
from cli_runner import HOSTILE

from gsw_graph.config import Settings
from gsw_graph.errors import EngineError
from gsw_graph.memory import Memory
from gsw_graph.model.results import Statement, Table

ANSWER = fake_memory.chained("Where was the founder born?")


def test_a_memory_is_made_unless_that_is_not_wanted(tmp_path):
    settings = Settings(memory=str(tmp_path / "nomem"))
    with pytest.raises(EngineError, match="there is no memory here"):
        Memory.open(settings=settings, create=False)
    assert not (tmp_path / "nomem").exists()
    memory = Memory.open(settings=settings)
    assert repr(memory).startswith(f"<Memory {str(tmp_path / 'nomem')!r}, arcadedb ")
    assert (tmp_path / "nomem").is_dir()
    memory.close()
    memory.close()
    assert repr(memory).endswith(", closed>")
    calls = (
        lambda: memory.ask("Who?"),
        memory.status,
        memory.doctor,
        memory.history,
        lambda: memory.load("x"),
        lambda: memory.cypher("RETURN 1"),
    )
    for call in calls:
        with pytest.raises(EngineError, match=r"the memory is closed. Open it again"):
            call()
    Memory.open(settings=settings, create=False).close()


def test_an_answer_prints_as_people_read_it():
    lines = str(ANSWER).splitlines()
    assert lines[0] == "Skarholm  (confidence 0.75, read off a chain)"
    assert lines[2:4] == ['[1] "Ada founded it."', "    Title 1, /far/1.md"]
    assert "1. Title 1, /far/1.md" in lines
    assert max(map(len, lines)) <= 100
    assert len(str(ANSWER)) < 1500
    plain = fake_memory.canned("q", [fake_memory.passage(1), fake_memory.passage(2)])
    assert str(plain).splitlines()[0] == "No answer; 2 passages found."
    assert str(fake_memory.canned("q", [])) == "Not in memory: nothing was found."
    model = replace(ANSWER, answer_source="llm", confidence=None, models={"llm": "small"}, note="so it is")
    assert str(model).splitlines()[:2] == ["Skarholm  (from the model small)", "Note: so it is"]
    follows = replace(model, text="Skarholm", statements=[Statement("Skarholm", [0, 1], follows=True)])
    assert str(follows).startswith("Skarholm (not stated, follows from [1, 2])\n\n(from the model small)\n")


def test_a_notebook_gets_html_that_no_document_writes():
    script = f"<script>alert(1)</script>{HOSTILE}"
    hostile = replace(ANSWER, answer=script, note=script)
    table = Table([script], [{script: script}, {script: {script: 1}}, {script: None}])
    for html in (hostile._repr_html_(), table._repr_html_()):
        assert "<script" not in html
        assert "&lt;script&gt;" in html
    for text in (hostile._repr_html_(), table._repr_html_(), str(hostile)):
        assert not set(text) & set("\x1b\x9b\x07\u202e\udc00")
    assert "<p>3 rows</p>" in table._repr_html_()
    many = Table(["n"], [{"n": n} for n in range(101)])
    assert many._repr_html_().count("<td>") == 100
    assert "101 rows, the first 100 shown" in many._repr_html_()
