"""The intent of a question (PathwiseRAG, equations 1 to 3), by rules of English or by a language model; the
approach that fits it (equation 4); its parts; and the condition on time that it states by dates.

The paper trains RoBERTa for the intent, and encoders for equation 33, and publishes no weights.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from gsw_graph.ask.answer.evidence import single_line
from gsw_graph.ask.plan import SCHEMA as PLAN_SCHEMA
from gsw_graph.ask.plan import Plan, check_about, read_plan, without_references
from gsw_graph.ask.retrieve.agents import describe_steps
from gsw_graph.ask.retrieve.comparison import Sides, sides_of
from gsw_graph.models.chat.request import Request
from gsw_graph.models.prompts import prompt
from gsw_graph.text.dates import find_dates
from gsw_graph.text.names import find_names, normalise
from gsw_graph.text.words import FUNCTION_WORDS
from gsw_graph.values import Fields, single_spaced

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.agents import Agent


# Bounds of the first and of the last day of a date, as ISO days, inclusive: those that any date has.
ANY_DATE = {
    "from_least": "0001-01-01",
    "from_most": "9999-12-31",
    "to_least": "0001-01-01",
    "to_most": "9999-12-31",
}
_STATED = re.compile(
    r"(?i)\b(?:(?P<before>before|until|till|by|prior to|earlier than)|(?P<after>after|since|later than"
    r"|following)"
    r"|(?P<during>in|on|during|at|as of|of)|(?P<between>between|from|in the years?))"
    r" (?:the )?(?:year |end of )?$"
)
_JOINS = re.compile(r"(?i)\s*(?:[-–—]|to|until|till|through|and)\s*")


def date_bounds(question: str) -> dict[str, str] | None:
    """Read the condition on time of a question.

    Returns:
        The bounds of the dates that fit, or None if the question states no date as a condition.
    """
    dates = [(date.begin, date.end, date.days) for date in find_dates(question) if date.days]
    for (begin, end, (first, last)), later in zip_longest(dates, dates[1:]):
        stated = _STATED.search(question[:begin])
        way = stated.lastgroup if stated else None
        if way == "between" and later and _JOINS.fullmatch(question[end : later[0]]):
            return ANY_DATE | {"from_least": first, "to_most": later[2][1]}
        if way == "before":
            return ANY_DATE | {"to_most": _shifted(first, -1)}
        if way == "after":
            return ANY_DATE | {"from_least": _shifted(last, 1)}
        if way == "during":
            return ANY_DATE | {"from_most": last, "to_least": first}
    return None


def _shifted(day: str, days: int) -> str:
    with suppress(OverflowError):  # there is no day before the first
        return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
    return day


Kind = Literal["causal", "comparative", "procedural", "hypothetical", "factual"]
Approach = Literal["dense precision", "deep chain", "multi-aspect", "comparative matrix", "temporal-ordered"]
KINDS: tuple[Kind, ...] = get_args(Kind)
DEEPEST = 5
MOST_ATTRIBUTES = 3
_SHORT = 2  # content words besides the name, of a question that one fact answers
_REPLY_TOKENS = 1200  # a usual reply has 180

_KINDS: dict[Kind, re.Pattern[str]] = {
    "hypothetical": re.compile(
        r"(?i)\b(?:what if|suppose|supposing|imagine|if\b.*\b(?:would|could|might|had))\b"
    ),
    "procedural": re.compile(
        r"(?i)^\s*how (?:do|to|can|should|would|does one)\b|\b(?:steps|procedure|instructions) (?:to|for)\b"
    ),
    "causal": re.compile(
        r"(?i)\bwhy\b|\b(?:causes?|reasons?|effects?|consequences?) (?:of|for)\b|\b(?:led|lead) to\b"
    ),
}
# Relative clauses, possessives, participles and "of".
_LINKS = re.compile(
    r"(?i)\b(?:whose|which|who|whom|that|where|when)\b|['’]s?\s|\b(?:of|by)\b"
    r"|\b[a-z]+(?:ed|en) (?:by|in|at|on|for|to|with|from|after)\b"
)
_BROAD = re.compile(
    r"(?i)^\s*(?:list|describe|summari[sz]e|tell me|give an overview|compare|what is known"
    r"|what do we know|name all)\b|\b(?:all (?:the )?\w+s)\b"
    r"|\b(?:and|or) (?:who|what|when|where|which|how|why)\b|\beverything\b|\boverview\b"
)
_ORDER = re.compile(
    r"(?i)\b(?:in (?:the )?order (?:of|in which)|chronolog\w*|timeline|most recent(?:ly)?|latest|earliest)\b"
)
_QUESTION_WORD = re.compile(r"(?i)^\s*(?:(?:in|of|from|on|at|to|for|by|with) )?(?:wh\w+|how)\b")
_CLAUSES = re.compile(r"(?i),?\s+(?:and|or)\s+(?=(?:who|what|when|where|which|how|why)\b)|[;?]\s+")
_BEGINS = FUNCTION_WORDS | {"tell", "list", "describe", "compare", "imagine", "suppose", "explain"}
_DEPTHS = {"low": 1, "medium": 2, "high": 3}
_TEXTS = {"type": "array", "maxItems": 8, "items": {"type": "string", "maxLength": 200}}
_FIELDS: Fields = {
    "type": {"type": "string", "enum": list(KINDS)},
    "depth": {"type": "string", "enum": list(_DEPTHS)},
    "entities": _TEXTS,
    "sides": _TEXTS,
    "attributes": _TEXTS,
    "broad": {"type": "boolean"},
    **PLAN_SCHEMA["properties"],
}
SCHEMA = {**PLAN_SCHEMA, "properties": _FIELDS, "required": list(_FIELDS)}


Names: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Intent:
    """Hold the intent of a question.

    Attributes:
        entities: Names in the question, as written.
        kind: Kind of reasoning.
        depth: Number of facts to join, 1 to 5.
        sides: Sides of a comparison, each with its question.
        attributes: Compared attributes, if a language model named them.
        timed: Whether a date is a condition, or the question asks for an order in time.
        broad: Whether the question asks for several things at once.
    """

    entities: Names = ()
    kind: Kind = "factual"
    depth: int = 2
    sides: Sides | None = None
    attributes: Names = ()
    timed: bool = False
    broad: bool = False

    def __str__(self) -> str:
        parts = [self.kind, f"depth {self.depth}"]
        if self.entities:
            parts.append(f"entities: {'; '.join(self.entities)}")
        if self.sides:
            parts.append(f"sides: {'; '.join(self.sides.names)}")
        if self.attributes:
            parts.append(f"of: {'; '.join(self.attributes)}")
        return ", ".join(parts)


def choose_approach(intent: Intent) -> Approach:
    """Choose the approach of the largest S = M_I + M_B + M_D + M_C (PathwiseRAG, equation 4), the simplest of
    several.

    M_I is the cosine of the findings and the needs of an approach, as no encoder is trained (33); M_B, M_D
    and M_C are equations 34 to 36; weights and scales are 1. S depends on a few properties of the intent
    only, so the largest is written out here. tests/test_pathwise.py computes it.
    """
    if intent.sides:
        return "comparative matrix"
    if intent.depth <= 3 and (intent.broad or intent.kind in ("procedural", "hypothetical")):
        return "multi-aspect"
    if intent.depth <= 2 and intent.timed:
        return "temporal-ordered"
    return "dense precision" if intent.depth == 1 else "deep chain"


def parts_of(question: str, intent: Intent, approach: Approach) -> list[str]:
    """Return the sub-questions of a comparison, sides x attributes, or of a broad question, by its clauses or
    names; none if there is nothing to take apart (equations 5 and 6)."""
    sides = intent.sides
    if approach == "comparative matrix" and sides:
        cells = [f"What is the {name} of {side}?" for name in intent.attributes for side in sides.names]
        return cells or list(sides.questions)
    if approach != "multi-aspect":
        return []
    names = intent.entities
    clauses = [clause.strip(" ?") for clause in _CLAUSES.split(question)]
    clauses = list(filter(None, clauses))
    if len(clauses) < 2:
        return list(names) if len(names) > 1 else []
    parts = []
    for clause in clauses:
        if names and not any(name in clause for name in names):
            clause = f"{clause} {names[0]}"
        parts.append(f"{clause}?")
    return parts


def read_intent(question: str) -> Intent:
    """Read the intent of a question by rules."""
    text = single_spaced(question)
    entities = _entities(text)
    sides = sides_of(text)
    if sides:
        links = max(_count_links(name, _entities(name) or (name,)) for name in sides.names)
        return Intent(entities, "comparative", min(2 + links, DEEPEST), sides)
    kind: Kind = next((kind for kind, rule in _KINDS.items() if rule.search(text)), "factual")
    words = re.findall(r"\w+", _without(text, entities).casefold())
    content = set(words) - FUNCTION_WORDS - {"n"}
    single = len(entities) == 1 and " and " not in entities[0]
    # A link can be without a word of its own: a longer question joins two facts at least.
    least = 1 if single and len(content) <= _SHORT and kind != "causal" else 2
    links = _count_links(text, entities)
    depth = min(max(1 + links, least), DEEPEST)
    timed = bool(date_bounds(text) or _ORDER.search(text))
    return Intent(entities, kind, depth, timed=timed, broad=bool(_BROAD.search(text)))


def ask_intent(agent: Agent, question: str, rules: Intent) -> tuple[Intent, Plan]:
    """Ask a language model for the intent and the plan in one call, and check its reply against the question.

    Args:
        agent: The asking agent. Errors are those of `Agent.ask`.
        question: The question.
        rules: The intent by rules, which fills gaps in the reply.
    """
    standalone = without_references(question)
    messages = (
        {"role": "system", "content": f"{prompt('plan')}\n\n{prompt('pathwise_intent')}"},
        {"role": "user", "content": f"Question: {single_line(standalone)}"},
    )
    request = Request("pathwise_intent", messages, SCHEMA, limit=_REPLY_TOKENS)

    def check(reply: object) -> tuple[Intent, Plan]:
        intent = parse_intent(reply, question, rules)
        plan = read_plan(reply)
        check_about(plan, standalone)
        return intent, plan

    return agent.ask(request, check, question, lambda read: f"{read[0]} | {describe_steps(read[1].steps)}")


def parse_intent(reply: object, question: str, rules: Intent) -> Intent:
    """Read the intent from a reply; names that the question has not are left out.

    Raises:
        ValueError: the reply has no type or depth, or none of its names occurs in the question, as of a
            small model that repeats its example.
    """
    fields = reply if isinstance(reply, Mapping) else {}
    kind = fields.get("type")
    if kind not in KINDS:
        raise ValueError(f'"type" must be one of {", ".join(KINDS)}')
    depth = fields.get("depth")
    if depth not in _DEPTHS:
        raise ValueError(f'"depth" must be one of {", ".join(_DEPTHS)}')
    named_entities = _texts(fields.get("entities"))
    named_sides = _texts(fields.get("sides"))
    entities = _in_question(question, named_entities)
    side_names = _in_question(question, named_sides)
    if (named_entities or named_sides) and not (entities or side_names):
        raise ValueError("nothing that the reply names stands in the question: copy its words")
    entities = entities or rules.entities
    level = _DEPTHS[depth]
    if level == min(rules.depth, 3):
        level = rules.depth
    sides = rules.sides
    if kind == "comparative":
        sides = _sides(question, side_names) or sides
        kind = rules.kind
    if sides:
        attributes = _texts(fields.get("attributes"))[:MOST_ATTRIBUTES]
        return Intent(entities, "comparative", max(level, 2), sides, attributes)
    return Intent(entities, kind, level, timed=rules.timed, broad=fields.get("broad") is True)


def _texts(value: object) -> Names:
    texts = value if isinstance(value, list) else []
    return tuple(single_line(text) for text in texts if isinstance(text, str))


def _in_question(question: str, texts: Names) -> Names:
    """Return the texts that occur in a question as whole words, each once."""
    whole = _words(question)
    found = []
    for text in dict.fromkeys(texts):
        words = _words(text)
        if words.strip() and words in whole:
            found.append(text)
    return tuple(found)


def _words(text: str) -> str:
    words = " ".join(re.findall(r"\w+", normalise(text)))
    return f" {words} "


def _sides(question: str, names: Names) -> Sides | None:
    """Make the question about each side: the other sides, and what joins them, are taken out of it."""
    if len(names) < 2 or not all(name in question for name in names):
        return None
    questions = []
    for name in names:
        text = question
        others = [re.escape(other) for other in names if other not in name]
        if others:
            text = re.sub("|".join(others), " ", question)
        text = re.sub(r"\b(?:and|or|than|both|either)\b|,(?=\s*[,?])", " ", text)
        questions.append(single_spaced(text))
    return Sides(names, tuple(questions))


def _entities(text: str) -> Names:
    """Find the longest names of a text, without words that only begin it."""
    found = [name for name in find_names(text) if not (name.starter and name.text.casefold() in _BEGINS)]
    entities: list[str] = []
    for name in sorted({name.text: None for name in found}, key=len, reverse=True):
        padded = f" {normalise(name)} "
        if not any(padded in f" {normalise(other)} " for other in entities):
            entities.append(name)
    return tuple(sorted(entities, key=text.find))


def _count_links(text: str, entities: Names) -> int:
    return len(_LINKS.findall(_without(text, entities)))


def _without(text: str, entities: Names) -> str:
    """Put `N` for each name, and leave out the question word that begins the text."""
    bare = _QUESTION_WORD.sub("", text)
    for name in sorted(entities, key=len, reverse=True):
        bare = bare.replace(name, "N")
    return bare
