"""A table together with what the dry run says about it: whether its error is one for every input, and in words."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torchlint.shapes.core.faults import Fault
from torchlint.shapes.core.table import Table


@dataclass(frozen=True)
class Story:
    """One forward to show. `path` is how the file is called in the output, `source` its text, `script` that of the file
    which calls it if it is another one.
    """

    table: Table
    path: str
    source: str
    faults: tuple[Fault, ...] = ()
    script: str = ""

    @property
    def fault(self) -> Fault | None:
        """The finding that belongs to the failing step."""
        last = self.table.steps[-1] if self.table.steps else None
        if last is None or not last.error or last.span is None:
            return None
        here = (f for f in self.faults if f.path == last.path and f.span.line == last.span.line)
        return next((f for f in here if " ".join(last.error.split()) in " ".join(f.help.split())), None)

    @property
    def reason(self) -> str:
        """Why the forward stopped, in words; empty if it did not."""
        if self.fault is not None:
            return f"{self.fault.message}\n{self.fault.help}"
        if not self.table.error:
            return ""
        words = " ".join(self.table.error.split())
        if self.table.guessed and self.table.steps:
            return f"{words}\nThe sizes were assumed; with others it may run: --input name=2,3,224,224"
        return words


def stories(
    tables: Sequence[Table],
    name: str,
    path: str,
    text: str,
    faults: tuple[Fault, ...],
    text_of: Callable[[str], str | None],
) -> list[Story]:
    """What the tables of a file's dry run tell; `text_of` gives the texts of other files, which are called by where
    they are from this one's folder.
    """
    made = []
    for table in tables:
        if table.path in ("", path):
            made.append(Story(table, name, text, faults))
        else:
            shown = os.path.normpath(
                os.path.join(os.path.dirname(name), os.path.relpath(table.path, os.path.dirname(path)))
            )
            made.append(Story(table, shown, text_of(table.path) or "", faults, text))
    return made
