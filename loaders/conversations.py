"""Conversations: a session is a document, a turn a passage with its speaker and time.

Read are exports with a list of turns under `messages` or `turns`, and the shapes of LoCoMo (`conversation`
with `session_1`, `session_1_date_time` ...) and of LongMemEval (`haystack_sessions`). A turn has its text in
`text`, `content` or `message`, who said it under `speaker`, `role`, `author`, `sender`, `from`, `user` or
`name`, and when under `at`, `date`, `time`, `timestamp`, `ts`, `created_at` or `create_time`. Chats that
WhatsApp exports are text, a line a turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from itertools import zip_longest
from typing import Any

from gsw_graph.loaders import records
from gsw_graph.loaders.files import File, Item, NothingError, Record
from gsw_graph.loaders.text import decode, source_of, stem
from gsw_graph.model.documents import Document, Failure, Passage, date_of, metadata
from gsw_graph.text.words import normalise_characters

LOADER = "conversation"
_TEXT = ("text", "content", "message", "parts")
_SPEAKER = ("speaker", "role", "author", "sender", "from", "user", "name")
_AT = ("at", "date", "time", "timestamp", "ts", "created_at", "create_time")
_LINE = re.compile(
    r"\[?(\d{1,4})[./-](\d{1,2})[./-](\d{2,4}), (\d{1,2}):(\d\d)(?::\d\d)?(?: ?([ap])\.?m\.?)?(?:\]| -)"
    r" (?:([^:\n]{1,80}): )?(.*)",
    re.IGNORECASE,
)
_Session = tuple[str, object, object]  # its name, its date and its turns


def turn(position: int, text: str, speaker: str = "", at: str = "") -> Passage:
    """Return a turn as the passage that is searched and read, which begins with who and when."""
    lead = " ".join(filter(None, (speaker, f"({at[:10]})" if at else "")))
    return Passage(f"{lead}: {text}" if lead else text, "", position, speaker=speaker, at=at)


def is_conversation(value: Mapping[str, object]) -> bool:
    """Return whether an object holds turns."""
    lists = [value.get(key) for key in ("messages", "turns", "haystack_sessions")]
    return isinstance(value.get("conversation"), dict) or any(isinstance(turns, list) for turns in lists)


def read(record: Record) -> Iterator[Item]:
    """Yield a document for each session."""
    name = next(
        (str(record.value[key]) for key in ("sample_id", "question_id", "id") if key in record.value), ""
    )
    flaw = records.flaw(record.value)
    for key, date, turns in _sessions(record.value):
        place = f"{record.place}: {key}" if key else record.place
        day = _time(date)
        spoken = [
            part
            for part in (_turn(value, day) for value in (turns if isinstance(turns, list) else ()))
            if part
        ]
        passages = tuple(turn(n, *part) for n, part in enumerate(spoken))
        if flaw or not passages:
            yield Failure(place, flaw or "no turns with a text")
            continue
        source = "#".join(filter(None, (source_of(record.file, passages[0].text), record.number, name, key)))
        title = record.value.get("title") or key or name or f"{stem(record.file)} {record.number}".strip()
        first = next((passage.at for passage in passages if passage.at), "")
        meta = metadata(
            [("date", day or first), ("speakers", list(dict.fromkeys(part[1] for part in spoken)))]
        )
        yield place, Document(source, str(title), passages, LOADER, titled=False, meta=meta)


def _sessions(value: Mapping[str, Any]) -> Iterator[_Session]:
    if isinstance(conversation := value.get("conversation"), dict):
        for key, turns in conversation.items():
            if isinstance(turns, list):
                yield key, conversation.get(f"{key}_date_time"), turns
    elif isinstance(sessions := value.get("haystack_sessions"), list):
        names, dates = value.get("haystack_session_ids") or (), value.get("haystack_dates") or ()
        for number, (turns, key, date) in enumerate(zip_longest(sessions, names, dates), 1):
            yield str(key or f"session {number}"), date, turns
    else:
        yield "", _first(value, _AT), value.get("messages") or value.get("turns")


def _turn(value: object, day: str) -> tuple[str, str, str] | None:
    """Return text, speaker and time of a turn; None where it has no text."""
    if not isinstance(value, dict):
        return None
    speaker, content = _first(value, _SPEAKER), _first(value, _TEXT)
    if isinstance(speaker, dict):
        speaker = _first(speaker, ("name", "role"))
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    text = "\n".join(text for text in texts if isinstance(text, str)).strip()
    return (text, " ".join(str(speaker or "").split()), _time(_first(value, _AT)) or day) if text else None


def _first(value: Mapping[str, Any], keys: tuple[str, ...]) -> object:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _time(value: object) -> str:
    """Return a time as ISO writes it: of a text, or of seconds since 1970."""
    text = str(value or "").replace("/", "-").replace(",", "")
    try:
        moment = datetime.fromtimestamp(float(text), timezone.utc)
    except (ValueError, OverflowError, OSError):
        return date_of(text) or ""
    return moment.isoformat(timespec="minutes")[:16]


def read_chat(file: File) -> Iterator[Item]:
    """Yield the document of a chat that WhatsApp exported. Lines without a speaker are its own notices."""
    text = normalise_characters(decode(file))
    spoken: list[tuple[re.Match[str], list[str]]] = []
    for line in text.splitlines():
        if match := _LINE.match(line):
            spoken.append((match, [match[8]]))
        elif spoken:
            spoken[-1][1].append(line)
    # A number above 12 is a day. Else dates with a.m. or p.m. begin with the month.
    month_first = any(int(match[2]) > 12 or match[6] for match, _ in spoken) and not any(
        12 < int(match[1]) < 32 for match, _ in spoken
    )
    turns = [
        ("\n".join(lines).strip(), match[7], _moment(match, month_first))
        for match, lines in spoken
        if match[7] and "".join(lines).strip()
    ]
    passages = tuple(turn(number, *parts) for number, parts in enumerate(turns))
    if not passages:
        raise NothingError("no turns with a text")
    speakers = list(dict.fromkeys(speaker for _, speaker, _ in turns))
    meta = metadata([("date", passages[0].at), ("speakers", speakers)])
    yield file.name, Document(source_of(file, text), stem(file), passages, LOADER, titled=False, meta=meta)


def _moment(match: re.Match[str], month_first: bool) -> str:
    """Return the time of a line as ISO writes it; empty for none that there is."""
    first, second, third, hour, minute = (int(match[number]) for number in range(1, 6))
    day, month, year = (second, first, third) if month_first else (first, second, third)
    if first > 31:
        year, month, day = first, second, third
    if match[6]:
        hour = hour % 12 + 12 * (match[6].lower() == "p")
    try:
        return datetime(year + 2000 * (year < 100), month, day, hour, minute).isoformat(timespec="minutes")
    except ValueError:
        return ""
