"""PowerPoint: the texts of slides in the order in which they are shown, with their tables and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from gsw_graph.loaders import numerals
from gsw_graph.loaders.ooxml import Parts, kind_of, marked, parse, relations, table, value
from gsw_graph.loaders.text import shifted

_BRACKETS = {"Period": "{}.", "ParenR": "{})", "ParenBoth": "({})", "Plain": "{}"}


def texts(parts: Parts) -> Iterator[str]:
    """Yield the texts of all slides."""
    names = [name for name in parts if re.fullmatch(r"ppt/slides/slide\d+\.xml", name)]
    links = relations(parts, "ppt/presentation.xml")
    shown = parse(parts["ppt/presentation.xml"]).iterfind("{*}sldIdLst/{*}sldId") if links else ()
    # a slide has an id of its own, too
    ids = [value for element in shown for key, value in element.attrib.items() if key.endswith("}id")]
    by_number = sorted(names, key=lambda name: int(re.findall(r"\d+", name)[-1]))
    for name in dict.fromkeys([links[i][1] for i in ids if i in links] or by_number):
        slide = parse(parts[name])
        if slide.get("show") in ("0", "false"):
            yield "(The next slide is hidden.)"
        yield from _shapes(slide)
        for kind, part in relations(parts, name).values():
            if kind == "notesSlide":
                notes = list(_shapes(parse(parts[part])))
                yield from [f"notes: {notes[0]}", *notes[1:]] if notes else []


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
    properties = paragraph.find("{*}pPr")
    level = _whole(value(properties, "lvl"), 0)
    for deeper in [other for other in counts if other > level]:
        del counts[deeper]
    numbering = None if properties is None else properties.find("{*}buAutoNum")
    if numbering is None:
        counts.pop(level, None)
        return ""
    kind = numbering.get("type", "")
    before, last = counts.get(level, (kind, 0))
    count = last + 1 if last and before == kind else _whole(numbering.get("startAt"), 1)
    counts[level] = kind, count
    letters = next((write for name, write in numerals.POINT.items() if kind.startswith(name)), str)
    bracket = next((form for name, form in _BRACKETS.items() if kind.endswith(name)), "{}.")
    return bracket.format(letters(count))


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
            baseline = value(properties, "baseline") or "0"
            sign = "_" if baseline.startswith("-") else "^" if baseline.strip("0%") else ""
            struck = (value(properties, "strike") or "noStrike") != "noStrike"
        elif kind == "t":
            pieces.append((struck, shifted(part.text or "", sign) if sign else part.text or ""))
        elif kind in ("br", "p", "tab"):
            pieces.append((struck, " "))
    return " ".join(marked(pieces).split())


def _shapes(element: Element) -> Iterator[str]:
    """Yield the texts of shapes, but for the numbers, dates and edges of pages."""
    for shape in element:
        kind, place = kind_of(shape), shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
        role = "" if place is None else place.get("type", "")
        if kind == "sp" and role in ("title", "ctrTitle"):
            title = " ".join(paragraphs(shape, "{*}txBody/{*}p"))
            yield f"{'#' if role == 'ctrTitle' else '##'} {title}" if title else ""
        elif kind == "sp" and role not in ("sldImg", "sldNum", "hdr", "ftr", "dt"):
            yield from paragraphs(shape, "{*}txBody/{*}p")
        elif kind == "tbl":
            rows = [[_cell(cell) for cell in row.iterfind("{*}tc")] for row in shape.iterfind("{*}tr")]
            yield "\n".join(table(rows))
        elif kind not in ("sp", "Fallback"):  # the same again for older programs
            yield from _shapes(shape)


def _cell(cell: Element) -> str:
    return " ".join(paragraphs(cell, "{*}txBody/{*}p"))
