"""Conversations: turns are added one at a time or come from exports, and are found by who said what and when."""

from __future__ import annotations

from datetime import date, datetime, timezone

import pytest

from gsw_graph.errors import InputError
from gsw_graph.loaders import read
from gsw_graph.model.documents import Document, Skipped


def turns(document):
    return [(passage.text, passage.speaker, passage.at) for passage in document.passages]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            "[01.05.24, 10:00:00] Ana: I moved to Malmö.\nAt last.\n\u200e[01.05.24, 10:01:00] Ben: Nice!\n",
            [
                ("Ana (2024-05-01): I moved to Malmö.\nAt last.", "Ana", "2024-05-01T10:00"),
                ("Ben (2024-05-01): Nice!", "Ben", "2024-05-01T10:01"),
            ],
        ),
        (
            "13/05/2024, 09:59 - Messages are encrypted.\n13/05/2024, 10:00 - Ana Ruiz: Hi: you\n02/06/2024, 22:01 - +46 70 123: Nice",
            [
                ("Ana Ruiz (2024-05-13): Hi: you", "Ana Ruiz", "2024-05-13T10:00"),
                ("+46 70 123 (2024-06-02): Nice", "+46 70 123", "2024-06-02T22:01"),
            ],
        ),
        (
            "5/1/24, 12:05\u202fAM - Ana: Hi\n5/2/24, 1:10 PM - Ben: Ho\n",
            [
                ("Ana (2024-05-01): Hi", "Ana", "2024-05-01T00:05"),
                ("Ben (2024-05-02): Ho", "Ben", "2024-05-02T13:10"),
            ],
        ),
        (
            "2024-05-01, 10:00 - Ana: Hi\n2024-13-41, 10:00 - Ben: Ho\n",
            [("Ana (2024-05-01): Hi", "Ana", "2024-05-01T10:00"), ("Ben: Ho", "Ben", "")],
        ),
    ],
)
def test_a_chat_of_whatsapp_is_a_session_of_turns(tmp_path, lines, expected):
    (tmp_path / "chat.txt").write_text(lines, encoding="utf-8")
    chat, *left_out = read([str(tmp_path / "chat.txt")])
    assert isinstance(chat, Document)
    assert [item.reason for item in left_out if isinstance(item, Skipped)] == ["1 system line"] * (
        "encrypted" in lines
    )
    assert chat.loader == "conversation"
    assert chat.title == "chat"
    assert turns(chat) == expected


def test_turns_are_added_and_found_by_the_next_question(memory):
    memory.add(
        "I moved to Vellmouth with Otto Brandt.", speaker="Ana Ruiz", session="trip", at="2024-05-01T10:00"
    )
    memory.add("Otto Brandt keeps the Old Light.", speaker="Bo Lind", session="trip", at="2024-05-02")
    id_ = memory.add("Otto Brandt was ill.", session="other")
    shown = memory.show("session:trip")
    assert [passage.text for passage in shown.passages] == [
        "Ana Ruiz (2024-05-01): I moved to Vellmouth with Otto Brandt.",
        "Bo Lind (2024-05-02): Otto Brandt keeps the Old Light.",
    ]
    assert shown.document.about == "2024-05-01"
    assert shown.document.loader == "conversation"
    rows = memory.cypher(
        "MATCH (a:Passage)-[:NEXT]->(b:Passage) RETURN a.speaker AS a, b.speaker AS b, b.at AS at"
    ).rows
    assert rows == [{"a": "Ana Ruiz", "b": "Bo Lind", "at": "2024-05-02"}]
    found = memory.ask("Who keeps the Old Light?", strategy="linked", k=1, llm=False).passages
    assert [passage.source for passage in found] == ["session:trip"]
    assert memory.show(id_).passages[0].text.endswith("): Otto Brandt was ill.")
    assert [finding.name for finding in memory.doctor(deep=True) if not finding.ok] == []
    assert [(passage.title, passage.speaker, passage.at) for passage in found] == [
        ("trip", "Bo Lind", "2024-05-02")
    ]
    assert shown.document.meta["speakers"] == ["Ana Ruiz", "Bo Lind"]
    for since, count in (("2024-05-02", 1), ("2024-05-01", 2)):  # the turn's day, not the session's
        assert (
            len(
                memory.ask(
                    "Where is Otto Brandt?", strategy="dense", since=since, until="2024-05-02", llm=False
                ).passages
            )
            == count
        )
    memory.forget("session:trip")
    assert memory.status().nodes["Document"] == 1
    with pytest.raises(InputError, match="needs a text"):
        memory.add(" ")


def test_the_time_of_a_turn_is_a_date_or_written_as_one(memory):
    times = (
        date(2024, 5, 1),
        datetime(2024, 5, 1, 10),
        datetime(2024, 5, 1, 10, tzinfo=timezone.utc),
        "2024-05-01 10:00",
        "2024-05-01T10:00:00Z",
        " 2024-05-01 ",
    )
    for at in times:
        memory.add("I moved to Vellmouth.", session="trip", at=at)
    rows = memory.cypher(
        "MATCH (p:Passage) RETURN p.at AS at, p.text STARTS WITH '(2024-05-01)' AS lead ORDER BY p.position"
    ).rows
    assert [row["at"] for row in rows] == [
        "2024-05-01",
        "2024-05-01T10:00:00",
        "2024-05-01T10:00:00+00:00",
        "2024-05-01T10:00:00",
        "2024-05-01T10:00:00+00:00",
        "2024-05-01",
    ]
    assert all(row["lead"] for row in rows)
    assert "speakers" not in memory.show("session:trip").document.meta
    for at in ("yesterday", "2024-13-01"):
        with pytest.raises(InputError, match=f"'{at}' is no date") as error:
            memory.add("I moved.", session="trip", at=at)
        assert "2026-03-09" in str(error.value.hint)
