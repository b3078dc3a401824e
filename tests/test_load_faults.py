"""A language model that fails in every way: the load ends, what it could not read is listed, and the next load completes it."""

from __future__ import annotations

import json
from dataclasses import replace

import engines
import model_corpus
import pytest
from click.testing import CliRunner
from contract import rows
from dump import differences, dump
from model_server import Fault, ModelServer

from gsw_graph.cli import main
from gsw_graph.config import Settings
from gsw_graph.memory import Memory
from gsw_graph.models.chat import chat as chat_calls

DOCUMENTS = 60
KINDS = (
    "rate_limit",
    "server_error",
    "overloaded",
    "hang",
    "close",
    "length",
    "invalid",
    "wrong_schema",
    "refusal",
    "content_filter",
    "empty",
)


@pytest.fixture
def server():
    with ModelServer(model_corpus.reply) as running:
        yield running


@pytest.fixture
def settings(fake_embedder, server, tmp_path, monkeypatch):
    """An empty memory, and a model whose client is not patient. One engine: what a model says is the same on all."""
    monkeypatch.setattr(chat_calls, "BACKOFF", 0.01)
    found = replace(
        engines.own_replies(Settings(memory=str(tmp_path / "memory")), tmp_path / "cache"),
        llm="test-model",
        llm_url=server.url,
    )
    for name, value in {
        "NEO4J_URI": found.memory,
        "GSWGRAPH_LLM": "test-model",
        "GSWGRAPH_LLM_URL": server.url,
        "GSWGRAPH_LLM_KEY": "a-key",
        "GSWGRAPH_CACHE": str(found.cache_dir),
    }.items():
        monkeypatch.setenv(name, value)
    return found


def load(*arguments):
    """The command line in this process, and the JSON that it prints."""
    result = CliRunner().invoke(main, ["load", "--json", "--quiet", *arguments])
    return result, json.loads(result.stdout)


def sources(settings):
    with Memory.open(settings=settings) as memory:
        return {str(row[0]) for row in rows(memory, "MATCH (d:Document) RETURN d.source AS source")}


def test_every_fault_ends_in_a_complete_or_a_listed_document(settings, server, tmp_path):
    corpus = tmp_path / "corpus"
    passages = model_corpus.write(tmp_path / "corpus", DOCUMENTS)
    # A tenth of the calls on each way that a second try may cure, and documents that no try can.
    server.faults = (
        *(Fault(kind, share=0.04, seconds=0.05) for kind in KINDS),
        *(
            Fault(kind, contains=(model_corpus.sentence(n),))
            for n, kind in enumerate(("refusal", "length", "content_filter"), 11)
        ),
    )
    first, said = load(str(corpus))
    struck = server.fault_counts()
    assert all(struck.get(kind) for kind in KINDS), struck
    assert first.exit_code == 4
    assert first.exception is None or isinstance(first.exception, SystemExit)
    failed = {failure["source"] for failure in said["failures"] if not failure["part"]}
    partly = {failure["source"].partition(", passage ")[0] for failure in said["failures"] if failure["part"]}
    there = sources(settings)
    assert said["documents"]["failed"] == len(failed) >= 3
    assert failed.isdisjoint(there)
    assert partly <= there
    assert len(there | failed) == said["documents"]["new"] + len(failed) == DOCUMENTS
    reasons = " ".join(failure["reason"] for failure in said["failures"])
    for reason in ("the model refused", "cut off after", "content filter"):
        assert reason in reasons

    server.faults = ()
    before = server.count()
    second, said = load(str(corpus))
    assert second.exit_code == 0
    assert said["failures"] == []
    expected = {
        "new": len(failed),
        "unchanged": len(there) - len(partly),
        "replaced": len(partly),
        "failed": 0,
        "described": 0,
    }
    assert said["documents"] == expected
    assert server.count() - before < passages / 2, "what was read once is not read again"
    with Memory.open(settings=settings) as memory:
        found = dump(memory)
        assert memory.load(str(corpus)).documents.unchanged == DOCUMENTS
        memory.forget(everything=True)
        memory.load(str(corpus))
        assert differences(dump(memory), found) == []
        assert [
            finding for finding in memory.doctor() if not finding.ok and "language" not in finding.check
        ] == []  # its script knows passages alone


def test_a_passage_that_cannot_be_read_leaves_the_rest_of_its_document(settings, server, tmp_path):
    model_corpus.write(tmp_path / "corpus", 1)
    server.faults = (Fault("refusal", contains=(model_corpus.sentence(2000),)),)
    result, said = load(str(tmp_path / "corpus/long0.md"))
    (failure,) = said["failures"]
    assert result.exit_code == 4
    assert failure["part"] is True
    assert failure["source"].endswith("long0.md, passage 2")
    with Memory.open(settings=settings) as memory:
        assert rows(
            memory, "MATCH (d:Document) RETURN d.unread AS unread, d.extractor AS extractor, d.model AS model"
        ) == [((1,), "llm", "test-model")]
        expected = [(0, 3), (1, 0), (2, 3), (3, 3), (4, 3)]
        assert (
            rows(
                memory,
                "MATCH (p:Passage) RETURN p.position AS n, COUNT { (p)<-[:IN]-(:QAPair) } AS pairs ORDER BY n",
            )
            == expected
        )
        ((source, numbers),) = memory.status().unread.items()
        assert source.endswith("long0.md") is True, "as the load said"
        assert numbers == [2], "as the load said"
        assert (
            "Person2000 Smith"
            in memory.ask("Who is Person2000 Smith?", strategy="linked", llm=False).passages[0].text
        )


def state(settings):
    """Of the document of several passages."""
    statement = "MATCH (d:Document) WHERE d.loader = 'markdown' RETURN d.extractor AS extractor, d.model AS model, d.unread AS unread"
    with Memory.open(settings=settings) as memory:
        return rows(memory, statement)[0]


def test_an_upgrade_with_gaps_leaves_a_whole_result(settings, server, tmp_path, monkeypatch):
    before = ("llm", "older-model", None)
    model_corpus.write(tmp_path / "corpus", 2)
    path = str(tmp_path / "corpus/long0.md")
    load(str(tmp_path / "corpus/short.jsonl"))
    with monkeypatch.context() as once:
        once.setenv("GSWGRAPH_LLM", "older-model")
        load(path)
    with Memory.open(settings=settings) as memory:
        found = dump(memory)
    server.faults = (Fault("refusal", contains=(model_corpus.sentence(2000),)),)
    result, said = load(str(tmp_path / "corpus"), "--upgrade")
    (failure,) = said["failures"]
    assert result.exit_code == 4
    assert failure["part"] is False
    assert failure["source"] == path
    assert "1 of its 5 passages could not be read, so its older result stays" in failure["reason"]
    assert said["documents"] == {"new": 0, "unchanged": 1, "replaced": 0, "failed": 1, "described": 0}
    assert state(settings) == before
    with Memory.open(settings=settings) as memory:
        assert differences(dump(memory), found) == []

    _, said = load(path, "--replace")
    assert [failure["part"] for failure in said["failures"]] == [True], "asked for, what was read is taken"
    assert state(settings) == ("llm", "test-model", (1,))

    server.faults = ()
    calls = server.count()
    result, said = load(path, "--upgrade")
    assert result.exit_code == 0
    assert said["failures"] == []
    assert server.count() - calls == 1
    assert state(settings) == ("llm", "test-model", None)


def test_a_refused_key_stops_the_load_and_lists_everything(settings, server, tmp_path):
    model_corpus.write(tmp_path / "corpus", DOCUMENTS)
    server.faults = (Fault("key"),)
    result, said = load(str(tmp_path / "corpus"))
    assert result.exit_code == 1
    assert said["documents"]["failed"] == DOCUMENTS
    assert sources(settings) == set()
    assert server.count() <= 8, "calls that were under way, and none after"
    for failure in said["failures"]:
        assert "the server refused the key" in failure["reason"]


def test_a_budget_stops_and_what_was_paid_for_is_kept(settings, server, tmp_path, monkeypatch):
    monkeypatch.setenv("GSWGRAPH_LLM_PRICE", "1,1")
    passages = model_corpus.write(tmp_path / "corpus", DOCUMENTS)
    short = (
        tmp_path / "corpus/short.jsonl"
    )  # first: with 11 calls, which of the 5 passages of a long document are read is a matter of threads
    result, said = load(str(short), *map(str, sorted(short.parent.glob("long*"))), "--budget", "0.02")
    assert result.exit_code == 4, result.output
    assert said["documents"]["new"] == said["calls"]
    spent = sum(said["tokens"].values())
    assert 10_000 < spent <= 20_000
    assert said["dollars"] == pytest.approx(spent / 1e6)
    for failure in said["failures"]:
        assert "the budget of" in failure["reason"]
    calls = server.count()
    assert said["calls"] == calls < passages
    again, said = load(str(tmp_path / "corpus"))
    assert again.exit_code == 0
    assert said["failures"] == []
    assert server.count() == passages, "nothing is asked twice"
    assert said["calls"] + calls == passages


def test_a_dry_run_tells_what_a_load_takes_and_asks_nothing(settings, server, tmp_path):
    passages = model_corpus.write(tmp_path / "corpus", DOCUMENTS)
    result, said = load(str(tmp_path / "corpus"), "--dry-run")
    expected = said["estimate"]
    assert result.exit_code == 0
    assert server.count() == 0
    assert expected["calls"] == passages
    assert expected["cached"] == 0
    assert said["nodes"] == {"Document": DOCUMENTS, "Passage": passages}
    _, said = load(str(tmp_path / "corpus"))
    assert expected["prompt_tokens"] == pytest.approx(said["tokens"]["in"], rel=0.15)
    _, said = load(str(tmp_path / "corpus"), "--dry-run", "--replace")
    assert said["estimate"]["calls"] == 0
    assert said["estimate"]["cached"] == passages
    model_corpus.write(tmp_path / "more", 2 * DOCUMENTS)
    _, said = load(str(tmp_path / "more"), "--dry-run")
    expected = said["estimate"]
    _, said = load(str(tmp_path / "more"))
    assert expected["prompt_tokens"] == pytest.approx(said["tokens"]["in"], rel=0.15)
    assert said["tokens"]["out"] < expected["completion_tokens"] < 5 * said["tokens"]["out"]
