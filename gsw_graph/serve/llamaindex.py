"""A retriever for LlamaIndex (the extra `llamaindex`)."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from gsw_graph.memory import Memory
from gsw_graph.serve.retrieved import passage_metadata

_NOT_SHOWN = ["id", "score", "confidence"]  # to language models, and embedded


class MemoryRetriever(BaseRetriever):  # type: ignore[misc,unused-ignore]  # Any where it is missing
    """Find the passages of a memory for a question, best first.

    Args:
        memory: An open memory.
        k: How many passages.
        options: Further options of `Memory.ask`, such as `strategy` or the scope `inside`.
    """

    def __init__(self, memory: Memory, k: int = 5, **options: Any) -> None:
        self._memory = memory
        self._options = {"k": k, "answer": False, "keep": False, **options}
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        answer = self._memory.ask(query_bundle.query_str, **self._options)
        return [
            NodeWithScore(
                node=TextNode(
                    id_=passage.id,
                    text=passage.text,
                    metadata=passage_metadata(passage, answer.confidence),
                    excluded_llm_metadata_keys=_NOT_SHOWN,
                    excluded_embed_metadata_keys=_NOT_SHOWN,
                ),
                score=passage.score,
            )
            for passage in answer.passages
        ]
