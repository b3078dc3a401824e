"""Asking, on every engine: what the strategies for plain text promise."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from contract import CORPUS_NODES, DOCUMENTS, QUESTIONS, sources

from gsw_graph.errors import InputError
from gsw_graph.model.documents import content_id


@pytest.mark.parametrize("question", QUESTIONS[:3], ids=lambda question: question["id"])
def test_linked_walks_over_the_part_around_the_question(corpus, question):
    answer = corpus.ask(question["question"], strategy="linked", k=5, trace=True)
    assert answer.trace is not None
    assert answer.trace.walked in ("twice", "neighbourhood")
    assert 0 < answer.trace.passages_walked <= CORPUS_NODES["Passage"]
    assert question["supporting"][0] in sources(answer)  # the first hop names what the question names
    assert corpus.ask(question["question"], strategy="linked", k=5).round_trips <= 3


def test_dense_is_the_cosine(corpus):
    embedder = corpus.embedder
    texts = {d.passage_id(p.position): p.full_text for d in DOCUMENTS for p in d.passages}
    stored = dict(zip(texts, embedder.encode(list(texts.values())), strict=True))
    for question in [*(q["question"] for q in QUESTIONS[:3]), next(iter(texts.values()))]:
        (vector,) = embedder.encode_query([question])
        cosines = {i: float(v @ vector) for i, v in stored.items()}
        answer = corpus.ask(question, strategy="dense", k=40)
        assert {p.id: p.score for p in answer.passages} == pytest.approx(cosines, abs=1e-4)
        found = [p.id for p in answer.passages][:5]
        expected = sorted(cosines, key=lambda i: -cosines[i])[:5]
        assert found == expected
    assert answer.passages[0].score == pytest.approx(1, abs=1e-4)


def test_words_are_found_however_they_are_written(memory, tmp_path):
    (tmp_path / "hidden.txt").write_text("The obser\u00advatory of Skar\u200bholm.", encoding="utf-8")
    (tmp_path / "wrapped.txt").write_text(
        "In those years the whole of the pro-\nvince knew of the lighthouse keeper.", encoding="utf-8"
    )
    memory.load(str(tmp_path))
    for word, name in (
        ("observatory", "hidden"),
        ("obser\u00advatory", "hidden"),
        ("Skarholm", "hidden"),
        ("province", "wrapped"),
    ):
        found = [passage.source.rpartition("/")[2] for passage in memory.ask(word, strategy="bm25").passages]
        assert found == [f"{name}.txt"], word


def test_the_order_of_equals_does_not_depend_on_where_the_files_are(memory, tmp_path):
    def ids(folder):
        return [content_id("passage", (folder / name).as_posix(), "0") for name in names]

    names = ["anvil.txt", "bellows.txt"]
    # Ids are hashes of paths: here they have the order the other way round.
    folder = next(
        place for n in range(100) if ids(place := tmp_path / str(n)) == sorted(ids(place), reverse=True)
    )
    folder.mkdir()
    for name in names:
        (folder / name).write_text(f"The quetzal sat on the {name.removesuffix('.txt')}.\n", encoding="utf-8")
    memory.load(folder)
    assert sources(memory.ask("quetzal", strategy="bm25")) == names


def test_bm25_finds_rare_words_in_any_form(corpus):
    rare = Counter(
        word
        for d in DOCUMENTS
        for word in {w for p in d.passages for w in re.findall(r"[a-z]{7,}", p.full_text.lower())}
    )
    checked = 0
    for document in DOCUMENTS:
        words = sorted(
            {
                w
                for p in document.passages
                for w in re.findall(r"[a-z]{7,}", p.full_text.lower())
                if rare[w] == 1
            }
        )
        if words:
            answer = corpus.ask(f"{words[0]}?", strategy="bm25")
            assert document.source in {p.source for p in answer.passages}
            assert [p.score for p in answer.passages] == sorted(
                (p.score for p in answer.passages), reverse=True
            )
            checked += 1
    assert checked > 20
    assert sources(corpus.ask("observatories", strategy="bm25", k=1)) == [
        "vellmouth_observatory.md"
    ]  # stemmed
    assert corpus.ask("xyzzyq", strategy="bm25").abstained
    assert corpus.ask("?! ...", strategy="bm25").abstained


@pytest.mark.parametrize("strategy", ["auto", "linked", "dense", "bm25"])
def test_an_answer_has_what_it_promises(corpus, strategy):
    for k in (1, 3, 12, 100):
        answer = corpus.ask("Who built the Great Tide Engine in Vellmouth?", strategy=strategy, k=k)
        assert 0 < len(answer.passages) <= k
        assert strategy == "bm25" or len(answer.passages) == min(k, CORPUS_NODES["Passage"])
        assert len({p.id for p in answer.passages}) == len(answer.passages)
        assert [p.score for p in answer.passages] == sorted((p.score for p in answer.passages), reverse=True)
        for passage in answer.passages:
            document = next(d for d in DOCUMENTS if d.source == passage.source)
            assert passage.document == document.id
            assert (passage.title, passage.text) in {(p.title, p.text) for p in document.passages}
        assert answer.answer is None
        assert answer.citations == []  # nothing is stated, so nothing is cited
    assert answer.strategy == strategy.replace("auto", "linked")
    assert answer.why == ("the memory holds no question-answer pairs" if strategy == "auto" else None)
    assert not answer.abstained
    assert answer.round_trips >= 1
    found = json.loads(json.dumps(answer.to_dict()))["passages"][0]["source"]
    assert found == answer.passages[0].source


def test_questions_that_cannot_be_asked(corpus):
    for question, options, message in [
        ("", {}, "empty"),
        (" \n", {}, "empty"),
        ("Who?", {"k": 0}, "k is 0"),
        ("Who?", {"k": 10**30}, "at most 10,000"),
        ("Who?", {"strategy": "magic"}, "no strategy 'magic'"),
        ("Who?", {"plan": ["Who?"], "strategy": "linked"}, "linked does not follow a plan"),
        ("Who?", {"plan": ["Who?"], "strategy": "dense"}, "dense does not follow a plan"),
        ("Who?", {"plan": []}, "the plan is empty"),
        ("Who?", {"plan": ["Who is #2?"]}, "there is no step 2"),
        ("Who?", {"plan": ["Who?"], "strategy": "ricr", "k": 0}, "k is 0"),
    ]:
        with pytest.raises(InputError, match=message):
            corpus.ask(question, **options)


def test_questions_without_end(corpus):
    for question in ("Vellmouth " * 3000, "(" * 5000, "a" * 20_000, "Ana of the " * 500):
        for memory, strategy in ((corpus, "linked"), (corpus, "dense"), (corpus, "bm25")):
            assert len(memory.ask(question, strategy=strategy).passages) <= 5
