"""Lints and fixes real notebooks, and looks whether anything but source lines has changed in their files.

python benchmarks/notebook_roundtrip.py FOLDER...
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from pathlib import Path
from time import perf_counter

from torchlint import linter
from torchlint.config import Settings
from torchlint.finding import Edit, Span
from torchlint.source.text.notebook import Notebook
from torchlint.source.text.notebook_json import NotebookError, read

SETTINGS = Settings(dry_run=False)


def frame(text: str) -> list[str]:
    """The file's text around the sources of its code cells, and of each cell that which must not change: none of it."""
    pieces, at = [], 0
    for cell in read(text).cells:
        if cell.kind == "code":
            pieces.append(text[at : cell.source.start])
            at = cell.source.end
    return [*pieces, text[at:]]


def changed_lines(before: str, after: str) -> tuple[int, int]:
    """Lines of the file that are different, and lines of the program that are."""
    old, new = before.split("\n"), after.split("\n")
    in_file = len([line for line in new if line not in set(old)])
    old, new = ("\n".join(map(str, Notebook.parse(text).sources)).split("\n") for text in (before, after))
    return in_file, len([line for line in new if line not in set(old)])


def scribble(text: str, rng: random.Random) -> str:
    """The notebook after edits at random places; checks that each cell reads as it should."""
    notebook = Notebook.parse(text)
    edits, wanted = [], list(notebook.sources)
    for number, source in enumerate(notebook.sources, 1):
        if source and rng.random() < 0.3:
            start = rng.randrange(len(source) + 1)
            end = min(len(source), start + rng.choice((0, 1, 20)))
            new = rng.choice(("", "é𝄞", "x\n", '"\\n"', "a\n    b\n"))
            ends = [(source.count("\n", 0, at) + 1, at - source.rfind("\n", 0, at)) for at in (start, end)]
            edits.append(Edit(Span(*ends[0], *ends[1]), new, number))
            wanted[number - 1] = source[:start] + new + source[end:]
    after = notebook.apply(edits)
    cells = [
        cell["source"] for cell in json.loads(after.removeprefix("\ufeff"))["cells"] if cell["cell_type"] == "code"
    ]
    # None stands for a cell of another language.
    assert all(want is None or "".join(source) == want for source, want in zip(cells, wanted, strict=True))
    return after


def main() -> None:
    rng = random.Random(3)
    counts: Counter[str] = Counter()
    started = perf_counter()
    for path in sorted(path for folder in sys.argv[1:] for path in Path(folder).rglob("*.ipynb")):
        text = path.read_bytes().decode()
        counts["notebooks"] += 1
        try:
            frame(text)
        except NotebookError as error:
            counts["refused"] += 1
            (finding,) = linter.lint(text, linter.Job.of(path, SETTINGS)).findings
            print(f"{path}:{finding.span.line}: {finding.code} {finding.message}")
            assert str(error) in finding.message
            continue
        notebook = Notebook.parse(text)
        outcome = linter.lint(text, linter.Job.of(path, SETTINGS))
        counts["findings"] += len(outcome.findings)
        for finding in outcome.findings:
            counts[finding.code] += 1
            line = notebook.lines(finding.cell)[finding.span.line - 1] if finding.cell else ""
            place = f"cell {finding.cell}:{finding.span.line}:{finding.span.column}"
            print(f"{path}:{place}: {finding.code} {line.strip()[:80]}")
        fixed, applied, rest = linter.fix_until_stable(text, linter.Job.of(path, SETTINGS), unsafe=True)
        counts["fixed"] += len(applied)
        if applied:
            assert fixed != text and frame(fixed) == frame(text)
            in_file, in_program = changed_lines(text, fixed)
            assert in_file <= in_program
            counts["changed lines"] += in_file
        else:
            assert fixed == text
        scribbled = scribble(text, rng)
        assert frame(scribbled) == frame(text)
        counts["scribbled"] += scribbled != text
    print(dict(counts), f"{perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
