"""One self-contained page: the source with shapes in its margin, the graph of each forward, and its table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from torchlint.reading import read
from torchlint.shapes.core.table import Cost, LayerCall, Step, Table
from torchlint.traces import picture, report, words
from torchlint.traces.coloured import coloured, plain
from torchlint.traces.story import Story

_STYLE = Path(__file__).with_name("page.css")
_COSTS = ("mult-adds", "kept for backward")
_MARKS = (
    '<svg class="marks" width="0" height="0" style="position:absolute"><defs>'
    '<marker id="good" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path class="good" d="M0,0 L8,4 L0,8 z"/></marker>'
    '<marker id="bad" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" markerHeight="5" '
    'orient="auto"><path class="bad" d="M0,0 L8,4 L0,8 z"/></marker>'
    "</defs></svg>"
)


def render(stories: list[Story], title: str = "", first: str = "") -> str:
    """The page: an index, what is to come `first`, then each forward. There is no script in it: a line and its boxes
    light up by style alone.
    """
    files = list(dict.fromkeys(story.path for story in stories))
    title = title or (f"Shapes in {plain(files[0])}" if len(files) == 1 else f"Shapes in {len(files)} files")
    sections = [(f"forward-{number}", story) for number, story in enumerate(stories)]
    index = "".join(_index(path, len(files) > 1, sections) for path in files)
    body = "".join("".join(_forward(story, name, len(files) > 1)) for name, story in sections)
    lit = "".join(_lit(story, name) for name, story in sections)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{read(str(_STYLE)).decode()}{lit}</style></head><body>{_MARKS}"
        f"<h1>{title}</h1>{index}{first}{body}</body></html>\n"
    )


def _index(path: str, named: bool, sections: list[tuple[str, Story]]) -> str:
    links = (
        f'<a href="#{name}"{_bad(story.reason)}>{plain(story.table.name)}</a>'
        for name, story in sections
        if story.path == path
    )
    return f"<nav>{f'<b>{plain(path)}</b>' if named else ''}{''.join(links)}</nav>"


def _lit(story: Story, name: str) -> str:
    """Who points at a line or at a box sees what belongs to it."""
    lines = {s.span.line for s in story.table.steps if s.span is not None and s.path == story.table.path}
    return "".join(
        f"#{name}:has(.{name}-line-{n}:hover) .{name}-line-{n} {{ --lit-row: var(--lit) }}\n" for n in sorted(lines)
    )


def _lines(text: str) -> str:
    return "\n".join(map(plain, text.split("\n")))


def _bad(reason: str) -> str:
    return ' class="bad"' if reason else ""


def _forward(story: Story, name: str, of_many: bool) -> Iterator[str]:
    table = story.table
    yield f'<section id="{name}"><h2>{plain(table.name)}</h2>'
    line = f", line {table.span.line}" if table.span else ""
    line += f" of {plain(story.path)}" if of_many else ""
    result = f", gives {plain(table.result)}" if table.result and not table.error else ""
    yield f'<p class="soft">{words.count(table.parameters)} parameters{line}{result}</p>'
    for given, value in table.inputs.items():
        why = (
            f' <span class="why">assumed: {plain(table.assumed[given] or "it runs with it")}</span>'
            if given in table.assumed
            else ""
        )
        yield f"<p><code>{plain(given)}: {plain(value)}</code>{why}</p>"
    if table.arguments:
        made = ", ".join(f"{argument} = {value}" for argument, value in table.arguments.items())
        yield f'<p class="why">made with {plain(made)}</p>'
    if story.reason:
        yield f'<div class="reason">{_lines(story.reason)}</div>'
    if table.steps:
        yield f'<div class="both">{_source(story, name)}<div class="drawing">{_drawing(story, name)}</div></div>'
        opened = "" if len(table.steps) > 40 else " open"
        yield f"<details{opened}><summary>{len(table.steps)} steps</summary>{_steps(table)}</details>"
    yield "</section>"


def _drawing(story: Story, name: str) -> str:
    (_, _, whole), *inner = picture.pictures(story.table, name)
    back = f'<a href="#{name}">back to the whole</a>'
    opened = (
        f'<div class="opened" id="{target}"><h3>{plain(title)} · {back}</h3>{drawn}</div>'
        for target, title, drawn in inner
    )
    return whole + "".join(opened)


def _source(story: Story, name: str) -> str:
    """The lines of the class, and of what else of the file ran, with what came out of each in the margin."""
    lines = coloured(story.source)
    margin: dict[int, list[Step]] = {}
    for step in story.table.steps:
        if step.span is not None and step.path == story.table.path:
            margin.setdefault(step.span.line, []).append(step)
    calls: dict[int, list[LayerCall]] = {}
    for call in story.table.calls:
        if call.path == story.table.path:
            calls.setdefault(call.span.line, []).append(call)
    span = story.table.span
    shown = set(range(span.line, span.end_line + 1)) if span else set()
    for line in (*margin, *calls):
        shown.update(range(line - 2, line + 3))
    rows, before = [], None
    for number in sorted(n for n in shown if 1 <= n <= len(lines)):
        if before is not None and number != before + 1:
            rows.append('<tr><td class="number">⋮</td><td></td><td class="margin"></td></tr>')
        before = number
        steps, inner = margin.get(number, []), calls.get(number, [])
        failed = any(s.error for s in steps) or any(c.failed for c in inner)
        given = [s.outputs for s in steps if s.outputs] + [c.outputs for c in inner if c.outputs]
        if failed:
            met = next((s.inputs for s in steps if s.error), steps[-1].outputs if steps else ())
            gives = f"✗ {words.shapes(met, 2)}"
        else:
            gives = f"→ {words.shapes(given[-1], 2)}" if given else ""
        tip = "\n".join(plain(f"{words.title(s)} → {words.shapes(s.outputs)}") for s in steps[:20])
        rows.append(
            f'<tr class="{"bad " if failed else ""}{name}-line-{number}" title="{tip}"><td class="number">{number}</td>'
            f'<td>{lines[number - 1]}</td><td class="margin">{plain(gives)}</td></tr>'
        )
    return f'<div class="source"><table>{"".join(rows)}</table></div>' if rows else ""


def _cost(cost: Cost | None) -> str:
    if cost is None:
        return ""
    cells = report.number(cost.multiply_adds) if cost.multiply_adds else "", report.size(cost.kept) if cost.kept else ""
    return "".join(f'<td class="right">{cell}</td>' for cell in cells)


def _steps(table: Table) -> str:
    rows = []
    costs = table.report.costs if table.report else [None] * len(table.steps)
    for step, cost in zip(table.steps, costs):
        line = str(step.span.line) if step.span else ""
        parameters = words.count(step.parameters) if step.parameters else ""
        out = words.shapes(step.outputs) if not step.error else "✗ " + " ".join(step.error.split())
        cells = [words.title(step), words.shapes(step.inputs), out, words.dtypes(step)]
        rows.append(
            f'<tr{_bad(step.error)}><td class="right">{line}</td>{"".join(f"<td>{plain(c)}</td>" for c in cells)}'
            f'<td class="right">{parameters}</td>{_cost(cost)}</tr>'
        )
    named = ("line", "operation or layer", "in", "out", "dtype", "parameters", *(_COSTS if table.report else ()))
    heads = "".join(f"<th>{head}</th>" for head in named)
    return f'<div class="wide"><table class="steps"><tr>{heads}</tr>{"".join(rows)}</table></div>'
