"""Extract workspaces from documents by a language model: one call a passage, and a second if asked for.

    {"entities": [{"name", "roles": ["role: state; state"]}],
     "verb_phrases": [{"phrase", "questions": [{"question", "answers": [name]}]}],
     "propositions": [sentence]}

Answers are names and not ids, roles are strings, and a proposition is only a sentence. This takes a fifth
fewer tokens than objects throughout. Models tuned on Panini write another shape, which is understood too:
`entity_nodes` with ids, and `verb_phrase_nodes` whose answers are ids. The store makes the ids of the graph
from the source of the document, so that no reply reaches another document.

In the optional second pass (Panini, appendix D.2.3), the model sees the passage and its own first result, and
writes the result again, repaired and complete.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from gsw_graph.errors import InvalidReplyError
from gsw_graph.extract import rules
from gsw_graph.model.assemble import Assembler, Node, kind_of, named, words_of
from gsw_graph.model.documents import Document, Passage, Workspace
from gsw_graph.models.chat.chat import Request
from gsw_graph.models.chat.request import estimate, unwrapped
from gsw_graph.models.prompts import fence, prompt
from gsw_graph.text.names import find_names, normalise
from gsw_graph.text.words import FUNCTION_WORDS
from gsw_graph.values import Fields, single_spaced

if TYPE_CHECKING:
    from gsw_graph.models.chat.chat import Chat

MOST = 1000  # things in one list of a reply; a passage of some hundred words has about 100
LONGEST = 2000  # characters of one text
KEYS = ("entities", "verb_phrases", "propositions", "entity_nodes", "verb_phrase_nodes")

Texts = tuple[str, ...]
Listed = tuple[str, tuple[tuple[str, Texts], ...]]
Schema = Fields
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Extraction:
    """Hold what one reply says.

    Attributes:
        entities: (name, ((role, states), ...)).
        phrases: Verb phrases, (phrase, ((question, answers), ...)).
        facts: Sentences.
        mentions: Names by fact, if the prompt asks for names; for other facts, names are found in the words.
        triples: (subject, relation, object).
        repair_error: Why the second pass failed; empty if it did not.
    """

    entities: tuple[Listed, ...] = ()
    phrases: tuple[Listed, ...] = ()
    facts: Texts = ()
    mentions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    triples: tuple[tuple[str, str, str], ...] = ()
    repair_error: str = ""


def object_of(**properties: Any) -> Schema:
    """Return the JSON schema of an object. OpenAI's strict mode wants each key required and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def parts(most: int, inner: int, longest: int) -> Schema:
    """Return the schemas of the lists of a reply. If a server enforces the bounds, they end the loops of
    small models.

    Args:
        most: Things in a list.
        inner: Things in a list within another.
        longest: Characters of a text; a sentence may have twice as many.
    """
    text, sentence = text_of(longest), text_of(2 * longest)
    questions = object_of(question=sentence, answers=list_of(text, inner))
    return {
        "entities": list_of(object_of(name=text, roles=list_of(text, inner)), most),
        "verb_phrases": list_of(object_of(phrase=text, questions=list_of(questions, inner)), most),
        "propositions": list_of(sentence, most),
    }


def list_of(of: Any, most: int) -> Schema:
    """Return the JSON schema of a list of at most so many things."""
    return {"type": "array", "items": of, "maxItems": most}


def text_of(longest: int) -> Schema:
    """Return the JSON schema of a text of at most so many characters."""
    return {"type": "string", "maxLength": longest}


PARTS = parts(100, 10, 200)
SCHEMA = object_of(**PARTS)
SHORT_SCHEMA = object_of(**parts(5, 2, 60))


def read(value: object) -> Extraction:
    """Read a reply, given as JSON. Raises ValueError if the reply departs from the shape, or if a text or
    list is longer than any passage needs."""
    reply = node_of(unwrapped(value, KEYS) if isinstance(value, dict | list) else value)
    if not reply.value.keys() & set(KEYS):
        raise ValueError("the reply has none of `entities`, `verb_phrases` and `propositions`")
    ids: dict[str, str] = {}
    entities: list[Listed] = []
    for name, node in reply.objects("entities", "entity_nodes", name=("name",)):
        key = node.value.get("id")
        if isinstance(key, str | int):
            ids.setdefault(str(key), name)
        entities.append((name, tuple(node.roles())))
    forms = ("e0",) if ids else ()
    phrases = tuple(
        reply.phrases("verb_phrases", "verb_phrase_nodes", answers=lambda node: [*node.answers(ids, forms)])
    )
    facts = tuple(reply.texts("propositions"))
    return checked(reply, Extraction(tuple(entities), phrases, facts))


def node_of(reply: object) -> Node:
    """Return a reply as a node within bounds. Raises ValueError if the reply is not an object."""
    if not isinstance(reply, dict):
        raise ValueError(f"the reply is not an object but {kind_of(reply)}")  # noqa: TRY004
    return Node(reply, most=MOST, longest=LONGEST)


def checked(reply: Node, result: Result) -> Result:
    """Return the result that was read from a reply. Raises ValueError with the first fault of the reply."""
    if reply.faults:
        raise ValueError(reply.faults[0])
    return result


_PART = re.compile(r"[^\W_]+")
_STEM = 5  # letters that two forms of a word share: Canada, Canadian
SHARE = 0.5  # least share of entities, and of questions, answers and facts, that stands in the passage
_NOTHING = re.compile(r"[.…\s]*")  # "...", as models write it where a text belongs
_SHOWN = 3  # names in a message, of those that are not in the passage


def without_placeholders(extraction: Extraction) -> Extraction:
    """Return a result without texts that are nothing but dots."""
    phrases = []
    for phrase, questions in extraction.phrases:
        remaining = _without_placeholders(questions)
        if _says(phrase) and (remaining or not questions):
            phrases.append((phrase, remaining))
    entities = tuple(
        (name, _without_placeholders(roles)) for name, roles in extraction.entities if _says(name)
    )
    facts = tuple(filter(_says, extraction.facts))
    return replace(extraction, entities=entities, phrases=tuple(phrases), facts=facts)


def _without_placeholders(lists: Iterable[tuple[str, Texts]]) -> tuple[tuple[str, Texts], ...]:
    return tuple((name, tuple(filter(_says, texts))) for name, texts in lists if _says(name))


@lru_cache(maxsize=65536)
def stems(text: str) -> frozenset[str]:
    """Return the stems of the words of a text, without accents and case. Function words are left out; numbers
    stay whole."""
    found = set()
    for word in text.split():
        for part in _PART.findall(normalise(word)):
            if part not in FUNCTION_WORDS:
                found.add(part if part.isdecimal() else part[:_STEM])
    return frozenset(found)


def folded(text: str) -> str:
    """Return a text in normal form, with each dash and slash as a hyphen, for `stands_in`."""
    return " ".join(map(normalise, re.sub("[‐-―−/]", "-", text).split()))


def proper(text: str) -> frozenset[str]:
    """Return the stems of names and numbers: the words of a text that do not begin with a small letter."""
    return stems(" ".join(part for part in _PART.findall(text) if not part[0].islower()))


def stands_in(name: str, text: str) -> bool:
    """Return whether a folded text has at least half of the words of a name, in any order and form. If some
    words begin with a capital or a digit, only these count."""
    words = proper(name) or stems(name)
    return 2 * sum(_has(text, stem) for stem in words) >= len(words)


def _has(text: str, stem: str) -> bool:
    if len(stem) == 1 and stem.isascii():  # the "e" of "e-mail" is in every text
        return stem in re.findall(r"\w+", text)
    if stem in text:
        return True
    return len(stem) == 4 and stem.isdecimal() and f"-{stem[2:]}" in text


def check_grounded(extraction: Extraction, text: str) -> None:
    """Raise ValueError if a result is not grounded in the text: less than half of the entities, or of the
    questions, answers and facts, stand in the text by `stands_in`."""
    text = folded(text)
    others: list[str] = []
    for _, questions in extraction.phrases:
        for question, answers in questions:
            others += [question, *answers]
    others += extraction.facts
    _check("entities", [name for name, _ in extraction.entities], text)
    _check("questions, answers and propositions", others, text)


def _check(kind: str, names: Iterable[str], text: str) -> None:
    # A name that is repeated six times counts once.
    distinct = {normalise(name): name for name in names if any(map(str.isalnum, name))}
    strange = [name for name in distinct.values() if not stands_in(name, text)]
    if len(strange) > (1 - SHARE) * len(distinct):
        some = ", ".join(repr(name[:60]) for name in dict.fromkeys(strange[:_SHOWN]))
        raise ValueError(
            f"{len(strange)} of {len(distinct)} {kind} name what the passage does not name ({some}): take "
            "them from the passage"
        )


def _says(text: str) -> bool:
    return not _NOTHING.fullmatch(text)


_CONTEXT = 300  # characters shown of the passage before
_TITLE = 200  # characters
_LEAST, _A_TOKEN = 1000, 16  # limit of a reply, in tokens: for any passage, and more for each of its tokens
_SHORT = 1000  # tokens of a reply to the short prompt, whose lists are short
_AGAIN = (
    "Write that passage down as JSON: the names in it, questions about them with their answers, and its "
    "facts. Take all of it from the passage."
)
_BEFORE = "The text before it ends as follows (context only: take nothing from it):"
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")


def request(document: Document, position: int) -> Request:
    """Return the request about a passage. The same text in the same place gives the same request."""
    text, limit = shown(document, position), reply_limit(document, position)
    few = messages("extract_short", f"{text}\n\n{_AGAIN}")
    short = Request("extract", few, SHORT_SCHEMA, document.source, min(limit, _SHORT))
    return Request("extract", messages("extract", text), SCHEMA, document.source, limit, short)


def reply_limit(document: Document, position: int) -> int:
    """Return a limit in tokens that no sound reply about a passage reaches. A usual reply takes seven tokens
    for each token of the passage."""
    return _LEAST + _A_TOKEN * estimate(document.passages[position].text)


def messages(name: str, text: str) -> tuple[dict[str, str], ...]:
    """Return the messages of a request: a prompt of this package by name, and the text."""
    return ({"role": "system", "content": prompt(name)}, {"role": "user", "content": text})


def shown(document: Document, position: int, *, context: bool = True) -> str:
    """Return a passage with its title and, if `context` is set, the end of the passage before."""
    passage = document.passages[position]
    title = single_spaced(passage.title)[:_TITLE]
    parts = []
    if title:
        parts.append(f"Title:\n{fence('title', title)}")
    if context and position and (end := _end(document.passages[position - 1])):
        parts.append(f"{_BEFORE}\n{fence('context', end)}")
    parts.append(fence("passage", passage.text))
    return "\n\n".join(parts)


def _end(passage: Passage) -> str:
    """Return the last sentences of a passage, or the last words of a long one."""
    sentences = _SENTENCE.split(single_spaced(passage.text[-4 * _CONTEXT :]))
    end = sentences.pop()
    while sentences and len(end) + len(sentences[-1]) < _CONTEXT:
        end = f"{sentences.pop()} {end}"
    return end if len(end) <= _CONTEXT else end[-_CONTEXT:].partition(" ")[2]


def repair_request(document: Document, position: int, extraction: Extraction) -> Request:
    """Return the request of the second pass about a passage."""
    first = json.dumps(written(extraction), ensure_ascii=False, separators=(",", ":"))
    text = f"{shown(document, position)}\n\nThe notes about it:\n{fence('notes', first)}"
    limit = reply_limit(document, position)
    return Request("repair", messages("repair", text), SCHEMA, document.source, limit)


def written(extraction: Extraction) -> Fields:
    """Return a result in the shape of a reply."""
    entities = []
    for name, roles in extraction.entities:
        texts = [": ".join(filter(None, (role, "; ".join(states)))) for role, states in roles]
        entities.append({"name": name, "roles": texts})
    phrases = []
    for phrase, questions in extraction.phrases:
        pairs = [{"question": question, "answers": list(answers)} for question, answers in questions]
        phrases.append({"phrase": phrase, "questions": pairs})
    return {"entities": entities, "verb_phrases": phrases, "propositions": list(extraction.facts)}


def extract_passage(document: Document, position: int, chat: Chat, *, second_pass: bool) -> Extraction:
    """Return what a model finds in a passage. With `second_pass` the model repairs and completes its result.

    A second reply with less than half of the questions of the first is refused. If the second pass fails, the
    first result is returned, with the reason in `repair_error`.

    Raises:
        InvalidReplyError: There is no usable first reply.
    """
    read_reply = check(document, position)
    extraction = chat.ask(request(document, position), read_reply).value
    if not second_pass:
        return extraction
    questions = _count_questions(extraction)

    def check_repaired(value: object) -> Extraction:
        repaired = read_reply(value)
        if _count_questions(repaired) < SHARE * questions:
            raise ValueError("most questions of the notes are missing: write the notes whole")
        return repaired

    try:
        return chat.ask(repair_request(document, position, extraction), check_repaired).value
    except InvalidReplyError as error:
        return replace(extraction, repair_error=str(error))


def _count_questions(extraction: Extraction) -> int:
    return sum(len(questions) for _, questions in extraction.phrases)


def check(document: Document, position: int) -> Callable[[object], Extraction]:
    """Return a function that reads and checks the reply about a passage.

    It raises ValueError for a reply that is not grounded in the passage (`check_grounded`), and for a reply
    without entities if the text surely has names or dates: a model that gives up must not go unseen.
    """

    return lambda value: check_extraction(without_placeholders(read(value)), document, position)


def check_extraction(extraction: Extraction, document: Document, position: int) -> Extraction:
    """Return the extraction of a passage if it passes. Raises ValueError as `check` says."""
    if not extraction.entities and (names := _named_in(document.passages[position])):
        raise ValueError(f"there are no entities, although the passage names {', '.join(names[:3])}")
    # The title and the passage before explain the pronouns of a passage.
    passages = document.passages[max(position - 1, 0) : position + 1]
    check_grounded(extraction, "\n".join(passage.full_text for passage in passages))
    return extraction


def assemble(
    document: Document, extractions: Mapping[int, Extraction], model: str | None, extractor: str = "llm"
) -> tuple[Workspace, list[str]]:
    """Return the workspace of a document from the extractions of its passages, by position, and the faults
    that were left out.

    The same name in several passages is one entity. A proposition mentions each entity of the document whose
    name is in its words.
    """
    assembler = Assembler(document)
    spellings: dict[str, str] = {}
    for position, extraction in sorted(extractions.items()):
        for name, roles in extraction.entities:
            if assembler.entity(name, position, roles):
                spellings.setdefault(normalise(name), single_spaced(name))
    words = words_of(spellings)
    for position, extraction in sorted(extractions.items()):
        own: dict[str, str] = {}  # spellings of this passage
        for name, _ in extraction.entities:
            own.setdefault(normalise(name), single_spaced(name))
        for phrase, questions in extraction.phrases:
            assembler.verb_phrase(phrase, questions, position)
        for fact in extraction.facts:
            mentioned = [own.get(key, spellings[key]) for key in named(fact, spellings, words)]
            assembler.proposition(fact, extraction.mentions.get(fact, mentioned), position)
        for triple in extraction.triples:
            assembler.triple(*triple, position)
    return replace(assembler.workspace(extractor), model=model), assembler.faults


def _named_in(passage: Passage) -> list[str]:
    """Return the names and dates that rules find in a passage. A single word that opens a sentence does not
    count, as any word may; nor does the title."""
    text = passage.text.removeprefix(f"{passage.title}\n")
    inside = set()
    for name in find_names(text):
        if not name.starter and not name.capitals:
            inside.add(normalise(name.text))
    inside.discard(normalise(passage.title))  # "Love Me may refer to:" states nothing of it
    seen = rules.extract(Document("", "", (Passage(text, "", 0),), "")).entities
    return [entity.name for entity in seen if entity.from_ or entity.key in inside]
