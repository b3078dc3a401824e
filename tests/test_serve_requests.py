"""What clients of a server send: names of files in every form, nulls, wrong types, names of memories, sources that look like paths, names of hosts."""

from __future__ import annotations

import http.client
import json
import os
import re
import threading
from io import BytesIO
from pathlib import Path

import anyio
import pytest
import served
from mcp import Client
from served import OWNER

from gsw_graph.engine.address import split_address
from gsw_graph.engine.embedded_folder import RunningServer
from gsw_graph.errors import InputError
from gsw_graph.memory import Memory
from gsw_graph.serve.app import described
from gsw_graph.serve.client import RemoteMemory
from gsw_graph.serve.context import AppState
from gsw_graph.store import schema

ASKED = "Who drew the Old Customs House of Port Aldous?"
PYTHON = re.compile(
    r"class '|UploadFile|\bBody\b|Body\b|instance of|tuple|dict|\[any\]|[Kk]eyword argument|pydantic|Value error|NoneType"
)
# Routes that may be asked for a memory that does not exist yet.
OPEN = {"GET /api/memories", "GET /api/analyses", "POST /api/load", "POST /api/load/paths", "POST /api/turns"}
SCHEMA = described().openapi()
ROUTES = [(method, path) for path, methods in SCHEMA["paths"].items() for method in methods]


@pytest.fixture
def server(corpus):
    with served.served(corpus) as one:
        yield one


# --- uploads ---

NAMED = [  # how a client writes the name of a file, and the source that it gets
    ('filename="Übersicht.md"', "Übersicht.md"),  # browsers
    ("filename*=utf-8''%E6%A6%82%E8%A6%81.md", "概要.md"),  # RFC 5987 alone
    ("filename=\"?.md\"; filename*=UTF-8''%D0%9E%D0%B1.md", "Об.md"),  # Java
    ("filename*=UTF-8'ru'%D0%9E%D0%B1.md; filename=\"?.md\"", "Об.md"),
    ("filename=\"=?utf-8?B?w5xiZXIubWQ=?=\"; filename*=utf-8''%C3%9Cber.md", "Über.md"),  # .NET
    ('filename="=?utf-8?B?w5xiZXIubWQ=?="', "Über.md"),
    ("filename*=iso-8859-1''%FCber.md", "über.md"),
    ("filename*=no-such-charset''a.md", "a.md"),
    ("filename=plain.md", "plain.md"),
    ('filename="a b;c.md"', "a b;c.md"),
    ('filename="say \\"hi\\".md"', 'say "hi".md'),  # curl before 7.81
    ('filename="say %22hi%22.md"', 'say "hi".md'),  # browsers, and curl since
    ('filename="100%25.md"', "100%25.md"),
    ('filename="trip/day.md"', "trip/day.md"),
    ('filename="C:\\\\Users\\\\x\\\\notes.md"', "notes.md"),
    ("filename*=utf-8''C%3A%5CUsers%5Cx%5Cnotes.md", "notes.md"),
]
UNNAMED = [
    'filename=""',
    'filename="../../notes.md"',
    "filename*=utf-8''..%2F..%2Fnotes.md",
    "filename*=utf-8''a%00b.md",
    'filename="/"',
]


def upload(server, disposition):
    """The answer to a form with one part, whose header is sent as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", server.address.port, timeout=60)
    part = (
        b'--b\r\nContent-Disposition: form-data; name="files"; '
        + disposition
        + b"\r\n\r\nZorvik was here.\r\n--b--\r\n"
    )
    connection.request("POST", "/api/load?memory=", part, {"Content-Type": "multipart/form-data; boundary=b"})
    reply = connection.getresponse()
    found = reply.status, json.loads(reply.read())
    connection.close()
    return found


def test_case_47_names_of_uploads_as_clients_write_them(server, corpus):
    for disposition, name in NAMED:
        status, report = upload(server, disposition.encode())
        assert status == 200, (disposition, report)
        assert report["failures"] == []
        assert f"upload:{name}" in server.sources(), disposition
        assert corpus.forget(f"upload:{name}", folder=None).unknown == []
    status, _ = upload(server, 'filename="ü.md"'.encode("latin-1"))
    assert status in (200, 400)
    before = server.sources()
    for disposition in UNNAMED:
        status, error = upload(server, disposition.encode())
        assert status == 400, disposition
        assert error["error"] == "this is no name of a file", disposition
    status, error = upload(server, b"")
    assert status == 422
    assert error["error"] == "the request cannot be used: files.0: Input should be a file with its name"
    assert "curl -F files=@notes.md" in error["hint"]
    assert server.sources() == before
    corpus.forget(*(source for source in before if source.startswith("upload:")), folder=None)


# --- values that do not fit ---


def bodies(path, method):
    """Bodies that do not fit a route: of another type, empty, and with each field of another type."""
    yield from ([], 3, "text", None, {}, {"nosuch": 1})
    for content in SCHEMA["paths"][path][method].get("requestBody", {}).get("content", {}).values():
        kind = SCHEMA["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]
        for name in kind["properties"]:
            for wrong in (3.5, "text", [3], {"a": 1}, [["a"]], False):
                yield {name: wrong}


def test_case_47_what_does_not_fit_is_said_in_words_of_the_api(server, monkeypatch):
    def refused(*_, **__):
        raise InputError("not in this test")

    for name in ("ask", "load", "add", "forget", "correct"):
        monkeypatch.setattr(Memory, name, refused)
    for method, path in ROUTES:
        if method != "post":
            continue
        for body in bodies(path, method):
            reply = server.client.post(path.format(which="1", name="most_mentioned"), json=body)
            assert reply.status_code < 500, (path, body, reply.text)
            said = reply.json().get("error") or ""
            assert not PYTHON.search(said), (path, body, said)
    form = server.client.post("/api/ask", data={"question": "a"})
    assert form.status_code == 422
    assert form.json()["error"] == "the request cannot be used: body: Input should be an object"
    assert "Content-Type: application/json" in form.json()["hint"]


def test_case_48_null_is_the_default_in_a_body(server):
    for path in ("ask", "search"):
        names = SCHEMA["components"]["schemas"][f"{path.title()}Body"]["properties"]
        body = {**dict.fromkeys(names), "question": ASKED}
        reply = server.client.post(f"/api/{path}", json=body)
        assert reply.status_code == 200, reply.text
        expected = server.client.post(f"/api/{path}", json={"question": ASKED}).json()["passages"]
        assert reply.json()["passages"] == expected
        assert server.client.post(f"/api/{path}", json={**body, "nosuch": None}).status_code == 422
        assert (
            "question: Field required"
            in server.client.post(f"/api/{path}", json=dict.fromkeys(names)).json()["error"]
        )
    assert (
        server.client.post(
            "/api/cypher", json={"query": "RETURN 1 AS n", "timeout": None, "parameters": None}
        ).status_code
        == 200
    )


def test_case_48_arguments_of_tools_as_models_write_them(server):
    async def check():
        async with Client(f"{server.url}/mcp") as client:
            for tool in (await client.list_tools()).tools:
                assert "anyOf" not in json.dumps(tool.input_schema), tool.name

            async def call(name, /, **arguments):
                result = await client.call_tool(name, arguments)
                return result.is_error, result.content[0].text

            plain = await call("search", question=ASKED, k=2)
            source = json.loads(plain[1])[0]["source"]
            assert await call("search", question=ASKED, k="2") == plain
            assert await call("search", question=ASKED, k=2.0, inside=None, where=None, shown=None) == plain
            for inside in (source, [source], json.dumps([source])):
                found = json.loads((await call("search", question=ASKED, inside=inside, k=None))[1])
                assert {passage["source"] for passage in found} == {source}
            assert not (await call("search", question=ASKED, where='title = "Port Aldous"'))[0]
            assert not (await call("status", random_string="x"))[0]
            assert await call("search", question=ASKED, top_k=3) == (
                True,
                "search has no argument top_k; it has question, k, inside, where, shown",
            )
            assert "question: Field required" in (await call("search", question=None))[1]
            assert "inside: Input should be a list" in (await call("search", question=ASKED, inside=3))[1]
            assert (
                "remembered as passage"
                in (await call("remember", text="It is late.", speaker=None, session=None, at=None))[1]
            )
            assert not (await call("forget_document", source="session:conversation"))[0]

    anyio.run(check)


def test_case_48_refused_hosts_and_sites_say_how_they_are_allowed(corpus):
    with served.served(
        corpus, names=("notes.example.org", "*.example.net"), origins=("http://localhost:6274",)
    ) as one:

        def get(**headers):
            return one.client.get("/api/status", headers=headers)

        for host in (
            "notes.example.org",
            "Notes.Example.org:8484",
            "a.example.net",
            "[::1]:8484",
            "localhost:1",
        ):
            assert get(Host=host).status_code == 200, host
        for host in ("evil.example", "", "localhost:x", "evil.example#localhost", "notes.example.org.evil"):
            refused = get(Host=host)
            assert refused.status_code == 400, host
            assert "--name" in refused.json()["hint"], host
        for origin in ("http://evil.example", "null", "vscode-file://vscode-app"):
            refused = get(Origin=origin)
            assert refused.status_code == 403
            assert origin in refused.json()["error"]
            assert f"--origin {origin}" in refused.json()["hint"]
        allowed = get(Origin="http://localhost:6274")
        assert allowed.status_code == 200
        assert allowed.headers["Access-Control-Allow-Origin"] == "http://localhost:6274"
        head = {
            "Origin": "http://localhost:6274",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization",
        }
        assert one.client.options("/mcp", headers=head).status_code == 200


# --- sources that look like paths ---


def test_who_asks_from_elsewhere_learns_no_path(server, corpus, tmp_path):
    """`/proc/self/exe` was followed, and the error showed where it leads; a relative name showed the folder of the server."""
    link = tmp_path / "link.md"
    source = corpus.documents("port_aldous").documents[0].source
    link.symlink_to(source)
    secrets = [os.path.realpath("/proc/self/exe"), str(Path.cwd()), source]
    names = ["/proc/self/exe", "x", ".", "..", "~", str(link), os.path.relpath(source)]

    async def search(inside):
        async with Client(f"{server.url}/mcp") as client:
            texts = []
            for tool in ("search", "ask"):
                result = await client.call_tool(tool, {"question": ASKED, "inside": inside})
                assert result.is_error, inside
                texts.append(result.content[0].text)
            return " ".join(texts)

    for name in names:
        replies = [
            server.client.post("/api/ask", json={"question": ASKED, "inside": [name], "folder": "/"}),
            server.client.post(
                "/api/search", json={"question": ASKED, "inside": [name], "folder": str(Path.cwd())}
            ),
            server.client.get(f"/api/documents/{name}/", params={"folder": "/"}),
            server.client.post(
                "/api/corrections",
                json={"action": "split", "values": ["Port Aldous", "Other", name], "folder": "/"},
            ),
        ]
        for reply in replies:
            assert reply.status_code in (400, 404), (name, reply.text)
        listed = server.client.get("/api/documents", params={"text": str(link), "folder": "/"}).json()
        forgot = server.client.post(
            "/api/forget", json={"sources": [name], "folder": "/", "dry_run": True}
        ).json()
        assert listed["total"] == 0
        assert forgot["forgotten"] == []
        assert forgot["unknown"] == [name]
        said = " ".join([*(reply.text for reply in replies), anyio.run(search, [name])])
        assert not [secret for secret in secrets if secret in said and secret not in name], name
    found = server.client.post("/api/search", json={"question": ASKED, "inside": [source]}).json()["passages"]
    assert {passage["source"] for passage in found} == {source}, "a source as it is stored"
    outside = server.client.post(
        "/api/search", json={"question": ASKED, "outside": [str(Path(source).parent)]}
    )
    assert "all sources are under" in outside.json()["error"], "a folder as it is stored"
    own = {"question": ASKED, "inside": [Path(source).name], "folder": str(Path(source).parent)}
    assert server.client.post("/api/search", json=own, headers=server.owner()).status_code == 200
    assert server.client.post("/api/search", json=own).status_code == 400


def test_an_empty_name_is_no_scope(corpus):
    for folder in ("", None):
        with pytest.raises(InputError, match="an empty name means no source"):
            corpus.ask(ASKED, inside=[" "], folder=folder)


# --- memories by their names ---


def test_a_memory_that_does_not_exist_is_an_error(server):
    for method, path in ROUTES:
        if f"{method.upper()} {path}" in OPEN:
            continue
        request = {
            "json": {
                "question": ASKED,
                "queries": [ASKED],
                "query": "RETURN 1",
                "action": "remove",
                "values": ["a"],
            }
        }
        known = (
            SCHEMA["paths"][path][method].get("requestBody", {}).get("content", {}).get("application/json")
        )
        if known:
            names = SCHEMA["components"]["schemas"][known["schema"]["$ref"].rpartition("/")[2]]["properties"]
        else:
            names = {}
        body = {name: value for name, value in request["json"].items() if name in names}
        reply = server.client.request(
            method,
            path.format(which="1", name="a"),
            params={"memory": "nosuch"},
            json=body if known else None,
        )
        assert reply.status_code == 400, (path, reply.text)
        assert reply.json()["error"] == "there is no memory 'nosuch'", (path, reply.text)
        assert "the default one" in reply.json()["hint"]

    async def call():
        async with Client(f"{server.url}/mcp?memory=nosuch") as client:
            for name, arguments in (
                ("status", {}),
                ("search", {"question": ASKED}),
                ("ask", {"question": ASKED}),
                ("read", {"id": "a"}),
                ("forget_document", {"source": "a"}),
            ):
                result = await client.call_tool(name, arguments)
                assert result.is_error
                assert result.content[0].text.startswith("there is no memory 'nosuch'"), name

    anyio.run(call)
    assert [
        memory["name"] for memory in server.client.get("/api/memories", params={"memory": "nosuch"}).json()
    ] == [""]


def test_a_load_begins_a_memory_and_the_list_has_its_counts(server, corpus):
    get = server.client.get
    post = server.client.post
    files = [("files", ("lamp.md", b"Zorvik lit the Quellam Lamp."))]
    assert post("/api/load", params={"memory": "letters"}, files=files).status_code == 200
    listed = {memory["name"]: memory for memory in get("/api/memories").json()}
    found = {name: (memory["documents"], memory["passages"]) for name, memory in listed.items()}
    expected = {
        "": (30, listed[""]["passages"]),
        "letters": (1, 1),
    }
    assert found == expected
    assert get("/api/about", params={"memory": "letters"}).json()["name"] == "letters"
    assert get("/api/about").json()["name"] == ""
    assert post("/api/forget", params={"memory": "letters"}, json={"everything": True}).status_code == 200
    assert get("/api/status", params={"memory": "letters"}).status_code == 400
    assert corpus.documents().total == 30


def test_an_unknown_parameter_of_an_address_is_named(server):
    for method, path in ROUTES:
        reply = server.client.request(
            method,
            path.format(which="1", name="a"),
            params={"mem": "letters"},
            json={} if method == "post" else None,
        )
        assert reply.status_code == 422, path
        assert "mem: there is no such parameter; known are" in reply.json()["error"], (path, reply.text)
        assert "memory" in reply.json()["error"]
    assert (
        "mem: there is no such parameter" in server.client.post("/mcp?mem=letters", json={}).json()["error"]
    )
    assert server.client.get("/", params={"mem": "a"}).status_code == 200, "the page has its own"
    for address in (
        "bolt://h:7687?mem=a",
        "neo4j://h?Memory=a",
        "notes?mem=a",
        "bolt://h?memory=a&database=b",
        "notes?memory=a&x=",
    ):
        with pytest.raises(InputError, match=r"unknown parameter '(mem|Memory|database|x)'"):
            split_address(address)
    assert split_address("what?/a=b") == ("what?/a=b", "")


# --- one object for each memory ---


def test_the_command_line_and_the_page_use_the_same_locks(corpus):
    state = AppState(corpus)
    assert state.named("") is state.named(None) is corpus
    letters = state.named("letters", may_create=True)
    assert state.named("letters", may_create=True) is letters
    assert letters._locks is corpus._locks
    assert letters.named("") is not corpus
    assert letters.named("")._locks is corpus._locks
    with pytest.raises(InputError, match="no name of a memory"):
        state.named("a&memory=letters", may_create=True)
    letters.close()
    started_there = AppState(corpus.named("letters"))
    assert started_there.named("letters") is started_there.named(None)
    assert started_there.named("")._connection.memory == ""
    assert corpus.status().nodes["Document"] == 30, "which stays open"


def test_no_question_meets_an_index_that_a_load_makes_anew(corpus, monkeypatch):
    """Loads through the command line held other locks than questions of the page, which then found no index."""
    if corpus._connection.dialect.name == "neo4j":
        pytest.skip("vector indexes are made anew on the embedded engine alone")
    monkeypatch.setattr(schema, "_SMALL", 0)
    monkeypatch.setattr(schema, "_GROWTH", 0)  # every load makes them anew
    renewed = []
    done = threading.Event()
    renew = schema.renew_vector_indexes
    monkeypatch.setattr(schema, "renew_vector_indexes", lambda *args: renewed.append(renew(*args)))
    with served.served(corpus) as one:
        refused = []

        def ask():
            while not done.is_set():
                reply = one.client.post(
                    "/api/ask", json={"question": ASKED, "strategy": "dense", "keep": False}
                )
                if reply.status_code != 200 or not reply.json()["passages"]:
                    refused.append(reply.text)

        askers = [threading.Thread(target=ask) for _ in range(3)]
        for asker in askers:
            asker.start()
        try:
            with RemoteMemory(RunningServer(one.url, OWNER), corpus.settings) as remote:
                for number in range(6):
                    text = f"Zorvik {number} lit the Quellam Lamp {number}.".encode()
                    assert remote.load(uploads={f"{number}.md": BytesIO(text)}).documents.new == 1
                remote.forget(*(f"upload:{number}.md" for number in range(6)))
        finally:
            done.set()
            for asker in askers:
                asker.join(60)
    assert len(renewed) == 6
    assert refused == []
