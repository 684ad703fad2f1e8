"""Where a finding stands and what it says, in words that fit on one line of any output."""

from __future__ import annotations

from torchlint.config import Settings
from torchlint.finding import Finding, Note, Span
from torchlint.printable import printable
from torchlint.result import shown


def path_in_line(path: str) -> str:
    """A path that a line may begin with: GitHub obeys lines that begin with `::`."""
    name = shown(path)
    return "./" * name.lstrip().startswith("::") + printable(name)


def place(at: Finding | Note) -> str:
    """`model.py:12:5`, and `train.ipynb:cell 3:12:5` in a notebook."""
    return f"{path_in_line(at.path)}:{f'cell {at.cell}:' if at.cell else ''}{at.span.line}:{at.span.column}"


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
