"""Loads by several workers into one Neo4j: parts of plain loads, and a Ray cluster on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import engines
import pytest
from dump import differences, dump

from gsw_graph import Memory
from gsw_graph.errors import InputError
from gsw_graph.extract import rules
from gsw_graph.load.options import LoadOptions
from gsw_graph.load.workers import _share
from gsw_graph.loaders import read
from gsw_graph.store import writer

DOCUMENTS = 300


def write_corpus(folder):
    """A file of records whose names occur in several documents."""
    file = folder / "corpus.jsonl"
    with file.open("w") as output:
        for number in range(DOCUMENTS):
            town, person = f"Port {chr(65 + number % 23)}ellow", f"Ada {chr(65 + number % 19)}orme"
            text = f"{person} built the {number}th bridge of {town} in {1700 + number}. It crosses the River Tarn{number % 7}."
            output.write(json.dumps({"title": f"Bridge {number}", "text": text}) + "\n")
    return file


def load_whole(settings, file):
    """The graph of one load by one process; the memory is empty afterwards."""
    with Memory.open(settings=settings) as memory:
        memory.load(file)
        whole = dump(memory, vectors=False)
        memory.forget(everything=True)
    return whole


def test_writers_side_by_side_make_the_graph_of_one(server_settings, tmp_path):
    """Ten threads write documents that share most names, a transaction each, and forget others meanwhile."""
    engines.empty(server_settings)
    file = write_corpus(tmp_path)
    whole = load_whole(server_settings, file)
    workspaces = [rules.extract(document) for document in read([str(file)])]
    with Memory.open(settings=server_settings) as memory:
        texts = [passage.full_text for item in workspaces for passage in item.document.passages]
        vectors = dict(zip(texts, memory.embedder.encode(texts), strict=True))
        gone, kept = workspaces[:60], workspaces[60:]
        write(memory, gone, vectors)

        def forget_some(begin):
            with memory._connection.session() as session:
                writer.forget(session, [item.document.id for item in gone[begin : begin + 10]])

        with ThreadPoolExecutor(10) as pool:
            written = [pool.submit(write, memory, [item], vectors) for item in kept]
            forgotten = [pool.submit(forget_some, begin) for begin in range(0, 60, 10)]
            for future in written + forgotten:
                future.result()
        write(memory, gone, vectors)
        assert differences(dump(memory, vectors=False), whole) == []


def write(memory, workspaces, vectors):
    """Write some workspaces in a transaction."""
    batch = writer.Batch()
    for workspace in workspaces:
        batch.add(workspace, vectors)
    writer.write_batch(memory._connection, batch)


def test_parts_are_the_whole_and_none_twice():
    sources = [f"file:{number}" for number in range(1000)]
    taken = []
    for part in range(1, 9):
        options = LoadOptions(part=f"{part}/8")
        taken += filter(options.takes, sources)
    assert sorted(taken) == sorted(sources)


@pytest.mark.parametrize("part", ["0/8", "9/8", "3", "a/b", "3/0"])
def test_what_is_no_part_is_refused(part):
    with pytest.raises(InputError, match="no part"):
        LoadOptions(part=part).takes("file")


def test_a_folder_has_one_writer(tmp_path):
    with Memory.open(tmp_path / "memory") as memory, pytest.raises(InputError, match="one writer"):
        memory.load_by_workers(write_corpus(tmp_path))


def kill_a_worker():
    """Kill a process that loads a part, and tell whether there was any."""
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if command.read_text().startswith("ray::load_part"):
                os.kill(int(command.parent.name), signal.SIGKILL)
                return True
        except OSError:
            continue
    return False


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="a worker is found in /proc")
def test_workers_write_the_graph_of_one_process_also_if_one_is_killed(server_settings, tmp_path):
    engines.empty(server_settings)
    file = write_corpus(tmp_path)
    command = [sys.executable, "-m", "gsw_graph.cli", "load", str(file), "--ray", "--json"]
    own = {
        "NEO4J_URI": server_settings.memory,
        "NEO4J_PASSWORD": server_settings.password or "",
        "GSWGRAPH_CACHE": str(server_settings.cache_dir),
    }
    environment = os.environ | {name: value for name, value in own.items() if value}
    whole = load_whole(server_settings, file)
    engines.empty(server_settings)  # workers make the schema side by side
    with Memory.open(settings=server_settings) as memory:
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as load:
            is_killed = False
            while load.poll() is None and not is_killed:
                time.sleep(0.1)
                is_killed = memory.status().nodes.get("Document", 0) > 0 and kill_a_worker()
            output, errors = load.communicate(timeout=300)
        assert load.returncode == 0, errors.decode()
        assert is_killed
        report = json.loads(output)
        counts = report["documents"]
        assert report["failures"] == []
        assert counts["new"] + counts["unchanged"] + counts["replaced"] == DOCUMENTS
        assert dump(memory, vectors=False) == whole


def test_a_budget_that_is_nothing_for_a_part_is_refused():
    with pytest.raises(InputError, match="too small for 64 parts"):
        _share("20tok", 64)
    assert _share("128tok", 64) == "2tok"
