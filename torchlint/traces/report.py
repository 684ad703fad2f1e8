"""What a model costs, as a table for a terminal: parameters, multiply-adds, memory; and whether training fits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from torchlint.notation import shape_text
from torchlint.printable import printable, shortened
from torchlint.shapes.core.table import ForwardCost, Step
from torchlint.traces import words
from torchlint.traces.optimizer_memory import optimizer_of
from torchlint.traces.story import Story

_HEADS = ("layer or operation", "out", "parameters", "mult-adds", "kept")
_WIDEST = 56  # characters of a name with its layer
_LONGEST_PERIOD = 64  # steps of a block that is repeated
_UNITS = {
    "": 1 << 30,
    "k": 1000,
    "m": 1000**2,
    "g": 1000**3,
    "t": 1000**4,
    "ki": 1 << 10,
    "mi": 1 << 20,
    "gi": 1 << 30,
    "ti": 1 << 40,
}
_NUMBER = re.compile(r"(?<![^.])\d+(?![^.])")


class Line(Struct, frozen=True):
    """One line of the table: some steps that belong together, `times` after each other."""

    name: str
    label: str
    out: str
    parameters: int
    multiply_adds: int
    kept: int
    times: int = 1

    @property
    def kind(self) -> tuple:
        """What is the same for repeats: layers are called by their numbers."""
        return _NUMBER.sub("#", self.name), self.label, self.out, self.parameters, self.multiply_adds


def bytes_of(text: str) -> int:
    """`24GiB`, `16 GB`, `800M`; a mere number means GiB. Raises ValueError."""
    found = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,6})?)\s*([kmgt]?i?)b?\s*", text.lower())
    if not found or found[2] not in _UNITS:
        raise ValueError("write a size such as 24GiB")
    return int(float(found[1]) * _UNITS[found[2]])


def render(stories: list[Story], depth: int = 0, fold: bool = False, memory: int = 0) -> str:
    return "\n\n".join("\n".join(_model(story, depth, fold, memory)) for story in stories) + "\n"


def _model(story: Story, depth: int, fold: bool, memory: int) -> Iterator[str]:
    table, report = story.table, story.table.report
    yield f"{table.name}  {printable(story.path)}{f':{table.span.line}' if table.span else ''}"
    for name, value in table.inputs.items():
        why = f"  (assumed: {table.assumed[name] or 'it runs with it'})" if name in table.assumed else ""
        yield f"  {name}: {printable(value + why)}"
    if report is None:
        yield f"  nothing to count: {printable(story.reason or 'its forward cannot be run again by itself')}"
        return
    rows = list(lines(table.steps, report, depth))
    rows = list(folded(rows)) if fold else rows
    cells = [_cells(row) for row in rows]
    widths = [max(len(cell[i]) for cell in [_HEADS, *cells]) for i in range(len(_HEADS))]
    yield ""
    for cell in [_HEADS, *cells]:
        first, out, *numbers = cell
        right = "  ".join(f"{text:>{width}}" for text, width in zip(numbers, widths[2:]))
        yield f"  {first:<{widths[0]}}  {out:<{widths[1]}}  {right}".rstrip()
    yield ""
    yield from _totals(story, report, memory)


def _cells(row: Line) -> tuple[str, ...]:
    name = f"{row.name}: {row.label}".removeprefix(": ").removesuffix(": ")
    return (
        shortened(printable(name), _WIDEST) + (f"  ×{row.times}" if row.times > 1 else ""),
        shortened(row.out, _WIDEST),
        words.count(row.parameters) if row.parameters else "",
        number(row.multiply_adds) if row.multiply_adds else "",
        size(row.kept) if row.kept else "",
    )


def _totals(story: Story, report: ForwardCost, memory: int) -> Iterator[str]:
    everything = report.trainable + report.frozen
    frozen = f"{words.count(report.frozen)} frozen" if report.frozen else "all trainable"
    yield f"  parameters         {words.count(everything)}, {frozen}"
    yield f"  mult-adds          {number(report.multiply_adds)} in a forward of {report.batch or 1}"
    yield f"  kept for backward  {size(report.kept)}"
    name, states, is_assumed = optimizer_of(story.script or story.source)
    state = report.trained * states
    fixed = report.held + report.trained + state
    assumed = " (assumed)" if is_assumed else ""
    yield (
        f"  to train           {size(fixed + report.kept)}: weights {size(report.held)}, gradients"
        f" {size(report.trained)}, {name}'s state{assumed} {size(state)}, and what is kept"
    )
    if memory:
        yield f"  in {size(memory)}{' ' * max(16 - len(size(memory)), 1)}{_fits(report, fixed, memory)}"


def _fits(report: ForwardCost, fixed: int, memory: int) -> str:
    if fixed > memory:
        return f"does not fit: {size(fixed)} are needed whatever the batch is"
    if not report.kept or not report.batch:
        return "fits"
    most = (memory - fixed) * report.batch // report.kept
    fits = "fits" if most >= report.batch else "does not fit"
    return f"a batch of {report.batch} {fits}; of about {most:,} at most (temporaries not counted)"


def lines(steps: tuple[Step, ...], report: ForwardCost, depth: int) -> Iterator[Line]:
    """The lines of a table: one a step, or one for what lies below a depth of names."""
    seen: set[str] = set()
    group: list[tuple[Step, int, int, int]] = []
    for step, cost in zip(steps, report.costs):
        fresh = step.layer and step.module not in seen
        seen |= {step.module} if step.layer else set()
        row = step, step.parameters if fresh else 0, cost.multiply_adds, cost.kept
        if group and not (depth and _key(step, depth) and _key(step, depth) == _key(group[0][0], depth)):
            yield _line(group, depth)
            group = []
        group.append(row)
    if group:
        yield _line(group, depth)


def _key(step: Step, depth: int) -> str:
    return ".".join(step.module.split(".")[:depth]) if step.module else ""


def _line(group: list[tuple[Step, int, int, int]], depth: int) -> Line:
    step, *_ = group[-1]
    is_one = len(group) == 1
    name = step.module if is_one and step.layer else _key(step, depth) if not is_one else ""
    label = words.title(step).removeprefix(f"{printable(step.module)}: ") if is_one else ""
    out = ", ".join(shape_text(value.shape) for value in step.outputs[:2])
    parameters, multiply_adds, kept = (sum(numbers) for numbers in list(zip(*group))[1:])
    return Line(name, label, out, parameters, multiply_adds, kept)


def folded(rows: list[Line]) -> Iterator[Line]:
    """The lines with what is repeated once, and how often; numbers are those of all repeats."""
    kinds = [row.kind for row in rows]
    at = 0
    while at < len(rows):
        period, times = 1, 1
        for tried in range(1, min(_LONGEST_PERIOD, (len(rows) - at) // 2) + 1):
            repeats = 1
            while kinds[at : at + tried] == kinds[at + tried * repeats : at + tried * (repeats + 1)]:
                repeats += 1
            if repeats > 1 and tried * repeats > period * times:
                period, times = tried, repeats
        for offset in range(period):
            same = rows[at + offset : at + period * times : period]
            yield replace(
                same[0],
                parameters=sum(row.parameters for row in same),
                multiply_adds=sum(row.multiply_adds for row in same),
                kept=sum(row.kept for row in same),
                times=times,
            )
        at += period * times


def number(value: int) -> str:
    """`58.4 M`"""
    for unit, factor in (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if value >= factor:
            return f"{value / factor:.1f} {unit}"
    return str(value)


def size(value: int) -> str:
    """`3.3 MiB`"""
    for unit, factor in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= factor:
            return f"{value / factor:.1f} {unit}"
    return f"{value} B"
