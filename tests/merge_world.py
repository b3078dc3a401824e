"""A small world with names that are one thing, and names that only look so: what `merge` must join, and what it must not."""

from __future__ import annotations

import samples
from samples import entity


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


WORLD = [
    record(
        "office",
        "World Tide Office",
        "The World Tide Office (WTO) was founded by J. R. R. Halloran in Skarholm.",
        entity("World Tide Office", organisation=["office"]),
        entity("WTO", abbreviation=["of World Tide Office"]),
        entity("J. R. R. Halloran", person=["founder"]),
        entity("Skarholm", location=["city"]),
        pairs=(("Who founded the World Tide Office?", "J. R. R. Halloran"),),
    ),
    record(
        "tables",
        "Tide tables",
        "The WTO prints the tide tables in Port Aldous. Its printer is Bo Lind.",
        entity("WTO", organisation=["printer of tables"]),
        entity("Port Aldous", location=["city"]),
        entity("Bo Lind", person=["printer"]),
        pairs=(
            ("Where does the WTO print its tables?", "Port Aldous"),
            ("Who is the printer of the WTO?", "Bo Lind"),
        ),
    ),
    record(
        "halloran",
        "JRR Halloran",
        "JRR Halloran (born 1871) was born in Vellmouth. He wrote of tides.",
        entity("JRR Halloran", person=["writer"]),
        entity("Vellmouth", location=["birthplace"]),
        pairs=(("Where was JRR Halloran born?", "Vellmouth"),),
    ),
    record(
        "grau",
        "Ottilie Grau",
        "Ottilie Maria Grau (born 1860) was a painter. Ottilie Grau (1860-1931), also known as Tilly of the Quay, painted boats.",
        entity("Ottilie Grau", person=["painter"]),
        entity("Ottilie Maria Grau", person=["full name"]),
        entity("Tilly of the Quay", person=["name used"]),
    ),
    record(  # another person: another year of birth
        "grau2",
        "Painters",
        "Ottilie B. Grau (born 1902) painted boats with Ottilie Grau's pupils.",
        entity("Ottilie B. Grau", person=["painter"]),
    ),
    record("king2", "King Olaf II", "King Olaf II ruled.", entity("King Olaf II", person=["king"])),
    record(
        "king3",
        "King Olaf III",
        "King Olaf III ruled.",
        entity("King Olaf III", person=["king"]),
        entity("Olaf Berg Jr.", person=["sailor"]),
        entity("Olaf Berg Sr.", person=["sailor"]),
    ),
    record(  # two meanings of one abbreviation
        "guild",
        "Western Trout Order",
        "The Western Trout Order (WTX) fishes.",
        entity("Western Trout Order", organisation=["order"]),
        entity("WTX", abbreviation=["of Western Trout Order"]),
    ),
    record(
        "guild2",
        "Wood Turners of Xanten",
        "The Wood Turners of Xanten (WTX) turn wood.",
        entity("Wood Turners of Xanten", organisation=["guild"]),
        entity("WTX", abbreviation=["of Wood Turners of Xanten"]),
    ),
    record(
        "chalk",
        "Chalk-Town",
        "Chalk-Town lies in Aldshire.",
        entity("Chalk-Town", location=["town"]),
        entity("Chalk, Aldshire", location=["village"]),
        entity("Aldshire", location=["county"]),
    ),
    record("chalk2", "Chalk", "Chalk is a song.", entity("Chalk", work=["song"])),
    record("titled", "Stone-Pier", "A film.", entity("Stone-Pier", work=["film"])),
    record("titled2", "Stone Pier", "A novel.", entity("Stone Pier", work=["novel"])),
]
GROUPS = {  # canonical name: its aliases
    "WTO": {"World Tide Office"},
    "JRR Halloran": {"J. R. R. Halloran"},
    "Ottilie Grau": {"Tilly of the Quay"},
}


def write(folder):
    return str(samples.jsonl(folder / "world.jsonl", WORLD))
