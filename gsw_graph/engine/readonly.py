"""A look at a Cypher query before it runs: does it only read the memory? A second lock beside the server's
own verdict, so it errs on the side of no.

Read-only means: nothing changed, nothing read but the memory, nothing sent, nobody disturbed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gsw_graph.values import word_set

# Order matters: what a string, a comment or a quoted name holds is no keyword, and `1.` is a number and no
# property access. Signs beyond ASCII are skipped, so that none of them can stand between two words that
# belong together.
TOKEN = re.compile(
    r"""
      (?P<skip>   \s+ | //[^\r\n]* | /\*.*?\*/ | [^\w\x21-\x7e] )
    | (?P<quoted> '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*` )
    | (?P<number> \d\w*(?:\.\d\w*)? )
    | (?P<word>   [^\W\d]\w* )
    | (?P<sign>   . )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\u", re.IGNORECASE)  # a server may decode it before it reads words
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029]")  # servers differ in what these end
_WRITES = word_set("ALTER CREATE DELETE DENY DETACH DROP FOREACH GRANT INSERT MERGE REMOVE REVOKE SET")
_FORBIDDEN = {"TERMINATE": "end what others run", "USE": "leave the database of the memory"}
# Statements that only tell about the server; Neo4j calls them schema statements, the embedded engine answers
# them outside its parser.
_ASKS_SERVER = re.compile(
    r"\s*(SHOW\s+DATABASES|CALL\s+dbms\.components\s*\(\s*\))(\s+YIELD\s+[\w\s,*]+?)?(\s+RETURN\s+[\w\s,*]+?)?\s*;?\s*",
    re.IGNORECASE,
)
# Neo4j calls procedures READ that clear statistics and plans, so its word alone is not enough.
PROCEDURES = word_set(
    "db.index.fulltext.listAvailableAnalyzers db.index.fulltext.queryNodes "
    "db.index.fulltext.queryRelationships db.index.vector.queryNodes db.index.vector.queryRelationships "
    "db.info db.labels db.ping db.propertyKeys db.relationshipTypes db.schema.nodeTypeProperties "
    "db.schema.relTypeProperties db.schema.visualization"
)
# Those of the embedded engine beside them; it knows each by the name of APOC too.
_EMBEDDED_PROCEDURE = re.compile(r"(?:apoc\.)?(?:algo|meta|path)\.\w+", re.IGNORECASE)
# Functions of the server itself; others belong to plugins, and one of these may call a service.
_FUNCTIONS = word_set("date datetime duration localdatetime localtime point time vector")
_NAME = r"(?:[^\W\d]\w*|`[^`]*`)"
_CALLED = re.compile(rf"(?:\b(CALL) )?({_NAME}(?: \. {_NAME})*)( \()?", re.IGNORECASE)
# What may stand before the first clause, its tokens with a space between them.
_PREAMBLE = re.compile(r"(?:(?:CYPHER|EXPLAIN|PROFILE|[\d.]+|\w+ = \w+)(?: |\Z))*", re.IGNORECASE)
# Steps of a Neo4j plan that read rows of the graph or work on rows, without "@neo4j" and what is in
# brackets.
_OPERATOR = re.compile(
    r"""
      \w*(?:Scan|Seek|SeekByRange|CountFromCountStore|Search|Lookup|Expand|HashJoin|Join|Aggregation|Distinct|Limit|Sort|Top|Union|Unwind)
    | (?!Transaction|Foreach)\w*Apply | Top1WithTies | (?:Repeat|BidirectionalRepeat)\w* | \w*Shortest\w* | PathPropagatingBFS | Triadic\w+
    | Argument | AssertSame\w+ | Cache\w+ | CartesianProduct | Eager | EmptyResult | EmptyRow | ErrorPlan | Filter | Input | NullifyMetadata | Optional
    | PreserveOrder | ProcedureCall | ProduceResults? | Projection | ProjectEndpoints | Prober | RemoteBatchProperties\w* | Skip
    | Show(?:Constraints|Functions|Indexes|Procedures)
    """,
    re.VERBOSE,
)


def read_only_violation(query: str) -> str | None:
    """Return words of a query that may do more than read the memory; None if there are none. `n.set` and
    `:Set` are names."""
    if _ESCAPE.search(query):
        return (
            "the query has an escape such as \\u0041, behind which anything may stand (write the "
            "letter "
            "itself, or give it as a parameter)"
        )
    if _UNSEEN.search(query):
        return "the query has control characters, behind which anything may stand"
    tokens = _tokens(query)
    followings = [text.upper() for _, text in tokens[1:]]
    before = ""
    for (kind, text), following in zip(tokens, [*followings, ""], strict=False):
        word = text.upper()
        if kind == "sign" and text in "'\"`":
            return "the query has a quote that never ends"
        if kind == "word" and before not in (".", ":"):
            if word in _WRITES:
                return "the query may change the memory"
            if word == "LOAD" and following == "CSV":
                return "the query would read a file or a page of the web (LOAD CSV)"
            if word in _FORBIDDEN:
                return f"the query would {_FORBIDDEN[word]} ({word})"
        before = text
    return None


def unknown_function(query: str) -> str | None:
    """Return the name of a function with a namespace that is not the server's own, such as
    `genai.vector.encode`; None without one."""
    for parts, by_call in _called(query):
        if not by_call and len(parts) > 1 and parts[0].lower() not in _FUNCTIONS:
            return ".".join(parts)
    return None


def unknown_to_embedded(query: str) -> str | None:
    """Return the name of a procedure or function of the embedded engine that may do more than read, which its
    parser does not show: `do.when` runs a query in a string. Return None without one."""
    for parts, by_call in _called(query):
        name = ".".join(parts)
        if by_call and name not in PROCEDURES and not _EMBEDDED_PROCEDURE.fullmatch(name):
            return name
        if len(parts) > 1 and parts[0].lower() == "sql":
            return name
    return None


def _called(query: str) -> Iterator[tuple[list[str], bool]]:
    """Return the names, taken apart at their dots, that an opening bracket or CALL makes procedures and
    functions, and whether it is CALL."""
    text = " ".join("''" if text[0] in "'\"" else text for _, text in _tokens(query))
    for call, name, bracket in _CALLED.findall(text):
        if call or bracket:
            parts: list[str] = []
            for quoted in name.split(" . "):
                parts += quoted.strip("`").split(".")
            yield parts, bool(call)


def unknown_step(plan: Mapping[str, Any]) -> str | None:
    """Return the first step of a Neo4j plan that is not known to only read, a procedure by its name; None if
    all are known."""
    steps = [plan]  # not recursive: a plan may be thousands of steps deep
    while steps:
        step = steps.pop()
        name = re.split(r"[@(]", str(step.get("operatorType", "")))[0]
        if not _OPERATOR.fullmatch(name):
            return name
        if name == "ProcedureCall":
            details = str((step.get("args") or {}).get("Details", ""))
            procedure = details.partition("(")[0].strip()
            if procedure not in PROCEDURES:
                return procedure
        steps += step.get("children") or ()
    return None


def asks_server(query: str) -> bool:
    """Return whether this is `SHOW DATABASES` or `CALL dbms.components()`."""
    return _ASKS_SERVER.fullmatch(query) is not None


def preamble(query: str) -> set[str]:
    """Return the words before the first clause in capitals: `CYPHER 5 runtime=slotted EXPLAIN ...`."""
    match = _PREAMBLE.match(" ".join(text for _, text in _tokens(query)))
    return set(match[0].upper().split()) if match else set()


def _tokens(query: str) -> list[tuple[str, str]]:
    return [(match.lastgroup or "", match[0]) for match in TOKEN.finditer(query) if match.lastgroup != "skip"]


def hides_signs(query: str) -> bool:
    """Return whether a server may read other signs in the query than stand there."""
    return _ESCAPE.search(query) is not None or _UNSEEN.search(query) is not None
