"""A dry run of two usual networks, constructor included, beside really making and running them once, on the CPU of this
machine.

    python benchmarks/dry_run.py [--best-of 5]

Both are measured in this process, in turns, in CPU seconds on one thread; the best of several counts. What is imported
or prepared once per process (torch itself, the first tensor of a dry run) is paid before.
"""

from __future__ import annotations

import argparse
import time

import torch

from torchlint.project import Project
from torchlint.shapes.search.check import dry_run

RESIDUAL = """
import torch
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, width, inner, stride=1):
        super().__init__()
        out = inner * 4
        self.one, self.norm1 = nn.Conv2d(width, inner, 1, bias=False), nn.BatchNorm2d(inner)
        self.two, self.norm2 = nn.Conv2d(inner, inner, 3, stride, 1, bias=False), nn.BatchNorm2d(inner)
        self.three, self.norm3 = nn.Conv2d(inner, out, 1, bias=False), nn.BatchNorm2d(out)
        self.short = nn.Identity()
        if stride != 1 or width != out:
            self.short = nn.Sequential(nn.Conv2d(width, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = torch.relu(self.norm1(self.one(x)))
        y = torch.relu(self.norm2(self.two(y)))
        return torch.relu(self.norm3(self.three(y)) + self.short(x))


class Residual(nn.Module):
    def __init__(self, depths=(3, 4, 6, 3)):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        )
        width, stages = 64, []
        for stage, depth in enumerate(depths):
            inner = 64 * 2**stage
            for block in range(depth):
                stages.append(Bottleneck(width, inner, 2 if stage and not block else 1))
                width = inner * 4
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(width, 1000)

    def forward(self, x):
        return self.head(self.stages(self.stem(x)).mean((2, 3)))


Residual()(torch.zeros(8, 3, 224, 224))
"""
TRANSFORMER = """
import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    def __init__(self, words=32000, width=768, heads=12, layers=12, length=512):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


Transformer()(torch.zeros(4, 512, dtype=torch.long))
"""


def seconds(work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--best-of", type=int, default=5)
    rounds = parser.parse_args().best_of
    torch.set_num_threads(1)
    view = Project("/nowhere").view("/nowhere/net.py")
    dry_run("import torch\nprint(torch.relu(torch.zeros(2)) @ torch.zeros(2))\n", "/nowhere/first.py", view)
    for name, text in (("ResNet-50", RESIDUAL), ("12 transformer layers", TRANSFORMER)):
        dry, real = [], []
        for number in range(rounds):
            new = f"{text}\n# {number}\n"  # a text that was not seen before is parsed and compiled anew
            outcome = []
            dry.append(seconds(lambda: outcome.append(dry_run(new, "/nowhere/net.py", view))))
            assert outcome[0].faults == () and outcome[0].notices == (), outcome
            with torch.no_grad():
                real.append(seconds(lambda: exec(compile(new, name, "exec"), {"__name__": "__main__"})))
        print(
            f"{name:22} dry {min(dry) * 1000:7.1f} ms   real {min(real) * 1000:8.1f} ms   {min(real) / min(dry):6.1f}"
            " times"
        )


if __name__ == "__main__":
    main()
