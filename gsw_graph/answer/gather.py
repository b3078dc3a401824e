"""What of a memory a question's evidence is filled with: one budget of tokens, and in it what pays.

A passage says what its pairs say, and more: where both are shown one is paid for twice. So pairs stand for
passages that are not among the first, and those of the best chain beside them to say how the links go. What
is left goes to sentences of passages further down: each costs a third of its passage, and facts that
stand below the fifth passage are found by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.answer.evidence import READ, ROOM, Item, cut, flat, share
from gsw_graph.answer.sentences import sentences_of, word_shares
from gsw_graph.inference.chat.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gsw_graph.results import RankedPassage
    from gsw_graph.retrieve.chains.grow import Beams
    from gsw_graph.retrieve.strategy import Retrieved

    Show = Callable[[Sequence[str], Retrieved], list[Item]]

ENOUGH = 1_000  # tokens up to which sentences of further passages are added; the first passages may take ROOM
BELOW = 10  # passages below those that were asked for, whose sentences are looked at
LEAST = 0.3  # share of the words of the question, or of one of its parts, that such a sentence has at least
_EACH = 2  # sentences of one of them
_PAIRS = ROOM // 2  # tokens of all pairs
_PAIR = 200  # tokens of a pair, which may list hundreds of answers
_ROLES = 100  # characters of roles and states


def lines(asked: Sequence[str], found: Retrieved) -> list[Item]:
    """Pairs of the chains, hop by hop and the best chain first; the best passages, whole where there is
    room and by their sentences where not; sentences of those below them."""
    return _gathered(asked, found, _EACH, ENOUGH)


def gather(question: str, found: Retrieved, show: Show = lines) -> list[Item]:
    """What is shown of what was found, for the question and what the best chain asked. show: in which form,
    `lines` or `compact.CompactEvidence`."""
    return show(list(dict.fromkeys([question, *_concrete(found)])), found)


def _gathered(asked: Sequence[str], found: Retrieved, each: int, enough: int) -> list[Item]:
    first, below = found.passages[:READ], [*found.passages[READ:], *found.below]
    pairs, room = [], _PAIRS
    for item in _pairs(found.beams, found, {one.id for one in first}) if found.beams is not None else ():
        if (room := room - estimate(item.text)) < 0:
            break
        pairs.append(item)
    room = ROOM - sum(estimate(item.text) for item in pairs)
    items = [*pairs, *_passages(first, asked, room)]
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


def _passages(passages: Sequence[RankedPassage], asked: Sequence[str], room: int) -> Iterator[Item]:
    """The best passages with their titles; of one that is longer than its share the sentences that matter
    most. What a short one leaves goes to the next."""
    for passage, tokens, whole in share(passages, room, READ):
        fits = len(whole) <= 10 * tokens and estimate(whole) <= tokens
        yield Item(whole if fits else _shortened(passage, whole, asked, tokens), passage)


def _shortened(passage: RankedPassage, whole: str, asked: Sequence[str], tokens: int) -> str:
    """The best sentences of a passage, in the order of the text; the beginning where it has none that
    fits."""
    sentences = sentences_of(passage)
    scores = _scores(asked, sentences)
    room, chosen = tokens - estimate(_titled(passage, "…")), list[int]()
    for place in np.argsort(-scores, kind="stable").tolist():
        if (size := estimate(flat(sentences[place])) + 1) <= room:
            chosen.append(place)
            room -= size
    return flat(_titled(passage, _joined(sentences, chosen))) if chosen else cut(whole, tokens)


def _sentences(
    passages: Sequence[RankedPassage], asked: Sequence[str], room: int, each: int
) -> Iterator[Item]:
    """The best sentences of some passages, at most `each` of one, in so many tokens; the passages in their
    order."""
    texts = [sentences_of(passage) for passage in passages]
    places = [(n, m) for n, sentences in enumerate(texts) for m in range(len(sentences))]
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


def _scores(asked: Sequence[str], sentences: Sequence[str]) -> NDArray[np.float64]:
    """What a sentence says of the question, or of one of its parts: the greatest share."""
    shares = np.array([word_shares(one, sentences) for one in asked])
    return shares.max(axis=0) if sentences else np.zeros(0)


def _joined(sentences: Sequence[str], places: Sequence[int]) -> str:
    """Sentences in the order of the text, with a sign where some are left out."""
    text, before = "", -1
    for place in sorted(places):
        text += f"{' … ' if place - before > 1 else ' '}{sentences[place]}"
        before = place
    return text.strip() if before == len(sentences) - 1 else f"{text.strip()} …"


def _titled(passage: RankedPassage, text: str) -> str:
    return f"{passage.title}: {text}" if passage.title else text
