"""Mails as people's programs write them: several forms of a text, encodings, attachments, forwarded mails."""

from __future__ import annotations

import base64
import os
import quopri
from importlib.util import find_spec

import pytest

from gsw_graph.loaders import read
from gsw_graph.model.documents import Document, Failure, Skipped

if not os.environ.get("CI") and not all(map(find_spec, ("markdownify", "chardet"))):
    pytest.skip("needs the extra documents", allow_module_level=True)

HEAD = (
    "From: Maren Osterholt <maren@x.org>\r\nSubject: Bridge\r\nMessage-ID: <a@x.org>\r\nMIME-Version: 1.0\r\n"
)
ABOUT = "from: Maren Osterholt <maren@x.org>"
TEXT = "The Quillon Bridge was designed by Ida Falkenrath."
NAMES = "The lock at Havnø was built by Søren Fjeldgård in 1872."
PLAIN = "Content-Type: text/plain; charset=utf-8\r\n\r\n"
PAGE = "Content-Type: text/html; charset=utf-8\r\n\r\n"


def several(kind, *parts):
    """Parts of a kind of multipart, with the header that says so."""
    mark = f"b{len(''.join(parts))}"
    body = "".join(f"--{mark}\r\n{part}\r\n" for part in parts)
    return f'Content-Type: multipart/{kind}; boundary="{mark}"\r\n\r\n{body}--{mark}--\r\n'


def load(tmp_path, content, head=HEAD):
    """The text of a mail without its line of headers, and what was said of it."""
    data = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "a.eml").write_bytes(head.encode() + data)
    found, *rest = read([str(tmp_path / "a.eml")])
    assert isinstance(found, Document), found
    assert all(isinstance(item, Skipped) for item in rest), rest
    return "\n\n".join(passage.text for passage in found.passages).removeprefix(ABOUT).strip(), [
        item.reason for item in rest
    ]


BLANK = {
    "blank": PLAIN + " \r\n\t\r\n",
    "empty": "Content-Type: text/plain\r\n\r\n",
    "no-break spaces": PLAIN + "\u00a0\r\n\u200b\r\n",
    "a stub": PLAIN + "Please view this in HTML.",
}


@pytest.mark.parametrize("kind", BLANK)
def test_case_30_a_mail_whose_plain_part_is_blank_is_read_from_its_page(tmp_path, kind):
    page = f"{PAGE}<p>{TEXT}</p><p>The miller of Harrow kept the key of it.</p>"
    expected = f"{TEXT}\n\nThe miller of Harrow kept the key of it."
    assert load(tmp_path, several("alternative", BLANK[kind], page)) == (expected, [])
    related = several(
        "related", several("alternative", BLANK[kind], page), "Content-Type: image/png\r\n\r\nx"
    )
    assert load(tmp_path, several("mixed", related)) == (expected, ["1 picture"])


def test_case_30_parts_after_a_blank_one_are_read(tmp_path):
    found = load(tmp_path, several("mixed", BLANK["blank"], f"{PAGE}<p>{TEXT}</p>"))[0]
    assert found == TEXT
    found = load(tmp_path, several("mixed", PLAIN + TEXT, f"{PAGE}<p>Page.</p>", PLAIN + "End."))[0]
    assert found == f"{TEXT}\n\nPage.\n\nEnd."


def test_case_30_a_plain_part_that_has_the_text_is_read(tmp_path):
    page = f"{PAGE}<table><tr><td>{TEXT}</td></tr></table><p>Unsubscribe.</p>"
    assert load(tmp_path, several("alternative", PLAIN + TEXT, page)) == (TEXT, [])


def test_case_30_a_mail_that_only_forwards_is_read(tmp_path):
    inner = f"Content-Type: message/rfc822\r\n\r\nFrom: Bo Lind <bo@x.org>\r\nSubject: Key\r\n{PLAIN}{TEXT}"
    assert load(tmp_path, several("mixed", BLANK["blank"], inner)) == (
        f"from: Bo Lind <bo@x.org>; subject: Key\n\n{TEXT}",
        [],
    )
    assert load(tmp_path, several("mixed", PLAIN + "See.", inner)) == (
        "See.",
        ["a mail that it forwards: save it and load it"],
    )


def page_in(codec, *, header="", declared=True, coding=""):
    meta = f'<meta http-equiv="Content-Type" content="text/html; charset={codec}">' if declared else ""
    data = f"<html><head>{meta}</head><body><p>{NAMES}</p></body></html>".encode(codec)
    if coding == "quoted-printable":
        data = quopri.encodestring(data)
    elif coding == "base64":
        data = base64.encodebytes(data)
    coded = f"Content-Transfer-Encoding: {coding}\r\n" if coding else ""
    return f"Content-Type: text/html{header}\r\n{coded}\r\n".encode() + data


@pytest.mark.parametrize("coding", ["", "quoted-printable", "base64"])
@pytest.mark.parametrize("codec", ["iso-8859-1", "windows-1252", "utf-8", "iso-8859-10", "mac-roman"])
def test_case_31_the_encoding_that_only_the_page_names_is_used(tmp_path, codec, coding):
    assert load(tmp_path, page_in(codec, coding=coding)) == (NAMES, [])


def test_case_31_a_header_that_is_wrong_or_unknown_gives_way(tmp_path):
    assert load(tmp_path, page_in("mac-roman", header="; charset=utf-8"))[0] == NAMES
    assert load(tmp_path, page_in("iso-8859-1", header="; charset=us-ascii"))[0] == NAMES
    assert load(tmp_path, page_in("iso-8859-1", header="; charset=x-unknown", declared=False))[0] == NAMES
    assert load(tmp_path, page_in("utf-8", header="; charset=iso-8859-1", declared=False))[0] == NAMES


@pytest.mark.parametrize("header", ["", "; charset=utf-8", "; charset=us-ascii", "; charset=unknown-8bit"])
def test_case_31_a_letter_in_an_encoding_that_nothing_names(tmp_path, header):
    content = f"Content-Type: text/plain{header}\r\n\r\n".encode() + "The lock was built by Søren.".encode(
        "latin-1"
    )
    text, said = load(tmp_path, content)
    assert text == "The lock was built by Søren."
    assert said == ["letters whose encoding is not named: they are read as windows-1252"]


def test_case_31_an_encoding_that_another_header_names_is_used(tmp_path):
    head = "From: =?koi8-r?B?8MXU0g==?= <petr@x.org>\r\nSubject: a\r\nMessage-ID: <a@x.org>\r\n"
    content = b"Content-Type: text/plain\r\n\r\n" + "Он видел маяк.".encode("koi8-r")
    assert load(tmp_path, content, head)[0].endswith("Он видел маяк.")


def test_case_31_a_broken_byte_in_utf_8_does_not_lose_the_mail(tmp_path):
    text, said = load(tmp_path, PLAIN.encode() + NAMES.encode() + b" \xff.")
    assert text.startswith(NAMES)
    assert said == ["letters whose encoding is not named: they are read as UTF-8, without what is broken"]


def test_case_31_headers(tmp_path):
    head = (
        b"From: S\xf8ren Fjeldg\xe5rd <s@x.org>\r\nTo: =?utf-8?q?Lind=2C_Bo?= <bo@x.org>,\r\n =?utf-8?b?SWRhIEZhbA==?=\r\n =?utf-8?b?a2VucmF0aA==?= <ida@x.org>\r\n"
        b"Subject: =?utf-8?B?SGF2bsM=?=\r\n =?utf-8?B?uCBpcw==?= open\r\nMessage-ID: <a@x.org>\r\n\r\nWords."
    )
    (tmp_path / "a.eml").write_bytes(head)
    (found,) = read([str(tmp_path / "a.eml")])
    assert found.title == "Havnø is open"
    assert (
        found.passages[0].text
        == "from: Søren Fjeldgård <s@x.org>; to: Lind, Bo <bo@x.org>, Ida Falkenrath <ida@x.org>\n\nWords."
    )


def test_flowed_lines_are_joined(tmp_path):
    flowed = "Content-Type: text/plain; format=flowed\r\n\r\nIt was Ida \r\nFalkenrath.\r\n From here.\r\n-- \r\nMaren"
    assert load(tmp_path, flowed)[0] == "It was Ida Falkenrath.\nFrom here.\n-- \nMaren"
    parted = "Content-Type: text/plain; format=flowed; delsp=yes\r\n\r\nFalken \r\nrath."
    assert load(tmp_path, parted)[0] == "Falkenrath."


def test_what_is_beside_the_text_is_named_or_counted(tmp_path):
    attached = 'Content-Type: {}; name="{}"\r\n\r\nx'.format
    parts = [
        attached("application/pdf", "plan.pdf"),
        attached("application/ms-tnef", "winmail.dat"),
        attached("text/calendar", "invite.ics"),
        "Content-Type: text/calendar; method=REQUEST\r\n\r\nBEGIN:VCALENDAR",
        "Content-Type: application/pgp-signature\r\n\r\nx",
        'Content-Type: text/plain\r\nContent-Disposition: attachment; filename="notes.txt"\r\n\r\nx',
    ]
    text, said = load(tmp_path, several("mixed", PLAIN + TEXT, *parts))
    assert text == TEXT
    names = ("plan.pdf", "winmail.dat", "invite.ics", "notes.txt")
    assert said == [
        *(f"its attachment {name}: save it and load it" for name in names),
        "1 calendar entry, 1 signature",
    ]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            several("mixed", 'Content-Type: application/pdf; name="plan.pdf"\r\n\r\nx'),
            "a mail without a text part; its attachment plan.pdf",
        ),
        (
            several("encrypted", "Content-Type: application/octet-stream\r\n\r\nx"),
            "an encrypted mail: save it decrypted",
        ),
        (several("alternative", BLANK["blank"], f"{PAGE}<p> </p>"), "a mail without text"),
    ],
)
def test_a_mail_without_text_says_what_it_has(tmp_path, content, why):
    (tmp_path / "a.eml").write_text(HEAD + content)
    (found,) = read([str(tmp_path / "a.eml")])
    assert isinstance(found, Failure)
    assert found.reason.startswith(why)


def test_a_line_that_begins_with_from_begins_no_mail(tmp_path):
    box = f"From a Fri\n{HEAD}\nOne.\n\nFrom here on\nit rained.\n\nFrom b Sat\n{HEAD}\nTwo.\n\nFrom the end"
    (tmp_path / "a.mbox").write_text(box.replace("\r", ""))
    texts = [found.passages[0].text.removeprefix(ABOUT).strip() for found in read([str(tmp_path / "a.mbox")])]
    assert texts == ["One.\n\nFrom here on\nit rained.", "Two.\n\nFrom the end"]
