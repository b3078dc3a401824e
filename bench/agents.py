"""How long an agent's plan of three independent sub-questions takes, beside a plan of one, where each call of the model takes a second.

    python bench/agents.py [--delay SECONDS]

The model's replies are scripted: calls side by side are measured, not answers."""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from recorder import ModelServer, stage_of

from gsw_graph.config import Settings
from gsw_graph.memory import Memory

EXAMPLES = Path(__file__).parents[1] / "examples"
ONE = "When was the Marrow Bridge opened?"
THREE = (ONE, "Who built the Great Tide Engine?", "Where was Josef Brandl born?")


def main() -> None:
    """Ask both, print both times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=1.0)
    delay = parser.parse_args().delay

    def says(body: dict[str, Any]) -> str:
        asked = str(body["messages"][-1]["content"])
        if stage_of(body) == "grasp_plan":
            steps = THREE if " and " in asked else (ONE,)
            return "Plan: Ask.\n" + "\n".join(f"{n}. {step}" for n, step in enumerate(steps, 1))
        first = next(line for line in asked.splitlines() if line.startswith("[1] ")).removeprefix("[1] ")
        said = " ".join(first.split()[-3:])
        if stage_of(body) == "grasp_find":
            return f"Answer: {said}\nFinding: {first}\nLines: 1"
        return f"Answer: {said}\nSources: 1"

    with tempfile.TemporaryDirectory() as folder, ModelServer(says, delay=delay) as server:
        settings = Settings(memory=f"{folder}/memory", cache_dir=Settings.from_env().cache_dir)
        with Memory.open(settings=settings) as memory:
            memory.load(str(EXAMPLES / "workspaces.jsonl"))
            memory.warm()
            took = {}
            for name, question in (("warm", ONE), ("one", ONE), ("three", " and ".join(THREE))):
                model = replace(settings, llm=f"{name}-{server.url}", llm_url=server.url)  # no reply is kept for it
                asking = Memory(memory._connection, model, memory.embedder)
                answer = asking.ask(question, strategy="grasp", keep=False)
                asking._close_chat()
                took[name] = answer.seconds["total"]
                assert answer.answer, answer
    print(
        f"one sub-question {took['one']:.2f} s, three {took['three']:.2f} s, {took['three'] / took['one']:.2f} times"
    )


if __name__ == "__main__":
    main()
