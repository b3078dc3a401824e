"""Patterns of Cypher, read strictly: each node is given a label of its memory, and labels, types and paths of
any length stay inside it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from gsw_graph.cypher import LABELS, TYPES
from gsw_graph.errors import InputError
from gsw_graph.store.space import Space
from gsw_graph.store.tokens import Tokens, refusal
from gsw_graph.values import word_set

STARTS = word_set(
    "CALL CREATE FILTER FINISH FOR FOREACH INSERT LET LOAD MATCH MERGE OPTIONAL RETURN UNWIND WITH"
)
# What ends the items of RETURN, but words that are usual names.
AFTER_ITEMS = word_set(
    "CALL CREATE DELETE DETACH FOREACH INSERT LIMIT MATCH MERGE NODETACH OFFSET OPTIONAL ORDER REMOVE RETURN "
    "SET SKIP UNION UNWIND USE WHERE WITH YIELD"
)
_AFTER_PATTERN = STARTS | AFTER_ITEMS | frozenset(["", ")", "}", ";", "|", "NEXT", "ON", "USING"])
_SELECTORS = word_set("ALL ANY GROUP GROUPS PATH PATHS SHORTEST")
_AFTER_VARIABLE = (")", "]", ":", "*", "{", "$", "WHERE", "IS")
_COMPUTED = ("a label or type is computed", "Write it, as in (d:Document)")


@dataclass(frozen=True, slots=True)
class _Names:
    """The labels or types of a pattern: the tokens from `start` to before `end`.

    Attributes:
        own: Each is of the memory.
        positive: One of them is there in any case.
    """

    start: int
    end: int
    own: bool
    positive: bool


class Patterns(Tokens, ABC):
    """A statement while its patterns are read."""

    def __init__(self, query: str, space: Space) -> None:
        super().__init__(query)
        self.space = space
        self.edits: list[tuple[int, int, str]] = []
        self.bound: set[str] = set()  # variables that a clause before this one brought
        self.inside = [""]  # the open brackets

    @abstractmethod
    def _scan(self, end: int) -> None:
        """Read an expression up to a place."""

    def _insert(self, place: int, text: str) -> None:
        self.edits.append((place, place, text))

    def _edited(self, start: int, end: int) -> str:
        parts = []
        for begin, stop, text in sorted(self.edits, key=lambda edit: edit[0]):
            if start <= begin and stop <= end:
                parts += [self.query[start:begin], text]
                start = stop
        return "".join([*parts, self.query[start:end]])

    # Patterns

    def _patterns(self, clause: str) -> None:
        self._part(clause)
        while self.skip(","):
            self._part(clause)
        if self.word() not in _AFTER_PATTERN:
            raise self.unreadable(self.at)

    def _part(self, clause: str) -> None:
        if self.is_name() and self.word(1) == "=":
            self.at += 2
        while self.word() in _SELECTORS or self.token.kind == "number":
            self.at += 1
        if self.skip("SHORTESTPATH", "ALLSHORTESTPATHS"):
            self.expect("(")
            self._path(clause)
            self.expect(")")
        else:
            self._path(clause)

    def _path(self, clause: str) -> None:
        self._factor(clause)
        while True:
            if self._begins_relationship(self.at):
                self._relationship()
            elif self.word() != "(":
                return
            self._factor(clause)

    def _begins_relationship(self, place: int) -> bool:
        place += self.upper(place) == "<"
        return self.upper(place) == "-" and self.upper(place + 1) in ("-", "[")

    def _factor(self, clause: str) -> None:
        """Read a node, or a path in brackets that may be repeated."""
        if self.word() != "(":
            raise self.unreadable(self.at)
        is_named_path = self.is_name(1) and self.word(2) == "="
        if self.word(1) != "(" and not is_named_path:
            self._node(clause)
            return
        close = self.close
        self.at += 1
        self._part(clause)
        self._condition(close)
        self.expect(")")
        self._quantifier()

    def _condition(self, close: int) -> None:
        """Read WHERE up to a closing bracket, if it is there."""
        if self.skip("WHERE"):
            self._scan(close)

    def _quantifier(self) -> None:
        if self.skip("+", "*") or self.word() != "{":
            return
        close = self.close
        for token in self.tokens[self.at + 1 : close]:
            if token.kind != "number" and token.text != ",":
                raise self.unreadable(self.at)
        self.at = close + 1

    def _variable(self) -> str | None:
        """Read the variable of a node or relationship, if it has one; any word may be its name."""
        if not self.is_name() or self.word(1) not in _AFTER_VARIABLE:
            return None
        name = self.token.name
        self.at += 1
        return name

    def _node(self, clause: str) -> None:
        close = self.close
        self.at += 1
        variable = self._variable()
        place = self.tokens[self.at - 1].end
        names = self._names(LABELS) if self.skip(":", "IS") else None
        self._properties()
        self._condition(close)
        self.expect(")")
        if clause == "MATCH":
            self._guard(place, names)
        else:
            self._check_new(clause, variable, names)
        if variable is not None:
            self.bound.add(variable)

    def _properties(self) -> None:
        if self.word() == "{":
            self._map()
        elif self.word() == "$":
            self._parameter()

    def _parameter(self) -> None:
        if not self.is_name(1) and self.tokens[self.at + 1].kind != "number":
            raise refusal(*_COMPUTED)
        self.at += 2

    def _map(self) -> None:
        close = self.close
        self.at += 1
        word = self.word()
        if not self.is_name() and word not in (".", "}"):
            raise self.unreadable(self.at)
        if word in STARTS and self.word(1) not in (":", ",", "}"):
            raise self.unreadable(self.at)
        self.inside.append("{")
        self._scan(close)
        self.inside.pop()
        self.at = close + 1

    def _guard(self, place: int, names: _Names | None) -> None:
        if names is None:
            self._insert(place, f":{self.space.guard}")
        elif not names.own or not names.positive:
            tokens = self.tokens[names.start : names.end]
            self._insert(tokens[0].start, "(")
            self._insert(tokens[-1].end, f")&({self.space.guard})")
            for token in tokens:
                if token.text == ":":
                    self.edits.append((token.start, token.end, "&"))

    def _check_new(self, clause: str, variable: str | None, names: _Names | None) -> None:
        """Check a node of CREATE or MERGE: a new one is of the memory, and one that is found too."""
        if names is not None:
            if not names.positive:
                raise self.unreadable(names.start)
        elif variable not in self.bound and (clause == "MERGE" or self.space.memory):
            raise refusal(f"a node of {clause} has no label", "Give it one, as in (d:Document {...})")

    def _relationship(self) -> None:
        self.skip("<")
        self.expect("-")
        place, names, is_long = self.tokens[self.at - 1].end, None, False
        has_brackets = self.word() == "["
        if has_brackets:
            close = self.close
            self.at += 1
            self._variable()
            place = self.tokens[self.at - 1].end
            names = self._names(TYPES) if self.skip(":", "IS") else None
            is_long = self.skip("*")
            while is_long and (self.token.kind == "number" or self.word() == "."):
                self.at += 1
            self._properties()
            self._condition(close)
            self.expect("]")
        self.expect("-")
        self.skip(">")
        end = self.at
        self._quantifier()
        if is_long or self.at != end:
            self._keep_inside(place, names, brackets=has_brackets)

    def _keep_inside(self, place: int, names: _Names | None, *, brackets: bool) -> None:
        """Have a path of any length go along types of the memory: no label reaches its inner nodes."""
        if names is None:
            types = f":{self.space.types}"
            self._insert(place, types if brackets else f"[{types}]")
        elif not names.own or not names.positive:
            raise refusal(
                "a path of any length follows a type that is not of the memory",
                "Write its step as a pattern that is repeated: ((x)-[:TYPE]->(y)){1,3}",
            )

    # Names

    def _names(self, bases: tuple[str, ...] = LABELS + TYPES) -> _Names:
        """Read labels or types, as in `A|B&!C`, and write them in full."""
        start, depth = self.at, 0
        own = positive = needs_name = True
        while True:
            text = self.word()
            if not needs_name:
                if text in ("&", "|", ":") and self._goes_on():
                    needs_name = True
                elif text == ")" and depth:
                    depth -= 1
                else:
                    return _Names(start, self.at, own, positive)
            elif text in ("!", "%"):
                positive, needs_name = False, text == "!"
            elif text == "(":
                depth += 1
            elif text == "$":
                raise refusal(*_COMPUTED)
            elif self.is_name():
                own = self._name(bases) and own
                needs_name = False
            elif text != ":" or self.word(-1) != "|":
                raise self.unreadable(self.at)
            self.at += 1

    def _goes_on(self) -> bool:
        """Return whether names go on: `|` in a list may begin what is made of each element."""
        if self.inside[-1] != "[" or self.word() != "|":
            return True
        name = self.tokens[self.at + 1].name
        return name.partition("__")[0] in LABELS

    def _name(self, bases: tuple[str, ...]) -> bool:
        """Write a label or type in full; return whether it is of the memory."""
        token, space = self.token, self.space
        name = token.name
        if space.is_of_other(name):
            raise InputError(f"{name} is of another memory", hint="Open that one: --memory with ?memory=NAME")
        if space.is_own(name, bases):
            if space.in_full(name) != name:
                self._insert(token.end - token.text.endswith("`"), space.end)
            return True
        if space.memory and bases is not TYPES:
            raise refusal(
                f"it has no label {name}",
                f"Use those of the memory ({', '.join(LABELS[:4])} ...): your own nodes belong elsewhere",
            )
        return False
