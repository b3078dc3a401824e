"""Lines typed at a prompt, known in later sessions too: a file that only its owner can read, written line
by line."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

LINES = 1000  # that are kept


class PromptHistory:
    """What `input` knows of earlier sessions.

    Where the platform has no readline (Windows), or the file cannot be read or written, that is this
    session's lines or nothing.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        with contextlib.suppress(ImportError, OSError):
            import readline

            file.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
            readline.read_history_file(file)

    def keep(self) -> None:
        """Write the line that came last. What another session wrote meanwhile stays."""
        with contextlib.suppress(ImportError, OSError):
            import readline

            readline.set_history_length(LINES)
            if not hasattr(readline, "append_history_file"):  # as on macOS
                readline.write_history_file(self._file)
            elif readline.get_current_history_length():
                readline.append_history_file(1, self._file)
