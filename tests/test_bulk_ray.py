"""`bulk` on a local cluster of two nodes writes what one machine writes, whatever dies in the middle."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import engines
import fakes
import model_corpus
import pytest
import ray_cluster
import ray_workers
from cli_runner import run
from dump import differences
from model_server import ModelServer
from test_bulk import EXAMPLES, held

from gsw_graph import loaders
from gsw_graph.config import Settings
from gsw_graph.errors import EngineError, InputError, ModelError
from gsw_graph.inference.embed.embedder import Embedder
from gsw_graph.model import Failure
from gsw_graph.moving import bulk as here
from gsw_graph.moving import cluster, pool, worker
from gsw_graph.moving.checking import check
from gsw_graph.results import BulkReport
from gsw_graph.tally import Progress

pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"), pytest.mark.filterwarnings("ignore::FutureWarning:ray")]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if sys.platform == "darwin" and importlib.util.find_spec("ray") is None:
        pytest.skip("NOT TESTED: ray (no wheels for Macs with Intel processors)")
    with ray_cluster.two_nodes() as found:
        yield found


def on_cluster(names: list[str], folder: Path, address: str, settings: Settings | None = None, **options: Any) -> BulkReport:
    return cluster.bulk(names, folder, settings or Settings(), options.pop("embedder", fakes.embedder), address=address, **options)


@pytest.fixture
def names(tmp_path: Path) -> list[str]:
    """The example corpus; a document that says other things in another file, one that no database holds, lines that are no JSON."""
    texts = [{"id": "same", "title": "T", "text": "Ana Ruiz sang."}, {"id": "same", "title": "T", "text": "Ana Ruiz wrote."}]
    for n, record in enumerate((*texts, texts[0], {"id": "nul", "title": "T", "text": "nul \0"})):
        (tmp_path / f"{n}.jsonl").write_text(json.dumps(record), encoding="utf-8")
    (tmp_path / "broken.jsonl").write_text('{"id": "sound", "title": "T", "text": "Bo Lind."}\n{no\n', encoding="utf-8")
    return [str(EXAMPLES / "corpus"), str(EXAMPLES / "workspaces.jsonl"), *map(str, sorted(tmp_path.glob("*.jsonl"))), str(tmp_path / "nowhere")]


def test_the_same_files_although_a_worker_is_killed_in_the_middle(names: list[str], tmp_path: Path, address: str) -> None:
    expected = here.bulk(names, tmp_path / "here", Settings(), lambda: fakes.embedder(Settings()))
    seen = tmp_path / "seen"
    seen.mkdir()

    def kill() -> None:
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if (seen / "dying").exists() and (found := (seen / "dying").read_text()):
                os.kill(int(found), signal.SIGKILL)
                (seen / "killed").touch()
                return
            time.sleep(0.05)

    killer = threading.Thread(target=kill)
    killer.start()
    said: list[Progress] = []
    report = on_cluster(names, tmp_path / "there", address, part=8, embedder=partial(ray_workers.mortal, folder=str(seen)), progress=said.append)
    assert (said[0].stage, said[-1].stage) == ("waiting for a worker", "loading")
    killer.join()
    assert (seen / "killed").exists()
    assert len(list(seen.glob("made.*"))) > 1  # another went on
    assert differences(held(tmp_path / "here"), held(tmp_path / "there")) == []
    assert check(tmp_path / "there").faults == []
    assert sorted(report.failures, key=str) == sorted(expected.failures, key=str)
    assert len(report.failures) == 4
    assert (report.documents, report.nodes, report.relationships) == (expected.documents, expected.nodes, expected.relationships)
    assert len(list((tmp_path / "there" / "nodes").glob("Passage.*.parquet"))) > 3
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["gswgraph.json", "import.sh", "nodes", "relationships", "schema.cypher"]
    assert all(path.suffix == ".parquet" for path in (tmp_path / "there" / "nodes").iterdir())


def test_a_language_model_is_asked_within_one_limit_and_its_replies_are_kept(tmp_path: Path, address: str) -> None:
    passages = model_corpus.write(tmp_path / "corpus", 30)
    with ModelServer(model_corpus.reply, delay=0.02) as server:
        settings = Settings(llm="any", llm_url=server.url, llm_key="sk-secret", concurrency=2, cache_dir=tmp_path / "cache")
        said: list[Progress] = []
        report = on_cluster([str(tmp_path / "corpus")], tmp_path / "there", address, settings, part=10, progress=said.append)
        assert (report.failures, report.nodes["Passage"], server.most_in_flight) == ([], passages, 2)
        asked = len(server.calls)
        assert asked >= passages
        assert (said[-1].passages, said[-1].total, said[-1].answered) == (passages, passages, passages)
        here.bulk([str(tmp_path / "corpus")], tmp_path / "here", settings, lambda: fakes.embedder(settings))
        assert len(server.calls) == asked
    assert differences(held(tmp_path / "here"), held(tmp_path / "there")) == []


def test_what_goes_wrong_on_a_worker_is_said_as_on_one_machine(tmp_path: Path, address: str) -> None:
    """And the language model is asked no further."""
    model_corpus.write(tmp_path / "corpus", 300)
    with ModelServer(model_corpus.reply, delay=0.02) as server:
        settings = Settings(llm="any", llm_url=server.url, llm_key="sk-secret", password="secret", reranker_key="secret", cache_dir=tmp_path / "cache")
        with pytest.raises(ModelError, match=r"all-MiniLM-L6-v2: there is no such model. Name another$"):
            on_cluster([str(tmp_path / "corpus")], tmp_path / "there", address, settings, part=4, embedder=ray_workers.absent)
        assert [thread.name for thread in threading.enumerate() if thread.name == "gswgraph-reader"] == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "corpus"]
    with pytest.raises(InputError, match="cannot read standard input"):
        on_cluster(["-"], tmp_path / "there", address)
    assert "All nodes must see the corpus and --out" in str(pool._ours(FileNotFoundError(2, "no such file", "/shared/nodes/x")))


def test_documents_in_chunks_are_told_apart_as_in_one_go(names: list[str]) -> None:
    expected = list(loaders.read(names))
    found: list[Any] = []
    sources = loaders.Sources()
    files = list(loaders.paths(names))
    for told, items in worker.chunks([(one.as_posix(), one.resolve()) for one in files if isinstance(one, Path)], 3):
        left = iter(items)
        for one in told:
            fresh = one if isinstance(one, Failure) else sources.fresh(one)
            item = None if isinstance(one, Failure) else next(left)
            if fresh is True:
                found.append(item)
            elif isinstance(fresh, Failure):
                found.append(fresh)
    assert found + [one for one in files if isinstance(one, Failure)] == expected[1:] + expected[:1]


def test_without_ray_or_a_cluster_there_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    with monkeypatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "ray" else real(name, *rest))
        with pytest.raises(InputError, match=r"a cluster needs Ray. pip install 'gswgraph\[ray\]'"):
            on_cluster([str(EXAMPLES / "corpus")], tmp_path / "there", "local")
    ray = engines.needs("ray", "ray")

    def refuse(**_: Any) -> None:
        raise ConnectionError("Could not find any running Ray instance")

    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(InputError, match=r"^ray://head:10001: .*--ray auto, as `ray job submit` does"):
        on_cluster([str(EXAMPLES / "corpus")], tmp_path / "there", "ray://head:10001")
    with pytest.raises(EngineError, match=r"^auto: there is no Ray cluster that can be used \(Could not find any.*ray start --head"):
        on_cluster([str(EXAMPLES / "corpus")], tmp_path / "there", "auto")
    assert list(tmp_path.iterdir()) == []


def test_room_for_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = engines.needs("ray", "ray")
    nodes = [{"CPU": 16.0}, {"CPU": 8.0}, {}, {"CPU": 16.0, "dead": 1}]
    monkeypatch.setattr(ray, "nodes", lambda: [{"Alive": "dead" not in one, "Resources": one} for one in nodes])
    assert pool._room(Settings()) == (6, {"num_cpus": 4})
    nodes[0]["GPU"] = 2.0
    assert pool._room(Settings()) == (2, {"num_gpus": 1, "num_cpus": 1})
    assert pool._room(Settings(device="cpu")) == (6, {"num_cpus": 4})
    nodes[:] = [{}]
    with pytest.raises(EngineError, match="no node of the cluster has a processor"):
        pool._room(Settings())


def test_the_command_line_leads_to_the_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **options: Any) -> None:
        assert (arguments[:2], arguments[3]) == (((str(EXAMPLES),), "s3://bucket/files"), Embedder.load)
        assert (options["address"], options["extractor"], options["follow_links"]) == ("head:6379", "rules", True)
        raise InputError("seen")

    monkeypatch.setattr(cluster, "bulk", refuse)
    result = run("bulk", str(EXAMPLES), "--out", "s3://bucket/files", "--ray", "head:6379", "--extractor", "rules", "--follow-links")
    assert (result.exit_code, "seen" in result.stderr) == (1, True)
