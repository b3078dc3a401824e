"""The retrievers of LangChain and LlamaIndex give what `Memory.ask` finds; with the packages themselves."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from gsw_graph.config import Settings
from gsw_graph.memory import Memory

if not os.environ.get("CI") and not all(map(find_spec, ("langchain_core", "llama_index"))):
    pytest.skip("needs the extras langchain and llamaindex", allow_module_level=True)

QUESTION = "Who built the Stone Pier?"


@pytest.fixture
def memory(sample_folder: Path, tmp_path: Path, fake_embedder: None) -> Iterator[Memory]:
    shutil.copytree(sample_folder, tmp_path / "memory")
    with Memory.open(settings=Settings(memory=str(tmp_path / "memory"))) as memory:
        yield memory


def test_langchain(memory: Memory) -> None:
    from gsw_graph.serve.langchain import MemoryRetriever

    expected = memory.ask(QUESTION, k=3, strategy="linked").passages
    documents = MemoryRetriever(memory=memory, k=3, options={"strategy": "linked"}).invoke(QUESTION)
    assert [(document.id, document.page_content) for document in documents] == [(p.id, p.text) for p in expected]
    assert documents[0].metadata == {"title": expected[0].title, "source": expected[0].source, "score": expected[0].score}


def test_llama_index(memory: Memory) -> None:
    from gsw_graph.serve.llamaindex import MemoryRetriever

    expected = memory.ask(QUESTION, k=3, strategy="linked").passages
    nodes = MemoryRetriever(memory, k=3, strategy="linked").retrieve(QUESTION)
    assert [(node.node_id, node.text, node.score) for node in nodes] == [(p.id, p.text, p.score) for p in expected]
    assert nodes[0].metadata == {"title": expected[0].title, "source": expected[0].source}
