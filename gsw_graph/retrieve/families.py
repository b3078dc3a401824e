"""Words that say the same of a thing: "who led" asks for the leader. English; which words go together is
ours."""

from __future__ import annotations

import re
from functools import lru_cache

from gsw_graph.names import CONNECTORS, FUNCTION_WORDS, normalise

_FAMILIES = (
    "born birth birthplace native birthday",
    "died die dies death dead killed perished drowned",
    "founded founding foundation founder founders found established establish establishment set started "
    "begun began opened formed formation",
    "formation formed founded",
    "opened open opens opening inaugurated unveiled",
    "built build builds builder builders constructed construct construction erected erect made make maker",
    "finished finish completed complete completion built",
    "closed close closes closing closure shut dissolved abolished",
    "dissolved dissolve dissolution abolished disbanded closed",
    "launched launch launches",
    "lit lights kindled lighted",
    "lost loss sank sunk sink sinking wreck wrecked struck foundered",
    "struck strike strikes striking hit",
    "led lead leads leader leaders command commanded commander captain headed head",
    "made make makes maker makers cast built manufactured produced",
    "cast casts casting made",
    "designed design designs designer architect plans drew drawn drawings",
    "taught teach teaches teacher teachers master apprentice pupil pupils learned studied trained student",
    "wrote write writes writer written author book published publication",
    "published publish publishes publication printed appeared issued",
    "painted paint paints painter portrait ceiling",
    "composed compose composer opera wrote",
    "discovered discover discovers discoverer discovery found",
    "directed direct directs director",
    "weighs weigh weighed weight heavy tons tonnes kilograms",
    "served serve serves service stationed worked",
    "elected elect election chosen",
    "destroyed destroy destruction burned burnt demolished",
    "restored restore restoration repaired rebuilt",
    "damaged damage",
    "married marry marries marriage wife husband spouse",
    "child children son sons daughter daughters",
    "sibling siblings brother brothers sister sisters",
    "father parent parents son daughter child",
    "mother parent parents son daughter child",
    "paid pay pays cost gave given funded",
    "owner owned owns own",
    "invented invent inventor invention",
    "performer performed performs perform artist singer sings sang sung recorded band",
    "producer produced produces produce production",
    "educated education attended attend studied study graduated graduate university college school",
    "citizenship citizen nationality national",
    "team played plays player",
    "follows succeeded successor predecessor preceded replaced",
    "ruled ruler rulers rules reign reigned governed monarch king queen",
    "charge headed led governed ruled ruler president",
    "begin begins began begun start starts started",
    "end ends ended finished",
    "mouth flows flow joins empties tributary",
    "conflict war fought",
    "country nation",
    "kind type genre",
    "instance kind type",
    "population inhabitants residents people",
)
_BY_WORD: dict[str, frozenset[str]] = {}
for _line in _FAMILIES:
    _words = frozenset(_line.split())
    _BY_WORD.setdefault(_line.split()[0], _words)
for _line in _FAMILIES:  # a word that leads no line has the first line it stands in
    for _word in _line.split():
        _BY_WORD.setdefault(_word, frozenset(_line.split()))
_WORD = re.compile(r"\w+")
_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "ors", "ies", "ied", "ed", "er", "or", "es", "s", "e")
_LEAST = 4  # letters that a stem keeps


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without its ending, roughly: enough for "served" and "serves"."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=4096)
def family(word: str) -> frozenset[str]:
    """The words that say the same as a word in normal form, as they stand in `words`: itself among them."""
    return frozenset({stem(one) for one in _BY_WORD.get(word, ())} | {stem(word)})


@lru_cache(maxsize=65536)
def stems(text: str) -> tuple[tuple[str, int], ...]:
    """The stems of the words of a text, each with its place in the text."""
    return tuple((stem(normalise(match[0])), match.start()) for match in _WORD.finditer(text))


def cues(text: str) -> tuple[frozenset[str], ...]:
    """The words of content of a text, each as its family."""
    words = dict.fromkeys(normalise(match[0]) for match in _WORD.finditer(text))
    return tuple(
        family(word)
        for word in words
        if len(word) > 1 and word not in FUNCTION_WORDS and word not in CONNECTORS
    )
