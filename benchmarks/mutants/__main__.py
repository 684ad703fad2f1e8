"""Put mistakes into programs that nobody tuned for, see which of them raise, and whether the dry run says so.

Usage:  mutants make FOLDER --sources FOLDER --libraries FOLDER [--seed N]
        mutants judge FOLDER [--only WORD] [--most N] [-v]

`make` copies each program of projects.toml from --sources (a folder `owner+name` for each), runs it and its mutants
(`truth.py`) and keeps those that raise, below FOLDER. `judge` lints those with and without their mistake:

    found      a finding by default names the line that raises, or the one that was changed
    remark     only with --select TL9
    elsewhere  a finding, at other lines
    silent     nothing, and what the dry run did not know first
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import tomllib

sys.path.insert(0, str(Path(__file__).parent))

from operators import Mutant, mutants

MOST = {"step": 9, "data": 8, "device": 6, "shape": 2}  # mistakes of a class that are tried in one program
SECONDS = 8
HERE = Path(__file__).parent


class Truth:
    """The process that runs programs."""

    def __init__(self, libraries: Path):
        environment = {**os.environ, "PYTHONPATH": str(libraries), "HOME": "/nonexistent", "MPLBACKEND": "Agg"}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "truth.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def run(self, source: Path, work: Path, program: dict, gpu: bool, changed: Any = None, traced=False) -> dict:
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(source, work)
        if changed is not None:
            (work / changed[0]).write_text(changed[1])
        task = {"folder": str(work), "script": program["script"], "argv": program.get("argv", []), "gpu": gpu}
        self.process.stdin.write(json.dumps({**task, "seconds": SECONDS, "traced": traced}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def make(options: argparse.Namespace) -> None:
    truth, found = Truth(options.libraries), []
    options.folder.mkdir(parents=True, exist_ok=True)
    for project in tomllib.loads((HERE / "projects.toml").read_text())["project"]:
        source = options.sources / project["name"].replace("/", "+")
        for program in project["programs"]:
            chance = random.Random(f"{options.seed} {project['name']} {program['script']}")
            found += made(truth, source, options.folder / "work", program, chance)
            (options.folder / "mutants.json").write_text(json.dumps(found))


def made(truth: Truth, source: Path, work: Path, program: dict, chance: random.Random) -> list[dict]:
    """The mutants of one program that raise."""
    only_gpu, found = program.get("gpu", False), []
    first = truth.run(source, work, program, only_gpu, traced=True)
    if first["error"] or first.get("died"):
        print(f"{source.name}/{program['script']} does not run: {first['error']}", flush=True)
        return []
    places: dict[str, list[tuple[str, Mutant]]] = defaultdict(list)
    for name, lines in first["lines"].items():
        path = Path(name).resolve().relative_to(work.resolve())
        text = (source / path).read_text()
        for mutant in mutants(text, set(lines)):
            places[mutant.kind].append((str(path), mutant))
    for kind, most in MOST.items():
        gpu = only_gpu or kind == "device"
        if kind == "device" and not (only_gpu or program.get("device")):
            continue
        for path, mutant in chosen(places[kind], most, chance):
            result = truth.run(source, work, program, gpu, (path, mutant.text))
            if result["error"] is None or not result["frames"] or "name 'torch' is not defined" in result["error"]:
                continue
            raising = os.path.relpath(os.path.realpath(result["frames"][-1][0]), os.path.realpath(work))
            found.append(
                {
                    "project": source.name,
                    "source": str(source),
                    "script": program["script"],
                    "path": path,
                    **mutant._asdict(),
                    "error": result["error"],
                    "raises": [raising, result["frames"][-1][1]],
                }
            )
    print(f"{source.name}/{program['script']}: {Counter(m['kind'] for m in found)}", flush=True)
    return found


def chosen(places: list[tuple[str, Mutant]], most: int, chance: random.Random) -> list[tuple[str, Mutant]]:
    """As many kinds of mistakes as there are, then more of each."""
    by_operator = defaultdict(list)
    for path, mutant in places:
        by_operator[mutant.operator].append((path, mutant))
    for waiting in by_operator.values():
        chance.shuffle(waiting)
    order = sorted(by_operator)
    chance.shuffle(order)
    found = []
    while len(found) < most and any(by_operator.values()):
        found += [by_operator[name].pop() for name in order if by_operator[name]]
    return found[:most]


def some(mutants: list[dict], most: int) -> list[dict]:
    """So many of each project, two thirds of them in step, data and device classes, in turns."""
    found = []
    for project in dict.fromkeys(m["project"] for m in mutants):
        kinds = [[m for m in mutants if m["project"] == project and m["kind"] == kind] for kind in MOST]
        for waiting in kinds:
            random.Random(0).shuffle(waiting)
        step, data, device, shape = kinds
        order = [m for group in zip_longest(step, data, device, step[len(step) // 2 :], shape) for m in group if m]
        found += list({m["text"]: m for m in order}.values())[:most]
    return found


class Verdict(NamedTuple):
    """What is said of one mutant: `state`, the code of the finding, and what was not known first."""

    state: str
    code: str
    reason: str


def judge(options: argparse.Namespace) -> None:
    from torchlint.config import Selection, Settings
    from torchlint.linter import Job, lint
    from torchlint.project import Project
    from torchlint.rule import load_rules

    rules = load_rules()
    settings = Settings(selections=(Selection(None, (), ("TL9",)),))
    originals: dict[Any, dict] = {}
    already: set[tuple] = set()  # lines at which an original raises, too

    def said(folder: Path, path: Path) -> tuple[dict, Any]:
        outcome = lint(path.read_text(), Job.of(str(path), settings, Project(folder), rules))
        found = {}
        for f in outcome.findings:
            lines = {(os.path.relpath(x.path, folder), x.span.line) for x in (f, *f.notes)}
            remark = f.code.startswith("TL9") and f.severity == "info"
            found[os.path.relpath(f.path, folder), f.span.line, f.code] = lines, remark, f.message
        return found, outcome.dry

    tally, reasons, work = defaultdict(Counter), Counter(), options.folder / "judged"
    waiting = json.loads((options.folder / "mutants.json").read_text())
    for mutant in waiting if options.most is None else some(waiting, options.most):
        title = f"{mutant['project']}/{mutant['path']}:{mutant['line']} {mutant['operator']}"
        if options.only not in title:
            continue
        source, files = Path(mutant["source"]), list(dict.fromkeys([mutant["script"], mutant["path"]]))
        for file in files:
            if (source, file) not in originals:
                originals[source, file], _ = said(source, source / file)
                for (path, line, code), (_, remark, message) in originals[source, file].items():
                    if code.startswith("TL9"):
                        already.add((source.name, path, line))
                        print(f"ORIGINAL {source.name}/{path}:{line} {code} {'remark ' * remark}{message}", flush=True)
        if (source.name, *mutant["raises"]) in already:
            continue
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(source, work)
        (work / mutant["path"]).write_text(mutant["text"])
        new, dry = {}, None
        for file in files:
            found, first = said(work, work / file)
            dry = dry or first
            new |= {k: v for k, v in found.items() if k not in originals[source, file]}
        verdict = state(mutant, new, dry)
        tally[mutant["kind"]][verdict.state] += 1
        if verdict.state == "silent":
            reasons[verdict.reason] += 1
        if options.verbose or verdict.state != "found":
            words = f"{mutant['error'][:110]!r} at {mutant['raises'][0]}:{mutant['raises'][1]}"
            print(
                f"{verdict.state:9} {mutant['kind']:6} {title} {verdict.code} | {words} | {verdict.reason}", flush=True
            )
    for kind, counts in tally.items():
        print(f"{kind}: {counts['found']} of {sum(counts.values())} found, {dict(counts)}")
    both = sum(tally.values(), Counter())
    print(f"all: {both['found']} of {sum(both.values())} found, {dict(both)}")


def state(mutant: dict, new: dict, dry: Any) -> Verdict:
    wanted = {tuple(mutant["raises"]), (mutant["path"], mutant["line"])}
    for remarks in (False, True):
        for (_, _, code), (lines, remark, _) in new.items():
            if remark == remarks and lines & wanted:
                return Verdict("remark" if remark else "found", code, "")
    others = [f"{code} {path}:{line} {text}" for (path, line, code), (_, remark, text) in new.items() if not remark]
    others = [o for o in others if not o.startswith("TL5")] or others
    if others:
        return Verdict("elsewhere", others[0], "")
    known = (dry or {}).get("unknowns") if isinstance(dry, dict) else None
    return Verdict("silent", "", "; ".join(known or {}) or "nothing that it did not know")


def main() -> None:
    parser = argparse.ArgumentParser()
    parts = parser.add_subparsers(dest="command", required=True)
    making = parts.add_parser("make")
    making.add_argument("folder", type=Path)
    making.add_argument("--sources", type=Path, required=True)
    making.add_argument("--libraries", type=Path, required=True)
    making.add_argument("--seed", type=int, default=0)
    judging = parts.add_parser("judge")
    judging.add_argument("folder", type=Path)
    judging.add_argument("--only", default="")
    judging.add_argument("--most", type=int, help="of each project")
    judging.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    make(options) if options.command == "make" else judge(options)


if __name__ == "__main__":
    main()
