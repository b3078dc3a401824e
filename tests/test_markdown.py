"""Markdown as people write it: entities, escapes, admonitions, attributes, includes, HTML, struck-out text."""

from __future__ import annotations

import json

import pytest
from samples import cases

from gsw_graph.extract import rules
from gsw_graph.loaders import read
from gsw_graph.model.documents import Document, Skipped


def load(path, content):
    path.write_text(content, encoding="utf-8")
    found, *rest = read([str(path)])
    assert isinstance(found, Document), found
    return found, {kind: number for item in rest if isinstance(item, Skipped) for kind, number in item.kinds}


def text(path, content):
    return "\n\n".join(passage.text for passage in load(path, content)[0].passages)


NOTES = r"""# Firms

Hale &amp; Sons was founded by Jos&eacute; Almir&oacute;n and Sean O&#39;Malley.

Sean O\'Malley moved to St\. Osyth, to No\. 7, Quill\_Canal Street. He paid 40\*3 crowns, \$120, 5 &lt; 7, \#1, \[a\].

| A &amp; B | C\|D |
|---|---|
| `&amp;` | \*x\* |

Code stays: `a &amp; b` and `x\_y`, C:\dir, $\alpha_1 \{x\}$.

```
a &amp; b\_c {.x} <!-- kept --> ~~x~~ {% include x %}
```

    indented &amp; \_kept\_
"""


def test_case_37_entities_and_escapes_are_what_they_stand_for(tmp_path):
    document, _ = load(tmp_path / "a.md", NOTES)
    assert "\n\n".join(passage.text for passage in document.passages).split("\n\n") == [
        "Hale & Sons was founded by José Almirón and Sean O'Malley.",
        "Sean O'Malley moved to St. Osyth, to No. 7, Quill_Canal Street. He paid 40*3 crowns, $120, 5 < 7, #1, [a].",
        "| A & B | C|D |\n|---|---|\n| `&amp;` | *x* |",
        r"Code stays: `a &amp; b` and `x\_y`, C:\dir, $\alpha_1 \{x\}$.",
        "```\na &amp; b\\_c {.x} <!-- kept --> ~~x~~ {% include x %}\n```",
        "    indented &amp; \\_kept\\_",
    ]
    names = {entity.name for entity in rules.extract(document).entities}
    assert {"José Almirón", "Sean O'Malley", "St. Osyth"} <= names


def test_case_37_a_notebook_too(tmp_path):
    cells = [
        {"cell_type": "markdown", "source": "By Jos&eacute; O\\'Malley."},
        {"cell_type": "code", "source": "x = '&amp;'", "outputs": []},
    ]
    content = json.dumps({"cells": cells, "nbformat": 4, "metadata": {}})
    assert text(tmp_path / "a.ipynb", content) == "By José O'Malley.\n\n```\nx = '&amp;'\n```"


@pytest.mark.parametrize(
    "written",
    [
        '!!! note "Ida Falk"\n\n    She **built** it.\n\n    - one\n    - two\n\nAfter.',
        '??? question "Ida Falk"\n    She *built* it.\n\n    - one\n    - two\n\nAfter.',
        '???+ tip inline end "Ida Falk"\n    She built it.\n\n    - one\n    - two\nAfter.',
        "/// tip | Ida Falk\n    open: true\n\nShe built it.\n\n- one\n- two\n\n///\n\nAfter.",
        "> [!NOTE] Ida Falk\n> She built it.\n>\n> - one\n> - two\n\nAfter.",
        "> [!warning]- Ida Falk\n> She built it.\n>\n> - one\n> - two\n\nAfter.",
        ":::note Ida Falk\nShe built it.\n\n- one\n- two\n:::\n\nAfter.",
        ":::tip[Ida Falk]\n\nShe built it.\n\n- one\n- two\n\n:::\n\nAfter.",
        '::: {.callout-note title="Ida Falk"}\nShe built it.\n\n- one\n- two\n:::\n\nAfter.',
        ":::{admonition} Ida Falk\n:class: note\nShe built it.\n\n- one\n- two\n:::\n\nAfter.",
        "```{note} Ida Falk\nShe built it.\n\n- one\n- two\n```\n\nAfter.",
        '=== "Ida Falk"\n\n    She built it.\n\n    - one\n    - two\n\nAfter.',
        "<details markdown='1'>\n<summary>Ida Falk</summary>\n\nShe built it.\n\n- one\n- two\n\n</details>\n\nAfter.",
    ],
)
def test_admonitions_keep_their_text(tmp_path, written):
    found = text(tmp_path / "a.md", f"Before.\n\n{written}\n").split("\n\n")
    assert found == [
        "Before.",
        "Ida Falk",
        "She built it.",
        "- one\n- two",
        "After.",
    ]


def test_admonitions_within_each_other_and_with_code(tmp_path):
    written = '!!! note\n    Outer.\n\n    !!! tip "Inner"\n        Deep.\n\n        ```py\n        x = 1\n        ```\n\n    Outer again.\n\n1. Item\n\n    !!! note\n        Of the item.\n'
    assert (
        text(tmp_path / "a.md", written)
        == "Outer.\n\nInner\n\nDeep.\n\n```py\nx = 1\n```\n\nOuter again.\n\n1. Item\n\n   Of the item."
    )


@pytest.mark.parametrize(
    "written",
    ["!!! Wow, that is much.", "??? what", "/// what", "::: what is that", "/// note", "Ratio ::: 3"],
)
def test_what_only_looks_like_an_admonition_is_not_lost(tmp_path, written):
    found = text(tmp_path / "a.md", f"Before.\n\n{written}\n\nAfter.")
    assert written in found or written.startswith(
        ":::"
    )  # what documentation is made of, counted as an include


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("## Title { #anchor }\n\nText.", "Title\n\nText."),
        ("## Title {#anchor .big data-x='1'}\n\nText.", "Title\n\nText."),
        ("Text.\n{: .class }", "Text."),
        ("Text. {: #a }\n\nMore {.lead}", "Text.\n\nMore"),
        ("See [Ida](x.html){target=_blank} and ![map](m.png){ width=300 }.", "See Ida and map."),
        ("Use {py:class}`Foo` and `{: kept }`.", "Use {py:class}`Foo` and `{: kept }`."),
        ("A set {a, b}, a {name} and x{1}.", "A set {a, b}, a {name} and x{1}."),
    ],
)
def test_attribute_lists_are_no_text(tmp_path, written, shown):
    assert text(tmp_path / "a.md", written) == shown


@pytest.mark.parametrize(
    ("written", "left_out"),
    cases(__file__, "includes_and_comments_are_left_out_and_counted"),
)
def test_includes_and_comments_are_left_out_and_counted(tmp_path, written, left_out):
    document, counts = load(tmp_path / "a.md", f"Before.\n\n{written}\n\nAfter.")
    assert [passage.text for passage in document.passages] == ["Before.\n\nAfter."]
    assert counts == left_out


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (
            "10<sup>6</sup>, H<sub>2</sub>O, <kbd>&lt;Enter&gt;</kbd>, a<br>b, <b>Ana</b> Ruiz",
            "10^6, H2O, <Enter>, a b, Ana Ruiz",
        ),
        ('<h2 align="center">The <em>Light</em></h2>\n\nText.', "The Light\n\nText."),
        (
            "<table>\n<tr><th>Town</th><th>Mayor</th></tr>\n<tr><td>Pell</td>\n<td>Jon &amp; Ida</td></tr>\n</table>",
            "| Town | Mayor |\n| Pell | Jon & Ida |",
        ),
        ("<ul>\n<li>one</li>\n<li>two</li>\n</ul>", "- one\n- two"),
        ("<p hidden>x</p>\n\nText <span hidden>x</span>here.", "Text here."),
        ("<pre>\na  b\n c\n</pre>", "a  b\n c"),
        ("git clone <url> and <Tabs group='a'>x</Tabs>", "git clone <url> and x"),
        ("<div>\n\n    <p>Indented, no code.</p>\n\n</div>", "Indented, no code."),
        ("| a | b |\n|---|---|\n| one<br>two | <b>x</b> |", "| a | b |\n|---|---|\n| one two | x |"),
    ],
)
def test_html_within_markdown_is_read_as_html(tmp_path, written, shown):
    assert text(tmp_path / "a.md", written) == shown


@pytest.mark.parametrize(
    "struck", ["~~3 crowns~~", "<del>3 crowns</del>", "<s>3 crowns</s>", "<strike>3 *crowns*</strike>"]
)
def test_case_32_struck_out_text_of_markdown_is_not_current(tmp_path, struck):
    document, left_out = load(tmp_path / "a.md", f"The toll is {struck} 5 crowns.")
    assert [passage.text for passage in document.passages] == ["The toll is 5 crowns."]
    assert left_out == {"struck-out passage": 1}


def test_lists_links_and_emphasis(tmp_path):
    written = "Intro:\n- a **b**\n  c\n- d\n    1. e\n    2. f\n\n> Met Ida\n> Falk.\n\n* x\n\n  more\n\n* [ ] y\n\n[`Foo`][a.Foo], [Ida](<a b>), [Bo](a b/c.md), [Ed]({{ 'x' | url }}), <http://x.y>, ==Ana== Ruiz, snake_case_name"
    assert text(tmp_path / "a.md", written).split("\n\n") == [
        "Intro:\n- a b\n  c\n- d\n  1. e\n  2. f", "Met Ida\nFalk.", "* x", "  more", "* [ ] y", "`Foo`, Ida, Bo, Ed, http://x.y, Ana Ruiz, snake_case_name",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "mark",
    [
        "~~a ",
        "![",
        "<",
        "<a ",
        "<s>",
        "> ",
        "- ",
        "&",
        "[^a]",
        "{",
        "{% ",
        "{:",
        "$",
        "$a_",
        "!!! a\n    ",
        "[[a|",
        "%%a ",
        "<!-- ",
        "](a b",
        "{ #a ",
        "{a=b ",
        "```{a}\n",
        ":::a\n",
        "/// a\n",
        "\\(\\a",
    ],
)
def test_no_mark_makes_it_slow(tmp_path, mark):
    (tmp_path / "a.md").write_text("x " + mark * 20_000)
    assert list(read([str(tmp_path / "a.md")]))


def test_case_10_front_matter_is_found(tmp_path):
    document, _ = load(
        tmp_path / "a.md",
        "---\ntitle: Kiln\nauthor: Mirela Antonescu\ndate: 2024-03-09\naliases: [The Old Furnace]\n---\n\nIt stands.",
    )
    assert (
        document.passages[0].text
        == "author: Mirela Antonescu; date: 2024-03-09; aliases: The Old Furnace\n\nIt stands."
    )
    assert document.title == "Kiln"
    assert document.about == "2024-03-09"


def test_case_14_wiki_links_and_comments(tmp_path):
    written = "# Note\n\nMet [[Ilse Karnov]] at [[Blue Harbor|the harbor]] with [[people/Tom Adeyemi.md|Tom]].\n\n<!-- ask Rex Vane -->\n"
    document, left_out = load(tmp_path / "a.md", written)
    assert [passage.text for passage in document.passages] == ["Met Ilse Karnov at the harbor with Tom."]
    assert left_out == {"comment": 1}


def test_case_15_a_notebook_is_read(tmp_path):
    cells = [
        {"cell_type": "markdown", "source": ["# Tide model\n", "By Petra Holloway.\n"]},
        {"cell_type": "code", "source": ["print(6*7)\n"], "outputs": []},
    ]
    document, _ = load(tmp_path / "a.ipynb", json.dumps({"cells": cells, "nbformat": 4, "metadata": {}}))
    assert document.title == "Tide model"
    assert document.passages[0].text == "By Petra Holloway.\n\n```\nprint(6*7)\n```"


@pytest.mark.parametrize(
    "written",
    [
        "It was built by Helga\nBrandstrom, of Norvik.",
        "It was built by Helga\u00a0Brandstrom.",
        "It was built by Helga\u2009Brandstrom.",
        "It was built by Helga  Brandstrom.",
        "It was built by Helga\tBrandstrom.",
        "It was built by Helga&nbsp;Brandstrom.",
    ],
)
@pytest.mark.parametrize("name", ["a.txt", "a.md"])
def test_case_02_case_04_white_space_parts_no_name(tmp_path, written, name):
    if "&" in written and name == "a.txt":
        return  # no entity in a plain text
    document, _ = load(tmp_path / name, written)
    assert "helga brandstrom" in {entity.key for entity in rules.extract(document).entities}
