"""The tables of torch names that stand outside of `torchlint/facts`: how many, how long, how much they share.

python benchmarks/name_tables.py [FOLDER] [-v]
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path

import torch
from torch import nn

HOMES = (torch, torch.Tensor, nn.functional, nn, nn.init, torch.linalg, torch.special, torch.optim, torch.cuda)
NAMES = {name for home in HOMES for name in dir(home) if not name.startswith("__")} | {"torch", "cpu"}
# Of NumPy, of torch's own operators below its functions, and what the dry run may import.
OTHERS = (
    "numpy.py",
    "numpy_algebra.py",
    "numpy_numbers.py",
    "numpy_pieces.py",
    "numpy_signals.py",
    "arrays.py",
    "autocast.py",
    "libraries/torch.py",
)


def last(word: str) -> str:
    return word.rsplit(".", 1)[-1].rstrip("()")


def tables(root: Path) -> list[tuple[str, list[str]]]:
    """The tables at the top of files: their place, and their words, at least half of which are names of torch."""
    found = []
    for path in sorted([*root.glob("torchlint/s*/**/*.py"), *root.glob("rules/*.py")]):
        for node in ast.parse(path.read_text()).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            value = getattr(node, "value", None)
            if target is None or value is None or any(map(str(path).endswith, OTHERS)):
                continue
            if ast.unparse(target) == "read_on":  # pages of torch's manual
                continue
            asked = {  # what is asked of the table is no table
                id(inner)
                for call in ast.walk(value)
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("named", "named_of")
                for inner in ast.walk(call)
            }
            texts = [
                part.value
                for part in ast.walk(value)
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and id(part) not in asked
            ]
            words = [word for text in texts for word in re.split(r"[\s|,]+", text) if word]
            if len(words) > 1 and 2 * sum(last(word) in NAMES for word in words) >= len(words):
                found.append((f"{path.relative_to(root)}:{ast.unparse(target)}", words))
    return found


def main() -> None:
    folders = [argument for argument in sys.argv[1:] if argument != "-v"]
    found = tables(Path(folders[0] if folders else "."))
    often = Counter(word for _, words in found for word in {last(word) for word in words})
    for place, words in found if "-v" in sys.argv else ():
        shared = sum(often[last(word)] > 1 for word in words)
        print(f"{len(words):4} words, {shared:3} of them elsewhere too: {place}")
    print(f"{len(found)} tables, {sum(len(words) for _, words in found)} words; `cuda` in {often['cuda']}")


if __name__ == "__main__":
    main()
