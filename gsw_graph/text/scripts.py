"""Scripts other than Latin: words and names in those without capitals, as of Chinese, Korean, Arabic and
Hindi, and what inflects words in Russian, Greek and Arabic, and in German."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache

from gsw_graph.text.words import MARKS, WORD, fold, stem, words
from gsw_graph.values import single_spaced

Signs = list[re.Match[str]]
_READ = 4000  # characters of a text that tell its script
_LONGEST = 10  # words or signs of a name that recurs
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3041-\u309f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
_JOINED = r"(?<!\w)(?:[وفبلك](?=[ء-ي]{3})|[ובלכמשה](?=[א-ת]{3}))"  # and, in, to ... written before a word
_SIGN = re.compile(rf"[ァ-ヺー]+|[{_UNSPACED}][{MARKS}]*|{_JOINED}|(?:[^\W_{_UNSPACED}ァ-ヺー][{MARKS}]*)+")
_WITHOUT_WORDS = re.compile(rf"[{_UNSPACED}ァ-ヺ]")
_SIGNS = re.compile(rf"[{_UNSPACED}]|{_JOINED}")
_UNCASED = re.compile(
    r"[^\W\d_A-Za-z\u00c0-\u058f\u10a0-\u10ff\u1d00-\u1fff\u2c00-\u2dff\ua640-\ua7ff\uff21-\uff5a]+"
)
_MARKED = re.compile(
    r"[《〈「『【]([^《》〈〉「」『』【】，。！？\n]{2,40})[》〉」』】]"
    r"|(?<![א-ת])[“«„\"]([^“”«»„\"،,，。！？؟।.!?\n]{2,40})[”»“\"]"
    r"|([ァ-ヺー]{2,}(?:[・＝·=][ァ-ヺー]+)*)"
)
# What inflects a folded word: endings of Russian and Greek cases, prefix and article of Arabic. What is cut
# is read in one way only, and nothing is left to be cut again.
_LONGEST_WORD = 50  # letters; a longer one has no endings
_SOFT = re.compile(  # Виктория is not Виктор
    "(?<=[а-я]{2})(?<![гжкхчшщ])(?<![бвгджзклмнпрстфхцчшщ]н)и(?:[яюий]|е[йм]|ям|ями|ях)$"
)
_GREEK = re.compile("(?<=[α-ω]{3})(?:[αεηοω]σ?|ουσ?|οι|[οω]ν|εισ|εωσ|ι)$")
_INFLECTION = re.compile(
    "(?<=[а-я]{3})(?:[аеоуыиюяьй](?:[аеоуыиюяьй]|(?<=[аеиоыя])м|(?<=[аиыя])х)*(?:[ое](?:го|му))?|[ое](?:го|му))$"
    "|^(?:(?:ال|[وف]?لل)(?=[ء-ي]{3})|(?:[وف][بك]?|[بك])ال(?=[ء-ي]{4}))+"  # والتر is no و + ال
)
# Between names: punctuation, numbers, hiragana, and function words of Chinese, Arabic, Hindi and Korean.
_BETWEEN = re.compile(
    rf"[^\w {MARKS}·・]+|[\d_]+"
    r"|[\u3041-\u309f的了着过是在和与及或由被把从到为以于对就也都而但这那其之他她它们有不]+"
    rf"|(?<![\w{MARKS}])(?:"
    + "|".join(
        """في من على إلى عن مع ثم أن إن أو كان كانت هو هي هذا هذه التي الذي لا ما لم قد بعد قبل و
        के का की में से को ने पर है हैं था थी थे और यह वह एक कि ही भी तो जो इस उस लिए साथ बाद नहीं
        그 이 저 및 수 것 는 은 을 를""".split()
    )
    + rf")(?![\w{MARKS}])"
)
_WHOLE = re.compile(r".+ .+|[\u3400-\u9fff]{3,}|.*·.*")  # what recurs for more than being a common word


@lru_cache(maxsize=16384)
def is_uncased(text: str) -> bool:
    """Tell whether a third of a text is in a script without capitals: a Latin word has more letters than a
    Chinese one."""
    letters = _letters(text)
    return 3 * sum(letter.lower() == letter.upper() for letter in letters) > len(letters)


@lru_cache(maxsize=16384)
def is_latin(text: str) -> bool:
    """Tell whether more than two thirds of a text are in Latin letters, where rules see names best."""
    letters = _letters(text)
    return 3 * sum(letter > "\u036f" for letter in letters) <= len(letters)


def _letters(text: str) -> list[str]:
    return [] if text.isascii() else list(filter(str.isalpha, text[:_READ]))


def without_uncased(text: str) -> str:
    """Return a text with an x for each run of letters without capitals, which leaves its Latin."""
    return _UNCASED.sub(",x,", text)


def split(text: str) -> Signs:
    """Split a text into its words, and a word of a script without spaces into its signs, of which a run of
    katakana is one; و, say, is cut from the word it is written before."""
    signs: Signs = []
    for word in WORD.finditer(text):
        if len(word[0]) > 1 and _SIGNS.search(text, *word.span()):
            signs += _SIGN.finditer(text, *word.span())
        else:
            signs.append(word)
    return signs


def is_part(sign: re.Match[str]) -> bool:
    """Tell a single sign that is a part of a word from a word."""
    return sign.re is _SIGN and len(sign[0]) == 1


def marked_names(text: str) -> Iterator[str]:
    """Find what is in quotes, and runs of katakana, which write foreign names and things."""
    return (next(filter(None, match.groups())) for match in _MARKED.finditer(text))


def recurring_names(text: str) -> list[str]:
    """Find what occurs twice in a text without capitals: two words and more, or three Chinese signs, that are
    no part of more which occurs as often, with no function word in it."""
    if not is_uncased(text):
        return []
    counts = Counter[str]()
    for stretch in _BETWEEN.split(text):
        signs = split(stretch)
        for first, sign in enumerate(signs):
            begin = sign.start()
            counts.update(stretch[begin : last.end()] for last in signs[first : first + _LONGEST])
    repeated = [run for run, count in counts.items() if count > 1]
    parts = set()
    for run in repeated:
        signs = split(run)
        if len(signs) < 2:
            continue
        for part in (run[signs[1].start() :], run[: signs[-2].end()]):
            if counts[part] == counts[run]:
                parts.add(part)
    return [run for run in repeated if run not in parts and _WHOLE.fullmatch(run)]


def uninflected(folded: str, language: str = "") -> str:
    """Return a folded text with what inflects its words cut off, if script or language tells that."""
    if language == "de":
        return " ".join(stem(word, language) for word in words(folded))
    if folded.isascii():
        return folded
    return re.sub(r"\w+", lambda word: _uninflected_word(word[0]), folded)


@lru_cache(maxsize=65536)
def _uninflected_word(word: str) -> str:
    if word.isascii() or len(word) > _LONGEST_WORD:
        return word
    stem, soft = _SOFT.subn("ия", word)
    return stem if soft else _INFLECTION.sub("", _GREEK.sub("α", word))


def known_names(text: str, names: Mapping[str, str], language: str) -> set[str]:
    """Return those of some names, with their uninflected forms, that occur in a text, as words if it has
    words, but for parts of others."""
    folded = uninflected(single_spaced(fold(text)), language)
    found = {}
    for name, key in names.items():
        if len(key) < 2 or key not in folded:
            continue
        word = rf"(?<!\w)(?:{_JOINED})?{re.escape(key)}(?![\w{MARKS}])"
        if _WITHOUT_WORDS.search(key) or re.search(word, folded):
            found[name] = key
    keys = found.values()
    return {name for name, key in found.items() if not any(key in other and key != other for other in keys)}
