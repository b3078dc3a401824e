"""A traced connection tells each statement, and what it tells can be pasted and run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import fakes
import pytest
from cli_runner import fake, run
from engines import own_replies
from fake_memory import canned

from gsw_graph.memory import Memory
from gsw_graph.models.embed.embedder import Embedder

__all__ = ["fake"]
DOCUMENTS = [
    "Ada Marr founded the Foundry of Skarholm.",
    "Skarholm is a town on the river Lume. Ada Marr was born there.",
]


def test_a_question_tells_its_statements_so_that_they_can_be_pasted(fresh_settings, tmp_path, monkeypatch):
    monkeypatch.setattr(Embedder, "load", staticmethod(fakes.embedder))
    for number, text in enumerate(DOCUMENTS):
        (tmp_path / f"{number}.txt").write_text(text)
    lines = []
    with Memory.open(settings=own_replies(fresh_settings, tmp_path / "cache"), tracer=lines.append) as memory:
        memory.load(*map(str, tmp_path.glob("*.txt")))
        written = [line.splitlines()[0] for line in lines]
        assert any("write/passages" in line for line in written)
        assert any("schema/vector" in line for line in written)
        lines.clear()
        answer = memory.ask("Where was Ada Marr born?", strategy="linked")
        heads = [line.splitlines()[0] for line in lines]
        reads = [line for line in lines if line.startswith("// read/")]
        assert all(re.fullmatch(r"// [a-z_0-9./]+\.(cypher|sql): \d+\.\d ms", head) for head in heads), heads
        assert any(head.startswith("// read/") for head in heads)
        assert len(answer.passages) == 2
        assert " numbers */" in "".join(reads)
        for line in reads:
            parameters = {}
            for name, value in re.findall(r"^:param (\w+) => (.*);$", line, re.MULTILINE):
                parameters[name] = memory.cypher(f"RETURN {value} AS value").rows[0]["value"]
            query = re.sub(r"^:param .*\n", "", line, flags=re.MULTILINE)
            memory.cypher(query, **parameters)
        with pytest.raises(Exception, match="query"):
            memory.cypher("RETURN 1/0 AS x")
        assert any(line.startswith(("// a query: failed", "// a query: ")) for line in lines)


def test_the_command_line_shows_statements_on_standard_error(fake, monkeypatch):
    def ask(memory, question, **_):
        if memory.tracer is not None:
            memory.tracer("// read/dense.cypher\x1b[2J: 1 row, 1.0 ms\nRETURN 1;\n")
        return canned(question, [])

    monkeypatch.setattr(fake, "ask", ask)
    shown = run("ask", "--show-cypher", "--json", "q")
    assert json.loads(shown.stdout)["question"] == "q"
    assert shown.stderr.startswith("// read/dense.cypher: 1 row, 1.0 ms\nRETURN 1;\n")
    assert run("ask", "--json", "q").stderr == ""


def test_statements_stand_in_files_of_their_own():
    root = Path(__file__).parent.parent
    cypher = re.compile(r'"[^"\n]*\b(MATCH \(|MERGE \(|UNWIND \$|SHOW INDEXES YIELD|CALL db\.|DETACH DELETE)')
    files = [
        *(root / "gsw_graph").rglob("*.py"),
        *(root / "loaders").glob("*.py"),
        *(root / "cli").glob("*.py"),
    ]
    found = {str(file.relative_to(root)): cypher.findall(file.read_text(encoding="utf-8")) for file in files}
    assert {name: words for name, words in found.items() if words} == {}
