"""A whole memory as plain data, so that two can be compared."""

from __future__ import annotations

from collections import Counter

VOLATILE = {
    "Memory": {"created", "version", "vectors", "runs"},
    "Document": {"loaded_at", "meta_modified", "file"},
}  # differ between any two loads


def dump(memory, *, vectors=True):
    """Nodes as (label, id, properties) and relationships as (type, from, to, properties), sorted; what is null is absent. Without the questions asked.

    What `status` counts must be what is there: an engine may keep its counts apart.
    """
    nodes = memory.cypher(
        "MATCH (n) WHERE NOT n:Question RETURN labels(n) AS labels, coalesce(n.id, n.name) AS id, properties(n) AS properties"
    ).rows
    edges = memory.cypher(
        "MATCH (a)-[r]->(b) WHERE NOT a:Question RETURN type(r) AS type, labels(a) + [coalesce(a.id, a.name)] AS begin, labels(b) + [coalesce(b.id, b.name)] AS end,"
        " properties(r) AS properties"
    ).rows
    found = {
        "nodes": sorted(("+".join(row["labels"]), str(row["id"]), _items(row, vectors)) for row in nodes),
        "relationships": sorted(
            (row["type"], tuple(row["begin"]), tuple(row["end"]), _items(row, vectors)) for row in edges
        ),
    }
    status = memory.status()
    there = Counter(item[0] for items in found.values() for item in items)
    counted = {
        name: count for name, count in {**status.nodes, **status.relationships}.items() if name != "Question"
    }
    assert counted == {name: there[name] for name in counted}
    return found


def differences(one, two, most=10):
    """What one dump has and the other has not; empty where they are equal."""
    found = []
    for kind in one:
        here, there = ({repr(item) for item in d[kind]} for d in (one, two))
        found += [f"only in the first: {item[:600]}" for item in sorted(here - there)[:most]]
        found += [f"only in the second: {item[:600]}" for item in sorted(there - here)[:most]]
        if len(one[kind]) != len(two[kind]):
            found.append(f"{len(one[kind])} and {len(two[kind])} {kind}")
    return found


def version(memory):
    """The version stamp, which every write raises."""
    stamp = memory.status().version
    assert stamp is not None
    return stamp


def _items(row, vectors):
    left_out = {name for label in row.get("labels", ()) for name in VOLATILE.get(label, ())}
    if not vectors:
        left_out.add("embedding")
    return tuple(
        sorted(
            (name, value)
            for name, value in row["properties"].items()
            if name not in left_out and value is not None
        )
    )
