"""The documentation as a site: every link leads somewhere, nothing comes from the network, and what is made from the schema and the commands is there whole."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import click
import engines
import pytest

from gsw_graph.ask.retrieve.strategies import STRATEGIES
from gsw_graph.cli import main
from gsw_graph.explore.analyses import analyses
from gsw_graph.store import nodes

engines.needs("sphinx", "docs")
REPOSITORY = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """As `make docs` builds it: a warning, such as of a broken link, is an error."""
    folder = tmp_path_factory.mktemp("site")
    build = [
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "--quiet",
        "--doctree-dir",
        str(folder / "doctrees"),
        "docs",
        str(folder / "site"),
    ]
    done = subprocess.run(
        [sys.executable, *build], cwd=REPOSITORY, capture_output=True, encoding="utf-8", timeout=300
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


def page(site, name):
    return (site / f"{name}.html").read_text(encoding="utf-8")


def words(text):
    """What a reader sees."""
    return html.unescape(re.sub(r"<[^>]+>", "", text))


def test_a_page_needs_nothing_from_the_network(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 25
    for one in pages:
        text = one.read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|img|iframe|link)\b[^>]*(?:src|href)="(?:https?:)?//', text), one
    for style in site.rglob("*.css"):
        assert not re.findall(r"(?:url\(|@import )['\"]?(?:https?:)?//", style.read_text(encoding="utf-8")), (
            style
        )


def test_every_option_of_every_command_is_in_the_reference(site):
    shown = words(page(site, "reference/commands"))

    def look(command, name):
        assert f"{name} [OPTIONS]" in shown
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.opts[0] in shown, f"{name} {option.opts[0]}"
        if isinstance(command, click.Group):
            for verb in command.list_commands(click.Context(command)):
                with command.make_context(name, [verb]) as context:
                    look(command.resolve_command(context, [verb])[1], f"{name} {verb}")

    look(main, "gswgraph")
    assert "gswgraph --memory bolt://localhost:7687 status" in shown  # dashes and quotes as they are typed


def test_the_graph_is_there_whole(site):
    text = page(site, "reference/graph")
    drawing = text[text.index('<svg class="graph"') : text.index("</svg>", text.index('<svg class="graph"'))]
    labels = [cls.__label__ for cls in nodes.NODES]
    assert re.findall(r"<text [^>]*font-weight=\"bold\"[^>]*>(\w+)</text>", drawing) == labels
    shown = words(text)
    for cls in nodes.NODES:
        for name, one in cls.defined_properties(aliases=False, rels=False).items():
            assert f"\n{one.get_db_property_name(name)}\n" in shown, (cls, name)
        for one in cls.defined_properties(aliases=False, properties=False).values():
            assert one.definition["relation_type"] in drawing
    indexes = nodes.indexes()
    assert {index.kind for index in indexes} == {"unique", "range", "vector", "text"}
    for index in indexes:
        assert f"\n{index.name}\n" in shown


def test_every_strategy_is_explained(site):
    shown = page(site, "strategies")
    for name in STRATEGIES:
        link = re.search(
            rf'href="([^"#]*)[^"]*"><span[^>]*><code[^>]*><span class="pre">{name}</span>', shown
        )
        assert link, name
        assert name in words(page(site, (link[1] or "strategies.html").removesuffix(".html")))


def test_every_analysis_is_explained(site):
    shown = words(page(site, "explore"))
    for analysis in analyses().values():
        assert analysis.name in shown
        assert analysis.summary.split("`")[0].split(".")[0] in shown


LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"])
def test_links_of_other_pages_lead_somewhere(name):
    file = REPOSITORY / name
    for path, heading in LINK.findall(file.read_text(encoding="utf-8")):
        if "://" in path:
            continue
        target = (file.parent / path).resolve() if path else file
        assert target.exists(), path
        if heading:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings], (
                f"{path}#{heading}"
            )
