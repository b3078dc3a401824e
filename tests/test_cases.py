"""Every input that once failed has a test, which has its number in its name: `pytest -k case_04`."""

from __future__ import annotations

import ast
import re
from pathlib import Path

NUMBERS = (
    *(1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 14, 15, 17, 18, 19, 21, 22, 24, 25, 27, 29),
    *range(30, 51),
)
_NUMBER = re.compile(r"case_(\d\d)(?!\d)")


def functions_of(source):
    """Yield the names of the test functions of a file, those of classes too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.name


def covered(folder):
    """Return the numbers of the cases that a test function has in its name."""
    numbers = set()
    for file in folder.rglob("test_*.py"):
        for name in functions_of(file.read_text(encoding="utf-8")):
            numbers.update(map(int, _NUMBER.findall(name)))
    return numbers


def test_every_case_has_a_test():
    missing = set(NUMBERS) - covered(Path(__file__).parent)
    assert not missing, f"no test function has case_NN of these in its name: {sorted(missing)}"


def test_a_number_counts_in_the_name_of_a_test_function_alone(tmp_path):
    text = "# case_01\ndef helper_case_02(): 'case_03'\nclass A:\n    def test_case_04_and_case_05(self): ...\nasync def test_case_06(): ...\ndef test_case_071(): ...\n"
    (tmp_path / "test_x.py").write_text(text)
    (tmp_path / "case_08.py").write_text("def test_case_08(): ...")
    assert covered(tmp_path) == {4, 5, 6}
