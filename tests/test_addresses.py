"""Pages that are loaded by their addresses: what is fetched, what is refused, what the memory then has."""

from __future__ import annotations

import json
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from document_files import pdf
from served import OWNER, served

from gsw_graph.engine.embedded_folder import RunningServer
from gsw_graph.errors import InputError
from gsw_graph.loaders import address, read
from gsw_graph.loaders.address import fetch, is_public
from gsw_graph.loaders.files import UnusableError
from gsw_graph.memory import Memory
from gsw_graph.model.documents import Document, Skipped
from gsw_graph.serve.client import RemoteMemory

PAGE = "<html><head><title>The Quay</title></head><body><p>Ana Ruiz built the quay of Port Aldous.</p></body></html>"


@dataclass
class Site:
    """Pages by path: status, headers, body; and the headers of what was asked."""

    url: str = ""
    pages: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)

    def put(self, path, body, kind="text/html", status=200, **headers):
        data = body.encode() if isinstance(body, str) else body
        self.pages[path] = (
            status,
            {"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}},
            data,
        )
        return self.url + path


@pytest.fixture
def site():
    found = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            found.asked.append(
                {"path": self.path, **{name.lower(): value for name, value in self.headers.items()}}
            )
            status, headers, body = found.pages.get(self.path, (404, {}, b""))
            asked = {self.headers.get("If-None-Match"), self.headers.get("If-Modified-Since")} - {None}
            if asked & {headers.get("ETag"), headers.get("Last-Modified")}:
                status = 304
                body = b""
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


def page(url):
    found = fetch(url, {}, allow_private=True)
    assert found is not None
    return found


def document(url):
    (found,) = read([], uploads={url: page(url)})
    assert isinstance(found, Document), found
    return found


PRIVATE = [
    *(
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "localhost",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
    ),
    *(
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[fe80::1]",
        "[fc00::1]",
        "[fd12::1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[ff02::1]",
    ),
]


@pytest.mark.parametrize("host", PRIVATE)
def test_a_private_address_is_not_connected_to(host, monkeypatch):
    monkeypatch.setattr(httpx.Client, "send", lambda *_, **__: pytest.fail("it was asked"))
    with pytest.raises(UnusableError, match="--allow-private"):
        fetch(f"http://{host}/page", {})


@pytest.mark.parametrize(
    "place", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"]
)
def test_a_public_address_is_known(place):
    assert is_public(place)


def resolved(monkeypatch, *answers):
    """Have names resolve to each of these lists in turn, the last one from then on; returns the names asked for."""
    real = socket.getaddrinfo
    asked = []

    def resolve(host, *args, **kwargs):
        if not host.endswith(".example"):
            return real(host, *args, **kwargs)
        asked.append(host)
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (place, 0))
            for place in answers[min(len(asked), len(answers)) - 1]
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


@pytest.mark.parametrize("places", [["127.0.0.1"], ["93.184.215.14", "10.0.0.1"]])
def test_a_name_of_a_private_address_is_refused(monkeypatch, places):
    resolved(monkeypatch, places)
    monkeypatch.setattr(httpx.Client, "send", lambda *_, **__: pytest.fail("it was asked"))
    with pytest.raises(UnusableError, match="--allow-private"):
        fetch("http://pages.example/", {})


def test_what_was_checked_is_connected_to(monkeypatch, site):
    """A name that leads elsewhere when it is resolved again is not followed there."""
    asked = resolved(monkeypatch, ["127.0.0.1"], ["127.0.0.9"])
    site.put("/page", PAGE)
    found = fetch(site.url.replace("127.0.0.1", "pages.example") + "/page", {}, allow_private=True)
    assert found is not None
    assert asked == ["pages.example"]
    assert site.asked[0]["host"].startswith("pages.example:")


def test_a_redirect_is_checked_as_the_first_address(monkeypatch, site):
    monkeypatch.setattr(
        address, "is_public", lambda place: place == "127.0.0.1"
    )  # as if the site were public
    site.put("/page", PAGE)
    port = site.url.rpartition(":")[2]
    targets = {
        "/page": None,
        f"http://127.0.0.2:{port}/page": "--allow-private",
        f"http://[::1]:{port}/page": "--allow-private",
        f"http://user:secret@127.0.0.1:{port}/page": "user or password",
        f"https://127.0.0.1:{port}/page": "another scheme",
        "file:///etc/passwd": "no http",
        "/away": "5 times",
    }
    for target, reason in targets.items():
        url = site.put("/away", "", status=302, Location=target)
        if reason is None:
            assert fetch(url, {}) is not None
            continue
        with pytest.raises(UnusableError, match=reason) as raised:
            fetch(url, {})
        assert "secret" not in str(raised.value)
    assert {asked["path"] for asked in site.asked} == {"/away", "/page"}


def test_an_address_that_cannot_be_fetched_says_why(site, monkeypatch):
    large = site.put("/large", b"x" * 2000, "text/plain")
    monkeypatch.setattr(address, "MOST", 1000)
    for url, reason in {
        f"{site.url}/nosuch": "404",
        large: "MiB",
        "http://user:secret@127.0.0.1/": "user or password",
        "http:///page": "no http",
        "http://127.0.0.1:1/": "cannot be fetched",
        "http://nosuch.invalid/": "no host",
        "http://[::1": "cannot be fetched",
    }.items():
        with pytest.raises(UnusableError, match=reason):
            fetch(url, {}, allow_private=True)


def test_type_and_content_decide_what_a_page_is(site):
    html = document(site.put("/guide/quay", PAGE))
    assert html.title == "The Quay"
    assert html.loader == "html"
    assert html.source == f"{site.url}/guide/quay"
    assert (
        document(site.put("/a.bin?b=1", pdf("A paper on quays."), "application/octet-stream")).loader == "pdf"
    )
    assert document(site.put("/b", pdf("A paper on quays."), "text/html")).loader == "pdf"
    assert document(site.put("/README.md", "# Quays\n\nWords of quays.", "text/plain")).loader == "markdown"
    assert document(site.put("/notes", "Quays\nare long.", "text/markdown")).loader == "markdown"
    wrong = PAGE.replace("<title>", "<meta charset='utf-8'><title>").replace("Ana", "Zoë").encode("latin-1")
    assert "Zoë Ruiz" in document(site.put("/latin", wrong, "text/html; charset=iso-8859-1")).passages[0].text
    picture = site.put("/p", b"\x89PNG\r\n\x1a\n\0", "image/png")
    assert isinstance(next(read([], uploads={picture: page(picture)})), Skipped)


def test_records_of_an_address_are_its_own(site):
    records = [
        {"id": "a", "title": "A", "text": "Words of A."},
        {"id": "b", "title": "B", "text": "Words of B."},
    ]
    url = site.put("/list.jsonl", "\n".join(map(json.dumps, records)), "text/plain")
    found = list(read([], uploads={url: page(url)}))
    assert [(item.source, item.file) for item in found if isinstance(item, Document)] == [
        ("a", url),
        ("b", url),
    ]


def test_a_page_is_loaded_shown_asked_again_and_forgotten(fresh_settings, fake_embedder, site):
    url = site.put("/quay", PAGE, ETag='"1"')
    dated = site.put("/dated", PAGE.replace("quay", "mole"), Last_Modified="Mon, 03 Mar 2025 10:00:00 GMT")
    with Memory.open(settings=fresh_settings) as memory:
        refused = memory.load(url)
        assert [failure.source for failure in refused.failures] == [url]
        assert refused.documents.failed == 1
        assert site.asked == []
        assert memory.load(url, f"{url}#part", dated, allow_private=True).documents.new == 2
        assert memory.show(url).document.meta["etag"] == '"1"'
        assert memory.documents(url).total == 1
        assert memory.load(url, dated, allow_private=True).documents.unchanged == 2
        assert [asked.get("if-none-match") for asked in site.asked] == [None, None, '"1"', None]
        assert site.asked[-1]["if-modified-since"] == "Mon, 03 Mar 2025 10:00:00 GMT"
        assert memory.load(url, allow_private=True, replace=True).documents.replaced == 1
        site.put("/quay", PAGE.replace("Ana", "Ida"))
        assert memory.load(url, allow_private=True).documents.replaced == 1
        assert "Ida Ruiz" in memory.show(url).passages[0].text
        assert "etag" not in memory.show(url).document.meta
        site.put("/quay", "", status=500)
        assert memory.load(url, allow_private=True).documents.failed == 1
        assert memory.forget(url, dated).forgotten == sorted([url, dated])


def test_a_client_of_a_server_can_name_no_address(fresh_settings, fake_embedder, site, tmp_path):
    if "://" in fresh_settings.memory:
        pytest.skip("a server of a memory in a folder is asked here")
    url = site.put("/quay", PAGE)
    with Memory.open(settings=fresh_settings) as memory, served(memory) as server:
        file = [("files", (url, PAGE.encode()))]
        assert server.client.post("/api/load", files=file).status_code == 403
        assert server.client.post("/api/load/paths", json={"paths": [url]}).status_code == 403
        assert (
            server.client.post("/api/load/paths", json={"paths": [url]}, headers=server.owner()).status_code
            == 400
        )
        assert server.client.post("/api/load", files=file, data={"allow_private": "true"}).status_code in (
            403,
            422,
        )
        assert (
            server.client.post("/api/forget", json={"sources": [str(tmp_path)], "gone": True}).status_code
            == 403
        )
        assert site.asked == []
        assert server.sources() == set()


def test_beside_a_server_the_owner_fetches_and_sends(fresh_settings, fake_embedder, site, tmp_path):
    if "://" in fresh_settings.memory:
        pytest.skip("a server of a memory in a folder is asked here")
    url = site.put("/quay", PAGE, ETag='"1"')
    note = tmp_path / "note.md"
    note.write_text("Words of a note.")
    with (
        Memory.open(settings=fresh_settings) as memory,
        served(memory) as server,
        RemoteMemory(RunningServer(server.url, OWNER), fresh_settings) as remote,
    ):
        assert remote.load(url).failures[0].source == url
        assert remote.load(url, allow_private=True).documents.new == 1
        assert remote.load(url, allow_private=True).documents.unchanged == 1
        assert site.asked[-1]["if-none-match"] == '"1"'
        assert remote.show(url).document.source == url
        with pytest.raises(InputError, match="loaded alone"):
            remote.load(url, str(note), allow_private=True)
        assert remote.forget(url).forgotten == [url]
        remote.load(str(note))
        note.unlink()
        (tmp_path / "other.md").write_text("Other words.")
        assert remote.forget(str(tmp_path), gone=True).forgotten == [note.as_posix()]
