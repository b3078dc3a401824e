"""Conversations: a session is a document, a turn a passage with its speaker and time.

Read are exports with a list of turns under `messages` or `turns`, and the shapes of LoCoMo (`conversation`
with `session_1`, `session_1_date_time` ...) and of LongMemEval (`haystack_sessions`). A turn has its text in
`text`, `content` or `message`, who said it under `speaker`, `role`, `author`, `sender`, `from`, `user` or
`name`, and when under `at`, `date`, `time`, `timestamp`, `ts`, `created_at` or `create_time`. `chat_exports`
knows the shapes of Slack, ChatGPT, Claude, Discord, Telegram and Teams, `whatsapp` its lines of text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from itertools import zip_longest
from typing import Any

from gsw_graph.loaders import chat_exports, records
from gsw_graph.loaders.files import File, Item, Record, left_out
from gsw_graph.loaders.text import source_of, stem
from gsw_graph.model.documents import Document, Failure, Passage, Skipped, date_of, metadata

LOADER = "conversation"
_TEXT = ("text", "content", "message", "parts", "body")
_SPEAKER = ("speaker", "role", "author", "sender", "from", "user", "name")
_AT = ("at", "date", "time", "timestamp", "ts", "created_at", "create_time", "createdDateTime")
_UNIQUE = ("uuid", "conversation_id")
_NAME = ("nickname", "displayName", "name", "role", "user", "application")
_Session = tuple[str, object, object]  # its name, its date and its turns


def turn(position: int, text: str, speaker: str = "", at: str = "") -> Passage:
    """Return a turn as the passage that is searched and read, which begins with who and when."""
    lead = " ".join(filter(None, (speaker, f"({at[:10]})" if at else "")))
    return Passage(f"{lead}: {text}" if lead else text, "", position, speaker=speaker, at=at)


def is_conversation(value: Mapping[str, object]) -> bool:
    """Return whether an object holds turns."""
    lists = [value.get(key) for key in ("messages", "turns", "haystack_sessions", "chat_messages")]
    tables = [value.get(key) for key in ("conversation", "mapping")]
    return (
        any(isinstance(table, dict) for table in tables)
        or any(isinstance(turns, list) for turns in lists)
        or isinstance(_telegram_chats(value), list)
    )


def _telegram_chats(value: Mapping[str, Any]) -> object:
    chats = value.get("chats")
    return chats.get("list") if isinstance(chats, dict) else None


def read(record: Record) -> Iterator[Item]:
    """Yield a document for each session, and what was left out of them."""
    value = record.value
    name = next((str(value[key]) for key in ("sample_id", "question_id", *_UNIQUE, "id") if key in value), "")
    # An id of its own stays when the file grows, its number does not.
    number = record.number if value.keys().isdisjoint(_UNIQUE) else ""
    left: Counter[str] = Counter()
    flaw = records.flaw(value)
    for key, date, turns in _sessions(value, left):
        place = f"{record.place}: {key}" if key else record.place
        title = str(value.get("title") or key or _channel(value) or name)
        names = (number, name, key)
        if flaw:
            yield Failure(place, flaw)
        else:
            yield from session(record.file, place, turns, date=_time(date), title=title, names=names)
    yield from left_out(record.file.name, left)


def session(
    file: File, place: str, turns: object, *, date: str = "", title: str = "", names: tuple[str, ...] = ()
) -> Iterator[Item]:
    """Yield the document of a list of turns.

    Args:
        file: That has it.
        place: Where in the file.
        turns: A list of objects.
        date: The day of turns without one.
        title: Its title; by default its number in the file and the file's name.
        names: What tells it from others of its file: the first is its number.
    """
    values = turns if isinstance(turns, list) else ()
    spoken = [part for part in (_turn(value, date) for value in values) if part]
    passages = tuple(turn(number, *part) for number, part in enumerate(spoken))
    if not passages:
        yield Failure(place, "no turns with a text")
        return
    source = "#".join(filter(None, (source_of(file, passages[0].text), *names)))
    shown = title or f"{stem(file)} {names[0] if names else ''}".strip()
    first = next((passage.at for passage in passages if passage.at), "")
    speakers = list(dict.fromkeys(part[1] for part in spoken))
    meta = metadata([("date", date or first), ("speakers", speakers)])
    yield place, Document(source, shown, passages, LOADER, titled=False, meta=meta)


def read_slack(values: list[Any], place: str, file: File) -> Iterator[Item]:
    """Yield the document of a day of a channel of Slack."""
    left: Counter[str] = Counter()
    turns = chat_exports.slack(values, file, left)
    path = file.path if file.path and file.path.is_absolute() else None
    folder, day = (path.parent.name, path.stem) if path else ("", stem(file))
    if flaw := records.flaw(values):
        yield Failure(place, flaw)
    elif any(turn["text"].strip() for turn in turns):
        yield from session(file, place, turns, title=f"{folder} {day}".strip())
    else:
        yield Skipped(place, "no turns with a text")
    yield from left_out(file.name, left)


def _channel(value: Mapping[str, Any]) -> str:
    """Return the name of the channel or chat that was exported."""
    channel = value.get("channel")
    name = channel.get("name") if isinstance(channel, dict) else None
    return str(name or value.get("name") or "")


def _sessions(value: Mapping[str, Any], left: Counter[str]) -> Iterator[_Session]:
    if isinstance(conversation := value.get("conversation"), dict):
        for key, turns in conversation.items():
            if isinstance(turns, list):
                yield key, conversation.get(f"{key}_date_time"), turns
    elif isinstance(sessions := value.get("haystack_sessions"), list):
        names, dates = value.get("haystack_session_ids") or (), value.get("haystack_dates") or ()
        for number, (turns, key, date) in enumerate(zip_longest(sessions, names, dates), 1):
            yield str(key or f"session {number}"), date, turns
    elif isinstance(value.get("mapping"), dict):
        yield "", value.get("create_time"), list(chat_exports.chatgpt(dict(value), left))
    elif isinstance(value.get("chat_messages"), list):
        yield "", value.get("created_at"), list(chat_exports.claude(dict(value), left))
    elif isinstance(chats := _telegram_chats(value), list):
        for chat in chats:
            if isinstance(chat, dict) and isinstance(chat.get("messages"), list) and chat["messages"]:
                key = str(chat.get("name") or chat.get("id") or "")
                yield key, None, list(chat_exports.messages(chat["messages"], left))
    else:
        turns = value.get("messages") or value.get("turns")
        turns = turns if isinstance(turns, list) else []
        yield "", _first(value, _AT), list(chat_exports.messages(turns, left))


def _turn(value: object, day: str) -> tuple[str, str, str] | None:
    """Return text, speaker and time of a turn; None where it has no text."""
    if not isinstance(value, dict):
        return None
    speaker, content = _first(value, _SPEAKER), _first(value, _TEXT)
    while isinstance(speaker, dict):
        speaker = _first(speaker, _NAME)
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
