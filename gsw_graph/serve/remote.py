"""A memory that another process serves: the methods of `Memory` that the command line calls, by HTTP."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar
from urllib.parse import quote

import httpx

from gsw_graph import errors
from gsw_graph.browse import ALL
from gsw_graph.errors import EngineError, GswGraphError, InputError
from gsw_graph.picture.page import rendered
from gsw_graph.picture.picture import Edge, Node, Picture
from gsw_graph.results import (
    Answer,
    AskedQuestion,
    Documents,
    FollowedName,
    Forgotten,
    History,
    LoadReport,
    Shown,
    Status,
    Table,
)
from gsw_graph.results.rebuilt import rebuilt
from gsw_graph.tally import Progress

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from gsw_graph.cancel import Cancel
    from gsw_graph.config import Settings
    from gsw_graph.serve.running import Running

T = TypeVar("T")
SILENT = 60.0  # seconds that a server may say nothing; it says every ten that it is there
UNTIL_DONE = httpx.Timeout(10, read=None)  # the server ends what takes too long; a load may stand before it


@dataclass
class Drawn(Picture):
    """A picture that the server has drawn. shown: as `picture.page.data` gives it."""

    shown: dict[str, Any] = field(default_factory=dict)

    def html(self) -> str:
        """As of `Picture`."""
        return rendered(self.shown)


class RemoteMemory:
    """The memory of a running server, for its owner on the same machine. Models and settings are those of the
    server. Raises what `Memory` does, and EngineError for what only the process can do that has it open."""

    def __init__(self, running: Running, settings: Settings) -> None:
        self.settings, self.address, self.url = settings, running.address, settings.memory
        headers = {"Authorization": f"Bearer {running.token}"}
        timeout = httpx.Timeout(10, read=SILENT, write=SILENT)
        self._client = httpx.Client(
            base_url=running.address + "/api", headers=headers, timeout=timeout, trust_env=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        raise EngineError(
            f"the server at {self.address} has this memory open, and only its own process can do this",
            where=self.settings.memory,
            hint="End the server (Ctrl-C where it runs), and run it again",
        )

    def close(self) -> None:
        """Close the connection; the server goes on."""
        self._client.close()

    def warm(self, *, cancel: Cancel | None = None) -> None:
        """Nothing: the server is."""

    def model(self) -> str | None:
        """The language model of the server."""
        return str(found) if (found := self._get("/about")["llm"]) else None

    def status(self) -> Status:
        """As `Memory.status`."""
        return rebuilt(Status, self._get("/status"))

    def documents(
        self, text: str = "", *, limit: int | None = None, folder: str | None = "", **filters: Any
    ) -> Documents:
        """As `Memory.documents`."""
        return rebuilt(
            Documents,
            self._get("/documents", text=text, limit=limit or ALL, folder=_absolute(folder), **filters),
        )

    def show(self, name: str, passage: int | None = None, *, folder: str | None = "") -> Shown:
        """As `Memory.show`."""
        path = f"/documents/{quote(name, safe='')}"
        return rebuilt(Shown, self._get(path, folder=_absolute(folder), passage=passage))

    def name(self, name: str, *, limit: int = 20) -> FollowedName:
        """As `Memory.name`."""
        return rebuilt(FollowedName, self._get(f"/names/{quote(name, safe='')}", limit=limit))

    def history(self, text: str = "", *, limit: int | None = None) -> History:
        """As `Memory.history`."""
        return rebuilt(History, self._get("/questions", text=text, limit=limit or ALL))

    def asked(self, which: int | str) -> AskedQuestion:
        """As `Memory.asked`."""
        return rebuilt(AskedQuestion, self._get(f"/questions/{quote(str(which), safe='')}"))

    def confirm(self, which: int | str) -> AskedQuestion:
        """As `Memory.confirm`."""
        return rebuilt(AskedQuestion, self._post(f"/questions/{quote(str(which), safe='')}/confirm", {}))

    def reject(self, which: int | str) -> AskedQuestion:
        """As `Memory.reject`."""
        return rebuilt(AskedQuestion, self._post(f"/questions/{quote(str(which), safe='')}/reject", {}))

    def cypher(
        self, query: str, /, *, write: bool = False, timeout: float | None = None, **parameters: Any
    ) -> Table:
        """As `Memory.cypher`, within the time that the server allows."""
        body = {"query": query, "parameters": parameters, "timeout": timeout, "write": write}
        return rebuilt(Table, self._post("/cypher", body))

    def explore(self, name: str, /, *, timeout: float | None = None, **parameters: Any) -> Table:  # noqa: ARG002
        """As `Memory.explore`, within the time that the server allows."""
        return rebuilt(Table, self._post(f"/analyses/{quote(name, safe='')}", {"parameters": parameters}))

    def forget(self, *sources: str, everything: bool = False, folder: str | None = "") -> Forgotten:
        """As `Memory.forget`."""
        body = {"sources": sources, "everything": everything, "folder": _absolute(folder)}
        return rebuilt(Forgotten, self._post("/forget", body))

    def draw(self, what: Answer | str, /, *, timeout: float | None = None, **parameters: Any) -> Picture:  # noqa: ARG002
        """As `Memory.draw`; what the server draws is there to be shown, and no more to be changed."""
        if isinstance(what, Answer):
            body: dict[str, Any] = {"answer": what.to_dict()}
        else:
            body = {"query": what, "parameters": parameters}
        shown = self._post("/draw", body)
        nodes = {one["id"]: Node(**one) for one in shown["nodes"]}
        edges = {(one["source"], one["target"], one["caption"]): Edge(**one) for one in shown["edges"]}
        return Drawn(shown["title"], shown["said"], nodes=nodes, edges=edges, shown=shown)

    def ask(
        self,
        question: str,
        *,
        plan: Any = None,
        on_text: Callable[[str], None] | None = None,
        on_stage: Callable[[str, str | None], None] | None = None,
        cancel: Cancel | None = None,
        **how: Any,
    ) -> Answer:
        """As `Memory.ask`."""
        steps = plan.to_list() if hasattr(plan, "to_list") else plan

        def hear(event: str, data: dict[str, Any]) -> None:
            if event == "text" and on_text is not None:
                on_text(data["text"])
            elif event == "stage" and on_stage is not None:
                on_stage(data["stage"], data["text"])

        body = {"question": question, "plan": steps, **how}
        return rebuilt(Answer, self._events("/ask", hear, "answer", cancel, json=body))

    def load(
        self,
        *paths: str,
        stdin: BinaryIO | None = None,
        uploads: Mapping[str, BinaryIO] | None = None,
        progress: Callable[[Progress], None] | None = None,
        cancel: Cancel | None = None,
        **options: Any,
    ) -> LoadReport:
        """As `Memory.load`: the server reads the files, and is sent what standard input says."""

        def hear(event: str, data: dict[str, Any]) -> None:
            if event == "progress" and progress is not None:
                progress(Progress(**data))

        if "-" not in paths and not uploads:
            names = [os.path.abspath(path) for path in paths]  # noqa: PTH100 - also of what is no path, as a glob
            body = {"paths": names, **options}
            return rebuilt(LoadReport, self._events("/load/paths", hear, "report", cancel, json=body))
        if (
            {*paths} - {"-"}
            or (paths and uploads)
            or options.pop("batch", False)
            or options.pop("follow_links", False)
        ):
            raise InputError(
                "through a server standard input is loaded alone", hint=f"{self.address} has this memory open"
            )
        from gsw_graph.loaders import standard_input

        form = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in options.items()
            if value is not None and name not in ("batch", "follow_links")
        }
        sent = uploads or {"stdin": stdin or standard_input()}
        files = [("files", named) for named in sent.items()]
        data = {**form, "standard_input": str(not uploads).lower()}
        return rebuilt(LoadReport, self._events("/load", hear, "report", cancel, data=data, files=files))

    def _get(self, path: str, **query: Any) -> Any:
        with self._plainly():
            given = {name: value for name, value in query.items() if value is not None}
            reply = self._client.get(path, params=given)
            self._check(reply)
            return reply.json()

    def _post(self, path: str, body: Any) -> Any:
        with self._plainly():
            reply = self._client.post(path, json=body, timeout=UNTIL_DONE)
            self._check(reply)
            return reply.json()

    def _events(
        self,
        path: str,
        hear: Callable[[str, dict[str, Any]], None],
        last: str,
        cancel: Cancel | None,
        **request: Any,
    ) -> Any:
        """The data of the last event; `hear` gets those before. Leaving it ends the work of the server."""
        headers = {"Accept": "text/event-stream"}
        with self._plainly(), self._client.stream("POST", path, headers=headers, **request) as reply:
            if reply.is_error:
                reply.read()
            self._check(reply)
            event = ""
            for line in reply.iter_lines():
                if cancel is not None:
                    cancel.check()
                name, _, value = line.partition(": ")
                if name == "event":
                    event = value
                elif name == "data":
                    data = json.loads(value)
                    if event == last:
                        return data
                    if event == "error":
                        raise _error(data)
                    hear(event, data)
        raise self._gone("it ended in the middle")

    def _check(self, reply: httpx.Response) -> None:
        if not reply.is_error:
            return
        try:
            said = reply.json()
        except ValueError:
            raise self._gone(f"it answered {reply.status_code}") from None
        raise _error(said)

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            raise self._gone(str(error) or type(error).__name__) from error

    def _gone(self, why: str) -> EngineError:
        return EngineError(
            f"the server of this memory does not answer ({why})",
            where=self.address,
            hint="See whether it runs, and run it again",
        )


def _absolute(folder: str | None) -> str | None:
    return None if folder is None else os.path.abspath(folder)  # noqa: PTH100 - as `browse.py`


def _error(said: dict[str, Any]) -> GswGraphError:
    """The error that the server raised."""
    kind = getattr(errors, str(said.get("kind")), EngineError)
    if not (isinstance(kind, type) and issubclass(kind, GswGraphError)):
        kind = EngineError
    return kind(str(said.get("error")), where=said.get("where"), hint=said.get("hint"))
