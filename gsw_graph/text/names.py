"""Find names in a text by rules, and give each the normal form that is the same in every document.

Names are runs of capitalised words and the words that join them, by `text.languages`. `text.scripts` finds
names in scripts without capitals.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from gsw_graph.text.dates import CALENDAR_WORDS
from gsw_graph.text.languages import BEFORE_PLACE, ENGLISH, Language, elided, precedes_noun
from gsw_graph.text.scripts import is_uncased, marked_names, uninflected, without_uncased
from gsw_graph.text.words import (
    CONNECTORS,
    FUNCTION_WORDS,
    STOP_WORDS,
    WORD,
    fold,
    normalise_characters,
)
from gsw_graph.values import single_spaced, word_set

_PLAIN = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")
# "An" before a consonant is the name An, but for initials: an MRI.
_ARTICLE = re.compile(r"^(?:the|a|an(?=\s+(?:[^\sbcdfgjklmnpqrstvwxyz]|[^\saeiouy]+(?:\s|$))))\s+(?=\S)")
_POSSESSIVE = re.compile(r"['’]s?(?=\s|$)")
_EDGES = re.compile(r"^[\W_]+|(?:[^\w+#]|_)+$")  # C++ and C# are codes
_SPACE = re.compile(r"\s+")
LONGEST = 500  # characters; what is longer is no name, and too long for an index


@lru_cache(maxsize=65536)
def normalise(name: str) -> str:
    """Return the normal form of a name: folded as of `text.fold`, possessive 's, edge punctuation, a leading
    article and endings of cases (`scripts.uninflected`) off, one space between words.

    Digits and codes stay as they are, and so does a name of punctuation or symbols alone (+, !!!). Empty
    if nothing can be seen of the name, or more than LONGEST characters. Idempotent.
    """
    if len(name) > LONGEST:
        return ""
    if _PLAIN.fullmatch(name):  # most are; nothing but case and articles is to be seen to
        name = name.lower()
        while (shorter := _ARTICLE.sub("", name)) != name:
            name = shorter
        return name
    whole = shorter = fold(name)
    previous = ""
    while shorter != previous:
        previous = shorter
        shorter = _ARTICLE.sub("", _trim(_SPACE.sub(" ", _POSSESSIVE.sub("", shorter))))
    # As written if it is an accent alone.
    normal = uninflected(shorter) or _symbols(whole) or _symbols(name.casefold())
    return normal if len(normal) <= LONGEST else ""  # a ligature may stand for many letters


def _symbols(name: str) -> str:
    """Return a name without letters and digits as it is; empty if nothing of it can be seen."""
    for sign in name:
        if not sign.isspace() and unicodedata.category(sign) not in ("Cc", "Cf"):
            return single_spaced(name)
    return ""


def _trim(name: str) -> str:
    """Cut edge punctuation; a combining mark (a vowel sign, say) belongs to its letter."""
    if name.isascii():
        return _EDGES.sub("", name)
    begin, end = 0, len(name)
    while begin < end and not name[begin].isalnum():
        begin += 1
    while end > begin and not _can_end(name[end - 1]):
        end -= 1
    return name[begin:end]


def _can_end(sign: str) -> bool:
    return sign.isalnum() or sign in "+#" or unicodedata.category(sign).startswith("M")


# Names in a text

_SPLIT_AT = word_set("and in on for of the at to with")
_MAX_CONNECTORS = 2
_MAX_TOKENS = 10
_ABBREVIATIONS = word_set("dr mr mrs ms st jr sr prof gen col lt sgt capt rev hon gov sen rep mt ft vs no")
_PARENTHESIS = re.compile(r"\s?\([^()]*\)")  # stops at what opens the next, so that no title makes it slow
_TRAILING_POSSESSIVE = re.compile(r"['’]s$")
# A cell of a table and what follows a mark in braces begin with a capital as sentences do.
_SENTENCE_END = re.compile(r"[.!?:;\n•|}]|[\"“”(\[]\s*$")
_AFTER_REFERENCE = re.compile(r"[.!?:;][\"”']?(?:\[[^\[\]]{1,8}\])*\[[^\[\]]{1,8}$")  # it ended.[3] In
# Function words that open a sentence so often that only the rest of the document can tell that one of them is
# the first name of somebody: prepositions, conjunctions, determiners, pronouns, adverbs.
OPENERS = word_set("""
    a about above across after afterwards again against all almost alone along already also although always
    am among amongst and another any are around as at be because been before behind being below beside besides
    between beyond both but by could currently did do does during each eight either eleven elsewhere enough
    even eventually every everywhere except few fifteen fifty finally five following for former formerly forty
    four from further generally had has have having he hence her here his how however hundred i if in indeed
    initially instead into is it its just last later latter least less like likewise mainly many meanwhile
    more moreover most mostly much my namely near nearby neither never nevertheless next nine no none nor not
    notably now nowhere of off often on once one only onto or originally other our out over own part perhaps
    please prior quite rather recently same several she should similarly since six sixty so some somehow
    sometimes soon still subsequently such ten than that the their them then there thereafter therefore these
    they third this those though three through throughout thus to today together too toward towards twelve
    twenty two under unlike unless until up upon us usually various very via was we well were what whatever
    when whenever where whereas wherever whether which while who whom whose why with within without would yes
    yet you your according additionally aside based despite famous known located named overall""")
_MODALS = word_set("will may can might must")  # they open a question, and hardly a statement
FINITE = re.compile(
    r"'s\b| (?:was|is|were|are|has|had|have|became|who|won|led|wrote|[a-z]{2,}ed)\b"
    r"|, (?:who|whose|born|an?|the) | \((?:born|c\.|\d)"
)
_SENTENCE_MARK = re.compile(r"[.!?\n](?![^\W\d_])")
_SENTENCE = 400  # characters after a name in which its sentence ends
_IN_MONTHS = word_set("in since until till during last next early late mid")
_ON_DAYS = _IN_MONTHS | {"on"}
_DAYS = word_set("monday tuesday wednesday thursday friday saturday sunday")
_LITERALS = word_set("true false none null")  # values in code and settings
_CONTRACTED = re.compile(r"'(?:m|re|ve|ll|d|s)$")
_CAPITALS = 4  # words in capitals one after another that are a headline, and no name


class FoundName(NamedTuple):
    """Hold a name of a text.

    Attributes:
        text: The name as written, with normal spaces and apostrophes.
        starter: Whether it is a single word that begins a sentence.
        lead: The word before, if it opens the sentence and may be a first name.
        noun: Whether it may be a common noun, in a language that writes nouns with capitals.
        capitals: 0, or of a text in capitals: 1 for words that are a name if the document knows it, 2 for
            words between function words, if it knows no name at all.
    """

    text: str
    starter: bool = False
    lead: str = ""
    capitals: int = 0
    noun: bool = False


@dataclass(slots=True)
class _Token:
    """Hold a word in its place; `named` if it is capitalised, or a number that follows such a word."""

    begin: int
    end: int
    word: str
    named: bool

    @property
    def is_function_word(self) -> bool:
        return self.word.casefold() in FUNCTION_WORDS


Run = list[_Token]


def find_names(text: str, language: Language = ENGLISH) -> Iterator[FoundName]:
    """Find the names of a text, with their parts between connectors."""
    text = normalise_characters(text)
    if is_uncased(text):
        yield from map(FoundName, marked_names(text))
        text = without_uncased(text)
    connectors = CONNECTORS | language.joins
    is_foreign = language.is_foreign
    run: Run = []
    starts = False  # does the run begin a sentence
    before = ""  # the word before the run
    word, end = "", 0
    for match in WORD.finditer(text):
        previous, word = word, match[0]
        begin = match.start()
        gap = text[end:begin]
        end = match.end()
        cut = elided(word) if is_foreign else 0
        if cut and word[cut].isupper():
            word = word[cut:]
        token = _Token(end - len(word), end, word, named=_is_capitalised(word))
        if run and (gap in (" ", " & ") or (gap == ". " and _abbreviates(run[-1].word))):
            if word.isdigit() and run[-1].named and not run[-1].is_function_word:
                token.named = True
            if token.named or (word in connectors and _connectors_at_end(run) < _MAX_CONNECTORS):
                run.append(token)
                continue
        if run:
            yield from _names_of(text, run, starts, before, language)
            run = []
        if token.named:
            starts = begin == 0 or not gap or bool(_SENTENCE_END.search(gap))
            if not starts and gap.startswith("]"):
                reference = text[max(0, token.begin - 30) : token.begin - len(gap)]
                starts = bool(_AFTER_REFERENCE.search(reference))
            before = previous.casefold() if gap == " " else ""
            run.append(token)
    if run:
        yield from _names_of(text, run, starts, before, language)


def _is_capitalised(word: str) -> bool:
    first = word[0]
    return first.isupper() or (first.islower() and word != word.lower())


def title_names(title: str) -> Iterator[str]:
    """Find the names of a title: the whole title without its parenthesis, and the part before the first comma
    if it is more than punctuation."""
    bare = _PARENTHESIS.sub("", title).strip()
    first = bare.partition(", ")[0]
    names = [title, bare]
    if any(map(str.isalnum, first)):
        names.append(first)
    yield from filter(None, dict.fromkeys(names))


def _abbreviates(word: str) -> bool:
    return (len(word) == 1 and word != "I") or word.casefold() in _ABBREVIATIONS


def _connectors_at_end(run: Run) -> int:
    count = 0
    for token in reversed(run):
        if token.named:
            break
        count += 1
    return count


def _names_of(text: str, run: Run, starts: bool, before: str, language: Language) -> Iterator[FoundName]:
    """Find the names in a run of capitalised words and connectors: the whole, and its parts between
    connectors."""
    while run and not run[-1].named:
        run = run[:-1]
    if run[0].word.isupper() and _in_capitals(text, run):
        yield from _in_headline(text, run)
        return
    if language.is_foreign:
        yield from _foreign_names(text, run, starts, before, language)
        return
    length = len(run)
    run, lead = _without_openers(text, run, starts, before)
    starts = starts and len(run) == length
    if not any(map(_can_name, run)) or _is_no_name(run):
        return
    parts: list[Run] = [[]]
    for token in run:
        if not token.named and token.word in _SPLIT_AT:
            parts.append([])
        elif token.named or parts[-1]:
            parts[-1].append(token)
    if len(run) <= _MAX_TOKENS:
        yield FoundName(_slice(text, run), starts and len(run) == 1, lead)
    if len(parts) == 1:
        return
    for number, part in enumerate(parts):
        if part and part[0].word in ("The", "A", "I"):
            part = part[1:]
        if not part or len(part) > _MAX_TOKENS or _is_no_name(part):
            continue
        if any(_can_name(token) and not token.is_function_word for token in part):
            yield FoundName(_slice(text, part), lead="" if number else lead)


def _foreign_names(text: str, run: Run, starts: bool, before: str, language: Language) -> Iterator[FoundName]:
    """Find the names in a run of words of another language: what is left without its function words."""
    length = len(run)
    while run and (not run[0].named or run[0].word.casefold() in language.words):
        before = run[0].word.casefold()
        run = run[1:]
    if not run or len(run) > _MAX_TOKENS:
        return
    starts = starts and len(run) == length
    is_starter = starts and len(run) == 1
    if not language.nouns:
        yield FoundName(_slice(text, run), is_starter)
        return
    parts: list[tuple[str, Run]] = []  # each with the word before it
    for named, group in groupby(run, key=lambda token: token.named):
        tokens = list(group)
        if named:
            parts.append((before, tokens))
        before = tokens[-1].word
    for number, (previous, part) in enumerate(parts):
        noun = len(part) == 1 and (previous not in BEFORE_PLACE or (starts and not number))
        yield FoundName(_slice(text, part), is_starter, noun=noun)
        if len(part) > 1 and precedes_noun(previous):  # the mountain village Oberlinden
            yield FoundName(_slice(text, part[1:]))
    if len(parts) > 1:  # Otto von Bismarck, but the end of the war, a portrait of Ada Lovelace
        (_, first), (previous, second), *_ = parts
        noun = len(first) == 1 and (previous not in BEFORE_PLACE or len(second) > 1)
        yield FoundName(_slice(text, run), noun=noun)


def _without_openers(text: str, run: Run, starts: bool, before: str) -> tuple[Run, str]:
    """Cut the function words, and the month or day after "in" and "on", that stand before a name.

    A function word with a capital in the middle of a sentence is part of the name (Will Ashby, In Utero).
    The first word of a sentence has its capital in any case.

    Returns:
        The words that are left, and the first word if it may be a part of the name after all.
    """
    opener = run[0].word.casefold()
    if opener not in FUNCTION_WORDS and opener not in CALENDAR_WORDS:
        return run, ""
    first = next((n for n, token in enumerate(run) if token.named and not token.is_function_word), len(run))
    if first == len(run):
        return [], ""
    begin, lead = 0, ""
    if starts and first and not _is_first_name(text, run, first):
        begin = 1
        lead = run[0].word if first == 1 else ""
    # An article is no part of a name's normal form.
    while begin < first and run[begin].word in ("I", "The", "A", "An") and (begin or not starts):
        begin += 1
    begin = _next_named(run, begin)
    if begin < len(run) - 1:
        month = run[begin].word.casefold()
        previous = run[begin - 1].word.casefold() if begin else before
        if month in CALENDAR_WORDS and previous in (_ON_DAYS if month in _DAYS else _IN_MONTHS):
            return run[_next_named(run, begin + 1) :], ""
    return run[begin:], lead


def _next_named(run: Run, begin: int) -> int:
    while begin < len(run) and not run[begin].named:
        begin += 1
    return begin


def _is_first_name(text: str, run: Run, first: int) -> bool:
    """Tell by the sentence whether the function word that opens it is the first name of who does something:
    Will Ashby built the pier. Will Ashby build a pier?"""
    if first != 1:
        return False
    opener, following = run[0].word.casefold(), run[1].word
    end = run[-1].end
    if opener == "an":  # an article only before a vowel
        return following[0] not in "AEIOUHaeiouh" and following[1:].islower()
    if opener in _MODALS:
        mark = _SENTENCE_MARK.search(text, end, end + _SENTENCE)
        return mark is None or mark[0] != "?"
    return opener not in OPENERS and bool(FINITE.match(text, end) or run[-1].word.endswith("'s"))


def _in_capitals(text: str, run: Run) -> bool:
    """Tell a headline from an abbreviation: many words in capitals, in the run or in its whole line."""
    if len(run) >= _CAPITALS and all(token.word.isupper() or token.word.isdigit() for token in run):
        return sum(len(token.word) > 1 for token in run) >= _CAPITALS
    first = max(0, run[0].begin - _SENTENCE)
    last = run[-1].end + _SENTENCE
    line_begin = text.rfind("\n", first, run[0].begin) + 1
    line_end = text.find("\n", run[-1].end, last)
    line = text[max(line_begin, first) : line_end if line_end >= 0 else last]
    return line.isupper() and len(line.split()) >= _CAPITALS


def _in_headline(text: str, run: Run) -> Iterator[FoundName]:
    """Offer the words of a text in capitals, one to four together, and those between function words."""
    for is_small, group in groupby(run, key=lambda token: token.word.casefold() in STOP_WORDS):
        chunk = list(group)
        if not is_small and 2 <= len(chunk) < _CAPITALS:
            yield FoundName(_slice(text, chunk), capitals=2)
    for begin in range(len(run)):
        for size in range(1, min(_CAPITALS, len(run) - begin) + 1):
            yield FoundName(_slice(text, run[begin : begin + size]), capitals=1)


def _can_name(token: _Token) -> bool:
    """Tell whether a word can make a name by itself."""
    return token.named and token.word.casefold() not in CALENDAR_WORDS


def _is_no_name(tokens: Run) -> bool:
    """Tell whether words are a single one that is never a name: a value, or a function word with another at
    its end (True, I'm, Don't, Let's)."""
    if len(tokens) > 1:
        return False
    word = tokens[0].word.casefold().replace("’", "'")
    if word == "let's" or word.endswith("n't") or word in _LITERALS:
        return True
    first = _CONTRACTED.sub("", word)
    return first != word and first in OPENERS


def _slice(text: str, tokens: Run) -> str:
    """Return a name as written, without a possessive 's."""
    return _TRAILING_POSSESSIVE.sub("", text[tokens[0].begin : tokens[-1].end])
