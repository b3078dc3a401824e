"""The sentences, items and rows of passages that answer a question."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_memory import chained, passage

from gsw_graph.explore.notebook import html_answer
from gsw_graph.explore.places import places
from gsw_graph.model.results import Citation

TEXT = """owner: crew; tags: leave, harbour

Everybody on the ferry has 25 days of leave.
The ferry is
painted green.

Kinds of leave

| Kind | Days |
|---|---:|
| Parental | 90 |
| Study | 12 |

Asking

1. Write to the harbour master.
2. Ring the bell twice.

```sh
ferry leave ask --parental
```
"""


def asked(question, *texts, **changes):
    passages = [passage(number, text=text, title="Ferry") for number, text in enumerate(texts, 1)]
    answer = replace(chained("x"), question=question, answer=None, citations=[], chains=[], passages=passages)
    return replace(answer, **changes)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How long is parental leave?", ["| Parental | 90 |"]),
        ("Who is asked, the harbour master?", ["1. Write to the harbour master."]),
        ("What colour is the ferry painted?", ["The ferry is\npainted green."]),
        ("Where is the lighthouse?", []),
        ("Who is the owner of the tags?", []),  # front matter is no place
    ],
)
def test_the_place_is_a_sentence_an_item_or_a_row_as_written(question, expected):
    answer = asked(question, f"Ferry\n{TEXT}")
    assert places(answer)["p1"] == expected
    for place in expected:
        assert place in TEXT


def test_what_is_cited_is_the_place_and_other_passages_have_their_own():
    citation = Citation("p1", "d1", "Ferry", "s", "The ferry is\npainted green.")
    answer = asked(
        "What colour is the ferry?", TEXT, "The ferry of Osk has a colour of its own.", citations=[citation]
    )
    assert places(answer) == {"p1": [citation.text], "p2": ["The ferry of Osk has a colour of its own."]}


def test_a_notebook_shows_title_section_and_the_marked_place_and_all_text_as_text():
    evil = "<img src=x onerror=alert(1)>"
    answer = asked(f"What colour is the {evil} ferry painted?", f"{TEXT}\n\n{evil} painted ferry {evil}.")
    answer = replace(
        answer, passages=[replace(answer.passages[0], section="Ferry > Paint", source=f"/a/{evil}.md")]
    )
    shown = html_answer(answer)
    assert "<strong>Ferry › Paint</strong>" in shown
    assert shown.count("<mark>") == shown.count("</mark>") >= 2
    assert "<img" not in shown
    assert "ferry leave ask --parental" in shown
    assert answer._repr_html_() == shown
