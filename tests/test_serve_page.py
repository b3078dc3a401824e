"""The page of `gswgraph serve` in a headless Chromium: asked, followed, read, loaded by dragging."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import engines
import pytest
import samples
from chromium import chromium, shoot
from playwright.sync_api import expect

RUNNER = str(Path(__file__).parent / "serve_runner.py")
expect.set_options(timeout=30_000)  # a machine that runs other tests beside
HOSTILE = "<img src=x onerror=document.title='taken'> & \"quotes\" ${0}"


LONG_LINE = f"crewctl leave ask --reason {'much_' * 90}"
LEAVE = f"""---
owner: crew of the ferry
tags: [leave, ferry]
---

# Leave

Everybody on the ferry has 25 days of leave. `{HOSTILE}`

## Kinds of leave

| Kind | Days |
|---|---:|
| Parental | 90 |
| Study | 12 |

## How to ask for leave

1. Write to the harbour master, `crewctl` does it.
2. Ring the bell:
   - twice by day,
   - once by night.

```sh
{LONG_LINE}
```

## Where the ferry lies

{"The ferry lies at the long pier in winter and is painted there. " * 12}
"""


def handbook(folder):
    """Files of a handbook, in folders that are deep."""
    for name, text in {
        "crew/leave.md": LEAVE,
        "crew/pier.md": "# Pier\n\nThe long pier is closed on Mondays.\n",
        "boats/bell.md": "# Bell\n\nThe bell was cast in Osk.\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return str(folder)


def asked(page, question):
    """Ask by keyboard alone."""
    page.locator("#question").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator("article.result .passage").first).to_be_visible()


@pytest.fixture(scope="module")
def address(engine_settings, tmp_path_factory):
    """A served memory of `samples`."""
    folder = tmp_path_factory.mktemp("page")
    settings = engines.own_replies(engine_settings, folder / "cache")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("GSWGRAPH_", "NEO4J_"))
    }
    memory = str(folder / "memory")
    if "://" in settings.memory:
        engines.empty(settings)
        memory = settings.memory
        environment |= {"NEO4J_USERNAME": settings.username, "NEO4J_PASSWORD": settings.password or ""}
    run = [sys.executable, RUNNER, "--memory", memory]
    many = samples.jsonl(
        folder / "many.jsonl",
        [{"title": f"Filler {number:03}", "text": f"Filler {number:03} is empty."} for number in range(120)],
    )
    subprocess.run(
        [*run, "load", *samples.write(folder), many],
        env=environment,
        check=True,
        capture_output=True,
        timeout=300,
    )
    other = [sys.executable, RUNNER, "--memory", f"{memory}?memory=handbook"]
    subprocess.run(
        [*other, "load", handbook(folder / "handbook")],
        env=environment,
        check=True,
        capture_output=True,
        timeout=300,
    )
    server = subprocess.Popen(
        [*run, "serve", "--port", "0"], env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        said = server.stdout.readline()
        found = re.search(r"http://\S+", said)
        assert found, said + "it ended"
        yield found[0]
    finally:
        server.terminate()
        server.wait(60)
        if server.stdout is not None:
            server.stdout.close()


@pytest.fixture
def page(address):
    """The page, which may say nothing on its console and ask nobody else."""
    with chromium() as page:
        said = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on(
            "request",
            lambda request: (
                said.append(request.url) if not request.url.startswith((address, "data:", "about:")) else None
            ),
        )
        page.goto(address)
        expect(page.locator("#question")).to_be_visible()
        yield page
        assert said == []


def test_a_question_is_asked_with_a_plan_and_its_passages_are_read(page):
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
    page.locator("iframe").scroll_into_view_if_needed()
    picture = page.frame_locator("iframe")
    expect(picture.locator("#title")).to_have_text(samples.QUESTION)
    expect(picture.locator("canvas").first).to_be_visible()
    page.locator(".citations a").last.click()
    expect(page.locator(".passage:focus mark").last).to_be_in_viewport()
    shoot(page, "page-answer")
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
        "a narrow screen must not scroll sideways"
    )
    shoot(page, "page-narrow")


def test_questions_are_turns_of_a_conversation(page):
    page.locator("#question").fill("Who built the Stone Pier?")
    page.keyboard.press("Enter")
    expect(page.locator("article.result .passage").first).to_be_visible()
    page.locator("#question").fill("And when was it built?")
    page.keyboard.press("Enter")
    expect(page.get_by_text("asked as: when was Stone Pier built?")).to_be_visible()
    earlier = page.get_by_label("Earlier in this conversation")
    expect(earlier.locator("li")).to_have_count(1)
    expect(earlier).to_contain_text("Who built the Stone Pier?")
    shoot(page, "page-conversation")
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator("#question")).to_be_focused()
    asked(page, "And when was it built?")
    expect(page.get_by_text("asked as")).to_have_count(0)
    expect(earlier).to_have_count(0)


def test_a_memory_is_chosen_and_named_in_the_address(page, address):
    chooser = page.get_by_label("Memory")
    expect(chooser).to_have_value("")
    expect(chooser.locator("option")).to_have_text(["default", "handbook"])
    chooser.select_option("handbook")
    page.wait_for_url(f"{address}/?memory=handbook*")
    expect(page.get_by_label("Memory")).to_have_value("handbook")
    expect(page.locator("header")).to_contain_text("3 documents")
    expect(page).to_have_title("Ask - handbook - gswgraph")
    asked(page, "Where was the bell cast?")
    expect(page.locator(".passage mark").first).to_have_text("The bell was cast in Osk.")
    page.get_by_role("navigation").get_by_role("link", name="Documents").click()
    expect(page.locator("main .rows a")).to_have_count(3)
    page.reload()
    expect(page.get_by_label("Memory")).to_have_value("handbook")
    page.get_by_label("Memory").select_option("")
    page.wait_for_url(lambda url: "memory=" not in url)
    expect(page.locator("header")).not_to_contain_text(" 3 documents")


def test_a_memory_that_does_not_exist_is_an_error_and_another_can_be_chosen(page, address):
    page.goto(f"{address}/?memory=handbok")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text('there is no memory "handbok"')
    expect(alert).to_contain_text("default, handbook")
    expect(page.locator("#question")).to_have_count(0)
    page.get_by_label("Memory").select_option("handbook")
    expect(page.locator("#question")).to_be_visible()


def test_strategies_that_fit_are_offered_and_the_others_behind_more(page, address):
    def offered():
        return page.get_by_label("Strategy").locator("option").all_inner_texts()

    expect(page.locator("header")).to_contain_text("passages")
    assert offered() == ["auto", "linked", "dense", "bm25", "more …"]
    page.get_by_label("Strategy").select_option("more …")
    expect(page.get_by_label("Strategy")).to_have_value("auto")
    assert {"ricr", "proprag"} < set(offered())
    assert not {"select", "ircot", "grasp", "none", "more …"} & set(offered()), "they need a language model"
    page.goto(f"{address}/?memory=handbook")
    expect(page.locator("header")).to_contain_text("3 documents")
    page.get_by_label("Strategy").select_option("more …")
    assert not {"ricr", "proprag"} & set(offered()), "this memory has neither pairs nor propositions"


def test_a_passage_shows_title_section_and_the_place_that_answers(page, address):
    page.goto(f"{address}/?memory=handbook")
    asked(page, "How long is parental leave?")
    first = page.locator(".passage").filter(has_text="Parental")
    expect(first.locator("h3")).to_have_text("Leave › Kinds of leave")
    expect(first.locator(".excerpt tr", has_text="Parental").locator("mark")).to_have_text(["Parental", "90"])
    expect(first.locator(".excerpt th")).to_have_text(["Kind", "Days"])
    source = first.locator("a", has_text="leave.md")
    expect(source).to_have_text("crew/leave.md")
    assert re.fullmatch(r"/.*/handbook/crew/leave\.md", source.get_attribute("title") or "")
    expect(page.locator("iframe")).to_be_visible()
    order = page.locator("article.result").evaluate(
        "one => one.querySelector('.passage').compareDocumentPosition(one.querySelector('iframe'))"
    )
    assert order & 4, "passages come before the picture"
    shoot(page, "page-places")


def test_text_of_a_passage_is_laid_out_and_stays_text(page, address):
    page.goto(f"{address}/?memory=handbook")
    page.set_viewport_size({"width": 400, "height": 800})
    asked(page, "How long is parental leave?")
    passage = page.locator(".passage").filter(has_text="Parental")
    passage.get_by_text("Whole passage").click()
    expect(passage.locator(".excerpt")).to_be_hidden()
    whole = passage.locator(".all")
    expect(whole.locator("h4")).to_have_text(["Kinds of leave", "How to ask for leave"])
    expect(whole.locator("li")).to_have_count(4)
    expect(whole.locator("li code")).to_have_text("crewctl")
    code = whole.locator("pre")
    assert code.inner_text().strip() == LONG_LINE
    assert code.evaluate(
        "one => one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX === 'auto'"
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
        "a long line scrolls within its box"
    )
    assert "monospace" in code.locator("code").evaluate("one => getComputedStyle(one).fontFamily")
    expect(whole.locator(".text").first).to_contain_text("<img src=x onerror")
    assert page.locator("main img").count() == 0
    expect(whole.get_by_text("owner: crew of the ferry")).to_be_hidden()
    whole.get_by_text("About this document").click()
    expect(whole.get_by_text("owner: crew of the ferry")).to_be_visible()
    shoot(page, "page-whole-narrow")


def test_files_are_loaded_by_dragging_and_forgotten_and_their_text_stays_text(page):
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


def test_a_wrong_fact_is_removed_and_a_name_renamed(page):
    page.on(
        "dialog", lambda dialog: dialog.accept(*(["Stone Pier of Osk"] if dialog.type == "prompt" else []))
    )
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
