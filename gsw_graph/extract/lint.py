"""What is wrong with a workspace, found by rules: what breaks chains of questions.

The kinds are those of Panini's appendix F.2 (what the text says and no question asks, questions without their
inverse) and of its rules for extraction: docs/extraction.md. A rule that is in doubt is silent, and the rules
about English words say nothing about other languages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from gsw_graph.model.documents import QAPair, Workspace
from gsw_graph.text.dates import CALENDAR_WORDS, find_dates
from gsw_graph.text.names import find_names, normalise
from gsw_graph.text.words import FUNCTION_WORDS

_PART = re.compile(r"[^\W_]+")
_STEM = 5  # letters that two forms of a word share: Canada, Canadian

_DOES = r"(?:did|does|do|was|were|is|are|has|had|have|can|could|will|would|may|might|must|should)"
_BY = r"(?:in|on|at|by|for|to|from|with|of|about|as|after|before|during|under|against|through|into|within)"
_ASKS = re.compile(r"\b(?:who|whom|whose|what|which|when|where|why|how)\b", re.IGNORECASE)
# A pronoun right after the verb that opens the question: nothing it could mean comes before. "It" may stand
# for the weather, or for a clause to come.
_SUBJECT = re.compile(
    rf"\b{_DOES}(?:n['’]t)? (?:he|she|they)\b|\b{_DOES}(?:n['’]t)? it\b(?!.*(?:\b(?:to|that|if|when|while|take)\b|[A-Z]))"
    rf"|^(?:Who|What|Where|When|Why|How) {_DOES} (?:his|her|their|its) [a-z]",
)
_POINTS = re.compile(r"\b(?:this|these) (?!is\b|was\b|are\b|were\b|day\b)[a-z]{3,}")
_PRONOUN = re.compile(
    r"(?:[Hh]e|[Ss]he|[Ii]t|[Tt]hey|[Hh]im|[Hh]er|[Tt]hem|[Hh]is|[Hh]ers|[Ii]ts|[Tt]heirs?|[Tt]his|[Tt]hese|[Tt]hat|[Tt]hose|we|us|you|me|I)"
)
_OWNED = re.compile(r"(?:his|her|its|their|my|our|your) [a-z]")
_BEGINS = re.compile(
    r"(?:He|She|They) [a-z]|(?:His|Her|Their|Its) [a-z]+ [a-z]|(?:This|These) [a-z]+ [a-z]"
    r"|It (?:was|is|has|had|became|also|won|lies)\b(?!.*\b(?:that|to)\b)"
)
_WH = r"(?:when|where|why|how|whom?|what|which)"
_TWO = re.compile(
    rf"\b{_WH} (?:and|or) (?:{_BY} )?{_WH}\b|\b{_WH}\b[^\"“]* and (?:{_BY} )?{_WH}(?: \w+){{0,2}} {_DOES}\b|\? (?:And )?{_WH} ",
    re.IGNORECASE,
)
_QUOTED = re.compile('"[^"]*"|“[^”]*”')
_POSSESSIVE = re.compile(
    r"(?P<owner>\S+(?: \S+)*?)(?:['’]s|(?<=s)['’]) (?P<owned>[^\W\d_][\w-]*(?: [\w-]+)*)"
)
_OWN_NAMES = re.compile(
    r"(?:(?:Wom|M)en|Boys|Girls|Bachelor|Master|Today)['’].*|.*\b(?:laws?|rules?|theorems?|problems?|principles?|equations?|disease|syndrome|paradox|method)"
)
_SPAN = r"(?:week|month|year|summer|winter|spring|autumn|century|decade|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)"
_COUNT = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|some|several|a few|\d{1,2})"
_DISTANCE = re.compile(
    r"\b(?:later|earlier|afterwards?|before|after|next|following|previous|preceding|same|ago|last)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    rf"""\b(?:(?:(?:the|that|this)\ )?(?:last|next|previous|following|preceding|same)\ {_SPAN}(?!\ of\b) | this\ (?:year|month|week|century|decade)
      | yesterday | tomorrow | tonight | {_COUNT}\ (?:day|week|month|year|decade)s?\ (?:ago|later|earlier|afterwards|(?:before|after)(?=\W*$)))\b""",
    re.VERBOSE,
)
_YEAR = re.compile(r"\d{3,4}")
_KIND = re.compile(
    r"""^(?:In|On)\ (?:which|what)\ (?:country|continent)\b | \b(?:nationality|kind|type|sort|genres?|languages?|colou?r|gender|religion|position|occupation
      |profession|rank|role|sports?|events?|levels?)\b""",
    re.VERBOSE,
)
_ALIAS = re.compile(
    r"\b(?:abbreviat|also (?:known|called)|(?:other|full|official|former|original|shorter|alternative) name|stands? for|else is)"
)
_ADJECTIVE = re.compile(
    r"\w*(?:[ei]an|can|ese|ish)s?|Germans?|French|Dutch|Greeks?|Swiss|Soviets?", re.IGNORECASE
)
_SENTENCE = re.compile(
    r"[^\W\d_A-Z]{3,}[\"'”’»)\]]*[.!?](?!\w)|[。！？]"
)  # after a word, not an abbreviation
_WORDS = 60  # of a sentence on average: text with longer ones is a table or a list
_VAGUE = frozenset(
    """something someone somebody somewhere thing things stuff others another event events place places object objects various several many some unknown
    nothing anything everything everyone unspecified other""".split()
)


@lru_cache(maxsize=65536)
def stems(text: str) -> frozenset[str]:
    """What a text is compared by: its words without accents, case and endings; small words are left out,
    numbers are whole."""
    parts = (part for word in text.split() for part in _PART.findall(normalise(word)))
    return frozenset(
        part if part.isdecimal() else part[:_STEM] for part in parts if part not in FUNCTION_WORDS
    )


def folded(text: str) -> str:
    """A text in which `stands_in` looks for names."""
    return " ".join(map(normalise, re.sub("[‐-―−/]", "-", text).split()))


def proper(text: str) -> frozenset[str]:
    """The stems of those words of a text that do not begin with a small letter: names and numbers."""
    return stems(" ".join(part for part in _PART.findall(text) if not part[0].islower()))


def stands_in(name: str, text: str) -> bool:
    """Whether a folded text has half of the words of a name, in whatever order and form: of those that
    begin with a capital or a digit, if it has such."""
    words = proper(name) or stems(name)
    return 2 * sum(_stands(stem, text) for stem in words) >= len(words)


def _stands(stem: str, text: str) -> bool:
    if len(stem) == 1 and stem.isascii():  # the "e" of "e-mail" is in every text
        return stem in re.findall(r"\w+", text)
    return stem in text or (len(stem) == 4 and stem.isdecimal() and f"-{stem[2:]}" in text)


def is_covered(name: frozenset[str], said: set[str]) -> bool:
    """Whether what is said names a name: most words of a long one, one word of a short one."""
    return 2 * len(name & said) > len(name) if len(name) > 2 else bool(name & said)


def names_of(text: str) -> Iterator[str]:
    """Names and dates of a text that are surely such: no word that begins a sentence or stands there in small
    letters too, no people's adjective, no letters alone; none of a table or list."""
    written = text.split()
    if len(written) > _WORDS * max(len(_SENTENCE.findall(text)), 1):
        return
    small = {part for word in written for part in _PART.findall(word) if part.islower()}
    for name, starter, _, capitals in find_names(text):
        if capitals:
            continue
        common = (
            _ADJECTIVE.fullmatch(name)
            or name.casefold() in small
            or (" " not in name and name.endswith("ed"))
        )
        if not starter and not common and any(len(part) > 2 for part in _PART.findall(name)):
            yield name
    yield from (date.text for date in find_dates(text))


def leads_back(answer: str) -> bool:
    """Whether an answer is one that a question can be about: a name or a date, no number, no adjective and
    no kind of thing."""
    first = answer.lstrip("\"'“”‘’«„(")[:1]
    if first.isalpha() and not first.islower():
        return not _ADJECTIVE.fullmatch(answer) and answer.casefold().removesuffix("s") not in CALENDAR_WORDS
    return any(date.text == answer and date.days for date in find_dates(answer))


def asks_other_name(question: str) -> bool:
    """Whether a question asks how else something is called."""
    return bool(_ALIAS.search(question))


def asks_what_kind(question: str) -> bool:
    """Whether a question asks for a property, which many things share."""
    return bool(_KIND.search(question))


def is_english(question: str) -> bool:
    """Whether a question is one that the rules about English words can read."""
    return bool(_ASKS.search(question))


def pronoun_in_question(question: str) -> str | None:
    """A pronoun of a question that nothing before it explains."""
    if found := _SUBJECT.search(question):
        before = question[: found.start()]
        return (
            found[0].split()[-1]
            if before == before[:1] + before[1:].lower() and not re.search(r"\d", before)
            else None
        )
    found = _POINTS.search(question)
    return found[0] if found and question[1:] == question[1:].lower() else None


def pronoun_as_name(name: str) -> bool:
    """Whether a name is a pronoun, or what a pronoun owns: "him", "his works"."""
    return bool(_PRONOUN.fullmatch(name) or _OWNED.match(name))


def pronoun_in_fact(fact: str) -> str | None:
    """The pronoun that a sentence begins with."""
    return found[0].split()[0] if (found := _BEGINS.match(fact)) else None


def several_unknowns(question: str) -> bool:
    """Whether a question asks for more than one thing."""
    return bool(_TWO.search(_QUOTED.sub("", question)))


def owner_and_owned(name: str) -> tuple[str, str] | None:
    """The two entities of "Lothair's wife". A name of its own (King Philip's War, master's degree) is
    none."""
    if _OWN_NAMES.fullmatch(name) or not (found := _POSSESSIVE.fullmatch(name)):
        return None
    owner, owned = found["owner"], found["owned"]
    return (
        (owner, owned)
        if owner[:1].isupper() and owner.split()[-1][:1].isupper() and owned == owned.lower()
        else None
    )


def relative_date(text: str) -> str | None:
    """A date that says when only beside its text; beside a year it says it."""
    return found[0] if (found := _RELATIVE.search(text)) and not _YEAR.search(text) else None


def tells_dates_apart(text: str) -> bool:
    """Whether a text tells a date by its distance from another ("a year later"), so that a reader may have
    worked it out."""
    return bool(_DISTANCE.search(text))


def vague(name: str) -> bool:
    """Whether a name could be anything: "something", "some people", "the event"."""
    words = [word for word in _PART.findall(name.casefold()) if word not in ("the", "a", "an")]
    return name[:1].islower() and bool(words) and all(word in _VAGUE for word in words)


KINDS = {
    "empty": "a passage in which nothing was found",
    "name not in passage": "an entity that the text does not name",
    "missing name": "a name or date of the text that is in no entity, question or answer",
    "orphan": "an entity in no question and no answer",
    "missing inverse": "a question whose answer no question leads back from",
    "dangling answer": "an answer that is no entity",
    "unanswered": "a question without an answer",
    "no name": "a question that names no entity",
    "conflict": "a question asked twice with different answers",
    "several unknowns": "a question that asks for more than one thing",
    "pronoun": "a pronoun where a name belongs",
    "vague": "an entity that could be anything",
    "merged possessive": "two entities in one name",
    "relative date": "a date that says when only beside its text",
}
"""Every kind of issue and what it means."""
_WITHOUT_QUESTIONS = frozenset(
    ("openie", "propositions", "rebel", "sentences", "triples", "two-step")
)  # triples and sentences


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that is wrong in the passage at position `passage`. `subject` is the entity, question or
    proposition as it stands in the workspace, or the name that is missing there."""

    kind: str
    passage: int
    subject: str
    message: str


def lint(workspace: Workspace) -> list[Issue]:
    """The issues of a workspace, passage by passage, in the order of `KINDS`."""
    order = list(KINDS)
    return sorted(
        dict.fromkeys(_Lint(workspace).issues()), key=lambda issue: (issue.passage, order.index(issue.kind))
    )


class _Lint:
    """A workspace, by passage, and the rules that look at it."""

    def __init__(self, workspace: Workspace) -> None:
        self._passages = {passage.position: passage for passage in workspace.document.passages}
        self._entities = workspace.entities
        self._names = [entity.name for entity in workspace.entities]
        self._facts = workspace.propositions
        self._pairs: dict[int, list[QAPair]] = {position: [] for position in self._passages}
        for phrase in workspace.verb_phrases:
            self._pairs[phrase.passage] += phrase.pairs
        self._asks = workspace.extractor not in _WITHOUT_QUESTIONS
        self._keys = {entity.key for entity in workspace.entities}

    def issues(self) -> Iterator[Issue]:
        yield from self._of_entities()
        for position, pairs in self._pairs.items():
            if self._asks:
                yield from self._uncovered(position, pairs)
                yield from self._inverses(position, pairs)
            yield from self._of_questions(position, pairs)
        english = any(is_english(pair.question) for pairs in self._pairs.values() for pair in pairs)
        for fact in self._facts if english else ():
            if pronoun := pronoun_in_fact(fact.text):
                yield Issue("pronoun", fact.passage, fact.text, f"it begins with {pronoun!r}: say the name")

    def _of_entities(self) -> Iterator[Issue]:
        texts = {position: folded(passage.full_text) for position, passage in self._passages.items()}
        used = {
            normalise(name)
            for pairs in self._pairs.values()
            for pair in pairs
            for name in pair.about + pair.answers
        }
        for entity in self._entities:
            place = entity.passages[0]
            worked_out = entity.from_ is not None and any(
                tells_dates_apart(texts[position]) for position in entity.passages
            )
            if not worked_out and not any(
                stands_in(entity.name, texts[position]) for position in entity.passages
            ):
                yield Issue("name not in passage", place, entity.name, "the text does not name it")
            if self._asks and entity.key not in used:
                yield Issue("orphan", place, entity.name, "no question names it and none is answered by it")
            if not entity.titles:  # a title is a name, whatever it says
                yield from _of_name(place, entity.name)

    def _uncovered(self, position: int, pairs: list[QAPair]) -> Iterator[Issue]:
        """What the text names and no question leads to."""
        said = list(names_of(self._passages[position].text))
        if said and not pairs:
            yield Issue(
                "empty", position, self._passages[position].title, "no question is asked about this passage"
            )
            return
        covered = {
            stem
            for name in [*self._names, *(answer for pair in pairs for answer in pair.answers)]
            for stem in stems(name)
        }
        covered.update(*(proper(pair.question) for pair in pairs))
        for name in said:
            if (own := stems(name)) and not is_covered(own, covered):
                covered |= own
                yield Issue(
                    "missing name",
                    position,
                    name,
                    "the text names it, and no entity, question or answer does",
                )

    def _inverses(self, position: int, pairs: list[QAPair]) -> Iterator[Issue]:
        """Questions that lead from one name to another, with no question that leads back to what the first
        one names, by whatever name."""
        back = [
            (proper(pair.question).union(*map(stems, pair.about)), [stems(answer) for answer in pair.answers])
            for pair in pairs
        ]
        groups = [{*pair.about, *pair.answers} for pair in pairs if asks_other_name(pair.question)]

        def also(called: Collection[str]) -> Collection[str]:
            return {*called}.union(*(group for group in groups if not group.isdisjoint(called)))

        for pair in pairs:
            if not pair.about or not any(map(leads_back, pair.answers)) or asks_what_kind(pair.question):
                continue
            about, answered = (
                (pair.about, pair.answers)
                if asks_other_name(pair.question)
                else (also(pair.about), also(pair.answers))
            )
            own, answers = stems(pair.question).union(*map(stems, about)), [*map(stems, answered)]
            if not any(
                question & answer and any(to & own for to in backs)
                for answer in answers
                for question, backs in back
            ):
                named = " or ".join(repr(name) for name in pair.about[:2])
                yield Issue(
                    "missing inverse",
                    position,
                    pair.question,
                    f"no question about {pair.answers[0]!r} is answered by {named}",
                )

    def _of_questions(self, position: int, pairs: list[QAPair]) -> Iterator[Issue]:
        first: dict[str, QAPair] = {}
        for pair in pairs:
            question = pair.question
            if not pair.answers:
                yield Issue("unanswered", position, question, "it has no answer")
            for answer in pair.answers:
                if normalise(answer) not in self._keys:
                    yield Issue("dangling answer", position, question, f"the answer {answer!r} is no entity")
                    yield from (
                        Issue(issue.kind, position, question, f"the answer {answer!r}: {issue.message}")
                        for issue in _of_name(position, answer)
                    )
            if first.setdefault(question, pair).answers != pair.answers:
                yield Issue(
                    "conflict",
                    position,
                    question,
                    f"answered by {', '.join(first[question].answers)} and by {', '.join(pair.answers)}",
                )
            if not pair.about and not self._named(pair):
                yield Issue("no name", position, question, "it names no entity, so that nothing leads to it")
            if is_english(question):
                yield from _of_question(position, question)

    def _named(self, pair: QAPair) -> bool:
        """Whether a question may mean an entity, though it says it in other words."""
        own = stems(pair.question)
        return any(own & stems(entity.name) for entity in self._entities if entity.name not in pair.answers)


def _of_name(position: int, name: str) -> Iterator[Issue]:
    if pronoun_as_name(name):
        yield Issue("pronoun", position, name, "say whom it means")
    elif vague(name):
        yield Issue("vague", position, name, "it could be anything")
    if both := owner_and_owned(name):
        yield Issue("merged possessive", position, name, f"{both[0]!r} and {both[1]!r} are two entities")
    if when := relative_date(name):
        yield Issue("relative date", position, name, f"{when!r} says when only beside its text")


def _of_question(position: int, question: str) -> Iterator[Issue]:
    if pronoun := pronoun_in_question(question):
        yield Issue("pronoun", position, question, f"{pronoun!r} stands for no name in it")
    if several_unknowns(question):
        yield Issue("several unknowns", position, question, "ask one thing at a time")
    if when := relative_date(question):
        yield Issue("relative date", position, question, f"{when!r} says when only beside its text")
