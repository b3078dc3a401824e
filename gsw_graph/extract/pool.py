"""Extract documents by a language model, many passages at once: define the requests, run the calls, and
estimate their costs.

The profile `llm` asks for a whole workspace. `propositions` asks for names and sentences alone, several
passages a call, as GRASP does; `two-step` for the names first and then for sentences over just these names,
as PropRAG does (appendix A); `triples` for subject, relation and object, as the language-model front end of
AutoPrunedRetriever does. The prompts are ours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gsw_graph.concurrency import grouped, map_unordered
from gsw_graph.errors import InvalidReplyError, ModelUnavailableError
from gsw_graph.extract import ExtractionJob, with_names
from gsw_graph.extract.llm import (
    Extraction,
    Listed,
    Schema,
    assemble,
    check,
    check_extraction,
    checked,
    extract_passage,
    list_of,
    messages,
    node_of,
    object_of,
    repair_request,
    reply_limit,
    request,
    shown,
    text_of,
)
from gsw_graph.model.assemble import Node
from gsw_graph.model.documents import Document, Failure
from gsw_graph.model.results import Estimate
from gsw_graph.models.chat.limits import BATCH_SHARE
from gsw_graph.models.chat.limits import dollars as price_of_tokens
from gsw_graph.models.chat.request import Request
from gsw_graph.models.chat.request import estimate as count_tokens
from gsw_graph.models.prompts import fence

if TYPE_CHECKING:
    from gsw_graph.models.chat.cache import Cache, CachedReply
    from gsw_graph.models.chat.chat import Chat

_AHEAD = 2  # passages that wait for each that is asked about
_AGAIN = "load with --replace --second-pass to try again"
_STAYS = "so its older result stays (load with --replace to take what was read)"
TOGETHER = 1500  # tokens of the passages of one document that are read in one call
_NUMBER = re.compile(r"[0-9]{1,4}")
_NAME, _SENTENCE = text_of(200), text_of(400)
_NAMES = list_of(_NAME, 100)
_TRIPLE = object_of(subject=_NAME, relation=_NAME, object=_NAME)
_FACT = object_of(text=_SENTENCE, entities=_NAMES)
_LISTS = {
    "propositions": {"propositions": list_of(_SENTENCE, 100), "entities": list_of(text_of(300), 100)},
    "triples": {"triples": list_of(_TRIPLE, 100)},
}

Positions = tuple[int, ...]
Found = dict[int, Extraction]  # by position of a passage


class Profile:
    """Ask for a whole workspace of each passage. calls: Number of calls for a group of passages, without a
    `second_pass`, which repairs the first result. stages: Stages of the calls, see `Request`."""

    calls = 1
    second_pass = False
    stages: tuple[str, ...] = ("extract", "repair")

    def groups(self, document: Document) -> Iterator[Positions]:
        """Yield the positions of passages that are read in one call."""
        for passage in document.passages:
            yield (passage.position,)

    def request(self, document: Document, positions: Positions) -> Request:
        """Return the first request about a group of passages."""
        return request(document, positions[0])

    def check(self, document: Document, positions: Positions) -> Callable[[object], Any]:
        """Return the check of the reply to the first request."""
        return check(document, positions[0])

    def extract(self, document: Document, positions: Positions, chat: Chat) -> Found:
        """Return what a model finds in a group of passages, by position. Raises what `Chat.ask` raises."""
        return {positions[0]: extract_passage(document, positions[0], chat, second_pass=self.second_pass)}


class Together(Profile):
    """Ask for the lists of one kind, `propositions` or `triples`, of several passages of a document."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.stages = (f"extract_{kind}",)

    def groups(self, document: Document) -> Iterator[Positions]:
        for group in grouped(document.passages, lambda passage: count_tokens(passage.text), TOGETHER):
            yield tuple(passage.position for passage in group)

    def request(self, document: Document, positions: Positions) -> Request:
        texts = []
        limit = 0
        for number, position in enumerate(positions, 1):
            texts.append(f"Passage {number}\n{shown(document, position, context=number == 1)}")
            limit += reply_limit(document, position)
        passage = object_of(number={"type": "integer"}, **_LISTS[self.kind])
        schema = object_of(passages=list_of(passage, len(positions)))
        (name,) = self.stages
        return Request(name, messages(name, "\n\n".join(texts)), schema, document.source, limit)

    def check(self, document: Document, positions: Positions) -> Callable[[object], Found]:
        def check_parts(value: object) -> Found:
            reply = node_of(value)
            parts = dict(checked(reply, [*reply.objects("passages", name=("number",))]))
            found = {}
            for number, position in enumerate(positions, 1):
                if str(number) not in parts:
                    raise ValueError(f"passage {number} is missing in `passages`")
                found[position] = check_extraction(self._read(parts[str(number)]), document, position)
            return found

        return check_parts

    def extract(self, document: Document, positions: Positions, chat: Chat) -> Found:
        return chat.ask(self.request(document, positions), self.check(document, positions)).value

    def _read(self, part: Node) -> Extraction:
        if self.kind == "propositions":
            facts = tuple(part.texts("propositions"))
            entities, mentions = _numbered(part.texts("entities"), facts)
            return checked(part, Extraction(entities, facts=facts, mentions=mentions))
        names: dict[str, None] = {}
        triples = []
        for subject, triple in part.objects("triples", name=("subject",)):
            object_ = triple.text("object") or ""
            triples.append((subject, triple.text("relation") or "", object_))
            names |= {subject: None, object_: None}
        entities = tuple((name, ()) for name in names)
        return checked(part, Extraction(entities, triples=tuple(triples)))


class TwoStep(Profile):
    """Ask for the names of a passage, then for its propositions over these names."""

    calls = 2
    stages = ("extract_entities", "extract_listed")

    def request(self, document: Document, positions: Positions) -> Request:
        text, schema = shown(document, positions[0]), object_of(entities=_NAMES)
        return self._request("extract_entities", document, positions[0], text, schema)

    def check(self, document: Document, positions: Positions) -> Callable[[object], Extraction]:
        def check_names(value: object) -> Extraction:
            reply = node_of(value)
            entities = checked(reply, _entities(reply.texts("entities")))
            return check_extraction(Extraction(entities), document, positions[0])

        return check_names

    def extract(self, document: Document, positions: Positions, chat: Chat) -> Found:
        (position,) = positions
        first = chat.ask(self.request(document, positions), self.check(document, positions)).value
        names = [name for name, _ in first.entities]
        listed = fence("entities", "\n".join(names))
        text = f"{shown(document, position)}\n\nThe entities of the passage:\n{listed}"

        def read_facts(value: object) -> Extraction:
            reply = node_of(value)
            facts = {}
            for fact, mentioned in reply.propositions():
                facts[fact] = [name for name in mentioned if name in names]
            whole = checked(reply, Extraction(first.entities, facts=tuple(facts), mentions=facts))
            return check_extraction(whole, document, position)

        schema = object_of(propositions=list_of(_FACT, 100))
        second = self._request("extract_listed", document, position, text, schema)
        return {position: chat.ask(second, read_facts).value}

    def _request(self, name: str, document: Document, position: int, text: str, schema: Schema) -> Request:
        limit = reply_limit(document, position)
        return Request(name, messages(name, text), schema, document.source, limit)


PROFILES: dict[str, Callable[[], Profile]] = {
    "llm": Profile,
    "propositions": lambda: Together("propositions"),
    "triples": lambda: Together("triples"),
    "two-step": TwoStep,
}


def _numbered(texts: Iterable[str], facts: Sequence[str]) -> tuple[tuple[Listed, ...], dict[str, list[str]]]:
    """Read "name|type|numbers" of facts, from 0 (GRASP, appendix), or "name: type" of an older reply.

    Returns:
        The entities, and the names in each fact; of older replies none, so that the words of a fact say it.
    """
    plain = []
    mentions: dict[str, list[str]] = {fact: [] for fact in facts}
    for text in texts:
        name, _, rest = text.partition("|")
        kind, _, numbers = rest.partition("|")
        plain.append(f"{name}: {kind}" if kind else name)
        for number in map(int, _NUMBER.findall(numbers)):
            if number < len(facts):
                mentions[facts[number]].append(name.strip())
    return _entities(plain), mentions if any(mentions.values()) else {}


def _entities(texts: Iterable[str]) -> tuple[Listed, ...]:
    """Read "name: type"."""
    entities: list[Listed] = []
    for text in texts:
        name, _, kind = text.rpartition(": ")
        entities.append((name.strip(), ((kind, ()),)) if name else (kind, ()))
    return tuple(entities)


# --- many at once ---


@dataclass(slots=True)
class _Open:
    """A document whose passages are asked about."""

    work: ExtractionJob
    left: int
    extractions: dict[int, Extraction] = field(default_factory=dict)
    errors: dict[int, InvalidReplyError] = field(default_factory=dict)


_Result = tuple[_Open, Positions, Found | InvalidReplyError | ModelUnavailableError]


class ByModel:
    """Ask a language model about `concurrency` groups of passages at once; a document is done with its last.

    A passage without a usable reply is listed. Its document is kept if another passage has a reply, unless
    the memory has a complete result of the same text. If the model stops answering, complete documents are
    kept and all others are listed.

    Args:
        chat: The model.
        concurrency: Calls at once.
        profile: The kind of requests: a name of `PROFILES`.
        second_pass: Whether the model repairs its first result.
        on_passage: Called in other threads for each finished passage, with None or the reason of a failure.
    """

    window = 256  # passages embedded together: of more texts more have the same length

    def __init__(
        self,
        chat: Chat,
        concurrency: int,
        profile: str = "llm",
        *,
        second_pass: bool = False,
        on_passage: Callable[[str | None], None] = lambda _: None,
    ) -> None:
        self.model: str | None = chat.model
        self.name = profile
        self.profile = PROFILES[profile]()
        self.profile.second_pass = second_pass
        self._chat = chat
        self._concurrency = concurrency
        self._on_passage = on_passage
        self._stopped: ModelUnavailableError | None = None

    def run(self, work: Iterable[ExtractionJob]) -> Iterator[ExtractionJob]:
        """Yield the documents as they are done."""
        for result in map_unordered(self._ask, self._groups(work), self._concurrency, _AHEAD):
            yield from self._add(*result)

    def _groups(self, work: Iterable[ExtractionJob]) -> Iterator[tuple[_Open, Positions]]:
        """Yield each group of passages to ask about; a document without any with an empty one."""
        for task in work:
            groups = list(self.profile.groups(task.document)) if task.workspace is None else []
            document = _Open(task, max(len(groups), 1))
            for positions in groups or [()]:
                yield document, positions

    def _ask(self, task: tuple[_Open, Positions]) -> _Result:
        document, positions = task
        result: Found | InvalidReplyError | ModelUnavailableError = {}
        try:
            if positions:
                result = self._stopped or self.profile.extract(document.work.document, positions, self._chat)
        except (InvalidReplyError, ModelUnavailableError) as error:
            result = error
        for _ in positions:
            self._on_passage(None if isinstance(result, dict) else str(result))
        return document, positions, result

    def _add(
        self, document: _Open, positions: Positions, result: Found | InvalidReplyError | ModelUnavailableError
    ) -> Iterator[ExtractionJob]:
        work = document.work
        document.left -= 1
        if isinstance(result, ModelUnavailableError):
            self._stopped = self._stopped or result
            work.failures = [Failure(work.document.source, str(self._stopped))]
        elif isinstance(result, InvalidReplyError):
            document.errors |= dict.fromkeys(positions, result)
        else:
            document.extractions |= result
        if document.left <= 0:
            if work.workspace is None and not work.failures:
                self._assemble(document)
            yield work

    def _assemble(self, document: _Open) -> None:
        work, source = document.work, document.work.document.source
        if document.errors and (reason := _why_not_kept(document)):
            work.failures = [Failure(source, reason)]
            return
        workspace, left_out = assemble(work.document, document.extractions, self.model, self.name)
        work.workspace = replace(with_names(workspace), unread=tuple(sorted(document.errors)))
        problems = {position: str(error) for position, error in document.errors.items()}
        for position, extraction in document.extractions.items():
            if extraction.repair_error:
                problems[position] = f"the second pass failed: {extraction.repair_error} ({_AGAIN})"
        for position, problem in sorted(problems.items()):
            work.failures.append(Failure(f"{source}, passage {position + 1}", problem, part=True))
        work.faults = [Failure(source, reason, part=True) for reason in left_out]


def _why_not_kept(document: _Open) -> str | None:
    """Return why a document with errors is not written; None if it is, with gaps."""
    work, errors = document.work, document.errors
    passages, first = len(work.document.passages), errors[min(errors)]
    if not document.extractions:
        return str(first) if passages == 1 else f"none of its {passages} passages: {first}"
    state = work.state
    if work.mode == "renew" and state is not None and state.status == "ready" and not state.unread:
        return f"{len(errors)} of its {passages} passages could not be read, {_STAYS}: {first}"
    return None


def estimate(
    work: Iterable[ExtractionJob], chat: Chat, cache: Cache, profile: Profile, *, batch: bool
) -> Estimate:
    """Estimate calls and tokens of a load, each request as it would be sent; cached replies cost nothing.

    If a second request depends on a first reply that is not cached, a reply of the usual length is counted.

    Args:
        work: Documents.
        chat: The model.
        cache: The cache, read directly, as the chat would count each look in its ledger.
        profile: The kind of requests.
        batch: Whether the first requests go through the Batch API.
    """
    calls = cached = 0
    first, second = Counter[str](), Counter[str]()  # tokens of first and second requests
    for task in work:
        if task.workspace is not None:
            continue
        for positions in profile.groups(task.document):
            request = chat.chosen(profile.request(task.document, positions))
            reply = cache.get(chat.key(request))
            usual = request.usual_reply
            if reply is not None:
                cached += 1
            else:
                calls += profile.calls
                first.update(prompt=request.prompt_tokens, completion=usual)
                if profile.calls > 1:
                    second.update(prompt=request.prompt_tokens + usual, completion=usual)
            if not profile.second_pass:
                continue
            extraction = _cached(task.document, positions[0], reply)
            repair = repair_request(task.document, positions[0], extraction or Extraction())
            if extraction and chat.known(repair):
                cached += 1
                continue
            calls += 1
            unseen = 0 if extraction else usual
            second.update(prompt=repair.prompt_tokens + unseen, completion=repair.usual_reply)
    both = first + second
    dollars = None
    if chat.price is not None:
        share = BATCH_SHARE if batch else 1
        dollars = share * price_of_tokens(chat.price, first["prompt"], first["completion"])
        dollars += price_of_tokens(chat.price, second["prompt"], second["completion"])
    return Estimate(chat.model, calls, cached, both["prompt"], both["completion"], dollars)


def _cached(document: Document, position: int, reply: CachedReply | None) -> Extraction | None:
    """Return what a cached reply about a passage found; None if it cannot be used."""
    try:
        return check(document, position)(reply.content) if reply else None
    except ValueError:
        return None
