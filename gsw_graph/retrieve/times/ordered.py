"""Time-ordered retrieval: what is near a question and dated as it asks (PathwiseRAG, section 3.2,
"Temporal-Ordered").

The paper names the strategy and gives no formula. Ours: the condition is read by rules (`reading.py`); the
date of an event is looked up first; dates of the graph that hold the condition are found in Cypher
(`cypher/read/dated.cypher`) and bring their passages; sentences of these and of the nearest passages are
scored by cosine, shared words and whether their own dates hold. "First" and "last" order the sentences near
the best by their date. An answer is given where the best sentence, or a pair of its passage, is sure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gsw_graph.answer.quote import quote
from gsw_graph.names import normalise
from gsw_graph.retrieve.chains.pair_score import words_of
from gsw_graph.retrieve.facts.families import cues
from gsw_graph.retrieve.facts.lookup import Asked, Fact, Lookup, cited
from gsw_graph.retrieve.facts.ranking import with_linked
from gsw_graph.retrieve.facts.sentences import Line, lines_of, share, without
from gsw_graph.retrieve.facts.values import Edge, date_in, is_own, placed_names
from gsw_graph.retrieve.names.linking import mentions
from gsw_graph.retrieve.strategy import AnswerDraft, Query, Retrieved
from gsw_graph.retrieve.times.answers import answer_in, asked_noun, called, is_one
from gsw_graph.retrieve.times.intervals import Days, Span, spans
from gsw_graph.retrieve.times.reading import TimeQuestion, bounds, holds, read
from gsw_graph.retrieve.times.recipe import TIMES, TimesRecipe
from gsw_graph.store.times import dated, states

if TYPE_CHECKING:
    from gsw_graph.results import RankedPassage
    from gsw_graph.retrieve.context import Context

_LIVED = re.compile(r"\b(?:live|lived|last|lasted|exist|existed|old)\b")
_STATE = 1000  # place of a line that is a state, after all sentences
_FULL = 2.0  # score of a sentence that is counted as full


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence, its score, the stretch of time that holds the condition (None where none does), and the
    years of what its document is about."""

    line: Line
    score: float
    span: Span | None
    own: tuple[Span, ...] = ()


def time_ordered(context: Context, query: Query, recipe: TimesRecipe = TIMES) -> Retrieved:
    """What is dated as a question asks, best first; passages of `linked` after it. A question without a time
    gets these alone."""
    found = in_time(context, query, recipe)
    return replace(found, passages=with_linked(context, query, found.passages, recipe.linked))


def in_time(context: Context, query: Query, recipe: TimesRecipe = TIMES) -> Retrieved:
    """The same without the passages of `linked`; nothing for a question without a time."""
    asked = read(query.question)
    if not asked.is_temporal:
        return Retrieved([])
    lookup = Lookup(context, query.question, recipe.facts)
    event = _date_of(lookup, asked.event) if asked.event else None
    condition = asked.interval or (event.value.days if event is not None else None)
    if asked.wants is not None and asked.relation is None:
        fact, answer = _asked_date(lookup, asked)
        if fact is not None:
            return _told(query, [fact], answer)
    scored = _sentences(context, lookup, asked, condition, recipe)
    first = [event.passage] if event is not None else []
    best = scored[0].line.passage if scored else None
    passages = list({one.id: one for one in ([best] if best else []) + first}.values())
    passages += [
        one.line.passage
        for one in scored
        if one.span is not None and one.score >= scored[0].score - recipe.near
    ]
    draft = None
    if query.answer and (not asked.event or event is not None):
        draft = _draft(context, lookup, asked, condition, event, scored, recipe)
    return Retrieved(passages, draft=draft)


def _date_of(lookup: Lookup, event: str) -> Fact | None:
    """When an event was; its subject is the first name in it."""
    names = placed_names(f"x {event}")
    subject = names[0][1] if names else ""
    return lookup([Asked(_when(event, subject), subject, "date")])[0]


def _when(event: str, subject: str) -> str:
    """A clause as a question: "the ship was launched" is asked as "When was the ship launched?"."""
    done, name, rest = event.partition(subject) if subject else (event, "", "")
    if not rest.strip():
        return f"When was {event}?"
    verb, _, left = rest.strip().partition(" ")
    if verb in ("was", "were", "had", "is", "has"):
        return f"When {verb} {done}{name} {left}?"
    return f"When did {done}{name} {rest.strip()}?"


def _asked_date(lookup: Lookup, asked: TimeQuestion) -> tuple[Fact | None, str | None]:
    """The date or the duration that a question asks for."""
    names = placed_names(f"x {asked.rest}")
    subject = names[0][1] if names else ""
    if asked.wants == "date":
        fact = lookup([Asked(asked.rest, subject, "date")])[0]
        return fact, fact.value.text if fact is not None else None
    edge: Edge = "life" if _LIVED.search(asked.rest) else "range"
    fact, said = lookup([Asked(asked.rest, subject, "date", edge), Asked(asked.rest, subject, "number")])
    counted = said.value.number if said is not None else None
    told = counted is not None and counted.unit.startswith("year")
    if said is not None and told and (fact is None or said.by == "pair"):
        return said, said.value.text
    years = fact.value.span.years if fact is not None and fact.value.span is not None else None
    return fact, f"{years} years" if years is not None else None


def _told(query: Query, facts: Sequence[Fact], answer: str | None) -> Retrieved:
    draft = None
    sure = min(fact.score for fact in facts)
    if answer is not None and query.answer:
        draft = AnswerDraft(answer, "rule", confidence=sure, citations=[fact.citation for fact in facts])
    return Retrieved([fact.passage for fact in facts], draft=draft)


def _sentences(
    context: Context, lookup: Lookup, asked: TimeQuestion, condition: Days | None, recipe: TimesRecipe
) -> list[Scored]:
    """The sentences near a question, those whose date holds and that speak of what is asked first."""
    near = lookup.near([asked.rest])[0]
    passages: dict[str, RankedPassage] = {one.id: one for one in near}
    begins, ends = bounds(asked.relation, condition)
    keys = list(dict.fromkeys(mention.key for mention in mentions(asked.rest)))
    embedding = context.vector(asked.rest).tolist()
    with context.clock("database"):
        found = dated(
            context.reader,
            [
                {
                    "embedding": embedding,
                    "keys": keys,
                    "from_least": begins[0],
                    "from_most": begins[1],
                    "to_least": ends[0],
                    "to_most": ends[1],
                }
            ],
            near=recipe.facts.near,
            common=recipe.common,
        )[0]
    passages.update((one.id, one) for one in lookup.fetch([one.passage for one in found]))
    lines = lines_of(passages.values())
    own: dict[str, list[Span]] = {}
    for line in lines:
        own.setdefault(line.passage.document, []).extend(span for span in line.spans if is_own(line, span))
    scored = _scored(lookup, asked, condition, lines, own, recipe)
    if not any(one.score >= recipe.sure for one in scored):  # no sentence says it; a state may
        scored += _scored(lookup, asked, condition, _states(context, passages), own, recipe)
    scored.sort(key=lambda one: (-one.score, one.line.passage.id, one.line.number))
    if asked.order and scored:
        near_best = [one for one in scored if one.score >= scored[0].score - recipe.near]
        late = asked.order == "last"
        near_best.sort(key=lambda one: one.span.days[late] if one.span else "", reverse=late)
        scored = [*near_best, *scored[len(near_best) :]]
    return scored


def _scored(
    lookup: Lookup,
    asked: TimeQuestion,
    condition: Days | None,
    lines: Sequence[Line],
    own: Mapping[str, Sequence[Span]],
    recipe: TimesRecipe,
) -> list[Scored]:
    """Lines with their scores; those whose dates do not hold are left out where a time is asked."""
    names = placed_names(f"x {asked.rest}")
    scores = lookup.sentences.scores(asked.rest, names[0][1] if names else "", lines)
    wanted, noun = cues(without(asked.rest, "")), asked_noun(asked.rest)
    scored = []
    for line, score in zip(lines, scores, strict=True):
        span = _holding(line, asked, condition, wanted)
        if span is None and (asked.relation or asked.order):
            continue
        whole = Line(line.passage, line.number, line.passage.text[:4000], ())
        score += recipe.passage * share(wanted, whole) + recipe.fits * (span is not None)
        if noun is not None and not is_one(noun, line):
            score -= recipe.fits
        scored.append(Scored(line, float(score), span, tuple(own.get(line.passage.document, ()))))
    return scored


def _states(context: Context, passages: Mapping[str, RankedPassage]) -> list[Line]:
    """The states of roles that are dated, as lines: "1874: founding of the school". Memories of plain text
    have none."""
    if not context.has_pairs:
        return []
    with context.clock("database"):
        rows = states(context.reader, list(passages))
    said = [(passages[row.passage], f"{row.name}: {state}") for row in rows for state in row.states]
    return [Line(passage, _STATE, text, found) for passage, text in said if (found := tuple(spans(text)))]


def _holding(
    line: Line, asked: TimeQuestion, condition: Days | None, wanted: Sequence[frozenset[str]]
) -> Span | None:
    """The stretch of time of a line that holds the condition: where the line has words that are asked for,
    the one nearest to them. Of a life in brackets, only what lasted is asked."""
    if asked.relation is not None and condition is None:
        return None
    nearest = date_in(line, "whole", wanted)
    for span in [nearest] if nearest is not None else line.spans:
        if asked.relation not in (None, "during") and is_own(line, span) and len(line.spans) > 1:
            continue
        if holds(asked.relation, span.days, condition):
            return span
    return None


def _draft(
    context: Context,
    lookup: Lookup,
    asked: TimeQuestion,
    condition: Days | None,
    event: Fact | None,
    scored: Sequence[Scored],
    recipe: TimesRecipe,
) -> AnswerDraft | None:
    for best in scored[: recipe.facts.kept]:
        if best.span is None or best.score < max(recipe.sure, scored[0].score - recipe.near):
            continue
        answer = answer_in(asked.rest, best.line)
        if answer is not None and not _answers_there(context, best.line.passage, answer):
            answer = None
        if answer == called(best.line.passage.title) and _elsewhen(asked, condition, best.own):
            continue
        answer = answer or _of_pair(lookup, asked, condition, best, recipe)
        if answer is None:
            continue
        said = best.line.text  # of a state, the sentence that says it
        if best.line.number == _STATE:
            said = quote(best.line.passage.text, said, answer)
        citations = [cited(best.line.passage, said)]
        sure = min(1.0, best.score / _FULL)
        if event is not None:
            citations.append(event.citation)
            sure = min(sure, event.score)
        return AnswerDraft(answer, "rule", confidence=sure, citations=citations)
    return None


def _answers_there(context: Context, passage: RankedPassage, answer: str) -> bool:
    """Whether a name answers any question of its passage: what a sentence of plain text names may be anything
    that stands there."""
    if not context.has_pairs:
        return False
    with context.clock("database"):
        pairs = context.reader.pairs_of([passage.id])
    name = normalise(answer)
    return any(name == normalise(one) for answers in pairs.answers for one in answers)


def _elsewhen(asked: TimeQuestion, condition: Days | None, own: Sequence[Span]) -> bool:
    """Whether the years of what a document is about say that it was at another time."""
    return any(not holds(asked.relation, span.days, condition) for span in own)


def _of_pair(
    lookup: Lookup, asked: TimeQuestion, condition: Days | None, best: Scored, recipe: TimesRecipe
) -> str | None:
    """The answer of a pair of the best sentence's passage that is sure, says no other date, and whose answer
    stands in the sentence."""
    if not lookup.has_pairs:
        return None
    for one in lookup.pairs([asked.rest])[0][: recipe.facts.kept]:
        own = spans(f"{one.pair.question} {', '.join(one.pair.answers)}")
        if one.score < recipe.pair or one.pair.passage != best.line.passage.id or not one.pair.answers:
            continue
        if all(holds(asked.relation, span.days, condition) for span in own) and words_of(
            one.pair.answers[0]
        ) <= words_of(best.line.text):
            return one.pair.answers[0]
    return None
