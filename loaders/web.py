"""HTML pages and mails. Nothing is fetched: links and pictures are left out, and scripts are not run.

Of a mail stay who wrote to whom and when, and the text parts. Headers of the way it took, marks of transport,
lines quoted from other mails and what is attached are left out; attachments are named.
"""

from __future__ import annotations

import codecs
import contextlib
import email
import email.policy
import email.utils
import re
from email.message import EmailMessage, MIMEPart
from importlib.util import find_spec
from typing import Any

from gsw_graph.loaders.files import (
    EXTRA,
    Converted,
    UnusableError,
    decode,
    detect_encoding,
    refusal,
)
from gsw_graph.loaders.text import shifted

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
    """Read a page: its Markdown, and the title that its head gives it where no heading of the first level
    does. Raises UnusableError."""
    if len(data) > MOST:
        raise UnusableError(f"a page of more than {MOST // 2**20} MiB")
    # A page is UTF-8 where it can be; else what it says it is; else what its bytes tell.
    match = _DECLARED.search(data[:_HEAD])
    name = (match[1] or match[2]).decode("ascii") if match else "utf-8-sig"
    with contextlib.suppress(LookupError):
        name = codecs.lookup(name).name
    name = _MEANT.get(name, name)
    first = name if name in _ASCII_ONLY else "utf-8-sig"
    page = decode(data, first) or decode(data, name) or decode(data, detect_encoding(data) or first)
    if page is None:
        try:
            data.decode(first)
        except UnicodeDecodeError as error:
            raise UnusableError(refusal(error)) from error
    read_page(page or "", contents)


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
        contents.title = " ".join(soup.title.get_text().split()) if soup.title and not soup.h1 else ""
        contents.describe(
            (_ABOUT[name], str(meta.get("content") or ""))
            for meta in soup("meta")
            if (name := str(meta.get("name") or meta.get("property") or "").lower()) in _ABOUT
        )
        _clean(soup, contents)
        contents.text = converter.convert_soup(soup).strip()
    except RecursionError:  # thousands of tags within each other: then the text alone
        contents.text = "\n\n".join(part for text in soup.strings if (part := " ".join(text.split())))


def _clean(soup: Any, contents: Converted) -> None:
    """Take out what a reader of the page does not see, and write what Markdown has no marks for."""
    from bs4 import Comment

    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        contents.left_out["comment"] += bool(comment.strip()) and not comment.startswith("[if")
        comment.extract()
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
    for tag in soup(["td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "dt"]):
        for block in tag(["p", "div", "li", "br", "section", "article"]):  # they are in one line
            block.insert_before(" ")
    for tag in soup("math"):
        contents.left_out["layout of a formula"] += not tag.get("alttext")
        tag.replace_with(tag.get("alttext") or tag.get_text())
    for tag in soup(["sup", "sub"]):
        mark = tag.get_text().strip()
        is_note = mark.isdigit() and tag.find("a") is not None
        tag.replace_with(f"[{mark}]" if is_note else shifted(mark, "_" if tag.name == "sub" else "^"))


def _is_hidden(attributes: dict[str, Any]) -> bool:
    return (
        "hidden" in attributes
        or str(attributes.get("aria-hidden", "")).lower() == "true"
        or bool(_HIDDEN.search(str(attributes.get("style", ""))))
    )


# --- mails ---

_MOST = 2000  # characters of a header: a list of hundreds says nothing
_ANSWER = re.compile(r"^(?:\s*(?:re|fwd?|aw|wg|sv|vs|tr|rv|antw)\s*(?:\[\d+\])?\s*:)+\s*", re.IGNORECASE)
# Headers of a mail that another quotes: in small letters their names are not taken for names of anybody.
_QUOTED_HEADER = re.compile(
    r"^([>\s*]*)(From|Sent|To|Cc|Bcc|Subject|Date|Reply-To|Von|Gesendet|An|Betreff|Datum|De|Envoyé|À|Objet)"
    r"(\*?[ \t]*:)",
    re.MULTILINE,
)
_DASHES = re.compile(
    r"^[>\s]*-{2,}\s*(?:Original Message|Forwarded message|Ursprüngliche Nachricht|Message d'origine)"
    r"\s*-{2,}[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
# Quoted lines, with the line or two that say who wrote them.
_QUOTED = re.compile(
    r"(?:^(?:(?:On|Am|Le|El|Il|Op|Den|Em)\b[^\n]{0,200}\n)?(?![ \t]*>)[^\n]{0,200}"
    r"\b(?:wrote|schrieb|écrit|escribió|scritto|schreef|skrev|escreveu)\b[^\n]{0,200}:[ \t]*\n\s{0,20})?"
    r"(?:^[ \t]*>[^\n]*\n?)+",
    re.MULTILINE,
)


def read_mail(data: bytes, contents: Converted) -> None:
    """Read a mail: a line with who wrote to whom and when, its text, and its subject as title. Raises
    UnusableError."""
    message = email.message_from_bytes(data, _class=EmailMessage, policy=email.policy.default)
    contents.loader = "mail"
    body = message.get_body(("plain", "html"))
    if body is None:
        raise UnusableError("a mail without a text part")
    contents.plain = body.get_content_type() != "text/html"
    text = _content(body)
    if not contents.plain:
        if not find_spec("markdownify"):
            raise UnusableError(f"a mail in HTML, which needs more to be read: {EXTRA}")
        read_page(text, contents)
        text = contents.text
    mixed = message.get_content_type() == "multipart/mixed"
    for part in message.walk():
        kind = part.get_content_type()
        if kind == "message/rfc822":
            contents.faults.append("a mail that it forwards: save it and load it")
        elif part is body or part.is_multipart():
            continue
        elif part.is_attachment():
            name = _one_line(part.get_filename() or "without a name")
            contents.faults.append(f"its attachment {name}: save it and load it")
        elif kind == "text/plain" and mixed and part in message.iter_parts():
            text += f"\n\n{_content(part)}"  # what goes on after a picture
        contents.left_out["picture"] += kind.startswith("image/") and not part.is_attachment()
    if not text.strip():
        raise UnusableError("a mail without text")
    # What a mail quotes is of another, which says it itself.
    own = _QUOTED.sub("\n", text)
    if own.strip():
        contents.left_out["quoted line"] += len(_QUOTE.findall(text)) - len(_QUOTE.findall(own))
        text = own
    # Marks of quotation part names at line ends.
    text = _QUOTED_HEADER.sub(lambda m: m[1] + m[2].lower() + m[3], _DASHES.sub("", text))
    contents.text = _QUOTE.sub("", text).strip()
    contents.title = _ANSWER.sub("", _header(message, "Subject"))
    written = _header(message, "Date") or _header(message, "Sent")
    with contextlib.suppress(ValueError, TypeError):
        written = email.utils.parsedate_to_datetime(written).strftime("%Y-%m-%d %H:%M")
    people = [  # the address in small letters: it is no name of anybody
        (header.lower(), f"{name} {f'<{address.lower()}>' if '@' in address else address}".strip())
        for header in ("From", "To", "Cc", "Bcc")
        for name, address in email.utils.getaddresses([_header(message, header)])
    ]
    contents.describe([*people, ("date", written)])


def _content(part: MIMEPart) -> str:
    """Return the text of a part, in the encoding that it names, else in one that its bytes tell."""
    data = part.get_payload(decode=True)
    named = part.get_content_charset() or "utf-8"
    if not isinstance(data, bytes):
        return ""
    text = decode(data, named) or decode(data, detect_encoding(data) or "ascii")
    if text is None:
        raise UnusableError(f"a mail in {named[:40]}, which its text is not")
    return text.replace("\r\n", "\n")


def _header(message: EmailMessage, name: str) -> str:
    """Return the value of a header as people read it, "" where there is none or it cannot be read."""
    try:
        return _one_line(str(message[name] or ""))
    except Exception:  # the library has faults of its own for broken ones
        return ""


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_MOST]
