"""The page of style in CONTRIBUTING.md: of each pair, what stands after is what the code has."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def one_line(text):
    return " ".join(text.split())


def test_the_second_of_each_pair_is_in_the_code():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    style = page.partition("## Style")[2].partition("\n## ")[0]
    blocks = [
        one_line(code or sentence)
        for code, sentence in re.findall(
            r"^```text\n(.*?)^```$|^> ([^\n]*)$", style, re.MULTILINE | re.DOTALL
        )
    ]
    assert len(blocks) == 16
    files = [file for top in ("gsw_graph", "loaders", "cli") for file in (ROOT / top).rglob("*.py")]
    code = "\n".join(one_line(file.read_text(encoding="utf-8")) for file in files)
    assert [after for after in blocks[1::2] if after not in code] == []
    assert [before for before in blocks[::2] if before in code] == []
