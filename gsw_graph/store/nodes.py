"""The schema, declared once, as neomodel classes. Constraints, indexes, dumps, exports and the documentation
are made from them; gswgraph itself writes by Cypher, see `cypher/`.

    nodes.connect(memory)
    nodes.Concept.nodes.get(uid="hank snow")

The property `id` is `uid` here, because neomodel keeps that name for itself. `unique_index` is the key of a
label, `index` a range index, `fulltext` the properties of its full-text index, and a list of floats has a
vector index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

from neomodel import (
    ArrayProperty,
    BooleanProperty,
    FloatProperty,
    IntegerProperty,
    RelationshipFrom,
    RelationshipTo,
    StringProperty,
    StructuredNode,
    StructuredRel,
    db,
)
from neomodel.properties import Property

from gsw_graph.errors import InputError

if TYPE_CHECKING:
    from gsw_graph.engine import Connection


class OpenMemory(Protocol):
    """What `connect` needs of a `gsw_graph.Memory`."""

    _connection: Connection

    @property
    def url(self) -> str: ...


def _to(label: str, kind: str, model: type[StructuredRel] | None = None) -> RelationshipTo:
    """Return relationships that lead to a label of this module, named in full: a short name neomodel looks
    for in each module that is importing this one, and takes what has that name there."""
    return RelationshipTo(f"{__name__}.{label}", kind, model=model)


def _from(label: str, kind: str, model: type[StructuredRel] | None = None) -> RelationshipFrom:
    """Return relationships that come from a label; see `_to`."""
    return RelationshipFrom(f"{__name__}.{label}", kind, model=model)


class BytesProperty(Property[bytes]):
    """Bytes as they are: a unit vector, a signed byte a dimension, which `store.vectors` unpacks."""

    def inflate(self, value: Any, obj: Any = None) -> Any:  # noqa: ARG002 - the shape that neomodel asks for
        """From the graph."""
        return value

    def deflate(self, value: Any, obj: Any = None) -> Any:  # noqa: ARG002
        """Into the graph."""
        return value


class In(StructuredRel):
    """A thing occurs in a passage; `title` where it is the passage's title."""

    title = BooleanProperty()


class Names(StructuredRel):
    """A passage names a concept, which walks follow: `weight` is more of its `title`, `name` is as written
    if no entity of the document says so. `counted`: rules found the name and nothing else of it, so it has no
    entity in the document, and the concept counts this passage. `opens`: as of `Entity`."""

    title = BooleanProperty()
    weight = FloatProperty()
    name = StringProperty()
    counted = BooleanProperty()
    opens = BooleanProperty()


class Plays(StructuredRel):
    """An entity plays a role, with states."""

    states = ArrayProperty(StringProperty())


class AnsweredBy(StructuredRel):
    """An answer of a pair, by its place in the list."""

    position = IntegerProperty()


class Mentions(StructuredRel):
    """A proposition names an entity, as `subject`, `object` or neither."""

    role = StringProperty()


class Holds(StructuredRel):
    """An edge of a run, by its place in it, on a statement that says so. The same three, two concepts and
    the statement's relation, have the same number everywhere."""

    number = IntegerProperty()
    position = IntegerProperty()
    subject = StringProperty()
    object = StringProperty()


class AliasOf(StructuredRel):
    """A concept is another one, says a method (`rules`, or a language model) in a run of `merge`, and why."""

    score = FloatProperty()
    reason = StringProperty()
    method = StringProperty()
    run = StringProperty()
    at = StringProperty()


class Used(StructuredRel):
    """What an answer came from: a pair with its hop and its chain's rank, or a passage with its own,
    `cited` where the answer cites it, with the `quote`."""

    hop = IntegerProperty()
    rank = IntegerProperty()
    score = FloatProperty()
    cited = BooleanProperty()
    quote = StringProperty()


class Keyed(StructuredNode):
    """A node with an `id`, which distinguishes it from others of its label."""

    __abstract_node__ = True
    uid = StringProperty(db_property="id", unique_index=True)


class Memory(Keyed):
    """One node: how the memory was made; `runs`, the
    version as of which all passages have their runs."""

    schema = IntegerProperty()
    embedder = StringProperty()
    dimension = IntegerProperty()
    created = StringProperty()
    version = IntegerProperty()
    runs = IntegerProperty()
    indexed = BooleanProperty()
    vectors = IntegerProperty()


class Document(Keyed):
    """What was loaded; `about`: the date it is about; `language`: ISO 639-1; `file`: of a record, which has a
    source of its own. Its metadata are further properties, `meta_<key>`; `given`: keys of those that people
    gave."""

    source = StringProperty()
    title = StringProperty()
    content_hash = StringProperty()
    text_hash = StringProperty()
    loader = StringProperty()
    extractor = StringProperty()
    model = StringProperty()
    unread = ArrayProperty(IntegerProperty())
    loaded_at = StringProperty()
    status = StringProperty()
    about = StringProperty()
    language = StringProperty()
    given = ArrayProperty(StringProperty())
    file = StringProperty()
    passages = _from("Passage", "PART_OF")


class Passage(Keyed):
    """A stretch of a document; `words` is what its words are found by: its text, after the headings of its
    section that it does not show, with characters and line ends in their plain form, in another language than
    English the stems and, where they differ, the words; `section`: title and headings that lead to it;
    `speaker` and `at` of a turn of a conversation."""

    fulltext = ("title", "words")
    text = StringProperty()
    words = StringProperty()
    title = StringProperty()
    position = IntegerProperty()
    section = StringProperty()
    speaker = StringProperty()
    at = StringProperty()
    vector = BytesProperty()
    embedding = ArrayProperty(FloatProperty())
    names = _to("Concept", "NAMES", model=Names)
    document = _to("Document", "PART_OF")
    superseded = _to("Document", "SUPERSEDED_IN")
    next = _to("Passage", "NEXT")
    entities = _from("Entity", "IN", model=In)
    verb_phrases = _from("VerbPhrase", "IN")
    pairs = _from("QAPair", "IN")
    propositions = _from("Proposition", "IN")


class Role(StructuredNode):
    """A part that entities play."""

    name = StringProperty(unique_index=True)
    entities = _from("Entity", "PLAYS", model=Plays)


class Concept(Keyed):
    """A name, the same in every document, spelled as in most passages. `joins`: not of a date, a number or a
    common word, which bring nothing together. `opens`: all documents have it as of `Entity`. `vector` where
    an edge joins it."""

    name = StringProperty()
    passages = IntegerProperty()
    joins = BooleanProperty()
    opens = BooleanProperty()
    vector = BytesProperty()
    named_by = _from("Passage", "NAMES", model=Names)
    entities = _from("Entity", "REFERS_TO")
    aliases = _to("Concept", "ALIAS_OF", model=AliasOf)


class Entity(Keyed):
    """What one document says of a name, if it is more than the name: a role, a part in a pair or a
    proposition; a date has `from` and `to`. `opens`: a word that begins sentences there, and stands nowhere
    else."""

    fulltext = ("name", "description")
    name = StringProperty()
    description = StringProperty()
    from_ = StringProperty(db_property="from", index=True)
    to = StringProperty()
    opens = BooleanProperty()
    passages = _to("Passage", "IN", model=In)
    roles = _to("Role", "PLAYS", model=Plays)
    concept = _to("Concept", "REFERS_TO")


class VerbPhrase(Keyed):
    """What happens in a passage."""

    phrase = StringProperty()
    vector = BytesProperty()
    passages = _to("Passage", "IN")
    pairs = _to("QAPair", "ASKS")


class QAPair(Keyed):
    """A question and its answers as written, and as one text; those that are entities are in `entities`."""

    title = StringProperty()
    question = StringProperty()
    answer = StringProperty()
    answers = ArrayProperty(StringProperty())
    vector = BytesProperty()
    embedding = ArrayProperty(FloatProperty())
    entities = _to("Entity", "ANSWERED_BY", model=AnsweredBy)
    about = _to("Entity", "ABOUT")
    verb_phrase = _from("VerbPhrase", "ASKS")
    passages = _to("Passage", "IN")
    removed = _to("Passage", "REMOVED_FROM")
    relation = _to("Relation", "RELATES_BY")


class Proposition(Keyed):
    """A statement; a triple has a `relation`."""

    fulltext = ("text", "relation")
    title = StringProperty()
    text = StringProperty()
    relation = StringProperty()
    vector = BytesProperty()
    embedding = ArrayProperty(FloatProperty())
    mentions = _to("Entity", "MENTIONS", model=Mentions)
    passages = _to("Passage", "IN")
    removed = _to("Passage", "REMOVED_FROM")
    relation_ = _to("Relation", "RELATES_BY")


class Relation(StructuredNode):
    """How two concepts are related, in lower case, the same in every document."""

    name = StringProperty(unique_index=True)
    vector = BytesProperty()


class Run(Keyed):
    """Edges that belong together, in the order of the text; one of no edges says that its passage was
    looked at."""

    title = StringProperty()
    edges = IntegerProperty()
    pairs = _to("QAPair", "HOLDS", model=Holds)
    propositions = _to("Proposition", "HOLDS", model=Holds)
    passages = _to("Passage", "IN")


class Question(Keyed):
    """What was asked and answered, when, by which strategy, at what cost. `plan` is JSON; `model` the
    language model that was asked; `cited` how many passages the answer cites; `limited` where it
    could not come from every passage; `verdict` what people say of it."""

    title = StringProperty()
    question = StringProperty()
    answer = StringProperty()
    answer_source = StringProperty()
    abstained = BooleanProperty()
    confidence = FloatProperty()
    strategy = StringProperty()
    plan = StringProperty()
    model = StringProperty()
    asked_at = StringProperty()
    seconds = FloatProperty()
    prompt_tokens = IntegerProperty()
    completion_tokens = IntegerProperty()
    dollars = FloatProperty()
    inferred = BooleanProperty()
    cited = IntegerProperty()
    embedding = ArrayProperty(FloatProperty())
    limited = BooleanProperty()
    verdict = StringProperty()
    judged_at = StringProperty()
    reused = _to("Question", "REUSED")
    pairs = _to("QAPair", "USED", model=Used)
    propositions = _to("Proposition", "USED", model=Used)
    passages = _to("Passage", "USED", model=Used)


class Correction(Keyed):
    """What a person corrected, who and when: an `action` on a `target`, with a `value`, in the documents
    `places`. Later loads of these keep it. `texts`: of a passage that is superseded, and of the other."""

    action = StringProperty()
    target = StringProperty()
    value = StringProperty()
    places = ArrayProperty(StringProperty())
    texts = ArrayProperty(StringProperty())
    by = StringProperty()
    at = StringProperty()


NODES = (
    Memory,
    Document,
    Passage,
    Role,
    Concept,
    Entity,
    VerbPhrase,
    QAPair,
    Proposition,
    Relation,
    Run,
    Question,
    Correction,
)


@dataclass(frozen=True, slots=True)
class Label:
    """Nodes of one label. `key` is the property that distinguishes them, `vectors` those that are lists of
    floats."""

    name: str
    key: str
    vectors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relationship:
    """Relationships of one type between two labels; `name` is such as `Entity IN Passage`."""

    begin: Label
    type: str
    end: Label

    @property
    def name(self) -> str:
        return f"{self.begin.name} {self.type} {self.end.name}"


@dataclass(frozen=True, slots=True)
class Index:
    """A constraint (`unique`) or an index of some properties of a label. `unique` and `range` are made
    before the first rows, `vector` and `text` after them."""

    name: str
    kind: Literal["unique", "range", "vector", "text"]
    label: str
    properties: tuple[str, ...]


Kind = Label | Relationship


@cache
def labels() -> Mapping[str, Label]:
    """Return all labels by name, Memory first."""
    result = {}
    for cls in NODES:
        own = properties(cls)
        key = next(name for name, property_ in own.items() if property_.unique_index)
        vectors = []
        for name, property_ in own.items():
            if isinstance(getattr(property_, "base_property", None), FloatProperty):
                vectors.append(name)
        result[cls.__label__] = Label(cls.__label__, key, tuple(vectors))
    return result


@cache
def relationships() -> tuple[Relationship, ...]:
    """Return all kinds of relationships."""
    return tuple(Relationship(labels()[begin], kind, labels()[end]) for begin, kind, end in declared())


def kinds() -> tuple[Kind, ...]:
    """Return all kinds of nodes, then of relationships."""
    return (*labels().values(), *relationships())


@cache
def indexes() -> tuple[Index, ...]:
    """Return all constraints and indexes: those made before the first rows come first."""
    first: list[Index] = []
    later: list[Index] = []
    for label, cls in zip(labels().values(), NODES, strict=True):
        prefix = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", label.name).lower()
        first.append(Index(f"{prefix}_{label.key}", "unique", label.name, (label.key,)))
        for name, property_ in properties(cls).items():
            if property_.index:
                first.append(Index(f"{prefix}_{name}", "range", label.name, (name,)))
        later += (Index(f"{prefix}_{name}", "vector", label.name, (name,)) for name in label.vectors)
        fulltext = getattr(cls, "fulltext", ())
        if fulltext:
            later.append(Index(f"{prefix}_text", "text", label.name, fulltext))
    return (*first, *later)


def declared() -> dict[tuple[str, str, str], type | None]:
    """Return the class of the properties of each kind of relationship, by label, type and label; sorted."""
    models: dict[tuple[str, str, str], type | None] = {}
    for cls in NODES:
        for definition in cls.defined_properties(aliases=False, properties=False).values():
            link = definition.definition
            begin, end = cls.__label__, definition._raw_class.rpartition(".")[2]
            if link["direction"].name != "OUTGOING":
                begin, end = end, begin
            key = (begin, link["relation_type"], end)
            models[key] = models.get(key) or link["model"]
    return dict(sorted(models.items(), key=lambda item: item[0]))


def properties(cls: Any) -> dict[str, Property[Any]]:
    """Return the properties of a class by their names in the graph."""
    declared = cls.defined_properties(aliases=False, rels=False)
    return {property_.get_db_property_name(name): property_ for name, property_ in declared.items()}


def connect(memory: OpenMemory) -> None:
    """Let neomodel speak to the server of an open memory. docs/neomodel.md has an example. Raises InputError
    for a named memory, whose labels the classes do not have."""
    if memory._connection.memory:
        raise InputError("the classes of neomodel show the default memory only", where=memory.url)
    db.set_connection(driver=memory._connection.driver)
