"""Find the files of given paths, detect the encoding and the format of a file, and read lines within bounds.

Encoding and format are detected from the bytes; if the bytes leave a choice, the name of the file decides. A
byte order mark is trusted. A text whose encoding stays doubtful is refused, rather than read wrongly.
"""

from __future__ import annotations

import codecs
import contextlib
import glob
import io
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

from gsw_graph.errors import InputError
from gsw_graph.loaders import ignored
from gsw_graph.loaders.ignored import Rule
from gsw_graph.model.documents import (
    Document,
    Failure,
    Skipped,
    Value,
    Workspace,
    counted,
    metadata,
    storable,
)
from gsw_graph.values import single_spaced, word_set

EXTRA = "pip install 'gswgraph[documents]'"
MAX_LINE = 16 * 1024 * 1024
HEAD = 64 * 1024
_OPEN = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/")  # pipes that a shell has opened

Found: TypeAlias = "tuple[str, Document | Workspace]"
Item: TypeAlias = "Failure | Found"
"""What one format's reader yields: a document, or a ready workspace, with the place it was read from
(`file` or `file:line`), or a failure."""
Items: TypeAlias = Iterator[Item]
LeftOut: TypeAlias = Counter[str]
"""What was left out of a document, counted by kind."""


@dataclass(frozen=True, slots=True)
class File:
    """Hold an open file.

    Attributes:
        name: The name that led to the file.
        path: Absolute path; None for stdin, `upload:NAME` for an upload.
        head: The first HEAD bytes.
        stream: All bytes, the head too.
    """

    name: str
    path: Path | None
    head: bytes
    stream: BinaryIO


@dataclass(frozen=True, slots=True)
class Record:
    """Hold an object of a JSON file, with its place and its number in the file. The number is "" if the
    object is the whole file."""

    value: dict[str, object]
    place: str
    file: File
    number: str = ""


class UnusableError(Exception):
    """Raised if nothing can be read from a file; the message is for the owner of the file.

    Args:
        reason: The reason.
        place: Place in the file, `file:line`; by default the file.
    """

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(reason)
        self.place = place

    def failure(self, name: str) -> Failure:
        """Return the failure for the report of a load. name: Name of the file, used without a place."""
        return Failure(self.place or name, str(self))


class NothingError(UnusableError):
    """Raised if a file has nothing to read, which is not a failure."""

    def failure(self, name: str) -> Skipped:
        """Return the entry for the report of a load, with the kind of the file if it has no text."""
        reason = str(self)
        place = self.place or name
        noun, comma, _ = reason.partition(f", {NO_TEXT}")
        if not comma:
            return Skipped(place, reason)
        kind = noun.partition(" ")[2]
        return Skipped(place, reason, kinds=((kind, 1),))


@dataclass
class Converted:
    """Hold the content of a converted document.

    Attributes:
        text: Markdown, or plain text.
        title: Title in the document; "" for none.
        about: A line with the properties of the document, such as author and date.
        meta: The properties as metadata.
        loader: Name of the loader: `pdf`, `docx` ...
        plain: Whether the text is plain, without marks of Markdown.
        faults: Messages about parts that cannot be read.
        left_out: Numbers of parts that were left out, by kind.
    """

    text: str = ""
    title: str = ""
    about: str = ""
    meta: dict[str, Value] = field(default_factory=dict)
    loader: str = ""
    plain: bool = False
    faults: list[str] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=Counter)

    def describe(self, pairs: Iterable[tuple[str, object]]) -> None:
        """Set the properties of the document, as metadata and as a line of text for search. Keys in the line
        are in small letters, so that the rules take no key for a name."""
        pairs = list(pairs)
        self.meta = metadata(pairs)
        values: dict[str, dict[str, None]] = {}  # each value once, in the order given
        for name, value in pairs:
            shown = single_spaced(storable(str(value)))
            if shown:
                values.setdefault(name.lower(), {})[shown] = None
        lines = [f"{name}: {', '.join(known)}" for name, known in values.items()]
        self.about = "; ".join(lines)[:_MOST_PROPERTIES]


_MOST_PROPERTIES = 4000  # characters
NO_TEXT = "which has no text to load"
LISTED = 20  # faults of a document that are listed one by one


def left_out(name: str, kinds: Mapping[str, int]) -> Iterator[Skipped]:
    """Yield an entry for the report with the parts of a document that were left out, if there are any."""
    counts = [(kind, number) for kind, number in sorted(kinds.items()) if kind and number]
    if counts:
        yield Skipped(name, counted(dict(counts)), part=True, kinds=tuple(counts))


def shortened(faults: Iterable[str]) -> list[str]:
    """Return the first LISTED faults of a document; a last line counts the others."""
    listed = list(faults)
    further = len(listed) - LISTED
    return [*listed[:LISTED], f"and {further} more faults"] if further > 0 else listed


# --- paths ---


def expand(paths: Iterable[str]) -> tuple[dict[str, Path | None], list[Failure]]:
    """Expand paths and globs.

    Returns:
        Existing files and folders (and "-"), in the order given; for a match of a glob with the folder that
        links must not leave, else with None. Then a failure for each path without a file.

    Raises:
        InputError: No path leads to a file.
    """
    names: dict[str, Path | None] = {}
    failures: list[Failure] = []
    for path in paths:
        if path == "-" or os.path.exists(path):  # noqa: PTH110 (Path.exists raises for a name that no file can have)
            names[path] = None  # a path in full wins over a glob that matches it
        elif not glob.has_magic(path):
            failures.append(Failure(printable(path), "no such file or folder"))
        elif matches := _matches(path):
            names = matches | names
        else:
            failures.append(Failure(printable(path), "nothing matches this pattern"))
    if failures and not names:
        first, *others = failures
        reason = first.reason
        if others:
            reason = f"{reason}, nor do {len(others)} others"
        hint = "Check the path and what may be read; ** stands for all folders below"
        raise InputError(reason, where=first.source, hint=hint)
    return names, failures


def _matches(pattern: str) -> dict[str, Path | None]:
    # pathlib rather than glob: its ** does not follow links, so a loop of links ends.
    base = Path(pattern)
    while glob.has_magic(str(base)):
        base = base.parent
    try:
        matches = sorted(base.glob(str(Path(pattern).relative_to(base))))
    except ValueError as error:  # such as "a**b" before Python 3.13
        raise InputError(str(error), where=printable(pattern)) from error
    within = base.resolve()
    return {str(path): within for path in matches if "/." not in f"/{path.relative_to(base).as_posix()}"}


def walk(
    path: Path,
    seen: set[Path],
    within: Path | None = None,
    *,
    follow_links: bool = False,
    rules: Sequence[Rule] = (),
) -> Iterator[Path | Failure]:
    """Yield the files under a folder, sorted by name, each once. Hidden names and names that a `.gitignore`
    excludes are left out.

    Args:
        path: A folder, or a file.
        seen: Resolved paths that are not read again; this function adds to them.
        within: Folder that links must not leave; by default `path`.
        follow_links: Whether to follow links that leave the folder.
        rules: Rules of `.gitignore` in folders above, the nearest first.
    """
    name = printable(path.as_posix())
    try:
        real = path.resolve()
        if within is not None and not follow_links and not real.is_relative_to(within):
            reason = "a link that leads out of the folder; load what it leads to by its name, or with "
            yield Skipped(name, f"{reason}--follow-links")
        elif real in seen:  # given twice, or a loop of links
            return
        elif path.is_dir():
            seen.add(real)
            children = sorted(child for child in path.iterdir() if not child.name.startswith("."))
            if not children:
                yield Skipped(name, "an empty folder")
            rules = [*ignored.rules(path), *rules]
            for child in children:
                if ignored.is_ignored(child, rules):
                    yield Skipped(printable(child.as_posix()), ignored.IGNORED)
                elif child.is_dir() or child.is_file():
                    yield from walk(child, seen, within or real, follow_links=follow_links, rules=rules)
                else:
                    reason = "not a regular file, or a link that leads nowhere"
                    yield Failure(printable(child.as_posix()), reason)
        elif path.is_file() or path.as_posix().startswith(_OPEN):
            seen.add(real)
            yield path
        else:
            reason = (
                "a pipe or a device, which may keep a load waiting for ever: send what it says to standard "
            )
            yield Failure(name, f"{reason}input: gswgraph load - < {name}")
    except (OSError, RuntimeError) as error:  # RuntimeError: a link to itself, before Python 3.13
        yield unreadable(path, error)


def unreadable(path: Path, error: Exception) -> Failure:
    """Return the failure of a file or folder that the system does not open."""
    reason = str(error)
    if isinstance(error, OSError) and error.strerror:
        reason = error.strerror
    return Failure(printable(path.as_posix()), f"cannot be read: {reason}")


def opened(name: str, path: Path | None, stream: BinaryIO) -> File:
    """Return a File with its head read ahead. The stream may be a pipe, which cannot seek."""
    head = stream.read(HEAD)
    return File(printable(name), path, head, io.BufferedReader(_Joined(head, stream), HEAD))


class _Joined(io.RawIOBase):
    """Read bytes that were read ahead, then the rest of their stream. `close` leaves that stream open."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        wanted = len(buffer)
        data = self._head[:wanted] or self._rest.read(wanted)
        length = len(data)
        self._head = self._head[length:]
        buffer[:length] = data
        return length


def lines(file: File) -> Iterator[tuple[str, bytes | None]]:
    """Yield the place `file:line` and the bytes of each line. A line above 16 MiB is skipped without filling
    memory, and gives None."""
    number = 0
    while line := file.stream.readline(MAX_LINE + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        place = f"{file.name}:{number}"
        if len(line) <= MAX_LINE:
            yield place, line
            continue
        # Skip the rest of the line.
        while line and not line.endswith(b"\n"):
            line = file.stream.readline(MAX_LINE)
        yield place, None


def line_too_long(place: str) -> UnusableError:
    """Return the error of a line that `lines` passed over."""
    return UnusableError(f"a line of more than {MAX_LINE // 2**20} MiB", place)


def printable(name: str) -> str:
    """Return a name with escapes for the characters that UTF-8 cannot encode."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


# --- encodings ---

# The longer marks come first: a mark of UTF-32 begins with a mark of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_JAPANESE_MAIL = re.compile(rb"\x1b\$[B@]")  # ISO-2022-JP is pure ASCII, and would pass as UTF-8
_NO_TEXT = re.compile("[\0-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd]")
# Measured on 2,734 texts of 30 to 3,000 characters, messages of programs, in 46 pairs of language and
# encoding: three texts, of up to 80 characters, were read wrongly; a fifth of the texts above 200 characters
# was refused. The fewest bytes beyond ASCII (two letters, as in "café", tell nothing), the least confidence,
# and the least ratio of confidences between the best encoding and the next that gives another text.
_FEWEST, _SUREST, _AHEAD = 4, 0.1, 1.02
_BEYOND_ASCII = bytes(range(128, 256))


def strip_bom(file: File) -> File:
    """Return a UTF-16 or UTF-32 file, told by its mark or zero bytes, as UTF-8; other files unchanged."""
    for mark, codec in _MARKS:
        if file.head.startswith(mark):
            return transcode(file, codec)
    for codec in ("utf-16-le", "utf-16-be"):
        if _is_unmarked(file.head[:1024], codec):
            return transcode(file, codec)
    return file


def _is_unmarked(sample: bytes, codec: str) -> bool:
    """Return whether a text without a mark is in this form of UTF-16, in which ASCII has zero bytes."""
    zeros, others = sample[1::2], sample[::2]
    if codec == "utf-16-be":
        zeros, others = others, zeros
    if len(sample) < 4 or 2 * zeros.count(0) <= len(zeros) or 0 in others:
        return False
    return not _NO_TEXT.search(sample[: len(sample) & ~1].decode(codec, "ignore"))


def transcode(file: File, codec: str) -> File:
    """Return the file as UTF-8. Raises UnusableError if the bytes are not valid in this encoding."""
    try:
        data = file.stream.read().decode(codec).encode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise UnusableError(f"broken {codec} text ({error.reason}): save it as UTF-8") from error
    return opened(file.name, file.path, io.BytesIO(data))


def detect_encoding(data: bytes) -> str | None:
    """Return the encoding of a text: UTF-8 if it decodes, else the likeliest encoding. Return None if an
    encoding that gives another text is almost as likely."""
    if _JAPANESE_MAIL.search(data) and decode(data, "iso2022_jp"):
        return "iso2022_jp"
    if decode(data, "utf-8") is not None:
        return "utf-8"
    beyond_ascii = len(data) - len(data.translate(None, _BEYOND_ASCII))
    if beyond_ascii < _FEWEST or is_damaged(data) or not find_spec("chardet"):
        return None
    import chardet

    era = chardet.EncodingEra.ALL & ~chardet.EncodingEra.MAINFRAME
    likeliest, best, sureness = "", None, 0.0
    for guess in chardet.detect_all(data, ignore_threshold=True, encoding_era=era):
        codec, confidence = guess["encoding"], guess["confidence"]
        decoded = decode(data, codec) if codec else None
        if not decoded or _NO_TEXT.search(decoded) or decoded == likeliest:
            continue
        if best is not None:  # the next one that gives another text
            return best if sureness >= confidence * _AHEAD else None
        likeliest, best, sureness = decoded, codec, confidence
        if sureness < _SUREST:
            return None
    return best


def is_damaged(data: bytes) -> bool:
    """Return whether bytes are damaged UTF-8: most of their characters beyond ASCII decode."""
    text = data.decode("utf-8", "replace")
    return sum(character > "\x7f" for character in text) > 2 * text.count("\ufffd")


def refusal(error: UnicodeDecodeError) -> str:
    """Return the message about a byte that is not UTF-8: the byte, its column, and how to help."""
    column = error.start - error.object.rfind(b"\n", 0, error.start)
    how = "save it as UTF-8"
    if not find_spec("chardet"):
        how = f"{how}, or let it be guessed: {EXTRA}"
    byte = error.object[error.start]
    return f"not UTF-8: byte 0x{byte:02x} at column {column}, and its encoding cannot be told: {how}"


def decode(data: bytes, codec: str) -> str | None:
    """Return the text of bytes in an encoding; None if they do not decode."""
    # LookupError: Python has codecs that are no encodings of text
    with contextlib.suppress(UnicodeDecodeError, LookupError):
        return data.decode(codec)
    return None


# --- formats ---

Format: TypeAlias = Literal[
    "json", "jsonl", "markdown", "text", "pdf", "html", "archive", "mail", "mailbox", "chat", "subtitles",
    "table", "code", "rst", "asciidoc",
]  # fmt: skip

_BINARY: dict[bytes, Format] = {b"%PDF-": "pdf", b"PK\x03\x04": "archive", b"PK\x05\x06": "archive"}
# Formats without a loader, by their first bytes. A new loader removes its line here and adds a Format.
_FOREIGN = {
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an Office document of the old kind (.doc, .xls, .ppt) or with a "
    "password",
    b"{\\rtf": "an RTF document",
}


@cache
def _signatures() -> list[tuple[int, bytes, str]]:
    """Return the signatures of files without text: offset, bytes, and kind of file."""
    signatures = []
    for line in Path(__file__).with_name("signatures.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            at, sign, kind = line.split(maxsplit=2)
            signatures.append((int(at), bytes.fromhex(sign), kind))
    return signatures


# A page may begin with an XML declaration and comments. If it begins with another tag, its name decides.
_HTML = re.compile(
    rb"(?:<\?xml[^>]{0,200}>\s*)?(?:<!--(?:(?!-->).){0,4000}-->\s*)*<(?:!doctype\s+html|html|head|body)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_SUPPORTED = (
    "text, Markdown, reStructuredText, AsciiDoc, JSON, JSONL, CSV, subtitles, mail, PDF, HTML, .docx, .pptx "
    "and .xlsx are"
)
# Code and settings look like prose or Markdown to any rule: a comment is a heading, "---" is front matter.
_CODE = tuple(
    ".asm .awk .bash .bat .c .cc .cfg .clj .cmake .conf .cpp .cs .css .cypher .dart .diff .ex .exs .go "
    ".gradle .graphql .groovy .h .hpp .hs .ini .java .jl .js "
    ".jsx .kt .less .lua .m .mjs .ml .patch .php .pl .pm .properties .proto .ps1 .py .pyi .r .rb .rs .sass "
    ".scala .scss .sh .sql .swift .tf .toml .ts .tsx "
    ".vb .vue .xml .xsd .xsl .yaml .yml .zig .zsh /makefile /dockerfile /jenkinsfile "
    "/rakefile /gemfile /cmakelists.txt".split()
)
_MARKDOWN = (".md", ".markdown")
_JSON = (".json", ".ipynb")
# Formats by the ending of the name, if the text does not decide: the first row that fits.
# An ending is in one row only.
_NAMED: dict[Format, tuple[str, ...]] = {
    "jsonl": (".jsonl", ".ndjson"),
    "table": (".csv", ".tsv", ".tab"),
    "code": _CODE,
    "rst": (".rst", ".rest"),
    "asciidoc": (".adoc", ".asciidoc"),
}
# Lines of "Name: value", and headers that only mail has.
_HEADERS = re.compile(
    rb"(?:[!-9;-~]{1,80}:[ \t]?[^\r\n]{0,4000}\r?\n(?:[ \t][^\r\n]{0,4000}\r?\n){0,200}){2}"
)
_MAIL_ONLY = re.compile(
    rb"^(?:message-id|received|return-path|delivered-to|mime-version|x-mailer)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
# Headers of a mail that a person saved or pasted as text.
_WRITTEN = {b"from", b"to", b"cc", b"date", b"sent", b"subject", b"reply-to", b"bcc"}
# A line of "From " and the sender, then headers.
_MAILBOX = re.compile(rb"From \S[^\r\n]{0,300}\r?\n(?=[!-9;-~]{1,80}:[ \t])")
_OBJECT = re.compile(rb'\{\s*["}]')
CHAT_LINE = re.compile(
    "[\u200e\u200f\u202a-\u202e\ufeff]*"
    r"(?P<open>\[)?(?P<first>\d{1,4})([./-])\s?(?P<second>\d{1,2})\3\s?(?P<third>\d{1,4})\.?[,،]?\s"
    r"(?P<before>[^\W\d_][^\d\n\]\[:,-]{0,9}?)?\s?"  # klo, 下午, a las
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d\d)(?:[:.]\d\d)?"
    r"(?P<after>\s?[^\W\d_][^\d\n\]\[:,-]{0,9}?)?"  # PM, p. m., Uhr
    r"(?(open)\]|(?:\s?[-–—]|,))\s"
    r"(?P<said>[^\n]*)"
)
"""A message of WhatsApp: [01.05.24, 10:00:00] Ana: text, or 01/05/2024, 10:00 - Ana: text."""
_LEVELS = word_set("trace debug info notice warn warning error critical fatal")  # of logs
# The start of a file of subtitles: the name of its format, or a number and a line with two times.
_CLOCK = rb"(?:\d{1,3}:)?\d{1,2}:\d\d[.,]\d{1,3}"
_TIMES = _CLOCK + rb"[ \t]*(?:-->[ \t]*|,(?=\d+:\d\d:\d\d\.))" + _CLOCK
_SUBTITLES = re.compile(
    rb"WEBVTT(?=\s)(?=.{0,65000}?-->)|\[Script Info\](?=.{0,65000}?^Dialogue:)|(?:\d+[ \t]*\r?\n)?" + _TIMES,
    re.DOTALL | re.MULTILINE,
)
# The start of a JSON file that is a single object, often on one line: OpenIE results, Panini's combined file.
_WHOLE = re.compile(rb'\{\s*"(?:docs"\s*:\s*\[|documents"\s*:\s*\{|metadata"\s*:\s*\{\s*"total_)')
_ARRAY = re.compile(rb"\[\s*[{\]]")
_HEADING = re.compile(rb"^ {0,3}#{1,6}[ \t]+\S.*\r?\n[ \t]*\r?\n", re.MULTILINE)
_FRONT_MATTER = re.compile(rb"---[ \t]*\r?\n[\w-]+[ \t]*:|\+\+\+[ \t]*\r?\n[\w-]+[ \t]*=")


def detect_format(file: File) -> Format:
    """Return the format of a file. Raises UnusableError if the format has no loader."""
    head = file.head.removeprefix(b"\xef\xbb\xbf")
    for magic, form in _BINARY.items():
        if head.startswith(magic):
            return form
    for at, sign, kind in _signatures():
        # A signature of letters counts only if the head has a NUL, which no text has.
        if head.startswith(sign, at) and (b"\0" in head or not sign.isascii()):
            advice = ": unpack it and load the folder" if "archive" in kind else f", {NO_TEXT}"
            raise NothingError(f"{kind}{advice}")
    for magic, kind in _FOREIGN.items():
        if head.startswith(magic):
            raise UnusableError(f"{kind}, which is not a supported format ({_SUPPORTED})")
    body, name = head.lstrip(), f"/{file.path.name.lower()}" if file.path else ""
    if _OBJECT.match(body) and not name.endswith(_MARKDOWN):
        is_jsonl = name.endswith(_NAMED["jsonl"]) or _one_object_a_line(file, body, name)
        return "jsonl" if is_jsonl else "json"
    if b"\0" in head:
        raise UnusableError(f"not text: a NUL byte at offset {file.head.index(0)}")
    if not body and len(file.head) < HEAD:
        raise NothingError("empty")
    if _MAILBOX.match(body):
        return "mailbox"
    if (name.endswith((".eml", ".mail")) and _HEADERS.match(body)) or _is_mail(body):
        return "mail"
    if name.endswith(".svg") and body.startswith(b"<"):
        raise NothingError(f"an SVG image, {NO_TEXT}")
    if _HTML.match(body) or (name.endswith((".html", ".htm", ".xhtml")) and body.startswith(b"<")):
        return "html"
    if _is_chat(body):
        return "chat"
    if _SUBTITLES.match(body):
        return "subtitles"
    for form, endings in _NAMED.items():
        if name.endswith(endings):
            return form
    if name.endswith(_JSON) or _ARRAY.match(body):
        return "json"
    # A single line with # may be a comment.
    marked = _FRONT_MATTER.match(body) or _HEADING.match(body) or len(_HEADING.findall(body)) > 1
    return "markdown" if name.endswith(_MARKDOWN) or marked else "text"


def _is_chat(body: bytes) -> bool:
    """Return whether a text begins with messages of WhatsApp."""
    written = body[:8000].decode("utf-8", "replace").splitlines()
    if not written or not CHAT_LINE.match(written[0]):
        return False
    speakers = []
    for line in written:
        match = CHAT_LINE.match(line)
        if match and ": " in match["said"]:
            speakers.append(match["said"].partition(": ")[0].strip().lower())
    return len(speakers) > 1 and _LEVELS.isdisjoint(speakers)


def _is_mail(body: bytes) -> bool:
    """Return whether a text begins with the headers of a mail."""
    headers = re.split(rb"\r?\n\r?\n", body, maxsplit=1)[0] + b"\n"
    names = set(re.findall(rb"^([!-9;-~]{1,80}):", headers.lower(), re.MULTILINE))
    if b"from" not in names or not _HEADERS.match(headers):
        return False
    is_written = len(names) > 2 and names <= _WRITTEN and not names.isdisjoint((b"subject", b"date"))
    return is_written or bool(_MAIL_ONLY.search(headers))


def _one_object_a_line(file: File, body: bytes, name: str) -> bool:
    """Return whether a text has an object on each line: the first line ends with "}", or, if it is broken,
    the second begins with "{". A single object is not JSON lines."""
    if _WHOLE.match(body):
        return False
    first, _, rest = body.partition(b"\n")
    if rest.strip():
        return first.rstrip().endswith(b"}") or rest.lstrip().startswith(b"{")
    return len(file.head) == HEAD and not name.endswith(_JSON)
