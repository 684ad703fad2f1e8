"""What torchlint says about a program: frozen plain data that pickles, caches and becomes JSON without loss."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

Applicability = Literal["safe", "unsafe", "display"]
Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "error")  # the mildest first
NO_DRY_RUN = "the dry run did not happen"  # so begins the notice that is about this environment, not about a file
HERE = "<this file>"  # stands for the file in a notice that names a place in it


class Span(Struct, frozen=True, order=True):
    """A range of text: lines and columns count from 1, columns in code points, the end column is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Edit(Struct, frozen=True, order=True):
    """Put `text` in the place of `span`; an empty span inserts. `cell` as in a finding."""

    span: Span
    text: str
    cell: int | None = None


class Fix(Struct, frozen=True):
    """Edits of the finding's own file. `safe` keeps the meaning, `unsafe` may change it, `display` is only shown."""

    message: str
    edits: tuple[Edit, ...]
    applicability: Applicability = "safe"


class Note(Struct, frozen=True):
    """Another place that belongs to a finding, possibly in another file."""

    message: str
    path: str
    span: Span
    cell: int | None = None


class Finding(Struct, frozen=True):
    """One thing said about one place. `cell` is the 1-based code cell of a notebook; lines then count in that cell.
    `from_run`: whether it was seen in the dry run, not read in the text. `since`: from which version of a library on it
    is so, `torch 2.6`, where that is told of this one. `is_sure`: whether it is so whatever other files say.
    """

    code: str
    name: str
    path: str
    span: Span
    message: str
    help: str = ""
    severity: Severity = "warning"
    fix: Fix | None = None
    notes: tuple[Note, ...] = ()
    cell: int | None = None
    from_run: bool = False
    since: str = ""
    is_sure: bool = False

    @property
    def lines(self) -> set[int]:
        """The lines of its own file that it is about."""
        return {self.span.line, *(note.span.line for note in self.notes if note.path == self.path)}

    @property
    def order(self) -> tuple:
        """The key that makes output deterministic."""
        return (self.path, self.cell or 0, self.span.line, self.span.column, self.code, self.message)


class Hint(Struct, frozen=True):
    """A tensor that the dry run saw at an expression. `name` is what it was assigned to, empty for a part of a line.

    `shape` is text such as `(B, 64, 56, 56)`; `guessed` says that no script called the forward it is in.
    """

    span: Span
    shape: str
    dtype: str
    device: str
    name: str = ""
    cell: int | None = None
    guessed: bool = False


class ForwardHint(Struct, frozen=True):
    """What went into a module's forward and came out of it. `span` is the head of its definition.

    `guessed` says that no script called it: the sizes of its inputs are ones that it runs with.
    """

    span: Span
    module: str
    inputs: tuple[tuple[str, str], ...]
    output: str
    parameters: int = 0
    guessed: bool = False
    cell: int | None = None


def in_whole_characters(finding: Finding) -> Finding:
    """The finding with half characters escaped that it quotes of a program: nothing with one can be written."""
    notes = tuple(replace(note, message=_whole(note.message)) for note in finding.notes)
    said = replace(finding, message=_whole(finding.message), help=_whole(finding.help), notes=notes)
    return finding if said == finding else said


def _whole(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
