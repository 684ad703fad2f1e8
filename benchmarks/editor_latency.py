"""How long after a keystroke an editor shows diagnostics and shapes; the same edits for torchlint and its peers.

    python benchmarks/editor_latency.py [--keys 300]

Types lines into a training script of 1,000 lines, one key after the other, and waits for the diagnostics of each. Then
changes the width of a ResNet-50 and waits until its shapes are new. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from editor_client import Client

BIN = Path(sys.executable).parent
SERVERS = {
    "torchlint (text)": ([sys.executable, "-m", "torchlint", "server", "--stdio"], {"dryRun": False}),
    "torchlint (and dry run)": ([sys.executable, "-m", "torchlint", "server", "--stdio"], {}),
    "ruff server": ([str(BIN / "ruff"), "server"], {}),
    "pyrefly lsp": ([str(BIN / "pyrefly"), "lsp"], {"pyrefly": {"displayTypeErrors": "force-on"}}),
}
LINES = [
    "        logits = model(images.to(device))",
    "        loss = criterion(torch.softmax(logits, dim=1), labels)",
    "        total += loss.item() * images.size(0)",
    "        scheduler.step(); history['lr'].append(optimizer.param_groups[0]['lr'])",
    "        # the learning rate falls by half every ten epochs, é𝄞",
]

MODEL = '''

class Block{n}(nn.Module):
    """A residual block."""

    def __init__(self, channels=64, groups={g}):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, groups=groups, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, groups=groups, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(x + self.bn2(self.conv2(y)))


class Pictures{n}(torch.utils.data.Dataset):
    def __init__(self, folder, split="train", size=224):
        self.files = sorted(Path(folder, split).glob("*.npy"))
        self.labels = json.loads(Path(folder, f"{{split}}.json").read_text())
        self.size = size

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        picture = np.load(self.files[index]).astype(np.float32) / 255.0
        top = random.randrange(picture.shape[1] - self.size + 1)
        left = random.randrange(picture.shape[2] - self.size + 1)
        return torch.from_numpy(picture[:, top : top + self.size, left : left + self.size]), self.labels[index]


def options_{n}():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--folder", default="data")
    return parser.parse_args()
'''
TRAINING = """

def train_epoch_{n}(model, loader, optimizer, device, scheduler, history):
    criterion = nn.CrossEntropyLoss()
    model.train()
    total = 0.0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        logits = model(images)
        loss = criterion(logits, labels)
        loss.backward()
        optimizer.step()
        total += loss.item() * images.size(0)
    return total / len(loader.dataset)


@torch.no_grad()
def evaluate_{n}(model, loader, device):
    model.eval()
    correct = torch.zeros((), device=device)
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        correct += (model(images).argmax(1) == labels).sum()
    return correct.item() / len(loader.dataset)
"""
HEAD = """import argparse
import json
import random
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
"""
RESNET = """
import torch
from torch import nn

WIDTH = 64


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, width * 4, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(width * 4)
        self.short = nn.Identity()
        if stride != 1 or inputs != width * 4:
            self.short = nn.Sequential(nn.Conv2d(inputs, width * 4, 1, stride, bias=False), nn.BatchNorm2d(width * 4))

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        y = torch.relu(self.bn2(self.conv2(y)))
        return torch.relu(self.bn3(self.conv3(y)) + self.short(x))


class ResNet(nn.Module):
    def __init__(self, layers=(3, 4, 6, 3), classes=1000):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, WIDTH, 7, 2, 3), nn.BatchNorm2d(WIDTH), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        self.inputs = WIDTH
        self.layer1 = self.stage(WIDTH, layers[0])
        self.layer2 = self.stage(WIDTH * 2, layers[1], 2)
        self.layer3 = self.stage(WIDTH * 4, layers[2], 2)
        self.layer4 = self.stage(WIDTH * 8, layers[3], 2)
        self.fc = nn.Linear(WIDTH * 32, classes)

    def stage(self, width, blocks, stride=1):
        made = []
        for index in range(blocks):
            made.append(Bottleneck(self.inputs, width, stride if index == 0 else 1))
            self.inputs = width * 4
        return nn.Sequential(*made)

    def forward(self, x):
        x = self.stem(x)
        x = self.layer1(x)
        x = self.layer2(x)
        x = self.layer3(x)
        x = self.layer4(x)
        pooled = x.mean((2, 3))
        return self.fc(pooled)
"""


def script(lines: int = 1000) -> str:
    """A training script of a certain length, or a few lines less: models, data and options, and a loop now and then."""
    text = HEAD
    for number in range(lines):
        more = MODEL.format(n=number, g=2 ** (number % 4)) + (TRAINING.format(n=number) if number % 6 == 0 else "")
        if (text + more).count("\n") > lines:
            break
        text += more
    return text


def places(text: str) -> list[int]:
    """Lines (from 0) before which another line of a training loop may stand."""
    return [number for number, line in enumerate(text.split("\n")) if line.strip() == "loss.backward()"]


async def keystrokes(command: list[str], settings: dict, keys: int, root: Path) -> list[float]:
    """Seconds from each key to the diagnostics of the text with it."""
    text = script()
    path = root / "train.py"
    path.write_text(text)
    uri = path.as_uri()
    client = await Client.start(command, str(root), settings)
    client.open(uri, text)
    await client.until(lambda: uri in client.published)
    await asyncio.sleep(3)  # whatever a server does at first is not typing
    rng = random.Random(5)
    times: list[float] = []
    version = 1
    while len(times) < keys:
        at, line = rng.choice(places(text)), rng.choice(LINES)
        for column, key in enumerate(["\n", *line]):
            version += 1
            # The new line comes first; what is typed into it is counted in UTF-16 units.
            typed = len(line[: column - 1].encode("utf-16-le")) // 2 if column else 0
            place = (at, typed)
            started = perf_counter()
            client.edit(uri, version, place, place, key)
            await client.until(lambda: client.published[uri].get("version") == version)
            times.append(client.published_at[uri] - started)
            await asyncio.sleep(0.03)
        version += 1
        client.edit(uri, version, (at, 0), (at + 1, 0), "")
        await client.until(lambda: client.published[uri].get("version") == version)
    await client.stop()
    return times[:keys]


async def shapes(root: Path, rounds: int = 8) -> list[float]:
    """Seconds from an edit to the new shapes of a ResNet-50."""
    path = root / "resnet.py"
    path.write_text(RESNET)
    uri = path.as_uri()
    client = await Client.start(SERVERS["torchlint (text)"][0], str(root), {})
    client.open(uri, RESNET)
    line = RESNET.split("\n").index("WIDTH = 64")
    everything = {"start": {"line": 0, "character": 0}, "end": {"line": 1000, "character": 0}}
    times = []
    for number in range(-1, rounds):
        width = ("32", "64")[number % 2]
        started = perf_counter()
        if number >= 0:
            client.edit(uri, number + 2, (line, 8), (line, 10), width)
        while True:
            client.notices.clear()
            hints = await client.ask("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": everything})
            if any(hint["label"] == f": ~(B, {int(width) * 32})" for hint in hints or []):
                break
            await client.until(lambda: "workspace/inlayHint/refresh" in client.notices)
        if number >= 0:
            times.append(perf_counter() - started)
        await asyncio.sleep(0.5)
    await client.stop()
    return times


def report(name: str, times: list[float]) -> None:
    ordered = sorted(times)
    p50, p95 = statistics.median(ordered), ordered[int(len(ordered) * 0.95)]
    print(f"{name:28} {1000 * p50:8.1f} {1000 * p95:8.1f} {1000 * ordered[-1]:8.1f}   ({len(ordered)})")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=300)
    keys = parser.parse_args().keys
    print(f"{'milliseconds':28} {'p50':>8} {'p95':>8} {'max':>8}")
    for name, (command, settings) in SERVERS.items():
        if shutil.which(command[0]) is None:
            print(f"{name:28} not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                report(name, await keystrokes(command, settings, keys, Path(folder)))
            except TimeoutError as error:
                print(f"{name:28} {error}")
    with tempfile.TemporaryDirectory() as folder:
        report("edit to shapes, ResNet-50", await shapes(Path(folder)))


if __name__ == "__main__":
    asyncio.run(main())
