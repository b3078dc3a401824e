"""The strategy `grasp`: GRASP (Jenkins 2026). A planner writes sub-questions, a sub-agent answers each, those
that wait for no other side by side, and one call puts the findings together. docs/grasp.md.

Of the paper: hybrid search over propositions, score(passage) = sum 1 / (k + rank) over its propositions with
k = 60, a statement and keywords for the search, at most three traversals over names, one sentence or
"insufficient". Ours: question-answer pairs are facts beside propositions; the call that reads the evidence
asks for the traversal too, so that a plain sub-question takes one call; replies are lines, which take fewer
tokens than JSON; what an agent names, and its finding, must occur in the lines that it was shown; a
sub-question that waits for one without an answer is asked with that in its words, "Where was (who built the
Stone Pier) born?"; where there is one sub-question its finding is the answer.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from gsw_graph.ask.answer.evidence import Item, flat, listed, sentences_of, texts
from gsw_graph.ask.answer.quotes import words_of
from gsw_graph.ask.answer.reader import NOTHING_FOUND, cited, from_items, is_yes_no, supported
from gsw_graph.ask.plan import Plan, SubQuestion, check_about, followed, without_references
from gsw_graph.ask.retrieve.agents import AgentModel, Team, request_for, side_by_side
from gsw_graph.ask.retrieve.names.linking import lucene_words, mentions
from gsw_graph.ask.retrieve.recipes import GRASP_PAPER, GraspRecipe
from gsw_graph.ask.strategy import (
    RANK_CONSTANT,
    AnswerDraft,
    Query,
    Retrieved,
    Strategy,
    reciprocal_rank_fusion,
)
from gsw_graph.errors import ReplyError
from gsw_graph.store import facts as store
from gsw_graph.store.facts import FoundFact
from gsw_graph.text.names import normalise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.agents import Agent
    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.model.results import Citation, RankedPassage


_LABEL = re.compile(
    r"^[ \t>#*_`-]*(?P<label>answer|finding|lines?|follow|search|read|insufficient)\b"
    r"[ \t*_`]*[:：.]?[ \t*_`]*(?P<text>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"(?<!\d)\d{1,3}(?!\d)")
_UNKNOWN = re.compile(
    r"(?:insufficient|unknown|n/?a|no answer.*"
    r"|not (?:known|found|stated|given|mentioned|available)\b.*)[.!]?",
    re.IGNORECASE,
)
_SENTENCE, _ANSWER = 400, 200  # characters
FORM = (
    'Write "Answer:", "Finding:" and "Lines:" in three lines, or one line that begins with "Follow:", '
    '"Search:", "Read:" or "Insufficient:"'
)


class Reply(NamedTuple):
    """What an agent replies.

    kind: `answer`; `follow` a name for a fact, `search` for a fact, `read` the text of a line; or
    `insufficient`. text: the answer in a few words, the name, fact or number, or what is missing, which may
    be empty. fact: the sentence that states the answer, or what is looked for. lines: that it names.
    """

    kind: str
    text: str
    fact: str = ""
    lines: tuple[int, ...] = ()

    def __str__(self) -> str:
        if self.kind == "answer":
            return self.fact
        return ": ".join(filter(None, (f"{self.kind} {self.text}".strip(), self.fact)))


def parse_reply(reply: object) -> Reply:
    """Read a reply: of several forms the first counts, and without any its first line is the answer.

    Raises:
        ValueError: It says nothing.
    """
    parts: dict[str, str] = {}
    for match in _LABEL.finditer(str(reply)):
        parts.setdefault(match["label"].lower(), _plain(match["text"]))
    first = next((label for label in parts if label not in ("finding", "line", "lines")), None)
    if first in ("follow", "search", "read"):
        subject, _, fact = parts[first].partition("|")
        if not subject.strip():
            raise ValueError(f"nothing stands after its label. {FORM}")
        return Reply(first, subject.strip()[:_ANSWER], fact.strip()[:_SENTENCE])
    if first == "insufficient":
        return Reply(first, parts[first][:_SENTENCE])
    answer, sentence = parts.get("answer", ""), parts.get("finding", "")
    if not parts:  # of a small model, which gets no further: whether the lines hold it is looked at anyway
        answer = next((_plain(line) for line in str(reply).splitlines() if re.search(r"\w", line)), "")
    if not (answer or sentence):
        raise ValueError(f"the reply has no form that is known. {FORM}")
    if _UNKNOWN.fullmatch(answer or sentence):
        return Reply("insufficient", sentence[:_SENTENCE])
    numbers = map(int, _NUMBER.findall(parts.get("lines") or parts.get("line") or ""))
    return Reply("answer", (answer or sentence)[:_ANSWER], (sentence or answer)[:_SENTENCE], tuple(numbers))


def _plain(text: str) -> str:
    """Write a text without emphasis and brackets around numbers, in one line."""
    return " ".join(text.replace("**", "").replace("`", "").split())


FACTS, NAMED, DENSE, WORDS = "read/facts", "read/entity_facts", "read/dense", "read/bm25"
_ALIKE = 0.75  # share of two lines' words in common from which they say the same
_EACH = 5  # facts that a passage has among the first, about: so much further down is the next one's rank
_LONG = 300  # characters of a line
_PASSAGE_TOKENS = 450  # tokens of passages, where there are no facts: three of them
_READ = 1_200  # of passages that facts vote for
_SHORT = 100  # of one in the trace
_TRACED = 10  # passages of a search in the trace


@dataclass(frozen=True)
class Evidence:
    """Lines, the best first, and passages with their votes, best first."""

    items: list[Item]
    passages: list[RankedPassage] = field(default_factory=list)


def search(agent: Agent, stage: str, statement: str, keywords: str, recipe: GraspRecipe) -> Evidence:
    """Find evidence for a statement, by its vector and by its words and these keywords."""
    text = f"{statement} {keywords}".strip()
    words = lucene_words(text)

    def facts(context: Context) -> Evidence:
        vector = context.vector(statement).tolist()
        keys = [mention.key for mention in mentions(text)]
        limits = {name: getattr(recipe, name) for name in ("worded", "common", "most", "units", "lexical")}
        with context.clock("database"):
            result = store.near(context.reader, vector, words, keys, nearest=recipe.near, **limits)
        return of_facts(result.facts, text, recipe)

    def passages(context: Context) -> Evidence:
        vector = context.vector(statement)
        with context.clock("database"):
            dense = context.reader.dense(vector.tolist(), recipe.near)
            ranked = of_passages([dense, context.reader.bm25(words, recipe.near) if words else []])
        if recipe.units != "sentences":
            return ranked
        return of_facts(nearest_sentences(context, ranked.passages, vector), text, recipe)

    if recipe.units not in ("sentences", "passages"):
        evidence = agent.search(stage, text, facts, [FACTS], _first, describe)
        if evidence.items:
            return evidence
        kinds = "propositions and no pairs" if recipe.units == "facts" else recipe.units
        text = f"{text} (no {kinds}: passages)"
    return agent.search(stage, text, passages, [DENSE, WORDS], _first, describe)


def nearest_sentences(
    context: Context, passages: Sequence[RankedPassage], vector: NDArray[np.float32]
) -> list[FoundFact]:
    """Return the sentences of some passages as facts, those near a vector first."""
    facts = [
        FoundFact(f"{passage.id} {number}", sentence, (), 0.0, passage)
        for passage in passages
        for number, sentence in enumerate(sentences_of(passage))
    ]
    cosines = context.text_vectors([f"{fact.passage.title}: {fact.text}" for fact in facts]) @ vector
    return [facts[place] for place in (-cosines).argsort(kind="stable")]


def follow(agent: Agent, name: str, key: str, fact: str, recipe: GraspRecipe) -> Evidence:
    """Find the facts of a name that are nearest to the fact that is looked for. key: the name's normal
    form."""

    def run(context: Context) -> Evidence:
        vector = context.vector(fact).tolist()
        with context.clock("database"):
            results = store.of_name(context.reader, key, vector, scan=recipe.scan, most=recipe.most)
        kinds = ("facts", "propositions"), ("facts", "pairs")  # units that a fact without and with answers is
        facts = [finding for finding in results.facts if recipe.units in kinds[bool(finding.answers)]]
        return of_facts(facts, fact, recipe) if facts else of_passages([results.passages])

    return agent.search("follow", f"{name}: {fact}", run, [NAMED], _first, describe)


def describe(evidence: Evidence) -> str:
    """Return what was found, in words."""
    return "; ".join(item.text[:_SHORT] for item in evidence.items[:3]) or "nothing"


def _first(evidence: Evidence) -> list[RankedPassage]:
    return evidence.passages[:_TRACED]


def of_facts(facts: Sequence[FoundFact], text: str, recipe: GraspRecipe) -> Evidence:
    """Rank facts that came in the order of their vectors by their words too, and the passages by the facts
    that vote for them (GRASP, section 3.3). Lines are ranked by what passage they occur in as well."""
    numbers = range(len(facts))
    lexical = [fact.lexical for fact in facts]
    by_words = lexical if any(lexical) else _overlaps(facts, text)
    worded = sorted((number for number in numbers if by_words[number]), key=lambda number: -by_words[number])
    votes = [1 / (RANK_CONSTANT + rank) for rank in range(1, len(facts) + 1)]
    for rank, number in enumerate(worded, 1):
        votes[number] += 1 / (RANK_CONSTANT + rank)
    first = reciprocal_rank_fusion([[fact.passage for fact in _sorted(facts, votes)[: recipe.voting]]])
    if recipe.read == "passages":
        return Evidence(list(texts(first, _READ, recipe.voted)), first)
    ranks = {passage.id: _EACH * rank for rank, passage in enumerate(first, 1)}
    for number, fact in enumerate(facts):
        votes[number] += 1 / (RANK_CONSTANT + ranks.get(fact.passage.id, len(facts)))
    ranked = _sorted(facts, votes)
    items = [
        Item(flat(fact.line)[:_LONG], fact.passage, fact.text, fact.answers[0] if fact.answers else "")
        for fact in _distinct(ranked, recipe.lines)
    ]
    passages = reciprocal_rank_fusion([[fact.passage for fact in ranked[: recipe.voting]]])
    voted = {passage.id: passage for passage in passages}
    remaining = {fact.passage.id: fact.passage for fact in ranked[recipe.voting :]}
    return Evidence(items, list((voted | remaining | voted).values()))


def of_passages(rankings: Sequence[Sequence[RankedPassage]]) -> Evidence:
    """Return passages of several searches, joined by reciprocal ranks."""
    passages = reciprocal_rank_fusion(rankings)
    return Evidence(list(texts(passages, _PASSAGE_TOKENS)), passages)


def _sorted(facts: Sequence[FoundFact], votes: Sequence[float]) -> list[FoundFact]:
    return [facts[place] for place in sorted(range(len(facts)), key=lambda place: (-votes[place], place))]


def _overlaps(facts: Sequence[FoundFact], text: str) -> list[float]:
    """Count for each fact, how many of the words that are asked for occur in it, rare ones among the facts
    more."""
    text_words = words_of(text)
    each = [text_words & words_of(fact.line) for fact in facts]
    often = Counter(word for words in each for word in words)
    return [fsum(1 / often[word] for word in words) for words in each]


def _distinct(facts: Sequence[FoundFact], most: int) -> list[FoundFact]:
    """Return the first facts of which none says what one before it says in the same passage."""
    distinct: list[tuple[FoundFact, frozenset[str]]] = []
    for fact in facts:
        if len(distinct) == most:
            break
        words = words_of(fact.line)
        if not any(
            fact.passage.id == other.passage.id and len(words & known) >= _ALIKE * len(words | known)
            for other, known in distinct
        ):
            distinct.append((fact, words))
    return [fact for fact, _ in distinct]


_FINDING_LIMIT = 400  # tokens of a reply; a usual one has 40
_WHOLE = 300  # tokens of a text that is read
_KEPT = 4  # a part in so many of the lines stays of those before, however many new ones there are
UNSUPPORTED = "no line that it was shown has its answer"
NO_MORE = "it asked for more than it may"
_YES_NO = re.compile(r"^\W*(?:yes|no)\b\W*", re.IGNORECASE)
_STATEMENT = re.compile(r"^\W*statement\W*[:：][ \t*_]*(\S[^\n]*)", re.MULTILINE | re.IGNORECASE)
_KEYWORDS = re.compile(r"^\W*keywords\W*[:：][ \t*_]*(\S[^\n]*)", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Finding:
    """What came of a sub-question, `question` as it was asked.

    answer: in a few words, None where it was insufficient; sentence: that states it; sources: the lines that
    both are based on. missing: what is not known, where there is no answer; failed: why the model gave no
    reply that could be used. passages: that were found on the way, best first, by each search.
    """

    question: str
    answer: str | None = None
    sentence: str = ""
    sources: tuple[Item, ...] = ()
    missing: str = ""
    failed: str | None = None
    passages: list[list[RankedPassage]] = field(default_factory=list)


@dataclass
class Search:
    """An agent's way to its finding: the lines it is shown, the passages of each search, and its looks."""

    agent: Agent
    question: str
    recipe: GraspRecipe
    shown: list[Item] = field(default_factory=list)
    passages: list[list[RankedPassage]] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)

    def run(self) -> Finding:
        """Return what the agent finds for its sub-question. A reply that cannot be used, or a budget that is
        used up, costs its finding alone; errors as of `Agent.ask`."""
        nothing = Finding(self.question, passages=self.passages)
        try:
            self._take(search(self.agent, "search", *self._statement(), self.recipe))
            last = False
            for left in range(self.recipe.rounds, -1, -1):
                last = last or not left
                reply = self._ask(last=last)
                if reply.kind == "answer":
                    return self._check(reply)
                if reply.kind == "insufficient":
                    return replace(nothing, missing=reply.text)
                if last:
                    self.agent.note("stop", str(reply), "", NO_MORE)
                    break
                last = not self._look(reply)  # it answers from what it has
        except ReplyError as error:
            return replace(nothing, failed=str(error))
        return nothing

    def _statement(self) -> tuple[str, str]:
        """Return what is searched for first, and keywords."""
        if self.recipe.rewrite != "first":
            return self.question, ""

        def check(text: object) -> tuple[str, str]:
            statement, keywords = _STATEMENT.search(str(text)), _KEYWORDS.search(str(text))
            if statement is None:
                raise ValueError('there is no line "Statement: ..."')
            return statement[1].strip()[:500], keywords[1].strip()[:200] if keywords else ""

        question = f"Question: {flat(self.question)}"
        try:
            request = request_for("grasp_rewrite", question, limit=_FINDING_LIMIT)
            return self.agent.ask(request, check, self.question, " | ".join)
        except ReplyError:  # the question is a statement too, if not the best
            return self.question, ""

    def _take(self, evidence: Evidence) -> None:
        """Show new lines first; of those before as many stay as the budget allows."""
        items = evidence.items
        texts = {item.text for item in items}
        earlier = [item for item in self.shown if item.text not in texts]
        stay = min(len(earlier), max(self.recipe.lines // _KEPT, self.recipe.lines - len(items)))
        self.shown = [*items[: self.recipe.lines - stay], *earlier[:stay]]
        self.passages.append(evidence.passages)

    def _ask(self, *, last: bool) -> Reply:
        parts = [listed(self.shown)]
        if self.looks:
            parts.append(f"Looked up already: {'; '.join(self.looks)}")
        if last:
            parts.append("Nothing more can be looked up: reply with Answer or Insufficient.")
        parts.append(f"Question: {flat(self.question)}")
        request = request_for("grasp_find", "\n\n".join(parts), limit=_FINDING_LIMIT)
        return self.agent.ask(request, parse_reply, self.question, str)

    def _check(self, reply: Reply) -> Finding:
        """Return the finding, where its answer occurs in the lines; its sentence too, else the answer is
        for itself."""
        named = [number - 1 for number in reply.lines]
        numbers = supported(self.question, reply.text, named, self.shown, judged=False)
        if not numbers:
            self.agent.note("check", reply.text, "", UNSUPPORTED)
            return Finding(self.question, passages=self.passages)
        sentence = reply.fact
        stated = _YES_NO.sub("", sentence)  # "No, it was Atlantis" says more than no
        if not (stated and supported("", stated, numbers, self.shown, judged=False)):
            sentence = f"{self.question} {reply.text}"
        sources = tuple(self.shown[place] for place in numbers)
        return Finding(self.question, reply.text, sentence, sources, passages=self.passages)

    def _look(self, reply: Reply) -> bool:
        """Look up what the agent asks for. False: it was looked up before, or it cannot be."""
        kind, text, fact = reply[:3]
        look = " ".join(filter(None, [kind.capitalize(), flat(text), flat(fact)]))
        if look in self.looks:
            return False
        self.looks.append(look)
        if kind == "read":
            return self._read(text)
        if kind == "follow" and self._is_shown(text):
            self._take(follow(self.agent, text, normalise(text), fact or self.question, self.recipe))
            return True
        if kind == "follow":
            self.agent.note("follow", text, "", "refused: no line that it was shown has this name")
        statement = fact if kind == "follow" else f"{text} {fact}".strip()
        if statement:
            self._take(search(self.agent, "search", statement, "", self.recipe))
        return bool(statement)

    def _is_shown(self, name: str) -> bool:
        """Tell whether a name occurs in the question or in a line, as whole words."""
        key = normalise(name)
        every = [self.question, *(item.text for item in self.shown)]
        return bool(key) and any(
            f" {key} " in f" {' '.join(map(normalise, text.replace('?', ' ').split()))} " for text in every
        )

    def _read(self, number: str) -> bool:
        """Show the passage of a line."""
        match = re.search(r"\d+", number)
        place = int(match[0]) - 1 if match and len(match[0]) < 4 else -1
        if not 0 <= place < len(self.shown):
            self.agent.note("read", number, "", "refused: there is no such line")
            return False
        passage = self.shown[place].passage
        self.agent.note("read", f"line {place + 1}", passage.title or passage.id)
        self._take(Evidence(list(texts([passage], _WHOLE)), [passage]))
        return True


MOST = 8  # sub-questions, and so agents
_PLAN_LIMIT = 600  # tokens of a reply; a usual one has 80
_STEP = re.compile(r"^[ \t>*_-]*(\d{1,2})[.):][ \t*_]*(\S.*)$", re.MULTILINE)
_RATIONAL = re.compile(r"^[ \t>#*_]*plan[ \t*_]*[:：][ \t*_]*(\S.*)$", re.MULTILINE | re.IGNORECASE)
_LONGEST = 300  # characters of the rational plan


def planned(agent: Agent, question: str) -> tuple[Plan, str | None]:
    """Return the plan for a question, and why it is none of the model's. What else ends a question is
    raised."""
    standalone = without_references(question)

    def check(reply: object) -> tuple[Plan, str]:
        plan, rational = parse_plan(str(reply))
        check_about(plan, standalone)
        return plan, rational

    try:
        request = request_for("grasp_plan", f"Question: {standalone}", limit=_PLAN_LIMIT)
        return agent.ask(request, check, question, _describe_plan)[0], None
    except ReplyError as error:
        return Plan((SubQuestion(1, standalone),)), f"no plan was made: {error}"


def parse_plan(reply: str) -> tuple[Plan, str]:
    """Return the plan in a reply, and its rational plan. ValueError: there is none that can be followed; the
    text says how to mend that."""
    steps = [{"id": int(number), "question": text.strip()} for number, text in _STEP.findall(reply)]
    if not steps:
        raise ValueError('there is no sub-question. Write each in a line of its own: "1. Who wrote it?"')
    if len(steps) > MOST:
        raise ValueError(f"there are {len(steps)} sub-questions. Write {MOST} at the most")
    rational = _RATIONAL.search(reply)
    return followed(steps), " ".join(rational[1].split())[:_LONGEST] if rational else ""


def _describe_plan(planned_by: tuple[Plan, str]) -> str:
    plan, rational = planned_by
    steps = " ".join(f"({step.id}) {step.question}" for step in plan.steps)
    return f"{rational} {steps}".strip()


def findings(team: Team, plan: Plan, recipe: GraspRecipe) -> dict[int, Finding]:
    """Return what each sub-question found, by its id. Errors as of `side_by_side`."""
    results: dict[int, Finding] = {}
    blind: set[int] = set()  # asked without an answer that they wait for
    for level in plan.levels():
        tasks: dict[int, Callable[[], Finding]] = {}
        for step in level:
            agent, question = team.agent(f"sub-question {step.id}"), _concrete(step, results)
            unknown = [parent for parent in step.parents if results[parent].answer is None]
            if unknown:
                blind.add(step.id)
            if blind.intersection(unknown):
                agent.note("skip", question, "", "nothing that it waits for is known")
                results[step.id] = Finding(question)
            else:
                tasks[step.id] = Search(agent, question, recipe).run
        for id_, result in zip(tasks, side_by_side(team, list(tasks.values())), strict=True):
            if isinstance(result, ReplyError):
                result = Finding(plan.steps[id_ - 1].question, failed=str(result))
            results[id_] = result
    return results


def _concrete(step: SubQuestion, results: dict[int, Finding]) -> str:
    """Return the sub-question with answers, or with what is not known in words, in the place of `#k`."""
    answers = {
        id_: finding.answer if finding.answer is not None else f"({finding.question.rstrip(' ?')})"
        for id_, finding in results.items()
    }
    return step.concrete(answers)


_SOUGHT = 2.0  # weight of votes for what is not found yet, where those for what is have 1


def answered(
    agent: Agent,
    model: str,
    question: str,
    plan: Plan,
    results: Mapping[int, Finding],
    on_text: Callable[[str], None] | None = None,
) -> tuple[AnswerDraft, str | None]:
    """Return the answer, and why it is not the model's last word. Errors as of `Agent.ask`, a ReplyError
    apart."""
    whole = {id_: finding for id_, finding in results.items() if finding.answer is not None}
    if not whole:
        missing = next((finding.missing or finding.question for finding in results.values()), NOTHING_FOUND)
        return AnswerDraft(abstained=True, missing=missing), None
    if len(plan.steps) == 1:
        (finding,) = whole.values()
        if on_text is not None and finding.answer:
            on_text(finding.answer)
        return _of(finding), None
    items = [
        Item(flat(finding.sentence), finding.sources[0].passage, finding.question, finding.answer or "")
        for finding in whole.values()
    ]
    lost = next((results[sink.id] for sink in plan.sinks if sink.id not in whole), None)
    several = len(plan.sinks) > 1  # to compare, count or join what they found
    agent_model = AgentModel(agent, model, "the findings", lambda reply: reply.answer or reply.missing)
    try:
        judged = several and lost is None
        draft = from_items(question, items, agent_model, judged=judged, task="grasp_join", on_text=on_text)
    except ReplyError as error:
        last = plan.steps[-1].id
        if several:
            draft = AnswerDraft(abstained=True, missing="the findings were not put together")
        elif last not in whole:
            draft = AnswerDraft(abstained=True, missing=results[last].question)
        else:
            draft = _of(whole[last])
        return draft, f"{model} put no findings together: {error}"
    if lost is not None and draft.answer is not None and is_yes_no(draft.answer):
        # Half of a comparison says nothing, and no line would show that.
        return AnswerDraft(abstained=True, missing=lost.missing or lost.question), None
    return replace(draft, citations=_further(draft, whole)), None


def ranked(results: Mapping[int, Finding], k: int) -> list[RankedPassage]:
    """Return the `k` best passages of all sub-questions."""
    scores: dict[str, float] = defaultdict(float)
    by_id: dict[str, RankedPassage] = {}
    for finding in results.values():
        weight = _SOUGHT if finding.answer is None else 1.0
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
    citations = [cited(item, finding.question, finding.answer or "") for item in finding.sources]
    return AnswerDraft(finding.answer, "llm", citations=list(dict.fromkeys(citations)))


def _further(draft: AnswerDraft, whole: Mapping[int, Finding]) -> list[Citation]:
    """Return the citations with those of the other lines that the same findings are based on."""
    passages = {citation.passage for citation in draft.citations}
    further = [
        cited(item, finding.question, finding.answer or "")
        for finding in whole.values()
        if finding.sources[0].passage.id in passages
        for item in finding.sources[1:]
        if item.passage.id not in passages
    ]
    return list(dict.fromkeys([*draft.citations, *further]))


def run(context: Context, query: Query, recipe: GraspRecipe) -> Retrieved:
    """Plan, ask every sub-question by an agent of its own, and put together what they found."""
    team = Team(context)
    plan, unplanned = planned(team.agent("planner"), query.question)
    results = findings(team, plan, recipe)
    failed = [f"sub-question {id_}: {finding.failed}" for id_, finding in results.items() if finding.failed]
    draft, unjoined = None, None
    if query.answer:
        agent, model = team.agent("synthesis"), context.used["llm"]
        draft, unjoined = answered(agent, model, query.question, plan, results, context.on_text)
    note = "; ".join(filter(None, [unplanned, *failed, unjoined])) or None
    return Retrieved(ranked(results, query.k), draft=draft, plan=plan, note=note)


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
