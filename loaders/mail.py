"""Mail: who wrote to whom and when, and the text parts. Headers of the way it took, marks of transport and
what is attached are left out; attachments are named."""

from __future__ import annotations

import email
import email.policy
import email.utils
import re
from collections.abc import Iterator
from email.message import EmailMessage, MIMEPart
from importlib.util import find_spec

from gsw_graph.loaders import detect, web
from gsw_graph.loaders.files import Converted, UnusableError, properties

_PEOPLE = {"From": "from", "To": "to", "Cc": "cc", "Bcc": "bcc"}
_MOST = 2000  # characters of a header: a list of hundreds tells nothing
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


def read_mail(data: bytes, found: Converted) -> None:
    """Read a mail: a line with who wrote to whom and when, its text, and its subject as title. Raises
    UnusableError."""
    message = email.message_from_bytes(data, _class=EmailMessage, policy=email.policy.default)
    found.loader = "mail"
    part = message.get_body(("plain", "html"))
    if part is None:
        raise UnusableError("a mail without a text part")
    _list_attachments(message, part, found)
    found.plain = part.get_content_type() != "text/html"
    text = _content(part)
    if not found.plain:
        if not find_spec("markdownify"):
            raise UnusableError(f"a mail in HTML, which needs more to be read: {detect.EXTRA}")
        web.read_page(text, found)
        text = found.text
    for other in message.iter_parts() if message.get_content_type() == "multipart/mixed" else ():
        if other.get_content_type() == "text/plain" and other is not part and not other.is_attachment():
            text += f"\n\n{_content(other)}"  # what goes on after a picture
    if not text.strip():
        raise UnusableError("a mail without text")
    found.text = _clean(text)
    found.title = _ANSWER.sub("", _header(message, "Subject"))
    people = [(name, person) for header, name in _PEOPLE.items() for person in _people(message, header)]
    found.about = properties([*people, ("date", _date(message))])


def _list_attachments(message: EmailMessage, body: MIMEPart, found: Converted) -> None:
    for part in message.walk():
        kind = part.get_content_type()
        if part is body or part.is_multipart():
            if kind == "message/rfc822":
                found.faults.append("a mail that it forwards: save it and load it")
            continue
        if part.is_attachment():
            name = _clean_header(part.get_filename() or "without a name")
            found.faults.append(f"its attachment {name}: save it and load it")
        elif kind.startswith("image/"):
            found.left_out["picture"] += 1


def _people(message: EmailMessage, name: str) -> Iterator[str]:
    """Yield who a header names, with the address in small letters: it is no name of anybody."""
    for person, address in email.utils.getaddresses([_header(message, name)]):
        shown = f"<{address.lower()}>" if "@" in address else address
        yield f"{person} {shown}".strip()


def _date(message: EmailMessage) -> str:
    written = _header(message, "Date") or _header(message, "Sent")
    try:
        return email.utils.parsedate_to_datetime(written).strftime("%Y-%m-%d %H:%M")
    except (ValueError, TypeError):
        return written


def _clean(text: str) -> str:
    """Take out marks of quotation, which part names at line ends."""
    return _QUOTE.sub(
        "", _QUOTED_HEADER.sub(lambda m: m[1] + m[2].lower() + m[3], _DASHES.sub("", text))
    ).strip()


def _content(part: MIMEPart) -> str:
    """Return the text of a part, in the encoding that it names, else in one that its bytes tell."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    named = part.get_content_charset() or "utf-8"
    for codec in (named, detect.detect_encoding(data)):
        try:
            return data.decode(codec or "ascii").replace("\r\n", "\n")
        except (UnicodeDecodeError, LookupError):
            continue
    raise UnusableError(f"a mail in {named[:40]}, which its text is not")


def _header(message: EmailMessage, name: str) -> str:
    """Return the value of a header as people read it, "" where there is none or it cannot be read."""
    try:
        return _clean_header(str(message[name] or ""))
    except Exception:  # the library has faults of its own for broken ones
        return ""


def _clean_header(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()[:_MOST]
