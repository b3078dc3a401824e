"""Forgetting, on every engine: what only a document supported goes with it, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract import CORPUS, DOCUMENTS, FILES, records, sources
from dump import differences, dump, version

from gsw_graph.errors import InputError
from gsw_graph.memory import Memory


def test_forget_knows_a_file_that_is_gone(fresh_settings, fake_embedder, tmp_path, monkeypatch):
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("one", "two", "three"):
        (folder / f"{name}.txt").write_text(f"This is about Number {name.title()}.", encoding="utf-8")
    with Memory.open(settings=fresh_settings) as memory:
        memory.load(str(folder))
        (folder / "one.txt").unlink()
        monkeypatch.chdir(tmp_path)
        assert [Path(source).name for source in memory.forget("notes/one.txt").forgotten] == ["one.txt"]
        for name in ("two", "three"):
            (folder / f"{name}.txt").unlink()
        folder.rmdir()
        without_slash = memory.forget("notes", "other", dry_run=True)
        assert without_slash.unknown == ["notes", "other"]
        assert without_slash.folders == {"notes": 2}
        assert len(memory.forget("notes/").forgotten) == 2
        assert memory.forget("notes").unknown == ["notes"]


def test_forgetting_one_is_never_having_loaded_it(corpus, tmp_path):
    before = dump(corpus)
    extra = records(
        tmp_path, "Then Ingrid Sølvær met Zora Zebedee on 3 May 1871 in Vellmouth.", "Then Zora Zebedee left."
    )
    corpus.load(extra)
    assert corpus.ask("Who is Zora Zebedee?", k=2).passages[0].source in {"d0", "d1"}
    found = corpus.forget("d0", "no such document")
    assert found.forgotten == ["d0"]
    assert found.unknown == ["no such document"]
    assert sources(corpus.ask("Who is Zora Zebedee?", k=3)).count("d1") == 1  # the caches follow
    assert "d0" not in sources(corpus.ask("Who is Zora Zebedee?", k=40))
    corpus.forget("d1")
    assert differences(dump(corpus), before) == []


def test_forgetting_by_path_and_by_folder(corpus, tmp_path):
    before = dump(corpus)
    (tmp_path / "notes").mkdir()
    for name in ("one.txt", "two.md"):
        (tmp_path / "notes" / name).write_text(f"Then {name[:3].title()} Person came to Vellmouth.")
    corpus.load(str(tmp_path / "notes"))
    assert corpus.forget(str(tmp_path / "notes/one.txt")).forgotten == [
        (tmp_path / "notes/one.txt").as_posix()
    ]
    assert corpus.status().nodes["Document"] == len(FILES) + 1
    assert len(corpus.forget(f"{tmp_path}/notes/").forgotten) == 1
    assert corpus.forget(str(tmp_path / "notes")).unknown == [str(tmp_path / "notes")]
    assert differences(dump(corpus), before) == []


def test_forgetting_everything_leaves_the_memory_node_only(corpus):
    before = version(corpus)
    kept = corpus.status()
    assert corpus.forget(everything=True).forgotten == sorted(d.source for d in DOCUMENTS)
    left = dump(corpus)
    assert [label for label, _, _ in left["nodes"]] == ["Memory"]
    assert left["relationships"] == []
    after = corpus.status()
    assert version(corpus) > before
    assert after.created == kept.created
    assert after.embedder == kept.embedder
    assert after.indexed is True
    for strategy in ("linked", "dense", "bm25"):
        assert corpus.ask("Who is Ingrid Sølvær?", strategy=strategy).abstained
    assert corpus.forget(everything=True).forgotten == []


@pytest.mark.parametrize("name", ["", " ", "\t\n"])
def test_an_empty_name_forgets_nothing(corpus, name, monkeypatch):
    monkeypatch.chdir(Path(CORPUS).parent)
    with pytest.raises(InputError, match="empty name"):
        corpus.forget(FILES[0], name)
    assert corpus.forget("corpus", dry_run=True).forgotten == [], "a folder is named with a slash"
    assert len(corpus.forget("corpus/", "./../examples/corpus/", dry_run=True).forgotten) == len(FILES)
    assert corpus.status().nodes["Document"] == len(FILES)
