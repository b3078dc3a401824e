"""Scripts without spaces between words: Thai, Lao, Khmer, Burmese, Tibetan."""

from __future__ import annotations

import pytest

from gsw_graph.loaders import read
from gsw_graph.loaders.split import paragraphs, split
from gsw_graph.model.documents import Document
from gsw_graph.text.words import paired, searchable, sentences

# Three sentences, and the question whose words stand within the first.
WORLD = {
    "th": ("โรงสีข้าวบ้านท่าเรือสร้างโดยนายสมชาย", "สะพานไม้ข้ามคลองพังลงเมื่อฤดูฝนที่แล้ว", "ครูมาลีสอนวิชาดาราศาสตร์ที่โรงเรียนวัดป่า", "ใครสร้างโรงสีข้าว"),
    "lo": ("ໂຮງສີເຂົ້າຂອງບ້ານສ້າງໂດຍທ້າວສົມໄຊ", "ຂົວໄມ້ຂ້າມຄອງພັງລົງໃນລະດູຝົນ", "ຄູມາລີສອນວິຊາດາລາສາດຢູ່ໂຮງຮຽນ", "ໃຜສ້າງໂຮງສີເຂົ້າ"),
    "km": ("ម៉ាស៊ីនកិនស្រូវភូមិកំពង់ត្រូវបានសាងសង់ដោយលោកសុខ", "ស្ពានឈើឆ្លងអូរបានបាក់នៅរដូវវស្សា", "គ្រូបង្រៀនមុខវិជ្ជាតារាសាស្ត្រនៅសាលា", "អ្នកណាសាងសង់ម៉ាស៊ីនកិនស្រូវ"),
    "my": ("ရွာဆန်စက်ကိုဦးဘမောင်ကတည်ဆောက်ခဲ့သည်", "သစ်သားတံတားသည်မိုးရာသီတွင်ပြိုကျခဲ့သည်", "ဆရာမမာလာသည်ကျောင်းတွင်နက္ခတ္တဗေဒသင်ကြားသည်", "ဆန်စက်ကိုဘယ်သူတည်ဆောက်သလဲ"),
    "bo": ("འབྲས་འཐག་འཁོར་ལོ་འདི་བསོད་ནམས་ཀྱིས་བཟོས།", "ཤིང་གི་ཟམ་པ་དེ་དབྱར་དུས་ཆག་སོང་།", "དགེ་རྒན་སྒྲོལ་མས་སྐར་རྩིས་བསླབས།", "འབྲས་འཐག་འཁོར་ལོ་སུས་བཟོས་པ་རེད།"),
}  # fmt: skip


def test_words_are_indexed_as_pairs_of_signs():
    assert paired("สีข้าว 1904, Ana").split() == ["สีข้", "ข้า", "าว", "1904,", "Ana"]
    assert set(paired("ข้าว").split()) <= set(searchable("โรงสีข้าวบ้าน", "en").split())
    assert paired("东京大学 in 1904") == "东京大学 in 1904"


@pytest.mark.parametrize("code", sorted(WORLD))
def test_case_40_a_word_within_a_sentence_is_found(memory, tmp_path, code):
    *texts, question = WORLD[code]
    for number, text in enumerate(texts):
        (tmp_path / f"{2 - number}.txt").write_text(text, encoding="utf-8")
    memory.load(str(tmp_path))
    for strategy in ("bm25", "linked"):
        found = memory.ask(question, strategy=strategy, k=1, llm=False).passages
        assert [passage.text for passage in found] == texts[:1]


@pytest.mark.parametrize("code", sorted(WORLD))
@pytest.mark.parametrize("space", ["", " "])
def test_case_40_a_long_text_becomes_passages_that_a_model_reads(tmp_path, code, space):
    text = space.join(WORLD[code][:3] * 60)
    (tmp_path / "long.txt").write_text(text, encoding="utf-8")
    (document,) = read([str(tmp_path / "long.txt")])
    assert isinstance(document, Document)
    passages = [passage.text for passage in document.passages]
    assert max(map(len, passages)) <= 1500
    assert min(map(len, passages)) >= 300
    assert "".join("".join(passages).split()) == "".join(text.split())
    if space:  # no run is cut
        assert {run for passage in passages for run in passage.split()} == set(WORLD[code][:3])


def test_a_phrase_is_a_sentence(tmp_path):
    assert sentences("โรงสีข้าวสร้างโดยนายสมชาย สะพานไม้พังลง") == ("โรงสีข้าวสร้างโดยนายสมชาย", "สะพานไม้พังลง")
    text = "Thai: โรงสี ข้าว. It was built in 1904. Then it burned."
    assert split(paragraphs(text)) == [text]
