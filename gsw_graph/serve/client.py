"""Ask a memory that another process serves: the methods of `Memory` that the command line calls, by HTTP."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import signature
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter, ValidationError

from gsw_graph import errors
from gsw_graph.concurrency import check_of
from gsw_graph.engine.address import split_address
from gsw_graph.errors import EngineError, GswGraphError, InputError
from gsw_graph.explore.contents import ALL
from gsw_graph.explore.picture.picture import Edge, Node, Picture, rendered
from gsw_graph.load.addresses import fetched
from gsw_graph.load.options import LoadOptions
from gsw_graph.loaders import standard_input
from gsw_graph.loaders.address import is_address
from gsw_graph.memory import Memory, OnProgress, OnStage, OnText
from gsw_graph.model import results
from gsw_graph.model.ledger import Entry
from gsw_graph.model.results import Progress
from gsw_graph.values import Fields, without_none

if TYPE_CHECKING:
    from typing_extensions import Self

    from gsw_graph.concurrency import Cancel
    from gsw_graph.config import Settings
    from gsw_graph.engine.embedded_folder import RunningServer

T = TypeVar("T")
JsonObject = Fields
_IN_PATH = re.compile(r"\{(\w+)\}")
SILENT = 60.0  # seconds that a server may send nothing; it pings every ten
UNTIL_DONE = httpx.Timeout(10, read=None)  # the server ends what takes too long; a load may run before it


def rebuild(kind: type[T], value: Any) -> T:
    """Return the result whose `to_dict` is `value`. Raises InputError if there is none."""
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

    shown: JsonObject = field(default_factory=dict)

    def html(self) -> str:
        """Return the page, as `Picture.html`."""
        return rendered(self.shown)


# Methods of `Memory` that are one request: type of the result, HTTP method, path. Arguments that the path
# does not name are sent by their names, in the query of a GET and in the body of a POST.
OPERATIONS: dict[str, tuple[Any, str, str]] = {
    "status": (results.Status, "GET", "/status"),
    "memories": (list[results.StoredMemory], "GET", "/memories"),
    "documents": (results.Documents, "GET", "/documents"),
    "show": (results.Shown, "GET", "/documents/{name}"),
    "names": (list[results.StoredName], "GET", "/names"),
    "name": (results.FollowedName, "GET", "/names/{name}"),
    "history": (results.History, "GET", "/questions"),
    "question": (results.AskedQuestion, "GET", "/questions/{which}"),
    "confirm": (results.AskedQuestion, "POST", "/questions/{which}/confirm"),
    "reject": (results.AskedQuestion, "POST", "/questions/{which}/reject"),
    "cypher": (results.Table, "POST", "/cypher"),
    "explore": (results.Table, "POST", "/analyses/{name}"),
    "corrections": (list[results.Correction], "GET", "/corrections"),
    "correct": (results.Correction, "POST", "/corrections"),
    "undo_correction": (results.Correction, "POST", "/corrections/{which}/undo"),
    "forget": (results.Forgotten, "POST", "/forget"),
}


def _arguments(operation: str, args: tuple[Any, ...], options: Fields) -> Fields:
    """Return the arguments of a call of `Memory` by their names, with defaults, as its server takes them: the
    working folder is that of this process."""
    bound = signature(getattr(Memory, operation)).bind(None, *args, **options)
    bound.apply_defaults()
    _, *names = bound.arguments  # the first is the memory
    values = {name: bound.arguments[name] for name in names if name != "cancel"}
    if values.get("folder") is not None:
        values["folder"] = os.path.abspath(values["folder"])  # noqa: PTH100 - as `browse.py`
    if "limit" in values and values["limit"] is None:
        values["limit"] = ALL
    return values


class RemoteMemory:
    """The memory of a running server, for its owner on the same machine. Models and settings are those of the
    server. Raises what `Memory` does, and EngineError for what only the process can do that has it open."""

    loaded_embedder = None  # the server has it

    def __init__(self, running: RunningServer, settings: Settings) -> None:
        self.settings = settings
        self.address = running.address
        self.url = settings.memory
        self._client = httpx.Client(
            base_url=running.address + "/api",
            params={"memory": split_address(settings.memory)[1]},
            headers={"Authorization": f"Bearer {running.token}"},
            timeout=httpx.Timeout(10, read=SILENT, write=SILENT),
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        """Return a method of `Memory` that is one request; see `OPERATIONS`."""
        if name not in OPERATIONS:
            raise EngineError(
                f"the server at {self.address} has this memory open, and only its own process can do this",
                where=self.settings.memory,
                hint="End the server (Ctrl-C where it runs), and run it again",
            )
        kind, method, path = OPERATIONS[name]

        def call(*args: Any, **options: Any) -> Any:
            values = _arguments(name, args, options)
            place = path
            for parameter in _IN_PATH.findall(path):
                part = quote(str(values.pop(parameter)), safe="")
                place = place.replace(f"{{{parameter}}}", part)
            return self._request(kind, method, place, values)

        return call

    def close(self) -> None:
        """Close the connection; the server goes on."""
        self._client.close()

    def warm(self, *, cancel: Cancel | None = None) -> None:
        """Do nothing: the server is warm."""

    def model(self) -> str | None:
        """Return the language model of the server."""
        return self._request(JsonObject, "GET", "/about", {})["llm"]  # type: ignore[no-any-return]

    def browser(self, question: str | None = None) -> str:  # noqa: ARG002 - as `Memory.browser`
        """Raise the EngineError of `Memory.browser`: a memory in a folder has no Neo4j Browser."""
        from gsw_graph.explore import browser  # it takes the driver along

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
        body: JsonObject = {"query": content, "parameters": parameters, "timeout": timeout}
        if isinstance(content, results.Answer):
            body = {"answer": content.to_dict()}
        shown = self._request(JsonObject, "POST", "/draw", body)
        picture = DrawnPicture(shown["title"], shown["said"], shown=shown)
        for node in shown["nodes"]:
            picture.nodes[node["id"]] = Node(**node)
        for edge in shown["edges"]:
            picture.edges[edge["source"], edge["target"], edge["caption"]] = Edge(**edge)
        return picture

    def ask(
        self,
        question: str,
        *,
        plan: Any = None,
        on_text: OnText | None = None,
        on_stage: OnStage | None = None,
        cancel: Cancel | None = None,
        **options: Any,
    ) -> results.Answer:
        """Ask as `Memory.ask`."""
        steps = plan.to_list() if hasattr(plan, "to_list") else plan

        def receive(event: str, data: JsonObject) -> None:
            if event == "text" and on_text is not None:
                on_text(data["text"])
            elif event == "stage" and on_stage is not None:
                on_stage(data["stage"], data["text"])

        body = {"question": question, "plan": steps, "folder": "", **options}
        if body["folder"] is not None:  # paths begin here, and not where the server runs
            body["folder"] = os.path.abspath(body["folder"])  # noqa: PTH100 - as `browse.py`
        return self._events(results.Answer, "/ask", receive, "answer", cancel, json=body)

    def add(self, text: str, **turn: str | None) -> str:
        """Add a turn as `Memory.add`."""
        return str(self._request(dict[str, str], "POST", "/turns", {"text": text, **turn})["passage"])

    def load(
        self,
        *paths: str,
        stdin: BinaryIO | None = None,
        uploads: Mapping[str, BinaryIO] | None = None,
        progress: OnProgress | None = None,
        cancel: Cancel | None = None,
        allow_private: bool = False,
        **options: Any,
    ) -> results.LoadReport:
        """Load as `Memory.load`: the server reads the files, and is sent standard input, uploads, or pages,
        which are fetched here."""
        check = check_of(cancel)
        addresses = [path for path in paths if is_address(path)]
        if addresses:
            if uploads or len(addresses) < len(paths):
                raise InputError(
                    "through a server addresses are loaded alone",
                    hint="Load the files with a command of their own",
                )
            how = LoadOptions(**options)
            pages = fetched(addresses, self.show, how, allow_private=allow_private, check=check)
            loaded = self.load(uploads=pages.pages, progress=progress, cancel=cancel, **options)
            return pages.added_to(loaded)

        def receive(event: str, data: JsonObject) -> None:
            if event == "progress" and progress is not None:
                progress(Progress(**data))

        if "-" not in paths and not uploads:
            names = [os.path.abspath(path) for path in paths]  # noqa: PTH100 - also of a glob
            body = {"paths": names, **options}
            return self._events(results.LoadReport, "/load/paths", receive, "report", cancel, json=body)
        if set(paths) - {"-"} or (paths and uploads):
            raise InputError(
                "through a server standard input is loaded alone", hint=f"{self.address} has this memory open"
            )
        form = without_none(options)
        form["standard_input"] = not uploads
        streams = uploads or {"stdin": stdin or standard_input()}
        files = []
        for name, stream in streams.items():
            files.append(("files", (name, stream, None, getattr(stream, "headers", {}))))
        return self._events(results.LoadReport, "/load", receive, "report", cancel, data=form, files=files)

    def _request(self, kind: type[T], method: str, path: str, values: JsonObject) -> T:
        """Send one request, with its values in the query of a GET and in the body of a POST."""
        present = without_none(values)
        with self._connection_errors():
            if method == "GET":
                reply = self._client.get(path, params=present)
            else:
                reply = self._client.post(path, json=present, timeout=UNTIL_DONE)
            return rebuild(kind, self._checked(reply).json())

    def _events(
        self,
        kind: type[T],
        path: str,
        receive: Callable[[str, JsonObject], None],
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


def _error(described: JsonObject) -> GswGraphError:
    """Return the error that the server raised."""
    kind = getattr(errors, str(described.get("kind")), EngineError)
    if not (isinstance(kind, type) and issubclass(kind, GswGraphError)):
        kind = EngineError
    where = described.get("where")
    hint = described.get("hint")
    return kind(str(described.get("error")), where=where, hint=hint)
