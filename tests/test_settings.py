"""What settings are taken from the environment, and which are refused before they do harm."""

from __future__ import annotations

from pathlib import Path

import pytest
from model_server import RawServer, ok

from gsw_graph.config import Settings
from gsw_graph.errors import InputError
from gsw_graph.models.chat.chat import Chat, Request
from gsw_graph.models.chat.transport import OPENAI, Transport
from gsw_graph.models.endpoint import Endpoint

HOST = "https://models.example.org/v1"


@pytest.mark.parametrize("name", ["CONCURRENCY", "LLM_TIMEOUT", "LLM_RPM", "LLM_TPM"])
@pytest.mark.parametrize("value", [0, -1])
def test_numbers_below_one_are_refused(name: str, value: int) -> None:
    for made in (lambda: Settings.from_env({f"GSWGRAPH_{name}": str(value)}), lambda: Settings(**{name.lower(): value})):
        with pytest.raises(InputError, match=f"GSWGRAPH_{name}.*{value}|{value}.*GSWGRAPH_{name}"):
            made()


@pytest.mark.parametrize("price", ["nan,1", "1,nan", "-1,1", "1,-0.5", "inf,1"])
def test_what_is_no_price(price: str) -> None:
    with pytest.raises(InputError, match="GSWGRAPH_LLM_PRICE"):
        Settings.from_env({"GSWGRAPH_LLM_PRICE": price})


def test_sound_numbers_are_taken() -> None:
    env = {"CONCURRENCY": "1", "LLM_TIMEOUT": "1", "LLM_RPM": "1", "LLM_TPM": "1", "LLM_PRICE": "0,0"}
    found = Settings.from_env({f"GSWGRAPH_{name}": value for name, value in env.items()})
    assert (found.concurrency, found.llm_timeout, found.llm_rpm, found.llm_tpm, found.llm_price) == (1, 1, 1, 1, (0.0, 0.0))


@pytest.mark.parametrize(
    ("env", "url", "key"),
    [
        ({"OPENAI_API_KEY": "theirs"}, None, "theirs"),
        ({"OPENAI_API_KEY": "theirs", "OPENAI_BASE_URL": HOST}, HOST, "theirs"),
        ({"OPENAI_API_KEY": "theirs", "GSWGRAPH_LLM_URL": HOST}, HOST, None),
        ({"OPENAI_API_KEY": "theirs", "OPENAI_BASE_URL": OPENAI, "GSWGRAPH_LLM_URL": HOST}, HOST, None),
        ({"OPENAI_API_KEY": "theirs", "GSWGRAPH_LLM_URL": HOST, "GSWGRAPH_LLM_KEY": "ours"}, HOST, "ours"),
        ({"OPENAI_API_KEY": "theirs", "GSWGRAPH_LLM_URL": ""}, None, "theirs"),
    ],
)
def test_a_key_goes_only_to_the_server_that_it_is_for(env: dict[str, str], url: str | None, key: str | None) -> None:
    found = Settings.from_env(env)
    assert (found.llm_url, found.llm_key) == (url, key)


def test_who_asks_openai_is_told_to_no_other_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    with RawServer(lambda *_: ok("Paris")) as server, Chat.open(server.settings(tmp_path)) as chat:
        chat.ask(Request("answer", ({"role": "user", "content": "Which city?"},)), str)
        assert [name for name in server.headers[0] if name.startswith("openai")] == []
    theirs = Transport(Endpoint.check("the language model", OPENAI, "a-key", whole="", key_name=""), "m", 1)
    assert (theirs.client().organization, theirs.client().project) == ("org-mine", "proj-mine")
    theirs.close()
