"""A recording: a folder with chat requests and the replies that somebody wrote to them.

    FOLDER/asked/000123.json         {"stage", "messages", "schema"}; schema is null where a text is asked for
    FOLDER/asked/000123.txt          the same to read: system, user, the schema in one line
    FOLDER/replies/000123.txt        the reply: a text, or JSON where there is a schema
    FOLDER/replies/000123.wrong.txt  why a reply cannot be used, until it is mended

Whoever writes the replies needs no more than these files. A request file is whole or not there. A reply
counts once it stands still; one that is moved to its place is whole at once.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from gsw_graph.errors import InputError
from gsw_graph.testing.calls import request_id
from gsw_graph.testing.tokens import text_of

_NUMBERED = re.compile(r"(\d{6,})\.(?:json|txt)")


class Recording:
    """The files of a recording. Raises InputError where they cannot be read or written."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._asked, self._replies = self.folder / "asked", self.folder / "replies"

    def make(self) -> None:
        """The folders, where they are not there."""
        try:
            for folder in (self._asked, self._replies):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise unwritten(self.folder, error) from None

    def last(self) -> int:
        """The highest number in use, also of a reply whose request is gone: it answers no other."""
        return max(self._numbers(self._asked) + self._numbers(self._replies), default=0)

    def requests(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Number and content of each request, in the order in which they were asked, with its hash as
        `request`."""
        for number in sorted(set(self._numbers(self._asked, ".json"))):
            path = self._asked / f"{number:06}.json"
            try:
                found = json.loads(path.read_text(encoding="utf-8"))
                found["request"] = request_id(found["messages"], found["schema"])
                found["stage"] = str(found["stage"])
            except OSError as error:
                raise InputError(f"it cannot be read ({error.strerror})", where=str(path)) from None
            except (ValueError, TypeError, KeyError) as error:
                raise InputError(
                    f"this is no request of a recording ({type(error).__name__}: {error})",
                    where=str(path),
                    hint="Remove it, and it is asked anew when it comes again",
                ) from None
            yield number, found

    def write(
        self,
        number: int,
        stage: str,
        messages: Sequence[Mapping[str, Any]],
        schema: Mapping[str, Any] | None,
    ) -> None:
        """A request, the text first: who sees the JSON has both."""
        content = {"stage": stage, "messages": messages, "schema": schema}
        self._place(self._asked / f"{number:06}.txt", self.text(number, content))
        self._place(
            self._asked / f"{number:06}.json", json.dumps(content, ensure_ascii=False, indent=1) + "\n"
        )

    @staticmethod
    def text(number: int, asked: Mapping[str, Any]) -> str:
        """A request to read."""
        stage, schema = asked["stage"], asked["schema"]
        wanted = "a text" if schema is None else "JSON as the schema below says"
        parts = [f"Request {number:06}, stage: {stage or 'unknown'}. Its reply: {wanted}"]
        parts += [f"=== {message.get('role')}\n{text_of(message)}" for message in asked["messages"]]
        parts += [] if schema is None else [f"=== schema\n{json.dumps(schema, ensure_ascii=False)}"]
        return "\n\n".join(parts) + "\n"

    def state(self, number: int) -> tuple[int, float] | None:
        """Size and time of change of a reply, None where there is none yet."""
        try:
            found = self._reply(number).stat()
        except OSError:
            return None
        return (found.st_size, found.st_mtime) if found.st_size else None

    def reply(self, number: int, schema: Mapping[str, Any] | None) -> Any:
        """What was written: a text, or where a schema is asked for an object or array. Raises InputError for
        what is neither. Whether it is as the schema says is for the client to find, as with any model."""
        path = self._reply(number)
        try:
            text = path.read_text(encoding="utf-8-sig").strip()
            if not text:
                raise InputError("it is empty", where=str(path))
            if schema is None:
                return text
            value = json.loads(text, parse_constant=_no_number)
            json.dumps(value, ensure_ascii=False).encode()  # half a character cannot be sent
        except OSError as error:
            raise InputError(f"it cannot be read ({error.strerror})", where=str(path)) from None
        except UnicodeError as error:
            raise InputError(f"this is no UTF-8 ({error})", where=str(path)) from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"this is no JSON, which is asked for ({error})", where=str(path)) from None
        if not isinstance(value, (dict, list)):
            raise InputError("the JSON asked for is an object", where=str(path))
        return value

    def mark(self, number: int, wrong: str) -> None:
        """Say beside a reply what is wrong with it; nothing any more where that is empty."""
        path = self._replies / f"{number:06}.wrong.txt"
        try:
            if wrong:
                self._place(path, wrong + "\n")
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise unwritten(path, error) from None

    def _reply(self, number: int) -> Path:
        return self._replies / f"{number:06}.txt"

    def _numbers(self, folder: Path, end: str = "") -> list[int]:
        try:
            names = [path.name for path in folder.iterdir()]
        except OSError as error:
            raise InputError(
                f"this is no recording ({error.strerror})",
                where=str(folder),
                hint="python -m gsw_graph.testing --record FOLDER makes one",
            ) from None
        found = [_NUMBERED.fullmatch(name) for name in names if name.endswith(end)]
        return [int(match[1]) for match in found if match]

    def _place(self, path: Path, text: str) -> None:
        """Written whole or not at all."""
        beside = path.with_name(f".{path.name}-{threading.get_ident()}")
        try:
            beside.write_bytes(text.encode("utf-8", "backslashreplace"))  # half a character: as JSON has it
            os.replace(beside, path)  # noqa: PTH105 - says what it does with a file that is there
        except OSError as error:
            raise unwritten(path, error) from None


def recorded(folder: str | Path, written_by: str) -> list[dict[str, Any]]:
    """The lines of scripted replies (`read_script`) that say what a recording says: each for its request
    alone, after one that names who wrote them. Requests without a reply are left out. Raises InputError for
    a reply that cannot be used.

        ModelServer(recorded("recording", "a strong model"))
    """
    recording = Recording(folder)
    lines: list[dict[str, Any]] = [{"written by": written_by}]
    for number, asked in recording.requests():
        if recording.state(number) is not None:
            stage = {"stage": asked["stage"]} if asked["stage"] else {}
            reply = recording.reply(number, asked["schema"])
            lines.append({"when": {**stage, "request": asked["request"]}, "reply": reply})
    return lines


def unanswered(folder: str | Path) -> list[str]:
    """The requests of a recording that have no reply, each as its file shows it, in the order in which they
    were asked: for who answers many at once. Raises InputError for a folder that is none."""
    recording = Recording(folder)
    return [
        recording.text(number, asked)
        for number, asked in recording.requests()
        if recording.state(number) is None
    ]


def unwritten(path: Path, error: OSError) -> InputError:
    """The error for a place that cannot be written."""
    return InputError(f"it cannot be written ({error.strerror})", where=str(path))


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
