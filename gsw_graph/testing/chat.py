"""Chat completions: what is refused, what a fault makes of a reply, and the shapes of whole and streamed
ones."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from gsw_graph.testing.calls import Call
from gsw_graph.testing.faults import Fault
from gsw_graph.testing.listener import Answer, error
from gsw_graph.testing.replies import Reply
from gsw_graph.testing.strict import problem
from gsw_graph.testing.tokens import count, count_messages, text_of

Accepts = Literal["schema", "json", "plain"]

_TAKEN: dict[Accepts, tuple[str, ...]] = {
    "schema": ("text", "json_object", "json_schema"),
    "json": ("text", "json_object"),
    "plain": ("text",),
}
_PIECE = 24  # characters of one event of a stream


def refused(
    body: Mapping[str, Any], accepts: Accepts, refuses: Collection[str], models: Collection[str] | None
) -> Answer | None:
    """The error for a request that a server of this kind does not take."""
    messages, model, asked = body.get("messages"), body.get("model"), body.get("response_format")
    if not isinstance(model, str):
        return error(400, "you must provide a model parameter")
    if models is not None and model not in models:
        return error(
            404,
            f"The model `{model}` does not exist or you do not have access to it.",
            code="model_not_found",
        )
    if (
        not isinstance(messages, list)
        or not messages
        or not all(isinstance(message, dict) and "role" in message for message in messages)
    ):
        return error(400, "'messages' must be an array of messages, each with a role", param="messages")
    if unsupported := [name for name in refuses if body.get(name) is not None]:
        name = unsupported[0]
        return error(
            400,
            f"Unsupported parameter: '{name}' is not supported with this model.",
            code="unsupported_parameter",
            param=name,
        )
    kind = asked.get("type") if isinstance(asked, dict) else "text" if asked is None else None
    if kind not in _TAKEN["schema"]:
        return error(400, f"Invalid value: {kind!r}.", code="invalid_value", param="response_format.type")
    if kind not in _TAKEN[accepts]:
        return error(
            400,
            f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model.",
            param="response_format",
        )
    if kind == "json_schema" and asked and (wrong := problem(asked.get("json_schema"))):
        return error(400, wrong, param="response_format")
    if kind == "json_object" and not any("json" in text_of(message).casefold() for message in messages):
        return error(
            400,
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type "
            "'json_object'.",
            param="messages",
        )
    return None


def spoiled(reply: Reply, fault: Fault | None) -> Reply:
    """The reply as the fault leaves it."""
    text = reply.text
    match fault.kind if fault else "":
        case "length":
            return replace(reply, value=text[: len(text) // 2], finish_reason="length")
        case "invalid":
            return replace(reply, value=text[: len(text) // 2])
        case "wrong_schema":
            return replace(reply, value={"unexpected": [1, 2, 3]})
        case "refusal":
            return replace(reply, value="", refusal="I'm sorry, but I can't help with that.")
        case "content_filter":
            return replace(reply, value="", finish_reason="content_filter")
        case "empty":
            return replace(reply, value="")
    return reply


def completion(call: Call, reply: Reply) -> Answer:
    """A reply in the shape that was asked for, with its tokens counted."""
    asked, text = call.body, reply.text
    said = text if reply.refusal is None else reply.refusal
    counted = {
        "prompt_tokens": count_messages(call.messages),
        "completion_tokens": count(said),
        **(reply.usage or {}),
    }
    usage = {**counted, "total_tokens": counted["prompt_tokens"] + counted["completion_tokens"]}
    head = {
        "id": f"chatcmpl-{call.digest.hex()}-{call.attempt}",
        "created": int(time.time()),
        "model": asked["model"],
        "system_fingerprint": None,
    }
    if asked.get("stream"):
        options = asked.get("stream_options")
        return Answer(
            events=_events(
                head, reply, usage if isinstance(options, dict) and options.get("include_usage") else None
            )
        )
    message = {
        "role": "assistant",
        "content": text if reply.refusal is None else None,
        "refusal": reply.refusal,
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish_reason}
    return Answer(content={**head, "object": "chat.completion", "choices": [choice], "usage": usage})


def _events(head: Mapping[str, Any], reply: Reply, usage: Mapping[str, int] | None) -> Sequence[str]:
    name, text = ("content", reply.text) if reply.refusal is None else ("refusal", reply.refusal)
    deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", name: ""}, None)]
    deltas += [({name: text[start : start + _PIECE]}, None) for start in range(0, len(text), _PIECE)]
    deltas.append(({}, reply.finish_reason))
    with_usage = {} if usage is None else {"usage": None}
    chunks: list[dict[str, Any]] = [
        {
            **head,
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}],
            **with_usage,
        }
        for delta, reason in deltas
    ]
    if usage is not None:
        chunks.append({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
    return [*(json.dumps(chunk, ensure_ascii=False) for chunk in chunks), "[DONE]"]
