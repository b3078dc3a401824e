"""A memory that answers questions from a table, for tests of the evaluation."""

from __future__ import annotations

from fake_memory import canned, passage

from gsw_graph.config import Settings
from gsw_graph.errors import InputError
from gsw_graph.evaluate.data import question_set
from gsw_graph.model.results import Documents, Status


class FakeMemory:
    """`found` gives for a question and strategy the numbers of the passages; `said` changes of the answer. `calls` keeps what was asked, `recipe` with what
    constants it was last."""

    def __init__(self, found, said=None, *, settings=None):
        self.settings = settings or Settings(
            memory="bolt://ada:secret@host:7687", password="secret", reranker_key="secret", llm_key="secret"
        )
        self.found = found
        self.said = said or {}
        self.calls = []

    def status(self):
        nodes = {"Document": 3, "Passage": 9, "Question": len(self.calls)}
        return Status(
            "bolt://ada:secret@host:7687", "fake", "1", nodes, {}, [], 1, "mini", 3, "then", 7, True
        )

    def documents(self):
        return Documents(0, [])

    def ask(self, question, *, strategy, plan, k, answer, llm, keep, question_cache, **options):
        assert not question_cache, "what is measured is no answer of before"
        self.recipe, strategy = strategy.recipe, strategy.name
        self.calls.append(
            {
                "question": question,
                "strategy": strategy,
                "plan": plan,
                "k": k,
                "answer": answer,
                "llm": llm,
                "keep": keep,
            }
        )
        numbers = self.found(question, strategy)
        if isinstance(numbers, Exception):
            raise numbers
        shown = [passage(n, title=f"T{n}", text=f"text {n}", source=f"/far/{n}.md") for n in numbers][:k]
        plain = canned(question, shown)
        changes = {
            "strategy": strategy,
            "seconds": {"embed": 0.001, "total": 0.01 * len(question)},
            **self.said.get((question, strategy), {}),
        }
        return type(plain)(
            **{**{name: getattr(plain, name) for name in plain.__dataclass_fields__}, **changes}
        )

    @property
    def asked(self):
        """What was asked and timed: (question, strategy)."""
        return [(call["question"], call["strategy"]) for call in self.calls if call["llm"] or call["answer"]]


def record(id, *gold, **more):
    return {
        "id": id,
        "question": f"{id}?",
        "passages": [{"title": f"T{n}", "text": f"text {n}"} for n in gold],
        "answers": ["Ada"],
        **more,
    }


def questions(*records):
    return question_set([(f"place {n}", one) for n, one in enumerate(records, 1)], "questions.jsonl", "abc")


def many():
    """Twenty questions, one of which cannot be asked, and a memory that finds now one, now another passage."""
    records = [record(f"q{n}", n % 7 + 1, n % 5 + 1, hops=n % 3 + 1) for n in range(20)]

    def found(question, strategy):
        n = int(question[1:-1])
        if n == 13:
            return InputError("too odd")
        return [(n + len(strategy) * place) % 9 + 1 for place in range(6)]

    said = {
        (f"q{n}?", "ricr"): {"answer": "Ada" if n % 2 else "Bob", "answer_source": "chain"} for n in range(20)
    }
    return questions(*records), found, said
