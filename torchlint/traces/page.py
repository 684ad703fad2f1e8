"""One self-contained page: the source with shapes in its margin, the graph of each forward, and its table."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from torchlint.printable import printable
from torchlint.result import split_lines
from torchlint.shapes.core.table import Call, Step, Table
from torchlint.traces import picture, words
from torchlint.traces.story import Story

_STYLE = """
:root { --paper: #fff; --ink: #1f2328; --soft: #59636e; --edge: #d1d9e0; --shade: #f6f8fa; --red: #cf222e; --pale:
#ffebe9;
  --blue: #0969da; --layer: #ddf4ff; --green: #1a7f37 }
@media (prefers-color-scheme: dark) { :root { --paper: #0d1117; --ink: #e6edf3; --soft: #9198a1; --edge: #30363d;
  --shade: #151b23; --red: #ff7b72; --pale: #3c1618; --blue: #58a6ff; --layer: #10243e; --green: #3fb950 } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 1500px; padding: 24px; font: 15px/1.5 system-ui, sans-serif; color: var(--ink);
background: var(--paper) }
h1 { font-size: 20px; margin: 0 0 4px } h2 { font-size: 17px; margin: 40px 0 4px; padding-top: 16px; border-top: 1px
solid var(--edge) }
p { margin: 4px 0 } .soft, .why { color: var(--soft) } code, pre, td, .graph text { font-family: ui-monospace, Menlo,
Consolas, monospace }
nav a { margin-right: 14px; color: var(--blue); text-decoration: none } nav a.bad { color: var(--red) }
.reason { border-left: 4px solid var(--red); background: var(--pale); padding: 8px 12px; margin: 12px 0; white-space:
pre-wrap }
.both { display: flex; gap: 24px; align-items: flex-start; flex-wrap: wrap }
.source { flex: 1 1 560px; min-width: 0; overflow: auto; border: 1px solid var(--edge); border-radius: 6px; max-height:
85vh }
.source table { border-collapse: collapse; width: 100%; font-size: 12.5px } .source td { padding: 0 10px; white-space:
pre; vertical-align: top }
.source .number { color: var(--soft); text-align: right; user-select: none } .source .margin { color: var(--green);
text-align: right; background: var(--shade); position: sticky; right: 0 }
.source tr.bad td { background: var(--pale) } .source tr.bad .margin { color: var(--red) }
.drawing { flex: 0 1 auto; overflow: auto; max-height: 85vh; max-width: 100%; border: 1px solid var(--edge);
border-radius: 6px }
.graph { display: block } .graph path { fill: none; stroke: var(--soft); stroke-width: 1.3 } .graph path.failed {
stroke: var(--red); stroke-width: 2.5 }
.graph rect { fill: var(--shade); stroke: var(--edge) } .graph .layer rect { fill: var(--layer); stroke: var(--blue) }
.graph .input rect { fill: var(--paper); stroke: var(--green) } .graph .failed rect { fill: var(--pale); stroke:
var(--red); stroke-width: 2 }
.graph text { font-size: 11px; fill: var(--ink) } .graph .shape { fill: var(--soft); font-size: 10.5px } .graph .failed
text { fill: var(--red) }
.marks path { stroke: none } .marks .good { fill: var(--soft) } .marks .bad { fill: var(--red) }
details { margin: 12px 0 } summary { cursor: pointer; color: var(--blue) }
.steps { border-collapse: collapse; font-size: 12.5px; width: 100%; margin-top: 8px } .steps th { text-align: left;
color: var(--soft); font-weight: 600 }
.steps th, .steps td { padding: 3px 12px 3px 0; border-bottom: 1px solid var(--edge); white-space: nowrap } .steps
.right { text-align: right }
.steps tr.bad td { color: var(--red); background: var(--pale); white-space: normal }
"""
_MARKS = (
    '<svg class="marks" width="0" height="0" style="position:absolute"><defs>'
    '<marker id="good" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path class="good" d="M0,0 L8,4 L0,8 z"/></marker>'
    '<marker id="bad" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" markerHeight="5" '
    'orient="auto"><path class="bad" d="M0,0 L8,4 L0,8 z"/></marker>'
    "</defs></svg>"
)


def render(stories: list[Story]) -> str:
    """The page."""
    path = stories[0].path
    links = "".join(f'<a href="#{escape(s.table.name)}"{_bad(s.reason)}>{escape(s.table.name)}</a>' for s in stories)
    body = "".join("".join(_forward(story)) for story in stories)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Shapes in {_line(path)}</title><style>{_STYLE}</style></head><body>{_MARKS}"
        f"<h1>Shapes in {_line(path)}</h1><nav>{links}</nav>{body}</body></html>\n"
    )


def _line(text: str) -> str:
    return escape(printable(text.replace("\t", "    ")))


def _lines(text: str) -> str:
    return "\n".join(map(_line, text.split("\n")))


def _bad(reason: str) -> str:
    return ' class="bad"' if reason else ""


def _forward(story: Story) -> Iterator[str]:
    table = story.table
    yield f'<section id="{escape(table.name)}"><h2>{escape(table.name)}</h2>'
    line = f", line {table.span.line}" if table.span else ""
    result = f", gives {escape(table.result)}" if table.result and not table.error else ""
    yield f'<p class="soft">{words.count(table.parameters)} parameters{line}{result}</p>'
    for name, value in table.inputs.items():
        why = (
            f' <span class="why">assumed: {_line(table.assumed[name] or "it runs with it")}</span>'
            if name in table.assumed
            else ""
        )
        yield f"<p><code>{escape(name)}: {_line(value)}</code>{why}</p>"
    if table.arguments:
        made = ", ".join(f"{name} = {value}" for name, value in table.arguments.items())
        yield f'<p class="why">made with {_line(made)}</p>'
    if story.reason:
        yield f'<div class="reason">{_lines(story.reason)}</div>'
    if table.steps:
        yield f'<div class="both">{_source(story)}<div class="drawing">{picture.svg(table)}</div></div>'
        opened = "" if len(table.steps) > 40 else " open"
        yield f"<details{opened}><summary>{len(table.steps)} steps</summary>{_steps(table)}</details>"
    yield "</section>"


def _source(story: Story) -> str:
    """The lines of the class, and of what else of the file ran, with what came out of each in the margin."""
    lines = split_lines(story.source)
    margin: dict[int, list[Step]] = {}
    for step in story.table.steps:
        if step.span is not None and step.path == story.table.path:
            margin.setdefault(step.span.line, []).append(step)
    calls: dict[int, list[Call]] = {}
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
        tip = escape("\n".join(f"{words.title(s)} → {words.shapes(s.outputs)}" for s in steps[:20]), quote=True)
        rows.append(
            f'<tr{_bad("x" if failed else "")} title="{tip}"><td class="number">{number}</td>'
            f'<td>{_line(lines[number - 1])}</td><td class="margin">{escape(gives)}</td></tr>'
        )
    return f'<div class="source"><table>{"".join(rows)}</table></div>' if rows else ""


def _steps(table: Table) -> str:
    rows = []
    for step in table.steps:
        line = str(step.span.line) if step.span else ""
        parameters = words.count(step.parameters) if step.parameters else ""
        out = words.shapes(step.outputs) if not step.error else "✗ " + printable(" ".join(step.error.split()))
        cells = [words.title(step), words.shapes(step.inputs), out, words.dtypes(step)]
        rows.append(
            f'<tr{_bad(step.error)}><td class="right">{line}</td>{"".join(f"<td>{escape(c)}</td>" for c in cells)}'
            f'<td class="right">{parameters}</td></tr>'
        )
    heads = "".join(f"<th>{head}</th>" for head in ("line", "operation or layer", "in", "out", "dtype", "parameters"))
    return f'<table class="steps"><tr>{heads}</tr>{"".join(rows)}</table>'
