"""Markdown and notebooks: one file, one document, as readable text.

A passage's title is the document's, which is what a citation names; section headings stay in the text, where
they lead what follows. Marks of emphasis and the targets of links are taken out: they part names ("**Ana**
Ruiz") and fill the few hundred tokens that an embedding model reads with addresses. Code stays as it is. What
front matter says is a line of text, where search finds it.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from itertools import takewhile
from typing import Any

from gsw_graph.loaders.files import Converted, File, Item, NothingError, left_out
from gsw_graph.loaders.markup import WIKI_LINK, Blocks, lines_block, link_name
from gsw_graph.loaders.split import Block, split
from gsw_graph.loaders.text import (
    about_blocks,
    decode,
    document,
    join_lines,
    vocabulary,
)
from gsw_graph.model.documents import Skipped, date_of

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(\S.*)|[ \t]*)$")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_FRONT = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$", re.MULTILINE | re.DOTALL)  # YAML
_MOST_FRONT = 64 * 1024  # characters of front matter
_MOST_DEPTH = 8
_MOST_OUTPUT = 2000  # characters of what a cell of a notebook gave


def read(file: File) -> Iterator[Item]:
    """Yield the document of a Markdown file, and what was left out."""
    text = decode(file)
    contents = Converted(loader="markdown")
    contents.title, contents.text = _front_matter(text, contents)
    yield from write(file, contents, marked=True)
    written = str(contents.meta.get("date", ""))
    if written and not date_of(written):
        reason = f"its date {written!r}, which is not understood; write it as 2024-03-05"
        yield Skipped(file.name, reason, part=True)
    yield from left_out(file.name, contents.left_out)


def write(file: File, contents: Converted, key: str = "", *, marked: bool = False) -> Iterator[Item]:
    """Yield the document of a Markdown text. Its title is its own, as of front matter, else the first heading
    of level one, else the file's name.

    Args:
        file: That has it.
        contents: The text, its title, its properties; what is left out of it is counted there.
        key: Which of the documents of its file it is.
        marked: Whether people wrote it, with marks of emphasis, links and comments.
    """
    reader = Blocks(contents.text, contents.left_out) if marked else _Blocks(contents.text)
    blocks = [(replace(block, level=level), level) for block, level in reader.read()]
    heading = next(((n, block.text.strip()) for n, (block, level) in enumerate(blocks) if level == 1), None)
    title = contents.title or (heading[1] if heading else "")
    if heading == (0, title):  # it is the passages' title; in the text too it would be there twice
        del blocks[0]
    empty = all(block.kind == "heading" for block, _ in blocks)
    texts = split([*about_blocks(contents.about), *(block for block, _ in ([] if empty else blocks))])
    if not texts:
        raise NothingError("empty: headings or front matter, and no text")
    sections = [*_sections(title, blocks, texts)]
    yield from document(
        file, contents.loader, title, texts, contents.text, key=key, meta=contents.meta, sections=sections
    )


def _sections(title: str, blocks: Iterable[tuple[Block, int]], texts: Iterable[str]) -> Iterator[str]:
    """Yield the headings that lead to all of each passage: title > heading > subheading."""
    headings = deque((block.text.strip(), level) for block, level in blocks if level)
    path: list[tuple[str, int]] = []
    for text in texts:
        end = 0
        sections: list[list[tuple[str, int]]] = []
        while headings:
            heading, level = headings[0]
            match = re.compile(rf"^{re.escape(heading)}$", re.MULTILINE).search(text, end)
            if match is None:
                break
            if text[end : match.start()].strip():
                sections.append(path)
            path = [*((above, depth) for above, depth in path if depth < level), headings.popleft()]
            end = match.end()
        sections += [path] if text[end:].strip() else []
        shared = takewhile(lambda headings: len({*headings}) == 1, zip(*sections, strict=False))
        names = [heading for (heading, _), *_ in shared]
        yield " > ".join(dict.fromkeys(filter(None, [title, *names]))) if names else ""


# --- front matter ---


def _front_matter(text: str, contents: Converted) -> tuple[str, str]:
    """Return the title that front matter gives, and the text after it; all else it says describes the
    document. Front matter that cannot be read is text."""
    match, values = _FRONT.match(text[:_MOST_FRONT]), None
    if match:
        import yaml

        # no anchors, by which a small text grows without end
        written = re.sub(r"(^|[\s\[,{])(?:&\w+[ \t]+|\*(?=\w))", r"\1", match[1])
        with suppress(Exception):  # what cannot be read is text
            values = yaml.load(written, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both safe
    if match is None or not isinstance(values, dict) or not values:
        return "", text
    title = values.pop("title", None) or values.pop("Title", None)
    contents.describe(pair for key, value in values.items() for pair in _flat(str(key), value))
    title = " ".join(str(title).split()) if isinstance(title, str | int | float) else ""
    return title, text[match.end() :].lstrip("\n")


def _flat(key: str, value: object, depth: int = 0) -> Iterator[tuple[str, object]]:
    """Yield each text or number of a value, with what leads to it: "author name"."""
    if depth > _MOST_DEPTH or value is None:
        return
    if isinstance(value, dict | list | tuple | set):
        parts = value.items() if isinstance(value, dict) else (("", part) for part in value)
        for name, part in parts:
            yield from _flat(f"{key} {name}".strip(), part, depth + 1)
    else:  # an alias may be a wiki link
        yield key, value if isinstance(value, bool | int | float) else WIKI_LINK.sub(link_name, str(value))


# --- notebooks ---


def read_notebook(value: Mapping[str, Any], file: File) -> Iterator[Item]:
    """Yield the document of a notebook: its Markdown, its code, and the beginning of what that gave."""
    contents = Converted(loader="notebook")
    parts: list[str] = []
    for cell in value["cells"]:
        try:
            source = "".join(cell["source"]).strip("\n")
            contents.left_out["picture"] += len(cell.get("attachments") or ())
            if cell["cell_type"] == "code":
                outputs = (_output(output, contents.left_out) for output in cell.get("outputs") or ())
                parts += [_fenced(text) for text in (source, *outputs) if text.strip()]
            else:
                parts.append(source)
        except (AttributeError, KeyError, TypeError):
            contents.left_out["broken cell"] += 1
    contents.text = "\n\n".join(filter(str.strip, parts))
    if not contents.text:
        raise NothingError("empty: a notebook without text")
    yield from write(file, contents, marked=True)
    yield from left_out(file.name, contents.left_out)


def _fenced(text: str) -> str:
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    return f"{fence}\n{text.rstrip()}\n{fence}"


def _output(output: Mapping[str, Any], left: Counter[str]) -> str:
    """Return the text of an output, its beginning where it is long."""
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}"
    data = output.get("data") or {}
    text = "".join(output.get("text") or data.get("text/plain") or data.get("text/markdown") or "")
    picture = any(kind.startswith("image/") for kind in data)
    lost = bool(data) and not text and not picture
    left.update({"picture": picture, "output": lost, "long output": len(text) > _MOST_OUTPUT})
    named = picture and len(text) < 200 and text.startswith("<")  # <Figure size 640x480 with 1 Axes>
    return "" if named else text[:_MOST_OUTPUT]


# --- blocks of what was converted ---


class _Blocks:
    """The blocks of a text in Markdown that a converter wrote, which has no marks within lines.

    Args:
        text: That it wrote.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = cache(partial(vocabulary, self._text))

    def read(self) -> Iterator[tuple[Block, int]]:
        """Yield blocks with their heading level, 0 for what is no heading."""
        rows: list[str] = []
        fence = ""
        for row in [*self._text.split("\n"), ""]:
            mark = _FENCE.match(row)
            if fence:
                rows.append(row)
                if not (mark and mark[1].startswith(fence) and not row.strip().strip(fence[0])):
                    continue
                yield lines_block("\n".join(rows)), 0
                rows, fence = [], ""
            elif heading := None if mark else _HEADING.match(row):
                yield from self._prose(rows)
                rows = []
                if title := self._joined((heading[2] or "").rstrip().rstrip("#").strip()):
                    yield Block(title + "\n\n", "heading"), len(heading[1])
            elif _UNDERLINE.match(row) and len(rows) == 1 and not rows[0].startswith("|"):
                yield Block(self._joined(rows[0].strip()) + "\n\n", "heading"), 1 if "=" in row else 2
                rows = []
            elif row.strip() and not mark and not _RULE.match(row):
                rows.append(row)
            else:
                yield from self._prose(rows)
                rows, fence = ([row], mark[1]) if mark else ([], "")
        if fence:
            yield lines_block("\n".join(rows[:-1])), 0

    def _prose(self, rows: list[str]) -> Iterator[tuple[Block, int]]:
        if rows and all(row.startswith(("    ", "\t")) or row.lstrip().startswith("|") for row in rows):
            yield lines_block("\n".join(map(self._joined, rows))), 0
        elif text := self._joined("\n".join(rows)).rstrip():
            yield Block(text + "\n\n"), 0

    def _joined(self, text: str) -> str:
        return join_lines(text, self._words)
