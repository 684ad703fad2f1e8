"""Layers that run in each training step and learn nothing, in words."""

from __future__ import annotations

from collections.abc import Iterator

from torchlint.finding import Note
from torchlint.shapes.core.faults import Fault
from torchlint.shapes.language.program import Place
from torchlint.shapes.machine.machine import Machine
from torchlint.shapes.machine.reach import LostResult


def faults_of_steps(machine: Machine, path: str) -> Iterator[Fault]:
    """A fault for each layer of which nothing comes out of the forward it runs in, though an optimizer has it."""
    for lost, stepped in machine.reach.found():
        name = _name(lost)
        made = machine.made_at.get(id(lost.layer), (None, None))[1]
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
        count = sum(1 for parameter in lost.layer.parameters() if parameter.requires_grad)
        weights = f"{count} parameters" if count > 1 else "parameter"
        yield Fault(
            "gradient",
            *where,
            f"`{name}` runs in each step, but nothing of what it gives reaches the result of the model: no gradient for"
            f" its {weights}",
            "use what it gives, or take the layer out; comparisons, `argmax` and new tensors end the gradient",
            tuple(_notes(places, where)),
        )


def _notes(places: list[tuple[Place | None, str]], where: Place) -> Iterator[Note]:
    for place, words in places:
        if place is not None and place != where:
            yield Note(words, *place)


def _name(lost: LostResult) -> str:
    for path, part in lost.model.named_modules():
        if part is lost.layer:
            return "self" + "".join(f"[{word}]" if word.isdigit() else f".{word}" for word in path.split("."))
    return type(lost.layer).__name__
