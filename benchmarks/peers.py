"""How fast torchlint is beside its peers, measured side by side in one run: `python benchmarks/peers.py [FOLDER…]`.

Every tool lints the same folders (without folders: the source packages of timm, transformers and vit-pytorch,
downloaded with pip). torchlint is the one of the Python that runs this file; the peers get environments of their own,
so that no tool pays for another's plugins. Times are the best of several rounds in which the tools take turns, wall
clock, process start included. TorchFix reads about a thousand lines a second: on a large package it lints a sample, and
its time is extrapolated by lines. The table says where.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("timm", "transformers", "vit-pytorch")
SAMPLE = 10_000  # lines of a package that TorchFix is given
# One tree at a time, as a linter holds them: many trees at once would be looked through for garbage again and again.
FLOOR = r"""
import ast, sys
for path in open(sys.argv[1]).read().split("\0"):
    ast.parse(open(path, "rb").read())
"""
# Python keeps the compiled modules of every tool, as it does for users.
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Tool(NamedTuple):
    name: str
    command: list[str]
    rounds: int
    scale: float = 1.0  # what a time is multiplied with, for a tool that lints a sample


class Measured(NamedTuple):
    seconds: float
    megabytes: float  # of its largest process


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, help="source packages; downloaded when none is named")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir(), "torchlint-benchmarks"))
    parser.add_argument("--best-of", type=int, default=3, metavar="N")
    parser.add_argument(
        "--dry-run", action="store_true", help="also time torchlint with the dry run, which needs torch"
    )
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    peers = environment(arguments.cache, "peers", "flake8", "ruff")
    torchfix = environment(arguments.cache, "torchfix", "torchfix")
    for folder in arguments.folders or [download(name, arguments.cache) for name in PACKAGES]:
        with tempfile.TemporaryDirectory() as scratch:
            compare(folder.resolve(), Path(scratch), peers, torchfix, arguments)


def compare(folder: Path, scratch: Path, peers: Path, torchfix: Path, arguments: argparse.Namespace) -> None:
    """Prints one package's table."""
    files = sorted(folder.rglob("*.py"))
    lines = {file: file.read_bytes().count(b"\n") for file in files}
    total = sum(lines.values())
    names = scratch / "files"
    names.write_text("\0".join(map(str, files)))
    step = max(1, round(total / SAMPLE))
    sample = files[::step]
    share = sum(lines[file] for file in sample) / total

    check = [
        str(Path(sys.executable).parent / "torchlint"),
        "check",
        "--isolated",
        "--exit-zero",
        "--output-format=json",
        "--extend-exclude=*.ipynb",  # which the peers do not read
    ]
    cold = [*check, "--no-cache", str(folder)]
    cached = [*check, "--no-dry-run", f"--cache-dir={scratch / 'cache'}", str(folder)]
    best = arguments.best_of
    tools = [
        Tool("`ast.parse` of every file (the floor)", [sys.executable, "-c", FLOOR, str(names)], best),
        Tool("torchlint, cold", [*cold, "--no-dry-run"], best),
        Tool("torchlint, cold, one worker", [*cold, "--no-dry-run", "--jobs=1"], best),
        Tool("torchlint, cached", cached, best + 1),
        Tool(
            "flake8 --select=F", [str(peers / "flake8"), "--isolated", "--select=F", "--exit-zero", str(folder)], best
        ),
        Tool(
            "ruff check --no-cache",
            [str(peers / "ruff"), "check", "--isolated", "--no-cache", "-eq", str(folder)],
            best,
        ),
        Tool("torchfix --select=ALL", [str(torchfix / "torchfix"), "--select=ALL", *map(str, sample)], 1, 1 / share),
    ]
    if arguments.dry_run:
        tools.append(Tool("torchlint, cold, with the dry run", cold, 1))

    print(
        f"\n{folder.name}: {len(files)} files, {total:,} lines; best of {best}, the dry run and torchfix once", end=""
    )
    print(f"; torchfix on every {step}th file ({share:.0%} of the lines), extrapolated" if step > 1 else "", end="\n\n")
    measured: dict[str, Measured] = {}
    for number in range(max(tool.rounds for tool in tools)):
        for tool in tools:  # in turns, so that a slow minute of the machine hits all of them
            if number < tool.rounds:
                now = run(tool)
                before = measured.get(tool.name, now)
                measured[tool.name] = Measured(min(before.seconds, now.seconds), max(before.megabytes, now.megabytes))

    unit, floor = measured["torchlint, cold"].seconds, measured[tools[0].name].seconds
    print("| tool | seconds | lines/s | × torchlint cold | × floor | MB |\n|--|--:|--:|--:|--:|--:|")
    for tool in tools:
        took = measured[tool.name]
        rate, ratio = total / took.seconds, took.seconds / unit
        above = took.seconds / floor
        print(f"| {tool.name} | {took.seconds:.2f} | {rate:,.0f} | {ratio:.3g} | {above:.2g} | {took.megabytes:.0f} |")
    fix, flake = measured["torchfix --select=ALL"].seconds, measured["flake8 --select=F"].seconds
    print(f"\ncold: {fix / unit:.0f} times faster than torchfix, {flake / unit:.1f} times faster than flake8 -F")
    print(f"cached: {fix / measured['torchlint, cached'].seconds:,.0f} times faster than torchfix")
    done = statistics([*cold, "--no-dry-run", "--statistics"])
    if done["files"] != len(files):
        sys.exit(f"torchlint linted {done['files']} of {len(files)} files: the times are of no use")
    rewritten, armed = done["rewritten_lines"] / done["lines"], done["armed_lines"] / done["lines"]
    print(f"libcst was given {rewritten:.1%} of the lines; files with an armed rule hold {armed:.1%}")
    spent = sorted(((rule["microseconds"], code) for code, rule in done["rules"].items()), reverse=True)
    all_of_them = sum(microseconds for microseconds, _ in spent)
    costly = ", ".join(
        f"{code} {microseconds / all_of_them:.1%} (of {done['rules'][code]['lines'] / done['lines']:.0%} of the lines)"
        for microseconds, code in spent[:5]
    )
    print(f"of the time of all rules, {all_of_them / 1e6:.1f} s in all workers: {costly}")


def run(tool: Tool) -> Measured:
    """One run of a tool: wall clock, and the memory of the largest process it started."""
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(tool.command, stdout=subprocess.DEVNULL, stderr=errors, env=COMPILED)
        seen, ended = [0.0], threading.Event()
        watcher = threading.Thread(target=watch, args=(process.pid, seen, ended))
        watcher.start()
        process.wait()
        seconds = time.perf_counter() - start
        ended.set()
        watcher.join()
        if process.returncode not in (0, 1):
            errors.seek(0)
            sys.exit(
                f"{' '.join(tool.command)[:200]} ended with {process.returncode}:\n{errors.read().decode()[-800:]}"
            )
    return Measured(seconds * tool.scale, max(seen))


def watch(process: int, seen: list[float], ended: threading.Event) -> None:
    """Notes the memory of a process and all that it started: a pool's workers are in no count of their parent."""
    while not ended.wait(0.05):
        seen += map(megabytes, family(process))


def family(process: int) -> list[int]:
    """A process and all that it started."""
    found = [process]
    for parent in found:
        try:
            for thread in os.listdir(f"/proc/{parent}/task"):
                found += map(int, Path(f"/proc/{parent}/task/{thread}/children").read_text().split())
        except OSError:
            continue
    return found


def megabytes(process: int) -> float:
    """The most memory a process has had so far."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0.0)


def statistics(command: list[str]) -> dict[str, int]:
    """The counts of a run of torchlint."""
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["run"]


def environment(cache: Path, name: str, *packages: str) -> Path:
    """The folder of commands of a virtual environment with these packages."""
    folder = cache / name
    if not (folder / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", *packages], check=True)
        (folder / "ready").touch()
    return folder / "bin"


def download(package: str, cache: Path) -> Path:
    """The source of a package from the index, without what it depends on."""
    folder = cache / "source" / package
    if not folder.exists():
        with tempfile.TemporaryDirectory() as scratch:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
            subprocess.run([*pip, "--dest", scratch, package], check=True)
            (wheel,) = Path(scratch).glob("*.whl")
            zipfile.ZipFile(wheel).extractall(folder)
    return folder / package.replace("-", "_")


if __name__ == "__main__":
    main()
