"""Routes that look: what the memory holds, its documents, passages and names, and Cypher that only reads."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from gsw_graph import __version__
from gsw_graph.serve.desk import At, Limit, Skip, json
from gsw_graph.serve.faults import RefusedError

router = APIRouter(tags=["look"])


class Query(BaseModel):
    """A query with its parameters."""

    model_config = ConfigDict(extra="forbid")

    query: str
    parameters: dict[str, Any] = {}
    timeout: float | None = Field(None, gt=0, description="Seconds; never longer than the server allows.")
    write: bool = Field(False, description="For the owner of the memory on the same machine alone.")


class Exploring(BaseModel):
    """What an analysis is told, by the names of its parameters."""

    model_config = ConfigDict(extra="forbid")

    parameters: dict[str, Any] = {}


@router.get("/about", summary="What this server is", response_model=None)
async def about(at: At) -> Response:
    """Its version, the memory, the strategies by name, the language model that is set, and what it takes."""
    from gsw_graph.extract import EXTRACTORS
    from gsw_graph.retrieve.strategies import STRATEGIES

    settings = at.memory.settings
    return json(
        {
            "version": __version__,
            "memory": at.memory.url,
            "read_only": at.desk.read_only,
            "strategies": {one.name: one.help for one in STRATEGIES.values()},
            "extractors": ["auto", *EXTRACTORS],
            "embedder": settings.embedder,
            "llm": settings.llm,
            "upload_limit": at.desk.limits.upload,
            "timeout": at.desk.limits.seconds,
            "waiting": {line.what: len(line) for line in (at.desk.asks, at.desk.loads, at.desk.reads)},
        }
    )


@router.get("/status", summary="What the memory holds", response_model=None)
async def status(at: At) -> Response:
    """As `gswgraph status --json` prints it."""
    return await at.read(at.memory.status)


@router.get("/documents", summary="List documents", response_model=None)
async def documents(
    at: At,
    text: str = "",
    extractor: str | None = None,
    loader: str | None = None,
    unfinished: bool = False,
    skip: Skip = 0,
    limit: Limit = 100,
    folder: str | None = None,
) -> Response:
    """Documents by source, as `gswgraph list --json` prints them. text: in their source or title, or a
    folder. limit: so many, after the first `skip`."""
    return await at.read(
        lambda: at.memory.documents(
            text,
            extractor=extractor,
            loader=loader,
            unfinished=unfinished,
            skip=skip,
            limit=limit,
            folder=at.folder(folder),
        )
    )


@router.get("/documents/{name:path}", summary="Show a document", response_model=None)
async def document(at: At, name: str, passage: Limit | None = None, folder: str | None = None) -> Response:
    """A document whole, with what was found in it, as `gswgraph show --json` prints it. name: its id,
    source or title; passage: only that, counted from 1."""
    return await at.read(lambda: at.memory.show(name, passage, folder=at.folder(folder)))


@router.get("/passages/{id}", summary="Show a passage", response_model=None)
async def passage(at: At, id: str) -> Response:
    """One passage by its id, with what was found in it, and its document."""
    return await at.read(lambda: at.memory.show(id, folder=None))


@router.get("/names", summary="List names", response_model=None)
async def names(at: At, text: str = "", skip: Skip = 0, limit: Limit = 50) -> Response:
    """Names with a text in them, those that stand in most passages first: `id`, `name`, `passages`. limit: so
    many, after the first `skip`."""
    return await at.read(lambda: at.memory.names(text, skip=skip, limit=limit))


@router.get("/names/{name:path}", summary="Follow a name", response_model=None)
async def name(at: At, name: str, limit: Limit = 20) -> Response:
    """A name over all documents: its roles, pairs and facts, the passages it stands in and the names beside
    it."""
    return await at.read(lambda: at.memory.name(name, limit=limit))


@router.get("/analyses", summary="List analyses", response_model=None)
async def analyses() -> Response:
    """The analyses that `/api/analyses/NAME` runs, as `gswgraph cypher --list --json` prints them."""
    from gsw_graph.analyses import analyses

    return json([one.to_dict() for one in analyses().values()])


@router.post("/analyses/{name}", summary="Run an analysis", response_model=None)
async def analysis(at: At, name: str, told: Exploring) -> Response:
    """Its rows as a table: `columns`, `rows`."""
    seconds = at.desk.limits.seconds
    return json(
        await at.run(
            at.desk.reads,
            lambda cancel: at.memory.explore(
                name, timeout=seconds, cancel=cancel, **at.desk.parameters(told.parameters)
            ),
        )
    )


@router.post("/cypher", summary="Run a Cypher query", response_model=None)
async def cypher(at: At, asked: Query) -> Response:
    """Its rows as a table: `columns`, `rows`. A query that would do more than read the memory is refused."""
    if asked.write:
        at.desk.check_writable()
        if not at.owner:
            raise RefusedError(
                "only the owner of the memory writes by Cypher",
                hint="gswgraph cypher --write, on its machine",
            )
    seconds = min(asked.timeout or at.desk.limits.seconds, at.desk.limits.seconds)
    return json(
        await at.run(
            at.desk.reads,
            lambda cancel: at.memory.cypher(
                asked.query,
                write=asked.write,
                timeout=seconds,
                cancel=cancel,
                **at.desk.parameters(asked.parameters),
            ),
        )
    )
