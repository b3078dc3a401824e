"""AsciiDoc, written as Markdown by rules: titles, blocks, admonitions, lists, tables, code, marks in a line.

Includes and comments are left out and counted. Conditions (`ifdef`) are not evaluated: their text is kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from gsw_graph.loaders import markdown
from gsw_graph.loaders.files import Converted, File, Item, left_out
from gsw_graph.loaders.text import decode

# The title, the author with an address or not, and the revision: a number, a date, a remark.
_HEADER = re.compile(
    r"(?:(?://.*|:[\w-]+:.*|[ \t]*)\n)*(= .+\n)((?P<author>[^\W\d_][^\n<:\[\]{}]{1,80})(?:<[^>\n]*>.*)?\n"
    r"(?:v?\d[\w.]{0,40}(?:,[ \t]*(?P<date>\d{4}-\d\d-\d\d))?.*\n)?)(?=\n|:[\w!-]+:|//|$)"
)
_ATTRIBUTE = re.compile(r":(!?[\w-]+!?):(?:[ \t]+(.*))?$")
_REFERENCE = re.compile(r"\{([\w-]+)\}")
_TITLE = re.compile(r"(={1,6})[ \t]+(\S.*)")
_BLOCK_TITLE = re.compile(r"\.([^\s.].*)")
_STYLE = re.compile(r"\[([^\[\]]*)\]$")
_ANCHOR = re.compile(r"\[\[[^\]]*\]\]$")
_FENCE = re.compile(r"(?:-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```.*|[|,:!]={3,})$")
_ITEM = re.compile(r"[ \t]*(\*{1,5}|-|\.{1,5}|<(?:\d+|\.)>|\d+\.)[ \t]+(.*)")
_CHECKED = re.compile(r"\[[ x*]\][ \t]+")
_DESCRIBED = re.compile(r"[ \t]*(\S.*?)(:{2,4}|;;)(?:[ \t]+(.*))?$")
_ADMONITION = re.compile(r"(NOTE|TIP|IMPORTANT|CAUTION|WARNING):[ \t]+(.*)")
_DIRECTIVE = re.compile(r"(include|ifdef|ifndef|ifeval|endif|toc|image|video|audio)::[^\s\[]*\[(.*)\]$")
_CALLOUT = re.compile(
    r"(?<![ \t])[ \t]*(?:(?://|#|--|;;|<!--)[ \t]*)?<(?:\d{1,3}|\.)>(?:-->)?"
    r"(?=[ \t]{0,40}(?:<(?:\d{1,3}|\.)>[ \t]{0,40}){0,20}$)"
)
_CELL = re.compile(r"(?:(?<=\s)|^)(?:[\d.]+[+*])?[<^>.]*[a-z]?\|")
# A title of two lines: a row of one character below it, which tells its level. Other lines are no such title.
_LEVELS = "=-~^+"
_UNDERLINE = re.compile(r"([=~^+-])\1{2,}$")
_UNTITLED = re.compile(r"[\s.<\[:|=]|[*-]+[ \t]|//|```|[\W_]*$")
_MOST_ATTRIBUTES = 20  # references that one line resolves
_MOST_VALUE = 1000  # characters of the value of an attribute
_MOST_GIVEN = 1_000_000  # characters that attributes put into a text
_MOST_MARKED = 4000  # characters of a line of which the marks are read
_MOST_DEPTH = 20  # blocks in blocks
_MOST_DIGITS = 3  # of a number of columns
_KINDS = frozenset({"NOTE", "TIP", "IMPORTANT", "CAUTION", "WARNING"})
_CHARACTERS = {
    "empty": "",
    "blank": "",
    "nbsp": " ",
    "sp": " ",
    "vbar": "|",
    "lt": "<",
    "gt": ">",
    "amp": "&",
    "plus": "+",
    "asterisk": "*",
    "backtick": "`",
    "startsb": "[",
    "endsb": "]",
    "cpp": "C++",
}
_LINK = r"(?:link:|(?<![\w/:])(?=(?:https?|ftp|mailto):))"
# Macros in a line, each with its form in Markdown. A group of the pattern is the text that is shown. What may
# begin anew before it ends is bounded: else a line of beginnings is read as often as it has them.
_MACROS = tuple(
    (re.compile(pattern), shown)
    for pattern, shown in (
        (
            r"\[\[[^\[\]\s]*\]\]|anchor:[\w-]+\[[^\]]{0,400}\]|\(\(\([^()]*\)\)\)|indexterm:\[[^\]]{0,400}\]",
            "",
        ),
        (r"\(\(([^()]+)\)\)", r"\1"),
        (r"<<[^<>,]*,\s*([^<>\s][^<>]*)>>", r"\1"),
        (r"<<#?([^<>,]+)>>", r"\1"),
        (r"xref:[^\s\[]{0,400}\[([^\]]{1,400})\]", r"\1"),
        (r"xref:([^\s\[]{0,400})\[\]", r"\1"),
        (rf"{_LINK}([^\s\[\]]{{1,1000}})\[([^\],^]{{1,400}})(?:[,^][^\]]{{0,400}})?\]", r"[\2](\1)"),
        (rf"{_LINK}([^\s\[\]]{{1,1000}})\[\]", r"<\1>"),
        (r"footnote:[^\s\[]{0,400}\[([^\]]{0,2000})\]", r" (\1)"),
        (
            r"(?:kbd|btn|menu|icon|stem|latexmath|asciimath|pass):[^\s\[]{0,400}\[([^\]]{0,400})\]",
            r"\1",
        ),
        (r"image:[^\s:\[][^\s\[]{0,400}\[([^\],]{0,400})(?:,[^\]]{0,400})?\]", r"\1"),
    )
)
# Marks in a line outside of code.
_MARKS = tuple(
    (re.compile(pattern), shown)
    for pattern, shown in (
        (r"\+\+\+?(.{1,400}?)\+\+\+?", r"\1"),
        (r"\[[.#\w-]*\]##?([^#]+)##?", r"\1"),
        (r"(?<![\w*])\*(?![\s*])([^*]+?)(?<!\s)\*(?![\w*])", r"**\1**"),
        (r'"`(.{1,400}?)`"', r"“\1”"),
        (r"'`(.{1,400}?)`'", r"‘\1’"),
        (r"`\+(.{1,400}?)\+`", r"`\1`"),
        (r"[ \t]\+$", r"\\"),
    )
)


def read(file: File) -> Iterator[Item]:
    """Yield the document of an AsciiDoc file, and the omissions."""
    contents = Converted(loader="asciidoc")
    text = decode(file).replace("\r\n", "\n")
    header = _HEADER.match(text)
    writer = _Writer(text[: header.start(2)] + text[header.end() :] if header else text, contents.left_out)
    contents.text = "\n".join(writer.markdown())
    known = writer.attributes
    author = known.get("author") or (header["author"].strip() if header else "")
    date = known.get("revdate") or (header["date"] if header else "")
    about = {"author": author, "date": date, "keywords": known.get("keywords")}
    contents.describe((name, value) for name, value in about.items() if value)
    yield from markdown.write(file, contents, marked=True)
    yield from left_out(file.name, contents.left_out)


class _Writer:
    """Writes an AsciiDoc text as Markdown, line by line.

    Args:
        text: The AsciiDoc text.
        left_out: Counts what is left out.

    Attributes:
        attributes: The values that the document gives to names (`:name: value`).
    """

    def __init__(self, text: str, left_out: Counter[str]) -> None:
        self._lines = text.split("\n")
        self._left_out = left_out
        self.attributes = dict(_CHARACTERS)
        self._style: list[str] = []  # of the block that comes next
        self._base = ""  # before each line of the block that is read
        self._indent = ""  # the same, and that of the last item of a list
        self._markers: list[str] = []  # of the lists around the last item
        self._ended = False  # whether a blank line came after the last item
        self._depth = 0  # of blocks around the line that is read
        self._given = 0  # characters that attributes put into the text

    def markdown(self) -> Iterator[str]:
        """Yield the lines of Markdown."""
        yield from self._written(self._lines)

    def _written(self, lines: list[str]) -> Iterator[str]:
        number = 0
        while number < len(lines):
            line = lines[number].rstrip()
            if title := self._underlined(lines, number):
                yield from self._line(title)
                number += 2
                continue
            if self._depth >= _MOST_DEPTH or not _FENCE.match(line):
                yield from self._line(line)
                number += 1
                continue
            self._end_list()
            closing = "```" if line.startswith("```") else line
            end = number + 1
            while end < len(lines) and lines[end].rstrip() != closing:
                end += 1
            yield from self._block(line, lines[number + 1 : end])
            self._style = []
            number = end + 1

    def _underlined(self, lines: list[str], number: int) -> str:
        """Return a title of two lines that begins at a line, as one of one line; empty if none does."""
        title, row = (line.rstrip() for line in [*lines[number : number + 2], ""][:2])
        before = lines[number - 1].strip() if number else ""
        if self._depth or not _UNDERLINE.match(row) or abs(len(title) - len(row)) > 1:
            return ""
        if before and not before.startswith("//") and not _ANCHOR.match(before):
            return ""
        if _UNTITLED.match(title) or _DESCRIBED.match(title) or _DIRECTIVE.match(title):
            return ""
        return f"={'=' * _LEVELS.index(row[0])} {title}"

    def _block(self, fence: str, lines: list[str]) -> Iterator[str]:
        """Yield a delimited block."""
        mark = fence[:4]
        if mark in ("////", "++++") or "comment" in self._style:
            self._left_out["comment" if mark != "++++" else "raw block"] += 1
            return
        yield ""
        if fence.endswith("===") and not fence.startswith("="):
            yield from self._table(lines)
        elif mark in ("----", "....") or fence.startswith("```"):
            language = self._style[1] if self._style[:1] == ["source"] and len(self._style) > 1 else ""
            yield f"{self._indent}```{language or fence.strip('`-.')}"
            for line in lines:
                if not self._is_directive(line.strip()):
                    code = line.rstrip()
                    yield self._indent + (_CALLOUT.sub("", code) if len(code) <= _MOST_MARKED else code)
            yield f"{self._indent}```"
        else:
            yield from self._inner(mark, lines)
        yield ""

    def _inner(self, mark: str, lines: list[str]) -> Iterator[str]:
        """Yield a block that holds blocks: an admonition or a quotation behind marks, others as they are."""
        kind = self._style[0] if self._style else ""
        base, indent, markers = self._base, self._indent, self._markers
        self._style, self._markers, self._ended = [], [], False
        if kind in _KINDS:
            yield f"{indent}> [!{kind}]"
        prefix = "> " if kind in _KINDS or mark == "____" else ""
        self._base = self._indent = f"{indent}{prefix}"
        self._depth += 1
        yield from self._written(lines)
        self._depth -= 1
        self._base, self._indent, self._markers = base, indent, markers

    def _line(self, line: str) -> Iterator[str]:
        """Yield what a line outside of code is in Markdown."""
        if line.startswith("//"):
            self._left_out["comment"] += 1
        elif attribute := _ATTRIBUTE.match(line):
            self.attributes[attribute[1].lower()] = self._resolved(attribute[2] or "")[:_MOST_VALUE]
        elif self._is_directive(line) or _ANCHOR.match(line):
            pass
        elif style := _STYLE.match(line):
            names = [name.strip().strip('"') for name in style[1].split(",")]
            self._style = [names[0].partition(".")[0].partition("#")[0].partition("%")[0], *names[1:]]
        elif title := _TITLE.match(line):
            self._indent, self._markers = self._base, []
            yield from ("", f"{'#' * len(title[1])} {self._inline(title[2])}", "")
        elif not line.strip():
            self._ended = True
            yield self._base.rstrip()
        elif line == "+":
            self._ended = False
            yield self._base.rstrip()
        elif line in ("'''", "<<<", "***", "---"):
            yield ""
        else:
            yield from self._paragraph(line)

    def _paragraph(self, line: str) -> Iterator[str]:
        """Yield a line of a paragraph, of a list, of an admonition, or the title of a block."""
        item = _ITEM.match(line)
        described = None if item else _DESCRIBED.match(line)
        if not item and not described and not line.startswith((" ", "\t")):
            self._end_list()
        if item:
            yield self._item(item[1], _CHECKED.sub("", item[2]))
        elif admonition := _ADMONITION.match(line):
            yield f"{self._indent}> [!{admonition[1]}]"
            yield f"{self._indent}> {self._inline(admonition[2])}"
        elif self._style and self._style[0] in _KINDS:
            yield f"{self._indent}> [!{self._style[0]}]"
            yield f"{self._indent}> {self._inline(line)}"
        elif title := _BLOCK_TITLE.match(line):
            yield from ("", f"{self._indent}**{self._inline(title[1])}**", "")
            return  # the style is the block's below
        elif described:
            yield self._item(
                described[2], f"**{self._inline(described[1])}**: {described[3] or ''}".rstrip(": ")
            )
        else:
            yield self._indent + self._inline(line.strip())
        self._style = []

    def _end_list(self) -> None:
        """Leave the list if a blank line, and no `+`, came after its last item."""
        if self._ended:
            self._indent, self._markers = self._base, []
        self._ended = False

    def _item(self, marker: str, text: str) -> str:
        """Return an item of a list, indented by the lists around it."""
        numbered = marker[0] in ".<" or marker[0].isdigit()
        kind = marker.strip("0123456789>") or marker
        if "<" in self._markers and kind != "<":
            self._markers = []  # a list of callouts holds no other
        if kind in self._markers:
            del self._markers[self._markers.index(kind) + 1 :]
        else:
            self._markers.append(kind)
        indent = self._base + "   " * (len(self._markers) - 1)
        self._indent, self._ended = f"{indent}   ", False
        mark = "1." if numbered else "-"
        return f"{indent}{mark} {self._inline(text)}"

    def _table(self, lines: list[str]) -> Iterator[str]:
        """Yield the rows of a table; the first row is the head."""
        rows, columns = self._cells(lines)
        if not rows:
            return
        columns = columns or len(rows)
        for start in range(0, len(rows), columns):
            cells = [self._inline(cell).replace("|", "\\|") for cell in rows[start : start + columns]]
            yield f"| {' | '.join(cells)} |"
            if start == 0:
                yield "|" + " --- |" * columns

    def _cells(self, lines: list[str]) -> tuple[list[str], int]:
        """Return the cells of a table, and how many a row has: as many as its first line has."""
        cells: list[list[str]] = []  # the text of each, by lines
        columns = 0
        for line in lines:
            further, *begun = (part.strip() for part in _CELL.split(line))
            if cells:
                cells[-1].append(further)
            cells += [[part] for part in begun]
            columns = columns or len(begun)
        widths = next((value for value in self._style if value.startswith("cols=")), "")
        if widths:
            named = widths.removeprefix("cols=").strip('"')
            count, star, _ = named.partition("*")
            position = self._style.index(widths)
            others = [value for value in self._style[position + 1 :] if "=" not in value]
            if not star:
                columns = 1 + len(others)
            elif count.isascii() and count.isdecimal() and len(count) <= _MOST_DIGITS:
                columns = int(count)
        return [" ".join(filter(None, cell)) for cell in cells], min(columns, len(cells))

    def _is_directive(self, line: str) -> bool:
        """Tell whether a line is a directive; what is left out with it is counted."""
        directive = _DIRECTIVE.match(line)
        if directive is None:
            return False
        name = directive[1]
        self._left_out["include"] += name == "include"
        self._left_out["picture"] += name in ("image", "video", "audio")
        return True

    def _inline(self, text: str) -> str:
        """Return a text with its marks in Markdown; code keeps its characters."""
        text = self._resolved(text)
        if len(text) > _MOST_MARKED:
            return text.strip()
        for pattern, shown in _MACROS:
            text = pattern.sub(shown, text)
        parts = re.split(r"(?<!\")(`[^`\"]+`)(?!\")", text)
        for position in range(0, len(parts), 2):
            for pattern, shown in _MARKS:
                parts[position] = pattern.sub(shown, parts[position])
        return "".join(parts).strip()

    def _resolved(self, text: str) -> str:
        """Return a text with the values of the attributes that it refers to."""
        return _REFERENCE.sub(self._value, text, _MOST_ATTRIBUTES)

    def _value(self, reference: re.Match[str]) -> str:
        """Return the value that a reference stands for; the reference if there is none, or they grow long."""
        value = self.attributes.get(reference[1].lower(), reference[0])
        self._given += len(value)
        return value if self._given <= _MOST_GIVEN else reference[0]
