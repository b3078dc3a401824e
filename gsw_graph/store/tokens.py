"""Read the tokens of people's statements; an error is for a statement that cannot be kept inside its
memory."""

from __future__ import annotations

from dataclasses import dataclass

from gsw_graph.engine import readonly
from gsw_graph.errors import InputError

_DEPTH = 100
_HINT = "See docs/neo4j.md, Several memories in one database"


@dataclass(frozen=True, slots=True)
class Token:
    """Hold a token and its place. The last token of a statement has the kind `end`."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def upper(self) -> str:
        """Return a word in capitals, another token unchanged."""
        return self.text.upper() if self.kind == "word" else self.text

    @property
    def is_name(self) -> bool:
        """Return whether the token may be a name, as any word may."""
        return self.kind == "word" or self.text.startswith("`")

    @property
    def name(self) -> str:
        """Return the name without quotes."""
        return self.text.strip("`")


def refusal(reason: str, hint: str = _HINT) -> InputError:
    """Return the error for a statement that cannot be kept inside."""
    return InputError(f"the query cannot be kept inside its memory: {reason}", hint=hint)


def tokens_of(query: str) -> list[Token]:
    """Return the tokens of a statement, an empty one at its end.

    Raises:
        InputError: It has signs that a server may read otherwise.
    """
    if readonly.hides_signs(query):
        raise refusal("it has an escape such as \\u0041, or a control character")
    tokens = []
    for match in readonly.TOKEN.finditer(query):
        kind, text = match.lastgroup or "", match[0]
        is_comment = text.startswith(("/*", "//"))
        if kind == "skip" and not is_comment and not (text.isascii() and text.isspace()):
            raise refusal(f"the sign {text!r} stands outside of texts")
        if kind == "sign" and text in ("'", '"', "`"):
            raise refusal("a quote never ends")
        if kind != "skip":
            tokens.append(Token(kind, text, *match.span()))
    end = len(query)
    return [*tokens, Token("end", "", end, end)]


def partners_of(tokens: list[Token]) -> dict[int, int]:
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
                raise refusal(f"a bracket is missing before {token.text}")
            partners[opened.pop()] = place
        if len(opened) > _DEPTH:
            raise refusal("it is nested too deep")
    if opened:
        raise refusal(f"a {tokens[opened[-1]].text} is not closed")
    return partners


class Tokens:
    """Read a statement token by token. Methods read from the place `at`, and leave it behind the last token
    that they read."""

    def __init__(self, query: str) -> None:
        self.query = query
        self.tokens = tokens_of(query)
        self.partners = partners_of(self.tokens)
        self.at = 0

    @property
    def token(self) -> Token:
        """Return the next token."""
        return self.tokens[self.at]

    @property
    def close(self) -> int:
        """Return the place of the bracket that closes the next token."""
        return self.partners[self.at]

    def upper(self, place: int) -> str:
        """Return the token at a place, a word in capitals; empty if there is none."""
        return self.tokens[place].upper if 0 <= place < len(self.tokens) else ""

    def word(self, ahead: int = 0) -> str:
        """Return a token some places ahead as `upper` does."""
        return self.upper(self.at + ahead)

    def is_name(self, ahead: int = 0) -> bool:
        """Return whether a token some places ahead may be a name."""
        place = self.at + ahead
        return place < len(self.tokens) and self.tokens[place].is_name

    def skip(self, *words: str) -> bool:
        """Read one of some words if it comes next; return whether it did."""
        found = self.word() in words
        self.at += found
        return found

    def expect(self, word: str) -> None:
        """Read a word. Raises InputError if another token comes next."""
        if not self.skip(word):
            raise self.unreadable(self.at)

    def unreadable(self, place: int) -> InputError:
        """Return the error for a pattern that cannot be read from a place on."""
        begin = self.tokens[min(place, len(self.tokens) - 1)].start
        return refusal(f"its pattern cannot be read at {self.query[begin : begin + 30]!r}")
