"""A sample of what `gswgraph merge` would join, with what a person needs to judge it: roles and texts of both names.

    python bench/merging.py MEMORY --groups 100 --seed 19 > sample.txt

Groups are drawn at random from a dry run, whole. docs/merging.md has the verdict on a sample.
"""

from __future__ import annotations

import argparse
import random
import textwrap

from gsw_graph.memory import Memory

AROUND = 220  # characters of text on each side of a name
ROWS = """
MATCH (c:Concept {id: $id})<-[link:REFERS_TO|NAMES]-(e)-[:IN*0..1]->(p:Passage)
WHERE link.counted OR link.weight IS NULL
OPTIONAL MATCH (e)-[plays:PLAYS]->(r:Role)
WITH p, coalesce(link.name, e.name) AS name, collect(r.name + ': ' + reduce(text = '', state IN plays.states | text + state + ', ')) AS roles
RETURN name, p.title AS title, p.text AS text, roles ORDER BY p.id LIMIT 4
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("memory")
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--seed", type=int, default=19)
    args = parser.parse_args()
    with Memory.open(args.memory, create=False) as memory:
        groups = memory.merge(dry_run=True).groups
        drawn = random.Random(args.seed).sample(groups, min(args.groups, len(groups)))
        print(f"{len(drawn)} of {len(groups)} groups, seed {args.seed}")
        for number, group in enumerate(sorted(drawn, key=lambda member: member.id), 1):
            print(f"\n== {number}. {group.name}")
            show(memory, group.id)
            for alias in group.aliases:
                print(f"  = {alias.name}  {alias.score}: {alias.reason}")
                show(memory, alias.id)


def show(memory: Memory, key: str) -> None:
    for row in memory.cypher(ROWS, id=key).rows:
        text = " ".join(row["text"].split())
        at = max(text.find(row["name"]), 0)
        piece = text[max(0, at - AROUND) : at + AROUND]
        print(textwrap.indent(f"[{row['title']}] {'; '.join(row['roles'])} | {piece}", "      "))


if __name__ == "__main__":
    main()
