"""A hash of all that a memory holds, the same on every engine and in whatever order it was written."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from gsw_graph.store.graph import VECTOR, Kind, Label, kinds
from gsw_graph.store.transfer import read

if TYPE_CHECKING:
    from gsw_graph.engine import Connection

_BITS = 128
# What the Memory node says of this copy of the memory, and not of what is in it.
_OWN = frozenset(("indexed", "vectors", "version", "moving"))


@dataclass(frozen=True, slots=True)
class Digest:
    """Of one kind: how many, and the sum of their hashes."""

    count: int
    sum: int

    def __add__(self, other: Digest) -> Digest:
        return Digest(self.count + other.count, (self.sum + other.sum) % 2**_BITS)


def digest(connection: Connection, on_read: Callable[[int], None] = lambda _: None) -> dict[str, Digest]:
    """The digest of each kind of node and relationship, by its name. on_read: told how many were read, now
    and then.

    A node is hashed with its label and properties, a relationship with its type, the labels and keys of its
    ends and its properties: all properties, declared or not, but for those of the Memory node that say how
    far this database is with it. Vectors are hashed as 32-bit floats. Hashes (BLAKE2b, 128 bits) are added up
    modulo 2^128, so that neither order nor pages matter and two equal relationships count twice.
    """
    found = {}
    for kind in kinds():
        total = Digest(0, 0)
        for page in read(connection, kind):
            hashes = [hashed(kind, row) for row in page.rows]
            total += Digest(len(hashes), sum(hashes))
            on_read(len(hashes))
        found[kind.name] = total
    return found


def overall(digests: dict[str, Digest]) -> str:
    """One hash of all kinds that there are any of, in hexadecimal."""
    known = {name: [one.count, f"{one.sum:032x}"] for name, one in digests.items() if one.count}
    return blake2b(json.dumps(known, sort_keys=True).encode(), digest_size=_BITS // 8).hexdigest()


def hashed(kind: Kind, row: dict[str, Any]) -> int:
    """The hash of one row as `transfer.read` gives it."""
    types, rest, vectors = kind.properties, {}, []
    for name, value in row["properties"].items():
        declared = types.get(name)
        if value is None or (kind.name == "Memory" and name in _OWN):
            continue
        if declared == VECTOR:
            vectors.append((name, np.asarray(value, np.float32).tobytes()))
        else:
            rest[name] = float(value) if declared == "double" else value
    place: list[str] = [kind.name] if isinstance(kind, Label) else [kind.name, row["key"], row["end"]]
    made = blake2b(
        json.dumps([place, rest], sort_keys=True, ensure_ascii=False, default=_plain).encode(
            "utf-8", "surrogatepass"
        ),
        digest_size=_BITS // 8,
    )
    for name, vector in sorted(vectors):
        made.update(f"\0{name}\0".encode() + vector)
    return int.from_bytes(made.digest(), "big")


def _plain(value: Any) -> str:
    return value.hex() if isinstance(value, bytes | bytearray) else str(value)
