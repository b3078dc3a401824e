"""Markdown and notebooks: one file, one document, as readable text.

A passage's title is the document's, which is what a citation names; section headings stay in the text, where
they lead what follows. Marks of emphasis and the targets of links are taken out: they part names ("**Ana**
Ruiz") and fill the few hundred tokens that an embedding model reads with addresses. Code stays as it is. What
front matter says is a line of text, where search finds it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import takewhile

import yaml

from gsw_graph.loaders.files import Converted, File, Items, LeftOut, NothingError, left_out
from gsw_graph.loaders.markup import WIKI_LINK, Blocks, converted_blocks, link_name
from gsw_graph.loaders.split import Block, split
from gsw_graph.loaders.text import about_blocks, decode, document
from gsw_graph.model.documents import Skipped, date_of
from gsw_graph.values import Fields, single_spaced

_FRONT = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$", re.MULTILINE | re.DOTALL)  # YAML
_MOST_FRONT = 64 * 1024  # characters of front matter
_MOST_DEPTH = 9
_MOST_OUTPUT = 2000  # characters of what a cell of a notebook gave
_MOST_NAME = 200  # characters of the name of a picture


def read(file: File) -> Items:
    """Yield the document of a Markdown file, and the omissions."""
    text = decode(file)
    contents = Converted(loader="markdown")
    contents.title, contents.text = _front_matter(text, contents)
    yield from write(file, contents, marked=True)
    written = str(contents.meta.get("date", ""))
    if written and not date_of(written):
        reason = f"its date {written!r}, which is not understood; write it as 2024-03-05"
        yield Skipped(file.name, reason, part=True)
    yield from left_out(file.name, contents.left_out)


def write(file: File, contents: Converted, key: str = "", *, marked: bool = False) -> Items:
    """Yield the document of a Markdown text. The title comes from front matter, else from the first heading
    of level one, else from the file's name.

    Args:
        file: The file.
        contents: The text, its title and properties; gets the counts of omissions.
        key: Key of the document within the file.
        marked: Whether people wrote the text, with marks of emphasis, links and comments.
    """
    if marked:
        blocks = Blocks(contents.text, contents.left_out).read()
    else:
        blocks = list(converted_blocks(contents.text))
    title = contents.title
    for block in blocks:
        if block.level == 1:
            title = title or block.text.strip()
            break
    if blocks and blocks[0].level == 1 and blocks[0].text.strip() == title:
        del blocks[0]  # it is the passages' title; in the text too it would be there twice
    headings = [block for block in blocks if block.level]
    shown = about_blocks(contents.about)
    if len(headings) < len(blocks):
        shown += blocks
    texts = split(shown)
    if not texts:
        raise NothingError("empty: headings or front matter, and no text")
    yield from document(
        file,
        contents.loader,
        title,
        texts,
        contents.text,
        key=key,
        meta=contents.meta,
        sections=list(_sections(title, headings, texts)),
    )


def _sections(title: str, headings: Iterable[Block], texts: Iterable[str]) -> Iterator[str]:
    """Yield the headings that lead to all of each passage: title > heading > subheading."""
    waiting = deque(headings)
    path: list[Block] = []
    for text in texts:
        shared: list[Block] | None = None  # what leads to all of the passage so far
        end = 0
        while waiting:
            heading = waiting[0].text.strip()
            match = re.compile(rf"^{re.escape(heading)}$", re.MULTILINE).search(text, end)
            if match is None:
                break
            if text[end : match.start()].strip():
                shared = _common(shared, path)
            path = [block for block in path if block.level < waiting[0].level]
            path.append(waiting.popleft())
            end = match.end()
        if text[end:].strip():
            shared = _common(shared, path)
        names = [block.text.strip() for block in shared or ()]
        yield " > ".join(dict.fromkeys(filter(None, [title, *names]))) if names else ""


def _common(shared: list[Block] | None, path: list[Block]) -> list[Block]:
    if shared is None:
        return path
    return [
        block for block, other in takewhile(lambda pair: pair[0] == pair[1], zip(shared, path, strict=False))
    ]


# --- front matter ---


def _front_matter(text: str, contents: Converted) -> tuple[str, str]:
    """Return the title that front matter gives, and the text after it; all else it says describes the
    document. Front matter that cannot be read is text."""
    match = _FRONT.match(text[:_MOST_FRONT])
    if match is None:
        return "", text
    # no anchors, by which a small text grows without end
    written = re.sub(r"(^|[\s\[,{])(?:&\w+[ \t]+|\*(?=\w))", r"\1", match[1])
    values = None
    with suppress(Exception):  # what cannot be read is text
        values = yaml.load(written, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both safe
    if not isinstance(values, dict) or not values:
        return "", text
    title = values.pop("title", None) or values.pop("Title", None)
    contents.describe(_flat("", values))
    if not isinstance(title, str | int | float):
        title = ""
    return single_spaced(str(title)), text[match.end() :].lstrip("\n")


def _flat(key: str, value: object, depth: int = 0) -> Iterator[tuple[str, object]]:
    """Yield each text or number of a value, with what leads to it: "author name"."""
    if depth > _MOST_DEPTH or value is None:
        return
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _flat(f"{key} {name}".strip(), part, depth + 1)
    elif isinstance(value, list | tuple | set):
        for part in value:
            yield from _flat(key, part, depth + 1)
    elif isinstance(value, bool | int | float):
        yield key, value
    else:  # an alias may be a wiki link
        yield key, WIKI_LINK.sub(link_name, str(value))


# --- notebooks ---


def read_notebook(value: Fields, file: File) -> Items:
    """Yield the document of a notebook: its Markdown, its code, and the beginning of its outputs."""
    contents = Converted(loader="notebook")
    parts: list[str] = []
    for cell in value["cells"]:
        try:
            source = "".join(cell["source"]).strip("\n")
            contents.left_out["picture"] += len(cell.get("attachments") or ())
            if cell["cell_type"] != "code":
                parts.append(source)
                continue
            outputs = [_output(output, contents.left_out) for output in cell.get("outputs") or ()]
            parts += [_fenced(text) for text in (source, *outputs) if text.strip()]
        except (AttributeError, KeyError, TypeError):
            contents.left_out["broken cell"] += 1
    contents.text = "\n\n".join(filter(str.strip, parts))
    if not contents.text:
        raise NothingError("empty: a notebook without text")
    yield from write(file, contents, marked=True)
    yield from left_out(file.name, contents.left_out)


def _fenced(text: str) -> str:
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"


def _output(output: Fields, left: LeftOut) -> str:
    """Return the text of an output, its beginning where it is long."""
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}"
    data = output.get("data") or {}
    text = "".join(output.get("text") or data.get("text/plain") or data.get("text/markdown") or "")
    if any(kind.startswith("image/") for kind in data):
        left["picture"] += 1
        if len(text) < _MOST_NAME and text.startswith("<"):  # <Figure size 640x480 with 1 Axes>
            return ""
    elif data and not text:
        left["output"] += 1
    left["long output"] += len(text) > _MOST_OUTPUT
    return text[:_MOST_OUTPUT]
