"""Neo4j Browser and pages of ours in a headless Chromium, as people see them."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from engines import cannot_have

if TYPE_CHECKING:
    pass

SHOTS = Path(__file__).parents[1] / "build/browser"  # kept to be looked at
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_LOADED = 90_000  # milliseconds: a machine that runs other tests beside takes long for 6 MB of JavaScript


@contextlib.contextmanager
def chromium():
    """A page in the system's own Chromium, with nothing kept from other pages."""
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        cannot_have("pages in a browser", str(error))
    if path is None:
        cannot_have("pages in a browser", "no Chromium is installed")
    root = getattr(os, "geteuid", lambda: 1)() == 0  # whom Chromium refuses its sandbox
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if root else [])
        try:
            page = browser.new_page(viewport={"width": 1500, "height": 1000})
            page.set_default_timeout(_LOADED)
            yield page
        finally:
            browser.close()


def shoot(page, name):
    """Keep what the page looks like now."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"{name}.png")
