"""The child process that reads documents: what a hostile one may cost, and what the child is given."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import document_files as make
import pytest
from waiting import until

from gsw_graph.loaders import converter, read
from gsw_graph.loaders.converter import Converter
from gsw_graph.loaders.files import UnusableError
from gsw_graph.model.documents import Document, Failure

if not os.environ.get("CI") and not all(map(find_spec, ("pypdfium2", "mammoth", "markdownify"))):
    pytest.skip("needs the extra documents", allow_module_level=True)
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

LAMP = "Ana Ruiz lit the lamp of the Old Light in 1863."
WORDS = "<w:p><w:r><w:t>x</w:t></w:r></w:p>"
MEMORY = 400 << 20


@pytest.fixture
def small(monkeypatch):
    """A child with less memory."""
    monkeypatch.setattr(converter, "MEMORY", MEMORY)
    child = Converter()
    monkeypatch.setattr(converter, "shared", child)
    yield child
    child.stop()


HOSTILE = {
    "a form that draws itself": make.pdf_of_forms(1, 2, cycle=True),
    "nine forms within each other": make.pdf_of_forms(9),
    "a page compressed twice": make.pdf_compressed_twice(300_000_000),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_takes_too_much_memory_is_one_failed_file(tmp_path, small, kind):
    (tmp_path / "a.pdf").write_bytes(make.pdf([LAMP]))
    (tmp_path / "b").write_bytes(HOSTILE[kind])
    (tmp_path / "c.pdf").write_bytes(make.pdf([LAMP]))
    first, failure, last = read([str(tmp_path)])
    assert isinstance(first, Document)
    assert isinstance(last, Document)
    assert isinstance(failure, Failure)
    assert failure.source == (tmp_path / "b").as_posix()
    assert "takes more than 400 MiB of memory to read" in failure.reason


def test_what_takes_too_long_is_stopped(small, monkeypatch):
    assert small.convert("pdf", make.pdf([LAMP])).text == LAMP
    monkeypatch.setattr(converter, "SECONDS", 0.2)
    with pytest.raises(UnusableError, match=r"an Office document.* that takes more than 0 seconds to read"):
        small.convert("archive", make.docx(WORDS * 30_000))
    monkeypatch.undo()
    assert small.convert("pdf", make.pdf([LAMP])).text == LAMP


def test_one_child_reads_all(small):
    text = small.convert("pdf", make.pdf([LAMP])).text
    pid = small.process.pid
    with pytest.raises(UnusableError, match="broken"):
        small.convert("archive", b"PK\x03\x04")
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(small.convert("pdf", make.pdf([LAMP])).text))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [text] * 8
    assert small.process.pid == pid


@linux
def test_a_child_that_died_meanwhile_is_replaced(small):
    small.convert("pdf", make.pdf([LAMP]))
    pid = small.process.pid
    os.kill(pid, 9)
    assert small.convert("pdf", make.pdf([LAMP])).text == LAMP
    assert small.process.pid != pid


@linux
def test_the_child_is_given_nothing_of_the_environment(small, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    small.convert("pdf", make.pdf([LAMP]))
    environment = Path(f"/proc/{small.process.pid}/environ").read_bytes().split(b"\0")
    may = {
        b"LD_LIBRARY_PATH",
        b"DYLD_LIBRARY_PATH",
        b"PYTHONHOME",
    }  # where this Python does not start without
    assert {entry.split(b"=")[0] for entry in environment if entry} - may == {
        b"PYTHONPATH",
        b"PYTHONSAFEPATH",
        b"PYTHONUTF8",
    }


@linux
def test_the_child_ends_with_its_parent():
    program = f"""
        import os, sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import document_files as make
        from gsw_graph.loaders import converter
        converter.shared.convert("pdf", make.pdf(["Words."]))
        print(converter.shared.process.pid, flush=True)
        converter.shared.convert("archive", make.docx({WORDS!r} * 100_000))
    """
    import textwrap

    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    until(
        lambda: (
            not Path(f"/proc/{child}").exists() or "State:\tZ" in Path(f"/proc/{child}/status").read_text()
        )
    )


def test_a_document_makes_its_reader_open_nothing():
    program = "from gsw_graph.loaders import converter as c; import sys, socket; sys.addaudithook(c._forbid); socket.create_connection(('127.0.0.1', 9))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "PermissionError: a document made its reader ask for socket." in found.stderr
