"""Programs that tests write into a folder and run dry."""

from __future__ import annotations

import textwrap
from pathlib import Path

from torchlint.project import Project
from torchlint.shapes.core.faults import Fault
from torchlint.shapes.search.check import dry_run

USE = "import torch\nfrom torch import nn\n"


def faults_of(folder: Path, program: str, use: str = USE, **files: str) -> tuple[Fault, ...]:
    """What fails in a program, below the imports that it uses and beside other files."""
    for name, other in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(other))
    path, text = folder / "program.py", use + textwrap.dedent(program)
    path.write_text(text)
    return dry_run(text, str(path), Project(folder).view(path)).faults


def failing_lines(folder: Path, program: str, **files: str) -> list[str]:
    """The lines at which a program fails, as they are written."""
    return [line_of(folder, fault) for fault in faults_of(folder, program, **files)]


def line_of(folder: Path, fault: Fault) -> str:
    """The line of the program at which it fails."""
    return (folder / "program.py").read_text().splitlines()[fault.span.line - 1].strip()
