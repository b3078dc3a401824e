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
from gsw_graph.store.tokens import Token, refusal
from gsw_graph.values import word_set

_NO_ALIAS = word_set("CALL CREATE INSERT MATCH MERGE RETURN UNION USE WITH")
_MODES = word_set("DIFFERENT ELEMENT ELEMENTS RELATIONSHIP RELATIONSHIPS REPEATABLE")
_AFTER_IS = frozenset([":", *"NULL NOT NFC NFD NFKC NFKD NORMALIZED TYPED".split()])
_NO_OPERAND = AFTER_ITEMS | word_set(
    "ALL AND AS BY CASE CONTAINS DISTINCT ELSE ENDS FOR FROM HEADERS IN IS LET NOT ON OR STARTS THEN USING "
    "WHEN XOR"
)
_KINDS_OF_INDEX = word_set("BTREE CONSTRAINTS FULLTEXT INDEXES POINT RANGE TEXT UNIQUE VECTOR")
_LISTS = {"db.labels": "label", "db.relationshipTypes": "relationshipType"}
_SEARCHES = frozenset(
    f"db.index.{kind}.query{what}" for kind in ("fulltext", "vector") for what in ("Nodes", "Relationships")
)
_PROCEDURES = word_set(
    "db.awaitIndex db.awaitIndexes db.create.setNodeVectorProperty db.create.setRelationshipVectorProperty "
    "db.index.fulltext.listAvailableAnalyzers db.info db.ping dbms.components"
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
        self.clauses: dict[str, Callable[[], None]] = {
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
        }  # each is called when its word has been read

    def confined(self) -> Confined:
        """Read the statement and return it confined."""
        self._preamble()
        word = self.word()
        if word == "SHOW":
            self._show()
        elif word == "DROP" or (word == "CREATE" and self._is_schema()):
            self._schema()
        elif word in STARTS:
            self._scan(len(self.tokens) - 1)
            self._check_functions()
        else:
            raise refusal(f"{self.token.text or 'it'} begins no clause that is known")
        return Confined(self._edited(0, len(self.query)), self._columns())

    def _ends_operand(self, ahead: int) -> bool:
        """Return whether an expression may end at a token some places ahead."""
        token = self.tokens[self.at + ahead]
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

    def _preamble(self) -> None:
        while self.skip("EXPLAIN", "PROFILE", "CYPHER"):
            while self.token.kind == "number" or self.word() == ".":
                self.at += 1
            while self.is_name() and self.word(1) == "=":
                self.at += 3

    def _scan(self, end: int) -> None:
        while self.at < end:
            self._step()
        if self.at != end:
            raise self.unreadable(end)

    def _step(self) -> None:
        token = self.token
        if token.is_name:
            self._word()
        elif token.kind != "sign":
            self.at += 1
        elif token.text in ("(", "[", "{"):
            self._bracket()
        elif token.text == ":":
            self._colon()
        elif token.text == ".":
            self._property()
        elif token.text == "$":
            self._parameter()
        else:
            self.at += 1

    def _word(self) -> None:
        if self._is_key():
            self.at += 2
            return
        word = self.word()
        self.at += 1
        if word in ("EXISTS", "COUNT", "COLLECT") and self.word() == "{":
            self._subquery(self.bound, returns=False)
        elif word in self.clauses:
            self.clauses[word]()

    def _is_key(self) -> bool:
        """Return whether a word is a key of a map."""
        if self.inside[-1] != "{" or self.word(-1) not in ("{", ","):
            return False
        return self.word(1) == ":" and self.word(2) != ":"

    def _property(self) -> None:
        before = self.tokens[self.at - 1]
        self.at += 1
        if self.is_name() and before.text != ".":
            if before.kind == "number":
                raise refusal("a number ends in a point")
            self.at += 1

    def _bracket(self) -> None:
        """Read a bracket in an expression: it may be the first node of a pattern."""
        close, text = self.close, self.token.text
        if text == "(" and self._begins_relationship(close + 1):
            outer = set(self.bound)  # which keeps its variables to itself
            self._path("MATCH")
            self.bound = outer
        elif text == "{":
            self._map()
        else:
            self.inside.append(text)
            self.at += 1
            self._scan(close)
            self.inside.pop()
            self.at = close + 1

    def _subquery(self, bound: set[str], *, returns: bool) -> None:
        """Read `{ ... }` with clauses in it, or with a pattern alone."""
        close, outer = self.close, self.bound
        self.bound = set(bound)
        self.first.append(set(bound))
        self.inside.append("")
        self.at += 1
        if self.word() not in STARTS or self.word(1) == "=":
            self._patterns("MATCH")
        self._scan(close)
        self.inside.pop()
        self.first.pop()
        self.bound = outer | self.bound if returns else outer
        self.at = close + 1

    def _as(self) -> None:
        if self.word() in _NO_ALIAS and not self._ends_operand(-2):
            raise refusal(f"{self.token.text} is a word of Cypher and no name", "Choose another name")
        if self.is_name():
            self.bound.add(self.token.name)
            self.at += 1

    def _is(self) -> None:
        if self.word() not in _AFTER_IS:
            self._names()

    def _colon(self) -> None:
        self.at += 1
        if not self.skip(":"):  # a type of values
            self._names()

    def _labels_function(self) -> None:
        """Have `labels(n)` give the labels as they are written in the memory."""
        self._unnamed("[gsw_label IN ", f" | replace(gsw_label, '{self.space.end}', '')]")

    def _type_function(self) -> None:
        self._unnamed("replace(", f", '{self.space.end}', '')")

    def _unnamed(self, before: str, after: str) -> None:
        """Put a call of a function into what takes the name of the memory out of its result."""
        if not self.space.memory or self.word() != "(":
            return
        end = self.close + 1
        self._insert(self.tokens[self.at - 1].start, before)
        self._scan(end)
        self._insert(self.tokens[end - 1].end, after)

    def _use(self) -> None:
        raise refusal("USE leaves its database")

    def _union(self) -> None:
        self.bound = set(self.first[-1])

    def _foreach(self) -> None:
        if self.is_name(1):
            self.bound.add(self.tokens[self.at + 1].name)

    def _with(self) -> None:
        before = self.word(-2)
        if before in ("STARTS", "ENDS") and self._ends_operand(-3):
            return
        if before == "CSV" and self.word(-3) == "LOAD":
            return
        items, every = self._items()
        names = self._variables(items)
        self.bound = self.bound | names if every else names

    def _return(self) -> None:
        items, every = self._items()
        if not every:
            self.bound = self._variables(items)
        if len(self.first) == 1:
            self.returned = [] if every else items

    def _yield(self) -> None:
        items, _ = self._items()
        self.bound |= self._variables(items)

    def _items(self) -> tuple[list[_Item], bool]:
        """Return what WITH, RETURN or YIELD names, and whether it names all by `*`; nothing is read."""
        items: list[_Item] = []
        every = False
        at = self.at + (self.word() == "DISTINCT")
        begin, name = at, None
        while True:
            token, before = self.tokens[at], self.upper(at - 1)
            ends = token.kind == "end" or token.text in ("}", ")", ";") or token.upper in AFTER_ITEMS
            if before in ("STARTS", "ENDS", "."):
                ends = False
            if token.text == "," or ends:
                if self.upper(begin) == "*":
                    every = True
                elif at > begin:
                    items.append(_Item(begin, at, name))
                begin, name = at + 1, None
            if ends:
                return items, every
            if token.upper == "AS" and self.tokens[at + 1].is_name:
                name = self.tokens[at + 1].name
                at += 1
            at = self.partners.get(at, at) + 1

    def _variables(self, items: list[_Item]) -> set[str]:
        """Return the names of items, of one without a name the variable that it is."""
        names = set()
        for item in items:
            token = self.tokens[item.start]
            if item.name:
                names.add(item.name)
            elif item.end == item.start + 1 and token.is_name:
                names.add(token.name)
        return names

    def _is_action(self) -> bool:
        """Return whether the word that was read is that of ON CREATE SET or ON MATCH SET."""
        return self.word(-2) == "ON" and self.word() == "SET" and self.word(1) != "="

    def _match(self) -> None:
        if self._is_action():
            return
        while self.word() in _MODES and self.word(1) != "=":
            self.at += 1
        self._patterns("MATCH")

    def _create(self) -> None:
        if not self._is_action():
            self._patterns("CREATE")

    def _merge(self) -> None:
        self._patterns("MERGE")

    # Procedures, schema, lists

    def _call(self) -> None:
        if self.word() == "{":
            self._subquery(set(), returns=True)
            return
        if self.word() == "(" and self.upper(self.close + 1) == "{":
            close = self.close
            listed = self.tokens[self.at + 1 : close]
            names = {token.name for token in listed if token.is_name}
            if any(token.text == "*" for token in listed):
                names = self.bound
            self.at = close + 1
            self._subquery(names, returns=True)
            return
        parts = [self.token.name]
        while self.word(1) == ".":
            self.at += 2
            parts.append(self.token.name)
        self.at += 1
        self._procedure(".".join(parts))

    def _procedure(self, name: str) -> None:
        if name in _SEARCHES:
            index = self.tokens[self.at + 1]
            if self.word() != "(" or index.kind != "quoted" or self.word(2) != ",":
                raise refusal(f"{name} has no name of an index", "Write the name, as in 'passage_text'")
            self._index(index)
        elif name in _LISTS:
            self._list(name)
        elif name not in _PROCEDURES:
            raise refusal(f"{name} may see the whole database", "Ask for nodes by a pattern")

    def _list(self, name: str) -> None:
        """Leave out what is not of the memory where a procedure lists labels or types."""
        column, end = _LISTS[name], self.space.end
        if self.skip("("):
            self.expect(")")
        condition = f"WHERE NOT {column} =~ '{self.space.OTHERS}'"
        if end:
            condition = f"WHERE {column} ENDS WITH '{end}'"
        if self.word() in ("", ";"):
            self._insert(self.tokens[self.at - 1].end, f" YIELD {column} {condition} RETURN {column}")
            return
        self.expect("YIELD")
        if self.token.text != column or self.word(1) in ("AS", "WHERE", ",", ";", ""):
            raise refusal(f"what {name} lists is named or chosen", f"Write CALL {name}() alone")
        self._insert(self.token.end, f" {condition}")
        self.bound.add(column)
        self.at += 1

    def _index(self, token: Token) -> None:
        name = token.text.strip("'\"`")
        if self.space.is_index_of_other(name):
            raise InputError(f"the index {name} is of another memory")
        if self.space.in_full(name) != name:
            self._insert(token.end - (token.kind == "quoted"), self.space.end)

    def _is_schema(self) -> bool:
        return self.word(1) != "(" and self.word(2) != "="

    def _schema(self) -> None:
        """Read a statement that makes or drops an index or a constraint."""
        self.at += 1
        if self.word() == "OR":
            self.at += 2
        while self.word() in _KINDS_OF_INDEX:
            self.at += 1
        if not self.skip("INDEX", "CONSTRAINT"):
            raise refusal("it changes more than indexes and constraints")
        has_no_name = self.word() in ("FOR", "IF", "ON") and self.word(1) != "FOR"
        if self.is_name() and not has_no_name:
            self._index(self.token)
        elif self.word() == "$":
            raise refusal("the name of the index is a parameter", "Write the name")
        while self.token.kind != "end":
            if not self.skip(":"):
                self.at += 1
            elif not self._names().own and self.space.memory:
                raise refusal("an index of it is on its own labels and types")

    def _show(self) -> None:
        words = " ".join(token.upper for token in self.tokens[self.at : -1])
        if not _SHOWN.fullmatch(words) and not readonly.asks_server(self.query):
            raise refusal("only SHOW INDEXES and SHOW CONSTRAINTS stand alone", "Leave out what follows them")

    def _check_functions(self) -> None:
        name = readonly.unknown_function(self.query)
        if name:
            raise refusal(f"the function {name} may see the whole database")
