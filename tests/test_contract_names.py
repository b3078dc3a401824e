"""How names are spelled, and which words are none, whatever was loaded first."""

from __future__ import annotations

from itertools import permutations

import pytest
from contract import rows
from dump import differences, dump

from gsw_graph.errors import InputError
from gsw_graph.memory import Memory

TEXTS = {
    "one": "We keep it on Github. Adding salt is fun. Lisbon burned.",
    "two": "We use GitHub, and Lisbon Lane.",
    "three": "On GitHub there is code. Salt is good. Lisbon has a port.",
    "four": "By adding a word to it. He saw Oslo.",
}


@pytest.fixture
def files(tmp_path):
    files = {name: tmp_path / f"{name}.txt" for name in TEXTS}
    for name, file in files.items():
        file.write_text(TEXTS[name])
    return files


def spelled(memory):
    return rows(memory, "MATCH (c:Concept) RETURN c.id, c.name, c.joins, c.opens, c.passages ORDER BY c.id")


def test_names_do_not_depend_on_the_order_of_loads(fresh_settings, fake_embedder, files):
    graphs = []
    with Memory.open(settings=fresh_settings) as memory:
        for order in list(permutations(files))[::5]:
            for name in order:
                memory.load(str(files[name]))
            graphs.append(spelled(memory))
            memory.forget(everything=True)
    for graph in graphs:
        assert graph == graphs[0]
    assert ("github", "GitHub", True, False, 3) in graphs[0]


def test_the_commonest_spelling_is_shown_after_every_change(fresh_settings, fake_embedder, files):
    def shown():
        return rows(memory, "MATCH (c:Concept {id: 'github'}) RETURN c.name")[0][0]

    with Memory.open(settings=fresh_settings) as memory:
        memory.load(*map(str, files.values()))
        before = dump(memory)
        assert shown() == "GitHub"
        files["two"].write_text("We use Github.")
        memory.load(str(files["two"]))
        assert shown() == "Github"
        memory.forget(str(files["one"]), str(files["two"]))
        assert shown() == "GitHub"
        files["two"].write_text(TEXTS["two"])
        memory.load(str(files["one"]), str(files["two"]))
        assert differences(dump(memory), before) == []


def test_show_finds_the_document_whose_source_ends_so(fresh_settings, fake_embedder, tmp_path):
    for place in ("guide/testing.md", "guide/index.md", "api/index.md", "api/retesting.md"):
        file = tmp_path / place
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"# About {place[:3]}\n\nThis is {place}.")
    with Memory.open(settings=fresh_settings) as memory:
        memory.load(f"{tmp_path}/")
        for name in ("testing.md", "guide/testing.md", "./testing.md"):
            assert memory.show(name).document.source.endswith("/guide/testing.md")
        with pytest.raises(InputError, match="2 documents are called so") as raised:
            memory.show("index.md")
        assert all(place in str(raised.value.hint) for place in ("guide/index.md", "api/index.md"))
        for name in ("esting.md", "/", "md"):
            with pytest.raises(InputError, match="no document or passage is called so"):
                memory.show(name)


def test_case_06_a_name_is_one_whatever_its_apostrophe_or_hyphen(fresh_settings, fake_embedder, tmp_path):
    for number, (apostrophe, hyphen) in enumerate([("'", "-"), ("\u2019", "\u2010"), ("\u02bc", "\u2011")]):
        folder = tmp_path / "texts"
        folder.mkdir(exist_ok=True)
        (folder / f"{number}.txt").write_text(
            f"the inn of Rory O{apostrophe}Dowd, by Marie{hyphen}Claire Adler", encoding="utf-8"
        )
    with Memory.open(settings=fresh_settings) as memory:
        memory.load(f"{folder}/")
        found = rows(memory, "MATCH (c:Concept) RETURN c.id, c.passages ORDER BY c.id")
    assert found == [("marie-claire adler", 3), ("rory o'dowd", 3)]


def test_case_18_a_list_of_files_is_loaded(fresh_settings, fake_embedder, files):
    paths = list(map(str, files.values()))
    with Memory.open(settings=fresh_settings) as memory:
        assert memory.load(paths[:2], paths[2]).documents.new == 3
        assert memory.load(tuple(paths)).documents.new == 1
