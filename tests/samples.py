"""A small world in files of ready workspaces (data/samples.json), and what must come of it, told apart from the loaders.

No rule finds the name "the Old Lady", and it stands in no text; the phrase "built" stands twice in the first record.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gsw_graph.text.names import normalise

NODES = "Document Passage Entity Role Concept VerbPhrase QAPair Proposition Relation Run Question".split()
RELATIONSHIPS = (
    "PART_OF NEXT IN PLAYS REFERS_TO ASKS ANSWERED_BY ABOUT MENTIONS RELATES_BY HOLDS ALIAS_OF".split()
)


def entity(name, **roles):
    return {"name": name, "roles": [{"role": role, "states": states} for role, states in roles.items()]}


DATA = Path(__file__).parent / "data"
_FILES = json.loads((DATA / "samples.json").read_text(encoding="utf-8"))
RECORDS = _FILES["workspaces"]
OPENIE = _FILES["openie"]
EXTRA = {"valle": {"Town Hall"}, "ombre": {"long"}}  # names that propositions and triples bring
ABOUT = {  # questions with the entities that they name
    "Who built the Stone Pier?": {"Stone Pier"},
    "What did Ana Ruiz build?": {"Ana Ruiz"},
    "When was the Stone Pier built?": {"Stone Pier"},
    "Where does the Stone Pier stand?": {"Stone Pier"},
    "Who sang at the Stone Pier?": {"Stone Pier"},
    "How was the Stone Pier built?": {"Stone Pier"},
    "Where was Ana Ruiz born?": {"Ana Ruiz"},
    "When was Ana Ruiz born?": {"Ana Ruiz"},
    "Whom did Ana Ruiz marry?": {"Ana Ruiz"},
    "On which river does Valle Alto lie?": {"Valle Alto"},
    "Who is the mayor of Valle Alto?": {"Valle Alto"},
}
MENTIONS = {
    ("Ana Ruiz built the Stone Pier.", "Ana Ruiz", None),
    ("Ana Ruiz built the Stone Pier.", "Stone Pier", None),
    ("Carla Duarte is the mayor of Valle Alto.", "Carla Duarte", None),
    ("Carla Duarte is the mayor of Valle Alto.", "Valle Alto", None),
    ("Carla Duarte is the mayor of Valle Alto.", "Town Hall", None),
    ("Ombre flows into Salt Sea", "Ombre", "subject"),
    ("Ombre flows into Salt Sea", "Salt Sea", "object"),
    ("Ombre is long", "Ombre", "subject"),
    ("Ombre is long", "long", "object"),
}
DAYS = {"1902": ("1902-01-01", "1902-12-31"), "3 May 1871": ("1871-05-03", "1871-05-03")}
QUESTION = "On which river lies the town where the builder of the Stone Pier was born?"
PLAN = ["Who built the Stone Pier?", "Where was #1 born?", "On which river does #2 lie?"]
CHAIN = ["Ana Ruiz", "Valle Alto", "the ombre"]


def cases(file, test, *, tuples=False):
    """The cases of a test, which stand in data/NAME.json; `why` of a case is its id.

    Args:
        file: Of the test, `test_NAME.py`.
        test: Its name without `test_`.
        tuples: Give lists within a case as tuples.
    """
    name = Path(file).stem.removeprefix("test_")
    held = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    found = []
    for case in held[test]:
        given = case["given"]
        if tuples:
            given = [_tuples(value) for value in given]
        found.append(pytest.param(*given, id=case.get("why")))
    return found


def _tuples(value):
    if isinstance(value, list):
        return tuple(_tuples(part) for part in value)
    return value


def jsonl(file, records):
    """A file of these records, one a line; its path."""
    file.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    return str(file)


def write(folder):
    """The files of this world: ready workspaces, and OpenIE results."""
    (folder / "openie.json").write_text(json.dumps(OPENIE), encoding="utf-8")
    return [jsonl(folder / "workspaces.jsonl", RECORDS), str(folder / "openie.json")]


def plain(records):
    """The same passages without what was found in them."""
    return [{key: record[key] for key in ("id", "title", "text")} for record in records]


def names(record):
    """The entities of one record: those listed, and those that propositions and triples name beside."""
    listed = [entity["name"] for entity in record.get("entities", [])] or list(record["extracted_entities"])
    return [*listed, *EXTRA.get(record["id"], ())]


def pairs(record):
    """The phrases of one record with their questions and answers as they must be stored."""
    return [
        (
            verb["phrase"],
            asked["text"],
            tuple(a.removeprefix("TEXT:") for a in asked["answers"] if a != "None"),
        )
        for verb in record.get("verb_phrases", [])
        for asked in verb["questions"]
    ]


def answered_by():
    """Questions with the entities that answer them, by their places."""
    found = set()
    for record in RECORDS:
        known = {}
        for name in reversed(names(record)):
            known[normalise(name)] = name
        known |= {name: name for name in names(record)}
        for _, question, answers in pairs(record):
            for place, answer in enumerate(answers):
                name = known.get(answer) or known.get(normalise(answer))
                if name:
                    found.add((question, place, name))
    return found


def counts():
    """Nodes and relationships, counted from the files."""
    every = [*RECORDS, *OPENIE["docs"]]
    nodes = dict.fromkeys(NODES, 0)  # runs are built when they are first asked for
    edges = dict.fromkeys(RELATIONSHIPS, 0)
    roles = set()
    concepts = set()
    for record in every:
        nodes["Document"] += 1
        nodes["Passage"] += 1
        nodes["Entity"] += len(names(record))
        nodes["Proposition"] += len(record.get("propositions", []))
        nodes["Proposition"] += len(record.get("extracted_triples", []))
        nodes["VerbPhrase"] += len(record.get("verb_phrases", []))
        nodes["QAPair"] += len(pairs(record))
        concepts.update(map(normalise, names(record)))
        for entity in record.get("entities", []):
            edges["PLAYS"] += len(entity["roles"])
            roles.update(role["role"] for role in entity["roles"])
    nodes["Role"] = len(roles)
    nodes["Concept"] = len(concepts)
    edges["PART_OF"] = nodes["Passage"]
    edges["IN"] = nodes["Entity"] + nodes["VerbPhrase"] + nodes["QAPair"] + nodes["Proposition"]
    edges["REFERS_TO"] = nodes["Entity"]
    edges["ASKS"] = nodes["QAPair"]
    edges["ANSWERED_BY"] = len(answered_by())
    edges["ABOUT"] = sum(map(len, ABOUT.values()))
    edges["MENTIONS"] = len(MENTIONS)
    return nodes, edges
