"""A load that is killed anywhere, and again and again, ends where an undisturbed one does."""

from __future__ import annotations

import json
import os
import random
import signal
import time

import pytest
from crash_place import CRASHES
from dump import differences, dump

from gsw_graph.memory import Memory

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

DOCUMENTS = 60 if CRASHES > 1 else 16


def write_corpus(folder, changed):
    """Documents that share names, every tenth too large for one transaction; `changed` every other, some shorter, some longer."""
    folder.mkdir(exist_ok=True)
    for n in range(DOCUMENTS):
        new = changed and n % 2 == 0
        if n % 10 == 0 and not new:
            size = 12 if n % 4 else 6
        else:
            size = 6 if n % 10 == 0 or (new and n % 14 == 0) else 1
        first = f"Then Person{n} Smith met Person{(n + 1) % DOCUMENTS} Smith in {'Newtown' if new else 'Oldtown'} on 3 May 18{n:02}. So {'BRÖN' if n % 3 else 'Brön'} sang."
        filler = [
            f"On {m + 1} May 18{n:02} they wrote of Topic{n}x{m} and of the Bank of {'England' if m % 2 else 'Wales'} at length."
            for m in range(14)
        ]
        text = "\n\n".join(f"{first} Part {part}. {' '.join(filler)}" for part in range(size))
        (folder / f"document{n}.txt").write_text(text, encoding="utf-8")


def test_kill_anywhere(place, tmp_path):
    write_corpus(tmp_path / "corpus", changed=True)
    seconds = min(
        (place().finish() for _ in range(2 * (CRASHES > 1))), default=3.0
    )  # one may be held up, and kills by it would come too late
    with Memory.open(settings=place().settings) as memory:
        memory.load(str(tmp_path / "corpus"))
        expected = dump(memory)
    killed = place()
    rng = random.Random(1871)
    kills = 0
    half = (CRASHES + 1) // 2
    for changed in (False, True):  # a first load, then one that replaces half of the documents
        write_corpus(tmp_path / "corpus", changed=changed)
        for number in range(half):
            early = number % 5 == 4
            wait = (
                rng.uniform(0, 2.0) if early else rng.uniform(0, max(min(2.2 / half, 0.5) * seconds, 0.3))
            )  # a load may be twice as fast as the two before
            kills += killed.kill(wait, engine=rng.random() < 0.5, early=early)
        killed.finish()
    assert kills >= CRASHES * 0.6
    killed.check(expected)


def test_kill_while_names_are_merged(place, tmp_path):
    (tmp_path / "corpus").mkdir()
    texts = [f"Then Captain{n} Ann-Marie Smith met Captain{n} Ann Marie Smith in Oldtown." for n in range(40)]
    (tmp_path / "corpus/all.jsonl").write_text(
        "\n".join(json.dumps({"id": f"d{n}", "title": "", "text": text}) for n, text in enumerate(texts)),
        encoding="utf-8",
    )
    here = place()
    with Memory.open(settings=here.settings) as memory:
        memory.load(str(here.folder))
        before = dump(memory)
        wanted = len(memory.merge(dry_run=True).groups)
        assert wanted >= 40
    for groups in (1, 10):  # that it says it merges before it is killed
        with here.start("merge") as process:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("open")
            assert [process.stdout.readline() for _ in range(groups)] == ["merging\n"] * groups
            process.kill()
    with Memory.open(settings=here.settings) as memory:
        merged = memory.status().relationships["ALIAS_OF"]
        memory.merge()
        assert memory.status().relationships["ALIAS_OF"] == wanted
        assert [finding for finding in memory.doctor() if not finding.ok] == []
        memory.unmerge("all")
        assert differences(dump(memory), before) == []
    assert 0 < merged < wanted


def test_ctrl_c_ends_a_load_quietly_and_the_next_completes_it(place, tmp_path):
    write_corpus(tmp_path / "corpus", changed=False)
    here = place()
    with here.start("cli", "load", str(here.folder)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "embedding\n"
        time.sleep(0.6)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        said = process.stderr.read()
        code = process.wait(60)
    assert code == 130, said
    assert said.strip() == "Interrupted. The same command completes what is missing."
    with Memory.open(settings=here.settings) as memory:
        assert memory.load(str(here.folder)).failures == []
        assert memory.status().nodes["Document"] == DOCUMENTS
        assert [finding for finding in memory.doctor() if not finding.ok] == []
        stopped = memory.load(str(here.folder)).documents
    assert stopped.unchanged == DOCUMENTS
