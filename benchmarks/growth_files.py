"""How the cost of a project grows with its files: `python benchmarks/growth_files.py [--sizes 100 1000 10000]`.

Projects of so many files of the same kind: packages of fifty models each, which import layers from two other packages,
and a script that trains one of them. What counts is processor time of all processes together (the text world, cold);
the exponent says how much more than ten times a project of ten times as many files costs (1 is linear).
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACKAGE = 50
MODEL = """import torch
import torch.nn as nn
import torch.nn.functional as F
from lib.part{near} import Layer{near}x{k}
from lib.part{far} import Layer{far}x{k} as Other

class Layer{part}x{k}(nn.Module):
    def __init__(self, width=16, deep=False):
        super().__init__()
        self.inner = Layer{near}x{k}(width) if deep else nn.Linear(width, width)
        self.other = Other(width) if deep else nn.Identity()
        self.norm = nn.LayerNorm(width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x, mask=None):
        b, n, c = x.shape
        scores = (x @ x.transpose(1, 2)) * c**-0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        x = F.softmax(scores, dim=-1) @ self.norm(x)
        return self.other(self.drop(self.inner(x.view(b, n, c))))


def train(model, loader, epochs=3):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
"""


def write(folder: Path, files: int) -> None:
    parts = max(1, files // PACKAGE)
    for part in range(parts):
        package = folder / "lib" / f"part{part}"
        package.mkdir(parents=True)
        for k in range(PACKAGE):
            text = MODEL.format(part=part, k=k, near=(part + 1) % parts, far=(part + 7) % parts)
            (package / f"model{k}.py").write_text(text)
        imports = (f"from .model{k} import Layer{part}x{k}\n" for k in range(PACKAGE))
        (package / "__init__.py").write_text("".join(imports))
    (folder / "lib" / "__init__.py").write_text("")
    (folder / "train.py").write_text("from lib.part0.model0 import Layer0x0, train\n\ntrain(Layer0x0(), [])\n")


def seconds(folder: Path, jobs: int) -> tuple[float, float]:
    """Processor time of a run with all its workers, and wall clock."""
    command = [str(Path(sys.executable).parent / "torchlint"), "check", "--isolated", "--no-cache", "--no-dry-run"]
    start = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--exit-zero", "-q", f"--jobs={jobs}", str(folder)], stdout=subprocess.DEVNULL
    )
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    before: tuple[int, float] | None = None
    print("| files | processor seconds | wall clock | exponent |\n|--:|--:|--:|--:|")
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory() as scratch:
            write(Path(scratch), size)
            cost, wall = seconds(Path(scratch), arguments.jobs)
        exponent = math.log(cost / before[1]) / math.log(size / before[0]) if before else math.nan
        print(f"| {size:,} | {cost:.1f} | {wall:.1f} | {exponent:.2f} |", flush=True)
        before = size, cost


if __name__ == "__main__":
    main()
