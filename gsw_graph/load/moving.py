"""Whole memories on the move: dumped as lines of JSON, restored, copied from one engine to another, and
exported as files that other programs read.

Rows are read and written kind by kind, as `store/nodes.py` declares them, whatever they mean. The Memory node
is written last: until then the target holds no memory, and nothing reads it or loads into it.

Exports have the shape of Panini's evaluation, or are GraphML, for networkx, Gephi, yEd and igraph:

    FOLDER/networks/doc_<i>/gsw_<i>_<c>.json        the bare GSW of passage c of document i
    FOLDER/networks_raw/doc_<i>/gsw_<i>_<c>.json    the same with its text, title first
    FOLDER/corpus.json                              [{"title", "text"}], document by document
"""

from __future__ import annotations

import base64
import json
import os
import re
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from time import perf_counter
from typing import IO, TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from gsw_graph.concurrency import prefetch
from gsw_graph.config import Settings
from gsw_graph.cypher import Unlogged, definitions
from gsw_graph.engine import Connection, connect, to_engine_error
from gsw_graph.errors import EngineError, InputError, SchemaError
from gsw_graph.loaders.panini import bare
from gsw_graph.model.documents import Document, Entity, Passage, QAPair, VerbPhrase, Workspace
from gsw_graph.model.results import Copied, Exported
from gsw_graph.store import schema
from gsw_graph.store.nodes import VECTOR, Kind, Label, kinds, labels, relationships
from gsw_graph.store.reader import Reader
from gsw_graph.store.writer import parts

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

Row = dict[str, Any]
Report = Callable[[int], None]
# Keys of a page: a node may carry a vector and a long text.
_NODES, _RELATIONSHIPS = 200, 2000
DOCUMENTS = 100  # of an export, read at once
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def dump(connection: Connection, target: str | Path) -> Copied:
    """Write all that a memory holds into a new file, a node or a relationship a line, whole or not at all.

    Vectors are `{"float32": base64}` in the order of Intel machines, bytes are `{"bytes": base64}`. What
    another process changes meanwhile may be in it or not.

    Raises:
        InputError: The file exists, or there is nothing to dump.
    """
    start, counts = perf_counter(), _no_counts()
    _check_source(connection)
    with _new_file(target) as file:
        for kind, row in read_all(connection):
            counts[kind.name] += 1
            # In ASCII no letter ends a line for any reader.
            file.write(json.dumps(_to_line(kind, row), default=str) + "\n")
    return _copied(connection.url, str(Path(target).resolve()), counts, start)


def restore(connection: Connection, source: str | Path, on_written: Report = lambda _: None) -> Copied:
    """Write the memory of a dump into a new folder or an empty database, with its indexes.

    Raises:
        InputError: The file cannot be read, or is no dump or a part of one.
        SchemaError: The target holds something already, or the dump is of another schema.
    """
    start = perf_counter()
    with Path(source).open(encoding="utf-8") as file:
        counts = _write_all(connection, _from_lines(file, str(source)), on_written)
    return _copied(str(source), connection.url, counts, start)


def copy(source: Settings, target: Settings, on_written: Report = lambda _: None) -> Copied:
    """Copy the memory of `source` to `target`, each a folder or a url with its own user and database.

    A copy that was cut off leaves no memory: empty the target and copy again. Nobody may write to the source
    meanwhile.

    Args:
        source: Settings of the memory that is read; `sides` makes both from the environment.
        target: Settings of a new folder or an empty database.
        on_written: Called with the number of nodes and relationships written so far.

    Raises:
        InputError: There is nothing to copy, or both are one memory.
        SchemaError: The target holds something already.
        EngineError: A side cannot be reached, or not as much was written as was read.
    """
    start = perf_counter()
    same = (source.memory, source.database) == (target.memory, target.database)
    if "://" not in source.memory + target.memory:
        same = Path(source.memory).expanduser().resolve() == Path(target.memory).expanduser().resolve()
    if same:
        raise InputError("the memory cannot be copied onto itself", where=target.memory)
    with closing(connect(source, create=False)) as reading:
        _check_source(reading)
        with closing(connect(target)) as writing:
            counts = _write_all(writing, read_all(reading), on_written)
        return _copied(reading.url, writing.url, counts, start)


def sides(source: str, target: str, env: Mapping[str, str] | None = None) -> tuple[Settings, Settings]:
    """Return the settings of both sides of a copy from the environment.

    User, password and database come from NEO4J_USERNAME and so on, for `source` from NEO4J_FROM_USERNAME and
    so on where these are set: a password on a command line is read by every user of the machine.
    """
    env = os.environ if env is None else env
    to = Settings.from_env(env)
    given = {name: env.get(f"NEO4J_FROM_{name.upper()}") for name in ("username", "password", "database")}
    own: dict[str, Any] = {name: value for name, value in given.items() if value}
    return replace(to, memory=source, **own), replace(to, memory=target)


def read_all(connection: Connection) -> Iterator[tuple[Kind, Row]]:
    """Yield all nodes, the Memory node first, then all relationships, kind by kind, each with its row: `key`
    and `properties`, of a relationship the keys of its ends as `key` and `end`."""
    for kind in kinds():
        name, limit = ("nodes", _NODES) if isinstance(kind, Label) else ("relationships", _RELATIONSHIPS)
        (text,) = definitions(f"move/{name}", connection.dialect.name, **_literals(kind))
        for keys in _keys(connection, kind if isinstance(kind, Label) else kind.begin, limit):
            place = {key: n for n, key in enumerate(keys)}
            rows = _run(connection, text, page=Unlogged(keys))
            yield from ((kind, row) for row in sorted(rows, key=lambda row: place[row["key"]]))


def _check_source(connection: Connection) -> None:
    state = schema.read_state(connection)
    if state is None:
        raise InputError(
            "there is nothing to copy", where=connection.url, hint="Load something first: gswgraph load PATH"
        )
    schema.check_schema(state)


def _no_counts() -> Counter[str]:
    return Counter({kind.name: 0 for kind in kinds()})


def _copied(source: str, target: str, counts: Mapping[str, int], start: float) -> Copied:
    return Copied(
        source,
        target,
        nodes={name: count for name, count in counts.items() if " " not in name},
        relationships={name: count for name, count in counts.items() if " " in name},
        seconds=perf_counter() - start,
    )


def _write_all(connection: Connection, rows: Iterable[tuple[Kind, Row]], on_written: Report) -> Counter[str]:
    """Write a memory into a database that holds none; return how many rows of each kind."""
    if schema.read_state(connection) is not None:
        raise SchemaError(
            "the target holds a memory already",
            where=connection.url,
            hint="Use a new folder or an empty database",
        )
    schema.refuse_foreign(connection)
    schema.make_constraints(connection)
    counts = _no_counts()
    memory: Row = {}
    grouped = groupby(rows, key=itemgetter(0))
    batches = ((kind, part) for kind, group in grouped for part in parts(row for _, row in group))
    with closing(prefetch(batches)) as ahead:
        for kind, some in ahead:
            if kind.name == "Memory":
                memory = some[0]
            else:
                with _translated(connection), connection.session() as session:
                    session.execute_write(_write, connection.dialect.name, kind, some)
            counts[kind.name] += len(some)
            on_written(sum(counts.values()))
    if not memory:
        raise InputError("this is no whole dump of a memory: it has no Memory node", where=connection.url)
    memory["properties"] |= {"indexed": False}
    with _translated(connection), connection.session() as session:
        session.execute_write(_write, connection.dialect.name, labels()["Memory"], [memory])
    schema.build_search_indexes(connection, memory["properties"]["dimension"])
    return counts


def _write(tx: ManagedTransaction, dialect: str, kind: Kind, rows: list[Row]) -> None:
    vectors: list[Row] = []
    if isinstance(kind, Label) and dialect == "neo4j":
        # Neo4j stores a list of floats in 64 bits; its procedure stores a vector in 32.
        vectors = [
            {"key": row["key"], "property": name, "vector": vector}
            for row in rows
            for name in kind.vectors
            if (vector := row["properties"].get(name)) is not None
        ]
        rows = [
            {
                "key": row["key"],
                "properties": {k: v for k, v in row["properties"].items() if k not in kind.vectors},
            }
            for row in rows
        ]
    name = "write_nodes" if isinstance(kind, Label) else "write_relationships"
    for what, some in ((name, rows), ("write_vectors", vectors)):
        for part in parts(some):
            (text,) = definitions(f"move/{what}", dialect, **_literals(kind))
            record = tx.run(text, rows=Unlogged(part)).single()
            if record is None or record["written"] != len(part):
                raise EngineError(
                    f"{len(part):,} of {kind.name} were sent and {record and record['written']:,} written",
                    hint="Another process writes there too: end it, empty the target, and do it again",
                )


def _keys(connection: Connection, label: Label, limit: int) -> Iterator[list[str]]:
    (text,) = definitions("move/keys", connection.dialect.name, LABEL=label.name, KEY=label.key)
    if connection.dialect.name != "neo4j":
        keys = sorted(row["key"] for row in _run(connection, text) if row["key"] is not None)
        yield from (keys[n : n + limit] for n in range(0, len(keys), limit))
        return
    after = ""
    while rows := _run(connection, text, after=after, limit=limit):
        yield [row["key"] for row in rows]
        after = rows[-1]["key"]


def _literals(kind: Kind) -> dict[str, str]:
    if isinstance(kind, Label):
        return {"LABEL": kind.name, "KEY": kind.key}
    return {
        "BEGIN": kind.begin.name,
        "KEY_OF_BEGIN": kind.begin.key,
        "TYPE": kind.type,
        "END": kind.end.name,
        "KEY_OF_END": kind.end.key,
    }


def _run(connection: Connection, text: str, **parameters: Any) -> list[Row]:
    def work(tx: ManagedTransaction) -> list[Row]:
        return [dict(record) for record in tx.run(text, parameters)]

    with _translated(connection), connection.session(default_access_mode="READ") as session:
        rows: list[Row] = session.execute_read(work)
    return rows


@contextmanager
def _translated(connection: Connection) -> Iterator[None]:
    """Raise what the driver raises as one sentence that names this side of a copy."""
    from neo4j.exceptions import DriverError, Neo4jError

    try:
        yield
    except (DriverError, Neo4jError) as error:
        raise to_engine_error(error, connection.url) from error


def _to_line(kind: Kind, row: Row) -> Row:
    types = kind.properties
    properties = {
        name: _to_json(value, types.get(name))
        for name, value in sorted(row["properties"].items())
        if value is not None
    }
    if isinstance(kind, Label):
        return {"label": kind.name, "properties": properties}
    begin, end = [kind.begin.name, row["key"]], [kind.end.name, row["end"]]
    return {"begin": begin, "type": kind.type, "end": end, "properties": properties}


def _from_lines(lines: Iterable[str], source: str) -> Iterator[tuple[Kind, Row]]:
    by_name = {kind.name: kind for kind in kinds()}
    for number, text in enumerate(lines, 1):
        try:
            line = json.loads(text)
            properties = {name: _from_json(value) for name, value in line["properties"].items()}
            if "label" in line:
                kind = by_name[line["label"]]
                assert isinstance(kind, Label)  # noqa: S101 - for mypy
                row = {"key": properties[kind.key], "properties": properties}
            else:
                kind = by_name[f"{line['begin'][0]} {line['type']} {line['end'][0]}"]
                row = {"key": line["begin"][1], "end": line["end"][1], "properties": properties}
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise InputError(
                "this line is none of a dump", where=f"{source}:{number}", hint="Make one: gswgraph dump FILE"
            ) from error
        if kind.name == "Memory" and properties.get("schema") != schema.SCHEMA:
            raise SchemaError(
                f"the dump is of schema {properties.get('schema')}, this gswgraph reads {schema.SCHEMA}"
            )
        yield kind, row


def _to_json(value: Any, type_: str | None) -> Any:
    if type_ == VECTOR:
        return {"float32": base64.b64encode(np.asarray(value, "<f4").tobytes()).decode()}
    if isinstance(value, bytes | bytearray):
        return {"bytes": base64.b64encode(value).decode()}
    return value


def _from_json(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, text),) = value.items()
    data = base64.b64decode(text)
    return data if kind == "bytes" else np.frombuffer(data, "<f4").tolist()


# --- exports ---


def export(connection: Connection, folder: str | Path) -> Exported:
    """Write all documents that are ready into a folder that is new or empty: all of it or, after an error,
    nothing. Documents are numbered in the order of their sources. Propositions have no place in this shape.

    Raises:
        InputError: There is something in the folder, or it is a file.
    """
    documents, files = 0, 1
    with new_folder(folder) as beside, (beside / "corpus.json").open("w", encoding="utf-8") as corpus:
        for number, workspace in enumerate(_workspaces(Reader(connection))):
            document = workspace.document
            text = "\n\n".join(passage.text for passage in document.passages)
            corpus.write("[\n" if number == 0 else ",\n")
            corpus.write(json.dumps({"title": document.title, "text": text}, ensure_ascii=False))
            for passage in document.passages:
                files += _write_passage(beside, workspace, passage, number)
            documents += 1
        corpus.write("\n]\n" if documents else "[]\n")
    return Exported(documents, files, str(Path(folder).resolve()))


def _workspaces(reader: Reader) -> Iterator[Workspace]:
    """Yield the ready documents with their entities, verb phrases and pairs, by source."""
    ids = sorted(reader.sources().items(), key=itemgetter(1))
    for start in range(0, len(ids), DOCUMENTS):
        rows = reader.stream("read/export", ids=[id_ for id_, _ in ids[start : start + DOCUMENTS]])
        for _, group in groupby(rows, key=itemgetter("n")):
            yield _workspace(list(group))


def _write_passage(folder: Path, workspace: Workspace, passage: Passage, number: int) -> int:
    """Write one passage; return how many files that made."""
    gsw = bare(workspace, passage.position)
    # The title stands first even where the text begins with it too or there is none: so the text comes back
    # as it was.
    raw = {
        "text": f"{passage.title}\n{passage.text}",
        "doc_idx": number,
        "chunk_idx": passage.position,
        "global_id": f"{number}_{passage.position}",
        "gsw": gsw,
        "context": "",
        "spacetime": {},
    }
    for kind, content in (("networks", gsw), ("networks_raw", raw)):
        file = folder / kind / f"doc_{number}" / f"gsw_{number}_{passage.position}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")
    return 2


def _workspace(rows: Sequence[Row]) -> Workspace:
    """Return the workspace of one document from the rows of its passages."""
    first = rows[0]
    passages = tuple(Passage(row["text"], row["title"], row["position"]) for row in rows)
    document = Document(first["source"], first["document_title"], passages, first["loader"])
    entities: dict[str, Entity] = {}
    for row in rows:
        for node in row["entities"]:
            entity = entities.get(node["name"]) or _entity(node)
            titles = (*entity.titles, row["position"]) if node["title"] else entity.titles
            entities[entity.name] = replace(
                entity, passages=(*entity.passages, row["position"]), titles=titles
            )
    phrases = tuple(
        _phrase(node, row["position"])
        for row in rows
        for node in sorted(row["phrases"], key=lambda v: (v["phrase"], v["id"]))
    )
    return Workspace(
        document, first["extractor"], tuple(entities[name] for name in sorted(entities)), phrases
    )


def _entity(node: Row) -> Entity:
    """Return an entity with its roles in the order of its description, as relationships have none."""
    roles = sorted((role["role"], tuple(role["states"] or ())) for role in node["roles"] if role["role"])
    entity = Entity(node["name"], node["key"], (), (), (), node["from"], node["to"])
    written = f"; {node['description']};"
    places = {role: written.find(f"; {replace(entity, roles=(role,)).description};") for role in roles}
    return replace(entity, roles=tuple(sorted(roles, key=lambda role: places[role])))


def _phrase(node: Row, position: int) -> VerbPhrase:
    questions = sorted(
        (pair["question"], tuple(pair["answers"] or ()))
        for pair in node["pairs"]
        if pair["question"] is not None
    )
    return VerbPhrase(
        node["phrase"], position, tuple(QAPair(question, answers) for question, answers in questions)
    )


def export_graphml(connection: Connection, target: str | Path) -> Exported:
    """Write all that a memory holds, without vectors, into a new GraphML file, whole or not at all. A node is
    known as `Label:key`; its `label` is what Gephi shows, its `kind` the label.

    Raises:
        InputError: There is something in its place.
    """
    counts: Counter[str] = Counter()
    with _new_file(target) as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        file.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for domain, own, declared in (
            ("node", ("label", "kind"), labels().values()),
            ("edge", ("type",), relationships()),
        ):
            names = {name: (name, "string") for name in own}
            names |= {f"{domain}.{name}": (name, type_) for name, type_ in _attributes(declared).items()}
            for id_, (name, type_) in names.items():
                file.write(f'<key id="{id_}" for="{domain}" attr.name="{name}" attr.type="{type_}"/>\n')
        file.write('<graph id="gswgraph" edgedefault="directed">\n')
        for number, (kind, row) in enumerate(read_all(connection)):
            counts[kind.name] += 1
            values = row["properties"]
            if isinstance(kind, Label):
                shown = str(values.get("name") or values.get("title") or row["key"])
                data = _data("label", shown) + _data("kind", kind.name) + _properties("node", kind, values)
                file.write(f"<node id={_name(kind, row['key'])}>{data}</node>\n")
            else:
                ends = f"source={_name(kind.begin, row['key'])} target={_name(kind.end, row['end'])}"
                data = _data("type", kind.type) + _properties("edge", kind, values)
                file.write(f'<edge id="{number}" {ends}>{data}</edge>\n')
        file.write("</graph>\n</graphml>\n")
    return Exported(counts["Document"], 1, str(Path(target).resolve()))


def _attributes(kinds: Iterable[Kind]) -> dict[str, str]:
    """Return the type of each property; one that is not the same for all kinds is a text, as lists are."""
    types: dict[str, set[str]] = {}
    for kind in kinds:
        for name, type_ in _exported(kind):
            types.setdefault(name, set()).add("string" if type_.endswith("[]") else type_)
    return {name: some.pop() if len(some) == 1 else "string" for name, some in types.items()}


def _exported(kind: Kind) -> list[tuple[str, str]]:
    return [(name, type_) for name, type_ in kind.properties.items() if type_ not in (VECTOR, "bytes")]


def _name(label: Label, key: str) -> str:
    return quoteattr(
        _NOT_XML.sub("\ufffd", f"{label.name}:{key}"), {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
    )


def _properties(domain: str, kind: Kind, values: Row) -> str:
    written = ((name, values.get(name)) for name, _ in _exported(kind))
    return "".join(_data(f"{domain}.{name}", value) for name, value in written if value is not None)


def _data(key: str, value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # XML has no place for some characters; U+FFFD stands for them.
    return f'<data key="{key}">{escape(_NOT_XML.sub(chr(0xFFFD), text), {chr(13): "&#13;"})}</data>'


@contextmanager
def _new_file(target: str | Path) -> Iterator[IO[str]]:
    """Open a file beside the target, which takes its place when all went well."""
    with _beside(Path(target).resolve()) as beside, beside.open("x", encoding="utf-8", newline="\n") as file:
        yield file


@contextmanager
def new_folder(target: str | Path) -> Iterator[Path]:
    """Make a folder beside the target, which takes its place when all went well; an empty one may be
    there."""
    place = Path(target).resolve()
    empty = place.is_dir() and not any(place.iterdir())
    with _beside(place, there=empty) as beside:
        beside.mkdir()
        yield beside


@contextmanager
def _beside(target: Path, *, there: bool = False) -> Iterator[Path]:
    """Give the path of what is renamed to the target when all went well, and removed after an error.

    Args:
        target: Where it goes.
        there: Whether an empty folder may be there.

    Raises:
        InputError: There is something in the place of the target.
    """
    if target.exists() and not there:
        raise InputError("there is something here already", where=str(target), hint="Name a new one")
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
    try:
        yield beside
        if there:  # Windows renames onto nothing
            target.rmdir()
        beside.rename(target)
    except BaseException:
        if beside.is_dir():
            shutil.rmtree(beside)
        else:
            beside.unlink(missing_ok=True)
        raise
