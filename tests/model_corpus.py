"""Documents for loads by a language model, and what the model says of their passages: any passage names what it says."""

from __future__ import annotations

import json
import re

_SAID = re.compile(r"Person(\d+) Smith met Person(\d+) Smith in (\w+)")


def write(folder, documents):
    """That many documents, every tenth with several passages; how many passages in all."""
    folder.mkdir(exist_ok=True)
    passages = 0
    records = []
    for n in range(documents):
        if n % 10:
            records.append(json.dumps({"id": f"d{n}", "title": f"Day {n}", "text": sentence(n)}))
            passages += 1
        else:
            parts = [
                f"# Part {part}\n\n{sentence(n + 1000 * part)} {'It was a long day, and much was said. ' * 17}"
                for part in range(1, 6)
            ]
            (folder / f"long{n}.md").write_text("\n\n".join(parts), encoding="utf-8")
            passages += len(parts)
    (folder / "short.jsonl").write_text("\n".join(records), encoding="utf-8")
    return passages


def sentence(n):
    """What happened on a day: people, and a town that others share."""
    return f"Then Person{n} Smith met Person{n + 1} Smith in Town{n % 7}."


def reply(body):
    """What the model finds in a passage; the second time the same."""
    found = _SAID.search(body["messages"][1]["content"].partition("<<<passage")[2])
    if found is None:
        return None
    one = f"Person{found[1]} Smith"
    other = f"Person{found[2]} Smith"
    town = found[3]
    return {
        "entities": [
            {"name": one, "roles": ["person"]},
            {"name": other, "roles": ["person: guest"]},
            {"name": town, "roles": ["town"]},
        ],
        "verb_phrases": [
            {
                "phrase": "met",
                "questions": [
                    {"question": f"Whom did {one} meet in {town}?", "answers": [other]},
                    {"question": f"Who met {other} in {town}?", "answers": [one]},
                    {"question": f"Where did {one} meet {other}?", "answers": [town]},
                ],
            }
        ],
        "propositions": [f"{one} met {other} in {town}."],
    }
