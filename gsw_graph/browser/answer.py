"""The Cypher that draws an answer, or a whole memory, in Neo4j Browser."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from gsw_graph.naming.connecting import connects
from gsw_graph.store.statements import statement

if TYPE_CHECKING:
    from gsw_graph.store.reader import Reader

TITLE = "What the answer stands on"  # the name under which Browser keeps it
_COMMON = 50  # a name of more passages says little about what brings two of them together
_COMMENTS = re.compile(r"\A(?://[^\n]*\n)+")


def drawing(reader: Reader, question: str) -> str:
    """A query that runs as it stands and draws what the answer to a kept question stands on, by the id of
    the question. Names that join nothing are left out by their ids: the words of documents never get into a
    query that people run."""
    left_out = sorted(
        row["id"]
        for row in reader.answer_names(question)
        if row["dated"] or row["passages"] > _COMMON or not connects(row["name"])
    )
    filled = _query("answer_drawn").replace("$question", json.dumps(question))
    return f"// {TITLE}\n{filled.replace('$left_out', json.dumps(left_out))}"


def overview() -> str:
    """A query that draws the names that bring most documents together."""
    return f"// What brings the documents together\n{_query('overview_drawn')}"


def _query(name: str) -> str:
    text: str = statement(f"read/{name}", "neo4j")
    return _COMMENTS.sub("", text).strip()
