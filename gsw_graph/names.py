"""Names: the one normal form under which a name is known in every document."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from gsw_graph.text import CONNECTORS, FUNCTION_WORDS, LETTERS, WORD, fold

__all__ = ["CONNECTORS", "FUNCTION_WORDS", "LETTERS", "LONGEST", "WORD", "normalise"]

_PLAIN = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")
_ARTICLES = ("the ", "a ", "an ")
_ARTICLE = re.compile(r"^(?:the|a|an)\s+(?=\S)")
_POSSESSIVE = re.compile(r"['’]s?(?=\s|$)")
_EDGES = re.compile(r"^[\W_]+|(?:[^\w+#]|_)+$")  # C++ and C# are codes
_SPACE = re.compile(r"\s+")
LONGEST = 500  # characters; what is longer is no name, and too long for an index


@lru_cache(maxsize=65536)
def normalise(name: str) -> str:
    """Return the normal form of a name: folded as of `text.fold`, possessive 's, edge punctuation and a
    leading article off, one space between words.

    Digits and codes stay as they are, and so does a name of punctuation or symbols alone (+, !!!). Empty
    where nothing can be seen of the name, or more than LONGEST characters. Idempotent.
    """
    if len(name) > LONGEST:
        return ""
    if _PLAIN.fullmatch(name):  # most are; nothing but case and articles is to be seen to
        name = name.lower()
        while name.startswith(_ARTICLES):
            name = name.partition(" ")[2]
        return name
    written = name
    name = whole = fold(name)
    while (shorter := _ARTICLE.sub("", _trim(_SPACE.sub(" ", _POSSESSIVE.sub("", name))))) != name:
        name = shorter
    name = name or _symbols(whole) or _symbols(written.casefold())  # as written where it is an accent alone
    return name if len(name) <= LONGEST else ""  # a ligature may stand for many letters


def _symbols(name: str) -> str:
    """A name without letters and digits, as it is; empty where nothing of it can be seen."""
    return (
        " ".join(name.split())
        if any(unicodedata.category(c) not in ("Cc", "Cf") and not c.isspace() for c in name)
        else ""
    )


def _trim(name: str) -> str:
    """Edge punctuation off; a combining mark (a vowel sign, say) belongs to its letter."""
    if name.isascii():
        return _EDGES.sub("", name)
    begin, end = 0, len(name)
    while begin < end and not name[begin].isalnum():
        begin += 1
    while end > begin and not (
        name[end - 1].isalnum() or name[end - 1] in "+#" or unicodedata.category(name[end - 1])[0] == "M"
    ):
        end -= 1
    return name[begin:end]
