"""Keep a statement of people inside its memory, if the database holds others too.

The statement is read token by token. A pattern is read strictly, by the grammar of patterns: each of its nodes is
given a label of the memory, and a part that cannot be read is an error. Expressions are only searched for what begins
a pattern or names a label, because no other expression brings nodes into a query; procedures are those that are known.
So a statement errs on the side of an error, and never on the side of another memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from gsw_graph.cypher import LABELS, TYPES
from gsw_graph.engine import readonly
from gsw_graph.errors import InputError
from gsw_graph.store.space import Space

_STARTS = frozenset(
    "CALL CREATE FILTER FINISH FOR FOREACH INSERT LET LOAD MATCH MERGE OPTIONAL RETURN UNWIND WITH".split()
)
# What ends the items of RETURN, but words that are usual names.
_AFTER_ITEMS = frozenset(
    "CALL CREATE DELETE DETACH FOREACH INSERT LIMIT MATCH MERGE NODETACH OFFSET OPTIONAL ORDER REMOVE RETURN SET SKIP "
    "UNION UNWIND USE WHERE WITH YIELD".split()
)
_AFTER_PATTERN = _STARTS | _AFTER_ITEMS | frozenset(["", ")", "}", ";", "|", "NEXT", "ON", "USING"])
_NO_ALIAS = frozenset("CALL CREATE INSERT MATCH MERGE RETURN UNION USE WITH".split())
_SELECTORS = frozenset("ALL ANY GROUP GROUPS PATH PATHS SHORTEST".split())
_MODES = frozenset("DIFFERENT ELEMENT ELEMENTS RELATIONSHIP RELATIONSHIPS REPEATABLE".split())
_SHORTEST = ("SHORTESTPATH", "ALLSHORTESTPATHS")
_AFTER_IS = frozenset([":", *"NULL NOT NFC NFD NFKC NFKD NORMALIZED TYPED".split()])
_NO_OPERAND = _AFTER_ITEMS | frozenset(
    "ALL AND AS BY CASE CONTAINS DISTINCT ELSE ENDS FOR FROM HEADERS IN IS LET NOT ON OR STARTS THEN USING WHEN XOR".split()
)
_INDEXES = frozenset("BTREE CONSTRAINT CONSTRAINTS FULLTEXT INDEX INDEXES POINT RANGE TEXT UNIQUE VECTOR".split())
_LISTS = {"db.labels": "label", "db.relationshipTypes": "relationshipType"}
_SEARCHES = frozenset(
    f"db.index.{kind}.query{what}" for kind in ("fulltext", "vector") for what in ("Nodes", "Relationships")
)
_PROCEDURES = frozenset(
    [
        *("db.awaitIndex", "db.awaitIndexes", "db.index.fulltext.listAvailableAnalyzers", "db.info", "db.ping"),
        *("db.create.setNodeVectorProperty", "db.create.setRelationshipVectorProperty", "dbms.components"),
    ]
)
_SHOWN = re.compile(r"SHOW (?:ALL )?(?:INDEX|INDEXES|CONSTRAINT|CONSTRAINTS|DATABASES|FUNCTIONS|PROCEDURES)(?: ;)?")
_DEPTH = 100
_HINT = "See docs/neo4j.md, Several memories in one database"


@dataclass(frozen=True, slots=True)
class Confined:
    """A statement that stays inside its memory. columns: the names of columns as they were written, by place."""

    text: str
    columns: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int

    @property
    def upper(self) -> str:
        return self.text.upper() if self.kind == "word" else self.text

    @property
    def is_name(self) -> bool:
        return self.kind == "word" or self.text.startswith("`")

    @property
    def name(self) -> str:
        return self.text.strip("`")


@dataclass(frozen=True, slots=True)
class _Names:
    """The labels or types of a pattern: the tokens from `start` to before `end`. own: each is of the memory. positive:
    one of them is there in any case."""

    start: int
    end: int
    own: bool
    positive: bool


@dataclass(frozen=True, slots=True)
class _Item:
    """What is returned: the tokens from `start` to before `end`; its name, if it has one."""

    start: int
    end: int
    name: str | None


def confine(query: str, space: Space) -> Confined:
    """Return the statement with what keeps it inside a memory.

    Raises:
        InputError: It names what belongs to another memory, or it cannot be kept inside.
    """
    try:
        return _Statement(query, space).confined()
    except RecursionError as error:
        raise _refusal("it is nested too deep") from error


def _refusal(reason: str, hint: str = _HINT) -> InputError:
    return InputError(f"the query cannot be kept inside its memory: {reason}", hint=hint)


def _tokens(query: str) -> list[_Token]:
    tokens = []
    for match in readonly.TOKEN.finditer(query):
        kind, text = match.lastgroup or "", match[0]
        if kind == "skip" and not text.startswith(("/*", "//")) and (not text.isascii() or not text.isspace()):
            raise _refusal(f"the sign {text!r} stands outside of texts")
        if kind == "sign" and text in "'\"`":
            raise _refusal("a quote never ends")
        if kind != "skip":
            tokens.append(_Token(kind, text, *match.span()))
    end = len(query)
    return [*tokens, _Token("end", "", end, end)]


def _partners(tokens: list[_Token]) -> dict[int, int]:
    """Return for each opening bracket the place of its closing one."""
    closing = {"(": ")", "[": "]", "{": "}"}
    partners: dict[int, int] = {}
    opened: list[int] = []
    for place, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        if token.text in closing:
            opened.append(place)
        elif token.text in closing.values():
            if not opened or closing[tokens[opened[-1]].text] != token.text:
                raise _refusal(f"a bracket is missing before {token.text}")
            partners[opened.pop()] = place
        if len(opened) > _DEPTH:
            raise _refusal("it is nested too deep")
    if opened:
        raise _refusal(f"a {tokens[opened[-1]].text} is not closed")
    return partners


class _Statement:
    """A statement while it is read. Methods take the place of a token and return the place after what they read."""

    def __init__(self, query: str, space: Space) -> None:
        self.query, self.space = query, space
        if readonly.hides_signs(query):
            raise _refusal("it has an escape such as \\u0041, or a control character")
        self.tokens = _tokens(query)
        self.partners = _partners(self.tokens)
        self.edits: list[tuple[int, int, str]] = []
        self.bound: set[str] = set()  # variables that a clause before this one brought
        self.first: list[set[str]] = [set()]  # of them those at the begin of each open subquery
        self.inside = [""]  # the open brackets
        self.returned: list[_Item] = []
        self.clauses: dict[str, Callable[[int], int]] = {
            "AS": self._as,
            "CALL": self._call,
            "CREATE": self._create,
            "FOREACH": self._foreach,
            "INSERT": self._create,
            "IS": self._is,
            "LABELS": self._labels_function,
            "MATCH": self._match,
            "MERGE": self._merge,
            "RETURN": self._return,
            "TYPE": self._type_function,
            "UNION": self._union,
            "USE": self._use,
            "WITH": self._with,
            "YIELD": self._yield,
        }

    def confined(self) -> Confined:
        """Read the statement and return it confined."""
        at = self._preamble()
        word = self._upper(at)
        if word == "SHOW":
            self._show(at)
        elif word in ("CREATE", "DROP") and self._is_schema(at):
            self._schema(at)
        elif word in _STARTS:
            self._scan(at, len(self.tokens) - 1)
            self._check_functions()
        else:
            raise _refusal(f"{self.tokens[at].text or 'it'} begins no clause that is known")
        return Confined(self._edited(0, len(self.query)), self._columns())

    # What is there

    def _upper(self, at: int) -> str:
        return self.tokens[at].upper if 0 <= at < len(self.tokens) else ""

    def _is_name(self, at: int) -> bool:
        return at < len(self.tokens) and self.tokens[at].is_name

    def _refuse(self, at: int) -> InputError:
        begin = self.tokens[min(at, len(self.tokens) - 1)].start
        return _refusal(f"its pattern cannot be read at {self.query[begin : begin + 30]!r}")

    def _ends_operand(self, at: int) -> bool:
        """Return whether an expression may end at a place."""
        token = self.tokens[at]
        return token.upper not in _NO_OPERAND and (token.kind != "sign" or token.text in (")", "]", "}"))

    def _expect(self, at: int, *signs: str) -> int:
        for number, sign in enumerate(signs):
            if self._upper(at + number) != sign:
                raise self._refuse(at + number)
        return at + len(signs)

    def _insert(self, place: int, text: str) -> None:
        self.edits.append((place, place, text))

    def _edited(self, start: int, end: int) -> str:
        parts: list[str] = []
        for begin, stop, text in sorted(self.edits, key=lambda edit: edit[0]):
            if start <= begin and stop <= end:
                parts += [self.query[start:begin], text]
                start = stop
        return "".join([*parts, self.query[start:end]])

    def _columns(self) -> dict[int, str]:
        """Return what was written for the columns whose text is another one now."""
        columns: dict[int, str] = {}
        for place, item in enumerate(self.returned):
            start, end = self.tokens[item.start].start, self.tokens[item.end - 1].end
            written = self.query[start:end]
            if item.name is None and self._edited(start, end) != written:
                columns[place] = written
        return columns

    # Clauses and expressions

    def _preamble(self) -> int:
        at = 0
        while self._upper(at) in ("EXPLAIN", "PROFILE", "CYPHER"):
            at += 1
            while self.tokens[at].kind == "number" or self._upper(at) == ".":
                at += 1
            while self._is_name(at) and self._upper(at + 1) == "=":
                at += 3
        return at

    def _scan(self, at: int, end: int) -> None:
        while at < end:
            at = self._step(at)
        if at != end:
            raise self._refuse(end)

    def _step(self, at: int) -> int:
        token = self.tokens[at]
        if token.is_name:
            return self._word(at)
        if token.kind != "sign":
            return at + 1
        if token.text in ("(", "[", "{"):
            return self._bracket(at)
        if token.text == ":":
            return self._colon(at)
        if token.text == ".":
            return self._property(at)
        if token.text == "$":
            return self._parameter(at)
        return at + 1

    def _word(self, at: int) -> int:
        if self._is_key(at):
            return at + 2
        word = self._upper(at)
        if word in ("EXISTS", "COUNT", "COLLECT") and self._upper(at + 1) == "{":
            return self._subquery(at + 1, self.bound, returns=False)
        clause = self.clauses.get(word)
        return clause(at) if clause else at + 1

    def _is_key(self, at: int) -> bool:
        """Return whether a word is a key of a map."""
        begins = self.inside[-1] == "{" and self._upper(at - 1) in ("{", ",")
        return begins and self._upper(at + 1) == ":" and self._upper(at + 2) != ":"

    def _property(self, at: int) -> int:
        before = self.tokens[at - 1]
        if not self._is_name(at + 1) or before.text == ".":
            return at + 1
        if before.kind == "number":
            raise _refusal("a number ends in a point")
        return at + 2

    def _parameter(self, at: int) -> int:
        if not self._is_name(at + 1) and self.tokens[at + 1].kind != "number":
            raise _refusal("a label or type is computed", "Write it, as in (d:Document)")
        return at + 2

    def _bracket(self, at: int) -> int:
        """Read a bracket in an expression: it may be the first node of a pattern."""
        close = self.partners[at]
        if self.tokens[at].text == "(" and self._begins_relationship(close + 1):
            outer = set(self.bound)  # which keeps its variables to itself
            at = self._path(at, "MATCH")
            self.bound = outer
            return at
        if self.tokens[at].text == "{":
            return self._map(at)
        self.inside.append(self.tokens[at].text)
        self._scan(at + 1, close)
        self.inside.pop()
        return close + 1

    def _map(self, at: int) -> int:
        close = self.partners[at]
        if not (self._is_name(at + 1) or self._upper(at + 1) in (".", "}")):
            raise self._refuse(at + 1)
        if self._upper(at + 1) in _STARTS and self._upper(at + 2) not in (":", ",", "}"):
            raise self._refuse(at + 1)
        self.inside.append("{")
        self._scan(at + 1, close)
        self.inside.pop()
        return close + 1

    def _subquery(self, at: int, bound: set[str], *, returns: bool) -> int:
        """Read `{ ... }` with clauses in it, or with a pattern alone."""
        close, outer = self.partners[at], self.bound
        self.bound = set(bound)
        self.first.append(set(bound))
        self.inside.append("")
        begin = at + 1
        if self._upper(begin) not in _STARTS or self._upper(begin + 1) == "=":
            begin = self._patterns(begin, "MATCH")
        self._scan(begin, close)
        self.inside.pop()
        self.first.pop()
        self.bound = outer | self.bound if returns else outer
        return close + 1

    def _as(self, at: int) -> int:
        if self._upper(at + 1) in _NO_ALIAS and not self._ends_operand(at - 1):
            raise _refusal(f"{self.tokens[at + 1].text} is a word of Cypher and no name", "Choose another name")
        if self._is_name(at + 1):
            self.bound.add(self.tokens[at + 1].name)
            return at + 2
        return at + 1

    def _is(self, at: int) -> int:
        if self._upper(at + 1) in _AFTER_IS:
            return at + 1
        return self._names(at + 1).end

    def _colon(self, at: int) -> int:
        if self._upper(at + 1) == ":":  # a type of values
            return at + 2
        return self._names(at + 1).end

    def _labels_function(self, at: int) -> int:
        """Have `labels(n)` give the labels as they are written in the memory."""
        if self.space.memory and self._upper(at + 1) == "(" and self._upper(at - 1) != ".":
            close = self.tokens[self.partners[at + 1]].end
            self._insert(self.tokens[at].start, "[gsw_label IN ")
            self._scan(at + 1, self.partners[at + 1] + 1)
            self._insert(close, f" | replace(gsw_label, '{self.space.end}', '')]")
            return self.partners[at + 1] + 1
        return at + 1

    def _type_function(self, at: int) -> int:
        if self.space.memory and self._upper(at + 1) == "(" and self._upper(at - 1) != ".":
            close = self.tokens[self.partners[at + 1]].end
            self._insert(self.tokens[at].start, "replace(")
            self._scan(at + 1, self.partners[at + 1] + 1)
            self._insert(close, f", '{self.space.end}', '')")
            return self.partners[at + 1] + 1
        return at + 1

    def _use(self, at: int) -> int:
        raise _refusal("USE leaves its database")

    def _union(self, at: int) -> int:
        self.bound = set(self.first[-1])
        return at + 1

    def _foreach(self, at: int) -> int:
        if self._is_name(at + 2):
            self.bound.add(self.tokens[at + 2].name)
        return at + 1

    def _with(self, at: int) -> int:
        if self._upper(at - 1) in ("STARTS", "ENDS") and self._ends_operand(at - 2):
            return at + 1
        if self._upper(at - 1) == "CSV" and self._upper(at - 2) == "LOAD":
            return at + 1
        items, every = self._items(at + 1)
        names = {item.name or self._single(item) for item in items}
        self.bound = (self.bound | names if every else names) - {""}
        return at + 1

    def _return(self, at: int) -> int:
        items, every = self._items(at + 1)
        if not every:
            self.bound = {item.name or self._single(item) for item in items} - {""}
        if len(self.first) == 1:
            self.returned = [] if every else items
        return at + 1

    def _yield(self, at: int) -> int:
        items, _ = self._items(at + 1)
        self.bound |= {item.name or self._single(item) for item in items} - {""}
        return at + 1

    def _items(self, at: int) -> tuple[list[_Item], bool]:
        """Return what WITH, RETURN or YIELD names, and whether it names all by `*`."""
        items: list[_Item] = []
        every = False
        if self._upper(at) == "DISTINCT":
            at += 1
        begin, name = at, None
        while True:
            token = self.tokens[at]
            is_property = self._upper(at - 1) == "."
            ends = token.kind == "end" or token.text in ("}", ")", ";") or token.upper in _AFTER_ITEMS
            if ends and self._upper(at - 1) in ("STARTS", "ENDS"):
                ends = False
            if token.text == "," or (ends and not is_property):
                if self._upper(begin) == "*":
                    every = True
                elif at > begin:
                    items.append(_Item(begin, at, name))
                begin, name = at + 1, None
            if ends and not is_property:
                return items, every
            if token.upper == "AS" and self._is_name(at + 1):
                name = self.tokens[at + 1].name
                at += 1
            at = self.partners.get(at, at) + 1

    def _single(self, item: _Item) -> str:
        token = self.tokens[item.start]
        return token.name if item.end == item.start + 1 and token.is_name else ""

    def _match(self, at: int) -> int:
        if self._upper(at - 1) == "ON" and self._upper(at + 1) == "SET" and self._upper(at + 2) != "=":
            return at + 1
        at += 1
        while self._upper(at) in _MODES and self._upper(at + 1) != "=":
            at += 1
        return self._patterns(at, "MATCH")

    def _create(self, at: int) -> int:
        if self._upper(at - 1) == "ON" and self._upper(at + 1) == "SET" and self._upper(at + 2) != "=":
            return at + 1
        return self._patterns(at + 1, "CREATE")

    def _merge(self, at: int) -> int:
        return self._patterns(at + 1, "MERGE")

    # Patterns

    def _patterns(self, at: int, clause: str) -> int:
        at = self._part(at, clause)
        while self._upper(at) == ",":
            at = self._part(at + 1, clause)
        if self._upper(at) not in _AFTER_PATTERN:
            raise self._refuse(at)
        return at

    def _part(self, at: int, clause: str) -> int:
        if self._is_name(at) and self._upper(at + 1) == "=":
            at += 2
        while self._upper(at) in _SELECTORS or self.tokens[at].kind == "number":
            at += 1
        if self._upper(at) in _SHORTEST:
            at = self._path(self._expect(at + 1, "("), clause)
            return self._expect(at, ")")
        return self._path(at, clause)

    def _path(self, at: int, clause: str) -> int:
        at = self._factor(at, clause)
        while True:
            if self._begins_relationship(at):
                at = self._factor(self._relationship(at), clause)
            elif self._upper(at) == "(":
                at = self._factor(at, clause)
            else:
                return at

    def _begins_relationship(self, at: int) -> bool:
        at += self._upper(at) == "<"
        return self._upper(at) == "-" and self._upper(at + 1) in ("-", "[")

    def _factor(self, at: int, clause: str) -> int:
        """Read a node, or a path in brackets that may be repeated."""
        self._expect(at, "(")
        close = self.partners[at]
        begin = at + 1
        if self._upper(begin) != "(" and not (self._is_name(begin) and self._upper(begin + 1) == "="):
            return self._node(at, clause)
        end = self._condition(self._part(begin, clause), close)
        return self._quantifier(self._expect(end, ")"))

    def _condition(self, at: int, close: int) -> int:
        """Read WHERE up to a closing bracket, if it is there."""
        if self._upper(at) == "WHERE":
            self._scan(at + 1, close)
            return close
        return at

    def _quantifier(self, at: int) -> int:
        if self._upper(at) in ("+", "*"):
            return at + 1
        if self._upper(at) != "{":
            return at
        close = self.partners[at]
        if any(token.kind != "number" and token.text != "," for token in self.tokens[at + 1 : close]):
            raise self._refuse(at)
        return close + 1

    def _variable(self, at: int) -> str | None:
        """Return the variable at a place of a node or relationship; any word may be its name."""
        follows = (")", "]", ":", "*", "{", "$", "WHERE", "IS")
        return self.tokens[at].name if self._is_name(at) and self._upper(at + 1) in follows else None

    def _node(self, at: int, clause: str) -> int:
        close = self.partners[at]
        at += 1
        variable = self._variable(at)
        at += variable is not None
        place, names = self.tokens[at - 1].end, None
        if self._upper(at) in (":", "IS"):
            names = self._names(at + 1, LABELS)
            at = names.end
        at = self._condition(self._properties(at), close)
        self._expect(at, ")")
        if clause == "MATCH":
            self._guard(place, names)
        else:
            self._check_new(clause, variable, names)
        if variable is not None:
            self.bound.add(variable)
        return at + 1

    def _properties(self, at: int) -> int:
        if self._upper(at) == "{":
            return self._map(at)
        return self._parameter(at) if self._upper(at) == "$" else at

    def _guard(self, place: int, names: _Names | None) -> None:
        if names is None:
            self._insert(place, f":{self.space.guard}")
        elif not (names.own and names.positive):
            first, last = self.tokens[names.start], self.tokens[names.end - 1]
            self._insert(first.start, "(")
            self._insert(last.end, f")&({self.space.guard})")
            for token in self.tokens[names.start : names.end]:
                if token.text == ":":
                    self.edits.append((token.start, token.end, "&"))

    def _check_new(self, clause: str, variable: str | None, names: _Names | None) -> None:
        """Check a node of CREATE or MERGE: a new one is of the memory, and one that is found too."""
        if names is not None:
            if not names.positive:
                raise self._refuse(names.start)
        elif variable not in self.bound and (clause == "MERGE" or self.space.memory):
            raise _refusal(f"a node of {clause} has no label", "Give it one, as in (d:Document {...})")

    def _relationship(self, at: int) -> int:
        at += self._upper(at) == "<"
        at = self._expect(at, "-")
        place, names, long, brackets = self.tokens[at - 1].end, None, False, self._upper(at) == "["
        if brackets:
            close = self.partners[at]
            at += 1
            at += self._variable(at) is not None
            place = self.tokens[at - 1].end
            if self._upper(at) in (":", "IS"):
                names = self._names(at + 1, TYPES)
                at = names.end
            if self._upper(at) == "*":
                long = True
                at += 1
                while self.tokens[at].kind == "number" or self._upper(at) == ".":
                    at += 1
            at = self._expect(self._condition(self._properties(at), close), "]")
        at = self._expect(at, "-")
        at += self._upper(at) == ">"
        end = self._quantifier(at)
        if long or end != at:
            self._keep_inside(place, names, brackets=brackets)
        return end

    def _keep_inside(self, place: int, names: _Names | None, *, brackets: bool) -> None:
        """Have a path of any length go along relationships of the memory alone: no label reaches its inner nodes."""
        if names is None:
            self._insert(place, f":{self.space.types}" if brackets else f"[:{self.space.types}]")
        elif not (names.own and names.positive):
            raise _refusal(
                "a path of any length follows a type that is not of the memory",
                "Write its step as a pattern that is repeated: ((x)-[:TYPE]->(y)){1,3}",
            )

    # Names

    def _names(self, at: int, bases: tuple[str, ...] = LABELS + TYPES) -> _Names:
        """Read labels or types, as in `A|B&!C`, and write them in full."""
        start, depth, operand = at, 0, True
        own = positive = True
        while True:
            text = self._upper(at)
            if operand and text in ("!", "%"):
                positive, operand = False, text == "!"
            elif operand and text == "(":
                depth += 1
            elif operand and text == "$":
                raise _refusal("a label or type is computed", "Write it, as in (d:Document)")
            elif operand and self._is_name(at):
                own = self._name(at, bases) and own
                operand = False
            elif operand:
                if not (text == ":" and self._upper(at - 1) == "|"):
                    raise self._refuse(at)
            elif text in ("&", "|", ":") and self._goes_on(at):
                operand = True
            elif text == ")" and depth:
                depth -= 1
            else:
                return _Names(start, at, own, positive)
            at += 1

    def _goes_on(self, at: int) -> bool:
        """Return whether names go on: `|` in a list may begin what is made of each element."""
        if self.inside[-1] != "[" or self._upper(at) != "|":
            return True
        name = self.tokens[at + 1].name
        return name.partition("__")[0] in LABELS

    def _name(self, at: int, bases: tuple[str, ...]) -> bool:
        """Write a label or type in full; return whether it is of the memory."""
        token, space = self.tokens[at], self.space
        if space.is_of_other(token.name):
            raise InputError(
                f"{token.name} is of another memory", hint="Open that one: --memory with ?memory=NAME"
            )
        if space.is_own(token.name, bases):
            if space.in_full(token.name) != token.name:
                self._insert(token.end - token.text.endswith("`"), space.end)
            return True
        if space.memory and bases is not TYPES:
            raise _refusal(
                f"it has no label {token.name}",
                f"Use those of the memory ({', '.join(LABELS[:4])} ...); your own nodes are in the default memory",
            )
        return False

    # Procedures, schema, lists

    def _call(self, at: int) -> int:
        at += 1
        if self._upper(at) == "{":
            return self._subquery(at, set(), returns=True)
        if self._upper(at) == "(" and self._upper(self.partners[at] + 1) == "{":
            close = self.partners[at]
            listed = self.tokens[at + 1 : close]
            every = any(token.text == "*" for token in listed)
            names = {token.name for token in listed if token.is_name}
            return self._subquery(close + 1, self.bound if every else names, returns=True)
        parts = [self.tokens[at].name]
        while self._upper(at + 1) == ".":
            at += 2
            parts.append(self.tokens[at].name)
        return self._procedure(".".join(parts), at + 1)

    def _procedure(self, name: str, at: int) -> int:
        if name in _SEARCHES:
            index = self.tokens[at + 1]
            if self._upper(at) != "(" or index.kind != "quoted" or self._upper(at + 2) != ",":
                raise _refusal(f"{name} has no name of an index", "Write the name, as in 'passage_text'")
            self._index(at + 1)
        elif name in _LISTS:
            return self._list(name, at)
        elif name not in _PROCEDURES:
            raise _refusal(f"{name} may see the whole database", "Ask by a pattern: MATCH (n) ...")
        return at

    def _list(self, name: str, at: int) -> int:
        """Leave out what is not of the memory where a procedure lists labels or types."""
        column = _LISTS[name]
        at = self._expect(at, "(", ")") if self._upper(at) == "(" else at
        end = self.space.end
        condition = f"WHERE {column} ENDS WITH '{end}'" if end else f"WHERE NOT {column} =~ '{self.space.OTHERS}'"
        if self._upper(at) in ("", ";"):
            self._insert(self.tokens[at - 1].end, f" YIELD {column} {condition} RETURN {column}")
            return at
        self._expect(at, "YIELD")
        if self.tokens[at + 1].text != column or self._upper(at + 2) in ("AS", "WHERE", ",", ";", ""):
            raise _refusal(f"what {name} lists is named or chosen", f"Write CALL {name}() alone")
        self._insert(self.tokens[at + 1].end, f" {condition}")
        self.bound.add(column)
        return at + 2

    def _index(self, at: int) -> None:
        token = self.tokens[at]
        name = token.text.strip("'\"`")
        if self.space.is_index_of_other(name):
            raise InputError(f"the index {name} is of another memory")
        if self.space.in_full(name) != name:
            self._insert(token.end - (token.kind == "quoted"), self.space.end)

    def _is_schema(self, at: int) -> bool:
        return self._upper(at) == "DROP" or not (self._upper(at + 1) == "(" or self._upper(at + 2) == "=")

    def _schema(self, at: int) -> None:
        """Read a statement that makes or drops an index or a constraint."""
        at += 1
        if self._upper(at) == "OR":
            at += 2
        while self._upper(at) in _INDEXES - {"INDEX", "CONSTRAINT"}:
            at += 1
        if self._upper(at) not in ("INDEX", "CONSTRAINT"):
            raise _refusal("it changes more than indexes and constraints")
        at += 1
        if self._is_name(at) and not (self._upper(at) in ("FOR", "IF", "ON") and self._upper(at + 1) != "FOR"):
            self._index(at)
        elif self._upper(at) == "$":
            raise _refusal("the name of the index is a parameter", "Write the name")
        while self.tokens[at].kind != "end":
            if self._upper(at) == ":":
                names = self._names(at + 1)
                if self.space.memory and not names.own:
                    raise _refusal("an index of it is on its own labels and types")
                at = names.end
            else:
                at += 1

    def _show(self, at: int) -> None:
        words = " ".join(token.upper for token in self.tokens[at:-1])
        if not _SHOWN.fullmatch(words) and not readonly.asks_server(self.query):
            raise _refusal("only SHOW INDEXES and SHOW CONSTRAINTS stand alone", "Leave out what follows them")

    def _check_functions(self) -> None:
        if name := readonly.unknown_function(self.query):
            raise _refusal(f"the function {name} may see the whole database")
