"""What programs for chats export as JSON, in the shape of `conversations`: Slack, ChatGPT, Claude, Discord,
Telegram and Teams.

Each function returns turns with `speaker`, `text` and `at`. What is no turn is counted: lines of the program,
attachments, answers that were not kept.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gsw_graph.loaders.files import File

_MOST = 64 * 1024 * 1024  # bytes of a list of users
_LINK = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_BOLD = re.compile(r"(?<![\w*])\*([^*\n]+)\*(?![\w*])|(?<!\w)_([^_\n]+)_(?!\w)")
_CODE = re.compile(r"(```[\s\S]*?```|`[^`\n]+`)")
_MARK = re.compile("\ue200[^\ue201]*\ue201|[\ue200-\ue206]")  # places of sources
_TAG = re.compile(r"<(/?)(\w+)[^<>]*>")
_SLACK_LISTS = frozenset(
    "users.json channels.json groups.json dms.json mpims.json integration_logs.json canvases.json".split()
)
# Subtypes of Slack that people wrote; others are lines of the program.
_WRITTEN = frozenset(("", "bot_message", "me_message", "file_share", "thread_broadcast", "file_comment"))
Turn = dict[str, Any]


def is_slack(values: list[Any]) -> bool:
    """Return whether a list holds the messages of a day of Slack."""
    return bool(values) and all(
        isinstance(value, dict) and value.get("type") == "message" and "ts" in value for value in values
    )


def is_slack_list(file: File) -> bool:
    """Return whether a file of a Slack export lists its users or channels."""
    return file.path is not None and file.path.name in _SLACK_LISTS


def slack(values: list[Turn], file: File, left: Counter[str]) -> list[Turn]:
    """Return the turns of a day of Slack, answers after what they answer."""
    names = _slack_names(file)
    known = {value["ts"] for value in values}
    turns = []
    for value in values:
        if str(value.get("subtype") or "") not in _WRITTEN:
            left["system line"] += 1
            continue
        files = value.get("files")
        left["attachment"] += len(files) if isinstance(files, list) else 0
        thread = value.get("thread_ts") if value.get("thread_ts") in known else value["ts"]
        text = _slack_text(_slack_source(value), names)
        speaker = _slack_speaker(value, names)
        turns.append({"speaker": speaker, "text": text, "at": value["ts"], "order": (thread, value["ts"])})
    return sorted(turns, key=lambda turn: [_number(ts) for ts in turn["order"]])


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return 0.0


def _slack_source(value: Turn) -> str:
    """Return the text of a message, or of what a bot attached."""
    parts = [str(value.get("text") or "")]
    if not parts[0].strip():
        attached = [part for part in value.get("attachments") or () if isinstance(part, dict)]
        parts = [str(part.get("text") or part.get("fallback") or "") for part in attached]
    return "\n".join(part for part in parts if part)


def _slack_names(file: File) -> dict[str, str]:
    """Return the names of the users of an export by their ids: its list is in the folder above."""
    if file.path is None or not file.path.is_absolute():
        return {}
    folder = file.path.parent
    names = {}
    for path in (folder.parent / "users.json", folder / "users.json"):
        for user in _read_list(path):
            profile = user.get("profile")
            names[str(user.get("id"))] = _slack_name(
                {**user, **(profile if isinstance(profile, dict) else {})}
            )
    return names


def _read_list(path: Path) -> list[Turn]:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST:
            return []
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def _slack_name(profile: Turn) -> str:
    names = (profile.get(key) for key in ("real_name", "display_name", "name"))
    return next((str(name) for name in names if name), "")


def _slack_speaker(value: Turn, names: Mapping[str, str]) -> str:
    user, profiles = str(value.get("user") or ""), (value.get("user_profile"), value.get("bot_profile"))
    known = [
        names.get(user, ""),
        *(_slack_name(profile) for profile in profiles if isinstance(profile, dict)),
    ]
    return next(filter(None, known), str(value.get("username") or user or value.get("bot_id") or ""))


def _slack_text(text: str, names: Mapping[str, str]) -> str:
    """Return a text with names for ids and without marks of emphasis, but for its code."""

    def name(match: re.Match[str]) -> str:
        kind, target, label = match.groups()
        if kind == "@":
            return names.get(target) or label or target
        if kind == "!":
            return label or f"@{target.partition('^')[0]}"
        return f"#{label or target}" if kind == "#" else label or target

    pieces = _CODE.split(text)
    for number in range(0, len(pieces), 2):
        plain = _LINK.sub(name, pieces[number])
        pieces[number] = _BOLD.sub(lambda match: match[1] or match[2], plain)
    return html.unescape("".join(pieces))


def chatgpt(value: Turn, left: Counter[str]) -> Iterator[Turn]:
    """Yield the turns of a chat with ChatGPT, along the branch that was kept."""
    nodes = value["mapping"]
    path: dict[str, Turn] = {}
    at = value.get("current_node") or _last_node(nodes)
    while isinstance(node := nodes.get(at), dict) and at not in path:
        path[at] = node
        at = node.get("parent")
    spoken = [
        node for node in nodes.values() if isinstance(node, dict) and _role(node) in ("user", "assistant")
    ]
    left["answer or question that was replaced"] += sum(node not in path.values() for node in spoken)
    for node in reversed(path.values()):
        message, role = node.get("message"), _role(node)
        if not message or role not in ("user", "assistant", "tool"):
            continue
        content = message.get("content")
        content = content if isinstance(content, dict) else {}
        hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
        spoken_text = content.get("content_type") in ("text", "multimodal_text")
        if role == "tool" or hidden or not spoken_text:
            left["message of a tool"] += not hidden
            continue
        parts = [part for part in content.get("parts") or () if part]
        texts = [part for part in parts if isinstance(part, str)]
        left["attachment"] += len(parts) - len(texts)
        text = _MARK.sub("", "\n".join(texts))
        yield {"speaker": role, "text": text, "at": message.get("create_time")}


def _role(node: Turn) -> str:
    author = (node.get("message") or {}).get("author")
    return str(author.get("role") or "") if isinstance(author, dict) else ""


def _last_node(nodes: Turn) -> str:
    """Return the end of the last branch."""
    children = {node.get("parent"): key for key, node in nodes.items() if isinstance(node, dict)}
    at, seen = None, set()
    while (below := children.get(at)) is not None and below not in seen:
        seen.add(below)
        at = below
    return at or ""


def claude(value: Turn, left: Counter[str]) -> Iterator[Turn]:
    """Yield the turns of a chat with Claude."""
    for message in value["chat_messages"]:
        if not isinstance(message, dict):
            continue
        parts = message.get("content")
        parts = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
        texts = [str(part.get("text") or "") for part in parts if part.get("type") == "text"]
        left["message of a tool"] += sum(str(part.get("type")).startswith("tool_") for part in parts)
        for key in ("attachments", "files"):
            left["attachment"] += len(message.get(key) or ())
        text = "\n".join(filter(None, texts)) or message.get("text")
        yield {"speaker": message.get("sender"), "text": text, "at": message.get("created_at")}


def messages(values: list[Any], left: Counter[str]) -> Iterator[Turn]:
    """Yield the turns of Discord, Telegram and Teams; those of others as they are."""
    for value in values:
        if not isinstance(value, dict):
            continue
        if _is_service(value):
            left["system line"] += 1
            continue
        for key in ("attachments", "stickers", "photo", "file"):
            there = value.get(key)
            left["attachment"] += len(there) if isinstance(there, list) else bool(there)
        body = value.get("body")
        if isinstance(body, dict):
            value = {**value, "text": _from_html(str(body.get("content") or ""), body.get("contentType"))}
        elif isinstance(text := value.get("text"), list):  # of Telegram: pieces of one text
            pieces = (piece.get("text") if isinstance(piece, dict) else piece for piece in text)
            value = {**value, "text": "".join(map(str, pieces))}
        yield value


def _is_service(value: Turn) -> bool:
    """Return whether a message is a line of the program: somebody joined, a call."""
    kind = value.get("type", value.get("messageType"))
    discord = "author" in value and "timestamp" in value and kind not in ("Default", "Reply")
    return kind in ("service", "systemEventMessage") or (
        discord and isinstance(kind, str) and kind[:1].isupper()
    )


def _from_html(text: str, kind: object) -> str:
    if str(kind).lower() != "html":
        return text
    blocks = ("p", "div", "br", "li", "tr")
    return html.unescape(_TAG.sub(lambda tag: "\n" if tag[2].lower() in blocks else "", text)).strip()
