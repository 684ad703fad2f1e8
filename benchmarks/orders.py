"""Whether what is said of one file depends on the files that were looked at before it: the same files in several
orders, in one process and in many.

    python benchmarks/orders.py FOLDER … [--orders 3] [--sample 300] [--settings]

Each order is a process of its own that lints all files one after the other; the last run gives each file to one of many
processes. With `--settings`, programs that change what torch holds for everybody are put among the files. Exit code 1
if a finding differs.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parent.parent
SETTINGS = ROOT / "fixtures" / "hostile" / "settings"


def said(paths: list[str]) -> dict[str, list]:
    """What is said of each file, linted in this order in this process."""
    from torchlint.linter import Job, lint
    from torchlint.project import Project

    found = {}
    projects: dict[str, Project] = {}
    for path in paths:
        folder = str(Path(path).parent)
        outcome = lint(Path(path).read_bytes(), Job.of(path, project=projects.setdefault(folder, Project(folder))))
        ran = [outcome.dry.get(name) for name in ("modules", "modules_run", "steps", "guessed_steps")]
        found[path] = [[f.code, f.span.line, f.span.column, f.message] for f in outcome.findings] + [
            list(outcome.notices),
            ran,
        ]
    return found


def apart(paths: list[str]) -> dict[str, list]:
    """The same from a process of its own."""
    child = subprocess.run(
        [sys.executable, __file__, "--child"], input=json.dumps(paths), capture_output=True, text=True
    )
    if child.returncode:
        sys.exit(f"a process ended with {child.returncode}: {child.stderr}")
    return json.loads(child.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--orders", type=int, default=3)
    parser.add_argument(
        "--sample", type=int, default=10**9, help="no more files than these, by chance but always the same"
    )
    parser.add_argument("--settings", action="store_true", help="put programs among them that change torch's settings")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child:
        print(json.dumps(said(json.load(sys.stdin))))
        return 0
    paths = sorted(str(path.resolve()) for folder in chosen.folders for path in Path(folder).rglob("*.py"))
    dice = random.Random(0)
    paths = sorted(dice.sample(paths, min(len(paths), chosen.sample)))
    changers = sorted(map(str, SETTINGS.glob("*.py"))) if chosen.settings else []
    orders = [paths, changers + paths[::-1]]
    while len(orders) < chosen.orders:
        orders.append(dice.sample(paths + changers, len(paths) + len(changers)))
    first, *others = map(apart, orders)
    parts = [paths[i::8] for i in range(8)]
    with ThreadPoolExecutor(2) as pool:
        others.append({path: one for answer in pool.map(apart, parts) for path, one in answer.items()})
    differing = [path for path in paths if any(other[path] != first[path] for other in others)]
    for path in differing:
        print(path)
        for answer in (first, *others):
            print("   ", answer[path])
    print(f"{len(paths)} files, {len(orders)} orders and 8 processes: {len(differing)} are judged otherwise")
    return bool(differing)


if __name__ == "__main__":
    raise SystemExit(main())
