"""What the contract tests share: the example corpus, what must come of it, and documents that are hostile or too large."""

from __future__ import annotations

import json
from pathlib import Path

from gsw_graph.extract import rules
from gsw_graph.loaders import read
from gsw_graph.model.documents import Document
from gsw_graph.store import writer

EXAMPLES = Path(__file__).parents[1] / "examples"
CORPUS = str(EXAMPLES / "corpus")
FILES = sorted(str(file) for file in Path(CORPUS).iterdir())
QUESTIONS = [
    json.loads(line) for line in (EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
DOCUMENTS = [item for item in read([CORPUS]) if isinstance(item, Document)]


NODES = "Document Passage Entity Role Concept VerbPhrase QAPair Proposition Relation Run Question".split()
RELATIONSHIPS = (
    "PART_OF NEXT IN NAMES PLAYS REFERS_TO ASKS ANSWERED_BY ABOUT MENTIONS RELATES_BY HOLDS ALIAS_OF".split()
)


def rows(memory, query, **parameters):
    """The rows of a query as tuples, lists in them too."""
    return [
        tuple(tuple(v) if isinstance(v, list) else v for v in row.values())
        for row in memory.cypher(query, **parameters).rows
    ]


def expected_counts(documents):
    """Nodes and relationships of these documents, counted from what the extractor says."""
    nodes = dict.fromkeys(NODES, 0)
    edges = dict.fromkeys(RELATIONSHIPS, 0)
    roles = set()
    concepts = set()
    for document in documents:
        passages = len(document.passages)
        named = set()
        nodes["Document"] += 1
        nodes["Passage"] += passages
        edges["PART_OF"] += passages
        edges["NEXT"] += passages - 1
        for entity in rules.extract(document).entities:
            concepts.add(entity.key)
            if entity.from_ is None:
                named.update((passage, entity.key) for passage in entity.passages)
                continue
            nodes["Entity"] += 1
            edges["REFERS_TO"] += 1
            edges["IN"] += len(entity.passages)
            edges["PLAYS"] += len(entity.roles)
            roles.update(role for role, _ in entity.roles)
        edges["NAMES"] += len(named)
    nodes["Role"] = len(roles)
    nodes["Concept"] = len(concepts)
    return nodes, edges


HOSTILE = [
    'Simple AND (title:foo OR "bar") NOT baz~2^3 [a TO b] {x} \\ /regex/ && || ! * ?',
    "'; MATCH (n) DETACH DELETE n //",
    "$id {id: 'x'} `Backtick` ``",
    "a\\'b \\\\ \\n \\u0041 \\",
    "NULL",
    "null",
    "None NaN undefined true -0 1e309 Infinity",
    "Robert'); DROP TABLE Students;--",
    "🙂 Emoji 👩‍👩‍👧 Family 🇩🇪",
    "مرحبا بالعالم Arabic",
    "\u202eRight To Left\u202c",
    "e\u0301\u0302\u0303 Combining Zalgo\u0335\u0321\u0322",
    "हिन्दी भाषा",
    "東京 都庁",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 \U0001f468 \ufdfa",
    "\ufeffBom Zero\u200bWidth\u00adShy",
    "Tab\tNew\nLine\r\nTitle",
    "O'Neil's \"Quoted\" ‘Name’ «Guillemets»",
    "x" * 600,
    "The " * 300,
    "Long " * 2000 + "Title",
    "%s %d {} {0} #{x} ${jndi:ldap://x}",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "-- comment /* x */ # y",
    "a:b c:d id:* _exists_:x",
    " ",
]


BIG = "\n\n".join(
    f"In the year 18{n:02} came Kestrel{n} Marlowe to Vellmouth, where Quintus Albatross kept the kestrel{n} tower. "
    + " ".join(f"On 3 May 18{n:02} they wrote of word{n}x{m} and of Ingrid Sølvær." for m in range(14))
    for n in range(40)
)


class CutOffError(Exception):
    pass


def cut_off(monkeypatch, after, names):
    """Let functions of the writer fail before their call number `after`, counted together; gives the counter."""
    calls = [0]

    def counted(function):
        def call(*args, **given):
            if calls[0] == after:
                raise CutOffError
            calls[0] += 1
            return function(*args, **given)

        return call

    for name in names:
        monkeypatch.setattr(writer, name, counted(getattr(writer, name)))
    return calls


def seen(memory):
    """The sources that any strategy shows for questions about the big document."""
    found = set()
    for question in (
        "Who is Quintus Albatross of the Big One?",
        "Was Kestrel7 Marlowe at the kestrel7 tower?",
        "word20x3",
    ):
        for one, strategy in ((memory, "linked"), (memory, "dense"), (memory, "bm25")):
            found |= set(sources(one.ask(question, strategy=strategy, k=20, trace=True)))
    return found


def troubles(memory):
    return {
        finding.check: f"{finding.result} | {finding.mend}" for finding in memory.doctor() if not finding.ok
    }


def records(folder, *texts, title="", name="records"):
    """A file of documents called d0, d1 and so on; their path."""
    file = folder / f"{name}.jsonl"
    rows = [json.dumps({"id": f"d{n}", "title": title, "text": text}) for n, text in enumerate(texts)]
    file.write_text("\n".join(rows), encoding="utf-8")
    return str(file)


def sources(answer):
    return [Path(passage.source).name for passage in answer.passages]


CORPUS_NODES, CORPUS_RELATIONSHIPS = expected_counts(DOCUMENTS)
