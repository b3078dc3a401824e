"""Pictures of a memory, on every engine."""

from __future__ import annotations

import pytest

from gsw_graph.errors import InputError


def test_a_name_stands_once_with_the_passages_behind_every_edge(corpus):
    query = "MATCH way = (:Concept {id: $id})<-[:NAMES]-(:Passage) RETURN way"
    picture = corpus.draw(query, id="vellmouth")
    names = [node for node in picture.nodes.values() if node.label != "Passage"]
    assert [(node.caption, node.label) for node in names] == [("Vellmouth", "Concept")]
    passages = corpus.cypher("MATCH (c:Concept {id: 'vellmouth'}) RETURN c.passages AS n").rows[0]["n"]
    assert passages == len(picture.nodes) - 1 == len(picture.edges)
    for edge in picture.edges.values():
        [(passage, sentences)] = edge.behind.items()
        assert "Vellmouth" in sentences[0]
        assert sentences[0] in picture.passages[passage].text
        assert picture.passages[passage].source.endswith((".md", ".txt"))
    assert picture.notes == []


@pytest.mark.parametrize(
    "query", ["RETURN 1", "MATCH (n:Nothing) RETURN n", "MATCH (p:Passage) RETURN p.title"]
)
def test_what_cannot_be_drawn_is_said(corpus, query):
    with pytest.raises(InputError, match="nothing that can be drawn: no node, relationship or path"):
        corpus.draw(query)


def test_a_picture_only_reads(corpus):
    with pytest.raises(InputError, match=r"only reading is allowed\. Change it first"):
        corpus.draw("CREATE (n:Thing) RETURN n")
    with pytest.raises(InputError, match="the query failed"):
        corpus.draw("MATCH (n RETURN n")


def test_an_answer_is_drawn_with_passages_that_it_does_not_bring(corpus):
    answer = corpus.ask(
        "In what disaster did the architect of the Vellmouth Observatory die?",
        strategy="linked",
        k=5,
        trace=True,
        keep=False,
    )
    picture = corpus.draw(answer)
    drawn = {node.id.removeprefix("passage:") for node in picture.nodes.values() if node.label == "Passage"}
    assert {passage.id for passage in answer} <= drawn == set(picture.passages)
    assert "Vellmouth Observatory" in {
        node.caption for node in picture.nodes.values() if node.label == "Concept"
    }
