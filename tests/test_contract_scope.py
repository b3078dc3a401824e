"""A scope cuts the graph: nothing outside of it is found, counted or named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import fakes
import pytest
import samples

from gsw_graph.ask.options import AskOptions, parse_condition
from gsw_graph.config import Settings
from gsw_graph.errors import InputError
from gsw_graph.memory import Memory
from gsw_graph.model.results import Answer
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.store import facts
from gsw_graph.store.facts import HopQuestion, hop

STRATEGIES = ("auto", "linked", "ricr", "fusion", "pathwise", "dense", "bm25")
QUESTIONS = ("Who built the Stone Pier?", "Where did the builder of the Stone Pier live in 1863?", "Who met Captain Ruiz?")


def notes(folder: Path, name: str, count: int) -> Path:
    """A folder of notes about the same names as the samples."""
    folder.mkdir()
    for n in range(count):
        (folder / f"{n}.md").write_text(f"# {name} {n}\n\n{name} {n}: Captain Ruiz met Ana Ruiz at the Stone Pier on 3 May 18{n + 10}.")
    return folder


def found(answer: Answer) -> list[tuple[str, float]]:
    return [(passage.text, round(passage.score, 4)) for passage in answer.passages]


@pytest.fixture
def both(fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[Memory, Path, Path]]:
    """A memory of two folders, one of which is noise about the names of the other."""
    monkeypatch.setattr(Embedder, "load", staticmethod(fakes.embedder))
    inside, outside = notes(tmp_path / "inside", "Log", 12), notes(tmp_path / "outside", "Noise", 40)
    with Memory.open(settings=fresh_settings) as memory:
        assert memory.load(str(outside), *samples.write(tmp_path)).failures == []
        assert memory.load(str(inside)).failures == []
        yield memory, inside, outside


def test_nothing_outside_is_found_or_changes_the_order(both: tuple[Memory, Path, Path]) -> None:
    memory, inside, outside = both
    scoped = {(q, s): memory.ask(q, strategy=s, k=10, inside=(str(inside),), trace=True, keep=False) for q in QUESTIONS for s in STRATEGIES}
    others = tuple(d.source for d in memory.documents().documents if not d.source.startswith(inside.as_posix()))
    complement = memory.ask(QUESTIONS[0], strategy="linked", k=10, outside=(f"{outside}/", *others), keep=False)
    for (question, strategy), answer in scoped.items():
        assert answer.passages, (question, strategy)
        assert all(passage.source.startswith(inside.as_posix()) for passage in answer.passages), (question, strategy)
    assert found(complement) == found(scoped[QUESTIONS[0], "linked"])
    memory.forget(*{d.source for d in memory.documents().documents if not d.source.startswith(inside.as_posix())})
    for (question, strategy), answer in scoped.items():
        alone = memory.ask(question, strategy=strategy, k=10, keep=False)
        if strategy != "bm25":  # the scores of an index know how often a word occurs in all of it
            assert found(answer) == found(alone), (question, strategy)


def test_metadata_and_days_are_conditions(both: tuple[Memory, Path, Path]) -> None:
    memory = both[0]
    memory.cypher("MATCH (d:Document) WHERE d.title STARTS WITH 'Log' SET d.meta_author = 'Grau', d.meta_tags = ['tide', 'log'], d.meta_year = 1901, d.about = '1901-03-09'", write=True)

    def titles(**scope: object) -> set[str]:
        return {passage.title.split()[0] for passage in memory.ask(QUESTIONS[0], strategy="linked", k=100, keep=False, **scope).passages}

    for scope in ({"where": ('author = "Grau"',)}, {"where": ("Tags contains TIDE", "year >= 1901")}, {"since": "1901-03"}, {"until": "1901"}, {"where": ("title contains log",)}, {"where": ("author != Kunz",)}):
        assert titles(**scope) == {"Log"}, scope
    for scope in ({"where": ("year > 1901",)}, {"where": ("author != Grau",)}, {"since": "1902"}, {"until": "1901-03-08"}, {"inside": ("nothing",)}):
        with pytest.raises(InputError, match="no document is in this scope"):
            memory.ask(QUESTIONS[0], **scope)


def test_a_single_text_is_a_scope(both: tuple[Memory, Path, Path]) -> None:
    memory, inside, outside = both
    scopes: tuple[dict[str, str], ...] = ({"inside": str(inside)}, {"outside": str(outside)}, {"where": "title contains log"})
    for scope in scopes:
        passages = memory.ask(QUESTIONS[0], strategy="linked", k=100, keep=False, **scope).passages
        assert passages
        assert not any(passage.title.startswith("Noise") for passage in passages), scope


def test_a_name_that_is_common_outside_alone_brings_its_pairs(both: tuple[Memory, Path, Path]) -> None:
    memory = both[0]
    question = HopQuestion(embedding=[1.0] + [0.0] * (memory.embedder.dimension - 1), words="", keys=["stone pier"], passages=[])
    inside = [record["id"] for record in samples.RECORDS]

    def named(*scope: str) -> set[str]:
        reader = memory._reader
        if scope:
            reader.set_scope({}, inside=scope, outside=[], since="", until="", where=[])
        return {pair.id for pair, ways in hop(reader, [question], pairs=1, entities=1, common=30).candidates[0] if "name" in ways}

    assert not named()  # in too many passages of the memory
    pairs = named(*inside)
    memory.forget(*{document.source for document in memory.documents().documents}.difference(inside))
    assert pairs
    assert pairs == named()


def test_an_earlier_answer_is_not_given_within_a_scope(both: tuple[Memory, Path, Path]) -> None:
    assert AskOptions().may_reuse
    assert not AskOptions(inside=("a",)).may_reuse
    memory, _, outside = both
    answer = memory.ask("Who built the Stone Pier?", inside=(str(outside),))
    assert answer.id is not None
    assert memory.ask("Who built the Stone Pier?").cached is None


@pytest.mark.parametrize("text", ["author", "= Grau", "author ~ x", ""])
def test_what_is_no_condition_says_so(text: str) -> None:
    with pytest.raises(InputError, match="is no condition"):
        parse_condition(text)


def test_conditions_are_read() -> None:
    assert parse_condition('Author = "a = b"') == {"key": "meta_author", "op": "=", "value": "a = b"}
    assert parse_condition("year>=1901") == {"key": "meta_year", "op": ">=", "value": 1901}
    assert parse_condition("title contains the tide") == {"key": "title", "op": "contains", "value": "the tide"}


def test_facts_outside_are_neither_found_nor_counted(fresh_settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Propositions and pairs of the samples among propositions of many notes about the same names."""
    monkeypatch.setattr(Embedder, "load", staticmethod(fakes.embedder))
    inside = tuple(record["id"] for record in samples.RECORDS)
    with Memory.open(settings=fresh_settings) as memory:
        memory.load(str(notes(tmp_path / "outside", "Noise", 40)), extractor="sentences")
        memory.load(*samples.write(tmp_path))

        def results(**scope: tuple[str, ...]) -> list[object]:
            answers = [
                found(memory.ask(question, strategy=strategy, k=10, keep=False, **scope))
                for question in QUESTIONS
                for strategy in ("proprag", "proprag[recipe=paper]", "pruned", "pruned[recipe=paper]")
            ]
            reader = memory._reader
            if scope:
                reader.set_scope({}, **scope, outside=[], since="", until="", where=[])
            vector = memory.embedder.encode(["Who built the Stone Pier?"])[0].tolist()
            limits = {"nearest": 5, "worded": 5, "common": 30, "most": 10, "lexical": 5}
            near = facts.near(reader, vector, "stone pier", ["stone pier"], **limits)
            named = facts.of_name(reader, "ana ruiz", vector, scan=10, most=10)
            return [*answers, sorted(fact.id for fact in near.facts), sorted(fact.id for fact in named.facts)]

        scoped = results(inside=inside)
        memory.forget(*{document.source for document in memory.documents().documents}.difference(inside))
        assert all(scoped)
        assert scoped == results()


def test_a_word_is_no_date(both: tuple[Memory, Path, Path]) -> None:
    with pytest.raises(InputError, match="'May' is no date"):
        both[0].ask(QUESTIONS[0], since="May")
