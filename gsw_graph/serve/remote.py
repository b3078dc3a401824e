"""Ask a memory that another process serves: the methods of `Memory` that the command line calls, by HTTP."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter, ValidationError

from gsw_graph import errors
from gsw_graph.concurrency import never_cancelled
from gsw_graph.engine import split_address
from gsw_graph.errors import EngineError, GswGraphError, InputError
from gsw_graph.explore.contents import ALL
from gsw_graph.explore.picture.picture import Edge, Node, Picture, rendered
from gsw_graph.load.addresses import fetched
from gsw_graph.load.options import LoadOptions
from gsw_graph.loaders.address import is_address
from gsw_graph.model import results
from gsw_graph.model.results import Progress

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from gsw_graph.concurrency import Cancel
    from gsw_graph.config import Settings
    from gsw_graph.engine.embedded_folder import RunningServer

T = TypeVar("T")
SILENT = 60.0  # seconds that a server may send nothing; it pings every ten
UNTIL_DONE = httpx.Timeout(10, read=None)  # the server ends what takes too long; a load may run before it


def rebuild(kind: type[T], value: Any) -> T:
    """Return the result whose `to_dict` is `value`. Raises InputError where it is none."""
    from gsw_graph.model.ledger import Entry

    adapter = TypeAdapter(kind)
    # modules of results import some of their types for the type checker only
    adapter.rebuild(force=True, _types_namespace={**vars(results), "Entry": Entry})
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        detail = f"{error.error_count()} errors, first at {error.errors()[0]['loc']}"
        raise InputError(
            f"this is no {kind.__name__} ({detail})", hint="Send it as it was given, whole"
        ) from error


@dataclass
class DrawnPicture(Picture):
    """A picture that the server has drawn; `shown` is what `picture.page.data` returned there."""

    shown: dict[str, Any] = field(default_factory=dict)

    def html(self) -> str:
        """Return the page, as `Picture.html`."""
        return rendered(self.shown)


def _absolute(folder: str | None) -> str | None:
    return None if folder is None else os.path.abspath(folder)  # noqa: PTH100 - as `browse.py`


def _path(*parts: object) -> str:
    return "".join(f"/{quote(str(part), safe='')}" for part in parts)


# Methods of `Memory` that are one request: its arguments become result type, HTTP method, path and values.
_REQUESTS: dict[str, Callable[..., tuple[Any, str, str, dict[str, Any]]]] = {
    "status": lambda: (results.Status, "GET", "/status", {}),
    "memories": lambda: (list[results.StoredMemory], "GET", "/memories", {}),
    "documents": lambda text="", *, limit=None, folder="", **filters: (
        results.Documents,
        "GET",
        "/documents",
        {"text": text, "limit": limit or ALL, "folder": _absolute(folder), **filters},
    ),
    "show": lambda name, passage=None, *, folder="": (
        results.Shown,
        "GET",
        _path("documents", name),
        {"passage": passage, "folder": _absolute(folder)},
    ),
    "names": lambda text="", **range: (list[results.StoredName], "GET", "/names", {"text": text, **range}),
    "name": lambda name, **limit: (results.FollowedName, "GET", _path("names", name), limit),
    "history": lambda text="", *, limit=None: (
        results.History,
        "GET",
        "/questions",
        {"text": text, "limit": limit or ALL},
    ),
    "question": lambda which: (results.AskedQuestion, "GET", _path("questions", which), {}),
    "confirm": lambda which: (results.AskedQuestion, "POST", _path("questions", which, "confirm"), {}),
    "reject": lambda which: (results.AskedQuestion, "POST", _path("questions", which, "reject"), {}),
    "cypher": lambda query, *, write=False, timeout=None, **parameters: (
        results.Table,
        "POST",
        "/cypher",
        {"query": query, "parameters": parameters, "timeout": timeout, "write": write},
    ),
    "explore": lambda name, *, timeout=None, **parameters: (
        results.Table,
        "POST",
        _path("analyses", name),
        {"parameters": parameters, "timeout": timeout},
    ),
    "corrections": lambda: (list[results.Correction], "GET", "/corrections", {}),
    "correct": lambda action, *values, by="": (
        results.Correction,
        "POST",
        "/corrections",
        {"action": action, "values": values, "by": by, "folder": _absolute("")},
    ),
    "undo_correction": lambda which: (results.Correction, "POST", _path("corrections", which, "undo"), {}),
    "forget": lambda *sources, everything=False, gone=False, dry_run=False, folder="": (
        results.Forgotten,
        "POST",
        "/forget",
        {
            "sources": sources,
            "everything": everything,
            "gone": gone,
            "dry_run": dry_run,
            "folder": _absolute(folder),
        },
    ),
}


class RemoteMemory:
    """The memory of a running server, for its owner on the same machine. Models and settings are those of the
    server. Raises what `Memory` does, and EngineError for what only the process can do that has it open."""

    loaded_embedder = None  # the server has it

    def __init__(self, running: RunningServer, settings: Settings) -> None:
        self.settings, self.address, self.url = settings, running.address, settings.memory
        self._client = httpx.Client(
            base_url=running.address + "/api",
            params={"memory": split_address(settings.memory)[1]},
            headers={"Authorization": f"Bearer {running.token}"},
            timeout=httpx.Timeout(10, read=SILENT, write=SILENT),
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        """Return a method of `Memory` that is one request; see `_REQUESTS`."""
        if name not in _REQUESTS:
            raise EngineError(
                f"the server at {self.address} has this memory open, and only its own process can do this",
                where=self.settings.memory,
                hint="End the server (Ctrl-C where it runs), and run it again",
            )

        def call(*args: Any, **options: Any) -> Any:
            return self._request(*_REQUESTS[name](*args, **options))

        return call

    def close(self) -> None:
        """Close the connection; the server goes on."""
        self._client.close()

    def warm(self, *, cancel: Cancel | None = None) -> None:
        """Do nothing: the server is warm."""

    def model(self) -> str | None:
        """Return the language model of the server."""
        return self._request(dict[str, Any], "GET", "/about", {})["llm"]  # type: ignore[no-any-return]

    def browser(self, question: str | None = None) -> str:  # noqa: ARG002 - as `Memory.browser`
        """Raise the EngineError of `Memory.browser`: a memory in a folder has no Neo4j Browser."""
        from gsw_graph.explore import browser

        return browser.find(self.settings).link(browser.overview())

    def draw(
        self,
        content: results.Answer | str,
        /,
        *,
        timeout: float | None = None,
        **parameters: Any,
    ) -> Picture:
        """Draw as `Memory.draw`; the picture can be shown, but not changed."""
        if isinstance(content, results.Answer):
            body: dict[str, Any] = {"answer": content.to_dict()}
        else:
            body = {"query": content, "parameters": parameters, "timeout": timeout}
        shown = self._request(dict[str, Any], "POST", "/draw", body)
        nodes = {node["id"]: Node(**node) for node in shown["nodes"]}
        edges = {(edge["source"], edge["target"], edge["caption"]): Edge(**edge) for edge in shown["edges"]}
        return DrawnPicture(shown["title"], shown["said"], nodes=nodes, edges=edges, shown=shown)

    def ask(
        self,
        question: str,
        *,
        plan: Any = None,
        on_text: Callable[[str], None] | None = None,
        on_stage: Callable[[str, str | None], None] | None = None,
        cancel: Cancel | None = None,
        **options: Any,
    ) -> results.Answer:
        """Ask as `Memory.ask`."""
        steps = plan.to_list() if hasattr(plan, "to_list") else plan

        def receive(event: str, data: dict[str, Any]) -> None:
            if event == "text" and on_text is not None:
                on_text(data["text"])
            elif event == "stage" and on_stage is not None:
                on_stage(data["stage"], data["text"])

        folder = options.pop("folder", "")  # paths begin here, and not where the server runs
        body = {"question": question, "plan": steps, **options, "folder": _absolute(folder)}
        return self._events(results.Answer, "/ask", receive, "answer", cancel, json=body)

    def add(self, text: str, **turn: str | None) -> str:
        """Add a turn as `Memory.add`."""
        return str(self._request(dict[str, str], "POST", "/turns", {"text": text, **turn})["passage"])

    def load(
        self,
        *paths: str,
        stdin: BinaryIO | None = None,
        uploads: Mapping[str, BinaryIO] | None = None,
        progress: Callable[[Progress], None] | None = None,
        cancel: Cancel | None = None,
        allow_private: bool = False,
        **options: Any,
    ) -> results.LoadReport:
        """Load as `Memory.load`: the server reads the files, and is sent standard input, uploads, or pages,
        which are fetched here."""
        check = cancel.check if cancel else never_cancelled
        addresses = [path for path in paths if is_address(path)]
        if addresses and (uploads or len(addresses) < len(paths)):
            raise InputError(
                "through a server addresses are loaded alone",
                hint="Load the files with a command of their own",
            )
        if addresses:
            how = LoadOptions(**options)
            pages = fetched(addresses, self.show, how, allow_private=allow_private, check=check)
            loaded = self.load(uploads=pages.pages, progress=progress, cancel=cancel, **options)
            return pages.added_to(loaded)

        def receive(event: str, data: dict[str, Any]) -> None:
            if event == "progress" and progress is not None:
                progress(Progress(**data))

        if "-" not in paths and not uploads:
            names = [os.path.abspath(path) for path in paths]  # noqa: PTH100 - also of a glob
            body: dict[str, Any] = {"json": {"paths": names, **options}}
            return self._events(results.LoadReport, "/load/paths", receive, "report", cancel, **body)
        alone = not {*paths} - {"-"} and not (paths and uploads)
        if not alone:
            raise InputError(
                "through a server standard input is loaded alone", hint=f"{self.address} has this memory open"
            )
        from gsw_graph.loaders import standard_input

        form = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in {**options, "standard_input": not uploads}.items()
            if value is not None
        }
        streams = uploads or {"stdin": stdin or standard_input()}
        parts = ((name, file, None, getattr(file, "headers", {})) for name, file in streams.items())
        files = [("files", part) for part in parts]
        return self._events(results.LoadReport, "/load", receive, "report", cancel, data=form, files=files)

    def _request(self, kind: type[T], method: str, path: str, values: dict[str, Any]) -> T:
        """Send one request, with its values in the query of a GET and in the body of a POST."""
        present = {name: value for name, value in values.items() if value is not None}
        arguments: dict[str, Any] = (
            {"params": present} if method == "GET" else {"json": present, "timeout": UNTIL_DONE}
        )
        with self._connection_errors():
            return rebuild(kind, self._checked(self._client.request(method, path, **arguments)).json())

    def _events(
        self,
        kind: type[T],
        path: str,
        receive: Callable[[str, dict[str, Any]], None],
        last: str,
        cancel: Cancel | None,
        **request: Any,
    ) -> T:
        """Return the data of the last event; `receive` gets those before. Leaving ends the server's work."""
        headers = {"Accept": "text/event-stream"}
        with (
            self._connection_errors(),
            self._client.stream("POST", path, headers=headers, **request) as reply,
        ):
            if reply.is_error:
                reply.read()
            event = ""
            for line in self._checked(reply).iter_lines():
                if cancel is not None:
                    cancel.check()
                name, _, value = line.partition(": ")
                if name == "event":
                    event = value
                elif name == "data":
                    data = json.loads(value)
                    if event == last:
                        return rebuild(kind, data)
                    if event == "error":
                        raise _error(data)
                    receive(event, data)
        raise self._gone("it ended in the middle")

    def _checked(self, reply: httpx.Response) -> httpx.Response:
        if not reply.is_error:
            return reply
        try:
            error = _error(reply.json())
        except ValueError:
            error = self._gone(f"it answered {reply.status_code}")
        raise error

    @contextmanager
    def _connection_errors(self) -> Iterator[None]:
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


def _error(described: dict[str, Any]) -> GswGraphError:
    """Return the error that the server raised."""
    kind = getattr(errors, str(described.get("kind")), EngineError)
    if not (isinstance(kind, type) and issubclass(kind, GswGraphError)):
        kind = EngineError
    return kind(str(described.get("error")), where=described.get("where"), hint=described.get("hint"))
