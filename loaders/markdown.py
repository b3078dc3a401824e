"""Markdown and notebooks: one file, one document, as readable text.

A passage's title is the document's, which is what a citation names; section headings stay in the text, where
they lead what follows. Marks of emphasis and the targets of links are taken out: they part names ("**Ana**
Ruiz") and fill the few hundred tokens that an embedding model reads with addresses. Code stays as it is. What
front matter says is a line of text, where search finds it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from gsw_graph.loaders.files import Converted, File, Item, left_out, properties
from gsw_graph.loaders.split import Block, split
from gsw_graph.loaders.text import about_block, decode, document
from gsw_graph.loaders.typography import join_lines, subscript, superscript, vocabulary
from gsw_graph.model.documents import Failure, Skipped

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(\S.*)|[ \t]*)$")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_REFERENCE = re.compile(r" {0,3}\[(?!\^)[^\[\]]+\]:[ \t]*\S+")
_CODE_SPAN = re.compile(r"(`[^`\n]+`)")
# Every class stops at the mark that opens it, so that no text makes these slow.
_LINK = re.compile(r"(!?)\[([^\[\]]*)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)?\)|\[[^\[\]]*\])")
_STARS = re.compile(r"(?<!\\)\*{1,3}(?=[^\s*])([^*]*)(?<=[^\s\\*])\*{1,3}")
_UNDERSCORES = re.compile(r"(?<![\w\\])_{1,3}(?=[^\s_])([^_]*)(?<=[^\s\\_])_{1,3}(?!\w)")
_WIKI_LINK = re.compile(r"(!?)\[\[([^\[\]\n|#^\\]*)((?:[#^][^\[\]\n|\\]*)?)(?:\\?\|([^\[\]\n]*))?\]\]")
_NOTE = re.compile(r"\[\^([^\[\]\s]{1,60})\](:?)")
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".avif", ".heic", ".tiff")
_RAISED = re.compile(r"<(su[pb])>([^<>]*)</\1>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|br|center|cite|code|dd|del|details|div|dl|dt|em|figure|figcaption|font|h[1-6]|hr|i|img|"
    r"ins|kbd|li|mark|ol|p|picture|q|s|small|source|span|strong|strike|su[bp]|summary|table|tbody|td|tfoot|th|thead|tr|tt|u|"
    r"ul|wbr)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_BREAKS = re.compile(r"</?(?:br|p|div|li|tr|h[1-6]|summary|details|dt|dd|blockquote|hr)\b", re.IGNORECASE)
# What may hold a comment, or be one: fences, spans of code, comments of HTML and of Obsidian.
_MARKS = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})|(?P<code>`+)|(?P<html><!--)|(?<![\w%])(?P<note>%%)(?!%)", re.MULTILINE
)
_ENDS = {"html": "-->", "note": "%%"}
_MOST_FRONT = 64 * 1024  # characters of front matter
_MOST_DEPTH = 8
_MOST_OUTPUT = 2000  # characters of what a cell of a notebook gave


def read(file: File) -> Iterator[Item]:
    """Yield the document of a Markdown file, or the failure that keeps it out, and what was left out."""
    text = decode(file)
    if isinstance(text, Failure):
        yield text
        return
    found = Converted(loader="markdown")
    title, found.about, found.text = _front_matter(text.strip())
    yield from write(file, found, marked=True, other_title=title)
    yield from left_out(file.name, found.left_out)


def write(
    file: File, found: Converted, key: str = "", *, marked: bool = False, other_title: str = ""
) -> Iterator[Item]:
    """Yield the document of a Markdown text. Its title is its own, else the first heading of level one, else
    another one, else the file's name.

    Args:
        file: Where it stands.
        found: The text, its title, its properties; what is left out of it is counted there.
        key: Which of the documents of its file it is.
        marked: Whether people wrote it, with marks of emphasis, links and comments.
        other_title: That of its front matter.
    """
    text, title = found.text, found.title
    if marked:
        text = _without_comments(text, found.left_out)
    blocks = list(_Blocks(text, found.left_out, marked).read())
    heading = next(((n, block.text.strip()) for n, (block, level) in enumerate(blocks) if level == 1), None)
    if heading and not title:
        title = heading[1]
    if heading == (0, title):  # it is the passages' title; in the text too it would stand twice
        del blocks[0]
    about = [about_block(found.about)] if found.about else []
    texts = split([*about, *(block for block, _ in blocks)])
    if any(block.text.strip() and block.kind != "heading" for block, _ in blocks):
        yield from document(file, found.loader, title or other_title, texts, found.text, key=key)
    elif found.about:
        yield from document(file, found.loader, title or other_title, [found.about], found.text, key=key)
    else:
        yield Skipped(file.name, "empty: headings or front matter, and no text")


# --- front matter ---


def _front_matter(text: str) -> tuple[str, str, str]:
    """Return the title that front matter gives, a line of all else it says, and the text after it. Front
    matter that cannot be read is text."""
    first, _, rest = text.partition("\n")
    mark, values = first.rstrip(), None
    try:
        if mark.startswith("{"):
            values, stop = json.JSONDecoder().raw_decode(text[:_MOST_FRONT])
            body = text[stop:]
        elif mark in ("---", "+++", ";;;"):
            ending = re.compile(rf"^(?:{re.escape(mark)}|\.\.\.)[ \t]*$", re.MULTILINE)
            if end := ending.search(rest, 0, _MOST_FRONT):
                values, body = _parsed(mark, rest[: end.start()]), rest[end.end() :]
    except Exception:  # each format has its own errors
        values = None
    if not isinstance(values, dict) or not values:
        return "", "", text
    title = values.pop("title", None) or values.pop("Title", None)
    about = properties(pair for key, value in values.items() for pair in _flat(str(key), value))
    title = " ".join(str(title).split()) if isinstance(title, str | int | float) else ""
    return title, about, body.lstrip("\n")


def _parsed(mark: str, written: str) -> object:
    if mark == "+++":
        import tomllib  # Python 3.11; before it, the lines are text

        return tomllib.loads(written)
    if mark == ";;;":
        return json.loads(written)
    import yaml

    # no anchors, by which a small text grows without end
    written = re.sub(r"(^|[\s\[,{])(?:&\w+[ \t]+|\*(?=\w))", r"\1", written)
    return yaml.load(written, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 (either is safe)


def _flat(key: str, value: object, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield each text of a value, with what leads to it: "author name"."""
    if depth > _MOST_DEPTH or value is None:
        return
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _flat(f"{key} {name}", part, depth + 1)
    elif isinstance(value, list | tuple | set):
        for part in value:
            yield from _flat(key, part, depth + 1)
    else:
        # an alias may be a wiki link
        yield key, _WIKI_LINK.sub(_link_name, str(value))


def _link_name(link: re.Match[str]) -> str:
    """Return what a wiki link shows: its alias, else the name of the note, else that of a heading here."""
    name = link[2].rstrip("/").rpartition("/")[2].removesuffix(".md").strip()
    return (link[4] or "").strip() or name or link[3].strip("#^ ")


# --- notebooks ---


def is_notebook(value: Mapping[str, object]) -> bool:
    """Return whether an object of JSON is a notebook."""
    return "nbformat" in value and isinstance(value.get("cells"), list)


def read_notebook(value: Mapping[str, Any], file: File) -> Iterator[Item]:
    """Yield the document of a notebook: its Markdown, its code, and the beginning of what that gave."""
    found = Converted(loader="notebook")
    parts: list[str] = []
    for cell in value["cells"]:
        if not isinstance(cell, dict):
            found.left_out["broken cell"] += 1
            continue
        source = _lines_of(cell.get("source")).strip("\n")
        if cell.get("cell_type") == "code":
            outputs = cell.get("outputs")
            outputs = (
                [part for part in outputs if isinstance(part, dict)] if isinstance(outputs, list) else []
            )
            texts = [source, *(_output(output, found.left_out) for output in outputs)]
            parts += [_fenced(text) for text in texts if text.strip()]
        else:
            parts.append(source)
        attachments = cell.get("attachments")
        found.left_out["picture"] += len(attachments) if isinstance(attachments, dict) else 0
    found.text = "\n\n".join(filter(str.strip, parts))
    if not found.text:
        yield Skipped(file.name, "empty: a notebook without text")
        return
    yield from write(file, found, marked=True)
    yield from left_out(file.name, found.left_out)


def _lines_of(value: object) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else value if isinstance(value, str) else ""


def _fenced(text: str) -> str:
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    return f"{fence}\n{text.rstrip()}\n{fence}"


def _output(output: Mapping[str, Any], left: Counter[str]) -> str:
    """Return the text of an output, its beginning where it is long."""
    if output.get("output_type") == "error":
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    data = output.get("data")
    data = data if isinstance(data, dict) else {}
    text = _lines_of(output.get("text") or data.get("text/plain") or data.get("text/markdown"))
    picture = any(kind.startswith("image/") for kind in data)
    left["picture"] += picture
    left["output"] += bool(data) and not text and not picture
    if picture and len(text) < 200 and text.startswith("<"):  # <Figure size 640x480 with 1 Axes>
        return ""
    left["long output"] += len(text) > _MOST_OUTPUT
    return text[:_MOST_OUTPUT]


# --- blocks ---


def _without_comments(text: str, left: Counter[str]) -> str:
    """Take comments out, but for what looks so in code; one without an end is text."""
    pieces: list[str] = []
    begin = position = 0
    endless: set[str] = set()
    while match := _MARKS.search(text, position):
        kind = str(match.lastgroup)
        position = match.end()
        end = _ENDS.get(kind) or match[kind]
        if end in endless:
            continue
        if kind == "fence":
            closing = re.compile(rf"^[ \t]*{end}[`~]*[ \t]*$", re.MULTILINE).search(text, position)
            stop = closing.end() if closing else len(text)
        else:
            stop = text.find(end, position)
            if stop < 0:
                endless.add(end)
                continue
            stop += len(end)
        if kind == "code" and "\n\n" in text[match.end() : stop]:
            continue
        if kind in _ENDS:
            left["comment"] += bool(text[match.end() : stop - len(end)].strip())
            pieces.append(text[begin : match.start()])
            begin = stop
        position = stop
    return "".join([*pieces, text[begin:]])


class _Blocks:
    """The blocks of a Markdown text.

    Args:
        text: Without front matter and comments.
        left: Counts what is left out.
        marked: Whether it has marks of emphasis, and links.
    """

    def __init__(self, text: str, left: Counter[str], marked: bool) -> None:
        self._text, self._left, self._marked = text, left, marked
        self._words = cache(lambda: vocabulary(text))

    def read(self) -> Iterator[tuple[Block, int]]:
        """Yield blocks with their heading level, 0 for what is no heading."""
        held: list[str] = []
        fence = ""
        for row in self._text.split("\n"):
            mark = _FENCE.match(row)
            if fence:
                held.append(row)
                if mark and mark[1].startswith(fence) and not row.strip().strip(fence[0]):
                    yield _lines(held), 0
                    held, fence = [], ""
            elif mark:
                yield from self._prose(held)
                held, fence = [row], mark[1]
            elif heading := _HEADING.match(row):
                yield from self._prose(held)
                held = []
                if title := self._plain((heading[2] or "").rstrip().rstrip("#").strip()):
                    yield Block(title + "\n\n", "heading"), len(heading[1])
            elif _UNDERLINE.match(row) and len(held) == 1 and not held[0].startswith("|"):
                yield Block(self._plain(held[0].strip()) + "\n\n", "heading"), 1 if "=" in row else 2
                held = []
            elif row.strip() and not _RULE.match(row):
                held.append(row)
            else:
                yield from self._prose(held)
                held = []
        if fence:
            yield _lines(held), 0
        else:
            yield from self._prose(held)

    def _prose(self, rows: list[str]) -> Iterator[tuple[Block, int]]:
        if self._marked and any(map(_REFERENCE.match, rows)):
            written = len(rows)
            rows = [row for row in rows if not _REFERENCE.match(row)]
            self._left["link address"] += written - len(rows)
        if rows and all(row.startswith(("    ", "\t")) for row in rows):
            yield _lines(rows), 0
        elif rows and all(row.lstrip().startswith("|") for row in rows):
            yield _lines([self._plain(row) for row in rows]), 0
        elif rows and (text := self._plain("\n".join(rows)).rstrip()):
            yield Block(text + "\n\n"), 0

    def _plain(self, text: str) -> str:
        """Return text without emphasis and link targets, except in code spans."""
        text = join_lines(text, self._words)
        if not self._marked:
            return text
        parts = _CODE_SPAN.split(text)
        for n in range(0, len(parts), 2):
            part = parts[n]
            if "[" in part:
                part = _WIKI_LINK.sub(self._wiki_link, part)
                for _ in range(2):  # twice: an image may stand in a link
                    part = _LINK.sub(self._link, part)
                part = _NOTE.sub(r"[\1]", part)
            if "<" in part:
                part = self._without_tags(part)
            for _ in range(2):  # twice: emphasis within emphasis
                part = _UNDERSCORES.sub(r"\1", _STARS.sub(r"\1", part))
            parts[n] = part
        return "".join(parts)

    def _link(self, link: re.Match[str]) -> str:
        self._left["picture" if link[1] else "link address"] += 1
        return link[2]

    def _wiki_link(self, link: re.Match[str]) -> str:
        if link[1]:
            self._left["picture" if link[2].lower().endswith(_PICTURES) else "embedded note"] += 1
            return ""
        return _link_name(link)

    def _without_tags(self, text: str) -> str:
        """Take tags of HTML out of a text; exponents stay such."""

        def shifted(match: re.Match[str]) -> str:
            before = text[max(0, match.start() - 60) : match.start()]
            if match[1].lower() == "sub":
                return subscript(before, match[2])
            return superscript(before, match[2], text[match.end() : match.end() + 1])

        def tag(match: re.Match[str]) -> str:
            self._left["picture"] += match[0].lower().startswith("<img")
            if not _BREAKS.match(match[0]):
                return ""
            return " " if match[0][1:3].lower() == "br" else "\n"

        return _TAG.sub(tag, _RAISED.sub(shifted, text))


def _lines(rows: list[str]) -> Block:
    return Block("\n".join(rows) + "\n\n", "lines")
