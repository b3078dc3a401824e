"""The numbers that Word makes by itself, for clauses, list items and headings: 2.2, (a), Article IV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from gsw_graph.loaders import numerals
from gsw_graph.loaders.ooxml import is_on, number, parse, value

_MOST_DEPTH = 20  # styles that are based on each other
_PLACE = re.compile(r"%([1-9])")
_LEVELS = range(9)
_LIST = "{*}pPr/{*}numPr/{*}numId"
_DEPTH = "{*}pPr/{*}numPr/{*}ilvl"
BULLETS = (
    '<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    '<w:abstractNum w:abstractNumId="1">'
    + "".join(f'<w:lvl w:ilvl="{level}"><w:numFmt w:val="bullet"/></w:lvl>' for level in _LEVELS)
    + '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>'
).encode()
"""A part with one list, of bullets."""


class Styles:
    """Read the styles of a Word document. A style inherits missing settings from its base style.

    Args:
        data: The part with the styles, None without one.
    """

    def __init__(self, data: bytes | None) -> None:
        self._styles: dict[str, Element] = {}
        self._default: Element | None = None
        for style in [] if data is None else parse(data).iterfind("{*}style"):
            self._styles[value(style, "styleId") or ""] = style
            if value(style, "type") == "paragraph" and value(style, "default") in ("1", "true"):
                self._default = style
        self._known: dict[tuple[str | None, str | None, str], bool] = {}

    def chain(self, name: str | None) -> Iterator[Element]:
        """Yield a style and its base styles; for an unknown style the usual style of paragraphs."""
        style = self._styles.get(name or "", self._default)
        for _ in range(_MOST_DEPTH):
            if style is None:
                return
            yield style
            style = self._styles.get(value(style.find("{*}basedOn")) or "")

    def is_on(self, run: Element, paragraph_style: str | None, name: str) -> bool:
        """Return whether a run has a property, of its own or by its style or that of its paragraph."""
        own = run.find(f"{{*}}rPr/{{*}}{name}")
        if own is not None:
            return is_on(own)
        style = value(run.find("{*}rPr/{*}rStyle"))
        key = style, paragraph_style, name
        if key not in self._known:
            styles = [*(self.chain(style) if style else ()), *self.chain(paragraph_style)]
            self._known[key] = is_on(_nearest(styles, f"{{*}}rPr/{{*}}{name}"))
        return self._known[key]


def _nearest(styles: Iterable[Element], path: str) -> Element | None:
    """Return the property at a path of the first style that has it."""
    for style in styles:
        found = style.find(path)
        if found is not None:
            return found
    return None


@dataclass(slots=True)
class _Level:
    """A level of a list: how its numbers are written, and when they begin anew."""

    format: str = "decimal"
    text: str = ""
    start: int = 1
    restarts_after: int | None = None
    is_legal: bool = False
    style: str | None = None

    def write(self, count: int) -> str:
        """Return a number as it is shown."""
        return numerals.WORD.get(self.format, str)(count)


@dataclass(slots=True)
class _List:
    """A list: its levels, the counts that it shares with others, and those that it begins anew."""

    levels: dict[int, _Level] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)


class Numbering:
    """The lists of a Word document, which count as its paragraphs are read in order.

    Args:
        data: The part that holds them, None if there is none.
        styles: Of the document; a style may number its paragraphs.
    """

    def __init__(self, data: bytes | None, styles: Styles) -> None:
        self._styles = styles
        self._lists: dict[str, _List] = {}
        root = None if data is None else parse(data)
        if root is None:
            return
        shared: dict[str | None, _List] = {}
        by_style: dict[str | None, _List] = {}
        abstracts = root.findall("{*}abstractNum")
        for abstract in abstracts:
            numbers = _List(_levels(abstract))
            shared[value(abstract, "abstractNumId")] = numbers
            by_style[value(abstract.find("{*}styleLink"))] = numbers
        for abstract in abstracts:
            linked = value(abstract.find("{*}numStyleLink"))
            if linked in by_style and linked:
                shared[value(abstract, "abstractNumId")] = by_style[linked]
        for num in root.iterfind("{*}num"):
            base = shared.get(value(num.find("{*}abstractNumId")), _List())
            own = _List(dict(base.levels), base.counts)
            for override in num.iterfind("{*}lvlOverride"):
                own.levels.update(_levels(override))
                start = override.find("{*}startOverride")
                if start is not None:
                    own.starts[_whole(value(override, "ilvl"))] = number(start, 1)
            self._lists[value(num, "numId") or ""] = own

    def label(self, paragraph: Element) -> tuple[str | None, int]:
        """Return the number of the next paragraph with its level: None for no number, "" for a bullet."""
        place = self._place(paragraph)
        if place is None:
            return None, 0
        numbers, depth = place
        level = numbers.levels.get(depth)
        if level is None or _is_gone(paragraph):
            return None, 0
        if level.format == "bullet":
            return "", depth
        _count(numbers, depth)
        return _shown(numbers, level) or None, depth

    def _place(self, paragraph: Element) -> tuple[_List, int] | None:
        """Return the list of a paragraph and its level there, by itself or by its style."""
        name = value(paragraph.find("{*}pPr/{*}pStyle"))
        list_id = value(paragraph.find(_LIST))
        depth = value(paragraph.find(_DEPTH))
        style_id = style_depth = None
        for style in self._styles.chain(name):
            if style_id is None:
                style_id = value(style.find(_LIST))
                style_depth = style_depth or value(style.find(_DEPTH))
        numbers = self._lists.get(list_id or style_id or "")
        if numbers is None:
            return None
        if depth is None and name:
            for of_style, level in numbers.levels.items():
                if level.style == name:
                    return numbers, of_style
        return numbers, _whole(depth or style_depth)


def _whole(written: str | None) -> int:
    return int(written) if written and re.fullmatch("[0-9]", written) else 0


def _levels(element: Element) -> dict[int, _Level]:
    """Return the levels of a list, by their depth."""
    levels: dict[int, _Level] = {}
    for part in element.iterfind("{*}lvl"):
        level = _Level()
        level.format = value(part.find("{*}numFmt")) or level.format
        level.text = value(part.find("{*}lvlText")) or ""
        level.start = number(part.find("{*}start"), 1)
        level.is_legal = is_on(part.find("{*}isLgl"))
        level.style = value(part.find("{*}pStyle"))
        restart = part.find("{*}lvlRestart")
        if restart is not None:
            level.restarts_after = number(restart, 0)
        levels[_whole(value(part, "ilvl"))] = level
    return levels


def _is_gone(paragraph: Element) -> bool:
    """Return whether a paragraph was deleted or moved: what it holds then belongs to the next."""
    deleted = paragraph.find("{*}pPr/{*}rPr/{*}del")
    moved = paragraph.find("{*}pPr/{*}rPr/{*}moveFrom")
    return deleted is not None or moved is not None


def _count(numbers: _List, depth: int) -> None:
    """Count a paragraph, and let deeper levels begin anew."""
    counts, level = numbers.counts, numbers.levels[depth]
    if depth in numbers.starts:
        counts[depth] = numbers.starts.pop(depth)
    else:
        counts[depth] = counts[depth] + 1 if depth in counts else level.start
    for deeper in [other for other in counts if other > depth]:
        after = None
        if deeper in numbers.levels:
            after = numbers.levels[deeper].restarts_after
        if after is None or depth < after:
            del counts[deeper]


def _shown(numbers: _List, level: _Level) -> str:
    """Return the number of the paragraph that was counted last, as its level writes it."""

    def write(place: re.Match[str]) -> str:
        depth = int(place[1]) - 1
        part = numbers.levels.get(depth, _Level())
        count = numbers.counts.get(depth, part.start)
        return str(count) if level.is_legal else part.write(count)

    return _PLACE.sub(write, level.text).strip()
