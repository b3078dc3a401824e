"""The HTTP API on every engine: what routes give back is what the command line prints, progress and answers come as events, and bad requests get
one clear error."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any, BinaryIO

import httpx
import pytest
import served
from served import Served, events

from gsw_graph.cancel import Cancel
from gsw_graph.errors import EndedError
from gsw_graph.memory import Memory
from gsw_graph.results import Answer, Documents, History, Shown, Status
from gsw_graph.results.rebuilt import rebuilt
from gsw_graph.serve import bodies, connections
from gsw_graph.serve.security import Gate

LIMITS = ((-1, "limit: Input should be greater than or equal to 1"), (0, "greater than or equal to 1"), (10**30, "limit: Input should be less than or equal to"), ("x", "limit: Input should be a valid integer"))
ASKED = "Who drew the Old Customs House of Port Aldous?"


@pytest.fixture
def server(corpus: Memory) -> Iterator[Served]:
    with served.served(corpus) as one:
        yield one


def test_routes_give_what_the_memory_says(server: Served, corpus: Memory) -> None:
    get = lambda path, **query: server.client.get(f"/api/{path}", params=query or None).json()  # noqa: E731
    corpus.forget("upload:a.md")
    asked = server.ask(ASKED, trace=True)
    assert rebuilt(Answer, asked).to_dict() == asked
    assert [one["id"] for one in asked["passages"]] == [one.id for one in corpus.ask(ASKED, keep=False)]
    assert get(f"questions/{asked['id'][:12]}")["question"] == ASKED
    for kind, path, said in (
        (Status, "status", corpus.status()),
        (Documents, "documents", corpus.documents()),
        (Documents, "documents?text=observ", corpus.documents("observ")),
        (History, "questions", corpus.history()),
        (Shown, "documents/Port%20Aldous", corpus.show("Port Aldous")),
        (Shown, f"passages/{asked['passages'][0]['id']}", corpus.show(asked["passages"][0]["id"])),
    ):
        found = get(path)
        assert found == json.loads(json.dumps(said.to_dict())), path
        assert rebuilt(kind, found) == said
    names = get("names", text="Port Ald")
    assert names[0]["name"] == "Port Aldous"
    followed = get("names/PORT%20aldous", limit=5)
    assert followed == corpus.name("Port Aldous", limit=5).to_dict()
    assert len(followed["places"]) == 5
    assert followed["beside"][0]["passages"] >= 1
    assert "Near it: Port Aldous" in get("names/portaldous")["hint"]
    table = server.client.post("/api/cypher", json={"query": "MATCH (d:Document {title: $t}) RETURN d.title AS t", "parameters": {"t": "Port Aldous"}})
    assert table.json() == {"columns": ["t"], "rows": [{"t": "Port Aldous"}]}
    assert len(server.client.post("/api/analyses/most_mentioned", json={"parameters": {"limit": 2}}).json()["rows"]) == 2
    drawn = server.client.post("/api/draw", json={"answer": asked}).json()
    assert {node["label"] for node in drawn["nodes"]} >= {"Question", "Passage"}
    page = server.client.post("/api/draw", json={"answer": asked}, headers={"Accept": "text/html"})
    assert page.text == corpus.draw(rebuilt(Answer, asked)).html()
    found = server.client.post("/api/search", json={"question": ASKED, "k": 2}).json()
    assert [one["id"] for one in found["passages"]] == [one["id"] for one in asked["passages"][:2]]


def test_loads_and_answers_come_as_events(server: Served) -> None:
    head = {"Accept": "text/event-stream"}
    files = [("files", ("trip/day one.md", b"# Quellam\n\nThe Quellam Lamp was lit by Zorvik Anselm in 1931.")), ("files", ("two.csv", b"title,text\nLamp,It is red.\n"))]
    told = events(server.client.post("/api/load", files=files, headers=head).text)
    assert {name for name, _ in told[:-1]} == {"progress"}
    assert told[-1][0] == "report"
    assert json.loads(told[-1][1])["documents"]["new"] == 2
    assert server.client.get("/api/documents/upload:trip/day%20one.md").json()["document"]["title"] == "Quellam"
    told = events(server.client.post("/api/ask", json={"question": "Who lit the Quellam Lamp?"}, headers=head).text)
    assert ("stage", '{"stage": "embed", "text": null}') in told
    assert told[-1][0] == "answer"
    assert json.loads(told[-1][1])["passages"][0]["source"] == "upload:trip/day one.md"
    told = events(server.client.post("/api/ask", json={"question": " "}, headers=head).text)
    assert told == [("error", '{"error": "the question is empty", "where": null, "hint": null, "kind": "InputError", "status": 400}')]
    gone = server.client.post("/api/forget", json={"sources": ["upload:trip/day one.md", "upload:two.csv", "two.csv"]}).json()
    assert gone["unknown"] == ["two.csv"]


def test_one_clear_error_for_each_bad_request(server: Served) -> None:
    post = server.client.post
    for status, reply, said in (
        (422, post("/api/ask", json={"question": 3}), "question: Input should be a valid string"),
        (422, post("/api/ask", json={"question": "a", "qestion": "b"}), "qestion: Extra inputs"),
        (422, post("/api/ask", json={"question": "a" * 5000}), "at most 4000"),
        (422, post("/api/ask", json={"question": "a", "strategy": "a" * 200}), "at most 100"),
        (400, post("/api/ask", json={"question": "a", "strategy": "magic"}), "no strategy 'magic'"),
        (422, post("/api/ask", content=b"{", headers={"Content-Type": "application/json"}), "JSON decode error"),
        (400, post("/api/draw", json={"answer": {"question": 1}}), "this is no Answer"),
        (400, post("/api/cypher", json={"query": "MATCH (d) DETACH DELETE d"}), "only reading is allowed"),
        (403, post("/api/cypher", json={"query": "CREATE (d)", "write": True}), "only the owner"),
        (400, post("/api/cypher", json={"query": "RETURN $write", "parameters": {"write": 1}}), "cannot be called 'write'"),
        (403, post("/api/load/paths", json={"paths": ["/etc/passwd"]}), "only the owner"),
        (400, post("/api/load", files={"files": ("../up.md", b"x")}), "no name of a file"),
        (422, post("/api/load", data={"replace": "true"}), "files: Field required"),
        (400, post("/api/forget", json={}), "either sources or everything"),
        (400, server.client.get("/api/documents/nosuch.md"), "no document or passage"),
        *((422, server.client.get(f"/api/{path}", params={"limit": limit}), said) for path in ("documents", "names", "names/Port Aldous", "questions") for limit, said in LIMITS),
        (422, server.client.get("/api/names", params={"skip": -1}), "skip: Input should be greater than or equal to 0"),
        (422, server.client.get("/api/documents/Port Aldous", params={"passage": -1}), "passage: Input should be greater than or equal to 1"),
        (400, server.client.get("/api/documents/Port Aldous", params={"passage": 99}), "there is no passage 99"),
        *((422, post(f"/api/{path}", json={"question": "a", "k": k}), "k: Input should be") for path in ("ask", "search") for k in (-1, 0, 10**30)),
        (400, post("/api/analyses/most_mentioned", json={"parameters": {"limit": -1}}), "limit of most_mentioned is a whole number from 0"),
        (404, server.client.get("/api/nosuch"), "not found"),
        (405, server.client.get("/api/ask"), "method not allowed"),
        (413, post("/api/ask", content=b"x" * (bodies.JSON + 1)), "larger than 4 MiB"),
        (421, server.client.get("/api/status", headers={"Host": "evil.example"}), "not called so"),
        (403, post("/api/ask", json={"question": "a"}, headers={"Origin": "http://evil.example"}), "another site"),
        (403, post("/api/ask", json={"question": "a"}, headers={"Origin": "null"}), "another site"),
    ):
        found = reply.json()
        assert reply.status_code == status, (said, reply.text)
        assert said in found["error"]
        assert found.keys() >= {"error", "where", "hint", "kind"}
    assert server.client.get("/api/status", headers={"Origin": server.url}).status_code == 200


def test_the_owner_names_files_and_writes(server: Served, tmp_path: Any) -> None:
    (tmp_path / "own.md").write_text("# Own\n\nA file of Zorvik.", encoding="utf-8")
    head = server.owner()
    report = server.client.post("/api/load/paths", json={"paths": [str(tmp_path)]}, headers=head).json()
    assert report["documents"]["new"] == 1
    forget = {"sources": ["own.md"], "folder": str(tmp_path)}
    assert server.client.post("/api/forget", json=forget).json()["unknown"] == ["own.md"], "for others no name is a path"
    assert server.client.post("/api/forget", json=forget, headers=head).json()["unknown"] == []
    written = server.client.post("/api/cypher", json={"query": "MATCH (q:Question) DETACH DELETE q RETURN count(*)", "write": True}, headers=head)
    assert written.status_code == 200


def test_read_only_and_a_token(corpus: Memory) -> None:
    token = "t" * 30
    with served.served(corpus, read_only=True, token=token) as one:
        for sent in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {token}"}, {"Authorization": f"Bearer {token}x"}):
            refused = one.client.get("/api/status", headers=sent)
            assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, "Bearer")
            assert token not in refused.text
            assert one.client.post("/mcp", headers=sent, json={}).status_code == 401
            assert one.client.get("/openapi.json", headers=sent).status_code == 401
        for place in ("/", "/docs", "/static/index.html", "/static/main.js"):  # open, and no page of another site has them in a frame
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
            assert (reply.status_code, reply.json()["error"]) == (403, "this server only reads"), path


def test_the_routes_are_a_page_that_asks_nobody_else(corpus: Memory) -> None:
    with served.served(corpus) as one:
        page, schema = one.client.get("/docs").text, one.client.get("/openapi.json").json()
    for path, methods in schema["paths"].items():
        for method in methods:
            assert f">{method.upper()} {path}</h2>" in page
    assert '<th scope="row">k</th><td>integer from 1 to 100</td><td>default 5</td><td>How many passages.</td>' in page
    assert '<th scope="row">question</th><td>string of at most 4000</td><td>needed</td>' in page
    assert set(re.findall(r'(?:href|src)="([^#"]+)', page)) == {"/static/icon.svg", "/static/style.css", "/openapi.json", "/"}


def test_names_under_which_a_server_is_asked() -> None:
    here, far = Gate.of("127.0.0.1", None, "o", ["Notes.example"]), Gate.of("0.0.0.0", "t", "o")
    for gate, host, known in (
        (here, "127.0.0.1:8484", True), (here, "localhost", True), (here, "[::1]:1", True), (here, "notes.example", True),
        (here, "192.168.0.7", False), (here, "127.0.0.1.evil.example", False), (here, "", False), (here, "localhost@evil.example", False), (here, "[", False),
        (far, "192.168.0.7:8484", True), (far, "[fe80::1]:8484", True), (far, "evil.example", False), (far, "127.0.0.1.nip.io", False),
    ):  # fmt: skip
        assert gate._knows(host) is known, (gate.names, host)


def test_a_full_line_says_when_to_come_back(corpus: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    go, ended = threading.Event(), threading.Event()

    def ask(*_: Any, cancel: Cancel, **__: Any) -> Any:
        while not go.wait(0.02):
            try:
                cancel.check()
            except EndedError:
                ended.set()
                raise
        raise EndedError("over")

    monkeypatch.setattr(corpus, "ask", ask)
    with served.served(corpus, asks=1, waiting=1, seconds=1.0) as one:
        replies: list[httpx.Response] = []
        clients = [threading.Thread(target=lambda: replies.append(httpx.post(f"{one.url}/api/ask", json={"question": "a"}, timeout=30, trust_env=False))) for _ in range(2)]
        for client in clients:
            client.start()
        while len(one.desk.asks) < 2:
            time.sleep(0.01)
        busy = one.client.post("/api/ask", json={"question": "a"})
        assert (busy.status_code, busy.json()["kind"]) == (503, "BusyError")
        assert int(busy.headers["Retry-After"]) >= 1
        stream = one.client.post("/api/ask", json={"question": "a"}, headers={"Accept": "text/event-stream"})
        assert stream.status_code == 503, "before anything was sent"
        assert one.client.get("/api/status").status_code == 200, "others are served"
        for client in clients:
            client.join(30)
        assert [reply.status_code for reply in replies] == [504, 504]
        assert ended.wait(5)
        while len(one.desk.asks):
            time.sleep(0.01)
        ended.clear()
        with pytest.raises(httpx.ReadTimeout):  # who goes away ends the work
            httpx.post(f"{one.url}/api/ask", json={"question": "a"}, timeout=0.3, trust_env=False)
        assert ended.wait(5)
        ended.clear()
        with (
            pytest.raises(httpx.ReadTimeout),
            httpx.stream("POST", f"{one.url}/api/ask", json={"question": "a"}, headers={"Accept": "text/event-stream"}, timeout=0.3, trust_env=False) as told,
        ):
            list(told.iter_lines())
        assert ended.wait(5)


def test_connections_and_bodies_are_bounded(corpus: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEADERS", 3.0)
    monkeypatch.setattr(bodies, "GRACE", 1.0)
    monkeypatch.setattr(bodies, "SILENCE", 1.0)
    with served.served(corpus, connections=20, upload=2**20) as one:
        port = one.place.port
        many = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
        many[59].sendall(b"GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
        many[0].sendall(b"GET /api/status HTTP/1.1\r\nHost: local")  # and no more
        time.sleep(0.3)
        answers = [said(client, 0.0) for client in many]
        assert sum(b"503 Service Unavailable" in answer and b"Retry-After: 1" in answer for answer in answers) == 40
        time.sleep(connections.SILENT)
        assert one.client.get("/api/about").status_code == 200, "one that says nothing makes room"
        assert said(many[0], 5.0) == b"", "what says nothing is closed"
        for client in many:
            client.close()
        for path, sent in (("ask", b"{"), ("load", b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.md"\r\n\r\n' + b"x" * 100_000)):  # at its pace, and then silent
            slow = socket.create_connection(("127.0.0.1", port))
            slow.sendall(b"POST /api/%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n%s" % (path.encode(), sent))
            assert b"408" in said(slow, 10.0)
            slow.close()

        def endless() -> Iterator[bytes]:
            yield b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.md"\r\n\r\n'
            for _ in range(40):
                yield b"word " * 20_000

        large = one.client.post("/api/load", content=endless(), headers={"Content-Type": "multipart/form-data; boundary=b"})
        assert (large.status_code, large.json()["error"]) == (413, "the request is larger than 1 MiB")
        assert one.ask(ASKED)["passages"], "others are served"


def test_uploads_of_the_moment_have_so_much_room_together(corpus: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are on disk until they are loaded; what finds no room is told to come back, and does then."""

    def load(*_: Any, uploads: dict[str, BinaryIO], **__: Any) -> Any:
        held = sum(len(one.read()) for one in uploads.values())
        return SimpleNamespace(to_dict=lambda: held)

    monkeypatch.setattr(corpus, "load", load)
    disk = bodies._Disk(bodies.TOGETHER * 2**20)
    monkeypatch.setattr(bodies, "_Disk", lambda _: disk)
    go, size = threading.Event(), 900_000

    def body(waits: bool) -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.md"\r\n\r\n'
        yield b"x" * size
        if waits:
            assert go.wait(30)
        yield b"\r\n--b--\r\n"

    def send(waits: bool) -> httpx.Response:
        head = {"Content-Type": "multipart/form-data; boundary=b"}
        return httpx.post(f"{one.url}/api/load", content=body(waits), headers=head, timeout=30, trust_env=False)

    with served.served(corpus, upload=2**20) as one, ThreadPoolExecutor(bodies.TOGETHER) as pool:
        begun = [pool.submit(send, waits=True) for _ in range(bodies.TOGETHER)]
        until(lambda: disk.left < size)
        full = send(waits=False)
        assert (full.status_code, full.headers["Retry-After"]) == (503, "10")
        assert "take all the room" in full.json()["error"]
        assert one.client.get("/api/status").status_code == 200, "others are served"
        go.set()
        assert [one.result(30).json() for one in begun] == [size] * len(begun)
        assert send(waits=False).json() == size


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_server_may_have_many_files_open() -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
        connections.enough_files(600)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 600
        connections.enough_files(100)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 600, "it takes none away"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def said(client: socket.socket, seconds: float) -> bytes:
    client.settimeout(seconds or 0.001)
    try:
        return client.recv(4096)
    except (TimeoutError, BlockingIOError):
        return b""
    except ConnectionResetError:
        return b""


def test_a_large_folder_is_one_request(corpus: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "load", lambda *_, uploads, **__: SimpleNamespace(to_dict=lambda: len(uploads)))
    with served.served(corpus) as one:
        for count, status in ((2000, 200), (10_001, 400)):
            files = [("files", (f"folder/{n}.md", b"a")) for n in range(count)]
            reply = one.client.post("/api/load", files=files)
            assert reply.status_code == status, reply.text
        assert reply.json()["hint"].startswith("Send them in parts")
