"""Recordings of the model server: a request becomes a file and waits for the file of its reply; what was recorded is replayed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import openai
import pytest
from model_clients import SCHEMA, ask, client, schema
from waiting import until

from gsw_graph.config import Settings
from gsw_graph.errors import InputError
from gsw_graph.inference.chat.chat import Chat
from gsw_graph.inference.chat.request import Request
from gsw_graph.testing import ModelServer, Recorder, recorded, unanswered
from gsw_graph.testing import recorder as recorder_module

TOWN = {"town": "Vellmouth"}
WRITER = "a strong model"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "recording"


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as found:
        yield found


def reply(folder: Path, number: int, text: str | bytes) -> None:
    """Written as people write: not at once."""
    path = folder / f"replies/{number:06}.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def asked(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "asked").iterdir())


def content(answer: Any) -> str:
    return answer.choices[0].message.content


def test_a_request_is_written_and_waits_for_its_reply(folder: Path, pool: ThreadPoolExecutor) -> None:
    with Recorder(folder) as recorder, ModelServer(recorder=recorder) as server, client(server) as sdk:
        waiting = pool.submit(ask, sdk, "Who built the Great Tide Engine? 日本", "Be brief.")
        until((folder / "asked/000001.json").exists)
        assert json.loads((folder / "asked/000001.json").read_text()) == {
            "stage": "",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who built the Great Tide Engine? 日本"}],
            "schema": None,
        }
        text = (folder / "asked/000001.txt").read_text()
        assert text == "Request 000001, stage: unknown. Its reply: a text\n\n=== system\nBe brief.\n\n=== user\nWho built the Great Tide Engine? 日本\n"
        assert not waiting.done()
        reply(folder, 1, "Ada Quill.\n")
        assert content(waiting.result(10)) == "Ada Quill."
        assert asked(folder) == ["000001.json", "000001.txt"], "nothing half written is left"


def test_json_is_asked_for_with_its_schema_in_one_line(folder: Path, pool: ThreadPoolExecutor) -> None:
    with Recorder(folder) as recorder, ModelServer(recorder=recorder) as server, client(server) as sdk:
        waiting = pool.submit(ask, sdk, "A passage.", response_format=schema("extract"))
        until((folder / "asked/000001.json").exists)
        found = json.loads((folder / "asked/000001.json").read_text())
        assert (found["stage"], found["schema"]) == ("extract", SCHEMA)
        assert (folder / "asked/000001.txt").read_text().splitlines()[-2:] == ["=== schema", json.dumps(SCHEMA)]
        reply(folder, 1, json.dumps(TOWN, indent=2))
        assert json.loads(content(waiting.result(10))) == TOWN
        mode = pool.submit(ask, sdk, "As json: A passage.", response_format={"type": "json_object"})
        until((folder / "asked/000002.json").exists)
        assert json.loads((folder / "asked/000002.json").read_text())["schema"] == {"type": "object"}
        reply(folder, 2, "[1]")
        assert json.loads(content(mode.result(10))) == [1]


def test_many_wait_at_once_and_are_answered_in_any_order(folder: Path, pool: ThreadPoolExecutor) -> None:
    with Recorder(folder) as recorder, ModelServer(recorder=recorder) as server, client(server) as sdk:
        waiting = {f"question {i}": pool.submit(ask, sdk, f"question {i}") for i in range(12)}
        until(lambda: len(list((folder / "asked").glob("0*.json"))) == 12)
        assert server.in_flight == 12
        for number in reversed(range(1, 13)):
            said = json.loads((folder / f"asked/{number:06}.json").read_text())["messages"][0]["content"]
            reply(folder, number, f"to {said}")
        assert {question: content(one.result(10)) for question, one in waiting.items()} == {question: f"to {question}" for question in waiting}


def test_the_same_request_is_asked_once(folder: Path, pool: ThreadPoolExecutor) -> None:
    with Recorder(folder) as recorder, ModelServer(recorder=recorder) as server, client(server) as sdk:
        both = [pool.submit(ask, sdk, "Who?", temperature=heat) for heat in (0, 1)]
        until(lambda: server.in_flight == 2)
        reply(folder, 1, "Ada")
        assert [content(one.result(10)) for one in both] == ["Ada", "Ada"]
    with Recorder(folder, timeout=0.3) as recorder, ModelServer(recorder=recorder) as server, client(server) as sdk:  # a second run
        assert content(ask(sdk, "Who?")) == "Ada"
        with pytest.raises(openai.UnprocessableEntityError, match="in time"):
            ask(sdk, "Who?", response_format=schema("other"))  # another schema is another request
    assert asked(folder) == ["000001.json", "000001.txt", "000002.json", "000002.txt"]


def test_all_that_is_open_is_noted_at_once(folder: Path) -> None:
    """Nobody waits: a run that goes on without replies asks all that it can, and the next has them."""
    with Recorder(folder, timeout=0) as recorder, ModelServer(recorder=recorder) as server, client(server) as sdk:
        for said in ("Who?", "Where?"):
            with pytest.raises(openai.UnprocessableEntityError):
                ask(sdk, said)
    assert [text.splitlines()[-1] for text in unanswered(folder)] == ["Who?", "Where?"]
    reply(folder, 1, "Ada")
    command = [sys.executable, "-m", "gsw_graph.testing", "--open", folder]
    printed = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout.decode()
    assert printed.strip() == (folder / "asked/000002.txt").read_text().strip()
    reply(folder, 2, "There")
    assert unanswered(folder) == []
    os.utime(folder / "replies/000001.txt", (0, 0))
    with Recorder(folder, timeout=0) as recorder, ModelServer(recorder=recorder) as server, client(server) as sdk:
        assert content(ask(sdk, "Who?")) == "Ada"


def test_a_process_that_notes_waits_for_nobody(folder: Path) -> None:
    process = subprocess.Popen([sys.executable, "-m", "gsw_graph.testing", "--record", folder, "--note"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip().removeprefix("export OPENAI_BASE_URL=")
        with openai.OpenAI(base_url=url, api_key="x", max_retries=0, timeout=30) as sdk, pytest.raises(openai.UnprocessableEntityError):
            ask(sdk, "Who?")
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert asked(folder) == ["000001.json", "000001.txt"]


def test_a_reply_written_after_the_time_was_up_is_there_for_the_next(folder: Path) -> None:
    with Recorder(folder, timeout=0.2) as recorder, ModelServer(recorder=recorder) as server, client(server) as sdk:
        with pytest.raises(openai.UnprocessableEntityError) as late:
            ask(sdk, "Who?")
        assert late.value.code == "no_reply_in_time"
        reply(folder, 1, "Ada")
        assert content(ask(sdk, "Who?")) == "Ada"
        assert server.count(status=422) == 1


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ('{"town": "Vell', "no JSON"),
        ("Vellmouth", "no JSON"),
        ('"Vellmouth"', "is an object"),
        ('{"town": NaN}', "NaN is no number"),
        ('{"town": "\\ud800"}', "UTF-8"),
        ("[" * 100_000, "no JSON"),
        (b"\xff\xfe{}", "UTF-8"),
        (" \n", "it is empty"),
    ],
)
def test_a_reply_that_cannot_be_used_is_marked_and_waited_for_again(folder: Path, pool: ThreadPoolExecutor, wrong: str | bytes, why: str) -> None:
    mark = folder / "replies/000001.wrong.txt"
    with Recorder(folder) as recorder, ModelServer(recorder=recorder) as server, client(server) as sdk:
        waiting = pool.submit(ask, sdk, "A passage.", response_format=schema("extract"))
        until((folder / "asked/000001.json").exists)
        reply(folder, 1, wrong)
        until(mark.exists)
        assert why in mark.read_text()
        assert "000001.txt" in mark.read_text()
        assert not waiting.done()
        with pytest.raises(InputError, match=why):
            recorded(folder, WRITER)
        reply(folder, 1, json.dumps(TOWN))
        assert json.loads(content(waiting.result(10))) == TOWN
        assert not mark.exists()


def test_an_empty_file_is_no_reply_yet_and_a_growing_one_is_read_when_it_is_whole(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["", "Ada ", "Quill, ", "of ", "Port ", "Aldous"]
    rest = [*words]
    written: list[str] = []

    def write_on(seconds: float) -> None:
        """In the place of the pause between two looks."""
        if rest:
            written.append(rest.pop(0))
            (folder / "replies/000001.txt").write_text("".join(written))

    monkeypatch.setattr(recorder_module, "time", SimpleNamespace(sleep=write_on, monotonic=time.monotonic, time=time.time))
    monkeypatch.setattr(recorder_module, "_STILL", 60.0)
    with Recorder(folder) as recorder, ModelServer(recorder=recorder) as server, client(server) as sdk:
        assert content(ask(sdk, "Who?")) == "".join(words)


def test_a_stream_brings_the_reply_in_pieces(folder: Path, pool: ThreadPoolExecutor) -> None:
    text = "The Great Tide Engine was built by Ada Quill in Port Aldous."
    with Recorder(folder) as recorder, ModelServer(recorder=recorder) as server, client(server) as sdk:
        waiting = pool.submit(lambda: list(ask(sdk, "Who?", stream=True)))
        until((folder / "asked/000001.json").exists)
        reply(folder, 1, text)
        pieces = [chunk.choices[0].delta.content or "" for chunk in waiting.result(10)]
        assert len(pieces) > 2
        assert "".join(pieces) == text
        assert content(ask(sdk, "Who?")) == text  # and it is the same request without a stream


def test_a_client_that_hangs_up_leaves_nothing_waiting(folder: Path) -> None:
    with Recorder(folder) as recorder, ModelServer(recorder=recorder) as server:
        for stream in (False, True):
            with client(server, timeout=0.3) as sdk, pytest.raises(openai.APITimeoutError):
                ask(sdk, "Who?", stream=stream)
            until(lambda: server.in_flight == 0, 5)
        assert server.count(status=0) == 2
        reply(folder, 1, "Ada")
        with client(server) as sdk:
            assert content(ask(sdk, "Who?")) == "Ada"


def test_the_end_of_the_server_ends_those_who_wait(folder: Path, pool: ThreadPoolExecutor) -> None:
    with Recorder(folder) as recorder, ModelServer(recorder=recorder) as server, client(server) as sdk:
        waiting = pool.submit(ask, sdk, "Who?")
        until((folder / "asked/000001.json").exists)
        server.__exit__(None, None, None)
        assert isinstance(waiting.exception(5), openai.APIConnectionError)
        assert server.in_flight == 0


def test_scripted_replies_come_first_and_a_batch_is_not_recorded(folder: Path) -> None:
    with Recorder(folder, timeout=0.2) as recorder, ModelServer([{"when": {"contains": "known"}, "reply": "scripted"}], recorder=recorder) as server, client(server) as sdk:
        assert content(ask(sdk, "known")) == "scripted"
        line = {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": [{"role": "user", "content": "new"}]}}
        file = sdk.files.create(file=("x.jsonl", json.dumps(line).encode()), purpose="batch")
        batch = sdk.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h")
        while batch.status != "completed":
            batch = sdk.batches.retrieve(batch.id)
        assert server.count(status=422) == 1
        assert asked(folder) == []


def test_a_folder_that_cannot_be_used(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file: it cannot be written"), Recorder(tmp_path / "file"):
        pass
    with pytest.raises(InputError, match="this is no recording"):
        recorded(tmp_path / "none", WRITER)
    with Recorder(folder), pytest.raises(InputError, match="another server records here"), Recorder(folder):
        pass
    for wrong in ("{", "[]", '{"messages": []}'):
        (folder / "asked/000007.json").write_text(wrong)
        with pytest.raises(InputError, match=r"000007.json: this is no request of a recording"), Recorder(folder):
            pass
    (folder / "asked/000007.json").unlink()
    with Recorder(folder):  # and nobody is locked out
        pass


def test_a_folder_that_goes_away_is_said_to_the_client(folder: Path) -> None:
    with Recorder(folder) as recorder, ModelServer(recorder=recorder) as server, client(server) as sdk:
        (folder / "asked").rmdir()
        with pytest.raises(openai.BadRequestError, match="cannot be written"):
            ask(sdk, "Who?")
        (folder / "asked").mkdir()
        reply(folder, 1, "Ada")
        assert content(ask(sdk, "Who?")) == "Ada"


def test_a_reply_whose_request_is_gone_answers_no_other(folder: Path) -> None:
    (folder / "replies").mkdir(parents=True)
    reply(folder, 4, "of another request")
    with Recorder(folder, timeout=0.2) as recorder, ModelServer(recorder=recorder) as server, client(server) as sdk:
        with pytest.raises(openai.UnprocessableEntityError):
            ask(sdk, "Who?")
        assert asked(folder) == ["000005.json", "000005.txt"]


def test_half_a_character_in_a_request_is_no_trouble(folder: Path) -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "half \ud83d"}]})
    for _ in range(2):  # read again from its file it is the same request
        with Recorder(folder, timeout=0.2) as recorder, ModelServer(recorder=recorder) as server:
            assert httpx.post(f"{server.url}/chat/completions", content=body, trust_env=False).status_code == 422
    assert asked(folder) == ["000001.json", "000001.txt"]


def test_a_replay_says_the_same_to_the_same_requests_alone(folder: Path, tmp_path: Path, pool: ThreadPoolExecutor) -> None:
    def run(server: ModelServer, question: str = "Who?") -> list[str]:
        with client(server) as sdk:
            return [content(ask(sdk, question)), content(ask(sdk, question, response_format=schema("extract")))]

    with Recorder(folder) as recorder, ModelServer(recorder=recorder) as server:
        waiting = pool.submit(run, server)
        until((folder / "asked/000001.json").exists)
        reply(folder, 1, "Ada Quill.")
        until((folder / "asked/000002.json").exists)
        reply(folder, 2, '{"town":   "日本"}')
        said = waiting.result(10)
        unanswered = pool.submit(ask, server_client := openai.OpenAI(base_url=server.url, api_key="x", max_retries=0), "What else?")
        until((folder / "asked/000003.json").exists)
    assert unanswered.exception(5)
    server_client.close()
    lines = recorded(folder, WRITER)
    assert [list(line) for line in lines] == [["written by"], ["when", "reply"], ["when", "reply"]]
    assert lines[0] == {"written by": WRITER}
    printed = subprocess.run([sys.executable, "-m", "gsw_graph.testing", "--lines", folder, "--written-by", WRITER], capture_output=True, check=True, timeout=60)
    assert [json.loads(line) for line in printed.stdout.decode().splitlines()] == lines
    file = tmp_path / "replies.jsonl"
    file.write_bytes(printed.stdout)
    for source in (lines, file):
        with ModelServer(source) as server:
            assert run(server) == said
            with pytest.raises(openai.UnprocessableEntityError):
                run(server, "Who? ")


def test_lines_for_one_request_among_others() -> None:
    with ModelServer([{"reply": "anything"}]) as server, client(server) as sdk:
        ask(sdk, "Who was it?")
        request = server.calls[0].request
    lines = [{"reply": "any"}, {"when": {"contains": ["Who was it?"]}, "reply": "text"}, {"when": {"request": request}, "reply": "exact"}]
    with ModelServer(lines) as server, client(server) as sdk:
        assert [content(ask(sdk, said)) for said in ("Who was it?", "Who was it? Say.", "x")] == ["exact", "text", "any"]
    for wrong, why in (
        ({"when": {"request": 7}, "reply": 1}, "`request` are texts"),
        ({"when": {"request": request, "contains": ["x"]}, "reply": 1}, "stands without"),
        ({"written by": 7}, "`written by` is a text"),
    ):
        with pytest.raises(InputError, match=why):
            ModelServer([wrong])


def test_the_settings_that_it_prints_serve_our_own_client(folder: Path, tmp_path: Path) -> None:
    """A reply that takes longer than the usual retries, and one that is repaired: both through gswgraph's client, with what the process says to set."""
    process = subprocess.Popen([sys.executable, "-m", "gsw_graph.testing", "--record", folder, "--timeout", "500.5"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        environment = dict(process.stdout.readline().strip().removeprefix("export ").split("=", 1) for _ in range(5))
        settings = Settings.from_env({**environment, "GSWGRAPH_CACHE": str(tmp_path / "cache")})
        assert (settings.llm, settings.llm_timeout, settings.concurrency) == ("recorded", 561, 32)

        def write() -> None:
            until((folder / "asked/000001.json").exists)
            reply(folder, 1, "Ada")

        writer = threading.Thread(target=write)
        writer.start()
        with Chat.open(settings) as chat:
            assert chat.ask(Request("answer", ({"role": "user", "content": "Who?"},)), str).value == "Ada"
        writer.join()
    finally:
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0 or os.name == "nt"
    assert "1 chat calls, 1 answered" in out


@pytest.mark.parametrize("words", [[], ["--lines", "x"], ["--record", "x", "--timeout", "0"], ["--record", "x", "--timeout", "inf"], ["--note", "replies.jsonl"]])
def test_what_the_command_does_not_take(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "gsw_graph.testing", *words], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []
