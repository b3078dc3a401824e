"""CachedReply replies: by content, for good, for many processes, for their owner alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from gsw_graph.errors import InputError
from gsw_graph.models.chat.cache import Cache, CachedReply
from gsw_graph.models.chat.request import Request

ASKED = Request(
    "extract",
    ({"role": "system", "content": "s"}, {"role": "user", "content": "Łódź \udc80"}),
    {"type": "object", "required": ["a"]},
    "a.txt",
)
WRITER = """
import sys
from pathlib import Path
from gsw_graph.models.chat.cache import Cache, CachedReply
cache = Cache(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    cache.put(f"{sys.argv[2]}-{number}", "m", "plan", CachedReply({"number": number}, 1, 2, 0.5))
    print(number, flush=True)
"""


@pytest.fixture
def file(tmp_path):
    return tmp_path / "cache/llm.sqlite"


def writer(file, name, count):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file), name, str(count)], stdout=subprocess.PIPE, text=True
    )


def test_kept_for_good(file):
    cache = Cache(file)
    key = cache.key("m", ASKED)
    assert cache.get(key) is None
    for content in ({"a": ["x", None, 1.5, "Łódź"]}, "a text\n", {"a": 2}):
        cache.put(key, "m", "extract", CachedReply(content, 10, 20, 1.5))
        assert cache.get(key) == CachedReply(content, 10, 20, 1.5)
    cache.close()
    again = Cache(file)
    assert again.get(key) == CachedReply({"a": 2}, 10, 20, 1.5)
    again.close()


def test_key_is_of_all_that_decides_and_of_nothing_else(file):
    cache = Cache(file)
    key = cache.key("m", ASKED)
    same = Request(
        "mend",
        tuple(dict(message) for message in ASKED.messages),
        {"type": "object", "required": ["a"]},
        "b.txt",
    )
    assert cache.key("m", same) == key  # neither the stage nor the document
    others = {
        cache.key("m2", ASKED),
        cache.key("m", Request("extract", ASKED.messages, None)),
        cache.key("m", Request("extract", ASKED.messages, {"type": "object", "required": ["b"]})),
        cache.key("m", Request("extract", ASKED.messages[::-1], ASKED.schema)),
        cache.key("m", Request("extract", (*ASKED.messages, {"role": "user", "content": ""}), ASKED.schema)),
    }
    assert len(others | {key}) == 6
    cache.close()


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_only_the_owner_can_read(file):
    before = os.umask(0)
    try:
        cache = Cache(file)
        cache.put("k", "m", "plan", CachedReply("secret", 1, 1, 1))
        found = {path.name: oct(path.stat().st_mode & 0o777) for path in file.parent.iterdir()}
        assert set(found.values()) == {"0o600"}
        assert file.parent.stat().st_mode & 0o777 == 0o700
        cache.close()
        file.chmod(0o644)
        Cache(file).close()
        assert file.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_documents_do_not_stand_in_the_file(file):
    cache = Cache(file)
    asked = Request("extract", ({"role": "user", "content": "the very secret passage"},), None, "a.txt")
    cache.put(cache.key("m", asked), "m", "extract", CachedReply("the reply", 1, 1, 1))
    cache.close()
    assert b"the reply" in file.read_bytes()
    assert b"very secret" not in file.read_bytes()


def test_several_processes_open_and_write_at_once(file):
    processes = [writer(file, str(number), 40) for number in range(3)]
    for process in processes:
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        assert len(out.split()) == 40
    cache = Cache(file)
    assert all(
        cache.get(f"{name}-{number}") == CachedReply({"number": number}, 1, 2, 0.5)
        for name in range(3)
        for number in range(40)
    )
    cache.close()


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX's")
def test_what_was_put_survives_a_kill(file):
    process = writer(file, "k", 1_000_000)
    assert process.stdout is not None
    with process.stdout as out:
        said = [next(out) for _ in range(25)]
        process.send_signal(signal.SIGKILL)
        said += list(out)
    assert process.wait(60) == -signal.SIGKILL
    cache = Cache(file)
    assert len(said) >= 25
    for number in range(len(said)):
        assert cache.get(f"k-{number}") is not None
    cache.close()


@pytest.mark.parametrize(
    "content", [b"this is no database at all, only text" * 100, b"SQLite format 3\0" + b"x" * 5000]
)
def test_a_damaged_file_is_said_to_be_one(file, content):
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"cannot be opened.*GSWGRAPH_CACHE") as caught:
        Cache(file)
    assert caught.value.where == str(file)
