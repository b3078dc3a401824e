"""RICR does not repeat the mistakes of the published code, one test each (reference: what the paper says and what its code does)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest
from chain_fakes import Find, answers, asked, fates, pair, plan, scored, ways

from gsw_graph.errors import InputError
from gsw_graph.plan import Plan, parse
from gsw_graph.retrieve.candidates import Scored
from gsw_graph.retrieve.chain_score import panini_code
from gsw_graph.retrieve.ricr import BEAM, CANDIDATES, Beams, ricr

ONE = plan("first")
TWO = plan("first", "second of #1")
DIAMOND = plan("first", "second of #1", "third of #1", "fourth of #2 and #3")


def run(plan: Plan, table: Mapping[str, Sequence[Scored]], *, question: str = "the original", beam: int = BEAM, score: str = "panini_code") -> Beams:
    return ricr(plan, question, Find(table), beam=beam, score=score)


def calls(plan: Plan, table: Mapping[str, Sequence[Scored]]) -> list[list[str]]:
    """What was asked, level by level."""
    find = Find(table)
    ricr(plan, "the original", find)
    return find.calls


# Which chains are kept


def test_answers_are_unique_across_chains_not_only_inside_one_beam() -> None:
    beams = run(
        plan("first", "second of #1", "third of #2"),
        {
            "first": [scored("a", 0.9, "Ana"), scored("b", 0.8, "Bo")],
            "second of Ana": [scored("ana rome", 0.7, "Rome"), scored("ana oslo", 0.6, "Oslo")],
            "second of Bo": [scored("bo rome", 0.9, "Rome")],
            "third of Rome": [scored("end", 0.5, "End")],
        },
    )
    assert ways(beams.chains[2]) == [[(1, "b", "Bo"), (2, "bo rome", "Rome")], [(1, "a", "Ana"), (2, "ana oslo", "Oslo")]]
    assert asked(beams, 3) == ["third of Rome", "third of Oslo"]  # Rome is not asked twice
    assert fates(beams, 2) == {"ana rome": "a better chain has the same answer", "ana oslo": "kept", "bo rome": "kept"}


def test_e1_of_one_document_and_e1_of_another_do_not_collide() -> None:
    """Concepts are told apart by their names; ids are those of one document."""
    found = [Scored(pair("q1", "Ana Ruiz", passage="doc A"), ("vector",), 0.9), Scored(pair("q1", "Bo Lind", passage="doc B"), ("vector",), 0.8)]
    for one in (ONE, TWO):
        beams = run(one, {"first": found})
        assert answers(beams, 1) == ["Ana Ruiz", "Bo Lind"]
    assert calls(TWO, {"first": found})[1] == ["second of Ana Ruiz", "second of Bo Lind"]


def test_one_concept_is_one_however_documents_write_it() -> None:
    found = [scored("a", 0.7, "the Beatles"), scored("b", 0.9, "BEATLES"), scored("c", 0.8, "The Beatles"), scored("d", 0.6, "Beyoncé"), scored("e", 0.5, "beyonce")]
    for one in (ONE, TWO):
        assert answers(run(one, {"first": found}), 1) == ["BEATLES", "Beyoncé"]


@pytest.mark.parametrize("beam", [1, 3, 5, 8])
def test_as_many_chains_survive_as_the_beam_is_wide(beam: int) -> None:
    people = [scored(f"p{n}", 0.9 - n / 50, f"Person{n}") for n in range(10)]
    towns = {f"second of Person{n}": [scored(f"t{n}{m}", 0.9 - m / 50, f"Town{n}{m}") for m in range(3)] for n in range(10)}
    beams = run(TWO, {"first": people, **towns}, beam=beam)
    assert answers(beams, 1) == [f"Person{n}" for n in range(beam)]
    assert len(asked(beams, 2)) == len(beams.chains[2]) == len(beams.ends()) == beam


def test_a_pair_with_many_answers_adds_no_more_chains_than_the_beam_is_wide() -> None:
    """Its first ones, for a pair names the chief of them first; and it keeps out no chain that is better."""
    found = {"first": [scored("few", 0.9, "Best"), scored("many", 0.8, *"Zoe Yan Xi Wu Vic Ada".split()), scored("late", 0.7, "Late")]}
    beams = run(TWO, found, beam=3)
    assert answers(beams, 1) == ["Best", "Xi", "Yan"]
    beams = run(TWO, found, beam=5)
    assert answers(beams, 1) == ["Best", "Vic", "Wu", "Xi", "Yan"]
    assert fates(beams, 1) == {"few": "kept", "many": "kept", "late": "below the beam"}
    assert answers(run(TWO, {"first": [scored("many", 0.8, *"Zoe Yan Xi Wu Vic Ada".split())]}), 1) == ["Vic", "Wu", "Xi", "Yan", "Zoe"]  # not Ada, the sixth


def test_where_a_chain_ends_all_answers_of_a_pair_are_one() -> None:
    found = {"first": [scored("many", 0.8, *"Zoe Yan Xi Wu Vic Ada".split()), scored("late", 0.7, "Late")]}
    assert answers(run(ONE, found), 1) == ["Zoe, Yan, Xi, Wu, Vic, Ada", "Late"]


@pytest.mark.parametrize("one", [plan("first", "second of #1", "third of #2"), DIAMOND], ids=["linear", "diamond"])
def test_ties_have_one_order_however_candidates_come(one: Plan) -> None:
    table = {
        "first": [scored(f"p{n}", 0.5, f"Person{n}", f"Person{n + 1}") for n in range(5)],
        **{f"second of Person{n}": [scored(f"t{n}{m}", 0.5, f"Town{m}") for m in range(4)] for n in range(7)},
        **{f"third of {name}{n}": [scored(f"r{name}{n}{m}", 0.5, f"River{m}") for m in range(4)] for name in ("Person", "Town") for n in range(7)},
        **{f"fourth of Town{n} and River{m}": [scored(f"e{n}{m}{k}", 0.5, f"End{k}") for k in range(3)] for n in range(4) for m in range(4)},
    }
    first = run(one, table)
    assert all(len(chains) > 2 for chains in first.chains.values())
    rng = random.Random(5)
    for _ in range(20):
        again = run(one, {text: rng.sample(found, len(found)) for text, found in table.items()})
        assert {step: ways(chains) for step, chains in again.chains.items()} == {step: ways(chains) for step, chains in first.chains.items()}
        assert [asking.concrete.text for asking in again.asked] == [asking.concrete.text for asking in first.asked]


def test_what_became_of_every_candidate() -> None:
    best = [scored(f"p{n:02}", 0.9, f"Person{n:02}") for n in range(CANDIDATES - 2)]
    found = [
        scored("known", 0.99, "Salt Road"),
        scored("none", 0.98),
        *best,
        scored("same", 0.8, "Person00"),
        scored("low", 0.7, "Low"),
        scored("cut", 0.6, "Cut"),
        scored("cut same", 0.5, "Person00"),
    ]
    beams = run(plan("who walks Salt Road", "second of #1"), {"who walks Salt Road": found}, beam=3)
    assert fates(beams, 1) == {
        "known": "its answer stands in the question",
        "none": "has no answer",
        **{one.pair.id: "kept" if n < 3 else "below the beam" for n, one in enumerate(best)},
        "same": "a better chain has the same answer",
        "low": "below the beam",
        "cut": "not among the best candidates",
        "cut same": "not among the best candidates",
    }


# What may extend a chain


def test_an_answer_that_is_none_ends_the_chain() -> None:
    beams = run(TWO, {"first": [scored("none", 0.99), scored("a", 0.5, "Ana")], "second of Ana": [scored("none too", 0.9)]})
    assert answers(beams, 1) == ["Ana"]
    assert asked(beams, 2) == ["the original"]  # nothing else was found
    assert beams.chains[2] == beams.ends() == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where was Ana Ruiz born?", "Ana Ruiz"),
        ("Where was Ana Ruiz's house?", "ana ruiz"),
        ('Who performed "Changed It" first?', "Changed It"),
        ('Who performed the song "Changed It"?', "Changed It"),
        ("Who is the mayor of Paris, Texas?", "Paris"),
        ("Who is the mayor of Paris, Texas?", "Paris, Texas"),
        ("Who (besides Bo) sang?", "Bo"),
        ("Who led the Beatles?", "The Beatles"),
        ("Who made C++?", "C++"),
    ],
)
def test_a_candidate_whose_answers_stand_in_the_concrete_question_is_dropped(question: str, answer: str) -> None:
    beams = run(plan(question), {question: [scored("known", 0.9, answer), scored("new", 0.5, "New")]})
    assert answers(beams, 1) == ["New"]
    assert fates(beams, 1)["known"] == "its answer stands in the question"


@pytest.mark.parametrize(
    ("question", "answer"),
    [("Where was Ana Ruiz born?", ("Ana",)), ("Where was Ana born?", ("An",)), ("Who made C++?", ("C",)), ("Who sang with Ana?", ("Ana", "Bo")), ("Who?", ("!!!",))],
)
def test_a_candidate_with_an_answer_that_does_not_stand_there_whole_is_not(question: str, answer: tuple[str, ...]) -> None:
    beams = run(plan(question), {question: [scored("new", 0.9, *answer)]})
    assert answers(beams, 1) == ([] if answer == ("Ana",) else [", ".join(answer)])  # a part of a name is a name


def test_what_stands_in_the_question_is_seen_with_the_answers_before() -> None:
    beams = run(TWO, {"first": [scored("a", 0.9, "Ana")], "second of Ana": [scored("back", 0.9, "Ana"), scored("on", 0.5, "Rome")]})
    assert answers(beams, 2) == ["Rome"]


# Which steps run


def test_a_one_hop_sequence_beside_a_longer_one_still_runs() -> None:
    found = {"first": [scored("a", 0.9, "Ana")], "second of Ana": [scored("b", 0.8, "Rome")], "alone": [scored("c", 0.7, "Salt")]}
    beams = run(plan("first", "second of #1", "alone"), found)
    assert ways(beams.ends()) == [[(3, "c", "Salt")], [(1, "a", "Ana"), (2, "b", "Rome")]]


def test_one_hop_sequences_alone_run_as_they_are() -> None:
    """The published code asks the original question instead."""
    find = Find({"first": [scored("a", 0.9, "Ana")], "alone": [scored("b", 0.8, "Bo")]})
    beams = ricr(plan("first", "alone", compare="Is #1 before #2?"), "the original", find)
    assert find.calls == [["first", "alone"]]
    assert ways(beams.ends()) == [[(2, "b", "Bo")], [(1, "a", "Ana")]]


def test_two_sinks_both_return_their_evidence() -> None:
    found = {"first": [scored("a", 0.9, "Ana")], "second of Ana": [scored("b", 0.8, "Rome")], "third of Ana": [scored("c", 0.7, "Oslo")]}
    beams = run(plan("first", "second of #1", "third of #1"), found)
    assert ways(beams.ends()) == [[(1, "a", "Ana"), (3, "c", "Oslo")], [(1, "a", "Ana"), (2, "b", "Rome")]]


def test_nothing_is_asked_for_a_step_that_only_compares() -> None:
    find = Find({"first": [scored("a", 0.9, "Ana")], "second of Ana": [scored("b", 0.8, "Rome")]})
    beams = ricr(plan("first", "second of #1", compare="Is #2 in #1?"), "the original", find)
    assert find.calls == [["first"], ["second of Ana"]]
    assert set(beams.chains) == {1, 2}
    assert ways(beams.ends()) == [[(1, "a", "Ana"), (2, "b", "Rome")]]


def test_no_raw_placeholder_is_asked_after_a_step_that_only_compares() -> None:
    with pytest.raises(InputError, match="needs the answer of step 2"):
        parse(["first", {"question": "Is #1 tall?", "retrieve": False}, "third of #2"])


def test_a_cycle_is_an_error() -> None:
    with pytest.raises(InputError, match="in a circle: 1 -> 2 -> 1"):
        plan("first of #2", "second of #1", "alone")


def test_entity_q0_is_an_error() -> None:
    with pytest.raises(InputError, match="<ENTITY_Q0>, and there is no such step"):
        parse({"questions": [{"question": "first"}, {"question": "second of <ENTITY_Q0>"}]})


def test_a_chain_ends_in_its_sink_where_a_step_needs_a_later_one() -> None:
    """Found by this test: hops stood in the order of the plan, so that the answer was that of the hop before."""
    one = plan("second of #2", "first")
    found = {"first": [scored("a", 0.9, "Ana"), scored("b", 0.2, "Bo")], "second of Ana": [scored("c", 0.3, "Rome")], "second of Bo": [scored("d", 0.8, "Oslo")]}
    assert [ends[-1][2] for ends in ways(run(one, found).ends())] == ["Rome", "Oslo"]
    greedy = run(one, found, score="last_hop")
    assert [(chain.hops[-1].answer, chain.score) for chain in greedy.ends()] == [("Oslo", 0.8), ("Rome", 0.3)]


# Joins


def test_the_same_placeholder_twice_is_one_parent() -> None:
    one = plan("first", "Is #1 the son of #1?")
    beams = run(one, {"first": [scored("a", 0.9, "Ana"), scored("b", 0.8, "Bo")], "Is Ana the son of Ana?": [scored("c", 0.7, "Yes")]})
    assert asked(beams, 2) == ["Is Ana the son of Ana?", "Is Bo the son of Bo?"]
    assert beams.ends()[0].score == pytest.approx(panini_code([0.9, 0.7]))


def test_the_parents_of_a_diamond_agree_on_their_ancestor() -> None:
    """Two combinations, not four."""
    table = {
        "first": [scored("a", 0.9, "Ana"), scored("b", 0.8, "Bo")],
        **{f"{step} of {name}": [scored(f"{step} {name}", 0.7, f"{step}{name}")] for step in ("second", "third") for name in ("Ana", "Bo")},
        "fourth of secondBo and thirdBo": [scored("end", 0.5, "End")],
    }
    beams = run(DIAMOND, table)
    assert asked(beams, 4) == ["fourth of secondAna and thirdAna", "fourth of secondBo and thirdBo"]
    assert ways(beams.ends()) == [[(1, "b", "Bo"), (2, "second Bo", "secondBo"), (3, "third Bo", "thirdBo"), (4, "end", "End")]]


def test_shared_evidence_counts_once_in_the_score() -> None:
    table = {
        "first": [scored("a", 0.9, "Ana")],
        "second of Ana": [scored("b", 0.8, "Rome")],
        "third of Ana": [scored("c", 0.7, "Oslo")],
        "fourth of Rome and Oslo": [scored("d", 0.6, "End")],
    }
    assert run(DIAMOND, table, score="product").ends()[0].score == pytest.approx(0.9 * 0.8 * 0.7 * 0.6)
    assert run(DIAMOND, table).ends()[0].score == pytest.approx(panini_code([0.9, 0.8, 0.7, 0.6]))


def test_shared_evidence_counts_once_in_the_order_of_the_combinations() -> None:
    """0.2 * 0.9 * 0.9 is more than 0.9 * 0.4 * 0.4; with the first twice it is less."""
    table = {
        "first": [scored("a", 0.2, "Ana"), scored("b", 0.9, "Bo")],
        **{f"{step} of {name}": [scored(f"{step} {name}", score, step + name)] for step in ("second", "third") for name, score in (("Ana", 0.9), ("Bo", 0.4))},
        "fourth of secondAna and thirdAna": [scored("end", 0.5, "End")],
    }
    assert asked(run(DIAMOND, table, score="product"), 4)[0] == "fourth of secondAna and thirdAna"


def test_a_join_goes_on_with_its_best_combinations() -> None:
    """Found by this test: a join of three looked at its first hundred combinations, in no order of score, and forgot the fifth chain of its first parent."""
    one = plan("a", "b", "c", "join #1 #2 #3")
    table = {
        "a": [scored(f"a{n}", 0.9, f"A{n}") for n in range(5)],
        "b": [scored(f"b{n}", 0.9 - 0.2 * n, f"B{n}") for n in range(5)],
        "c": [scored(f"c{n}", 0.9 - 0.2 * n, f"C{n}") for n in range(5)],
    }
    assert calls(one, table)[1] == [f"join A{n} B0 C0" for n in range(5)]


def test_parents_that_agree_late_are_joined() -> None:
    """The chains of four parents agree on the last of five ancestors alone; the first hundred combinations do not have it."""
    one = plan("first", *(f"step{k} of #1" for k in range(2, 6)), "join #2 #3 #4 #5")
    table: dict[str, list[Scored]] = {"first": [scored(f"a{n}", 0.9, f"A{n}") for n in range(5)]}
    for k in range(2, 6):
        for n in range(5):
            # each ancestor but A0 is lost to one of the parents; A0 is last in all
            table[f"step{k} of A{n}"] = [] if n == k - 1 else [scored(f"{k}{n}", 0.1 if n == 0 else 0.9, f"S{k}x{n}")]
    assert calls(one, table)[2] == ["join S2x0 S3x0 S4x0 S5x0"]


def test_a_diamond_whose_parents_have_one_answer_by_two_ways_still_ends() -> None:
    """Was each born in New York, the better one is kept for it; did each die in Oslo, the other one; and no chain goes on."""
    table = {
        "first": [scored("a", 0.9, "Ana"), scored("b", 0.9, "Bo")],
        "second of Ana": [scored("ana born", 0.9, "New York")],
        "second of Bo": [scored("bo born", 0.8, "New York")],
        "third of Ana": [scored("ana died", 0.8, "Oslo")],
        "third of Bo": [scored("bo died", 0.9, "Oslo")],
        "fourth of New York and Oslo": [scored("end", 0.9, "End")],
    }
    assert run(DIAMOND, table).ends()


# What is asked


def test_equal_concrete_questions_of_two_chains_are_asked_once() -> None:
    one = plan("first", "other", "#1 and #2 together")
    find = Find(
        {
            "first": [scored("a", 0.9, "Ana"), scored("b", 0.8, "Ana and Bo")],
            "other": [scored("c", 0.9, "Bo and Cy"), scored("d", 0.8, "Cy")],
            "Ana and Bo and Cy together": [scored("e", 0.9, "Trio")],
        }
    )
    beams = ricr(one, "the original", find)
    assert sorted(find.calls[1]) == ["Ana and Bo and Bo and Cy together", "Ana and Bo and Cy together", "Ana and Cy together"]
    twice = next(asking for asking in beams.asked if asking.concrete.text == "Ana and Bo and Cy together")
    assert [[link.answer for link in parent.hops] for parent in twice.parents] == [["Ana", "Bo and Cy"], ["Ana and Bo", "Cy"]]
    assert ways(beams.ends()) == [[(1, "a", "Ana"), (2, "c", "Bo and Cy"), (3, "e", "Trio")]]
    assert fates(beams, 3) == {"e": "kept"}  # by the first of the two chains; the second takes nothing from it


def test_all_questions_of_a_level_are_asked_together() -> None:
    find = Find(
        {
            "first": [scored("a", 0.9, "Ana"), scored("b", 0.8, "Bo")],
            "alone": [scored("c", 0.9, "Cy")],
            **{f"{k} of {name}": [scored(k + name, 0.5, k + name)] for k in ("second", "third") for name in ("Ana", "Bo")},
        }
    )
    ricr(plan("first", "second of #1", "third of #1", "alone"), "the original", find)
    assert find.calls == [["first", "alone"], ["second of Ana", "second of Bo", "third of Ana", "third of Bo"]]


# Where nothing is found


@pytest.mark.parametrize("nothing", [[], [scored("none", 0.9)], [scored("known", 0.9, "First")]], ids=["no pair", "no answer", "a known answer"])
def test_an_empty_first_hop_falls_back_on_the_original_question_and_says_so(nothing: list[Scored]) -> None:
    find = Find({"first": nothing, "the original": [scored("o", 0.6, "Ana")], "second of Ana": [scored("b", 0.8, "Rome")]})
    beams = ricr(TWO, "the original", find)
    assert find.calls == [["first"], ["the original"], ["second of Ana"]]
    assert [(asking.step.id, (asking.instead or asking.concrete).text, asking.instead is not None) for asking in beams.asked] == [(1, "the original", True), (2, "second of Ana", False)]
    assert ways(beams.ends()) == [[(1, "o", "Ana"), (2, "b", "Rome")]]
    assert (beams.ends()[0].links[1].question, beams.ends()[0].links[1].concrete) == ("first", "the original")


def test_an_empty_later_hop_falls_back_too() -> None:
    find = Find({"first": [scored("a", 0.9, "Ana"), scored("b", 0.8, "Bo")], "the original": [scored("o", 0.6, "Rome")]})
    beams = ricr(TWO, "the original", find)
    assert find.calls == [["first"], ["second of Ana", "second of Bo"], ["the original"]]  # once, not for each chain
    assert [asking.instead is not None for asking in beams.asked] == [False, True, True]
    assert ways(beams.ends()) == [[(1, "a", "Ana"), (2, "o", "Rome")]]


def test_a_hop_that_finds_something_for_one_chain_does_not_fall_back() -> None:
    find = Find({"first": [scored("a", 0.9, "Ana"), scored("b", 0.8, "Bo")], "second of Bo": [scored("c", 0.2, "Rome")], "the original": [scored("o", 0.9, "X")]})
    beams = ricr(TWO, "the original", find)
    assert find.calls[1:] == [["second of Ana", "second of Bo"]]
    assert answers(beams, 2) == ["Rome"]
    assert not any(asking.instead for asking in beams.asked)


def test_an_empty_step_falls_back_beside_one_that_finds_something() -> None:
    beams = run(plan("first", "alone"), {"first": [scored("a", 0.9, "Ana")], "the original": [scored("o", 0.6, "Bo")]})
    assert [(asking.step.id, asking.instead is not None) for asking in beams.asked] == [(1, False), (2, True)]
    assert answers(beams, 2) == ["Bo"]


@pytest.mark.parametrize("one", [ONE, TWO, DIAMOND, plan("first", "alone", compare="Is #1 #2?")], ids=["one", "two", "diamond", "comparison"])
def test_a_memory_of_nothing_is_no_error(one: Plan) -> None:
    beams = run(one, {})
    assert beams.ends() == []
    assert all(asking.instead for asking in beams.asked)


def test_an_original_question_with_a_number_sign_is_asked_as_it_is() -> None:
    """Found by this test: falling back on it was a KeyError."""
    find = Find({"Who sang the #1 hit of 1999?": [scored("o", 0.6, "Ana")]})
    assert answers(ricr(ONE, "Who sang the #1 hit of 1999?", find), 1) == ["Ana"]
    assert find.calls == [["first"], ["Who sang the #1 hit of 1999?"]]


def test_an_empty_sink_leaves_the_evidence_of_the_other() -> None:
    beams = run(plan("first", "second of #1", "third of #1"), {"first": [scored("a", 0.9, "Ana")], "second of Ana": [scored("b", 0.8, "Rome")]})
    assert ways(beams.ends()) == [[(1, "a", "Ana"), (2, "b", "Rome")]]
