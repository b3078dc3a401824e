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
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gsw_graph.ask.answer.counting import asks_for_all
from gsw_graph.models.chat.request import estimate
from gsw_graph.models.prompts import break_control_tokens, fence
from gsw_graph.store.facts import of_passages
from gsw_graph.text.names import normalise
from gsw_graph.text.words import content_words, idf, sentences, term_coverage
from gsw_graph.values import Fields, single_spaced, unique

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.ask.strategy import RetrievalResult
    from gsw_graph.model.results import RankedPassage


_RULE = "[2,0,5] is the fact e[2] r[0] e[5], [2,0] is e[2] r[0], from 0"
_END = re.compile(r"(?<!\.[A-Z])\.$")  # of a sentence, not of "U.S."


class Edge(NamedTuple):
    """Hold a fact between two things; the fields joined by spaces are a sentence."""

    subject: str
    relation: str
    object: str


class Sentence(NamedTuple):
    """Hold a fact about the title of its passage that is no edge."""

    about: str
    text: str


Fact = Edge | Sentence


@dataclass(frozen=True, slots=True)
class FactGroup:
    """Hold the facts of a passage that share one number. channel: Kind of the facts, a key of the payload."""

    facts: tuple[Fact, ...]
    channel: str = "facts"


def edge_of(text: str, names: Iterable[str], about: str) -> Fact:
    """Return a sentence as an edge: the name at its beginning, the words up to the next name, and the rest,
    without the article, quotes around the first name, and the full stop. A sentence that does not begin with
    a name, or has only one, remains a `Sentence`."""
    text = _END.sub("", single_spaced(text))
    known_names = sorted(filter(None, set(names)), key=len, reverse=True)
    first = re.match(rf'(?:(?:the|a|an) )?["“]?({_any_of(known_names)})(?!\w)["”]?', text, re.IGNORECASE)
    if first is not None:
        subject, begin = first[1], first.end()
        others = [name for name in known_names if name.casefold() != subject.casefold()]
        second = re.compile(rf"(?<!\w)({_any_of(others)})(?!\w)").search(text, begin)
        if second is not None:
            between = text[begin : second.start()]
            while between and not (between[-1].isspace() or between[-1].isalnum()):
                between = between[:-1]  # the signs before a name are part of it
            relation = between.strip()
            if relation:
                return Edge(subject, relation, text[begin + len(between) :])
    return Sentence(about, text)


def _any_of(names: Iterable[str]) -> str:
    """Return a pattern of these names; without any it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


def payload(runs: Sequence[FactGroup]) -> str:
    """Write facts as JSON by channel and number, in the form of fewer tokens (AutoPrunedRetriever, 2.6):
    texts by subject, or indexes in the lists `e` of names and `r` of relations."""
    texts: Fields = {}
    triples: Fields = {}
    names: dict[str, int] = {}
    relations: dict[str, int] = {}
    for number, run in enumerate(runs, 1):
        by_subject: dict[str, list[str]] = {}
        indexes = []
        for fact in run.facts:
            subject, *rest = fact
            by_subject.setdefault(subject, []).append(" ".join(rest))
            tables = zip((names, relations, names), fact, strict=False)
            indexes.append([table.setdefault(text, len(table)) for table, text in tables])
        texts.setdefault(run.channel, {})[str(number)] = by_subject
        triples.setdefault(run.channel, {})[str(number)] = indexes
    codebook = {"rule": _RULE, "e": list(names), "r": list(relations), **triples}
    written = [json.dumps(form, ensure_ascii=False, separators=(",", ":")) for form in (texts, codebook)]
    return min(written, key=estimate)


BUDGET = 2_000  # tokens of all lines: with the prompt it fits the 4,096 that small servers give
READ = 5  # passages that are shown at most, as in the papers, whatever `k` is
_PASSAGE = 150  # tokens that a passage gets at least, or there are fewer of them

_UNSEEN = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_MARK = re.compile(r"(?<!\w)\[(\s*\d+(?:\s*[,;]\s*\d+)*\s*)\]")  # args[1] is code
_BLOCK = re.compile(r"^[ \t]*(```|~~~)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_INDENT = "\n    "
_DEEPEST = 40  # spaces before a line of code


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """Hold a line of evidence and its passage. A pair has its question and answer too, which find its
    sentence in the passage. run: Facts of the line in compact evidence."""

    text: str
    passage: RankedPassage
    question: str = ""
    answer: str = ""
    run: FactGroup | None = None


def body_of(passage: RankedPassage) -> str:
    """Return the text of a passage without its title."""
    return passage.text.removeprefix(f"{passage.title}\n")


def passage_lines(
    passages: Sequence[RankedPassage], budget: int = BUDGET, most: int = READ
) -> Iterator[EvidenceLine]:
    """Yield titles and texts of passages, the best first, within a budget of tokens. A passage is whole while
    _PASSAGE tokens are left for each later passage; then only its beginning is taken."""
    shown = passages[: min(most, max(budget, 0) // _PASSAGE)]
    reserved = _PASSAGE * len(shown)
    for passage in shown:
        reserved -= _PASSAGE
        tokens = budget - reserved
        whole = with_code(titled_text(passage, body_of(passage)))
        yield EvidenceLine(truncate_tokens(whole, tokens), passage)
        budget -= tokens if len(whole) > 10 * tokens else min(estimate(whole), tokens)


def render_evidence(items: Sequence[EvidenceLine]) -> str:
    """Return the lines with their numbers from 1, or the shortest codebook of compact evidence, between two
    lines with a code that is made from the text, so that the text cannot contain it."""
    runs = [item.run for item in items if item.run is not None]
    if runs and len(runs) == len(items):
        return fence("evidence", payload(runs))
    lines = [f"[{number}] {item.text}" for number, item in enumerate(items, 1)]
    return fence("evidence", "\n".join(lines))


def single_line(text: str) -> str:
    """Return a text in one line, without numbers in square brackets and without control tokens of chat
    templates: `[1]` and line breaks are written by us alone."""
    return break_control_tokens(_MARK.sub(r"(\1)", _one_line(text)))


def _code_line(text: str) -> str:
    """Return a line of code as `flat`, but with its lists of numbers, as code is copied. A list at the
    beginning of the line would look like a number of ours, and is changed."""
    line = _one_line(text)
    if _MARK.match(line):
        line = _MARK.sub(r"(\1)", line, count=1)
    return break_control_tokens(line)


def _one_line(text: str) -> str:
    return single_spaced(_UNSEEN.sub(" ", text))


def with_code(text: str) -> str:
    """Return a text in one line, as `flat` does, but keep the lines of blocks of code.

    Lines of a block, and the text after the block, are indented, so that no line of a document looks like a
    numbered line.
    """
    parts = []
    end = 0
    for block in _BLOCK.finditer(text):
        parts.append(single_line(text[end : block.start()]))
        for line in block[2].splitlines():
            depth = len(line) - len(line.lstrip())
            parts.append(f"{' ' * min(depth, _DEEPEST)}{_code_line(line)}")
        end = block.end()
    parts.append(single_line(text[end:]))
    return _INDENT.join(filter(str.strip, parts))


def truncate_tokens(text: str, tokens: int) -> str:
    """Return the beginning of a text of about so many tokens, up to a space."""
    begin = text[: 10 * tokens]  # no token is longer in the mean
    if len(begin) == len(text) and estimate(text) <= tokens:
        return text
    while (size := estimate(begin)) >= tokens:  # one is for the sign that it goes on
        begin = begin[: len(begin) * (tokens - 1) // size]
    return f"{begin.rpartition(' ')[0] or begin} …"


def sentences_of(passage: RankedPassage) -> tuple[str, ...]:
    """Split a passage into sentences, each in one line, without its title and headings."""
    return sentences(body_of(passage))


def word_shares(question: str, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return for each text the share of the question's words that it has, a rare one counting more."""
    import numpy as np

    text_words = [content_words(text) for text in texts]
    question_words = content_words(question) & frozenset().union(*text_words)
    weights = idf(question_words, text_words)
    return np.array([term_coverage(question_words, text, idf=weights) for text in text_words])


Show: TypeAlias = "Callable[[Sequence[str], RetrievalResult], list[EvidenceLine]]"
ENOUGH = 1_000  # tokens up to which sentences of further passages are added; first passages may take BUDGET
BELOW = 10  # passages below those that were asked for, whose sentences are looked at
LEAST = 0.3  # share of the words of the question, or of one of its parts, that such a sentence has at least
_EACH = 2  # sentences of one of them
_PAIRS = BUDGET // 2  # tokens of all pairs beside passages
_PAIR = 200  # tokens of a pair, which may list hundreds of answers
_ROLES = 100  # characters of roles and states


def lines(questions: Sequence[str], retrieved: RetrievalResult) -> list[EvidenceLine]:
    """Return the evidence as lines, in three parts: the pairs of the chains, hop by hop, the best chain of
    each end first; the best passages, whole if the budget allows; and sentences of the passages below, up to
    BUDGET for a question that wants all of something."""
    first = retrieved.passages[:READ]
    below = retrieved.passages[READ:] + retrieved.extra
    items: list[EvidenceLine] = []
    left = _PAIRS
    for item in _pairs(retrieved, {passage.id for passage in first}):
        left -= estimate(item.text)
        if left < 0:
            break
        items.append(item)
    items += passage_lines(first, BUDGET - _size(items))
    enough = BUDGET if asks_for_all(questions[0]) else ENOUGH
    return [*items, *_sentences(below, questions, enough - _size(items))]


def chains(questions: Sequence[str], retrieved: RetrievalResult) -> list[EvidenceLine]:  # noqa: ARG001 - as of every form
    """Return only the pairs of all chains, the evidence of Panini's reader (section 2.2)."""
    return list(_pairs(retrieved, set()))


def passages(questions: Sequence[str], retrieved: RetrievalResult) -> list[EvidenceLine]:  # noqa: ARG001
    """Return the best passages and nothing else, as the papers' baselines are read."""
    return list(passage_lines(retrieved.passages))


FORMS: dict[str, Show] = {"lines": lines, "chains": chains, "passages": passages}


def select_evidence(question: str, retrieved: RetrievalResult, show: Show = lines) -> list[EvidenceLine]:
    """Return the evidence for a question and for the sub-questions of the best chains, in the form `show`,
    such as `lines` or `compact`."""
    concrete = [hop.concrete for chain in retrieved.best_chains for hop in chain.hops]
    return show(unique([question, *concrete]), retrieved)


def disagreements(retrieved: RetrievalResult, items: Sequence[EvidenceLine]) -> Iterator[EvidenceLine]:
    """Yield a line for each claim of a contradiction, in the form of the other items. The prompt of a paper
    gets no such lines."""
    if retrieved.prompt_name != "answer":
        return
    passages = {passage.id: passage for passage in retrieved.passages}
    compact = any(item.run is not None for item in items)
    for conflict in retrieved.conflicts:
        question = conflict.question
        for claim in conflict.claims:
            answer, passage = claim.answer, passages[claim.passages[0]]
            text = single_line(f"Passages disagree: {question} {answer}")
            run = None
            if compact:
                run = FactGroup((Sentence(single_line(question), single_line(answer)),), "disagreement")
            yield EvidenceLine(truncate_tokens(text, _PAIR), passage, question, answer, run)


def _size(items: Iterable[EvidenceLine]) -> int:
    return sum(estimate(item.text) for item in items)


def _pairs(retrieved: RetrievalResult, read: set[str]) -> Iterator[EvidenceLine]:
    """Yield the pairs of the chains that reach an end of the plan, without duplicates: all of the best chain
    of each end, of other chains those whose passages are not shown. A pair whose passage was forgotten
    meanwhile is left out, as it could not be cited."""
    seen = set[str]()
    best = len(retrieved.best_chains)
    for number, chain in enumerate(retrieved.chains):
        for hop in chain.hops:
            pair = hop.pair
            text = f"{pair.question} {', '.join(pair.answers)}"
            is_read = number >= best and pair.passage in read
            if is_read or text in seen or pair.passage not in retrieved.chain_passages:
                continue
            seen.add(text)
            descriptions = dict.fromkeys(filter(None, pair.descriptions))
            roles = single_line("; ".join(descriptions))[:_ROLES]
            if roles:
                text = f"{text} ({roles})"
            passage = retrieved.chain_passages[pair.passage]
            yield EvidenceLine(truncate_tokens(single_line(text), _PAIR), passage, pair.question, hop.answer)


def _sentences(
    passages: Sequence[RankedPassage], questions: Sequence[str], budget: int
) -> Iterator[EvidenceLine]:
    """Yield the best sentences of some passages, in so many tokens; the passages in their order."""
    import numpy as np

    texts = [sentences_of(passage) for passage in passages]
    places, titled = [], []
    for n, parts in enumerate(texts):
        for m, text in enumerate(parts):
            places.append((n, m))
            # with the title, which is often the only mention of the subject of the sentence
            titled.append(titled_text(passages[n], text))
    # the greatest share of words of the question or of one of its parts
    scores = np.max([word_shares(question, titled) for question in questions], axis=0)
    chosen: dict[int, list[int]] = {}
    for number in (-scores).argsort(kind="stable").tolist():
        if scores[number] < LEAST or budget <= 0:
            break
        n, m = places[number]
        own = chosen.get(n, [])
        size = estimate(texts[n][m])
        if not own:
            size += estimate(titled_text(passages[n], "[11]"))
        if len(own) < _EACH and size <= budget:
            chosen[n] = [*own, m]
            budget -= size
    for n, own in sorted(chosen.items()):
        shown = [text if m in own else "…" for m, text in enumerate(texts[n])]
        joined = " ".join(part for part, _ in groupby(shown))
        yield EvidenceLine(single_line(titled_text(passages[n], joined)), passages[n])


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


def compact(
    context: RetrievalContext, questions: Sequence[str], retrieved: RetrievalResult
) -> list[EvidenceLine]:
    """Return facts in the place of passages, in half the tokens.

    The facts of a passage are its propositions or, without any, its pairs with their answers or, without
    either, as in a plain document, its sentences. The facts nearest to the question, and to each sub-question
    of a chain, are shown in turn as long as they fit, without duplicates; each passage under one number, as a
    codebook (`payload`).
    """
    hops = [hop for chain in retrieved.chains for hop in chain.hops]
    concrete = [hop.concrete for hop in hops]
    questions = unique([*questions, *concrete])[:ASKED]
    ranked = {passage.id: passage for passage in retrieved.passages + retrieved.extra}
    for hop in hops:
        cited = retrieved.chain_passages.get(hop.pair.passage)
        if cited is not None:
            ranked[cited.id] = cited
    passages = list(ranked.values())[:LOOKED_AT]
    facts, nearness = _facts(context, passages, questions)
    in_turn = dict.fromkeys((-nearness).argsort(axis=1, kind="stable").T.ravel().tolist())
    tokens, seen = COMPACT_ENOUGH, set[str]()
    shown: dict[int, list[Fact]] = {}
    for number in in_turn:
        rank, fact, text = facts[number]
        own = shown.get(rank, [])
        subject, *rest = fact
        size = estimate(" ".join(rest)) + 2
        if all(subject != earlier[0] for earlier in own):  # it is written once
            size += estimate(subject) + 4
        words = normalise(text)
        if size <= tokens and words not in seen:
            tokens -= size
            seen.add(words)
            shown[rank] = [*own, fact]
    items = []
    for rank, own in sorted(shown.items()):
        passage = passages[rank]
        parts = [" ".join(fact) if isinstance(fact, Edge) else fact.text for fact in own]
        line = single_line(titled_text(passage, "; ".join(parts)))
        items.append(EvidenceLine(line, passage, run=FactGroup(tuple(own))))
    return items


RankedFact: TypeAlias = "tuple[int, Fact, str]"  # the rank of its passage, and its text


def _facts(
    context: RetrievalContext, passages: Sequence[RankedPassage], questions: Sequence[str]
) -> tuple[list[RankedFact], NDArray[np.float64]]:
    """Return all facts, and the nearness of each to each question. Without an embedder in use none is loaded
    for this alone, and only words are compared."""
    import numpy as np

    vectors = []
    if "embedder" in context.models_used:
        vectors = list(context.vectors(questions).values())
    ranks = {passage.id: rank for rank, passage in enumerate(passages)}
    embeddings = [vector.tolist() for vector in vectors]
    with context.clock("database"):
        stored = of_passages(context.reader, list(ranks), embeddings, most=FACTS)
    stated = {found.passage for found in stored if not found.answers}
    facts: list[RankedFact] = []
    cosines: list[Sequence[float]] = []
    for found in stored:
        rank = ranks[found.passage]
        about = single_line(passages[rank].title)
        line = truncate_tokens(single_line(found.line), _FACT)
        fact: Fact = Sentence(about, line)
        if found.answers:
            if found.passage in stated:
                continue
        else:
            fact = edge_of(line, map(single_line, found.names), about)
        facts.append((rank, fact, found.line))
        cosines.append(found.cosines)
    plain = []
    without = set(ranks.values()).difference(rank for rank, *_ in facts)
    for rank in sorted(without):
        about = single_line(passages[rank].title)
        for text in sentences_of(passages[rank]):
            plain.append(text)
            fact = Sentence(about, truncate_tokens(single_line(text), _FACT))
            facts.append((rank, fact, text))
    titled = [f"{passages[rank].title}: {text}" for rank, _, text in facts]
    nearness = np.array([word_shares(question, titled) for question in questions])
    if vectors and facts:
        if plain:
            cosines += (context.text_vectors(plain) @ np.stack(vectors).T).tolist()
        nearness = _VECTORS * np.array(cosines).T + (1 - _VECTORS) * nearness
    lowered = _LOWER * np.array([rank for rank, *_ in facts])
    return facts, nearness - lowered
