"""What a command is doing while somebody waits for it: one line with a clock on standard error, on a
terminal alone."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING

from gsw_graph.cli.text.output import console, duration
from gsw_graph.text.safe_text import cut, one_line

if TYPE_CHECKING:
    from typing_extensions import Self

AFTER = 1.0  # seconds of silence before it is said
_TICK = 0.25  # seconds between two looks at the clock
_NOTE = 100  # characters of what went wrong
_SEARCH = ("embed", "database", "rank", "rerank")
_TEXTS = {
    "plan": "plan: the language model is asked",
    "agents": "the language model is asked",
    "answer": "answer: the language model is asked",
}


class Waiting:
    """The line; it goes when the wait is over. Safe for threads, and a context manager that ends with the
    line off the screen. quiet: none is shown, as others write on standard error."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._shown = sys.stderr.isatty() and not quiet
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._over = threading.Event()
        self._text, self._note, self._since = "", "", 0.0

    def begin(self, text: str) -> Self:
        """A wait begins; `text` says for what."""
        self.stop()
        self._say(text)
        if self._shown:
            self._over.clear()
            self._thread = threading.Thread(target=self._show, name="gswgraph-waiting", daemon=True)
            self._thread.start()
        return self

    def on_stage(self, stage: str, note: str | None) -> None:
        """As `Memory.ask` calls it."""
        self._say("search" if stage in _SEARCH else _TEXTS.get(stage, stage), note or "")

    def stop(self) -> None:
        """The wait is over: what comes now is printed on a clean line."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._over.set()
            thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _say(self, text: str, note: str = "") -> None:
        with self._lock:
            if text != self._text:
                self._since = time.monotonic()
            elif not note:
                note = self._note
            self._text, self._note = text, note

    def _line(self) -> str:
        with self._lock:
            note = f" ({cut(one_line(self._note), _NOTE)})" if self._note else ""
            # The clock stands before the note, which a narrow terminal cuts.
            return f"{one_line(self._text)}, {duration(max(1, round(time.monotonic() - self._since)))}{note}"

    def _show(self) -> None:
        if self._over.wait(AFTER):
            return
        from rich.progress import Progress, SpinnerColumn, TextColumn

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
        screen = console(stderr=True)
        with Progress(
            *columns, console=screen, transient=True, redirect_stdout=False, redirect_stderr=False
        ) as shown:
            task = shown.add_task(self._line(), total=None)
            while not self._over.wait(_TICK):
                shown.update(task, description=self._line())
