"""The strategy `grasp`: GRASP (Jenkins 2026). A planner writes sub-questions, a sub-agent answers each, those
that wait
for no other side by side, and one call puts the findings together. docs/grasp.md.

Ours: replies are lines, which take fewer tokens than JSON; a sub-question that waits for one without an
answer is asked with that in its words, "Where was (who built the Stone Pier) born?"; where there is one
sub-question its finding is the answer; passages that findings cite stand before the others.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.evidence import Item, flat
from gsw_graph.ask.answer.reader import NOTHING_FOUND, cited, from_items, is_yes_no
from gsw_graph.ask.plan import Plan, SubQuestion, check_about, followed, without_references
from gsw_graph.ask.retrieve.agents import Spoken, side_by_side
from gsw_graph.ask.retrieve.grasp import Finding, find
from gsw_graph.ask.retrieve.recipes import GRASP_PAPER, GraspRecipe
from gsw_graph.ask.strategy import AnswerDraft, Query, Retrieved, Strategy
from gsw_graph.errors import ReplyError
from gsw_graph.models.chat.request import Request
from gsw_graph.models.prompts import prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gsw_graph.ask.retrieve.agents import Agent, Team
    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.model.results import Citation, RankedPassage


MOST = 8  # sub-questions, and so agents
_LIMIT = 600  # tokens of a reply; a usual one has 80
_STEP = re.compile(r"^[ \t>*_-]*(\d{1,2})[.):][ \t*_]*(\S.*)$", re.MULTILINE)
_RATIONAL = re.compile(r"^[ \t>#*_]*plan[ \t*_]*[:：][ \t*_]*(\S.*)$", re.MULTILINE | re.IGNORECASE)
_LONGEST = 300  # characters of the rational plan


def planned(agent: Agent, question: str) -> tuple[Plan, str | None]:
    """The plan for a question, and why it is none of the model's. What else ends a question is raised."""
    asked = without_references(question)

    def check(reply: object) -> tuple[Plan, str]:
        plan, rational = parse_plan(str(reply))
        check_about(plan, asked)
        return plan, rational

    messages = (
        {"role": "system", "content": prompt("grasp_plan")},
        {"role": "user", "content": f"Question: {asked}"},
    )
    try:
        request = Request("grasp_plan", messages, limit=_LIMIT)
        return agent.ask(request, check, question, _told)[0], None
    except ReplyError as error:
        return Plan((SubQuestion(1, asked),)), f"no plan was made: {error}"


def parse_plan(reply: str) -> tuple[Plan, str]:
    """The plan in a reply, and its rational plan. ValueError: there is none that can be followed; the text
    says how to mend that."""
    steps = [{"id": int(number), "question": text.strip()} for number, text in _STEP.findall(reply)]
    if not steps:
        raise ValueError('there is no sub-question. Write each in a line of its own: "1. Who wrote it?"')
    if len(steps) > MOST:
        raise ValueError(f"there are {len(steps)} sub-questions. Write {MOST} at the most")
    rational = _RATIONAL.search(reply)
    return followed(steps), " ".join(rational[1].split())[:_LONGEST] if rational else ""


def _told(found: tuple[Plan, str]) -> str:
    plan, rational = found
    steps = " ".join(f"({step.id}) {step.question}" for step in plan.steps)
    return f"{rational} {steps}".strip()


def findings(team: Team, plan: Plan, recipe: GraspRecipe) -> dict[int, Finding]:
    """What each sub-question found, by its id. Errors as of `side_by_side`."""
    found: dict[int, Finding] = {}
    blind: set[int] = set()  # asked without an answer that they wait for
    for level in plan.levels():
        tasks: dict[int, Callable[[], Finding]] = {}
        for step in level:
            agent, question = team.agent(f"sub-question {step.id}"), _concrete(step, found)
            unknown = [parent for parent in step.parents if found[parent].answer is None]
            if unknown:
                blind.add(step.id)
            if blind.intersection(unknown):
                agent.note("skip", question, "", "nothing that it waits for is known")
                found[step.id] = Finding(question)
            else:
                tasks[step.id] = partial(find, agent, question, recipe)
        for id_, result in zip(tasks, side_by_side(team, list(tasks.values())), strict=True):
            if isinstance(result, ReplyError):
                result = Finding(plan.steps[id_ - 1].question, failed=str(result))
            found[id_] = result
    return found


def _concrete(step: SubQuestion, found: dict[int, Finding]) -> str:
    """The sub-question with answers, or with what is not known in words, in the place of `#k`."""
    said = {
        id_: one.answer if one.answer is not None else f"({one.question.rstrip(' ?')})"
        for id_, one in found.items()
    }
    return step.concrete(said)


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


def run(context: Context, query: Query, recipe: GraspRecipe) -> Retrieved:
    """Plan, ask every sub-question by an agent of its own, and put together what they found."""
    from gsw_graph.ask.retrieve.agents import Team

    team = Team(context)
    plan, unplanned = planned(team.agent("planner"), query.question)
    found = findings(team, plan, recipe)
    failed = [f"sub-question {id_}: {one.failed}" for id_, one in found.items() if one.failed]
    draft, unjoined = None, None
    if query.answer:
        agent, model = team.agent("synthesis"), context.used["llm"]
        draft, unjoined = answered(agent, model, query.question, plan, found, context.on_text)
    note = "; ".join(filter(None, [unplanned, *failed, unjoined])) or None
    return Retrieved(ranked(found, query.k), draft=draft, plan=plan, note=note)


GRASP = Strategy(
    "grasp",
    "GRASP: an agent for each sub-question searches facts and follows names; needs a language model",
    run,
    GraspRecipe(),
    recipes={"default": GraspRecipe(), "paper": GRASP_PAPER},
    makes_plan=True,
    needs=frozenset({"llm"}),
    gives=frozenset({"passages", "answer"}),
)
