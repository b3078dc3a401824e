"""What Neo4j Browser is given: links, the style, the drawing queries; and the password, which goes nowhere else."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from urllib.request import url2pathname

import pytest
from click.testing import CliRunner

from gsw_graph.cli import graph, main
from gsw_graph.config import Settings
from gsw_graph.cypher import LABELS, TYPES
from gsw_graph.engine import local
from gsw_graph.errors import EngineError
from gsw_graph.explore import browser
from gsw_graph.explore.picture.picture import COLOURS

PASSWORD = "0123456789abcdef"
PLACE = browser.BrowserAddress("http://127.0.0.1:7474/browser/", "bolt://neo4j@127.0.0.1:7687", "neo4j")


@pytest.fixture
def private(tmp_path, monkeypatch):
    """A private server that seems to run."""
    (tmp_path / "password").write_text(PASSWORD)
    server = local.LocalServer(
        version="5.26",
        release="5.26.30",
        running=True,
        url="bolt://127.0.0.1:17001",
        browser="http://127.0.0.1:17002/browser/?dbms=bolt://neo4j@127.0.0.1:17001",
        username="neo4j",
        password_file=tmp_path / "password",
        home=tmp_path,
        by="maven",
        pid=1,
    )
    monkeypatch.setattr(local, "status", lambda settings, version=None: [server])
    monkeypatch.setattr(browser, "open_page", lambda url: False)
    return server


def test_a_link_carries_a_query_whole():
    query = "MATCH (n)\nWHERE n.name = 'a + 100 %' // why?\nRETURN n"
    told = parse_qs(urlsplit(PLACE.link(query)).query, strict_parsing=True)
    assert told == {"dbms": ["bolt://neo4j@127.0.0.1:7687"], "db": ["neo4j"], "cmd": ["edit"], "arg": [query]}
    assert "+" not in PLACE.link(query), "Browser reads a plus as a space"


@pytest.mark.parametrize(
    ("memory", "page", "dbms"),
    [
        ("bolt://127.0.0.1:17001", "http://127.0.0.1:17002/browser/", "bolt://neo4j@127.0.0.1:17001"),
        ("bolt://localhost:7687", "http://localhost:7474/browser/", "bolt://neo4j@localhost:7687"),
        (
            "neo4j://me:secret@db.example.org",
            "http://db.example.org:7474/browser/",
            "neo4j://me@db.example.org:7687",
        ),
        (
            "neo4j+s://db.example.org",
            "https://db.example.org:7473/browser/",
            "neo4j+s://neo4j@db.example.org:7687",
        ),
        (
            "neo4j+s://ab12.databases.neo4j.io",
            "https://browser.neo4j.io/",
            "neo4j+s://neo4j@ab12.databases.neo4j.io:7687",
        ),
        ("bolt://[::1]:7688", "http://[::1]:7474/browser/", "bolt://neo4j@[::1]:7688"),
    ],
)
def test_where_browser_of_a_server_is(private, memory, page, dbms):
    place = browser.find(Settings(memory=memory))
    assert place.page == page
    assert place.dbms == dbms
    assert "secret" not in place.link("RETURN 1")


def test_a_folder_has_no_browser(tmp_path):
    with pytest.raises(EngineError, match=r"no Neo4j Browser.*gswgraph db start"):
        browser.find(Settings(memory=str(tmp_path)))


def test_the_style_has_every_label_in_the_colours_of_the_pictures():
    rules = local.style()
    found = {
        name.removeprefix("node."): rule["color"] for name, rule in rules.items() if name.startswith("node.")
    }
    assert found == COLOURS
    assert rules["relationship.USED"]["caption"] == "{hop}"
    command, _, rest = local.after_login().rpartition("; ")
    assert rest == "clear"
    assert ";" not in command, "a semicolon ends a command"
    assert json.loads(command.removeprefix("style ")) == rules


def test_the_style_knows_the_labels_of_named_memories(tmp_path):
    rules = local.style(["handbook"])
    for label in LABELS:
        assert rules[f"node.{label}__handbook"] == rules[f"node.{label}"]
    for kind in TYPES:
        caption = rules[f"relationship.{kind}__handbook"]["caption"]
        assert caption == ("{hop}" if kind == "USED" else kind)
    assert set(local.style()) < set(rules)
    sheet = local.style_sheet(["handbook"])
    assert "node.Entity__handbook {\n  diameter: 52px;" in sheet
    assert "caption: 'NAMES';" in sheet
    (tmp_path / "memories.json").write_text('["handbook"]')
    assert local.styled_memories(tmp_path) == ["handbook"]
    assert "Entity__handbook" in local.after_login(local.styled_memories(tmp_path))
    assert local.styled_memories(tmp_path / "none") == []


@pytest.mark.parametrize(
    ("address", "grey"),
    [
        ("bolt://127.0.0.1:17001", False),
        ("bolt://127.0.0.1:17001/?memory=old", False),
        ("bolt://127.0.0.1:17001/?memory=new", True),
        ("bolt://db.example.org/?memory=new", False),
    ],
)
def test_a_memory_that_is_younger_than_its_server_is_grey(private, address, grey):
    (private.home / "memories.json").write_text('["old"]')
    assert browser.is_grey(Settings(memory=address)) is grey


def test_no_window_no_web_browser(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(
        browser.webbrowser, "open", lambda url: pytest.fail("a browser of text would take the terminal")
    )
    assert not browser.open_page("http://127.0.0.1:7474/")


@pytest.mark.parametrize(
    "arguments", [["--browse"], ["Who?", "--browse", "--forget-question"], ["Who?", "--browse", "--json"]]
)
def test_what_cannot_be_browsed_is_refused_before_it_is_asked(arguments):
    refused = CliRunner().invoke(main, ["ask", *arguments])
    assert refused.exit_code == 2
    assert "--browse draws one question that is kept" in refused.output


@pytest.mark.parametrize("engine_settings", ["embedded"], indirect=True)
def test_of_a_memory_in_a_folder_a_picture_is_opened(sample, monkeypatch):
    opened = []
    monkeypatch.setattr(graph, "open_page", lambda url: bool(opened.append(url)) or True)
    runner = CliRunner()
    monkeypatch.setattr(graph, "open_memory", lambda url: contextlib.nullcontext(sample))
    shown = runner.invoke(main, ["browse"])
    assert shown.exit_code == 0, shown.output
    assert "has no Neo4j Browser" in shown.output
    assert "gswgraph db start" in shown.output
    picture = Path(url2pathname(urlsplit(opened[0]).path))
    assert "Ana Ruiz" in picture.read_text(encoding="utf-8")
    assert str(picture) in shown.output
