"""Conversations: a session is a document, a turn a passage with its speaker and time.

Read are exports with a list of turns under `messages` or `turns`, and the shapes of LoCoMo (`conversation`
with `session_1`, `session_1_date_time` ...) and of LongMemEval (`haystack_sessions`). A turn has its text in
`text`, `content` or `message`, who said it under `speaker`, `role`, `author`, `sender`, `from`, `user` or
`name`, and when under `at`, `date`, `time`, `timestamp`, `ts`, `created_at` or `create_time`. `chat_exports`
knows the shapes of Slack, ChatGPT, Claude, Discord, Telegram and Teams, `whatsapp` its lines of text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timezone
from itertools import zip_longest
from typing import Any

from gsw_graph.loaders import chat_exports, records
from gsw_graph.loaders.chat_exports import first
from gsw_graph.loaders.files import File, Items, LeftOut, Record, left_out
from gsw_graph.loaders.text import source_of, stem
from gsw_graph.model.documents import Document, Failure, Passage, Skipped, date_of, metadata
from gsw_graph.values import Fields, single_spaced, unique

LOADER = "conversation"
_TEXT = ("text", "content", "message", "parts", "body")
_SPEAKER = ("speaker", "role", "author", "sender", "from", "user", "name")
_AT = ("at", "date", "time", "timestamp", "ts", "created_at", "create_time", "createdDateTime")
_UNIQUE = ("uuid", "conversation_id")
_NAME = ("nickname", "displayName", "name", "role", "user", "application")
_Session = tuple[str, object, object]  # its name, its date and its turns


def turn(position: int, text: str, speaker: str = "", at: str = "") -> Passage:
    """Return a turn as the passage that is searched and read, which begins with who and when."""
    lead = speaker
    if at:
        lead = f"{speaker} ({at[:10]})".strip()
    if lead:
        text = f"{lead}: {text}"
    return Passage(text, "", position, speaker=speaker, at=at)


def is_conversation(value: Fields) -> bool:
    """Return whether an object holds turns."""
    for key in ("messages", "turns", "haystack_sessions", "chat_messages"):
        if isinstance(value.get(key), list):
            return True
    for key in ("conversation", "mapping"):
        if isinstance(value.get(key), dict):
            return True
    return isinstance(first(value.get("chats"), ("list",)), list)


def read(record: Record) -> Items:
    """Yield a document for each session, and the omissions."""
    value = record.value
    name = ""
    for key in ("sample_id", "question_id", *_UNIQUE, "id"):
        if key in value:
            name = str(value[key])
            break
    number = record.number
    if not value.keys().isdisjoint(_UNIQUE):
        number = ""  # an id of its own stays when the file grows, its number does not
    channel = first(value.get("channel"), ("name",)) or value.get("name")
    left: LeftOut = Counter()
    flaw = records.flaw(value)
    for key, date, turns in _sessions(value, left):
        place = f"{record.place}: {key}" if key else record.place
        if flaw:
            yield Failure(place, flaw)
            continue
        title = str(value.get("title") or key or channel or name)
        names = (number, name, key)
        yield from session(record.file, place, turns, date=_time(date), title=title, names=names)
    yield from left_out(record.file.name, left)


def session(
    file: File, place: str, turns: object, *, date: str = "", title: str = "", names: tuple[str, ...] = ("",)
) -> Items:
    """Yield the document of a list of turns.

    Args:
        file: That has it.
        place: Where in the file.
        turns: A list of objects.
        date: The day of turns without one.
        title: Its title; by default its number in the file and the file's name.
        names: What tells it from others of its file: the first is its number.
    """
    passages: list[Passage] = []
    for value in chat_exports.objects(turns):
        text, speaker, at = _turn(value)
        if text:
            passages.append(turn(len(passages), text, speaker, at or date))
    if not passages:
        yield Failure(place, "no turns with a text")
        return
    source = source_of(file, passages[0].text)
    for name in filter(None, names):
        source = f"{source}#{name}"
    shown = title or f"{stem(file)} {names[0]}".strip()
    yield place, document(source, shown, passages, date)


def document(source: str, title: str, passages: list[Passage], date: str = "") -> Document:
    """Return the document of turns, with its speakers and its date: by default that of the first turn."""
    speakers = unique(passage.speaker for passage in passages)
    for passage in passages:
        date = date or passage.at
    meta = metadata([("date", date), ("speakers", speakers)])
    return Document(source, title, tuple(passages), LOADER, titled=False, meta=meta)


def read_slack(values: list[Any], place: str, file: File) -> Items:
    """Yield the document of a day of a channel of Slack."""
    left: LeftOut = Counter()
    turns = chat_exports.slack(values, file, left)
    title = stem(file)
    if file.path and file.path.is_absolute():
        title = f"{file.path.parent.name} {file.path.stem}".strip()
    if flaw := records.flaw(values):
        yield Failure(place, flaw)
    elif any(turn["text"].strip() for turn in turns):
        yield from session(file, place, turns, title=title)
    else:
        yield Skipped(place, "no turns with a text")
    yield from left_out(file.name, left)


def _sessions(value: Fields, left: LeftOut) -> Iterator[_Session]:
    conversation = value.get("conversation")
    sessions = value.get("haystack_sessions")
    chats = first(value.get("chats"), ("list",))
    if isinstance(conversation, dict):
        for key, turns in conversation.items():
            if isinstance(turns, list):
                yield key, conversation.get(f"{key}_date_time"), turns
    elif isinstance(sessions, list):
        names = value.get("haystack_session_ids") or ()
        dates = value.get("haystack_dates") or ()
        for number, (turns, key, date) in enumerate(zip_longest(sessions, names, dates), 1):
            yield str(key or f"session {number}"), date, turns
    elif isinstance(value.get("mapping"), dict):
        yield "", value.get("create_time"), list(chat_exports.chatgpt(dict(value), left))
    elif isinstance(value.get("chat_messages"), list):
        yield "", value.get("created_at"), list(chat_exports.claude(dict(value), left))
    elif isinstance(chats, list):
        for chat in chat_exports.objects(chats):
            if chat_exports.objects(chat.get("messages")):
                name = str(chat.get("name") or chat.get("id") or "")
                yield name, None, list(chat_exports.messages(chat["messages"], left))
    else:
        written = value.get("messages") or value.get("turns")
        yield "", first(value, _AT), list(chat_exports.messages(written, left))


def _turn(value: Fields) -> tuple[str, str, str]:
    """Return text, speaker and time of a turn, "" for what it does not have."""
    speaker = first(value, _SPEAKER)
    content = first(value, _TEXT)
    if not isinstance(content, list):
        content = [content]
    while isinstance(speaker, dict):
        speaker = first(speaker, _NAME)
    texts = []
    for part in content:
        if isinstance(part, dict):
            part = part.get("text")
        if isinstance(part, str):
            texts.append(part)
    name = single_spaced(str(speaker or ""))
    return "\n".join(texts).strip(), name, _time(first(value, _AT))


def _time(value: object) -> str:
    """Return a time as ISO writes it: of a text, or of seconds since 1970."""
    text = str(value or "").replace("/", "-").replace(",", "")
    try:
        moment = datetime.fromtimestamp(float(text), timezone.utc)
    except (ValueError, OverflowError, OSError):
        return date_of(text) or ""
    return moment.isoformat(timespec="minutes")[:16]
