"""Small documents made by hand, as the programs write them and as hostile people do."""

from __future__ import annotations

import io
import zipfile
import zlib
from types import MappingProxyType

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
POINT = "http://schemas.openxmlformats.org/presentationml/2006/main"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"


def archive(parts):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in parts.items():
            file.writestr(name, data)
    return stream.getvalue()


def pdf(*pages, title="", locked=False):
    """A PDF with a line of text for each string of a page."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Title ({title}) >>".encode(),
    ]
    kids = []
    for lines in pages:
        shown = "".join(f"({line}) Tj 0 -14 Td " for line in lines)
        content = f"BT /F1 12 Tf 60 750 Td {shown}ET".encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        kids.append(len(objects) + 1)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
            % len(objects)
        )
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (
        b" ".join(b"%d 0 R" % kid for kid in kids),
        len(kids),
    )
    if locked:
        objects.append(b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>" % (b"00" * 32, b"11" * 32))
    out = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    lock = b"/Encrypt %d 0 R /ID [<01> <01>] " % len(objects) if locked else b""
    trailer = b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R %s>>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        lock,
        len(out),
    )
    return out + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + trailer


def _relations(*targets):
    links = "".join(
        f'<Relationship Id="r{n}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(targets)
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>'


def docx_parts(body, **more):
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{s}"><w:name w:val="{n}"/></w:style>'
        for s, n in (("T", "Title"), ("H1", "heading 1"), ("H2", "heading 2"))
    )
    return {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": _relations(("officeDocument", "word/document.xml")),
        "word/_rels/document.xml.rels": _relations(("styles", "styles.xml"), ("image", "file:///etc/passwd")),
        "word/styles.xml": f'<w:styles xmlns:w="{WORD}">{styles}</w:styles>',
        "word/document.xml": f'<w:document xmlns:w="{WORD}" xmlns:r="{OFFICE}" xmlns:a="{DRAWING}"><w:body>{body}</w:body></w:document>',
        **{name.replace("__", "/"): data for name, data in more.items()},
    }


def paragraph(text, style=""):
    look = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{look}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def with_notes(body, *notes):
    """A Word document with footnotes, known by their numbers from 1."""
    written = "".join(
        f'<w:footnote w:id="{n}">{paragraph(note)}</w:footnote>' for n, note in enumerate(notes, 1)
    )
    parts = docx_parts(body)
    parts["word/_rels/document.xml.rels"] = _relations(("footnotes", "footnotes.xml"))
    return archive({**parts, "word/footnotes.xml": f'<w:footnotes xmlns:w="{WORD}">{written}</w:footnotes>'})


def docx(body, **more):
    return archive(docx_parts(body, **more))


def slide(*shapes):
    return f'<p:sld xmlns:p="{POINT}" xmlns:a="{DRAWING}"><p:cSld><p:spTree>{"".join(shapes)}</p:spTree></p:cSld></p:sld>'


def shape(*paragraphs, kind=""):
    place = f'<p:ph type="{kind}"/>' if kind else "<p:ph/>"
    text = "".join(f"<a:p><a:r><a:t>{words}</a:t></a:r></a:p>" for words in paragraphs)
    return f"<p:sp><p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody>{text}</p:txBody></p:sp>"


def cells(*rows):
    body = "".join(
        "<a:tr>"
        + "".join(
            f"<a:tc><a:txBody><a:p><a:r><a:t>{cell}</a:t></a:r></a:p></a:txBody></a:tc>" for cell in row
        )
        + "</a:tr>"
        for row in rows
    )
    return f"<p:graphicFrame><a:graphic><a:graphicData><a:tbl>{body}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"


def pptx(slides, times=1, more=MappingProxyType({})):
    """Slides by file name, shown in this order, each so many times. more: parts that the first points to, by kind."""
    ids = "".join(f'<p:sldId id="{256 + n}" r:id="r{n}"/>' for n in range(len(slides))) * times
    return archive(
        {
            "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"/>',
            "_rels/.rels": _relations(("officeDocument", "ppt/presentation.xml")),
            "ppt/presentation.xml": f'<p:presentation xmlns:p="{POINT}" xmlns:r="{OFFICE}"><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>',
            "ppt/_rels/presentation.xml.rels": _relations(*(("slide", f"slides/{name}") for name in slides)),
            **{f"ppt/slides/{name}": data for name, data in slides.items()},
            **{f"ppt/{kind}.xml": data for kind, data in more.items()},
            f"ppt/slides/_rels/{next(iter(slides))}.rels": _relations(
                *((kind, f"../{kind}.xml") for kind in more)
            ),
        }
    )


def xlsx(*sheets):
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _objects(*bodies):
    out = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(bodies, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start = len(out)
    return (
        out
        + b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1)
        + table
        + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(bodies) + 1, start)
    )


def _stream(content, more=b""):
    return b"<< %s /Length %d >>\nstream\n%s\nendstream" % (more, len(content), content)


def pdf_of(content):
    """A page with this content."""
    return _objects(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        _stream(content.encode("latin-1")),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )


def pdf_of_forms(depth, times=10, *, cycle=False):
    """A page that draws a form, which draws the next one so many times; the last draws the first again, or a word."""
    head = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"]
    head.append(
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /F 6 0 R >> >> >>"
    )
    head += [_stream(b"/F Do"), b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    forms = []
    for level in range(depth):
        last = level == depth - 1
        following = 6 if last else 7 + level
        drawn = b"BT /T 9 Tf (word) Tj ET" if last and not cycle else b"/F Do " * times
        kind = (
            b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /T 5 0 R >> /XObject << /F %d 0 R >> >>"
            % following
        )
        forms.append(_stream(drawn, kind))
    return _objects(*head, *forms)


def pdf_compressed_twice(size):
    """A page of a few hundred bytes whose content is so many bytes."""
    content = zlib.compress(zlib.compress(b"BT /T 9 Tf (w) Tj ET " * (size // 21), 9), 9)
    return _objects(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /Font << /T 5 0 R >> >> >>",
        _stream(content, b"/Filter [/FlateDecode /FlateDecode]"),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )


def changed(content, parts):
    """An archive with other parts."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        old = {name: file.read(name) for name in file.namelist()}
    return archive({**old, **parts})
