"""What the hostile programs of the tests cost beside the promise: 2 CPU seconds and 1 GB each, on a quiet machine.

    python benchmarks/hostile.py [PART OF A NAME …]

The tests allow more, because they must not fail on slow or busy machines; here the numbers themselves are shown, the
worst first, with the pace of the machine meanwhile (1.0 is the machine the promise was made on, quiet). Exit code 1 if
one is broken.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from test_hostile import GENERATED, HOSTILE, MEGABYTES, PROGRAMS, SECONDS, Worker


def main() -> int:
    chosen = [name for name in PROGRAMS if not sys.argv[1:] or any(part in name for part in sys.argv[1:])]
    rows, broken = [], 0
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(Path(folder))
        for name in chosen:
            answer = worker.lint(HOSTILE / f"{name}.py", GENERATED.get(name))
            if not isinstance(answer, dict):
                answer = {"seconds": float("inf"), "megabytes": 0.0, "pace": 0.0, "notices": [answer]}
            rows.append((answer["seconds"], answer["megabytes"], answer["pace"], name, "; ".join(answer["notices"])))
        worker.stop()
    print(" CPU s     MB  pace  program")
    for seconds, megabytes, pace, name, notices in sorted(rows, reverse=True):
        bad = seconds >= SECONDS or megabytes >= MEGABYTES
        broken += bad
        print(f"{seconds:6.2f} {megabytes:6.0f} {pace:5.2f}{'!' if bad else ' '} {name}  {notices[:90]}")
    print(f"{len(rows) - broken} of {len(rows)} programs within {SECONDS} CPU seconds and {MEGABYTES} MB")
    return broken > 0


if __name__ == "__main__":
    raise SystemExit(main())
