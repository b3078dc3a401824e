"""Finds concepts that are one, joins them by `ALIAS_OF`, and takes that back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from gsw_graph.errors import InputError, StoppedError
from gsw_graph.merging import judging
from gsw_graph.merging.groups import Group, grouped
from gsw_graph.merging.pairs import Pair, pairs
from gsw_graph.merging.seen import Seen, gather
from gsw_graph.merging.stated import Name
from gsw_graph.model import content_id
from gsw_graph.names import normalise
from gsw_graph.results import Alias, Merged, MergeGroup, Suspicion, Unmerged
from gsw_graph.store import writer
from gsw_graph.store.reader import Reader

if TYPE_CHECKING:
    from gsw_graph.engine import Connection
    from gsw_graph.inference.chat.language_model import QuestionModel, Spent

EVERYTHING = "all"
_REASON = 300  # characters of it that are kept


@dataclass(frozen=True)
class Judged:
    """What a language model said of the pairs that rules leave open. spent: what that took; note: what it
    said nothing of, for people."""

    model: str
    verdicts: dict[Pair, str]
    spent: Spent
    note: str | None


def judge(connection: Connection, llm: QuestionModel) -> Judged:
    """Ask a model about the pairs that rules leave open. That takes minutes, and nothing is written."""
    reader = Reader(connection)
    seen = gather(_rows(reader))
    _, doubtful = grouped(seen, pairs(seen), reader.aliases())
    verdicts: dict[Pair, str] = {}
    note = None
    if doubtful:
        ids = judging.passages(seen, doubtful)
        texts = {one.id: one.text for one in reader.passages(ids, [0.0] * len(ids))}
        try:
            verdicts, lost = judging.judged(llm, seen, doubtful, texts)
            note = f"{llm.model} gave no verdict that can be used on {lost} pairs" if lost else None
        except StoppedError as error:
            note = f"{llm.model} was not asked further: {error.message}"
    return Judged(llm.model, verdicts, llm.spent(), note)


def merge(connection: Connection, *, dry_run: bool, judged: Judged | None) -> Merged:
    """Join concepts that are one; see `Memory.merge`. judged: what a model said; of a pair for which
    something else speaks by now it says nothing."""
    reader = Reader(connection)
    seen, known = gather(_rows(reader)), reader.aliases()
    found = pairs(seen)
    groups, doubtful = grouped(seen, found, known)
    verdicts = judged.verdicts if judged else {}
    if judged:
        groups, left = grouped(seen, judging.decided(found, verdicts, judged.model), known)
        refuted = [pair for pair in doubtful if verdicts.get(pair) == "different"]
        doubtful = [*left, *refuted]
    run, at = None, datetime.now(timezone.utc).isoformat(timespec="microseconds")
    if not dry_run and groups:
        run = content_id("merge", at)[:8]
        written = set(_write(connection, groups, run, at))
        groups = [_left(group, written) for group in groups if not written.isdisjoint(group.aliases)]
    return Merged(
        run,
        [_group(seen, group, run, at if run else None) for group in groups],
        [_suspicion(seen, pair, verdicts) for pair in doubtful],
        judged.spent.tokens if judged else {},
        judged.spent.dollars if judged else None,
        judged.note if judged else None,
    )


def merged(connection: Connection, name: str = "") -> Merged:
    """What is merged, all or the group of a name. InputError: the name is of none."""
    groups = _shown(Reader(connection).merges())
    if name:
        key = normalise(name)
        groups = [one for one in groups if key in (one.id, *(alias.id for alias in one.aliases))]
        if not groups:
            raise InputError(f"{name!r} is not merged", hint="See what is: gswgraph merge --show")
    return Merged(None, groups)


def unmerge(connection: Connection, what: str) -> Unmerged:
    """Take apart a group, by any of its names, a run by its id, or `all`. InputError: there is no such."""
    groups = _shown(Reader(connection).merges())
    if what != EVERYTHING:
        key = normalise(what)
        of_run = [_of(group, [a for a in group.aliases if a.run == what]) for group in groups]
        chosen = [group for group in of_run if group.aliases] or [
            group for group in groups if key in (group.id, *(alias.id for alias in group.aliases))
        ]
        if not chosen:
            raise InputError(
                f"there is no merged name and no run {what!r}",
                hint="See what is merged: gswgraph merge --show",
            )
        groups = chosen
    with connection.session() as session:
        writer.unmerge(session, [alias.id for group in groups for alias in group.aliases])
    return Unmerged([one.name for one in groups], [alias.name for one in groups for alias in one.aliases])


def _rows(reader: Reader) -> Iterator[tuple[str, str, str, str, list[Name]]]:
    for row in reader.named_passages():
        names = [
            Name(
                one["key"],
                one["name"],
                bool(one["title"]),
                tuple(
                    sorted(
                        (role["role"], tuple(role["states"] or ())) for role in one["roles"] if role["role"]
                    )
                ),
            )
            for one in sorted(row["names"], key=lambda one: str(one["name"]))  # engines differ in the order
        ]
        yield row["document"], row["id"], row["title"] or "", row["text"], names


def _write(connection: Connection, groups: Iterable[Group], run: str, at: str) -> list[str]:
    rows = [
        {
            "alias": alias,
            "canonical": group.canonical,
            "score": pair.score,
            "reason": _reason(pair),
            "method": pair.method,
            "run": run,
            "at": at,
        }
        for group in groups
        for alias, pair in group.aliases.items()
    ]
    with connection.session() as session:
        return writer.merge(session, rows)


def _left(group: Group, written: set[str]) -> Group:
    return Group(group.canonical, {key: pair for key, pair in group.aliases.items() if key in written})


def _group(seen: Seen, group: Group, run: str | None, at: str | None) -> MergeGroup:
    aliases = [
        Alias(key, *_named(seen, key), pair.score, _reason(pair), pair.method, run, at)
        for key, pair in group.aliases.items()
    ]
    return MergeGroup(group.canonical, *_named(seen, group.canonical), aliases)


def _named(seen: Seen, key: str) -> tuple[str, int]:
    return seen.concepts[key].name, len(seen.concepts[key].passages)


def _suspicion(seen: Seen, pair: Pair, verdicts: dict[Pair, str]) -> Suspicion:
    ids = [pair.one, pair.other]
    names = [seen.concepts[key].name for key in ids]
    return Suspicion(ids, names, pair.score, _reason(pair), verdicts.get(pair))


def _reason(pair: Pair) -> str:
    text = " ".join("; ".join(pair.reasons).split())
    return text if len(text) <= _REASON else f"{text[: _REASON - 4]} ..."


def _shown(rows: list[dict[str, Any]]) -> list[MergeGroup]:
    aliases: defaultdict[str, list[Alias]] = defaultdict(list)
    heads: dict[str, tuple[str, int]] = {}
    for row in rows:
        heads[row["canonical"]] = row["name"], row["passages"]
        said = (row[name] for name in ("score", "reason", "method", "run", "at"))
        aliases[row["canonical"]].append(Alias(row["alias"], row["alias_name"], row["alias_passages"], *said))
    return [MergeGroup(key, *heads[key], found) for key, found in sorted(aliases.items())]


def _of(group: MergeGroup, aliases: list[Alias]) -> MergeGroup:
    return MergeGroup(group.id, group.name, group.passages, aliases)
