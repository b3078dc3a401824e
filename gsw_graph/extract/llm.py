"""Documents to workspaces by a language model: one call a passage, a second one where asked for, and the
replies joined by name.

A model says names and sentences, never ids: these are made by the store from the document's source, so
that no reply reaches another document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from gsw_graph.assemble import Assembler, named, words_of
from gsw_graph.errors import ReplyError
from gsw_graph.extract import rules
from gsw_graph.extract.grounding import check_grounded, without_placeholders
from gsw_graph.extract.lint import Fault, lint
from gsw_graph.extract.llm_mend import mend_request, mended, read_patch
from gsw_graph.extract.llm_reply import Found, read
from gsw_graph.extract.llm_request import request
from gsw_graph.model import Document, Passage, Workspace
from gsw_graph.names import find_names, normalise

if TYPE_CHECKING:
    from gsw_graph.inference.chat.chat import Chat

__all__ = [
    "Found",
    "assemble",
    "check",
    "extract_passage",
    "faults_of",
    "mend_request",
    "mended",
    "read",
    "read_patch",
    "request",
]


def extract_passage(document: Document, position: int, chat: Chat, *, second_pass: bool) -> Found:
    """What a model finds in one passage; with `second_pass` it is asked to mend what `lint` finds wrong with
    that and to add what is missing.

    ReplyError: no usable reply. One about the second pass alone leaves the first result as it is, and is
    told in `unmended`.
    """
    found = chat.ask(request(document, position), check(document, position)).value
    if not second_pass:
        return found
    faults = faults_of(document, position, found)
    try:
        patch = chat.ask(mend_request(document, position, found, faults), read_patch).value
    except ReplyError as error:
        return replace(found, unmended=str(error))
    better = mended(found, patch, faults)
    return better if len(faults_of(document, position, better)) <= len(faults) else found


def check(document: Document, position: int) -> Callable[[object], Found]:
    """`read` for the reply about one passage. Nothing found where its text surely has names or dates is an
    error: a model that gives up must not go unseen. So is a reply that names what the passage does not:
    see `grounding`."""

    def checked(value: object) -> Found:
        found = without_placeholders(read(value))
        if not found.entities and (names := _named_in(document.passages[position])):
            raise ValueError(f"there are no entities, although the passage names {', '.join(names[:3])}")
        check_grounded(found, _seen(document, position))
        return found

    return checked


def faults_of(document: Document, position: int, found: Found) -> list[Fault]:
    """What `lint` says of one passage's result."""
    return lint(assemble(_alone(document, position), {position: found}, None)[0])


def assemble(
    document: Document, founds: Mapping[int, Found], model: str | None
) -> tuple[Workspace, list[str]]:
    """The workspace of a document from what was found in its passages, by position, and what was left out of
    it.

    The same name in several passages is one entity; a proposition mentions the entities of the document
    that it names.
    """
    assembler = Assembler(document)
    spellings: dict[str, str] = {}
    for position, found in sorted(founds.items()):
        for name, roles in found.entities:
            if assembler.entity(name, position, roles):
                spellings.setdefault(normalise(name), " ".join(name.split()))
    words = words_of(spellings)
    for position, found in sorted(founds.items()):
        own = {normalise(name): " ".join(name.split()) for name, _ in reversed(found.entities)}
        for phrase, asked in found.phrases:
            assembler.verb_phrase(phrase, asked, position)
        for fact in found.facts:
            assembler.proposition(
                fact, [own.get(key, spellings[key]) for key in named(fact, spellings, words)], position
            )
    return replace(assembler.workspace("llm"), model=model), assembler.faults


def _named_in(passage: Passage) -> list[str]:
    """The names and dates that rules see in a text. A word alone that opens a sentence may be any word,
    and a title is not noted."""
    text = passage.text.removeprefix(f"{passage.title}\n")
    inside = {normalise(name.text) for name in find_names(text) if not (name.starter or name.capitals)}
    seen = rules.extract(Document("", "", (Passage(text, "", 0),), "")).entities
    return [entity.name for entity in seen if entity.from_ or entity.key in inside]


def _seen(document: Document, position: int) -> str:
    """A passage with what explains its pronouns: its title and the passage before."""
    return "\n".join(passage.full_text for passage in document.passages[max(position - 1, 0) : position + 1])


def _alone(document: Document, position: int) -> Document:
    return replace(document, passages=(document.passages[position],))
