"""The routes of the HTTP API: ask, read, load and forget. Each calls one method of `Memory`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from inspect import Parameter, Signature
from operator import attrgetter
from typing import Annotated, Any, BinaryIO, Literal, get_type_hints

from fastapi import APIRouter, Depends, File, Form, UploadFile
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from gsw_graph.ask.options import AskOptions, ScopeOptions
from gsw_graph.ask.retrieve.strategies import strategies
from gsw_graph.ask.retrieve.strategies.fusion import RICR
from gsw_graph.ask.strategy import Strategy, reciprocal_rank_fusion
from gsw_graph.concurrency import Cancel
from gsw_graph.engine.address import split_address
from gsw_graph.errors import InputError
from gsw_graph.explore.analyses import analyses as all_analyses
from gsw_graph.explore.picture.picture import picture_data
from gsw_graph.explore.places import places
from gsw_graph.extract import EXTRACTORS
from gsw_graph.load.options import LoadOptions
from gsw_graph.loaders.address import Page, is_address
from gsw_graph.model.results import Answer, Progress, RankedPassage, Table
from gsw_graph.serve.client import JsonObject, rebuild
from gsw_graph.serve.context import (
    Context,
    Limit,
    RefusedError,
    RequestContext,
    Send,
    Skip,
    UncheckedContext,
    json_response,
)
from gsw_graph.serve.uploads import UploadRoute, upload_name
from gsw_graph.version import __version__

router = APIRouter()
uploads = APIRouter(route_class=UploadRoute)  # its bodies may be larger

MAX_FILES = 10_000  # in a request: a folder that is dragged onto the page
_TOP_K = 3  # documents of a query, as Search-R1 has them

QuestionText = Annotated[str, Field(max_length=4000)]
StrategyName = Annotated[str, Field(max_length=100)]
PlanJson = Annotated[
    list[Any] | JsonObject | bool | None,
    Field(description="Sub-questions to follow, as `ask --plan` reads them; false: none, and none is made."),
]
Seconds = Annotated[float | None, Field(gt=0, description="Seconds; never longer than the server allows.")]
TopK = Annotated[int, Field(ge=1, le=100, description="How many passages.")]


Folder = Annotated[str | None, Field(description="For the owner alone: where paths among the sources begin.")]


class NullsAreDefaults:
    """A body in which null for a field means its default, as if it was left out."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, body: Any) -> Any:
        known = getattr(cls, "model_fields", None) or getattr(cls, "__dataclass_fields__", {})
        if not isinstance(body, dict):
            return body
        return {name: value for name, value in body.items() if value is not None or name not in known}


class Body(NullsAreDefaults, BaseModel):
    """A body of a request; what it does not name is refused."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True, kw_only=True)
class AskBody(NullsAreDefaults, AskOptions):
    """The options of `gswgraph ask`."""

    __pydantic_config__ = Body.model_config

    question: QuestionText
    strategy: StrategyName = "auto"
    plan: PlanJson = None
    k: TopK = 5
    folder: Folder = None


@dataclass(frozen=True, kw_only=True)
class SearchBody(NullsAreDefaults, ScopeOptions):
    """What passages are searched by."""

    __pydantic_config__ = Body.model_config

    question: QuestionText
    strategy: StrategyName = "auto"
    k: TopK = 5
    folder: Folder = None


class RetrieveBody(Body):
    """A batch of queries as Search-R1 sends them, and what is searched."""

    queries: list[QuestionText] = Field(max_length=256)
    topk: TopK | None = None
    return_scores: bool = False
    unit: Literal["passages", "pairs", "both"] = "passages"
    strategy: StrategyName = "dense"


class DrawBody(Body):
    """What is drawn: an answer as `ask` returned it, or what a Cypher query that only reads returns."""

    answer: JsonObject | None = None
    query: str | None = None
    parameters: JsonObject = {}
    timeout: Seconds = None


class CypherBody(Body):
    """A query with its parameters."""

    query: str
    parameters: JsonObject = {}
    timeout: Seconds = None
    write: bool = Field(False, description="For the owner of the memory on the same machine alone.")


class AnalysisBody(Body):
    """The parameters of an analysis by their names."""

    parameters: JsonObject = {}
    timeout: Seconds = None


class TurnBody(Body):
    """A turn of a conversation, behind those of its session."""

    text: str = Field(max_length=100_000)
    speaker: str = ""
    session: str = "conversation"
    at: str | None = Field(None, description="When, as ISO writes it; else now.")


class CorrectBody(Body):
    """A correction: its action, and what that needs in the order of `gswgraph correct`."""

    action: Literal["rename", "split", "remove", "supersede", "add"]
    values: list[Annotated[str, Field(max_length=4000)]] = Field(max_length=100)
    by: str = Field("", max_length=200, description="Who corrects it.")
    folder: Folder = None


class ForgetBody(Body):
    """Which documents are forgotten: those of the sources, or all."""

    sources: list[str] = []
    everything: bool = False
    gone: bool = Field(False, description="For the owner alone: what is no longer in these folders.")
    dry_run: bool = False
    folder: Folder = None


@dataclass(frozen=True, kw_only=True)
class LoadBody(NullsAreDefaults, LoadOptions):
    """The options of `gswgraph load`."""

    __pydantic_config__ = Body.model_config

    paths: list[str]


def _form_options(**options: Any) -> LoadOptions:
    return LoadOptions(**options)


def _form_signature() -> Signature:
    types = get_type_hints(LoadOptions)
    parameters = []
    for option in fields(LoadOptions):
        parameter = Parameter(
            option.name,
            Parameter.KEYWORD_ONLY,
            default=option.default,
            annotation=Annotated[types[option.name], Form(**option.metadata)],
        )
        parameters.append(parameter)
    return Signature(parameters)


# A form has a field for each option; FastAPI reads which from the signature.
_form_options.__signature__ = _form_signature()  # type: ignore[attr-defined]


@router.post("/ask", summary="Ask a question", tags=["ask"])
async def ask(context: Context, body: AskBody) -> Response:
    """The answer, as `gswgraph ask --json` prints it.

    As events: `stage` (what is being done: `stage`, and `text` or null), `text` (a piece of the language
    model's answer as it comes), `places` (by the id of each passage, its sentences that answer), at the end
    `answer`, the whole result."""
    options = {**vars(body), "folder": context.folder(body.folder)}
    if context.app.read_only:
        options |= {"keep": False, "build_runs": False}

    def work(cancel: Cancel, send: Send) -> Any:
        answer = context.memory.ask(
            **options,
            on_text=lambda text: send("text", {"text": text}),
            on_stage=lambda stage, text: send("stage", {"stage": stage, "text": text}),
            cancel=cancel,
        )
        if context.wants_events:
            send("places", places(answer, context.memory.loaded_embedder))
        return answer.to_dict()

    return await context.respond(context.app.asks, work, "answer")


@router.post("/search", summary="Find passages", tags=["ask"])
async def search(context: Context, body: SearchBody) -> Response:
    """The passages for a question, best first; no language model is asked, and nothing is kept."""
    options = {**vars(body), "folder": context.folder(body.folder)}
    options |= {"answer": False, "llm": False, "keep": False, "build_runs": not context.app.read_only}

    def work(cancel: Cancel) -> Any:
        answer = context.memory.ask(**options, cancel=cancel)
        passages = [passage.to_dict() for passage in answer.passages]
        return {"strategy": answer.strategy, "passages": passages}

    return json_response(await context.run(context.app.asks, work))


@router.post("/retrieve", summary="Find passages for an agent, as Search-R1 asks", tags=["ask"])
async def retrieve(context: Context, body: RetrieveBody) -> Response:
    """For each query the best documents: passages, question-answer pairs, or both by their ranks, because
    scores of different kinds cannot be compared."""
    k = body.topk or _TOP_K
    searches: list[str | Strategy[Any]] = []
    if body.unit != "pairs":
        searches.append(body.strategy)
    if body.unit != "passages":
        recipe = replace(RICR.recipe, entities=0, unplanned="one", beam=k)
        searches.append(RICR.with_recipe(recipe))

    def work(cancel: Cancel) -> Any:
        found = []
        for query in body.queries:
            rankings = []
            for strategy in searches:
                answer = context.memory.ask(
                    query,
                    strategy=strategy,
                    k=k,
                    answer=False,
                    llm=False,
                    keep=False,
                    build_runs=not context.app.read_only,
                    cancel=cancel,
                )
                rankings.append(_documents(answer))
            ranking = rankings[0] if len(rankings) == 1 else reciprocal_rank_fusion(rankings)
            found.append([_row(document, body.return_scores) for document in ranking[:k]])
        return {"result": found}

    return json_response(await context.run(context.app.asks, work))


def _documents(answer: Answer) -> list[RankedPassage]:
    """Return the pairs of an answer's chains, or else its passages, with their texts, best first."""
    hops = {hop.qa.id: hop for chain in answer.chains for hop in chain.hops}
    documents = []
    for id_, hop in hops.items():
        text = f"{hop.qa.question} {', '.join(hop.qa.answers)}"
        documents.append(RankedPassage(id_, "", text, "", "", hop.score))
    if hops:
        return sorted(documents, key=attrgetter("score"), reverse=True)
    for passage in answer.passages:
        text = passage.text.removeprefix(passage.title).strip()
        documents.append(replace(passage, text=f'"{passage.title}"\n{text}'))
    return documents


def _row(document: RankedPassage, with_score: bool) -> JsonObject:
    row: JsonObject = {"id": document.id, "contents": document.text}
    return {"document": row, "score": document.score} if with_score else row


@router.get("/questions", summary="List what was asked", tags=["ask"])
async def questions(context: Context, text: str = "", skip: Skip = 0, limit: Limit = 100) -> Response:
    """The questions that were asked, the latest first, as `gswgraph history --json` prints them. text: in the
    question or its answer. limit: so many, after the first `skip`."""
    return await context.read("history", text, skip=skip, limit=limit)


@router.get("/questions/{which}", summary="Show a question that was asked", tags=["ask"])
async def question(context: Context, which: str) -> Response:
    """One question with what its answer used. which: its number in the list, 1 is the latest, or the
    beginning of its id."""
    return await context.read("question", which)


@router.post("/questions/{which}/confirm", summary="Say that an answer is right", tags=["ask"])
async def confirm(context: Context, which: str) -> Response:
    """The question as it is kept then; it may be answered again as it was. which: as above."""
    context.app.check_writable()
    return await context.read("confirm", which)


@router.post("/questions/{which}/reject", summary="Say that an answer is wrong", tags=["ask"])
async def reject(context: Context, which: str) -> Response:
    """The question as it is kept then; nothing of its answer is used again. which: as above."""
    context.app.check_writable()
    return await context.read("reject", which)


@router.post("/draw", summary="Draw an answer, or what a query returns", tags=["ask"])
async def draw(context: Context, body: DrawBody) -> Response:
    """The graph as data: `nodes`, `edges`, `passages` behind them, `columns`, `colours`. With `Accept:
    text/html` a page that needs nothing else, as `gswgraph ask --html` writes it."""
    if (body.answer is None) == (body.query is None):
        raise InputError("draw either an answer or a query", hint="Send one of `answer` and `query`")

    def work(cancel: Cancel) -> Any:
        if body.answer is not None:
            picture = context.memory.draw(rebuild(Answer, body.answer))
        else:
            seconds = context.seconds(body.timeout)
            picture = context.memory.draw(
                str(body.query), timeout=seconds, cancel=cancel, **_parameters(body.parameters)
            )
        return picture.html() if context.wants_html else picture_data(picture)

    drawn = await context.run(context.app.reads, work)
    return HTMLResponse(drawn) if context.wants_html else json_response(drawn)


@router.get("/about", summary="What this server is", tags=["read"])
async def about(context: Context) -> Response:
    """Its version, the memory and its name, the strategies by name and what each needs, the language model
    that is set, and what it takes."""
    app = context.app
    settings = context.memory.settings
    known = strategies().values()
    queues = (app.asks, app.loads, app.reads)
    return json_response(
        {
            "version": __version__,
            "memory": context.memory.url,
            "name": split_address(context.memory.url)[1],
            "read_only": app.read_only,
            "strategies": {strategy.name: strategy.help for strategy in known},
            "needs": {strategy.name: sorted(strategy.needs) for strategy in known},
            "extractors": ["auto", *EXTRACTORS],
            "embedder": settings.embedder,
            "llm": settings.llm,
            "upload_limit": app.limits.upload,
            "timeout": app.limits.seconds,
            "waiting": {queue.kind: len(queue) for queue in queues},
        }
    )


@router.get("/status", summary="What the memory holds", tags=["read"])
async def status(context: Context) -> Response:
    """As `gswgraph status --json` prints it."""
    return await context.read("status")


@router.get("/memories", summary="List memories", tags=["read"])
async def memories(context: UncheckedContext) -> Response:
    """The memories of the database, with `name` (empty for the default one) and the numbers of `documents`
    and `passages`. Every route takes the name of one: `?memory=NAME`. A load may begin a new one."""
    return await context.read("memories")


@router.get("/documents", summary="List documents", tags=["read"])
async def documents(
    context: Context,
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
    return await context.read(
        "documents",
        text,
        extractor=extractor,
        loader=loader,
        unfinished=unfinished,
        skip=skip,
        limit=limit,
        folder=context.folder(folder),
    )


@router.get("/documents/{name:path}", summary="Show a document", tags=["read"])
async def document(
    context: Context, name: str, passage: Limit | None = None, folder: str | None = None
) -> Response:
    """A document whole, with what was extracted from it, as `gswgraph show --json` prints it. name: its id,
    source or title, or the id of a passage; passage: only that, counted from 1."""
    return await context.read("show", name, passage, folder=context.folder(folder))


@router.get("/names", summary="List names", tags=["read"])
async def names(context: Context, text: str = "", skip: Skip = 0, limit: Limit = 50) -> Response:
    """Names with a text in them, those in most passages first: `id`, `name`, `passages`. limit: so many,
    after the first `skip`."""
    return await context.read("names", text, skip=skip, limit=limit)


@router.get("/names/{name:path}", summary="Follow a name", tags=["read"])
async def name(context: Context, name: str, limit: Limit = 20) -> Response:
    """A name over all documents: its roles, pairs and facts, the passages with it and the names beside it."""
    return await context.read("name", name, limit=limit)


@router.get("/analyses", summary="List analyses", tags=["read"])
async def analyses() -> Response:
    """The analyses that `/api/analyses/NAME` runs, as `gswgraph cypher --list --json` prints them."""
    return json_response(list(all_analyses().values()))


@router.post("/analyses/{name}", summary="Run an analysis", tags=["read"])
async def analysis(context: Context, name: str, body: AnalysisBody) -> Response:
    """Its rows as a table: `columns`, `rows`."""
    return await _query(context, context.memory.explore, name, body)


@router.post("/cypher", summary="Run a Cypher query", tags=["read"])
async def cypher(context: Context, body: CypherBody) -> Response:
    """Its rows as a table: `columns`, `rows`. A query that would do more than read the memory is refused."""
    if body.write:
        context.app.check_writable()
        _check_owner(context, "writes by Cypher", "gswgraph cypher --write, on its machine")
    run = partial(context.memory.cypher, write=body.write)
    return await _query(context, run, body.query, body)


@uploads.post("/load", summary="Load documents", tags=["change"], form_limits={"max_files": MAX_FILES})
async def load(
    context: UncheckedContext,
    files: Annotated[list[UploadFile], File(description="Files of any format that `gswgraph load` reads.")],
    options: Annotated[LoadOptions, Depends(_form_options)],
    standard_input: Annotated[bool, Form(description="The one file is named by what it says.")] = False,
) -> Response:
    """The report, as `gswgraph load --json` prints it. The source of a file is `upload:` and its name, so
    one of the same name takes the place of the one before. What the report says is loaded is on disk.

    As events: `progress` (`documents`, `passages`, `total`, `stage` and so on), at the end `report`.
    """
    named: dict[str, BinaryIO] = {}
    for file in files:
        name = file.filename or ""
        stream = file.file
        if is_address(name):
            _check_owner(context, "loads pages by their addresses", "Send the file by another name")
            stream = Page(stream.read(), file.headers)
        else:
            name = upload_name(name)
        if name in named:
            raise InputError("two files have one name", where=name, hint="Name each, with its folder")
        named[name] = stream
    if not standard_input:
        return await _load(context, [], options, uploads=named)
    if len(named) != 1:
        raise InputError("standard input is one file")
    return await _load(context, ["-"], options, stdin=next(iter(named.values())))


@router.post("/turns", summary="Add a turn of a conversation", tags=["change"])
async def turns(context: UncheckedContext, body: TurnBody) -> Response:
    """The id of its passage, as `gswgraph add --json` prints it; the next question finds it."""
    context.app.check_writable()
    passage = await context.run(context.app.loads, lambda _: context.memory.add(**body.model_dump()))
    return json_response({"passage": passage})


@router.get("/corrections", summary="List corrections", tags=["read"])
async def corrections(context: Context) -> Response:
    """What was corrected by hand, in the order in which it was."""
    return await context.read("corrections")


@router.post("/corrections", summary="Correct a name, a fact or a passage", tags=["change"])
async def correct(context: Context, body: CorrectBody) -> Response:
    """The correction, as `gswgraph correct --json` prints it; later loads keep it."""
    folder = context.folder(body.folder)
    return await context.change("correct", body.action, *body.values, by=body.by, folder=folder)


@router.post("/corrections/{which}/undo", summary="Take a correction back", tags=["change"])
async def undo_correction(context: Context, which: str) -> Response:
    """The correction that is gone. which: its id."""
    return await context.change("undo_correction", which)


@router.post("/load/paths", summary="Load files of the server's machine", tags=["change"])
async def load_paths(context: UncheckedContext, body: LoadBody) -> Response:
    """For the owner of the memory on the same machine: files, folders and globs there, each an absolute
    path."""
    _check_owner(context, "loads files of this machine", "Send the files: POST /api/load")
    if any(map(is_address, body.paths)):
        raise InputError("a server fetches no addresses", hint="gswgraph load ADDRESS fetches and sends it")
    options = dict(vars(body))
    return await _load(context, options.pop("paths"), LoadOptions(**options))


@router.post("/forget", summary="Forget documents", tags=["change"])
async def forget(context: Context, body: ForgetBody) -> Response:
    """What was forgotten and what is unknown, as `gswgraph forget --json` prints it."""
    context.app.check_writable()
    if body.everything == bool(body.sources):
        raise InputError("give either sources or everything")
    if body.gone:
        _check_owner(context, "looks into folders of this machine", "Send the sources")
    how = body.model_dump(exclude={"sources"})
    how["folder"] = context.folder(body.folder)
    return await context.change("forget", *body.sources, **how)


async def _load(context: RequestContext, paths: list[str], options: LoadOptions, **files: Any) -> Response:
    context.app.check_writable()

    def work(cancel: Cancel, send: Send) -> Any:
        def progress(now: Progress) -> None:
            send("progress", asdict(now))

        how = {**files, **vars(options)}
        return context.memory.load(*paths, progress=progress, cancel=cancel, **how).to_dict()

    return await context.respond(context.app.loads, work, "report")


async def _query(
    context: RequestContext, run: Callable[..., Table], query: str, body: AnalysisBody | CypherBody
) -> Response:
    """Run a query or an analysis, by its text or name, with the parameters and the timeout of a body."""
    seconds = context.seconds(body.timeout)
    parameters = _parameters(body.parameters)
    table = await context.run(
        context.app.reads, lambda cancel: run(query, timeout=seconds, cancel=cancel, **parameters)
    )
    return json_response(table)


def _parameters(parameters: JsonObject) -> JsonObject:
    """Check the parameters of a query. Raises InputError where `Memory` has such an argument itself."""
    if reserved := sorted({"write", "timeout", "cancel"} & parameters.keys()):
        raise InputError(f"a parameter cannot be called {reserved[0]!r}", hint="Choose another name")
    return parameters


def _check_owner(context: RequestContext, action: str, hint: str) -> None:
    if not context.owner:
        raise RefusedError(f"only the owner of the memory {action}", hint=hint)
