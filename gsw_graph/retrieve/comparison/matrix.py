"""A comparison matrix: the sides of a question by what of them is compared, each cell found by a hop of its
own, and what follows from the cells (PathwiseRAG, section 3.2, "Comparative Matrix").

The paper has no formula for it. Ours: the cells of one level are looked up together (a described side is
looked up first, so two levels at most), a cell is a value with its citation, and a rule decides. The answer
is given only where every cell was found and they decide; the matrix is given in any case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gsw_graph.results import Cell, Matrix
from gsw_graph.retrieve.comparison.deciding import decide
from gsw_graph.retrieve.comparison.described import asks_for, subject_of
from gsw_graph.retrieve.comparison.reading import read
from gsw_graph.retrieve.comparison.recipe import MATRIX, MatrixRecipe
from gsw_graph.retrieve.facts.lookup import Asked, Fact, Lookup
from gsw_graph.retrieve.facts.ranking import with_linked
from gsw_graph.retrieve.strategy import AnswerDraft, Query, Retrieved

if TYPE_CHECKING:
    from gsw_graph.retrieve.comparison.deciding import Decision
    from gsw_graph.retrieve.comparison.reading import Comparison
    from gsw_graph.retrieve.context import Context


def comparison_matrix(context: Context, query: Query, recipe: MatrixRecipe = MATRIX) -> Retrieved:
    """The sides of a question side by side. The passages of the cells stand first where these decide; what
    else was looked at leaves the order of `linked` alone, which is better (docs/results.md)."""
    comparison = read(query.question)
    if comparison is None:
        return Retrieved(with_linked(context, query, [], recipe.linked))
    lookup = Lookup(context, query.question, recipe.facts)
    known, rows = _named(lookup, comparison)
    asked = [_asked(comparison, side, row) for side, row in zip(comparison.sides, rows, strict=True)]
    # a side that was described and not found has no cells: what is said of another is not said of it
    lost = [
        asks_for(side) is not None and row == side for side, row in zip(comparison.sides, rows, strict=True)
    ]
    looked = iter(lookup([one for one, gone in zip(asked, lost, strict=True) if not gone]))
    found = [None if gone else next(looked) for gone in lost]
    decision = decide(comparison, rows, [None if fact is None else fact.value for fact in found])
    if decision is not None and decision.answer == "no" and not _says_no(comparison, found):
        decision = None
    matrix = Matrix(
        rows,
        [comparison.attribute.name],
        [[_cell(fact)] for fact in found],
        decision.said if decision else None,
    )
    facts = [fact for fact in (*found, *known) if fact is not None]
    draft = _draft(decision, facts)
    passages = with_linked(context, query, [fact.passage for fact in facts if draft], recipe.linked)
    return Retrieved(passages, draft=draft if query.answer else None, matrix=matrix)


def _named(lookup: Lookup, comparison: Comparison) -> tuple[list[Fact | None], list[str]]:
    """What described sides are, and the rows: the name of each side, or its description where none was
    found."""
    asked = {side: one for side in comparison.sides if (one := asks_for(side)) is not None}
    facts = dict(zip(asked, lookup(list(asked.values())), strict=True))
    names = [fact.value.text if (fact := facts.get(side)) is not None else side for side in comparison.sides]
    return [facts[side] for side in asked], names


def _asked(comparison: Comparison, side: str, row: str) -> Asked:
    attribute = comparison.attribute
    subject = subject_of(side) if row == side else row
    return Asked(attribute.asks.format(row), subject, attribute.kind, attribute.edge, attribute.place)


def _says_no(comparison: Comparison, found: list[Fact | None]) -> bool:
    """Whether two names that differ say "no". Those of pairs answer what was asked; of a sentence they may be
    anything that stands there, and "American" differs from "United States"."""
    named = comparison.rule in ("same", "is") and comparison.attribute.kind == "name"
    return not named or all(fact is not None and fact.by == "pair" for fact in found)


def _cell(fact: Fact | None) -> Cell:
    if fact is None:
        return Cell()
    number = fact.value.number.value if fact.value.number is not None else None
    return Cell(fact.value.text, fact.value.days, number, fact.citation, round(fact.score, 3))


def _draft(decision: Decision | None, facts: list[Fact]) -> AnswerDraft | None:
    """An answer where the cells decide; else None, so that a language model may word one."""
    if decision is None:
        return None
    sure = min(fact.score for fact in facts)
    citations = list(dict.fromkeys(fact.citation for fact in facts))
    return AnswerDraft(decision.answer, "rule", confidence=sure, citations=citations)
