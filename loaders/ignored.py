"""What a folder's `.gitignore` leaves out of a load, as git understands it. Library pathspec reads the
patterns."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec

IGNORED = "left out by .gitignore"


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the `.gitignore` of a folder."""

    folder: Path
    text: str
    pattern: Any

    def matches(self, path: Path, *, is_folder: bool) -> bool:
        """Return whether the line is about this very file or folder. Patterns of the library match what is
        below a folder too, which would let `!docs/` take in files that another line leaves out."""
        if self.text.endswith("/") and not is_folder:
            return False
        below = path.relative_to(self.folder)
        if "/" not in self.text.removeprefix("**/").rstrip("/"):
            below = Path(path.name)
        end = "/" if self.text.endswith("/") else ""
        if self.pattern.match_file(below.as_posix() + end) is None:
            return False
        by_parent = len(below.parts) > 1 and self.pattern.match_file(below.parent.as_posix() + end)
        return self.text.endswith("/**") or not by_parent


def rules(folder: Path) -> Iterator[Rule]:
    """Yield the rules of the `.gitignore` of a folder, if it has one, the last first; lines that are no
    pattern are passed over, as git does."""
    file = folder / ".gitignore"
    if not file.is_file():
        return
    for line in reversed(file.read_text(encoding="utf-8-sig", errors="replace").splitlines()):
        with contextlib.suppress(ValueError, re.error):
            pattern = GitIgnoreSpec.from_lines([line]).patterns[0]
            if pattern.include is not None:
                yield Rule(folder, line.rstrip().removeprefix("!"), pattern)


def is_ignored(path: Path, known: Iterable[Rule]) -> bool:
    """Return whether the first rule that is about a path leaves it out."""
    is_folder = path.is_dir()
    deciding = (rule for rule in known if rule.matches(path, is_folder=is_folder))
    rule = next(deciding, None)
    return rule is not None and bool(rule.pattern.include)
