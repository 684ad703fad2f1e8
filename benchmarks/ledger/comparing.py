"""How what two versions of torchlint say differs, as Markdown."""

from __future__ import annotations

from collections import Counter

from sources import Source
from verdicts import Key, key

SHOWN = 20  # of each rule, said newly or no more


def difference(base: dict[Source, list[dict]], head: dict[Source, list[dict]], ledger: dict[Key, dict]) -> str:
    """A table by rule, then the findings themselves with the verdicts they have."""
    both = [source for source in base if source in head]
    before = {key(finding): finding for source in both for finding in base[source]}
    after = {key(finding): finding for source in both for finding in head[source]}
    gone = {place: before[place] for place in sorted(before.keys() - after.keys())}
    new = {place: after[place] for place in sorted(after.keys() - before.keys())}
    if not gone and not new:
        return f"No finding differs in {len(both)} sources ({len(before)} findings)."
    counts = [Counter(finding["code"] for finding in side.values()) for side in (before, new, gone, after)]
    lines = [f"{len(new)} new findings, {len(gone)} gone, in {len(both)} sources.", ""]
    lines += ["| rule | base | new | gone | head |", "|--|--:|--:|--:|--:|"]
    codes = sorted(set(counts[1]) | set(counts[2]))
    for code in codes:
        lines.append(f"| {code} | " + " | ".join(str(count[code]) for count in counts) + " |")
    for code in codes:
        lines += ["", f"## {code}", ""]
        for word, side in (("new", new), ("gone", gone)):
            found = [(place, finding) for place, finding in side.items() if finding["code"] == code]
            lines += [f"- {word}: {described(finding, ledger.get(place))}" for place, finding in found[:SHOWN]]
            if len(found) > SHOWN:
                lines.append(f"- {word}: {len(found) - SHOWN} more")
    return "\n".join(lines)


def described(finding: dict, verdict: dict | None) -> str:
    """One finding in a line, with its verdict if it has one."""
    cell = f"cell {finding['cell']}:" if finding.get("cell") else ""
    where = f"{finding['source']} `{finding['path']}:{cell}{finding['line']}`"
    judged = f" ({verdict['verdict']}: {verdict['reason']})" if verdict else " (not read yet)"
    return f"{where} {finding['message']}{judged}"
