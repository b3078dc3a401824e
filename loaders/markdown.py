"""Markdown: one file, one document, as readable text.

A passage's title is the document's, which is what a citation names; section headings stay in the text, where
they lead what follows.
Marks of emphasis and the targets of links are taken out: they part names ("**Ana** Ruiz") and fill the few
hundred tokens that an embedding
model reads with addresses. Code stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gsw_graph.loaders.files import File, Item
from gsw_graph.loaders.split import Block, split
from gsw_graph.loaders.text import decoded, document
from gsw_graph.model import Failure, Skipped

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(\S.*)|[ \t]*)$")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_REFERENCE = re.compile(r" {0,3}\[[^\[\]]+\]:[ \t]*\S+")
_CODE_SPAN = re.compile(r"(`[^`\n]+`)")
# Every class stops at the mark that opens it, so that no text makes these slow.
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)?\)|\[[^\[\]]*\])")
_STARS = re.compile(r"(?<!\\)\*{1,3}(?=[^\s*])([^*]*)(?<=[^\s\\*])\*{1,3}")
_UNDERSCORES = re.compile(r"(?<![\w\\])_{1,3}(?=[^\s_])([^_]*)(?<=[^\s\\_])_{1,3}(?!\w)")
_FRONT_KEY = re.compile(r"[\w-]+[ \t]*:")
_FRONT_TITLE = re.compile(r"title[ \t]*:[ \t]*(\S.*)")


def read(file: File) -> Iterator[Item]:
    """The document of a Markdown file, or the failure that keeps it out."""
    text = decoded(file)
    if isinstance(text, Failure):
        yield text
    else:
        yield from written(file, text, "markdown")


def written(file: File, text: str, loader: str, title: str = "") -> Iterator[Item]:
    """The document of a Markdown text. Its title is the one given, else the first heading of level one,
    else that of its front matter, else the file's name."""
    front_title, rest = _front_matter(text.split("\n"))
    blocks = list(_blocks(rest))
    heading = next(((n, block.text.strip()) for n, (block, level) in enumerate(blocks) if level == 1), None)
    if heading and not title:
        title = heading[1]
    if heading == (0, title):  # it is the passages' title; in the text too it would stand twice
        del blocks[0]
    texts = split(block for block, _ in blocks)
    if texts:
        yield from document(file, loader, title or front_title, texts, text)
    else:
        yield Skipped(file.name, "empty: headings or front matter, and no text")


def _front_matter(rows: list[str]) -> tuple[str, list[str]]:
    """The title that YAML front matter gives, if any, and the lines after it."""
    if rows[0].rstrip() != "---" or len(rows) < 2 or not _FRONT_KEY.match(rows[1]):
        return "", rows
    end = next((n for n, row in enumerate(rows[1:], 1) if row.rstrip() in {"---", "..."}), None)
    if end is None:
        return "", rows
    titles = [match[1].strip().strip("\"'") for row in rows[1:end] if (match := _FRONT_TITLE.match(row))]
    return next(iter(titles), ""), rows[end + 1 :]


def _blocks(rows: list[str]) -> Iterator[tuple[Block, int]]:
    """Blocks with their heading level, 0 for what is no heading."""
    held: list[str] = []
    fence = ""
    for row in rows:
        mark = _FENCE.match(row)
        if fence:
            held.append(row)
            if mark and mark[1].startswith(fence) and not row.strip().strip(fence[0]):
                yield _lines(held), 0
                held, fence = [], ""
        elif mark:
            yield from _prose(held)
            held, fence = [row], mark[1]
        elif heading := _HEADING.match(row):
            yield from _prose(held)
            held = []
            if title := _plain((heading[2] or "").rstrip().rstrip("#").strip()):
                yield Block(title + "\n\n", "heading"), len(heading[1])
        elif _UNDERLINE.match(row) and len(held) == 1 and not held[0].startswith("|"):
            yield Block(_plain(held[0].strip()) + "\n\n", "heading"), 1 if "=" in row else 2
            held = []
        elif row.strip() and not _RULE.match(row):
            held.append(row)
        else:
            yield from _prose(held)
            held = []
    if fence:
        yield _lines(held), 0
    else:
        yield from _prose(held)


def _prose(rows: list[str]) -> Iterator[tuple[Block, int]]:
    rows = [row for row in rows if not _REFERENCE.match(row)]
    if rows and all(row.startswith(("    ", "\t")) for row in rows):
        yield _lines(rows), 0
    elif rows and all(row.lstrip().startswith("|") for row in rows):
        yield _lines([_plain(row) for row in rows]), 0
    elif rows and (text := _plain("\n".join(rows))).strip():
        yield Block(text + "\n\n"), 0


def _lines(rows: list[str]) -> Block:
    return Block("\n".join(rows) + "\n\n", "lines")


def _plain(text: str) -> str:
    """Text without emphasis and link targets, except in code spans."""
    parts = _CODE_SPAN.split(text)
    for n in range(0, len(parts), 2):
        part = _LINK.sub(r"\1", _LINK.sub(r"\1", parts[n]))  # twice: an image may stand in a link
        for _ in range(2):  # twice: emphasis within emphasis
            part = _UNDERSCORES.sub(r"\1", _STARS.sub(r"\1", part))
        parts[n] = part
    return "".join(parts)
