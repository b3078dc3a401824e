"""Patterns of Cypher, read strictly: each node is given a label of its memory, and labels, types and paths of
any length stay inside it."""

from __future__ import annotations

from dataclasses import dataclass

from gsw_graph.cypher import LABELS, TYPES
from gsw_graph.errors import InputError
from gsw_graph.store.space import Space
from gsw_graph.store.tokens import partners_of, refusal, tokens_of

STARTS = frozenset(
    "CALL CREATE FILTER FINISH FOR FOREACH INSERT LET LOAD MATCH MERGE OPTIONAL RETURN UNWIND WITH".split()
)
# What ends the items of RETURN, but words that are usual names.
AFTER_ITEMS = frozenset(
    "CALL CREATE DELETE DETACH FOREACH INSERT LIMIT MATCH MERGE NODETACH OFFSET OPTIONAL ORDER REMOVE RETURN "
    "SET SKIP UNION UNWIND USE WHERE WITH YIELD".split()
)
_AFTER_PATTERN = STARTS | AFTER_ITEMS | frozenset(["", ")", "}", ";", "|", "NEXT", "ON", "USING"])
_SELECTORS = frozenset("ALL ANY GROUP GROUPS PATH PATHS SHORTEST".split())
_SHORTEST = ("SHORTESTPATH", "ALLSHORTESTPATHS")


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


class Patterns:
    """A statement while its patterns are read.

    Methods take the place of a token and return the place after what they read.
    """

    def __init__(self, query: str, space: Space) -> None:
        self.query, self.space = query, space
        self.tokens = tokens_of(query)
        self.partners = partners_of(self.tokens)
        self.edits: list[tuple[int, int, str]] = []
        self.bound: set[str] = set()  # variables that a clause before this one brought
        self.inside = [""]  # the open brackets

    def _scan(self, at: int, end: int) -> None:
        """Read an expression."""
        raise NotImplementedError

    def _upper(self, at: int) -> str:
        return self.tokens[at].upper if 0 <= at < len(self.tokens) else ""

    def _is_name(self, at: int) -> bool:
        return at < len(self.tokens) and self.tokens[at].is_name

    def _refuse(self, at: int) -> InputError:
        begin = self.tokens[min(at, len(self.tokens) - 1)].start
        return refusal(f"its pattern cannot be read at {self.query[begin : begin + 30]!r}")

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

    def _parameter(self, at: int) -> int:
        if not self._is_name(at + 1) and self.tokens[at + 1].kind != "number":
            raise refusal("a label or type is computed", "Write it, as in (d:Document)")
        return at + 2

    def _map(self, at: int) -> int:
        close = self.partners[at]
        if not (self._is_name(at + 1) or self._upper(at + 1) in (".", "}")):
            raise self._refuse(at + 1)
        if self._upper(at + 1) in STARTS and self._upper(at + 2) not in (":", ",", "}"):
            raise self._refuse(at + 1)
        self.inside.append("{")
        self._scan(at + 1, close)
        self.inside.pop()
        return close + 1

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
            raise refusal(f"a node of {clause} has no label", "Give it one, as in (d:Document {...})")

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
        """Have a path of any length go along types of the memory: no label reaches its inner nodes."""
        if names is None:
            self._insert(place, f":{self.space.types}" if brackets else f"[:{self.space.types}]")
        elif not (names.own and names.positive):
            raise refusal(
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
                raise refusal("a label or type is computed", "Write it, as in (d:Document)")
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
            raise refusal(
                f"it has no label {token.name}",
                f"Use those of the memory ({', '.join(LABELS[:4])} ...): your own nodes belong elsewhere",
            )
        return False
