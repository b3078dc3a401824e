"""What is done for models too small for the long prompts, and for servers that work on few calls at once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from model_server import ModelServer, RawServer, error, ok

from gsw_graph.config import Settings
from gsw_graph.errors import InvalidReplyError
from gsw_graph.extract.llm import check, request
from gsw_graph.memory import Memory
from gsw_graph.model.documents import Document, Passage
from gsw_graph.models.chat.chat import Chat
from gsw_graph.models.prompts import prompt

TOWNS = ("Arles", "Basel", "Cadiz", "Derby")
DOCUMENT = Document(
    "a.md",
    "",
    tuple(Passage(f"Then Ana Ruiz went to {town}.", "", n) for n, town in enumerate(TOWNS)),
    "test",
)
SOUND = {"entities": [{"name": "Ana Ruiz", "roles": []}], "verb_phrases": [], "propositions": []}
ECHO = {"entities": [{"name": "Stone Pier", "roles": []}], "verb_phrases": [], "propositions": []}


def said(body):
    return str(body["messages"][0]["content"])


def is_short(body):
    return said(body).startswith(prompt("extract_short"))


def read(chat):
    """Which passages the model could read."""
    found = []
    for at in range(len(TOWNS)):
        try:
            chat.ask(request(DOCUMENT, at), check(DOCUMENT, at))
            found.append(True)
        except InvalidReplyError:
            found.append(False)
    return found


def small(_, body):
    """Understands the short prompt alone."""
    return ok(SOUND if is_short(body) else ECHO)


@pytest.mark.parametrize(("which", "came"), [("short", [True] * 4), ("long", [False] * 4)])
def test_the_setting_decides(which, came, tmp_path):
    with RawServer(small) as server, Chat.open(server.settings(tmp_path, llm_prompt=which)) as chat:
        assert read(chat) == came
        assert {is_short(body) for body in server.bodies} == {which == "short"}
        assert chat.known(request(DOCUMENT, 0)) is came[0]


def test_the_short_prompt_says_what_to_do_after_the_passage():
    short = request(DOCUMENT, 0).short
    assert short is not None
    assert len(short.messages[0]["content"]) < 200
    assert short.messages[1]["content"].rsplit(">>>", 1)[1].strip().startswith("Write that passage down")
    assert short.limit <= request(DOCUMENT, 0).limit


def test_doctor_says_what_a_server_says(fake_embedder, tmp_path):
    with RawServer(lambda *_: error(401, "no such key")) as server:
        with Memory.open(
            settings=replace(server.settings(tmp_path / "cache"), memory=str(tmp_path / "memory"))
        ) as memory:
            (finding,) = [one for one in memory.doctor() if one.check == "language_model"]
        assert not finding.ok
        assert "refused the key" in finding.result


def test_doctor_without_a_model_asks_none(fake_embedder, tmp_path):
    with (
        ModelServer([]) as server,
        Memory.open(settings=Settings(memory=str(tmp_path / "memory"), llm_url=server.url)) as memory,
    ):
        assert "language model" not in {finding.check for finding in memory.doctor()}
        assert server.count() == 0
