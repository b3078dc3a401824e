"""Chats that WhatsApp exports as text, a line a message, in whatever language of the phone.

What differs: the order and signs of dates, words before or after the time, brackets or a dash, marks of
direction. The order of the dates is told by the whole chat: messages come in the order of their time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import pairwise
from math import log

from gsw_graph.loaders import conversations
from gsw_graph.loaders.files import CHAT_LINE, File, Item, NothingError, left_out
from gsw_graph.loaders.text import decode, source_of, stem
from gsw_graph.model.documents import Document, metadata
from gsw_graph.text.words import normalise_characters

_BEFORE_NOON = frozenset("am a 오전 上午 午前 凌晨 早上 ص πμ öö sa de pg пп dop mn".split())
_AFTER_NOON = frozenset("pm p 오후 下午 午後 晚上 中午 م μμ ös ch du ptg tg mp еп odp".split())
_ORDERS = ((2, 1, 0), (2, 0, 1), (0, 1, 2))  # places of year, month and day: 5.3.24, 3/5/24, 24/3/5
_SPEAKER = re.compile(r"([^:\n]{1,80}?) ?: (.*)", re.DOTALL)
_QUOTE = re.compile(r"[\"“”„«»]")
_MEDIA = re.compile(
    r"<(?:[^\W\d_]+(?: [^\W\d_]+)+|[^\x00-\u02ff<>]{3,40})>"  # <Media omitted>
    r"|\S[^\n/]{0,100}\.\w{2,5} \([^()\n]{3,40}\)(?=\n|$)"  # IMG-1.jpg (file attached)
)
_EDITED = re.compile("\u200e<[^<>\n]{1,60}>(?=\n|$)")
_APP = "\u200e"  # before what the app itself writes
_MOST_WORDS = 3  # that a name has beyond another one that it begins with


def read(file: File) -> Iterator[Item]:
    """Yield the document of a chat. Lines of the app, and media that are not there, are counted."""
    text = decode(file)
    messages: list[tuple[re.Match[str], list[str]]] = []
    for line in text.splitlines():
        if match := CHAT_LINE.match(line):
            messages.append((match, [match["said"]]))
        elif messages:
            messages[-1][1].append(line)
    written = [("\n".join(lines), match) for match, lines in messages]
    parts = [_SPEAKER.fullmatch(said) for said, _ in written]
    names = Counter(_plain(part[1]) for part in parts if part)
    order = _order([match for match, _ in messages])
    left: Counter[str] = Counter()
    turns = []
    for part, (_, match) in zip(parts, written, strict=True):
        speaker = _plain(part[1]) if part else ""
        said = _EDITED.sub("", part[2]) if part else ""
        if not speaker or _is_notice(speaker, names):
            left["system line"] += 1
        elif said.startswith(_APP) and "\n" not in said:
            left["attachment or system line"] += 1
        else:
            without_media = (
                _MEDIA.sub("", _plain(said), count=1) if _MEDIA.match(_plain(said)) else _plain(said)
            )
            left["attachment"] += without_media != _plain(said)
            if without_media.strip():
                turns.append((without_media.strip(), speaker, _moment(match, order)))
    passages = tuple(conversations.turn(number, *parts) for number, parts in enumerate(turns))
    if not passages:
        raise NothingError("no turns with a text")
    speakers = list(dict.fromkeys(speaker for _, speaker, _ in turns))
    meta = metadata([("date", passages[0].at), ("speakers", speakers)])
    source = source_of(file, normalise_characters(text))
    yield file.name, Document(source, stem(file), passages, conversations.LOADER, titled=False, meta=meta)
    yield from left_out(file.name, left)


def _plain(text: str) -> str:
    return normalise_characters(text).strip().removeprefix("~").strip()


def _is_notice(speaker: str, names: Counter[str]) -> bool:
    """Return whether what stands before a colon is a sentence of the app: Ana changed the name to "Plan"."""
    if _QUOTE.search(speaker):
        return True
    parts = speaker.split(" ")
    starts = (" ".join(parts[:number]) for number in range(1, len(parts) - _MOST_WORDS + 1))
    return names[speaker] == 1 and any(names[start] for start in starts)


def _date(match: re.Match[str]) -> tuple[int, int, int]:
    return int(match["first"]), int(match["second"]), int(match["third"])


def _order(messages: Sequence[re.Match[str]]) -> tuple[int, int, int]:
    """Return the order of dates in which all are dates, none goes back, and the chat is shortest."""
    halves = any(_is_half(match) for match in messages)
    orders = (_ORDERS[1], _ORDERS[0], _ORDERS[2]) if halves else _ORDERS
    best, chosen = (1 << 62, 0, 0), orders[0]
    for order in orders:
        days = [day for match in messages if (day := _day(_date(match), order))]
        steps = [after - before for before, after in pairwise(days)]
        back = sum(step < timedelta(0) for step in steps)
        span = sum((abs(step).days for step in steps), 0)
        score = (len(messages) - len(days), back, round(log(span + 1, 8)))
        if score < best:
            best, chosen = score, order
    return chosen


def _day(numbers: tuple[int, int, int], order: tuple[int, int, int]) -> datetime | None:
    if numbers[0] > 31:
        order = _ORDERS[2]  # a year of four digits, first
    elif numbers[2] > 31 and order == _ORDERS[2]:
        return None
    year, month, day = (numbers[place] for place in order)
    with suppress(ValueError):
        return datetime(year + 2000 * (year < 100), month, day)
    return None


def _half(word: str | None) -> str:
    return re.sub(r"[\s.]", "", word or "").lower()


def _is_half(match: re.Match[str]) -> bool:
    return bool({_half(match["before"]), _half(match["after"])} & (_BEFORE_NOON | _AFTER_NOON))


def _moment(match: re.Match[str], order: tuple[int, int, int]) -> str:
    """Return the time of a line as ISO writes it; empty for none that there is."""
    day, hour, minute = _day(_date(match), order), int(match["hour"]), int(match["minute"])
    halves = {_half(match["before"]), _half(match["after"])}
    if halves & (_BEFORE_NOON | _AFTER_NOON):
        hour = hour % 12 + 12 * bool(halves & _AFTER_NOON)
    if day is None or hour > 23 or minute > 59:
        return ""
    return day.replace(hour=hour, minute=minute).isoformat(timespec="minutes")
