"""Declare the options of a question once, for `Memory.ask`, `gswgraph ask` and the server; apply scopes."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

from gsw_graph.config import option
from gsw_graph.errors import InputError
from gsw_graph.values import Fields, unique

if TYPE_CHECKING:
    from gsw_graph.ask.strategy import Strategy
    from gsw_graph.store.reader import Reader

EVIDENCE = ("lines", "chains", "compact", "passages")
MAX_PASSAGES = 10_000  # of an answer
_CONDITION = re.compile(
    r"\s*(not\s+)?(\w[\w .-]*?)\s*(!=|<=|>=|=(?!=)|<|>|(?<=\s)contains\b)\s*(\S.*?)\s*", re.DOTALL
)
_OWN = ("title", "source", "loader", "extractor", "about", "file")  # properties that are no metadata
# How files write truth values; YAML reads all of these so.
_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_NEAR, _FEW = 5, 5  # names like a wrong one that an error lists; names that it lists whatever they are like
_DAY = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")
TURNS = 4  # of a conversation, the last ones, that a question may depend on


@dataclass(frozen=True, kw_only=True)
class ScopeOptions:
    """The scope of a question: the documents that are searched. It limits the graph, not the list of results:
    documents outside of it do not affect walks, chains or the frequency of names."""

    inside: tuple[str, ...] = option((), "Sources, files or folders that alone are searched.")
    outside: tuple[str, ...] = option((), "Sources, files or folders that are not searched.")
    since: str | None = option(None, "What is of this day or a later one: 2024, 2024-03 or 2024-03-09.")
    until: str | None = option(None, "What is of this day or an earlier one.")
    where: tuple[str, ...] = option((), 'Conditions on metadata: author = "Grau", year >= 1901.')
    folder: str | None = option("", "The folder where relative paths begin; None: no name is a path.")

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.type == "tuple[str, ...]":
                object.__setattr__(self, field.name, _texts(field.name, getattr(self, field.name)))

    @property
    def has_scope(self) -> bool:
        """Tell whether only some documents are searched."""
        return bool(self.inside or self.outside or self.since or self.until or self.where)


@dataclass(frozen=True, kw_only=True)
class AskOptions(ScopeOptions):
    """The options of a question.

    A new option is a field here, read as `context.options` where it matters, and a line in `cli/ask.py`.
    Each field has its description, which help and OpenAPI show.
    """

    strategy: str | Strategy[Any] = option(
        "auto", "How passages are found, with settings in brackets: ricr[recipe=paper]."
    )
    plan: Any = option(None, "Sub-questions to follow; False: none, and none is made.")
    k: int = option(5, "How many passages.", ge=1)
    answer: bool = option(True, "false: chains and passages only.")
    trace: bool = option(False, "Return how the passages were found; a picture of the answer shows it.")
    llm: bool = option(True, "false: no language model is asked, though one is set.")
    keep: bool = option(True, "false: the question is not stored in the memory.")
    budget: str | None = option(
        None,
        "What the model may take for a question: 2000tok, or 0.05 (dollars); then the answer comes from "
        "what there is.",
    )
    question_cache: bool = option(True, "Use answers and citations of earlier questions.")
    evidence: str | None = option(
        None,
        "What the model is shown: lines of pairs and passages, the pairs of chains alone, the facts of the "
        "graph in half the tokens, or passages alone; else what the strategy shows. The findings of "
        "`pathwise` and the runs of `pruned` are shown in any case.",
        pattern="|".join(EVIDENCE),
    )
    reader: str | None = option(
        None, "paper: the model reasons step by step before it answers, as in the papers.", pattern="paper"
    )
    short: bool = option(False, "The answer is a name, a number or a few words, as benchmarks want it.")
    must_answer: bool = option(False, "The model may not say that the evidence does not hold the answer.")
    strict: bool = option(
        False, "Where the search doubts that the memory holds the answer, say so and ask no model."
    )
    excluded: tuple[str, ...] = option((), "Ids of passages that nothing may come from.")
    shown: tuple[str, ...] = option(
        (), "Ids of passages that were returned before in this conversation, and are not returned again."
    )
    turns: tuple[dict[str, str | None], ...] = option(
        (),
        "The last questions of this conversation, oldest first, each with its `question` and `answer`, null "
        "if there was none: what `she` or `there` in the question means. The last four count.",
        max_length=100,
    )
    build_runs: bool = option(
        True, "false: nothing is built for a question; `pruned` fails where runs are missing."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.evidence not in (None, *EVIDENCE):
            hint = f"Use {' or '.join(EVIDENCE)}"
            raise InputError(f"there is no form of evidence {self.evidence!r}", hint=hint)
        for turn in self.turns:
            if not _is_turn(turn):
                hint = "Give both, as texts; the answer may be None"
                raise InputError("a turn has a `question` and an `answer`", hint=hint)
        if self.reader not in (None, "paper"):
            raise InputError(f"there is no reader {self.reader!r}", hint="Use paper, or leave it out")
        if not 1 <= self.k <= MAX_PASSAGES:
            hint = f"Ask for at least one passage, and at most {MAX_PASSAGES:,}"
            raise InputError(f"k is {self.k}", hint=hint)

    @property
    def has_plan(self) -> bool:
        """Tell whether the user gave a plan."""
        return self.plan is not None and self.plan is not False

    @property
    def sees_all(self) -> bool:
        """Tell whether an answer may come from every passage of the memory. Only such an answer is kept for
        other questions."""
        return not (self.has_scope or self.excluded)

    @property
    def may_reuse(self) -> bool:
        """Tell whether an earlier answer may be returned: only with the usual options. Who has seen passages
        wants others, and an earlier answer brings the passages that it cites alone."""
        return self.question_cache and self._is_usual

    @property
    def may_query(self) -> bool:
        """Tell whether a statement over the graph may answer: only with the usual options, as it sees the
        whole memory, and not if the answer is to be short."""
        return self._is_usual and not self.short

    @property
    def _is_usual(self) -> bool:
        usual = self.strategy == "auto" and self.plan is None and self.sees_all and not self.shown
        return usual and self.answer


def _is_turn(turn: Any) -> bool:
    if not isinstance(turn, dict) or {*turn} != {"question", "answer"}:
        return False
    return isinstance(turn["question"], str) and isinstance(turn["answer"], str | None)


def _texts(name: str, value: Any) -> tuple[str, ...]:
    """Return texts as a tuple, and one text as a tuple of itself: else it would be read as its letters.

    Raises:
        InputError: The value is no text, and no list of texts.
    """
    is_list = isinstance(value, Iterable) and not isinstance(value, str)
    texts = tuple(value) if is_list else (value,)
    if not all(isinstance(text, str) for text in texts):
        raise InputError(f"{name} is {value!r}", hint="Give a text, or a list of texts")
    return texts


def limit_reader(
    reader: Reader, options: ScopeOptions, scopes: dict[tuple[int, str], dict[str, bool]]
) -> None:
    """Limit a reader to the documents of a scope.

    Raises:
        InputError: A date or a condition cannot be read, or no document is in the scope.
    """
    since, until = options.since or "", options.until or ""
    for day in (since, until):
        if day and not _DAY.fullmatch(day):
            hint = "Give a year, a month or a day: 2024, 2024-03 or 2024-03-09"
            raise InputError(f"{day!r} is no date", hint=hint)
    inside = _sources(options.inside, options.folder)
    outside = _sources(options.outside, options.folder)
    where = list(map(parse_condition, options.where))
    conditions = {"inside": inside, "outside": outside, "since": since, "until": until, "where": where}
    reader.set_scope(scopes, **conditions)
    if reader.scope:
        return
    failed = _failed(reader, conditions)
    reason = _reason(options, failed)
    near = _near_conditions(reader, options, failed)
    hint = "; ".join(filter(None, [near, "gswgraph list --long shows sources and metadata"]))
    raise InputError(f"no document is in this scope: {reason}", hint=hint)


Conditions: TypeAlias = "dict[str, Any]"


def _failed(reader: Reader, conditions: Conditions) -> Conditions:
    """Return the first condition that no document fits; empty if each fits some."""
    every = {key: value[:0] for key, value in conditions.items()}
    keys = [["inside"], ["outside"], ["since"], ["until"], ["since", "until"]]
    parts = [{key: conditions[key] for key in some} for some in keys]
    parts += [{"where": [condition]} for condition in conditions["where"]]
    for part in parts:
        if any(part.values()) and not reader.rows("read/scope", **every | part)[0]["ids"]:
            return part
    return {}


def _reason(options: ScopeOptions, failed: Conditions) -> str:
    if "inside" in failed:  # who gave no path learns none
        names = options.inside if options.folder is None else failed["inside"]
        return f"no source is, or is under, {', '.join(names)}"
    if "outside" in failed:
        return f"all sources are under {', '.join(options.outside)}"
    for text in options.where:
        if failed.get("where") == [parse_condition(text)]:
            return f"none fits {text}"
    since, until = failed.get("since"), failed.get("until")
    if since and until:
        return f"none is about a day from {since} until {until}"
    if since:
        return f"none is about {since} or a later day"
    if until:
        return f"none is about {until} or an earlier day"
    return "each condition fits some, and none fits all"


def _near_conditions(reader: Reader, options: ScopeOptions, failed: Conditions) -> str:
    """Return suggestions for a condition that no document fits: similar sources, keys or values."""
    if "inside" in failed:
        return _near_sources(reader, options.inside) if options.folder is not None else ""
    if "where" not in failed:
        return ""
    (condition,) = failed["where"]
    key = condition["key"].removeprefix("meta_")
    keys = [row["key"] for row in reader.rows("read/metadata_keys")]
    if key in keys or key in _OWN:
        rows = reader.rows("read/metadata_values", key=condition["key"])
        values = [str(row["value"]) for row in rows]
        found = _few_or_near(str(condition["value"]), values)
        return f"Values of {key}: {found}" if found else f"{key} has {len(values):,} other values"
    if not keys:
        return "No document has metadata"
    found = _few_or_near(key, keys)
    return f"Keys of metadata: {found}" if found else f"No key of metadata is like {key}"


def _few_or_near(name: str, names: list[str]) -> str:
    return ", ".join(names if len(names) <= _FEW else near_names(name, names))


def _near_sources(reader: Reader, names: Iterable[str]) -> str:
    sources = sorted(reader.sources().values(), reverse=True)
    endings = {_last_part(source): source for source in sources}
    wanted = list(map(_last_part, names))
    found = [endings[text] for text in wanted if text in endings]
    if not found:
        found = [endings[name] for text in wanted for name in near_names(text, endings)]
    return f"Near it: {', '.join(found[:_NEAR])}" if found else ""


def _last_part(source: str) -> str:
    return source.rstrip("/").rpartition("/")[2]


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """Return the names most similar to another, ignoring case. Names that contain it, or are part of it,
    count as similar."""
    folded = {text.casefold(): text for text in names}
    wanted = name.casefold()
    like = difflib.get_close_matches(wanted, folded, n=_NEAR, cutoff=0.6)
    like += [text for text in folded if len(text) > 1 and (wanted in text or text in wanted)]
    return [folded[text] for text in dict.fromkeys(like)][:_NEAR]


def _sources(names: tuple[str, ...], folder: str | None) -> list[str]:
    """Return sources as written, as sessions, and as absolute paths, unless no name is a path.

    Raises:
        InputError: A name is empty.
    """
    from gsw_graph.model.documents import source_paths  # `--help` takes the options alone

    sources = []
    for name in names:
        if not name.strip():
            raise InputError("an empty name means no source", hint="Leave it out to search everything")
        plain = name.rstrip("/") or name
        sources += [plain, f"session:{plain}"]
        if folder is not None:
            sources += source_paths(plain, folder)
    return unique(sources)


def parse_condition(text: str) -> Fields:
    """Parse a condition such as `author = "Grau"`, `year >= 1901` or `not tags contains tide`. A value that
    is not JSON is a text.

    Raises:
        InputError: The text is no condition.
    """
    match = _CONDITION.fullmatch(text)
    if match is None:
        hint = 'Give KEY OPERATOR VALUE, as author = "Grau"; operators: = (not ==) != < <= > >= contains'
        raise InputError(f"{text!r} is no condition", hint=hint)
    negation, name, operator, written = match.groups()
    try:
        value = json.loads(written)
    except ValueError:
        value = written
    key = re.sub(r"\W+", "_", name.lower()).strip("_")  # as `metadata` stores it
    return {
        "key": key if key in _OWN else f"meta_{key}",
        "op": operator.replace("!", ""),
        "value": value,
        "values": _alternatives(value, written),
        "negated": (negation is not None) != (operator == "!="),
    }


def _alternatives(value: Any, written: str) -> list[Any]:
    """Return what equals a value of a condition: also the truth value that it writes (True, yes), and the
    text of a number or truth value."""
    alternatives = [value]
    if value == written:
        truth = _TRUTH.get(written.lower())
        if truth is not None:
            alternatives += [written.capitalize(), written.lower(), truth]
    elif isinstance(value, int | float):
        alternatives.append(written)
        if isinstance(value, bool):
            alternatives.append(written.capitalize())
    return alternatives
