"""Choose the evidence for the answer model, within a budget of tokens: numbered lines, each with its passage.

A passage contains the facts of its pairs, so showing both costs twice. Pairs are therefore shown for passages
that are not among the first, and for the best chain, as they show how its facts are linked. The rest of the
budget is for sentences of passages further down: each costs a third of its passage, and some answers are only
there.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gsw_graph.ask.answer.counting import asks_for_all
from gsw_graph.models.chat.request import estimate
from gsw_graph.models.prompts import break_control_tokens, fence
from gsw_graph.store.facts import of_passages
from gsw_graph.text.names import normalise
from gsw_graph.text.words import content_words, idf, sentences, term_coverage

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
    """A fact between two things; its fields joined by spaces are a sentence."""

    subject: str
    relation: str
    object: str


class Sentence(NamedTuple):
    """A fact that is no edge, about the title of its passage."""

    about: str
    text: str


Fact = Edge | Sentence


@dataclass(frozen=True, slots=True)
class Run:
    """The facts of one passage that are shown under one number. channel: Their kind, a key of the payload."""

    facts: tuple[Fact, ...]
    channel: str = "facts"


def edge_of(text: str, names: Iterable[str], about: str) -> Fact:
    """Return a sentence as an edge: the name at its beginning, the words up to the next name, and the rest,
    without the article, quotes around the first name, and the full stop. A sentence that does not begin with
    a name, or has only one, remains a `Sentence`."""
    text = _END.sub("", " ".join(text.split()))
    known_names = sorted(filter(None, set(names)), key=len, reverse=True)
    first = re.match(rf'(?:(?:the|a|an) )?["“]?({_any_of(known_names)})(?!\w)["”]?', text, re.IGNORECASE)
    if first is not None:
        other_names = _any_of([name for name in known_names if name.casefold() != first[1].casefold()])
        second = re.compile(rf"(?<!\w)({other_names})(?!\w)").search(text, first.end())
        if second is not None:
            end = second.start()
            while end > first.end() and not (text[end - 1].isspace() or text[end - 1].isalnum()):
                end -= 1  # the signs before a name are part of it
            if relation := text[first.end() : end].strip():
                return Edge(first[1], relation, text[end:])
    return Sentence(about, text)


def _any_of(names: Iterable[str]) -> str:
    """Return a pattern of these names; without any it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def payload(runs: Sequence[Run]) -> str:
    """Write facts as JSON by channel and number, in the form of fewer tokens (AutoPrunedRetriever, 2.6):
    texts by subject, or indexes in the lists `e` of names and `r` of relations."""
    words: dict[str, dict[str, dict[str, list[str]]]] = {}
    triples_of: dict[str, dict[str, list[list[int]]]] = {}
    names: dict[str, int] = {}
    relations: dict[str, int] = {}
    for number, run in enumerate(runs, 1):
        by_subject = words.setdefault(run.channel, {}).setdefault(str(number), {})
        triples = triples_of.setdefault(run.channel, {}).setdefault(str(number), [])
        for subject, *rest in run.facts:
            by_subject.setdefault(subject, []).append(" ".join(rest))
            tables = zip((names, relations, names), (subject, *rest), strict=False)
            triples.append([table.setdefault(text, len(table)) for table, text in tables])
    lists = {"rule": _RULE, "e": list(names), "r": list(relations)}
    forms: tuple[object, object] = words, lists | triples_of
    written = [json.dumps(form, ensure_ascii=False, separators=(",", ":")) for form in forms]
    return min(written, key=estimate)


BUDGET = 2_000  # tokens of all lines: with the prompt it fits the 4,096 that small servers give
READ = 5  # passages that are shown at most, as in the papers, whatever `k` is
_PASSAGE = 150  # tokens that a passage gets at least, or there are fewer of them

_UNSEEN = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_MARK = re.compile(r"\[(\s*\d+(?:\s*[,;]\s*\d+)*\s*)\]")


@dataclass(frozen=True, slots=True)
class Item:
    """One line of evidence and its passage; of a pair also its question and answer, by which its sentence is
    found in the passage. run: its facts, where the evidence is compact."""

    text: str
    passage: RankedPassage
    question: str = ""
    answer: str = ""
    run: Run | None = None


def texts(passages: Sequence[RankedPassage], budget: int = BUDGET, most: int = READ) -> Iterator[Item]:
    """Yield titles and texts of at most so many passages, the best first, in so many tokens: whole ones while
    each of the others can still have _PASSAGE tokens, then beginnings."""
    shown = passages[: min(most, max(budget, 0) // _PASSAGE)]
    for left, passage in zip(range(len(shown), 0, -1), shown, strict=True):
        text = passage.text.removeprefix(f"{passage.title}\n")
        whole, tokens = flat(titled_text(passage, text)), budget - (left - 1) * _PASSAGE
        yield Item(cut(whole, tokens), passage)
        budget -= tokens if len(whole) > 10 * tokens else min(estimate(whole), tokens)


def listed(items: Sequence[Item]) -> str:
    """Return the lines with their numbers from 1, or the shortest codebook of compact evidence, between two
    lines with a code that is made from the text, so that the text cannot contain it."""
    runs = [item.run for item in items if item.run is not None]
    if runs and len(runs) == len(items):
        lines = payload(runs)
    else:
        lines = "\n".join(f"[{number}] {item.text}" for number, item in enumerate(items, 1))
    return fence("evidence", lines)


def flat(text: str) -> str:
    """Return a text in one line, without numbers in square brackets and without control tokens of chat
    templates: `[1]` and line breaks are written by us alone."""
    return break_control_tokens(_MARK.sub(r"(\1)", " ".join(_UNSEEN.sub(" ", text).split())))


def cut(text: str, tokens: int) -> str:
    """Return the beginning of a text of about so many tokens, up to a space."""
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

    text_words = [content_words(text) for text in texts]
    question_words = content_words(question) & frozenset().union(*text_words)
    weights = idf(question_words, text_words)
    return np.array([term_coverage(question_words, text, idf=weights) for text in text_words])


Show: TypeAlias = "Callable[[Sequence[str], Retrieved], list[Item]]"
ENOUGH = 1_000  # tokens up to which sentences of further passages are added; first passages may take BUDGET
BELOW = 10  # passages below those that were asked for, whose sentences are looked at
LEAST = 0.3  # share of the words of the question, or of one of its parts, that such a sentence has at least
_EACH = 2  # sentences of one of them
_PAIRS = BUDGET // 2  # tokens of all pairs beside passages
CHAIN_TOKENS = 250  # of pairs alone; in the paper they take 192 in the mean
_PAIR = 200  # tokens of a pair, which may list hundreds of answers
_ROLES = 100  # characters of roles and states


def lines(questions: Sequence[str], retrieved: Retrieved) -> list[Item]:
    """Return pairs of the chains, hop by hop and the best chain of each end first; the beginnings of the best
    passages, whole where the budget allows; sentences of those below them, up to BUDGET for a question that
    wants all of something."""
    first, below = retrieved.passages[:READ], [*retrieved.passages[READ:], *retrieved.below]
    pairs = _fitting(_pairs(retrieved, {passage.id for passage in first}), _PAIRS)
    items = [*pairs, *texts(first, BUDGET - _size(pairs))]
    enough = BUDGET if asks_for_all(questions[0]) else ENOUGH
    return [*items, *_sentences(below, questions, enough - _size(items))]


def chains(questions: Sequence[str], retrieved: Retrieved) -> list[Item]:  # noqa: ARG001 - as of every form
    """Return the pairs of all chains and nothing else, as Panini's reader sees them (section 2.2), those of
    the best chains where they take more than CHAIN_TOKENS."""
    items = list(_pairs(retrieved, set()))
    while estimate(listed(items)) > CHAIN_TOKENS:
        items.pop()
    return items


def passages(questions: Sequence[str], retrieved: Retrieved) -> list[Item]:  # noqa: ARG001
    """Return the best passages and nothing else, as the papers' baselines are read."""
    return list(texts(retrieved.passages))


def gather(question: str, retrieved: Retrieved, show: Show = lines) -> list[Item]:
    """Return the evidence for a question and for the sub-questions of the best chains, in the form `show`,
    such as `lines` or `compact`."""
    best = retrieved.beams.best() if retrieved.beams is not None else []
    questions = [question, *(hop.concrete for chain in best for hop in chain.hops)]
    return show(list(dict.fromkeys(questions)), retrieved)


def disagreements(retrieved: Retrieved, items: Sequence[Item]) -> Iterator[Item]:
    """Yield contradictions of passages, a line for each claim, in the form of the other items."""
    passages = {passage.id: passage for passage in retrieved.passages}
    compact = any(item.run is not None for item in items)
    for conflict in retrieved.conflicts:
        for claim in conflict.claims:
            text = flat(f"Passages disagree: {conflict.question} {claim.answer}")
            run = Run((Sentence(flat(conflict.question), flat(claim.answer)),), "disagreement")
            passage = passages[claim.passages[0]]
            yield Item(cut(text, _PAIR), passage, conflict.question, claim.answer, run if compact else None)


def _size(items: Iterable[Item]) -> int:
    return sum(estimate(item.text) for item in items)


def _fitting(items: Iterable[Item], budget: int) -> list[Item]:
    """Return the first items that take so many tokens together."""
    shown = list(items)
    sizes = accumulate(estimate(item.text) for item in shown)
    return [item for item, size in zip(shown, sizes, strict=True) if size <= budget]


def _pairs(retrieved: Retrieved, read: set[str]) -> Iterator[Item]:
    """Yield the pairs of the chains that reach an end of the plan, without duplicates: all of the best chain
    of each end, of other chains those whose passages are not shown. A pair whose passage was forgotten
    meanwhile is left out, as it could not be cited."""
    beams, seen = retrieved.beams, set[str]()
    ends, best = (beams.ends(), len(beams.best())) if beams is not None else ([], 0)
    for number, chain in enumerate(ends):
        for hop in chain.hops:
            pair = hop.pair
            text = f"{pair.question} {', '.join(pair.answers)}"
            if (
                text in seen
                or pair.passage not in retrieved.cited
                or (number >= best and pair.passage in read)
            ):
                continue
            seen.add(text)
            roles = flat("; ".join(dict.fromkeys(filter(None, pair.descriptions))))[:_ROLES]
            line = f"{text} ({roles})" if roles else text
            yield Item(cut(flat(line), _PAIR), retrieved.cited[pair.passage], pair.question, hop.answer)


def _sentences(passages: Sequence[RankedPassage], questions: Sequence[str], budget: int) -> Iterator[Item]:
    """Yield the best sentences of some passages, in so many tokens; the passages in their order."""
    import numpy as np

    texts = [sentences_of(passage) for passage in passages]
    positions = [(n, m) for n, parts in enumerate(texts) for m in range(len(parts))]
    # with the title, which is often the only mention of the subject of the sentence
    titled = [titled_text(passages[n], texts[n][m]) for n, m in positions]
    # the greatest share of words of the question or of one of its parts
    scores = np.max([word_shares(question, titled) for question in questions], axis=0)
    chosen: dict[int, list[int]] = {}
    for position in (-scores).argsort(kind="stable").tolist():
        n, m = positions[position]
        if scores[position] < LEAST or budget <= 0:
            break
        size = estimate(texts[n][m]) + (0 if n in chosen else estimate(titled_text(passages[n], "[11]")))
        if len(chosen.get(n, ())) < _EACH and size <= budget:
            chosen.setdefault(n, []).append(m)
            budget -= size
    for n in sorted(chosen):
        yield Item(flat(titled_text(passages[n], _joined(texts[n], chosen[n]))), passages[n])


def _joined(parts: Sequence[str], shown: Sequence[int]) -> str:
    """Return these sentences in the order of the text, with a sign where others are left out."""
    return " ".join(text for text, _ in groupby(part if n in shown else "…" for n, part in enumerate(parts)))


def titled_text(passage: RankedPassage, text: str) -> str:
    """Return a text of a passage after the title of the passage."""
    return f"{passage.title}: {text}" if passage.title else text


COMPACT_ENOUGH = 530  # tokens of all facts; with the rest of a payload 0.6 of what lines take
LOOKED_AT = 20  # that are looked at, those of chains among them
FACTS = 400  # of them that are looked at
ASKED = 12  # questions by which they are chosen
_FACT = 100  # tokens of one fact
_VECTORS = 0.6  # share of the cosine in a fact's nearness to a question; the rest is that of the words it has
_LOWER = 0.04  # nearer that a fact of the next passage must be


def compact(context: Context, questions: Sequence[str], retrieved: Retrieved) -> list[Item]:
    """Return facts in the place of passages, in half the tokens.

    The facts of a passage are its propositions or, without any, its pairs with their answers or, without
    either, as in a plain document, its sentences. The facts nearest to the question, and to each sub-question
    of a chain, are shown in turn as long as they fit, without duplicates; each passage under one number, as a
    codebook (`payload`).
    """
    hops = [hop for chain in retrieved.beams.ends() for hop in chain.hops] if retrieved.beams else []
    questions = list(dict.fromkeys([*questions, *(hop.concrete for hop in hops)]))[:ASKED]
    chained = (retrieved.cited[hop.pair.passage] for hop in hops if hop.pair.passage in retrieved.cited)
    ranked = {passage.id: passage for passage in (*retrieved.passages, *retrieved.below, *chained)}
    passages = list(ranked.values())[:LOOKED_AT]
    facts, nearness = _facts(context, passages, questions)
    tokens, seen, shown = COMPACT_ENOUGH, set[str](), dict[int, list[Fact]]()
    in_turn = dict.fromkeys((-nearness).argsort(axis=1, kind="stable").T.ravel().tolist())
    for position, fact, text in (facts[number] for number in in_turn):
        subject, *rest = fact
        size = estimate(" ".join(rest)) + 2
        if subject not in (earlier[0] for earlier in shown.get(position, ())):  # which is written once
            size += estimate(subject) + 4
        if size <= tokens and (words := normalise(text)) not in seen:
            tokens -= size
            seen.add(words)
            shown.setdefault(position, []).append(fact)
    return [_item(passages[position], shown[position]) for position in sorted(shown)]


def _facts(
    context: Context, passages: Sequence[RankedPassage], questions: Sequence[str]
) -> tuple[list[tuple[int, Fact, str]], NDArray[np.float64]]:
    """Return all facts, each with the rank of its passage and as one text; and the nearness of each to each
    question. Without an embedder in use none is loaded for this alone, and only words are compared."""
    import numpy as np

    by_vectors = "embedder" in context.used
    vectors = list(context.vectors(questions).values()) if by_vectors else []
    positions = {passage.id: position for position, passage in enumerate(passages)}
    with context.clock("database"):
        embeddings = [vector.tolist() for vector in vectors]
        stored = of_passages(context.reader, list(positions), embeddings, most=FACTS)
    stated = {fact.passage for fact in stored if not fact.answers}
    stored = [fact for fact in stored if not fact.answers or fact.passage not in stated]
    facts = [
        (positions[fact.passage], _fact(fact, passages[positions[fact.passage]]), fact.line)
        for fact in stored
    ]
    facts += [
        (positions[id_], Sentence(flat(passage.title), cut(flat(text), _FACT)), text)
        for id_, passage in zip(positions, passages, strict=True)
        if id_ not in {fact.passage for fact in stored}
        for text in sentences_of(passage)
    ]
    titled = [f"{passages[position].title}: {text}" for position, _, text in facts]
    nearness = np.array([word_shares(question, titled) for question in questions])
    if by_vectors and facts:
        cosines = [list(fact.cosines) for fact in stored]
        if plain := [text for *_, text in facts[len(stored) :]]:
            cosines += (context.text_vectors(plain) @ np.stack(vectors).T).tolist()
        nearness = _VECTORS * np.array(cosines).T + (1 - _VECTORS) * nearness
    return facts, nearness - _LOWER * np.array([position for position, *_ in facts])


def _fact(fact: PassageFact, passage: RankedPassage) -> Fact:
    about, line = flat(passage.title), cut(flat(fact.line), _FACT)
    return Sentence(about, line) if fact.answers else edge_of(line, map(flat, fact.names), about)


def _item(passage: RankedPassage, facts: Sequence[Fact]) -> Item:
    line = "; ".join(" ".join(fact if isinstance(fact, Edge) else fact[1:]) for fact in facts)
    return Item(flat(titled_text(passage, line)), passage, run=Run(tuple(facts)))
