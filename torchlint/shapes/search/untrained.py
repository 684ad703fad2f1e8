"""Layers that run in each training step and learn nothing, and optimizers that have nothing to do, in words."""

from __future__ import annotations

from collections.abc import Iterator

from torch import nn

from torchlint.finding import Note
from torchlint.shapes.core.faults import Fault
from torchlint.shapes.core.held_parts import modules_of, named_modules_of, weights_of
from torchlint.shapes.language.program import Place
from torchlint.shapes.machine.machine import Machine


def faults_of_steps(machine: Machine, path: str) -> Iterator[Fault]:
    """A fault for each layer of which nothing comes out of the forward it runs in, though an optimizer has it."""
    found = list(machine.reach.found())
    weights = {id(weight) for lost, _ in found for weight in weights_of(lost.layer)}
    around = {id(lost.model): _modules_lost(machine, lost.model, weights) for lost, _ in found}
    wholes = [around[id(lost.model)].get(id(lost.layer), lost.layer) for lost, _ in found]
    said: set[int] = set()
    for (lost, stepped), whole in zip(found, wholes):
        name = _name(lost.model, whole)
        made = machine.made_at.get(id(whole), (None, None))[1]
        if id(whole) in said or _is_last_of_several(machine, lost.model, whole, wholes):
            continue
        said.add(id(whole))
        model = machine.made_at.get(id(lost.model), (None, None))[1]
        places = [
            (made, f"{name} is made here"),
            (lost.called, f"{_name(lost.model, lost.layer)} runs here, for nothing"),
            (model, "the model is made here"),
            (stepped, "the optimizer makes its step here"),
        ]
        where = next((place for place, _ in places if place is not None and place[0] == path), None)
        if where is None:
            continue
        count = sum(1 for parameter in weights_of(whole) if parameter.requires_grad)
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


def _modules_lost(machine: Machine, model: nn.Module, weights: set[int]) -> dict[int, nn.Module]:
    """The modules of the program of which nothing comes out at all, by each of their parts: the outermost of a part."""
    found: dict[int, nn.Module] = {}
    for whole in modules_of(model):  # from without inwards
        if whole is not model and id(whole) not in found and type(whole) in machine.codes:
            trained = {id(weight) for weight in weights_of(whole) if weight.requires_grad}
            if trained and trained <= weights:
                found |= {id(part): whole for part in modules_of(whole)}
    return found


def _is_last_of_several(machine: Machine, model: nn.Module, whole: nn.Module, all_lost: list[nn.Module]) -> bool:
    """Whether a line has made several layers, and all learn but the last, which hands something on to nobody: authors
    build all blocks alike.
    """
    made = machine.made_at.get(id(whole), (None, None))[1]
    parts = [part for _, part in named_modules_of(model)]
    alike = [part for part in parts if machine.made_at.get(id(part), (None, None))[1] == made is not None]
    without = [part for part in alike if any(part is other for other in all_lost)]
    return len(alike) > len(without) == 1 and alike[-1] is whole


def _variable(machine: Machine, module: nn.Module) -> str:
    return next((name for name, value in machine.names.items() if value is module), type(module).__name__)


def _notes(places: list[tuple[Place | None, str]], where: Place) -> Iterator[Note]:
    for place, words in places:
        if place is not None and place != where:
            yield Note(words, *place)


def _name(model: nn.Module, layer: nn.Module) -> str:
    for path, part in named_modules_of(model):
        if part is layer:
            return "self" + "".join(f"[{word}]" if word.isdigit() else f".{word}" for word in path.split("."))
    return type(layer).__name__
