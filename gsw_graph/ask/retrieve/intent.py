"""The intent of a question (PathwiseRAG, equations 1 to 3), by rules of English or by a language model; the
approach that fits it (equation 4); its parts; and the condition on time that it states by dates.

The paper trains RoBERTa for the intent, and encoders for equation 33, and publishes no weights.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import compress, zip_longest
from math import exp, sqrt
from typing import TYPE_CHECKING, Any, Literal, get_args

from gsw_graph.ask.answer.evidence import flat
from gsw_graph.ask.plan import SCHEMA as PLAN_SCHEMA
from gsw_graph.ask.plan import Plan, SubQuestion, check_about, read_plan, without_references
from gsw_graph.ask.retrieve.comparison import Sides, sides_of
from gsw_graph.models.chat.request import Request
from gsw_graph.models.prompts import prompt
from gsw_graph.text.dates import find_dates
from gsw_graph.text.names import find_names, normalise
from gsw_graph.text.words import FUNCTION_WORDS

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.agents import Agent
    from gsw_graph.ask.retrieve.strategies.pathwise import SubProblem


# Bounds of the first and of the last day of a date, as ISO days, inclusive: those that any date has.
ANY_DATE = {
    "from_least": "0001-01-01",
    "from_most": "9999-12-31",
    "to_least": "0001-01-01",
    "to_most": "9999-12-31",
}
_STATED = re.compile(
    r"\b(?:(?P<before>before|until|till|by|prior to|earlier than)|(?P<after>after|since|later than|following)"
    r"|(?P<during>in|on|during|at|as of|of)|(?P<between>between|from|in the years?))"
    r" (?:the )?(?:year |end of )?$",
    re.IGNORECASE,
)
_JOINS = re.compile(r"\s*(?:[-–—]|to|until|till|through|and)\s*", re.IGNORECASE)


def date_bounds(question: str) -> dict[str, str] | None:
    """Read the condition on time of a question.

    Returns:
        The bounds of the dates that fit, or None where the question states no date as a condition.
    """
    dates = [(date.begin, date.end, date.days) for date in find_dates(question) if date.days]
    for (begin, end, (first, last)), later in zip_longest(dates, dates[1:]):
        stated = _STATED.search(question[:begin])
        way = stated.lastgroup if stated else None
        if way == "between" and later and _JOINS.fullmatch(question[end : later[0]]):
            return {**ANY_DATE, "from_least": first, "to_most": later[2][1]}
        if way == "before":
            return {**ANY_DATE, "to_most": _shifted(first, -1)}
        if way == "after":
            return {**ANY_DATE, "from_least": _shifted(last, 1)}
        if way == "during":
            return {**ANY_DATE, "from_most": last, "to_least": first}
    return None


def _shifted(day: str, days: int) -> str:
    with suppress(OverflowError):  # there is no day before the first
        return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
    return day


Kind = Literal["causal", "comparative", "procedural", "hypothetical", "factual"]
Approach = Literal["dense precision", "deep chain", "multi-aspect", "comparative matrix", "temporal-ordered"]
KINDS: tuple[Kind, ...] = get_args(Kind)
DEEPEST = 5
# What an approach finds, and how deep it goes: our table of C_s and d_s (PathwiseRAG, A.3).
APPROACHES: dict[Approach, tuple[frozenset[str], int]] = {
    "dense precision": (frozenset({"fact"}), 1),
    "deep chain": (frozenset({"fact", "chain"}), 3),
    "multi-aspect": (frozenset({"fact", "aspects"}), 2),
    "comparative matrix": (frozenset({"fact", "chain", "sides"}), 3),
    "temporal-ordered": (frozenset({"fact", "time"}), 2),
}
_CRITICAL = {"sides": DEEPEST, "aspects": 3, "time": 2}  # deeper questions have it as one detail of many
MOST_ATTRIBUTES = 3
_SHORT = 2  # content words besides the name, of a question that one fact answers
_REPLY_TOKENS = 1200  # a usual reply has 180

_KINDS: dict[Kind, re.Pattern[str]] = {
    "hypothetical": re.compile(
        r"\b(?:what if|suppose|supposing|imagine|if\b.*\b(?:would|could|might|had))\b", re.IGNORECASE
    ),
    "procedural": re.compile(
        r"^\s*how (?:do|to|can|should|would|does one)\b|\b(?:steps|procedure|instructions) (?:to|for)\b",
        re.IGNORECASE,
    ),
    "causal": re.compile(
        r"\bwhy\b|\b(?:causes?|reasons?|effects?|consequences?) (?:of|for)\b|\b(?:led|lead) to\b",
        re.IGNORECASE,
    ),
}
# Relative clauses, possessives, participles and "of".
_LINKS = re.compile(
    r"\b(?:whose|which|who|whom|that|where|when)\b|['’]s?\s|\b(?:of|by)\b"
    r"|\b[a-z]+(?:ed|en) (?:by|in|at|on|for|to|with|from|after)\b",
    re.IGNORECASE,
)
_BROAD = re.compile(
    r"^\s*(?:list|describe|summari[sz]e|tell me|give an overview|compare|what is known"
    r"|what do we know|name all)\b|\b(?:all (?:the )?\w+s)\b"
    r"|\b(?:and|or) (?:who|what|when|where|which|how|why)\b|\beverything\b|\boverview\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\b(?:in (?:the )?order (?:of|in which)|chronolog\w*|timeline|most recent(?:ly)?|latest|earliest)\b",
    re.I,
)
_QUESTION_WORD = re.compile(r"^\s*(?:(?:in|of|from|on|at|to|for|by|with) )?(?:wh\w+|how)\b", re.IGNORECASE)
_CLAUSES = re.compile(r",?\s+(?:and|or)\s+(?=(?:who|what|when|where|which|how|why)\b)|[;?]\s+", re.IGNORECASE)
_BEGINS = FUNCTION_WORDS | {"tell", "list", "describe", "compare", "imagine", "suppose", "explain"}
_DEPTHS = {"low": 1, "medium": 2, "high": 3}
_TEXTS = {"type": "array", "maxItems": 8, "items": {"type": "string", "maxLength": 200}}
_FIELDS: dict[str, Any] = {
    "type": {"type": "string", "enum": list(KINDS)},
    "depth": {"type": "string", "enum": list(_DEPTHS)},
    "entities": _TEXTS,
    "sides": _TEXTS,
    "attributes": _TEXTS,
    "broad": {"type": "boolean"},
    **PLAN_SCHEMA["properties"],
}
SCHEMA = {**PLAN_SCHEMA, "properties": _FIELDS, "required": list(_FIELDS)}


@dataclass(frozen=True, slots=True)
class Intent:
    """Say what a question asks for.

    Attributes:
        entities: names of the question, as it writes them.
        kind: of its reasoning.
        depth: facts that must be joined, 1 to 5.
        sides: of a comparison, each with its question.
        attributes: what is compared, where a language model said so.
        timed: a date narrows down what is asked for, or it asks for an order in time.
        broad: several things are asked for at once.
    """

    entities: tuple[str, ...] = ()
    kind: Kind = "factual"
    depth: int = 2
    sides: Sides | None = None
    attributes: tuple[str, ...] = ()
    timed: bool = False
    broad: bool = False

    @property
    def needs(self) -> frozenset[str]:
        """Return what must be found: C_q of equation 34."""
        aspects = self.broad or self.kind in ("procedural", "hypothetical")
        needed = (self.depth > 1, aspects, self.sides is not None, self.timed)
        return frozenset(["fact", *compress(("chain", "aspects", "sides", "time"), needed)])

    def __str__(self) -> str:
        sides = self.sides.names if self.sides else ()
        named = {"entities": self.entities, "sides": sides, "of": self.attributes}
        parts = [f"{key}: {'; '.join(values)}" for key, values in named.items() if values]
        return ", ".join([self.kind, f"depth {self.depth}", *parts])


def score_approach(approach: Approach, intent: Intent) -> float:
    """Score how well an approach fits: S = M_I + M_B + M_D + M_C (PathwiseRAG, equation 4), weights of 1.

    M_I is the cosine of what it finds and what is needed, in the place of trained encoders (33); M_B, M_D and
    M_C are equations 34 to 36 with scales of 1.
    """
    finds, depth = APPROACHES[approach]
    needs = intent.needs
    shared = len(finds & needs)
    critical = {need for need in needs if intent.depth <= _CRITICAL.get(need, 0)}
    return (
        shared / sqrt(len(finds) * len(needs))
        + (1 - exp(-shared / len(needs)))
        + exp(-abs(depth - intent.depth))
        + (len(critical & finds) / len(critical) if critical else 1.0)
    )


def choose_approach(intent: Intent) -> Approach:
    """Choose the approach of the highest score, the simplest of several."""
    return max(APPROACHES, key=lambda approach: round(score_approach(approach, intent), 9))


def parts_of(question: str, intent: Intent, approach: Approach) -> list[str]:
    """Return the sub-questions of a comparison, sides x attributes, or of a broad question, by its clauses or
    names; none where there is nothing to take apart (equations 5 and 6)."""
    if approach == "comparative matrix" and intent.sides is not None:
        cells = [
            f"What is the {name} of {side}?" for name in intent.attributes for side in intent.sides.names
        ]
        return cells or list(intent.sides.questions)
    clauses = [clause.strip(" ?") for clause in _CLAUSES.split(question) if clause.strip(" ?")]
    if approach != "multi-aspect" or max(len(clauses), len(intent.entities)) < 2:
        return []
    if len(clauses) < 2:
        return list(intent.entities)
    about = intent.entities[0] if intent.entities else ""
    named = [c if any(name in c for name in intent.entities) else f"{c} {about}" for c in clauses]
    return [f"{clause.strip()}?" for clause in named]


def read_intent(question: str) -> Intent:
    """Read the intent of a question by rules."""
    text = " ".join(question.split())
    entities = _entities(text)
    if sides := sides_of(text):
        links = max(len(_LINKS.findall(_without(name, _entities(name) or (name,)))) for name in sides.names)
        return Intent(entities, "comparative", min(2 + links, DEEPEST), sides)
    kind: Kind = next((kind for kind, rule in _KINDS.items() if rule.search(text)), "factual")
    bare = _without(text, entities)
    content = set(re.findall(r"\w+", bare.casefold())) - FUNCTION_WORDS - {"n"}
    short = len(entities) == 1 and " and " not in entities[0] and len(content) <= _SHORT
    # A link can be without a word of its own: a longer question joins two facts at least.
    least = 1 if short and kind != "causal" else 2
    depth = min(max(1 + len(_LINKS.findall(bare)), least), DEEPEST)
    timed = date_bounds(text) is not None or _ORDER.search(text) is not None
    return Intent(entities, kind, depth, timed=timed, broad=bool(_BROAD.search(text)))


def ask_intent(agent: Agent, question: str, rules: Intent) -> tuple[Intent, Plan]:
    """Ask a language model for the intent and the plan in one call, and check its reply against the question.

    Args:
        agent: that asks; its errors are those of `Agent.ask`.
        question: whose intent is asked for.
        rules: the intent that rules read; what the model does not say is taken from it.
    """
    standalone = without_references(question)
    messages = (
        {"role": "system", "content": f"{prompt('plan')}\n\n{prompt('pathwise_intent')}"},
        {"role": "user", "content": f"Question: {flat(standalone)}"},
    )
    request = Request("pathwise_intent", messages, SCHEMA, limit=_REPLY_TOKENS)

    def check(reply: object) -> tuple[Intent, Plan]:
        intent, plan = parse_intent(reply, question, rules), read_plan(reply)
        check_about(plan, standalone)
        return intent, plan

    return agent.ask(request, check, question, lambda read: f"{read[0]} | {describe(read[1].steps)}")


def describe(steps: Iterable[SubQuestion | SubProblem]) -> str:
    """Write the questions of a network in one line."""
    return " ".join(f"({step.id}) {step.question}" for step in steps)


def parse_intent(reply: object, question: str, rules: Intent) -> Intent:
    """Read the intent from a reply; names that the question has not are left out.

    Raises:
        ValueError: the reply has no type or depth, or none of its names occurs in the question, as where a
            small model repeats its example.
    """
    fields = reply if isinstance(reply, Mapping) else {}
    kind, depth = fields.get("type"), fields.get("depth")
    if kind not in KINDS:
        raise ValueError(f'"type" must be one of {", ".join(KINDS)}')
    if depth not in _DEPTHS:
        raise ValueError(f'"depth" must be one of {", ".join(_DEPTHS)}')
    named = {key: _texts(fields.get(key)) for key in ("entities", "sides")}
    in_question = {key: _in_question(question, texts) for key, texts in named.items()}
    if any(named.values()) and not any(in_question.values()):
        raise ValueError("nothing that the reply names stands in the question: copy its words")
    sides = (_sides(question, in_question["sides"]) if kind == "comparative" else None) or rules.sides
    level = rules.depth if min(rules.depth, 3) == _DEPTHS[depth] else _DEPTHS[depth]
    return replace(
        rules,
        entities=tuple(in_question["entities"]) or rules.entities,
        kind="comparative" if sides else kind if kind != "comparative" else rules.kind,
        depth=max(level, 2) if sides else level,
        sides=sides,
        attributes=tuple(_texts(fields.get("attributes")))[:MOST_ATTRIBUTES] if sides else (),
        timed=rules.timed and sides is None,
        broad=fields.get("broad") is True and sides is None,
    )


def _texts(value: object) -> list[str]:
    return [flat(text) for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _in_question(question: str, texts: Sequence[str]) -> list[str]:
    def words(text: str) -> str:
        return " ".join(["", *re.findall(r"\w+", normalise(text)), ""])

    whole = words(question)
    return list(dict.fromkeys(text for text in texts if words(text).strip() and words(text) in whole))


def _sides(question: str, side_names: Sequence[str]) -> Sides | None:
    """Make the question about each side: the other sides, and what joins them, are taken out of it."""
    if len(side_names) < 2 or not all(name in question for name in side_names):
        return None
    questions = []
    for name in side_names:
        other_sides = [re.escape(other) for other in side_names if other != name and other not in name]
        text = re.sub("|".join(other_sides), " ", question) if other_sides else question
        questions.append(" ".join(re.sub(r"\b(?:and|or|than|both|either)\b|,(?=\s*[,?])", " ", text).split()))
    return Sides(tuple(side_names), tuple(questions))


def _entities(text: str) -> tuple[str, ...]:
    """Find the longest names of a text, without words that only begin it."""
    candidates = [
        name.text for name in find_names(text) if not (name.starter and name.text.casefold() in _BEGINS)
    ]
    entities: list[str] = []
    for name in sorted(dict.fromkeys(candidates), key=len, reverse=True):
        if not any(f" {normalise(name)} " in f" {normalise(other)} " for other in entities):
            entities.append(name)
    return tuple(sorted(entities, key=text.find))


def _without(text: str, entities: Sequence[str]) -> str:
    """Put `N` for each name, and leave out the question word that begins the text."""
    bare = _QUESTION_WORD.sub("", text)
    for name in sorted(entities, key=len, reverse=True):
        bare = bare.replace(name, "N")
    return bare
