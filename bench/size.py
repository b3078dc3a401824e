"""Print the size of the program: statements (docstrings not counted) and files of each package."""

import ast
import collections
from pathlib import Path

ROOT = Path(__file__).parents[1]


def statements(tree: ast.AST) -> int:
    """Count the statements of a module that are no docstrings."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    texts = [
        node
        for node in nodes
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    return len(nodes) - len(texts)


if __name__ == "__main__":
    sizes: dict[str, list[int]] = collections.defaultdict(list)
    for top in ("gsw_graph", "loaders", "cli"):
        for file in (ROOT / top).rglob("*.py"):
            parts = file.relative_to(ROOT).parts
            package = "/".join(parts[:2]) if top == "gsw_graph" and len(parts) > 2 else top
            sizes[package].append(statements(ast.parse(file.read_text(encoding="utf-8"))))
    total = sum(map(sum, sizes.values()))
    print(f"{total} statements in {sum(map(len, sizes.values()))} files:", end=" ")
    print(", ".join(f"{package} {sum(counts)}" for package, counts in sorted(sizes.items())))
