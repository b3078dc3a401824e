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
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gsw_graph.models.chat.request import estimate
from gsw_graph.models.prompts import break_control_tokens, fence
from gsw_graph.store.facts import of_passages
from gsw_graph.text.names import normalise
from gsw_graph.text.words import content_words, idf, sentences, term_coverage, words, written_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.strategy import Retrieved
    from gsw_graph.model.results import RankedPassage
    from gsw_graph.store.facts import PassageFact


_RULE = "[2,0,5] is the fact e[2] r[0] e[5], [2,0] is e[2] r[0], from 0"
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
    """Return a sentence as an edge: the name it begins with, what stands before the next name, and the rest;
    nothing of it is lost but an article, quotes around the first name, and the stop. One that begins with no
    name, or has no other, stays a sentence about its passage."""
    text = _END.sub("", " ".join(text.split()))
    known = sorted(filter(None, set(names)), key=len, reverse=True)
    first = re.match(rf'(?:(?:the|a|an) )?["“]?({_any_of(known)})(?!\w)["”]?', text, re.IGNORECASE)
    if first is not None:
        others = _any_of([name for name in known if name.casefold() != first[1].casefold()])
        second = re.compile(rf"(?<!\w)({others})(?!\w)").search(text, first.end())
        if second is not None:
            place = second.start()
            while place > first.end() and not (text[place - 1].isspace() or text[place - 1].isalnum()):
                place -= 1  # the signs before a name are part of it
            if relation := text[first.end() : place].strip():
                return Edge(first[1], relation, text[place:])
    return Sentence(about, text)


def _any_of(names: Iterable[str]) -> str:
    """Return a pattern of these names; without any it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


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
    """Yield titles and texts of at most so many passages, the best first, in so many tokens: whole ones while
    each of the others can still have _PASSAGE tokens, then beginnings."""
    shown = passages[: min(most, max(room, 0) // _PASSAGE)]
    for left, passage in zip(range(len(shown), 0, -1), shown, strict=True):
        text = passage.text.removeprefix(f"{passage.title}\n")
        whole, tokens = flat(titled_text(passage, text)), room - (left - 1) * _PASSAGE
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
_PAIRS = ROOM // 2  # tokens of all pairs beside passages
CHAIN_TOKENS = 250  # of pairs alone; in the paper they take 192 in the mean
_PAIR = 200  # tokens of a pair, which may list hundreds of answers
_ROLES = 100  # characters of roles and states


def lines(asked: Sequence[str], found: Retrieved) -> list[Item]:
    """Return pairs of the chains, hop by hop and the best chain of each end first; the beginnings of the best
    passages, whole where there is room; sentences of those below them."""
    first, below = found.passages[:READ], [*found.passages[READ:], *found.below]
    pairs = _fitting(_pairs(found, {passage.id for passage in first}), _PAIRS)
    items = [*pairs, *texts(first, ROOM - _size(pairs))]
    return [*items, *_sentences(below, asked, ENOUGH - _size(items))]


def chains(asked: Sequence[str], found: Retrieved) -> list[Item]:  # noqa: ARG001 - as of every form
    """Return the pairs of all chains and nothing else, as Panini's reader sees them (section 2.2), those of
    the best chains where they take more than CHAIN_TOKENS."""
    items = list(_pairs(found, set()))
    while estimate(listed(items)) > CHAIN_TOKENS:
        items.pop()
    return items


def passages(asked: Sequence[str], found: Retrieved) -> list[Item]:  # noqa: ARG001
    """Return the best passages and nothing else, as the papers' baselines are read."""
    return list(texts(found.passages))


def gather(question: str, found: Retrieved, show: Show = lines) -> list[Item]:
    """Return what is shown of what was found, for the question and what the best chain of each end asked.
    show: in which form, such as `lines` or `compact`."""
    best = found.beams.best() if found.beams is not None else []
    asked = [question, *(hop.concrete for chain in best for hop in chain.hops)]
    return show(list(dict.fromkeys(asked)), found)


def disagreements(found: Retrieved, items: Sequence[Item]) -> Iterator[Item]:
    """Yield what passages say against each other, a line for each claim, in the form of the other items."""
    passages = {passage.id: passage for passage in found.passages}
    compact = any(item.run is not None for item in items)
    for conflict in found.conflicts:
        for claim in conflict.claims:
            text = flat(f"Passages disagree: {conflict.question} {claim.answer}")
            run = Run((Sentence(flat(conflict.question), flat(claim.answer)),), "disagreement")
            where = passages[claim.passages[0]]
            yield Item(cut(text, _PAIR), where, conflict.question, claim.answer, run if compact else None)


def _size(items: Iterable[Item]) -> int:
    return sum(estimate(item.text) for item in items)


def _fitting(items: Iterable[Item], room: int) -> list[Item]:
    """Return the first items that take so many tokens together."""
    shown = list(items)
    sizes = accumulate(estimate(item.text) for item in shown)
    return [item for item, size in zip(shown, sizes, strict=True) if size <= room]


def _pairs(found: Retrieved, read: set[str]) -> Iterator[Item]:
    """Yield the pairs of the chains that reach an end of the plan, what says the same once: all of the best
    chain of each end, of the others those whose passages are not read. One whose passage was forgotten
    meanwhile could not be cited, so it is not read either."""
    beams, seen = found.beams, set[str]()
    ends, best = (beams.ends(), len(beams.best())) if beams is not None else ([], 0)
    for number, chain in enumerate(ends):
        for hop in chain.hops:
            pair = hop.pair
            said = f"{pair.question} {', '.join(pair.answers)}"
            if said in seen or pair.passage not in found.cited or (number >= best and pair.passage in read):
                continue
            seen.add(said)
            roles = flat("; ".join(dict.fromkeys(filter(None, pair.descriptions))))[:_ROLES]
            text = f"{said} ({roles})" if roles else said
            yield Item(cut(flat(text), _PAIR), found.cited[pair.passage], pair.question, hop.answer)


def _sentences(passages: Sequence[RankedPassage], asked: Sequence[str], room: int) -> Iterator[Item]:
    """Yield the best sentences of some passages, in so many tokens; the passages in their order."""
    import numpy as np

    texts = [sentences_of(passage) for passage in passages]
    places = [(n, m) for n, parts in enumerate(texts) for m in range(len(parts))]
    # The title counts: it is often the only place that names what the sentence is about.
    titled = [titled_text(passages[n], texts[n][m]) for n, m in places]
    # What a sentence says of the question, or of one of its parts: the greatest share.
    scores = np.max([word_shares(question, titled) for question in asked], axis=0)
    chosen: dict[int, list[int]] = {}
    for at in (-scores).argsort(kind="stable").tolist():
        n, m = places[at]
        if scores[at] < LEAST or room <= 0:
            break
        size = estimate(texts[n][m]) + (0 if n in chosen else estimate(titled_text(passages[n], "[11]")))
        if len(chosen.get(n, ())) < _EACH and size <= room:
            chosen.setdefault(n, []).append(m)
            room -= size
    for n in sorted(chosen):
        yield Item(flat(titled_text(passages[n], _joined(texts[n], chosen[n]))), passages[n])


def _joined(parts: Sequence[str], places: Sequence[int]) -> str:
    """Return sentences in the order of the text, with a sign where some are left out."""
    return " ".join(text for text, _ in groupby(part if n in places else "…" for n, part in enumerate(parts)))


def titled_text(passage: RankedPassage, text: str) -> str:
    """Return a text of a passage behind the title of the passage."""
    return f"{passage.title}: {text}" if passage.title else text


COMPACT_ENOUGH = 530  # tokens of all facts; with the rest of a payload 0.6 of what lines take
LOOKED_AT = 20  # that are looked at, those of chains among them
FACTS = 400  # of them that are looked at
ASKED = 12  # questions by which they are chosen
_FACT = 100  # tokens of one fact
_VECTORS = 0.6  # share of the cosine in a fact's nearness to a question; the rest is that of the words it has
_LOWER = 0.04  # nearer that a fact of the next passage must be


def compact(context: Context, asked: Sequence[str], found: Retrieved) -> list[Item]:
    """Return facts in the place of passages, in half the tokens.

    What a passage says is in the graph already, one statement a fact: propositions and, of passages that have
    none, pairs with their answers. Of a passage without either, as of a plain document, the sentences are
    taken. Of the question, and of each that a chain asked on its way, the nearest are shown in turn as long
    as they fit, what is said twice once; each passage under one number, as a codebook (`payload`).
    """
    hops = [hop for chain in found.beams.ends() for hop in chain.hops] if found.beams else []
    asked = list(dict.fromkeys([*asked, *(hop.concrete for hop in hops)]))[:ASKED]
    chained = (found.cited[hop.pair.passage] for hop in hops if hop.pair.passage in found.cited)
    ranked = {passage.id: passage for passage in (*found.passages, *found.below, *chained)}
    passages = list(ranked.values())[:LOOKED_AT]
    facts, nearness = _facts(context, passages, asked)
    tokens, known, shown = COMPACT_ENOUGH, set[str](), dict[int, list[Fact]]()
    in_turn = dict.fromkeys((-nearness).argsort(axis=1, kind="stable").T.ravel().tolist())
    for place, fact, text in (facts[number] for number in in_turn):
        subject, *rest = fact
        size = estimate(" ".join(rest)) + 2
        if subject not in (other[0] for other in shown.get(place, ())):  # it is said once
            size += estimate(subject) + 4
        if size <= tokens and (words := normalise(text)) not in known:
            tokens -= size
            known.add(words)
            shown.setdefault(place, []).append(fact)
    return [_item(passages[place], shown[place]) for place in sorted(shown)]


def _facts(
    context: Context, passages: Sequence[RankedPassage], asked: Sequence[str]
) -> tuple[list[tuple[int, Fact, str]], NDArray[np.float64]]:
    """Return all that could be shown, each with the place of its passage and in one text; and how near each
    is to each question. Where the strategy needed no embedder none is loaded for this alone, and words alone
    are compared."""
    import numpy as np

    by_vectors = "embedder" in context.used
    questions = list(context.vectors(asked).values()) if by_vectors else []
    places = {passage.id: place for place, passage in enumerate(passages)}
    with context.clock("database"):
        embeddings = [vector.tolist() for vector in questions]
        held = of_passages(context.reader, list(places), embeddings, most=FACTS)
    stated = {fact.passage for fact in held if not fact.answers}
    held = [fact for fact in held if not fact.answers or fact.passage not in stated]
    facts = [(places[fact.passage], _fact(fact, passages[places[fact.passage]]), fact.line) for fact in held]
    facts += [
        (places[id_], Sentence(flat(passage.title), cut(flat(text), _FACT)), text)
        for id_, passage in zip(places, passages, strict=True)
        if id_ not in {fact.passage for fact in held}
        for text in sentences_of(passage)
    ]
    titled = [f"{passages[place].title}: {text}" for place, _, text in facts]
    nearness = np.array([word_shares(question, titled) for question in asked])
    if by_vectors and facts:
        cosines = [list(fact.cosines) for fact in held]
        if plain := [text for *_, text in facts[len(held) :]]:
            cosines += (context.text_vectors(plain) @ np.stack(questions).T).tolist()
        nearness = _VECTORS * np.array(cosines).T + (1 - _VECTORS) * nearness
    return facts, nearness - _LOWER * np.array([place for place, *_ in facts])


def _fact(fact: PassageFact, passage: RankedPassage) -> Fact:
    about, said = flat(passage.title), cut(flat(fact.line), _FACT)
    return Sentence(about, said) if fact.answers else edge_of(said, map(flat, fact.names), about)


def _item(passage: RankedPassage, facts: Sequence[Fact]) -> Item:
    said = "; ".join(" ".join(fact if isinstance(fact, Edge) else fact[1:]) for fact in facts)
    return Item(flat(titled_text(passage, said)), passage, run=Run(tuple(facts)))
