"""What a language model says of one passage: the shape it is asked for, and its replies read and checked.

    {"entities": [{"name", "roles": ["role: state; state"]}],
     "verb_phrases": [{"phrase", "questions": [{"question", "answers": [name]}]}],
     "propositions": [sentence]}

Answers are names, not ids, roles are strings and propositions name nothing beside their sentence: that is a
fifth fewer tokens than objects throughout (docs/extraction.md). Panini's shape, which models tuned on it
write, is understood too: `entity_nodes` with ids, `verb_phrase_nodes` whose answers are ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gsw_graph.inference.chat.replies import unwrapped

MOST = 1000  # things in one list of a reply; a passage of some hundred words has a tenth of it
LONGEST = 2000  # characters of one text
KEYS = ("entities", "verb_phrases", "propositions", "entity_nodes", "verb_phrase_nodes")

Listed = tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]


@dataclass(frozen=True, slots=True)
class Found:
    """What one reply says: entities as (name, ((role, states), ...)), verb phrases as (phrase, ((question,
    answers), ...)), facts as sentences.

    unmended: why a second pass that was asked for gave nothing.
    """

    entities: tuple[Listed, ...] = ()
    phrases: tuple[Listed, ...] = ()
    facts: tuple[str, ...] = ()
    unmended: str = ""


def object_of(**properties: Any) -> dict[str, Any]:
    """The JSON schema of an object: every key required and no other allowed, as the strict mode of OpenAI
    wants it."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def texts_of() -> dict[str, Any]:
    """The JSON schema of a list of strings."""
    return _list(_text_of(400), 100)


def parts(most: int, inner: int, longest: int) -> dict[str, Any]:
    """The lists of a reply with at most so many things each, `inner` in their lists, and texts of at most
    `longest` characters, sentences of twice as many. Bounds end the loops of small models where a server
    keeps to them."""
    text, sentence = _text_of(longest), _text_of(2 * longest)
    asked = object_of(question=sentence, answers=_list(text, inner))
    return {
        "entities": _list(object_of(name=text, roles=_list(text, inner)), most),
        "verb_phrases": _list(object_of(phrase=text, questions=_list(asked, inner)), most),
        "propositions": _list(sentence, most),
    }


def _list(of: Any, most: int) -> dict[str, Any]:
    return {"type": "array", "items": of, "maxItems": most}


def _text_of(longest: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": longest}


PARTS = parts(100, 10, 200)
SCHEMA = object_of(**PARTS)
SHORT_SCHEMA = object_of(**parts(5, 2, 60))


def read(value: object) -> Found:
    """A reply as JSON. ValueError says where it departs from the shape, or that a text or list is longer
    than any passage needs."""
    reply = Part(unwrapped(value, KEYS) if isinstance(value, dict | list) else value)
    if not reply.value.keys() & set(KEYS):
        raise ValueError("the reply has none of `entities`, `verb_phrases` and `propositions`")
    ids: dict[str, str] = {}
    entities: list[Listed] = []
    for node in reply.objects("entities", "entity_nodes"):
        name = node.text("name")
        if isinstance(key := node.value.get("id"), str | int):
            ids.setdefault(str(key), name)
        entities.append((name, tuple(node.roles())))
    phrases = []
    for node in reply.objects("verb_phrases", "verb_phrase_nodes"):
        asked = tuple(
            (question.text("question", "text"), question.answers(ids))
            for question in node.objects("questions")
        )
        phrases.append((node.text("phrase"), asked))
    return Found(tuple(entities), tuple(phrases), tuple(reply.texts("propositions")))


class Part:
    """An object of a reply with the path that leads to it. A null list is empty, a text alone is a list of
    it, a number is its text."""

    def __init__(self, value: object, path: str = "") -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{f'`{path}`' if path else 'the reply'} is not an object but {_kind(value)}")  # noqa: TRY004
        self.value: Mapping[str, Any] = value
        self._path = path

    def text(self, *keys: str) -> str:
        """The text under the first of some keys that is there."""
        key = self._first(keys)
        if key not in self.value:
            raise ValueError(f"`{self._at(key)}` is missing")
        return _text(self.value[key], self._at(key))

    def texts(self, *keys: str) -> list[str]:
        """The texts of a list."""
        return [_text(value, path) for path, value in self._listed(keys)]

    def objects(self, *keys: str) -> Iterator[Part]:
        """The objects of a list."""
        return (Part(value, path) for path, value in self._listed(keys))

    def roles(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The roles of an entity, each with its states."""
        for path, value in self._listed(("roles",)):
            if isinstance(value, dict):
                yield (node := Part(value, path)).text("role"), tuple(node.texts("states"))
            else:
                role, _, states = _text(value, path).partition(":")
                yield role.strip(), tuple(state.strip() for state in states.split(";") if state.strip())

    def answers(self, ids: Mapping[str, str]) -> tuple[str, ...]:
        """The answers of a question as names; what says that there is none is none. ValueError: an id that
        no entity has, where entities have ids."""
        found = []
        for path, value in self._listed(("answers",)):
            answer = _text(value, path).strip()
            if answer in ids:
                answer = ids[answer]
            elif ids and answer[:1] == "e" and answer[1:].isdecimal():
                raise ValueError(f"`{path}` is {answer!r}, the id of no entity")
            if answer and answer != "None":
                found.append(answer.removeprefix("TEXT:").strip())
        return tuple(found)

    def _listed(self, keys: tuple[str, ...]) -> list[tuple[str, object]]:
        value = self.value.get(key := self._first(keys))
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list | None):
            raise ValueError(f"`{self._at(key)}` is not a list but {_kind(value)}")  # noqa: TRY004
        if len(value or ()) > MOST:
            raise ValueError(f"`{self._at(key)}` has more than {MOST} items")
        return [(f"{self._at(key)}[{n}]", item) for n, item in enumerate(value or ())]

    def _first(self, keys: tuple[str, ...]) -> str:
        return next((key for key in keys if key in self.value), keys[0])

    def _at(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key


def _text(value: object, path: str) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise ValueError(f"`{path}` is not a string but {_kind(value)}")  # noqa: TRY004
    if len(value) > LONGEST:
        raise ValueError(f"`{path}` has more than {LONGEST} characters")
    return value.replace("\0", "").encode("utf-8", "ignore").decode("utf-8")  # what no database holds


def _kind(value: object) -> str:
    return {
        type(None): "null",
        bool: "true or false",
        str: "a string",
        list: "a list",
        dict: "an object",
    }.get(type(value), "a number")
