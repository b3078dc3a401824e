"""Evaluation: questions with known answers, asked with several strategies of one memory and scored as the
papers score."""

from gsw_graph.evaluate.data import Question, QuestionSet, datasets, read_corpus, read_questions
from gsw_graph.evaluate.evaluation import Evaluation, compare, load, merge
from gsw_graph.evaluate.report import write
from gsw_graph.evaluate.run import Estimate, estimate, evaluate
from gsw_graph.evaluate.tune import tune
from gsw_graph.evaluate.variants import Variant

__all__ = [
    "Estimate",
    "Evaluation",
    "Question",
    "QuestionSet",
    "Variant",
    "compare",
    "datasets",
    "estimate",
    "evaluate",
    "load",
    "merge",
    "read_corpus",
    "read_questions",
    "tune",
    "write",
]
