"""How the cost of linting a file grows with the file: each construct of the language at five sizes, and the exponent.

    python benchmarks/growth.py [PART OF A NAME …] [--dry] [--work fix] [--sizes 250,500,1000,2000,4000] [--limit 6]
                                [--rows FILE]

Costs are CPU seconds of a process of its own, less those of the same file with one line of the construct. The exponent
is that of the curve through the three largest sizes that cost enough to be measured: 1 is linear, 2 quadratic. A
construct is left once its curve is seen to be flat, or leads beyond the limit. The worst come first; exit code 1 if one
is above 1.3 or was not done within the limit. FILE gets each row as it comes, and what stands in it is not measured
again: a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from growth_expressions import EXPRESSIONS, NESTED, program
from growth_repeats import REPEATS
from growth_slips import SLIPS
from growth_statements import IN_FUNCTIONS, LEAVING, PLACES, STATEMENTS
from growth_structures import FILES, STRUCTURES, Files
from growth_training import TRAINING

SIZES = (250, 500, 1000, 2000, 4000)
SHORTEST = 0.02  # seconds; less is not measured well
STEEPEST = 1.3
FLAT = 1.1  # a part that is quadratic and does not show in this makes less than 1.2 of the next size

Row = tuple[float, dict[int, float], str]  # the exponent, CPU seconds by size, a note


def constructs() -> dict[str, Callable[[int], Files]]:
    """Every construct by its name: a function of n that gives the files of a program, the one to be linted first."""
    found: dict[str, Callable[[int], Files]] = {}
    for name, line in STATEMENTS.items():
        for place, build in PLACES.items():
            if name not in LEAVING or place in IN_FUNCTIONS:
                found[f"{name} ({place})"] = lambda n, line=line, build=build: {
                    "a.py": build([line(i) for i in range(1, n + 1)])
                }
    for name, text in {**EXPRESSIONS, **NESTED}.items():
        found[name] = lambda n, text=text: {"a.py": program(text(n))}
    for name, text in {**STRUCTURES, **TRAINING, **SLIPS, **REPEATS}.items():
        found[name] = lambda n, text=text: {"a.py": text(n)}
    return {**found, **FILES}


def written(files: Files, folder: Path) -> Path:
    """The files of a program on the disk; the path of the one to be linted."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / next(iter(files))


def work(kind: str, path: Path) -> None:
    """What is measured: `text` and `dry` lint with one world, `fix` fixes all that can be, `report` writes every
    report.
    """
    from torchlint.config import Settings
    from torchlint.linter import Job, fix_until_stable, lint
    from torchlint.project import Project

    settings = Settings(dry_run=kind == "dry", unsafe_fixes=True)
    text = path.read_text()
    if kind == "fix":
        fix_until_stable(text, Job.of(str(path), settings, Project(path.parent)), unsafe=True)
    elif kind == "report":
        from torchlint.frontends.cli import main
        from torchlint.reports import FORMATS

        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main(
                [
                    "check",
                    "--isolated",
                    "--no-cache",
                    "--no-dry-run",
                    "--write-baseline",
                    str(path.parent / "b.json"),
                    str(path),
                ]
            )
            for name in FORMATS:
                main(["check", "--isolated", "--no-cache", "--no-dry-run", "--output-format", name, str(path)])
    else:
        lint(text, Job.of(str(path), settings, Project(path.parent)))


def serve(kind: str, limit: float) -> None:
    """Measures what it is told on its input, a line of name and size each; a case over the limit ends the process."""
    gc.set_threshold(2_000_000, 20, 20)  # as workers have it: looking for garbage is no part of the growth
    made = constructs()
    out = os.fdopen(os.dup(1), "w")
    sys.stdout = open(os.devnull, "w")
    for line in sys.stdin:
        name, n = json.loads(line)
        with tempfile.TemporaryDirectory() as folder:
            path = written(made[name](n), Path(folder))
            gc.collect()
            signal.setitimer(signal.ITIMER_PROF, limit)
            start = time.process_time()
            try:
                work(kind, path)
                answer: object = time.process_time() - start
            except Exception as error:
                answer = f"{type(error).__name__}: {error}"[:100]
            signal.setitimer(signal.ITIMER_PROF, 0)
        out.write(json.dumps(answer) + "\n")
        out.flush()


class Worker:
    """A process that measures; another one takes its place when it dies."""

    def __init__(self, kind: str, limit: float):
        self.command = [sys.executable, __file__, "--serve", "--work", kind, "--limit", str(limit)]
        self.process: subprocess.Popen | None = None

    def ask(self, name: str, n: int) -> float | str | None:
        """CPU seconds, what was raised, or None if it takes longer than the limit."""
        if self.process is None:
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
            self.ask("numbers (file)", 1)  # what is paid once
        self.process.stdin.write(json.dumps([name, n]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            self.process.wait()
            self.process = None
            return None
        return json.loads(answer)

    def stop(self) -> None:
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


def exponent(costs: dict[int, float]) -> float:
    """The slope of log cost over log size, at the three largest sizes that can be measured; 0 if none can."""
    points = [(math.log(n), math.log(cost)) for n, cost in sorted(costs.items()) if cost >= SHORTEST][-3:]
    if len(points) < 2:
        return 0.0
    middle, height = (sum(column) / len(points) for column in zip(*points))
    return sum((x - middle) * (y - height) for x, y in points) / sum((x - middle) ** 2 for x, y in points)


def measured(name: str, sizes: list[int], worker: Worker, limit: float) -> Row:
    """Its exponent, or infinity where it was not done, its costs, and why there are no more."""
    base, costs = worker.ask(name, 1), {}
    for n in sizes:
        slope = exponent(costs)
        if sum(cost >= SHORTEST for cost in costs.values()) > 1:
            last, cost = max(costs.items())
            if slope < FLAT:
                return slope, costs, "flat"
            if cost * (n / last) ** slope > limit:
                return slope, costs, f"{n}: over the limit, as it grows"
        answer = worker.ask(name, n)
        if not isinstance(answer, float):
            return math.inf, costs, f"{n}: {answer or 'over the limit'}"
        costs[n] = answer - (base if isinstance(base, float) else 0.0)
    return exponent(costs), costs, ""


def kept(path: Path | None) -> dict[str, Row]:
    """The rows that a run before this one wrote."""
    lines = path.read_text().splitlines() if path and path.exists() else []
    rows = {}
    for name, slope, costs, note in map(json.loads, lines):
        rows[name] = (slope, {int(n): cost for n, cost in costs.items()}, note)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help="only constructs with one of these in their names")
    parser.add_argument("--dry", action="store_true", help="the dry run instead of the text world")
    parser.add_argument("--work", choices=("text", "dry", "fix", "report"), default="text")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--limit", type=float, default=6, help="CPU seconds for one file")
    parser.add_argument("--rows", type=Path, help="where rows are kept, each as it comes")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    kind = "dry" if chosen.dry else chosen.work
    if chosen.serve:
        serve(kind, chosen.limit)
        return 0
    names = [name for name in constructs() if not chosen.parts or any(part in name for part in chosen.parts)]
    sizes = sorted(map(int, chosen.sizes.split(",")))
    rows = kept(chosen.rows)
    worker = Worker(kind, chosen.limit)
    for done, name in enumerate(names, 1):
        if sys.stderr.isatty():
            print(f"\r{done}/{len(names)} {name}".ljust(100), end="", file=sys.stderr)
        if name not in rows:
            rows[name] = measured(name, sizes, worker, chosen.limit)
            if chosen.rows:
                with chosen.rows.open("a") as out:
                    out.write(json.dumps([name, *rows[name]]) + "\n")
    worker.stop()
    rows = {name: rows[name] for name in names}
    print(f"\n exponent  CPU seconds at n = {', '.join(map(str, sizes))}  ({kind})".ljust(70))
    for name, (slope, costs, note) in sorted(
        rows.items(), key=lambda row: (-row[1][0], -max(row[1][1].values(), default=0))
    ):
        print(f"{slope:9.2f}  {name:52} {' '.join(f'{cost:8.3f}' for cost in costs.values())}  {note}")
    steep = sum(slope > STEEPEST for slope, *_ in rows.values())
    print(f"{steep} of {len(rows)} constructs grow faster than n to the power of {STEEPEST}")
    return steep > 0


if __name__ == "__main__":
    raise SystemExit(main())
