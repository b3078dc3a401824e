"""Neo4j Browser itself, in a headless Chromium, at a server that `gswgraph db start` has started: what people see of an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import engines
import fakes
import pytest
import samples
from chromium import chromium, shoot
from cli_runner import run as run_command

from gsw_graph.cli import graph
from gsw_graph.config import Settings
from gsw_graph.engine import local
from gsw_graph.errors import InputError
from gsw_graph.memory import Memory
from gsw_graph.models.embed.embedder import Embedder

GRASS = "() => (localStorage['neo4j.grass'] || '').includes('QAPair')"
HOPS = ["Who built the Stone Pier?", "Where was Ana Ruiz born?", "On which river does Valle Alto lie?"]


@dataclass
class World:
    """An answered question on a private server."""

    memory: Memory
    password: str = field(repr=False)
    question: str


@pytest.fixture(scope="module", params=["5.26"])
def world(
    request,
    neo4j_server,
    tmp_path_factory,
):
    settings = neo4j_server(request.param)
    own = None
    if not any(
        server.running for server in local.status(settings)
    ):  # a server of somebody else: ours is what `db start` starts
        own = engines.private_cache(tmp_path_factory.mktemp("browser"))
        server = local.start(own, request.param, *engines.free_ports())
        settings = Settings(memory=server.url, cache_dir=own.cache_dir)
    try:
        engines.empty(settings)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Embedder, "load", staticmethod(fakes.embedder))
            with Memory.open(settings=settings) as memory:
                memory.load(*samples.write(tmp_path_factory.mktemp("samples")))
                answer = memory.ask(samples.QUESTION, plan=samples.PLAN)
                assert answer.answer == "the ombre"
                assert answer.id is not None
                (server,) = [server for server in local.status(settings) if server.running]
                password = server.password_file.read_text().strip()
                yield World(memory, password, answer.id)
    finally:
        if own is not None:
            local.stop(own)


def log_in(page, link, password):
    page.goto(link)
    page.wait_for_selector("input[type=password]")
    assert page.input_value("input[data-testid=username]") == "neo4j"
    page.fill("input[type=password]", password)
    page.keyboard.press("Enter")


def run(page):
    """Press the blue arrow beside the query, and wait until what is drawn has come to rest."""
    page.locator("[data-testid=editor-Run]").first.click()
    page.wait_for_selector("g.node")
    page.wait_for_timeout(3000)


def drawn(page, what):
    """The captions of nodes or relationships, as far as they fit."""
    lines = page.locator(f"g.{what}").evaluate_all(
        "all => all.map(one => [...one.querySelectorAll('text')].map(line => line.textContent).join(' '))"
    )
    return [" ".join(text.split()) for text in lines]


def is_drawn(text, captions):
    """Whether a caption begins as the text and has no word but its, in order: which fit into a circle hangs on the fonts of the machine."""

    def shows(caption):
        words = iter(text.split())
        shown = caption.removesuffix("…").split()
        return (
            bool(shown)
            and text.startswith(shown[0])
            and all(any(word.startswith(one) for word in words) for one in shown)
        )

    return any(map(shows, captions))


@pytest.mark.slow
def test_an_answer_is_drawn_hop_by_hop(world):
    with chromium() as page:
        log_in(page, world.memory.browser(world.question), world.password)
        page.wait_for_function(GRASS)  # the server has Browser take our style at the login
        page.wait_for_timeout(500)
        assert page.locator("[data-testid=frame]").count() == 0, "nothing stands there that speaks of films"
        run(page)
        shoot(page, "answer")
        captions = drawn(page, "node")
        assert is_drawn(samples.QUESTION, captions)
        for hop, answer in zip(HOPS, ("Ana Ruiz", "Valle Alto", "the ombre"), strict=True):
            assert is_drawn(f"{hop} {answer}", captions), hop
        for name in ("Ana Ruiz", "Valle Alto", "Ombre", "Stone Pier"):
            assert name in captions, name
        hops = [caption for caption in drawn(page, "relationship") if re.fullmatch(r"\d", caption)]
        assert sorted(hops) == ["1", "2", "3"]
        labels = page.locator(
            "text=/^(Question|QAPair|Entity|Concept|Passage) \\(\\d+\\)$/"
        ).all_inner_texts()
        assert {label.partition(" ")[0] for label in labels} == {
            "Question",
            "QAPair",
            "Entity",
            "Concept",
            "Passage",
        }
        concepts = next(label for label in labels if label.startswith("Concept"))
        assert concepts == "Concept (2)", "a concept is drawn where it joins two documents, and nowhere else"


@pytest.mark.slow
def test_the_commands_open_browser(world, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(graph, "open_page", lambda url: bool(opened.append(url)) or True)
    monkeypatch.setattr(Embedder, "load", staticmethod(fakes.embedder))
    monkeypatch.setenv("GSWGRAPH_CACHE", str(world.memory.settings.cache_dir))
    url = world.memory.settings.memory
    for words in (
        ["browse"],
        ["ask", "Who built the Stone Pier?", "--no-llm", "--strategy", "dense", "-k", "30", "--browse"],
    ):
        shown = run_command("--memory", url, *words)
        assert shown.exit_code == 0, shown.output
        assert "Neo4j Browser is open: log in, and the blue arrow beside the query" in shown.output
    assert len(opened) == 2
    assert (
        run_command(
            "--memory", f"{url}/?memory=handbook", "browse", "--style", str(tmp_path / "style.grass")
        ).exit_code
        == 0
    )
    assert "node.Concept__handbook {" in (tmp_path / "style.grass").read_text()
    opened.pop()
    for link in opened:
        assert link.startswith("http://127.0.0.1:")
        assert len(link) < 8000
    assert world.memory.browser(world.question[:12]) == world.memory.browser(world.question)
    with pytest.raises(InputError, match="no question"):
        world.memory.browser("zzz")
