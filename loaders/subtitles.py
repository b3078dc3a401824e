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
from dataclasses import dataclass, field, replace

from gsw_graph.loaders.files import File, Items, LeftOut, NothingError, left_out
from gsw_graph.loaders.split import Block, split
from gsw_graph.loaders.text import decode, document, stem
from gsw_graph.model.documents import metadata
from gsw_graph.values import single_spaced

_TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d\d)(?:[.,:]\d{1,3})?"
_TIMES = re.compile(rf"\s*{_TIME}\s*(?:-->|,(?=\d+:\d\d:\d\d\.))\s*{_TIME}")
_NOTE = re.compile(r"^\n[ \t]*NOTE(?=\s)", re.MULTILINE)
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

    speaker: str = ""
    parts: list[str] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    def text(self) -> str:
        """Return the paragraph of the speech."""
        said = " ".join(self.parts)
        return f"{self.speaker}: {said}" if self.speaker else said


def read(file: File) -> Items:
    """Yield the document of a file of subtitles."""
    text = decode(file).replace("\r", "\n")
    left: LeftOut = Counter()
    if "[Events]" in text:
        cues = _dialogue(text)
    else:
        cues = list(_cues(text))
        if text.startswith("WEBVTT"):
            left["comment"] += len(_NOTE.findall(text))
    speeches = list(_speeches(_without_repetitions(cues)))
    texts = split(Block(f"{speech.text()}\n\n") for speech in speeches)
    if not texts:
        raise NothingError("empty: subtitles without text")
    headers = {name.lower(): value.strip() for name, value in _HEADER.findall(text.partition("-->")[0])}
    title = headers.get("title", "")
    speakers = dict.fromkeys(speech.speaker for speech in speeches)
    known = {
        "speakers": [speaker for speaker in speakers if speaker],
        "duration": _clock(max(cue.end for cue in cues)),
        "language": headers.get("language"),
    }
    sections = []
    if len(texts) > 1:
        sections = [f"{title or stem(file)} > {_clock(time)}" for time in _times(speeches, texts)]
    meta = metadata(known.items())
    yield from document(file, "subtitles", title, texts, text, meta=meta, sections=sections)
    yield from left_out(file.name, left)


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _seconds(hours: str | None, minutes: str, seconds: str) -> int:
    return 3600 * int(hours or 0) + 60 * int(minutes) + int(seconds)


def _cues(text: str) -> Iterator[_Cue]:
    """Yield the cues of WebVTT, SubRip and SubViewer."""
    is_vtt = text.startswith("WEBVTT")
    cue: _Cue | None = None
    before = ""
    is_broken = False  # whether an empty line was before, in or after a cue
    for line in text.split("\n"):
        times = _TIMES.match(line)
        if times:
            if cue:
                if cue.lines[-1:] == [before] and before.strip().isdigit():
                    cue.lines.pop()  # the number of the next cue
                yield cue
            hours, minutes, seconds, *end = times.groups()
            cue = _Cue(_seconds(hours, minutes, seconds), _seconds(*end), [])
            is_broken = False
        elif not line.strip():
            is_broken = True
        elif cue and not (is_vtt and is_broken):
            cue.lines.append(line)
        before = line
    if cue:
        yield cue


def _dialogue(text: str) -> list[_Cue]:
    """Return the cues of SubStation Alpha, by their time."""
    names = _FIELDS
    cues = []
    for line in text.partition("[Events]")[2].split("\n"):
        kind, _, rest = line.partition(":")
        if kind.lower() == "format":
            names = [name.strip().lower() for name in rest.split(",")]
        elif kind.lower() == "dialogue":
            fields = rest.strip().split(",", len(names) - 1)
            values = dict(zip(names, fields, strict=False))
            start = re.match(_TIME, values.get("start", "").strip())
            end = re.match(_TIME, values.get("end", "").strip())
            if start and end:
                shown = _DRAWING.sub("", values.get("text", "")).replace("\\h", " ")
                speaker = values.get("name") or values.get("actor") or ""
                lines = re.split(r"\\[Nn]", shown)
                cues.append(_Cue(_seconds(*start.groups()), _seconds(*end.groups()), lines, speaker.strip()))
    return sorted(cues, key=lambda cue: cue.start)


def _without_repetitions(cues: list[_Cue]) -> list[_Cue]:
    """Return cues without the lines that the cue before shows too, if captions roll up so throughout."""
    kept: list[_Cue] = []
    before: list[str] = []
    repeated = 0
    for cue in cues:
        written = [line for line in cue.lines if _plain(line)]
        plain = [_plain(line) for line in written]
        same = 0
        for count in range(1, min(len(before), len(plain)) + 1):
            if before[-count:] == plain[:count]:
                same = count
        new = written[same:]
        if before and plain and not same and plain[0].startswith(f"{before[-1]} "):  # a line that grows
            same = 1
            new = [plain[0][len(before[-1]) :].strip(), *plain[1:]]
        repeated += same > 0
        kept.append(replace(cue, lines=new))
        before = plain or before
    return kept if 2 * repeated >= len(cues) - 1 > 1 else cues


def _plain(line: str) -> str:
    """Return a line without tags and with its characters as they are meant."""
    return single_spaced(html.unescape(_LAYOUT.sub("", line)))


def _speeches(cues: list[_Cue]) -> Iterator[_Speech]:
    """Yield what is said, joined as long as the same speaker goes on."""
    speech = _Speech()
    for cue in cues:
        voice = cue.speaker
        for line in cue.lines:
            first, *voiced = _VOICE.split(line)
            for name, said in [(voice, first), *zip(voiced[::2], voiced[1::2], strict=True)]:
                voice = single_spaced(html.unescape(name))
                speaker, plain, is_new = _speaker(voice, _plain(said), speech.speaker)
                if not plain and not is_new:
                    continue
                if is_new and speech.parts:
                    yield speech
                    speech = _Speech()
                speech.speaker = speaker
                if plain:
                    speech.parts.append(plain)
                    speech.times.append(cue.start)
    if speech.parts:
        yield speech


def _speaker(voice: str, plain: str, before: str) -> tuple[str, str, bool]:
    """Return the speaker of a line, what is said, and whether another one begins to speak."""
    if not plain:
        return before, "", False
    named = None if voice else _NAME.match(plain)
    if named:
        return named[1], plain[named.end() :], named[1] != before
    mark = _NEW_SPEAKER.match(plain)
    if mark:
        return voice, plain[mark.end() :], True
    speaker = voice or before
    return speaker, plain, speaker != before


def _times(speeches: list[_Speech], texts: list[str]) -> Iterator[int]:
    """Yield when each passage begins, told by how many letters are before it."""
    ends: list[int] = []
    times: list[int] = []
    letters = 0
    for speech in speeches:
        letters += _letters(f"{speech.speaker}:") if speech.speaker else 0
        for part in speech.parts:
            letters += _letters(part)
            ends.append(letters)
        times += speech.times
    start = 0
    for text in texts:
        yield times[min(bisect_right(ends, start), len(times) - 1)]
        start += _letters(text)


def _letters(text: str) -> int:
    return len("".join(text.split()))
