"""Open a memory by its address: a Neo4j server, or a folder with the embedded engine."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from gsw_graph.config import expanded
from gsw_graph.engine import embedded
from gsw_graph.engine.address import MARKER, check_address, split_address
from gsw_graph.errors import EngineError

if TYPE_CHECKING:
    from gsw_graph.config import Settings
    from gsw_graph.engine import Connection

_SILENT = logging.NullHandler()  # one, so that a second connection adds no other


def connect(
    settings: Settings, meanwhile: Callable[[], None] | None = None, *, create: bool = True
) -> Connection:
    """Open `settings.memory`: a url is a Neo4j server, any other text a folder of the embedded engine.

    Args:
        settings: Settings with the memory.
        meanwhile: Called while an embedded engine starts, which takes a second or two.
        create: Whether to make a missing folder.
    """
    if not create and not exists(settings):
        raise EngineError(
            "there is no memory here",
            where=str(expanded(settings.memory).absolute()),
            hint="Name another by --memory or NEO4J_URI, or make one: gswgraph load FILES",
        )
    place, name = split_address(settings.memory)
    settings = replace(settings, memory=place)
    check_address(place)
    logging.getLogger("neo4j").addHandler(_SILENT)  # what the driver would say is in our errors
    if "://" in place:
        from gsw_graph.engine import neo4j  # it takes the driver along, which takes a moment

        connection = neo4j.connect(settings)
    else:
        connection = embedded.connect(settings, meanwhile)
    return connection.to_memory(name) if name else connection


def exists(settings: Settings) -> bool:
    """Return whether `settings.memory` is a folder with a memory, or a server, which is not asked."""
    place, _ = split_address(settings.memory)
    check_address(place)
    return "://" in place or (expanded(place) / MARKER).exists()
