"""The page of `gswgraph serve` in a headless Chromium: asked, followed, read, loaded by dragging."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import engines
import pytest
import samples
from chromium import chromium, shoot
from playwright.sync_api import Page, expect

from gsw_graph.config import Settings

RUNNER = str(Path(__file__).parent / "serve_runner.py")
expect.set_options(timeout=30_000)  # a machine that runs other tests beside
HOSTILE = "<img src=x onerror=document.title='taken'> & \"quotes\" ${0}"


@pytest.fixture(scope="module")
def address(engine_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A served memory of `samples`."""
    folder = tmp_path_factory.mktemp("page")
    settings = engines.own_replies(engine_settings, folder / "cache")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GSWGRAPH_", "NEO4J_"))}
    memory = str(folder / "memory")
    if "://" in settings.memory:
        engines.empty(settings)
        memory = settings.memory
        environment |= {"NEO4J_USERNAME": settings.username, "NEO4J_PASSWORD": settings.password or ""}
    run = [sys.executable, RUNNER, "--memory", memory]
    many = samples.jsonl(folder / "many.jsonl", [{"title": f"Filler {number:03}", "text": f"Filler {number:03} is empty."} for number in range(120)])
    subprocess.run([*run, "load", *samples.write(folder), many], env=environment, check=True, capture_output=True, timeout=300)
    server = subprocess.Popen([*run, "serve", "--port", "0"], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        said = server.stdout.readline()
        found = re.search(r"http://\S+", said)
        assert found, said + 'it ended'
        yield found[0]
    finally:
        server.terminate()
        server.wait(60)
        if server.stdout is not None:
            server.stdout.close()


@pytest.fixture
def page(address: str) -> Iterator[Page]:
    """The page, which may say nothing on its console and ask nobody else."""
    with chromium() as page:
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if not request.url.startswith((address, "data:", "about:")) else None)
        page.goto(address)
        expect(page.locator("#question")).to_be_visible()
        yield page
        assert said == []


def test_a_question_is_asked_with_a_plan_and_its_passages_are_read(page: Page) -> None:
    page.locator("#question").blur()
    page.keyboard.press("/")
    page.keyboard.type(samples.QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator("article.result")).to_be_visible()
    page.locator("summary", has_text="Plan").click()
    for step in samples.PLAN:
        page.get_by_text("Add a step").click()
        page.locator(".plan input").last.fill(step)
    page.get_by_text("Ask with this plan").click()
    expect(page.locator(".chain").first).to_contain_text("→")
    expect(page.locator("#answer")).to_have_text(samples.CHAIN[-1])
    page.get_by_role("button", name="Right").click()
    expect(page.get_by_text("You said that this is right")).to_be_visible()
    expect(page.get_by_role("button", name="Right")).to_have_attribute("aria-pressed", "true")
    picture = page.frame_locator("iframe")
    expect(picture.locator("#title")).to_have_text(samples.QUESTION)
    expect(picture.locator("canvas").first).to_be_visible()
    page.locator(".citations a").last.click()
    expect(page.locator("details.passage[open] mark").last).to_be_in_viewport()
    shoot(page, "page-answer")
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "a narrow screen must not scroll sideways"
    shoot(page, "page-narrow")


def test_files_are_loaded_by_dragging_and_forgotten_and_their_text_stays_text(page: Page) -> None:
    page.evaluate(
        """text => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], "hostile.md", { type: "text/markdown" }));
            for (const kind of ["dragover", "drop"]) dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
        }""",
        f"# Hostile `{HOSTILE}`\n\nThe Hostile Lamp `{HOSTILE}` was lit in Fennick. {HOSTILE}",  # outside code the loader leaves tags out
    )
    expect(page.locator("#report")).to_contain_text("1 new")
    page.get_by_role("navigation").get_by_role("link", name="Documents").click()
    page.get_by_role("searchbox").fill("hostile.md")
    page.keyboard.press("Enter")
    expect(page.locator("main .rows a")).to_have_count(1)  # until then what was listed before stands there
    page.locator("main .rows a").first.click()
    expect(page.locator(".text").first).to_contain_text(HOSTILE)
    expect(page.locator("main h1")).to_contain_text(HOSTILE)
    assert page.locator("main img").count() == 0
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_text("Forget it").click()
    expect(page.locator(".rows")).not_to_contain_text("hostile.md")
    assert "taken" not in page.title()


def test_a_wrong_fact_is_removed_and_a_name_renamed(page: Page) -> None:
    page.on("dialog", lambda dialog: dialog.accept(*(["Stone Pier of Osk"] if dialog.type == "prompt" else [])))
    page.get_by_role("navigation").get_by_role("link", name="Names").click()
    page.get_by_role("searchbox").fill("Stone Pier")
    page.keyboard.press("Enter")
    page.locator("main .rows a", has_text="Stone Pier").first.click()
    page.get_by_role("button", name="Rename it").click()
    expect(page.locator("main h1")).to_have_text("Stone Pier of Osk")
    page.locator("main a[href^='#/documents/']").first.dispatch_event("click")
    pairs = page.get_by_role("button", name="Remove this fact")
    expect(page.get_by_role("button", name="Forget it")).to_be_visible()
    page.locator("main summary").evaluate_all("all => all.forEach(one => one.parentElement.open = true)")
    expect(pairs.first).to_be_visible()
    before = pairs.count()
    pairs.first.click()
    expect(pairs).to_have_count(before - 1)
    shoot(page, "page-corrected")
