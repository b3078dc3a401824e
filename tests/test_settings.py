"""What settings are taken from the environment, and which are refused before they do harm."""

from __future__ import annotations

import pytest
from model_server import RawServer, ok

from gsw_graph.config import Settings
from gsw_graph.errors import InputError
from gsw_graph.models.chat.chat import Chat, QuestionModel, Request
from gsw_graph.models.chat.transport import OPENAI, Transport
from gsw_graph.models.endpoint import Endpoint
from gsw_graph.models.prompts import prompt

HOST = "https://models.example.org/v1"


@pytest.mark.parametrize("name", ["CONCURRENCY", "LLM_TIMEOUT"])
@pytest.mark.parametrize("value", [0, -1])
def test_numbers_below_one_are_refused(name, value):
    for made in (
        lambda: Settings.from_env({f"GSWGRAPH_{name}": str(value)}),
        lambda: Settings(**{name.lower(): value}),
    ):
        with pytest.raises(InputError, match=f"GSWGRAPH_{name}.*{value}|{value}.*GSWGRAPH_{name}"):
            made()


@pytest.mark.parametrize("price", ["nan,1", "1,nan", "-1,1", "1,-0.5", "inf,1"])
def test_what_is_no_price(price):
    with pytest.raises(InputError, match="GSWGRAPH_LLM_PRICE"):
        Settings.from_env({"GSWGRAPH_LLM_PRICE": price})


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
def test_a_key_goes_only_to_the_server_that_it_is_for(env, url, key):
    found = Settings.from_env(env)
    assert found.llm_url == url
    assert found.llm_key == key


def test_who_asks_openai_is_told_to_no_other_server(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    with RawServer(lambda *_: ok("Paris")) as server, Chat.open(server.settings(tmp_path)) as chat:
        chat.ask(Request("answer", ({"role": "user", "content": "Which city?"},)), str)
        assert [name for name in server.headers[0] if name.startswith("openai")] == []
    theirs = Transport(Endpoint.check("the language model", OPENAI, "a-key", whole="", key_name=""), "m", 1)
    assert theirs.client().organization == "org-mine"
    assert theirs.client().project == "proj-mine"
    theirs.close()


def test_each_role_has_its_own_model_and_request_settings(tmp_path):
    with RawServer(lambda *_: ok("general")) as general, RawServer(lambda *_: ok("Step 1")) as special:
        env = {
            "GSWGRAPH_CACHE": str(tmp_path), "GSWGRAPH_LLM": "m", "GSWGRAPH_LLM_URL": general.url, "GSWGRAPH_LLM_KEY": "ours",
            "GSWGRAPH_LLM_PRICE": "1,1", "GSWGRAPH_LLM_OPTIONS": '{"top_p": 0.9}',
            "GSWGRAPH_LLM_PLAN": "planner", "GSWGRAPH_LLM_URL_PLAN": special.url,
            "GSWGRAPH_LLM_OPTIONS_PLAN": '{"temperature": 0.6, "extra_body": {"think": false}}',
        }  # fmt: skip
        settings = Settings.from_env(env)
        assert settings.for_role("judge").llm == "m"
        with Chat.open_for_questions(settings) as chat:
            model = QuestionModel(chat)
            for stage in ("plan", "answer"):
                model.ask(Request(stage, ({"role": "user", "content": "Which city?"},)), str)
        found = [(body["model"], body["temperature"], body.get("think")) for body in special.bodies]
        assert found == [("planner", 0.6, False)]
        found = [(body["model"], body["temperature"], body.get("top_p")) for body in general.bodies]
        assert found == [("m", 0, 0.9)]
        assert "ours" not in str(special.headers), "a key goes to no other server"
        assert settings.for_role("plan").llm_price is None, "a price is that of its model"
        assert 0 < model.spent().tokens["plan"] < sum(model.spent().tokens[name] for name in ("in", "out"))
        assert "ours" not in str(settings)


@pytest.mark.parametrize("options", ["0.6", "{temperature", '{"seed": 1}'])
def test_what_are_no_request_settings(options):
    with pytest.raises(
        InputError, match=r"GSWGRAPH_LLM_OPTIONS_ANSWER.*temperature, top_p, max_tokens, extra_body"
    ):
        Settings.from_env({"GSWGRAPH_LLM_OPTIONS_ANSWER": options})


def test_prompts_are_replaced_by_those_of_a_folder(tmp_path):
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "answer.md").write_text(f"{prompt('answer')}\nAnswer in Latin.")
    with RawServer(lambda *_: ok("Roma")) as server:
        for prompts in (None, folder, folder):
            with Chat.open(server.settings(tmp_path, prompts=prompts)) as chat:
                for name in ("answer", "ircot"):
                    request = Request(
                        name,
                        (
                            {"role": "system", "content": prompt(name)},
                            {"role": "user", "content": "Which city?"},
                        ),
                    )
                    assert chat.chosen(chat.chosen(request)) == chat.chosen(request)
                    chat.ask(request, str)
        sent = [body["messages"][0]["content"] for body in server.bodies]
    assert sent == [prompt("answer"), prompt("ircot"), f"{prompt('answer')}\nAnswer in Latin."], (
        "the reply to another prompt is another"
    )
    (folder / "answers.md").write_text("x")
    with pytest.raises(InputError, match=r"answers\.md.*Use some of answer\.md, .*plan\.md"):
        Chat.open(server.settings(tmp_path, prompts=folder))
