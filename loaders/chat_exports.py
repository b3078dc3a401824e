"""What programs for chats export as JSON, in the shape of `conversations`: Slack, ChatGPT, Claude, Discord,
Telegram and Teams.

Each function returns turns with `speaker`, `text` and `at`. What is no turn is counted: lines of the program,
attachments, answers that were not kept.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gsw_graph.loaders.files import File, LeftOut
from gsw_graph.values import Fields, word_set

_MOST = 64 * 1024 * 1024  # bytes of a list of users
_LINK = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_BOLD = re.compile(r"(?<![\w*])\*([^*\n]+)\*(?![\w*])|(?<!\w)_([^_\n]+)_(?!\w)")
_CODE = re.compile(r"(```[\s\S]*?```|`[^`\n]+`)")
_MARK = re.compile("\ue200[^\ue201]*\ue201|[\ue200-\ue206]")  # places of sources
_TAG = re.compile(r"</?\w+[^<>]*>")
_LINE_END = re.compile(r"</?(?:p|div|br|li|tr)\b[^<>]*>", re.IGNORECASE)
_SLACK_NAMES = ("real_name", "display_name", "name")
_PEOPLE = ("user", "assistant")
_SLACK_LISTS = word_set(
    "users.json channels.json groups.json dms.json mpims.json integration_logs.json canvases.json"
)
# Subtypes of Slack that people wrote; others are lines of the program.
_WRITTEN = frozenset(("", "bot_message", "me_message", "file_share", "thread_broadcast", "file_comment"))
Turn = Fields


def objects(values: object) -> list[Turn]:
    """Return the objects of a list; none if it is not a list."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def first(value: object, keys: Iterable[str]) -> Any:
    """Return the first of some keys of an object that says something."""
    if isinstance(value, dict):
        for key in keys:
            if value.get(key) not in (None, ""):
                return value[key]
    return None


# --- Slack ---


def is_slack(values: list[Any]) -> bool:
    """Return whether a list holds the messages of a day of Slack."""
    messages = [value for value in objects(values) if value.get("type") == "message" and "ts" in value]
    return 0 < len(values) == len(messages)


def is_slack_list(file: File) -> bool:
    """Return whether a file of a Slack export lists its users or channels."""
    return file.path is not None and file.path.name in _SLACK_LISTS


def slack(values: list[Turn], file: File, left: LeftOut) -> list[Turn]:
    """Return the turns of a day of Slack, each reply after its message."""
    names = _slack_names(file)
    known = {value["ts"] for value in values}
    turns = []
    for value in values:
        if str(value.get("subtype") or "") not in _WRITTEN:
            left["system line"] += 1
            continue
        left["attachment"] += _count(value.get("files"))
        user = str(value.get("user") or "")
        speaker = names.get(user) or first(value.get("user_profile"), _SLACK_NAMES)
        speaker = speaker or first(value.get("bot_profile"), _SLACK_NAMES)
        speaker = speaker or first(value, ("username", "user", "bot_id"))
        text = str(value.get("text") or "")
        if not text.strip():  # what a bot attached
            attached = objects(value.get("attachments"))
            texts = [first(part, ("text", "fallback")) for part in attached]
            text = "\n".join(map(str, filter(None, texts)))
        at = value["ts"]
        thread = value.get("thread_ts")
        if thread not in known:
            thread = at
        order = _number(thread), _number(at)
        turns.append({"speaker": speaker, "text": _slack_text(text, names), "at": at, "order": order})
    return sorted(turns, key=lambda turn: turn["order"])


def _count(there: object) -> int:
    return len(there) if isinstance(there, list) else int(bool(there))


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return 0.0


def _slack_names(file: File) -> dict[str, str]:
    """Return the names of the users of an export by their ids: its list is in the folder above."""
    names: dict[str, str] = {}
    if file.path is None or not file.path.is_absolute():
        return names
    folder = file.path.parent
    for path in (folder.parent / "users.json", folder / "users.json"):
        for user in _read_list(path):
            profile = user.get("profile")
            if isinstance(profile, dict):
                user = {**user, **profile}
            names[str(user.get("id"))] = str(first(user, _SLACK_NAMES) or "")
    return names


def _read_list(path: Path) -> list[Turn]:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST:
            return []
        return objects(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return []


def _slack_text(text: str, names: Mapping[str, str]) -> str:
    """Return a text with names for ids and without marks of emphasis, but for its code."""

    def name(match: re.Match[str]) -> str:
        kind, target, label = match.groups()
        if kind == "@":
            return names.get(target) or label or target
        if kind == "!":
            return label or f"@{target.partition('^')[0]}"
        return f"{kind}{label or target}"

    pieces = _CODE.split(text)
    for number in range(0, len(pieces), 2):
        plain = _LINK.sub(name, pieces[number])
        pieces[number] = _BOLD.sub(r"\1\2", plain)
    return html.unescape("".join(pieces))


# --- ChatGPT and Claude ---


def chatgpt(value: Turn, left: LeftOut) -> Iterator[Turn]:
    """Yield the turns of a chat with ChatGPT, along the branch that was kept."""
    nodes = {key: node for key, node in value["mapping"].items() if isinstance(node, dict)}
    path: dict[str, None] = {}  # in order, and found at once
    at = value.get("current_node") or _last_node(nodes)
    while at in nodes and at not in path:
        path[at] = None
        at = nodes[at].get("parent")
    for key, node in nodes.items():
        left["answer or question that was replaced"] += key not in path and _role(node) in _PEOPLE
    for key in reversed(path):
        message, role = nodes[key].get("message") or {}, _role(nodes[key])
        if role not in (*_PEOPLE, "tool"):
            continue
        content: Any = message.get("content")
        kind = first(content, ("content_type",))
        if first(message.get("metadata"), ("is_visually_hidden_from_conversation",)):
            continue
        if role == "tool" or kind not in ("text", "multimodal_text"):
            left["message of a tool"] += 1
            continue
        parts = list(filter(None, content.get("parts") or ()))
        texts = [part for part in parts if isinstance(part, str)]
        left["attachment"] += len(parts) - len(texts)
        yield {"speaker": role, "text": _MARK.sub("", "\n".join(texts)), "at": message.get("create_time")}


def _role(node: Turn) -> str:
    message = node.get("message")
    author = message.get("author") if isinstance(message, dict) else None
    return str(first(author, ("role",)) or "")


def _last_node(nodes: Turn) -> str:
    """Return the end of the last branch."""
    children = {node.get("parent"): key for key, node in nodes.items()}
    at, below = "", children.pop(None, None)
    while below is not None:
        at = below
        below = children.pop(at, None)
    return at


def claude(value: Turn, left: LeftOut) -> Iterator[Turn]:
    """Yield the turns of a chat with Claude."""
    for message in objects(value["chat_messages"]):
        texts = []
        for part in objects(message.get("content")):
            kind = str(part.get("type"))
            if kind == "text":
                texts.append(str(part.get("text") or ""))
            left["message of a tool"] += kind.startswith("tool_")
        left["attachment"] += _count(message.get("attachments")) + _count(message.get("files"))
        text = "\n".join(filter(None, texts)) or message.get("text")
        yield {"speaker": message.get("sender"), "text": text, "at": message.get("created_at")}


# --- others ---


def messages(values: object, left: LeftOut) -> Iterator[Turn]:
    """Yield the turns of Discord, Telegram and Teams; turns of others unchanged."""
    for value in objects(values):
        if _is_service(value):
            left["system line"] += 1
            continue
        for key in ("attachments", "stickers", "photo", "file"):
            left["attachment"] += _count(value.get(key))
        body, text = value.get("body"), value.get("text")
        if isinstance(body, dict):
            text = str(body.get("content") or "")
            if str(body.get("contentType")).lower() == "html":
                text = html.unescape(_TAG.sub("", _LINE_END.sub("\n", text))).strip()
        elif isinstance(text, list):  # of Telegram: pieces of one text
            pieces = [piece.get("text") if isinstance(piece, dict) else piece for piece in text]
            text = "".join(map(str, pieces))
        yield {**value, "text": text}


def _is_service(value: Turn) -> bool:
    """Return whether a message is a line of the program: somebody joined, a call."""
    kind = value.get("type", value.get("messageType"))
    if kind in ("service", "systemEventMessage"):
        return True
    if "author" not in value or "timestamp" not in value or not isinstance(kind, str):
        return False  # no message of Discord
    return kind not in ("Default", "Reply") and kind[:1].isupper()
