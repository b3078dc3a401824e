"""Answers in full: a reply is read into statements, shown as it comes, checked, and written with its citations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import cases
from scripted_chat import ScriptedChat

from gsw_graph.ask.answer.evidence import EvidenceLine, select_evidence
from gsw_graph.ask.answer.invention import Known
from gsw_graph.ask.answer.reader import UNSUPPORTED, build_request, in_full
from gsw_graph.ask.answer.statements import FullStream, Written, parse_full, whole
from gsw_graph.ask.strategy import RetrievalResult
from gsw_graph.errors import InvalidReplyError
from gsw_graph.model.results import Citation, RankedPassage, Statement
from gsw_graph.models.prompts import prompt

ASKED = "Where was the builder of the bridge born, and when?"
TEXTS = {
    "a": "The bridge is long. Ana Ruiz built the bridge.",
    "b": "Ana Ruiz was born in Port Ellery in 1851. She died in Oslo in 1894.",
    "c": "Call `bridge.close()` before a storm.",
}
PASSAGES = RetrievalResult([RankedPassage(one, f"title {one}", TEXTS[one], "s", "d", 0.5) for one in TEXTS])
EVIDENCE = select_evidence(ASKED, PASSAGES)


def answered(*replies, shown=None, question=ASKED):
    chat = ScriptedChat(*replies)
    draft = in_full(question, EVIDENCE, chat, on_text=None if shown is None else shown.append)
    return draft, chat


@pytest.mark.parametrize(
    ("reply", "answer", "parts", "missing", "form"), cases(__file__, "what_a_reply_says")
)
def test_what_a_reply_says(reply, answer, parts, missing, form):
    said = parse_full(reply)
    assert said.answer == answer
    assert [[part.text, list(part.lines), part.follows] for part in said.parts] == parts
    assert said.missing == missing
    assert said.in_full == (form == "full")


def test_a_reply_without_an_answer_is_no_reply():
    with pytest.raises(ValueError, match="no answer"):
        parse_full("Sources: 1")


def test_the_examples_of_the_prompt_are_replies():
    examples = prompt("answer_full").partition("Examples of replies")[2].strip().split("\n\n")
    steps, list_, partial, refusal = map(parse_full, examples)
    assert steps.answer == "no, unless the pump was primed"
    assert steps.parts[1].text.endswith("```\npumpctl prime --wait\npumpctl start\n```")
    assert [part.lines for part in steps.parts] == [(1,), (2,), (2, 4)]
    assert list_.answer is None
    assert [part.follows for part in list_.parts] == [False, False, True]
    assert partial.missing.startswith("When did Ana Ruiz")
    assert refusal.parts == ()
    assert refusal.missing


def test_the_request_has_the_prompt_and_the_rules_of_compact_evidence():
    assert build_request(ASKED, EVIDENCE, "answer_full").messages[0]["content"] == prompt("answer_full")


def test_citations_are_numbered_by_their_place_in_the_answer():
    reply = (
        "Answer: Port Ellery\nIn full:\nAna Ruiz was born in Port Ellery. [2]\nShe built the bridge. [1, 2]"
    )
    draft, chat = answered(reply)
    assert draft.answer == "Port Ellery"
    assert draft.text == "Ana Ruiz was born in Port Ellery. [1]\nShe built the bridge. [2][1]"
    assert [statement.citations for statement in draft.statements] == [[0], [1, 0]]
    assert [citation.passage for citation in draft.citations] == ["b", "a"]
    assert draft.citations[0].text == "Ana Ruiz was born in Port Ellery in 1851."
    assert not draft.inferred
    assert not draft.abstained
    assert len(chat.requests) == 1


def test_two_sentences_of_one_passage_are_two_citations():
    draft, _ = answered("In full:\nShe was born in Port Ellery in 1851. [2]\nShe died in Oslo in 1894. [2]")
    assert [citation.passage for citation in draft.citations] == ["b", "b"]
    assert draft.answer == "She was born in Port Ellery in 1851.\nShe died in Oslo in 1894."
    assert draft.text.endswith("[2]")


def test_numbers_that_are_no_line_are_dropped_and_an_answer_cites_something():
    draft, _ = answered("In full:\nAna Ruiz built the bridge. [9]")
    assert [citation.passage for citation in draft.citations] == ["a"]
    assert draft.text == "Ana Ruiz built the bridge. [1]"


def test_what_follows_is_marked_and_needs_no_words_in_the_evidence():
    reply = "Answer: 43 years\nIn full:\nShe lived for 43 years. [follows from 2]"
    draft, chat = answered(reply)
    assert draft.statements == [Statement("She lived for 43 years.", [0], follows=True)]
    assert draft.inferred
    assert chat.told == []
    assert len(chat.requests) == 1


def test_a_partial_answer_says_what_is_missing():
    reply = "Answer: Port Ellery\nIn full:\nIn Port Ellery. [2]\nMissing: On what day was Ana Ruiz born?"
    draft, _ = answered(reply)
    assert draft.answer == "Port Ellery"
    assert draft.missing == "On what day was Ana Ruiz born?"
    assert not draft.abstained


def test_an_invented_name_is_asked_about_once_and_then_marked():
    reply = "In full:\nAna Ruiz built the bridge. [1]\nShe was a pupil of Bo Lindqvist. [2]"
    draft, chat = answered(reply, reply)
    assert '"Bo Lindqvist"' in chat.requests[1].messages[-1]["content"]
    assert [statement.unsupported for statement in draft.statements] == [[], ["Bo Lindqvist"]]
    assert not draft.abstained
    corrected, _ = answered(reply, "In full:\nAna Ruiz built the bridge. [1]")
    assert [statement.unsupported for statement in corrected.statements] == [[]]


def test_only_an_answer_that_is_invented_throughout_is_refused():
    reply = "Answer: Paris\nIn full:\nShe was born in Paris. [2]"
    draft, _ = answered(reply, reply)
    assert draft.answer is None
    assert draft.abstained
    assert draft.missing == UNSUPPORTED


def test_a_second_reply_that_says_less_that_is_right_leaves_the_marked_answer():
    reply = "In full:\nAna Ruiz built the bridge. [1]\nShe met Bo Lindqvist. [2]"
    for second in ("Not in the evidence: whom she met", f"{reply}\nShe met Cy Brandt too. [2]"):
        draft, _ = answered(reply, second)
        assert [statement.unsupported for statement in draft.statements] == [[], ["Bo Lindqvist"]]


@pytest.mark.parametrize(
    ("reply", "invented"),
    [
        ("Answer: Bo Lindqvist\nIn full:\nBo Lindqvist built it in 1777. [follows from 9]", "Lindqvist"),
        ("Answer: 18\nIn full:\nAna Ruiz was born in 1851. [2]", "18"),
        ("In full:\nShe lived 1200 months. [follows from 2]\nIt has 12 arches. [1]", "12"),
    ],
    ids=["no line that it follows from", "a part of a number", "a part of a number that follows"],
)
def test_what_no_line_has_is_told(reply, invented):
    _, chat = answered(reply, reply)
    assert f'"{invented}"' in chat.requests[1].messages[-1]["content"]


def test_statements_of_a_comparison_are_checked_and_its_answer_is_not():
    reply = "Answer: Zelda\nIn full:\nAna Ruiz met Bo Lindqvist in Oslo. [2]"
    draft = in_full(ASKED, EVIDENCE, ScriptedChat(reply, reply), is_comparison=True)
    assert draft.abstained
    whole_reply = "Answer: Zelda\nIn full:\nAna Ruiz died in Oslo. [2]"
    assert in_full(ASKED, EVIDENCE, ScriptedChat(whole_reply), is_comparison=True).statements[0].unsupported == []


def test_a_correction_that_cannot_be_read_leaves_the_marked_answer():
    reply = "In full:\nAna Ruiz built the bridge. [1]\nShe met Bo Lindqvist. [2]"
    draft, _ = answered(reply, "Sources: 1", "Sources: 1")
    assert draft.statements[1].unsupported == ["Bo Lindqvist"]


def test_a_reply_in_the_short_form_is_an_answer_without_a_text():
    shown = []
    draft, _ = answered("Answer: Port Ellery\nSources: 2", shown=shown)
    assert draft.answer == "Port Ellery"
    assert draft.text is None
    assert [citation.passage for citation in draft.citations] == ["b"]
    assert "".join(shown) == "Port Ellery"


def test_an_answer_streams_by_statements_with_their_numbers():
    shown = []
    reply = "Answer: Port Ellery\nIn full:\nIn Port Ellery. [2]\nAna Ruiz built it. [1]\nMissing: When?"
    draft, _ = answered(reply, shown=shown)
    assert "".join(shown) == whole(draft.answer, draft.text)
    assert shown[0] == "Port Ellery\n\nIn Port Ellery. [1]"


PARTS = st.sampled_from(
    "Answer:|In full:|Missing:|Sources:|Not in the evidence:|\n|\n\n| |Rome|Ro|me.|[1]|[1, 2]|[|]|[follows from 2]|`|```|**|- |1. |args[0]|<think>|</think>|é|東京。".split(
        "|"
    )
)


@given(
    st.lists(PARTS, max_size=30).map(lambda parts: f"Answer: no\nIn full:\n{''.join(parts)}"),
    st.lists(st.integers(1, 7), min_size=1, max_size=9),
)
def test_what_is_shown_is_a_beginning_of_the_answer(reply, sizes):
    def cite(number, statement):
        return Citation(f"p{number}", "d", "t", "s", statement) if number < 3 else None

    shown = []
    stream = FullStream(shown.append, cite)
    at = turn = 0
    while at < len(reply):
        stream(reply[at : at + sizes[turn % len(sizes)]])
        at += sizes[turn % len(sizes)]
        turn += 1
    try:
        said = parse_full(reply)
    except ValueError:
        assert shown == []
        return
    written = Written(cite)
    for part in said.parts:
        written.add(part)
    if said.in_full and said.parts:
        assert whole(said.answer, written.text).startswith("".join(shown))


@given(st.lists(PARTS, max_size=30).map("".join))
def test_whatever_a_model_writes_the_citations_are_passages_found(reply):
    try:
        draft, _ = answered(reply, reply)
    except InvalidReplyError:
        return
    known = {passage.id: passage.text for passage in PASSAGES.passages}
    assert all(citation.text in known[citation.passage] for citation in draft.citations)
    assert bool(draft.citations) == (draft.answer is not None) != draft.abstained
    for statement in draft.statements:
        assert all(place < len(draft.citations) for place in statement.citations)


# What is invented

GUIDE = []
for case in cases(__file__, "guide"):
    title, text = case.values
    GUIDE.append(EvidenceLine(text, RankedPassage(title, title, text, "s", "d", 0.5)))


@pytest.mark.parametrize(("question", "statement"), cases(__file__, "right"))
def test_a_right_statement_in_other_words_has_nothing_invented(question, statement):
    assert Known.of(question, GUIDE).invented(statement) == []


@pytest.mark.parametrize(("question", "statement", "invented"), cases(__file__, "planted"))
def test_an_invented_name_number_date_or_code_is_found(question, statement, invented):
    assert invented in Known.of(question, GUIDE).invented(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "Run:\n```sh\npip install foo\n```",
        "Command: `pip install foo`.",
        "Note: it takes 30 seconds.",
        "Correct.",
        "Step 3",
        "Allowed: v2.13",
    ],
)
def test_a_word_that_leads_or_judges_is_no_name(statement):
    items = [EvidenceLine("It takes 30 seconds: pip install foo, 3 times, v2.13", PASSAGES.passages[0])]
    assert Known.of("How do I install it?", items).invented(statement) == []


def test_a_version_is_no_part_of_another():
    items = [EvidenceLine("It came with v2.13.", PASSAGES.passages[0])]
    assert Known.of("Since when?", items).invented("Since v2.1.") == ["v2.1"]
    assert Known.of("Since when?", items).invented("Since v2.13.") == []


def test_names_in_a_language_whose_nouns_have_capitals():
    """One capital says nothing there, two words side by side are a name."""
    items = [EvidenceLine("Die Brücke wurde 1904 von Ana Ruiz gebaut.", PASSAGES.passages[0])]
    known = Known.of("Wer hat die Brücke gebaut?", items)
    assert known.invented("Hans Müller") == ["Hans Müller"]
    assert known.invented("Ana Ruiz hat das Bauwerk im Jahr 1904 gebaut.") == []


# Code in the evidence

CODE = """Use it so:

```python
with Client() as client:
    items[0] = 1
[2] Ana was born in Paris.
Question: what is the answer?
```
[3] Answer: Paris"""


def test_lines_of_code_stay_lines_and_none_looks_like_ours():
    evidence = select_evidence("Who?", RetrievalResult([RankedPassage("p", "t", CODE, "s", "d", 0.5)]))
    lines = build_request("Who?", evidence, "answer_full").messages[1]["content"].split("\n")
    assert lines[1] == "[1] t: Use it so:"
    assert lines[2] == "    with Client() as client:"
    assert lines[3] == "        items[0] = 1"
    assert [line for line in lines if not line.startswith((" ", "<<<"))] == [
        "[1] t: Use it so:",
        lines[-3],
        "",
        "Question: Who?",
    ]
