"""HTML as Markdown. Nothing is fetched: links and pictures are left out, and scripts are not run."""

from __future__ import annotations

import codecs
import contextlib
import re
import warnings

from gsw_graph.loaders import encoding
from gsw_graph.loaders.documents.archives import UnusableError

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
_DROPPED = ["script", "style", "noscript", "template", "svg", "nav", "iframe", "object", "head"]
_UNMARKED = ["a", "img", "b", "strong", "em", "i", "del", "s", "sub", "sup", "video", "audio"]


def markdown(data: bytes) -> tuple[str, str]:
    """The Markdown of a page, and the title that its head gives it where no heading of the first level
    does. Raises UnusableError."""
    if len(data) > MOST:
        raise UnusableError(f"a page of more than {MOST // 2**20} MiB")
    return of(_decoded(data))


def of(page: str) -> tuple[str, str]:
    """Like `markdown`, of a text."""
    from bs4 import BeautifulSoup
    from markdownify import ATX, MarkdownConverter

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the page may have been meant to be
        soup = BeautifulSoup(page, "lxml")
        title = " ".join(soup.title.get_text().split()) if soup.title and not soup.h1 else ""
        for tag in soup(_DROPPED):
            tag.decompose()
        # Marks of emphasis would be taken out again, and what stands in the text as * or _ is meant.
        converter = MarkdownConverter(
            heading_style=ATX, bullets="-", strip=_UNMARKED, escape_asterisks=False, escape_underscores=False
        )
        try:
            return converter.convert_soup(soup).strip(), title
        except RecursionError:  # thousands of tags within each other: then the text alone
            return "\n\n".join(part for text in soup.strings if (part := " ".join(text.split()))), title


def _decoded(data: bytes) -> str:
    """A page is UTF-8 where it can be; else what it says it is; else what its bytes tell."""
    match = _DECLARED.search(data[:_HEAD])
    name = _codec((match[1] or match[2]).decode("ascii")) if match else "utf-8-sig"
    try:
        return data.decode(name if name in _ASCII_ONLY else "utf-8-sig")
    except UnicodeDecodeError as error:
        refusal = encoding.refused(error)
    for codec in (name, encoding.told(data)):
        with contextlib.suppress(
            UnicodeDecodeError, LookupError
        ):  # LookupError: Python has codecs that are no encodings of text
            if codec:
                return data.decode(codec)
    raise UnusableError(refusal)


def _codec(name: str) -> str:
    """What Python calls the encoding that browsers take a name for."""
    with contextlib.suppress(LookupError):
        name = codecs.lookup(name).name
    return _MEANT.get(name, name)
