"""Names of a text: moved to `gsw_graph.names`."""

from collections.abc import Iterator

from gsw_graph.names import find_names, title_names

__all__ = ["names", "title_names"]


def names(text: str) -> Iterator[tuple[str, bool]]:
    """Find names, each with whether it is a single word that begins a sentence."""
    return ((name.text, name.starter) for name in find_names(text) if not name.capitals)
