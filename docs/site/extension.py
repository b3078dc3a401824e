"""What the site has that Markdown has not: pages made from the schema, the table of strategies and the routes, and links that hold on GitHub and here."""

from __future__ import annotations

import analyses
import click
import graph
import routes
import strategies
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

# Pages of the site that stand elsewhere in the repository: on GitHub their links lead to the file.
ELSEWHERE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}


_MAKERS = {
    "nodes": graph.node_tables,
    "relationships": graph.relationship_table,
    "indexes": graph.index_table,
    "strategies": strategies.table,
    "routes": routes.sections,
    "analyses": analyses.sections,
}


class Generated(SphinxDirective):
    """`{generated} NAME`: Markdown that a function makes when the site is built."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        parent = nodes.Element()
        lines = StringList(_MAKERS[name]().splitlines(), source=f"generated {name}")
        self.state.nested_parse(lines, self.content_offset, parent)
        return parent.children


class Drawing(SphinxDirective):
    """`{graph-drawing}`: the schema as a picture within the page."""

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", graph.drawing(), format="html")]


def lead_to_pages(app: Sphinx, name: str, source: list[str]) -> None:  # noqa: ARG001 - the shape that Sphinx asks for
    """Links to files that the site has as pages."""
    for file, page in ELSEWHERE.items():
        source[0] = source[0].replace(f"](../{file}", f"]({page}")


def examples(app: Sphinx, ctx: click.Context, lines: list[str]) -> None:  # noqa: ARG001 - the shape that sphinx-click asks for
    """What `--help` shows line by line is shown so: sphinx-click makes verse of it."""
    text: list[str] = []
    for line in lines:
        if line.startswith("|   "):
            text += ([] if text and text[-1].startswith("   ") else ["", ".. code-block:: text", ""]) + [
                "   " + line[4:]
            ]
        else:
            text.append(line.removeprefix("| "))
    lines[:] = text


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("generated", Generated)
    app.add_directive("graph-drawing", Drawing)
    app.setup_extension("sphinx_click")  # has the events below
    app.connect("source-read", lead_to_pages)
    for event in ("sphinx-click-process-description", "sphinx-click-process-epilog"):
        app.connect(event, examples)
    return {"parallel_read_safe": True}
