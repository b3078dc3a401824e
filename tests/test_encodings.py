"""Texts that are not UTF-8: read as they were written, or refused with the file named; never read wrongly."""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec

import pytest

from gsw_graph.loaders import files as encoding
from gsw_graph.loaders import read
from gsw_graph.model.documents import Document, Failure

if not os.environ.get("CI") and not find_spec("chardet"):
    pytest.skip("needs the extra documents", allow_module_level=True)

FRENCH = (
    "L’ancien phare fut achevé en 1863 par l’ingénieur Étienne Fouché, après que la tempête eut emporté l’échelle de bois. Où le gardien\n"
    "dînait, près du foyer, on découvrit plus tard le cahier où il notait « la hauteur des marées » et les noms des bateaux égarés.\n"
)
GERMAN = (
    "Der Leuchtturm wurde 1863 über den Klippen errichtet, nachdem ein Sturm die hölzerne Brücke zerstört hatte. Die Wärterin führte\n"
    "ein Tagebuch, in dem sie täglich die Höhe der Flut und die Namen der Schiffe aufschrieb, die später glücklich heimkehrten.\n"
)
RUSSIAN = (
    "Старый маяк был построен в 1863 году после бури, которая разрушила деревянный мост у скалистого берега. Смотритель каждый вечер\n"
    "записывал в тетрадь высоту прилива и названия кораблей, проходивших мимо острова; тетрадь нашли только спустя много лет.\n"
)
CHINESE = "旧灯塔建于一八六三年,当时一场暴风雨摧毁了海边的木桥。守塔人每天晚上都在笔记本里记下潮水的高度和经过岛屿的船只的名字。\n许多年以后,人们才在炉子旁边找到了这本笔记,里面还夹着一张没有寄出的信。\n"
JAPANESE = "古い灯台は一八六三年に建てられた。嵐で木の橋が流されたあとのことである。灯台守は毎晩、潮の高さと島のそばを通った船の名前を帳面に書きとめた。\nその帳面が見つかったのは、ずっと後になってからだった。\n"
KOREAN = "옛 등대는 폭풍이 나무 다리를 무너뜨린 뒤 1863년에 세워졌다. 등대지기는 매일 저녁 밀물의 높이와 섬을 지나가는 배의 이름을 공책에 적었다.\n그 공책은 여러 해가 지난 뒤에야 난로 옆에서 발견되었다.\n"
GREEK = "Ο παλιός φάρος χτίστηκε το 1863, αφού η θύελλα κατέστρεψε την ξύλινη γέφυρα. Ο φύλακας έγραφε κάθε βράδυ στο τετράδιό του το ύψος της παλίρροιας.\n"

TOLD = [
    (FRENCH, "cp1252"),
    (GERMAN, "cp1252"),
    (RUSSIAN, "cp1251"),
    (RUSSIAN, "cp866"),
    (CHINESE, "gb18030"),
    (JAPANESE, "cp932"),
    (JAPANESE, "euc_jp"),
    (JAPANESE, "iso2022_jp"),
    (KOREAN, "cp949"),
    (GREEK, "cp1253"),
]
MARKED = ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"]


def load(path, content):
    path.write_bytes(content)
    return list(read([str(path)]))


def text(items):
    (document,) = items
    assert isinstance(document, Document), document
    return "\n".join(passage.text for passage in document.passages)


def marked(content, codec):
    return (("\ufeff" if codec.endswith("e") else "") + content).encode(codec)


@pytest.mark.parametrize(("content", "codec"), TOLD, ids=lambda value: value if len(value) < 12 else "")
def test_a_text_in_another_encoding_is_read_as_it_was_written(tmp_path, content, codec):
    assert text(load(tmp_path / "a.txt", content.encode(codec))) == content.strip()
    assert text(load(tmp_path / "b.md", b"# 1863\n\n" + content.encode(codec))) == content.strip()


@pytest.mark.parametrize("codec", MARKED)
def test_a_mark_at_the_start_says_which_unicode_it_is(tmp_path, codec):
    content = "Ana Ruiz 灯台\n\nlit the lamp. 😀"
    (document,) = load(tmp_path / "a.txt", marked(content, codec))
    assert isinstance(document, Document)
    assert document.title == "Ana Ruiz 灯台"
    assert document.passages[0].text == "lit the lamp. 😀"
    found = text(
        load(tmp_path / "b.json", marked(json.dumps([{"text": content}], ensure_ascii=False), codec))
    )
    assert found == content
    lines = "".join(
        json.dumps({"text": f"{content} {n}"}) + "\n" for n in range(5000)
    )  # longer than what is read ahead
    found = text(load(tmp_path / "c.jsonl", marked(lines, codec))[4999:])
    assert found == f"{content} 4999"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (marked("Some words", "utf-16-le") + b"\x00", "broken utf-16 text"),
        (marked("Some words", "utf-16-le") + b"\x00\xd8a\x00", "broken utf-16 text"),
        (marked("Some words", "utf-32-be") + b"\x00\x7f\xff\xff", "broken utf-32 text"),
        (b"\xff\xfe", "empty"),
    ],
)
def test_broken_unicode_is_a_failure_of_the_file(tmp_path, content, reason):
    (failure,) = load(tmp_path / "a.txt", content)
    assert isinstance(failure, Failure)
    assert failure.source == str(tmp_path / "a.txt")
    assert reason in failure.reason


@pytest.mark.parametrize(
    "content",
    [
        "The café was closed.\n".encode("cp1252"),  # é, й, ι or И?
        "Señor.".encode("cp1252"),
        "naïve café, déjà vu ".encode() * 5 + b"\xe9 " + FRENCH.encode(),  # UTF-8 with one byte gone wrong
        CHINESE.encode() + b"\xff" + CHINESE.encode(),
        bytes(range(1, 256)) * 4,
        b"\x80\x81\x82\x83\x84\x85\x90\x91" * 100,
    ],
)
def test_what_cannot_be_told_is_refused_and_the_file_named(tmp_path, content):
    (failure,) = load(tmp_path / "a.txt", content)
    assert isinstance(failure, Failure)
    assert failure.source.startswith(str(tmp_path / "a.txt"))
    assert "encoding cannot be told: save it as UTF-8" in failure.reason


def test_without_the_extra_only_utf8_is_read(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "chardet", None)
    monkeypatch.setattr(encoding, "find_spec", lambda _: None)
    (failure,) = load(tmp_path / "a.txt", FRENCH.encode("cp1252"))
    assert isinstance(failure, Failure)
    assert failure.source == f"{tmp_path}/a.txt:1"
    assert failure.reason.endswith(
        "save it as UTF-8, or let it be guessed: pip install 'gswgraph[documents]'"
    )
    assert text(load(tmp_path / "b.txt", marked(FRENCH, "utf-16-le"))) == FRENCH.strip()
