"""The second pass: every kind of fault that it claims to mend is mended by a fitting patch, and no patch loses what was sound."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scripted_chat import ScriptedChat
from test_extract_llm import FOUND, REPLY, document

from gsw_graph.extract.lint import KINDS, Issue
from gsw_graph.extract.llm import PATCH, extract_passage, issues_of, mend_request, mended, read, read_patch
from gsw_graph.models.prompts import prompt

DATE = {
    "phrase": "built in",
    "questions": [{"question": "When was the Stone Pier built?", "answers": ["1902"]}, {"question": "Which pier opened in 1902?", "answers": ["Stone Pier"]}],
}
SOUND = {**REPLY, "verb_phrases": [*REPLY["verb_phrases"], DATE]}
NOTHING = {"drop": [], "entities": [], "verb_phrases": [], "propositions": []}


def asked(phrase, *pairs):
    return {"phrase": phrase, "questions": [{"question": question, "answers": list(answers)} for question, *answers in pairs]}


def named(*names):
    return [{"name": name, "roles": []} for name in names]


def first(entities=(), phrases=(), facts=(), without=()):
    """A sound reply with something more, or less."""
    return {
        "entities": [entity for entity in SOUND["entities"] if entity["name"] not in without] + named(*entities),
        "verb_phrases": [*(phrase for phrase in SOUND["verb_phrases"] if phrase["phrase"] not in without), *phrases],
        "propositions": [*SOUND["propositions"], *facts],
    }


TEXT = "The Stone Pier was built by Ana Ruiz in 1902. Her brother Juan bought it."
BUY = asked("bought", ("Who bought the Stone Pier?", "Juan"), ("What did Juan buy?", "Stone Pier"))
CASES = {
    "name not in passage": (
        first(["Obama"], [asked("met", ("Whom did Ana Ruiz meet?", "Obama"), ("Whom did Obama meet?", "Ana Ruiz"))]),
        {"drop": ["Obama", "Whom did Obama meet?"]},
    ),
    "missing name": (first(), {"entities": named("Juan"), "verb_phrases": [BUY]}),
    "orphan": (first(["Juan"]), {"verb_phrases": [BUY]}),
    "missing inverse": (
        first(["Juan"], [asked("bought", ("Who bought the Stone Pier?", "Juan"))]),
        {"verb_phrases": [asked("bought", ("What did Juan buy?", "Stone Pier"))]},
    ),
    "dangling answer": (first(phrases=[BUY]), {"entities": named("Juan")}),
    "unanswered": (
        first(["Juan"], [asked("bought", ("Who bought it from Ana Ruiz?",), ("What did Juan buy?", "Stone Pier"))]),
        {"drop": ["Who bought it from Ana Ruiz?"], "verb_phrases": [asked("bought", ("Who bought the Stone Pier?", "Juan"))]},
    ),
    "no name": (
        first(["Juan"], [asked("bought", ("Who was the buyer?", "Juan"), ("What did Juan buy?", "Stone Pier"))]),
        {"drop": ["Who was the buyer?"], "verb_phrases": [asked("bought", ("Who bought the Stone Pier?", "Juan"))]},
    ),
    "conflict": (
        first(["Juan"], [BUY, asked("built", ("Who built the Stone Pier?", "Juan"))]),
        {"drop": ["Who built the Stone Pier?"], "verb_phrases": [asked("built", ("Who built the Stone Pier?", "Ana Ruiz"))]},
    ),
    "several unknowns": (
        first(["Juan"], [BUY, asked("built", ("Who and when built the Stone Pier?", "1902"))]),
        {"drop": ["Who and when built the Stone Pier?"]},
    ),
    "pronoun": (
        first(["Juan"], [BUY, asked("built", ("What did she build?", "Stone Pier"))], ["She had a brother."]),
        {"drop": ["What did she build?", "She had a brother."], "propositions": ["Ana Ruiz had a brother."]},
    ),
    "vague": (
        first(["something"], [asked("bought", ("What did Juan buy?", "something"))]),
        {"drop": ["something"], "entities": named("Juan"), "verb_phrases": [BUY]},
    ),
    "merged possessive": (
        first(["Ana Ruiz's brother"], [asked("bought", ("Who bought the Stone Pier?", "Ana Ruiz's brother"))]),
        {"drop": ["Ana Ruiz's brother"], "entities": named("Juan"), "verb_phrases": [BUY]},
    ),
    "relative date": (
        first(["Juan", "a year later"], [BUY, asked("bought in", ("When did Juan buy the Stone Pier?", "a year later"))]),
        {"drop": ["a year later"]},
    ),
    "empty": ({**first(), "verb_phrases": []}, {"entities": named("Juan"), "verb_phrases": [*SOUND["verb_phrases"], BUY]}),
}


def faults(found, text=TEXT):
    return issues_of(document(text), 0, found)


def test_there_is_a_case_for_every_kind():
    assert CASES.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", CASES)
def test_a_fitting_patch_mends_it(kind):
    reply, patch = CASES[kind]
    before = faults(read(reply))
    assert kind in {fault.kind for fault in before}
    chat = ScriptedChat(reply, {**NOTHING, **patch})
    after = extract_passage(document(TEXT), 0, chat, second_pass=True)
    assert after == mended(read(reply), read_patch({**NOTHING, **patch}), before)
    assert kind not in {fault.kind for fault in faults(after)}
    assert len(faults(after)) < len(before)
    sound = read(SOUND if kind != "empty" else {**SOUND, "verb_phrases": []})
    assert set(sound.entities) <= set(after.entities)
    assert {pair for _, pairs in sound.phrases for pair in pairs} <= {pair for _, pairs in after.phrases for pair in pairs}
    assert set(sound.facts) <= set(after.facts)


def test_the_second_call_shows_passage_result_and_faults():
    reply = CASES["orphan"][0]
    found = read(reply)
    chat = ScriptedChat(reply, NOTHING)
    assert extract_passage(document(TEXT), 0, chat, second_pass=True) == found
    request = chat.requests[1]
    assert request == mend_request(document(TEXT), 0, found, faults(found))
    assert (request.stage, request.schema, request.messages[0]["content"]) == ("mend", PATCH, prompt("mend"))
    said = request.messages[1]["content"]
    assert TEXT in said
    assert '"phrase":"built","questions":[{"question":"Who built the Stone Pier?","answers":["Ana Ruiz"]}' in said
    assert 'orphan: "Juan": no question names it' in said


def test_what_no_fault_names_cannot_be_dropped():
    patch = read_patch({**NOTHING, "drop": ["Stone Pier", "Who built the Stone Pier?", *REPLY["propositions"]]})
    assert mended(FOUND, patch, []) == FOUND
    assert mended(FOUND, patch, [Issue("missing name", 0, "Juan", "")]) == FOUND


def test_a_question_whose_inverse_is_missing_is_sound():
    reply, _ = CASES["missing inverse"]
    asked_too = {**NOTHING, "drop": ["Who bought the Stone Pier?"], "propositions": ["Juan bought the Stone Pier."]}
    found = extract_passage(document(TEXT), 0, ScriptedChat(reply, asked_too), second_pass=True)
    assert "Who bought the Stone Pier?" in {question for _, pairs in found.phrases for question, _ in pairs}
    assert "Juan bought the Stone Pier." in found.facts


def test_a_patch_that_makes_it_worse_is_refused():
    worse = {**NOTHING, "entities": named("Obama", "Bush", "Clinton")}
    chat = ScriptedChat(CASES["orphan"][0], worse)
    assert extract_passage(document(TEXT), 0, chat, second_pass=True) == read(CASES["orphan"][0])


def test_without_a_usable_patch_the_first_result_stays():
    chat = ScriptedChat(REPLY, [], {})
    found = extract_passage(document(TEXT), 0, chat, second_pass=True)
    assert found == replace(FOUND, repair_error="the reply could not be used after a repair")
    assert chat.told == ["the reply is not an object but a list", "the reply has none of `drop`, `entities`, `verb_phrases`, `propositions`"]


def test_a_dropped_entity_takes_only_what_it_alone_answers():
    found = read(first(["Zed"], [asked("built", ("Who were the builders?", "Zed", "Ana Ruiz"), ("Who was a builder?", "Zed"))]))
    after = mended(found, read_patch({**NOTHING, "drop": ["zed"]}), [Issue("name not in passage", 0, "Zed", "")])
    pairs = dict(pair for _, some in after.phrases for pair in some)
    assert pairs["Who were the builders?"] == ("Ana Ruiz",)
    assert "Who was a builder?" not in pairs
    assert "Zed" not in dict(after.entities)
