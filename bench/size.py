"""Print the size of the program and end with an error if it is above the limits.

A statement is an `ast.stmt` node and an expression an `ast.expr` node, docstrings apart: neither line breaks nor
documentation count. Expressions are what a reader takes in.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_EXPRESSIONS = 161_900  # of the program
MOST_PER_STATEMENT = 5.8
MOST_TEST_EXPRESSIONS = 127_300
MOST_DOC_WORDS = 28_850


def count(files: list[Path]) -> tuple[int, int]:
    """Return the statements and expressions of files."""
    statements = expressions = 0
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            value = node.value if isinstance(node, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                expressions -= 1  # its text is an expression too
            elif isinstance(node, ast.stmt):
                statements += 1
            elif isinstance(node, ast.expr):
                expressions += 1
    return statements, expressions


def packages() -> dict[str, list[Path]]:
    """Return the files of each package of the program."""
    groups: dict[str, list[Path]] = {}
    for top in ("gsw_graph", "loaders", "cli"):
        for file in sorted((ROOT / top).rglob("*.py")):
            folders = file.relative_to(ROOT).parts[:-1]
            groups.setdefault("/".join(folders[:2]) if top == "gsw_graph" else top, []).append(file)
    return groups


def main() -> None:
    """Print all figures."""
    total_statements = total = 0
    for name, files in packages().items():
        statements, expressions = count(files)
        total_statements += statements
        total += expressions
        print(f"{name:20}{expressions:8,} expressions, {expressions / max(statements, 1):.1f} a statement")
    ratio = total / total_statements
    _, tests = count(list((ROOT / "tests").rglob("*.py")))
    words = sum(len(page.read_text(encoding="utf-8").split()) for page in (ROOT / "docs").rglob("*.md"))
    figures = [
        ("expressions of the program", total, MOST_EXPRESSIONS),
        ("expressions a statement", round(ratio, 2), MOST_PER_STATEMENT),
        ("expressions of the tests", tests, MOST_TEST_EXPRESSIONS),
        ("words of docs", words, MOST_DOC_WORDS),
    ]
    for name, figure, most in figures:
        print(f"{figure:,} {name}, at most {most:,}")
    if any(figure > most for _, figure, most in figures):
        sys.exit("The program grew above a limit of bench/size.py: take something away")


if __name__ == "__main__":
    main()
