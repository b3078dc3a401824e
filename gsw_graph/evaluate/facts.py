"""What a report says of its circumstances: the memory, the settings without their secrets, the versions."""

from __future__ import annotations

import platform
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from gsw_graph import __version__

if TYPE_CHECKING:
    from gsw_graph.config import Settings

_PACKAGES = (
    "arcadedb-embedded",
    "neo4j",
    "numpy",
    "openai",
    "onnxruntime",
    "scipy",
    "sentence-transformers",
    "torch",
)


def versions() -> dict[str, str]:
    """Versions of gswgraph, Python and the packages that figures depend on, of those that are installed."""
    found = {"gswgraph": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def shown(settings: Settings) -> dict[str, Any]:
    """The settings in JSON types: no key, no password, none in a url."""
    found = {field.name: getattr(settings, field.name) for field in fields(settings) if field.repr}
    return {
        name: public(value) if isinstance(value, str) else str(value) if isinstance(value, Path) else value
        for name, value in found.items()
    }


def public(text: str) -> str:
    """A url without user, password, query and fragment, any of which may hold a key; any other text as it
    is."""
    if "://" not in text:
        return text
    try:
        parts = urlsplit(text)
    except ValueError:  # no url that can be taken apart
        return text.partition("://")[0] + "://***"
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))
