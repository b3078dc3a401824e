"""Endpoints that rerank, of every shape, also broken ones."""

from __future__ import annotations

import json
import logging
import threading
import time

import numpy as np
import pytest
from model_server import Listener
from waiting import until

from gsw_graph.config import Settings
from gsw_graph.errors import ModelError
from gsw_graph.models.rerank import HttpReranker, load

KEY = "sk-very-secret"
SCORES = {"good": 0.9, "fair": 0.5, "bad": 0.05, "best": 0.99}
QUERIES = [("q1", "bad"), ("q2", "good"), ("q1", "good"), ("q1", "bad"), ("q2", "fair"), ("q1", "best")]
WANTED = [0.05, 0.9, 0.9, 0.05, 0.5, 0.99]


def sigmoid(logits):
    return 1 / (1 + np.exp(-logits))


class Endpoint:
    """A server that answers as it is told, and keeps what it was asked."""

    def __init__(self):
        self.answer = cohere
        self.asked = []
        self.headers = []
        self.server = Listener(self._serve)
        self.url = f"{self.server.url}/rerank"

    def _serve(self, _, path, __, headers, content):
        body = json.loads(content)
        self.asked.append(body | {"path": path})
        self.headers.append({name.lower(): value for name, value in headers.items()})
        return self.answer(body)


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    made = Endpoint()
    yield made
    made.server.close()


def ok(reply):
    return 200, {}, json.dumps(reply)


def scored(documents, name="relevance_score"):
    """Best first, as servers answer."""
    found = [
        {"index": i, name: SCORES.get(text, 0.1), "document": {"text": text}}
        for i, text in enumerate(documents)
    ]
    return sorted(found, key=lambda result: -result[name])


def cohere(body):
    if unknown := body.keys() - {"model", "query", "documents", "top_n"}:
        return (
            422,
            {},
            json.dumps({"message": f"unknown field: parameter '{unknown.pop()}' is not a valid field"}),
        )
    return ok({"id": "x", "results": scored(body["documents"]), "meta": {}})


def voyage(body):
    return ok({"object": "list", "data": scored(body["documents"]), "model": body["model"]})


def tei(body):
    if "texts" not in body:
        return (
            422,
            {},
            "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 42",
        )
    if len(body["texts"]) > 32:
        return (
            422,
            {},
            json.dumps(
                {
                    "error": f"batch size {len(body['texts'])} > maximum allowed batch size 32",
                    "error_type": "Validation",
                }
            ),
        )
    return ok(scored(body["texts"], "score"))


@pytest.mark.parametrize("shape", [cohere, voyage, tei])
def test_shapes(endpoint, shape):
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


def test_one_request_a_query(endpoint):
    ranker = HttpReranker(endpoint.url)
    ranker.score(QUERIES)
    asked = sorted(endpoint.asked, key=lambda body: body["query"])
    expected = [
        {"path": "/v1/rerank", "query": "q1", "documents": ["bad", "good", "best"]},
        {"path": "/v1/rerank", "query": "q2", "documents": ["good", "fair"]},
    ]
    assert asked == expected
    assert endpoint.headers[0]["authorization"] == "Bearer none"
    endpoint.asked.clear()
    assert ranker.score([]).shape == (0,)
    assert endpoint.asked == []
    documents = ["good" if i == 700 else f"d{i}" for i in range(1001)]
    scores = ranker.score([("q", document) for document in documents])
    assert np.flatnonzero(scores > 0.5).tolist() == [700]
    assert sorted(len(body["documents"]) for body in endpoint.asked) == [1, 500, 500]
    ranker.score([("a \ud800", "b")])
    assert endpoint.asked[-1]["query"] == "a ?"


def test_logits_are_seen_and_remembered(endpoint):
    logits = {"best": 7.7, "good": 0.8, "bad": -11.0, "worst": -40.0}
    endpoint.answer = lambda body: ok(
        {
            "results": [
                {"index": i, "relevance_score": logits[text]} for i, text in enumerate(body["documents"])
            ]
        }
    )
    ranker = HttpReranker(endpoint.url)
    scores = ranker.score([("q1", "good"), ("q2", "best"), ("q2", "bad"), ("q2", "worst")])
    assert scores == pytest.approx(
        sigmoid(np.array([0.8, 7.7, -11.0, -40.0]))
    )  # also q1, whose reply alone does not show it
    assert scores[2] > scores[3] > 0
    assert ranker.score([("q", "good")]) == pytest.approx(sigmoid(np.array([0.8])))
    found = HttpReranker(endpoint.url).score([("q", "bad")])
    expected = pytest.approx(sigmoid(np.array([-11.0])))
    assert found == expected
    assert HttpReranker(endpoint.url).score([("q", "good")]) == pytest.approx(
        [0.8]
    )  # another reranker has not seen it


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ('{"results": [{"index": 0, "relevance_score": 0.1}]}', "each of 2 documents one score"),
        (
            '{"results": [{"index": 0, "relevance_score": 0.1}, {"index": 0, "relevance_score": 0.2}]}',
            "each of 2 documents one score",
        ),
        (
            '{"results": [{"index": 0, "relevance_score": 0.1}, {"index": -1, "relevance_score": 0.2}]}',
            "each of 2 documents one score",
        ),
        (
            '{"results": [{"index": 0, "relevance_score": 0.1}, {"index": "1", "relevance_score": 0.2}]}',
            "each of 2 documents one score",
        ),
        (
            '{"results": [{"index": 0, "relevance_score": 0.1}, {"index": 1, "relevance_score": NaN}]}',
            "each of 2 documents one score",
        ),
        (
            '{"results": [{"index": 0, "relevance_score": 0.1}, {"index": 1, "relevance_score": null}]}',
            "no known form",
        ),
        ('{"results": [{"index": 0, "relevance_score": 0.1}, {"index": 1}]}', "no known form"),
        ('{"results": [{"index": 0, "relevance_score": 1' + "0" * 400 + "}]}", "no known form"),
        ('{"results": [0.1, 0.2]}', "no known form"),
        ('{"results": {"index": 0}}', "no known form"),
        ('{"error": "no"}', "no known form"),
        ("null", "no known form"),
        ("[" * 100_000, "no known form"),
        ("", "no known form"),
    ],
)
def test_broken_replies(endpoint, reply, said):
    endpoint.answer = lambda body: (200, {}, reply)
    with pytest.raises(ModelError, match=said) as caught:
        HttpReranker(endpoint.url, "m", KEY).score([("q", "a"), ("q", "b")])
    assert str(caught.value).startswith(endpoint.url.removeprefix("http://").removesuffix("/v1/rerank") + ":")
    assert "GSWGRAPH_RERANKER" in str(caught.value)
    assert len(str(caught.value)) < 500
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize(("status", "hint"), [(429, "Wait"), (500, "GSWGRAPH_RERANKER")])
def test_a_passing_fault_is_tried_three_times(endpoint, status, hint):
    endpoint.answer = lambda body: cohere(body) if len(endpoint.asked) == 3 else (status, {}, "busy")
    assert HttpReranker(endpoint.url).score([("q", "good")]) == pytest.approx([0.9])
    endpoint.asked.clear()
    endpoint.answer = lambda body: (status, {}, "busy")
    with pytest.raises(ModelError, match=rf"answered {status}: busy. .*{hint}"):
        HttpReranker(endpoint.url).score([("q", "good")])
    assert len(endpoint.asked) == 3


@pytest.mark.parametrize(
    ("status", "hint"), [(401, "GSWGRAPH_RERANKER_KEY"), (404, "whole url"), (400, "GSWGRAPH_RERANKER_MODEL")]
)
def test_refusals_are_final_and_never_show_the_key(endpoint, status, hint, caplog):
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


def test_hanging_server(endpoint):
    free = threading.Event()
    endpoint.answer = lambda body: (free.wait(20), cohere(body))[1]
    start = time.monotonic()
    with pytest.raises(ModelError, match="did not answer in time"):
        HttpReranker(endpoint.url, key=KEY, timeout=0.1).score([("q", "good")])
    assert time.monotonic() - start < 5
    until(lambda: len(endpoint.asked) == 3)  # the last may be read after its client has given up
    free.set()


def test_redirects_are_not_followed(endpoint):
    endpoint.answer = lambda body: (307, {"Location": "/elsewhere"}, "")
    with pytest.raises(ModelError, match="307"):
        HttpReranker(endpoint.url, key=KEY).score([("q", "good")])
    assert [body["path"] for body in endpoint.asked] == ["/v1/rerank"]


def test_no_proxy_sees_what_is_for_this_machine(endpoint, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    assert HttpReranker(endpoint.url, key=KEY).score([("q", "good")]) == pytest.approx([0.9])


def test_urls_and_keys_that_are_refused():
    for url in (
        "http://example.org/rerank",
        "HTTP://192.168.1.7:8000/rerank",
        "http://localhost.example.org/rerank",
    ):
        with pytest.raises(ModelError, match="key would travel unencrypted") as caught:
            load(Settings(reranker=url, reranker_key=KEY))
        assert KEY not in str(caught.value)
        assert load(Settings(reranker=url)) is not None
    for url in (
        "http://localhost:8000/rerank",
        "http://[::1]/rerank",
        "http://127.0.0.3/rerank",
        "https://example.org/rerank",
    ):
        assert HttpReranker(url, key=KEY).name == url.split("/")[2]
    for url, said in (
        ("https://", "no host"),
        ("https://h:x/rerank", "cannot be read"),
        ("https://me:hidden@h/rerank", "password in the url"),
    ):
        with pytest.raises(ModelError, match=said) as caught:
            HttpReranker(url)
        assert "hidden" not in str(caught.value)
    for key in ("sk-\nX-Other: 1", "sk-é"):
        with pytest.raises(ModelError, match="characters that no key has") as caught:
            HttpReranker("https://h/rerank", key=key)
        assert "sk-" not in str(caught.value)
