"""Format answers and tables for Python: text, and HTML in a notebook."""

from __future__ import annotations

import textwrap
from html import escape
from typing import TYPE_CHECKING

from gsw_graph.explore.full_text import Lines, marked_text, short_and_full
from gsw_graph.explore.places import find, places, shown_text
from gsw_graph.model.results import Answer, Table
from gsw_graph.model.results.forms import as_html, as_text
from gsw_graph.text.safe_text import clean, cut, one_line, short_source, to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gsw_graph.model.results import Citation, Claim, RankedPassage, UsedPassage

WIDTH = 100
LINES = 4  # of a passage in text; HTML has all
CELL = 240  # characters
CLAIM = 80  # characters of an answer or a title
ROWS = 100  # of a table
# of answers that are neither by a model nor from a chain
SOURCES = {
    "cache": "from the question cache",
    "added": "added by hand",
    "graph": "from the graph, by a statement of the model",
}


@as_text.register(Answer)
def plain(answer: Answer) -> str:
    """Write an answer as lines: the short answer and its confidence, its text in full, citations, and the
    passages, best first."""
    lines = [Lines(WIDTH).add("\n\n".join(paragraphs(answer)))]
    if answer.note:
        lines.append(f"Note: {one_line(answer.note)}")
    for number, citation in enumerate(answer.citations, 1):
        lines += ["", *citation_lines(number, citation, WIDTH)]
    if answer.conflicts:
        lines += ["", *conflict_lines(answer)]
    if answer.passages:
        lines += ["", "Passages, best first"]
    found = find(answer)
    for rank, passage in enumerate(answer.passages, 1):
        _, shown = found[passage.id].excerpt(LINES, WIDTH - 3)
        lines.append(f"{rank}. {title_and_source(passage)}")
        lines += [f"   {line.text}" for line in shown]
    return "\n".join(lines)


@as_html.register(Answer)
def html_answer(answer: Answer) -> str:
    """Write an answer for a notebook as `plain` does. Each passage has its answering sentences, marked, and
    its text below a click."""
    lines = [f'<p style="white-space: pre-wrap">{_html(text)}</p>' for text in paragraphs(answer)]
    if answer.note:
        note = _html(one_line(answer.note))
        lines.append(f"<p>Note: {note}</p>")
    for number, citation in enumerate(answer.citations, 1):
        text = _html(one_line(citation.text))
        lines.append(f"<p>[{number}] <q>{text}</q> {_html(title_and_source(citation))}</p>")
    lines += [f"<p>{_html(line)}</p>" for line in conflict_lines(answer)]
    found = places(answer)
    lines.append("<ol>")
    for passage in answer.passages:
        lines += _html_passage(passage, found[passage.id])
    lines.append("</ol>")
    return "".join(lines)


def _html_passage(passage: RankedPassage, sentences: list[str]) -> Iterator[str]:
    headings = [one_line(passage.title)]
    if passage.section:
        headings += passage.section.split(" > ")
    head = " › ".join(dict.fromkeys(filter(None, headings)))
    yield f"<li><strong>{_html(head)}</strong> "
    yield f'<span title="{_html(passage.source)}">{_html(short_source(passage.source))}</span><br>'
    yield " … ".join(map(_mark, sentences))
    yield '<details><summary>Passage</summary><pre style="white-space: pre-wrap">'
    text = shown_text(passage)
    end = 0
    for sentence in sentences:
        start = text.find(sentence, end)
        if start >= 0:
            yield _html(text[end:start])
            yield _mark(sentence)
            end = start + len(sentence)
    yield _html(text[end:])
    yield "</pre></details></li>"


def _mark(sentence: str) -> str:
    return f"<mark>{_html(sentence)}</mark>"


@as_html.register(Table)
def html_table(table: Table) -> str:
    """Write a table with its first rows for a notebook."""
    parts = ["<table><thead><tr>"]
    parts += [f"<th>{_html(column)}</th>" for column in table.columns]
    parts.append("</tr></thead><tbody>")
    for row in table.rows[:ROWS]:
        cells = [f"<td>{_cell(row.get(column))}</td>" for column in table.columns]
        parts += ["<tr>", *cells, "</tr>"]
    parts.append(f"</tbody></table><p>{counted(len(table.rows), 'row')}")
    if len(table.rows) > ROWS:
        parts.append(f", the first {ROWS} shown")
    parts.append("</p>")
    return "".join(parts)


def paragraphs(answer: Answer) -> list[str]:
    """Write the answer, short and in full, its source, and its missing part; or why there is no answer."""
    short, text = short_and_full(answer)
    said = [short, marked_text(answer), f"({origin(answer)})"] if text else [answer_line(answer)]
    return [*filter(None, said), *missing_lines(answer)]


def answer_line(answer: Answer) -> str:
    """Write the short answer with its source, or why there is none, in one line."""
    if answer.answer is not None:
        return f"{one_line(answer.answer)}  ({origin(answer)})"
    if answer.abstained:
        return f"Not in memory: {why_not(answer)}."
    if compares(answer):
        return "No answer: the last step of the plan compares, and that takes a language model."
    return f"No answer; {counted(len(answer.passages), 'passage')} found."


def origin(answer: Answer) -> str:
    """Write the confidence of an answer, and its source: a model, a chain, the question cache, a person."""
    confidence = chain_confidence(answer)
    notes = []
    if confidence is not None:
        notes.append(f"confidence {confidence_text(confidence)}")
    if answer.answer_source == "llm":
        notes.append(f"from the model {answer.models.get('llm')}")
    else:
        notes.append(SOURCES.get(answer.answer_source, "read off a chain"))
    return one_line(", ".join(notes))


def missing_lines(answer: Answer) -> list[str]:
    """Write the missing part of a partial answer in a line; nothing for a whole answer."""
    if answer.missing and answer.answer is not None:
        return [f"Missing: {one_line(answer.missing)}"]
    return []


def conflict_lines(answer: Answer) -> list[str]:
    """Write the contradictions between passages, a line each."""
    lines = []
    for conflict in answer.conflicts:
        claims = " / ".join(map(_claim, conflict.claims))
        lines.append(f"Passages disagree: {one_line(conflict.question)} {claims}")
    return lines


def _claim(claim: Claim) -> str:
    titles = ", ".join(cut(one_line(title), CLAIM) or "(no title)" for title in claim.titles)
    return f"{cut(one_line(claim.answer), CLAIM)} ({claim.confidence:.0%}: {titles})"


def why_not(answer: Answer) -> str:
    """Explain why a search of the memory found no answer."""
    if answer.missing:
        return one_line(answer.missing).rstrip(".")
    confidence = chain_confidence(answer)
    doubted = "nothing answers the question well enough"
    if confidence is not None:
        doubted += f" (confidence {confidence_text(confidence)})"
    if answer.passages and answer.confidence is not None and not answer.plan:
        return doubted
    if not answer.chains:
        if answer.plan and answer.passages:
            return "no chain of answers leads to the end of the plan"
        return "nothing was found"
    searched = [int(step["id"]) for step in answer.plan or [] if step.get("retrieve", True)]
    if searched and answer.chains[0].hops[-1].step != max(searched):
        return f"no chain leads to step {max(searched)} of the plan"
    return doubted


def compares(answer: Answer) -> bool:
    """Tell whether there is no answer because the last step of the plan only compares."""
    return answer.answer is None and answer.plan is not None and answer.plan[-1].get("retrieve") is False


def chain_confidence(answer: Answer) -> float | None:
    """Return the confidence that people see. That of a search without chains tells little over some documents
    (docs/linked.md), so only `--strict` and the JSON have it."""
    return answer.confidence if answer.chains else None


def confidence_text(confidence: float | None) -> str:
    """Write a confidence in two digits, never as 0.00 or 1.00."""
    if confidence is None:
        return "unknown"
    if confidence > 0.99:
        return "above 0.99"
    return "below 0.01" if confidence < 0.01 else f"{confidence:.2f}"


def counted(number: int, noun: str) -> str:
    """Write `1 row`, `2,000 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def title_and_source(passage: Citation | RankedPassage | UsedPassage) -> str:
    """Return the title and the source of a passage."""
    return ", ".join(filter(None, [one_line(passage.title), short_source(passage.source)]))


def citation_lines(number: int, citation: Citation, width: int) -> list[str]:
    """Write the first lines of a citation, and its source."""
    text = one_line(f'"{citation.text.strip()}"')
    lines = textwrap.wrap(
        text,
        width,
        initial_indent=f"[{number}] ",
        subsequent_indent="    ",
        max_lines=LINES,
        placeholder=" …",
    )
    return [*lines, f"    {title_and_source(citation)}"]


def _cell(value: object) -> str:
    text = value if isinstance(value, str) else to_json(value)
    return _html(cut(one_line(text), CELL))


def _html(text: str) -> str:
    return escape(clean(text))
