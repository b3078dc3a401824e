"""The graph of propositions kept by the client: similar names, their threshold, growth by versions, and the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fakes import BagOfWords
from hypothesis import given, settings
from hypothesis import strategies as st

from gsw_graph.retrieve.propositions import graph as proposition_graph
from gsw_graph.retrieve.propositions import synonyms
from gsw_graph.retrieve.propositions.cache import Compared, compared, files

ROWS = [
    ("p0", ["f0", "f1"], [[1.0, 0.0], [0.0, 1.0]], [["ana ruiz", "stone pier"], ["ana ruiz"]]),
    ("p1", [], [], []),
    ("p2", ["f2"], [[0.6, 0.8]], [["the stone pier", "café"]]),
]


def encode(names):  # type: ignore[no-untyped-def]
    return BagOfWords().encode(names, query=False)


def points(seed: int, count: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(count, 4)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def same(one: Compared, other: Compared) -> bool:
    graphs = one.graph, other.graph
    lists = all(getattr(graphs[0], name) == getattr(graphs[1], name) for name in ("passages", "concepts", "propositions"))
    arrays = all(np.array_equal(getattr(graphs[0], name), getattr(graphs[1], name)) for name in ("home", "vectors"))
    sparse = all(abs(getattr(graphs[0], name) - getattr(graphs[1], name)).max() < 1e-6 for name in ("mentions", "similar"))
    return lists and arrays and sparse and np.array_equal(one.names, other.names)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 1000), count=st.integers(1, 40), least=st.floats(0.3, 0.95), known=st.integers(0, 40))
def test_similar_names_are_what_comparing_all_gives(seed: int, count: int, least: float, known: int) -> None:
    vectors, names = points(seed, count), [f"name {n}" for n in range(count)]
    cosines = vectors @ vectors.T
    truth = {(i, j) for i in range(count) for j in range(i + 1, count) if cosines[i, j] >= least}
    found = synonyms.pairs(names, vectors, least)
    assert set(zip(found.one.tolist(), found.other.tolist(), strict=True)) == truth
    new = np.arange(count) >= known
    some = synonyms.pairs(names, vectors, least, new)
    assert set(zip(some.one.tolist(), some.other.tolist(), strict=True)) == {(i, j) for i, j in truth if new[i] or new[j]}


def test_short_names_are_similar_to_nothing() -> None:
    vectors = np.ones((3, 1), dtype=np.float32)
    found = synonyms.pairs(["us", "u.s", "usa"], vectors, 0.5)
    assert len(found.one) == 0


def test_a_name_keeps_its_best_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synonyms, "NEIGHBOURS", 2)
    angles = np.array([0.0, 0.1, 0.2, 0.3])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    found = synonyms.matrix(synonyms.pairs(["one", "two", "three", "four"], vectors, 0.5), 4, 0.5).toarray()
    assert found[0, 3] == found[3, 0] == 0  # neither is among the other's two best
    assert np.count_nonzero(found) == 10
    assert np.array_equal(found, found.T)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 1000), count=st.integers(1, 60), known=st.integers(0, 60))
def test_pairs_that_are_many_are_cut_and_the_matrix_stays(seed: int, count: int, known: int) -> None:
    vectors, names = points(seed, count), [f"name {n}" for n in range(count)]
    every = synonyms.pairs(names, vectors, -1.0)
    assert len(every.one) == count * (count - 1) // 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synonyms, "NEIGHBOURS", 2)
        patch.setattr(synonyms, "_BLOCK", 7)
        cut = synonyms.pairs(names, vectors, -1.0)
        assert len(cut.one) <= 4 * count
        before = synonyms.pairs(names[:known], vectors[:known], -1.0)
        more = synonyms.pairs(names, vectors, -1.0, np.arange(count) >= known)
        joined = [np.concatenate([getattr(before, part), getattr(more, part)]) for part in ("one", "other", "cosines")]
        grown_ = synonyms.Pairs(joined[0], joined[1], joined[2], -1.0)
        wanted, *found = (synonyms.matrix(some, count, -1.0).toarray() for some in (every, cut, grown_))
    for matrix in found:
        assert np.allclose(matrix, wanted, atol=1e-6)


def test_the_threshold_is_what_few_random_pairs_exceed() -> None:
    vectors = points(1, 1500)
    least = synonyms.threshold(vectors)
    above = ((vectors @ vectors.T)[np.triu_indices(1500, 1)] > least).mean()
    assert above == pytest.approx(synonyms.CHANCE, rel=0.02)
    assert synonyms.threshold(vectors[:100]) == synonyms.FALLBACK


def test_buckets_find_most_of_what_comparing_all_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    centres = np.random.default_rng(2).normal(size=(60, 16))
    vectors = (np.repeat(centres, 20, axis=0) + np.random.default_rng(3).normal(scale=0.15, size=(1200, 16))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    names = [f"name {n}" for n in range(1200)]
    every = synonyms.pairs(names, vectors, 0.85)
    monkeypatch.setattr(synonyms, "_EXACT", 100)
    some = synonyms.pairs(names, vectors, 0.85)
    pairs = [set(zip(found.one.tolist(), found.other.tolist(), strict=True)) for found in (every, some)]
    assert pairs[1] <= pairs[0]
    assert len(pairs[1]) > 0.9 * len(pairs[0]) > 0


def test_similar_names_join_the_graph() -> None:
    kept = compared(proposition_graph.build(ROWS), encode)
    numbers = kept.graph.concept_numbers
    assert kept.graph.similar[numbers["stone pier"], numbers["the stone pier"]] >= synonyms.FALLBACK
    assert kept.graph.similar[numbers["ana ruiz"], numbers["stone pier"]] == 0


def test_a_later_version_embeds_only_new_names_and_comes_out_the_same() -> None:
    asked: list[str] = []

    def counted(names):  # type: ignore[no-untyped-def]
        asked.extend(names)
        return encode(names)

    before = compared(proposition_graph.build(ROWS), counted)
    assert sorted(asked) == ["ana ruiz", "café", "stone pier", "the stone pier"]
    asked.clear()
    rows = [("p9", ["f9"], [[0.0, 1.0]], [["old stone pier", "café"]]), *ROWS[1:]]  # a passage came, one went
    later = compared(proposition_graph.build(rows), counted, before)
    assert asked == ["old stone pier"]
    assert same(later, compared(proposition_graph.build(rows), encode))


def test_a_graph_survives_its_file(tmp_path: Path) -> None:
    kept = compared(proposition_graph.build(ROWS), encode)
    on_disk = files(tmp_path / "folder")
    on_disk.save(kept, 7)
    found = on_disk.load(7)
    assert found is not None
    assert same(kept, found)
    assert on_disk.load(8) is None
    assert same(kept, on_disk.any_version())  # type: ignore[arg-type]
    on_disk.save(kept, 8)
    assert [file.name for file in (tmp_path / "folder").iterdir()] == ["8.npz"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"\x93NUMPY"])
def test_a_broken_file_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "1.npz").write_bytes(content)
    assert files(tmp_path).load(1) is None
    assert files(tmp_path).load(2) is None
    assert files(tmp_path).any_version() is None


def test_an_empty_memory(tmp_path: Path) -> None:
    kept = compared(proposition_graph.build([]), encode)
    assert kept.graph.passages == kept.graph.concepts == []
    files(tmp_path).save(kept, 1)
    found = files(tmp_path).load(1)
    assert found is not None
    assert found.graph.propositions == []
