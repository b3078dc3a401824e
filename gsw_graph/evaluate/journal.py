"""What was asked and found, one line a question and strategy in `answers.jsonl`: written at once, so that
a run that was cut off goes on where it stood."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from filelock import FileLock, Timeout

from gsw_graph.errors import InputError

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

FILE = "answers.jsonl"
LOCK = "answers.lock"  # held by the operating system, so that a run that was killed blocks nobody
_BEGIN = b'{"run": '
_ELSE = "Give another folder, or remove this one to begin anew"


@dataclass(frozen=True)
class Outcome:
    """What one strategy found for one question.

    ran: the strategy that ran: `auto` chooses one, and one may step in for another. ranks: of each thing that
    must be found its first rank from 1, or None. passages: the ids found, best first. seconds: by stage and
    in total. tokens: as the server of the language model counted them. Tokens, seconds and dollars are those
    of asking for every reply, also of one from the cache, which has what it took once. cached: a reply came
    from there. note: why the language model gave no plan or no answer. error: why it could not be asked.
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
    round_trips: int = 0
    models: dict[str, str | None] = field(default_factory=dict)
    cached: bool = False
    note: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class Judgement:
    """What a judge says of an answer. judge: the model. lr1: 1 where it agrees with a gold answer, else 0;
    lr2: 0, 0.5 or 1; None where there is no verdict, and error says why. tokens, dollars: of the judge, as
    the replies took when they were asked for."""

    variant: str
    key: str
    judge: str
    answer: str
    lr1: float | None = None
    lr2: float | None = None
    tokens: dict[str, int] = field(default_factory=dict)
    dollars: float | None = None
    error: str | None = None


class Journal:
    """The rows of a run by variant and question, and what judges said of their answers by judge, variant and
    question; in memory only without a folder. Open it in a `with`
    statement."""

    def __init__(self, folder: Path | None, run: Mapping[str, Any]) -> None:
        """`run` is what two parts of one evaluation must have in common, in JSON types.

        InputError: the folder holds another evaluation, or something else, or another process writes there.
        """
        self.rows: dict[tuple[str, str], Outcome] = {}
        self.judged: dict[tuple[str, str, str], Judgement] = {}
        self._file: BinaryIO | None = None
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / FILE
            try:
                self._lock = FileLock(folder / LOCK, timeout=0, thread_local=False)
                self._lock.acquire()
            except Timeout as error:
                raise InputError(
                    "another evaluation writes here",
                    where=str(folder),
                    hint="Wait until it has ended, or give another folder",
                ) from error
            file = path.open("a+b")
            try:
                whole = self._read(file, run, path)
                file.truncate(whole)
            except BaseException:
                file.close()
                self._lock.release()
                raise
            self._file = file
            if not whole:
                self._write({"run": run})

    def add(self, row: Outcome) -> None:
        """Keep a row; when this returns it is with the operating system, where no end of this process can
        touch it."""
        if self._file is not None:
            self._write(asdict(row))
        self.rows[row.variant, row.key] = row

    def judge(self, found: Judgement) -> None:
        """Keep what a judge said, as `add` does; without a verdict for this run alone, so that the next asks
        again."""
        if self._file is not None and found.error is None:
            self._write({"judged": asdict(found)})
        self.judged[found.judge, found.variant, found.key] = found

    def _write(self, value: Mapping[str, Any]) -> None:
        assert self._file is not None  # noqa: S101 - for the type checker
        self._file.write(json.dumps(value).encode() + b"\n")
        self._file.flush()

    def _read(self, file: BinaryIO, run: Mapping[str, Any], path: Path) -> int:
        """Takes the rows of a file; the length of its whole lines. The last may have been cut off, any
        other must be sound."""
        file.seek(0)
        data = file.read()
        whole = data.rfind(b"\n") + 1
        if not whole and not data.startswith(_BEGIN[: len(data)]):
            raise InputError("this is no file of an evaluation", where=str(path), hint=_ELSE)
        for number, line in enumerate(data[:whole].split(b"\n")[:-1], 1):
            try:
                value = json.loads(line)
                if number == 1:
                    _check_same(value["run"], run, path)
                elif "judged" in value:
                    found = Judgement(**value["judged"])
                    self.judged[found.judge, found.variant, found.key] = found
                else:
                    row = Outcome(**value)
                    self.rows[row.variant, row.key] = row  # what could not be asked may stand there twice
            except (ValueError, TypeError, KeyError) as error:
                raise InputError(
                    "this is no line of an evaluation", where=f"{path}:{number}", hint=_ELSE
                ) from error
        return whole

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            with suppress(OSError):  # Windows keeps the file of a lock that is held
                Path(self._lock.lock_file).unlink()
            self._lock.release()


def _check_same(before: Mapping[str, Any], now: Mapping[str, Any], path: Path) -> None:
    if other := [
        f"{name} was {before.get(name)!r} and is {now.get(name)!r}"
        for name in dict.fromkeys([*before, *now])
        if before.get(name) != now.get(name)
    ]:
        raise InputError(
            f"the folder holds another evaluation: {'; '.join(other)}", where=str(path.parent), hint=_ELSE
        )
