"""Mails: who wrote to whom and when, and the text.

Headers of the way a mail took, marks of transport, lines quoted from other mails and what is attached are
left out; attachments are named. Of a text in two forms the plain one is read, unless it is blank or a stub.
"""

from __future__ import annotations

import base64
import contextlib
import email
import email.policy
import email.utils
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import EmailMessage, MIMEPart
from importlib.util import find_spec

from gsw_graph.loaders import web
from gsw_graph.loaders.files import EXTRA, Converted, LeftOut, UnusableError, is_damaged
from gsw_graph.values import single_spaced

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
_FORWARDED = "message/rfc822"
# What is counted, and no text of the mail.
_COUNTED = {
    "text/calendar": "calendar entry",
    "application/pgp-signature": "signature",
    "application/pkcs7-signature": "signature",
    "application/x-pkcs7-signature": "signature",
    "message/delivery-status": "delivery report",
    "text/rfc822-headers": "delivery report",
}
_READ = ("text/plain", "text/html")
_ENCRYPTED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
_ENCODED_WORD = re.compile(rb"=\?([\w.:-]{1,40})(?:\*[\w-]{1,20})?\?[bBqQ]\?")
_ENCODED_RUN = re.compile(r"=\?[^?\s]{1,60}\?[bBqQ]\?[^?\n]*\?=(?:\s+=\?[^?\s]{1,60}\?[bBqQ]\?[^?\n]*\?=)+")
_ASCII = ("", "ascii", "us-ascii")  # is named if nothing was chosen
_NOT_LATIN = re.compile(rb"[\x80-\xff]{4}")
_HEADERS_END = re.compile(rb"\r?\n\r?\n")


@dataclass(frozen=True, slots=True)
class _Text:
    """A text of a mail, what was left out of it, and whether it is Markdown."""

    text: str = ""
    left_out: LeftOut = field(default_factory=Counter)
    is_marked: bool = False


def read_mail(data: bytes, contents: Converted) -> None:
    """Read a mail: a line with who wrote to whom and when, its text, and its subject as title. Raises
    UnusableError."""
    message = _parsed(data)
    contents.loader = "mail"
    reader = _Reader(_charsets(data, message))
    read = reader.read(message)
    _name_left_out(message, contents)
    if not read.text.strip():
        read = _forwarded_alone(message, reader)
        contents.faults = [fault for fault in contents.faults if not fault.startswith(_FORWARDS)]
    if not read.text.strip():
        raise UnusableError("; ".join([_emptiness(message, reader), *contents.faults]))
    contents.faults += reader.faults
    contents.left_out.update(read.left_out)
    contents.plain = not read.is_marked
    contents.text = _own_text(read.text, contents)
    contents.title = _ANSWER.sub("", _header(message, "Subject"))
    contents.describe(_about(message))


def _parsed(data: bytes) -> EmailMessage:
    """Return a mail whose headers can be read."""
    end = _HEADERS_END.search(data)
    head = data[: end.start()] if end else data
    try:
        text = head.decode()
    except UnicodeDecodeError:  # letters that no encoding is named for
        text = head.decode("cp1252", "replace")
    whole = _ENCODED_RUN.sub(_merged, text).encode() + data[len(head) :]
    return email.message_from_bytes(whole, _class=EmailMessage, policy=email.policy.default)


def _merged(run: re.Match[str]) -> str:
    """Return the encoded words of a header that follow each other as one; a name may be parted in them."""
    with contextlib.suppress(LookupError, UnicodeError, HeaderParseError):
        text = str(make_header(decode_header(single_spaced(run[0]))))
        return f"=?utf-8?b?{base64.b64encode(text.encode()).decode()}?="
    return run[0]


def _own_text(text: str, contents: Converted) -> str:
    """Return what a mail says itself; what it quotes is of another, which says it itself."""
    own = _QUOTED.sub("\n", text)
    if own.strip():
        contents.left_out["quoted line"] += len(_QUOTE.findall(text)) - len(_QUOTE.findall(own))
        text = own
    # Marks of quotation part names at line ends.
    text = _QUOTED_HEADER.sub(lambda m: m[1] + m[2].lower() + m[3], _DASHES.sub("", text))
    return _QUOTE.sub("", text).strip()


# --- headers ---


def _about(message: MIMEPart) -> list[tuple[str, str]]:
    """Return who wrote to whom, and when."""
    about = []
    for header in ("from", "to", "cc", "bcc"):
        for name, address in email.utils.getaddresses([_header(message, header)]):
            # in small letters: it is no name of anybody
            shown = f"<{address.lower()}>" if "@" in address else address
            about.append((header, f"{name} {shown}".strip()))
    written = _header(message, "Date") or _header(message, "Sent")
    with contextlib.suppress(ValueError, TypeError):
        written = email.utils.parsedate_to_datetime(written).strftime("%Y-%m-%d %H:%M")
    return [*about, ("date", written)]


def _header(message: MIMEPart, name: str) -> str:
    """Return the value of a header as people read it, "" where there is none or it cannot be read."""
    try:
        return _one_line(str(message[name] or ""))
    except Exception:  # the library has faults of its own for broken ones
        return ""


def _one_line(text: str) -> str:
    return single_spaced(text)[:_MOST]


# --- texts ---


class _Reader:
    """Reads the texts of a mail.

    Args:
        charsets: Encodings that the mail names somewhere; a part that names none is likely in one of them.
    """

    def __init__(self, charsets: list[str]) -> None:
        self._charsets = charsets
        self.faults: list[str] = []
        self.needs_extra = False

    def read(self, part: MIMEPart) -> _Text:
        """Return the text of a part and of the parts in it."""
        kind = part.get_content_type()
        if part.get_content_maintype() == "multipart" and part.is_multipart():
            parts = list(part.iter_parts())
            if kind in ("multipart/related", "multipart/signed"):
                parts = parts[:1]  # the others are pictures of the first, or its signature
            texts = [self.read(part) for part in parts]
            return _best(texts) if kind == "multipart/alternative" else _joined(texts)
        if kind not in _READ or _is_attachment(part):
            return _Text()
        if kind == "text/plain":
            return _Text(_unflowed(self._content(part), part))
        if not find_spec("markdownify"):
            self.needs_extra = True
            return _Text()
        page = Converted()
        web.read_page(self._content(part), page)
        return _Text(page.text, page.left_out, is_marked=True)

    def _content(self, part: MIMEPart) -> str:
        """Return the text of a part, in the encoding that it names, else in the one that its bytes tell.

        Raises:
            UnusableError: It is in no encoding that can be told.
        """
        data = part.get_payload(decode=True)
        if not isinstance(data, bytes):
            return ""
        named = str(part.get_content_charset() or "")
        names = [named, *self._charsets]
        if part.get_content_type() == "text/html":
            names.insert(1, web.declared(data))
        text = web.decode_page(data, [name for name in names if name not in _ASCII])
        if text is None:
            text, codec = _guessed(data, named)
            self.faults.append(f"letters whose encoding is not named: they are read as {codec}")
        return text.replace("\r\n", "\n")


def _guessed(data: bytes, named: str) -> tuple[str, str]:
    """Return a text with a few letters beyond ASCII, and the encoding that mail programs show it in."""
    if is_damaged(data):
        return data.decode("utf-8", "replace"), "UTF-8, without what is broken"
    if _NOT_LATIN.search(data):
        what = f"a mail in {named[:40]}, which its text is not" if named else "a mail that names no encoding"
        raise UnusableError(f"{what}: its encoding cannot be told")
    return data.decode("cp1252", "replace"), "windows-1252"


def _charsets(data: bytes, message: MIMEPart) -> list[str]:
    """Return the encodings that the headers and the parts of a mail name, but for the most general."""
    head = _HEADERS_END.split(data, maxsplit=1)[0]
    names = [name.decode().lower() for name in _ENCODED_WORD.findall(head)]
    names += [str(part.get_content_charset() or "").lower() for part in message.walk()]
    return [name for name in dict.fromkeys(names) if name not in _ASCII]


def _best(texts: list[_Text]) -> _Text:
    """Return the plain one of several forms of a text; another if the plain one is blank or a stub."""
    plain, rich = _Text(), _Text()
    for text in texts:
        if text.text.strip() and not text.is_marked and not plain.text:
            plain = text
        if len(text.text.split()) > len(rich.text.split()):
            rich = text
    return rich if len(plain.text.split()) * 2 < len(rich.text.split()) else plain


def _joined(texts: list[_Text]) -> _Text:
    """Return texts after each other, as one."""
    whole: list[str] = []
    left_out: LeftOut = Counter()
    is_marked = False
    for text in texts:
        if text.text.strip():
            whole.append(text.text.strip("\r\n"))
            left_out.update(text.left_out)
            is_marked |= text.is_marked
    return _Text("\n\n".join(whole), left_out, is_marked)


def _unflowed(text: str, part: MIMEPart) -> str:
    """Return a text without the line ends that format=flowed puts in (RFC 3676): those after a space."""
    if str(part.get_param("format", "")).lower() != "flowed":
        return text
    keeps_space = str(part.get_param("delsp", "")).lower() != "yes"
    lines: list[str] = []
    going_on: str | None = None  # the marks of quotation of a line that goes on
    for line in text.split("\n"):
        words = line.lstrip(">")
        marks = line[: len(line) - len(words)]
        words = words.removeprefix(" ")
        flows = words.endswith(" ") and words != "-- "
        words = words if keeps_space or not flows else words[:-1]
        if going_on == marks:
            lines[-1] += words
        else:
            lines.append(f"{marks} {words}" if marks else words)
        going_on = marks if flows else None
    return "\n".join(lines)


# --- what is left out ---

_FORWARDS = "a mail that it forwards"


def _leaves(part: MIMEPart) -> Iterator[MIMEPart]:
    """Yield the parts that have no parts, and mails that are forwarded, which are left whole."""
    if part.get_content_maintype() != "multipart" or not part.is_multipart():
        yield part
        return
    for child in part.iter_parts():
        yield from _leaves(child)


def _is_attachment(part: MIMEPart) -> bool:
    """Return whether a part is a file beside the text."""
    is_text = part.get_content_type() in _READ
    return part.is_attachment() and (not is_text or bool(part.get_filename()))


def _name_left_out(message: MIMEPart, contents: Converted) -> None:
    """Name the attachments and forwarded mails of a mail, and count its pictures and signatures."""
    for part in _leaves(message):
        kind = part.get_content_type()
        if kind == _FORWARDED:
            contents.faults.append(f"{_FORWARDS}: save it and load it")
        elif kind in _COUNTED and not part.get_filename():
            contents.left_out[_COUNTED[kind]] += 1
        elif kind.startswith("image/") and not part.is_attachment():
            contents.left_out["picture"] += 1
        elif kind not in _READ or _is_attachment(part):
            name = _one_line(part.get_filename() or f"without a name ({kind})")
            contents.faults.append(f"its attachment {name}: save it and load it")


def _forwarded_alone(message: MIMEPart, reader: _Reader) -> _Text:
    """Return the mails that a mail without a text of its own forwards."""
    texts: list[_Text] = []
    for part in _leaves(message):
        if part.get_content_type() != _FORWARDED:
            continue
        for mail in part.iter_parts():
            about = [*_about(mail), ("subject", _header(mail, "Subject"))]
            line = "; ".join(f"{name}: {value}" for name, value in about if value)
            texts += [_Text(line), reader.read(mail)]
    return _joined(texts)


def _emptiness(message: MIMEPart, reader: _Reader) -> str:
    """Return why a mail has no text."""
    kinds = {part.get_content_type() for part in message.walk()}
    if reader.needs_extra:
        return f"a mail in HTML, which needs more to be read: {EXTRA}"
    if kinds.intersection(_ENCRYPTED):
        return "an encrypted mail: save it decrypted"
    return "a mail without text" if kinds.intersection(_READ) else "a mail without a text part"
