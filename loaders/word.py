"""Word as the Markdown of a page, which mammoth makes of it.

What mammoth has no word for is written before: formulas as their text, text boxes after their paragraph, the
numbers that Word makes for clauses, list items and headings, and what is struck out by a style.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from gsw_graph.loaders import web
from gsw_graph.loaders.files import Converted, LeftOut
from gsw_graph.loaders.numbering import BULLETS, Numbering, Styles
from gsw_graph.loaders.ooxml import Parts, kind_of, number, packed, parse, value

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_NUMBERING = "word/numbering.xml"
# What mammoth leaves out together with the text in it.
_WRAPPERS = ("fldSimple", "dir", "bdo", "oMathPara", "rubyBase")


def read(parts: Parts, contents: Converted) -> None:
    """Read a Word document; see `Converted`."""
    import mammoth

    styles = Styles(parts.get("word/styles.xml"))
    numbering = Numbering(parts.get(_NUMBERING), styles)
    preparation = _Preparation(styles, numbering, contents.left_out)
    for name in parts:
        if re.fullmatch(r"word/(?:document|footnotes|endnotes)\.xml", name):
            parts[name] = preparation.prepared(parts[name])
    if _NUMBERING in parts:
        parts[_NUMBERING] = BULLETS
    result = mammoth.convert_to_html(
        packed(parts),
        style_map="p[style-name='Title'] => h1:fresh",
        include_embedded_style_map=False,
        convert_image=lambda _: [],  # an image may be a link to a file of this machine
        external_file_access=False,
    )
    about, meta = contents.about, contents.meta
    web.read_page(result.value, contents)
    contents.about, contents.meta = about, meta


class _Preparation:
    """Writes parts of a Word document anew, so that mammoth reads all that they say.

    Args:
        styles: Of the document.
        numbering: Of the document; it counts on from part to part.
        left_out: What is left out is counted there.
    """

    def __init__(self, styles: Styles, numbering: Numbering, left_out: LeftOut) -> None:
        self._styles, self._numbering, self._left_out = styles, numbering, left_out
        self._notes: set[str] = set()

    def prepared(self, data: bytes) -> bytes:
        """Return a part with formulas as their text, without hidden runs, and without all but one reference
        to a note, as the whole note would be written for each."""
        root = parse(data)
        _replace(root, _alternative)
        _replace(root, _unwrapped)
        _replace(root, _with_boxes_after)
        _replace(root, self._plain)
        for paragraph in [element for element in root.iter() if kind_of(element) == "p"]:
            self._mark_runs(paragraph)
            self._number(paragraph)
        return bytes(ElementTree.tostring(root, encoding="utf-8"))

    def _plain(self, child: Element) -> list[Element] | None:
        kind = kind_of(child)
        if kind == "oMath":
            self._left_out["layout of a formula"] += 1
            return [_run("".join(child.itertext()))]
        if kind in ("footnoteReference", "endnoteReference"):
            note = f"{kind} {value(child, 'id')}"
            is_first = note not in self._notes
            self._notes.add(note)
            return None if is_first else []
        if kind == "tr" and (skipped := number(child.find("{*}trPr/{*}gridBefore"), 0)):
            child.insert(1, _empty_cell(skipped))
        if kind == "moveFrom" and len(child):
            return []  # it stands in its new place too
        self._left_out["deleted text"] += kind == "del" and child.find(".//{*}delText") is not None
        self._left_out["embedded document"] += kind == "altChunk"
        return None

    def _mark_runs(self, paragraph: Element) -> None:
        """Take out hidden runs of a paragraph, and mark those that are struck out for mammoth."""
        style = value(paragraph.find("{*}pPr/{*}pStyle"))
        for parent in list(paragraph.iter()):
            for run in [child for child in parent if kind_of(child) == "r"]:
                if self._styles.is_on(run, style, "vanish"):
                    self._left_out["hidden text"] += any(text.text for text in run.iterfind(".//{*}t"))
                    parent.remove(run)
                elif any(self._styles.is_on(run, style, name) for name in ("strike", "dstrike")):
                    _strike(run)

    def _number(self, paragraph: Element) -> None:
        """Write the number of a paragraph before its text, and leave bullets to mammoth."""
        properties = paragraph.find("{*}pPr")
        label, level = self._numbering.label(paragraph)
        if properties is not None:
            for old in properties.findall("{*}numPr"):
                properties.remove(old)
        if label is None:
            return
        if not label:
            if properties is None:
                properties = ElementTree.SubElement(paragraph, f"{_W}pPr")
            bullet = ElementTree.SubElement(properties, f"{_W}numPr")
            ElementTree.SubElement(bullet, f"{_W}ilvl", {f"{_W}val": str(level)})
            ElementTree.SubElement(bullet, f"{_W}numId", {f"{_W}val": "1"})
        elif any(text.text for text in paragraph.iterfind(".//{*}t")):
            paragraph.insert(0 if properties is None else 1, _run(f"{label} "))


def _replace(root: Element, replacement: Callable[[Element], list[Element] | None]) -> None:
    """Replace elements below a root, the innermost first, by what a function gives; it gives None for those
    that stay."""
    for parent in reversed(list(root.iter())):
        for place, child in reversed(list(enumerate(parent))):
            new = replacement(child)
            if new is not None:
                parent[place : place + 1] = new


def _alternative(child: Element) -> list[Element] | None:
    """Return what newer programs read if it has text, else what older ones do."""
    if kind_of(child) != "AlternateContent":
        return None
    choice, fallback = child.find("{*}Choice"), child.find("{*}Fallback")
    has_text = choice is not None and choice.find(".//{*}txbxContent") is not None
    chosen = choice if has_text or fallback is None else fallback
    return [] if chosen is None else list(chosen)


def _unwrapped(child: Element) -> list[Element] | None:
    """Return what stands in an element that mammoth does not know."""
    kind = kind_of(child)
    if kind in _WRAPPERS:
        return list(child)
    if kind == "rt":  # how a word is pronounced
        return []
    if kind == "ruby":
        return [part for part in child if kind_of(part) == "r"]
    if kind == "cr":
        return [ElementTree.Element(f"{_W}br")]
    if kind == "fldChar" and (chosen := _chosen_entry(child)):
        return [_text(chosen), child]
    return None


def _chosen_entry(field: Element) -> str:
    """Return what is chosen in a drop-down field of a form, "" if it is none."""
    choices = field.find("{*}ffData/{*}ddList")
    if choices is None:
        return ""
    entries = [value(entry) or "" for entry in choices.iterfind("{*}listEntry")]
    chosen = number(choices.find("{*}result"), number(choices.find("{*}default"), 0))
    return entries[chosen] if chosen < len(entries) else ""


def _with_boxes_after(child: Element) -> list[Element] | None:
    """Return a paragraph, and after it what its text boxes say."""
    if kind_of(child) != "p":
        return None
    boxes = [box for box in child.iter() if kind_of(box) == "txbxContent"]
    blocks = [block for box in boxes for block in box]
    for box in boxes:
        box.clear()
    return [child, *blocks] if blocks else None


def _text(words: str) -> Element:
    text = ElementTree.Element(f"{_W}t", {_SPACE: "preserve"})
    text.text = words
    return text


def _run(words: str) -> Element:
    run = ElementTree.Element(f"{_W}r")
    run.append(_text(words))
    return run


def _empty_cell(width: int) -> Element:
    cell = ElementTree.Element(f"{_W}tc")
    properties = ElementTree.SubElement(cell, f"{_W}tcPr")
    ElementTree.SubElement(properties, f"{_W}gridSpan", {f"{_W}val": str(width)})
    return cell


def _strike(run: Element) -> None:
    """Mark a run as struck out in the one way that mammoth knows."""
    properties = run.find("{*}rPr")
    if properties is None:
        properties = ElementTree.Element(f"{_W}rPr")
        run.insert(0, properties)
    for old in properties.findall("{*}strike"):
        properties.remove(old)
    ElementTree.SubElement(properties, f"{_W}strike")
