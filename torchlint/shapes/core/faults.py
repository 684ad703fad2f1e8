"""What a dry run hands back: faults, traces and counts, plain data except for the graphs."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from torchlint.finding import Finding, Fix, Note, Severity, Span

Kind = Literal["shape", "dtype", "device", "autograd", "operation", "broadcast", "check", "gradient"]


class Fault(Struct, frozen=True):
    """One thing torch would refuse: where, in whose words, and what belongs to it.

    `message` names both parties with their numbers, `help` quotes torch. What was refused of data that nobody knows,
    whatever their sizes, is `presumed`: a remark for those who ask for the rule.
    """

    kind: Kind
    path: str
    span: Span
    message: str
    help: str = ""
    notes: tuple[Note, ...] = ()
    fix: Fix | None = None
    presumed: bool = False

    def finding(self) -> Finding:
        """The same as a finding; the linter adds the rule's code and name."""
        severity: Severity = "info" if self.presumed else "error"
        return Finding("", "", self.path, self.span, self.message, self.help, severity, self.fix, self.notes)


class Trace(Struct, frozen=True):
    """One forward that ran to its end. `graph` is a torch.fx.GraphModule whose nodes carry `val` (shape, dtype,
    device), `place` (path, span), `path` (of the module) and `scope` (its class) in `meta`; `inputs` maps each argument
    of forward to its shape, or to what else it was.

    `guessed`: whether the inputs were guessed, or the arguments of the constructor: then the numbers are examples.
    """

    module: str
    path: str
    span: Span
    graph: Any
    inputs: dict[str, str] = {}
    guessed: bool = False

    @property
    def nodes(self) -> list[Any]:
        """The operations and layers in the order they ran, without inputs and output."""
        return [n for n in self.graph.graph.nodes if n.op in ("call_function", "call_method", "call_module")]

    def finding(self, node: Any, message: str, help: str = "", notes: tuple[Note, ...] = ()) -> Finding:
        """A finding at one operation; at the head of the class for None."""
        path, span = (node.meta.get("place") if node is not None else None) or (self.path, self.span)
        return Finding("", "", path, span, message, help, "warning", None, notes)


class DryRun(Struct, frozen=True):
    """All that came of running one file. `statistics` counts: modules, modules_run, functions, functions_run, steps;
    `reasons` counts why the others were not run to their end; `unknowns` holds what nobody knew, if the script did not
    come to a second step or to its end for it; `notices` are for the reader (a file that was given up); `classes` has
    the steps for each class that was tried with guesses.
    """

    faults: tuple[Fault, ...] = ()
    traces: tuple[Trace, ...] = ()
    statistics: dict[str, int] = {}
    reasons: dict[str, int] = {}
    notices: tuple[str, ...] = ()
    unknowns: dict[str, int] = {}
    classes: dict[str, int] = {}
