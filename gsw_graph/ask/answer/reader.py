"""An answer read from evidence by a language model, and the lines that it stands on. What it cites comes from
the graph: of the model's reply only the numbers of our own lines count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gsw_graph.ask.answer import reply as protocol
from gsw_graph.ask.answer.evidence import Item, flat, listed, quote
from gsw_graph.ask.strategy import AnswerDraft
from gsw_graph.model.results import Citation
from gsw_graph.models.chat.request import Request, estimate, estimate_messages
from gsw_graph.models.prompts import prompt
from gsw_graph.text.names import CONNECTORS, FUNCTION_WORDS, LETTERS, normalise

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from gsw_graph.models.chat.request import LanguageModel


# share of an answer's words that must stand somewhere, where no line has them all: "Rome and Oslo", two parts
# of a date in another form
_HELD = 0.6
_STEM = 5  # letters: "American" stands for America, "Roomassa" for Rooma
_YES_NO = frozenset(
    """yes no oui non si sí sì sim não nao ja nein nee nej nei jo tak nie
    ano ne evet hayır da nu igen nem kyllä ei ya tidak có không
    ναι όχι да нет так ні
    はい いいえ 是 是的 不是 否 不 예 네 아니요 아니오 हाँ हां नहीं نعم لا כן לא""".split()
)
_CLAUSE = re.compile("[,.;:!，。、！]")
_WORD = re.compile(LETTERS)
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)  # scripts without spaces


def supported(
    question: str,
    answer: str,
    named: Sequence[int],
    items: Sequence[Item],
    *,
    judged: bool,
    inferred: bool = False,
) -> list[int]:
    """The places of the lines that an answer stands on: those that a model named, and the first that holds
    its words if none of these does.

    Empty where it stands on nothing. A judgement (yes or no, one of the things that the question names, what
    a comparing step says: `judged`) need not stand anywhere in words; without named lines it stands on the
    one that is nearest to it. Nor need an answer of which the model says that it follows from the lines that
    it names (`inferred`); it stands on these, and on nothing without them.
    """
    named = list(dict.fromkeys(place for place in named if 0 <= place < len(items)))
    # "Three" is a function word, "!!!" is none at all.
    words = words_of(answer) or words_of(answer, every=True) or frozenset([answer.casefold()])
    yes_no = is_yes_no(answer)
    if judged or yes_no or words <= words_of(question):
        return named or _most(words_of(question) if yes_no else words, items)[:1]
    shares = [_share(words, item.text) for item in items]
    if max(shares, default=0.0) < 1:  # a line is short; the passage it was taken from may say more
        shares = [
            max(share, _share(words, item.passage.text)) for share, item in zip(shares, items, strict=True)
        ]
    if held := [place for place, share in enumerate(shares) if share == 1]:
        return named if set(named) & set(held) else [*named, held[0]]
    if inferred:
        return named
    if _share(words, " ".join(f"{item.text} {item.passage.text}" for item in items)) < _HELD:
        return []
    return named or _most(words, items)[:1]


def is_yes_no(answer: str) -> bool:
    """Whether an answer is yes or no, whatever follows: "No, he was not", and not "No Doubt"."""
    return _CLAUSE.split(answer.casefold(), maxsplit=1)[0].strip() in _YES_NO


def _most(words: Collection[str], items: Sequence[Item]) -> list[int]:
    """Places of lines, those with most of some words first."""
    shares = [_share(words, item.text) for item in items]
    return sorted(range(len(items)), key=lambda place: -shares[place])


def _share(words: Collection[str], text: str) -> float:
    """The share of some words that stand in a text."""
    there, whole = words_of(text, every=True), text.casefold()
    return sum(_stands(word, there, whole) for word in words) / len(words) if words else 0.0


def _stands(word: str, there: Collection[str], whole: str) -> bool:
    if word in there or (word in whole and (_UNSPACED.search(word) or not _WORD.search(word))):
        return True
    return (
        word.isalpha()
        and len(word) >= _STEM
        and any(len(other) >= _STEM and (other.startswith(word) or word.startswith(other)) for other in there)
    )


def words_of(text: str, *, every: bool = False) -> frozenset[str]:
    """The words of a text of any length, each in the normal form of names; without `every` function words
    apart."""
    words = frozenset(filter(None, map(normalise, _WORD.findall(text))))
    return words if every else words - FUNCTION_WORDS - CONNECTORS


NOTHING_FOUND = "nothing was found for the question"
NOT_SAID = "the evidence does not hold the answer"
UNSUPPORTED = "the model's answer stands on nothing in memory"
_LIMIT = 1000  # tokens of an answer, which is a line or two
_AGAIN = (
    'Write "Answer:" and a few words of the evidence, then "Sources:" and the numbers of their '
    "lines; "
    'or "Not in the evidence:" and what is missing.'
)
_PARAGRAPH = "\n\n"  # the first one of a prompt says what the evidence looks like
_LONGEST = 500  # characters of what is missing


@dataclass(frozen=True, slots=True)
class Read:
    """What a model read from evidence: an answer with the lines it stands on, or what is missing.

    tokens: `evidence`, the numbered lines, and `prompt`, all that was sent, as estimated; 0 where nothing
    was asked. The ledger has what the server counted. inferred: the answer follows from these lines and does
    not stand there.
    """

    answer: str | None
    missing: str | None = None
    sources: tuple[Item, ...] = ()
    tokens: dict[str, int] = field(default_factory=lambda: {"evidence": 0, "prompt": 0})
    inferred: bool = False


def read_answer(
    question: str,
    evidence: Sequence[Item],
    llm: LanguageModel,
    *,
    judged: bool = False,
    task: str = "answer",
    final: bool = True,
    must: bool = False,
    on_text: Callable[[str], None] | None = None,
) -> Read:
    """Have a model answer from the evidence; without any it is not asked.

    Args:
        question: As it was asked.
        evidence: Numbered lines.
        llm: The model.
        judged: The answer may compare, and so stand nowhere in words.
        task: The prompt.
        final: As of `Request`; False for a part of a question.
        must: The model may not refuse; an answer that stands on no line then cites none.
        on_text: Gets the answer as it comes, before it is known what it stands on.

    Raises:
        ReplyError: The model gave no reply that can be used.
        StoppedError: No call works any more.
    """
    if not evidence:
        return Read(None, NOTHING_FOUND)
    request = asked(question, evidence, task, final=final, must=must)
    stream = None if on_text is None else protocol.Stream(on_text)

    def places_of(said: protocol.ReaderReply) -> list[int]:
        named = [number - 1 for number in said.sources]
        return supported(question, said.answer or "", named, evidence, judged=judged, inferred=said.inferred)

    def check(reply: object) -> protocol.ReaderReply:
        if stream is not None:
            stream.again()  # where this one will not do
        said = protocol.parse(reply)
        if must and said.answer is None:
            raise ValueError(prompt("answer_must"))
        # An answer in a form that we do not know is no refusal: the model is asked for the form.
        if not must and said.answer is not None and not said.labelled and not places_of(said):
            raise ValueError(f"no line of the evidence holds this answer. {protocol.FORM}")
        return said

    said = llm.ask(request, check, on_text=stream).value
    tokens = {"evidence": estimate(listed(evidence)), "prompt": estimate_messages(request.messages)}
    if said.answer is None:
        return Read(None, said.missing[:_LONGEST] or NOT_SAID, tokens=tokens)
    if not (places := places_of(said)) and not must:
        return Read(None, UNSUPPORTED, tokens=tokens)
    if stream is not None:
        stream.end(said.answer)
    sources = tuple(evidence[place] for place in places)
    return Read(said.answer, None, sources, tokens, inferred=said.inferred)


def asked(
    question: str,
    evidence: Sequence[Item],
    task: str = "answer",
    *,
    final: bool = True,
    must: bool = False,
) -> Request:
    """Build the request: the prompt, the numbered lines, the question."""
    text = f"{listed(evidence)}\n\nQuestion: {flat(question)}"
    if must:
        text = f"{text}\n\n{prompt('answer_must')}"
    told = prompt(task)
    if task == "answer" and any(item.run is not None for item in evidence):
        told = f"{prompt('answer_compact')}\n\n{told.partition(_PARAGRAPH)[2]}"  # the rules are the same
    short = Request(
        "answer", _messages(prompt("answer_short"), f"{text}\n\n{_AGAIN}"), limit=_LIMIT, final=final
    )
    return Request("answer", _messages(told, text), limit=_LIMIT, short=short, final=final)


def _messages(system: str, user: str) -> tuple[dict[str, str], ...]:
    return ({"role": "system", "content": system}, {"role": "user", "content": user})


def from_items(
    question: str,
    items: Sequence[Item],
    llm: LanguageModel,
    *,
    confidence: float | None = None,
    judged: bool = False,
    task: str = "answer",
    must: bool = False,
    on_text: Callable[[str], None] | None = None,
) -> AnswerDraft:
    """Have a model answer from some lines of evidence, beside how sure the chains are: whether anything is
    answered is for the model to decide. Arguments and errors as of `read_answer`."""
    read = read_answer(question, items, llm, judged=judged, task=task, must=must, on_text=on_text)
    if read.answer is None:
        return AnswerDraft(None, "none", True, confidence, [], read.missing, read.tokens)
    citations = list(dict.fromkeys(cited(item, question, read.answer) for item in read.sources))
    return AnswerDraft(
        read.answer, "llm", False, confidence, citations, None, read.tokens, inferred=read.inferred
    )


def cited(item: Item, question: str, answer: str) -> Citation:
    """The passage of a line, with the sentence that holds the pair or, of a passage, the answer."""
    passage = item.passage
    text = quote(passage.text, item.question or question, item.answer or answer)
    return Citation(passage.id, passage.document, passage.title, passage.source, text, passage.section)
