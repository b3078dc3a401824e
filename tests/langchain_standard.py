"""The tests that LangChain has for every retriever; `test_retrievers` runs them in a process of their own, as the plugins that they need concern no other test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
    def opened(self, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
        folder = tmp_path_factory.mktemp("standard")
        settings = Settings(memory=str(folder / "memory"))
        with Memory.open(settings=settings) as memory:
            memory._embedder = fakes.embedder(settings)
            assert memory.load(*samples.write(folder)).failures == []
            request.cls.memory = memory
            yield

    @property
    def retriever_constructor(self) -> type[MemoryRetriever]:
        return MemoryRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory}

    @property
    def retriever_query_example(self) -> str:
        return "Who built the Stone Pier?"
