"""Small made-up files in the shapes in which data sets are published, ten questions each, and a model that answers them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from model_corpus import reply as extracted
from model_corpus import sentence

sys.path.append(str(Path(__file__).parent.parent / "examples"))
from replay import stage_of, user_text  # type: ignore[import-not-found,unused-ignore]

TEN = range(10)


def question(n):
    return f"Whom did Person{n} Smith meet in Town{n % 7}?"


def answer(n):
    return f"Person{n + 1} Smith"


def paragraphs(n):
    return [{"title": f"Day {m}", "text": sentence(m), "is_supporting": m == n} for m in (n, n + 20, n + 40)]


def musique(n):
    said = [
        {"title": p["title"], "paragraph_text": p["text"], "is_supporting": p["is_supporting"], "idx": place}
        for place, p in enumerate(paragraphs(n))
    ]
    steps = [{"id": 1, "question": question(n), "answer": answer(n), "paragraph_support_idx": 0}]
    return {
        "id": f"2hop__{n}",
        "question": question(n),
        "answer": answer(n),
        "answer_aliases": [],
        "answerable": True,
        "paragraphs": said,
        "question_decomposition": steps,
    }


def hotpotqa(n):
    context = [[p["title"], [p["text"]]] for p in paragraphs(n)]
    return {
        "_id": f"h{n}",
        "question": question(n),
        "answer": answer(n),
        "type": "bridge",
        "level": "hard",
        "supporting_facts": [[f"Day {n}", 0]],
        "context": context,
    }


def novel(n):
    kind = ("Fact Retrieval", "Contextual Summarize")[n % 2]
    long = f"{sentence(n)} That was all that was said of it in this place, and it was said once."
    return {
        "id": f"Novel-{n}",
        "source": f"Novel-{n % 2}",
        "question": question(n),
        "answer": long if n % 2 else answer(n),
        "question_type": kind,
        "evidence": [sentence(n)],
    }


def locomo(talk):
    turns = [{"speaker": "Ada", "dia_id": f"D1:{n}", "text": sentence(n)} for n in TEN]
    asked = [
        {"question": question(n), "answer": answer(n), "evidence": [f"D1:{n}"], "category": 1}
        for n in range(5)
    ]
    adversarial = {
        "question": "Whom did Bob meet?",
        "adversarial_answer": "Ada",
        "evidence": ["D1:0"],
        "category": 5,
    }
    return {
        "sample_id": f"conv-{talk}",
        "conversation": {
            "speaker_a": "Ada",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": turns,
        },
        "qa": [*asked, adversarial],
    }


def longmemeval(n):
    sessions = [
        [{"role": "user", "content": sentence(m)}, {"role": "assistant", "content": "I see."}]
        for m in (n, n + 20)
    ]
    names = [f"s{n}", f"s{n + 20}"]
    return {
        "question_id": f"l{n}_abs" if n == 3 else f"l{n}",
        "question_type": "single-session-user",
        "question": question(n),
        "answer": answer(n),
        "question_date": "2023/05/30",
        "haystack_dates": ["2023/05/20", "2023/05/21"],
        "haystack_session_ids": names,
        "haystack_sessions": sessions,
        "answer_session_ids": names[:1],
    }


def longbench(n):
    context = "\n\n".join(
        f"Passage {place}:\n{p['title']}\n{p['text']}" for place, p in enumerate(paragraphs(n), 1)
    )
    return {
        "_id": f"lb{n}",
        "input": question(n),
        "context": context,
        "answers": [answer(n)],
        "dataset": "hotpotqa_e",
        "length": 20,
    }


def records():
    """The questions of each file by its name."""
    return {
        "musique.json": [musique(n) for n in TEN],
        "hotpotqa.json": [hotpotqa(n) for n in TEN],
        "2wikimultihopqa.json": [{**hotpotqa(n), "evidences": []} for n in TEN],
        "popqa.json": [
            {
                "id": n,
                "question": question(n),
                "obj": answer(n),
                "possible_answers": json.dumps([answer(n)]),
                "paragraphs": paragraphs(n),
            }
            for n in TEN
        ],
        "nq_rear.json": [
            {"question": question(n), "reference": [answer(n)], "contexts": paragraphs(n)} for n in TEN
        ],
        "lveval.jsonl": [{**longbench(n), "confusing_facts": [], "answer_keywords": answer(n)} for n in TEN],
        "hotpotqa_longbench.jsonl": [longbench(n) for n in range(4)],
        "strategyqa.json": [
            {
                "qid": f"s{n}",
                "term": "x",
                "question": f"Did Person{n} Smith meet anybody?",
                "answer": n % 2 == 0,
                "facts": ["x"],
                "decomposition": ["Who?", "Is #1 somebody?"],
            }
            for n in TEN
        ],
        "triviaqa.json": [
            {
                "Question": question(n),
                "QuestionId": f"t{n}",
                "Answer": {"Value": answer(n), "Aliases": [answer(n), "A. Smith"]},
                "EntityPages": [],
            }
            for n in TEN
        ],
        "cwq.json": [
            {
                "ID": f"c{n}",
                "question": question(n),
                "answers": [{"answer": answer(n), "aliases": ["A. Smith"], "answer_id": "m.1"}],
                "compositionality_type": "composition",
            }
            for n in TEN
        ],
        "novel_questions.json": [novel(n) for n in TEN],
        "locomo10.json": [locomo(talk) for talk in range(2)],
        "longmemeval_s.json": [longmemeval(n) for n in range(4)],
    }


def write(folder):
    """Write the files of questions and the corpora that go with them."""
    for name, values in records().items():
        whole = {"Data": values} if name == "triviaqa.json" else values
        text = "\n".join(map(json.dumps, values)) if name.endswith("l") else json.dumps(whole)
        (folder / name).write_text(text)
    corpus = [{"title": p["title"], "text": p["text"]} for n in TEN for p in paragraphs(n)]
    for name in ("musique_corpus.json", "hotpotqa_corpus.json"):
        (folder / name).write_text(json.dumps(corpus))
    novels = [
        {"corpus_name": f"Novel-{m}", "context": " ".join(sentence(n) for n in TEN if n % 2 == m)}
        for m in range(2)
    ]
    (folder / "novel.json").write_text(json.dumps(novels))


def facts(stage, said):
    """What the model finds in passages for the profiles `propositions` and `two-step`."""
    parts = (
        re.split(r"^Passage (\d+)$", said, flags=re.MULTILINE)
        if stage == "extract_propositions"
        else ["", "1", said]
    )
    passages = []
    for number, text in zip(parts[1::2], parts[2::2], strict=True):
        found = extracted({"messages": ["", {"content": text}]})
        names = [entity["name"] for entity in found["entities"]]
        passages.append(
            {
                "number": int(number),
                "propositions": found["propositions"],
                "entities": [f"{name}|thing|0" for name in names],
            }
        )
    listed = [{"text": fact, "entities": names} for fact in found["propositions"]]
    replies = {
        "extract_propositions": {"passages": passages},
        "extract_entities": {"entities": [f"{name}: thing" for name in names]},
        "extract_listed": {"propositions": listed},
    }
    return replies[stage]


def model(body):
    """What the model says to each request."""
    stage = stage_of(body)
    said = user_text(body)
    asked = re.findall(r"Whom did Person(\d+) Smith", said)
    name = answer(int(asked[-1])) if asked else "Ada"
    steps = [{"id": 1, "question": said.rpartition("Question: ")[2].strip(), "retrieve": True}]
    replies = {
        "plan": {"plan": steps},
        "judge": {"verdict": "agree", "credit": "full", "statements": 2, "covered": 1},
        "ircot": f"So the answer is: {name}.",
        "grasp_plan": f"Plan: look.\n1. {said.rpartition('Question: ')[2].strip()}",
        "grasp_find": f"Answer: {name}\nFinding: {name} was met.\nLines: 1",
        "grasp_rewrite": f"Statement: {name} met somebody\nKeywords: {name}",
        "pathwise_intent": {
            "type": "factual",
            "depth": "low",
            "entities": [],
            "sides": [],
            "attributes": [],
            "broad": False,
            "plan": steps,
        },
        "pathwise_gaps": {"questions": []},
        "pruned_question": f"{name} | met | somebody",
    }
    if stage in ("extract", "repair"):
        return extracted(body)
    if stage.startswith("extract_"):
        return facts(stage, said)
    if stage == "judge":
        wanted = body["response_format"]["json_schema"]["schema"]["properties"]
        return {key: value for key, value in replies["judge"].items() if key in wanted}
    return replies.get(stage, f"{name} it is.\nAnswer: {name}\nSources: 1")
