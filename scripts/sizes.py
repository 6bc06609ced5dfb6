"""Fails on a module over 200 lines or a function over 40: a file that outgrows this has two subjects."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

FILE, FUNCTION = 200, 40
ALLOWED = {"components/types.py": 400}  # the vocabulary is one file on purpose


def main() -> int:
    root = Path(__file__).parents[1]
    wrong = []
    for path in sorted([*root.glob("components/**/*.py"), *root.glob("runner/**/*.py")]):
        name = path.relative_to(root).as_posix()
        text = path.read_text("utf-8")
        lines = len(text.splitlines())
        if lines > ALLOWED.get(name, FILE):
            wrong.append(f"{name}: {lines} lines, at most {ALLOWED.get(name, FILE)}")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > FUNCTION:
                    wrong.append(f"{name}:{node.lineno}: {node.name} has {length} lines, at most {FUNCTION}")
    print("\n".join(wrong) or "sizes: ok")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
