"""An answer in full: with a statement that follows, one with a name that is in no source, code, and a part that is missing."""

from __future__ import annotations

from fake_memory import chained, passage

from gsw_graph.model.results import Citation, Statement

CODE = "```sh\npumpctl prime --wait     --until-the-gauge-shows 0.2\n```"
LONG = "Fill the chamber to the mark first, as the pump does not start dry, unless it is the model with a float switch:"
STATEMENTS = [
    Statement(LONG, [0]),
    Statement(CODE, [1]),
    Statement("It was 43 years old.", [0, 1], follows=True),
    Statement("Fennick & Sons sold `pumps[1]`.", [1], unsupported=["Fennick & Sons"]),
]
TEXT = f"{LONG} [1]\n{CODE}\n[2]\nIt was 43 years old. [1][2] Fennick & Sons sold `pumps[1]`. [2]"
CITATIONS = [
    Citation("p1", "d1", "Pumps", "/far/1.md", "The pump does not start dry.", "Pumps > Priming"),
    Citation("p2", "d2", "pumpctl", "/far/2.md", "Run `pumpctl prime`."),
]


def full_answer(question="How do I start the pump?", **changes):
    """The answer, whose passages hold what it cites."""
    plain = {
        "answer": "no, unless it was primed",
        "answer_source": "llm",
        "text": TEXT,
        "statements": STATEMENTS,
        "citations": CITATIONS,
        "missing": "Who sells the pump?",
        "models": {"llm": "small"},
        "chains": [],
        "passages": [passage(1, title="Pumps", text="Pumps\nThe pump does not start dry. It hums.")],
        "confidence": None,
        "plan": None,
    }
    return chained(question, **(plain | changes))
