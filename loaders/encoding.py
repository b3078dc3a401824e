"""Texts that are not UTF-8: what a mark at the start says is believed, anything else is told from the
bytes, or refused rather than read wrongly."""

from __future__ import annotations

import codecs
import contextlib
import io
import re
from importlib.util import find_spec
from typing import BinaryIO

from gsw_graph.errors import InputError
from gsw_graph.loaders.files import File, opened

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
_CHUNK = 64 * 1024


class BrokenTextError(InputError):
    """Bytes that the encoding of their file does not have."""


def strip_bom(file: File) -> File:
    """A file in UTF-8, where a mark says that it is UTF-16 or UTF-32; any other as it is."""
    codec = next((codec for mark, codec in _MARKS if file.head.startswith(mark)), None)
    return transcode(file, codec) if codec else file


def transcode(file: File, codec: str) -> File:
    """The file as UTF-8, a piece at a time. Reading raises BrokenTextError where the bytes are not of this
    encoding."""
    return opened(file.name, file.path, io.BufferedReader(_Recoded(file.name, file.stream, codec), _CHUNK))


def detect_encoding(data: bytes) -> str | None:
    """The encoding of a text, if it can be told: UTF-8 where it can be that; else the likeliest, where any
    that gives another text is far less likely."""
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
    """Why a text is not read: the byte that is not UTF-8, and what to do."""
    column = error.start - (error.object.rfind(b"\n", 0, error.start) + 1) + 1
    how = "save it as UTF-8" if find_spec("chardet") else f"save it as UTF-8, or let it be guessed: {EXTRA}"
    return (
        f"not UTF-8: byte 0x{error.object[error.start]:02x} at column {column}, and its encoding "
        "cannot "
        f"be told: {how}"
    )


def _decode(data: bytes, codec: str) -> str | None:
    """The text, if it is one: no undefined bytes, and no characters that no text has."""
    try:
        text = data.decode(codec)
    except (UnicodeDecodeError, LookupError):
        return None
    return None if _NO_TEXT.search(text) else text


def _damaged(data: bytes) -> bool:
    """Whether it is UTF-8 with some bytes gone wrong: most of what is not ASCII is sound."""
    text = data.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    return sum(character > "\x7f" for character in text) - wrong > wrong


class _Recoded(io.RawIOBase):
    """UTF-8 bytes of a stream in another encoding. Closing it leaves that stream open."""

    def __init__(self, name: str, stream: BinaryIO, codec: str) -> None:
        self._name, self._stream, self._codec = name, stream, codec
        self._decoder = codecs.getincrementaldecoder(codec)("strict")
        self._held = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._held and not self._ended:
            data = self._stream.read(_CHUNK)
            self._ended = not data
            try:
                text = self._decoder.decode(data, final=self._ended)
            except UnicodeDecodeError as error:
                raise BrokenTextError(
                    f"broken {self._codec} text ({error.reason})", where=self._name, hint="Save it as UTF-8"
                ) from error
            self._held = text.encode("utf-8", "surrogatepass")
        piece = self._held[: len(buffer)]
        self._held = self._held[len(piece) :]
        buffer[: len(piece)] = piece
        return len(piece)
