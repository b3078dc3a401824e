"""The tests that LangChain has for every retriever; `test_retrievers` runs them in a process of their own, as the plugins that they need concern no other test."""

from __future__ import annotations

import fakes
import pytest
import samples
from langchain_tests.integration_tests import RetrieversIntegrationTests

from gsw_graph.config import Settings
from gsw_graph.memory import Memory
from gsw_graph.serve.langchain import MemoryRetriever


class TestMemoryRetriever(RetrieversIntegrationTests):
    memory: Memory

    @pytest.fixture(scope="class", autouse=True)
    def opened(self, request, tmp_path_factory):
        folder = tmp_path_factory.mktemp("standard")
        settings = Settings(memory=str(folder / "memory"))
        with Memory.open(settings=settings) as memory:
            memory._embedder = fakes.embedder(settings)
            assert memory.load(*samples.write(folder)).failures == []
            request.cls.memory = memory
            yield

    @property
    def retriever_constructor(self):
        return MemoryRetriever

    @property
    def retriever_constructor_params(self):
        return {"memory": self.memory}

    @property
    def retriever_query_example(self):
        return "Who built the Stone Pier?"
