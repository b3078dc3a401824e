"""The embedded engine: its folder, its child process, its dialect."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from engines import opened
from neo4j.exceptions import ClientError

from gsw_graph.config import Settings
from gsw_graph.engine import (
    embedded,
    embedded_child,
    embedded_folder,
    with_plain_errors,
)
from gsw_graph.engine.opening import connect
from gsw_graph.errors import EngineError, InputError, MemoryLockedError
from gsw_graph.memory import Memory

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and modes of POSIX")
HOLDER = """
import sys, time
from gsw_graph.config import Settings
from gsw_graph.engine.opening import connect
connection = connect(Settings(memory=sys.argv[1]))
print(connection.on_close.__self__._process.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with opened(Settings(memory=str(tmp_path_factory.mktemp("shared") / "memory"))) as connection:
        yield connection


def hold(folder):
    """Another process that has the memory open, and the id of its engine."""
    parent = subprocess.Popen([sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    line = parent.stdout.readline()
    assert line.strip(), "the other process did not open the memory"
    return parent, int(line)


def end(parent):
    parent.kill()
    parent.wait()
    assert parent.stdout is not None
    parent.stdout.close()


def gone(pid, seconds=20):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if (stat := Path(f"/proc/{pid}/stat")).exists() and stat.read_text().rpartition(")")[2].split()[
            0
        ] == "Z":
            return True  # dead, only not yet fetched by the init of this machine
        time.sleep(0.05)
    return False


@POSIX
def test_folder_and_password_are_private(tmp_path):
    folder = embedded_folder.prepare(tmp_path / "memory")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "password").stat().st_mode & 0o777 == 0o600
    assert len(password := embedded_folder.read_password(folder)) >= 24
    assert embedded_folder.read_password(embedded_folder.prepare(folder)) == password


def test_nothing_is_printed(tmp_path):
    code = HOLDER.partition("print(")[0] + "connection.close()"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(tmp_path / "m")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout == ""
    assert done.stderr == ""


def test_engine_ends_without_close(tmp_path):
    code = HOLDER.replace("time.sleep(600)", "")
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "m")], capture_output=True, text=True, check=True
    )
    with opened(Settings(memory=str(tmp_path / "m"))):
        pass
    assert gone(int(done.stdout))


def test_second_process_is_told_who_holds_the_memory(tmp_path):
    parent, _ = hold(tmp_path / "memory")
    try:
        with pytest.raises(MemoryLockedError) as caught:
            connect(Settings(memory=str(tmp_path / "memory")))
    finally:
        end(parent)
    text = str(caught.value)
    assert f"pid {parent.pid}" in text
    assert "gsw_graph.engine.opening import connect" in text  # its command
    assert str(tmp_path / "memory") in text
    assert "\n" not in text


@POSIX
def test_killed_parent_frees_the_memory(tmp_path):
    parent, engine = hold(tmp_path / "memory")
    assert not gone(engine, 0.2)
    parent.send_signal(signal.SIGKILL)
    try:
        with opened(
            Settings(memory=str(tmp_path / "memory"))
        ) as connection:  # waits for the engine to stop instead of refusing
            assert (
                connection.driver.execute_query("RETURN 1 AS x", database_=connection.database).records[0][
                    "x"
                ]
                == 1
            )
    finally:
        end(parent)
    assert gone(engine)


@POSIX
def test_engine_ends_though_a_fork_keeps_the_pipe(tmp_path):
    fork = "import os\nif os.fork() == 0: os.close(1); time.sleep(30); os._exit(0)\nos.kill(os.getpid(), 9)"
    code = HOLDER.replace("time.sleep(600)", fork)
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "m")], stdout=subprocess.PIPE, text=True, check=False
    )
    assert gone(int(done.stdout))


@POSIX
def test_an_interrupted_question_leaves_its_answer_to_nobody(shared, monkeypatch):
    process = shared.dialect._process

    def interrupted(seconds):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(process, "_word", interrupted)
        with pytest.raises(KeyboardInterrupt):
            process.ask({"analyze": "RETURN 1", "database": shared.database})
    assert process.ask({"analyze": "CREATE (n) RETURN n", "database": shared.database})["reads"] is False
    assert process.ask({"analyze": "RETURN 1", "database": shared.database})["reads"] is True


@POSIX
def test_the_first_question_has_the_index_read_aside(shared, monkeypatch):
    read = []
    monkeypatch.setattr("gsw_graph.store.schema.warm_vectors", read.append)
    memory = Memory(shared, Settings(memory=shared.url))
    for _ in range(2):
        memory.ask("Who?", strategy="bm25", keep=False, llm=False)
    assert read == [shared]


def test_an_engine_that_is_killed_while_it_starts_is_started_once_more(tmp_path, monkeypatch):
    processes = []
    spawn = embedded.EngineProcess._spawn

    def recorded(engine):
        processes.append(spawn(engine))
        return processes[-1]

    monkeypatch.setattr(embedded.EngineProcess, "_spawn", recorded)
    process = embedded.EngineProcess(
        embedded_folder.prepare(tmp_path / "memory"), tmp_path / "cache", lambda: processes[0].kill()
    )
    process.stop()
    assert processes[0].returncode == -signal.SIGKILL
    assert processes[1].returncode == 0


@POSIX
def test_an_engine_that_died_is_reported(tmp_path):
    with opened(Settings(memory=str(tmp_path / "memory"))) as connection:
        assert connection.on_close is not None
        os.kill(connection.on_close.__self__._process.pid, signal.SIGKILL)  # type: ignore[attr-defined]
        with pytest.raises(EngineError, match="has ended"):
            connection.dialect.read_only_violation("RETURN 1")


@POSIX
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_copy_does_not_end_the_engine(shared):
    assert shared.on_close is not None
    copy = multiprocessing.get_context("fork").Process(target=shared.on_close)
    copy.start()
    copy.join(60)
    assert copy.exitcode == 0
    assert shared.driver.execute_query("RETURN 1 AS x", database_=shared.database).records[0]["x"] == 1


def test_missing_package_names_the_alternative(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(EngineError, match=r"bolt://localhost:7687.*gswgraph db start"):
        connect(Settings(memory=str(tmp_path / "memory")))
    assert not (tmp_path / "memory").exists()


def test_a_file_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(EngineError, match="is a file"):
        connect(Settings(memory=str(tmp_path / "notes.txt")))


def test_a_foreign_folder_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(EngineError, match="holds other files"):
        connect(Settings(memory=str(tmp_path)))
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_newer_format_and_a_broken_marker_are_refused(tmp_path):
    folder = embedded_folder.prepare(tmp_path / "memory")
    (folder / "gswgraph.json").write_text('{"format": 99}')
    with pytest.raises(EngineError, match="format 99"):
        embedded_folder.prepare(folder)
    (folder / "gswgraph.json").write_text("{")
    with pytest.raises(EngineError, match="broken"):
        embedded_folder.prepare(folder)


def test_an_engine_whose_database_does_not_open_says_so_and_ends(tmp_path):
    with opened(Settings(memory=str(tmp_path / "memory"))):
        pass
    shutil.rmtree(tmp_path / "memory/databases/gsw")
    (tmp_path / "memory/databases/gsw").write_text("no database")
    began = time.monotonic()
    with pytest.raises(EngineError, match=r"did not start: .*engine\.log"):
        connect(Settings(memory=str(tmp_path / "memory")))
    assert time.monotonic() - began < embedded.STOP_SECONDS  # it does not wait for one that is gone
    assert "Traceback" in (tmp_path / "memory" / embedded_folder.LOG).read_text()


@pytest.mark.slow
def test_the_start_cache_is_made_and_used(tmp_path):
    settings = Settings(memory=str(tmp_path / "memory"), cache_dir=tmp_path / "cache")
    with opened(settings):
        pass
    until = time.monotonic() + embedded_child._REHEARSAL_SECONDS + 20
    while not (found := list((tmp_path / "cache/embedded").glob("*.aot"))):
        assert time.monotonic() < until, (tmp_path / "memory/engine.log").read_text()
        time.sleep(0.1)
    found[0].write_bytes(b"broken")  # must cost time only
    with opened(settings) as connection:
        assert (
            connection.driver.execute_query("RETURN 1 AS x", database_=connection.database).records[0]["x"]
            == 1
        )


def test_a_large_message_arrives(shared):
    text = "x" * (20 << 20)  # above the 16 MiB that Bolt allows by default
    assert shared.driver.execute_query(
        "RETURN size($text) AS n", text=text, database_=shared.database
    ).records[0]["n"] == len(text)


@POSIX
def test_files_are_private_and_the_child_knows_no_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("NEO4J_PASSWORD", "hidden-password")
    before = os.umask(0)
    try:
        with opened(Settings(memory=str(tmp_path / "memory"))) as connection:
            connection.driver.execute_query("CREATE (:Kept {id: 1})", database_=connection.database)
            assert connection.on_close is not None
            process = connection.on_close.__self__  # type: ignore[attr-defined]
            if Path("/proc/self/environ").exists():
                environment = Path(f"/proc/{process._process.pid}/environ").read_bytes()
                assert b"sk-secret" not in environment
                assert b"hidden-password" not in environment
    finally:
        os.umask(before)
    written = [file for file in (tmp_path / "memory/databases").rglob("*") if file.is_file()]
    assert written
    assert [str(file) for file in written if file.stat().st_mode & 0o077] == []


def test_a_lost_password_is_to_be_restored(tmp_path):
    folder = embedded_folder.prepare(tmp_path / "memory")
    (folder / "databases").mkdir()
    (folder / "password").unlink()
    with pytest.raises(EngineError, match=r"password file of this memory is lost or empty\. Restore it"):
        embedded_folder.prepare(folder)
    assert not (folder / "password").exists()


@pytest.mark.parametrize("url", ["bolt:/typo", "neo4j+s:host", "bolt:localhost:7687", "HTTP:/x"])
def test_a_url_with_a_slash_too_few_is_no_folder(tmp_path, monkeypatch, url):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EngineError, match="two slashes"):
        connect(Settings(memory=url))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    class Full:
        _closed = False
        _connection = SimpleNamespace(url=str(tmp_path))

        @with_plain_errors
        def load(self):
            raise ClientError("Transaction error on commit")

    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4096))
    with pytest.raises(EngineError, match=r"the disk is full\. Free some space"):
        Full().load()


def test_running_out_of_heap_is_an_error_that_names_the_setting(tmp_path, monkeypatch):
    settings = Settings.from_env({"GSWGRAPH_ENGINE_HEAP": "48m", "NEO4J_URI": str(tmp_path / "memory")})
    connection = connect(settings)

    @with_plain_errors
    def query(memory):
        with connection.session() as session:
            session.run(
                "UNWIND range(1, 900000) AS n WITH collect($text + n) AS texts RETURN size(texts)",
                text="long " * 50,
            ).consume()

    try:
        with pytest.raises(EngineError, match="GSWGRAPH_ENGINE_HEAP"):
            query(SimpleNamespace(_closed=False, _connection=connection))
    finally:
        connection.close()
    with pytest.raises(InputError, match="GSWGRAPH_ENGINE_HEAP"):
        Settings.from_env({"GSWGRAPH_ENGINE_HEAP": "much"})
