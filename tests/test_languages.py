"""Names in languages other than English, and what is found by them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gsw_graph.extract import rules
from gsw_graph.memory import Memory
from gsw_graph.model.documents import Document, Passage
from gsw_graph.text.languages import detect

WORLD = json.loads((Path(__file__).parent / "languages" / "world.json").read_text(encoding="utf-8"))
LANGUAGES = WORLD["languages"]
UNCASED = {"ar", "ja", "zh"}


def names(text: str, title: str = "") -> set[str]:
    document = Document("d", title, (Passage(text, title, 0),), "text")
    return {entity.name for entity in rules.extract(document).entities}


@pytest.mark.parametrize("code", sorted(set(LANGUAGES) - UNCASED))
def test_the_language_of_documents_and_questions_is_seen(code: str) -> None:
    texts = [*(document["text"] for document in LANGUAGES[code]["documents"]), *LANGUAGES[code]["questions"]]
    assert {detect(text).code for text in texts} == {code}


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        ("Das Theater wurde von Ottilie Grau entworfen. Die Halle im Bergdorf Oberlinden ist aus der Zeit nach dem Krieg.", "de", {"Ottilie Grau", "Bergdorf Oberlinden", "Oberlinden"}),
        ("La tour de l'Ancienne Douane fut construite par Ida Holm. Il est né à Corrigan, dans le nord.", "fr", {"Ancienne Douane", "Ida Holm", "Corrigan"}),
        ("El faro de Punta Brava fue construido por Ana Ruiz. Después vivió en Porto Velho con su hermana.", "es", {"Punta Brava", "Ana Ruiz", "Porto Velho"}),
        ("O farol da Ponta Brava foi construído por Ana Ruiz. Depois ela viveu em Porto Velho com a irmã.", "pt", {"Ponta Brava", "Ana Ruiz", "Porto Velho"}),
        ("Il faro di Punta Brava fu costruito da Ana Ruiz. Poi visse nella città dell'Aquila con la sorella.", "it", {"Punta Brava", "Ana Ruiz", "Aquila"}),
        ("Маяк построила Сирша Пенхаллоу. Позже она жила в городе Корриган, и её сестра тоже.", "ru", {"Маяк", "Сирша Пенхаллоу", "Корриган"}),
        ("Τον φάρο έχτισε η Άννα Ρουίζ. Μετά έζησε στην Κόρινθο με την αδελφή της.", "el", {"Άννα Ρουίζ", "Κόρινθο"}),
        ("In the north La Paz is high. It was visited by Ana de la Cruz.", "en", {"La Paz", "Ana de la Cruz"}),
    ],
)
def test_function_words_and_common_nouns_are_no_names(text: str, code: str, expected: set[str]) -> None:
    assert detect(text).code == code
    assert names(text) == expected


@pytest.mark.parametrize("code", LANGUAGES)
def test_two_steps_are_found_in_each_language(memory: Memory, tmp_path: Path, code: str) -> None:
    held = LANGUAGES[code]
    records = ({"id": str(number), **document} for number, document in enumerate(held["documents"]))
    (tmp_path / "world.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    assert memory.load(tmp_path / "world.jsonl").failures == []
    both = 0
    for question, gold in zip(held["questions"], WORLD["gold"], strict=True):
        sources = {passage.source for passage in memory.ask(question, strategy="linked", keep=False)}
        both += {str(number) for number in gold} <= sources
    assert both >= (12 if code in UNCASED else 9), f"of {len(WORLD['gold'])}"
