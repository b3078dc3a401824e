"""`doctor --deep`: an embedded memory with damaged files; what is broken is named, and mended from the sources that are there."""

from __future__ import annotations

import shutil
from pathlib import Path

import fakes
import pytest
import samples
from contract import CORPUS
from dump import Dump, differences, dump

from gsw_graph.config import Settings
from gsw_graph.inference.embed.embedder import Embedder
from gsw_graph.memory import Memory
from gsw_graph.results import Finding

BIG = "\n\n".join(f"Person{n} Marlowe came to Vellmouth in 18{n % 90 + 10} and met Quintus Albatross{n}. " * 12 for n in range(60))
CHECKS = ["engine", "embedder", "memory", "indexes", "documents", "graph", "storage", "counts", "lookups", "contents"]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a memory of files, of a large one among them, and of records; all files stand beside it."""
    folder = tmp_path_factory.mktemp("sound")
    shutil.copytree(CORPUS, folder / "corpus")
    (folder / "corpus" / "big.txt").write_text(BIG, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Embedder, "load", staticmethod(fakes.embedder))
        with Memory.open(settings=Settings(memory=str(folder / "memory"))) as memory:
            assert memory.load(str(folder / "corpus"), *samples.write(folder), extractor="rules").failures == []
            assert [finding.check for finding in memory.doctor(deep=True) if finding.ok] == CHECKS
    return folder


@pytest.fixture(scope="module")
def as_it_was(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> Dump:
    """All that the sound memory holds."""
    copy = shutil.copytree(sound / "memory", tmp_path_factory.mktemp("copy") / "memory")
    with Memory.open(settings=Settings(memory=str(copy))) as memory:
        return dump(memory)


@pytest.fixture
def damaged(sound: Path, tmp_path: Path, fake_embedder: None) -> Path:
    """The folder of a copy of the memory, to be damaged."""
    return Path(shutil.copytree(sound / "memory", tmp_path / "memory"))


def half(memory: Path, name: str) -> None:
    """Cut half of a file of the engine off."""
    (file,) = (memory / "databases" / "gsw").glob(f"{name}.[0-9]*.bucket")
    with file.open("r+b") as stream:
        stream.truncate(file.stat().st_size // 2)


def change(memory: Path, name: str, old: bytes, new: bytes) -> None:
    """Change bytes in a file of the engine."""
    (file,) = (memory / "databases" / "gsw").glob(f"{name}.[0-9]*.bucket")
    content = file.read_bytes()
    assert content.count(old) >= 1
    file.write_bytes(content.replace(old, new, 1))


def wrong(findings: list[Finding], *checks: str) -> list[str]:
    return [finding.found for finding in findings if not finding.ok and (not checks or finding.check in checks)]


def test_changed_bytes_of_a_passage_are_found_and_mended(sound: Path, damaged: Path) -> None:
    change(damaged, "Passage_0", b"is a harbour town", b"is a HARBOUR town")
    file = str(sound / "corpus" / "port_aldous.md")
    with Memory.open(settings=Settings(memory=str(damaged))) as memory:
        assert wrong(memory.doctor()) == [], "no quick look can see this"
        (found,) = [finding for finding in memory.doctor(deep=True) if not finding.ok]
        assert found.found.startswith(f"{file}: its text is not what was loaded")
        assert found.mend == "gswgraph doctor --deep --mend"
        findings = memory.doctor(deep=True, mend=True)
        assert wrong(findings) == []
        assert [finding.found for finding in findings if finding.check == "loaded again"] == ["1 of 1 broken by rules"]
        assert "is a harbour town" in memory.show(file).passages[0].text


@pytest.mark.parametrize("name", ["Passage_0", "QAPair_0", "Passage_0_in_edges"])
def test_half_of_a_file_is_found_and_mended(sound: Path, damaged: Path, as_it_was: Dump, name: str) -> None:
    """Documents with a file come back by themselves, records by another load; then nothing is missing, and nothing is there twice."""
    half(damaged, name)
    with Memory.open(settings=Settings(memory=str(damaged))) as memory:
        assert wrong(memory.doctor(), "storage")
        assert wrong(memory.doctor(mend=True), "storage"), "a quick mend leaves damaged storage alone"
        findings = memory.doctor(deep=True)
        if name == "Passage_0":
            assert "Passage can be read" in wrong(findings, "counts")[0]
            assert any(found.startswith(f"{sound / 'corpus' / 'big.txt'}: ") for found in wrong(findings, "document"))
        assert wrong(memory.doctor(deep=True, mend=True, may_forget=lambda sources: True)) == []
        memory.load(str(sound / "corpus"), str(sound / "workspaces.jsonl"), str(sound / "openie.json"), extractor="rules")
        assert wrong(memory.doctor(deep=True)) == []
        assert differences(dump(memory), as_it_was) == []


def test_what_has_no_file_goes_only_when_that_is_wanted(damaged: Path) -> None:
    change(damaged, "QAPair_0", b"Who built the Stone Pier?", b"Who BUILT the Stone Pier?")
    with Memory.open(settings=Settings(memory=str(damaged))) as memory:
        assert wrong(memory.doctor(deep=True)) == ["pier: 1 pairs of passage 1 are not what they were"]
        asked: list[list[str]] = []
        findings = memory.doctor(deep=True, mend=True, may_forget=lambda sources: bool(asked.append(sources)))
        assert asked == [["pier"]]
        assert "out of sight" in wrong(findings, "not mended")[0]
        assert memory.status().unfinished == ["pier"], "it is kept, and no answer comes of it"
        memory.forget("pier")
        assert wrong(memory.doctor(deep=True)) == []


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        ("MATCH (p:Passage {title: 'Stone Pier'}) SET p.embedding = [x IN p.embedding | -x]", "the vector of passage 1"),
        ("MATCH (q:QAPair {question: 'Who built the Stone Pier?'}) SET q.vector = null", "1 pairs of passage 1"),
        ("MATCH (f:Proposition {text: 'The pier is old.'}) SET f.text = 'The pier is new.'", "1 facts of passage 1"),
        ("MATCH (e:Entity {name: 'Ana Ruiz'})-[:IN]->(:Passage {title: 'Stone Pier'}) SET e.name = 'Anna Ruiz'", "1 entities of passage 1"),
        ("MATCH (d:Document {source: 'pier'}) SET d.title = 'Pier'", "its text is not what was loaded"),
    ],
)
def test_contents_are_held_against_their_ids(sample: Memory, harm: str, said: str) -> None:
    """On every engine: changes from outside, which no engine's own check can know of."""
    assert wrong(sample.doctor(deep=True)) == []
    sample.cypher(harm, write=True)
    (found,) = wrong(sample.doctor(deep=True), "document")
    assert found.startswith("pier: ")
    assert said in found
