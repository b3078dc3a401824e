"""Read text the same way in all parts of the program: one normalising step, one tokeniser, one stemmer, one
sentence splitter, one term coverage, one lexicon.

Stored and cited text stays as written; these functions serve comparisons.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import log1p
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from sentencex import segment

from gsw_graph.values import single_spaced, word_set


def table(name: str) -> Any:
    """Read a table of words: NAME.json beside this module."""
    return json.loads(Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8"))


# Words that stand in front of, between or around names, never for one. Those of other languages: `languages`.
FUNCTION_WORDS = word_set("""
    a about above across after afterwards again against all almost alone along already also although always
    am among amongst an and another any anyone anything are around as at be became because become becomes
    been before beforehand behind being below beside besides between beyond both but by can cannot could did
    do does doing done down due during each eight either eleven else elsewhere enough etc even eventually
    ever every everyone everything everywhere except few fifteen fifty finally five following for former
    formerly forty four from further generally get give given had has have having he hence her here hers
    herself him himself his how however hundred i if in indeed initially instead into is it its itself just
    keep last later latter least less like likewise made mainly make many may me meanwhile might mine more
    moreover most mostly much must my myself namely near nearby neither never nevertheless next nine no
    nobody none nor not nothing notably now nowhere of off often on once one only onto or originally other
    others otherwise our ours ourselves out over own part per perhaps please prior put quite rather re
    recently same see seem seemed seems several she should show side similarly since six sixty so some
    somehow someone something sometime sometimes somewhere soon still subsequently such ten than that the
    their them themselves then there thereafter thereby therefore these they third this those though three
    through throughout thus to together too toward towards twelve twenty two under unlike unless until up
    upon us usually various very via was we well were what whatever when whenever where whereas wherever
    whether which while who whoever whole whom whose why will with within without would yes yet you your
    yours yourself yourselves currently today according additionally aside based despite famous known
    located named overall part""")
# Words that join the parts of one name: Bank of England, Ludwig van Beethoven.
CONNECTORS = word_set(
    "of the de del della di da do dos das la le les du des von van der den zu and in for at on y e el al "
    "bin ibn to with"
)
STOP_WORDS = FUNCTION_WORDS | CONNECTORS

# Canonical combining classes of marks that decorate: points of Hebrew and Arabic, accents. The others make
# letters (Indic, kana, Thai, Tibetan).
_ACCENTS = frozenset([*range(10, 37), *range(200, 256)])
MARKS = "".join(
    c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c)[0] == "M"
)  # accents and vowel signs, which are no \w
LETTERS = rf"[^\W_]+(?:[{MARKS}]+[^\W_]*)*"
WORD = re.compile(rf"{LETTERS}(?:['’.\-&/]{LETTERS})*[+#]*")  # of a text: O'Brien, AT&T and C++ are one
_LETTERS = re.compile(LETTERS)
_ASCII_WORD = re.compile(r"[a-z0-9]+")
# Scripts without spaces between words.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)
# Those of them that full-text indexes leave whole, up to a space: Thai, Lao, Burmese, Khmer and their kin.
_RUN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf"
SPACELESS = f"{_RUN}\u0f00-\u0fff"
"""The same and Tibetan, whose syllables have marks between them: in these a space ends a phrase."""
_RUNS = re.compile(rf"[{_RUN}]+")
_CLUSTER = re.compile(rf".[{MARKS}]*", re.DOTALL)  # a sign with its vowels and tones
_PHRASE_END = re.compile(rf"(?<=[{SPACELESS}]\s)(?=\S)")
_POSSESSIVE = re.compile(r"(?<=[^\W_])'s?(?!\w)")


def without_surrogates(text: str) -> str:
    """Join pairs of surrogates, as JSON and models write; a single half becomes U+FFFD, as no database, file
    or server takes it."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


# Normalising

_TABLES = table("characters")
# Spaces, line ends, hyphens and apostrophes in their plain form. Soft hyphens, zero widths and marks of
# direction are never seen, and become nothing. Joiners of emoji and of Persian go too.
_CHARACTERS: dict[int, str] = {}
for _plain, _signs in _TABLES["characters"].items():
    _CHARACTERS |= dict.fromkeys(map(ord, "".join(_signs)), _plain)
_CHANGED = re.compile(rf"[{''.join(re.escape(chr(code)) for code in _CHARACTERS)}\r]")
_SOFT_HYPHEN_AT_END = re.compile(r"[\xad\u200b][ \t]*\r?\n[ \t]*")
_TICK = re.compile(r"(?<=[^\W\d_])[`´](?=[^\W\d_])")
_TWO_SPACES = re.compile(r"(?<! )  (?! )")  # three are a column of a table
_HYPHEN_AT_END = re.compile(r"[^\W\d_]-\s*$")
_NEW_BLOCK = re.compile(r"[ ]*(?:[-*+•·–—#>|=~`]|\d{1,3}[.)]\s|[^\W\d_][\w ]{,30}:\s)")
_SMALL_WORD = re.compile(r"\b[^\W\d_]{3,}")
_WIDE = 40  # characters of a line that is no mere list of names


def normalise_characters(text: str) -> str:
    """Write spaces, hyphens, apostrophes and line ends in their plain form, and drop invisible characters.

    Two spaces, a tab and a no-break space are a space; three spaces stay, as they separate columns.
    """
    if _CHANGED.search(text):
        text = _SOFT_HYPHEN_AT_END.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
        text = text.translate(_CHARACTERS)
    if not text.isascii() or "`" in text:
        text = _TICK.sub("'", text)
    return _TWO_SPACES.sub(" ", text) if "  " in text else text


def normalise_text(text: str) -> str:
    """Normalise a text before names, dates or words are looked for in it: characters as of
    `normalise_characters`, and the lines of a wrapped paragraph joined.

    A line end is one of wrapping if the first word of the next line would have made the line longer than
    the longest of its paragraph, and the line is prose; the ends of headings, lists and tables stay.
    """
    text = normalise_characters(text)
    if "\n" not in text:
        return text
    return "\n\n".join(map(_unwrap, re.split(r"\n[ ]*\n", text)))


def _unwrap(paragraph: str) -> str:
    if "\n" not in paragraph.strip("\n"):
        return paragraph
    lines = paragraph.split("\n")
    width = max(map(len, lines))
    joined = lines[0]
    for line, following in pairwise(lines):
        start = following.lstrip()
        word = following.strip().partition(" ")[0]
        hyphen = word[:1].isalpha() and _HYPHEN_AT_END.search(line)
        is_full = word and len(line.rstrip()) + 1 + len(word) > width
        if not (hyphen or is_full) or not _goes_on(line, following):
            joined = f"{joined}\n{following}"
        elif not hyphen:
            joined = f"{joined.rstrip()} {start}"
        elif word[0].isupper():  # Anne-Marie keeps it
            joined = joined.rstrip() + start
        else:  # pro-vince does not
            joined = joined.rstrip()[:-1] + start
    return joined


def _goes_on(line: str, following: str) -> bool:
    """Tell whether a line may go on in the next: it is prose, and the next begins no list or heading."""
    if _NEW_BLOCK.match(following) or line.lstrip().startswith(("#", "|")):
        return False
    return _is_prose(line)


def _is_prose(line: str) -> bool:
    """Tell a line of prose from one of a list of names: it has a small word of content, or is wide."""
    if len(line) >= _WIDE:
        return True
    return any(word.islower() and word not in STOP_WORDS for word in _SMALL_WORD.findall(line))


# Latin letters that no decomposition folds, with what is written in their place: ł, đ, ø, æ.
_PLAIN = dict(_CHARACTERS)
for _plain, _signs in _TABLES["letters"].items():
    _PLAIN |= dict.fromkeys(map(ord, _signs), _plain)


class _WithoutAccents(dict[int, int | None]):
    """Signs as `str.translate` takes them: None for an accent, each sign looked up once."""

    def __missing__(self, sign: int) -> int | None:
        kept = None if unicodedata.combining(chr(sign)) in _ACCENTS else sign
        self[sign] = kept
        return kept


_WITHOUT_ACCENTS = _WithoutAccents()


def fold(text: str) -> str:
    """Fold case, accents and forms of letters (NFKD), so that the same word is equal however it is typed."""
    if text.isascii():
        return _TICK.sub("'", text).casefold() if "`" in text else text.casefold()
    # Case first, for an iota below a letter is a letter in some cases.
    parts = unicodedata.normalize("NFKD", normalise_characters(text).casefold()).replace("и\u0306", "й")
    bare = parts.translate(_WITHOUT_ACCENTS)
    return unicodedata.normalize("NFKC", bare.translate(_PLAIN)).casefold()


# Words

_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "ors", "ies", "ied", "ed", "er", "or", "es", "s", "e")
_SHORTEST_STEM = 4
# Algorithms of Snowball for other languages, by ISO 639-1.
_STEMMERS: dict[str, str] = table("stemmers")

_AND_THE = re.compile("^[وف](?=ال)")  # Snowball leaves these before an article


@lru_cache(maxsize=65536)
def stem(word: str, language: str = "en") -> str:
    """Cut the ending of a folded word: roughly in English, enough for "served" and "serves"; as Snowball does
    in other languages, by ISO 639-1."""
    if language in _STEMMERS:
        import snowballstemmer

        word = _AND_THE.sub("", word)
        return str(snowballstemmer.stemmer(_STEMMERS[language]).stemWord(word))
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def foreign_stems(text: str, language: str) -> list[str]:
    """Return the stems of the words of a text in a language other than English; none without a stemmer."""
    return [stem(word, language) for word in words(text)] if language in _STEMMERS else []


def searchable(text: str, language: str) -> str:
    """Return a text in the form that a full-text index with English analysis finds. In English it is the
    normalised text. In other languages it is the stems, then once each word that differs from its stem."""
    normalised = paired(normalise_text(text))
    stems = foreign_stems(text, language)
    if not stems:
        return normalised
    written = set(_LETTERS.findall(normalised.lower()))
    return " ".join([*stems, *sorted(written.difference(stems))])


def paired(text: str) -> str:
    """Return a text in which words without spaces between them, as in Thai, are written as pairs of signs."""
    return text if text.isascii() else _RUNS.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", text)


def _pairs(run: str) -> list[str]:
    signs = _CLUSTER.findall(run)
    return [first + second for first, second in pairwise(signs)] or signs


def words(text: str) -> list[str]:
    """Split a text into words, folded, in their order, without a possessive 's.

    Scripts without spaces between words give pairs of signs, as in full-text indexes.
    """
    folded = _POSSESSIVE.sub("", fold(text))
    if folded.isascii():
        return _ASCII_WORD.findall(folded)
    tokens: list[str] = []
    for token in _LETTERS.findall(folded):
        if len(token) > 2 and _UNSPACED.search(token):
            tokens += map("".join, pairwise(token))
        else:
            tokens.append(token)
    return tokens


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """Return the words of a text without function words and single letters."""
    content = set(words(text)) - STOP_WORDS
    return frozenset(content.difference(ascii_lowercase))


@lru_cache(maxsize=4096)
def terms(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text, by which texts are compared."""
    return frozenset(map(stem, content_words(text)))


def idf(query_terms: Iterable[str], texts: Sequence[Collection[str]]) -> dict[str, float]:
    """Weigh terms by how rare they are among some texts: log(1 + n / (1 + n_t)) (Spärck Jones 1972,
    smoothed), n texts of which n_t have the term.

    Args:
        query_terms: The terms to weigh.
        texts: Terms of each text. The texts found for the query are enough.
    """
    weights = {}
    for term in query_terms:
        count = sum(term in text for text in texts)
        weights[term] = log1p(len(texts) / (1 + count))
    return weights


def term_coverage(
    query_terms: Collection[str],
    text_terms: Collection[str],
    *,
    idf: Mapping[str, float] | None = None,
    alternatives: Mapping[str, frozenset[str]] | None = None,
) -> float:
    """Return the share of a query's terms that a text has, in [0, 1]; 0 without terms.

    Args:
        query_terms: Terms from `terms`, or other words.
        text_terms: Terms of the text.
        idf: Weights of the query's terms; without it all count alike.
        alternatives: For a term the terms that mean the same, itself too, as from `family`.
    """
    covered = total = 0.0
    for term in query_terms:
        weight = 1.0 if idf is None else idf.get(term, 0.0)
        total += weight
        if alternatives is None:
            is_covered = term in text_terms
        else:
            is_covered = not alternatives[term].isdisjoint(text_terms)
        if is_covered:
            covered += weight
    return covered / total if total else 0.0


# Sentences

_BLOCK_END = re.compile(r"\n\s*\n|^#.*$", re.MULTILINE)
_HEADING = re.compile(r"[\w'-]+(?: [\w'-]+){,3}")  # a few words that end in no stop
# Characters whose sentences are compared: punctuation without end takes quadratic time.
_LONGEST_READ = 20_000
_MOST_SENTENCES = 500


@lru_cache(maxsize=512)
def sentences(text: str, language: str = "en") -> tuple[str, ...]:
    """Split a text into its first sentences, each in one line, without headings. The language tells
    abbreviations."""
    lines = []
    for block in _BLOCK_END.split(text[:_LONGEST_READ]):
        for sentence in _segments(language, single_spaced(block)):
            line = single_spaced(sentence)
            if line and not _is_heading(line):
                lines.append(line)
    return tuple(lines[:_MOST_SENTENCES])


def _segments(language: str, text: str) -> Iterator[str]:
    """Yield the sentences of a text; in scripts without spaces between words, what stands between spaces."""
    for sentence in segment(language, text):
        yield from _PHRASE_END.split(sentence)


def _is_heading(line: str) -> bool:
    return bool(_HEADING.fullmatch(line)) and not _RUNS.search(line)


def written_sentences(text: str) -> list[str]:
    """Split a text into sentences exactly as written, with their line ends: joined they are the text."""
    pieces = list(_segments("en", text))
    # Should the library ever drop a character, rather a long sentence than lost text.
    return pieces if "".join(pieces) == text else [text]


# Lexicon: English; which words go together is ours

_LEXICON = table("lexicon")
# Lines of words that say the same: "who led" asks for the leader. A word has the first line that it leads,
# else the first it stands in.
_FAMILY_OF: dict[str, list[str]] = {}
for _line in reversed(_LEXICON["families"]):
    _family = _line.split()
    _FAMILY_OF |= dict.fromkeys(_family, _family)
for _line in reversed(_LEXICON["families"]):
    _family = _line.split()
    _FAMILY_OF[_family[0]] = _family


@lru_cache(maxsize=4096)
def family(word: str) -> frozenset[str]:
    """Return the stems of the words with the same meaning as a folded word, its own too."""
    return frozenset(map(stem, [word, *_FAMILY_OF.get(word, ())]))


# Fine kinds: the lines of a kind exclude each other, the words of a line say the same.
FINE_KINDS: dict[str, list[str]] = _LEXICON["fine kinds"]
_FINE_KIND_OF: dict[str, tuple[str, int]] = {}
for _kind, _lines in FINE_KINDS.items():
    for _number, _line in enumerate(_lines):
        _FINE_KIND_OF |= dict.fromkeys(_line.split(), (_kind, _number))
# Kinds of things by the words of the roles that they play; a word may be of several.
_KINDS_OF: dict[str, set[str]] = {}
for _kind, _lines in _LEXICON["kinds of roles"].items():
    for _word in " ".join(_lines).split():
        _KINDS_OF.setdefault(_word, set()).add(_kind)


def kinds_of_roles(roles: Iterable[str]) -> set[str]:
    """Return the kinds that roles name ("film director": person); empty if unclear."""
    kinds: set[str] = set()
    for role in roles:
        for word in reversed(_ASCII_WORD.findall(role.lower())):
            if word in _KINDS_OF:
                kinds |= _KINDS_OF[word]
                break
    return kinds


def fine_kind(word: str) -> tuple[str, int] | None:
    """Return the kind of a noun and its line in `FINE_KINDS` ("counties": place, 4), None if unknown."""
    singular = word.removesuffix("s")
    if word.endswith("ies"):
        singular = f"{word[:-3]}y"
    return _FINE_KIND_OF.get(word) or _FINE_KIND_OF.get(singular)
