"""A chain from the question alone, where no plan is given: pairs about what it names, their answers as new
names, the question again with them."""

from __future__ import annotations

import re

from gsw_graph.plan import Plan, SubQuestion

_ASKS = re.compile(
    r"\b(?:who(?:m|se)?|when|where|why|which|what|how (?:many|much|long|old|far|large|big))\b", re.IGNORECASE
)
_REFERENCE = re.compile(r"(?<![^\W_])#(?=[0-9])")


def one_hop(question: str) -> Plan:
    """The question as the only step of a plan."""
    return Plan((SubQuestion(1, _REFERENCE.sub(" ", question)),))


def plan_from(question: str) -> Plan:
    """Two ways at once: the question in one hop; and a hop to what it names, whatever kind of thing that
    is, then the question with that answer in it."""
    text = _REFERENCE.sub(" ", question)  # "#1" is text here
    bridge = (
        " ".join(_REFERENCE.sub(" ", _ASKS.sub(" ", text)).replace("?", " ").split()) or text
    )  # again: "#what#1" had none
    return Plan((SubQuestion(1, text), SubQuestion(2, bridge), SubQuestion(3, f"{text} #2")))
