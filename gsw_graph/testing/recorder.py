"""Records: each chat request is written to a file and waits until somebody has written its reply.

    with Recorder("recording") as recorder, ModelServer(recorder=recorder) as server:
        ...

A request that was asked before is not written again: where its reply stands it is given at once. So a run
that was ended goes on where it stood, and the run that is measured may be one more, over the whole recording,
which asks nothing new. Its seconds are then those of no model.

What a client needs, of gswgraph: GSWGRAPH_LLM_TIMEOUT above the seconds that a reply is waited for, else it
hangs up and asks again; GSWGRAPH_CONCURRENCY as many calls as may wait at once; and in GSWGRAPH_LLM, or
--llm, a name that no model has, as replies are kept by it (GSWGRAPH_CACHE): what another run under that name
has asked does not come here.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from filelock import FileLock, Timeout

from gsw_graph.errors import InputError
from gsw_graph.testing.calls import Call
from gsw_graph.testing.recording import Recording, unwritten
from gsw_graph.testing.replies import Reply

log = logging.getLogger(__name__)

SECONDS = 3600.0  # that a reply is waited for
_LOOK = 0.1  # seconds between looks
_STILL = 1.0  # seconds after which a file that was not changed is whole
_LOCK = "recording.lock"  # held by the operating system, so that a server that was killed blocks nobody


class Recorder:
    """The requests of one folder, and who waits for their replies; safe for threads. As a context manager it
    has the folder for itself.

    timeout: seconds that a request waits; with 0 none does: one without a reply is noted and refused, so that
    a run that goes on without it notes all that can be asked by now, and who replies has them at once.
    Raises InputError where the folder cannot be written, holds something else, or is another recorder's.
    """

    def __init__(self, folder: str | Path, timeout: float = SECONDS) -> None:
        self._recording, self._timeout = Recording(folder), timeout
        self._lock = threading.Lock()
        self._known: dict[str, int] = {}
        self._last = 0

    def __enter__(self) -> Recorder:
        self._recording.make()
        place = self._recording.folder / _LOCK
        self._mine = FileLock(place, timeout=0, thread_local=False)
        try:
            self._mine.acquire()
        except Timeout:
            raise InputError(
                "another server records here",
                where=str(self._recording.folder),
                hint="End it, or record in another folder",
            ) from None
        except OSError as error:
            raise unwritten(place, error) from None
        try:
            self._known = {asked["request"]: number for number, asked in self._recording.requests()}
            self._last = self._recording.last()
        except InputError:
            self._mine.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._mine.release()

    def reply(self, call: Call, given_up: Callable[[], bool]) -> Reply | None:
        """The reply to a chat call as soon as there is one; None where the time is up or nobody waits for it
        any more. The request stays, so that its reply is there for the next who asks. A reply that cannot be
        used is marked so, and waited for again."""
        number, schema = self._number(call), call.schema
        end = time.monotonic() + self._timeout
        before = refused = None
        while True:
            state = self._recording.state(number)
            if state and state != refused and (state == before or time.time() - state[1] > _STILL):
                try:
                    found = Reply(self._recording.reply(number, schema))
                except InputError as wrong:
                    refused = state
                    log.warning("%s", wrong)
                    self._recording.mark(number, str(wrong))
                else:
                    self._recording.mark(number, "")
                    return found
            before = state
            if given_up() or time.monotonic() >= end:
                return None
            time.sleep(_LOOK)

    def _number(self, call: Call) -> int:
        """That of the request, which is written where it is new."""
        request = call.request
        with self._lock:
            if request not in self._known:
                self._recording.write(self._last + 1, call.stage, call.messages, call.schema)
                self._last += 1
                self._known[request] = self._last
            return self._known[request]
