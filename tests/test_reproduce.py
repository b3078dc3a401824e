"""The commands of docs/reproduce.md run as they stand, on made-up files of the published shapes; and how these shapes are read."""

from __future__ import annotations

import json

import doc_blocks
import engines
import published
import pytest
from doc_blocks import REPOSITORY, Shell, commands
from model_server import ModelServer

from gsw_graph.config import Settings
from gsw_graph.evaluate import evaluate, load, read_corpus, read_questions, run
from gsw_graph.memory import Memory

PAGE = REPOSITORY / "docs/reproduce.md"
# By file: the shape, an answer of the first question, how many passages of it are gold, whether it sees its own context alone.
SHAPES = {
    "musique.json": ("musique", "Person1 Smith", 1, False),
    "hotpotqa.json": ("hotpotqa", "Person1 Smith", 1, False),
    "2wikimultihopqa.json": ("2wikimultihopqa", "Person1 Smith", 1, False),
    "popqa.json": ("popqa", "Person1 Smith", 1, False),
    "nq_rear.json": ("nq", "Person1 Smith", 1, False),
    "lveval.jsonl": ("lveval", "Person1 Smith", 0, True),
    "hotpotqa_longbench.jsonl": ("longbench", "Person1 Smith", 0, True),
    "strategyqa.json": ("strategyqa", "yes", 0, False),
    "triviaqa.json": ("triviaqa", "A. Smith", 0, False),
    "cwq.json": ("complexwebquestions", "A. Smith", 0, False),
    "novel_questions.json": ("graphrag-bench", "Person1 Smith", 0, True),
    "locomo10.json": ("locomo", "Person1 Smith", 1, True),
    "longmemeval_s.json": ("longmemeval", "Person1 Smith", 1, True),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    published.write(folder)
    return folder


@pytest.mark.parametrize("name", SHAPES)
def test_a_published_shape_is_read(files, name):
    shape, answer, gold, scoped = SHAPES[name]
    found = read_questions(files / name)
    assert found.failures == []
    assert list(found.shapes) == [shape]
    first = found.questions[0]
    assert answer in first.answers
    assert len(first.gold) == gold
    assert bool(first.scope) == scoped


def test_contexts_and_conversations_are_documents_of_their_questions(files):
    for name, each in (
        ("hotpotqa_longbench.jsonl", 3),
        ("locomo10.json", 10),
        ("longmemeval_s.json", 2),
        ("lveval.jsonl", 3),
    ):
        asked = read_questions(files / name).questions
        corpus = read_corpus(files / name)
        assert {record["source"] for record in corpus} == {question.scope for question in asked}
        assert sum(record["source"] == asked[0].scope for record in corpus) == each
        sources = {f"{record['source']}#{record['id']}" for record in corpus}
        assert {gold.source for question in asked for gold in question.gold} <= sources
    found = [question.answerable for question in read_questions(files / "locomo10.json").questions[:6]]
    assert found == ([True] * 5 + [False])
    assert [question.answerable for question in read_questions(files / "longmemeval_s.json").questions] == [
        True
    ] * 3 + [False]


def test_each_question_is_asked_over_its_own_candidates(files, tmp_path, fake_embedder, monkeypatch):
    """HotpotQA's distractor setting, as PathwiseRAG has it: records that list a context had no scope."""
    monkeypatch.setattr(run, "WARM", 0.0)
    corpus = read_corpus(files / "hotpotqa.json", own_context=True)
    assert [record["source"] for record in corpus].count("h0") == 3
    path = tmp_path / "contexts.jsonl"
    path.write_text("\n".join(map(json.dumps, corpus)))
    with Memory.open(settings=Settings(memory=str(tmp_path / "memory"))) as memory:
        memory.load(path, extractor="rules")
        found = evaluate(memory, files / "hotpotqa.json", ["dense"], own_context=True, k=5)
    assert found.settings["protocol"].endswith("each over its own context")
    assert len(found.questions) == 10
    for row in found.questions:
        assert len(row["strategies"]["dense"]["passages"]) == 3
    assert found.strategies["dense"]["recall"]["5"] == 1


def test_a_record_without_an_id_of_its_own_has_a_context_of_its_own(files, tmp_path):
    """Records that are none were counted by the questions alone, and two records of one id had one context."""
    record = json.loads((files / "hotpotqa.json").read_text("utf-8"))[0]
    nameless = {name: value for name, value in record.items() if name not in ("_id", "id")}
    path = tmp_path / "questions.json"
    path.write_text(json.dumps([nameless, "no record", nameless, record, record]), "utf-8")
    keys = [question.key for question in read_questions(path).questions]
    sources = [passage["source"] for passage in read_corpus(path, own_context=True)]
    assert list(dict.fromkeys(sources)) == keys
    assert len(keys) == 4


def test_a_larger_corpus_holds_the_smaller_and_gold_passages_come_first(files):
    small, large = (read_corpus(files / "musique.json", size, seed=1) for size in (15, 25))
    assert small == large[:15]
    found = {record["title"] for record in small[:10]}
    expected = {f"Day {n}" for n in range(10)}
    assert found == expected
    assert len(read_corpus(files / "musique.json")) == 30


@pytest.mark.slow
def test_the_commands_of_the_page_run_as_they_stand(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "WARM", 0.0)
    published.write(tmp_path)
    home = tmp_path / "home"
    home.mkdir()
    engines.quick_cache(home / "cache")
    with ModelServer(published.model) as server:
        variables = {**doc_blocks.clean_variables(home), "GSWGRAPH_LLM_URL": server.url}
        shell = Shell(tmp_path, variables)
        for block in doc_blocks.blocks(PAGE):
            if block.kind == "sh":
                for command, _ in commands("sh", block.text):
                    shell.run(command)
        shell.engines.stop()
    runs = {path.name: load(path) for path in (tmp_path / "results").iterdir()}
    assert runs["panini"].strategies["ricr [recipe=paper]"]["f1"] == 1
    assert runs["unanswerable"].strategies["ricr [recipe=paper]"]["abstention"]["unanswerable"] == 10
    assert len(runs["ablations"].strategies) == 6
    assert runs["ablations"].settings["plans"] == "file"
    assert runs["grasp"].strategies["ircot"]["lr1"] == 1
    assert runs["novel"].strategies["linked"]["coverage"] == 0.5
    assert {"Fact Retrieval", "Contextual Summarize"} == set(runs["novel"].strategies["linked"]["by_type"])
    assert "in order" in runs["novel-pruned"].settings["protocol"]
    assert len(runs["pathwise"].strategies) == 7
    assert runs["pathwise"].settings["protocol"].endswith("each over its own context")
    assert runs["grasp"].settings["index_tokens"] > 0
    assert runs["longbench"].strategies["grasp [recipe=paper]"]["f1"] == 1
    assert set(runs["proprag-length"].strategies) & set(runs["proprag-width"].strategies) == {
        "proprag [recipe=paper]"
    }
    assert runs["locomo"].strategies["linked"]["recall"]["20"] == 1
    for evaluation in runs.values():
        assert not evaluation.failures
    traces = (tmp_path / "results/novel/trace.jsonl").read_text().splitlines()
    for line in traces:
        assert json.loads(line)["passages"]
