"""Fixtures shared by all tests: every engine, an empty graph on each, and memories for the contract tests."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import contract
import crash_place
import engines
import fakes
import hypothesis
import pytest
import samples

from gsw_graph.config import Settings
from gsw_graph.memory import Memory
from gsw_graph.models.embed.embedder import Embedder

# What a machine's environment says of terminals and proxies is not what the tests are about; processes that they start inherit this.
for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "LINES"):
    os.environ.pop(name, None)
os.environ["TERM"] = "xterm"
if (
    signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    and threading.current_thread() is threading.main_thread()
):
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell starts what runs in the background without it, and tests press Ctrl-C
os.environ["NO_PROXY"] = os.environ["no_proxy"] = ",".join(
    filter(None, (os.environ.get("NO_PROXY"), "127.0.0.1", "localhost"))
)
# Engines of tests live for seconds: what Java spends on the best code for them is half of their time. With one compiler Java
# reserves 48 MB for code, which a server fills within minutes; then it removes and compiles code all the time.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m")
hypothesis.settings.register_profile("gswgraph", hypothesis.settings(deadline=None))
hypothesis.settings.load_profile("gswgraph")

fake_embedder = fakes.fake_embedder
place = crash_place.new_place


# What runs on Neo4j 5.26 too: tests whose subject differs by engine (connection, transactions, indexes, processes), and for each
# kind of write one that runs its statements. The planner of 5.26 reads every statement (test_neo4j_engine.py).
ALL_OF_IT = ("test_",)
ON_NEO4J = {
    "test_browser": ALL_OF_IT,
    "test_workers": ALL_OF_IT,
    "test_browser_drawn": ALL_OF_IT,
    "test_contract_ask": ("test_bm25", "test_dense", "test_linked_walks", "test_words_are_found"),
    "test_contract_caches": ALL_OF_IT,
    "test_contract_chains": ("test_chains_are_the_same", "test_documents_meet_in_answers"),
    "test_contract_compact": ("test_facts_have_the_cosine",),
    "test_contract_corrections": (
        "test_a_fact_is_added",
        "test_a_name_is_renamed",
        "test_a_name_is_split",
        "test_a_passage_is_superseded",
    ),
    "test_contract_cypher": ALL_OF_IT,
    "test_contract_excluded": ("test_what_is_excluded", "test_pairs_of_excluded"),
    "test_contract_explore": ("test_each_analysis",),
    "test_contract_forget": ("test_forgetting_by_path", "test_forgetting_everything"),
    "test_contract_hostile": ("test_hostile",),
    "test_contract_isolation": ALL_OF_IT,
    "test_contract_load": ALL_OF_IT,
    "test_contract_memories": ("test_memories_are_listed",),
    "test_contract_merge": ("test_merge_and_unmerge",),
    "test_contract_meta": ("test_metadata_alone",),
    "test_contract_names": ("test_the_commonest_spelling",),
    "test_contract_nearest": ALL_OF_IT,
    "test_contract_overview": ("test_cover_is_the_same",),
    "test_contract_question_cache": ("test_a_confirmed_answer",),
    "test_contract_questions": ("test_a_question_is_kept",),
    "test_contract_replace": ("test_other_findings",),
    "test_contract_pathwise": ("test_a_candidate_has_both", "test_a_candidate_within_a_scope"),
    "test_contract_runs": ("test_runs_are_built", "test_a_run_that_lost", "test_the_codebook_of_all_runs"),
    "test_contract_scope": ("test_nothing_outside",),
    "test_contract_text_to_cypher": (
        "test_a_question_has_its_rows",
        "test_the_examples_run",
        "test_what_does_more_than_read",
        "test_more_rows_are_cut",
        "test_an_endless_statement",
        "test_ask_answers_from_the_rows",
    ),
    "test_contract_workspaces": ("test_the_graph_is_the_same",),
    "test_docs": ALL_OF_IT,
    "test_embedded_engine": ALL_OF_IT,
    "test_embedding_server": ("test_load_ask_and_another_dimension",),
    "test_local_neo4j": ALL_OF_IT,
    "test_moving": ALL_OF_IT,
    "test_neo4j_engine": ALL_OF_IT,
    "test_nodes": ("test_the_classes_read",),
    "test_serve_soak": ALL_OF_IT,
    "test_unspaced": ("test_case_40_a_word",),
    "test_without_password": ALL_OF_IT,
}
# Tests of these that show nothing more on a server than on the embedded engine.
ONCE = (
    "test_every_analysis_stays_inside",
    "test_a_restore_that_was_killed",
    "test_by_http_and_the_command_too",
)
SERVERS = (
    "neo4j-",
    "test_neo4j_engine",
    "test_local_neo4j",
    "[5.26",
    "[2026",
)  # in the id of a test that needs one
# These begin early.
LONG = (
    "test_docs",
    "test_crash",
    "test_environment",
    "test_privacy",
    "test_load_faults",
    "test_embedder",
    "test_serve_process",
    "test_local_model",
    "test_recall",
)
ALL = os.environ.get("GSWGRAPH_TEST_ALL") == "1"


def _marks(item: pytest.Item) -> Iterator[str]:
    """What a test needs, by its id and its fixtures; `slow` stands at the tests themselves."""
    fixtures = set(getattr(item, "fixturenames", ()))
    if any(sign in item.nodeid for sign in SERVERS):
        yield "neo4j"
    elif item.path.stem in OWN_ENGINE or fixtures & {
        "engine_settings",
        "asked_sample",
        "embedded_sample",
        "embedded_corpus",
        "sample_folder",
        "place",
    }:
        yield "engine"
    else:
        yield "unit"
    if hasattr(getattr(item, "module", None), "chromium"):
        yield "browser"


def _left_out(item: pytest.Item) -> bool:
    """Tell whether a test runs with GSWGRAPH_TEST_ALL=1 (`make test-all`) only."""
    if item.get_closest_marker("slow") is not None:
        return True
    if "2026" in item.nodeid and "neo4j" in item.keywords:
        return True
    if "5.26" not in item.nodeid:
        return False
    named = ON_NEO4J.get(item.path.stem, ())
    return not item.name.startswith(named) or item.name.startswith(ONCE)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests, leave out those of `make test-all`, and begin with what takes long."""
    for item in items:
        for mark in _marks(item):
            item.add_marker(mark)
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: ("neo4j" not in item.keywords, item.path.stem not in LONG))
    if (
        not ALL
        and config.option.markexpr != "slow"
        and (left_out := [item for item in items if _left_out(item)])
    ):
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not _left_out(item)]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Beside each other run the tests of servers, which one process starts, and those of each file, whose fixtures are made once."""
    from xdist.scheduler import LoadScopeScheduling

    class ByPlace(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if any(sign in nodeid for sign in SERVERS):
                return "servers"
            return nodeid.partition("::")[0]

    config.option.loadscopereorder = False  # as collected, not by how many tests a file has
    return ByPlace(config, log)


# Files whose tests are about the engine's own process or folder, or open a memory from another process.
OWN_ENGINE = frozenset(
    f"test_{name}"
    for name in (
        *(
            "embedded_engine",
            "early",
            "crash",
            "crash_model",
            "docs",
            "site",
            "notebook",
            "serve_process",
            "serve_mcp",
            "serve_beside",
            "serve_soak",
        ),
        *("serve_page", "waiting", "python", "repeatable", "without_password", "cli", "local_neo4j"),
    )
)


@pytest.fixture(scope="session", autouse=True)
def shared_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[engines.SharedEngine]:
    """The embedded engine of all tests of this process; see `engines.SharedEngine`."""
    engine = engines.SharedEngine(tmp_path_factory.mktemp("shared-engine") / "memory")
    with pytest.MonkeyPatch.context() as patch:
        engine.install(patch)
        yield engine
    engine.stop()


@pytest.fixture(scope="module", autouse=True)
def _own_engine(request: pytest.FixtureRequest, shared_engine: engines.SharedEngine) -> Iterator[None]:
    shared_engine.own = request.path.stem in OWN_ENGINE
    yield
    shared_engine.own = False


@pytest.fixture(scope="session")
def docker_compose_file() -> str:
    """The compose file that users get too."""
    return str(Path(__file__).parent.parent / "docker/compose.yml")


@pytest.fixture(scope="session")
def docker_setup() -> list[str]:
    """Both version lines at once, on ports that Docker chooses."""
    os.environ["GSWGRAPH_NEO4J_PASSWORD"] = engines.DOCKER_PASSWORD
    for name in ("BOLT_PORT", "HTTP_PORT", "BOLT_PORT_2026", "HTTP_PORT_2026"):
        os.environ[f"GSWGRAPH_{name}"] = "0"
    return ["--profile 5.26 --profile 2026 up --detach --wait"]


@pytest.fixture(scope="session")
def docker_cleanup() -> list[str]:
    """Leave nothing behind."""
    return ["--profile 5.26 --profile 2026 down --volumes"]


@pytest.fixture(scope="session")
def neo4j_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Settings]]:
    """Gives the settings of a Neo4j of a version line, which starts when it is first asked for."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def get(version: str) -> Settings:
            return stack.enter_context(
                engines.neo4j_settings(version, request, tmp_path_factory.mktemp(f"neo4j-{version}"))
            )

        yield get


@pytest.fixture(scope="session", params=engines.NAMES)
def engine_settings(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    neo4j_server: Callable[[str], Settings],
) -> Settings:
    """Settings of a usable engine, for each engine in turn; what other tests left may still be in it."""
    if request.param == "embedded":
        return Settings(memory=str(tmp_path_factory.mktemp("embedded") / "memory"))
    return neo4j_server(request.param.removeprefix("neo4j-"))


@pytest.fixture(scope="session", params=list(engines.URI_VARIABLES))
def server_settings(request: pytest.FixtureRequest, neo4j_server: Callable[[str], Settings]) -> Settings:
    """Like `engine_settings`, for what concerns Neo4j servers only."""
    return neo4j_server(request.param)


@pytest.fixture
def fresh_settings(engine_settings: Settings, tmp_path: Path) -> Settings:
    """Settings of an engine whose graph is empty."""
    if "://" not in engine_settings.memory:
        return replace(engine_settings, memory=str(tmp_path / "memory"))
    engines.empty(engine_settings)
    return engine_settings


@pytest.fixture(scope="module")
def shared(engine_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One memory for each engine and test file, whatever is in it; the schema of a server stays, as a new one costs it seconds and all its plans."""
    settings = engine_settings
    if "://" in settings.memory:
        engines.empty(settings, keep_schema=True)
    else:
        settings = replace(settings, memory=str(tmp_path_factory.mktemp("contract") / "memory"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Embedder, "load", staticmethod(fakes.embedder))
        with Memory.open(settings=settings) as memory:
            yield memory


@pytest.fixture
def memory(shared: Memory) -> Memory:
    """A memory that holds nothing."""
    shared.forget(everything=True)
    return shared


@pytest.fixture
def corpus(shared: Memory) -> Memory:
    """A memory that holds the example corpus and nothing else."""
    held = {**shared.status().nodes, "Question": 0}  # questions that were asked change nothing
    if held != contract.CORPUS_NODES or shared.load(contract.CORPUS).documents.unchanged != len(
        contract.FILES
    ):
        shared.forget(everything=True)
        shared.load(contract.CORPUS)
    return shared


@pytest.fixture
def sample(memory: Memory, tmp_path: Path) -> Memory:
    """A memory that holds the ready workspaces of `samples` and nothing else."""
    report = memory.load(*samples.write(tmp_path))
    assert report.failures == []
    return memory


@pytest.fixture(scope="session")
def embedded_sample(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """An embedded memory of `samples`: what it holds and finds every engine must. Only to be read."""
    folder = tmp_path_factory.mktemp("embedded-sample") / "memory"
    shutil.copytree(sample_folder, folder)
    yield from _with_fake_embedder(folder)


@pytest.fixture(scope="session")
def asked_sample(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Another one, for tests whose questions are kept. No test loads or forgets anything in it."""
    folder = tmp_path_factory.mktemp("asked-sample") / "memory"
    shutil.copytree(sample_folder, folder)
    yield from _with_fake_embedder(folder)


@pytest.fixture(scope="session")
def embedded_corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The same of the example corpus."""
    yield from _with_fake_embedder(tmp_path_factory.mktemp("embedded-corpus") / "memory", contract.CORPUS)


def _with_fake_embedder(folder: Path, *load: str) -> Iterator[Memory]:
    settings = Settings(memory=str(folder))
    with Memory.open(settings=settings) as memory:
        memory._embedder = fakes.embedder(settings)
        if load:
            assert memory.load(*load).failures == []
        yield memory


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory, shared_engine: engines.SharedEngine) -> Path:
    """The folder of an embedded memory of `samples`, for tests that hold on any engine: open a copy of it."""
    folder = tmp_path_factory.mktemp("sample")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Embedder, "load", staticmethod(fakes.embedder))
        patch.setattr(shared_engine, "own", True)
        with Memory.open(settings=Settings(memory=str(folder / "memory"))) as memory:
            assert memory.load(*samples.write(folder)).failures == []
    return folder / "memory"
