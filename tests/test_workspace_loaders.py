"""Files of ready workspaces: which shapes are read, what they become, what is wrong with them, and Panini's shape written again."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from samples import cases

from gsw_graph.loaders import read
from gsw_graph.model.documents import Document, Failure, QAPair, Workspace

PIER = {
    "title": "Stone Pier",
    "text": "Ana Ruiz built the Stone Pier in 1902.",
    "entities": [
        {"name": "Ana Ruiz", "roles": [{"role": "person", "states": ["builder"]}]},
        {"name": "Stone Pier", "roles": [{"role": "structure", "states": []}]},
        {"name": "1902"},
    ],
    "verb_phrases": [
        {
            "phrase": "built",
            "questions": [
                {"text": "Who built the Stone Pier?", "answers": ["Ana Ruiz"]},
                {"text": "How was the Stone Pier built?", "answers": ["TEXT:by hand", None, "None"]},
                {"text": "Why was it built?", "answers": None},
            ],
        }
    ],
    "propositions": [
        {"text": "Ana Ruiz built the Stone Pier.", "entities": ["Ana Ruiz", "Stone Pier"]},
        "The pier is old.",
    ],
}
TEXT = {key: PIER[key] for key in ("title", "text")}


def gsw(*phrases, names=("Ana Ruiz", "Stone Pier")):
    return {
        "entity_nodes": [{"id": f"e{n}", "name": name, "roles": []} for n, name in enumerate(names, 1)],
        "verb_phrase_nodes": [
            {
                "id": "v1",
                "phrase": "built",
                "questions": [{"id": "q1", "text": q, "answers": answers} for q, answers in phrases],
            }
        ],
    }


def chunk(text, *phrases, **more):
    return {"text": text, "doc_idx": 0, "gsw": gsw(*phrases), "context": "", "spacetime": {}, **more}


def load(path, content, *, stdin=False):
    if isinstance(content, bytes):
        data = content
    else:
        data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
    if stdin:
        return list(read(["-"], stdin=io.BytesIO(data)))
    path.write_bytes(data)
    return list(read([str(path)]))


def one(path, content, **how):
    (found,) = load(path, content, **how)
    return found


def jsonl(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def names(workspace):
    return [entity.name for entity in workspace.entities]


# --- our shape ---


def test_a_workspace_of_our_shape(tmp_path):
    found = one(tmp_path / "a.jsonl", jsonl(PIER))
    assert found.extractor == "workspaces"
    assert found.document.loader == "workspaces"
    assert found.source == found.document.source
    ana, pier, year = found.entities
    assert ana.name == "Ana Ruiz"
    assert ana.roles == (("person", ("builder",)),)
    assert ana.passages == (0,)
    assert pier.titles == (0,)
    assert year.from_ == "1902-01-01"
    (built,) = found.verb_phrases
    assert built.phrase == "built"
    expected = (
        QAPair("Who built the Stone Pier?", ("Ana Ruiz",), ("Stone Pier",)),
        QAPair("How was the Stone Pier built?", ("by hand",), ("Stone Pier",)),
        QAPair("Why was it built?", ()),
    )
    assert built.pairs == expected
    expected = [
        ("Ana Ruiz built the Stone Pier.", (("Ana Ruiz", None), ("Stone Pier", None))),
        ("The pier is old.", ()),
    ]
    assert [(p.text, p.mentions) for p in found.propositions] == expected


def test_in_a_long_text_a_part_stands_where_its_names_stand(tmp_path):
    filler = "Some words stand here. " * 280
    text = f"It begins. {filler}\n\nAna Ruiz built it with Bo Vale. {filler}\n\nIt went to Ana Ruiz and Cy Dorn in the end, which is here."
    asked = [
        {"phrase": "built", "questions": [{"text": "Who?", "answers": ["Ana Ruiz", "Bo Vale"]}]},
        {"phrase": "is", "questions": []},
    ]
    facts = [{"text": "Cy Dorn got it.", "entities": ["Cy Dorn"]}, "Ana Ruiz built with Bo Vale."]
    record = {
        "text": text,
        "entities": [{"name": n} for n in ("Ana Ruiz", "Nobody")],
        "verb_phrases": asked,
        "propositions": facts,
    }
    found = one(tmp_path / "a.jsonl", jsonl(record))
    texts = [p.text for p in found.document.passages]
    assert len(texts) > 4
    bo, cy = (next(n for n, part in enumerate(texts) if name in part) for name in ("Bo Vale", "Cy Dorn"))
    assert 0 < bo < cy
    expected = {
        "Ana Ruiz": (bo, cy),
        "Nobody": (0,),
        "Cy Dorn": (cy,),
    }
    assert {e.name: e.passages for e in found.entities} == expected
    assert [phrase.passage for phrase in found.verb_phrases] == [bo, 0]
    assert [fact.passage for fact in found.propositions] == [cy, bo]


@pytest.mark.parametrize(
    ("bad", "faults"),
    cases(__file__, "what_is_wrong_with_a_part_is_told_and_the_rest_loads"),
)
def test_what_is_wrong_with_a_part_is_told_and_the_rest_loads(tmp_path, bad, faults):
    found, *failures, last = load(tmp_path / "a.jsonl", jsonl({**PIER, **bad}, {"text": "last"}))
    assert isinstance(last, Document)
    assert isinstance(found, Workspace)
    kept = {
        "entities": found.entities,
        "verb_phrases": found.verb_phrases,
        "propositions": found.propositions,
    }
    for key in kept.keys() - bad.keys():
        assert kept[key]
    expected = [(f"{tmp_path}/a.jsonl:1", True)] * len(faults)
    assert [(f.source, f.part) for f in failures] == expected
    for fault, failure in zip(faults, failures, strict=True):
        assert fault in failure.reason


@pytest.mark.parametrize("bad", ["a\0b", "a\ud800b"])
def test_what_no_database_holds_keeps_the_record_out(tmp_path, bad):
    failure, last = load(tmp_path / "a.jsonl", jsonl({**PIER, "entities": [{"name": bad}]}, PIER))
    assert "NUL" in failure.reason
    assert not failure.part
    assert isinstance(last, Workspace)
    combined = {
        "documents": {
            "doc_0": {"0_0": chunk("T\nx", (bad, []))},
            bad: {"1_0": chunk("T\ny")},
            "doc_2": {"2_0": chunk("T\nz")},
        }
    }
    found = load(tmp_path / "b.json", combined)
    assert [item.document.title for item in found if isinstance(item, Workspace)] == ["T"]
    assert ["NUL" in item.reason for item in found if isinstance(item, Failure)] == [True, True]


def test_a_workspace_twice_is_one_and_two_of_one_text_are_a_failure(tmp_path):
    found = load(tmp_path / "a.jsonl", jsonl(PIER, PIER, {**PIER, "propositions": []}, TEXT))
    assert [type(item) for item in found] == [Workspace, Failure, Failure]
    expected = [f"{tmp_path}/a.jsonl:{n}" for n in (3, 4)]
    assert [item.source for item in found[1:]] == expected
    assert all(
        "other findings" in item.reason and f"{tmp_path}/a.jsonl:1" in item.reason for item in found[1:]
    )


# --- Panini ---


def test_a_combined_file_has_documents_and_chunks_in_the_order_of_their_numbers(tmp_path):
    documents = {
        "doc_10": {"10_0": chunk("Ten\nlast.")},
        "doc_2": {
            f"2_{c}": chunk(f"Two\npart {c}." if c in (0, 3) else f"part {c}.", (f"Who is {c}?", ["e2"]))
            for c in (10, 3, 0)
        },
        "doc_x": {},
        "doc_y": [],
    }
    x, y, two, ten = load(tmp_path / "a.json", {"metadata": {"total_documents": 4}, "documents": documents})
    found = [(p.title, p.text, p.position) for p in two.document.passages]
    expected = [
        ("Two", "part 0.", 0),
        ("Two", "part 3.", 1),
        ("Two", "part 10.", 2),
    ]
    assert found == expected
    assert [phrase.passage for phrase in two.verb_phrases] == [0, 1, 2]
    assert [entity.passages for entity in two.entities] == [(0, 1, 2)] * 2
    assert ten.document.title == "Ten"
    found = [(f.source, f.reason) for f in (x, y)]
    expected = [(f"{tmp_path}/a.json: doc_{k}", "no chunks") for k in "xy"]
    assert found == expected
    keyed = [
        {key: value} for chunks in (documents["doc_10"], documents["doc_2"]) for key, value in chunks.items()
    ]
    assert load(tmp_path / "b.json", keyed) == [two, ten]
    assert load(tmp_path / "c.json", documents["doc_2"]) == [two]
    documents["doc_2"] = {key.replace("_3", "_003"): value for key, value in documents["doc_2"].items()}
    assert load(tmp_path / "d.json", {"documents": documents})[2] == two


def test_a_bare_workspace_is_its_own_text(tmp_path):
    path = tmp_path / "gsw_0_0.json"
    found = one(path, gsw(("Who built it?", ["e1", "TEXT:and others"]), ("Why?", ["None"])))
    assert found.source == path.as_posix()
    assert found.document.title == "gsw 0 0"
    assert [p.text for p in found.document.passages] == ["Who built it? Ana Ruiz, and others\nWhy?"]
    assert one(path, gsw()).document.passages[0].text == "Ana Ruiz\nStone Pier"
    many = load(tmp_path / "a.jsonl", jsonl(gsw(), {**gsw(), "chunk_id": "0_1"}))
    assert [item.source for item in many] == [f"{tmp_path}/a.jsonl#1", f"{tmp_path}/a.jsonl#0_1"]
    assert [item.document.title for item in many] == ["", ""]
    (keyed,) = load(tmp_path / "b.json", [{"7_0": chunk("")}, {"7_1": chunk(" ")}])
    assert keyed.source == f"{tmp_path}/b.json#7"
    assert len(keyed.document.passages) == 2
    assert one(path, gsw(), stdin=True).source.startswith("stdin#")


# --- OpenIE results and propositions ---


def ie(passage, entities=(), triples=(), **more):
    return {
        "idx": "chunk-1",
        "passage": passage,
        "extracted_entities": list(entities),
        "extracted_triples": list(triples),
        **more,
    }


def test_openie_results(tmp_path):
    docs = [
        ie(
            "Stone Pier\nAna Ruiz built the Stone Pier in 1902.",
            ["1902"],
            [["Ana Ruiz", "built", "Stone Pier"]],
        ),
        ie("Two\nx", **{"title": "Two", "text": "x"}),
    ]
    first, second = load(tmp_path / "a.json", {"docs": docs, "avg_ent_chars": 1.5})
    assert replace(first.document, loader="corpus") == one(tmp_path / "b.jsonl", jsonl(TEXT))
    assert first.extractor == "openie"
    assert first.document.loader == "openie"
    assert second.document.title == "Two"
    assert names(first) == ["1902", "Ana Ruiz", "Stone Pier"]
    found = [(p.text, p.relation, p.mentions) for p in first.propositions]
    expected = [("Ana Ruiz built Stone Pier", "built", (("Ana Ruiz", "subject"), ("Stone Pier", "object")))]
    assert found == expected
    assert load(tmp_path / "c.jsonl", jsonl(*docs)) == [first, second]
    assert load(tmp_path / "d", {"docs": docs}, stdin=True) == [first, second]


def test_propositions(tmp_path):
    facts = [{"text": "Ana met Bo.", "entities": ["Ana", "Bo"]}, {"text": "It rained."}, {"entities": ["Cy"]}]
    found, failure = load(tmp_path / "a.json", {"docs": [ie("T\nx", ["Di"], propositions=facts)]})
    assert found.extractor == "propositions"
    assert found.document.loader == "propositions"
    assert found.document.title == "T"
    assert names(found) == ["Di", "Ana", "Bo"]
    expected = [
        ("Ana met Bo.", (("Ana", None), ("Bo", None))),
        ("It rained.", ()),
    ]
    assert [(p.text, p.mentions) for p in found.propositions] == expected
    assert "`propositions[2].text` is missing" in failure.reason


# --- which shape ---
