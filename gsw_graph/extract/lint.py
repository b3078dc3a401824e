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

from gsw_graph.model.documents import Passage, QAPair, Workspace
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
    r"(?:[Hh]e|[Ss]he|[Ii]t|[Tt]hey|[Hh]im|[Hh]er|[Tt]hem|[Hh]is|[Hh]ers|[Ii]ts|[Tt]heirs?|[Tt]his|[Tt]hese|[Tt]hat|[Tt]hose|we|us|you|me|I)$"
    r"|(?:his|her|its|their|my|our|your) [a-z]"
)
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
    """Return what a text is compared by: its words without accents, case and endings; small words are left
    out, numbers are whole."""
    parts = (part for word in text.split() for part in _PART.findall(normalise(word)))
    return frozenset(
        part if part.isdecimal() else part[:_STEM] for part in parts if part not in FUNCTION_WORDS
    )


def folded(text: str) -> str:
    """Return a text in which `stands_in` looks for names."""
    return " ".join(map(normalise, re.sub("[‐-―−/]", "-", text).split()))


def proper(text: str) -> frozenset[str]:
    """Return the stems of those words of a text that do not begin with a small letter: names and numbers."""
    return stems(" ".join(part for part in _PART.findall(text) if not part[0].islower()))


def stands_in(name: str, text: str) -> bool:
    """Return whether a folded text has half of the words of a name, in whatever order and form: of those that
    begin with a capital or a digit, if it has such."""
    words = proper(name) or stems(name)
    return 2 * sum(_has(text, stem) for stem in words) >= len(words)


def _has(text: str, stem: str) -> bool:
    if len(stem) == 1 and stem.isascii():  # the "e" of "e-mail" is in every text
        return stem in re.findall(r"\w+", text)
    return stem in text or (len(stem) == 4 and stem.isdecimal() and f"-{stem[2:]}" in text)


def names_of(text: str) -> Iterator[str]:
    """Yield names and dates of a text that are surely such: no word that begins a sentence or that the text
    has in small letters too, no people's adjective, no letters alone; none of a table or list."""
    written = text.split()
    if len(written) > _WORDS * max(len(_SENTENCE.findall(text)), 1):
        return
    small = {part for word in written for part in _PART.findall(word) if part.islower()}
    for name, starter, _, capitals in find_names(text):
        participle = " " not in name and name.endswith("ed")
        common = participle or name.casefold() in small or _ADJECTIVE.fullmatch(name)
        if not (starter or common or capitals) and any(len(part) > 2 for part in _PART.findall(name)):
            yield name
    yield from (date.text for date in find_dates(text))


def leads_back(answer: str) -> bool:
    """Return whether an answer is one that a question can be about: a name or a date, no number, no adjective
    and no kind of thing."""
    first = answer.lstrip("\"'“”‘’«„(")[:1]
    if first.isalpha() and not first.islower():
        return not _ADJECTIVE.fullmatch(answer) and answer.casefold().removesuffix("s") not in CALENDAR_WORDS
    return any(date.text == answer and date.days for date in find_dates(answer))


def pronoun_in_question(question: str) -> str | None:
    """Return a pronoun of a question that nothing before it explains."""
    if match := _SUBJECT.search(question):
        before = question[: match.start()]
        explained = before != before[:1] + before[1:].lower() or re.search(r"\d", before)
        return None if explained else match[0].split()[-1]
    match = _POINTS.search(question)
    return match[0] if match and question[1:] == question[1:].lower() else None


def owner_and_owned(name: str) -> tuple[str, str] | None:
    """Return the two entities of "Lothair's wife". A name of its own (King Philip's War, master's degree) is
    none."""
    match = None if _OWN_NAMES.fullmatch(name) else _POSSESSIVE.fullmatch(name)
    if not match or not match["owner"][:1].isupper() or match["owned"] != match["owned"].lower():
        return None
    return match.group("owner", "owned") if match["owner"].split()[-1][:1].isupper() else None  # type: ignore[return-value]


def _relative_dates(place: int, subject: str, text: str, prefix: str = "") -> Iterator[Issue]:
    """Yield an issue for a date that says when only beside its text; beside a year it says it."""
    if (when := _RELATIVE.search(text)) and not _YEAR.search(text):
        yield Issue("relative date", place, subject, f"{prefix}{when[0]!r} says when only beside its text")


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
_ORDER = list(KINDS)


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing that is wrong in the passage at position `passage`. `subject` is the entity, question or
    proposition as written in the workspace, or the name that is missing there."""

    kind: str
    passage: int
    subject: str
    message: str


def lint(workspace: Workspace) -> list[Issue]:
    """Return the issues of a workspace, passage by passage, in the order of `KINDS`."""
    pairs: dict[int, list[QAPair]] = {passage.position: [] for passage in workspace.document.passages}
    for phrase in workspace.verb_phrases:
        pairs[phrase.passage] += phrase.pairs
    issues = [*_of_entities(workspace, pairs), *_of_questions(workspace, pairs)]
    for passage in workspace.document.passages:
        if workspace.extractor not in _WITHOUT_QUESTIONS:
            issues += _uncovered(workspace, passage, pairs[passage.position])
            issues += _inverses(passage.position, pairs[passage.position])
    english = any(_ASKS.search(pair.question) for some in pairs.values() for pair in some)
    for fact in workspace.propositions if english else ():
        if match := _BEGINS.match(fact.text):
            message = f"it begins with {match[0].split()[0]!r}: say the name"
            issues.append(Issue("pronoun", fact.passage, fact.text, message))
    return sorted(dict.fromkeys(issues), key=lambda issue: (issue.passage, _ORDER.index(issue.kind)))


def _of_entities(workspace: Workspace, pairs: dict[int, list[QAPair]]) -> Iterator[Issue]:
    texts = {passage.position: folded(passage.full_text) for passage in workspace.document.passages}
    used = {normalise(name) for some in pairs.values() for pair in some for name in pair.about + pair.answers}
    for entity in workspace.entities:
        place, own = entity.passages[0], [texts[position] for position in entity.passages]
        # A date that the text tells by its distance from another a reader may have worked out.
        worked_out = entity.from_ is not None and any(map(_DISTANCE.search, own))
        if not worked_out and not any(stands_in(entity.name, text) for text in own):
            yield Issue("name not in passage", place, entity.name, "the text does not name it")
        if workspace.extractor not in _WITHOUT_QUESTIONS and entity.key not in used:
            yield Issue("orphan", place, entity.name, "no question names it and none is answered by it")
        if not entity.titles:  # a title is a name, whatever it says
            yield from _of_name(place, entity.name, entity.name)


def _uncovered(workspace: Workspace, passage: Passage, pairs: list[QAPair]) -> Iterator[Issue]:
    """Yield what the text names and no question leads to."""
    names = list(names_of(passage.text))
    if names and not pairs:
        message = "no question is asked about this passage"
        yield Issue("empty", passage.position, passage.title, message)
        return
    answers = [answer for pair in pairs for answer in pair.answers]
    covered = {stem for name in [*(e.name for e in workspace.entities), *answers] for stem in stems(name)}
    covered.update(*(proper(pair.question) for pair in pairs))
    for name in names:
        own = stems(name)
        common = len(own & covered)  # most words of a long name, one of a short one
        if own and not (2 * common > len(own) if len(own) > 2 else common):
            covered |= own
            message = "the text names it, and no entity, question or answer does"
            yield Issue("missing name", passage.position, name, message)


def _inverses(position: int, pairs: list[QAPair]) -> Iterator[Issue]:
    """Yield questions that lead from one name to another, with no question that leads back to what the first
    one names, by whatever name."""
    back = [
        (proper(pair.question).union(*map(stems, pair.about)), [stems(answer) for answer in pair.answers])
        for pair in pairs
    ]
    groups = [{*pair.about, *pair.answers} for pair in pairs if _ALIAS.search(pair.question)]

    def also(called: Collection[str]) -> Collection[str]:
        return {*called}.union(*(group for group in groups if not group.isdisjoint(called)))

    for pair in pairs:
        if not pair.about or not any(map(leads_back, pair.answers)) or _KIND.search(pair.question):
            continue
        alias = _ALIAS.search(pair.question)
        about, answered = (pair.about, pair.answers) if alias else (also(pair.about), also(pair.answers))
        own, answers = stems(pair.question).union(*map(stems, about)), [*map(stems, answered)]
        if not any(
            question & answer and any(to & own for to in backs)
            for answer in answers
            for question, backs in back
        ):
            named = " or ".join(repr(name) for name in pair.about[:2])
            message = f"no question about {pair.answers[0]!r} is answered by {named}"
            yield Issue("missing inverse", position, pair.question, message)


def _of_questions(workspace: Workspace, pairs: dict[int, list[QAPair]]) -> Iterator[Issue]:
    keys = {entity.key for entity in workspace.entities}
    for position, pair in ((position, pair) for position, some in pairs.items() for pair in some):
        question = pair.question
        first = next(other for other in pairs[position] if other.question == question)
        if not pair.answers:
            yield Issue("unanswered", position, question, "it has no answer")
        for answer in pair.answers:
            if normalise(answer) not in keys:
                yield Issue("dangling answer", position, question, f"the answer {answer!r} is no entity")
                yield from _of_name(position, question, answer, f"the answer {answer!r}: ")
        if first.answers != pair.answers:
            message = f"answered by {', '.join(first.answers)} and by {', '.join(pair.answers)}"
            yield Issue("conflict", position, question, message)
        own = stems(question)  # it may mean an entity, though in other words
        others = (entity.name for entity in workspace.entities if entity.name not in pair.answers)
        if not pair.about and not any(own & stems(name) for name in others):
            yield Issue("no name", position, question, "it names no entity, so that nothing leads to it")
        if not _ASKS.search(question):  # the rules below read English
            continue
        if pronoun := pronoun_in_question(question):
            yield Issue("pronoun", position, question, f"{pronoun!r} stands for no name in it")
        if _TWO.search(_QUOTED.sub("", question)):
            yield Issue("several unknowns", position, question, "ask one thing at a time")
        yield from _relative_dates(position, question, question)


def _of_name(place: int, subject: str, name: str, prefix: str = "") -> Iterator[Issue]:
    """Yield what is wrong with a name; the issue is of `subject`."""
    words = [word for word in _PART.findall(name.casefold()) if word not in ("the", "a", "an")]
    if _PRONOUN.match(name):
        yield Issue("pronoun", place, subject, f"{prefix}say whom it means")
    elif name[:1].islower() and words and _VAGUE.issuperset(words):
        yield Issue("vague", place, subject, f"{prefix}it could be anything")
    if both := owner_and_owned(name):
        message = f"{prefix}{both[0]!r} and {both[1]!r} are two entities"
        yield Issue("merged possessive", place, subject, message)
    yield from _relative_dates(place, subject, name, prefix)
