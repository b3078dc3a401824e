"""Subtitles and transcripts of meetings (WebVTT, SubRip, SubViewer, SubStation Alpha) as text.

Cues are joined to sentences, a speaker has a paragraph. Numbers, times and layout are left out; the time at
which a passage begins is its section.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from gsw_graph.loaders.files import File, Item, NothingError, left_out
from gsw_graph.loaders.split import Block, split
from gsw_graph.loaders.text import decode, document, stem
from gsw_graph.model.documents import metadata

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d\d)(?:[.,:]\d{1,3})?"
_TIMES = re.compile(rf"\s*{_TIME}\s*(?:-->|,(?=\d+:\d\d:\d\d\.))\s*{_TIME}")
_DIALOGUE = re.compile(r"Dialogue:\s*(.*)", re.IGNORECASE)
_FIELDS = "layer start end style name marginl marginr marginv effect text".split()
_HEADER = re.compile(r"^(language|title)[ \t]*:[ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_DRAWING = re.compile(r"\{[^{}]*\\p[1-9][^{}]*\}[^{}]*")
_LAYOUT = re.compile(
    r"\{\\[^{}]*\}|</?(?:[bcisuv]|rt|ruby|lang|font)(?:[.\s][^<>]*)?>|<[\d:.]+>", re.IGNORECASE
)
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^<>]+)>", re.IGNORECASE)
# A name before a colon; every word of a name begins with a capital or a digit, or is in brackets.
_NAME = re.compile(
    r"(?:>>\s*|-\s+)?((?:[A-Z\d(][^\s:]*|[^\W\d_a-z][^\s:]*)(?: [^\s:a-z][^\s:]*){0,4}):\s+(?=\S)"
)
_NEW_SPEAKER = re.compile(r"(?:>>|-(?=\s)|[–—])\s*")


@dataclass(slots=True)
class _Cue:
    """What is shown at a time, in seconds."""

    start: int
    end: int
    lines: list[str]
    speaker: str = ""


@dataclass(slots=True)
class _Speech:
    """What a speaker says, with the time of each part."""

    speaker: str
    parts: list[tuple[int, str]] = field(default_factory=list)

    def text(self) -> str:
        """Return the paragraph of the speech."""
        said = " ".join(part for _, part in self.parts)
        return f"{self.speaker}: {said}" if self.speaker else said


def read(file: File) -> Iterator[Item]:
    """Yield the document of a file of subtitles."""
    text = decode(file).replace("\r", "\n")
    left: Counter[str] = Counter()
    cues = list(_dialogue(text) if "[Events]" in text else _cues(text, left))
    speeches = list(_speeches(_without_repetitions(cues)))
    texts = split(Block(f"{speech.text()}\n\n") for speech in speeches)
    if not texts:
        raise NothingError("empty: subtitles without text")
    headers = {name.lower(): value.strip() for name, value in _HEADER.findall(text.partition("-->")[0])}
    title = headers.get("title", "")
    speakers = list(dict.fromkeys(speech.speaker for speech in speeches if speech.speaker))
    known = [
        ("speakers", speakers),
        ("duration", _clock(max(cue.end for cue in cues))),
        ("language", headers.get("language")),
    ]
    times = _times(speeches, texts) if len(texts) > 1 else []
    sections = [f"{title or stem(file)} > {time}" for time in times]
    yield from document(file, "subtitles", title, texts, text, meta=metadata(known), sections=sections)
    yield from left_out(file.name, left)


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _seconds(hours: str | None, minutes: str, seconds: str) -> int:
    return 3600 * int(hours or 0) + 60 * int(minutes) + int(seconds)


def _cues(text: str, left: Counter[str]) -> Iterator[_Cue]:
    """Yield the cues of WebVTT, SubRip and SubViewer; comments are counted."""
    is_vtt = text.startswith("WEBVTT")
    cue: _Cue | None = None
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.strip("\n").split("\n")
        starts = [number for number, line in enumerate(lines) if _TIMES.match(line)]
        if not starts:
            left["comment"] += is_vtt and lines[0].startswith("NOTE")
            if cue and not is_vtt and not block.strip().isdigit():
                cue.lines += lines  # text with an empty line in it
            continue
        if cue:
            yield cue
            cue = None
        for start, end in pairwise([*starts, len(lines)]):
            if cue:
                yield cue
            shown = lines[start + 1 : end]
            if end < len(lines) and shown and shown[-1].strip().isdigit():
                shown.pop()  # the number of the next cue
            match = _TIMES.match(lines[start])
            times = match.groups() if match else ()
            cue = _Cue(_seconds(*times[:3]), _seconds(*times[3:]), shown)
    if cue:
        yield cue


def _dialogue(text: str) -> Iterator[_Cue]:
    """Yield the cues of SubStation Alpha, by their time."""
    names, cues = _FIELDS, []
    for line in text.partition("[Events]")[2].split("\n"):
        if line.lower().startswith("format:"):
            names = [name.strip().lower() for name in line.partition(":")[2].split(",")]
        elif match := _DIALOGUE.match(line):
            values = dict(zip(names, match[1].split(",", len(names) - 1), strict=False))
            start, end = (re.match(_TIME, values.get(key, "").strip()) for key in ("start", "end"))
            if start and end:
                shown = _DRAWING.sub("", values.get("text", "")).replace("\\h", " ")
                speaker = (values.get("name") or values.get("actor") or "").strip()
                cues.append(
                    _Cue(
                        _seconds(*start.groups()),
                        _seconds(*end.groups()),
                        re.split(r"\\[Nn]", shown),
                        speaker,
                    )
                )
    yield from sorted(cues, key=lambda cue: cue.start)


def _without_repetitions(cues: list[_Cue]) -> list[_Cue]:
    """Return cues without the lines that the cue before shows too, if captions roll up so throughout."""
    kept, repeated = [], 0
    before: list[str] = []
    for cue in cues:
        lines = [plain for line in cue.lines if (plain := _plain(line))]
        same = max(n for n in range(min(len(before), len(lines)) + 1) if not n or before[-n:] == lines[:n])
        new = cue.lines if not same else [line for line in cue.lines if _plain(line)][same:]
        if before and not same and lines and lines[0].startswith(before[-1] + " "):  # a line that grows
            same, new = 1, [lines[0][len(before[-1]) :].strip(), *lines[1:]]
        repeated += same > 0
        kept.append(_Cue(cue.start, cue.end, new, cue.speaker))
        before = lines or before
    return kept if 2 * repeated >= len(cues) - 1 > 1 else cues


def _plain(line: str) -> str:
    """Return a line without tags and with its characters as they are meant."""
    return " ".join(html.unescape(_LAYOUT.sub("", line)).split())


def _speeches(cues: list[_Cue]) -> Iterator[_Speech]:
    """Yield what is said, joined as long as the same speaker goes on."""
    speech = _Speech("")
    for cue in cues:
        voice = cue.speaker
        for line in cue.lines:
            first, *voiced = _VOICE.split(line)
            for name, said in [(voice, first), *zip(voiced[::2], voiced[1::2], strict=True)]:
                voice = " ".join(html.unescape(name).split())
                plain = _plain(said)
                if not plain:
                    continue
                match = None if voice else _NAME.match(plain)
                if match:
                    speaker, plain, begins = match[1], plain[match.end() :], match[1] != speech.speaker
                else:
                    mark = _NEW_SPEAKER.match(plain)
                    plain = plain[mark.end() :] if mark else plain
                    speaker = voice or ("" if mark else speech.speaker)
                    begins = bool(mark) or speaker != speech.speaker
                if begins and speech.parts:
                    yield speech
                    speech = _Speech(speaker)
                speech.speaker = speaker
                speech.parts += [(cue.start, plain)] if plain else []
    if speech.parts:
        yield speech


def _times(speeches: list[_Speech], texts: list[str]) -> list[str]:
    """Return when each passage begins, told by how many letters are before it."""
    ends, times = [], []
    letters = 0
    for speech in speeches:
        letters += _letters(f"{speech.speaker}:") if speech.speaker else 0
        for time, part in speech.parts:
            letters += _letters(part)
            ends.append(letters)
            times.append(time)
    starts = accumulate((_letters(text) for text in texts[:-1]), initial=0)
    return [_clock(times[min(bisect_right(ends, start), len(times) - 1)]) for start in starts]


def _letters(text: str) -> int:
    return len("".join(text.split()))
