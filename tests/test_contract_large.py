"""Documents larger than a transaction, on every engine: out of sight until they are whole."""

from __future__ import annotations

from pathlib import Path

import pytest
import samples
from contract import BIG, CORPUS_NODES, CutOffError, cut_off, seen, sources
from dump import differences, dump

from gsw_graph.store import writer


@pytest.fixture
def big(tmp_path, monkeypatch):
    """A document that takes many transactions."""
    monkeypatch.setattr(writer, "TRANSACTION_BYTES", 10_000)
    monkeypatch.setattr(writer, "MESSAGE_BYTES", 9_000)
    monkeypatch.setattr(writer, "_FORGET_PASSAGES", 9)
    file = tmp_path / "big.txt"
    file.write_text("The Big One\n\n" + BIG, encoding="utf-8")
    return str(file)


def test_a_document_of_many_transactions_is_the_same_as_of_one(corpus, big, monkeypatch):
    calls = cut_off(monkeypatch, -1, ("_run", "_mark"))
    corpus.load(big)
    assert calls[0] > 20
    assert "big.txt" in seen(corpus)
    many = dump(corpus)
    corpus.forget(big)
    monkeypatch.setattr(writer, "TRANSACTION_BYTES", 10**9)
    monkeypatch.setattr(writer, "MESSAGE_BYTES", 10**9)
    corpus.load(big)
    assert differences(dump(corpus), many) == []
    assert corpus.status().nodes["Passage"] > CORPUS_NODES["Passage"] + 30


def test_a_document_that_is_half_forgotten_is_not_seen(corpus, big, monkeypatch):
    before = dump(corpus)
    corpus.load(big)
    with monkeypatch.context() as patch:
        cut_off(patch, 3, ("_forget", "_mark"))
        with pytest.raises(CutOffError):
            corpus.forget(big)
    assert corpus.status().unfinished == [Path(big).as_posix()]
    assert "big.txt" not in seen(corpus)
    corpus.forget(big)
    assert differences(dump(corpus), before) == []


# Ready workspaces


def city(n):
    """What was found in one part of the large document: names that every part has, and its own."""
    return {
        "phrase": f"kept tower {n}",
        "questions": [
            {
                "text": f"Who kept the kestrel{n} tower?",
                "answers": ["Quintus Albatross", f"TEXT:Marlowe{n} family"],
            },
            {
                "text": f"Where is the kestrel{n} tower of Quintus Albatross?",
                "answers": [f"Kestrel{n} Marlowe"],
            },
        ],
    }


@pytest.fixture
def big_workspace(big, tmp_path):
    """The big document as a ready workspace."""
    record = {
        "id": "big.txt",
        "title": "The Big One",
        "text": BIG,
        "entities": [
            {"name": "Quintus Albatross", "roles": [{"role": "keeper", "states": ["of towers"]}]},
            *(
                {"name": f"Kestrel{n} Marlowe", "roles": [{"role": f"guest {n % 3}", "states": []}]}
                for n in range(40)
            ),
        ],
        "verb_phrases": [city(n) for n in range(40)],
        "propositions": [
            {
                "text": f"Kestrel{n} Marlowe came to Vellmouth.",
                "entities": [f"Kestrel{n} Marlowe", "Vellmouth"],
            }
            for n in range(40)
        ],
    }
    return samples.jsonl(tmp_path / "workspace.jsonl", [record])


def chains(memory):
    """The sources that any strategy shows, chains too."""
    found = seen(memory)
    for plan in (
        ["Who kept the kestrel7 tower?", "Where is the kestrel9 tower of #1?"],
        ["Where is the kestrel30 tower of Quintus Albatross?"],
    ):
        answer = memory.ask("Who is Quintus Albatross of the Big One?", strategy="ricr", plan=plan, k=20)
        found |= (
            set(sources(answer))
            | {Path(citation.source).name for citation in answer.citations}
            | ({"big.txt"} if answer.chains else set())
        )
    return found


def test_a_workspace_that_is_half_written_is_not_seen_until_it_is_whole(memory, big_workspace, monkeypatch):
    calls = cut_off(monkeypatch, -1, ("_run", "_mark"))
    memory.load(big_workspace)
    whole = dump(memory)
    total = calls[0]
    for old in ("none", "half written", "ready"):  # what stood there before
        if old == "none":
            memory.forget("big.txt")
        with monkeypatch.context() as patch:
            if old == "ready":
                memory.load(big_workspace)
            cut_off(patch, round(0.8 * (total - 1)), ("_run", "_mark"))
            with pytest.raises(CutOffError):
                memory.load(big_workspace, replace=True)
        assert memory.status().unfinished == ["big.txt"]
        assert memory.status().nodes["QAPair"]  # there, and out of sight
        assert chains(memory) == set()
        assert [finding.check for finding in memory.doctor() if not finding.ok] == ["documents"]
    memory.load(big_workspace)
    assert memory.status().unfinished == []
    assert chains(memory) == {"big.txt"}
    assert differences(dump(memory), whole) == []
    assert all(finding.ok for finding in memory.doctor())


# Walks over names weigh a name by how many passages name it, counted without a look at their documents: scores move a little while one is not ready.
@pytest.mark.parametrize(("strategy", "apart"), [("linked", 0.05), ("fusion", 0.05), ("proprag", 1e-3)])
def test_walks_look_past_a_document_that_is_not_whole(sample, big_workspace, monkeypatch, strategy, apart):
    question = "In which year came Kestrel7 Marlowe to Quintus Albatross, where Ana Ruiz kept the Stone Pier?"

    def found():
        answer = sample.ask(question, strategy=strategy, k=3, llm=False, keep=False)
        return {passage.title or "": passage.score for passage in answer.passages}

    before = found()
    assert len(before) == 3
    calls = cut_off(monkeypatch, -1, ("_run", "_mark"))
    sample.load(big_workspace)
    total = calls[0]
    sample.forget("big.txt")
    cut_off(monkeypatch, total - 1, ("_run", "_mark"))
    with pytest.raises(CutOffError):
        sample.load(big_workspace)
    after = found()
    assert list(after) == list(before)
    assert after == pytest.approx(before, rel=apart)
