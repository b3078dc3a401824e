"""Split Markdown as people write it into blocks.

markdown-it parses CommonMark and tables. Before, the additions of other dialects are removed or turned into
plain Markdown: comments, includes, attribute lists, wiki links, footnotes, admonitions. HTML in the text is
read as HTML. Code and formulas stay unchanged.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from gsw_graph.loaders.files import LeftOut
from gsw_graph.loaders.split import Block
from gsw_graph.loaders.text import join_lines, shifted, vocabulary
from gsw_graph.values import single_spaced, word_set

if TYPE_CHECKING:
    from markdown_it.token import Token

STRUCK = "struck-out passage"
"""The kind under which struck-out text is counted. It is left out, as it no longer holds."""

# --- before the parser ---

# No pattern runs past a further opening mark, so that no text makes the patterns slow.
_CODE = (
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})(?s:.*?)(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?:[^`\n]|\n(?!\n))+(?P=ticks)(?!`)"
)
_FORMULA = (
    r"\$\$(?:[^$\\]|\\[\s\S])+?\$\$"
    r"|\\\[(?=[^\n]{0,99}?\\[A-Za-z])[^\n]{0,300}?\\\]|\\\((?=[^\n]{0,99}?\\[A-Za-z])[^\n]{0,300}?\\\)"
    r"|(?<![\\$\w])\$(?=[^\s$])(?=[^$\n]*[\\^_{=])[^$\n]*(?<=[^\s\\$])\$(?![\w$])"
)
_COMMENT = (
    r"<!--(?P<html>(?:(?!<!--)[\s\S])*?)-->"
    r"|(?<![\w%])%%(?P<note>[^%]+(?:%[^%]+)*)%%"
    r"|\{%-?[ \t]*comment\b[^%]*%\}(?P<liquid>(?:(?!\{%)[\s\S])*)\{%-?[ \t]*endcomment[ \t]*-?%\}"
)
_INCLUDE = (
    r"\{%-?[ \t]*include(?:_relative|_cached)?\b[^\n]{0,500}?%\}"
    r"|\{\*[ \t]*[^\s*{}][^*{}\n]*\*\}|\{![^{}\n]*!\}|\{\{[ \t]*#include\b[^{}\n]*\}\}"
    r"|^[ \t]*;?-+8<-+[^\n]*$|^<<<[ \t]*@?/[^\n]*$"
)
_TEMPLATE = r"\{%-?[^\n]{0,500}?%\}"
_SURE = r"""[#.][\w:.-]+|[\w:@-]+=(?:"[^"\n]*"|'[^'\n]*')"""
_ANY = rf"""{_SURE}|[\w:@-]+=[^\s{{}}"'=]+"""
# Attributes stand at the end of a line, or right after the thing that they describe.
_ATTRIBUTES = (
    r"\{:[^{}\n]*\}"
    rf"|[ \t]*\{{[ \t]*(?:{_SURE})(?:[ \t]+(?:{_ANY}))*[ \t]*\}}(?=[ \t]*#*[ \t]*$)"
    rf"|(?<=[)\]*_`\"])\{{[ \t]*(?:{_ANY})(?:[ \t]+(?:{_ANY}))*[ \t]*\}}"
    r"|^\([\w-]+\)=$"  # a target
)
_WIKI_LINK = (
    r"(?P<embedded>!?)\[\[(?P<page>[^\[\]\n|#^\\]*)(?P<place>(?:[#^][^\[\]\n|\\]*)?)"
    r"(?:\\?\|(?P<alias>[^\[\]\n]*))?\]\]"
)
WIKI_LINK = re.compile(_WIKI_LINK)
# Targets of links that no parser accepts: templates, and paths with spaces.
_TARGET = (
    r"(?<=\]\()(?:[^()\n]*\{\{[^{}\n]*\}\}[^()\n]*"
    r"|(?=[^()\n]*[/.]\w)[^()<>\n\"']*[^\s()<>\"'][ \t]+[^\s()<>\"'][^()<>\n\"']*)(?=\))"
)
_OPENS_MARKDOWN = (
    r"<(?:div|section|article|details|aside|figure|center|span)\b[^<>]*\smarkdown(?:=[^<>\s]*)?(?:\s[^<>]*)?>"
)
_ADDED = re.compile(
    rf"(?P<code>{_CODE})|(?P<formula>{_FORMULA})|(?P<comment>{_COMMENT})|(?P<include>{_INCLUDE})"
    rf"|(?P<template_tag>{_TEMPLATE})|(?P<attributes>{_ATTRIBUTES})|(?P<wiki>{_WIKI_LINK})"
    rf"|(?P<footnote>\[\^(?P<number>[^\[\]\s]{{1,60}})\](?::(?P<stuck>(?=\S))?)?)"
    rf"|(?P<target>{_TARGET})|(?P<opening>{_OPENS_MARKDOWN})",
    re.MULTILINE,
)
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".avif", ".heic", ".tiff")
_KEPT = re.compile("\ue000(\\d+)\ue001")  # the place of a formula
FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_INDENTED = re.compile(
    r"""([ \t]*)(?:!!!|\?\?\?\+?|===[!+]?(?=[ \t]+["']))[ \t]*[\w -]*?[ \t]*(?:["']([^\n]*)["'])?[ \t]*$"""
)
_SLASHES = re.compile(r"([ \t]*)/{3,}[ \t]*[\w-]+[ \t]*(?:\|[ \t]*(.*))?$")
_COLONS = re.compile(
    r"([ \t]*)(?::{3,}|`{3,}(?=\{)|~{3,}(?=\{))[ \t]*(?:\{([^{}\n]*)\}|([\w.-]+))?[ \t]*(.*)$"
)
_OPTION = re.compile(r"[ \t]*:[\w-]+:|[ \t]{4}[\w-]+:(?:[ \t]|$)")
_INDENTED_OPTION = re.compile(r"[ \t]{2,}\S")
_ALERT = re.compile(r"([ \t]*>(?:[ \t]*>)*[ \t]*)\[![\w-]+\][+-]?[ \t]*(.*)$")
_TITLE = re.compile(r"""title=["']([^"'\n]*)["']""")
# Directives with text in them. Others have code, or include something.
_TEXT_DIRECTIVES = word_set(
    "admonition attention caution danger error hint important note seealso tip warning dropdown details card "
    "tab-item tab-set grid grid-item margin sidebar topic epigraph versionadded versionchanged deprecated "
    "aside info success question failure bug example quote abstract summary"
)
_VERSIONS = {
    "versionadded": "New in version ",
    "versionchanged": "Changed in version ",
    "deprecated": "Deprecated since version ",
}
_INCLUDING = re.compile(r"(?:literal)?include|toctree|auto\w+|image|figure|contents|index")


def link_name(link: re.Match[str]) -> str:
    """Return the text of a wiki link: its alias, else the name of the note, else the heading."""
    alias = (link["alias"] or "").strip()
    if alias:
        return alias
    name = link["page"].rstrip("/").rpartition("/")[2]
    return name.removesuffix(".md").strip() or link["place"].strip("#^ ")


def _plain_markdown(text: str, left: LeftOut, formulas: list[str]) -> str:
    """Return a text as plain Markdown, without what dialects add to it.

    Args:
        text: The text.
        left: Counts the parts that are left out.
        formulas: Gets the formulas; each is replaced by a mark with its number.
    """

    def plain(match: re.Match[str]) -> str:
        kind = match.lastgroup
        if kind == "code":
            return match[0]
        if kind == "formula":
            formulas.append(match[0])
            return f"\ue000{len(formulas) - 1}\ue001"
        if kind == "footnote":
            stuck = "" if match["stuck"] is None else " "
            return rf"\[{match['number']}\]{stuck}"
        if kind == "target":
            return "#"
        if kind == "opening":
            return "\n\n"
        if kind == "wiki" and not match["embedded"]:
            return link_name(match)
        if kind == "wiki":
            kind = "picture" if match["page"].lower().endswith(_PICTURES) else "embedded note"
        is_empty = kind == "comment" and not match[0].strip("<!->% \t\n")
        if kind and kind != "attributes" and not is_empty:
            left[kind.replace("_", " ")] += 1
        return ""

    return _ADDED.sub(plain, "\n".join(_Admonitions(text, left).lines()))


class _Admonitions:
    """Remove the marks of admonitions from a text: a title becomes a paragraph, and the content loses its
    indent.

    Args:
        text: The text.
        left: Counts the parts that are left out.
    """

    def __init__(self, text: str, left: LeftOut) -> None:
        self._lines, self._left = text.split("\n"), left
        self._closing = set(re.findall(r"^[ \t]*(:::|///)[:/]*[ \t]*$", text, re.MULTILINE))
        self._opened: list[str] = []  # marks of the containers that are open
        self._indents: list[int] = []  # indents of the admonitions that are open
        self._fence = ""
        self._is_dropped = False  # whether the fenced part is left out
        self._options: re.Pattern[str] | None = None  # lines of options may follow

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        for number, written in enumerate(self._lines):
            line, ends = self._without_indent(written)
            if ends:
                yield ""  # a paragraph ends with its admonition
            if self._fence:
                if not self._is_dropped:
                    yield line
                if _closes(line, self._fence):
                    self._fence, self._is_dropped = "", False
            elif self._options is None or not self._options.match(line):
                self._options = None
                yield from self._plain(line, number)

    def _without_indent(self, line: str) -> tuple[str, bool]:
        """Return a line without the indent of its admonitions, and whether an admonition ends before the
        line."""
        ends = False
        if self._indents:
            line = line.expandtabs(4)
        while self._indents and line.strip() and _indent(line) < self._indents[-1]:
            self._indents.pop()
            ends = True
        return line[4 * len(self._indents) :], ends

    def _plain(self, line: str, number: int) -> list[str]:
        mark = line.strip()[:3]
        if mark in self._opened and _closes(line, mark):
            self._opened.remove(mark)
            return [""]
        if match := _INDENTED.match(line):
            depth = _indent(self._lines[number]) + 4
            below = "\n".join(self._lines[number + 1 : number + 3])  # a blank line may be between
            if _indent(below.lstrip("\n")) >= depth:
                self._indents.append(depth)
                return _title(match[1], match[2])
        if "///" in self._closing and (match := _SLASHES.match(line)):
            self._opened.append("///")
            self._options = _OPTION
            return _title(match[1], match[2])
        if match := _COLONS.match(line):
            return self._container(line, match)
        if match := _ALERT.match(line):
            return [match[1] + match[2], match[1]]
        match = FENCE.match(line)
        self._fence = match[1] if match else ""
        return [line]

    def _container(self, line: str, match: re.Match[str]) -> list[str]:
        """Return the title of a container with text, or the line that opens code. Includes are counted."""
        indent, directive, name, rest = match.groups("")
        mark = line.strip()[:3]
        word = (directive or name).strip(".").partition(" ")[0]
        includes = bool(_INCLUDING.fullmatch(word))
        is_block = mark == ":::"
        if is_block and (includes or "." in name or mark not in self._closing):
            self._left["include"] += 1
            self._options = _INDENTED_OPTION
            return []
        if is_block or word in _TEXT_DIRECTIVES:
            self._opened.append(mark)
            self._options = _OPTION
            named = _TITLE.search(directive)
            title = named[1] if named else rest.strip("[]")
            return _title(indent, _VERSIONS.get(word, "") + title)
        self._fence, self._is_dropped = mark, includes
        if not includes:
            return [line]
        self._left["include"] += 1
        return []


def _title(indent: str, title: str | None) -> list[str]:
    return ["", indent + (title or ""), ""]


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return bare.startswith(fence) and not bare.strip(fence[0])


def _indent(line: str) -> int:
    line = line.expandtabs(4)
    return len(line) - len(line.lstrip())


# --- HTML ---

_ELEMENTS = word_set("""
    a abbr address area article aside audio b base bdi bdo big blockquote body br button canvas
    caption center cite code col colgroup data datalist dd del details dfn dialog div dl dt em embed
    fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html i
    iframe img input ins kbd label legend li link main map mark menu meta meter nav noscript object
    ol optgroup option output p param picture pre progress q rp rt ruby s samp script search section
    select slot small source span strike strong style sub summary sup svg table tbody td template
    textarea tfoot th thead time title tr track tt u ul var video wbr""")
_BLOCKS = word_set("""
    address article aside blockquote body caption center dd details dialog div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary
    table tr ul""")
# Tags whose text is left out, with the kind that is counted; "" for no count.
_UNSEEN = {
    **dict.fromkeys(("del", "s", "strike"), STRUCK),
    **dict.fromkeys(("head", "script", "style"), ""),
    **dict.fromkeys(("template", "noscript", "title", "textarea"), "hidden text"),
    "svg": "picture",
}
_LEFT_OUT = {
    "img": "picture",
    "iframe": "embedded page",
    "object": "embedded object",
    "video": "film",
    "audio": "sound",
}
_VOID = word_set("area base br col embed hr img input link meta param source track wbr")


class _Html(HTMLParser):
    """Read a piece of HTML into blocks of text.

    Args:
        left: Counts the parts that are left out.
        is_closed: Tells whether the text closes a tag of this name; an unknown tag that stays open is text.
        is_inline: Whether the piece is part of a paragraph, which keeps its line ends.
    """

    def __init__(self, left: LeftOut, is_closed: Callable[[str], bool], *, is_inline: bool) -> None:
        super().__init__(convert_charrefs=True)
        self._left, self._is_closed, self._is_inline = left, is_closed, is_inline
        self.blocks: list[Block] = []
        self._text: list[str] = []  # pieces of the open block or cell
        self._raised: list[int] = []  # indices of the pieces at which sup and sub begin
        self._skipped = ""  # the tag whose text is left out
        self._depth = 0  # number of open tags of this name
        self._cells: list[str] = []
        self._rows: list[str] = []
        self._block = ""  # the tag of the open block

    def read(self, text: str) -> list[Block]:
        """Return the blocks of a text."""
        self.feed(text)
        self.close()
        self._end_row()
        self._end_block()
        return self.blocks

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        written = self.get_starttag_text() or ""
        if self._skipped:
            self._depth += tag == self._skipped
        elif tag not in _ELEMENTS and not re.search("[=/]", written) and not self._is_closed(tag):
            self._text.append(written)  # a place to fill in: <name>
        elif tag in _UNSEEN or (tag not in _VOID and "hidden" in dict(attrs)):
            self._skipped, self._depth = tag, 1
            self._left[_UNSEEN.get(tag, "hidden text")] += 1
        else:
            self._left[_LEFT_OUT.get(tag, "")] += 1
            self._begin(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            self._depth -= tag == self._skipped
            if self._depth == 0:
                self._skipped = ""
        elif tag in ("sup", "sub") and self._raised:
            start = self._raised.pop()
            sign = "_" if tag == "sub" else "^"
            raised = "".join(self._text[start:])
            self._text[start:] = [shifted(raised.strip(), sign)]
        elif tag in ("tr", "table", "thead", "tbody"):
            self._end_row()
        elif tag in _BLOCKS:
            self._end_block()

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self._text.append(data)

    def _begin(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._end_cell()
            self._cells.append("")
        elif tag == "tr":
            self._end_row()
        elif tag in ("sup", "sub"):
            self._raised.append(len(self._text))
        elif tag == "br":
            self._text.append("\n" if self._block == "pre" else " ")
        elif tag in _BLOCKS and self._cells:
            self._text.append(" ")
        elif tag in _BLOCKS:
            self._end_block()
            self._block = tag
            self._text = ["- "] if tag == "li" else []

    def _end_cell(self) -> None:
        if self._cells:
            self._cells[-1] = single_spaced("".join(self._text))
            self._text, self._raised = [], []

    def _end_row(self) -> None:
        if self._cells:
            self._end_cell()
            self._rows.append(f"| {' | '.join(self._cells)} |")
        self._cells = []

    def _end_block(self) -> None:
        if self._cells:
            return
        if self._rows:
            self.blocks.append(lines_block("\n".join(self._rows)))
            self._rows = []
        tag, text = self._block, "".join(self._text)
        self._block, self._text, self._raised = "", [], []
        before = self.blocks[-1].text if self.blocks else ""
        text = text.strip("\n") if tag == "pre" or self._is_inline else single_spaced(text)
        if not text.strip("- "):
            return
        if text.startswith("- ") and before.startswith("- "):  # items of a list
            self.blocks[-1] = Block(f"{before.rstrip()}\n{text}\n\n")
        elif tag == "pre":
            self.blocks.append(lines_block(text))
        elif re.fullmatch("h[1-6]", tag):
            self.blocks.append(heading_block(text, int(tag[1])))
        else:
            self.blocks.append(Block(f"{text}\n\n"))


def lines_block(text: str) -> Block:
    """Return a block of lines, which is never split within a line."""
    return Block(f"{text}\n\n", "lines")


def heading_block(text: str, level: int) -> Block:
    """Return a heading of a level."""
    return Block(f"{single_spaced(text)}\n\n", "heading", level)


# --- the parser ---

_UNDEFINED = re.compile(r"\[([^\[\]]*)\]\[[^\[\]]*\]")  # [name][reference], which nothing defines
_MARKED = re.compile(r"(?<![\w=])==(?=[^\s=])([^=\n]+)(?<=\S)==(?![\w=])")
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)\b")
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_CODE_MARK = re.compile("\0(\\d+)\0")  # the place of code in a line
_TABLE = re.compile(r"[ \t]*\|.*(?:\n[ \t]*\|.*)*")


def converted_blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of Markdown that a converter wrote, which has no marks within lines."""
    parser = MarkdownIt("zero").enable(["code", "fence", "heading", "lheading", "hr"])
    lines = text.split("\n")
    words = cache(partial(vocabulary, text))
    is_heading = False
    for token in parser.parse(text):
        if token.type == "heading_open":
            level = int(token.tag[1])
            is_heading = True
        if not token.map or token.type == "hr":
            continue
        written = "\n".join(lines[slice(*token.map)]).rstrip()
        if token.type == "fence":
            yield lines_block(written)
        elif token.type == "code_block":  # indented text, such as definitions
            for part in re.split(r"\n\s*?\n", written):
                yield lines_block(join_lines(part, words))
        elif token.type == "inline" and is_heading:
            yield heading_block(join_lines(token.content, words), level)
            is_heading = False
        elif token.type == "inline":
            shown = join_lines(written, words)
            yield lines_block(shown) if _TABLE.fullmatch(written) else Block(f"{shown}\n\n")


class Blocks:
    """Split a Markdown text that people wrote into blocks.

    Args:
        text: The text, without front matter.
        left: Counts the parts that are left out.
    """

    def __init__(self, text: str, left: LeftOut) -> None:
        self._left = left
        self._formulas: list[str] = []
        self._text = _plain_markdown(text, left, self._formulas)
        self._lines = self._text.split("\n")
        self._words = cache(partial(vocabulary, self._text))
        self._is_closed = cache(lambda tag: f"</{tag}" in self._text.lower())
        self._blocks: list[Block] = []
        self._end = -1  # the line after the last prose
        self._depth = 0  # depth in HTML blocks, in which indented text is no code
        self._marks: list[str] = []  # marks of the list items that are open
        self._row: list[str] = []
        self._rows: list[str] = []

    def read(self) -> list[Block]:
        """Return the blocks."""
        environment: dict[str, dict[str, object]] = {}
        tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(self._text, environment)
        self._left["link address"] += len(environment.get("references", {}))
        before = ""
        for token in tokens:
            self._take(token, before)
            before = token.type
        return self._blocks

    def _take(self, token: Token, before: str) -> None:
        kind = token.type
        if kind == "inline":
            self._take_inline(token, before)
        elif kind == "list_item_open":
            self._marks.append(f"{token.info}{token.markup} ")
        elif kind == "list_item_close":
            self._marks.pop()
        elif kind == "html_block" or (kind == "code_block" and self._depth > 0):
            self._take_html(token.content)
        elif kind in ("fence", "code_block"):
            text = "\n".join(self._lines[slice(*(token.map or (0, 0)))]).rstrip()
            self._add(lines_block(_QUOTE.sub("", text) if text.lstrip().startswith(">") else text))
        elif kind == "tr_close":
            self._rows.append(f"| {' | '.join(self._row)} |")
            self._row = []
        elif kind == "thead_close":
            self._rows.append("|" + "---|" * (self._rows[-1].count(" | ") + 1))
        elif kind == "table_close":
            self._add(lines_block("\n".join(self._rows)))
            self._rows = []

    def _take_html(self, text: str) -> None:
        for closing, tag in _TAG.findall(text):
            if tag.lower() in _BLOCKS:
                self._depth += -1 if closing else 1
        for block in self._html(text, is_inline=False):
            self._add(replace(block, text=self._with_formulas(block.text)))

    def _html(self, text: str, *, is_inline: bool) -> list[Block]:
        return _Html(self._left, self._is_closed, is_inline=is_inline).read(text)

    def _add(self, block: Block) -> None:
        self._blocks.append(block)
        self._end = -1

    def _take_inline(self, token: Token, before: str) -> None:
        text = self._inline(token.children or []).strip()
        if before in ("th_open", "td_open"):
            self._row.append(single_spaced(text))
        elif text and before == "heading_open" and not self._marks:
            self._add(heading_block(text, self._level(token)))
        elif text:
            self._take_prose(text, *(token.map or (0, 0)))

    def _level(self, token: Token) -> int:
        """Return the level of a heading from its line, as the token of its text has no level."""
        start, end = token.map or (0, 0)
        marks = re.match(r"[ >]*(#{1,6})(?!#)", self._lines[start])
        if marks:
            return len(marks[1])
        below = "".join(self._lines[end : end + 1])
        return 1 if below.lstrip(" >").startswith("=") else 2

    def _take_prose(self, text: str, start: int, end: int) -> None:
        """Add a paragraph: to the last block if that ends in the line before, else as a new block."""
        if self._marks:
            *outer, mark = self._marks
            outer_indent = " " * len("".join(outer))
            indent = " " * len(mark)
            text = f"{outer_indent}{mark}{text}".replace("\n", f"\n{outer_indent}{indent}")
            self._marks[-1] = indent  # the mark is written once
        if _TABLE.fullmatch(text):
            self._add(lines_block(text))
        elif self._end == start and self._blocks:
            before = self._blocks[-1].text.rstrip()
            self._blocks[-1] = Block(f"{before}\n{text}\n\n")
        else:
            self._add(Block(f"{text}\n\n"))
        self._end = end

    def _inline(self, tokens: list[Token]) -> str:
        """Return the text of a paragraph, without emphasis and the targets of links. A paragraph with tags is
        read as HTML."""
        code: list[str] = []
        parts: list[str] = []
        is_html = any(token.type in ("html_inline", "s_open") for token in tokens)
        for token in tokens:
            kind, text = token.type, token.content
            if kind == "code_inline":
                parts.append(f"\0{len(code)}\0")
                code.append(f"{token.markup}{text}{token.markup}")
            elif kind in ("softbreak", "hardbreak"):
                parts.append("\n")
            elif kind in ("s_open", "s_close"):
                parts.append(f"<{token.tag}>" if kind == "s_open" else f"</{token.tag}>")
            elif kind == "html_inline":
                parts.append(text)
            else:
                if kind == "image":
                    self._left["picture"] += 1
                    text = self._inline(token.children or [])
                self._left["link address"] += kind == "link_open" and token.info != "auto"
                parts.append(html.escape(text) if is_html else text)
        text = "".join(parts)
        if is_html:
            shown = [block.text.strip("\n") for block in self._html(text, is_inline=True)]
            text = re.sub("  +", " ", "\n".join(shown))
        text, undefined = _UNDEFINED.subn(r"\1", text)
        self._left["link address"] += undefined
        text = join_lines(_MARKED.sub(r"\1", text), self._words)
        text = _CODE_MARK.sub(lambda match: code[int(match[1])], text)
        return self._with_formulas(text)

    def _with_formulas(self, text: str) -> str:
        def formula(match: re.Match[str]) -> str:
            number = int(match[1])
            return self._formulas[number] if number < len(self._formulas) else match[0]

        return _KEPT.sub(formula, text)
