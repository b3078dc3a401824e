"""The end of GRASP: one answer from the findings, and the passages that were found for them.

Of the paper: one call that sees the findings' sentences alone. Ours: where there is one sub-question its
finding is the answer, and no call is made; where the call brings nothing that can be used, as when the budget
is used up, the finding of the last sub-question is, unless several are last, of which none answers the whole;
and where nothing was found the answer is none, with what is missing. Passages that findings cite stand before
the others, then those that a sub-question without a finding looked at; each search's votes count alike.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from gsw_graph.answer.evidence import Item, flat
from gsw_graph.answer.reader import NOTHING_FOUND, cited, from_items, is_yes_no
from gsw_graph.errors import ReplyError
from gsw_graph.retrieve.agents.spoken import Spoken
from gsw_graph.retrieve.strategy import AnswerDraft

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gsw_graph.plan import Plan
    from gsw_graph.results import Citation, RankedPassage
    from gsw_graph.retrieve.agents.agent import Agent
    from gsw_graph.retrieve.grasp.sub_agent import Finding


_SOUGHT = 2.0  # weight of votes for what is not found yet, where those for what is have 1


def answered(
    agent: Agent,
    model: str,
    question: str,
    plan: Plan,
    found: Mapping[int, Finding],
    on_text: Callable[[str], None] | None = None,
) -> tuple[AnswerDraft, str | None]:
    """The answer, and why it is not the model's last word. Errors as of `Agent.ask`, a ReplyError apart."""
    whole = {id_: one for id_, one in found.items() if one.answer is not None}
    if not whole:
        missing = next((one.missing or one.question for one in found.values()), NOTHING_FOUND)
        return AnswerDraft(abstained=True, missing=missing), None
    if len(plan.steps) == 1:
        (one,) = whole.values()
        if on_text is not None and one.answer:
            on_text(one.answer)
        return _of(one), None
    items = [
        Item(flat(one.sentence), one.sources[0].passage, one.question, one.answer or "")
        for one in whole.values()
    ]
    lost = next((found[sink.id] for sink in plan.sinks if sink.id not in whole), None)
    several = len(plan.sinks) > 1  # to compare, count or join what they found
    speaker = Spoken(agent, model, "the findings", lambda said: said.answer or said.missing)
    try:
        judged = several and lost is None
        draft = from_items(question, items, speaker, judged=judged, task="grasp_join", on_text=on_text)
    except ReplyError as error:
        last = plan.steps[-1].id
        if several:
            draft = AnswerDraft(abstained=True, missing="the findings were not put together")
        elif last not in whole:
            draft = AnswerDraft(abstained=True, missing=found[last].question)
        else:
            draft = _of(whole[last])
        return draft, f"{model} put no findings together: {error}"
    if lost is not None and draft.answer is not None and is_yes_no(draft.answer):
        # Half of a comparison says nothing, and no line would show that.
        return AnswerDraft(abstained=True, missing=lost.missing or lost.question), None
    return replace(draft, citations=_further(draft, whole)), None


def ranked(found: Mapping[int, Finding], k: int) -> list[RankedPassage]:
    """The `k` best passages of all sub-questions."""
    scores: dict[str, float] = defaultdict(float)
    by_id: dict[str, RankedPassage] = {}
    for one in found.values():
        weight = _SOUGHT if one.answer is None else 1.0
        for passages in one.passages:
            top = passages[0].score if passages and passages[0].score else 1.0
            for passage in passages:
                by_id.setdefault(passage.id, passage)
                scores[passage.id] += weight * passage.score / top / len(one.passages)
    for one in found.values():
        for item in one.sources:
            by_id.setdefault(item.passage.id, item.passage)
            scores[item.passage.id] += _SOUGHT * len(found)  # more than votes can give
    best = sorted(scores, key=lambda id_: (-scores[id_], id_))[:k]
    return [replace(by_id[id_], score=scores[id_]) for id_ in best]


def _of(one: Finding) -> AnswerDraft:
    """A finding as the answer."""
    citations = [cited(item, one.question, one.answer or "") for item in one.sources]
    return AnswerDraft(one.answer, "llm", citations=list(dict.fromkeys(citations)))


def _further(draft: AnswerDraft, whole: Mapping[int, Finding]) -> list[Citation]:
    """The citations with those of the other lines that the same findings stand on."""
    passages = {citation.passage for citation in draft.citations}
    further = [
        cited(item, one.question, one.answer or "")
        for one in whole.values()
        if one.sources[0].passage.id in passages
        for item in one.sources[1:]
        if item.passage.id not in passages
    ]
    return list(dict.fromkeys([*draft.citations, *further]))
