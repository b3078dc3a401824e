"""A look at the words of a Cypher query: could it write? A second lock beside the server's own plan, so it errs on the side of yes."""

from __future__ import annotations

import re

# Order matters: what a string, a comment or a quoted name holds is no keyword, and `1.` is a number and no property access.
_TOKEN = re.compile(
    r"""
      (?P<skip>   \s+ | //[^\n]* | /\*.*?\*/ )
    | (?P<quoted> '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*` )
    | (?P<number> \d\w*(?:\.\d\w*)? )
    | (?P<word>   [^\W\d]\w* )
    | (?P<sign>   . )
    """,
    re.VERBOSE | re.DOTALL,
)
_WRITES = {"ALTER", "CREATE", "DELETE", "DENY", "DETACH", "DROP", "FOREACH", "GRANT", "INSERT", "MERGE", "REMOVE", "REVOKE", "SET"}
# Statements that only tell about the server; Neo4j calls them schema statements, the embedded engine answers them outside its parser.
_ASKS_SERVER = re.compile(
    r"\s*(SHOW\s+DATABASES|CALL\s+dbms\.components\s*\(\s*\))(\s+YIELD\s+[\w\s,*]+?)?(\s+RETURN\s+[\w\s,*]+?)?\s*;?\s*", re.IGNORECASE
)


def may_write(query: str) -> bool:
    """True where a word of the query could begin an update or read a file. `n.set` and `:Set` are names."""
    tokens = _tokens(query)
    before = "", ""
    for (kind, text), (_, following) in zip(tokens, [*tokens[1:], ("", "")], strict=False):
        if kind == "sign" and text in "'\"`":
            return True  # a quote that never ends
        is_name = before in {("sign", "."), ("sign", ":")}
        if kind == "word" and not is_name and (text.upper() in _WRITES or (text.upper(), following.upper()) == ("LOAD", "CSV")):
            return True
        before = kind, text
    return False


def profiles(query: str) -> bool:
    """True where PROFILE stands before the query, which runs it."""
    return "PROFILE" in _preamble(query)


def explains(query: str) -> bool:
    """True where EXPLAIN stands before the query, which then does not run."""
    return "EXPLAIN" in _preamble(query)


def asks_server(query: str) -> bool:
    """True for `SHOW DATABASES` and `CALL dbms.components()`."""
    return _ASKS_SERVER.fullmatch(query) is not None


def _preamble(query: str) -> set[str]:
    """The words before the first clause: `CYPHER 5 runtime=slotted EXPLAIN ...`."""
    found: set[str] = set()
    tokens = [*_tokens(query), ("", "")]
    position = 0
    while position < len(tokens) - 1:
        kind, text = tokens[position]
        if tokens[position + 1] == ("sign", "="):
            position += 3  # an option
        elif kind == "number" or text.upper() in {"CYPHER", "EXPLAIN", "PROFILE"}:
            found.add(text.upper())
            position += 1
        else:
            break
    return found


def _tokens(query: str) -> list[tuple[str, str]]:
    return [(match.lastgroup or "", match[0]) for match in _TOKEN.finditer(query) if match.lastgroup != "skip"]
