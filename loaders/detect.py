"""The encoding and the format of a file, told from its bytes; its name decides where those leave a choice.

A mark at the start of a text that is not UTF-8 is believed; anything else is told from the bytes, or refused
rather than read wrongly.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import re
from importlib.util import find_spec
from typing import Literal, TypeAlias

from gsw_graph.errors import InputError
from gsw_graph.loaders.files import HEAD, File, opened
from gsw_graph.model.documents import Failure, Skipped

# --- encodings ---

EXTRA = "pip install 'gswgraph[documents]'"
# The longer marks first: UTF-32 begins as UTF-16 does.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_JAPANESE_MAIL = re.compile(rb"\x1b\$[B@]")  # ISO-2022-JP is pure ASCII, and would pass as UTF-8
_NO_TEXT = re.compile("[\0-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd]")
# Tried on 2,734 texts of 30 to 3,000 characters in 46 pairs of language and encoding (messages of programs):
# three were read wrongly, of up to 80 characters; of those of 200 and more a fifth was refused. From a
# foreign letter or two, as in "café", nothing can be told.
_FEWEST, _SUREST, _AHEAD = (
    4,
    0.1,
    1.02,
)  # bytes beyond ASCII; confidence; how far the next encoding that gives another text must lie behind
_BEYOND_ASCII = bytes(range(128, 256))


class BrokenTextError(InputError):
    """Raised for bytes that the encoding of their file does not have."""


def strip_bom(file: File) -> File:
    """Return a file in UTF-8, where a mark says that it is UTF-16 or UTF-32; any other as it is."""
    codec = next((codec for mark, codec in _MARKS if file.head.startswith(mark)), None)
    return transcode(file, codec) if codec else file


def transcode(file: File, codec: str) -> File:
    """Return the file as UTF-8. Raises BrokenTextError where the bytes are not of this encoding."""
    try:
        data = file.stream.read().decode(codec).encode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise BrokenTextError(
            f"broken {codec} text ({error.reason})", where=file.name, hint="Save it as UTF-8"
        ) from error
    return opened(file.name, file.path, io.BytesIO(data))


def detect_encoding(data: bytes) -> str | None:
    """Return the encoding of a text, if it can be told: UTF-8 where it can be that; else the likeliest, where
    any that gives another text is far less likely."""
    if _JAPANESE_MAIL.search(data) and _decode(data, "iso2022_jp") is not None:
        return "iso2022_jp"
    with contextlib.suppress(UnicodeDecodeError):
        data.decode("utf-8")
        return "utf-8"
    if (
        len(data) - len(data.translate(None, _BEYOND_ASCII)) < _FEWEST
        or _damaged(data)
        or not find_spec("chardet")
    ):
        return None
    import chardet

    guesses = chardet.detect_all(
        data, ignore_threshold=True, encoding_era=chardet.EncodingEra.ALL & ~chardet.EncodingEra.MAINFRAME
    )
    found = [
        (guess["confidence"], text, codec)
        for guess in guesses
        if (codec := guess["encoding"]) and (text := _decode(data, codec)) is not None
    ]
    if not found:
        return None
    sureness, text, codec = found[0]
    rival = next((other for other, different, _ in found if different != text), 0.0)
    return codec if sureness >= _SUREST and sureness >= rival * _AHEAD else None


def refusal(error: UnicodeDecodeError) -> str:
    """Say why a text is not read: the byte that is not UTF-8, and what to do."""
    column = error.start - (error.object.rfind(b"\n", 0, error.start) + 1) + 1
    how = "save it as UTF-8" if find_spec("chardet") else f"save it as UTF-8, or let it be guessed: {EXTRA}"
    return (
        f"not UTF-8: byte 0x{error.object[error.start]:02x} at column {column}, and its encoding "
        "cannot "
        f"be told: {how}"
    )


def _decode(data: bytes, codec: str) -> str | None:
    """Return the text, if it is one: no undefined bytes, and no characters that no text has."""
    try:
        text = data.decode(codec)
    except (UnicodeDecodeError, LookupError):
        return None
    return None if _NO_TEXT.search(text) else text


def _damaged(data: bytes) -> bool:
    """Return whether it is UTF-8 with some bytes gone wrong: most of what is not ASCII is sound."""
    text = data.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    return sum(character > "\x7f" for character in text) - wrong > wrong


# --- formats ---

Format: TypeAlias = Literal[
    "json", "jsonl", "markdown", "text", "pdf", "html", "archive", "mail", "mailbox", "table", "code"
]

_BINARY: dict[bytes, Format] = {b"%PDF-": "pdf", b"PK\x03\x04": "archive", b"PK\x05\x06": "archive"}
# Formats that are not read, by how they begin. A later loader takes its line out of here and adds a Format.
_FOREIGN = {
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an Office document of the old kind (.doc, .xls, .ppt) or with a "
    "password",
    b"{\\rtf": "an RTF document",
}
# What has no text: at which byte it says so, and what it is. A sign of letters counts only where a NUL
# follows, as no text has one.
_TEXTLESS: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (0, b"BM", "a BMP image"),
    (0, b"II*\0", "a TIFF image"),
    (0, b"MM\0*", "a TIFF image"),
    (0, b"\0\0\1\0", "an icon"),
    (8, b"WEBP", "a WebP image"),
    (8, b"WAVE", "a sound file"),
    (8, b"AVI ", "a film"),
    (4, b"ftyp", "a film, a sound file or a HEIC image"),
    (0, b"\x1aE\xdf\xa3", "a film"),
    (0, b"ID3", "a sound file"),
    (0, b"OggS", "a sound file"),
    (0, b"fLaC", "a sound file"),
    (0, b"\x1f\x8b", "a gzip archive"),
    (0, b"BZh91AY&SY", "a bzip2 archive"),
    (0, b"\xfd7zXZ\0", "an xz archive"),
    (0, b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"Rar!\x1a\x07", "a RAR archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"\x7fELF", "a program"),
    (0, b"MZ", "a program"),
    (0, b"\xcf\xfa\xed\xfe", "a program"),
    (0, b"\xca\xfe\xba\xbe", "a program"),
    (0, b"\0asm", "a program"),
    (0, b"wOFF", "a font"),
    (0, b"wOF2", "a font"),
    (0, b"OTTO", "a font"),
    (0, b"\0\1\0\0", "a font"),
)
# A page may begin with an XML declaration and comments; its name decides where it begins with any other tag.
_HTML = re.compile(
    rb"(?:<\?xml[^>]{0,200}>\s*)?(?:<!--(?:(?!-->).){0,4000}-->\s*)*<(?:!doctype\s+html|html|head|body)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_SUPPORTED = "text, Markdown, JSON, JSONL, CSV, mail, PDF, HTML, .docx, .pptx, .xlsx and EPUB are"
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
# What the name decides, where nothing in the text does.
_NAMED: dict[Format, tuple[str, ...]] = {
    "jsonl": (".jsonl", ".ndjson"),
    "table": (".csv", ".tsv", ".tab"),
    "code": _CODE,
}
# Lines of "Name: value", and among them one that only mail has.
_HEADERS = re.compile(
    rb"(?:[!-9;-~]{1,80}:[ \t]?[^\r\n]{0,4000}\r?\n(?:[ \t][^\r\n]{0,4000}\r?\n){0,200}){2}"
)
_MAIL_ONLY = re.compile(
    rb"^(?:message-id|received|return-path|delivered-to|mime-version|x-mailer)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
# Headers of a mail that a person saved or pasted as text.
_WRITTEN = {b"from", b"to", b"cc", b"date", b"sent", b"subject", b"reply-to", b"bcc"}
# "From " and who sent it, then headers.
_MAILBOX = re.compile(rb"From \S[^\r\n]{0,300}\r?\n(?=[!-9;-~]{1,80}:[ \t])")
_OBJECT = re.compile(rb'\{\s*["}]')
# How files begin that are one object, often on one line: OpenIE results and Panini's combined file.
_WHOLE = re.compile(rb'\{\s*"(?:docs"\s*:\s*\[|documents"\s*:\s*\{|metadata"\s*:\s*\{\s*"total_)')
_ARRAY = re.compile(rb"\[\s*[{\]]")
_HEADING = re.compile(rb"^ {0,3}#{1,6}[ \t]+\S.*\r?\n[ \t]*\r?\n", re.MULTILINE)
_FRONT_MATTER = re.compile(rb"---[ \t]*\r?\n[\w-]+[ \t]*:|\+\+\+[ \t]*\r?\n[\w-]+[ \t]*=")


def detect_format(file: File) -> Format | Failure:
    """Return the format to read a file as, or why it cannot be read."""
    head = file.head.removeprefix(b"\xef\xbb\xbf")
    for magic, form in _BINARY.items():
        if head.startswith(magic):
            return form
    if what := next(
        (
            what
            for at, sign, what in _TEXTLESS
            if head.startswith(sign, at) and (b"\0" in head or not sign.isascii())
        ),
        None,
    ):
        return Skipped(
            file.name,
            f"{what}: unpack it and load the folder"
            if "archive" in what
            else f"{what}, which has no text to load",
        )
    for magic, what in _FOREIGN.items():
        if head.startswith(magic):
            return Failure(file.name, f"{what}, which is not a supported format ({_SUPPORTED})")
    body, name = head.lstrip(), _name(file)
    if _OBJECT.match(body) and not name.endswith(_MARKDOWN):
        return "jsonl" if name.endswith(_NAMED["jsonl"]) or _one_object_a_line(file, body) else "json"
    if b"\0" in head:
        return Failure(file.name, f"not text: a NUL byte at offset {file.head.index(0)}")
    if not body and len(file.head) < HEAD:
        return Skipped(file.name, "empty")
    if _MAILBOX.match(body):
        return "mailbox"
    if (name.endswith((".eml", ".mail")) and _HEADERS.match(body)) or _mail(body):
        return "mail"
    if name.endswith(".svg") and body.startswith(b"<"):
        return Skipped(file.name, "an SVG image, which has no text to load")
    if _HTML.match(body) or (name.endswith((".html", ".htm", ".xhtml")) and body.startswith(b"<")):
        return "html"
    for named, ends in _NAMED.items():
        if name.endswith(ends):
            return named
    if name.endswith(_JSON) or _ARRAY.match(body):
        return "json"
    return "markdown" if name.endswith(_MARKDOWN) or _looks_like_markdown(body) else "text"


def _name(file: File) -> str:
    return f"/{file.path.name.lower()}" if file.path else ""


def _mail(body: bytes) -> bool:
    """Return whether it begins with the headers of a mail, whatever its name."""
    headers = re.split(rb"\r?\n\r?\n", body, maxsplit=1)[0] + b"\n"
    names = {name.lower() for name in re.findall(rb"^([!-9;-~]{1,80}):", headers, re.MULTILINE)}
    if not _HEADERS.match(headers) or b"from" not in names:
        return False
    written = len(names & _WRITTEN) >= 3 and (b"subject" in names or b"date" in names) and names <= _WRITTEN
    return written or bool(_MAIL_ONLY.search(headers))


def _one_object_a_line(file: File, body: bytes) -> bool:
    """Return whether the first line closes what it opens, or the second opens anew (the first may be broken).
    An object alone is no list of lines."""
    first, _, rest = body.partition(b"\n")
    if not rest.strip():
        return not _WHOLE.match(body) and len(file.head) == HEAD and not _name(file).endswith(_JSON)
    return not _WHOLE.match(body) and (first.rstrip().endswith(b"}") or rest.lstrip().startswith(b"{"))


def _looks_like_markdown(body: bytes) -> bool:
    """Front matter, a heading first, or two headings: one line with a # alone may be a comment."""
    return bool(_FRONT_MATTER.match(body) or _HEADING.match(body)) or len(_HEADING.findall(body)) > 1
