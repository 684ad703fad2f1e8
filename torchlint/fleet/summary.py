"""What a fleet's run says as a whole, in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from torchlint.fleet.linting import LEFT_OUT
from torchlint.fleet.running import Done
from torchlint.reports.markdown import in_table


def summary(done: Iterable[Done]) -> str:
    """Two tables: by repository and by rule."""
    done = list(done)
    rows = [
        (
            in_table(one.name),
            f"{one.files:,}",
            f"{one.lines:,}",
            f"{sum(one.counts.values()):,}",
            in_table(", ".join(f"{code} ×{number}" if number > 1 else code for code, number in one.counts.items())),
            f"{one.seconds:.1f}",
            in_table("; ".join((*one.failures, *(n for n in one.notices if n.startswith(LEFT_OUT))))),
        )
        for one in done
    ]
    found: Counter[str] = Counter()
    where: Counter[str] = Counter()
    for one in done:
        found.update(one.counts)
        where.update(one.counts.keys())
    rules = [
        (in_table(code), f"{number:,}", f"{where[code]:,}")
        for code, number in sorted(found.items(), key=lambda i: (-i[1], i[0]))
    ]
    tables = [
        _table(("Repository", "Files", "Lines", "Findings", "Rules", "Seconds", "Not done"), rows),
        _table(("Rule", "Findings", "Repositories"), rules) if rules else "No findings.\n",
    ]
    return "\n".join(tables)


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
