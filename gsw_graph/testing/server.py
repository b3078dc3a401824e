"""The model server: requests come in from the listener, are counted, delayed, spoiled and answered."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from gsw_graph.errors import InputError
from gsw_graph.testing.batches import Batches
from gsw_graph.testing.calls import Call, CallLog
from gsw_graph.testing.chat import Accepts, completion, refused, spoiled
from gsw_graph.testing.faults import DROPPED, REFUSED, Fault, draw, read_faults
from gsw_graph.testing.listener import Answer, Incoming, Listener, error
from gsw_graph.testing.recorder import Recorder
from gsw_graph.testing.replies import Function, Reply, read_script
from gsw_graph.testing.vectors import embeddings, rerank

log = logging.getLogger(__name__)

_ROUTE = re.compile(
    r"(?:/v[12])?/(chat/completions|embeddings|rerank|files|batches|models)(?:/([^/]+))?(?:/([^/]+))?/?"
)
_MODEL_WORK = ("chat", "embeddings", "rerank")


class ModelServer:
    """A server on this machine that speaks as OpenAI's does and says what it was told to; as a context
    manager it runs.

    replies: a JSONL file, the same objects (both as `read_script` has them), or a function that gets the body
    of a chat request and gives its `Reply`, text or JSON value; what nothing answers gets 422 with the code
    `no_scripted_reply`. recorder: is asked for what no reply is scripted for, and lets the call wait until
    somebody wrote one; a line of a batch is not recorded. faults: added to those of the file, or a share of
    the chat requests, spread over all usual ones. delay: seconds that each answer of chat, embeddings and
    rerank takes. limit: as many are worked on at once; over it a call waits, or with over_limit="refuse" is
    answered with 429. accepts: the response formats that it knows: `schema` all, `json` no json_schema,
    `plain` none. refuses: parameters answered with 400, such as `temperature`. models: the only names it
    knows; None: any. dimension: of embeddings where none is asked for. batch_polls, batch_seconds: a batch is
    done at this poll, and not before so many seconds. keep: so many calls are kept in `calls`; None: all.
    port: 0 takes a free one.
    Raises InputError where the replies cannot be read.

    `faults` and `delay` may be set anew while it runs.
    """

    def __init__(
        self,
        replies: str | Path | Iterable[Mapping[str, Any]] | Function = (),
        *,
        recorder: Recorder | None = None,
        faults: float | Iterable[Fault] = (),
        delay: float = 0.0,
        limit: int | None = None,
        over_limit: Literal["wait", "refuse"] = "wait",
        accepts: Accepts = "schema",
        refuses: Iterable[str] = (),
        models: Iterable[str] | None = None,
        dimension: int = 64,
        batch_polls: int = 2,
        batch_seconds: float = 0.0,
        keep: int | None = None,
        port: int = 0,
    ) -> None:
        self._function = replies if callable(replies) else None
        self._script, scripted = read_script(() if callable(replies) else replies)
        self._recorder = recorder
        self.faults = (*scripted, *read_faults(faults))
        self.delay = delay
        self._slots = threading.Semaphore(limit) if limit is not None else None
        self._refuse = over_limit == "refuse"
        self._accepts, self._refuses = accepts, tuple(refuses)
        self._models = None if models is None else tuple(models)
        self._dimension, self._port = dimension, port
        self._log = CallLog(keep)
        self._batches = Batches(self._line, batch_polls, batch_seconds)
        self._closing = threading.Event()
        self._listener: Listener | None = None

    def __enter__(self) -> ModelServer:
        try:
            self._listener = Listener(self._port, self._serve)
        except OSError as wrong:
            raise InputError(
                f"the port {self._port} cannot be used ({wrong.strerror})",
                hint="Choose another one, or 0 for any that is free",
            ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        if self._listener is not None:
            self._listener.close()

    @property
    def url(self) -> str:
        """What a client takes as its base url; ends in /v1."""
        assert self._listener is not None, "the model server does not run: use it in a `with` statement"  # noqa: S101
        return f"http://127.0.0.1:{self._listener.server_port}/v1"

    @property
    def calls(self) -> list[Call]:
        """What came, in the order of arrival; the last `keep` of it."""
        return self._log.kept

    @property
    def in_flight(self) -> int:
        """Calls that came and are not answered yet, those that wait for their turn too."""
        return self._log.in_flight

    @property
    def most_in_flight(self) -> int:
        """The most there were at once."""
        return self._log.most_in_flight

    def count(
        self,
        endpoint: str = "chat",
        *,
        stage: str | None = None,
        status: int | None = None,
        fault: str | None = None,
    ) -> int:
        """How many calls of an endpoint came, lines of batches too; with `status` or `fault`: were
        answered so. All are counted, kept or not."""
        return self._log.count(endpoint, stage, status, fault)

    def fault_counts(self) -> dict[str, int]:
        """How many calls each kind of fault struck."""
        return self._log.faults()

    def _serve(self, incoming: Incoming) -> Answer:
        """The answer to a request: the one way in from the listener."""
        route = _ROUTE.fullmatch(incoming.path)
        if route is None:
            return error(404, f"Unknown request URL: {incoming.method} {incoming.path}", code="unknown_url")
        endpoint, id_, part = route[1].partition("/")[0], route[2] or "", route[3] or ""
        body, wrong = _body(incoming) if incoming.method == "POST" and endpoint != "files" else ({}, None)
        call = self._log.arrived(
            endpoint, body, f"{incoming.method} {incoming.path} ".encode() + incoming.body
        )
        answer = Answer(drop=True)
        try:
            answer = wrong or self._answer(call, incoming, id_, part)
        except Exception as failure:
            answer = _failed(failure)
        finally:
            self._log.answered(call, 0 if answer.drop else answer.status)
        return answer

    def _answer(self, call: Call, incoming: Incoming, id_: str, part: str) -> Answer:
        if call.endpoint in _MODEL_WORK and incoming.method != "POST":
            return error(
                405, f"Not allowed to {incoming.method} on {incoming.path}", code="method_not_supported"
            )
        if call.endpoint == "chat" and (no := refused(call.body, self._accepts, self._refuses, self._models)):
            return no
        with self._turn(call) as granted:
            if not granted:
                return error(429, "Too many requests at once", "requests", "rate_limit_exceeded", retry=1)
            fault = self._struck(call)
            if fault and fault.kind in REFUSED:
                return error(*REFUSED[fault.kind], retry=fault.wait if fault.kind == "rate_limit" else None)
            if fault and fault.kind in DROPPED and not (fault.kind == "close" and call.body.get("stream")):
                self._closing.wait(fault.wait if fault.kind == "hang" else 0)
                return Answer(drop=True)
            answer = self._worked(call, fault, incoming, id_, part)
            if call.endpoint in _MODEL_WORK and answer.status == 200:
                self._closing.wait(self.delay)
            return answer

    def _worked(self, call: Call, fault: Fault | None, incoming: Incoming, id_: str, part: str) -> Answer:
        match call.endpoint:
            case "chat":
                answer = self._chat(call, fault, incoming)
                return (
                    Answer(events=answer.events, drop=True)
                    if fault and fault.kind == "close" and answer.events
                    else answer
                )
            case "embeddings":
                return embeddings(call.body, self._dimension)
            case "rerank":
                return rerank(call.body)
            case "files":
                return self._batches.files(incoming, id_, part)
            case "batches":
                return self._batches.batches(incoming, id_, part)
        names = ("test-model",) if self._models is None else self._models
        return Answer(
            content={
                "object": "list",
                "data": [
                    {"id": name, "object": "model", "created": 0, "owned_by": "gswgraph"} for name in names
                ],
            }
        )

    def _chat(self, call: Call, fault: Fault | None, incoming: Incoming | None = None) -> Answer:
        found = self._function(dict(call.body)) if self._function else self._script.find(call)
        if found is None and self._recorder is not None and incoming is not None:
            found = self._recorder.reply(call, lambda: self._closing.is_set() or incoming.gone())
            if found is None and (self._closing.is_set() or incoming.gone()):
                return Answer(drop=True)
            if found is None:
                return error(422, "No reply to this request was written in time", code="no_reply_in_time")
        if found is None:
            asked = f"{call.stage}, " if call.stage else ""
            return error(
                422, f"No scripted reply answers this request: {asked}{call.asks!r}", code="no_scripted_reply"
            )
        return completion(call, spoiled(found if isinstance(found, Reply) else Reply(found), fault))

    def _line(self, body: dict[str, Any], batch: str) -> Answer | None:
        """A line of a batch, see `batches.Run`. Nobody waits for it, so that it knows no delay and no
        limit."""
        call = self._log.arrived("chat", body, b"", batch)
        fault, answer = self._struck(call), None
        try:
            if fault and fault.kind in (*REFUSED, *DROPPED):
                answer = error(*REFUSED[fault.kind if fault.kind in REFUSED else "server_error"])
            elif not fault or fault.kind != "expired":
                answer = refused(body, self._accepts, self._refuses, self._models) or self._chat(call, fault)
        except Exception as wrong:
            answer = _failed(wrong)
        self._log.answered(call, answer.status if answer else 0)
        return answer

    def _struck(self, call: Call) -> Fault | None:
        fault = draw(self.faults, call)
        call.fault = fault.kind if fault else ""
        return fault

    @contextlib.contextmanager
    def _turn(self, call: Call) -> Iterator[bool]:
        """Wait until this call is one of the `limit` that are worked on; gives False where it is refused
        instead."""
        if self._slots is None or call.endpoint not in _MODEL_WORK:
            yield True
        elif not self._slots.acquire(blocking=not self._refuse):
            yield False
        else:
            try:
                yield True
            finally:
                self._slots.release()


def _failed(failure: Exception) -> Answer:
    """What a scripted function raised, or what we did not think of: the client is told, and the trace is
    in the log."""
    log.error("no answer could be made", exc_info=failure)
    return error(
        400, f"The model server could not answer: {type(failure).__name__}: {failure}", code="server_failed"
    )


def _body(incoming: Incoming) -> tuple[dict[str, Any], Answer | None]:
    """The JSON sent, or the error for what is none."""
    try:
        body = json.loads(incoming.body or b"{}")
    except ValueError:
        body = None
    return (
        (body, None)
        if isinstance(body, dict)
        else ({}, error(400, "We could not parse the JSON body of your request."))
    )
