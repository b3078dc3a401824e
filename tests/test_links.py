"""What a folder may lead a load to: links, pipes, and records that say they are another file. And what is skipped."""

from __future__ import annotations

import json
import os

import pytest

from gsw_graph.loaders import read, size
from gsw_graph.model.documents import Document, Failure, Skipped

WORDS = "Some words."
LINK = "a link that leads out of the folder; load what it leads to by its name, or with --follow-links"


def load(*paths, follow_links=False):
    return list(read(map(str, paths), follow_links=follow_links))


@pytest.fixture
def outside(tmp_path):
    """A folder with a link to a file and one to a folder that stand beside it, and one to a file of its own."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/s.txt").write_text("The password.")
    (tmp_path / "p.txt").write_text("Another password.")
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "a.txt").write_text(WORDS)
    (inside / "b.txt").symlink_to("../p.txt")
    (inside / "c").symlink_to(tmp_path / "secret")
    (inside / "d.txt").symlink_to("a.txt")
    return inside


def test_links_that_lead_out_of_a_folder_are_left_out_and_named(outside):
    found = load(outside)
    assert [item.source for item in found] == [
        (outside / name).as_posix() for name in ("a.txt", "b.txt", "c")
    ]
    assert found[1:] == [Skipped((outside / name).as_posix(), LINK) for name in ("b.txt", "c")]
    assert load(outside / "**/*")[1:] == found[1:]
    assert load(outside / "*/s.txt") == [Skipped((outside / "c/s.txt").as_posix(), LINK)]
    assert size([str(outside)]) == len(WORDS)


def test_links_are_followed_when_asked_to_or_named(outside):
    texts = [WORDS, "Another password.", "The password."]
    assert [item.passages[0].text for item in load(outside, follow_links=True)] == texts
    assert [item.passages[0].text for item in load(outside / "b.txt")] == texts[1:2]
    assert [item.passages[0].text for item in load(outside / "c")] == texts[2:]
    assert isinstance(load(outside, outside.parent / "p.txt")[-1], Document)  # it was not seen yet


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "p")
    (failure,) = load(tmp_path / "p")
    assert failure == Failure(
        (tmp_path / "p").as_posix(),
        f"a pipe or a device, which may keep a load waiting for ever: send what it says to standard input: gswgraph load - < {tmp_path}/p",
    )
    assert "a pipe or a device" in load("/dev/zero")[0].reason
    end, start = os.pipe()
    os.write(start, WORDS.encode())
    os.close(start)
    assert isinstance(load(f"/dev/fd/{end}")[0], Document)  # what a shell makes of <(command)
    os.close(end)


def test_a_record_is_not_another_file(tmp_path):
    for name, text in (("0.jsonl", "False words."), ("a.txt", WORDS)):
        if name != "a.txt":
            content = json.dumps({"text": text, "source": (tmp_path / "a.txt").as_posix()}) + "\n"
        else:
            content = text
        (tmp_path / name).write_text(content)
    failure, document = load(tmp_path)
    assert failure == Failure(
        f"{tmp_path}/0.jsonl:1",
        f"its source '{tmp_path}/a.txt' is another file; load that file, or give the record a source of its own",
    )
    assert document.passages[0].text == WORDS
    own = tmp_path / "own.jsonl"
    own.write_text(
        json.dumps({"text": WORDS, "source": own.as_posix()})
        + "\n"
        + json.dumps({"text": WORDS, "source": f"{tmp_path}/gone"})
        + "\n"
    )
    assert [item.source for item in load(own)] == [own.as_posix(), f"{tmp_path}/gone"]


def test_a_record_does_not_take_the_place_of_a_file_of_the_memory(memory, tmp_path):
    path = tmp_path / "a.txt"
    records = tmp_path / "r.jsonl"
    path.write_text(WORDS)
    assert memory.load(str(path)).documents.new == 1
    path.unlink()
    records.write_text(
        "".join(
            json.dumps({"text": f"False {n}.", "source": s}) + "\n"
            for n, s in enumerate((path.as_posix(), "mine"))
        )
    )
    for _ in range(2):
        report = memory.load(str(records), replace=True)
        assert report.documents.failed == 1
        assert [failure.source for failure in report.failures] == [path.as_posix()]
        assert "which is a file of the memory" in report.failures[0].reason
    assert {row["t"] for row in memory.cypher("MATCH (p:Passage) RETURN p.text AS t").rows} == {
        WORDS,
        "False 1.",
    }
    records.write_text(json.dumps({"text": "Other words.", "source": "mine"}) + "\n")
    assert memory.load(str(records)).documents.replaced == 1  # its own


TEXTLESS = {
    "a.png": (b"\x89PNG\r\n\x1a\n\0", "a PNG image, which has no text to load"),
    "b.webp": (b"RIFF\x10\0\0\0WEBPVP8 ", "a WebP image, which has no text to load"),
    "c.tar": (b"a.txt".ljust(257, b"\0") + b"ustar\0", "a tar archive: unpack it and load the folder"),
    "d.gz": (b"\x1f\x8b\x08\0", "a gzip archive: unpack it and load the folder"),
    "e.7z": (b"7z\xbc\xaf\x27\x1c\0\4", "a 7z archive: unpack it and load the folder"),
    "f.mp3": (b"ID3\x04\0\0", "a sound file, which has no text to load"),
    "g.txt": (b" \n", "empty"),
    "h.md": (b"# Only a heading\n\n", "empty: headings or front matter, and no text"),
    "i.svg": (b"<svg xmlns='x'><path d='M0'/></svg>", "an SVG image, which has no text to load"),
}


def test_what_holds_nothing_to_load_is_skipped_by_name(memory, tmp_path):
    for name, (content, _) in TEXTLESS.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "z.txt").write_text("BM and MZ, ID3 and OTTO are words of a text.")
    (tmp_path / "none").mkdir()
    report = memory.load(str(tmp_path))
    assert report.documents.new == 1
    assert report.documents.failed == 0
    assert report.failures == []
    expected = {
        **{(tmp_path / name).as_posix(): reason for name, (_, reason) in TEXTLESS.items()},
        (tmp_path / "none").as_posix(): "an empty folder",
    }
    assert {skipped.source: skipped.reason for skipped in report.skipped} == expected
