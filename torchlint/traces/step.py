"""The first training step of a script, for a terminal, as JSON, and as the beginning of a page."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from torchlint.notation import guess_marked
from torchlint.printable import printable
from torchlint.shapes.core.table import ShownValue
from torchlint.shapes.core.training_step import Ending, TrainingStep, Where
from torchlint.traces import json, page, report, words
from torchlint.traces.coloured import plain
from torchlint.traces.report import number, size
from torchlint.traces.story import Story

_MOST = 8  # lines, and names, of a kind


def text(step: TrainingStep, stories: list[Story], name: str, path: str) -> str:
    """What happens in the step, then what the layers of its models cost."""
    lines = [f"{what:<10}{said}" for what, said in _lines(step, name, path)]
    costs = report.render([story for story in stories if story.table.report])
    return "".join(f"{printable(line)}\n" for line in lines) + (f"\n{costs}" if costs.strip() else "")


def as_json(step: TrainingStep, stories: list[Story]) -> str:
    made = {"step": msgspec.to_builtins(step), "forwards": list(map(json.record, stories))}
    return json.written(made)


def html(step: TrainingStep, stories: list[Story], name: str, path: str) -> str:
    rows = "".join(f"<tr><th>{plain(what)}</th><td>{plain(said)}</td></tr>" for what, said in _lines(step, name, path))
    first = f'<section id="step"><div class="wide"><table class="steps">{rows}</table></div></section>'
    return page.render(stories, f"The first training step of {plain(name)}", first)


def _lines(step: TrainingStep, name: str, path: str) -> Iterator[tuple[str, str]]:
    def at(where: Where | None) -> str:
        if where is None:
            return "somewhere"
        file = "" if where.path == path else f"{os.path.relpath(where.path, os.path.dirname(path))}:"
        return f"line {file}{where.line}"

    yield "step", f"the first of {name}" if step.ended is None else f"{name} makes no step of an optimizer"
    for forward in step.forwards[:_MOST]:
        given, result = (
            ", ".join(guess_marked(_said(value), forward.guessed) for value in values) or "nothing known"
            for values in (forward.given, forward.result)
        )
        yield "forward", f"{forward.model}: {given} -> {result}, {at(forward.where)}"
    for loss in step.losses[:_MOST]:
        yield "backward", f"of {_said(loss.value)}, {at(loss.where)}"
    if step.ended is not None:
        yield "ended", _ending(step.ended, name, path)
        return
    yield "optimizer", f"{step.optimizer}, {at(step.where)}"
    for move in step.moves[:_MOST]:
        tensors = f"{move.tensors} tensor{'s' * (move.tensors > 1)}"
        yield "move", f"{tensors} from {move.start} to {move.end}, {size(move.bytes)}, {at(move.where)}"
    if step.gradients is None or step.state is None:
        yield "gradients", "not known, for nobody knows what a model gives"
        yield "memory", f"parameters {size(step.parameters)}"
        return
    fed, starved = len(step.with_gradient), step.without_gradient
    yield "gradients", f"{fed} of {fed + len(starved)} parameters that require one have one"
    if starved:
        more = f" and {len(starved) - _MOST} more" if len(starved) > _MOST else ""
        yield "", f"none: {', '.join(starved[:_MOST])}{more}"
    guessed = any(forward.guessed for forward in step.forwards)
    if step.multiply_adds:
        yield (
            "compute",
            f"{guess_marked(number(step.multiply_adds), guessed)} mult-adds forward, about twice as many backward",
        )
    kept = sum(one.bytes for one in step.kept)
    parts = (("parameters", step.parameters), ("gradients", step.gradients), ("optimizer state", step.state))
    sizes = ", ".join(f"{what} {size(taken)}" for what, taken in parts)
    yield "memory", f"{sizes}, kept for the backward pass {guess_marked(size(kept), guessed)}"
    for one in step.kept[:_MOST]:
        yield "", f"{guess_marked(size(one.bytes), guessed)} kept, {at(one.where)}"


def _ending(ended: Ending, name: str, path: str) -> str:
    """`train.py:12: …`, as editors open it."""
    where = ended.where
    if where is None:
        return ended.why
    here = where.path == path
    file = name if here else os.path.join(os.path.dirname(name), os.path.relpath(where.path, os.path.dirname(path)))
    return f"{file}:{where.line}: {ended.why}"


def _said(value: ShownValue) -> str:
    return f"{words.shape(value)} {value.dtype} on {value.device}"
