"""What a sub-agent's language model replied: a finding, one thing more that it wants to see, or that the
evidence is insufficient. Lines that any model can write, read tolerantly."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LABEL = re.compile(
    r"^[ \t>#*_`-]*(?P<label>answer|finding|lines?|follow|search|read|insufficient)\b"
    r"[ \t*_`]*[:：.]?[ \t*_`]*(?P<text>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"(?<!\d)\d{1,3}(?!\d)")
_UNKNOWN = re.compile(
    r"(?:insufficient|unknown|n/?a|no answer.*"
    r"|not (?:known|found|stated|given|mentioned|available)\b.*)[.!]?",
    re.IGNORECASE,
)
_SENTENCE, _ANSWER = 400, 200  # characters
FORM = (
    'Write "Answer:", "Finding:" and "Lines:" in three lines, or one line that begins with "Follow:", '
    '"Search:", "Read:" or "Insufficient:"'
)


@dataclass(frozen=True, slots=True)
class Found:
    """An answer in a few words, the sentence that states it, and the numbers of lines that it names."""

    answer: str
    sentence: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class More:
    """What is wanted: `follow` a name for a fact, `search` for a fact, `read` the text of a line. what: the
    name or number; fact: what is looked for."""

    how: str
    what: str
    fact: str


@dataclass(frozen=True, slots=True)
class Insufficient:
    """Nothing in the evidence answers it. missing: what does, in words; may be empty."""

    missing: str


def parse(reply: object) -> Found | More | Insufficient:
    """What a reply says: of several forms the first counts, and without any its first line is the answer.
    ValueError: it says nothing."""
    parts: dict[str, str] = {}
    for match in _LABEL.finditer(str(reply)):
        parts.setdefault(match["label"].lower(), _plain(match["text"]))
    first = next((label for label in parts if label not in ("finding", "line", "lines")), None)
    if first in ("follow", "search", "read"):
        what, _, fact = parts[first].partition("|")
        what, fact = what.strip()[:_ANSWER], fact.strip()[:_SENTENCE]
        if not what:
            raise ValueError(f"nothing stands after its label. {FORM}")
        return More(first, what, fact)
    if first == "insufficient":
        return Insufficient(parts[first][:_SENTENCE])
    answer, sentence = parts.get("answer", ""), parts.get("finding", "")
    if not parts:  # of a small model, which gets no further: whether the lines hold it is looked at anyway
        answer = next((_plain(line) for line in str(reply).splitlines() if re.search(r"\w", line)), "")
    if not (answer or sentence):
        raise ValueError(f"the reply has no form that is known. {FORM}")
    if _UNKNOWN.fullmatch(answer or sentence):
        return Insufficient(sentence[:_SENTENCE])
    numbers = _NUMBER.findall(parts.get("lines") or parts.get("line") or "")
    return Found((answer or sentence)[:_ANSWER], (sentence or answer)[:_SENTENCE], tuple(map(int, numbers)))


def _plain(text: str) -> str:
    """Without emphasis and brackets around numbers, in one line."""
    return " ".join(text.replace("**", "").replace("`", "").split())
