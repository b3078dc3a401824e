"""Chats as programs export them: WhatsApp in the languages of phones, Slack, ChatGPT, Claude, Discord, Telegram, Teams."""

from __future__ import annotations

import json

import pytest
from samples import cases

from gsw_graph.loaders import read
from gsw_graph.model.documents import Document, Skipped


def load(path):
    items = list(read([str(path)]))
    documents = [item for item in items if isinstance(item, Document)]
    others = [item for item in items if not isinstance(item, Document)]
    assert all(isinstance(item, Skipped) for item in others), others
    return documents, [item.reason for item in others if isinstance(item, Skipped)]


def turns(document):
    assert document.loader == "conversation"
    lead = [len(f"{passage.speaker} ({passage.at[:10]}): ") for passage in document.passages]
    return [
        (passage.speaker, passage.at[:16], passage.text[n:])
        for n, passage in zip(lead, document.passages, strict=True)
    ]


def written(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


FIRST = ("Ana Ruiz", "2024-03-05T17:46", "Bo built it.")
SECOND = ("Bo Lind", "2024-03-06T08:05", "No:\nIda did.")


@pytest.mark.parametrize(
    "heads",
    cases(__file__, "case_38_whatsapp_in_the_languages_of_phones", tuples=True),
)
def test_case_38_whatsapp_in_the_languages_of_phones(tmp_path, heads):
    first, second = heads
    chat = (
        f'{first}Messages are encrypted.\n{first}Ana Ruiz: Bo built it.\n{first}Ana Ruiz changed the group name from "Mill" to "Plan: Rome"\n'
        f"{first}Ana Ruiz changed the description of this group: Rome\n{second}Bo Lind: No:\nIda did.\n{second}Bo Lind: <Media omitted>\n"
        f"{second}Bo Lind: \u200eimage omitted\n{second}Bo Lind: IMG-1.jpg (Datei angehängt)\n"
    )
    (document,), left_out = load(written(tmp_path / "chat.txt", chat))
    assert turns(document) == [FIRST, SECOND]
    assert document.meta["speakers"] == ["Ana Ruiz", "Bo Lind"]
    assert left_out == ["2 attachments, 1 attachment or system line, 3 system lines"]


def test_the_lines_of_a_log_are_no_chat(tmp_path):
    log = "2024-03-05 17:46 - INFO: started\n2024-03-05 17:47 - ERROR: stopped\n"
    assert load(written(tmp_path / "a.txt", log))[0][0].loader == "text"


USERS = [
    {"id": "U1", "name": "ana", "profile": {"real_name": "Ana Ruiz"}},
    {"id": "U2", "name": "bo", "real_name": "Bo Lind", "profile": {}},
]
SLACK = [
    {
        "type": "message",
        "user": "U1",
        "text": "<@U2> see <https://x.y|the *plan*> in <#C1|mill> &amp; `*code*`",
        "ts": "1709629200.0001",
        "thread_ts": "1709629200.0001",
    },
    {"type": "message", "user": "U2", "text": "ok", "ts": "1709629260.0001", "files": [{"name": "a.png"}]},
    {
        "type": "message",
        "user": "U1",
        "text": "*Bo* built it.",
        "ts": "1709629320.0001",
        "thread_ts": "1709629200.0001",
        "edited": {"user": "U1"},
    },
    {"type": "message", "user": "U1", "text": "ok", "ts": "1709629380.0001"},
    {
        "type": "message",
        "subtype": "bot_message",
        "username": "Clock",
        "text": "",
        "attachments": [{"text": "It is noon."}],
        "ts": "1709629440.0001",
    },
    {
        "type": "message",
        "subtype": "channel_join",
        "user": "U2",
        "text": "<@U2> has joined",
        "ts": "1709629500.0001",
    },
]


def test_case_39_slack(tmp_path):
    for name, value in {
        "users.json": USERS,
        "channels.json": [{"id": "C1", "name": "mill"}],
        "mill/2024-03-05.json": SLACK,
    }.items():
        written(tmp_path / name, value)
    (document,), left_out = load(tmp_path)
    assert document.title == "mill 2024-03-05"
    assert turns(document) == [
        ("Ana Ruiz", "2024-03-05T09:00", "Bo Lind see the plan in #mill & `*code*`"),
        ("Ana Ruiz", "2024-03-05T09:02", "Bo built it."),
        ("Bo Lind", "2024-03-05T09:01", "ok"),
        ("Ana Ruiz", "2024-03-05T09:03", "ok"),
        ("Clock", "2024-03-05T09:04", "It is noon."),
    ]
    assert [reason for reason in left_out if "Slack" not in reason] == ["1 attachment, 1 system line"]


def node(role, *parts, parent=None, kind="text", **message):
    return {
        "parent": parent,
        "message": {
            "author": {"role": role},
            "create_time": 1709629200.5,
            "content": {"content_type": kind, "parts": list(parts)},
            **message,
        },
    }


def test_case_39_chatgpt_follows_the_branch_that_was_kept(tmp_path):
    mapping = {
        "root": {"parent": None, "message": None},
        "s": node("system", "Be kind.", parent="root"),
        "h": node("user", "About me.", parent="s", metadata={"is_visually_hidden_from_conversation": True}),
        "q": node(
            "user",
            "Who built it?",
            {"content_type": "image_asset_pointer"},
            parent="h",
            kind="multimodal_text",
        ),
        "old": node("assistant", "Ida.", parent="q"),
        "tool": node("tool", "result", parent="q"),
        "new": node("assistant", "Bo.\ue200cite\ue202turn0\ue201", parent="tool"),
    }
    chats = [
        {
            "title": "Mill",
            "conversation_id": "c",
            "create_time": 1,
            "current_node": "new",
            "mapping": mapping,
        },
        {"title": "Two", "id": "d", "mapping": {"a": node("user", "Hi.")}, "current_node": "a"},
    ]
    (document, second), left_out = load(written(tmp_path / "conversations.json", chats))
    assert document.title == "Mill"
    assert document.source == f"{tmp_path}/conversations.json#c"
    assert second.title == "Two"
    assert turns(document) == [
        ("user", "2024-03-05T09:00", "Who built it?"),
        ("assistant", "2024-03-05T09:00", "Bo."),
    ]
    assert left_out == ["1 answer or question that was replaced, 1 attachment, 1 message of a tool"]


def test_case_39_claude(tmp_path):
    parts = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Bo."},
        {"type": "tool_use", "name": "x"},
    ]
    messages = [
        {
            "sender": "human",
            "text": "Who built it?",
            "created_at": "2024-03-05T09:00:05Z",
            "attachments": [{"file_name": "a"}],
        },
        {"sender": "assistant", "text": "", "content": parts, "created_at": "2024-03-05T09:01:05Z"},
    ]
    (document,), left_out = load(
        written(
            tmp_path / "a.json",
            [{"uuid": "c", "name": "Mill", "created_at": "2024-03-05T09:00:00Z", "chat_messages": messages}],
        )
    )
    assert document.title == "Mill"
    assert document.source == f"{tmp_path}/a.json#c"
    assert turns(document) == [
        ("human", "2024-03-05T09:00", "Who built it?"),
        ("assistant", "2024-03-05T09:01", "Bo."),
    ]
    assert left_out == ["1 attachment, 1 message of a tool"]


TELEGRAM = [
    {"id": 1, "type": "service", "actor": "Ana", "action": "create_group"},
    {
        "id": 2,
        "type": "message",
        "date": "2024-03-05T09:00:00",
        "from": "Ana Ruiz",
        "text": ["See ", {"type": "bold", "text": "Bo"}, "."],
        "photo": "a.jpg",
    },
]
DISCORD = [
    {
        "id": "1",
        "type": "Default",
        "timestamp": "2024-03-05T09:00:00+00:00",
        "content": "See Bo.",
        "author": {"name": "ana", "nickname": "Ana Ruiz"},
        "attachments": [{}],
    },
    {
        "id": "2",
        "type": "GuildMemberJoin",
        "timestamp": "2024-03-05T09:00:00+00:00",
        "content": "Joined.",
        "author": {"name": "ana"},
    },
]
TEAMS = [
    {
        "messageType": "message",
        "createdDateTime": "2024-03-05T09:00:00Z",
        "from": {"user": {"displayName": "Ana Ruiz"}},
        "body": {"contentType": "html", "content": "<p>See <b>Bo</b>.</p>"},
        "attachments": [{}],
    },
    {
        "messageType": "systemEventMessage",
        "createdDateTime": "2024-03-05T09:00:00Z",
        "from": None,
        "body": {"content": "<x/>"},
    },
]


@pytest.mark.parametrize(
    ("value", "title"),
    cases(__file__, "case_39_messages_of_other_programs"),
)
def test_case_39_messages_of_other_programs(tmp_path, value, title):
    (document,), left_out = load(written(tmp_path / "a.json", value))
    assert document.title == title
    assert turns(document) == [("Ana Ruiz", "2024-03-05T09:00", "See Bo.")]
    assert left_out == ["1 attachment, 1 system line"]
