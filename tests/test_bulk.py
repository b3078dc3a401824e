"""The files that `bulk` writes hold what a load writes, are whole or not there, are read back, and Neo4j imports them."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import engines
import fakes
import neo4j_import
import pytest
import samples
from cli_runner import run
from dump import Dump, differences, dump

from gsw_graph.config import Settings
from gsw_graph.errors import EngineError, InputError, SchemaError
from gsw_graph.memory import Memory
from gsw_graph.moving import bulk as bulking
from gsw_graph.moving import fileset, joining
from gsw_graph.moving.bulk import bulk
from gsw_graph.moving.checking import check
from gsw_graph.moving.fileset import file_of, opened, parts, rows
from gsw_graph.moving.place import Place, new_place
from gsw_graph.results import BulkReport
from gsw_graph.store import rows as store_rows
from gsw_graph.store import schema
from gsw_graph.store.graph import Kind, Label, kinds
from gsw_graph.store.tables import joined

pa = engines.needs("pyarrow", "bulk")
pq = engines.needs("pyarrow.parquet", "bulk")

EXAMPLES = Path(__file__).parents[1] / "examples"
HOSTILE = "quote ' \" `} ) DETACH DELETE n // ; , \n\r\t \u2028 \ufffe\uffff 𝒳é end\\"


@pytest.fixture(autouse=True)
def fake(fake_embedder: None) -> None:
    """Vectors do not matter here."""


@pytest.fixture
def corpus(tmp_path: Path) -> list[str]:
    """Texts, ready workspaces, triples and propositions, and everything that quoting could get wrong."""
    record = {
        "id": "hostile",
        "title": HOSTILE,
        "text": f"{HOSTILE} Ana Ruiz and Beyoncé.",
        "entities": [samples.entity(f"Ana {HOSTILE}", **{"role": [HOSTILE, "a;b"]}), samples.entity("Beyoncé", person=["singer"]), samples.entity("Bare")],
        "verb_phrases": [
            {"phrase": HOSTILE, "questions": [{"text": f"Who {HOSTILE}?", "answers": ["Beyoncé", f"TEXT:{HOSTILE}", "TEXT:a;b"]}, {"text": "Why?", "answers": []}]},
        ],
        "propositions": [{"text": f"{HOSTILE} " + "long " * 30, "entities": ["Beyoncé"]}],
    }
    plain = {"title": "", "text": "No title; nothing else."}
    (tmp_path / "hostile.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    (tmp_path / "plain.jsonl").write_text(json.dumps(plain) + "\n", encoding="utf-8")
    return [*samples.write(tmp_path), str(tmp_path / "hostile.jsonl"), str(tmp_path / "plain.jsonl"), str(EXAMPLES / "corpus"), str(EXAMPLES / "workspaces.jsonl")]


def write(names: list[str], folder: Path | str, **options: Any) -> BulkReport:
    settings = Settings()
    return bulk(names, folder, settings, lambda: fakes.embedder(settings), **options)


def read(folder: Path | str, kind: Kind) -> Iterator[dict[str, Any]]:
    place = Place.of(folder)
    for name in parts(place, kind):
        with opened(place, name) as file:
            yield from rows(kind, file.read())


def held(folder: Path | str) -> Dump:
    """What files hold, as `dump` says it of a memory."""
    found: Dump = {"nodes": [], "relationships": []}
    for kind in kinds():
        for row in read(folder, kind):
            left_out = {"Memory": {"created", "version", "vectors", "moving", "indexed"}, "Document": {"loaded_at"}}.get(kind.name, set())
            items = tuple(sorted((name, value.hex() if isinstance(value, bytes) else value) for name, value in row.items() if name not in left_out | {"begin", "end"}))
            if isinstance(kind, Label):
                found["nodes"].append((kind.name, row[kind.key], items))
            else:
                found["relationships"].append((kind.type, (kind.begin.name, row["begin"]), (kind.end.name, row["end"]), items))
    return {name: sorted(some) for name, some in found.items()}


def loaded(names: list[str], settings: Settings) -> Dump:
    with Memory.open(settings=settings) as memory:
        assert memory.load(*names).failures == []
        found = dump(memory)
    nodes = [(*row[:2], tuple(item for item in row[2] if row[0] != "Memory" or item[0] != "indexed")) for row in found["nodes"]]
    return {**found, "nodes": nodes}


def test_files_hold_what_a_load_writes(corpus: list[str], tmp_path: Path) -> None:
    report = write(corpus, tmp_path / "files")
    assert report.failures == []
    expected = loaded(corpus, Settings(memory=str(tmp_path / "memory")))
    assert differences(expected, held(tmp_path / "files")) == []
    assert {**report.nodes, **report.relationships} == fileset.manifest(tmp_path / "files").counts
    assert check(tmp_path / "files").faults == []
    assert check(tmp_path / "files").nodes == report.nodes
    assert json.loads(json.dumps(report.to_dict()))["command"][0] == "neo4j-admin"


@pytest.mark.parametrize("version", ["5.26"])
def test_neo4j_imports_what_a_load_writes(corpus: list[str], tmp_path: Path, version: str) -> None:
    write(corpus, tmp_path / "files")
    for file in sorted((tmp_path / "files").glob("*/*.00000.parquet")):
        if (table := pq.read_table(file)).num_rows > 1:  # as two workers write them
            pq.write_table(table.slice(1), file)
            pq.write_table(table.slice(0, 1), file.with_name(file.name.replace("00000", "00001")))
    expected = loaded(corpus, Settings(memory=str(tmp_path / "memory")))
    with neo4j_import.imported(tmp_path / "files", tmp_path / "server") as settings:
        with Memory.open(settings=settings) as memory:
            for use in (lambda: memory.ask("Who?"), lambda: memory.load(*corpus), lambda: memory.export(tmp_path / "x")):
                with pytest.raises(SchemaError, match=r"the import of files is not complete.*doctor --mend"):
                    use()
            assert [finding for finding in memory.doctor(mend=True) if not finding.ok] == []
            found = dump(memory)
            assert memory.status().indexed
            assert memory.ask("Where was Ana Ruiz born?").answer == "Valle Alto"
            assert memory.load(*corpus).documents.new == 0  # all of it is there
            memory.cypher("MATCH (m:Memory) REMOVE m.indexed", write=True)
        nodes = [(*row[:2], tuple(item for item in row[2] if row[0] != "Memory" or item[0] != "indexed")) for row in found["nodes"]]
        assert differences(expected, {**found, "nodes": nodes}) == []


def test_what_is_missing_after_an_import_is_said(corpus: list[str], tmp_path: Path, memory: Memory) -> None:
    memory.load(corpus[0])
    write(corpus, tmp_path / "files")
    (row,) = read(tmp_path / "files", kinds()[0])
    memory.cypher("MATCH (m:Memory) SET m.moving = $moving", write=True, moving=row["moving"])
    try:
        with pytest.raises(EngineError, match=r"the files have [\d,]+ nodes and relationships, and [\d,]+ were imported"):
            memory.doctor(mend=True)
    finally:
        memory.cypher("MATCH (m:Memory) REMOVE m.moving", write=True)


def test_memory_stays_bounded_by_partitions_on_disk(corpus: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(corpus, tmp_path / "one")
    monkeypatch.setattr(joining, "HELD", 20)
    monkeypatch.setattr(fileset, "GROUP_BYTES", 4000)
    write(corpus, tmp_path / "two")
    assert differences(held(tmp_path / "one"), held(tmp_path / "two")) == []
    with opened(Place.of(tmp_path / "two"), "nodes/Passage.00000.parquet") as file:
        assert file.num_row_groups > 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["one", "two"]
    assert not [path for path in (tmp_path / "two").rglob("*") if path.is_file() and path.suffix not in (".parquet", ".json", ".sh", ".cypher")]


def test_files_are_written_wherever_fsspec_reaches(corpus: list[str], tmp_path: Path) -> None:
    write(corpus, tmp_path / "files")
    url = f"memory://{tmp_path.name}/files"
    try:
        report = write(corpus, url)
        assert (report.folder, check(url).faults) == (url.replace("memory://", "memory:///"), [])
        assert differences(held(tmp_path / "files"), held(url)) == []
        with pytest.raises(InputError, match="not empty"):
            write(corpus, url)
        with pytest.raises(InputError, match=r"does not exist|no such"):
            write([str(tmp_path / "nowhere")], f"{url}/other")
        assert Place.of(url).names("other") == []
        with pytest.raises(InputError, match="cannot be reached"):
            write(corpus, "unheard://of")
        said = run("bulk", corpus[0], "--out", f"{url}/cli").stdout
        assert ("Copy them to a disk" in said, "cli/import.sh" in said) == (True, False)
        bucket = Place.of(f"{url}/bucket")
        bucket.system.mkdir(bucket.root)
        with contextlib.suppress(KeyError), new_place(f"{url}/bucket") as place:
            place.write("nodes/x", "what was written before the error")
            raise KeyError
        assert (bucket.system.isdir(bucket.root), bucket.names("")) == (True, []), "a bucket stays, and is empty"
    finally:
        Place.of(url).remove()


def test_a_store_that_lets_nobody_in_is_one_error(corpus: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    class NoCredentialsError(Exception):
        """As drivers of stores raise it: no OSError."""

    def refuse(*_: object, **__: object) -> None:
        raise NoCredentialsError("no keys")

    system = type(Place.of("memory://store").system)
    monkeypatch.setattr(system, "ls", refuse)
    monkeypatch.setattr(system, "open", refuse)
    for call in (lambda: write(corpus, "memory://store/files"), lambda: check("memory://store/files")):
        with pytest.raises(InputError, match=r"cannot be reached \(NoCredentialsError: no keys\)"):
            call()


def test_an_address_where_nobody_answers_is_one_error_without_its_password(corpus: list[str]) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        done = run("bulk", corpus[0], "--out", f"ftp://me:secret@127.0.0.1:{closed.getsockname()[1]}/files")
    assert done.exit_code == 1
    assert "Error: ftp://127.0.0.1:" in done.output
    assert "cannot be reached" in done.output
    assert "secret" not in done.output


def test_a_document_that_comes_twice_is_written_once(tmp_path: Path) -> None:
    for name, text in (("one", "Ana Ruiz sang."), ("two", "Ana Ruiz sang."), ("three", "Ana Ruiz wrote.")):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "same", "title": "T", "text": text}), encoding="utf-8")
    report = write([str(tmp_path / f"{name}.jsonl") for name in ("one", "two", "three")], tmp_path / "files")
    assert (report.documents.new, report.nodes["Document"]) == (1, 1)
    assert ["other content" in failure.reason for failure in report.failures] == [True]
    assert check(tmp_path / "files").faults == []


def test_what_no_database_holds_fails_as_in_a_load(tmp_path: Path) -> None:
    lines = [json.dumps({"id": str(n), "title": "T", "text": text}) for n, text in enumerate(("half \ud83d", "nul \0", "sound"))]
    (tmp_path / "some.jsonl").write_text("\n".join(lines), encoding="utf-8")
    report = write([str(tmp_path / "some.jsonl")], tmp_path / "files")
    with Memory.open(str(tmp_path / "memory")) as memory:
        assert memory.load(str(tmp_path / "some.jsonl")).failures == report.failures
    assert (len(report.failures), report.nodes["Document"], check(tmp_path / "files").faults) == (2, 1, [])


def test_an_interrupted_bulk_leaves_nothing(corpus: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = bulking.block, 0

    def dying(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(bulking, "block", dying)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        write(corpus, tmp_path / "files")
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "mine").touch()
    with pytest.raises(InputError, match="not empty"):
        write(corpus, tmp_path / "files")
    with pytest.raises(InputError, match="no complete set of files"):
        check(tmp_path / "files")
    with pytest.raises(InputError, match=r"does not exist|no such"):
        write([str(tmp_path / "nowhere")], tmp_path / "other")
    assert not (tmp_path / "other").exists()


def rewrite(folder: Path, name: str, change: Callable[[Any], Any]) -> None:
    kind = next(kind for kind in kinds() if kind.name == name)
    table = change(pq.read_table(folder / file_of(kind, 0)))
    pq.write_table(table, folder / file_of(kind, 0))


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("Passage", lambda table: table.slice(1), r"nodes/Passage: \d+ rows, where the manifest says"),
        ("Passage", lambda table: table.slice(1), r"Entity.IN.Passage: \d+ of :END_ID\(Passage\) lead nowhere"),
        ("Entity", lambda table: pa.concat_tables([table.slice(1), table.slice(1, 1)]), "nodes/Entity: 1 keys stand there again"),
        ("Concept", lambda table: table.set_column(0, table.column_names[0], pa.array([None, *table.column(0).to_pylist()[1:]])), "keys: 1 are missing"),
        ("Passage", lambda table: table.rename_columns(["x", *table.column_names[1:]]), "nodes/Passage: the columns of nodes/Passage.00000.parquet are x,"),
        ("QAPair", lambda table: shorter(table, "embedding:float[]"), r"nodes/QAPair: 1 vectors have not 64 dimensions"),
    ],
)
def test_check_finds_what_is_broken(corpus: list[str], tmp_path: Path, name: str, change: Callable[[Any], Any], fault: str) -> None:
    write(corpus, tmp_path / "files")
    rewrite(tmp_path / "files", name, change)
    faults = check(tmp_path / "files").faults
    assert any(re.search(fault, one) for one in faults), faults


def shorter(table: Any, column: str) -> Any:
    values = table.column(column).to_pylist()
    return table.set_column(table.column_names.index(column), column, pa.array([values[0][:-1], *values[1:]], pa.list_(pa.float32())))


def test_check_finds_files_that_are_gone_cut_or_unknown(corpus: list[str], tmp_path: Path) -> None:
    write(corpus, tmp_path / "files")
    for n, (break_, fault) in enumerate(
        [
            (lambda folder: (folder / "nodes" / "Role.00000.parquet").unlink(), "nodes/Role: 0 rows"),
            (lambda folder: (folder / "nodes" / "Entity.00000.parquet").write_bytes(b"PAR1 no"), "nodes/Entity.00000.parquet cannot be read"),
            (lambda folder: manifest(folder, Unheard=3), "Unheard: this gswgraph does not know it"),
        ]
    ):
        folder = tmp_path / str(n)
        shutil.copytree(tmp_path / "files", folder)
        break_(folder)
        faults = check(folder).faults
        assert any(fault in one for one in faults), faults


def manifest(folder: Path, **counts: int) -> None:
    file = folder / fileset.MANIFEST
    found = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**found, "counts": {**found["counts"], **counts}}), encoding="utf-8")


def test_texts_that_are_empty_for_some_and_missing_for_others_are_told_apart(tmp_path: Path) -> None:
    place = Place.of(tmp_path)
    place.prepare()
    question = next(kind for kind in kinds() if kind.name == "Question")
    with fileset.FileSet(place) as files:
        files.add(question, fileset.arrow(question, [{"id": "a", "answer": "", "question": ""}, {"id": "b", "question": ""}, {"id": "c", "answer": "yes", "question": "q"}]))
    assert fileset.mark(place, fileset.Made.read(files.made.text())).blank == {"Question": {"answer": ["a"], "question": None}}


def test_every_statement_of_a_load_has_its_table(corpus: list[str], tmp_path: Path) -> None:
    from gsw_graph.store import tables

    assert set(tables._STATEMENTS) == {name for name in store_rows.ORDER if not name.startswith("renewed_")}


def test_joining_is_the_same_in_any_order() -> None:
    found = [{"id": "b", "name": "B", "passages": 2}, {"id": "a", "name": "a", "passages": 1}, {"id": "b", "name": "b", "passages": 3}]
    assert joined("Concept", found) == [{"id": "b", "name": "b", "passages": 5}, {"id": "a", "name": "a", "passages": 1}]
    assert joined("Concept", [*joined("Concept", found[:1]), *joined("Concept", found[1:])]) == joined("Concept", found)
    assert joined("Role", [{"name": "x"}, {"name": "x"}]) == [{"name": "x"}]


def test_the_script_names_every_file_and_the_schema_every_node_another_way(corpus: list[str], tmp_path: Path) -> None:
    write(corpus, tmp_path / "files")
    script = (tmp_path / "files" / fileset.SCRIPT).read_text(encoding="utf-8")
    patterns = re.findall(r"=\./(.*parquet)", script)
    for file in (tmp_path / "files").glob("*/*.parquet"):
        assert len([one for one in patterns if re.fullmatch(one, f"{file.parent.name}/{file.name}")]) == 1
    text = (tmp_path / "files" / fileset.SCHEMA).read_text(encoding="utf-8")
    assert text.count(";\n") == len(set(re.findall(r"FOR \((n\d+):", text))) == sum(map(len, schema.MIGRATIONS.values())) + len(schema.SEARCH_INDEXES)
