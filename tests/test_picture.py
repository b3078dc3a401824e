"""Pictures of answers: what is drawn where, of every strategy, what stands behind it, and the page as a file."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import fake_memory
import pytest
from cli_runner import HOSTILE
from fake_memory import chained, passage

from gsw_graph.errors import InputError
from gsw_graph.explore.picture.drawing import of_answer
from gsw_graph.explore.picture.picture import CAPTIONS, COLOURS, NODES, Picture, write
from gsw_graph.model.results import (
    QA,
    AgentStep,
    Chain,
    Citation,
    Hop,
    Step,
    Trace,
)


def drawn(answer, *others):
    """Its picture, where the memory holds these passages too."""
    return of_answer(answer, lambda ids: [other for other in others if other.id in ids])


def arrows(picture):
    return {
        (picture.nodes[edge.source].caption, picture.nodes[edge.target].caption): edge
        for edge in picture.edges.values()
    }


def data_of(html):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1]
    )


def test_a_chain_goes_hop_by_hop_from_left_to_right():
    first = passage(1, text="Long ago. Ada founded it. It grew.")
    second = passage(2, text="She is from Skarholm. She sang.")
    picture = drawn(replace(chained("Where was the founder of the foundry born?"), passages=[first]), second)
    columns = {node.caption: node.column for node in picture.nodes.values()}
    assert columns == {
        "Where was the founder of the foundry born?": 0,
        "Who founded the foundry?": 1,
        "1. Title 1": 1,
        "Ada": 2,
        "Where was Ada born?": 3,
        "Title 2": 3,
        "Skarholm": 4,
    }
    assert [head for head in picture.columns if head] == [
        "Hop 1: Who founded the foundry?",
        "Hop 2: Where was #1 born?",
    ]
    found = arrows(picture)
    way = [
        "Where was the founder of the foundry born?",
        "Who founded the foundry?",
        "Ada",
        "Where was Ada born?",
        "Skarholm",
    ]
    for pair in itertools.pairwise(way):
        assert pair in found
    assert found["Who founded the foundry?", "Ada"].behind == {"p1": ["Ada founded it."]}
    assert found["Ada", "Where was Ada born?"].behind == {"p2": ["She is from Skarholm."]}
    assert [node.caption for node in picture.nodes.values() if node.answer] == ["Skarholm"]
    assert picture.passages["p2"].quotes == ["She is from Skarholm."]


def test_the_best_chain_stands_out_and_steps_stand_where_their_plan_has_them():
    def hop(step, question, answer, at="p1"):
        return Hop(
            step, question, question, answer, QA(f"{step}{answer}", question, [answer]), at, 0.5, ["vector"]
        )

    best = Chain(
        0.9,
        [hop(1, "Who made it?", "Ada"), hop(2, "Who sold it?", "Bo"), hop(3, "When did #1 meet #2?", "1911")],
    )
    worse = [Chain(0.1, [hop(1, "Who made it?", "Ada"), hop(2, "Who sold it?", f"Cy {n}")]) for n in range(4)]
    picture = drawn(replace(chained("q"), chains=[best, *worse], answer="1911", citations=[]))
    by = {node.caption: node for node in picture.nodes.values()}
    assert by["Who made it?"].column == 1
    assert by["When did #1 meet #2?"].column == 3
    assert by["1911"].column == 4
    assert by["1911"].answer
    found = {caption for caption, node in by.items() if node.faint and node.label == "Concept"}
    assert found == {
        "Cy 0",
        "Cy 1",
    }
    assert ("Ada", "When did #1 meet #2?") in arrows(picture)
    assert ("Bo", "When did #1 meet #2?") in arrows(picture)
    assert picture.notes == ["The best 3 of 5 paths are drawn."]


def test_a_walk_goes_over_names_that_tell_things_apart():
    first = passage(1)
    second = passage(2, text="Ada was there. The foundry stood.")
    third = passage(3)
    trace = replace(
        fake_memory.TRACE,
        paths={
            **fake_memory.TRACE.paths,
            "p3": [Step("name", "1911", "1911"), Step("passage", "p3", "Title 3")],
        },
    )
    picture = drawn(fake_memory.canned("q", [first, second, third], trace=trace))
    found = arrows(picture)
    way = ["q", "Foundry", "1. Title 1", "Ada", "2. Title 2"]
    assert [picture.columns[n] for n in range(1, 5)] == ["Names", "Passages", "Names", "Passages"]
    for pair in itertools.pairwise(way):
        assert pair in found
    assert found["q", "Foundry"].caption == "named in the question"
    assert found["Ada", "2. Title 2"].behind == {"p2": ["Ada was there."]}
    assert ("q", "3. Title 3") in found
    assert "1911" not in {node.caption for node in picture.nodes.values()}, "a date joins nothing"


def step(agent, stage, asked, found, passages=(), **changes):
    return AgentStep(
        agent,
        stage,
        asked,
        found,
        [],
        list(passages),
        {"in": 1, "out": 1} if stage != "search" else {},
        0.1,
        **changes,
    )


def test_agents_are_sub_questions_and_what_they_found():
    steps = [
        step("planner", "grasp_plan", "q", "two parts"),
        step("sub-question 1", "search", "Who designed it?", "pairs", ["p1", "p2"]),
        step("sub-question 1", "grasp_find", "Who designed it?", "Ada designed the theatre."),
        step("sub-question 2", "search", "With what did Ada open?", "pairs", ["p1", "p2"]),
        step("sub-question 2", "grasp_find", "With what did Ada open?", "It opened with The Heron."),
        step("synthesis", "answer", "the findings", "The Heron"),
    ]
    cited = [
        Citation("p1", "d1", "Title 1", "/far/1.md", "Ada designed the theatre."),
        Citation("p2", "d2", "Title 2", "/far/2.md", "It opened with The Heron in May."),
    ]
    plan = [{"id": 1, "question": "Who designed it?"}, {"id": 2, "question": "With what did #1 open?"}]
    answer = replace(
        fake_memory.canned("q", [passage(1), passage(2)], trace=Trace(steps=steps)),
        answer="The Heron",
        answer_source="llm",
        citations=cited,
        plan=plan,
    )
    picture = drawn(answer)
    found = arrows(picture)
    way = [
        "q",
        "Who designed it?",
        "Ada designed the theatre.",
        "With what did Ada open?",
        "It opened with The Heron.",
        "The Heron",
    ]
    for pair in itertools.pairwise(way):
        assert pair in found
    assert found["Ada designed the theatre.", "1. Title 1"].behind == {"p1": ["Ada designed the theatre."]}


def test_the_page_runs_its_own_scripts_and_fetches_nothing():
    html = drawn(chained("q")).html()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', html)[1].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(scripts) == 2
    for script in scripts:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy
    assert not re.search(r"<(link|img|iframe|object)\b|\bsrc=", html.replace(scripts[0], ""))


def test_what_documents_say_is_data_and_no_page():
    evil = f"</script><script>alert(1)</script>\u2028{HOSTILE}<!--"
    answer = replace(
        chained(evil),
        answer=evil,
        note=evil,
        passages=[passage(1, text=evil * 5000, title=evil, source=evil)],
        citations=[Citation("p1", "d1", evil, evil, evil)],
    )
    html = drawn(answer).html()
    assert html.count("<script") == 3
    assert "alert(1)</" not in html
    assert not set(html) & set("\x1b\x9b\x07\u202e\u2028\udc00")
    html.encode()
    data = data_of(html)
    assert "<script>alert(1)" in data["title"]
    assert not set(json.dumps(data, ensure_ascii=False)) & set("\x1b\x9b\x07\u202e"), (
        "nor does the script get what reorders text"
    )
    assert len(data["passages"]["p1"]["text"]) <= 20_000
    shown = drawn(answer)._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts" ')
    assert "<script" not in shown


def test_more_than_anybody_reads_is_left_out_and_said():
    answer = fake_memory.canned("q", [passage(n) for n in range(1, 500)])
    picture = drawn(answer)
    assert len(picture.nodes) == NODES
    assert picture.notes == [f"Only the first {NODES} nodes are drawn."]
    assert {edge.target for edge in picture.edges.values()} <= set(picture.nodes)
    told = drawn(replace(answer, answer="Somebody"))
    assert len(told.nodes) == NODES
    assert [node.caption for node in told.nodes.values() if node.answer] == ["Somebody"]


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "way.html"
    target.write_text("old")
    assert drawn(chained("q")).save(str(target)) == target
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    written = target.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match="No space left on device"):
        write("new", target)
    assert [path.name for path in tmp_path.iterdir()] == ["way.html"]
    assert target.read_bytes() == written


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", "this is a folder"),
        (".", "this is a folder"),
        ("none/x.html", "no such folder"),
        ("x" * 300, "cannot be written|no name of a file"),
    ],
)
def test_a_file_that_cannot_be_is_refused(path, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=said):
        Picture("q").save(path)
    assert list(tmp_path.iterdir()) == []


def test_every_label_of_the_graph_has_a_colour_and_a_caption():
    assert set(COLOURS) == set(CAPTIONS)
    assert len(set(COLOURS.values())) == len(COLOURS)
