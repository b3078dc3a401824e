"""What docs/papers.md claims: every function and test that a row names exists, a row that says "as the paper" names a test; and small cases computed from the papers by hand that no other file has."""

from __future__ import annotations

import ast
import re
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from chain_fakes import TWO, Find, answers, fates, grown, pair, plan, run, scored
from doc_blocks import REPOSITORY
from scripted_chat import ScriptedChat

from gsw_graph.ask.answer.evidence import (
    EvidenceLine,
    FactGroup,
    Sentence,
    chains,
    disagreements,
    select_evidence,
)
from gsw_graph.ask.answer.reader import UNSUPPORTED, build_request, parse_reply, read_answer
from gsw_graph.ask.options import AskOptions
from gsw_graph.ask.retrieve import entities
from gsw_graph.ask.retrieve.chains.search import one_hop
from gsw_graph.ask.retrieve.recipes import PANINI
from gsw_graph.ask.strategy import RetrievalResult
from gsw_graph.errors import InputError
from gsw_graph.model.results import Claim, Conflict, RankedPassage
from gsw_graph.models.prompts import prompt
from gsw_graph.store.facts import WordedEntity

PAGE = REPOSITORY / "docs/papers.md"
CODE = REPOSITORY / "gsw_graph"
VERDICTS = ("as the paper", "other", "open", "missing")


def table():
    """The rows of the page: claim, code, verdict, tests, and the paper that the row is of."""
    rows = []
    paper = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            paper = line[3:]
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4 and not set(line) <= set("|- "):
            rows.append((paper, *cells))
    return [row for row in rows if row[1] != "claim"]


ROWS = table()


def defined(path):
    """The names that a module defines, those of its classes after a point."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
            names |= {f"{node.name}.{one.target.id}" for one in node.body if isinstance(one, ast.AnnAssign)}
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def paths_of(cell):
    """The places that a cell names: `module.py:name`, or a file alone."""
    return re.findall(r"`([\w/.-]+\.(?:py|md|cypher))(?::([\w.]+))?`", cell)


def test_the_page_has_rows_of_every_paper():
    assert {row[0] for row in ROWS} >= {"Panini", "PropRAG", "GRASP", "AutoPrunedRetriever", "PathwiseRAG"}
    assert len(ROWS) > 50


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}: {row[1][:40]}")
def test_a_claim_names_code_and_a_test_that_there_are(row):
    _, claim, code, verdict, tests = row
    assert verdict.startswith(VERDICTS), claim
    for path, name in paths_of(code):
        file = CODE / path if (CODE / path).exists() else REPOSITORY / path
        assert file.exists(), path
        assert not name or name in defined(file), f"{path}:{name}"
    if verdict.startswith("as the paper"):
        assert paths_of(code), f"no code is named: {claim}"
        assert paths_of(tests), f"no test shows it: {claim}"
    for path, name in paths_of(tests):
        file = REPOSITORY / "tests" / path
        assert name.startswith("test_"), f"{path}:{name}"
        assert name in defined(file), f"{path}:{name}"


# Panini


def test_the_trace_of_appendix_c_as_it_is_printed():
    """Every chain of the two hops; the paper's text keeps one of each answer, its printed last hop all."""
    beams = run(
        plan("Who performed the song Changed It?", "What is the place of birth of #1?"),
        {
            "Who performed the song Changed It?": [
                scored("performed", 0.8320, "Nicki Minaj", "Lil Wayne"),
                scored("song", 0.7852, "Changed It"),
                scored("frauds", 0.6172, "No Frauds", "Regret in Your Tears"),
                scored("date", 0.5898, "March 10, 2017"),
            ],
            "What is the place of birth of Nicki Minaj?": [
                scored("born", 0.8945, "Saint James, Port of Spain"),
                scored("who", 0.7891, "Nicki Minaj"),
                scored("from", 0.6836, "Nicki Minaj"),
                scored("raised", 0.6289, "Queens, New York City"),
                scored("both", 0.5898, "Nicki Minaj", "Lil Wayne"),
                scored("name", 0.5430, "Onika Tanya Maraj-Petty"),
            ],
        },
        score="panini_code",
        own=True,
        fallback=False,
    )
    expected = [0.9160, 0.9160, 0.8926, 0.8086, 0.8086]
    assert [round(chain.score, 4) for chain in beams.chains[1]] == expected
    assert "Changed It" in answers(beams, 1)
    assert answers(beams, 2) == [
        "Saint James, Port of Spain",
        "Nicki Minaj",
        "Queens, New York City",
        "Nicki Minaj, Lil Wayne",
        "Onika Tanya Maraj-Petty",
    ]
    expected = [0.9315, 0.9052, 0.8637, 0.8533, 0.8406]
    assert [chain.score for chain in beams.chains[2]] == pytest.approx(expected, abs=1e-4)


def test_fifteen_pairs_are_left_after_reranking():
    """The trace of C: 15 of a question; the sixteenth is no candidate, though the beam had room for its answer."""
    found = [scored(f"p{n:02}", 0.9 - n / 100, "Ana") for n in range(15)] + [scored("p15", 0.1, "Bo")]
    beams = grown(plan("first"), "q", Find({"first": found}), **settings_of(PANINI))
    assert fates(beams, 1)["p15"] == "not among the best candidates"
    assert fates(beams, 1)["p14"] == "a better chain has the same answer"


def settings_of(recipe):
    names = ("beam", "candidates", "score", "own", "fallback", "pairs", "reranked")
    return {name: getattr(recipe, name) for name in names}


def test_a_hop_without_pairs_ends_the_chain():
    find = Find({"the original": [scored("o", 0.6, "Ana")]})
    beams = grown(TWO, "the original", find, **settings_of(PANINI))
    assert ["the original"] not in find.calls
    assert beams.ends() == []


def passage(of, text=""):
    return RankedPassage(f"passage of {of}", f"title {of}", text or of, "/far/a.md", "document", 1.0)


def test_all_pairs_of_the_surviving_chains_are_shown_and_each_once():
    """NQ takes 432 tokens in the paper."""
    steps = plan("first", "second of #1")
    long = " ".join(["a long question about one thing and another"] * 8)
    table = {"first": [scored("a", 0.9, "Ana")]}
    table["second of Ana"] = [
        replace(
            scored(f"p{n}", 0.9 - n / 100, f"Town{n}"), pair=pair(f"p{n}", f"Town{n}", question=f"{long} {n}")
        )
        for n in range(5)
    ]
    cited = {f"passage of {one}": passage(one) for one in ("a", "p0", "p1", "p2", "p3", "p4")}
    items = select_evidence("q", RetrievalResult([], grown(steps, "q", Find(table)), cited), chains)
    assert [item.answer for item in items] == ["Ana", "Town0", "Town1", "Town2", "Town3", "Town4"]


# The readers

LINES = [
    EvidenceLine("Who built the pier? Ana Ruiz", passage("a", "Ana Ruiz built the pier."), "Who built it?", "Ana")
]


@pytest.mark.parametrize("task", ["answer_panini", "answer_paper"])
def test_the_reader_of_a_paper_alone_refuses(task):
    """An answer in other words than the lines stands; without its own refusal nothing is refused."""
    reply = "Thought: a harbour work [1].\nAnswer: Valparaíso\nSources: 1"
    read = read_answer("Who?", LINES, ScriptedChat(reply), task=task)
    assert read.answer == "Valparaíso"
    assert read.sources == ()
    assert read_answer("Who?", LINES, ScriptedChat(reply, reply)).missing == UNSUPPORTED
    refusal = "Thought: nothing is said of it.\nNot in the evidence: who paid"
    assert read_answer("Who?", LINES, ScriptedChat(refusal), task=task).missing == "who paid"
    unlabelled = read_answer("Who?", LINES, ScriptedChat("Valparaíso"), task=task)
    assert unlabelled.answer == "Valparaíso", "it is not asked again for another form"


@pytest.mark.parametrize("task", ["answer_panini", "answer_paper"])
def test_the_example_of_a_prompt_reasons_before_it_answers(task):
    example = prompt(task).rpartition("Thought:")
    said = parse_reply(example[1] + example[2])
    assert said.answer == "Port Ellery"
    assert len(said.sources) == 2


def test_the_reader_of_the_papers_reads_facts_too():
    """Runs are JSON: their rule stands in the place of what the prompt says of lines."""
    facts = [EvidenceLine("", passage("a"), run=FactGroup((Sentence("pier", "built by Ana"),)))]
    system = build_request("Who?", facts, "answer_paper").messages[0]["content"]
    assert system.startswith(prompt("answer_compact"))
    assert "Reason before you answer" in system
    lines = build_request("Who?", LINES, "answer_paper").messages[0]["content"]
    assert lines == prompt("answer_paper")


def test_readers_of_papers_see_no_line_beside_their_evidence():
    claims = [Claim("1902", ["passage of a"], ["a"], 0.5), Claim("1904", ["passage of b"], ["b"], 0.5)]
    found = RetrievalResult([passage("a"), passage("b")], conflicts=[Conflict("When was it built?", claims)])
    assert len(list(disagreements(found, LINES))) == 2
    for reader in ("answer_panini", "answer_paper"):
        assert list(disagreements(replace(found, prompt_name=reader), LINES)) == []


def test_a_reader_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="there is no reader 'essay'"):
        AskOptions(reader="essay")


def test_without_a_plan_the_question_is_one_hop():
    """E.1.1: one retrieval, nothing taken apart."""
    assert PANINI.unplanned == "one"
    question = "Where was the builder of the pier born?"
    assert [(step.question, step.parents) for step in one_hop(question).steps] == [(question, ())]


def test_both_halves_of_the_entity_index_order_its_entities(monkeypatch):
    """Ranks by hand: a is 1st by words and 3rd by its vector, b 2nd and 1st, c 3rd and 2nd."""
    found = {"pier": [WordedEntity(id, id) for id in "abc"]}
    monkeypatch.setattr(entities, "entities_of", lambda reader, words, most: found)
    monkeypatch.setattr(entities, "lucene_words", lambda text: "pier")
    vectors = {"a": [0.0, 1.0], "b": [1.0, 0.0], "c": [0.8, 0.6]}
    context = SimpleNamespace(
        reader=None,
        clock=lambda stage: nullcontext(),
        text_vectors=lambda texts: np.array([vectors[text] for text in texts]),
    )
    best = entities.best_entities(context, {"Who built the pier?": np.array([1.0, 0.0])}, 2)
    assert best == {"Who built the pier?": ["b", "a"]}, "1/62 + 1/61, then 1/61 + 1/63, then 1/63 + 1/62"
