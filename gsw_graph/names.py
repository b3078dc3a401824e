"""Names: the one normal form under which a name is known in every document, and the words that make no
name of their own."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Words that stand in front of, between or around names, never for one. English, as the rules extractor is;
# names of other languages pass untouched.
FUNCTION_WORDS = frozenset(
    """a about above across after afterwards again against all almost alone along already also although always
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
    located named overall part""".split()
)

# Words that join the parts of one name: Bank of England, Ludwig van Beethoven.
CONNECTORS = frozenset(
    "of the de del della di da do dos das la le les du des von van der den zu and in for at on y e el al "
    "bin ibn to with".split()
)

_PLAIN = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*")
_ARTICLES = ("the ", "a ", "an ")
_ARTICLE = re.compile(r"^(?:the|a|an)\s+(?=\S)")
_POSSESSIVE = re.compile(r"['’]s?(?=\s|$)")
_EDGES = re.compile(r"^[\W_]+|(?:[^\w+#]|_)+$")  # C++ and C# are codes
_SPACE = re.compile(r"\s+")
# Canonical combining classes of marks that decorate: points of Hebrew and Arabic, accents. The others make
# letters (Indic, kana, Thai, Tibetan).
_ACCENTS = frozenset([*range(10, 37), *range(200, 256)])
_MARKS = "".join(
    c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c)[0] == "M"
)  # accents and vowel signs, which are no \w
LETTERS = rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*"
WORD = re.compile(rf"{LETTERS}(?:['’.\-&/]{LETTERS})*[+#]*")  # of a text: O'Brien, AT&T and C++ are one
LONGEST = 500  # characters; what is longer is no name, and too long for an index


@lru_cache(maxsize=65536)
def normalise(name: str) -> str:
    """The normal form of a name: accents off (NFKD), case-folded, possessive 's, edge punctuation and a
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
    if not name.isascii():
        parts = unicodedata.normalize(
            "NFKD", name.casefold()
        )  # first, for an iota below a letter is a letter in some cases
        name = unicodedata.normalize(
            "NFKC", "".join(c for c in parts if unicodedata.combining(c) not in _ACCENTS)
        )
    name = whole = name.casefold()
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
