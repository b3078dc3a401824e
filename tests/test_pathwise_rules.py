"""PathwiseRAG by rules: the intent of a question, the strategy that fits it, and its network."""

from __future__ import annotations

import pytest

from gsw_graph.plan import parse
from gsw_graph.retrieve.pathwise.intent import intent_of
from gsw_graph.retrieve.pathwise.network import network_from, network_of
from gsw_graph.retrieve.pathwise.selection import PROFILES, select
from gsw_graph.retrieve.pathwise.sides import sides_of
from gsw_graph.retrieve.recipes import PathwiseRecipe


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("Who is older, Ann Bell or Joe Reed?", ("Ann Bell", "Joe Reed")),
        ("Who is older Ann Bell or Joe Reed?", ("Ann Bell", "Joe Reed")),
        ("Was Ann Bell or Joe Reed born first?", ("Ann Bell", "Joe Reed")),
        ("Which film came out first, Salt, Sand or Stone?", ("Salt", "Sand", "Stone")),
        ("Between Ann Bell and Joe Reed, who lived longer?", ("Ann Bell", "Joe Reed")),
        ("Are Ann Bell and Joe Reed from the same country?", ("Ann Bell", "Joe Reed")),
        ("Were both Ann Bell and Joe Reed born in Norley?", ("Ann Bell", "Joe Reed")),
        ("Are Salt and Pepper and Stoneware both films?", ("Salt and Pepper", "Stoneware")),
        ("Does Ann Bell have the same nationality as Joe Reed?", ("Ann Bell", "Joe Reed")),
        ("Did the builder of Norley Pier die before the mayor of Sand?", ("the builder of Norley Pier", "the mayor of Sand")),
        ("Was the Norley Pier finished earlier than the Sand Bridge?", ("the Norley Pier", "the Sand Bridge")),
    ],
)
def test_sides_of_a_comparison(question: str, sides: tuple[str, ...]) -> None:
    found = sides_of(question)
    assert found is not None
    assert found.names == sides
    for name, asked in zip(found.names, found.questions, strict=True):
        assert name in asked
        assert not any(other in asked for other in found.names if other != name and other not in name)
    intent = intent_of(question)
    assert intent.kind == "comparative"
    assert select(intent, PathwiseRecipe())[0].approach == "comparative matrix"


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote the book named after the artist known as the most remarkable creation of MTV?",
        "What is older?",
        "Which one is older, this or that?",
        "Who was the first president of Norley?",
        "What was given up in Norley after the Sand Bridge had opened?",
        "",
        "or or or and and than before",
    ],
)
def test_no_sides(question: str) -> None:
    assert sides_of(question) is None


@pytest.mark.parametrize(
    ("question", "kind", "depth"),
    [
        ("Who founded Hallam Yard?", "factual", 1),
        ("Who founded the yard that built the Halcyon Jane?", "factual", 2),
        ("Where was the master of the woman who built the Great Tide Engine born?", "factual", 3),
        ("Why did the Guild of the Needle close?", "causal", 1),
        ("How do you light the Gull Rock Light?", "procedural", 1),
        ("What would have happened if the Corrigan had not struck Gull Rock?", "hypothetical", 2),
        ("Who is older, the builder of the Marrow Bridge or Ann Bell?", "comparative", 3),
    ],
)
def test_the_reasoning_stream(question: str, kind: str, depth: int) -> None:
    intent = intent_of(question)
    assert (intent.kind, intent.depth, intent.source) == (kind, depth, "rules")
    assert intent.level == {1: "low", 2: "medium"}.get(depth, "high")


def test_braces_are_no_places_for_sides() -> None:
    found = sides_of("Who is {older} {side}, {Ann} Bell or Joe {0}?")
    assert found is not None
    assert found.names[0] == "{Ann} Bell"


def test_the_semantic_stream() -> None:
    intent = intent_of("Who was director of the Vellmouth Observatory when the Tidewater Theatre opened in 1894?")
    assert intent.entities == ("Vellmouth Observatory", "Tidewater Theatre")
    assert intent.relations == (("Vellmouth Observatory", "when the", "Tidewater Theatre"),)
    assert set(intent.times) == {"1894", "when"}
    assert set(intent.domains) == {"people", "times"}
    assert intent.bounded
    assert "Vellmouth Observatory" in intent.words()


@pytest.mark.parametrize(
    ("question", "approach"),
    [
        ("Who founded Hallam Yard?", "dense precision"),
        ("Who founded the yard that built the Halcyon Jane?", "deep chain"),
        ("In which town was the master of the woman who built the Great Tide Engine born?", "deep chain"),
        ("Which guild was dissolved between 1900 and 1910?", "temporal-ordered"),
        ("Tell me all the things that are known of Hallam Yard and the Corrigan.", "multi-aspect"),
        ("Who is older, Ann Bell or Joe Reed?", "comparative matrix"),
        ("What was named in 1821 by the man whose sister wrote the song that the choir of the town sang?", "deep chain"),
    ],
)
def test_the_strategy_that_fits(question: str, approach: str) -> None:
    """The first of them is the paper's own check: plain retrieval is enough for a simple question."""
    scores = select(intent_of(question), PathwiseRecipe())
    assert scores[0].approach == approach
    assert {score.approach for score in scores} == set(PROFILES)
    for score in scores:
        terms = (score.intent, score.breadth, score.depth, score.critical)
        assert all(0 <= term <= 1 for term in terms)
        assert score.total == pytest.approx(sum(terms) / 4)
        assert f"M_C {score.critical:.2f}" in score.words()


def test_weights_of_the_terms_decide() -> None:
    intent = intent_of("Who is older, Ann Bell or Joe Reed?")
    depth_alone = PathwiseRecipe(intent=0, breadth=0, critical=0, depth=1)
    assert [score.total for score in select(intent, depth_alone)] == sorted((score.depth for score in select(intent, depth_alone)), reverse=True)
    assert select(intent, depth_alone)[0].approach == "multi-aspect"  # of equal depth, and first in the table


def test_the_network_of_a_comparison_has_a_sub_problem_a_side() -> None:
    question = "Who is older, Ann Bell or Joe Reed?"
    network = network_of(question, intent_of(question), "comparative matrix")
    assert [problem.question for problem in network.problems] == ["Who is older: Ann Bell?", "Who is older: Joe Reed?"]
    assert network.whole is not None
    assert (network.whole.question, network.whole.approach) == (question, "comparative matrix")
    assert network.ends == network.problems


def test_the_network_of_a_broad_question() -> None:
    question = "Who built Hallam Yard and when was it closed?"
    network = network_of(question, intent_of(question), "multi-aspect")
    assert [problem.question for problem in network.problems] == ["Who built Hallam Yard?", "when was it closed Hallam Yard?"]
    names = "Tell me everything of Hallam Yard, the Corrigan."
    assert [one.question for one in network_of(names, intent_of(names), "multi-aspect").problems] == ["Hallam Yard", "Corrigan"]


def test_the_network_of_a_plan() -> None:
    plan = parse(["Who built A?", "Who built B?", {"question": "Who taught #1?"}, {"question": "Is #3 #2?", "retrieve": False}])
    network = network_from(plan)
    assert [problem.parents for problem in network.problems] == [(), (), (1,)]
    assert [problem.id for problem in network.ends] == [2, 3]
    assert network.ancestors(3) == {1}
