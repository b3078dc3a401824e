"""Documents through a language model, many passages at once: what it is asked for, in which calls, and what
that will take.

The profile `llm` asks for a whole workspace. `propositions` asks for names and sentences alone, several
passages a call, as GRASP does; `two-step` for the names first and then for sentences over just these names,
as PropRAG does (appendix A); `triples` for subject, relation and object, as the language-model front end of
AutoPrunedRetriever does. The prompts are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gsw_graph.concurrency import grouped, map_unordered
from gsw_graph.errors import ReplyError, StoppedError
from gsw_graph.extract import Work, with_names
from gsw_graph.extract.llm import (
    Extraction,
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
from gsw_graph.models.chat.request import Request
from gsw_graph.models.chat.request import estimate as count_tokens
from gsw_graph.models.prompts import fence

if TYPE_CHECKING:
    from gsw_graph.models.chat.cache import Cache, CachedReply
    from gsw_graph.models.chat.chat import Chat

_AHEAD = 2  # passages that wait for each that is asked about
TOGETHER = 1500  # tokens of the passages of one document that are read in one call
_NAMES = list_of(text_of(200), 100)
_LISTS = {
    "propositions": {"entities": _NAMES, "propositions": list_of(text_of(400), 100)},
    "triples": {
        "triples": list_of(object_of(**dict.fromkeys(("subject", "relation", "object"), text_of(200))), 100)
    },
}
_STEPS = (
    object_of(entities=_NAMES),
    object_of(propositions=list_of(object_of(text=text_of(400), entities=_NAMES), 100)),
)

Positions = tuple[int, ...]


class Profile:
    """Ask for a whole workspace of each passage. calls: for each group of passages, but for a `second_pass`,
    which repairs the first result."""

    calls = 1
    second_pass = False

    def groups(self, document: Document) -> Iterator[Positions]:
        """Yield the positions of passages that are read in one call."""
        yield from ((passage.position,) for passage in document.passages)

    def request(self, document: Document, positions: Positions) -> Request:
        """Return the first request about a group of passages."""
        return request(document, positions[0])

    def check(self, document: Document, positions: Positions) -> Callable[[object], Any]:
        """Return the check of the reply to the first request."""
        return check(document, positions[0])

    def extract(self, document: Document, positions: Positions, chat: Chat) -> dict[int, Extraction]:
        """Return what a model finds in a group of passages, by position. Raises as `Chat.ask`."""
        return {positions[0]: extract_passage(document, positions[0], chat, second_pass=self.second_pass)}


class Together(Profile):
    """Ask for the lists of one kind, `propositions` or `triples`, of several passages of a document."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def groups(self, document: Document) -> Iterator[Positions]:
        for group in grouped(document.passages, lambda passage: count_tokens(passage.text), TOGETHER):
            yield tuple(passage.position for passage in group)

    def request(self, document: Document, positions: Positions) -> Request:
        texts = (
            f"Passage {number}\n{shown(document, position, context=number == 1)}"
            for number, position in enumerate(positions, 1)
        )
        passage = object_of(number={"type": "integer"}, **_LISTS[self.kind])
        schema = object_of(passages=list_of(passage, len(positions)))
        limit = sum(reply_limit(document, position) for position in positions)
        name = f"extract_{self.kind}"
        return Request(name, messages(name, "\n\n".join(texts)), schema, document.source, limit)

    def check(self, document: Document, positions: Positions) -> Callable[[object], dict[int, Extraction]]:
        def check_parts(value: object) -> dict[int, Extraction]:
            reply = node_of(value)
            parts = dict(checked(reply, [*reply.objects("passages", name=("number",))]))
            if missing := [n for n in range(1, len(positions) + 1) if str(n) not in parts]:
                raise ValueError(f"passage {missing[0]} is missing in `passages`")
            return {
                position: check_extraction(self._read(parts[str(number)]), document, position)
                for number, position in enumerate(positions, 1)
            }

        return check_parts

    def extract(self, document: Document, positions: Positions, chat: Chat) -> dict[int, Extraction]:
        return chat.ask(self.request(document, positions), self.check(document, positions)).value

    def _read(self, part: Node) -> Extraction:
        if self.kind == "propositions":
            names, facts = part.texts("entities"), part.texts("propositions")
            return checked(part, Extraction(_entities(names), facts=tuple(facts)))
        triples = [
            (subject, triple.text("relation") or "", triple.text("object") or "")
            for subject, triple in part.objects("triples", name=("subject",))
        ]
        names = [*dict.fromkeys(name for subject, _, object_ in triples for name in (subject, object_))]
        return checked(part, Extraction(tuple((name, ()) for name in names), triples=tuple(triples)))


class TwoStep(Profile):
    """Ask for the names of a passage, then for its propositions over these names."""

    calls = 2

    def request(self, document: Document, positions: Positions) -> Request:
        return self._request("extract_entities", document, positions[0], shown(document, positions[0]), 0)

    def check(self, document: Document, positions: Positions) -> Callable[[object], Extraction]:
        def check_names(value: object) -> Extraction:
            reply = node_of(value)
            entities = checked(reply, _entities(reply.texts("entities")))
            return check_extraction(Extraction(entities), document, positions[0])

        return check_names

    def extract(self, document: Document, positions: Positions, chat: Chat) -> dict[int, Extraction]:
        (position,) = positions
        first = chat.ask(self.request(document, positions), self.check(document, positions)).value
        names = [name for name, _ in first.entities]
        listed = fence("entities", "\n".join(names))
        text = f"{shown(document, position)}\n\nThe entities of the passage:\n{listed}"

        def read_facts(value: object) -> Extraction:
            reply = node_of(value)
            facts = {
                fact: [name for name in some if name in names] for fact, some in reply.facts("propositions")
            }
            whole = checked(reply, Extraction(first.entities, facts=tuple(facts), mentions=facts))
            return check_extraction(whole, document, position)

        second = self._request("extract_listed", document, position, text, 1)
        return {position: chat.ask(second, read_facts).value}

    def _request(self, name: str, document: Document, position: int, text: str, step: int) -> Request:
        limit = reply_limit(document, position)
        return Request(name, messages(name, text), _STEPS[step], document.source, limit)


PROFILES: dict[str, Callable[[], Profile]] = {
    "llm": Profile,
    "propositions": lambda: Together("propositions"),
    "triples": lambda: Together("triples"),
    "two-step": TwoStep,
}


def _entities(texts: Sequence[str]) -> tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]:
    """Read "name: type"."""
    parts = (text.rpartition(": ") for text in texts)
    return tuple((name.strip(), ((kind, ()),)) if name else (kind, ()) for name, _, kind in parts)


# --- many at once ---


@dataclass(slots=True)
class _Open:
    """A document whose passages are asked about."""

    work: Work
    left: int
    extractions: dict[int, Extraction] = field(default_factory=dict)
    errors: dict[int, ReplyError] = field(default_factory=dict)


_Result = tuple[_Open, Positions, "dict[int, Extraction] | ReplyError | StoppedError"]


class ByModel:
    """Ask a language model about `concurrency` groups of passages at once; a document is done with its last.

    A passage without a usable reply is listed. Its document is kept where another passage got one, unless the
    memory has a complete result of the same text. When the model will not answer any more, what is complete
    is kept and every other document is listed.

    Args:
        chat: The model.
        concurrency: Calls at once.
        profile: What it is asked for: a name of `PROFILES`.
        second_pass: Have it repair its first result.
        on_passage: Gets, from other threads, None for each passage that is done, or why there was no reply.
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
        self.name, self.profile = profile, PROFILES[profile]()
        self._chat, self._concurrency = chat, concurrency
        self.profile.second_pass, self._on_passage = second_pass, on_passage
        self._stopped: StoppedError | None = None

    def run(self, work: Iterable[Work]) -> Iterator[Work]:
        """Yield the documents as they are done."""
        for result in map_unordered(self._ask, self._groups(work), self._concurrency, _AHEAD):
            yield from self._add(*result)

    def _groups(self, work: Iterable[Work]) -> Iterator[tuple[_Open, Positions]]:
        """Yield each group of passages to ask about; a document without any with an empty one."""
        for task in work:
            groups = list(self.profile.groups(task.document)) if task.workspace is None else []
            document = _Open(task, max(len(groups), 1))
            yield from ((document, positions) for positions in groups or [()])

    def _ask(self, task: tuple[_Open, Positions]) -> _Result:
        document, positions = task
        result: dict[int, Extraction] | ReplyError | StoppedError = {}
        try:
            if positions:
                result = self._stopped or self.profile.extract(document.work.document, positions, self._chat)
        except (ReplyError, StoppedError) as error:
            result = error
        for _ in positions:
            self._on_passage(None if isinstance(result, dict) else str(result))
        return document, positions, result

    def _add(
        self, document: _Open, positions: Positions, result: dict[int, Extraction] | Exception
    ) -> Iterator[Work]:
        document.left -= 1
        if isinstance(result, StoppedError):
            self._stopped = self._stopped or result
            document.work.failures = [Failure(document.work.document.source, str(self._stopped))]
        elif isinstance(result, ReplyError):
            document.errors |= dict.fromkeys(positions, result)
        elif isinstance(result, dict):
            document.extractions |= result
        if document.left <= 0:
            if document.work.workspace is None and not document.work.failures:
                self._assemble(document)
            yield document.work

    def _assemble(self, document: _Open) -> None:
        work, source = document.work, document.work.document.source
        if document.errors and (reason := _why_not_kept(document)):
            work.failures = [Failure(source, reason)]
            return
        workspace, left_out = assemble(work.document, document.extractions, self.model, self.name)
        work.workspace = replace(with_names(workspace), unread=tuple(sorted(document.errors)))
        problems = {position: str(error) for position, error in document.errors.items()}
        again = "load with --replace --second-pass to try again"
        for position, extraction in document.extractions.items():
            if error := extraction.repair_error:
                problems[position] = f"the second pass failed: {error} ({again})"
        for position, problem in sorted(problems.items()):
            work.failures.append(Failure(f"{source}, passage {position + 1}", problem, part=True))
        work.faults = [Failure(source, reason, part=True) for reason in left_out]


def _why_not_kept(document: _Open) -> str | None:
    """Return why a document with errors is not written; None where it is, with gaps."""
    passages, first = len(document.work.document.passages), document.errors[min(document.errors)]
    if not document.extractions:
        return str(first) if passages == 1 else f"none of its {passages} passages: {first}"
    state = document.work.state
    if document.work.mode == "renew" and state is not None and state.status == "ready" and not state.unread:
        stays = "so its older result stays (load with --replace to take what was read)"
        return f"{len(document.errors)} of its {passages} passages could not be read, {stays}: {first}"
    return None


def estimate(work: Iterable[Work], chat: Chat, cache: Cache, profile: Profile, *, batch: bool) -> Estimate:
    """Estimate calls and tokens of a load, each request as it would be sent; cached replies cost nothing.

    Where a second request depends on the first reply, which is not cached, a reply of the usual length is
    counted.

    Args:
        work: Documents.
        chat: The model.
        cache: Read beside the chat, whose ledger would note each look.
        profile: What the model is asked for.
        batch: Whether the first requests go through the Batch API.
    """
    calls = cached = 0
    first, second = [0, 0], [0, 0]  # prompt and completion tokens of first and second requests
    documents = (task.document for task in work if task.workspace is None)
    for document, positions in ((each, group) for each in documents for group in profile.groups(each)):
        task = chat.chosen(profile.request(document, positions))
        tokens, usual, reply = chat.estimate(task), chat.expect(task.stage), cache.get(chat.key(task))
        cached += reply is not None
        if reply is None:
            calls, first = calls + profile.calls, [first[0] + tokens, first[1] + usual]
            if profile.calls > 1:
                second = [second[0] + tokens + usual, second[1] + usual]
        if profile.second_pass:
            extraction = _cached(document, positions[0], reply)
            repair = repair_request(document, positions[0], extraction or Extraction())
            if extraction and chat.known(repair):
                cached += 1
            else:
                calls, unseen = calls + 1, 0 if extraction else usual
                second = [second[0] + chat.estimate(repair) + unseen, second[1] + chat.expect("repair")]
    prices = chat.dollars(*first), chat.dollars(*second)
    share = BATCH_SHARE if batch else 1
    dollars = None if None in prices else (prices[0] or 0.0) * share + (prices[1] or 0.0)
    return Estimate(chat.model, calls, cached, first[0] + second[0], first[1] + second[1], dollars)


def _cached(document: Document, position: int, reply: CachedReply | None) -> Extraction | None:
    """Return what a cached reply about a passage found; None where it cannot be used."""
    try:
        return check(document, position)(reply.content) if reply else None
    except ValueError:
        return None
