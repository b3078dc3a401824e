"""Keep the rows of a run in `answers.jsonl`, a line for each question and strategy. Rows are written at once,
so that a stopped or killed run can go on. A run with traces has `trace.jsonl` too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TypeAlias, TypeVar

from filelock import FileLock, Timeout

from gsw_graph.errors import InputError
from gsw_graph.values import Fields

FILE, TRACE = "answers.jsonl", "trace.jsonl"
LOCK = "answers.lock"  # held by the operating system, so that a run that was killed blocks nobody
_BEGIN = b'{"run": '
_HINT = "Give another folder, or remove this one to begin anew"
T = TypeVar("T")


@dataclass(frozen=True)
class Outcome:
    """Hold the result of a strategy for a question.

    Tokens, seconds and dollars include the original costs of cached replies.

    Attributes:
        variant: The strategy with its settings.
        key: The question.
        ran: The strategy that ran, which `auto` chose or which replaced another.
        ranks: The first rank of each gold passage, from 1, or None.
        passages: Ids of the passages, best first.
        seconds: By stage and in total.
        tokens: `in` and `out` as the server of the language model counted them, both together by stage
            (`plan`, `answer`), and of the answer `evidence` and `prompt` as estimated.
        cached: Whether a reply came from the cache.
        note: Why the language model gave no plan or no answer.
        error: Why the question could not be asked.
    """

    variant: str
    key: str
    ran: str | None = None
    answer: str | None = None
    answer_source: str = "none"
    abstained: bool = False
    confidence: float | None = None
    ranks: list[int | None] = field(default_factory=list)
    passages: list[str] = field(default_factory=list)
    plan_source: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    dollars: float | None = None
    cached: bool = False
    note: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Judgement:
    """Hold a judge's verdict on an answer.

    Attributes:
        judge: Name of the model.
        lr1: 1 if the answer agrees with a gold answer, else 0; None without a verdict, with the reason in
            `error`.
        lr2: 0, 0.5 or 1; None without a verdict.
        coverage: The share of a long gold answer's statements that the answer makes.
        tokens: Tokens of the judge, with the original tokens of cached replies.
    """

    variant: str
    key: str
    judge: str
    answer: str
    lr1: float | None = None
    lr2: float | None = None
    coverage: float | None = None
    tokens: dict[str, int] = field(default_factory=dict)
    dollars: float | None = None
    error: str | None = None


Verdicts: TypeAlias = dict[tuple[str, str], Judgement]
"""By strategy and question."""


def _from_row(kind: type[T], row: Fields) -> T:
    """Return a record of a dataclass from JSON; what another version wrote beside its fields is left out."""
    names = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in row.items() if name in names})


@dataclass
class Journal:
    """Hold the rows of a run by variant and question, and verdicts by judge, variant and question.

    Attributes:
        folder: Folder of the file; None for a journal in memory only.
        run: Settings that must be equal for parts of an evaluation, in JSON types. The version `gswgraph` may
            differ; the first part's is kept.
    """

    folder: Path | None
    run: Fields
    rows: dict[tuple[str, str], Outcome] = field(default_factory=dict)
    judged: dict[tuple[str, str, str], Judgement] = field(default_factory=dict)

    def add(self, row: Outcome, trace: Fields | None = None) -> None:
        """Keep a row, after its trace. When this returns it is with the operating system, and survives a
        kill."""
        if trace is not None:
            self._write(TRACE, {**trace, "id": row.key, "strategy": row.variant})
        self._write(FILE, asdict(row))
        self.rows[row.variant, row.key] = row

    def judge(self, verdict: Judgement) -> None:
        """Keep a verdict as `add` does; without one for this run alone, so that the next asks again."""
        if verdict.error is None:
            self._write(FILE, {"judged": asdict(verdict)})
        self.judged[verdict.judge, verdict.variant, verdict.key] = verdict

    def read(self, path: Path) -> None:
        """Read the rows of a file. The last may have been cut off, any other must be sound. InputError: it
        is not, or is of another evaluation."""
        data = path.read_bytes() if path.exists() else b""
        whole = data.rfind(b"\n") + 1
        if not whole and not data.startswith(_BEGIN[: len(data)]):
            raise InputError("this is no file of an evaluation", where=str(path), hint=_HINT)
        for number, line in enumerate(data[:whole].split(b"\n")[:-1], 1):
            try:
                value = json.loads(line)
                if number == 1:
                    _check_same(value["run"], self.run, path)
                    self.run = value["run"]
                elif "judged" in value:
                    verdict = _from_row(Judgement, value["judged"])
                    self.judged[verdict.judge, verdict.variant, verdict.key] = verdict
                else:
                    row = _from_row(Outcome, value)
                    self.rows[row.variant, row.key] = row  # what could not be asked may be there twice
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                where = f"{path}:{number}"
                raise InputError("this is no line of an evaluation", where=where, hint=_HINT) from error
        with path.open("ab") as file:
            file.truncate(whole)
        if not whole:
            self._write(FILE, {"run": self.run})

    def _write(self, name: str, value: Fields) -> None:
        if self.folder is not None:
            with (self.folder / name).open("ab") as file:
                file.write(json.dumps(value).encode() + b"\n")


@contextmanager
def open_journal(folder: Path | None, run: Fields) -> Iterator[Journal]:
    """Open the journal of a folder. No other process can write there while it is open.

    Args:
        folder: See `Journal`.
        run: See `Journal`.

    Raises:
        InputError: The folder holds another evaluation, or something else, or another process writes there.
    """
    journal = Journal(folder, run)
    if folder is None:
        yield journal
        return
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lock = FileLock(folder / LOCK, timeout=0, thread_local=False).acquire()
    except Timeout as error:
        raise InputError(
            "another evaluation writes here",
            where=str(folder),
            hint="Wait until it has ended, or give another folder",
        ) from error
    with lock:
        journal.read(folder / FILE)
        yield journal


def _check_same(before: Fields, now: Fields, path: Path) -> None:
    changes = []
    for name in before | now:
        was, value = before.get(name), now.get(name)
        if was != value and name != "gswgraph":
            changes.append(f"{name} was {was!r} and is {value!r}")
    if changes:
        raise InputError(
            f"the folder holds another evaluation: {'; '.join(changes)}", where=str(path.parent), hint=_HINT
        )
