"""Passages: about 200 words, never a sentence cut, nothing lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import cases

from gsw_graph.loaders.split import LEAST, MOST, SENTENCE_LIMIT, Block, paragraphs, split, words

WORD = st.text(alphabet="abcdefghijklmnopqrstuvwxyzäéñçøßж", min_size=1, max_size=12)
SENTENCE = st.lists(WORD, min_size=1, max_size=60).map(lambda ws: " ".join(["Thus", *ws, "ended"]) + ".")
TEXT = st.lists(st.lists(SENTENCE, min_size=1, max_size=30), min_size=1, max_size=8)


def squeeze(*texts):
    return "".join("".join(texts).split())


@given(TEXT)
@settings(max_examples=60, deadline=None)
def test_every_passage_is_whole_sentences_and_nothing_is_lost(text):
    sentences = [sentence for paragraph in text for sentence in paragraph]
    passages = split(paragraphs("\n\n".join(" ".join(paragraph) for paragraph in text)))
    left = iter(sentences)
    for passage in passages:
        rest = squeeze(passage)
        while rest:
            sentence = squeeze(next(left))
            assert rest.startswith(sentence)
            rest = rest[len(sentence) :]
        assert words(passage) <= MOST + LEAST
    assert next(left, None) is None
    assert all(words(passage) >= 60 for passage in passages[:-1])


@given(st.text(min_size=0, max_size=3000))
@settings(deadline=None)
def test_any_text_keeps_every_character(text):
    assert squeeze(*split(paragraphs(text))) == squeeze(text)


FILLER = "The harbour master wrote the tide table in a large and careful hand every morning. "


@pytest.mark.parametrize(
    "sentence",
    [
        "Dr. Smith met Mrs. Brown and Prof. Müller at 5 p.m. on Friday.",
        "He left the U.S. in 1999 and paid 3.5 million, e.g. in cash.",
        'He said: "I go. You stay. We meet again." to them all.',
        "J. R. R. Tolkien was read aloud by Capt. Ågren vs. Lt. Öst.",
        "The line goes on\nafter the end of a row\nand then it ends.",
    ],
)
def test_abbreviations_quotes_and_wrapped_lines_are_not_sentence_ends(sentence):
    for lead in range(60):  # every place a cut could fall
        text = FILLER * 8 + "So. " * lead + sentence + " " + FILLER * 30
        assert any(sentence in passage for passage in split(paragraphs(text)))


def test_a_long_sentence_stays_whole_up_to_the_limit():
    sentence = "Word" + " word" * (SENTENCE_LIMIT - 2) + " end."
    assert sentence in split(paragraphs(f"Before it. {sentence} After it."))[0]
    assert len(split(paragraphs(sentence))) == 1


def test_a_monster_is_cut_at_lines_else_at_spaces_else_between_characters():
    rows = "\n".join(["seven words and no stop in it"] * 400)
    assert all(passage.startswith("seven") and passage.endswith("it") for passage in split(paragraphs(rows)))
    spaced = split(paragraphs("word " * 5000))
    assert {word for passage in spaced for word in passage.split()} == {"word"}
    solid = split(paragraphs("x" * 100_000))
    assert "".join(solid) == "x" * 100_000
    assert max(map(len, solid)) < 6000
    accents = split(paragraphs("e\u0301" * 50_000))
    assert all(passage[0] == "e" and passage[-1] == "\u0301" for passage in accents)


def test_scripts_without_spaces_are_counted_by_characters():
    text = "東京は日本の首都です。" * 100
    passages = split(paragraphs(text))
    assert "".join(passages) == text
    for passage in passages:
        assert passage.endswith("。")
        assert len(passage) <= MOST + LEAST


def test_a_code_block_stays_whole_while_it_fits():
    code = "```\n" + "x = f(1). Then. That\n" * 30 + "```"
    assert any(
        code in passage
        for passage in split([Block(FILLER * 10 + "\n\n"), Block(code + "\n\n", "lines"), Block(FILLER * 10)])
    )
    rows = [f"value_{n} = {n}. Next. Last" for n in range(300)]
    pieces = split([Block("\n".join(rows), "lines")])
    assert len(pieces) > 1
    assert [row for piece in pieces for row in piece.split("\n")] == rows


@pytest.mark.parametrize(
    ("parts", "expected"),
    cases(__file__, "a_cut_falls_before_a_heading_if_both_parts_are_long_enough"),
)
def test_a_cut_falls_before_a_heading_if_both_parts_are_long_enough(parts, expected):
    blocks = []
    for number, (level, count) in enumerate(parts):
        blocks += [Block(f"Part{number}\n\n", "heading", level), Block("word " * (count - 1) + "end.\n\n")]
    passages = [[int(name) for name in re.findall(r"Part(\d)", text)] for text in split(blocks)]
    assert passages == expected
