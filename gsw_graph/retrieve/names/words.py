"""A question as words for a full-text index."""

from __future__ import annotations

import re

from gsw_graph.names import LETTERS

_WORDS = 64  # a question has no more; Lucene refuses more than 1,024


def lucene_words(question: str) -> str:
    """A question as words that Lucene takes for words alone: no operator, no syntax, no more than it
    accepts."""
    return " ".join(re.findall(LETTERS, question.lower())[:_WORDS])
