"""Run the strategy `grasp` (GRASP, Jenkins 2026). A planner writes sub-questions, sub-agents answer them, in
parallel if they do not wait for each other, and one call joins the findings. docs/grasp.md.

From the paper come hybrid search over propositions, score(passage) = sum 1 / (k + rank) over its propositions
with k = 60, a statement and keywords for the search, at most three traversals over names, one sentence or
"insufficient". The rest is ours. Question-answer pairs are facts too. The call that reads the evidence also
asks for the traversal, so that a plain sub-question takes one call. Replies are lines, which take fewer
tokens than JSON. Names and findings of an agent must occur in its lines. If a sub-question has no answer, the
next has its words instead: "Where was (who built the Stone Pier) born?". The finding of a single sub-question
is the answer.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from gsw_graph.ask.answer.evidence import EvidenceLine, passage_lines, render_evidence, single_line
from gsw_graph.ask.answer.reader import NOTHING_FOUND, cited, from_items, is_yes_no, supporting_lines
from gsw_graph.ask.plan import Plan, SubQuestion, check_about, followed, without_references
from gsw_graph.ask.retrieve.agents import AgentModel, Team, describe_steps, request_for, side_by_side
from gsw_graph.ask.retrieve.fact_search import Evidence, follow, search
from gsw_graph.ask.retrieve.recipes import GRASP_PAPER, GraspRecipe
from gsw_graph.ask.strategy import AnswerDraft, Query, RetrievalResult, Strategy
from gsw_graph.errors import InvalidReplyError
from gsw_graph.text.names import normalise
from gsw_graph.values import single_spaced, unique

if TYPE_CHECKING:
    from gsw_graph.ask.retrieve.agents import Agent
    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.model.results import Citation, RankedPassage


_LABEL = re.compile(
    r"(?im)^[ \t>#*_`-]*(?P<label>answer|finding|line|follow|search|read|insufficient)(?:(?<=line)s)?\b"
    r"[ \t*_`]*[:：.]?[ \t*_`]*(?P<text>[^\n]*)"
)
_NUMBER = re.compile(r"(?<!\d)\d{1,3}(?!\d)")
_UNKNOWN = re.compile(
    r"(?i)(?:insufficient|unknown|n/?a|no answer.*"
    r"|not (?:known|found|stated|given|mentioned|available)\b.*)[.!]?"
)
_SENTENCE = 400  # characters
_ANSWER = 200
FORM = (
    'Write "Answer:", "Finding:" and "Lines:" in three lines, or one line that begins with "Follow:", '
    '"Search:", "Read:" or "Insufficient:"'
)


class Reply(NamedTuple):
    """Hold the reply of an agent.

    Attributes:
        kind: `answer`; `follow` a name for a fact, `search` for a fact, `read` the text of a line; or
            `insufficient`.
        text: The answer in a few words, the name, fact or number, or the missing part, which may be empty.
        fact: The sentence that states the answer, or the fact to look for.
        lines: Numbers of lines.
    """

    kind: str
    text: str
    fact: str = ""
    lines: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.kind == "answer":
            return self.fact
        said = f"{self.kind} {self.text}".strip()
        return f"{said}: {self.fact}" if self.fact else said


def parse_reply(reply: object) -> Reply:
    """Read a reply. Of several forms the first counts; without a form, the first line is the answer.

    Raises:
        ValueError: The reply is empty.
    """
    parts: dict[str, str] = {}
    for match in _LABEL.finditer(str(reply)):
        parts.setdefault(match["label"].lower(), _plain(match["text"]))
    kind = next((label for label in parts if label not in ("finding", "line")), "answer")
    text = parts.get(kind, "")
    if kind == "insufficient":
        return Reply(kind, text[:_SENTENCE])
    if kind != "answer":
        subject, _, fact = text.partition("|")
        if not subject.strip():
            raise ValueError(f"nothing stands after its label. {FORM}")
        return Reply(kind, subject.strip()[:_ANSWER], fact.strip()[:_SENTENCE])
    if not parts:  # of a small model; whether the lines hold the answer is checked anyway
        first = re.search(r".*\w.*", str(reply))
        text = _plain(first[0]) if first else ""
    sentence = parts.get("finding", "")
    answer = text or sentence
    if not answer:
        raise ValueError(f"the reply has no form that is known. {FORM}")
    if _UNKNOWN.fullmatch(answer):
        return Reply("insufficient", sentence[:_SENTENCE])
    numbers = map(int, _NUMBER.findall(parts.get("line", "")))
    return Reply("answer", answer[:_ANSWER], (sentence or answer)[:_SENTENCE], tuple(numbers))


def _plain(text: str) -> str:
    """Write a text without emphasis, in one line."""
    return single_spaced(text.replace("**", "").replace("`", ""))


def _after(label: str, reply: object) -> str:
    """Return the rest of the line that begins with a label, "" without one."""
    match = re.search(rf"(?im)^\W*{label}\W*[:：][ \t*_]*(\S[^\n]*)", str(reply))
    return match[1].strip() if match else ""


_FINDING_LIMIT = 400  # tokens of a reply; a usual one has 40
_WHOLE = 300  # tokens of a text that is read
_KEPT = 4  # a part in so many of the lines stays of those before, however many new ones there are
UNSUPPORTED = "no line that it was shown has its answer"
NO_MORE = "it asked for more than it may"
_YES_NO = re.compile(r"(?i)^\W*(?:yes|no)\b\W*")


@dataclass(frozen=True)
class Finding:
    """Hold the result of a sub-question, with the `question` as it was asked.

    Attributes:
        answer: The answer in a few words; None if the evidence was insufficient.
        sentence: States the answer.
        sources: Lines that support answer and sentence.
        missing: The missing part, if there is no answer.
        failed: Why the model gave no usable reply.
        passages: Passages of each search, best first.
    """

    question: str
    answer: str = ""
    sentence: str = ""
    sources: tuple[EvidenceLine, ...] = ()
    missing: str = ""
    failed: str | None = None
    passages: list[list[RankedPassage]] = field(default_factory=list)

    @property
    def citations(self) -> list[Citation]:
        """Return the citations of its lines."""
        return [cited(item, self.question, self.answer) for item in self.sources]


class Search:
    """Follow an agent's way to its finding: the lines that it sees, the passages of each search, and its
    steps."""

    def __init__(self, agent: Agent, question: str, recipe: GraspRecipe) -> None:
        self.agent = agent
        self.question = question
        self.recipe = recipe
        self.shown: list[EvidenceLine] = []
        self.looks: list[str] = []
        self.nothing = Finding(question)

    def run(self) -> Finding:
        """Return the agent's finding for its sub-question. An unusable reply, or a used-up budget, costs only
        this finding. Errors are those of `Agent.ask`."""
        try:
            self._take(search(self.agent, *self._statement(), self.recipe))
            last = False
            for left in range(self.recipe.rounds, -1, -1):
                last = last or not left
                reply = self._ask(last=last)
                if reply.kind == "answer":
                    return self._check(reply)
                if reply.kind == "insufficient":
                    return replace(self.nothing, missing=reply.text)
                if last:
                    self.agent.note("stop", str(reply), "", NO_MORE)
                    break
                last = not self._look(reply)  # it answers from what it has
        except InvalidReplyError as error:
            return replace(self.nothing, failed=str(error))
        return self.nothing

    def _statement(self) -> tuple[str, str]:
        """Return what is searched for first, and keywords."""
        if self.recipe.rewrite == "first":
            request = request_for(
                "grasp_rewrite", f"Question: {single_line(self.question)}", limit=_FINDING_LIMIT
            )
            try:
                return self.agent.ask(request, _parse_statement, self.question, " | ".join)
            except InvalidReplyError:  # the question is a statement too, if not the best
                pass
        return self.question, ""

    def _take(self, evidence: Evidence) -> None:
        """Show new lines first; of those before as many stay as the budget allows."""
        most = self.recipe.lines
        items = evidence.items
        texts = {item.text for item in items}
        earlier = [item for item in self.shown if item.text not in texts]
        left = max(most // _KEPT, most - len(items))
        stay = min(len(earlier), left)
        self.shown = [*items[: most - stay], *earlier[:stay]]
        self.nothing.passages.append(evidence.passages)

    def _ask(self, *, last: bool) -> Reply:
        parts = [render_evidence(self.shown)]
        if self.looks:
            parts.append(f"Looked up already: {'; '.join(self.looks)}")
        if last:
            parts.append("Nothing more can be looked up: reply with Answer or Insufficient.")
        parts.append(f"Question: {single_line(self.question)}")
        request = request_for("grasp_find", "\n\n".join(parts), limit=_FINDING_LIMIT)
        return self.agent.ask(request, parse_reply, self.question, str)

    def _check(self, reply: Reply) -> Finding:
        """Return the finding, where its answer occurs in the lines; its sentence too, else the answer is
        for itself."""
        named = [number - 1 for number in reply.lines]
        numbers = supporting_lines(self.question, reply.text, named, self.shown, is_comparison=False)
        if not numbers:
            self.agent.note("check", reply.text, "", UNSUPPORTED)
            return self.nothing
        sentence = reply.fact
        stated = _YES_NO.sub("", sentence)  # "No, it was Atlantis" says more than no
        if not (stated and supporting_lines("", stated, numbers, self.shown, is_comparison=False)):
            sentence = f"{self.question} {reply.text}"
        sources = tuple(self.shown[number] for number in numbers)
        return replace(self.nothing, answer=reply.text, sentence=sentence, sources=sources)

    def _look(self, reply: Reply) -> bool:
        """Look up what the agent asks for. False: it was looked up before, or it cannot be."""
        kind, text, fact, _ = reply
        look = single_line(f"{kind.capitalize()} {text} {fact}")
        if look in self.looks:
            return False
        self.looks.append(look)
        if kind == "read":
            return self._read(text)
        statement = f"{text} {fact}".strip()
        if kind == "follow":
            if self._is_shown(text):
                self._take(follow(self.agent, text, fact or self.question, self.recipe))
                return True
            self.agent.note("follow", text, "", "refused: no line that it was shown has this name")
            statement = fact
        if statement:
            self._take(search(self.agent, statement, "", self.recipe))
        return bool(statement)

    def _is_shown(self, name: str) -> bool:
        """Tell whether a name occurs in the question or in a line, as whole words."""
        key = normalise(name)
        for text in (self.question, *(item.text for item in self.shown)):
            words = " ".join(map(normalise, text.replace("?", " ").split()))
            if key and f" {key} " in f" {words} ":
                return True
        return False

    def _read(self, number: str) -> bool:
        """Show the passage of a line."""
        match = _NUMBER.search(number)
        line = int(match[0]) if match else 0
        if not 0 < line <= len(self.shown):
            self.agent.note("read", number, "", "refused: there is no such line")
            return False
        passage = self.shown[line - 1].passage
        self.agent.note("read", f"line {line}", passage.title or passage.id)
        self._take(Evidence(list(passage_lines([passage], _WHOLE)), [passage]))
        return True


def _parse_statement(reply: object) -> tuple[str, str]:
    """Return the statement in a reply, and its keywords. ValueError: there is none."""
    statement = _after("statement", reply)
    if not statement:
        raise ValueError('there is no line "Statement: ..."')
    return statement[:500], _after("keywords", reply)[:200]


MOST = 8  # sub-questions, and so agents
_PLAN_LIMIT = 600  # tokens of a reply; a usual one has 80
_STEP = re.compile(r"(?m)^[ \t>*_-]*(\d{1,2})[.):][ \t*_]*(\S.*)$")
_LONGEST = 300  # characters of the rational plan


def planned(agent: Agent, question: str) -> tuple[Plan, str | None]:
    """Return the plan for a question, and a reason if it is not the model's. Other errors are raised."""
    standalone = without_references(question)

    def check(reply: object) -> tuple[Plan, str]:
        plan, rational = parse_plan(str(reply))
        check_about(plan, standalone)
        return plan, rational

    def describe(made: tuple[Plan, str]) -> str:
        return f"{made[1]} {describe_steps(made[0].steps)}".strip()

    try:
        request = request_for("grasp_plan", f"Question: {standalone}", limit=_PLAN_LIMIT)
        return agent.ask(request, check, question, describe)[0], None
    except InvalidReplyError as error:
        return Plan((SubQuestion(1, standalone),)), f"no plan was made: {error}"


def parse_plan(reply: str) -> tuple[Plan, str]:
    """Return the plan in a reply, and its rational plan. Raises ValueError, with advice for the model, if
    there is no plan that can be followed."""
    steps = [{"id": int(number), "question": text.strip()} for number, text in _STEP.findall(reply)]
    if not steps:
        raise ValueError('there is no sub-question. Write each in a line of its own: "1. Who wrote it?"')
    if len(steps) > MOST:
        raise ValueError(f"there are {len(steps)} sub-questions. Write {MOST} at the most")
    return followed(steps), _after("plan", reply)[:_LONGEST]


def findings(team: Team, plan: Plan, recipe: GraspRecipe) -> dict[int, Finding]:
    """Return the finding of each sub-question, by its id. Errors are those of `Search.run`."""
    results: dict[int, Finding] = {}
    answers: dict[int, str] = {}  # or what is not known, in words
    blind = set()  # asked without an answer that they wait for
    for level in plan.levels():
        searches = {}
        for step in level:
            agent = team.agent(f"sub-question {step.id}")
            question = step.concrete(answers)
            unknown = [parent for parent in step.parents if not results[parent].answer]
            if unknown:
                blind.add(step.id)
            if blind.intersection(unknown):
                agent.note("skip", question, "", "nothing that it waits for is known")
                results[step.id] = Finding(question)
            else:
                searches[step.id] = Search(agent, question, recipe)
        tasks = [search.run for search in searches.values()]
        results |= zip(searches, side_by_side(team, tasks), strict=True)
        for step in level:
            finding = results[step.id]
            answers[step.id] = finding.answer or f"({finding.question.rstrip(' ?')})"
    return results


_SOUGHT = 2.0  # weight of votes for what is not found yet, where those for what is have 1


def answered(
    context: RetrievalContext, agent: Agent, question: str, plan: Plan, results: dict[int, Finding]
) -> tuple[AnswerDraft, str | None]:
    """Return the answer, and why it is not the model's last word. Errors as of `Agent.ask`, an
    InvalidReplyError apart."""
    known = {id_: finding for id_, finding in results.items() if finding.answer}
    if not known:
        missing = next((finding.missing or finding.question for finding in results.values()), NOTHING_FOUND)
        return _refusal(missing), None
    if len(plan.steps) == 1:
        (finding,) = known.values()
        if context.on_text is not None:
            context.on_text(finding.answer)
        return _of(finding), None
    items = [
        EvidenceLine(
            single_line(finding.sentence), finding.sources[0].passage, finding.question, finding.answer
        )
        for finding in known.values()
    ]
    lost = next((results[sink.id] for sink in plan.sinks if sink.id not in known), None)
    several = len(plan.sinks) > 1  # to compare, count or join what they found
    model = AgentModel(agent, "the findings")
    is_comparison = several and lost is None
    try:
        draft = from_items(
            question, items, model, is_comparison=is_comparison, task="grasp_join", on_text=context.on_text
        )
    except InvalidReplyError as error:
        last = plan.steps[-1].id
        if several:
            draft = _refusal("the findings were not put together")
        elif last in known:
            draft = _of(known[last])
        else:
            draft = _refusal(results[last].question)
        return draft, f"{model.model} put no findings together: {error}"
    if lost is not None and draft.answer is not None and is_yes_no(draft.answer):
        # Half of a comparison says nothing, and no line would show that.
        return _refusal(lost.missing or lost.question), None
    return replace(draft, citations=_further(draft, known)), None


def _refusal(missing: str) -> AnswerDraft:
    return AnswerDraft(abstained=True, missing=missing)


def ranked(results: dict[int, Finding], k: int) -> list[RankedPassage]:
    """Return the `k` best passages of all sub-questions."""
    scores: dict[str, float] = defaultdict(float)
    by_id: dict[str, RankedPassage] = {}
    for finding in results.values():
        weight = 1.0 if finding.answer else _SOUGHT
        for passages in finding.passages:
            top = passages[0].score if passages and passages[0].score else 1.0
            for passage in passages:
                by_id.setdefault(passage.id, passage)
                scores[passage.id] += weight * passage.score / top / len(finding.passages)
    for finding in results.values():
        for item in finding.sources:
            by_id.setdefault(item.passage.id, item.passage)
            scores[item.passage.id] += _SOUGHT * len(results)  # more than votes can give
    best = sorted(scores, key=lambda id_: (-scores[id_], id_))[:k]
    return [replace(by_id[id_], score=scores[id_]) for id_ in best]


def _of(finding: Finding) -> AnswerDraft:
    """Return a finding as the answer."""
    return AnswerDraft(finding.answer, "llm", citations=unique(finding.citations))


def _further(draft: AnswerDraft, known: dict[int, Finding]) -> list[Citation]:
    """Return the citations with those of the other lines that the same findings are based on."""
    citations = list(draft.citations)
    passages = {citation.passage for citation in citations}
    for finding in known.values():
        first, *others = finding.citations
        if first.passage in passages:
            citations += (citation for citation in others if citation.passage not in passages)
    return unique(citations)


def retrieve(context: RetrievalContext, query: Query, recipe: GraspRecipe) -> RetrievalResult:
    """Plan, ask every sub-question by an agent of its own, and put together what they found."""
    team = Team(context)
    plan, unplanned = planned(team.agent("planner"), query.question)
    results = findings(team, plan, recipe)
    notes = [unplanned]
    for id_, finding in results.items():
        if finding.failed:
            notes.append(f"sub-question {id_}: {finding.failed}")
    draft = None
    if query.answer:
        draft, unjoined = answered(context, team.agent("synthesis"), query.question, plan, results)
        notes.append(unjoined)
    note = "; ".join(filter(None, notes)) or None
    return RetrievalResult(ranked(results, query.k), draft=draft, plan=plan, note=note)


GRASP = Strategy(
    "grasp",
    "GRASP: an agent for each sub-question searches facts and follows names; needs a language model",
    retrieve,
    GraspRecipe(),
    recipes={"default": GraspRecipe(), "paper": GRASP_PAPER},
    makes_plan=True,
    needs=frozenset({"llm"}),
    gives=frozenset({"passages", "answer"}),
)
