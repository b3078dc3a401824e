"""The blocks of Markdown as people write it, parsed by markdown-it.

Parsed are CommonMark and tables. Before that, what other dialects add is taken out or opened: comments,
includes, attribute lists, wiki links, footnotes, admonitions. HTML within the text is read as HTML. Code and
formulas stay as they are.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from gsw_graph.loaders.split import Block
from gsw_graph.loaders.text import join_lines, shifted, vocabulary

if TYPE_CHECKING:
    from markdown_it.token import Token

STRUCK = "struck-out passage"
"""What text is counted as that its author struck out: it is no current text, and left out."""

# --- before the parser ---

# Every class stops at the mark that opens it, so that no text makes these slow.
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
# At the end of a line, or right behind what they describe.
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
# What no parser takes for the target of a link: templates, and paths with spaces.
_TARGET = (
    r"(?<=\]\()(?:[^()\n]*\{\{[^{}\n]*\}\}[^()\n]*"
    r"|(?=[^()\n]*[/.]\w)[^()<>\n\"']*[^\s()<>\"'][ \t]+[^\s()<>\"'][^()<>\n\"']*)(?=\))"
)
_OPENS_MARKDOWN = (
    r"<(?:div|section|article|details|aside|figure|center|span)\b[^<>]*\smarkdown(?:=[^<>\s]*)?(?:\s[^<>]*)?>"
)
_ADDED = re.compile(
    rf"(?P<code>{_CODE})|(?P<formula>{_FORMULA})|(?P<comment>{_COMMENT})|(?P<include>{_INCLUDE})"
    rf"|(?P<template>{_TEMPLATE})|(?P<attributes>{_ATTRIBUTES})|(?P<wiki>{_WIKI_LINK})"
    rf"|(?P<footnote>\[\^(?P<number>[^\[\]\s]{{1,60}})\](?::(?P<stuck>(?=\S))?)?)"
    rf"|(?P<target>{_TARGET})|(?P<opening>{_OPENS_MARKDOWN})",
    re.MULTILINE,
)
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".avif", ".heic", ".tiff")
_KEPT = re.compile("\ue000(\\d+)\ue001")  # the place of a formula
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")
_INDENTED = re.compile(
    r"""([ \t]*)(?:!!!|\?\?\?\+?|===[!+]?(?=[ \t]+["']))[ \t]*[\w -]*?[ \t]*(?:["']([^\n]*)["'])?[ \t]*$"""
)
_SLASHES = re.compile(r"([ \t]*)/{3,}[ \t]*([\w-]+)[ \t]*(?:\|[ \t]*(.*))?$")
_COLONS = re.compile(
    r"([ \t]*)(?::{3,}|`{3,}(?=\{)|~{3,}(?=\{))[ \t]*(?:\{([^{}\n]*)\}|([\w.-]+))?[ \t]*(.*)$"
)
_OPTION = re.compile(r"[ \t]*:[\w-]+:|[ \t]{4}[\w-]+:(?:[ \t]|$)")
_INDENTED_OPTION = re.compile(r"[ \t]{2,}\S")
_ALERT = re.compile(r"([ \t]*>(?:[ \t]*>)*[ \t]*)\[![\w-]+\][+-]?[ \t]*(.*)$")
_TITLE = re.compile(r"""title=["']([^"'\n]*)["']""")
# Directives whose content is text; that of others is code, or they name what it is.
_TEXT_DIRECTIVES = frozenset(
    "admonition attention caution danger error hint important note seealso tip warning dropdown details card "
    "tab-item tab-set grid grid-item margin sidebar topic epigraph versionadded versionchanged deprecated "
    "aside info success question failure bug example quote abstract summary".split()
)
_VERSIONS = {
    "versionadded": "New in version ",
    "versionchanged": "Changed in version ",
    "deprecated": "Deprecated since version ",
}
_INCLUDING = re.compile(r"(?:literal)?include|toctree|auto\w+|image|figure|contents|index")


def link_name(link: re.Match[str]) -> str:
    """Return what a wiki link shows: its alias, else the name of the note, else that of a heading here."""
    name = link["page"].rstrip("/").rpartition("/")[2].removesuffix(".md").strip()
    return (link["alias"] or "").strip() or name or link["place"].strip("#^ ")


class _Dialects:
    """What dialects add to Markdown, taken out of a text or written as plain Markdown.

    Args:
        left: Counts what is left out.

    Attributes:
        formulas: Those of the text, each of which has a mark with its number in the plain text.
    """

    def __init__(self, left: Counter[str]) -> None:
        self._left = left
        self.formulas: list[str] = []

    def plain(self, text: str) -> str:
        """Return the text as plain Markdown."""
        lines = _Admonitions(text, self._left).lines()
        return _ADDED.sub(self._added, "\n".join(lines))

    def _added(self, match: re.Match[str]) -> str:
        found = match.groupdict()
        if found["code"] is not None:
            return match[0]
        if found["formula"] is not None:
            self.formulas.append(match[0])
            return f"\ue000{len(self.formulas) - 1}\ue001"
        if found["wiki"] is not None:
            return self._wiki_link(match)
        if found["footnote"] is not None:
            return rf"\[{match['number']}\]" + " " * (match["stuck"] is not None)
        if found["comment"] is not None:
            words = found["html"] or found["note"] or found["liquid"] or ""
            self._left["comment"] += bool(words.strip())
        if found["target"] is not None:
            return "#"
        self._left["include"] += found["include"] is not None
        self._left["template tag"] += found["template"] is not None
        return "\n\n" if found["opening"] is not None else ""

    def _wiki_link(self, link: re.Match[str]) -> str:
        if not link["embedded"]:
            return link_name(link)
        self._left["picture" if link["page"].lower().endswith(_PICTURES) else "embedded note"] += 1
        return ""


class _Admonitions:
    """The lines of a text without the marks of admonitions: a title is a paragraph, what is indented is not.

    Args:
        text: As it is written.
        left: Counts what is left out.
    """

    def __init__(self, text: str, left: Counter[str]) -> None:
        self._lines, self._left = text.split("\n"), left
        bare = {line.strip() for line in self._lines}
        self._closing = {line[:3] for line in bare if re.fullmatch(":{3,}|/{3,}", line)}
        self._opened: list[str] = []  # marks that open what is not closed yet
        self._indents: list[int] = []  # of what is opened by its indentation
        self._fence = ""
        self._dropped = False  # whether what is fenced is left out
        self._options: re.Pattern[str] | None = None  # lines of options may follow

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        for number, written in enumerate(self._lines):
            depth = len(self._indents)
            line = self._without_indent(written)
            if len(self._indents) < depth:
                yield ""  # no line goes on where an admonition ends
            bare = line.strip()
            if self._fence:
                if not self._dropped:
                    yield line
                if bare.startswith(self._fence) and not bare.strip(self._fence[0]):
                    self._fence, self._dropped = "", False
            elif self._options and self._options.match(line):
                continue
            else:
                self._options = None
                yield from self._plain(line, bare, number)

    def _without_indent(self, line: str) -> str:
        line = line.expandtabs(4) if self._indents else line
        while self._indents and line.strip() and _indent(line) < self._indents[-1]:
            self._indents.pop()
        return line[4 * len(self._indents) :]

    def _plain(self, line: str, bare: str, number: int) -> Iterator[str]:
        if bare[:3] in self._opened and not bare.strip(bare[0]):
            self._opened.remove(bare[:3])
            yield ""
        elif (match := _INDENTED.match(line)) and self._leads_indented(number):
            self._indents.append(_indent(self._lines[number].expandtabs(4)) + 4)
            yield from ("", match[1] + (match[2] or ""), "")
        elif (match := _SLASHES.match(line)) and "///" in self._closing:
            self._opened.append("///")
            self._options = _OPTION
            yield from ("", match[1] + (match[3] or ""), "")
        elif match := _COLONS.match(line):
            yield from self._container(line, match)
        elif match := _ALERT.match(line):
            yield from (match[1] + match[2], match[1])
        else:
            self._fence = match[1] if (match := _FENCE.match(line)) else ""
            yield line

    def _leads_indented(self, number: int) -> bool:
        """Return whether what follows a line is indented below it."""
        below = self._lines[number + 1 : number + 3]  # a blank line may be between
        following = next((line for line in below if line.strip()), "")
        return _indent(following.expandtabs(4)) >= _indent(self._lines[number].expandtabs(4)) + 4

    def _container(self, line: str, match: re.Match[str]) -> Iterator[str]:
        """Yield the title of a container, or the line of one that is code; what includes is counted."""
        mark, directive, name, rest = line.strip()[:3], match[2], match[3], match[4]
        word = (directive or name or "").strip(".").partition(" ")[0]
        title = found[1] if (found := _TITLE.search(directive or "")) else rest.strip("[]")
        includes = bool(_INCLUDING.fullmatch(word))
        if mark == ":::" and (includes or "." in (name or "") or mark not in self._closing):
            self._left["include"] += 1
            self._options = _INDENTED_OPTION
        elif mark == ":::" or word in _TEXT_DIRECTIVES:
            self._opened.append(mark)
            self._options = _OPTION
            yield from ("", match[1] + _VERSIONS.get(word, "") + title, "")
        else:
            self._fence, self._dropped = mark, includes
            self._left["include"] += includes
            if not includes:
                yield line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


# --- HTML ---

_ELEMENTS = frozenset(
    """a abbr address area article aside audio b base bdi bdo big blockquote body br button canvas
    caption center cite code col colgroup data datalist dd del details dfn dialog div dl dt em embed
    fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html i
    iframe img input ins kbd label legend li link main map mark menu meta meter nav noscript object
    ol optgroup option output p param picture pre progress q rp rt ruby s samp script search section
    select slot small source span strike strong style sub summary sup svg table tbody td template
    textarea tfoot th thead time title tr track tt u ul var video wbr""".split()
)
_BLOCKS = frozenset(
    """address article aside blockquote body caption center dd details dialog div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary
    table tr ul""".split()
)
_STRUCK = frozenset(("del", "s", "strike"))
_UNSEEN = frozenset(("head", "script", "style", "template", "noscript", "svg", "title", "textarea"))
_LEFT_OUT = {
    "img": "picture",
    "iframe": "embedded page",
    "object": "embedded object",
    "video": "film",
    "audio": "sound",
}
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())


class _Html(HTMLParser):
    """The text of a piece of HTML, in blocks: each with its level, 0 for what is no heading.

    Args:
        left: Counts what is left out.
        is_closed: Tells whether a tag of a name is closed in the text; one that is not is no HTML.
        inline: Whether it is a part of a paragraph, whose line ends stay.
    """

    def __init__(self, left: Counter[str], is_closed: Callable[[str], bool], inline: bool) -> None:
        super().__init__(convert_charrefs=True)
        self._left, self._is_closed, self._inline = left, is_closed, inline
        self.blocks: list[tuple[Block, int]] = []
        self._text: list[str] = []
        self._raised: list[int] = []  # where sup and sub begin
        self._skipped: list[str] = []
        self._cells: list[str] | None = None
        self._rows: list[str] = []
        self._level, self._pre = 0, False

    def read(self, text: str) -> list[tuple[Block, int]]:
        """Return the blocks of a text."""
        self.feed(text)
        self.close()
        self._end_row()
        self._end_block()
        return self.blocks

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        written = self.get_starttag_text() or ""
        if self._skipped:
            self._skipped += [tag] if tag == self._skipped[-1] else []
        elif tag not in _ELEMENTS and not re.search("[=/]", written) and not self._is_closed(tag):
            self.handle_data(written)  # a place to fill in: <name>
        elif (
            tag in _STRUCK
            or tag in _UNSEEN
            or (tag not in _VOID and any(name == "hidden" for name, _ in attrs))
        ):
            self._skipped.append(tag)
            self._left[STRUCK if tag in _STRUCK else "hidden text"] += tag not in (
                "head",
                "script",
                "style",
                "svg",
            )
            self._left["picture"] += tag == "svg"
        else:
            self._left[_LEFT_OUT.get(tag, "")] += tag in _LEFT_OUT
            self._begin(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            if tag == self._skipped[-1]:
                self._skipped.pop()
        elif tag in ("sup", "sub") and self._raised:
            start = self._raised.pop()
            mark = "".join(self._text[start:]).strip()
            self._text[start:] = [shifted(mark, "_" if tag == "sub" else "^")]
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
            self._cells = [*(self._cells or []), ""]
        elif tag == "tr":
            self._end_row()
        elif tag in ("sup", "sub"):
            self._raised.append(len(self._text))
        elif tag == "br":
            self._text.append("\n" if self._pre else " ")
        elif tag in _BLOCKS and self._cells is None:
            self._end_block()
            self._pre = tag == "pre"
            self._level = int(tag[1]) if re.fullmatch(r"h[1-6]", tag) else 0
            self._text += ["- "] if tag == "li" else []
        elif tag in _BLOCKS:
            self._text.append(" ")

    def _end_cell(self) -> None:
        if self._cells:
            self._cells[-1] = " ".join("".join(self._text).split())
            self._text, self._raised = [], []

    def _end_row(self) -> None:
        if self._cells:
            self._end_cell()
            self._rows.append(f"| {' | '.join(self._cells)} |")
        self._cells = None

    def _end_block(self) -> None:
        if self._cells is not None:
            return
        if self._rows:
            self.blocks.append((lines_block("\n".join(self._rows)), 0))
            self._rows = []
        text = "".join(self._text)
        shown = text.strip("\n") if self._pre or self._inline else " ".join(text.split())
        before, _ = self.blocks[-1] if self.blocks else (None, 0)
        if shown.startswith("- ") and before and before.text.startswith("- "):  # items of a list
            self.blocks[-1] = Block(f"{before.text.rstrip()}\n{shown}\n\n"), 0
        elif self._pre and shown.strip():
            self.blocks.append((lines_block(shown), 0))
        elif shown.strip("- "):
            self.blocks.append((Block(f"{shown}\n\n", "heading" if self._level else "prose"), self._level))
        self._text, self._raised, self._level, self._pre = [], [], 0, False


def lines_block(text: str) -> Block:
    """Return a block of lines, which stay whole."""
    return Block(f"{text}\n\n", "lines")


# --- the parser ---

_UNDEFINED = re.compile(r"\[([^\[\]]*)\]\[[^\[\]]*\]")  # [name][reference], which nothing defines
_MARKED = re.compile(r"(?<![\w=])==(?=[^\s=])([^=\n]+)(?<=\S)==(?![\w=])")
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)\b")
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)


class Blocks:
    """The blocks of a Markdown text that people wrote.

    Args:
        text: Without front matter.
        left: Counts what is left out.
    """

    def __init__(self, text: str, left: Counter[str]) -> None:
        self._left = left
        self._dialects = _Dialects(left)
        self._text = self._dialects.plain(text)
        self._lines = self._text.split("\n")
        self._words = cache(partial(vocabulary, self._text))
        self._is_closed = cache(lambda tag: f"</{tag}" in self._text.lower())
        self._blocks: list[tuple[Block, int]] = []
        self._end = -1  # the line after the last prose
        self._depth = 0  # of the HTML around, in which what is indented is no code
        self._marks: list[str] = []  # of the list items around
        self._row: list[str] = []
        self._rows: list[str] = []

    def read(self) -> list[tuple[Block, int]]:
        """Return the blocks with their heading level, 0 for what is no heading."""
        from markdown_it import MarkdownIt

        environment: dict[str, dict[str, object]] = {}
        tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(self._text, environment)
        self._left["link address"] += len(environment.get("references", {}))
        before = tokens[:1]
        for token in tokens:
            self._take(token, before[-1].type if before else "")
            before = [token]
        return self._blocks

    def _take(self, token: Token, before: str) -> None:
        kind = token.type
        if kind == "inline":
            self._inline_block(token, before)
        elif kind == "list_item_open":
            self._marks.append(f"{token.info}{token.markup} ")
        elif kind == "list_item_close":
            self._marks.pop()
        elif kind == "html_block" or (kind == "code_block" and self._depth > 0):
            self._html(token.content)
        elif kind in ("fence", "code_block"):
            rows = self._lines[slice(*token.map)] if token.map else []
            text = "\n".join(rows).rstrip()
            self._add(lines_block(_QUOTE.sub("", text) if text.lstrip().startswith(">") else text))
        elif kind == "tr_close":
            self._rows.append(f"| {' | '.join(self._row)} |")
            self._row = []
        elif kind == "thead_close":
            self._rows.append("|" + "---|" * self._rows[-1].count(" | ") + "---|")
        elif kind == "table_close":
            self._add(lines_block("\n".join(self._rows)))
            self._rows = []

    def _html(self, text: str) -> None:
        opened = (tag for tag in _TAG.findall(text) if tag[1].lower() in _BLOCKS)
        self._depth += sum(-1 if closing else 1 for closing, _ in opened)
        for block, level in _Html(self._left, self._is_closed, inline=False).read(text):
            self._add(Block(self._with_formulas(block.text), block.kind), level)

    def _add(self, block: Block, level: int = 0) -> None:
        self._blocks.append((block, level))
        self._end = -1

    def _inline_block(self, token: Token, before: str) -> None:
        text = self._inline(token.children or [])
        if before in ("th_open", "td_open"):
            self._row.append(" ".join(text.split()))
        elif before == "heading_open" and not self._marks and text.strip():
            level = self._levels(token)
            self._add(Block(f"{' '.join(text.split())}\n\n", "heading"), level)
        elif text.strip():
            self._prose(text.strip(), *(token.map or (0, 0)))

    def _levels(self, token: Token) -> int:
        """Return the level of the heading that a line of the text is."""
        line = self._lines[token.map[0]] if token.map else ""
        marks = re.match(r"[ >]*(#{1,6})(?!#)", line)
        below = self._lines[token.map[1]] if token.map and token.map[1] < len(self._lines) else ""
        return len(marks[1]) if marks else 1 if below.lstrip(" >").startswith("=") else 2

    def _prose(self, text: str, start: int, end: int) -> None:
        """Add a paragraph to the block that ends in the line before, if one does, else as a block."""
        mark = "".join(" " * len(mark) for mark in self._marks[:-1])
        indent = " " * len(f"{mark}{self._marks[-1]}") if self._marks else ""
        if self._marks:
            text = f"{mark}{self._marks[-1]}{text}".replace("\n", f"\n{indent}")
            self._marks[-1] = " " * len(self._marks[-1])  # the mark is written once
        if all(line.lstrip().startswith("|") for line in text.split("\n")):
            self._add(lines_block(text))
        elif self._end == start and self._blocks:
            before, _ = self._blocks[-1]
            self._blocks[-1] = Block(f"{before.text.rstrip()}\n{text}\n\n"), 0
        else:
            self._add(Block(f"{text}\n\n"))
        self._end = end

    def _inline(self, tokens: list[Token]) -> str:
        """Return the text of a paragraph: without emphasis and the targets of links, read as HTML where it
        has tags."""
        code: list[str] = []
        parts: list[str] = []
        is_html = any(token.type in ("html_inline", "s_open") for token in tokens)
        for token in tokens:
            if token.type == "code_inline":
                code.append(f"{token.markup}{token.content}{token.markup}")
                parts.append(f"\0{len(code) - 1}\0")
            elif token.type in ("softbreak", "hardbreak"):
                parts.append("\n")
            elif token.type in ("s_open", "s_close"):
                parts.append("<s>" if token.type == "s_open" else "</s>")
            elif token.type == "html_inline":
                parts.append(token.content)
            elif token.type == "image":
                self._left["picture"] += 1
                parts.append(
                    html.escape(self._inline(token.children or []))
                    if is_html
                    else self._inline(token.children or [])
                )
            else:
                self._left["link address"] += token.type == "link_open" and token.info != "auto"
                parts.append(html.escape(token.content) if is_html else token.content)
        text = "".join(parts)
        if is_html:
            blocks = _Html(self._left, self._is_closed, inline=True).read(text)
            text = "\n".join(re.sub("  +", " ", block.text.strip("\n")) for block, _ in blocks)
        text, undefined = _UNDEFINED.subn(r"\1", text) if "][" in text else (text, 0)
        self._left["link address"] += undefined
        text = join_lines(_MARKED.sub(r"\1", text), self._words)
        text = re.sub("\0(\\d+)\0", lambda match: code[int(match[1])], text)
        return self._with_formulas(text)

    def _with_formulas(self, text: str) -> str:
        formulas = self._dialects.formulas
        if not formulas:
            return text
        return _KEPT.sub(
            lambda match: formulas[int(match[1])] if int(match[1]) < len(formulas) else match[0], text
        )
