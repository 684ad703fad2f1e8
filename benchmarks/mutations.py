"""Break real models one number at a time and count how many the dry run notices.

Usage: mutations.py COUNT FOLDER… In each place the first argument of a Linear, Conv or LayerNorm grows by 3. Prints how many of the changed files get a new fault, and how many
of these point at the changed line (the fault, or one of its notes, stands there). By hand; not every change makes a program fail.
"""

from __future__ import annotations

import ast
import random
import sys
from pathlib import Path

from torchlint.project import Project
from torchlint.shapes.check import dry_run

LAYERS = frozenset({"Linear", "Conv1d", "Conv2d", "Conv3d", "LayerNorm"})


def places(path: Path) -> list[ast.expr]:
    """The first arguments of the layers in a file."""
    try:
        tree = ast.parse(path.read_text())
    except (SyntaxError, UnicodeDecodeError):
        return []
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.args and not isinstance(n.args[0], ast.Starred)]
    return [c.args[0] for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr in LAYERS]


def changed(text: str, node: ast.expr) -> str:
    """The text with 3 more at one argument."""
    lines = text.split("\n")
    line = lines[node.end_lineno - 1].encode()
    lines[node.end_lineno - 1] = (line[: node.end_col_offset] + b" + 3" + line[node.end_col_offset :]).decode()
    return "\n".join(lines)


def faults(text: str, path: Path, project: Project) -> dict:
    """What the dry run says about a text, by place."""
    return {(f.path, f.span.line): f for f in dry_run(text, str(path), project.view(path)).faults}


def main(count: int, folders: list[Path]) -> None:
    found = [(folder, path, node) for folder in folders for path in sorted(folder.rglob("*.py")) for node in places(path)]
    noticed = pointed = 0
    sample = random.Random(0).sample(found, min(count, len(found)))
    for folder, path, node in sample:
        text, project = path.read_text(), Project(folder)
        new = {k: f for k, f in faults(changed(text, node), path, project).items() if k not in faults(text, path, project)}
        lines = {line for f in new.values() for line in (f.span.line, *(n.span.line for n in f.notes))}
        noticed += bool(new)
        pointed += node.lineno in lines or node.end_lineno in lines
        state = "missed" if not new else "pointed" if node.lineno in lines else f"elsewhere {sorted(lines)}"
        print(f"{path}:{node.lineno} {state}", flush=True)
    print(f"{noticed} of {len(sample)} noticed, {pointed} of them at the changed line")


if __name__ == "__main__":
    main(int(sys.argv[1]), [Path(a) for a in sys.argv[2:]])
