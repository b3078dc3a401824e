"""Keep a statement of people inside its memory, if the database holds others too.

The statement is read token by token. A pattern is read strictly, by the grammar of patterns: each of its
nodes is given a label of the memory, and a part that cannot be read is an error. Expressions are only
searched for what begins a pattern or names a label, because no other expression brings nodes into a query;
procedures are those that are known. A statement that is in doubt is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from gsw_graph.engine import readonly
from gsw_graph.errors import InputError
from gsw_graph.store.patterns import AFTER_ITEMS, STARTS, Patterns
from gsw_graph.store.space import Space
from gsw_graph.store.tokens import refusal

_NO_ALIAS = frozenset("CALL CREATE INSERT MATCH MERGE RETURN UNION USE WITH".split())
_MODES = frozenset("DIFFERENT ELEMENT ELEMENTS RELATIONSHIP RELATIONSHIPS REPEATABLE".split())
_AFTER_IS = frozenset([":", *"NULL NOT NFC NFD NFKC NFKD NORMALIZED TYPED".split()])
_NO_OPERAND = AFTER_ITEMS | frozenset(
    "ALL AND AS BY CASE CONTAINS DISTINCT ELSE ENDS FOR FROM HEADERS IN IS LET NOT ON OR STARTS THEN USING "
    "WHEN XOR".split()
)
_INDEXES = frozenset(
    "BTREE CONSTRAINT CONSTRAINTS FULLTEXT INDEX INDEXES POINT RANGE TEXT UNIQUE VECTOR".split()
)
_LISTS = {"db.labels": "label", "db.relationshipTypes": "relationshipType"}
_SEARCHES = frozenset(
    f"db.index.{kind}.query{what}" for kind in ("fulltext", "vector") for what in ("Nodes", "Relationships")
)
_PROCEDURES = frozenset(
    "db.awaitIndex db.awaitIndexes db.create.setNodeVectorProperty db.create.setRelationshipVectorProperty "
    "db.index.fulltext.listAvailableAnalyzers db.info db.ping dbms.components".split()
)
_SHOWN = re.compile(
    r"SHOW (?:ALL )?(?:INDEX|INDEXES|CONSTRAINT|CONSTRAINTS|DATABASES|FUNCTIONS|PROCEDURES)(?: ;)?"
)


@dataclass(frozen=True, slots=True)
class Confined:
    """A statement that stays inside its memory.

    Attributes:
        text: The statement.
        columns: The names of columns as they were written, by place.
    """

    text: str
    columns: dict[int, str] = field(default_factory=dict)


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
        raise refusal("it is nested too deep") from error


class _Statement(Patterns):
    """A statement while it is read."""

    def __init__(self, query: str, space: Space) -> None:
        super().__init__(query, space)
        self.first: list[set[str]] = [set()]  # variables at the begin of each open subquery
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
        elif word in STARTS:
            self._scan(at, len(self.tokens) - 1)
            self._check_functions()
        else:
            raise refusal(f"{self.tokens[at].text or 'it'} begins no clause that is known")
        return Confined(self._edited(0, len(self.query)), self._columns())

    def _ends_operand(self, at: int) -> bool:
        """Return whether an expression may end at a place."""
        token = self.tokens[at]
        return token.upper not in _NO_OPERAND and (token.kind != "sign" or token.text in (")", "]", "}"))

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
            raise refusal("a number ends in a point")
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

    def _subquery(self, at: int, bound: set[str], *, returns: bool) -> int:
        """Read `{ ... }` with clauses in it, or with a pattern alone."""
        close, outer = self.partners[at], self.bound
        self.bound = set(bound)
        self.first.append(set(bound))
        self.inside.append("")
        begin = at + 1
        if self._upper(begin) not in STARTS or self._upper(begin + 1) == "=":
            begin = self._patterns(begin, "MATCH")
        self._scan(begin, close)
        self.inside.pop()
        self.first.pop()
        self.bound = outer | self.bound if returns else outer
        return close + 1

    def _as(self, at: int) -> int:
        if self._upper(at + 1) in _NO_ALIAS and not self._ends_operand(at - 1):
            raise refusal(
                f"{self.tokens[at + 1].text} is a word of Cypher and no name", "Choose another name"
            )
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
        return self._unnamed(at, "[gsw_label IN ", " | replace(gsw_label, $END, '')]")

    def _type_function(self, at: int) -> int:
        return self._unnamed(at, "replace(", ", $END, '')")

    def _unnamed(self, at: int, before: str, after: str) -> int:
        """Put a call of a function into what takes the name of the memory out of its result."""
        if not self.space.memory or self._upper(at + 1) != "(":
            return at + 1
        end = self.partners[at + 1] + 1
        self._insert(self.tokens[at].start, before)
        self._scan(at + 1, end)
        self._insert(self.tokens[end - 1].end, after.replace("$END", f"'{self.space.end}'"))
        return end

    def _use(self, at: int) -> int:  # noqa: ARG002 - as every clause
        raise refusal("USE leaves its database")

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
            ends = token.kind == "end" or token.text in ("}", ")", ";") or token.upper in AFTER_ITEMS
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
                raise refusal(f"{name} has no name of an index", "Write the name, as in 'passage_text'")
            self._index(at + 1)
        elif name in _LISTS:
            return self._list(name, at)
        elif name not in _PROCEDURES:
            raise refusal(f"{name} may see the whole database", "Ask for nodes by a pattern")
        return at

    def _list(self, name: str, at: int) -> int:
        """Leave out what is not of the memory where a procedure lists labels or types."""
        column = _LISTS[name]
        at = self._expect(at, "(", ")") if self._upper(at) == "(" else at
        end = self.space.end
        condition = (
            f"WHERE {column} ENDS WITH '{end}'" if end else f"WHERE NOT {column} =~ '{self.space.OTHERS}'"
        )
        if self._upper(at) in ("", ";"):
            self._insert(self.tokens[at - 1].end, f" YIELD {column} {condition} RETURN {column}")
            return at
        self._expect(at, "YIELD")
        if self.tokens[at + 1].text != column or self._upper(at + 2) in ("AS", "WHERE", ",", ";", ""):
            raise refusal(f"what {name} lists is named or chosen", f"Write CALL {name}() alone")
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
            raise refusal("it changes more than indexes and constraints")
        at += 1
        if self._is_name(at) and not (
            self._upper(at) in ("FOR", "IF", "ON") and self._upper(at + 1) != "FOR"
        ):
            self._index(at)
        elif self._upper(at) == "$":
            raise refusal("the name of the index is a parameter", "Write the name")
        while self.tokens[at].kind != "end":
            if self._upper(at) == ":":
                names = self._names(at + 1)
                if self.space.memory and not names.own:
                    raise refusal("an index of it is on its own labels and types")
                at = names.end
            else:
                at += 1

    def _show(self, at: int) -> None:
        words = " ".join(token.upper for token in self.tokens[at:-1])
        if not _SHOWN.fullmatch(words) and not readonly.asks_server(self.query):
            raise refusal("only SHOW INDEXES and SHOW CONSTRAINTS stand alone", "Leave out what follows them")

    def _check_functions(self) -> None:
        if name := readonly.unknown_function(self.query):
            raise refusal(f"the function {name} may see the whole database")
