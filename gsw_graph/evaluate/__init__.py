"""Evaluation: questions with known answers, asked with several strategies of one memory and scored as the
papers score."""

from gsw_graph.ask.retrieve.variants import Variant
from gsw_graph.evaluate.data import Question, QuestionSet, read_corpus, read_questions
from gsw_graph.evaluate.evaluation import (
    Evaluation,
    compare,
    load,
)
from gsw_graph.evaluate.report import write
from gsw_graph.evaluate.run import evaluate

__all__ = [
    "Evaluation",
    "Question",
    "QuestionSet",
    "Variant",
    "compare",
    "evaluate",
    "load",
    "read_corpus",
    "read_questions",
    "write",
]
