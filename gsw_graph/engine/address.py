"""Parse where a memory is: a folder or the address of a server, and the name of the memory in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit, urlunsplit

from gsw_graph.errors import EngineError, InputError

MARKER = "gswgraph.json"  # says that a folder is ours; written first
LOG = "engine.log"
_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_NAME = re.compile(r"(?=.{1,40}\Z)[a-z0-9]+(?:_[a-z0-9]+)*")  # which ends labels, types and names of indexes
_PARAMETERS = ("memory", "policy")  # of an address; the second is for a cluster, which routes by it


def split_address(address: str) -> tuple[str, str]:
    """Return the address of a database and the name of a memory in it: `bolt://host/?memory=notes`. The name
    is empty for the default memory. Raises InputError for an invalid name, and for an unknown parameter."""
    place, _, query = address.rpartition("?")
    options = query.split("&")
    names_memory = any(option.startswith("memory=") for option in options)
    if not place or ("/" in query and not names_memory):  # a folder with a question mark in its path
        return address, ""
    name = ""
    others = []
    for option in options:
        key, equals, value = option.partition("=")
        if equals and key not in _PARAMETERS:  # it would be passed over, or become part of a folder's name
            raise InputError(
                f"the address has an unknown parameter {key!r}",
                where=place,
                hint="Name a memory of this database by ?memory=NAME, another database by NEO4J_DATABASE",
            )
        if equals and key == "memory":
            check_name(value, place)
            name = value
        else:
            others.append(option)
    if not name:
        return address, ""
    rest = "&".join(others)
    return f"{place}?{rest}" if rest else place, name


def check_name(name: str, where: str | None = None) -> None:
    """Raise InputError if a text is not a valid name of a memory."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} is no name of a memory",
            where=where,
            hint="Use small letters, digits and single underscores, 40 at most: ?memory=my_notes",
        )


def check_address(memory: str) -> None:
    """Raise EngineError for a broken url such as `bolt:/host`, which would otherwise be a folder."""
    scheme = re.match(r"(bolt|neo4j|https?)(\+s|\+ssc)?:(?!//)", memory, re.IGNORECASE)
    if scheme:
        hint = f"Use bolt://HOST:7687, or ./{memory} for a folder of that name"
        raise EngineError(
            f"{scheme[0]} begins the address of a server, which needs two slashes", where=memory, hint=hint
        )


@dataclass(frozen=True, slots=True)
class Address:
    """Hold the parts of a url. `url` has no user and no password."""

    url: str
    scheme: str
    host: str
    port: int
    username: str | None
    password: str | None
    database: str | None


def parse(url: str) -> Address:
    """Parse a `bolt://` or `neo4j://` url. It may have a user, a password and a database, which the driver
    refuses."""
    scheme, _, rest = url.strip().partition("://")
    scheme = scheme.lower()
    # from the right, because a password may hold any sign
    login, _, place = rest.rpartition("@")
    shown = f"{scheme}://{place}"
    if scheme not in _SCHEMES:
        raise EngineError(
            f"{scheme}:// is no address of a Neo4j server",
            where=shown,
            hint="Use bolt://HOST:7687 or neo4j://HOST:7687",
        )
    username, colon, password = login.partition(":")
    try:
        parts = urlsplit(f"//{place}")
        host, port = parts.hostname, parts.port or 7687
    except ValueError as error:
        raise EngineError(f"the address cannot be read ({error})", where=shown) from error
    if not host:
        raise EngineError("the address names no host", where=shown, hint="Use bolt://HOST:7687")
    return Address(
        url=urlunsplit((scheme, parts.netloc, "", parts.query, "")),
        scheme=scheme,
        host=host,
        port=port,
        username=unquote(username) or None,
        password=unquote(password) if colon else None,
        database=parts.path.strip("/") or None,
    )
