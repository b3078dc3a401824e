"""Metadata and sections: what is known about documents comes into the memory, and changes without reading a text again."""

from __future__ import annotations

import json
import os

import pytest
from document_files import docx, paragraph
from dump import dump

from gsw_graph.errors import InputError
from gsw_graph.loaders import read
from gsw_graph.model.documents import Document, Skipped, metadata
from gsw_graph.model.results import DocumentCounts

LAMP = "Ana Ruiz lit the lamp of the Old Light in 1863."


def document(path, content):
    path.write_text(content, encoding="utf-8")
    first = next(read([str(path)]))
    assert isinstance(first, Document), first
    return first


def known(memory, name):
    (stored,) = memory.documents(name).documents
    return stored.meta, stored.about


def test_values_keep_their_type_and_keys_are_plain():
    pairs = [
        ("Due Date", "2020-05-01"),
        ("tags", ["a", "b"]),
        ("n", 3),
        ("x", 0.5),
        ("ok", True),
        ("no", None),
        ("by", {"name": "Ana"}),
        ("big", 1 << 70),
        ("-", "x"),
        ("nan", float("nan")),
        ("bad\ud800", "a\0\ud800b"),
    ]
    expected = {
        "due_date": "2020-05-01",
        "tags": ["a", "b"],
        "n": 3,
        "x": 0.5,
        "ok": True,
        "by_name": "Ana",
        "big": str(1 << 70),
        "nan": "nan",
        "bad": "ab",
    }
    assert metadata(pairs) == expected


def test_every_format_says_what_is_known_about_its_documents(tmp_path):
    (tmp_path / "plain.txt").write_text(LAMP)
    os.utime(tmp_path / "plain.txt", (0, 86400))
    found = [item.meta for item in read([str(tmp_path / "plain.txt")]) if isinstance(item, Document)]
    assert found == [{"modified": "1970-01-02T00:00:00"}]
    front = document(
        tmp_path / "a.md",
        f"---\ntitle: T\nauthor: {{name: Ana}}\ntags: [sea, light]\ndate: 2020-05-01\nrank: 3\n---\n{LAMP}",
    )
    found = {key: value for key, value in front.meta.items() if key != "modified"}
    expected = {
        "author_name": "Ana",
        "tags": ["sea", "light"],
        "date": "2020-05-01",
        "rank": 3,
    }
    assert found == expected
    assert front.about == "2020-05-01"
    line = document(tmp_path / "a.jsonl", json.dumps({"text": LAMP, "author": "Bo", "year": 1863}) + "\n")
    assert dict(line.meta) == {"author": "Bo", "year": 1863}
    row = document(tmp_path / "a.csv", f"id,text,author,year,done\n7,{LAMP},Bo,1863,true\n")
    assert row.source == "7"
    assert dict(row.meta) == {"author": "Bo", "year": 1863, "done": True}
    mail = document(
        tmp_path / "a.eml",
        f"From: Ana <ana@x.org>\nTo: Bo <bo@x.org>, Cy <cy@x.org>\nDate: Fri, 1 May 2020 10:00:00 +0000\nSubject: S\n\n{LAMP}",
    )
    assert mail.meta["from"] == "Ana <ana@x.org>"
    assert mail.meta["to"] == ["Bo <bo@x.org>", "Cy <cy@x.org>"]
    assert mail.about == "2020-05-01T10:00"


def test_records_are_in_the_scope_of_their_file_and_are_not_replaced_from_another(memory, tmp_path):
    files = [tmp_path / name / "minutes.jsonl" for name in ("ferry", "light")]
    for number, file in enumerate(files, 1):
        file.parent.mkdir()
        file.write_text(
            json.dumps({"id": f"m-{number}", "text": f"{LAMP} It was night {number}."}) + "\n",
            encoding="utf-8",
        )
    memory.load(tmp_path)
    for scope, source in ((("ferry",), "m-1"), (("light", "minutes.jsonl"), "m-2")):
        path = str(tmp_path.joinpath(*scope))
        assert [document.source for document in memory.documents(path).documents] == [source]
        for options in (
            {"inside": path},
            {"outside": [str(file) for file in files if not str(file).startswith(path)]},
        ):
            assert {
                passage.source
                for passage in memory.ask("Who lit the lamp?", strategy="dense", **options).passages
            } == {source}
    assert memory.show(str(files[0])).document.file == files[0].as_posix()
    copy = tmp_path / "copy.jsonl"
    changed = tmp_path / "changed.jsonl"
    copy.write_bytes(files[0].read_bytes())
    changed.write_text(json.dumps({"id": "m-1", "text": "Bo came."}) + "\n", encoding="utf-8")
    assert memory.load(copy).documents.unchanged == 1
    (failure,) = memory.load(changed).failures
    assert failure.source == "m-1"
    assert f"other content in {files[0]}" in failure.reason
    files[0].unlink()
    assert memory.load(changed).documents.replaced == 1
    assert memory.show("m-1").document.file == changed.as_posix()


@pytest.mark.parametrize(
    ("written", "about"),
    [
        ("05.03.2024", "2024-03-05"),
        ("5. 3. 2024", "2024-03-05"),
        ("05.03.2024 10:30", "2024-03-05T10:30"),
        ("31.02.2024", None),
        ("13.13.2024", None),
        ("soon", None),
    ],
)
def test_a_date_with_points_is_understood_and_what_is_none_is_said(tmp_path, written, about):
    path = tmp_path / "a.md"
    path.write_text(f"---\ndate: {written}\n---\n{LAMP}", encoding="utf-8")
    found, *remarks = read([str(path)])
    assert isinstance(found, Document)
    assert found.about == about
    assert found.meta["date"] == written
    assert [
        f"{written!r}, which is not understood" in remark.reason
        for remark in remarks
        if isinstance(remark, Skipped)
    ] == [True] * (about is None)


def test_metadata_alone_changed_reads_and_embeds_nothing(memory, tmp_path, monkeypatch):
    record = {"id": "lamp", "text": LAMP, "author": "Ana", "tags": ["sea", "light"]}
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    memory.load(tmp_path / "a.jsonl", meta=["project=tide", "date=1 May 2020", "n=3"])
    expected = (
        {"author": "Ana", "date": "1 May 2020", "n": 3, "project": "tide", "tags": ["sea", "light"]},
        "2020-05-01",
    )
    assert known(memory, "lamp") == expected
    before = [line for line in dump(memory) if "meta_author" not in str(line)]
    monkeypatch.setattr("gsw_graph.extract.rules.extract", None)
    monkeypatch.setattr("gsw_graph.models.embed.embedder.Embedder.encode", None)
    assert memory.load(tmp_path / "a.jsonl").documents.unchanged == 1
    (tmp_path / "a.jsonl").write_text(
        json.dumps({**record, "author": "Bo", "tags": "sea"}) + "\n", encoding="utf-8"
    )
    report = memory.load(tmp_path / "a.jsonl", meta=["done=true"])
    assert report.documents == DocumentCounts(unchanged=1, described=1)
    assert report.failures == []
    planned = memory.load(tmp_path / "a.jsonl", meta=["done=false"], dry_run=True)
    assert planned.documents == DocumentCounts(unchanged=1, described=1)
    assert planned.nodes["Passage"] == 0
    expected = (
        {"author": "Bo", "date": "1 May 2020", "done": True, "n": 3, "project": "tide", "tags": "sea"},
        "2020-05-01",
    )
    assert known(memory, "lamp") == expected
    assert [line for line in dump(memory) if "meta_author" not in str(line)] == before
    with pytest.raises(InputError, match="'project' is no metadata"):
        memory.load(tmp_path / "a.jsonl", meta=["project"])


def test_what_people_gave_stays_until_they_remove_it(memory, tmp_path):
    file = tmp_path / "a.md"

    def load(front, text=LAMP, **options):
        file.write_text(f"---\n{front}\n---\n{text}", encoding="utf-8")
        assert memory.load(file, **options).failures == []
        meta, _ = known(memory, str(file))
        return {key: value for key, value in meta.items() if key != "modified"}

    assert load("author: Ana\nrank: 3", meta=["Project Name=tide", "author=Bo"]) == {
        "author": "Bo",
        "project_name": "tide",
        "rank": 3,
    }
    assert load("author: Ana", "Another text.") == {"author": "Bo", "project_name": "tide"}
    assert load("author: Ana", "Another text.", replace=True, meta=["n=1"]) == {
        "author": "Bo",
        "n": 1,
        "project_name": "tide",
    }
    assert load("author: Ana", "Another text.", meta=["Project Name=", "author="]) == {
        "author": "Ana",
        "n": 1,
    }
    assert load("author: Ana", meta=["n=", "date=2020-05-01"])["date"] == "2020-05-01"
    assert known(memory, str(file))[1] == "2020-05-01"
    assert load("author: Ana", meta=["date="]) == {"author": "Ana"}
    memory.load(file, meta=["n=2"])
    assert load("author: Ana", meta=["n="], extractor="sentences", upgrade=True) == {"author": "Ana"}
    assert known(memory, str(file))[1] is None


def test_passages_know_their_section(memory, tmp_path):
    prose = "The keeper wrote of the tide and of the lamp every day. " * 25
    (tmp_path / "a.md").write_text(
        f"# Lights\n\n{prose}\n\n## Keepers\n\n{prose}\n\n### Ana\n\n{prose}\n\n## Lamps\n\n{prose}",
        encoding="utf-8",
    )
    (tmp_path / "b.md").write_text(f"# Short\n\n## Part\n\n{LAMP}", encoding="utf-8")
    memory.load(tmp_path)
    sections = [passage.section for passage in memory.show("Lights").passages]
    assert list(dict.fromkeys(sections)) == [
        None,
        "Lights > Keepers",
        "Lights > Keepers > Ana",
        "Lights > Lamps",
    ]
    assert memory.show("Short").passages[0].section == "Short > Part"
    assert {passage.section for passage in memory.ask("lamp", strategy="bm25", llm=False).passages} <= {
        *sections,
        "Short > Part",
    }
    whole = prose[: len(prose) * 4 // 5]
    short = prose[: len(prose) // 5]  # a short section is joined with the next
    (tmp_path / "c.md").write_text(
        f"# Hull\n\n{whole}\n\n## Drive\n\n### Propellers\n\n{short}\n\n### Shafts\n\n{short}\n\n## Safety\n\n{whole}\n\n### Drills\n\n{short}",
        encoding="utf-8",
    )
    memory.load(tmp_path)
    assert [passage.section for passage in memory.show("Hull").passages] == [
        None,
        "Hull > Drive",
        "Hull > Safety",
        "Hull > Safety",
    ]


def test_every_format_with_headings_has_sections(tmp_path):
    (tmp_path / "a.html").write_text(f"<h1>Handbook</h1><h2>Leave</h2><h3>Carry-over</h3><p>{LAMP}</p>")
    (tmp_path / "b.md").write_text(f"---\ntitle: Handbook\n---\n## Leave\n\n### Carry-over\n\n{LAMP}")
    (tmp_path / "c.md").write_text(f"# Handbook\n\n## Leave\n\n{LAMP}\n\n## Pay\n\n{LAMP}")
    headings = paragraph("Handbook", "T") + paragraph("Leave", "H1") + paragraph("Carry-over", "H2")
    (tmp_path / "d.docx").write_bytes(docx(headings + paragraph(LAMP)))
    cells = [{"cell_type": "markdown", "source": [f"# Handbook\n\n## Leave\n\n### Carry-over\n\n{LAMP}"]}]
    (tmp_path / "e.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    whole = "Handbook > Leave > Carry-over"
    documents = [item for item in read([str(tmp_path)]) if isinstance(item, Document)]
    assert [document.passages[0].section for document in documents] == [whole, whole, "", whole, whole]


def test_a_passage_is_found_by_the_headings_above_it(memory, tmp_path):
    prose = "The keeper wrote of the tide every day, and the lamp was lit. " * 40
    (tmp_path / "a.md").write_text(
        f"# Handbook\n\n## Sabbatical\n\n{prose}\n\n## Pay\n\n{prose}", encoding="utf-8"
    )
    memory.load(tmp_path)
    expected = [
        passage.id
        for passage in memory.show("Handbook").passages
        if passage.section == "Handbook > Sabbatical"
    ]
    for strategy in ("bm25", "dense"):
        answer = memory.ask("sabbatical", strategy=strategy, k=len(expected), llm=False, answer=False)
        assert {passage.id for passage in answer.passages} == {*expected}
    assert len(expected) > 1
    assert all(
        passage.text.count("Sabbatical") <= 1 for passage in answer.passages
    )  # what is shown has no heading more
