"""Where a finding stands and what it says, in words that fit on one line of any output."""

from __future__ import annotations

import re

from torchlint.config import Settings
from torchlint.finding import Finding, Note, Span
from torchlint.result import shown

# C0 and C1 controls, line separators, and the marks that reorder text: a file name or a literal may hold any of them.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """The text with everything escaped that a terminal would obey instead of showing."""
    return UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def place(at: Finding | Note) -> str:
    """`model.py:12:5`, and `train.ipynb:cell 3:12:5` in a notebook."""
    return f"{printable(shown(at.path))}:{f'cell {at.cell}:' if at.cell else ''}{at.span.line}:{at.span.column}"


def span_in_file(at: Finding | Note) -> Span:
    """The span for formats that know no cells: lines of a cell are not lines of the notebook's JSON."""
    return Span(1, 1, 1, 1) if at.cell else at.span


def sentence(finding: Finding) -> str:
    """The message for formats that know no cells."""
    cell = f"cell {finding.cell}, line {finding.span.line}: " if finding.cell else ""
    return cell + printable(finding.message)


def is_fixable(finding: Finding, settings: Settings) -> bool:
    """Whether `--fix` would fix this, with the same options."""
    if finding.fix is None or not settings.is_fixable(finding.code, finding.name):
        return False
    return settings.applies(finding.fix)
