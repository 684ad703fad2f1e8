"""Break real models one number at a time and count how many the dry run notices.

Usage: mutations.py COUNT FOLDER… [--seed N] [--only PATH:LINE]

In each place the first argument of a Linear, Conv or LayerNorm grows by 3. A change *really fails* if the file, run
with the arguments and inputs with which it came to its end before, is refused by torch now, and no other inputs make it
run. Prints one line for each place:

    found       named at the changed line (the finding, or one of its notes, stands there)
    elsewhere   named, but at other lines
    missed      it really fails, and nothing is said
    fits        it fails with the sizes of before, and runs with others (a layer that takes the input of the model)
    runs        the changed layer ran, and nothing failed
    unseen      the changed layer never ran, so that nobody knows
"""

from __future__ import annotations

import argparse
import ast
import random
from collections import Counter
from pathlib import Path
from typing import Any

from torch import nn

from torchlint.project import Project
from torchlint.shapes.machine import machine
from torchlint.shapes.search import candidates, check
from torchlint.shapes.search.attempts import Solution

LAYERS = frozenset({"Linear", "Conv1d", "Conv2d", "Conv3d", "LayerNorm"})


def places(path: Path) -> list[ast.Call]:
    """The layers made in a file whose first argument is a number, as far as one sees."""
    try:
        tree = ast.parse(path.read_text())
    except (SyntaxError, UnicodeDecodeError):
        return []
    calls = [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) and n.args and isinstance(n.func, ast.Attribute) and n.func.attr in LAYERS
    ]
    return [c for c in calls if not isinstance(c.args[0], (ast.Starred, ast.Tuple, ast.List))]


def changed(text: str, node: ast.expr) -> str:
    """The text with 3 more at one argument."""
    lines = text.encode().split(b"\n")
    for line, column, inserted in (
        (node.end_lineno, node.end_col_offset, b") + 3"),
        (node.lineno, node.col_offset, b"("),
    ):
        lines[line - 1] = lines[line - 1][:column] + inserted + lines[line - 1][column:]
    return b"\n".join(lines).decode()


class Known(candidates.Attempt):
    """Runs of module classes that remember with what they came to their end, or repeat it."""

    solutions: dict[str, tuple[dict, dict]] = {}
    finished: set[str] = set()
    broken: set[str] = set()
    repeating = False

    def run(self) -> Any:
        name = self.machine.codes[self.kind].node.name
        if not self.repeating:
            failure = super().run()
            if self.ran is not None and self.ran.last.stopped is None:
                self.finished.add(name)
                self.solutions[name] = (self.built.assumed if self.built is not None else None, self.ran.assumed)
            return failure
        if name in self.solutions:
            self._repeat(name, *self.solutions[name])
        return None

    def _repeat(self, name: str, arguments: dict | None, inputs: dict) -> None:
        instance, _ = self.machine.instances.get(self.kind, (None, False))
        solvers = candidates.solve_constructor, candidates.solve_forward
        candidates.solve_constructor = lambda run, *_: _once(run, arguments or {})
        candidates.solve_forward = lambda run, *_: _once(run, inputs)
        try:
            if arguments is not None or instance is None:
                built = self._construct(second=False)
                if built.last.stopped == "torch":
                    self.broken.add(name)
                instance = built.last.detail
            if isinstance(instance, nn.Module) and self._forward(instance).last.stopped == "torch":
                self.broken.add(name)
        finally:
            candidates.solve_constructor, candidates.solve_forward = solvers


def _once(run: Any, assumption: dict) -> Solution:
    return Solution(assumption, run(assumption), False, {}, 1)


class Watched:
    """Notes which lines made a layer that was called."""

    lines: set[tuple[str, int]] = set()

    def __init__(self):
        self.call = machine.Machine.call_module

    def __enter__(self):
        def call(runner, module, args, kwargs):
            for part in module.modules():
                made = runner.made_at.get(id(part))
                if made is not None and made[1] is not None:
                    self.lines.add((made[1][0], made[1][1].line))
            return self.call(runner, module, args, kwargs)

        machine.Machine.call_module = call

    def __exit__(self, *_):
        machine.Machine.call_module = self.call


def faults(text: str, path: Path, folder: Path, repeating: bool = False) -> dict:
    """What the dry run says about a text, by place."""
    Known.repeating = repeating
    result = check.dry_run(text, str(path), Project(folder).view(path))
    return {(f.path, f.span.line, f.message): f for f in result.faults}


def judge(folder: Path, path: Path, call: ast.Call) -> tuple[str, list[int]]:
    """What becomes of one change."""
    text = path.read_text()
    Known.solutions, Known.finished, Known.broken = {}, set(), set()
    before = faults(text, path, folder)
    new_text = changed(text, call.args[0])
    Watched.lines = set()
    with Watched():
        scripted = [f for k, f in faults(new_text, path, folder, repeating=True).items() if k not in before]
    Known.finished, broken = set(), set(Known.broken)
    after = [f for k, f in faults(new_text, path, folder).items() if k not in before]
    lines = sorted({line for f in after for line in (f.span.line, *(n.span.line for n in f.notes if n.path == f.path))})
    if after:
        return ("found" if set(range(call.lineno, call.end_lineno + 1)) & set(lines) else "elsewhere"), lines
    if scripted or broken - Known.finished:
        return "missed", sorted(broken - Known.finished)
    if broken:
        return "fits", []
    return (
        "runs"
        if any(call.lineno <= line <= call.end_lineno for p, line in Watched.lines if p == str(path))
        else "unseen"
    ), []


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    check.Attempt = Known
    shares, chosen = max(1, options.count // len(options.folders)), random.Random(options.seed)
    tally: Counter[str] = Counter()
    for folder in options.folders:
        found = [(path, call) for path in sorted(folder.rglob("*.py")) for call in places(path)]
        found = [(p, c) for p, c in found if options.only in f"{p}:{c.lineno}"]
        for path, call in chosen.sample(found, min(shares, len(found))):
            state, lines = judge(folder, path.absolute(), call)
            tally[state] += 1
            print(f"{path}:{call.lineno} {state} {lines or ''}", flush=True)
    failing = tally["found"] + tally["elsewhere"] + tally["missed"]
    print(f"{tally['found']} of {failing} that really fail found, {tally['elsewhere']} at other lines; {dict(tally)}")


if __name__ == "__main__":
    main()
