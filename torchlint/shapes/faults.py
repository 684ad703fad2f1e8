"""What a dry run hands back: faults, traces and counts, plain data except for the graphs."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from torchlint.finding import Finding, Fix, Note, Span

Kind = Literal["shape", "dtype", "device", "autograd", "operation", "broadcast"]


class Fault(Struct, frozen=True):
    """One thing torch would refuse: where, in whose words, and what belongs to it.

    `message` names both parties with their numbers, `help` quotes torch, `code_hint` is the raw type of the error.
    """

    kind: Kind
    path: str
    span: Span
    message: str
    help: str = ""
    notes: tuple[Note, ...] = ()
    fix: Fix | None = None
    code_hint: str = ""

    def finding(self) -> Finding:
        """The same as a finding; the linter adds the rule's code and name."""
        return Finding("", "", self.path, self.span, self.message, self.help, "error", self.fix, self.notes)


class Trace(Struct, frozen=True):
    """One forward that was run: `graph` is a torch.fx.GraphModule whose nodes carry val, span and path in `meta`.

    `assumed` says which sizes were guessed and why, `parameters` counts the weights, `fault` is what stopped it.
    `inputs` maps each argument of forward to its shape (or to what else it was), as text.
    """

    module: str
    path: str
    span: Span
    graph: Any
    inputs: dict[str, str] = {}
    assumed: tuple[str, ...] = ()
    parameters: int = 0
    fault: Fault | None = None


class DryRun(Struct, frozen=True):
    """All that came of running one file. `statistics` counts: modules, modules_run, functions, functions_run, steps;
    `reasons` counts why the others were not run to their end; `notices` are for the reader (a file that was given up)."""

    faults: tuple[Fault, ...] = ()
    traces: tuple[Trace, ...] = ()
    statistics: dict[str, int] = {}
    reasons: dict[str, int] = {}
    notices: tuple[str, ...] = ()
