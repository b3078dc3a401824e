"""`gswgraph demo`: an invented coast, loaded and asked without any model or key."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

import gsw_graph
from gsw_graph.cli.load import print_summary
from gsw_graph.cli.options import json_option, open_memory, with_memory
from gsw_graph.cli.text.answers import print_answer
from gsw_graph.cli.text.output import Waiting, print_json
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from gsw_graph.memory import Memory
    from gsw_graph.model.results import Answer

QUESTIONS = (
    (
        "An answer with its citations, read off the graph; no language model is asked.",
        "Who designed the Tidewater Theatre?",
        (),
    ),
    (
        "Two steps, by a plan: the second asks with what the first found.",
        "With which opera did the theatre designed by Ottilie Grau open?",
        ("Which theatre did Ottilie Grau design?", "With which opera did the #1 open?"),
    ),
    (
        "Passages alone, where no plan is given and no model makes one.",
        "In what disaster did the architect of the Vellmouth Observatory die?",
        (),
    ),
)
DEFAULT = "gswgraph-demo"


@click.command()
@with_memory
@json_option
def demo(url: str | None, as_json: bool) -> None:
    """Load thirty short documents with what was found in them, and ask three questions.

    The memory is the folder gswgraph-demo, or the one that --memory names; it stays, so that you can ask your own questions. No
    language model is asked: what was found in the documents comes with them.

    \b
    Example:
      gswgraph demo
      gswgraph --memory /tmp/coast demo
      gswgraph demo --json
    """
    url = url or DEFAULT
    memory_argument = f"gswgraph --memory {shlex.quote(url)}"
    with open_memory(url, create=True, models=["embedder"]) as memory:
        if as_json:
            document: Fields = {"memory": url, "load": memory.load(str(corpus())).to_dict()}
            document["answers"] = [_ask(memory, question, plan).to_dict() for _, question, plan in QUESTIONS]
            print_json(document)
            return
        click.echo(f"$ {memory_argument} load {shlex.quote(str(corpus()))}")
        with Waiting().begin("loading"):
            report = memory.load(str(corpus()))
        print_summary(report, dry_run=False)
        for comment, question, plan in QUESTIONS:
            option = f" --plan {shlex.quote(json.dumps(plan))}" if plan else ""
            click.echo(f"\n# {comment}\n$ {memory_argument} ask -k 2{option} {shlex.quote(question)}\n")
            print_answer(_ask(memory, question, plan), embedder=memory.loaded_embedder)
    click.echo(
        f"\nYour own questions:             {memory_argument} ask"
        "\nYour own documents and model:   export GSWGRAPH_LLM=MODEL OPENAI_API_KEY=KEY    "
        "# or GSWGRAPH_LLM_URL of your own server"
        "\n                                gswgraph --memory my-memory load FILES && gswgraph --memory my-memory ask"
    )


def _ask(memory: Memory, question: str, plan: tuple[str, ...]) -> Answer:
    return memory.ask(question, k=2, plan=list(plan) or None, llm=False)


def corpus() -> Path:
    """Return the file of the documents: in the installed package, or in a clone."""
    here = Path(gsw_graph.__file__).parent
    return next(
        path
        for path in (here / "examples/corpus.jsonl", here.parent / "examples/corpus.jsonl")
        if path.exists()
    )
