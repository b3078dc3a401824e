"""Follow-up questions: keep the last turns of a conversation, and complete a question that depends on them.

A rule tells whether a question may depend on earlier turns. A language model then rewrites the question so
that it stands by itself. Without a usable reply, a name of the last turn replaces a pronoun, if only one name
fits.
"""

from __future__ import annotations

import re
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.evidence import single_line, truncate_tokens
from gsw_graph.ask.options import TURNS
from gsw_graph.ask.plan import word_stems
from gsw_graph.ask.retrieve.agents import request_for
from gsw_graph.ask.retrieve.pair_score import expected_type
from gsw_graph.errors import InputError, InvalidReplyError
from gsw_graph.models.prompts import fence
from gsw_graph.text.names import find_names
from gsw_graph.text.words import WORD, content_words

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.model.results import Answer

_LIMIT = 200  # tokens of a reply; a usual one has 20
_TURN = 120  # tokens of a turn
# What goes on from another question: "And when?", "What about Berlin?", "In Berlin too?"
_GOES_ON = re.compile(
    r"""(?ix) \W{0,3} (?:
      (?: and|but|or|so|then|also|what\s+about|how\s+about|why\s+not|(?:tell\s+me\s+)?more
        | und|oder|aber|et|mais|y|e|pero|ma|mas )\b (?!-)
    | \S{1,40} (?:\s+\S{1,40})? \? \s* $
    | (?:why|when|where|who|how) (?:\s+\w+)? \W* $
    | what\s+happened\s+(?:next|then|afterwards|later) \W* $
    | (?! (?: who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would
            |should|has|have|had|may|must|list|name|show|w(?:er|en|em|as|o|ann|ie|arum|elche[rsmn]?)
            |qui|que|quoi|o[uù]|quand|comment|pourquoi|quel(?:le)?s?|qué|quién|dónde|cuándo|cómo|chi|che|cosa
            |dove|quando|come|perché|quem|onde )\b )
      \S{1,40} (?:\s+\S{1,40}){2,3} \? \s* $
    )"""
)
# Words that point to something, in small letters: in a name or a title they have a capital. "It" that
# announces a clause, and "there is", point to nothing.
_POINTS = re.compile(
    r"""(?x) (?<![\w-]) (?:
      she | he | him | hers? | his | its | they | them | theirs? | ^(?i:she|he|it|they|this|these|those)
    | it (?! \W+ (?:is\s+|be\s+)? (?:\w+ly\s+|still\s+|ever\s+|always\s+)?
            (?: (?:im)?possible|necessary|allowed|permitted|safe|true|common|eas(?:y|ier)|hard|difficult
              |better|best|worth|fine|important|legal|ok|okay|enough|likely|normal|usual|recommended|required
              |takes?|took|costs?|make\s+sense|help|matter|mean )\b
          .{0,80}? \b(?:to|that|if|whether|when|for|\w+ing)\b )
    | (?<![Ii]s\s) (?<![Aa]re\s) (?<![Ww]as\s) (?<![Ww]ere\s) (?<!be\s) (?<!been\s) (?<!ha[sd]\s) (?<!have\s)
      there (?! \s+ (?:is|are|was|were|be|been|exist)\b )
    | (?i: is|was|are|were|did|does|do|has|had|can|could|will|would|should|about|in|of|at|on|from|to|for|with
        |after|before|by|than|like|since|during|until|why|how|and|who\s+\w+|what\s+\w+ ) \s+that\b (?!\s+of\b)
    | these | those (?!\s+(?:who|that|of)\b) | this (?!\s+(?:year|month|week|morning|evening|day)\b)
    | (?i: which|that|this|the\s+(?:first|second|third|last|other|next|latter) ) \s+ones? (?!\s+of\b)
    | (?i: what|who|where|which|how|when|any(?:thing|one|body|where)|some(?:thing|one|where) ) \s+else
    | (?i: any\s+|the\s+|some\s+)? others \W*$ | the\s+(?:other|latter) \W*$ | instead \W*$
    | (?i: is|does|did|was|about ) \s+the\s+same
    | er | ihn | ihm | sie | sein(?:e[nmrs]?)? | ihre?[nmrs]? | dort | dieser
    | elles? | ils | lui | leurs? | ell[oa]s? | él | ela | lei | loro | allí | lì
    ) (?![\w-])"""
)
# Where a clause ends. A later word points to what the clause names.
_CLAUSE = re.compile(
    r"[,;:()]|[.?!]\s|\b(?:and|or|but|if|when|while|before|after|because|since|that|which|who|whose|so|unless"
    r"|until|und|oder|aber|als|wenn|weil|die|der|das|et|ou|mais|qui|que|y|o|pero|che|e)\b"
)
# A reply in one line of at most 400 characters, perhaps with a label or in quotes.
_REPLY = re.compile(r"""(?:.{,40}uestion: *)?["“*` ]*(.{1,400}?)["”*` ]*""")
# The pronouns that a name replaces if no model is asked.
_REPLACED = re.compile(r"\b(?:(?P<person>she|he|him|her|his)|(?P<thing>its?)|(?P<place>there))\b")
# The word before a name that tells a person who does something, or a thing.
_BEFORE = {"person": r"(?i)\b(?:did|does|is|was|has|had|will|can) ", "thing": "(?i)the ", "place": "(?!)"}


class Conversation:
    """Ask questions that may depend on the last ones. Each conversation has turns of its own.

    Args:
        ask: `Memory.ask`, or a function with the same arguments.
    """

    def __init__(self, ask: Callable[..., Answer]) -> None:
        self._ask = ask
        self._turns: deque[dict[str, str]] = deque(maxlen=TURNS)

    def ask(self, question: str, **options: Any) -> Answer:
        """Ask as `Memory.ask`, and keep the question with its answer as the last turn. Raises as that."""
        if "turns" in options:
            raise InputError("a conversation has turns of its own", hint="Give others to Memory.ask")
        answer = self._ask(question, turns=list(self._turns), **options)
        self._turns.append({"question": answer.question, "answer": answer.text or ""})
        return answer


def completed(question: str, context: RetrievalContext) -> str:
    """Return a question so that it stands by itself. The question stays unchanged if it does not depend on
    earlier turns, or if its meaning is not clear."""
    turns, llm = context.options.turns[-TURNS:], context.llm
    if not turns or not depends(question):
        return question
    texts = [(turn["question"] or "", turn["answer"] or "") for turn in turns]
    if llm is not None:
        lines = [truncate_tokens(single_line(f"{asked} -> {answer}"), _TURN) for asked, answer in texts]
        text = fence("conversation", "\n".join(lines)) + f"\n\nNew question: {single_line(question)}"
        with context.clock("plan"):
            try:
                return llm.ask(
                    request_for("standalone", text, limit=_LIMIT), partial(read, text, question)
                ).value
            except InvalidReplyError as error:
                context.notes.append(f"{llm.model} did not complete the question: {error}")
    return with_name(question, *texts[-1])


def read(conversation: str, question: str, reply: str) -> str:
    """Return the completed question of a reply.

    Raises:
        ValueError: It is not one short line, has no word of the question, or has a name or number that the
            conversation does not have.
    """
    match = _REPLY.fullmatch(reply.strip())
    if not match:
        raise ValueError("write the new question alone, complete, in one short line")
    text = single_line(match[1])
    names = [word for word in WORD.findall(text)[1:] if not word.islower()]
    new = word_stems(" ".join(names)) - word_stems(conversation)
    own = word_stems(question)
    if new or (own and own.isdisjoint(word_stems(text))):
        raise ValueError("keep the words of the question, and bring in no name and no number from elsewhere")
    return text


def depends(question: str) -> bool:
    """Tell whether a question may depend on earlier turns: it continues another question, has no subject, or
    has a pronoun without a name before."""
    if _GOES_ON.match(question):
        return True
    point = _POINTS.search(question)  # a clause before it is before all others too
    if not point:
        return False
    *clauses, _ = _CLAUSE.split(question[: point.start()])
    return not any(map(content_words, clauses))


def with_name(follow_up: str, question: str, answer: str) -> str:
    """Return a follow-up question with a name of the last turn in the place of its pronouns; as it is, if
    they are of several kinds, or do not mean exactly one name."""
    kinds = {match.lastgroup or "" for match in _REPLACED.finditer(follow_up)}
    names = _meant(kinds.pop(), question, answer) if len(kinds) == 1 else []
    if len(names) != 1:
        return follow_up
    (name,) = names
    text = re.sub(r"^\W*(?:[Aa]nd|[Bb]ut|[Ss]o|[Oo]r)\b\W*", "", follow_up)
    text = re.sub(r"\b(?:his|its|her(?= \w))\b", f"{name}'s", text)
    text = re.sub(r"\bthere\b", f"in {name}", text)
    return _REPLACED.sub(name, text)


def _meant(kind: str, question: str, answer: str) -> list[str]:
    """Return the names that a pronoun for a person, a thing or a place can mean: names in the answer if the
    question asks for this kind, else names in the question, by the word before a name."""
    asked = expected_type(question)
    if kind == asked:
        return _names(answer)
    names = [
        name for name in _names(question) if re.search(_BEFORE[kind] + re.escape(name) + "(?!')", question)
    ]
    return names + _names(answer) if kind == "thing" and asked is None else names


def _names(text: str) -> list[str]:
    """Return the names at the beginning of a text, without parts of others; of "A. Lund and B. Lind" both."""
    names: list[str] = []
    for found in find_names(text[:500]):
        if " and " not in found.text and found.text not in "\n".join(names):
            names.append(found.text)
    return names
