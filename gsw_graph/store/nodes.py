"""The schema as neomodel classes, for people who like an OGM. gswgraph itself writes by Cypher: see
`cypher/`.

    nodes.connect(memory)
    nodes.Concept.nodes.get(uid="hank snow")

The property `id` is `uid` here, because neomodel keeps that name for itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
)
from neomodel.properties import Property

if TYPE_CHECKING:
    import gsw_graph.memory


class BytesProperty(Property[bytes]):
    """Bytes as they are: a unit vector, a signed byte a dimension, which `text.unpack_vectors` reads."""

    def inflate(self, value: Any, obj: Any = None) -> Any:  # noqa: ARG002 - the shape that neomodel asks for
        """From the graph."""
        return value

    def deflate(self, value: Any, obj: Any = None) -> Any:  # noqa: ARG002
        """Into the graph."""
        return value


class In(StructuredRel):
    """A thing stands in a passage; `title` where it is the passage's title."""

    title = BooleanProperty()


class Names(StructuredRel):
    """A passage names a concept, which walks follow: `weight` is more of its `title`, `name` is as written
    where the entities of the document come from elsewhere."""

    title = BooleanProperty()
    weight = FloatProperty()
    name = StringProperty()


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


class SimilarTo(StructuredRel):
    """Two concepts may be one."""

    score = FloatProperty()


class AliasOf(SimilarTo):
    """A concept is another one, says a method (`rules`, or a language model) in a run of `merge`, and why."""

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


class Memory(StructuredNode):
    """One node: how the memory was made; `moving` while a copy or an import into it is not whole; `runs`, the
    version as of which all passages have their runs."""

    uid = StringProperty(db_property="id", unique_index=True)
    schema = IntegerProperty()
    embedder = StringProperty()
    dimension = IntegerProperty()
    created = StringProperty()
    version = IntegerProperty()
    runs = IntegerProperty()
    indexed = BooleanProperty()
    vectors = IntegerProperty()
    moving = StringProperty()


class Document(StructuredNode):
    """What was loaded."""

    uid = StringProperty(db_property="id", unique_index=True)
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
    passages = RelationshipFrom("Passage", "PART_OF")


class Passage(StructuredNode):
    """A stretch of a document."""

    uid = StringProperty(db_property="id", unique_index=True)
    text = StringProperty()
    title = StringProperty()
    position = IntegerProperty()
    vector = BytesProperty()
    embedding = ArrayProperty(FloatProperty())
    names = RelationshipTo("Concept", "NAMES", model=Names)
    document = RelationshipTo("Document", "PART_OF")
    next = RelationshipTo("Passage", "NEXT")
    entities = RelationshipFrom("Entity", "IN", model=In)
    verb_phrases = RelationshipFrom("VerbPhrase", "IN")
    pairs = RelationshipFrom("QAPair", "IN")
    propositions = RelationshipFrom("Proposition", "IN")
    runs = RelationshipFrom("Run", "IN")


class Role(StructuredNode):
    """A part that entities play."""

    name = StringProperty(unique_index=True)
    entities = RelationshipFrom("Entity", "PLAYS", model=Plays)


class Concept(StructuredNode):
    """A name, the same in every document. `joins`: not of a date, a number or a common word, which bring
    nothing together. `vector` where an edge joins it."""

    uid = StringProperty(db_property="id", unique_index=True)
    name = StringProperty()
    passages = IntegerProperty()
    joins = BooleanProperty()
    vector = BytesProperty()
    named_by = RelationshipFrom("Passage", "NAMES", model=Names)
    entities = RelationshipFrom("Entity", "REFERS_TO")
    similar = RelationshipTo("Concept", "SIMILAR_TO", model=SimilarTo)
    aliases = RelationshipTo("Concept", "ALIAS_OF", model=AliasOf)


class Entity(StructuredNode):
    """A name in one document; a date has `from` and `to`."""

    uid = StringProperty(db_property="id", unique_index=True)
    name = StringProperty()
    description = StringProperty()
    from_ = StringProperty(db_property="from", index=True)
    to = StringProperty()
    passages = RelationshipTo("Passage", "IN", model=In)
    roles = RelationshipTo("Role", "PLAYS", model=Plays)
    concept = RelationshipTo("Concept", "REFERS_TO")


class VerbPhrase(StructuredNode):
    """What happens in a passage."""

    uid = StringProperty(db_property="id", unique_index=True)
    phrase = StringProperty()
    vector = BytesProperty()
    passages = RelationshipTo("Passage", "IN")
    pairs = RelationshipTo("QAPair", "ASKS")


class QAPair(StructuredNode):
    """A question and its answers as written, and as one text; those that are entities are in `entities`."""

    uid = StringProperty(db_property="id", unique_index=True)
    title = StringProperty()
    question = StringProperty()
    answer = StringProperty()
    answers = ArrayProperty(StringProperty())
    vector = BytesProperty()
    embedding = ArrayProperty(FloatProperty())
    entities = RelationshipTo("Entity", "ANSWERED_BY", model=AnsweredBy)
    about = RelationshipTo("Entity", "ABOUT")
    verb_phrase = RelationshipFrom("VerbPhrase", "ASKS")
    passages = RelationshipTo("Passage", "IN")
    relation = RelationshipTo("Relation", "RELATES_BY")
    runs = RelationshipFrom("Run", "HOLDS", model=Holds)


class Proposition(StructuredNode):
    """A statement; a triple has a `relation`."""

    uid = StringProperty(db_property="id", unique_index=True)
    title = StringProperty()
    text = StringProperty()
    relation = StringProperty()
    vector = BytesProperty()
    embedding = ArrayProperty(FloatProperty())
    mentions = RelationshipTo("Entity", "MENTIONS", model=Mentions)
    passages = RelationshipTo("Passage", "IN")
    relation_ = RelationshipTo("Relation", "RELATES_BY")
    runs = RelationshipFrom("Run", "HOLDS", model=Holds)


class Relation(StructuredNode):
    """How two concepts are related, in lower case, the same in every document."""

    name = StringProperty(unique_index=True)
    vector = BytesProperty()
    pairs = RelationshipFrom("QAPair", "RELATES_BY")
    propositions = RelationshipFrom("Proposition", "RELATES_BY")


class Run(StructuredNode):
    """Edges that belong together, in the order of the text; one of no edges says that its passage was
    looked at."""

    uid = StringProperty(db_property="id", unique_index=True)
    title = StringProperty()
    edges = IntegerProperty()
    pairs = RelationshipTo("QAPair", "HOLDS", model=Holds)
    propositions = RelationshipTo("Proposition", "HOLDS", model=Holds)
    passages = RelationshipTo("Passage", "IN")


class Question(StructuredNode):
    """What was asked and answered, when, by which strategy, at what cost. `plan` is JSON; `model` the
    language model that was asked; `cited` how many passages the answer cites; `verdict` what people say of
    it."""

    uid = StringProperty(db_property="id", unique_index=True)
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
    verdict = StringProperty()
    judged_at = StringProperty()
    reused = RelationshipTo("Question", "REUSED")
    pairs = RelationshipTo("QAPair", "USED", model=Used)
    propositions = RelationshipTo("Proposition", "USED", model=Used)
    passages = RelationshipTo("Passage", "USED", model=Used)


NODES = (
    *(Memory, Document, Passage, Role, Concept, Entity, VerbPhrase, QAPair, Proposition),
    *(Relation, Run, Question),
)


def connect(memory: gsw_graph.memory.Memory) -> None:
    """Let neomodel speak to the server of an open memory. docs/neomodel.md has an example."""
    from neomodel import db

    db.set_connection(driver=memory._connection.driver)
