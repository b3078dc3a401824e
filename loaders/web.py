"""HTML pages. Nothing is fetched: links and pictures are left out, and scripts are not run."""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Iterable
from typing import Any

from gsw_graph.loaders import numerals, tables
from gsw_graph.loaders.files import Converted, UnusableError, decode, detect_encoding, refusal
from gsw_graph.loaders.text import shifted
from gsw_graph.values import Fields, single_spaced, unique

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
_ASCII_ONLY = ("iso2022_jp", "iso2022_kr", "hz", "utf-7")  # such pages would pass as UTF-8
_DROPPED = "script style head annotation annotation-xml param source track".split()
# What is left out with its text, as the load report counts it.
_LEFT_OUT = {
    **dict.fromkeys(("template", "noscript"), "hidden text"),
    **dict.fromkeys(("svg", "img", "canvas"), "picture"),
    **dict.fromkeys(("object", "embed"), "embedded object"),
    "nav": "navigation menu",
    "iframe": "embedded page",
    "video": "film",
    "audio": "sound",
}
_UNMARKED = "a b strong em i del s u q kbd samp".split()  # what is struck out is marked here
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
_SHOWN_INPUTS = ("text", "number", "date", "time", "datetime-local", "month", "email", "tel", "url", "search")
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*([\w-]+)", re.IGNORECASE)
_LIST_STYLES = {
    "lower-alpha": "a",
    "lower-latin": "a",
    "upper-alpha": "A",
    "upper-latin": "A",
    "lower-roman": "i",
    "upper-roman": "I",
}
_STRUCK = re.compile(r"text-decoration(?:-line)?\s*:[^;]*line-through", re.IGNORECASE)
_RULE = re.compile(r"(?<![^{}])([^{}]*)\{([^{}]*)\}")  # each begins behind a brace, so that none is slow
_CSS_COMMENT = re.compile(r"/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/)?")
_STRUCK_TAGS = "s, strike, del, [role=deletion], [style*='line-through' i], .line-through, .strikethrough"
_MOST_SELECTORS = 20  # as each is looked for in the whole page
_PARAGRAPHS = "p div li td th dt dd pre h1 h2 h3 h4 h5 h6 blockquote article section figcaption body".split()
_LOOKED_BACK = 40  # characters
_NOTED = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d$|(?<!\w)[^\W\d_a-z]\w{3,}$|[.,;:!?\"”»)]$")
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


def markdown(data: bytes, contents: Converted) -> None:
    """Read a page: its Markdown, and the title in its head unless there is a heading of the first level.
    Raises UnusableError."""
    if len(data) > MOST:
        raise UnusableError(f"a page of more than {MOST // 2**20} MiB")
    page = decode_page(data, [declared(data)])
    if page is None:
        try:
            page = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UnusableError(refusal(error)) from error
    read_page(page, contents)


def declared(data: bytes) -> str:
    """Return the encoding that a page says it is in, "" if it does not say."""
    match = _DECLARED.search(data[:_HEAD])
    return (match[1] or match[2]).decode("ascii") if match else ""


def decode_page(data: bytes, names: Iterable[str]) -> str | None:
    """Return a text in UTF-8 if it can be that, else in an encoding that it names, else in the one that its
    bytes tell; None if they tell none."""
    meant: list[str] = []
    for name in names:
        with contextlib.suppress(LookupError):
            codec = codecs.lookup(name).name
            meant.append(_MEANT.get(codec, codec))
    if not any(codec in _ASCII_ONLY for codec in meant):
        meant.insert(0, "utf-8-sig")
    for codec in meant:
        text = decode(data, codec)
        if text is not None:
            return text
    guess = detect_encoding(data)
    return decode(data, guess) if guess else None


def read_page(page: str, contents: Converted) -> None:
    """Read a page that is decoded; see `markdown`."""
    from bs4 import BeautifulSoup
    from markdownify import ATX, MarkdownConverter

    soup = BeautifulSoup(page, "lxml")
    # Marks of emphasis would be taken out again, and what occurs in the text as * or _ is meant.
    converter = MarkdownConverter(
        heading_style=ATX, bullets="-", strip=_UNMARKED, escape_asterisks=False, escape_underscores=False
    )
    try:
        if soup.title and not soup.h1:
            contents.title = single_spaced(soup.title.get_text())
        about = []
        for meta in soup("meta"):
            name = str(meta.get("name") or meta.get("property")).lower()
            if name in _ABOUT:
                about.append((_ABOUT[name], str(meta.get("content") or "")))
        contents.describe(about)
        _clean(soup, contents)
        contents.text = converter.convert_soup(soup).strip()
    except RecursionError:  # thousands of tags within each other: then the text alone
        texts = [single_spaced(text) for text in soup.strings]
        contents.text = "\n\n".join(filter(None, texts))


def _clean(soup: Any, contents: Converted) -> None:
    """Take out what a reader of the page does not see, and write what Markdown has no marks for."""
    from bs4 import Comment

    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        contents.left_out["comment"] += bool(comment.strip()) and not comment.startswith("[if")
        comment.extract()
    struck = _struck_selectors(soup)
    for tag in soup(_DROPPED):
        tag.decompose()
    for tag in soup(True):
        if "_decomposed" in vars(tag) or tag.name in ("html", "body"):
            continue
        kind = _LEFT_OUT.get(tag.name)
        if kind is None and _is_hidden(tag.attrs) and not tag.find("math"):
            kind = "hidden text"
        if kind is not None:
            contents.left_out[kind] += kind != "hidden text" or bool(tag.get_text(strip=True))
            tag.decompose()
        elif tag.name in _BLOCKS:
            tag.name = "div"
    _mark_struck(soup, struck)
    for tag in soup("input"):
        tag.replace_with(_input_text(tag))
    for tag in soup("ol"):
        _number_items(tag)
    for table in soup("table"):
        tables.straighten(table, soup)
    for tag in soup(["td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "dt"]):
        for block in tag(["p", "div", "li", "br", "section", "article"]):  # they are in one line
            block.insert_before(" ")
    for tag in soup("math"):
        contents.left_out["layout of a formula"] += not tag.get("alttext")
        tag.replace_with(tag.get("alttext") or tag.get_text())
    for tag in soup(["sup", "sub"]):
        mark = tag.get_text().strip()
        if mark.isdigit() and (tag.find("a") is not None or _is_noted(tag)):
            tag.replace_with(f"[{mark}]")
            continue
        sign = "_" if tag.name == "sub" else "^"
        tag.replace_with(shifted(mark, sign))


def _is_noted(tag: Any) -> bool:
    """Return whether a raised number is a note: after a year, a name or the end of a sentence."""
    before = tag.find_previous(string=True)
    if tag.name != "sup" or before is None:
        return False
    return bool(_NOTED.search(before[-_LOOKED_BACK:]))


def _input_text(tag: Any) -> str:
    """Return what an input of a form shows."""
    kind = str(tag.get("type") or "text").lower()
    if kind in ("checkbox", "radio"):
        return "[x] " if tag.has_attr("checked") else "[ ] "
    if kind in _SHOWN_INPUTS:
        return str(tag.get("value") or "")
    return ""


def _number_items(tag: Any) -> None:
    """Write the numbers of a list that are no plain 1, 2, 3 before its items."""
    style = _LIST_STYLE.search(str(tag.get("style")))
    kind = _LIST_STYLES.get(style[1].lower(), "1") if style else tag.get("type")
    items = tag("li", recursive=False)
    step = -1 if tag.has_attr("reversed") else 1
    write = numerals.PAGE.get(kind)
    if write is None and step == 1 and not any(item.get("value") for item in items):
        return
    number = _whole(tag.get("start"), len(items) if step < 0 else 1)
    for item in items:
        number = _whole(item.get("value"), number)
        item.insert(0, f"{write(number) if write else number}. ")
        item.name = "div"
        number += step
    tag.name = "div"


def _whole(written: object, otherwise: int) -> int:
    return int(str(written)) if re.fullmatch(r"-?\d{1,6}", str(written)) else otherwise


# --- text that is struck out ---


def _struck_selectors(soup: Any) -> list[str]:
    """Return the selectors of CSS for text that is struck out: tags that mean it, and rules of the page."""
    selectors = [_STRUCK_TAGS]
    for style in soup("style"):
        for head, declarations in _RULE.findall(_CSS_COMMENT.sub("", style.get_text())):
            if _STRUCK.search(declarations):
                selectors.append(head.rpartition(";")[2].strip())
    return unique(selectors)[:_MOST_SELECTORS]


def _mark_struck(soup: Any, selectors: list[str]) -> None:
    """Put the marks of Markdown around text that is struck out; what is in a block of its own has its own."""
    struck: set[int] = set()
    for selector in selectors:
        with contextlib.suppress(SyntaxError, NotImplementedError, ValueError):  # of rules not understood
            for tag in soup.select(selector):
                struck.update(map(id, tag.find_all(string=True)))
    runs: list[list[Any]] = []
    block = None  # that the text before is in, if it is struck out
    for text in soup.find_all(string=True) if struck else ():
        if not text.strip():
            continue
        parent = text.find_parent(_PARAGRAPHS) or soup
        if id(text) not in struck:
            block = None
        elif parent is block:
            runs[-1].append(text)
        else:
            runs.append([text])
            block = parent
    for run in runs:
        first = run[0]
        marked = first.replace(first.strip(), f"~~{first.strip()}", 1)
        if len(run) == 1:
            first.replace_with(f"{marked.rstrip()}~~{first[len(first.rstrip()) :]}")
            continue
        first.replace_with(marked)
        last = run[-1]
        end = len(last.rstrip())
        last.replace_with(f"{last[:end]}~~{last[end:]}")


def _is_hidden(attributes: Fields) -> bool:
    if "hidden" in attributes or str(attributes.get("aria-hidden")).lower() == "true":
        return True
    return bool(_HIDDEN.search(str(attributes.get("style"))))
