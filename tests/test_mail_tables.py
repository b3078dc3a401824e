"""Mail, CSV, code, and cells of a workbook that cannot be read."""

from __future__ import annotations

import os
import re
import zipfile
from importlib.util import find_spec
from io import BytesIO

import document_files as make
import pytest

from gsw_graph.loaders import read
from gsw_graph.model.documents import Document, Failure, Skipped

extra = pytest.mark.skipif(
    not os.environ.get("CI") and not find_spec("openpyxl"), reason="needs the extra documents"
)
LAMP = "Ana Ruiz lit the lamp of the Old Light in 1863."
HEAD = "Return-Path: <ana@x.org>\r\nReceived: from a by b;\r\n\tFri, 1 May 2020\r\nFrom: =?utf-8?q?Ana_Ru=C3=ADz?= <ana@x.org>\r\nTo: Bo Lind <bo@x.org>\r\nDate: Fri, 1 May 2020 10:00:00 +0000\r\nSubject: The\r\n Old Light\r\nMIME-Version: 1.0\r\n"


def load(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read([str(path)]))


def text(found):
    assert isinstance(found, Document), found
    return "\n\n".join(passage.text for passage in found.passages)


SHOWN = "from: Ana Ruíz <ana@x.org>; to: Bo Lind <bo@x.org>; date: 2020-05-01 10:00"


@pytest.mark.parametrize("name", ["a.eml", "a.txt"])
def test_mail_is_who_wrote_to_whom_and_the_text(tmp_path, name):
    body = "Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nThe caf=E9 is open.\r\n\r\nAna"
    (found,) = load(tmp_path / name, HEAD + body)
    assert isinstance(found, Document)
    assert found.title == "The Old Light"
    assert found.loader == "mail"
    assert found.titled is True
    assert text(found) == f"{SHOWN}\n\nThe café is open.\n\nAna"


@extra
def test_of_mail_in_two_forms_the_plain_one_is_read_and_attachments_are_named(tmp_path):
    parts = (
        'Content-Type: multipart/mixed; boundary="x"\r\n\r\n--x\r\nContent-Type: multipart/alternative; boundary="y"\r\n\r\n--y\r\nContent-Type: text/plain\r\n\r\n'
        f"{LAMP}\r\n--y\r\nContent-Type: text/html\r\n\r\n<p>no</p>\r\n--y--\r\n--x\r\nContent-Type: image/png\r\n"
        'Content-Disposition: attachment; filename="map.png"\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw0KGgo=\r\n--x--\r\n'
    )
    found, skipped = load(tmp_path / "a.eml", HEAD + parts)
    assert text(found) == f"{SHOWN}\n\n{LAMP}"
    assert skipped == Skipped(
        (tmp_path / "a.eml").as_posix(), "its attachment map.png: save it and load it", part=True
    )
    (found,) = load(
        tmp_path / "b.eml",
        HEAD + f"Content-Type: text/html\r\n\r\n<html><h1>Light</h1><p><b>{LAMP}</b><script>no</script>",
    )
    assert isinstance(found, Document)
    assert found.title == "The Old Light"
    assert LAMP in text(found)
    assert "no</" not in text(found)


def test_text_that_goes_on_after_a_picture_is_read_and_a_forwarded_mail_is_named(tmp_path):
    parts = (
        f'Content-Type: multipart/mixed; boundary="x"\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\n{LAMP}\r\n--x\r\nContent-Type: image/png\r\n\r\nx'
        "\r\n--x\r\nContent-Type: text/plain\r\n\r\nBo Lind kept it.\r\n--x\r\nContent-Type: message/rfc822\r\n\r\nSubject: a\r\n\r\nb\r\n--x--\r\n"
    )
    found, skipped, left_out = load(tmp_path / "a.eml", HEAD + parts)
    assert left_out.reason == "1 picture"
    assert text(found) == f"{SHOWN}\n\n{LAMP}\n\nBo Lind kept it."
    assert skipped == Skipped(
        (tmp_path / "a.eml").as_posix(), "a mail that it forwards: save it and load it", part=True
    )


QUOTE = f"> {LAMP}\n>\n> > When?\n"


@pytest.mark.parametrize(
    ("body", "own"),
    [
        (
            f"It was Bo.\n\nOn Fri, 1 May 2020 at 10:00, Ana Ruiz <ana@x.org>\nwrote:\n\n{QUOTE}\nBo",
            "It was Bo.\n\n\n\nBo",
        ),
        (
            f"It was Bo:\n{QUOTE}And in 1871 too.\nAm 1. Mai 2020 schrieb Ana Ruiz:\n{QUOTE}",
            "It was Bo:\n\nAnd in 1871 too.",
        ),
        (f"On Fri, 1 May 2020, Ana wrote:\n{QUOTE}", f"On Fri, 1 May 2020, Ana wrote:\n{LAMP}\n\nWhen?"),
    ],
)
def test_what_a_mail_quotes_is_not_its_own_text(tmp_path, body, own):
    found, *left_out = load(tmp_path / "a.eml", HEAD + f"\n{body}")
    assert text(found) == f"{SHOWN}\n\n{own}"
    expected = [] if "Ana wrote:" in own else [f"{3 * body.count(LAMP)} quoted lines"]
    assert [item.reason for item in left_out if isinstance(item, Failure)] == expected


@extra
def test_what_a_mail_in_html_quotes_is_left_out(tmp_path):
    found, left_out = load(
        tmp_path / "a.eml",
        HEAD
        + f"Content-Type: text/html\n\n<p>It was Bo.</p><div>On Fri, Ana Ruiz wrote:<br></div><blockquote><p>{LAMP}</p></blockquote>",
    )
    assert text(found) == f"{SHOWN}\n\nIt was Bo."
    assert (isinstance(left_out, Failure) and left_out.reason) == "1 quoted line"


def test_a_row_that_cannot_be_read_is_left_out_alone(tmp_path):
    found, failure = load(tmp_path / "a.csv", f"Name,Year\nAna,1863\n{'x' * 200_000},1\nBo,1871\n")
    assert text(found) == "Name: Ana; Year: 1863\nName: Bo; Year: 1871"
    assert isinstance(failure, Failure)
    assert failure.part
    assert failure.reason.startswith("line 3: the row cannot be read")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("old_light.py", "# The Old Light\n\ndef lit(lamp):\n    # in 1863\n\n    return lamp\n"),
        ("deploy.yaml", "---\ntitle: x\nlamp: 1\n---\n# Heading\n\nlamp: 2"),
        ("Makefile", "# comment\n\nall: x\n\n# comment\n\n"),
    ],
)
def test_code_and_settings_stay_as_they_are(tmp_path, name, content):
    (found,) = load(tmp_path / name, content)
    assert isinstance(found, Document)
    assert found.title == name
    assert found.loader == "code"
    assert text(found) == content.strip()


def broken(content, *changes):
    """A workbook whose first sheet was changed by hand."""
    parts = {}
    with zipfile.ZipFile(BytesIO(content)) as file:
        for name in file.namelist():
            parts[name] = file.read(name)
    sheet = parts["xl/worksheets/sheet1.xml"].decode()
    for old, new in changes:
        assert re.search(old, sheet), sheet
        sheet = re.sub(old, new, sheet, count=1)
    return make.archive({**parts, "xl/worksheets/sheet1.xml": sheet})


@extra
def test_a_sheet_that_cannot_be_read_is_left_out_alone(tmp_path):
    rows = [["Name", "Year"], ["Ana", 1863], ["Bo", 1871]]
    bad = broken(make.xlsx(("One", rows), ("Two", [["Lamp"], ["Old"]])), ("<v>1871</v>", "<v>year</v>"))
    found, failure = load(tmp_path / "a.xlsx", bad)
    assert (
        text(found) == "One\n\n| Name | Year |\n|---|---|\n| Ana | 1863 |\n\nTwo\n\n| Lamp |\n|---|\n| Old |"
    )
    assert isinstance(failure, Failure)
    assert failure.part
    assert failure.reason.startswith("sheet 'One': what follows row 2 cannot be read")
