"""PowerPoint: the texts of slides in the order in which they are shown, with their tables and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from gsw_graph.loaders import numerals
from gsw_graph.loaders.ooxml import Parts, kind_of, marked, parse, relations, table, value
from gsw_graph.loaders.text import shifted
from gsw_graph.values import single_spaced, unique

_KIND = re.compile("(.*?)(Period|ParenR|ParenBoth|Plain)")
_BRACKETS = {"Period": "{}.", "ParenR": "{})", "ParenBoth": "({})", "Plain": "{}"}


def texts(parts: Parts) -> Iterator[str]:
    """Yield the texts of all slides."""
    for name in _names(parts):
        slide = parse(parts[name])
        if slide.get("show") in ("0", "false"):
            yield "(The next slide is hidden.)"
        yield from _shapes(slide)
        for kind, part in relations(parts, name).values():
            if kind == "notesSlide":
                lead = "notes: "
                for note in _shapes(parse(parts[part])):
                    yield lead + note
                    lead = ""


def _names(parts: Parts) -> list[str]:
    """Return the parts of the slides, in their order in the presentation if it has one."""
    links = relations(parts, "ppt/presentation.xml")
    names: list[str] = []
    shown = parse(parts["ppt/presentation.xml"]).iterfind("{*}sldIdLst/{*}sldId") if links else ()
    for element in shown:
        for key, link in element.attrib.items():
            # a slide has an id of its own, too
            if key.endswith("}id") and link in links:
                names.append(links[link][1])
    if names:
        return unique(names)
    numbers = {name: re.fullmatch(r"ppt/slides/slide(\d+)\.xml", name) for name in parts}
    numbered = [(int(match[1]), name) for name, match in numbers.items() if match]
    return [name for _, name in sorted(numbered)]


def paragraphs(element: Element, path: str) -> list[str]:
    """Return the texts of the paragraphs of DrawingML at a path below an element, with their numbers."""
    counts: dict[int, tuple[str, int]] = {}  # the kind and the last number of each level
    shown: list[str] = []
    for paragraph in element.iterfind(path):
        text = _plain_text(paragraph)
        if text:
            number = _number(paragraph, counts)
            shown.append(f"{number} {text}" if number else text)
    return shown


def _number(paragraph: Element, counts: dict[int, tuple[str, int]]) -> str:
    """Return the number that PowerPoint shows before a paragraph, "" if it has none; `counts` goes on."""
    level = _whole(value(paragraph.find("{*}pPr"), "lvl"), 0)
    for deeper in [other for other in counts if other > level]:
        del counts[deeper]
    numbering = paragraph.find("{*}pPr/{*}buAutoNum")
    if numbering is None:
        counts.pop(level, None)
        return ""
    kind = numbering.get("type", "")
    before, last = counts.get(level, (kind, 0))
    count = last + 1 if last and before == kind else _whole(numbering.get("startAt"), 1)
    counts[level] = kind, count
    form = _KIND.fullmatch(kind)
    if form is None:
        return f"{count}."
    return _BRACKETS[form[2]].format(numerals.POINT.get(form[1], str)(count))


def _whole(written: str | None, otherwise: int) -> int:
    return int(written) if written and re.fullmatch(r"[0-9]{1,5}", written) else otherwise


def _plain_text(paragraph: Element) -> str:
    """Return the text of a paragraph of DrawingML in a line; what is struck out is marked."""
    pieces: list[tuple[bool, str]] = []
    sign, struck = "", False
    for part in paragraph.iter():
        kind = kind_of(part)
        if kind in ("r", "fld"):
            properties = part.find("{*}rPr")
            baseline = (value(properties, "baseline") or "").strip("0%")
            sign = "^" if baseline else ""
            if baseline.startswith("-"):
                sign = "_"
            struck = (value(properties, "strike") or "noStrike") != "noStrike"
        elif kind == "t":
            text = part.text or ""
            pieces.append((struck, shifted(text, sign) if sign else text))
        elif kind in ("br", "p", "tab"):
            pieces.append((struck, " "))
    return single_spaced(marked(pieces))


def _shapes(element: Element) -> Iterator[str]:
    """Yield the texts of shapes, but for the numbers, dates and edges of pages."""
    for shape in element:
        kind = kind_of(shape)
        role = value(shape.find("{*}nvSpPr/{*}nvPr/{*}ph"), "type") or ""
        if kind == "sp" and role in ("title", "ctrTitle"):
            title = " ".join(paragraphs(shape, "{*}txBody/{*}p"))
            mark = "#" if role == "ctrTitle" else "##"
            yield f"{mark} {title}" if title else ""
        elif kind == "sp" and role not in ("sldImg", "sldNum", "hdr", "ftr", "dt"):
            yield from paragraphs(shape, "{*}txBody/{*}p")
        elif kind == "tbl":
            rows = [[_cell(cell) for cell in row.iterfind("{*}tc")] for row in shape.iterfind("{*}tr")]
            yield "\n".join(table(rows))
        elif kind not in ("sp", "Fallback"):  # the same again for older programs
            yield from _shapes(shape)


def _cell(cell: Element) -> str:
    return " ".join(paragraphs(cell, "{*}txBody/{*}p"))
