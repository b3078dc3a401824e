"""The web browser of whoever sits here."""

from __future__ import annotations

import os
import sys
import webbrowser


def open_page(url: str) -> bool:
    """Open a page in the web browser; False where there is none with a window: one of text would take the
    terminal, and cannot show a graph."""
    if sys.platform not in ("darwin", "win32") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER")
    ):
        return False
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False
