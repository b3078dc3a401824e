"""A corpus as the Parquet files that `neo4j-admin database import full` reads, made without an engine.

    FOLDER/Passage/*.parquet                 id:ID(Passage), text:string, embedding:float[], vector:byte[] ...
    FOLDER/Entity.IN.Passage/*.parquet       :START_ID(Entity), :END_ID(Passage), title:boolean

Documents become tables a window at a time (`blocks`), here or on the workers of a Ray cluster; what documents
share, names and roles, is joined at the end (`join`). The files hold what a load writes, but for indexes and
texts that are empty, which the import takes for missing: `gswgraph doctor --mend` makes both.
"""

from __future__ import annotations

import io
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from gsw_graph import loaders
from gsw_graph.config import Settings
from gsw_graph.errors import InputError
from gsw_graph.extract import Rules
from gsw_graph.load.loading import Item, LoadCounters, embed, new_work, windows
from gsw_graph.load.moving import new_folder
from gsw_graph.load.options import LoadOptions
from gsw_graph.model.documents import Failure, Skipped
from gsw_graph.model.results import LoadReport
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.store.nodes import Kind, Label, kinds, labels
from gsw_graph.store.rows import ORDER, Row, rows_of
from gsw_graph.store.schema import SCHEMA

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow.parquet import write_table
except ImportError as error:
    raise InputError("bulk needs pyarrow", hint="pip install 'gswgraph[bulk]'") from error

SHARED = ("Concept", "Role")  # labels whose nodes many documents share
_BLOCKS = 64  # windows of documents in a file
_FILES, _LINES = 64, 10_000  # that a worker reads at once
_LABELS = {
    "documents": "Document",
    "passages": "Passage",
    "entities": "Entity",
    "verb_phrases": "VerbPhrase",
    "qa_pairs": "QAPair",
    "propositions": "Proposition",
}
# The relationships that statements of `cypher/write` make of their rows: type, and the keys of both ends.
_LINKS = (
    ("passages", "Passage PART_OF Document", "id", "document"),
    ("next", "Passage NEXT Passage", "from", "to"),
    ("entities", "Entity REFERS_TO Concept", "id", "key"),
    ("roles", "Entity PLAYS Role", "entity", "role"),
    ("verb_phrases", "VerbPhrase IN Passage", "id", "passage"),
    ("qa_pairs", "QAPair IN Passage", "id", "passage"),
    ("qa_pairs", "VerbPhrase ASKS QAPair", "verb_phrase", "id"),
    ("answered_by", "QAPair ANSWERED_BY Entity", "pair", "entity"),
    ("about", "QAPair ABOUT Entity", "pair", "entity"),
    ("propositions", "Proposition IN Passage", "id", "passage"),
    ("mentions", "Proposition MENTIONS Entity", "proposition", "entity"),
)


def bulk(
    names: Sequence[str], folder: str | Path, settings: Settings, *, extractor: str = "rules", ray: str = ""
) -> LoadReport:
    """Write what `names` mean into a folder that is new or empty: all of it or, after an error, nothing.

    Args:
        names: Files, folders and globs, as of `Memory.load`.
        folder: Where the files go; of a cluster all nodes see it, and the documents.
        settings: Name the embedder.
        extractor: `rules` or `none`; ready workspaces come as they are.
        ray: The address of a Ray cluster, `local` for one of this machine; here and in order without.

    Returns:
        What was written; its note is the command that imports it.

    Raises:
        InputError: There is something in the folder, nothing to read, or a library is missing.
    """
    start = perf_counter()
    if ray and find_spec("ray") is None:
        raise InputError("bulk on a cluster needs ray", hint="pip install 'gswgraph[bulk]'")
    if extractor not in ("none", "rules"):
        raise InputError(f"bulk does not extract by {extractor}", hint="Use --extractor rules or none")
    worker = Worker(settings, extractor)
    with new_folder(folder) as beside:
        counts = _write_by_ray(names, beside, worker, ray) if ray else _write(names, beside, worker)
        memory = {"id": "memory", "schema": SCHEMA, "embedder": worker.embedder.name, "version": 1}
        memory |= {"dimension": worker.embedder.dimension, "indexed": False, "vectors": 0}
        memory["created"] = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        counts["Memory"] = _write_file(beside, "Memory", 0, table(labels()["Memory"], [memory]))
    # Without normalised types, which would make vectors four times as large.
    command = "neo4j-admin database import full neo4j --input-type=parquet --normalize-types=false".split()
    for kind in (kind for kind in kinds() if counts[kind.name]):
        option, name = ("nodes", kind.name) if isinstance(kind, Label) else ("relationships", kind.type)
        command.append(
            f"--{option}={name}={Path(folder).resolve()}/{kind.name.replace(' ', '.')}/.*[.]parquet"
        )
    return worker.counters.report(
        perf_counter() - start,
        nodes={name: count for name, count in counts.items() if " " not in name},
        note=shlex.join(command),
    )


class Worker:
    """Makes tables of documents, in this process or on a worker of a cluster."""

    def __init__(self, settings: Settings, extractor: str) -> None:
        self.settings, self.extractor = settings, extractor
        self.embedder, self.counters = Embedder.load(settings), LoadCounters()

    def blocks(self, items: Iterable[Item | Failure]) -> Iterator[dict[str, pa.Table]]:
        """Yield the tables of each window of documents, by kind."""
        extractor = Rules(self.extractor)
        work = new_work(items, lambda _: {}, extractor, self.counters, LoadOptions(extractor=self.extractor))
        for window in windows(work, extractor, self.counters):
            rows: dict[str, list[Row]] = {statement: [] for statement in ORDER}
            for (workspace, _), vectors in zip(window, embed(window, self.embedder), strict=True):
                for statement, some in rows_of(workspace, vectors, floats=lambda vector: vector).items():
                    rows[statement] += some
            by_kind = rows_by_kind(rows)
            yield {kind.name: table(kind, by_kind[kind.name]) for kind in kinds() if by_kind.get(kind.name)}

    def __call__(self, batch: dict[str, Any]) -> Iterator[dict[str, list[Any]]]:
        """Yield the tables of a batch of Ray: files, or lines of files, with their paths; and what could
        not be read."""
        contents: dict[str, list[bytes]] = {}
        for path, data in zip(batch["path"], batch["bytes" if "bytes" in batch else "text"], strict=True):
            contents.setdefault(path, []).append(data.encode() if isinstance(data, str) else data)
        self.counters = LoadCounters()
        streams = ((path, io.BytesIO(b"\n".join(parts))) for path, parts in contents.items())
        for block in self.blocks(item for path, data in streams for item in loaders.read_stream(path, data)):
            for name, rows in block.items():
                yield {"kind": [name], "rows": [rows.num_rows], "packed": [_pack(rows)]}
        failures = [
            [isinstance(failure, Skipped), failure.source, failure.reason, failure.part]
            for failure in (*self.counters.failures, *self.counters.skipped)
        ]
        yield {
            "kind": ["failures"],
            "rows": [self.counters.counts["new"]],
            "packed": [json.dumps(failures).encode()],
        }


def rows_by_kind(rows: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """Return what the statements of `cypher/write` make of the rows of new documents, by kind: properties,
    and of relationships the keys of both ends as `begin` and `end`."""
    by_kind = {label: rows[statement] for statement, label in _LABELS.items()}
    by_kind["QAPair"] = [{**row, "title": row["question"]} for row in rows["qa_pairs"]]
    by_kind["Proposition"] = [{**row, "title": row["text"][:80]} for row in rows["propositions"]]
    by_kind["Role"] = [{"name": row["role"]} for row in rows["roles"]]
    by_kind["Concept"] = [
        {
            "id": row["key"],
            "passages": 0,
            **{name: row[name] for name in ("name", "joins", "passages") if name in row},
        }
        for row in (*rows["names"], *rows["entities"])
    ]
    for statement, kind, begin, end in _LINKS:
        by_kind[kind] = [{**row, "begin": row[begin], "end": row[end]} for row in rows[statement]]
    by_kind["Entity IN Passage"] = [
        {**place, "begin": row["id"], "end": place["passage"]}
        for row in rows["entities"]
        for place in row["places"]
    ]
    by_kind["Passage NAMES Concept"] = [
        {**place, "begin": place["passage"], "end": row["key"]}
        for row in rows["names"]
        for place in row["places"]
    ]
    return by_kind


def table(kind: Kind, rows: list[Row]) -> pa.Table:
    """Return rows of a kind as columns, named as the headers of the import; what a row has not is null."""
    types = {"string": pa.string(), "long": pa.int64(), "double": pa.float64(), "boolean": pa.bool_()}
    types |= {"string[]": pa.list_(pa.string()), "long[]": pa.list_(pa.int64())}
    types |= {"float[]": pa.list_(pa.float32()), "bytes": pa.list_(pa.int8())}
    columns = {}
    if not isinstance(kind, Label):
        for header, name in (
            (f":START_ID({kind.begin.name})", "begin"),
            (f":END_ID({kind.end.name})", "end"),
        ):
            columns[header] = pa.array([row[name] for row in rows], pa.string())
    for name, type_ in kind.properties.items():
        values = [row.get(name) for row in rows]
        header = f"{name}:{type_}"
        if type_ == "bytes":
            header = f"{name}:byte[]"
            values = [None if value is None else np.frombuffer(value, np.int8) for value in values]
        elif isinstance(kind, Label) and name == kind.key:
            header = f"{name}:ID({kind.name})"
        columns[header] = pa.array(values, types[type_])
    return pa.table(columns)


def join(nodes: pa.Table) -> pa.Table:
    """Return the nodes of a shared label, each once; the passages of a concept are added up, and the greatest
    of its names stays, as of `cypher/write/names.cypher`."""
    key, *_ = (name for name in nodes.column_names if ":ID(" in name)
    if "joins:boolean" not in nodes.column_names:
        return nodes.group_by(key).aggregate([]).combine_chunks()
    joined = nodes.sort_by([("name:string", "descending")]).group_by(key, use_threads=False)
    joined = joined.aggregate([("name:string", "first"), ("passages:long", "sum"), ("joins:boolean", "all")])
    name = joined["name:string_first"]
    written = pc.or_(
        pc.not_equal(name, pc.utf8_lower(name)), pc.equal(name, pc.utf8_upper(name))
    )  # in small letters alone it is a common word
    columns = {key: joined[key], "name:string": name, "passages:long": joined["passages:long_sum"]}
    columns["joins:boolean"] = pc.and_(joined["joins:boolean_all"], written)
    return type(nodes).from_pydict(columns)


def _write(names: Sequence[str], folder: Path, worker: Worker) -> Counter[str]:
    counts: Counter[str] = Counter()
    shared: dict[str, pa.Table] = {}
    blocks = worker.blocks(loaders.read(names))
    while group := list(islice(blocks, _BLOCKS)):
        for name in dict.fromkeys(name for block in group for name in block):
            tables = [block[name] for block in group if name in block]
            if name in SHARED:
                shared[name] = join(pa.concat_tables([*tables, *([shared[name]] if name in shared else [])]))
            else:
                counts[name] += _write_file(folder, name, counts[name], pa.concat_tables(tables))
    return counts + Counter({name: _write_file(folder, name, 0, nodes) for name, nodes in shared.items()})


def _write_by_ray(names: Sequence[str], folder: Path, worker: Worker, address: str) -> Counter[str]:
    import ray

    ray.init(None if address == "local" else address, ignore_reinit_error=True, log_to_driver=False)
    paths, worker.counters.failures = loaders.paths(names)
    lines = [path for path in paths if path.endswith((".jsonl", ".ndjson"))]
    files = [path for path in paths if path not in set(lines)]
    sources = [(ray.data.read_text(lines, include_paths=True), _LINES)] if lines else []
    sources += [(ray.data.read_binary_files(files, include_paths=True), _FILES)] if files else []
    arguments = {"settings": worker.settings, "extractor": worker.extractor}
    workers = max(int(ray.cluster_resources().get("CPU", 1)), 1)
    first, *rest = (
        source.map_batches(
            Worker, batch_size=size, num_cpus=0.5, concurrency=(1, workers), fn_constructor_kwargs=arguments
        ).materialize()  # one source at a time, as two pools of workers may wait for each other's processors
        for source, size in sources
    )
    blocks = first.union(*rest) if rest else first
    counted = blocks.select_columns(["kind", "rows"]).groupby("kind").sum("rows").take_all()
    counts = Counter({row["kind"]: int(row["sum(rows)"]) for row in counted})
    worker.counters.counts["new"] = counts.pop("failures")
    for row in blocks.filter(expr="kind == 'failures'").iter_rows():
        for skipped, *fields in json.loads(row["packed"]):
            if skipped:
                worker.counters.skipped.append(Skipped(*fields))
            else:
                worker.counters.failures.append(Failure(*fields))
    for name in list(counts):
        rows = blocks.filter(expr=f"kind == '{name}'").map_batches(_unpack, batch_format="pyarrow")
        if name in SHARED:
            (key,) = (column for column in rows.schema().names if ":ID(" in column)
            rows = rows.repartition(workers, keys=[key])
            rows = rows.map_batches(join, batch_size=None, batch_format="pyarrow").materialize()
            counts[name] = rows.count()
        rows.write_parquet(str(folder / name.replace(" ", ".")), compression="none", use_dictionary=False)
    return counts


def _write_file(folder: Path, name: str, number: int, rows: pa.Table) -> int:
    """Write a file of a kind; return how many rows it holds."""
    path = folder / name.replace(" ", ".") / f"{number:012}.parquet"
    path.parent.mkdir(exist_ok=True)
    write_table(rows, path, compression="none", use_dictionary=False)
    return int(rows.num_rows)


def _pack(rows: pa.Table) -> bytes:
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, rows.schema) as writer:
        writer.write_table(rows)
    return stream.getvalue()


def _unpack(batch: pa.Table) -> pa.Table:
    return pa.concat_tables(pa.ipc.open_stream(packed.as_buffer()).read_all() for packed in batch["packed"])
