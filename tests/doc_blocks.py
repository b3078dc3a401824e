"""The code blocks of README and docs, what is said of each above it, and a shell that runs them in this process."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import pytest
from click.testing import CliRunner

from gsw_graph.cli import main
from gsw_graph.config import Settings
from gsw_graph.engine import embedded
from gsw_graph.models.embed.embedder import Embedder

REPOSITORY = Path(__file__).parents[1]
PAGES = [REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "examples/README.md")]
PAGES += sorted((REPOSITORY / "docs").rglob("*.md"))
MODEL = "recorded replies"
SERVER = "on Neo4j"  # what a block is run with
_OTHERS = (
    "GSWGRAPH",
    "NEO4J",
    "OPENAI",
    "PYTEST",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "BROWSER",
)  # no window is opened
_BLOCK = re.compile(
    r"(?:^<!-- (not run|run): (.*?) -->\n)?^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_SPAN = re.compile(r"(?<!`)`(gswgraph [^`\n]+)`(?!`)")


@dataclass(frozen=True)
class Block:
    """A block of a page. mark: `run` or `not run`, where a comment above it says so; with what, or why not, says `why`."""

    page: Path
    line: int
    kind: str
    text: str
    mark: str
    why: str

    @property
    def place(self):
        return f"{self.page.relative_to(REPOSITORY).as_posix()}:{self.line}"


def blocks(page):
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page, text.count("\n", 0, match.start(3)) + 1, match[3], match[4], match[1] or "", match[2] or ""
        )
        for match in _BLOCK.finditer(text)
    ]


def spans(page):
    """Commands within a line of text or a table."""
    return _SPAN.findall(
        re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    )


def commands(kind, text):
    """The commands of a block, each with the lines that it must print."""
    found = []
    for line in text.splitlines():
        if kind == "sh" or line.startswith("$ "):
            command = re.sub(r"(^|\s+)# .*$", "", line.removeprefix("$ ")).strip()
            found += [(command, [])] if command else []
        elif line.strip() not in ("", "..."):
            found[-1][1].append(line)
    return found


SCORE = re.compile(r"(?<![\d.])[01]\.\d\d(?!\d| m?s\b)")
NEAR = 3  # hundredths between the scores of two processors


def shows(expected, printed):
    """What of the expected lines does not stand in the output, in their order; scores may differ by NEAR, other numbers as they like."""
    rest = iter(printed.splitlines())
    return [line for line in expected if not any(_same(line, found) for found in rest)]


def _same(expected, printed):
    if _plain(expected) != _plain(printed):
        return False
    one, other = (
        [round(100 * float(score)) for score in SCORE.findall(line)] for line in (expected, printed)
    )
    return len(one) == len(other) and all(abs(a - b) <= NEAR for a, b in zip(one, other, strict=True))


def _plain(line):
    return re.sub(r"\d[\d,.]*", "0", line.rstrip()).replace(" ms", " s").replace("0 min 0 s", "0 s")


def check_options(command):
    """Whether the gswgraph commands of a line could be called so."""
    for part in re.split(r"[;|>]|&&", command):
        words = shlex.split(part)
        if words[:1] != ["gswgraph"]:
            continue
        with main.make_context("gswgraph", words[1:]) as context:
            verb, found, rest = main.resolve_command(context, [*context._protected_args, *context.args])
            assert found is not None, part
            with found.make_context(verb, rest, parent=context):  # closes what an option opened
                pass


@functools.cache
def _embedder(name, device, cache):
    return _load(Settings(embedder=name, device=device, cache_dir=cache))


_load = Embedder.load


class KeptEngines:
    """Embedded engines that go on running from one command to the next, until another process may open their folders."""

    def __init__(self):
        self._running: dict[Path, embedded.EngineProcess] = {}
        self._stop: dict[Path, Callable[[], None]] = {}
        self._new = embedded.EngineProcess

    def start(self, folder, cache, meanwhile=None, heap=None):
        """In place of `embedded.EngineProcess`."""
        folder = folder.absolute()
        if folder not in self._running:
            self._running[folder] = process = self._new(folder, cache, meanwhile, heap)
            self._stop[folder] = process.stop
            process.stop = lambda: None  # type: ignore[method-assign]
        elif meanwhile is not None:
            meanwhile()
        return self._running[folder]

    def stop(self):
        for stop in self._stop.values():
            stop()
        self._running.clear()
        self._stop.clear()


@dataclass
class Shell:
    """A folder and variables in which commands run one after another: those of gswgraph in this process with one embedder for all and with one engine for each
    memory, which takes a tenth of the time, everything else in bash, which may set variables."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)
    names: dict[str, object] = field(
        default_factory=lambda: {"__name__": "__main__"}
    )  # of Python blocks, which go on from one another
    engines: KeptEngines = field(default_factory=KeptEngines)

    def run(self, command):
        """What it prints. Fails where it ends with neither 0 nor 3, not in memory."""
        if not re.match(r"gswgraph [^|<>;&$`]*$", command):
            return self._in_bash(command)
        with self._within():
            done = CliRunner().invoke(main, shlex.split(command)[1:])
        assert done.exit_code in (0, 3), f"{command}\n{done.output}\n{done.exception!r}"
        return done.stdout

    def python(self, text):
        """A block of Python, with the names of the blocks before."""
        printed = io.StringIO()
        with self._within(), contextlib.redirect_stdout(printed):
            exec(compile(text, "<block>", "exec", dont_inherit=True), self.names)
        return printed.getvalue()

    def _in_bash(self, command):
        self.engines.stop()
        after = self.folder / ".variables"
        script = f"{command}\nended=$?\nenv -0 > {shlex.quote(str(after))}\nexit $ended"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self.variables,
            capture_output=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
            timeout=120,
        )
        assert done.returncode in (0, 3), f"{command}\n{done.stdout}\n{done.stderr}"
        self.variables.update(
            line.split("=", 1) for line in after.read_text(encoding="utf-8").split("\0") if "=" in line
        )
        after.unlink()
        return done.stdout

    @contextlib.contextmanager
    def _within(self):
        def load(settings):
            return _embedder(settings.embedder, settings.device, settings.cache_dir)

        with mock.patch.dict(os.environ, self.variables, clear=True), pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            patch.setattr(Embedder, "load", staticmethod(load))
            patch.setattr(embedded, "EngineProcess", self.engines.start)
            yield


def clean_variables(home):
    """Those of a new user who has this Python's commands."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OTHERS)}
    return {
        **kept,
        "HOME": str(home),
        "GSWGRAPH_CACHE": str(home / "cache"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
