"""A retriever for LangChain (the extra `langchain`)."""

from __future__ import annotations

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from gsw_graph.memory import Memory
from gsw_graph.serve.retrieved import passage_metadata
from gsw_graph.values import Fields


class MemoryRetriever(BaseRetriever):  # type: ignore[misc,unused-ignore]  # Any where it is missing
    """Find the passages of a memory for a question, best first.

    Attributes:
        memory: An open memory.
        k: How many passages.
        options: Further options of `Memory.ask`, such as `strategy` or the scope `inside`.
    """

    model_config = {"arbitrary_types_allowed": True}  # noqa: RUF012 - as pydantic wants it

    memory: Memory
    k: int = 5
    options: Fields = {}  # noqa: RUF012 - pydantic copies it

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - as of every retriever
        k: int | None = None,
    ) -> list[Document]:
        """Return the passages; `k` of `invoke` wins over the retriever's."""
        how = {"k": self.k, "answer": False, "keep": False, **self.options}
        if k is not None:
            how["k"] = k
        answer = self.memory.ask(query, **how)
        return [
            Document(
                id=passage.id,
                page_content=passage.text,
                metadata=passage_metadata(passage, answer.confidence),
            )
            for passage in answer.passages
        ]
