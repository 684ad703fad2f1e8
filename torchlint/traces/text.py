"""Tables for a terminal: one row for each operation, the failing one in red."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.printable import printable, shortened
from torchlint.shapes.core.table import Table
from torchlint.traces import words
from torchlint.traces.story import Story

_RED, _BOLD, _DIM, _END = "\x1b[31m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
_HEADS = ("line", "operation or layer", "in", "out", "dtype", "parameters")
_LABEL = 46  # what a label may take of a row
_SHAPES = 34


def render(stories: list[Story], color: bool = False, ascii_only: bool = False) -> str:
    """All forwards, one below the other."""
    text = "\n\n".join("\n".join(_forward(story, color)) for story in stories) + "\n"
    return text.replace("→", "->").replace("…", "...").replace("✗", "x") if ascii_only else text


def _forward(story: Story, color: bool) -> Iterator[str]:
    table = story.table
    line = f":{table.span.line}" if table.span else ""
    yield (
        _paint(table.name, _BOLD, color)
        + f"  {printable(story.path)}{line}, {words.count(table.parameters)} parameters"
    )
    for name, value in table.inputs.items():
        why = f"  (assumed: {table.assumed[name] or 'it runs with it'})" if name in table.assumed else ""
        yield f"  {name}: {printable(value)}{_paint(printable(why), _DIM, color)}"
    for name, value in table.arguments.items():
        yield _paint(printable(f"  made with {name} = {value}"), _DIM, color)
    if not table.steps:
        yield f"  nothing to show: {printable(story.reason) or 'its forward does nothing with tensors'}"
        return
    yield ""
    rows = [list(_cells(table, number)) for number in range(len(table.steps))]
    widths = [max(len(row[i]) for row in [list(_HEADS), *rows]) for i in range(len(_HEADS))]
    yield _paint(_line(list(_HEADS), widths, ("", " → ")), _DIM, color)
    for row, step in zip(rows, table.steps):
        text = _line(row, widths, ("", " ✗ " if step.error else " → "))
        yield _paint(text, _RED, color) if step.error else text
    if story.reason:
        yield ""
        for position, part in enumerate(story.reason.split("\n")):
            yield _paint(("✗ " if not position else "  ") + printable(part.strip()), _RED, color)
    elif table.result:
        yield f"\n  gives {table.result}"


def _cells(table: Table, number: int) -> Iterator[str]:
    step = table.steps[number]
    yield str(step.span.line) if step.span else ""
    yield shortened(words.title(step), _LABEL)
    yield shortened(words.shapes(step.inputs), _SHAPES)
    yield shortened(words.shapes(step.outputs), _SHAPES)
    yield words.dtypes(step)
    yield words.count(step.parameters) if step.parameters else ""


def _line(cells: list[str], widths: list[int], arrow: tuple[str, str]) -> str:
    line, label, inputs, outputs, dtype, parameters = cells
    left = f"  {line:>{widths[0]}}  {label:<{widths[1]}}  {inputs:<{widths[2]}}"
    return f"{left}{arrow[1]}{outputs:<{widths[3]}}  {dtype:<{widths[4]}}  {parameters:>{widths[5]}}".rstrip()


def _paint(text: str, style: str, color: bool) -> str:
    return f"{style}{text}{_END}" if color else text
