"""The rerankers: a CrossEncoder made here, and endpoints of every shape, also broken ones."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gsw_graph.config import Settings
from gsw_graph.errors import InputError, ModelError
from gsw_graph.inference import http_reranker, reranker
from gsw_graph.inference.cross_encoder import CrossEncoderReranker
from gsw_graph.inference.http_reranker import HttpReranker
from gsw_graph.inference.quiet import quiet_libraries

WORDS = "who wrote the trial novel by kafka river flows from mountain to sea blue was born in prague a".split()
PAIRS = [
    ("who wrote the trial", "the trial a novel by kafka"),
    ("who wrote the trial", "the river flows from the mountain to the blue sea " * 3),
    ("who was born in prague", "kafka was born in prague"),
    ("who wrote the trial", "the trial a novel by kafka"),
    ("who was born in prague", ""),
    ("", "sea"),
]
KEY = "sk-very-secret"


def make_cross_encoder(folder: Path, labels: int = 1, activation: str | None = "torch.nn.modules.linear.Identity", head: bool = True) -> Path:
    with quiet_libraries():
        import torch
        from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizerFast

        torch.manual_seed(5)
        folder.mkdir()
        (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "?", *WORDS]), encoding="utf-8")
        BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=32).save_pretrained(folder)
        config = BertConfig(
            vocab_size=6 + len(WORDS),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=32,
            initializer_range=1.0,  # large enough that other texts give other scores
            num_labels=labels,
        )
        if activation:
            config.sentence_transformers = {"activation_fn": activation}
        (BertForSequenceClassification if head else BertModel)(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_cross_encoder(tmp_path_factory.mktemp("cross") / "model")


@pytest.fixture(scope="module")
def cross(folder: Path) -> CrossEncoderReranker:
    loaded = reranker.load(Settings(reranker=str(folder), device="cpu"))
    assert isinstance(loaded, CrossEncoderReranker)
    return loaded


def plain_logits(folder: Path, pairs: list[tuple[str, str]]) -> np.ndarray:
    """By hand: what the model gives for one pair after the other."""
    with quiet_libraries():
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForSequenceClassification.from_pretrained(folder).eval()
        with torch.inference_mode():
            return np.array([model(**tokenizer([pair], truncation=True, max_length=32, return_tensors="pt")).logits.item() for pair in pairs])


def expected(logits: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logits))


def test_settings() -> None:
    assert Settings().reranker == Settings.from_env({"GSWGRAPH_RERANKER": ""}).reranker == "cosine"
    assert reranker.load(Settings()) is None
    set_ = Settings.from_env({"GSWGRAPH_RERANKER": "https://h/rerank", "GSWGRAPH_RERANKER_MODEL": "m", "GSWGRAPH_RERANKER_KEY": KEY})
    assert (set_.reranker, set_.reranker_model, set_.reranker_key) == ("https://h/rerank", "m", KEY)
    assert KEY not in repr(set_)
    loaded = reranker.load(set_)
    assert isinstance(loaded, HttpReranker)
    assert loaded.name == "m at h"
    assert KEY not in repr(loaded)


def test_sigmoid_keeps_the_order_at_both_ends() -> None:
    assert np.allclose(reranker.sigmoid(np.array([-2.0, 0.0, 3.0])), expected(np.array([-2.0, 0.0, 3.0])))
    assert (np.diff(reranker.sigmoid(np.array([-1e4, -700.0, -40.0, -39.0, 30.0, 31.0]))) > 0).all()
    assert reranker.sigmoid(np.array([1e9])) == 1


def test_cross_encoder_scores(cross: CrossEncoderReranker, folder: Path) -> None:
    scores = cross.score(PAIRS)
    assert scores.dtype == np.float32
    assert np.abs(scores - expected(plain_logits(folder, PAIRS))).max() < 1e-5
    assert scores.min() >= 0
    assert scores.max() <= 1
    assert np.ptp(scores) > 0.1  # or the tests of the order below could not fail
    assert (cross.name, cross.device) == (str(folder), "cpu")


def test_cross_encoder_order_and_company_do_not_matter(cross: CrossEncoderReranker) -> None:
    together = cross.score(PAIRS)
    assert np.abs(cross.score(PAIRS[::-1])[::-1] - together).max() < 1e-5
    assert np.abs(np.concatenate([cross.score([pair]) for pair in PAIRS]) - together).max() < 1e-5
    many = [(query, f"{document} {word}") for query, document in PAIRS for word in WORDS]
    assert len(many) > cross._batch
    assert np.abs(cross.score(many)[::7] - np.concatenate([cross.score([pair]) for pair in many[::7]])).max() < 1e-5


def test_cross_encoder_scores_a_pair_once(cross: CrossEncoderReranker, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []
    real = cross.model.predict
    monkeypatch.setattr(cross.model, "predict", lambda pairs, **options: asked.extend(pairs) or real(pairs, **options))
    scores = cross.score(PAIRS)
    assert scores[0] == scores[3]
    assert sorted(asked) == sorted(set(PAIRS))
    assert [len(query + document) for query, document in asked] == sorted((len(query + document) for query, document in asked), reverse=True)


def test_cross_encoder_odd_input(cross: CrossEncoderReranker) -> None:
    assert cross.score([]).shape == (0,)
    assert cross.score([]).dtype == np.float32
    assert cross.score([("a \ud800", "sea")]) == cross.score([("a ?", "sea")])
    long = "river " * 100
    assert cross.score([("sea", long)])[0] == pytest.approx(cross.score([("sea", long + "kafka")])[0])


@pytest.mark.parametrize("activation", ["torch.nn.modules.activation.Sigmoid", None])
def test_sigmoid_is_taken_once(folder: Path, tmp_path: Path, activation: str | None) -> None:
    same = CrossEncoderReranker(str(make_cross_encoder(tmp_path / "model", activation=activation)), "cpu")
    assert np.abs(same.score(PAIRS) - expected(plain_logits(folder, PAIRS))).max() < 1e-5


def test_sigmoid_in_the_model_itself_is_the_only_one(tmp_path: Path) -> None:
    with quiet_libraries():
        import torch
        from sentence_transformers import CrossEncoder
        from sentence_transformers.models import Dense, Pooling, Transformer

        body = make_cross_encoder(tmp_path / "body", activation=None, head=False)
        dense = Dense(16, 1, activation_function=torch.nn.Sigmoid(), module_output_name="scores")
        dense.linear.weight.data *= 5
        modules = [Transformer(str(body), max_seq_length=32), Pooling(16), dense]
        CrossEncoder(modules=modules, activation_fn=torch.nn.Identity(), device="cpu").save_pretrained(str(tmp_path / "model"))
        plain = CrossEncoder(str(tmp_path / "model"), device="cpu", local_files_only=True)
    wanted = plain.predict(PAIRS, show_progress_bar=False)
    assert wanted.min() < 0.3  # a second sigmoid would not go below 0.5
    assert np.abs(CrossEncoderReranker(str(tmp_path / "model"), "cpu").score(PAIRS) - wanted).max() < 1e-5


def test_models_that_are_no_rerankers(tmp_path: Path) -> None:
    for name, options, said in (
        ("several", {"labels": 3}, "gives 3 labels"),
        ("embedder", {"head": False}, "not a CrossEncoder: it was saved as BertModel"),
        ("tanh", {"activation": "torch.nn.modules.activation.Tanh"}, "end in Tanh"),
    ):
        with pytest.raises(ModelError, match=said) as caught:
            CrossEncoderReranker(str(make_cross_encoder(tmp_path / name, **options)), "cpu")  # type: ignore[arg-type]
        assert caught.value.hint is not None
        assert "cross-encoder/" in caught.value.hint


def test_missing_models(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    for name in ("/no/such/folder", str(tmp_path)):
        with pytest.raises(ModelError, match=r"config\.json"):
            reranker.load(Settings(reranker=name, device="cpu"))
    (tmp_path / "config.json").write_text((folder / "config.json").read_text())
    with pytest.raises(ModelError, match="the reranker cannot be loaded"):
        reranker.load(Settings(reranker=str(tmp_path), device="cpu"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match=r"nor could it be downloaded.*GSWGRAPH_RERANKER=cosine") as caught:
        reranker.load(Settings(reranker="nobody/no-such-model", device="cpu"))
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="no device"):
        reranker.load(Settings(reranker=str(folder), device="gpu"))
    assert capfd.readouterr() == ("", "")


def test_a_local_path_needs_no_network(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *address, **options: asked.append(address) or [])
    monkeypatch.setattr(socket.socket, "connect", lambda *address: asked.append(address))
    assert CrossEncoderReranker(str(folder), "cpu").score(PAIRS[:1]).shape == (1,)
    assert asked == []


def test_batch_is_halved_when_the_memory_is_full(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    cross = CrossEncoderReranker(str(folder), "cpu")
    real, sizes, room = cross.model.predict, [], 8

    def predict(pairs: list[tuple[str, str]], batch_size: int, **options: Any) -> Any:
        sizes.append(batch_size)
        if batch_size > room:
            raise torch.OutOfMemoryError("full")
        return real(pairs, batch_size=batch_size, **options)

    monkeypatch.setattr(cross.model, "predict", predict)
    assert cross.score(PAIRS).shape == (len(PAIRS),)
    assert sizes == [32, 16, 8]
    room = 0
    with pytest.raises(ModelError, match="GSWGRAPH_DEVICE=cpu"):
        cross.score(PAIRS)


def test_half_precision(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU: float16, and bfloat16 for a model whose activations are too large for it."""
    import torch

    cross = CrossEncoderReranker(str(folder), "cpu")
    exact = cross.score(PAIRS)
    cross._halve()
    assert {weight.dtype for weight in cross.model.parameters()} == {torch.float16}
    assert np.abs(cross.score(PAIRS) - exact).max() < 0.02
    cross = CrossEncoderReranker(str(folder), "cpu")
    monkeypatch.setattr(cross, "_predict", lambda pairs: np.array([np.inf]))
    cross._halve()
    assert {weight.dtype for weight in cross.model.parameters()} == {torch.bfloat16}
    with pytest.raises(ModelError, match="not numbers"):
        cross.score(PAIRS[:1])


# --- endpoints

Answer = Callable[[dict[str, Any]], "tuple[int, dict[str, str], str]"]
SCORES = {"good": 0.9, "fair": 0.5, "bad": 0.05, "best": 0.99}
QUERIES = [("q1", "bad"), ("q2", "good"), ("q1", "good"), ("q1", "bad"), ("q2", "fair"), ("q1", "best")]
WANTED = [0.05, 0.9, 0.9, 0.05, 0.5, 0.99]


class Endpoint:
    """A server that answers as it is told, and keeps what it was asked."""

    def __init__(self) -> None:
        self.answer: Answer = cohere
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.asked.append(body | {"path": self.path})
                endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
                status, headers, text = endpoint.answer(body)
                self.send_response(status)
                for name, value in {"Content-Length": str(len(text.encode())), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that did not wait
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1/rerank"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setattr(http_reranker, "BACKOFF", 0.01)
    made = Endpoint()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def ok(reply: Any) -> tuple[int, dict[str, str], str]:
    return 200, {}, json.dumps(reply)


def scored(documents: list[str], name: str = "relevance_score") -> list[dict[str, Any]]:
    """Best first, as servers answer."""
    found = [{"index": i, name: SCORES.get(text, 0.1), "document": {"text": text}} for i, text in enumerate(documents)]
    return sorted(found, key=lambda result: -result[name])


def cohere(body: dict[str, Any]) -> tuple[int, dict[str, str], str]:
    if unknown := body.keys() - {"model", "query", "documents", "top_n"}:
        return 422, {}, json.dumps({"message": f"unknown field: parameter '{unknown.pop()}' is not a valid field"})
    return ok({"id": "x", "results": scored(body["documents"]), "meta": {}})


def voyage(body: dict[str, Any]) -> tuple[int, dict[str, str], str]:
    return ok({"object": "list", "data": scored(body["documents"]), "model": body["model"]})


def tei(body: dict[str, Any]) -> tuple[int, dict[str, str], str]:
    if "texts" not in body:
        return 422, {}, "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 42"
    if len(body["texts"]) > 32:
        return 422, {}, json.dumps({"error": f"batch size {len(body['texts'])} > maximum allowed batch size 32", "error_type": "Validation"})
    return ok(scored(body["texts"], "score"))


@pytest.mark.parametrize("shape", [cohere, voyage, tei])
def test_shapes(endpoint: Endpoint, shape: Answer) -> None:
    endpoint.answer = shape
    ranker = HttpReranker(endpoint.url, "some-model", KEY)
    for _ in range(2):
        scores = ranker.score(QUERIES)
        assert scores.dtype == np.float32
        assert scores == pytest.approx(WANTED)
    many = [("q", f"{'good' if i % 3 else 'bad'}" if i < 2 else f"text {i}") for i in range(70)]
    assert ranker.score(many) == pytest.approx([0.05, 0.9, *[0.1] * 68])
    assert {body["path"] for body in endpoint.asked} == {"/v1/rerank"}
    assert {headers["authorization"] for headers in endpoint.headers} == {f"Bearer {KEY}"}


def test_one_request_a_query(endpoint: Endpoint) -> None:
    ranker = HttpReranker(endpoint.url)
    ranker.score(QUERIES)
    asked = sorted(endpoint.asked, key=lambda body: body["query"])
    assert asked == [
        {"path": "/v1/rerank", "query": "q1", "documents": ["bad", "good", "best"]},
        {"path": "/v1/rerank", "query": "q2", "documents": ["good", "fair"]},
    ]
    assert "authorization" not in endpoint.headers[0]
    endpoint.asked.clear()
    assert ranker.score([]).shape == (0,)
    assert endpoint.asked == []
    documents = ["good" if i == 700 else f"d{i}" for i in range(1001)]
    scores = ranker.score([("q", document) for document in documents])
    assert np.flatnonzero(scores > 0.5).tolist() == [700]
    assert sorted(len(body["documents"]) for body in endpoint.asked) == [1, 500, 500]
    ranker.score([("a \ud800", "b")])
    assert endpoint.asked[-1]["query"] == "a ?"


def test_texts_are_asked_for_once(endpoint: Endpoint) -> None:
    endpoint.answer = tei
    ranker = HttpReranker(endpoint.url)
    ranker.score([("q", "good")])
    ranker.score([("q", f"d{i}") for i in range(33)])
    assert ["documents" in body for body in endpoint.asked] == [True, False, False, False]
    assert all(body["truncate"] for body in endpoint.asked[1:])


def test_queries_go_at_once(endpoint: Endpoint) -> None:
    together = threading.Barrier(4)

    def answer(body: dict[str, Any]) -> tuple[int, dict[str, str], str]:
        together.wait(10)  # broken, which ends the connection, if they come one after the other
        return cohere(body)

    endpoint.answer = answer
    scores = HttpReranker(endpoint.url).score([(f"q{i}", text) for i, text in enumerate(SCORES)])
    assert scores == pytest.approx([*SCORES.values()])


def test_threads_may_share_it(endpoint: Endpoint) -> None:
    ranker, found = HttpReranker(endpoint.url), []
    threads = [threading.Thread(target=lambda: found.append(ranker.score(QUERIES))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert all(scores == pytest.approx(WANTED) for scores in found)


def test_logits_are_seen_and_remembered(endpoint: Endpoint) -> None:
    logits = {"best": 7.7, "good": 0.8, "bad": -11.0, "worst": -40.0}
    endpoint.answer = lambda body: ok({"results": [{"index": i, "relevance_score": logits[text]} for i, text in enumerate(body["documents"])]})
    ranker = HttpReranker(endpoint.url)
    scores = ranker.score([("q1", "good"), ("q2", "best"), ("q2", "bad"), ("q2", "worst")])
    assert scores == pytest.approx(expected(np.array([0.8, 7.7, -11.0, -40.0])))  # also q1, whose reply alone does not show it
    assert scores[2] > scores[3] > 0
    assert ranker.score([("q", "good")]) == pytest.approx(expected(np.array([0.8])))
    assert HttpReranker(endpoint.url).score([("q", "bad")]) == pytest.approx(expected(np.array([-11.0])))
    assert HttpReranker(endpoint.url).score([("q", "good")]) == pytest.approx([0.8])  # another reranker has not seen it


def test_rounding_is_no_logit(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body: ok({"results": [{"index": 0, "relevance_score": 1.0000002}, {"index": 1, "relevance_score": -1e-7}]})
    assert HttpReranker(endpoint.url).score([("q", "a"), ("q", "b")]).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ('{"results": [{"index": 0, "relevance_score": 0.1}]}', "each of 2 documents one score"),
        ('{"results": [{"index": 0, "relevance_score": 0.1}, {"index": 0, "relevance_score": 0.2}]}', "each of 2 documents one score"),
        (
            '{"results": [{"index": 0, "relevance_score": 0.1}, {"index": 1, "relevance_score": 0.2}, {"index": 1, "relevance_score": 0.3}]}',
            "each of 2 documents one score",
        ),
        ('{"results": [{"index": 0, "relevance_score": 0.1}, {"index": 2, "relevance_score": 0.2}]}', "each of 2 documents one score"),
        ('{"results": [{"index": 0, "relevance_score": 0.1}, {"index": -1, "relevance_score": 0.2}]}', "each of 2 documents one score"),
        ('{"results": [{"index": 0, "relevance_score": 0.1}, {"index": "1", "relevance_score": 0.2}]}', "each of 2 documents one score"),
        ('{"results": [{"index": 0, "relevance_score": 0.1}, {"index": 1, "relevance_score": NaN}]}', "each of 2 documents one score"),
        ('{"results": [{"index": 0, "relevance_score": 0.1}, {"index": 1, "relevance_score": 1e999}]}', "each of 2 documents one score"),
        ('{"results": [{"index": 0, "relevance_score": 0.1}, {"index": 1, "relevance_score": null}]}', "none that is known"),
        ('{"results": [{"index": 0, "relevance_score": 0.1}, {"index": 1}]}', "none that is known"),
        ('{"results": [{"index": 0, "relevance_score": 1' + "0" * 400 + "}]}", "none that is known"),
        ('{"results": [0.1, 0.2]}', "none that is known"),
        ('{"results": {"index": 0}}', "none that is known"),
        ('{"error": "no"}', "none that is known"),
        ('"results"', "none that is known"),
        ("null", "none that is known"),
        ("[" * 100_000, "none that is known"),
        ("<html>", "none that is known"),
        ("", "none that is known"),
    ],
)
def test_broken_replies(endpoint: Endpoint, reply: str, said: str) -> None:
    endpoint.answer = lambda body: (200, {}, reply)
    with pytest.raises(ModelError, match=said) as caught:
        HttpReranker(endpoint.url, "m", KEY).score([("q", "a"), ("q", "b")])
    assert str(caught.value).startswith(endpoint.url.removeprefix("http://").removesuffix("/v1/rerank") + ":")
    assert "GSWGRAPH_RERANKER" in str(caught.value)
    assert len(str(caught.value)) < 500
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_asked_again_after_a_passing_fault(endpoint: Endpoint, status: int) -> None:
    endpoint.answer = lambda body: cohere(body) if len(endpoint.asked) == 3 else (status, {}, "busy")
    assert HttpReranker(endpoint.url).score([("q", "good")]) == pytest.approx([0.9])
    assert len(endpoint.asked) == 3


@pytest.mark.parametrize(("status", "hint"), [(429, "Wait"), (500, "GSWGRAPH_RERANKER")])
def test_three_tries_at_most(endpoint: Endpoint, status: int, hint: str) -> None:
    endpoint.answer = lambda body: (status, {}, "busy")
    with pytest.raises(ModelError, match=rf"answered {status} [\w ]+: busy. .*{hint}"):
        HttpReranker(endpoint.url).score([("q", "good")])
    assert len(endpoint.asked) == 3


def test_retry_after(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body: cohere(body) if len(endpoint.asked) > 1 else (429, {"Retry-After": "1"}, "")
    start = time.monotonic()
    assert HttpReranker(endpoint.url).score([("q", "good")]) == pytest.approx([0.9])
    assert 1 <= time.monotonic() - start < 5
    for too_long in ("3600", "inf", formatdate(time.time() + 3600, usegmt=True)):
        endpoint.asked.clear()
        endpoint.answer = lambda body, value=too_long: (429, {"Retry-After": value}, "")  # type: ignore[misc]
        with pytest.raises(ModelError, match="429"):
            HttpReranker(endpoint.url).score([("q", "good")])
        assert len(endpoint.asked) == 1
    for odd in ("soon", "-5", "nan", formatdate(time.time() - 3600, usegmt=True), "Mon, 99 Foo 2026"):
        endpoint.asked.clear()
        endpoint.answer = lambda body, value=odd: (429, {"Retry-After": value}, "")  # type: ignore[misc]
        with pytest.raises(ModelError, match="429"):
            HttpReranker(endpoint.url).score([("q", "good")])
        assert len(endpoint.asked) == 3


@pytest.mark.parametrize(("status", "hint"), [(401, "GSWGRAPH_RERANKER_KEY"), (404, "whole url"), (400, "GSWGRAPH_RERANKER_MODEL")])
def test_refusals_are_final_and_never_show_the_key(endpoint: Endpoint, status: int, hint: str, caplog: pytest.LogCaptureFixture) -> None:
    endpoint.answer = lambda body: (status, {}, f'{{"message":\n "{"x" * 180}{KEY} is wrong{"x" * 5000}"}}')
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelError, match=hint) as caught:
        HttpReranker(endpoint.url, "m", KEY + "\n").score([("q", "good")])
    assert len(endpoint.asked) == 1
    assert str(status) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "sk-" not in str(caught.value) + repr(caught.value)
    assert "***" in str(caught.value)
    assert len(str(caught.value)) < 500
    assert KEY not in caplog.text


def test_a_fault_ends_the_call(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body: (400, {}, "")
    with pytest.raises(ModelError, match="400"):
        HttpReranker(endpoint.url).score([(f"q{i}", "good") for i in range(200)])
    assert len(endpoint.asked) < 100


def test_hanging_server(endpoint: Endpoint) -> None:
    free = threading.Event()
    endpoint.answer = lambda body: (free.wait(20), cohere(body))[1]
    start = time.monotonic()
    with pytest.raises(ModelError, match="did not answer in time, 3 times"):
        HttpReranker(endpoint.url, key=KEY, timeout=0.1).score([("q", "good")])
    assert time.monotonic() - start < 5
    free.set()
    assert len(endpoint.asked) == 3


def test_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_reranker, "BACKOFF", 0.01)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and not listening
        with pytest.raises(ModelError, match=r"cannot be asked \(.*refused.*\), 3 times. Check that it runs"):
            HttpReranker(f"http://127.0.0.1:{taken.getsockname()[1]}/rerank").score([("q", "good")])


def test_redirects_are_not_followed(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body: (307, {"Location": "/elsewhere"}, "")
    with pytest.raises(ModelError, match="307"):
        HttpReranker(endpoint.url, key=KEY).score([("q", "good")])
    assert [body["path"] for body in endpoint.asked] == ["/v1/rerank"]


def test_no_proxy_sees_what_is_for_this_machine(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert HttpReranker(endpoint.url, key=KEY).score([("q", "good")]) == pytest.approx([0.9])


def test_urls_and_keys_that_are_refused() -> None:
    for url in ("http://example.org/rerank", "HTTP://192.168.1.7:8000/rerank", "http://localhost.example.org/rerank"):
        with pytest.raises(ModelError, match="key would travel unencrypted") as caught:
            reranker.load(Settings(reranker=url, reranker_key=KEY))
        assert KEY not in str(caught.value)
        assert reranker.load(Settings(reranker=url)) is not None
    for url in ("http://localhost:8000/rerank", "http://[::1]/rerank", "http://127.0.0.3/rerank", "https://example.org/rerank"):
        assert HttpReranker(url, key=KEY).name == url.split("/")[2]
    for url, said in (("https://", "no host"), ("https://h:x/rerank", "cannot be read"), ("https://me:hidden@h/rerank", "password in the url")):
        with pytest.raises(ModelError, match=said) as caught:
            HttpReranker(url)
        assert "hidden" not in str(caught.value)
    for key in ("sk-\nX-Other: 1", "sk-é"):
        with pytest.raises(ModelError, match="characters that no key has") as caught:
            HttpReranker("https://h/rerank", key=key)
        assert "sk-" not in str(caught.value)
