"""reStructuredText, read by docutils as a page of HTML, and then as such.

Nothing is included from other files. A role of Sphinx shows its text, a directive its argument and contents.
Directives that stand for other files or for code elsewhere are left out and counted.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, ClassVar

from docutils import nodes
from docutils.core import publish_doctree, publish_from_doctree
from docutils.frontend import get_default_settings
from docutils.nodes import Node
from docutils.parsers.rst import Directive, Parser, directives, languages, roles
from docutils.utils import Reporter, new_document, new_reporter

from gsw_graph.loaders import web
from gsw_graph.loaders.files import Converted, UnusableError, refusal
from gsw_graph.values import Fields, word_set

_ROLE = re.compile(r":((?:[\w.+-]+:)*[\w.+-]+):`")
_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w:.+-]+)::(?:[ \t]|$)", re.MULTILINE)
_TITLED = re.compile(r"(.+?)\s*<[^<>]*>", re.DOTALL)
# Directives whose text is elsewhere, or that have none.
_ELSEWHERE = re.compile(
    r"(?:literal)?include|toctree|auto\w+|apidoc|graphviz|digraph|mermaid|plot|ipython|doctest\w*|jinja|click"
)
_SILENT = word_set(
    "index highlight module currentmodule py:module py:currentmodule meta tabularcolumns sectionauthor "
    "codeauthor default-role default-domain program contents raw"
)
_CODE = frozenset({"code", "code-block", "sourcecode", "parsed-literal", "testcode", "prompt", "console"})
_VERSIONS = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 5,
    "halt_level": 5,
    "embed_stylesheet": False,
    "stylesheet_path": "",
    "math_output": "LaTeX",
    "syntax_highlight": "none",
    "smart_quotes": False,
    "section_self_link": False,
    "footnote_references": "brackets",
    "line_length_limit": 1_000_000,
}


def markdown(data: bytes, contents: Converted) -> None:
    """Read a reStructuredText: its Markdown and its title.

    Raises:
        UnusableError: Its encoding is not told by its bytes.
    """
    text = web.decode_page(data, [])
    if text is None:
        try:
            data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UnusableError(refusal(error)) from error
    text = text or ""
    _define_roles(text)
    _define_directives(text, contents.left_out)
    tree = publish_doctree(text, settings_overrides=_SETTINGS)
    _clean(tree, contents.left_out)
    page = publish_from_doctree(tree, writer="html5", settings_overrides=_SETTINGS).decode()
    contents.loader = "rst"
    web.read_page(page, contents)


def _define_roles(text: str) -> None:
    """Define the roles of a text that docutils does not know: each shows its text."""

    def shown(role: str, rawtext: str, text: str, *_: Any, **__: Any) -> tuple[list[Node], list[Node]]:
        titled = _TITLED.fullmatch(text)
        words = titled[1] if titled else text.lstrip("!")
        if words.startswith("~"):
            words = words.rpartition(".")[2].lstrip("~")
        is_prose = role.rpartition(":")[2] in (
            "ref",
            "doc",
            "term",
            "abbr",
            "menuselection",
            "guilabel",
            "numref",
        )
        node = nodes.inline if is_prose else nodes.literal
        return [node(rawtext, words)], []

    language, reporter = languages.get_language("en"), new_reporter("", _quiet())
    for name in set(_ROLE.findall(text)):
        known, _ = roles.role(name, language, 0, reporter)
        if known is None:
            roles.register_local_role(name, shown)


def _define_directives(text: str, left_out: Counter[str]) -> None:
    """Define the directives of a text that docutils does not know, is not to follow, or drops code of."""

    class Described(Directive):  # type: ignore[misc]
        """A directive of which the argument and the contents are shown."""

        optional_arguments = 1
        final_argument_whitespace = True
        has_content = True
        option_spec: ClassVar[Fields] = defaultdict(lambda: directives.unchanged, name=directives.unchanged)

        def run(self) -> list[Node]:
            name = self.name.lower()
            if name in _CODE:
                code = "\n".join(self.content)
                return [nodes.literal_block(code, code)]
            if _ELSEWHERE.fullmatch(name) or name in _SILENT:
                left_out["include"] += name not in _SILENT
                return []
            return [*self._heading(name), *self._contents()]

        def _heading(self, name: str) -> Iterator[Node]:
            argument = " ".join(self.arguments[:1])
            if name in _VERSIONS:
                words, _ = self.state.inline_text(f"{_VERSIONS[name]} {argument}", self.lineno)
                yield nodes.paragraph("", "", *words)
            elif name not in ("only", "container", "tab", "tabs", "rst-class") and argument:
                for line in argument.splitlines():
                    yield nodes.paragraph("", "", nodes.literal("", line.strip()))

        def _contents(self) -> list[Node]:
            parent = nodes.container()
            self.state.nested_parse(self.content, self.content_offset, parent)
            return list(parent.children)

    language = languages.get_language("en")
    named = {name.lower() for name in _DIRECTIVE.findall(text)}  # as docutils looks for them
    for name in {*_CODE, *_SILENT, *named}:
        known, _ = directives.directive(name, language, new_document("", _quiet()))
        if known is None or name in _CODE or name in _SILENT or _ELSEWHERE.fullmatch(name):
            directives.register_directive(name, Described)


def _quiet() -> Any:
    settings = get_default_settings(Parser)
    settings.report_level = settings.halt_level = 5
    return settings


def _clean(tree: Any, left_out: Counter[str]) -> None:
    """Take out of a document what has no text: comments, pictures, messages of docutils.

    The source that an error names, as a malformed table or a directive with an unknown option, stays as text.
    """
    for message in list(tree.findall(nodes.system_message)):
        if message["level"] >= Reporter.ERROR_LEVEL:  # what a warning names is in the document too
            sources = [node for node in message if isinstance(node, nodes.literal_block)]
            message.parent.replace(message, sources)
    kinds = {
        nodes.comment: "comment",
        nodes.image: "picture",
        nodes.system_message: "",
        nodes.substitution_definition: "",
    }
    for kind, name in kinds.items():
        for node in list(tree.findall(kind)):
            if name:
                left_out[name] += 1
            node.parent.remove(node)
