"""Analyses of a memory: what each shows and what it can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gsw_graph.results.result import Result


@dataclass(frozen=True)
class Parameter(Result):
    """What an analysis can be told: `what` says what it means, `default` is what holds where it is not
    given."""

    name: str
    default: Any
    what: str


@dataclass(frozen=True)
class Analysis(Result):
    """A query of `cypher/explore/`. `summary` says in a line what it shows, `details` the rest. `query` runs
    as it stands, with its defaults.

    `plot`: the kind of picture its rows make, and the columns that it shows; empty where they make none.
    """

    name: str
    summary: str
    details: str
    parameters: list[Parameter]
    plot: list[str]
    query: str
