"""Chats that WhatsApp exports as text, a line a message, in whatever language of the phone.

What differs: the order and signs of dates, words before or after the time, brackets or a dash, marks of
direction. The order of the dates is told by the whole chat: messages come in the order of their time.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from math import log
from typing import TypeAlias

from gsw_graph.loaders import conversations
from gsw_graph.loaders.files import CHAT_LINE, File, Items, LeftOut, NothingError, left_out
from gsw_graph.loaders.text import decode, source_of, stem
from gsw_graph.model.documents import Passage
from gsw_graph.text.words import normalise_characters
from gsw_graph.values import word_set

_BEFORE_NOON = word_set("am a 오전 上午 午前 凌晨 早上 ص πμ öö sa de pg пп dop mn")
_AFTER_NOON = word_set("pm p 오후 下午 午後 晚上 中午 م μμ ös ch du ptg tg mp еп odp")
_Order: TypeAlias = tuple[int, int, int]
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


def read(file: File) -> Items:
    """Yield the document of a chat. Lines of the app, and media that are not there, are counted."""
    text = decode(file)
    messages: list[tuple[re.Match[str], list[str]]] = []
    for line in text.splitlines():
        match = CHAT_LINE.match(line)
        if match:
            messages.append((match, [match["said"]]))
        elif messages:
            messages[-1][1].append(line)
    parts = [_SPEAKER.fullmatch("\n".join(lines)) for _, lines in messages]
    names = Counter(_plain(part[1]) for part in parts if part)
    order = _order([match for match, _ in messages])
    left: LeftOut = Counter()
    passages: list[Passage] = []
    for part, (match, _) in zip(parts, messages, strict=True):
        speaker = _plain(part[1]) if part else ""
        if part is None or not speaker or _is_notice(speaker, names):
            left["system line"] += 1
            continue
        said = _EDITED.sub("", part[2])
        if said.startswith(_APP) and "\n" not in said:
            left["attachment or system line"] += 1
            continue
        said = _plain(said)
        media = _MEDIA.match(said)
        if media:
            left["attachment"] += 1
            said = said[media.end() :].strip()
        if said:
            passages.append(conversations.turn(len(passages), said, speaker, _moment(match, order)))
    if not passages:
        raise NothingError("no turns with a text")
    source = source_of(file, normalise_characters(text))
    yield file.name, conversations.document(source, stem(file), passages, passages[0].at)
    yield from left_out(file.name, left)


def _plain(text: str) -> str:
    return normalise_characters(text).strip().removeprefix("~").strip()


def _is_notice(speaker: str, names: Counter[str]) -> bool:
    """Return whether what stands before a colon is a sentence of the app: Ana changed the name to "Plan"."""
    if _QUOTE.search(speaker):
        return True
    if names[speaker] > 1:
        return False
    parts = speaker.split(" ")
    for number in range(1, len(parts) - _MOST_WORDS + 1):
        start = " ".join(parts[:number])
        if start in names:
            return True
    return False


def _order(messages: list[re.Match[str]]) -> _Order:
    """Return the order of dates in which all are dates, none goes back, and the chat is shortest."""
    orders = _ORDERS
    if any(_halves(match) for match in messages):
        orders = (_ORDERS[1], _ORDERS[0], _ORDERS[2])
    scores = []
    for place, order in enumerate(orders):
        days = list(filter(None, (_day(match, order) for match in messages)))
        steps = [(after - before).days for before, after in pairwise(days)]
        back = len([step for step in steps if step < 0])
        span = sum(map(abs, steps))
        scores.append((len(messages) - len(days), back, round(log(span + 1, 8)), place))
    return orders[min(scores)[-1]]


def _day(match: re.Match[str], order: _Order) -> datetime | None:
    numbers = [int(match[name]) for name in ("first", "second", "third")]
    if numbers[0] > 31:
        order = _ORDERS[2]  # a year of four digits, first
    elif numbers[2] > 31 and order == _ORDERS[2]:
        return None
    year, month, day = (numbers[place] for place in order)
    with suppress(ValueError):
        return datetime(year + 2000 if year < 100 else year, month, day)
    return None


def _halves(match: re.Match[str]) -> set[str]:
    """Return the words of a line that mean the half of a day."""
    words = [re.sub(r"[\s.]", "", match[name] or "").lower() for name in ("before", "after")]
    return {*words} & (_BEFORE_NOON | _AFTER_NOON)


def _moment(match: re.Match[str], order: _Order) -> str:
    """Return the time of a line as ISO writes it; empty for none that there is."""
    day, hour, minute = _day(match, order), int(match["hour"]), int(match["minute"])
    halves = _halves(match)
    if halves:
        hour = hour % 12 + (0 if halves.isdisjoint(_AFTER_NOON) else 12)
    if day is None or hour > 23 or minute > 59:
        return ""
    return day.replace(hour=hour, minute=minute).isoformat(timespec="minutes")
