"""Routes that change the memory: documents in, documents out."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import asdict
from typing import Annotated, Any, BinaryIO

from fastapi import APIRouter, File, Form, UploadFile
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from gsw_graph.cancel import Cancel
from gsw_graph.errors import InputError
from gsw_graph.serve.desk import At, json
from gsw_graph.serve.events import Events, Say
from gsw_graph.serve.faults import RefusedError
from gsw_graph.tally import Progress

router = APIRouter(tags=["change"])

FILES = 10_000  # in a request: a folder that is dragged onto the page
_NAME = 500  # characters
_CONTROL = re.compile("[\x00-\x1f\x7f]")


class Forget(BaseModel):
    """What is forgotten: documents by source, or everything."""

    model_config = ConfigDict(extra="forbid")

    sources: list[str] = []
    everything: bool = False
    folder: str | None = Field(None, description="For the owner alone: where paths among the sources begin.")


class Paths(BaseModel):
    """What `gswgraph load` is told."""

    model_config = ConfigDict(extra="forbid")

    paths: list[str]
    extractor: str = "auto"
    replace: bool = False
    upgrade: bool = False
    second_pass: bool = False
    batch: bool = False
    dry_run: bool = False
    budget: str | None = None
    follow_links: bool = False


@router.post("/load", summary="Load documents", response_model=None, form_limits={"max_files": FILES})
async def load(
    at: At,
    files: Annotated[list[UploadFile], File(description="Files of any format that `gswgraph load` reads.")],
    extractor: Annotated[str, Form()] = "auto",
    replace: Annotated[bool, Form()] = False,
    upgrade: Annotated[bool, Form()] = False,
    second_pass: Annotated[bool, Form()] = False,
    dry_run: Annotated[bool, Form()] = False,
    budget: Annotated[str | None, Form()] = None,
    standard_input: Annotated[bool, Form(description="The one file is named by what it says.")] = False,
) -> Response:
    """The report, as `gswgraph load --json` prints it. The source of a file is `upload:` and its name, so
    one of the same name takes the place of the one before. What the report says is loaded is on disk.

    As events: `progress` (`documents`, `passages`, `total`, `stage` and so on), at the end `report`.
    """
    at.desk.check_writable()
    uploads: dict[str, BinaryIO] = {}
    for file in files:
        name = named(file.filename or "")
        if name in uploads:
            raise InputError("two files have one name", where=name, hint="Name each, with its folder")
        uploads[name] = file.file
    options: dict[str, Any] = {
        "extractor": extractor,
        "replace": replace,
        "upgrade": upgrade,
        "second_pass": second_pass,
        "dry_run": dry_run,
        "budget": budget,
    }
    if not standard_input:
        return await _load(at, [], uploads, options)
    if len(uploads) != 1:
        raise InputError("standard input is one file")
    return await _load(at, ["-"], {}, {**options, "stdin": next(iter(uploads.values()))})


@router.post("/load/paths", summary="Load files of the server's machine", response_model=None)
async def load_paths(at: At, asked: Paths) -> Response:
    """For the owner of the memory on the same machine: files, folders and globs there, each an absolute
    path."""
    at.desk.check_writable()
    if not at.owner:
        raise RefusedError(
            "only the owner of the memory loads files of this machine", hint="Send the files: POST /api/load"
        )
    options = asked.model_dump()
    return await _load(at, options.pop("paths"), {}, options)


@router.post("/forget", summary="Forget documents", response_model=None)
async def forget(at: At, what: Forget) -> Response:
    """What was forgotten and what is unknown, as `gswgraph forget --json` prints it."""
    at.desk.check_writable()
    if what.everything == bool(what.sources):
        raise InputError("give either sources or everything")
    return json(
        await at.run(
            at.desk.loads,
            lambda _: at.memory.forget(
                *what.sources, everything=what.everything, folder=at.folder(what.folder)
            ),
        )
    )


def named(name: str) -> str:
    """The name of an upload: relative, as a browser gives it for a file or a file in a folder. InputError: it
    is none."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    found = "/".join(parts)
    if not parts or ".." in parts or len(found) > _NAME or _CONTROL.search(found):
        raise InputError("this is no name of a file", where=found[:100], hint="Send a name such as notes.md")
    return found


async def _load(at: At, paths: list[str], uploads: dict[str, BinaryIO], options: dict[str, Any]) -> Response:
    def work(cancel: Cancel, say: Say) -> Any:
        def progress(now: Progress) -> None:
            say("progress", asdict(now))

        with ExitStack() as stack:
            for file in (*uploads.values(), options.get("stdin")):
                if file is not None:
                    stack.callback(file.close)
            report = at.memory.load(*paths, uploads=uploads, progress=progress, cancel=cancel, **options)
        return report.to_dict()

    if at.streams:
        return Events(at.desk.loads, work, "report", frozenset({"progress"}))
    return json(await at.run(at.desk.loads, lambda cancel: work(cancel, lambda *_: None)))
