"""Layers that run in each training step and learn nothing, and optimizers that have nothing to do, in words."""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn

from torchlint.finding import Note
from torchlint.shapes.core.faults import Fault
from torchlint.shapes.core.held_parts import named_modules_of, weights_of
from torchlint.shapes.language.program import Place
from torchlint.shapes.machine.machine import Machine
from torchlint.shapes.machine.reach import LostResult


def faults_of_steps(machine: Machine, path: str) -> Iterator[Fault]:
    """A fault for each layer of which nothing comes out of the forward it runs in, though an optimizer has it."""
    found = list(machine.reach.found())
    for lost, stepped in found:
        name = _name(lost)
        made = machine.made_at.get(id(lost.layer), (None, None))[1]
        if _is_last_of_several(machine, lost, made, [other.layer for other, _ in found]):
            continue
        model = machine.made_at.get(id(lost.model), (None, None))[1]
        places = [
            (made, f"{name} is made here"),
            (lost.called, f"{name} runs here, for nothing"),
            (model, "the model is made here"),
            (stepped, "the optimizer makes its step here"),
        ]
        where = next((place for place, _ in places if place is not None and place[0] == path), None)
        if where is None:
            continue
        count = sum(1 for parameter in weights_of(lost.layer) if parameter.requires_grad)
        weights = f"{count} parameters" if count > 1 else "parameter"
        yield Fault(
            "gradient",
            *where,
            f"`{name}` runs in each step, but nothing of what it gives reaches the result of the model: no gradient for"
            f" its {weights}",
            "use what it gives, or take the layer out; comparisons, `argmax` and new tensors end the gradient",
            tuple(_notes(places, where)),
        )


def faults_of_optimizers(machine: Machine, path: str) -> Iterator[Fault]:
    """A fault for each optimizer that has the parameters of another model than the one that learns."""
    for idle in machine.reach.idle(machine):
        if idle.stepped is None or idle.stepped[0] != path:
            continue
        name = _variable(machine, idle.learning)
        places = [(machine.made_at.get(id(idle.learning), (None, None))[1], f"{name} is made here")]
        if idle.kept is not None:
            places.append(
                (machine.made_at.get(id(idle.kept), (None, None))[1], "it has parameters of what is made here")
            )
        yield Fault(
            "gradient",
            *idle.stepped,
            f"none of the parameters of this optimizer ever has a gradient; those of `{name}` have, and no optimizer"
            " has them",
            f"give the optimizer `{name}.parameters()`",
            tuple(_notes(places, idle.stepped)),
        )


def _is_last_of_several(machine: Machine, lost: LostResult, made: Place | None, all_lost: list[nn.Module]) -> bool:
    """Whether a line has made several layers, and all learn but the last, which hands something on to nobody: authors
    build all blocks alike.
    """
    parts = [part for _, part in named_modules_of(lost.model)]
    alike = [part for part in parts if machine.made_at.get(id(part), (None, None))[1] == made is not None]
    without = [part for part in alike if any(part is other for other in all_lost)]
    return len(alike) > len(without) == 1 and alike[-1] is lost.layer


def _variable(machine: Machine, module: nn.Module) -> str:
    return next((name for name, value in machine.names.items() if value is module), type(module).__name__)


def _notes(places: list[tuple[Place | None, str]], where: Place) -> Iterator[Note]:
    for place, words in places:
        if place is not None and place != where:
            yield Note(words, *place)


def _name(lost: LostResult) -> str:
    for path, part in named_modules_of(lost.model):
        if part is lost.layer:
            return "self" + "".join(f"[{word}]" if word.isdigit() else f".{word}" for word in path.split("."))
    return type(lost.layer).__name__
