"""Waiting for what another thread or process does."""

from __future__ import annotations

import time


def until(holds, seconds=60):
    """Wait until it holds; a failure after so many seconds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.005)
