"""Evidence for the answer model, within a budget of tokens: numbered lines, each with the passage of the
graph that it stands for.

A passage says what its pairs say, and more: where both are shown one is paid for twice. So pairs stand for
passages that are not among the first, and those of the best chain beside them to say how the links go. What
is left goes to sentences of passages further down: each costs a third of its passage, and facts below the
fifth passage are found by them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gsw_graph.models.chat.tokens import estimate
from gsw_graph.models.prompts import break_control_tokens, fence
from gsw_graph.text.words import content_words, idf, sentences, term_coverage, words, written_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.qa_chains import Beams
    from gsw_graph.ask.strategy import Retrieved
    from gsw_graph.model.results import RankedPassage


_RULE = "[2,0,5] is the fact e[2] r[0] e[5], [2,0] is e[2] r[0], from 0"
_BEFORE = re.compile('(?:(?:the|a|an) )?["“]?', re.IGNORECASE)
_END = re.compile(r"(?<!\.[A-Z])\.$")  # of a sentence, not of "U.S."


class Edge(NamedTuple):
    """A fact between two things: in this order, with spaces, a sentence."""

    subject: str
    relation: str
    object: str


class Sentence(NamedTuple):
    """A fact that is no edge, and what it is about: the title of its passage."""

    about: str
    text: str


Fact = Edge | Sentence


@dataclass(frozen=True, slots=True)
class Run:
    """The facts of one passage that are shown, under one number. channel: what they are, a key of the
    payload."""

    facts: tuple[Fact, ...]
    channel: str = "facts"


def edge_of(text: str, names: Iterable[str], about: str) -> Fact:
    """A sentence as an edge: the name it begins with, what stands before the next name, and the rest; nothing
    of it is lost but an article, quotes around the first name, and the stop. One that begins with no name, or
    has no other, stays a sentence about its passage."""
    text = _END.sub("", " ".join(text.split()))
    known = sorted({name for name in names if name}, key=len, reverse=True)
    start = found.end() if (found := _BEFORE.match(text)) else 0
    first = next((name for name in known if _begins(text[start:], name)), None)
    if first is not None:
        end = start + len(first)
        end += text.startswith(('"', "”"), end)
        places = [place for name in known if name != first and (place := _place(text, name, end)) > 0]
        if places and (relation := text[end : min(places)].strip()):
            return Edge(text[start:end].strip('"“”'), relation, text[min(places) :])
    return Sentence(about, text)


def payload(runs: Sequence[Run]) -> str:
    """Write facts as JSON by channel and number, in the form of fewer tokens (AutoPrunedRetriever, 2.6):
    words by subject, or places in the lists `e` of names and `r` of what relates them."""
    words: dict[str, dict[str, dict[str, list[str]]]] = {}
    places: dict[str, dict[str, list[list[int]]]] = {}
    names: dict[str, int] = {}
    relations: dict[str, int] = {}
    for number, run in enumerate(runs, 1):
        by_subject = words.setdefault(run.channel, {}).setdefault(str(number), {})
        triples = places.setdefault(run.channel, {}).setdefault(str(number), [])
        for subject, *rest in run.facts:
            by_subject.setdefault(subject, []).append(" ".join(rest))
            tables = zip((names, relations, names), (subject, *rest), strict=False)
            triples.append([table.setdefault(text, len(table)) for table, text in tables])
    lists = {"rule": _RULE, "e": list(names), "r": list(relations)}
    forms: tuple[object, object] = words, lists | places
    written = [json.dumps(form, ensure_ascii=False, separators=(",", ":")) for form in forms]
    return min(written, key=estimate)


def _begins(text: str, name: str) -> bool:
    return text[: len(name)].casefold() == name.casefold() and not text[len(name) : len(name) + 1].isalnum()


def _place(text: str, name: str, start: int) -> int:
    """Where a name stands as whole words, with the signs before it, after some place; -1 for nowhere."""
    found = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)").search(text, start)
    if found is None:
        return -1
    place = found.start()
    while place > start and not (text[place - 1].isspace() or text[place - 1].isalnum()):
        place -= 1
    return place


ROOM = 2_000  # tokens of all lines: with the prompt it fits the 4,096 that small servers give
READ = 5  # passages that are read at the most, as in the papers; however many were asked for
_PASSAGE = 150  # tokens that a passage gets at least, or there are fewer of them

_UNSEEN = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_MARK = re.compile(r"\[(\s*\d+(?:\s*[,;]\s*\d+)*\s*)\]")


@dataclass(frozen=True, slots=True)
class Item:
    """One line of evidence and the passage it stands for; of a pair also its question and answer, by which
    its sentence is found there. run: its facts, where the evidence is compact."""

    text: str
    passage: RankedPassage
    question: str = ""
    answer: str = ""
    run: Run | None = None


def texts(passages: Sequence[RankedPassage], room: int = ROOM, most: int = READ) -> Iterator[Item]:
    """Titles and texts of at most so many passages, the best first, in so many tokens: of a long one the
    beginning. What a short one leaves of its share goes to the next."""
    shown = passages[: min(most, max(room, 0) // _PASSAGE)]
    for left, passage in zip(range(len(shown), 0, -1), shown, strict=True):
        text = passage.text.removeprefix(f"{passage.title}\n")
        whole, tokens = flat(_titled(passage, text)), room // left
        yield Item(cut(whole, tokens), passage)
        room -= tokens if len(whole) > 10 * tokens else min(estimate(whole), tokens)


def listed(items: Sequence[Item]) -> str:
    """The lines with their numbers from 1, or the shortest codebook of compact evidence, between two lines
    with a code made from them, which none of them can therefore contain."""
    runs = [item.run for item in items if item.run is not None]
    if runs and len(runs) == len(items):
        lines = payload(runs)
    else:
        lines = "\n".join(f"[{number}] {item.text}" for number, item in enumerate(items, 1))
    return listed_lines(lines)


def listed_lines(lines: str) -> str:
    """Put lines between two fences with a code made from them, which none of them can therefore contain."""
    return fence("evidence", lines)


def flat(text: str) -> str:
    """A text in one line, in which no number stands in square brackets and no control token of a chat
    template is left: `[1]` and line breaks are ours."""
    return break_control_tokens(_MARK.sub(r"(\1)", " ".join(_UNSEEN.sub(" ", text).split())))


def cut(text: str, tokens: int) -> str:
    """The beginning of a text that has about so many tokens, up to a space."""
    begin = text[: 10 * tokens]  # no token is longer in the mean
    if len(begin) == len(text) and estimate(text) <= tokens:
        return text
    while (size := estimate(begin)) >= tokens:  # one is for the sign that it goes on
        begin = begin[: len(begin) * (tokens - 1) // size]
    return f"{begin.rpartition(' ')[0] or begin} …"


def sentences_of(passage: RankedPassage) -> tuple[str, ...]:
    """Split a passage into sentences, each in one line, without its title and headings."""
    return sentences(passage.text.removeprefix(f"{passage.title}\n"))


def word_shares(question: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return for each text the share of the question's words that it has, a rare one counting more."""
    import numpy as np

    own = [content_words(text) for text in texts]
    asked = content_words(question) & frozenset().union(*own)
    weights = idf(asked, own)
    return np.array([term_coverage(asked, text, idf=weights) for text in own])


def quote(text: str, question: str, answer: str) -> str:
    """The sentence that shares most words with a pair and holds its answer; where no sentence holds it,
    the one that shares most words."""
    candidates = [sentence for part in written_sentences(text) if (sentence := part.strip())]
    asked = set(words(f"{question} {answer}"))
    wanted = re.compile(rf"(?<!\w){re.escape(answer.casefold())}(?!\w)")
    return max(
        candidates,
        key=lambda sentence: (
            bool(wanted.search(sentence.casefold())),
            len(asked.intersection(words(sentence))),
        ),
        default=text,
    )


Show: TypeAlias = "Callable[[Sequence[str], Retrieved], list[Item]]"
ENOUGH = 1_000  # tokens up to which sentences of further passages are added; the first passages may take ROOM
BELOW = 10  # passages below those that were asked for, whose sentences are looked at
LEAST = 0.3  # share of the words of the question, or of one of its parts, that such a sentence has at least
_EACH = 2  # sentences of one of them
_PAIRS = ROOM // 2  # tokens of all pairs
_PAIR = 200  # tokens of a pair, which may list hundreds of answers
_ROLES = 100  # characters of roles and states


def lines(asked: Sequence[str], found: Retrieved) -> list[Item]:
    """Pairs of the chains, hop by hop and the best chain first; the beginnings of the best
    passages, whole where there is room; sentences of those below them."""
    return _gathered(asked, found, _EACH, ENOUGH)


def gather(question: str, found: Retrieved, show: Show = lines) -> list[Item]:
    """What is shown of what was found, for the question and what the best chain asked. show: in which form,
    `lines` or `compact.CompactEvidence`; a strategy may bring its own items."""
    items = found.items
    if items is None:
        items = show(list(dict.fromkeys([question, *_concrete(found)])), found)
    return [*items, *_disagreements(found, compact=any(item.run is not None for item in items))]


def _disagreements(found: Retrieved, *, compact: bool) -> Iterator[Item]:
    """Yield what passages say against each other, a line for each claim."""
    passages = {passage.id: passage for passage in found.passages}
    for conflict in found.conflicts:
        for claim in conflict.claims:
            text = flat(f"Passages disagree: {conflict.question} {claim.answer}")
            run = Run((Sentence(flat(conflict.question), flat(claim.answer)),), "disagreement")
            where = passages[claim.passages[0]]
            yield Item(cut(text, _PAIR), where, conflict.question, claim.answer, run if compact else None)


def _gathered(asked: Sequence[str], found: Retrieved, each: int, enough: int) -> list[Item]:
    first, below = found.passages[:READ], [*found.passages[READ:], *found.below]
    pairs, room = [], _PAIRS
    for item in _pairs(found.beams, found, {one.id for one in first}) if found.beams is not None else ():
        if (room := room - estimate(item.text)) < 0:
            break
        pairs.append(item)
    room = ROOM - sum(estimate(item.text) for item in pairs)
    items = [*pairs, *texts(first, room)]
    return [*items, *_sentences(below, asked, enough - sum(estimate(item.text) for item in items), each)]


def _concrete(found: Retrieved) -> list[str]:
    """What the best chain asked, hop by hop."""
    chains = found.beams.ends()[:1] if found.beams is not None else []
    return list(dict.fromkeys(hop.concrete for chain in chains for hop in chain.hops))


def _pairs(beams: Beams, found: Retrieved, read: set[str]) -> Iterator[Item]:
    """Pairs of the chains that reach an end of the plan, each once: all of the best chain, of the others
    those whose passages are not read. One whose passage was forgotten meanwhile could not be cited, so it
    is not read either."""
    seen: set[str] = set()
    for number, chain in enumerate(beams.ends()):
        for hop in chain.hops:
            pair = hop.pair
            if pair.id in seen or pair.passage not in found.cited or (number and pair.passage in read):
                continue
            seen.add(pair.id)
            roles = flat("; ".join(filter(None, pair.descriptions)))[:_ROLES]
            text = f"{pair.question} {', '.join(pair.answers)}{f' ({roles})' if roles else ''}"
            yield Item(cut(flat(text), _PAIR), found.cited[pair.passage], pair.question, hop.answer)


def _sentences(
    passages: Sequence[RankedPassage], asked: Sequence[str], room: int, each: int
) -> Iterator[Item]:
    """The best sentences of some passages, at most `each` of one, in so many tokens; the passages in their
    order."""
    import numpy as np

    texts = [sentences_of(passage) for passage in passages]
    places = [(n, m) for n, parts in enumerate(texts) for m in range(len(parts))]
    # The title counts: it is often the only place that names what the sentence is about.
    scores = _scores(asked, [_titled(passages[n], texts[n][m]) for n, m in places])
    chosen: dict[int, list[int]] = {}
    for at in np.argsort(-scores, kind="stable").tolist():
        n, m = places[at]
        if scores[at] < LEAST or room <= 0:
            break
        size = estimate(texts[n][m]) + (0 if n in chosen else estimate(_titled(passages[n], "[11]")))
        if len(chosen.get(n, ())) < each and size <= room:
            chosen.setdefault(n, []).append(m)
            room -= size
    for n in sorted(chosen):
        yield Item(flat(_titled(passages[n], _joined(texts[n], chosen[n]))), passages[n])


def _scores(asked: Sequence[str], texts: Sequence[str]) -> NDArray[np.float64]:
    """What a sentence says of the question, or of one of its parts: the greatest share."""
    import numpy as np

    shares = np.array([word_shares(one, texts) for one in asked])
    return shares.max(axis=0) if texts else np.zeros(0)


def _joined(parts: Sequence[str], places: Sequence[int]) -> str:
    """Sentences in the order of the text, with a sign where some are left out."""
    text, before = "", -1
    for place in sorted(places):
        text += f"{' … ' if place - before > 1 else ' '}{parts[place]}"
        before = place
    return text.strip() if before == len(parts) - 1 else f"{text.strip()} …"


def _titled(passage: RankedPassage, text: str) -> str:
    return f"{passage.title}: {text}" if passage.title else text
