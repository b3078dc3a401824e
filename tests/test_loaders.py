"""What `read` promises: which files, which documents, which failures, in which order."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gsw_graph.errors import InputError
from gsw_graph.loaders import files, read
from gsw_graph.loaders.files import MAX_LINE
from gsw_graph.model.documents import Document, Failure, Skipped


def load(*paths, stdin=None):
    return list(read([str(path) for path in paths], stdin=None if stdin is None else io.BytesIO(stdin)))


def one(path, content=None):
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found, *left_out = load(path)
    for item in left_out:
        assert isinstance(item, Skipped)
        assert item.part
    return found


def texts(document):
    assert isinstance(document, Document), document
    assert [passage.position for passage in document.passages] == list(range(len(document.passages)))
    assert all(passage.title == document.title for passage in document.passages)
    return [passage.text for passage in document.passages]


def jsonl(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


# --- paths ---


def test_a_folder_is_read_sorted_with_all_below_and_without_hidden_names(tmp_path):
    for name in ["b.txt", "a/z.txt", "a/.hidden.txt", ".git/x.txt", "c/d/e.md"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("Some words.")
    expected = [(tmp_path / name).as_posix() for name in ["a/z.txt", "b.txt", "c/d/e.md"]]
    assert [found.source for found in load(tmp_path)] == expected


def test_loops_of_links_end_and_a_file_is_read_once(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_text("Some words.")
    (tmp_path / "in/loop").symlink_to(tmp_path)
    (tmp_path / "in/self").symlink_to("self")
    (tmp_path / "again.txt").symlink_to(tmp_path / "in/a.txt")
    found = load(tmp_path, tmp_path / "in/a.txt", tmp_path / "**/*.txt")
    assert [item.source for item in found if isinstance(item, Document)] == [
        (tmp_path / "in/a.txt").as_posix()
    ]
    assert [item.source for item in found if isinstance(item, Failure)] == [(tmp_path / "in/self").as_posix()]


@pytest.mark.parametrize("missing", ["gone.txt", "*.pdf", "no/**/*.txt", "a\0b", "x" * 5000])
def test_a_missing_path_is_listed_and_the_rest_is_read(tmp_path, missing):
    (tmp_path / "a.txt").write_text("Some words.")
    failure, document = read([str(tmp_path / "a.txt"), f"{tmp_path}/{missing}"])
    assert isinstance(failure, Failure)
    assert failure.reason in ("no such file or folder", "nothing matches this pattern")
    assert isinstance(document, Document)
    assert document.title == "a"
    with pytest.raises(InputError, match=r"no such file or folder|nothing matches this pattern"):
        read([f"{tmp_path}/{missing}"])
    with pytest.raises(InputError, match="nor do 1 others"):
        read([f"{tmp_path}/{missing}", f"{tmp_path}/other"])


def test_an_unreadable_file_and_folder_are_failures(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("Some words.")
    (tmp_path / "b.txt").write_text("Some words.")
    (tmp_path / "empty").mkdir()
    plain = Path.open

    def refuse(self, *args, **kwargs):
        if self.name == "a.txt":
            raise PermissionError(13, "Permission denied")
        return plain(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", refuse)
    expected = [
        Failure((tmp_path / "a.txt").as_posix(), "cannot be read: Permission denied"),
        load(tmp_path / "b.txt")[0],
        Skipped((tmp_path / "empty").as_posix(), "an empty folder"),
    ]
    assert load(tmp_path) == expected


def test_a_file_name_that_is_not_utf8_is_a_failure(tmp_path):
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt")).write_text("Some words.")
    except OSError:
        pytest.skip("this file system takes no such name")
    (failure,) = load(tmp_path)
    assert isinstance(failure, Failure)
    failure.source.encode()
    assert "rename" in failure.reason


def test_reading_is_lazy(tmp_path):
    (tmp_path / "a.txt").write_text("Some words.")
    (tmp_path / "b.txt").write_text("Some words.")
    found = read([str(tmp_path)])
    assert texts(next(found)) == ["Some words."]
    (tmp_path / "b.txt").write_text("Other words.")
    assert texts(next(found)) == ["Other words."]


# --- stdin ---


def test_a_program_may_end_while_a_thread_waits_for_stdin():
    program = """if True:
        import sys, threading, time
        from gsw_graph.loaders import read

        threading.Thread(target=lambda: list(read(["-"])), daemon=True).start()
        time.sleep(1)
        sys.exit(3)
    """
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.wait(60)
        assert process.stderr is not None
        assert process.returncode == 3
        assert process.stderr.read() == ""


def test_an_ending_tells_one_format():
    endings = [ending for row in files._NAMED.values() for ending in row]
    assert len(endings) == len(set(endings))


def test_text_on_stdin_is_named_by_its_content():
    (first,), (again,), (other,) = (
        load("-", stdin=b"Some words."),
        load("-", stdin=b"Some words.\n"),
        load("-", stdin=b"Others."),
    )
    assert first.source == again.source != other.source
    assert first.source.startswith("stdin#")
    assert len(first.source) == len("stdin#") + 12
    assert first.title == "stdin"
    assert load("-", stdin=b"The Harbour\n\nSome words.")[0].title == "The Harbour"


# --- text ---


def test_a_text_file(tmp_path):
    path = tmp_path / "old_harbour-light.txt"
    document = one(path, b"\xef\xbb\xbf\r\n  First line.\r\nSecond line.\r\n\r\nEnd.\r\n\r\n")
    assert document.source == path.resolve().as_posix()
    assert document.title == "old harbour light"
    assert document.loader == "text"
    assert texts(document) == ["First line.\nSecond line.\n\nEnd."]


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("The Light\n\nIt shone.", "The Light", "It shone."),
        ("The Light\n  \n\n\nIt shone.", "The Light", "It shone."),
        ("The Light.\n\nIt shone.", "a", "The Light.\n\nIt shone."),
        ("The Light\nIt shone.", "a", "The Light\nIt shone."),
        ("The Light", "a", "The Light"),
        ("word " * 30 + "\n\nIt shone.", "a", "word " * 30 + "\n\nIt shone."),
    ],
)
def test_the_title_of_a_text(tmp_path, text, title, body):
    document = one(tmp_path / "a.txt", text)
    assert document.title == title
    assert texts(document) == [body]


@pytest.mark.parametrize(
    ("content", "place", "reason"),
    [
        (b"", "", "empty"),
        (b"\xef\xbb\xbf \n\t\n", "", "empty"),
        ("\u00a0\u3000\n".encode(), "", "empty"),
        (b" \n" * 50_000, "", "empty"),
        (
            b"good\ncaf\xe9\n",
            ":2",
            "not UTF-8: byte 0xe9 at column 4, and its encoding cannot be told: save it as UTF-8",
        ),
        (b"good\nb\0d\n", "", "not text: a NUL byte at offset 6"),
        (b"good\n" * 20_000 + b"b\0d\n", ":20001", "not text: a NUL byte at column 2"),
        (b"a" * 10 + b"\n" + b"b" * (MAX_LINE + 1), ":2", "a line of more than 16 MiB"),
    ],
)
def test_what_is_not_text_is_a_failure_with_its_place(tmp_path, content, place, reason):
    path = tmp_path / "a.txt"
    assert one(path, content) == (Skipped if reason == "empty" else Failure)(f"{path}{place}", reason)


# --- Markdown ---


def test_markdown_is_readable_text(tmp_path):
    document = one(
        tmp_path / "a.md",
        "---\ntitle: Front\ntags: [x]\n---\n\n# The *Old* Light #\n\n**Ana** Ruiz lit [the lamp](http://x.y/a_(b)) and ![map](m.png).\n\n"
        "## Keepers\n\nSee `a*b*c` and _one_ snake_case_name, 2 * 3 * 4.\n\n***\n\n"
        "[ref]: http://x.y\n\n```py\nx = '**raw**'\n\n# no heading\n```\n",
    )
    assert document.title == "Front"
    assert document.loader == "markdown"
    assert texts(document) == [
        "tags: x\n\nThe Old Light\n\nAna Ruiz lit the lamp and map.\n\nKeepers\n\nSee `a*b*c` and one snake_case_name, 2 * 3 * 4.\n\n"
        "```py\nx = '**raw**'\n\n# no heading\n```"
    ]


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("---\ntitle: 'Front'\n---\nSome words.", "Front", "Some words."),
        ("---\ntitle: Light\n---\n# Light\n\nSome words.", "Light", "Some words."),
        ("Some words.", "the file", "Some words."),
        ("Light\n=====\n\nSome words.", "Light", "Some words."),
        ("Before.\n\n# Light\n\nSome words.", "Light", "Before.\n\nLight\n\nSome words."),
        ("---\n\nno front matter: here", "the file", "no front matter: here"),
        ("## Part\n\nSome words.", "the file", "Part\n\nSome words."),
        ("| a | **b** |\n|---|---|\n| 1 | 2 |", "the file", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("```\nnever closed", "the file", "```\nnever closed"),
    ],
)
def test_the_title_and_text_of_markdown(tmp_path, text, title, body):
    document = one(tmp_path / "the_file.md", text)
    assert document.title == title
    assert texts(document) == [body]


@pytest.mark.parametrize("mark", ["[", "**a ", "_a ", "`", "[a]("])
def test_no_markdown_is_slow(tmp_path, mark):
    one(tmp_path / "a.md", "x " + mark * 100_000)


# --- corpus ---


def test_a_record_is_one_passage_with_its_text_unchanged(tmp_path):
    text = "  One.\r\n\r\nTwo e\u0301.  " + "word " * 900
    array = one(tmp_path / "a.json", json.dumps([{"title": "T", "text": text, "extra": [1]}]))
    line = one(tmp_path / "b.jsonl", jsonl({"text": text, "title": "T"}))
    assert array == line
    assert array.title == "T"
    assert array.loader == "corpus"
    assert texts(array) == [text]


@pytest.mark.parametrize(
    ("extra", "source"),
    [
        ({"id": "7", "source": "wiki"}, "wiki#7"),
        ({"id": 7}, "7"),
        ({"source": "wiki"}, "wiki"),
        ({"id": None, "source": ""}, None),
        ({}, None),
    ],
)
def test_the_source_of_a_record(tmp_path, extra, source):
    document = one(tmp_path / "a.jsonl", jsonl({"title": "T", "text": "x", **extra}))
    if source is None:
        source = one(tmp_path / "b.json", json.dumps([{"text": "x", "title": "T"}])).source
        assert source.startswith("T#")
        assert len(source) == 14
    assert document.source == source


def load_records(tmp_path, *records):
    (tmp_path / "records.jsonl").write_text(jsonl(*records))
    return load(tmp_path / "records.jsonl")


def test_one_source_with_two_contents_is_a_failure_that_names_both_places(tmp_path):
    found = load_records(
        tmp_path, {"text": "x", "id": "1"}, {"text": "x", "id": "1"}, {"text": "y", "id": "1"}
    )
    path = tmp_path / "records.jsonl"
    assert texts(found[0]) == ["x"]
    assert found[1:] == [
        Failure(f"{path}:3", f"the source '1' has other content at {path}:1; give each record its own id")
    ]
    (tmp_path / "more.jsonl").write_text(jsonl({"text": "z", "id": "1"}))
    again = load(path, tmp_path / "more.jsonl")
    assert again[-1].source == f"{tmp_path / 'more.jsonl'}:1"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"title": "T"}', "no `text`"),
        ('{"title": "T", "text": null}', "no `text`"),
        ('{"title": "T", "text": 5}', "`text` is not a string"),
        ('{"title": "T", "text": ["x"]}', "`text` is not a string"),
        ('{"title": "T", "text": " \\n"}', "empty"),
        ('{"title": 5, "text": "x"}', "`title` is not a string"),
        ('{"title": {"a": 1}, "text": "x"}', "`title` is not a string"),
        ('{"id": true, "text": "x"}', "`id`"),
        ('{"id": [1], "text": "x"}', "`id`"),
        ('{"source": 1, "text": "x"}', "`source`"),
        ('{"title": "T", "text": "x', "broken JSON"),
        ('{"title": "T", "text": "x"} {}', "broken JSON"),
        ('["x"]', "not a record"),
        ('"x"', "not a record"),
        ('{"text": "a\tb"}', "broken JSON: Invalid control character at column 12"),
        ("[" * 100_000, "broken JSON"),
        ('{"text": "x", "id": ' + "1" * 5000 + "}", "broken JSON"),
        ('{"text": "a\\u0000b"}', "NUL"),
        ('{"text": "a\\ud800b"}', "surrogate"),
        ('{"text": "x", "extra": {"deep": ["\\udc00"]}}', "surrogate"),
        ('{"text": "x", "\\u0000": 1}', "NUL"),
        ('{"text": "a\0b"}', "broken JSON"),
    ],
)
def test_a_bad_line_is_a_failure_with_its_place_and_the_rest_loads(tmp_path, line, reason):
    path = tmp_path / "a.jsonl"
    path.write_text(f"{jsonl({'text': 'first'})}\n{line}\n{jsonl({'text': 'last'})}")
    first, failure, last = load(path)
    assert texts(first) == ["first"]
    assert texts(last) == ["last"]
    assert failure.source == f"{path}:3"
    assert reason in failure.reason


def test_lines_that_are_too_long_or_not_utf8_are_passed_over(tmp_path):
    path = tmp_path / "a.jsonl"
    huge = b'{"text": "' + b"x" * 20_000_000 + b'"}\n'
    path.write_bytes(
        b"\xef\xbb\xbf"
        + jsonl({"text": "first"}).encode()
        + huge
        + b'{"text": "caf\xe9"}\r\n'
        + jsonl({"text": "last"}).encode()
    )
    first, long, latin, last = load(path)
    assert texts(first) == ["first"]
    assert texts(last) == ["last"]
    assert long == Failure(f"{path}:2", "a line of more than 16 MiB")
    assert latin.source == f"{path}:3"
    assert latin.reason[:9] == "not UTF-8"


def test_a_broken_array_loads_nothing(tmp_path):
    path = tmp_path / "a.json"
    failure = one(path, '[{"text": "x"},\n {"text": "y"},\n  oops]')
    assert failure.source == f"{path}:3:3"
    assert failure.reason == "broken JSON: Expecting value at line 3 column 3"


def test_formats_are_known_by_content(tmp_path):
    assert one(tmp_path / "a.txt", jsonl({"text": "x"}, {"text": "x"})).loader == "corpus"
    assert one(tmp_path / "b.txt", '[\n {"text": "x"}]').loader == "corpus"
    assert one(tmp_path / "c.json", jsonl({"text": "x"}, {"text": "x"})).loader == "corpus"
    assert one(tmp_path / "d.json", '{\n "text": "x"\n}').loader == "corpus"
    assert one(tmp_path / "e", "# Light\n\nSome words.").loader == "markdown"
    assert one(tmp_path / "f.txt", "[1] A note, and {braces}.").loader == "text"
    assert one(tmp_path / "g.txt", "# a comment\nwords = 5").loader == "text"
    assert one(tmp_path / "h.json", "[]") == Skipped(f"{tmp_path}/h.json", "empty")
    assert load("-", stdin=b'{"text": "broken\n{"text": "x"}\n')[1].loader == "corpus"


def test_globs_are_sorted_and_two_stars_go_down(tmp_path, monkeypatch):
    for name in ["b.txt", "a.txt", "c.md", "sub/d.txt", ".sub/e.txt", "odd[1].txt"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Some words.")
    stems = [Path(found.source).stem for found in load(tmp_path / "*.txt")]
    assert stems == ["a", "b", "odd[1]"]
    monkeypatch.chdir(tmp_path)
    assert [Path(found.source).stem for found in read(["**/*.txt"])] == ["a", "b", "odd[1]", "d"]
    assert [found.source for found in read(["odd[1].txt"])] == [
        (tmp_path / "odd[1].txt").as_posix()
    ]  # a name before a pattern
