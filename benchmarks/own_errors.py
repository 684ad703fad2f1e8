"""The dry run's own mistakes: exceptions out of its code instead of the program's, which hide whatever comes after.

    python benchmarks/own_errors.py FOLDER… [--seconds 600] [--most 40]

Dry-runs each file that says `torch`, and counts where in the dry run an exception began that it took for the
program's. Not each of them is a mistake: what is refused on purpose begins with `raise`, and is not shown.
"""

from __future__ import annotations

import argparse
import linecache
import time
from collections import Counter
from pathlib import Path
from types import TracebackType

import torchlint
from torchlint.project import Project
from torchlint.shapes.machine.going import Going
from torchlint.shapes.search.check import dry_run

_OWN = str(Path(torchlint.__file__).parent)
_HANDED_ON = "function(*args, **kwargs)"  # the call of what is torch's or Python's own


class Origins:
    """Where exceptions began, how often, and in which file one did so first."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, int, str, str]] = Counter()
        self.first: dict[tuple[str, int, str, str], str] = {}

    def add(self, error: BaseException, path: Path) -> None:
        frame = _last(error.__traceback__)
        if frame is None or not frame.tb_frame.f_code.co_filename.startswith(_OWN):
            return
        file, line = frame.tb_frame.f_code.co_filename, frame.tb_lineno
        code = linecache.getline(file, line).strip()
        if code.startswith("raise") or _HANDED_ON in code:
            return
        origin = (file.removeprefix(_OWN).lstrip("/"), line, type(error).__name__, code)
        self.counts[origin] += 1
        self.first.setdefault(origin, f"{path}: {error}"[:300])


def _last(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=600.0, help="when to stop")
    parser.add_argument("--most", type=int, default=40)
    given = parser.parse_args()
    origins, end = Origins(), time.monotonic() + given.seconds
    goes_on = Going.goes_on
    for folder in given.folders:
        project = Project(folder)
        for path in sorted(folder.rglob("*.py")):
            text = path.read_text(errors="replace") if path.is_file() else ""
            if "torch" not in text or time.monotonic() > end:
                continue

            def watched(going: Going, error: BaseException, path: Path = path) -> bool:
                origins.add(error, path)
                return goes_on(going, error)

            Going.goes_on = watched  # type: ignore[method-assign]
            dry_run(text, str(path), project.view(str(path)))
    for origin, count in origins.counts.most_common(given.most):
        file, line, kind, code = origin
        print(f"{count:>6}  {file}:{line}  {kind}  {code[:90]}\n          {origins.first[origin]}")


if __name__ == "__main__":
    main()
