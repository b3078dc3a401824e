"""PDF, HTML, Word, PowerPoint and Excel: what is read of them, and that no broken or hostile one harms the rest."""

from __future__ import annotations

import os
import socket
from importlib.util import find_spec

import document_files as make
import pytest

from gsw_graph.loaders import converter, office, read, sheets
from gsw_graph.loaders.converter import convert
from gsw_graph.loaders.files import UnusableError
from gsw_graph.model.documents import Document, Failure, Skipped

if not os.environ.get("CI") and not all(map(find_spec, ("pypdfium2", "mammoth", "markdownify", "openpyxl"))):
    pytest.skip("needs the extra documents", allow_module_level=True)

LAMP = "Ana Ruiz lit the lamp of the Old Light in 1863."


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("a document made us open a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def load(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found, *left_out = read([str(path)])
    for item in left_out:
        assert isinstance(item, Skipped)
        assert item.part
    return found


def text(found):
    assert isinstance(found, Document), found
    return "\n\n".join(passage.text for passage in found.passages)


def reason(found):
    assert isinstance(found, Failure), found
    return found.reason


# --- what is read ---


def test_a_pdf_is_the_text_of_its_pages(tmp_path):
    content = make.pdf(
        ["The Old Light", LAMP], [], ["Its light-", "house keeper was Bo."], title="The old light"
    )
    found = load(tmp_path / "a.dat", content)  # known by content, not by name
    assert isinstance(found, Document)
    assert found.title == "The old light"
    assert found.loader == "pdf"
    assert found.source == (tmp_path / "a.dat").as_posix()
    assert text(found) == f"The Old Light\n{LAMP}\nIts lighthouse keeper was Bo."


def test_html_is_headings_text_and_tables(tmp_path):
    page = (
        "<!-- saved --><html><head><title>Site</title><style>p {x: y}</style></head><body><nav><a href='/'>Home</a></nav><h1>The <i>Old</i> Light</h1>"
        f"<p>{LAMP} <a href='http://x.y/z'>More</a> of snake_case_name &amp; 2 * 3 * 4.</p><script>alert('no')</script><h2>Keepers</h2>"
        "<table><tr><th>Name</th><th>Year</th></tr><tr><td>Bo <b>Lind</b></td><td>1871</td></tr></table><ul><li>one<li>two</ul><img src='http://x.y/z.png' alt='map'></body>"
    )
    found = load(tmp_path / "a", page)
    assert isinstance(found, Document)
    assert found.title == "The Old Light"
    assert found.loader == "html"
    assert text(found) == (
        f"{LAMP} More of snake_case_name & 2 * 3 * 4.\n\nKeepers\n\n| Name | Year |\n| --- | --- |\n| Bo Lind | 1871 |\n\n- one\n- two"
    )


def test_html_is_read_in_the_encoding_it_names(tmp_path):
    words = "Смотритель маяка"
    for n, codec in enumerate(["koi8-r", "windows-1251", "utf-16", "utf-8"]):
        found = text(load(tmp_path / f"{n}.html", f'<html><meta charset="{codec}"><p>{words}'.encode(codec)))
        assert found == words
    assert text(load(tmp_path / "wrong.html", f'<html><meta charset="koi8-r"><p>{words}'.encode())) == words
    assert (
        text(load(tmp_path / "jp.html", "<html><meta charset=iso-2022-jp><p>灯台守".encode("iso2022_jp")))
        == "灯台守"
    )
    for name in ("zip", "nonsense"):
        assert "encoding cannot be told" in reason(
            load(tmp_path / "a.html", f'<html><meta charset="{name}"><p>'.encode() + b"caf\xe9")
        )


def test_a_word_document(tmp_path):
    table = (
        "<w:tbl>"
        + "".join(
            f"<w:tr><w:tc>{make.paragraph(a)}</w:tc><w:tc>{make.paragraph(b)}</w:tc></w:tr>"
            for a, b in [("Name", "Year"), ("Bo", "1871")]
        )
        + "</w:tbl>"
    )
    image = '<w:p><w:r><w:drawing><a:blip r:link="r1"/></w:drawing></w:r></w:p>'
    body = (
        make.paragraph("The Old Light", "T")
        + make.paragraph(LAMP)
        + image
        + make.paragraph("Keepers", "H2")
        + table
    )
    found = load(tmp_path / "a.docx", make.docx(body, word__vbaProject_bin=b"macro"))
    assert isinstance(found, Document)
    assert found.title == "The Old Light"
    assert found.loader == "docx"
    assert [part for part in text(found).split("\n") if part and "---" not in part] == [
        LAMP,
        "Keepers",
        "|  |  |",
        "| Name | Year |",
        "| Bo | 1871 |",
    ]


# --- what is not ---


BROKEN = [
    (make.pdf([LAMP], locked=True), "locked with a password"),
    (make.pdf([LAMP])[:200], "a broken PDF file"),
    (b"%PDF-1.7\n%\xe2", "a broken PDF file"),
    (make.pdf([], []), "a PDF file of 2 pages without text, as scans are"),
    (b"PK\x03\x04 and nothing", "a broken zip archive or office document"),
    (make.docx(make.paragraph(LAMP))[:-40], "a broken zip archive or office document"),
    (
        make.archive({"a.txt": LAMP}),
        "a zip archive, which is not a supported format: unpack it and load the folder",
    ),
    (b"PK\x05\x06" + bytes(18), "a zip archive"),
    (
        make.archive({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<a/>"}),
        "an OpenDocument file",
    ),
    (
        make.archive({"[Content_Types].xml": "<a/>", "xl/workbook.bin": "x", "xl/styles.xml": "<a/>"}),
        "a binary Excel workbook",
    ),
    (make.docx("<w:p>"), "that is broken, or of a kind that is not understood (ParseError"),
    (make.docx(""), "without text"),
    (
        make.archive({"[Content_Types].xml": "<a/>", "xl/x.xml": "<a/>"}),
        "that is broken, or of a kind that is not understood",
    ),
    (
        make.archive({"[Content_Types].xml": "<a/>", "ppt/slides/slide1.xml": "no xml"}),
        "that is broken, or of a kind that is not understood",
    ),
    (b"<!DOCTYPE html><script>alert(1)</script>", "an HTML page without text"),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100),
        "an Office document of the old kind (.doc, .xls, .ppt) or with a password",
    ),
    (b"{\\rtf1 words}", "an RTF document"),
]


@pytest.mark.parametrize(("content", "why"), BROKEN, ids=range(len(BROKEN)))
def test_what_cannot_be_read_is_a_failure_and_the_rest_goes_on(tmp_path, content, why):
    (tmp_path / "a.bin").write_bytes(content)
    (tmp_path / "b.txt").write_text(LAMP)
    failure, document = read([str(tmp_path)])
    assert isinstance(failure, Failure)
    assert failure.source == (tmp_path / "a.bin").as_posix()
    assert why in failure.reason
    assert "\n" not in failure.reason
    assert text(document) == LAMP


@pytest.mark.parametrize("content", [make.pdf([LAMP])])
def test_without_the_extra_each_file_says_what_it_is_and_what_to_install(tmp_path, monkeypatch, content):
    monkeypatch.setattr(converter, "find_spec", lambda _: None)
    why = reason(load(tmp_path / "a", content))
    assert why.split(",")[0] in ("a PDF file", "an HTML page", "an Office document")
    assert why.endswith("which needs more to be read: pip install 'gswgraph[documents]'")


# --- what is hostile ---


@pytest.mark.parametrize("part", ["word/document.xml", "[Content_Types].xml"])
@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
def test_xml_entities_are_refused(tmp_path, part, codec):
    entities = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
    parts = make.docx_parts(make.paragraph("&b;&c;"))
    parts[part] = (entities + str(parts[part])).encode(codec)
    assert (
        reason(load(tmp_path / "a.docx", make.archive(parts)))
        == f"its part {part!r} defines XML entities, which no such document needs"
    )


def test_what_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    bomb = make.docx(make.paragraph(LAMP), word__a_xml="x", **{"word__b.xml": b"a" * (office.MOST + 1)})
    assert len(bomb) < office.MOST / 500
    assert reason(load(tmp_path / "a.docx", bomb)) == "its texts unpack to more than 64 MiB"
    fine = make.docx(make.paragraph(LAMP), **{"word__media__a.emf": b"a" * (office.MOST + 1)})
    assert text(load(tmp_path / "b.docx", fine)) == LAMP  # pictures are not unpacked
    monkeypatch.setattr(converter, "MOST", 100)
    assert "a document of more than 0 MiB" in reason(load(tmp_path / "c.docx", fine))


def test_cells_far_apart_do_not_fill_the_memory(tmp_path, monkeypatch):
    rows = [[None] * 16_383 + ["end"] for _ in range(5)]
    content = make.xlsx(("Wide", rows))
    assert text(load(tmp_path / "a.xlsx", content)).count("end") == 5
    monkeypatch.setattr(sheets, "_MOST_CELLS", 50_000)
    with pytest.raises(UnusableError, match="more than 50,000 cells, or far fewer and far apart"):
        convert("archive", content)


NOTED = '<w:p><w:r><w:t>Ana came.</w:t></w:r><w:r><w:footnoteReference w:id="1"/></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
AGAIN = {
    "pptx": make.pptx({"slide1.xml": make.slide(make.shape(LAMP))}, times=1000),
    "docx": make.with_notes(NOTED * 1000, LAMP, "Bo came."),
}


@pytest.mark.parametrize("kind", AGAIN)
def test_what_is_referred_to_again_and_again_is_written_once(tmp_path, kind):
    assert text(load(tmp_path / "a", AGAIN[kind])).count(LAMP) == 1


LONG = "word " * 1000
MUCH = {
    "pptx": make.pptx({f"slide{n}.xml": make.slide(make.shape(LONG)) for n in range(5)}),
    "xlsx": make.xlsx(("One string", [[LONG, LONG] for _ in range(5)])),
    "rows of a slide": make.pptx({"slide1.xml": make.slide(make.cells(("x",) * 100, *[("y",)] * 100))}),
    "rows of a sheet": make.xlsx(("Wide", [["x"] * 100, *[["y"] for _ in range(100)]])),
}


@pytest.mark.parametrize("kind", MUCH)
def test_what_a_document_may_become_is_bounded(tmp_path, monkeypatch, kind):
    assert isinstance(load(tmp_path / "a", MUCH[kind]), Document)
    monkeypatch.setattr(converter, "MOST_TEXT", 15_000)
    with pytest.raises(UnusableError, match="its text is longer than"):
        convert("archive", MUCH[kind])


def test_tags_within_each_other_without_end(tmp_path):
    assert text(load(tmp_path / "a.html", "<html>" + "<div>" * 20_000 + LAMP)) == LAMP
    nested = "<w:sdt><w:sdtContent>" * 3000 + make.paragraph(LAMP) + "</w:sdtContent></w:sdt>" * 3000
    found = load(tmp_path / "b.docx", make.docx(nested))
    assert isinstance(found, Document) or "nested too deeply" in found.reason
