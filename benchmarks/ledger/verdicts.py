"""The ledger: one verdict for each finding that somebody has read, and what follows from them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from sources import Source

FIELDS = ("source", "version", "path", "cell", "line", "code", "verdict", "cause", "reason")
OPTIONAL = {"cell", "cause"}
VERDICTS = ("true", "harmless", "false")
LONGEST_REASON = 300

Key = tuple[str, str, str, int, int, str]


class WrongVerdict(Exception):
    """A verdict that does not say what a verdict must say."""


def key(record: dict) -> Key:
    """What a finding and its verdict share. Versions are pinned, so the place is exact."""
    place = (record["source"], record["version"], record["path"], record.get("cell") or 0, record["line"])
    return (*place, record["code"])


def read(path: Path) -> dict[Key, dict]:
    """Every verdict of a ledger."""
    if not path.exists():
        return {}
    verdicts = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for verdict in verdicts:
        complain(verdict)
    return {key(verdict): verdict for verdict in verdicts}


def write(path: Path, ledger: dict[Key, dict]) -> None:
    """One verdict a line, in the order of their places, so that two people's additions merge."""
    lines = [
        json.dumps({name: ledger[place][name] for name in FIELDS if name in ledger[place]}, ensure_ascii=False)
        for place in sorted(ledger)
    ]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def complain(verdict: dict) -> None:
    """Raises if a verdict is not whole."""
    shown = json.dumps(verdict, ensure_ascii=False)[:200]
    missing = set(FIELDS) - OPTIONAL - set(verdict)
    if missing or set(verdict) - set(FIELDS):
        raise WrongVerdict(f"a verdict has {', '.join(FIELDS)}: {shown}")
    if verdict["verdict"] not in VERDICTS:
        raise WrongVerdict(f"a verdict is one of {', '.join(VERDICTS)}: {shown}")
    reason = verdict["reason"]
    if not reason.strip() or "\n" in reason or len(reason) > LONGEST_REASON:
        raise WrongVerdict(f"one reason, in one line of at most {LONGEST_REASON} characters: {shown}")


def judged(text: str, sources: list[Source]) -> list[dict]:
    """The verdicts in JSON lines that name a listed source; without a version, the pinned one is meant."""
    versions = {source.name: source.version for source in sources}
    found = []
    for line in filter(str.strip, text.splitlines()):
        verdict = json.loads(line)
        if verdict.get("source") not in versions:
            raise WrongVerdict(f"no listed source: {line[:200]}")
        verdict.setdefault("version", versions[verdict["source"]])
        verdict = {name: value for name, value in verdict.items() if value or name not in OPTIONAL}
        complain(verdict)
        found.append(verdict)
    return found


def quotes(verdict: dict, file: Path) -> bool:
    """Whether a reason repeats the line it is about: the text of others stays out of the ledger."""
    if verdict.get("cell") or not file.is_file():
        return False
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    line = lines[verdict["line"] - 1].strip() if verdict["line"] <= len(lines) else ""
    return len(line) > 20 and line in verdict["reason"]


def is_misplaced(verdict: dict, file: Path) -> bool:
    """Has its cell no such line? The ledger counts code cells, and torchlint all of them."""
    if not verdict.get("cell") or not file.is_file():
        return False
    cells = [cell for cell in json.loads(file.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    meant = cells[verdict["cell"] - 1 : verdict["cell"]]
    return not meant or verdict["line"] > len("".join(meant[0]["source"]).splitlines())


def precision(verdicts: Iterable[dict]) -> str:
    """A Markdown table of how often each rule was right. Findings of a source that share a cause are one."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    causes: dict[str, set] = defaultdict(set)
    for verdict in verdicts:
        code = verdict["code"]
        counts[code][verdict["verdict"]] += 1
        causes[code].add((verdict["verdict"], verdict["source"], verdict.get("cause") or key(verdict)))
    lines = [
        "| rule | read | causes | true | harmless | false | true | true or harmless |",
        "|--|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for code in sorted(counts):
        lines.append(_row(code, sum(counts[code].values()), Counter(word for word, *_ in causes[code])))
    total = Counter(word for code in causes for word, *_ in causes[code])
    lines.append(_row("all", sum(sum(count.values()) for count in counts.values()), total))
    return "\n".join(lines)


def _row(name: str, read: int, causes: Counter[str]) -> str:
    total = sum(causes.values())
    true, right = causes["true"], causes["true"] + causes["harmless"]
    shares = [f"{share / total:.0%}" if total else "–" for share in (true, right)]
    numbers = [read, total, *(causes[word] for word in VERDICTS), *shares]
    return "| " + " | ".join([name, *map(str, numbers)]) + " |"
