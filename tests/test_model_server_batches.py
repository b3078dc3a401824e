"""The model server for tests: files and batches, embeddings, rerank, and the server as a process of its own."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import openai
import pytest
from model_clients import ask, client, post, schema
from openai import OpenAI

from gsw_graph.inference.rerank.http_reranker import HttpReranker
from gsw_graph.testing import Fault, ModelServer
from gsw_graph.testing.vectors import vector

REPLIES = [{"reply": {"number": 1}}]


def lines(number: int, **options: Any) -> str:
    return "".join(
        json.dumps(
            {
                "custom_id": f"request-{i}",
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": {"model": "m", "messages": [{"role": "user", "content": f"\u2028 text {i}\r\n"}], **options},
            },
            ensure_ascii=False,
        )
        + "\n"
        for i in range(number)
    )


def start(sdk: OpenAI, content: str) -> Any:
    file = sdk.files.create(file=("requests.jsonl", content.encode()), purpose="batch")
    assert (file.bytes, file.filename, file.purpose) == (len(content.encode()), "requests.jsonl", "batch")
    assert sdk.files.content(file.id).text == content
    return sdk.batches.create(input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h", metadata={"load": "one"})


def records(sdk: OpenAI, id_: str | None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in sdk.files.content(id_ or "").text.split("\n") if line]


def test_a_batch_goes_through_its_states() -> None:
    with ModelServer(REPLIES, batch_polls=3) as server, client(server) as sdk:
        batch = start(sdk, lines(20, response_format=schema("extract")))
        assert (batch.status, batch.metadata, batch.output_file_id) == ("validating", {"load": "one"}, None)
        assert [sdk.batches.retrieve(batch.id).status for _ in range(3)] == ["in_progress", "in_progress", "completed"]
        done = sdk.batches.retrieve(batch.id)
        assert (done.request_counts.total, done.request_counts.completed, done.request_counts.failed, done.error_file_id) == (20, 20, 0, None)
        found = records(sdk, done.output_file_id)
        ids = [record["custom_id"] for record in found]
        assert sorted(ids) == sorted(f"request-{i}" for i in range(20))
        assert ids != [f"request-{i}" for i in range(20)]  # no order is promised
        assert all(record["error"] is None and record["response"]["status_code"] == 200 for record in found)
        body = found[0]["response"]["body"]
        assert json.loads(body["choices"][0]["message"]["content"]) == {"number": 1}
        assert body["usage"]["total_tokens"] > 0
        assert (server.count(), server.count(stage="extract"), server.count("files")) == (20, 20, 3)
        assert {call.batch for call in server.calls if call.endpoint == "chat"} == {batch.id}
        assert sdk.files.delete(done.output_file_id or "").deleted
        with pytest.raises(openai.NotFoundError):
            sdk.files.content(done.output_file_id or "")


def test_requests_of_a_batch_fail_alone() -> None:
    faults = [Fault("server_error", contains=("text 3",)), Fault("hang", contains=("text 4",)), Fault("refusal", contains=("text 5",))]
    with ModelServer(REPLIES, faults=faults) as server, client(server) as sdk:
        batch = start(sdk, lines(6))
        sdk.batches.retrieve(batch.id)
        done = sdk.batches.retrieve(batch.id)
        assert (done.status, done.request_counts.completed, done.request_counts.failed) == ("completed", 4, 2)
        failed = {record["custom_id"]: record["response"]["status_code"] for record in records(sdk, done.error_file_id)}
        assert failed == {"request-3": 500, "request-4": 500}
        refused = [r["custom_id"] for r in records(sdk, done.output_file_id) if r["response"]["body"]["choices"][0]["message"]["refusal"]]
        assert refused == ["request-5"]


def test_a_batch_whose_time_is_up_keeps_what_was_done() -> None:
    with ModelServer(REPLIES, faults=[Fault("expired", contains=("text 1",))], batch_polls=1) as server, client(server) as sdk:
        batch = start(sdk, lines(3))
        done = sdk.batches.retrieve(batch.id)
        assert done.status == "expired"
        assert [(r["custom_id"], r["response"], r["error"]["code"]) for r in records(sdk, done.error_file_id)] == [("request-1", None, "batch_expired")]
        assert len(records(sdk, done.output_file_id)) == 2
        assert ask(sdk, "text 1").choices  # outside a batch nothing expires


def test_batches_that_fail_are_cancelled_or_take_seconds() -> None:
    with ModelServer(REPLIES, batch_polls=1, batch_seconds=600) as server, client(server) as sdk:
        for content, code in ((lines(1) + "{", "invalid_json_line"), (lines(1) * 2, "duplicate_custom_id"), ("", "empty_file")):
            failed = sdk.batches.retrieve(start(sdk, content).id)
            assert (failed.status, [error.code for error in failed.errors.data]) == ("failed", [code])
        batch = start(sdk, lines(2))
        assert [sdk.batches.retrieve(batch.id).status for _ in range(3)] == ["in_progress"] * 3
        assert sdk.batches.cancel(batch.id).status == "cancelling"
        assert sdk.batches.retrieve(batch.id).status == "cancelled"
        with pytest.raises(openai.ConflictError):
            sdk.batches.cancel(batch.id)
        assert [b.id for b in sdk.batches.list(limit=3)] == ["batch_4", "batch_3", "batch_2", "batch_1"]  # all pages, the newest first
        assert sdk.batches.list(limit=3).has_more
        assert server.count() == 0
        with pytest.raises(openai.NotFoundError):
            sdk.batches.retrieve("batch_9")
        with pytest.raises(openai.BadRequestError, match="input_file_id"):
            sdk.batches.create(input_file_id="file-99", endpoint="/v1/chat/completions", completion_window="24h")
        assert post(server, "/files", {}).status_code == 400


def test_embeddings_are_unit_vectors_of_the_words() -> None:
    with ModelServer(dimension=32) as server, client(server) as sdk:
        texts = ["the tower fell", "the tower fell down", "quite another thing", ""]
        coded = sdk.embeddings.create(model="m", input=texts)  # the SDK asks for base64
        plain = sdk.embeddings.create(model="m", input=texts, encoding_format="float")
        assert [call.body["encoding_format"] for call in server.calls] == ["base64", "float"]
        for one, other in zip(coded.data, plain.data, strict=True):
            assert one.embedding == pytest.approx(other.embedding, abs=1e-6)
            assert len(one.embedding) == 32
            assert math.hypot(*one.embedding) == pytest.approx(1, abs=1e-6)
        near, far = (sum(a * b for a, b in zip(plain.data[0].embedding, plain.data[i].embedding, strict=True)) for i in (1, 2))
        assert near > far
        assert len(sdk.embeddings.create(model="m", input="x", dimensions=8).data[0].embedding) == 8
        assert sdk.embeddings.create(model="m", input=[[1, 2], [3]]).usage.prompt_tokens == 3
        assert len(sdk.embeddings.create(model="m", input=[1, 2]).data) == 1
        with pytest.raises(openai.BadRequestError):
            sdk.embeddings.create(model="m", input=[])
        assert sdk.embeddings.create(model="m", input="x", encoding_format="float").data[0].embedding == vector("x", 32)


def test_rerank_as_our_own_client_asks_for_it() -> None:
    with ModelServer() as server:
        scores = HttpReranker(f"{server.url}/rerank").score([("who built the engine", "Ada Quill built the engine"), ("who built the engine", "rain")])
        assert scores.tolist() == [0.75, 0.0]
        body = {"query": "a b", "documents": ["x", {"text": "a"}, "a B"], "top_n": 2, "return_documents": True}
        assert post(server, "/rerank", body).json()["results"] == [
            {"index": 2, "relevance_score": 1.0, "document": {"text": "a B"}},
            {"index": 1, "relevance_score": 0.5, "document": {"text": "a"}},
        ]
        assert post(server, "/rerank", {"query": "a"}).status_code == 400
        assert server.count("rerank", status=200) == 2


def run(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "gsw_graph.testing", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM that a process can end by in peace")
def test_the_server_as_a_process(tmp_path: Path) -> None:
    file = tmp_path / "replies.jsonl"
    file.write_text('{"when": {"contains": ["x"]}, "reply": "yes"}\n{"fault": {"kind": "empty", "calls": [2]}}\n', encoding="utf-8")
    with run(str(file), "--delay", "0.01", "--limit", "4") as process:
        try:
            assert process.stdout is not None
            said = [process.stdout.readline().strip() for _ in range(3)]
            assert re.fullmatch(r"export OPENAI_BASE_URL=http://127\.0\.0\.1:\d+/v1", said[0])
            assert said[1:] == ["export OPENAI_API_KEY=none", "export OPENAI_MODEL=test-model"]
            with OpenAI(base_url=said[0].partition("=")[2], api_key="none", max_retries=0) as sdk:
                assert [ask(sdk, "x").choices[0].message.content for _ in range(3)] == ["yes", "", "yes"]
                with pytest.raises(openai.UnprocessableEntityError):
                    ask(sdk, "y")
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == "4 chat calls, 3 answered with a reply, 1 without a scripted one; faults: empty 1\n"
        assert process.wait(10) == 0


def test_a_process_without_its_file_says_so(tmp_path: Path) -> None:
    with run(str(tmp_path / "none.jsonl")) as process:
        out, err = process.communicate(timeout=60)
        assert (out, process.returncode) == ("", 1)
        assert "the scripted replies cannot be read" in err
        assert "Traceback" not in err
