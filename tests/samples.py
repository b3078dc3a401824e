"""A small world in files of ready workspaces, and what must come of it, told apart from the loaders."""

from __future__ import annotations

import json
from typing import Any

from gsw_graph.text.names import normalise

Record = dict[str, Any]


def entity(name, **roles):
    return {"name": name, "roles": [{"role": role, "states": states} for role, states in roles.items()]}


RECORDS = [
    {
        "id": "pier",
        "title": "Stone Pier",
        "text": "Ana Ruiz built the Stone Pier in 1902. It stands in Porto Velho, and BEYONCE and Beyoncé sang there.",
        "entities": [
            entity("Ana Ruiz", person=["builder", "engineer"]),
            entity("Stone Pier", structure=[]),
            entity("1902", date=[]),
            entity("Porto Velho", place=["harbour"]),
            entity("BEYONCE", person=["singer"]),
            entity("Beyoncé", person=["singer"]),
            entity("the Old Lady", structure=["nickname"]),  # no rule finds it, and it stands in no text
        ],
        "verb_phrases": [
            {
                "phrase": "built",
                "questions": [
                    {"text": "Who built the Stone Pier?", "answers": ["Ana Ruiz"]},
                    {"text": "What did Ana Ruiz build?", "answers": ["Stone Pier"]},
                    {"text": "When was the Stone Pier built?", "answers": ["1902"]},
                    {"text": "Why was it built?", "answers": ["None"]},
                ],
            },
            {
                "phrase": "stands in",
                "questions": [{"text": "Where does the Stone Pier stand?", "answers": ["Porto Velho"]}],
            },
            {
                "phrase": "sang",
                "questions": [
                    {"text": "Who sang at the Stone Pier?", "answers": ["Beyoncé", "BEYONCE", "TEXT:a choir"]}
                ],
            },
            {
                "phrase": "built",
                "questions": [{"text": "How was the Stone Pier built?", "answers": ["TEXT:by hand"]}],
            },  # the phrase again
            {"phrase": "was there", "questions": []},
        ],
        "propositions": [
            {"text": "Ana Ruiz built the Stone Pier.", "entities": ["Ana Ruiz", "Stone Pier"]},
            "The pier is old.",
        ],
    },
    {
        "id": "ana",
        "title": "Ana Ruiz",
        "text": "Ana Ruiz was born in Valle Alto on 3 May 1871. She married Bruno Keller.",
        "entities": [
            entity("Ana Ruiz", person=["engineer"]),
            entity("Valle Alto", place=["birthplace"]),
            entity("3 May 1871", date=["of birth"]),
            entity("Bruno Keller", person=["husband"], musician=[]),
        ],
        "verb_phrases": [
            {
                "phrase": "was born",
                "questions": [
                    {"text": "Where was Ana Ruiz born?", "answers": ["Valle Alto"]},
                    {"text": "When was Ana Ruiz born?", "answers": ["3 May 1871"]},
                ],
            },
            {
                "phrase": "married",
                "questions": [{"text": "Whom did Ana Ruiz marry?", "answers": ["Bruno Keller"]}],
            },
        ],
    },
    {
        "id": "valle",
        "title": "Valle Alto",
        "text": "Valle Alto lies on the Ombre. Its mayor is Carla Duarte, and Lena Fox was before her.",
        "entities": [
            entity("Valle Alto", place=["town"]),
            entity("Ombre", river=[]),
            entity("Carla Duarte", person=["mayor"]),
        ],
        "verb_phrases": [
            {
                "phrase": "lies on",
                "questions": [{"text": "On which river does Valle Alto lie?", "answers": ["the ombre"]}],
            },
            {
                "phrase": "is mayor",
                "questions": [{"text": "Who is the mayor of Valle Alto?", "answers": ["Carla Duarte"]}],
            },
        ],
        "propositions": [
            {
                "text": "Carla Duarte is the mayor of Valle Alto.",
                "entities": ["Carla Duarte", "Valle Alto", "Town Hall"],
            }
        ],
    },
]
OPENIE = {
    "docs": [
        {
            "id": "ombre",
            "passage": "Ombre\nThe Ombre flows into the Salt Sea.",
            "extracted_entities": ["Ombre", "Salt Sea"],
            "extracted_triples": [["Ombre", "flows into", "Salt Sea"], ["Ombre", "is", "long"]],
        }
    ]
}
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
        known = {normalise(name): name for name in reversed(names(record))} | {
            name: name for name in names(record)
        }
        for _, question, answers in pairs(record):
            found |= {
                (question, n, known.get(answer) or known[normalise(answer)])
                for n, answer in enumerate(answers)
                if {answer, normalise(answer)} & set(known)
            }
    return found


def counts():
    """Nodes and relationships, counted from the files."""
    every = [*RECORDS, *OPENIE["docs"]]
    entities = [name for record in every for name in names(record)]
    plays = [
        (role["role"], e["name"]) for record in RECORDS for e in record["entities"] for role in e["roles"]
    ]
    phrases = sum(len(record["verb_phrases"]) for record in RECORDS)
    asked = sum(len(pairs(record)) for record in RECORDS)
    facts = sum(
        len(record.get("propositions", [])) + len(record.get("extracted_triples", [])) for record in every
    )
    nodes = {
        "Document": len(every),
        "Passage": len(every),
        "Entity": len(entities),
        "Role": len({role for role, _ in plays}),
        "Concept": len(set(map(normalise, entities))),
        "VerbPhrase": phrases,
        "QAPair": asked,
        "Proposition": facts,
        "Relation": 0,  # runs are built when they are first asked for
        "Run": 0,
        "Question": 0,
    }
    relationships = {
        "PART_OF": len(every),
        "NEXT": 0,
        "IN": len(entities) + phrases + asked + facts,
        "PLAYS": len(plays),
        "REFERS_TO": len(entities),
        "ASKS": asked,
        "ANSWERED_BY": len(answered_by()),
        "ABOUT": sum(map(len, ABOUT.values())),
        "MENTIONS": len(MENTIONS),
        "RELATES_BY": 0,
        "HOLDS": 0,
        "ALIAS_OF": 0,
    }
    return nodes, relationships
