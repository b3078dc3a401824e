"""Find the signs that a statement is invented: names, numbers, dates and code that neither the evidence nor
the question has. Other words are no ground, as a right answer may be in words of its own."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.quotes import is_in, words_of
from gsw_graph.text.languages import detect
from gsw_graph.text.names import FINITE, OPENERS, normalise
from gsw_graph.text.quantities import quantities
from gsw_graph.text.scripts import is_uncased
from gsw_graph.text.words import FUNCTION_WORDS, WORD
from gsw_graph.values import single_spaced, unique, word_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gsw_graph.ask.answer.evidence import EvidenceLine

_QUOTED = re.compile(r"```[^\n]*\n(.*?)(?:```|\Z)|(`+)([^`\n]+?)\2(?!`)", re.DOTALL)
_PLAIN_CODE = re.compile(r"(?<![\w-])--[a-z][\w-]+|\b[A-Za-z]\w*_\w+|\b[A-Za-z][\w.]*\(\)")
_COMMENT = re.compile(r"(?:^|\s)(?:#|//)\s.*$", re.MULTILINE)
# Of code; a shorter one, such as url or app, is in any example.
_IDENTIFIER = re.compile(r"(?<!\S)--[a-z][\w-]+|[^\W\d]\w{3,}")
_WRITTEN = word_set("print self true false none null path your example")
_DIGITS = re.compile(r"[\w.\-/]*\d[\w.\-/]*")  # a version, a code
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t]+", re.MULTILINE)
# Small numbers in words that prose has without counting: one of them, the first, both.
_PROSE = word_set("#1 #2 #1th #2th #3th")
_IDENTIFYING = re.compile(r"\w*[a-z]\w*[A-Z]|[A-Z]{2}|\w{2,}\.\w{2,}")  # CamelCase, capitals, dotted
_STARTS = re.compile(r"(?:^|[^\w\s,'’)\]-])\s*$")
_CLAUSE_END = re.compile(r"[.!?:;,()\n]")
# Endings of words that are hardly names, and begin a sentence with a capital.
_COMMON = re.compile(
    r"(?:ly|ing|able|ible|ive|ous|ful|less|[ts]ions?|ments?|ness|ity|ities|ances?|ences?|wise|tter|ster|ther)$"
)
_SHORT = 3  # words of an answer that is a name alone
_ANY = word_set(
    "yes no oui non sí sim nein nej nobody nothing everybody everyone everything someone something"
)
# What a reply says of its own statements: correct, step 3.
_VERDICTS = word_set(
    "correct incorrect right wrong true false allowed forbidden required optional important step"
)
_TRANSITIVE = re.compile(r" [a-z]{3,}s (?:the|an?|its?|them)\b")  # maintains the ...


@dataclass(frozen=True, slots=True)
class Known:
    """Hold the content of evidence and question: words in the normal form of names, the text in lower case,
    and the keys of numbers and dates."""

    question: str
    words: frozenset[str]
    text: str
    quantities: frozenset[str]

    @classmethod
    def of(cls, question: str, items: Sequence[EvidenceLine]) -> Known:
        """Collect the words, numbers and dates of the lines, their passages and the question."""
        texts = [question]
        for item in items:
            passage = item.passage
            texts += [item.text, passage.title, passage.section or "", passage.speaker or "", passage.text]
        text = "\n".join(dict.fromkeys(texts))
        return cls(question, words_of(text, every=True), _one_case(text), quantities(text).keys)

    @property
    def has_units(self) -> bool:
        """Tell whether there is a unit of measure."""
        return any(key.startswith("~") for key in self.quantities)

    def invented(self, statement: str) -> list[str]:
        """Return the unknown code, numbers, dates and names of a statement, as the statement writes them."""
        text = _ITEM.sub("", statement.replace("**", ""))
        found: list[str] = []
        for match in _QUOTED.finditer(text):
            found += self._unknown_code(match[1] or match[3] or "")
        text = _QUOTED.sub(" code ", text)
        for match in _PLAIN_CODE.finditer(text):
            found += self._unknown_code(match[0])
        text = _PLAIN_CODE.sub(" code ", text)
        found += self._unknown_numbers(text)
        found += self._unknown_names(quantities(text).rest)
        return unique(found)

    def _unknown_code(self, code: str) -> Iterator[str]:
        """Yield a line of code or, in a block, the identifiers and numbers that are not known."""
        code = _COMMENT.sub("", code).strip()
        if _one_case(code) in self.text:
            return
        for identifier in _IDENTIFIER.findall(code):
            folded = identifier.casefold()
            if not keyword.iskeyword(identifier) and folded not in _WRITTEN and folded not in self.text:
                yield identifier
        yield from self._unknown_numbers(code)

    def _unknown_numbers(self, text: str) -> Iterator[str]:
        numbers = quantities(text)
        is_prose = False  # one minute, a first try
        for part, written in zip(numbers.parts, numbers.written, strict=True):
            keys = frozenset[str]().union(*part)
            if all(key.startswith("~") for key in keys):
                # "timeout=5" is five seconds: without any unit the evidence contradicts none.
                if is_prose or not self.has_units:
                    continue
            else:
                is_prose = keys <= _PROSE and not re.search(r"\d", written)
            if not (is_prose or any(alternative <= self.quantities for alternative in part)):
                yield written
        for match in _DIGITS.finditer(numbers.rest):
            written = match[0].strip(".-/")
            # v2.1 is no part of v2.13.
            if not re.search(rf"(?<!\d)(?<!\d\.){re.escape(written.casefold())}(?!\w|\.\d)", self.text):
                yield written

    def _unknown_names(self, text: str) -> Iterator[str]:
        """Yield the names that are not known, words side by side as one. In a language whose nouns have
        capitals a single word is no name, unless it looks like an identifier."""
        if is_uncased(text):
            return
        has_nouns = detect(f"{self.question} {text}").nouns
        names: list[tuple[int, int]] = []
        for match in WORD.finditer(text):
            if self._knows(match[0]) or not _is_name(text, match):
                continue
            begin, end = match.span()
            if names and text[names[-1][1] : begin] == " ":
                begin, _ = names.pop()
            names.append((begin, end))
        for begin, end in names:
            name = text[begin:end]
            if " " in name or not has_nouns or _IDENTIFYING.match(name):
                yield name

    def _knows(self, word: str) -> bool:
        if any(map(str.isdigit, word)):  # a number, which is looked at as such
            return True
        if _IDENTIFYING.match(word):
            return normalise(word) in self.text
        return all(is_in(part, self.words, self.text) for part in words_of(word, every=True))


def _one_case(text: str) -> str:
    return single_spaced(text.casefold())


def _is_name(text: str, word: re.Match[str]) -> bool:
    """Tell whether a word that is not known is a name: it looks like an identifier, or it has a capital
    within a sentence; of the first word of a sentence its capital says nothing, so what follows must."""
    written = word[0]
    folded = written.casefold()
    if folded in FUNCTION_WORDS or folded in OPENERS or folded in _ANY or folded in _VERDICTS:
        return False
    if _IDENTIFYING.match(written):
        return True
    if not written[0].isupper():
        return False
    if not _STARTS.search(text[: word.start()]):
        return True
    if _COMMON.search(folded):
        return False
    rest = text[word.start() :]
    clause = _CLAUSE_END.split(rest, maxsplit=1)[0]
    words = WORD.findall(clause)
    if len(words) <= _SHORT and all(other[0].isupper() for other in words):
        # "Note: ..." and "Run: ..." lead what follows.
        return not rest[len(clause) :].startswith(":")
    if _TRANSITIVE.match(text, word.end()):
        return True
    verb = FINITE.match(text, word.end())
    return verb is not None and not (folded.endswith("s") and verb[0].strip() in ("are", "were", "have"))
