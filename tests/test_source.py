"""What CONTRIBUTING says of source files: one topic, up to 600 lines; imports at the top, unless there is a reason."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted(path for folder in ("gsw_graph", "loaders", "cli") for path in (ROOT / folder).rglob("*.py"))
# Packages that take long to import, and those of extras: functions that use them import them.
SLOW = (
    "anyio arcadedb_embedded huggingface_hub jpype neo4j numpy onnxruntime openai rich scipy sentence_transformers snowballstemmer tokenizers torch "
    "transformers watchfiles"
)
EXTRAS = "bs4 chardet mammoth markdownify openpyxl opentelemetry ray"
PACKAGES = {*SLOW.split(), *EXTRAS.split(), "resource"}  # the last is not on every system
# Where functions import modules of ours without a comment each: commands and `--help`, methods of `Memory`, searches of strategies, which `ask --help` lists.
STARTING = ("cli/", "gsw_graph/memory/", "gsw_graph/ask/retrieve/strategies/")


def inner_imports(path):
    """The lines and modules of imports inside functions."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import):
                    yield from ((node.lineno, name.name) for name in node.names)
                elif isinstance(node, ast.ImportFrom):
                    yield node.lineno, node.module


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_an_import_inside_a_function_has_its_reason(path):
    name = path.relative_to(ROOT).as_posix()
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 600
    for line, module in inner_imports(path):
        package = module.partition(".")[0]
        is_starting = package == "gsw_graph" and name.startswith(STARTING)
        commented = "#" in lines[line - 1] or lines[line - 2].lstrip().startswith("#")
        assert package in PACKAGES or is_starting or commented, f"{name}:{line} {module}"
