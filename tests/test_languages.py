"""Names in languages other than English, and what is found by them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gsw_graph.extract import rules
from gsw_graph.memory import Memory
from gsw_graph.model.documents import Document, Passage
from gsw_graph.text.languages import detect
from gsw_graph.text.words import sentences

WORLD = json.loads((Path(__file__).parent / "languages" / "world.json").read_text(encoding="utf-8"))
LANGUAGES = WORLD["languages"]
UNCASED = {"ar", "ja", "zh"}


def names(*texts: str, title: str = "", section: str = "") -> set[str]:
    passages = tuple(Passage(text, title, number, section) for number, text in enumerate(texts))
    document = Document("d", title, passages, "text")
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


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # What is quoted, Latin, and what recurs in the document; 北京 and 日本 may be any words.
        (["周树人在《新青年》上发表《狂人日记》，曾在仙台医学专门学校学医。", "周树人离开仙台医学专门学校，用Google和GPT-4翻译。他住在北京，去过日本。"], {"周树人", "新青年", "狂人日记", "仙台医学专门学校", "Google", "GPT-4"}),
        (["内藤多仲はエッフェル塔を見た。内藤多仲は『学問の独立』をニコライ・ペトレスクと読んだ。NHKも放送した。"], {"内藤多仲", "エッフェル", "学問の独立", "ニコライ・ペトレスク", "NHK"}),
        (["김수근 건축사무소는 잡지 『공간』을 만들었다.", "그 집은 김수근 건축사무소의 작품이다."], {"김수근 건축사무소", "공간"}),  # particles differ
        (["كتب رواية «أولاد حارتنا» وعمل في وزارة الأوقاف. فازت NASA و ESA و JAXA بجائزة.", "زار مبنى وزارة الأوقاف مع أخيه."], {"أولاد حارتنا", "وزارة الأوقاف", "NASA", "ESA", "JAXA"}),
        (["उन्होंने \"गोदान\" लिखा। हंस पत्रिका BBC ने देखी।", "वे हंस पत्रिका के संपादक थे।"], {"गोदान", "हंस पत्रिका", "BBC"}),
        (["He met 鲁迅 (“Lu Xun”) in Beijing, and 鲁迅 wrote 狂人日记 there."], {"Lu Xun", "Beijing"}),
    ],
)  # fmt: skip
def test_names_in_scripts_without_capitals(texts: list[str], expected: set[str]) -> None:
    assert names(*texts) == expected


def test_a_heading_in_a_script_without_capitals_is_a_name() -> None:
    assert names("他来了。", title="鲁迅", section="鲁迅 > 早年生活") == {"鲁迅", "早年生活"}
    assert names("It came.", title="Lu Xun", section="Lu Xun > Early life") == {"Lu Xun"}


def test_sentences_end_as_their_script_has_it() -> None:
    assert sentences("他来了。她走了！真的吗？") == ("他来了。", "她走了！", "真的吗？")
    assert sentences("هل جاء؟ نعم.") == ("هل جاء؟", "نعم.")
    assert sentences("राम आया। सीता गई।") == ("राम आया।", "सीता गई।")


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
