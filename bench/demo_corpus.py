"""Build examples/corpus.jsonl, the documents of `gswgraph demo`: examples/corpus with what the recorded replies found.

python bench/demo_corpus.py            # writes examples/corpus.jsonl
python bench/demo_corpus.py --check    # fails where the file is another
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gsw_graph import loaders
from gsw_graph.model.documents import Document

EXAMPLES = Path(__file__).parents[1] / "examples"


def records() -> Iterator[dict[str, Any]]:
    """Yield the workspace of each document."""
    lines = (EXAMPLES / "replies.jsonl").read_text(encoding="utf-8").splitlines()
    replies = [reply for reply in map(json.loads, lines) if reply.get("when", {}).get("stage") == "extract"]
    for document in loaders.read([str(EXAMPLES / "corpus")]):
        if not isinstance(document, Document):
            sys.exit(f"cannot be read: {document}")
        passages = [passage.text for passage in document.passages]
        workspace: dict[str, Any] = {
            "title": document.title,
            "source": f"corpus/{Path(document.source).name}",
            "text": "\n\n".join(passages),
            "entities": [],
            "verb_phrases": [],
            "propositions": [],
        }
        for text in passages:
            add(workspace, reply_to(f"{document.title} {text}", replies))
        yield workspace


def reply_to(text: str, replies: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the one reply to a passage."""
    plain = " ".join(text.split())
    (reply,) = (
        reply["reply"]
        for reply in replies
        if all(" ".join(part.split()) in plain for part in reply["when"]["contains"])
    )
    return dict(reply)


def add(workspace: dict[str, Any], reply: dict[str, Any]) -> None:
    """Add what a reply found: its roles are texts, `role: state; state`."""
    names = [entity["name"] for entity in reply["entities"]]
    for entity in reply["entities"]:
        roles = [role.partition(": ") for role in entity["roles"]]
        workspace["entities"].append(
            {
                "name": entity["name"],
                "roles": [
                    {"role": role, "states": [state for state in states.split("; ") if state]}
                    for role, _, states in roles
                ],
            }
        )
    for verb in reply["verb_phrases"]:
        questions = [{"text": pair["question"], "answers": pair["answers"]} for pair in verb["questions"]]
        workspace["verb_phrases"].append({"phrase": verb["phrase"], "questions": questions})
    for text in reply["propositions"]:
        workspace["propositions"].append({"text": text, "entities": [name for name in names if name in text]})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    corpus = "".join(
        json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n" for record in records()
    )
    file = EXAMPLES / "corpus.jsonl"
    if check and file.read_text(encoding="utf-8") != corpus:
        sys.exit(f"{file} is not what this builds")
    if not check:
        file.write_text(corpus, encoding="utf-8")
