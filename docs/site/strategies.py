"""The table of strategies, from their records."""

from __future__ import annotations

from gsw_graph.ask.retrieve.strategies import STRATEGIES

# Where each is explained.
PAGES = {
    "auto": "strategies.md#auto",
    "linked": "linked.md",
    "ricr": "ricr.md",
    "fusion": "proprag.md",
    "pathwise": "pathwise.md",
    "proprag": "proprag.md",
    "pruned": "pruned.md",
    "grasp": "grasp.md",
    "overview": "answering.md#overviews",
    "select": "strategies.md#select",
    "ircot": "grasp.md",
    "dense": "strategies.md#dense-and-bm25",
    "bm25": "strategies.md#dense-and-bm25",
    "none": "strategies.md",
}
_NEEDS = {"pairs": "question-answer pairs", "propositions": "propositions", "llm": "a language model"}


def table() -> str:
    """One row a strategy: what it does, what it cannot run without, whether it follows a plan, what it gives."""
    rows = ["| strategy | what it does | needs | plan | gives |", "|---|---|---|---|---|"]
    for name, strategy in STRATEGIES.items():
        needs = ", ".join(_NEEDS[need] for need in sorted(strategy.needs)) or "-"
        plan = "makes its own" if strategy.makes_plan else "follows one" if strategy.follows_plan else "-"
        rows.append(
            f"| [`{name}`]({PAGES[name]}) | {strategy.help} | {needs} | {plan} | {', '.join(sorted(strategy.gives))} |"
        )
    return "\n".join(rows)
