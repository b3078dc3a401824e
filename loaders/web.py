"""HTML as Markdown. Nothing is fetched: links and pictures are left out, and scripts are not run."""

from __future__ import annotations

import codecs
import contextlib
import re
import warnings
from typing import Any

from gsw_graph.loaders import detect
from gsw_graph.loaders.files import Converted, UnusableError, properties
from gsw_graph.loaders.typography import subscript, superscript

MOST = 16 * 1024 * 1024
"""Bytes of a page."""

_DECLARED = re.compile(
    rb"""<meta[^>]{0,200}charset\s*=\s*["']?([\w:.-]{1,40})|<\?xml[^>]{0,200}encoding\s*=\s*["']([\w:.-]{1,40})""",
    re.IGNORECASE,
)
_HEAD = 4096
# What browsers read under these names.
_MEANT = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
_ASCII_ONLY = ("iso2022_jp", "iso2022_kr", "hz")  # such pages would pass as UTF-8
_DROPPED = ["script", "style", "head", "annotation", "annotation-xml", "param", "source", "track"]
# What is left out with its text, as the load report counts it.
_LEFT_OUT = {
    "template": "hidden text",
    "noscript": "hidden text",
    "nav": "navigation menu",
    "svg": "picture",
    "img": "picture",
    "iframe": "embedded page",
    "object": "embedded object",
    "embed": "embedded object",
    "video": "film",
    "audio": "sound",
    "canvas": "picture",
}
_UNMARKED = ["a", "b", "strong", "em", "i", "del", "s", "u", "q", "kbd", "samp"]
# Blocks that the converter does not know, and would glue to what follows.
_BLOCKS = (
    "address label aside body center dialog details summary fieldset figure footer form header hgroup legend "
    "main menu option optgroup button search textarea select caption"
).split()
_HIDDEN = re.compile(
    r"(?:^|[;{\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0+)?\s*(?:;|$|!)"
    r"|font-size\s*:\s*0(?:px|pt|em|rem|%)?\s*(?:;|$|!))",
    re.IGNORECASE,
)
_RULE = re.compile(r"([^{}]{1,400})\{([^{}]{0,2000})\}")
_SIMPLE = re.compile(r"(\.|#)([\w-]+)")
_ABOUT = {
    "author": "author",
    "article:author": "author",
    "date": "date",
    "dc.date": "date",
    "dc.creator": "author",
    "article:published_time": "date",
    "keywords": "keywords",
    "description": "description",
}


def markdown(data: bytes, found: Converted) -> None:
    """Read a page: its Markdown, and the title that its head gives it where no heading of the first level
    does. Raises UnusableError."""
    if len(data) > MOST:
        raise UnusableError(f"a page of more than {MOST // 2**20} MiB")
    read_page(_decoded(data), found)


def read_page(page: str, found: Converted) -> None:
    """Read a page that is decoded; see `markdown`."""
    from bs4 import BeautifulSoup
    from markdownify import ATX, MarkdownConverter

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the page may have been meant to be
        soup = BeautifulSoup(page, "lxml")
        try:
            found.title = " ".join(soup.title.get_text().split()) if soup.title and not soup.h1 else ""
            found.about = properties(
                (_ABOUT[name], str(meta.get("content") or ""))
                for meta in soup("meta")
                if (name := str(meta.get("name") or meta.get("property") or "").lower()) in _ABOUT
            )
            _clean(soup, found)
            # Marks of emphasis would be taken out again, and what stands in the text as * or _ is meant.
            converter = MarkdownConverter(
                heading_style=ATX,
                bullets="-",
                strip=_UNMARKED,
                escape_asterisks=False,
                escape_underscores=False,
            )
            found.text = converter.convert_soup(soup).strip()
        except RecursionError:  # thousands of tags within each other: then the text alone
            found.text = "\n\n".join(part for text in soup.strings if (part := " ".join(text.split())))


def _clean(soup: Any, found: Converted) -> None:
    """Take out what a reader of the page does not see, and write what Markdown has no marks for."""
    from bs4 import Comment

    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        found.left_out["comment"] += bool(comment.strip()) and not comment.startswith("[if")
        comment.extract()
    concealed = _concealed(soup)
    for tag in soup(_DROPPED):
        tag.decompose()
    for tag in soup(True):
        if "_decomposed" in vars(tag) or tag.name in ("html", "body"):
            continue
        kind = _LEFT_OUT.get(tag.name)
        if kind is None and _is_hidden(tag, concealed) and not tag.find("math"):
            kind = "hidden text"
        if kind is not None:
            found.left_out[kind] += kind != "hidden text" or bool(tag.get_text(strip=True))
            tag.decompose()
    for tag in soup(_BLOCKS):
        if tag.name != "body":
            tag.name = "div"
    for tag in soup(["td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "dt"]):
        for block in tag(["p", "div", "li", "br", "section", "article"]):  # they stand in one line
            block.insert_before(" ")
    _write_formulas(soup)
    for tag in soup(["sup", "sub"]):
        before, after = _beside(tag, "previous_sibling"), _beside(tag, "next_sibling")
        mark = tag.get_text()
        tag.replace_with(subscript(before, mark) if tag.name == "sub" else superscript(before, mark, after))


def _concealed(soup: Any) -> tuple[set[str], set[str]]:
    """Return the classes and the ids that the style sheets of a page hide."""
    classes: set[str] = set()
    ids: set[str] = set()
    for style in soup("style"):
        for selectors, body in _RULE.findall(style.get_text()):
            if _HIDDEN.search(body) and "@" not in selectors:
                for selector in selectors.split(","):
                    if match := _SIMPLE.fullmatch(selector.strip()):
                        (classes if match[1] == "." else ids).add(match[2])
    return classes, ids


def _is_hidden(tag: Any, concealed: tuple[set[str], set[str]]) -> bool:
    attributes = tag.attrs
    if not attributes:
        return False
    classes, ids = concealed
    return (
        "hidden" in attributes
        or str(attributes.get("aria-hidden", "")).lower() == "true"
        or bool(_HIDDEN.search(str(attributes.get("style", ""))))
        or (bool(classes) and not classes.isdisjoint(attributes.get("class") or ()))
        or (bool(ids) and attributes.get("id") in ids)
    )


def _beside(tag: Any, side: str) -> str:
    """Return the text that stands directly before or after a tag, in the same block."""
    while (neighbour := getattr(tag, side)) is None:
        tag = tag.parent
        if tag is None or tag.name not in ("a", "b", "strong", "i", "em", "span", "u", "font", "small"):
            return ""
    return str(neighbour if isinstance(neighbour, str) else neighbour.get_text())


def _write_formulas(soup: Any) -> None:
    """Write MathML as people write formulas in a line."""
    signs = {
        "msup": ("", "^"),
        "msub": ("", "_"),
        "mfrac": ("", "/"),
        "msubsup": ("", "_", "^"),
        "mover": ("", "^"),
    }
    for tag in soup(list(signs)):
        children = [child for child in tag.children if getattr(child, "name", None)]
        for sign, child in zip(signs[tag.name], children, strict=False):
            several = sign != "_" and len(child.get_text(strip=True)) > 1 and bool(child.find("mo"))
            child.insert_before(sign + "(" * several)
            child.insert_after(")" * several)
    for tag in soup("msqrt"):
        tag.insert_before("sqrt(")
        tag.insert_after(")")


def _decoded(data: bytes) -> str:
    """A page is UTF-8 where it can be; else what it says it is; else what its bytes tell."""
    match = _DECLARED.search(data[:_HEAD])
    name = _codec((match[1] or match[2]).decode("ascii")) if match else "utf-8-sig"
    try:
        return data.decode(name if name in _ASCII_ONLY else "utf-8-sig")
    except UnicodeDecodeError as error:
        refusal = detect.refusal(error)
    for codec in (name, detect.detect_encoding(data)):
        # LookupError: Python has codecs that are no encodings of text
        with contextlib.suppress(UnicodeDecodeError, LookupError):
            if codec:
                return data.decode(codec)
    raise UnusableError(refusal)


def _codec(name: str) -> str:
    """Return what Python calls the encoding that browsers take a name for."""
    with contextlib.suppress(LookupError):
        name = codecs.lookup(name).name
    return _MEANT.get(name, name)
