"""What the environment of a shell brings: proxies, certificates, locales, no home folder. Commands run as processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from model_server import RawServer, ok

from gsw_graph import config
from gsw_graph.config import Settings, default_cache_dir, expanded
from gsw_graph.engine import embedded_folder
from gsw_graph.errors import EngineError, InputError, ModelError, ModelUnavailableError
from gsw_graph.models.chat.chat import Chat, Request
from gsw_graph.models.embed.server import ServerBackend
from gsw_graph.models.endpoint import Endpoint
from gsw_graph.models.rerank import HttpReranker

TOLD = Request("answer", ({"role": "user", "content": "Which city?"},))
AWAY = "https://model.invalid/v1"
NAMES = (
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
)


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr("gsw_graph.models.chat.chat.BACKOFF", 0.001)


@pytest.fixture(scope="module")
def closed():
    """A place of this machine where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as held:
        address = f"127.0.0.1:{held.getsockname()[1]}"
    return address


def ask(folder):
    with Chat.open(Settings(llm="m", llm_url=AWAY, llm_timeout=5, cache_dir=folder)) as chat:
        chat.ask(TOLD, str)


def embed(folder):
    ServerBackend(Settings(embedder="m", embedder_url=AWAY, cache_dir=folder)).encode(["a"], query=True)


def rerank(_):
    HttpReranker(AWAY).score([("a", "b")])


ROLES = [pytest.param(role, id=role.__name__) for role in (ask, embed, rerank)]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9", r"ALL_PROXY names a SOCKS proxy.*pip install 'httpx\[socks\]'"),
        (
            "https_proxy",
            "socks5h://user:secret@127.0.0.1:9",
            r"https_proxy names a SOCKS proxy.*pip install 'httpx\[socks\]'",
        ),
        ("HTTPS_PROXY", "CLOSED", "cannot be reached through the proxy of HTTPS_PROXY"),
        ("https_proxy", "http://CLOSED", "cannot be reached through the proxy of https_proxy"),
        (
            "ALL_PROXY",
            "http://user:secret@CLOSED",
            "cannot be reached through the proxy of ALL_PROXY.*NO_PROXY",
        ),
        ("ALL_PROXY", "gopher://127.0.0.1:9", "the proxy settings ALL_PROXY cannot be used"),
        ("HTTPS_PROXY", "http://[::1", "the proxy settings HTTPS_PROXY cannot be used"),
        ("SSL_CERT_FILE", "MISSING", "SSL_CERT_FILE names .*missing, which does not exist"),
        ("SSL_CERT_DIR", "MISSING", "SSL_CERT_DIR names .*missing, which does not exist"),
        ("SSL_CERT_FILE", "BROKEN", "the certificates of SSL_CERT_FILE cannot be read"),
    ],
)
def test_case_43_what_cannot_be_used_is_named(name, value, said, role, closed, tmp_path, monkeypatch):
    (tmp_path / "broken.pem").write_text("no certificate", encoding="ascii")
    for sign, meant in (
        ("CLOSED", closed),
        ("MISSING", str(tmp_path / "missing")),
        ("BROKEN", str(tmp_path / "broken.pem")),
    ):
        value = value.replace(sign, meant)
    monkeypatch.setenv(name, value)
    with pytest.raises(ModelError, match=said) as raised:
        role(tmp_path / "cache")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("value", ["http://[", "[::1", "*.intern,a b:c"])
def test_case_43_an_odd_list_of_hosts_without_a_proxy(value, closed, tmp_path, monkeypatch):
    """It is used as far as it is understood, or named."""
    monkeypatch.setenv("NO_PROXY", value)
    monkeypatch.setenv("HTTPS_PROXY", f"http://{closed}")
    with pytest.raises(ModelError, match="NO_PROXY"):
        embed(tmp_path)


def test_case_43_a_host_that_is_left_out_is_not_said_to_have_a_proxy(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "localhost, .invalid")
    assert Endpoint.check("the embedder", AWAY, None, whole="", key_name="").proxy == ""
    assert (
        Endpoint.check("the embedder", "https://model.example/v1", None, whole="", key_name="").proxy
        == "HTTPS_PROXY"
    )
    assert Endpoint.check("the embedder", "https://127.0.0.1:1/v1", None, whole="", key_name="").proxy == ""


def test_case_43_a_certificate_that_cannot_be_verified_names_the_setting(monkeypatch):
    end = Endpoint.check("the embedder", AWAY, None, whole="", key_name="")
    message, hint = end.unreached(
        "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate"
    )
    assert "cannot be verified (" in message
    assert "SSL_CERT_FILE" in hint
    monkeypatch.setenv("SSL_CERT_DIR", "/etc")
    assert "by those of SSL_CERT_DIR" in end.unreached("CERTIFICATE_VERIFY_FAILED")[0]


def test_case_43_a_model_on_this_machine_is_asked_past_all_of_it(tmp_path, monkeypatch):
    for name, value in (
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("HTTP_PROXY", "http://127.0.0.1:9"),
        ("SSL_CERT_FILE", "/missing"),
        ("NO_PROXY", "[::1"),
    ):
        monkeypatch.setenv(name, value)
    with RawServer(lambda *_: ok("Paris")) as server, Chat.open(server.settings(tmp_path)) as chat:
        assert chat.ask(TOLD, str).value == "Paris"


def test_case_43_no_request_follows_one_that_can_never_be_sent(tmp_path, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    with Chat.open(Settings(llm="m", llm_url=AWAY, cache_dir=tmp_path)) as chat:
        for _ in range(2):
            with pytest.raises(ModelUnavailableError, match="SOCKS"):
                chat.ask(TOLD, str, on_text=lambda _: None)


def command(*args, cwd, **environment):
    """The command line as a process, with these settings and no locale of the caller."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LC_", "LANG", "GSWGRAPH_", "OPENAI_", "NEO4J_"))
    }
    together = {
        name: value
        for name, value in {**kept, "GSWGRAPH_CACHE": str(cwd / "cache"), **environment}.items()
        if value is not None
    }
    return subprocess.run(
        [sys.executable, "-m", "gsw_graph.cli", *args],
        cwd=cwd,
        env=together,
        capture_output=True,
        timeout=300,
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="locales of POSIX")
@pytest.mark.parametrize(
    "locale",
    [
        pytest.param({"LC_ALL": "C"}, marks=pytest.mark.slow),
        {"LC_ALL": "POSIX", "LANG": "C"},
        pytest.param({"LC_ALL": "xx_XX.UTF-8"}, marks=pytest.mark.slow),
        {"LC_CTYPE": "de_DE.ISO-8859-1"},
    ],
    ids=["C", "POSIX", "not installed", "Latin-1"],
)
def test_case_46_a_memory_has_its_name_in_every_locale(locale, tmp_path):
    place = tmp_path / "Gedächtnis Übersicht"
    documents = tmp_path / "資料"
    place.mkdir()
    documents.mkdir()
    (documents / "橋.txt").write_text(
        "The Quillon Bridge was designed by Maren Osterholt in 1904.", encoding="utf-8"
    )
    memory = str(place / "mem")
    cache = str(tmp_path / "Zwischenspeicher é")
    loaded = command("--memory", memory, "load", str(documents), cwd=tmp_path, **locale, GSWGRAPH_CACHE=cache)
    assert loaded.returncode == 0, loaded.stderr
    asked = command(
        "--memory",
        memory,
        "ask",
        "Who designed the Quillon Bridge?",
        "-k",
        "1",
        cwd=tmp_path,
        LC_ALL="C.UTF-8",
        GSWGRAPH_CACHE=cache,
    )
    assert asked.returncode == 0, asked.stderr
    assert b"Maren Osterholt" in asked.stdout, asked.stderr
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(["Gedächtnis Übersicht", "資料", "Zwischenspeicher é"])


@pytest.mark.skipif(sys.platform != "linux", reason="names of files that are no UTF-8 are of Linux")
def test_case_46_a_name_that_no_locale_can_write_is_refused_and_nothing_is_made(tmp_path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/Ged\xe4chtnis"))
    with pytest.raises(EngineError, match="not in UTF-8"):
        embedded_folder.prepare(folder)
    assert list(tmp_path.iterdir()) == []


def test_case_46_without_a_home_folder(tmp_path, monkeypatch):
    """As in a container that runs as a user without a name."""

    def homeless(*_):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(config.Path, "home", homeless)
    monkeypatch.setattr(config.Path, "expanduser", homeless)
    with pytest.raises(InputError, match=r"no home folder.*GSWGRAPH_CACHE"):
        default_cache_dir({})
    assert default_cache_dir({"GSWGRAPH_CACHE": str(tmp_path)}) == tmp_path
    assert expanded("~nobody/memory") == Path("~nobody/memory")


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
@pytest.mark.parametrize("home", ["missing", pytest.param(None, marks=pytest.mark.slow)])
def test_case_46_a_home_folder_that_cannot_be_written(home, tmp_path):
    """A load and a question without a model need no cache."""
    (tmp_path / "bridge.txt").write_text(
        "The Quillon Bridge was designed by Maren Osterholt in 1904.", encoding="utf-8"
    )
    blocked = tmp_path / "file"
    blocked.touch()  # a folder cannot be made below it, whoever runs this
    settings = {
        "HOME": home and str(blocked / home),
        "GSWGRAPH_CACHE": str(blocked / "cache"),
        "XDG_CACHE_HOME": None,
    }
    memory = str(tmp_path / "mem")
    loaded = command("--memory", memory, "load", "bridge.txt", cwd=tmp_path, **settings)
    assert loaded.returncode == 0, loaded.stderr
    asked = command(
        "--memory", memory, "ask", "Who designed the Quillon Bridge?", "-k", "1", cwd=tmp_path, **settings
    )
    assert asked.returncode == 0, asked.stderr
    assert b"Maren Osterholt" in asked.stdout, asked.stderr
    model = command(
        "--memory",
        memory,
        "ask",
        "Who designed it?",
        cwd=tmp_path,
        **settings,
        GSWGRAPH_LLM="m",
        GSWGRAPH_LLM_URL="http://127.0.0.1:9/v1",
    )
    assert model.returncode == 1
    assert b"GSWGRAPH_CACHE" in model.stderr
    assert b"Traceback" not in model.stderr
