"""What Python shows of an answer or a table: `print(answer)` as text, and HTML in a notebook."""

from __future__ import annotations

import textwrap
from html import escape
from typing import TYPE_CHECKING

from gsw_graph.cli.text.answers import HOW
from gsw_graph.cli.text.chains import compares, sure, why_not
from gsw_graph.cli.text.conflicts import conflict_lines
from gsw_graph.cli.text.output import counted, to_json
from gsw_graph.cli.text.safe_text import clean, cut, one_line, short_source

if TYPE_CHECKING:
    from gsw_graph.results import Answer, Citation, RankedPassage, Table

WIDTH = 100
EXCERPT = 240  # characters of a passage in text; HTML has all
ROWS = 100  # of a table


def plain(answer: Answer) -> str:
    """An answer as lines: what is said and how sure that is, what it cites, and the passages, best first."""
    lines = [said(answer)]
    if answer.note:
        lines.append(f"Note: {one_line(answer.note)}")
    for number, citation in enumerate(answer.citations, 1):
        lines += ["", *_wrapped(f"[{number}] ", f'"{citation.text.strip()}"'), f"    {_place(citation)}"]
    if answer.conflicts:
        lines += ["", *conflict_lines(answer)]
    if answer.passages:
        lines += ["", "Passages, best first"]
    for rank, passage in enumerate(answer.passages, 1):
        text = cut(one_line(passage.text.removeprefix(f"{passage.title}\n")), EXCERPT)
        lines += [f"{rank}. {_place(passage)}", *_wrapped("   ", text)]
    return "\n".join(lines)


def html(answer: Answer) -> str:
    """The same for a notebook; the text of a passage opens by a click."""
    cited = "".join(
        f"<li>“{_html(citation.text)}” <i>{_html(_place(citation))}</i></li>" for citation in answer.citations
    )
    passages = "".join(
        f"<li><details><summary>{_html(_place(passage))}</summary>"
        f'<div style="white-space: pre-wrap">{_html(passage.text)}</div></details></li>'
        for passage in answer.passages
    )
    note = f"<p>Note: {_html(answer.note)}</p>" if answer.note else ""
    parts = [f"<ul>{cited}</ul>" if cited else "", f"<ol>{passages}</ol>" if passages else ""]
    return f"<p>{_html(answer.question)}<br><b>{_html(said(answer))}</b></p>{note}{''.join(parts)}"


def html_table(table: Table) -> str:
    """A table with its first rows for a notebook."""
    head = "".join(f"<th>{_html(column)}</th>" for column in table.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{_cell(row.get(column))}</td>' for column in table.columns)}</tr>"
        for row in table.rows[:ROWS]
    )
    left = f", the first {ROWS} shown" if len(table.rows) > ROWS else ""
    shown = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"{shown}<p>{counted(len(table.rows), 'row')}{left}</p>"


def said(answer: Answer) -> str:
    """The answer with how sure it is, or why there is none, in one line."""
    if answer.answer is not None:
        how = [] if answer.confidence is None else [f"confidence {sure(answer.confidence)}"]
        how += ["inferred"] if answer.inferred else []
        source = (
            f"from the model {answer.models.get('llm')}"
            if answer.answer_source == "llm"
            else HOW.get(answer.answer_source, "read off a chain")
        )
        return f"{one_line(answer.answer)}  ({one_line(', '.join([*how, source]))})"
    if answer.abstained:
        return f"Not in memory: {why_not(answer)}."
    if compares(answer):
        return "No answer: the last step of the plan compares, and that takes a language model."
    return f"No answer; {counted(len(answer.passages), 'passage')} found."


def _place(found: Citation | RankedPassage) -> str:
    return ", ".join(filter(None, [one_line(found.title), short_source(found.source)]))


def _wrapped(start: str, text: str) -> list[str]:
    later = " " * len(start)
    return textwrap.wrap(one_line(text), WIDTH, initial_indent=start, subsequent_indent=later) or [
        start.rstrip()
    ]


def _cell(value: object) -> str:
    return _html(cut(one_line(value if isinstance(value, str) else to_json(value)), EXCERPT))


def _html(text: str) -> str:
    return escape(clean(text))
