"""The retrievers of LangChain and LlamaIndex give what `Memory.ask` finds; with the packages themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

if not os.environ.get("CI") and not all(map(find_spec, ("langchain_core", "llama_index"))):
    pytest.skip("needs the extras langchain and llamaindex", allow_module_level=True)

QUESTION = "Who built the Stone Pier?"


def test_langchain(asked_sample):
    from gsw_graph.serve.langchain import MemoryRetriever

    expected = asked_sample.ask(QUESTION, k=3, strategy="linked").passages
    documents = MemoryRetriever(memory=asked_sample, k=3, options={"strategy": "linked"}).invoke(QUESTION)
    assert [(document.id, document.page_content) for document in documents] == [
        (p.id, p.text) for p in expected
    ]
    confidence = asked_sample.ask(QUESTION, k=3, strategy="linked").confidence
    assert [document.metadata for document in documents] == [
        described(passage, confidence) for passage in expected
    ]


def described(passage, confidence):
    names = ("id", "title", "section", "source", "score")
    return {**{name: getattr(passage, name) for name in names}, "confidence": confidence}


def test_langchain_takes_the_number_of_passages_where_it_is_asked(asked_sample):
    from gsw_graph.serve.langchain import MemoryRetriever

    retriever = MemoryRetriever(memory=asked_sample, options={"strategy": "linked"})
    assert [len(retriever.invoke(QUESTION, k=number)) for number in (1, 3)] == [1, 3]
    assert len(retriever.invoke(QUESTION)) == min(5, len(retriever.invoke(QUESTION, k=10)))


@pytest.mark.skipif(
    not (os.environ.get("CI") or find_spec("langchain_tests")), reason="needs langchain-tests"
)
def test_langchain_passes_the_tests_that_langchain_has_for_retrievers(tmp_path):
    tests = Path(__file__).with_name("langchain_standard.py")
    options = [
        "--noconftest",
        "-c",
        os.devnull,
        "--rootdir",
        str(tmp_path),
        "-p",
        "no:cacheprovider",
        "-o",
        "asyncio_mode=auto",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options, str(tests)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout, done.stdout


def test_llama_index(asked_sample):
    from llama_index.core.schema import MetadataMode

    from gsw_graph.serve.llamaindex import MemoryRetriever

    expected = asked_sample.ask(QUESTION, k=3, strategy="linked").passages
    nodes = MemoryRetriever(asked_sample, k=3, strategy="linked").retrieve(QUESTION)
    found = [(node.node_id, node.text, node.score) for node in nodes]
    assert found == [(p.id, p.text, p.score) for p in expected]
    confidence = asked_sample.ask(QUESTION, k=3, strategy="linked").confidence
    assert [node.metadata for node in nodes] == [described(passage, confidence) for passage in expected]
    assert nodes[0].get_content(MetadataMode.LLM).count(expected[0].id) == 0, (
        "what identifies a passage is not shown to models"
    )
