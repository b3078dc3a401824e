"""The HTTP API on every engine: what routes give back is what the command line prints, progress and answers come as events, and bad requests get
one clear error."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import asdict, dataclass
from types import SimpleNamespace

import httpx
import pytest
import samples
import served
from served import events

from gsw_graph.errors import InputError, WorkCancelledError
from gsw_graph.model.results import Answer, Documents, History, Shown, Status
from gsw_graph.serve.app import JSON_LIMIT, BindAddress
from gsw_graph.serve.client import rebuild

BAD_REQUESTS = json.loads((samples.DATA / "bad_requests.json").read_text(encoding="utf-8"))
ASKED = "Who drew the Old Customs House of Port Aldous?"


@pytest.fixture
def server(corpus):
    with served.served(corpus) as one:
        yield one


def test_routes_give_what_the_memory_says(server, corpus):
    def get(path, **query):
        return server.client.get(f"/api/{path}", params=query or None).json()

    corpus.forget("upload:a.md")
    asked = server.ask(ASKED, trace=True)
    assert rebuild(Answer, asked).to_dict() == asked
    assert [passage["id"] for passage in asked["passages"]] == [
        one.id for one in corpus.ask(ASKED, keep=False)
    ]
    assert get(f"questions/{asked['id'][:12]}")["question"] == ASKED
    for kind, path, said in (
        (Status, "status", corpus.status()),
        (Documents, "documents", corpus.documents()),
        (Documents, "documents?text=observ", corpus.documents("observ")),
        (History, "questions", corpus.history()),
        (Shown, "documents/Port%20Aldous", corpus.show("Port Aldous")),
        (Shown, f"documents/{asked['passages'][0]['id']}", corpus.show(asked["passages"][0]["id"])),
    ):
        found = get(path)
        assert found == json.loads(json.dumps(said.to_dict())), path
        assert rebuild(kind, found) == said
    names = get("names", text="Port Ald")
    assert names[0]["name"] == "Port Aldous"
    followed = get("names/PORT%20aldous", limit=5)
    assert followed == corpus.name("Port Aldous", limit=5).to_dict()
    assert len(followed["places"]) == 5
    assert followed["beside"][0]["passages"] >= 1
    assert "Near it: Port Aldous" in get("names/portaldous")["hint"]
    table = server.client.post(
        "/api/cypher",
        json={
            "query": "MATCH (d:Document {title: $t}) RETURN d.title AS t",
            "parameters": {"t": "Port Aldous"},
        },
    )
    assert table.json() == {"columns": ["t"], "rows": [{"t": "Port Aldous"}]}
    assert (
        len(
            server.client.post("/api/analyses/most_mentioned", json={"parameters": {"limit": 2}}).json()[
                "rows"
            ]
        )
        == 2
    )
    drawn = server.client.post("/api/draw", json={"answer": asked}).json()
    assert {node["label"] for node in drawn["nodes"]} >= {"Question", "Passage"}
    page = server.client.post("/api/draw", json={"answer": asked}, headers={"Accept": "text/html"})
    assert page.text == corpus.draw(rebuild(Answer, asked)).html()
    found = server.client.post("/api/search", json={"question": ASKED, "k": 2}).json()
    expected = [passage["id"] for passage in asked["passages"][:2]]
    assert [passage["id"] for passage in found["passages"]] == expected


def test_an_agent_retrieves_as_search_r1_does(server, corpus):
    body = {"queries": [ASKED, "harbour"], "topk": 2, "return_scores": True}
    first, second = server.client.post("/api/retrieve", json=body).json()["result"]
    best = corpus.ask(ASKED, strategy="dense", k=2, keep=False).passages
    assert [one["document"]["id"] for one in first] == [passage.id for passage in best]
    assert first[0]["document"]["contents"].startswith(f'"{best[0].title}"\n')
    assert first[0]["score"] == pytest.approx(best[0].score)
    plain = server.client.post("/api/retrieve", json={**body, "return_scores": False}).json()["result"]
    assert plain == [[one["document"] for one in each] for each in (first, second)]


def test_an_agent_retrieves_pairs(sample):
    with served.served(sample) as server:
        for unit in ("pairs", "both"):
            body = {"queries": ["Who built the Stone Pier?"], "topk": 3, "unit": unit}
            (found,) = server.client.post("/api/retrieve", json=body).json()["result"]
            assert "Who built the Stone Pier? Ana Ruiz" in [document["contents"] for document in found]


def test_a_client_sends_the_last_turns_and_the_server_keeps_none(sample):
    turns = [{"question": "Who built the Stone Pier?", "answer": "Ana Ruiz"}]
    with served.served(sample) as server:
        answer = server.ask("And where was she born?", turns=turns, keep=False)
        assert answer["question"] == "where was Ana Ruiz born?"
        assert "asked as" in answer["note"]
        again = server.ask("And where was she born?", keep=False)
        assert again["question"] == "And where was she born?"
        many = [{"question": "Who is Bo Lind?", "answer": "x" * 5000}] * 50
        assert (
            server.ask("And where was she born?", turns=many + turns, keep=False)["question"]
            == answer["question"]
        )


def test_pairs_and_passages_are_ranked_by_their_ranks(sample):
    body = {"queries": ["Who built the Stone Pier?"], "topk": 3, "return_scores": True}
    with served.served(sample) as server:
        lists = {}
        for unit in ("passages", "pairs", "both"):
            (found,) = server.client.post("/api/retrieve", json={**body, "unit": unit}).json()["result"]
            lists[unit] = [one["document"]["id"] for one in found]
    both = lists["both"]
    assert set(both[:2]) == {lists["passages"][0], lists["pairs"][0]}, "the best of each come first"
    assert [one["score"] for one in found][:2] == [pytest.approx(1 / 61)] * 2
    assert both[2] in (lists["passages"][1], lists["pairs"][1])


def test_loads_and_answers_come_as_events(server):
    head = {"Accept": "text/event-stream"}
    files = [
        ("files", ("trip/day one.md", b"# Quellam\n\nThe Quellam Lamp was lit by Zorvik Anselm in 1931.")),
        ("files", ("two.csv", b"title,note\nLamp,It is red.\n")),
    ]
    told = events(server.client.post("/api/load", files=files, headers=head).text)
    assert {name for name, _ in told[:-1]} == {"progress"}
    assert told[-1][0] == "report"
    assert json.loads(told[-1][1])["documents"]["new"] == 2
    assert (
        server.client.get("/api/documents/upload:trip/day%20one.md").json()["document"]["title"] == "Quellam"
    )
    told = events(
        server.client.post("/api/ask", json={"question": "Who lit the Quellam Lamp?"}, headers=head).text
    )
    assert ("stage", '{"stage": "embed", "text": null}') in told
    assert [name for name, _ in told][-2:] == ["places", "answer"]
    found = {passage["id"]: passage["text"] for passage in json.loads(told[-1][1])["passages"]}
    sentences = json.loads(told[-2][1])
    assert sentences.keys() == found.keys()
    assert all(sentence in found[id_] for id_ in found for sentence in sentences[id_])
    assert any(sentences.values())
    assert told[-1][0] == "answer"
    assert json.loads(told[-1][1])["passages"][0]["source"] == "upload:trip/day one.md"
    told = events(server.client.post("/api/ask", json={"question": " "}, headers=head).text)
    assert told == [
        (
            "error",
            '{"error": "the question is empty", "where": null, "hint": null, "kind": "InputError", "status": 400}',
        )
    ]
    gone = server.client.post(
        "/api/forget", json={"sources": ["upload:trip/day one.md", "upload:two.csv", "two.csv"]}
    ).json()
    assert gone["unknown"] == ["two.csv"]


def test_one_clear_error_for_each_bad_request(server):
    post = server.client.post
    long = post("/api/ask", json={"question": "a" * 5000})
    assert long.status_code == 422
    assert "at most 4000" in long.json()["error"]
    upload = post("/api/load", files={"files": ("../up.md", b"x")})
    assert upload.status_code == 400
    assert "no name of a file" in upload.json()["error"]
    for bad in BAD_REQUESTS:
        reply = server.client.request(**bad["request"])
        found = reply.json()
        assert reply.status_code == bad["status"], (bad, reply.text)
        assert bad["says"] in found["error"]
        assert found.keys() >= {"error", "where", "hint", "kind"}
    assert server.client.get("/api/status", headers={"Origin": server.url}).status_code == 200
    assert server.client.get("/api/status", headers={"Host": "evil.example"}).status_code == 400, "rebinding"
    assert post("/api/ask", content=b"x" * (JSON_LIMIT + 1)).status_code == 413


def test_the_owner_names_files_and_writes(server, tmp_path):
    (tmp_path / "own.md").write_text("# Own\n\nA file of Zorvik.", encoding="utf-8")
    head = server.owner()
    report = server.client.post("/api/load/paths", json={"paths": [str(tmp_path)]}, headers=head).json()
    assert report["documents"]["new"] == 1
    forget = {"sources": ["own.md"], "folder": str(tmp_path)}
    assert server.client.post("/api/forget", json=forget).json()["unknown"] == ["own.md"], (
        "for others no name is a path"
    )
    assert server.client.post("/api/forget", json=forget, headers=head).json()["unknown"] == []
    written = server.client.post(
        "/api/cypher",
        json={"query": "MATCH (q:Question) DETACH DELETE q RETURN count(*)", "write": True},
        headers=head,
    )
    assert written.status_code == 200


def test_read_only_and_a_token(corpus):
    token = "t" * 30
    with served.served(corpus, read_only=True, token=token) as one:
        for sent in (
            {},
            {"Authorization": "Bearer wrong"},
            {"Authorization": f"Basic {token}"},
            {"Authorization": f"Bearer {token}x"},
        ):
            refused = one.client.get("/api/status", headers=sent)
            assert refused.status_code == 401
            assert refused.headers["WWW-Authenticate"] == "Bearer"
            assert token not in refused.text
            assert one.client.post("/mcp", headers=sent, json={}).status_code == 401
            assert one.client.get("/openapi.json", headers=sent).status_code == 401
        for place in (
            "/",
            "/static/index.html",
            "/static/main.js",
        ):  # open, and no page of another site has them in a frame
            assert "frame-ancestors 'none'" in one.client.get(place).headers["Content-Security-Policy"], place
        one.client.headers["Authorization"] = f"Bearer {token}"
        assert one.ask(ASKED)["id"] is None, "no question is kept"
        assert one.client.get("/openapi.json").json()["info"]["title"] == "gswgraph"
        for path, request in (
            ("load", {"files": {"files": ("a.md", b"a")}}),
            ("forget", {"json": {"everything": True}}),
            ("cypher", {"json": {"query": "CREATE (n)", "write": True}, "headers": one.owner()}),
        ):
            reply = one.client.post(f"/api/{path}", **request)
            assert reply.status_code == 403, path
            assert reply.json()["error"] == "this server only reads", path


def test_a_full_line_says_when_to_come_back(corpus, monkeypatch):
    go = threading.Event()
    ended = threading.Event()

    def ask(*_, cancel, **__):
        while not go.wait(0.02):
            try:
                cancel.check()
            except WorkCancelledError:
                ended.set()
                raise
        raise WorkCancelledError("over")

    monkeypatch.setattr(corpus, "ask", ask)
    with served.served(corpus, asks=1, waiting=1, seconds=1.0) as one:
        replies = []
        clients = [
            threading.Thread(
                target=lambda: replies.append(
                    httpx.post(f"{one.url}/api/ask", json={"question": "a"}, timeout=30, trust_env=False)
                )
            )
            for _ in range(2)
        ]
        for client in clients:
            client.start()
        while len(one.state.asks) < 2:
            time.sleep(0.01)
        busy = one.client.post("/api/ask", json={"question": "a"})
        assert busy.status_code == 503
        assert busy.json()["kind"] == "BusyError"
        assert int(busy.headers["Retry-After"]) >= 1
        stream = one.client.post("/api/ask", json={"question": "a"}, headers={"Accept": "text/event-stream"})
        assert stream.status_code == 503, "before anything was sent"
        assert one.client.get("/api/status").status_code == 200, "others are served"
        for client in clients:
            client.join(30)
        assert [reply.status_code for reply in replies] == [504, 504]
        assert ended.wait(5)
        while len(one.state.asks):
            time.sleep(0.01)
        ended.clear()
        with pytest.raises(httpx.ReadTimeout):  # who goes away ends the work
            httpx.post(f"{one.url}/api/ask", json={"question": "a"}, timeout=0.3, trust_env=False)
        assert ended.wait(5)
        ended.clear()
        with (
            pytest.raises(httpx.ReadTimeout),
            httpx.stream(
                "POST",
                f"{one.url}/api/ask",
                json={"question": "a"},
                headers={"Accept": "text/event-stream"},
                timeout=0.3,
                trust_env=False,
            ) as told,
        ):
            list(told.iter_lines())
        assert ended.wait(5)


@pytest.mark.parametrize(
    ("host", "names", "known"),
    [
        ("127.0.0.1", ["notes.example"], {"localhost", "127.0.0.1", "[::1]", "notes.example"}),
        ("0.0.0.0", [], {"*"}),
    ],
)
def test_names_under_which_a_server_is_asked(host, names, known):
    assert set(BindAddress(host, names=names).hosts) == known


def test_an_upload_is_bounded_and_a_large_folder_is_one_request(corpus, monkeypatch):
    def endless():
        yield b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.md"\r\n\r\n'
        for _ in range(40):
            yield b"word " * 20_000

    monkeypatch.setattr(
        corpus, "load", lambda *_, uploads, **__: SimpleNamespace(to_dict=lambda: len(uploads))
    )
    with served.served(corpus, upload=2**20) as one:
        head = {"Content-Type": "multipart/form-data; boundary=b"}
        assert one.client.post("/api/load", content=endless(), headers=head).status_code == 413
        files = [("files", (f"folder/{number}.md", b"a")) for number in range(2000)]
        assert one.client.post("/api/load", files=files).json() == 2000
        assert one.client.post("/api/ask", content=b"x" * (JSON_LIMIT + 1)).status_code == 413
        assert one.ask(ASKED)["passages"], "others are served"


def test_a_result_with_tuples_and_dates_is_rebuilt_from_json():
    """A record with a pair in it could not be: an answer asked through a server was lost after it was given."""

    @dataclass
    class Dated:
        interval: tuple[str, str] | None
        rows: list[list[float]]

    dated = Dated(("1900-01-01", "1900-12-31"), [[1.0]])
    assert rebuild(Dated, json.loads(json.dumps(asdict(dated)))) == dated
    with pytest.raises(InputError, match="this is no Dated"):
        rebuild(Dated, {"interval": 3})
