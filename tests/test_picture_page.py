"""The picture as people see it: opened from disk in Chromium, with the network off. Pictures of it are kept under build/."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import contract
import fakes
import pytest
from chromium import chromium, shoot
from cli_runner import HOSTILE
from fake_memory import chained, passage

from gsw_graph.ask.plan import load
from gsw_graph.config import Settings
from gsw_graph.explore.picture.drawing import of_answer
from gsw_graph.explore.picture.picture import NODES, Picture
from gsw_graph.memory import Memory
from gsw_graph.model.results import Citation
from gsw_graph.text.names import normalise

if TYPE_CHECKING:
    pass

EXAMPLES = Path(contract.CORPUS).parent
SAID = []  # by the console of the page, and what it asked of the network
QUESTION = "Which river flows through the town where the builder of the Marrow Bridge was born?"


@pytest.fixture(scope="module")
def page():
    with chromium() as opened:
        opened.context.set_offline(True)
        opened.on("console", lambda message: SAID.append(message.text))
        opened.on("pageerror", lambda error: SAID.append(str(error)))
        opened.on(
            "request",
            lambda request: SAID.append(request.url) if not request.url.startswith("file:") else None,
        )
        yield opened


@pytest.fixture(scope="module")
def bridges(tmp_path_factory):
    settings = Settings(memory=str(tmp_path_factory.mktemp("bridges") / "memory"))
    with Memory.open(settings=settings) as memory:
        memory._embedder = fakes.embedder(settings)
        assert memory.load(str(EXAMPLES / "workspaces.jsonl")).failures == []
        yield memory


def opened(page, picture, folder, size=(1500, 1000)):
    """Show a picture; anything that the console says, and any request but for the file, is a failure."""
    SAID.clear()
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(picture.save(folder / "picture.html").as_uri())
    page.wait_for_function("window.gswgraph && gswgraph.cy.nodes().length")
    assert SAID == []


def boxes(page):
    """What is drawn, with its place on the screen."""
    return page.evaluate(
        "gswgraph.cy.nodes('[w > 1]').map((n) => ({id: n.id(),"
        " ...n.renderedBoundingBox({includeLabels: false, includeOverlays: false, includeUnderlays: false})}))"
    )


def overlapping(found):
    def apart(one, other):
        return (
            one["x2"] <= other["x1"] + 1
            or other["x2"] <= one["x1"] + 1
            or one["y2"] <= other["y1"] + 1
            or other["y2"] <= one["y1"] + 1
        )

    return [
        (one["id"], other["id"])
        for n, one in enumerate(found)
        for other in found[:n]
        if not apart(one, other)
    ]


def test_every_hop_of_a_chain_is_on_the_screen(page, bridges, tmp_path):
    answer = bridges.ask(QUESTION, plan=load(str(EXAMPLES / "plan.json")), trace=True, keep=False)
    opened(page, bridges.draw(answer), tmp_path)
    shoot(page, "picture-chain")
    found = boxes(page)
    by = {box["id"]: box for box in found}
    way = [
        "question",
        *(
            part
            for hop in answer.chains[0].hops
            for part in (f"pair:{hop.step}:{hop.qa.id}", f"name:{normalise(hop.answer)}")
        ),
    ]
    places = [by[part] for part in way]
    for one, other in pairwise(places):
        assert one["x2"] < other["x1"]
    assert overlapping(found) == []
    size = page.evaluate("({w: gswgraph.cy.width(), h: gswgraph.cy.height(), zoom: gswgraph.cy.zoom()})")
    assert size["zoom"] >= 0.7  # letters of ten pixels and more
    assert all(
        box["x1"] >= 0 and box["x2"] <= size["w"] and box["y1"] >= 0 and box["y2"] <= size["h"]
        for box in found
    )
    assert [text for text in page.locator("#list h2").all_inner_texts() if text.startswith("Hop")] == [
        f"Hop {n}: {step['question']}" for n, step in enumerate(answer.plan or (), 1)
    ]
    assert answer.answer in page.locator("#said").inner_text()


def test_the_passage_behind_an_edge_is_a_click_away_with_its_sentence_marked(page, bridges, tmp_path):
    answer = bridges.ask(QUESTION, plan=load(str(EXAMPLES / "plan.json")), trace=True, keep=False)
    opened(page, bridges.draw(answer), tmp_path)
    first = answer.chains[0].hops[0]
    spot = page.evaluate(
        f"gswgraph.cy.edges('.along').filter((edge) => edge.source().id() === 'pair:1:{first.qa.id}')[0].renderedMidpoint()"
    )
    stage = page.locator("#picture").bounding_box()
    assert stage is not None
    page.mouse.move(stage["x"] + spot["x"], stage["y"] + spot["y"])
    hover = page.locator("#hover")
    hover.wait_for(state="visible")
    assert answer.citations[0].text in hover.inner_text()
    page.mouse.click(stage["x"] + spot["x"], stage["y"] + spot["y"])
    assert page.locator("#details h2").inner_text() == f"{first.qa.question} → {first.answer}"
    assert page.locator("#details .source").inner_text() == answer.citations[0].source
    assert page.locator("#details mark").all_inner_texts() == [answer.citations[0].text]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hostile_text_is_text(page, tmp_path, scheme):
    evil = f"</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">\u2028{HOSTILE} {'x' * 3000}"
    answer = replace(
        chained(evil),
        answer=evil,
        passages=[passage(1, text=evil * 30, title=evil, source=evil)],
        citations=[Citation("p1", "d1", evil, evil, evil)],
    )
    page.emulate_media(color_scheme=scheme)
    opened(page, of_answer(answer, lambda ids: []), tmp_path)
    shoot(page, f"picture-hostile-{scheme}")
    assert "</script><script>document.title='taken'" in page.locator("h1").inner_text()
    for button in page.locator("#list button").all():
        button.click()
    assert page.title().startswith("</script>")
    assert page.locator("img, #details script, #list script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.emulate_media(color_scheme="light")


def test_a_free_picture_is_laid_out_without_overlap_up_to_its_bound(page, tmp_path, bridges):
    opened(
        page,
        bridges.draw("MATCH way = (:Passage)<-[:IN]-(:QAPair)-[:ANSWERED_BY]->(:Entity) RETURN way"),
        tmp_path,
    )
    shoot(page, "picture-query")
    assert overlapping(boxes(page)) == []
    wide = Picture("many")
    for n in range(NODES):
        wide.node(f"n{n}", "Concept", f"Name {n}")
        wide.edge(f"n{n}", f"n{n // 7}", "knows")
    opened(page, wide, tmp_path)
    shoot(page, "picture-many")
    assert len(boxes(page)) == NODES
    page.get_by_role("button", name="Whole").click()
    size = page.evaluate("({w: gswgraph.cy.width(), h: gswgraph.cy.height()})")
    for box in boxes(page):
        assert box["x1"] >= -1
        assert box["x2"] <= size["w"] + 1
