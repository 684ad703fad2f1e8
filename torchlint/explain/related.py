"""Which findings have to do with a failure."""

from __future__ import annotations

from torchlint.explain.known import known
from torchlint.explain.places import ProjectLine
from torchlint.explain.traceback import TracedError
from torchlint.finding import Finding

_MOST = 3


def related(findings: list[Finding], lines: list[ProjectLine], failed: TracedError) -> list[Finding]:
    """Those in which torch says the same; else those at a line that the failure went through; else those of the rules
    that look for such a failure.
    """
    said = " ".join(failed.message.split())
    row = known(failed.message)
    codes = row.rules if row else ()
    through = {(place.path, place.line) for place in lines}

    def same(finding: Finding) -> bool:
        quoted = " ".join(finding.help.split()).removeprefix("torch says: ")
        return bool(quoted) and bool(said) and (quoted in said or said in quoted)

    def is_at_a_line(finding: Finding) -> bool:
        if not (finding.code.startswith("TL9") or finding.code in codes):
            return False  # another mistake that happens to stand there
        rows = range(finding.span.line, finding.span.end_line + 1)
        return any((finding.path, row) in through for row in rows) or any(
            (note.path, note.span.line) in through for note in finding.notes
        )

    for belongs in (same, is_at_a_line, lambda finding: finding.code in codes):
        if chosen := [finding for finding in findings if belongs(finding)]:
            return chosen[:_MOST]
    return []
