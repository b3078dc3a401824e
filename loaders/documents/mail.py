"""Mail: who wrote to whom and when, and the text parts. Headers of the way it took, marks of transport and
what is attached are left out."""

from __future__ import annotations

import email
import email.policy
import re
from email.message import EmailMessage, MIMEPart
from importlib.util import find_spec

from gsw_graph.loaders import encoding
from gsw_graph.loaders.documents import web
from gsw_graph.loaders.documents.archives import UnusableError

_SHOWN = ("From", "To", "Cc", "Date")
_MOST = 2000  # characters of a header: a list of hundreds tells nothing


def text_of(data: bytes, left_out: list[str]) -> tuple[str, str, bool]:
    """Headers and text, the subject, and whether the text is plain; else it is Markdown. `left_out` gets
    the names of what is attached."""
    message = email.message_from_bytes(data, _class=EmailMessage, policy=email.policy.default)
    part = message.get_body(("plain", "html"))
    if part is None:
        raise UnusableError("a mail without a text part")
    attached = [
        _cleaned(one.get_filename() or "without a name")
        for one in message.walk()
        if one is not part and one.is_attachment()
    ]
    left_out += [f"its attachment {name}: save it and load it" for name in attached]
    plain = part.get_content_type() != "text/html"
    text = _content(part)
    if not plain:
        if not find_spec("markdownify"):
            raise UnusableError(f"a mail in HTML, which needs more to be read: {encoding.EXTRA}")
        text = web.of(text)[0]
    for one in message.iter_parts() if message.get_content_type() == "multipart/mixed" else ():
        kind = one.get_content_type()
        if kind == "text/plain" and one is not part and not one.is_attachment():
            text += f"\n\n{_content(one)}"  # what goes on after a picture
        elif kind == "message/rfc822" and not one.is_attachment():
            left_out.append("a mail that it forwards: save it and load it")
    if not text.strip():
        raise UnusableError("a mail without text")
    headers = [f"{name}: {value}" for name in _SHOWN if (value := _header(message, name))]
    gap = "\n" if plain else "  \n"
    return f"{gap.join(headers)}\n\n{text.strip()}", _header(message, "Subject"), plain


def _content(part: MIMEPart) -> str:
    """The text of a part, in the encoding that it names, else in one that its bytes tell."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    named = part.get_content_charset() or "utf-8"
    for codec in (named, encoding.told(data)):
        try:
            return data.decode(codec or "ascii").replace("\r\n", "\n")
        except (UnicodeDecodeError, LookupError):
            continue
    raise UnusableError(f"a mail in {named[:40]}, which its text is not")


def _header(message: EmailMessage, name: str) -> str:
    """The value of a header as people read it, "" where there is none or it cannot be read."""
    try:
        return _cleaned(str(message[name] or ""))
    except Exception:  # the library has faults of its own for broken ones
        return ""


def _cleaned(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()[:_MOST]
