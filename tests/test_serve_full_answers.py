"""A full answer on the page: its text as it comes, its marks, and the place of each citation that is pointed at."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import samples
import served
from chromium import chromium, shoot
from full_answer import CITATIONS, STATEMENTS, full_answer
from playwright.sync_api import expect

from gsw_graph.model.results import Citation, Statement

expect.set_options(timeout=5_000)
HOSTILE = "<img src=x onerror=document.title='taken'> [1](javascript:alert(1)) \ue0000\ue001"
# The test says what the server sends, and when.
STREAM = """() => {
    const real = window.fetch;
    window.fetch = (path, options) => {
        if (!path.startsWith("/api/ask")) return real(path, options);
        const stream = new ReadableStream({ start: (controller) => { window.stream = controller; } });
        return Promise.resolve(new Response(stream));
    };
}"""
SEND = "text => stream.enqueue(new TextEncoder().encode(text))"


@pytest.fixture(scope="module")
def address(embedded_sample):
    with served.served(embedded_sample, read_only=True) as one:
        yield one.url


@pytest.fixture
def page(address):
    with chromium() as page:
        page.set_default_timeout(5_000)
        said = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(address)
        page.evaluate(STREAM)
        page.locator("#question").fill(samples.QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_function("window.stream")
        yield page
        assert said == []


def send(page, event, data):
    page.evaluate(SEND, f"event: {event}\ndata: {json.dumps(data)}\n\n")


def answered(page, **changes):
    send(page, "answer", full_answer(**changes).to_dict())
    expect(page.locator("article.result .passage").first).to_be_visible()


def test_the_text_comes_in_pieces(page):
    send(page, "text", {"text": "It depends. [1]"})
    send(page, "stage", {"stage": "answer", "text": None})
    send(page, "text", {"text": "no, unless it was primed"})
    expect(page.locator(".coming .answer")).to_have_text("no, unless it was primed")
    send(page, "text", {"text": "\n\nFill the chamber. [1]\n```\npumpctl "})
    send(page, "text", {"text": "prime\n```"})
    expect(page.locator(".coming .answer")).to_have_text("no, unless it was primed")
    expect(page.locator(".coming .laid p")).to_have_text("Fill the chamber. [1]")
    expect(page.locator(".coming pre")).to_have_text("pumpctl prime\n")
    answered(page)
    expect(page.locator(".coming")).to_have_count(0)
    expect(page.locator("#answer")).to_have_text("no, unless it was primed")


def test_a_mark_shows_its_place_by_pointer_keyboard_and_touch(page):
    answered(page)
    first = page.locator(".full .cite button").first
    place = page.locator(".full .place")
    expect(place).to_have_count(0)
    first.hover()
    expect(place).to_contain_text("Pumps › Priming")
    expect(place).to_contain_text("The pump does not start dry.")
    expect(page.locator(".citations .pointed")).to_contain_text("The pump does not start dry.")
    shoot(page, "page-full-answer")
    page.emulate_media(color_scheme="dark")
    shoot(page, "page-full-dark")
    place.hover()
    expect(place).to_have_count(1)
    page.locator("h3").first.hover()
    expect(place).to_have_count(0)
    first.focus()
    expect(place).to_contain_text("Pumps › Priming")
    page.keyboard.press("Tab")
    expect(place.get_by_role("link")).to_be_focused()
    page.keyboard.press("Escape")
    expect(place).to_have_count(0)
    expect(first).to_be_focused()
    for _ in ("the code, which scrolls", "the next mark"):
        page.keyboard.press("Tab")
    expect(place).to_contain_text("pumpctl")
    expect(page.locator(".citations .pointed")).to_contain_text("Run `pumpctl prime`.")
    first.focus()
    place.get_by_role("link").click()
    expect(page.locator(".passage:focus")).to_contain_text("The pump does not start dry.")


def test_what_is_not_stated_and_what_is_missing_are_marked(page):
    answered(page)
    full = page.locator(".full")
    expect(full.locator(".note")).to_have_text(
        ["not stated, follows from 1 2", "in no source: Fennick & Sons"]
    )
    assert full.inner_text().endswith(
        "follows from 1 2 Fennick & Sons sold pumps[1]. 2 in no source: Fennick & Sons"
    )
    expect(full.locator("pre")).to_have_text(STATEMENTS[1].text.split("\n")[1] + "\n")
    expect(full.locator("code").last).to_have_text("pumps[1]")
    expect(full.locator(".cite")).to_have_count(5)
    assert "[" not in full.inner_text().replace("pumps[1]", "")
    expect(page.locator("article.result")).to_contain_text("Missing: Who sells the pump?")


def test_a_short_answer_has_its_note_alone(page):
    short = Statement("Norway", [0, 1], follows=True)
    answered(page, answer="Norway", text="Norway", statements=[short], missing=None)
    expect(page.locator("#answer")).to_have_text("Norway")
    expect(page.locator(".full")).to_have_count(0)
    expect(page.locator(".note")).to_have_text("not stated, follows from 1 2")
    page.locator(".note button").last.hover()
    expect(page.locator(".place")).to_contain_text("Run `pumpctl prime`.")


def test_steps_need_no_short_answer(page):
    steps = [Statement("1. Close the valve.", [0]), Statement("2. Open the drain.", [1, 7])]
    send(page, "text", {"text": "1. Close the valve. [1]"})
    expect(page.locator(".coming .answer")).to_have_count(0)
    text = "1. Close the valve. [1]\n2. Open the drain. [2]"
    answered(page, answer="1. Close the valve.\n2. Open the drain.", text=text, statements=steps)
    expect(page.locator(".full li")).to_have_count(2)
    expect(page.locator(".full .cite")).to_have_count(2)  # there is no eighth citation
    expect(page.locator(".answer")).to_have_count(0)


def test_a_hostile_text_stays_text_on_a_narrow_screen(page):
    page.set_viewport_size({"width": 380, "height": 800})
    citation = Citation("p1", "d1", HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    statements = [
        Statement(HOSTILE, [0], unsupported=[HOSTILE]),
        replace(STATEMENTS[1], text="apart", follows=True),
    ]
    answered(
        page,
        answer=HOSTILE,
        text=f"{HOSTILE} [1] {HOSTILE * 9}",
        statements=statements,
        citations=[citation, CITATIONS[1]],
    )
    page.locator(".cite button").first.click()
    expect(page.locator(".place")).to_contain_text("<img src=x onerror")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("article img").count() == 0
    assert page.locator("article a[href^=javascript]").count() == 0
    assert "taken" not in page.title()
    shoot(page, "page-full-narrow")
