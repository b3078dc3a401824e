"""A small world (data/merge_world.json) with names that are one thing, and names that only look so: what `merge` must join, and what it must not."""

from __future__ import annotations

import json

import samples


def record(id_, title, text, *entities, pairs=()):
    questions = [{"text": question, "answers": [answer]} for question, answer in pairs]
    phrases = [{"phrase": "says", "questions": questions}] if questions else []
    return {
        "id": id_,
        "title": title,
        "text": text,
        "entities": list(entities),
        "verb_phrases": phrases,
        "propositions": [{"text": text, "entities": [one["name"] for one in entities]}],
    }


WORLD = json.loads(samples.DATA.joinpath("merge_world.json").read_text(encoding="utf-8"))
GROUPS = {  # canonical name: its aliases
    "WTO": {"World Tide Office"},
    "JRR Halloran": {"J. R. R. Halloran"},
    "Ottilie Grau": {"Tilly of the Quay"},
}


def write(folder):
    return str(samples.jsonl(folder / "world.jsonl", WORLD))
