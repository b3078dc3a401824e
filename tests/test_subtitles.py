"""Subtitles and transcripts of meetings are text, with their speakers and without their times."""

from __future__ import annotations

import pytest

from gsw_graph.extract import rules
from gsw_graph.loaders import read
from gsw_graph.model.documents import Document, Skipped


def load(path, content):
    path.write_bytes(content.encode())
    found, *rest = read([str(path)])
    assert isinstance(found, Document), found
    return found, [item.reason for item in rest if isinstance(item, Skipped)]


def text(document):
    return "\n\n".join(passage.text for passage in document.passages)


MEETING = """WEBVTT - Weekly
Language: en

NOTE made by a machine

STYLE
::cue { color: red }

REGION
id:low

5f0c-1
00:03.120 --> 00:06.400 align:start position:10%
<v Ana Ruiz>The sluice was drawn by Bo</v>

00:06.400 --> 00:00:09.080
<v Ana Ruiz>Lindqvist, who built the <i>Quill</i></v>

00:00:09.080 --> 00:00:11.900
<v.loud Ana Ruiz>Bridge &amp; gate.</v>
<v Ida Falk>And<00:00:12.400><c.red> the</c> gate?</v>
"""
ASS = """[Script Info]
Title: The Mill
[V4+ Styles]
Format: Name, Fontname
[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:03.00,0:00:05.00,Default,,0,0,0,,Falk, of {\\i1}Pell{\\i0}\\NBay.
Dialogue: 0,0:00:01.00,0:00:03.00,Default,,0,0,0,,{\\an8}It was built by Ida
Dialogue: 0,0:00:06.00,0:00:08.00,Default,,0,0,0,,{\\p1}m 0 0 l 10 10{\\p0}
"""


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.vtt", MEETING, "Ana Ruiz: The sluice was drawn by Bo Lindqvist, who built the Quill Bridge & gate.\n\nIda Falk: And the gate?"),
        ("a.srt", "\ufeff1\r\n00:00:01,000 --> 00:00:03,500 X1:1 Y1:2\r\n{\\an8}It was built by Ida\r\n\r\n2\r\n00:00:03,500 --> 00:00:06,000\r\nFalk in <font color=red>Pell</font>\r\nBay.\r\n", "It was built by Ida Falk in Pell Bay."),
        ("b.srt", "1\n00:00:01,000 --> 00:00:02,000\nOne.\n2\n00:00:03,000 --> 00:00:04,000\nIn 1904 there were\n1911\n\n3\n00:00:05,000 --> 00:00:06,000\n- Who?\n- Ida.\n", "One. In 1904 there were 1911\n\nWho?\n\nIda."),
        ("c.srt", "1\n00:00:01,000 --> 00:00:02,000\nANA: It was built\n\n2\n00:00:03,000 --> 00:00:04,000\nby Ida Falk.\n\n3\n00:00:05,000 --> 00:00:06,000\nBO RUIZ: No.\n\n4\n00:00:07,000 --> 00:00:08,000\nNo.\n", "ANA: It was built by Ida Falk.\n\nBO RUIZ: No. No."),
        ("a.sbv", "0:00:01.000,0:00:03.000\nIt was built by Ida\n\n0:00:03.000,0:00:06.000\nFalk.\n", "It was built by Ida Falk."),
        ("a.ass", ASS, "It was built by Ida Falk, of Pell Bay."),
        ("a.txt", "1\n00:00:01,000 --> 00:00:03,500\nIt was built by Ida\n\n2\n00:00:03,500 --> 00:00:06,000\nFalk.\n", "It was built by Ida Falk."),
    ],
)  # fmt: skip
def test_case_36_cues_are_joined_to_sentences(tmp_path, name, content, expected):
    found, _ = load(tmp_path / name, content)
    assert text(found) == expected
    assert found.loader == "subtitles"


def test_case_36_names_are_found_over_cues_and_speakers_are_known(tmp_path):
    found, left_out = load(tmp_path / "a.vtt", MEETING)
    names = {entity.name for entity in rules.extract(found).entities}
    assert {"Ana Ruiz", "Bo Lindqvist", "Ida Falk"} <= names
    expected = {
        "speakers": ["Ana Ruiz", "Ida Falk"],
        "duration": "00:00:11",
        "language": "en",
        "modified": 0,
    }
    assert dict(found.meta) | {"modified": 0} == expected
    assert left_out == ["1 comment"]


def test_captions_that_roll_up_are_read_once(tmp_path):
    lines = ["it was built", "by Ida Falk", "in Pell Bay", "and burned", "in 1911"]
    cues = [
        f"00:{n:02}.000 --> 00:{n + 1:02}.000\n{before}\n{line}\n"
        for n, (before, line) in enumerate(zip(["", *lines], lines, strict=False))
    ]
    cues[0] = cues[0].replace("\n\n", "\n \n")
    found = text(load(tmp_path / "a.vtt", "WEBVTT\n\n" + "\n".join(cues))[0])
    assert found == " ".join(lines)
    growing = [f"00:{n:02}.000 --> 00:{n + 1:02}.000\n{' '.join(lines[: n + 1])}\n" for n in range(4)]
    found = text(load(tmp_path / "b.vtt", "WEBVTT\n\n" + "\n".join(growing))[0])
    assert found == " ".join(lines[:4])


def test_a_passage_of_a_long_recording_knows_its_time(tmp_path):
    cues = "\n".join(
        f"{n}\n{n // 3600:02}:{n // 60 % 60:02}:{n % 60:02},000 --> {n // 3600:02}:{n // 60 % 60:02}:{n % 60:02},900\nWord{n} is said here.\n"
        for n in range(600)
    )
    found, _ = load(tmp_path / "talk.srt", cues)
    assert len(found.passages) > 5
    for passage in found.passages:
        second = int(passage.text.split()[0].removeprefix("Word"))
        assert passage.section == f"talk > 00:{second // 60:02}:{second % 60:02}"


@pytest.mark.parametrize(
    "content", ["WEBVTT\n\n00:01.000 --> 00:02.000\n\n", "1\n00:00:01,000 --> 00:00:02,000\n<i></i>\n"]
)
def test_subtitles_without_text_are_skipped(tmp_path, content):
    (tmp_path / "a.srt").write_text(content)
    found = list(read([str(tmp_path / "a.srt")]))
    expected = [Skipped((tmp_path / "a.srt").as_posix(), "empty: subtitles without text")]
    assert found == expected


def test_prose_about_subtitles_is_no_subtitles(tmp_path):
    assert load(tmp_path / "a.txt", "WEBVTT is a format of Ida Falk.")[0].loader == "text"
    assert load(tmp_path / "a.md", "Times as 00:01 --> 00:02 are arrows.")[0].loader == "markdown"
