"""Languages other than English: which one a text is in, and its function words, by which names are found.

Word lists hold what often opens a sentence with a capital, or stands before a name: articles, prepositions,
pronouns, conjunctions, adverbs and auxiliary verbs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from gsw_graph.text.scripts import is_uncased
from gsw_graph.text.words import FUNCTION_WORDS, LETTERS, STOP_WORDS, fold, table
from gsw_graph.values import word_set

_LEAST = 0.08  # share of function words in a text of a language
_READ = 4000  # characters of a text that tell its language


@dataclass(frozen=True)
class Language:
    """Hold the properties of a language for names and words.

    Attributes:
        code: ISO 639-1.
        words: Function words, in small letters; English words if the language has no list.
        joins: Words that join the parts of a name.
        nouns: Whether all nouns have a capital.
    """

    code: str
    words: frozenset[str] = FUNCTION_WORDS
    joins: frozenset[str] = frozenset()
    nouns: bool = False

    @property
    def is_foreign(self) -> bool:
        """Return whether the function words are not the English words."""
        return self.words is not FUNCTION_WORDS

    @cached_property
    def folded(self) -> frozenset[str]:
        """Return the function words as they occur among the words of a text."""
        return frozenset(map(fold, self.words))


ENGLISH = Language("en")
LANGUAGES = tuple(
    Language(
        code,
        frozenset(" ".join(lists["words"]).split()),
        frozenset(lists.get("joins", "").split()),
        nouns=code == "de",
    )
    for code, lists in table("languages").items()
)
# Function words of other languages that an English question may have too, as its own or within a name.
_ENGLISH_TOO = STOP_WORDS | word_set("""
    ab ai ans bald bis car chi con contra die dir dont dove elle er era es est fu ha hat ins io las lei lo
    los lui ma man mas mein mi mio mir mit mon ne non nos os par para pas plus por pour prima sans se sei sera
    si sin son sotto sous su sur todo tout tra tu um un una uno unter verso war""")
_ARTICLES = word_set("""
    der die das ein eine le la les un une el los las una o a os as um uma il lo i gli uno
    ο η το οι τα""")
# Scripts without capitals tell their language; Japanese first, which has Chinese signs too.
_SCRIPTS = {
    Language("ja"): re.compile("[ぁ-ヺ]"),
    Language("zh"): re.compile("[\u3400-\u9fff]"),
    Language("ko"): re.compile("[가-힣]"),
    Language("ar"): re.compile("[ء-ي]"),
    Language("hi"): re.compile("[\u0900-\u097f]"),
}
_BY_CODE = {language.code: language for language in (ENGLISH, *LANGUAGES, *_SCRIPTS)}
_BEFORE_NOUN = re.compile(
    r"d(?:er|ie|as|en|em|es)|(?:k?ein|mein|sein|ihr|unser|dies|jed|welch|all|viel|einig|mehrer|beid)(?:e[nmrs]?)?"
    r"|[iazvb](?:m|ns|um|ur|om|eim)|[a-zäöüß]{4,}e[nmrs]?"
)
BEFORE_PLACE = word_set(
    "ab auf aus bei bis durch gegenüber in nach nahe nördlich östlich südlich von vor westlich"
)
_ADJECTIVE = re.compile(r"(?<=\w{3})e[mnrs]?$")
_ELISION = re.compile(
    r"(?:[cdjlmnst]|qu|lorsqu|puisqu|un|all|dell|dall|nell|sull|quest)'(?=[^\W\d_]{2})", re.IGNORECASE
)


@lru_cache(maxsize=256)
def detect(text: str) -> Language:
    """Return the language by the most function words, or by script. Return English if there are few function
    words, or a single word that is English too or opens a name."""
    text = text[:_READ]
    if is_uncased(text):
        for language, signs in _SCRIPTS.items():
            if 10 * len(signs.findall(text)) > len(text):
                return language
        return ENGLISH
    first, *rest = re.findall(LETTERS, text) or [""]
    tokens = [first.lower(), *filter(str.islower, rest)]  # a name may be of another language
    most, language = 0, ENGLISH
    for candidate in LANGUAGES:
        count = sum(token in candidate.words for token in tokens)
        if count > most:
            most, language = count, candidate
    english = sum(token in FUNCTION_WORDS for token in tokens)
    if most < _LEAST * len(tokens) or most <= english + bool(english):
        return ENGLISH
    found = language.words.intersection(tokens)
    opens_name = first.isascii() and bool(rest) and rest[0].istitle()  # Das Boot
    opener = tokens[0] if opens_name else ""
    return language if len(found) > 1 or not found <= {*_ENGLISH_TOO, opener} else ENGLISH


def elided(word: str) -> int:
    """Return how many letters an elided article before a name takes: l'Ancienne, d'Oberlinden."""
    return len(match[0]) if (match := _ELISION.match(word)) else 0


def language_of(code: str) -> Language:
    """Return a language by its ISO 639-1 code. In an unknown language names are found as in English."""
    return _BY_CODE.get(code) or Language(code)


def without_article(name: str, language: Language) -> str:
    """Return a name without the article before it, as in Die Isar. English articles are no part of a normal
    form anyway."""
    first, _, rest = name.partition(" ")
    if not rest or not language.is_foreign:
        return name
    return rest if first.lower() in language.words & _ARTICLES else name


def precedes_noun(word: str) -> bool:
    """Tell whether a German word stands before common nouns, as an article or an adjective does."""
    return bool(_BEFORE_NOUN.fullmatch(word))


def inflections(name: str) -> list[str]:
    """Return the other forms that a German name may have: des Neuen Theaters, das Neue Theater, ein Neues
    Theater."""
    *adjectives, noun = name.split()
    endings = ("e", "er", "es", "en") if any(map(_ADJECTIVE.search, adjectives)) else ("",)
    forms: list[str] = []
    for ending in endings:
        inflected = [_ADJECTIVE.sub(ending, word) for word in adjectives]
        forms += (" ".join([*inflected, noun.removesuffix(cut)]) for cut in ("", "s", "es"))
    return [form for form in dict.fromkeys(forms) if form != name]
