"""A scope cuts the graph: nothing outside of it is found, counted or named."""

from __future__ import annotations

from pathlib import Path

import fakes
import pytest
import samples
from samples import cases

from gsw_graph.ask.options import AskOptions, parse_condition
from gsw_graph.errors import InputError
from gsw_graph.memory import Memory
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.store import facts

STRATEGIES = ("auto", "linked", "ricr", "fusion", "pathwise", "dense", "bm25")
QUESTIONS = (
    "Who built the Stone Pier?",
    "Where did the builder of the Stone Pier live in 1863?",
    "Who met Captain Ruiz?",
)


def notes(folder, name, count):
    """A folder of notes about the same names as the samples."""
    folder.mkdir()
    for n in range(count):
        (folder / f"{n}.md").write_text(
            f"# {name} {n}\n\n{name} {n}: Captain Ruiz met Ana Ruiz at the Stone Pier on 3 May 18{n + 10}."
        )
    return folder


def found(answer):
    return [(passage.text, round(passage.score, 4)) for passage in answer.passages]


@pytest.fixture
def both(fresh_settings, monkeypatch, tmp_path):
    """A memory of two folders, one of which is noise about the names of the other."""
    monkeypatch.setattr(Embedder, "load", staticmethod(fakes.embedder))
    inside = notes(tmp_path / "inside", "Log", 12)
    outside = notes(tmp_path / "outside", "Noise", 40)
    with Memory.open(settings=fresh_settings) as memory:
        assert memory.load(str(outside), *samples.write(tmp_path)).failures == []
        assert memory.load(str(inside)).failures == []
        yield memory, inside, outside


def test_nothing_outside_is_found_or_changes_the_order(both):
    memory, inside, outside = both
    scoped = {
        (q, s): memory.ask(q, strategy=s, k=10, inside=(str(inside),), trace=True, keep=False)
        for q in QUESTIONS
        for s in STRATEGIES
    }
    others = tuple(
        d.source for d in memory.documents().documents if not d.source.startswith(inside.as_posix())
    )
    complement = memory.ask(
        QUESTIONS[0], strategy="linked", k=10, outside=(f"{outside}/", *others), keep=False
    )
    for (question, strategy), answer in scoped.items():
        assert answer.passages, (question, strategy)
        for passage in answer.passages:
            assert passage.source.startswith(inside.as_posix()), (
                question,
                strategy,
            )
    assert found(complement) == found(scoped[QUESTIONS[0], "linked"])
    memory.forget(
        *{d.source for d in memory.documents().documents if not d.source.startswith(inside.as_posix())}
    )
    for (question, strategy), answer in scoped.items():
        alone = memory.ask(question, strategy=strategy, k=10, keep=False)
        if strategy != "bm25":  # the scores of an index know how often a word occurs in all of it
            assert found(answer) == found(alone), (question, strategy)


def test_metadata_and_days_are_conditions(both):
    memory = both[0]
    memory.cypher(
        "MATCH (d:Document) WHERE d.title STARTS WITH 'Log' SET d.meta_author = 'Grau', d.meta_tags = ['tide', 'log'], d.meta_year = 1901, d.about = '1901-03-09'",
        write=True,
    )

    def titles(**scope):
        return {
            passage.title.split()[0]
            for passage in memory.ask(QUESTIONS[0], strategy="linked", k=100, keep=False, **scope).passages
        }

    for scope in (
        {"where": ('author = "Grau"',)},
        {"where": ("Tags contains TIDE", "year >= 1901")},
        {"since": "1901-03"},
        {"until": "1901"},
        {"where": ("title contains log",)},
        {"where": ("not author != Grau",)},
        {"where": ("tags contains log", "not tags contains noise")},
        {"where": ("author != Kunz", "year != 1902", "title contains log")},
    ):
        assert titles(**scope) == {"Log"}, scope
    for condition in (
        "author != Grau",
        "not author = Grau",
        "not tags contains tide",
        "tags != tide",
        "not year > 1900",
    ):
        assert "Noise" in titles(where=(condition,)), condition
        assert "Log" not in titles(where=(condition,)), condition
    for scope in (
        {"where": ("year > 1901",)},
        {"since": "1902"},
        {"until": "1901-03-08"},
        {"inside": ("nothing",)},
    ):
        with pytest.raises(InputError, match="no document is in this scope"):
            memory.ask(QUESTIONS[0], **scope)


@pytest.mark.parametrize(
    ("scope", "reason"),
    cases(__file__, "an_empty_scope_names_the_condition_that_no_document_fits", tuples=True),
)
def test_an_empty_scope_names_the_condition_that_no_document_fits(both, scope, reason):
    memory = both[0]
    memory.cypher(
        "MATCH (d:Document) WHERE d.title STARTS WITH 'Log' SET d.meta_author = 'Grau', d.meta_year = 1901, d.about = CASE d.title WHEN 'Log 1' THEN '1901-01-09' ELSE '1901-05-09' END",
        write=True,
    )
    with pytest.raises(InputError) as raised:
        memory.ask(QUESTIONS[0], **scope)
    expected = reason.replace("{cwd}", Path.cwd().as_posix())
    assert raised.value.message == f"no document is in this scope: {expected}"
    if "autor" in reason:
        near = {"where": "Keys of metadata: author, modified, year; "}.get(min(scope), "")
    else:
        near = ""
    assert raised.value.hint == f"{near}gswgraph list --long shows sources and metadata"


def test_a_truth_value_of_front_matter_or_the_command_line_is_one(fresh_settings, fake_embedder, tmp_path):
    for name, line in (
        ("a", "outdated: True"),
        ("b", "outdated: yes"),
        ("c", "outdated: false"),
        ("d", "year: 1901"),
    ):
        (tmp_path / f"{name}.md").write_text(f"---\n{line}\n---\n# Note {name}\n\nThe pier is old.")
    with Memory.open(settings=fresh_settings) as memory:
        memory.load(*(str(tmp_path / f"{name}.md") for name in "abc"))
        memory.load(str(tmp_path / "d.md"), meta=("outdated=True",))

        def found(condition):
            passages = memory.ask("pier", where=condition, strategy="dense", k=9, keep=False).passages
            return "".join(sorted(passage.source[-4] for passage in passages))

        assert [found(f"outdated = {written}") for written in ("True", "true", "yes")] == ["abd"] * 3
        assert [found(f"outdated = {written}") for written in ("False", "no")] == ["c", "c"]
        assert found("outdated != True") == "c"
        assert found("year = 1901") == "d"


def test_a_session_is_a_scope_by_its_name(both):
    memory = both[0]
    with pytest.raises(InputError, match="all sources are under"):
        memory.ask(QUESTIONS[0], outside=tuple(document.source for document in memory.documents().documents))
    memory.add("The Stone Pier is closed.", speaker="Ana", session="chat with Ana")
    assert [passage.source for passage in memory.ask(QUESTIONS[0], inside="chat with Ana", keep=False)] == [
        "session:chat with Ana"
    ]


def test_a_single_text_is_a_scope(both):
    memory, inside, outside = both
    scopes = ({"inside": str(inside)}, {"outside": str(outside)}, {"where": "title contains log"})
    for scope in scopes:
        passages = memory.ask(QUESTIONS[0], strategy="linked", k=100, keep=False, **scope).passages
        assert passages
        for passage in passages:
            assert not passage.title.startswith("Noise"), scope


def test_an_earlier_answer_is_not_given_within_a_scope(both):
    assert AskOptions().may_reuse
    assert not AskOptions(inside=("a",)).may_reuse
    memory, _, outside = both
    answer = memory.ask("Who built the Stone Pier?", inside=(str(outside),))
    assert answer.id is not None
    assert memory.ask("Who built the Stone Pier?").cached is None


@pytest.mark.parametrize("text", ["author", "= Grau", "author ~ x", "", "author == Grau"])
def test_what_is_no_condition_says_so(text):
    with pytest.raises(InputError, match="is no condition"):
        parse_condition(text)


def test_conditions_are_read():
    def read(text):
        return tuple(parse_condition(text)[name] for name in ("key", "op", "value", "negated"))

    assert read('Author = "a = b"') == ("meta_author", "=", "a = b", False)
    assert read("year>=1901") == ("meta_year", ">=", 1901, False)
    assert read("title contains the tide") == ("title", "contains", "the tide", False)
    assert read("Reviewed By != Grau") == ("meta_reviewed_by", "=", "Grau", True)
    assert read("not self-contains contains = x") == ("meta_self_contains", "contains", "= x", True)
    assert read("not != x") == ("meta_not", "=", "x", True)
    assert read("not author != x") == ("meta_author", "=", "x", False)


def test_facts_outside_are_neither_found_nor_counted(fresh_settings, monkeypatch, tmp_path):
    """Propositions and pairs of the samples among propositions of many notes about the same names."""
    monkeypatch.setattr(Embedder, "load", staticmethod(fakes.embedder))
    inside = tuple(record["id"] for record in samples.RECORDS)
    with Memory.open(settings=fresh_settings) as memory:
        memory.load(str(notes(tmp_path / "outside", "Noise", 40)), extractor="sentences")
        memory.load(*samples.write(tmp_path))

        def results(**scope):
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
