"""A script's first training step: plain data that prints and becomes JSON. Does not need torch."""

from __future__ import annotations

from msgspec import Struct

from torchlint.shapes.core.table import ShownValue


class Where(Struct, frozen=True):
    """A line of a file."""

    path: str
    line: int


class Forward(Struct, frozen=True):
    """One call of a model. `guessed`: its data are unknown, and the sizes an example of what they may have."""

    model: str
    where: Where | None
    given: tuple[ShownValue, ...]
    result: tuple[ShownValue, ...]
    guessed: bool = False


class Loss(Struct, frozen=True):
    """What `backward` starts from."""

    where: Where | None
    value: ShownValue


class Moved(Struct, frozen=True):
    """Tensors that went from one device to another in one line."""

    where: Where | None
    start: str
    end: str
    tensors: int
    bytes: int


class KeptForBackward(Struct, frozen=True):
    """What autograd keeps of one line until the backward pass has used it."""

    where: Where | None
    bytes: int


class Ending(Struct, frozen=True):
    """Where a script ended before any optimizer made a step, and why: the first thing nobody knew, what torch or the
    program refused, or its exit.
    """

    where: Where | None
    why: str


class TrainingStep(Struct, frozen=True):
    """What came together until the optimizer made its step; if none comes to one, `ended` says why. Of parameters,
    their gradients and the optimizer's state the bytes; most moved and most kept first. What comes of forwards that
    give nothing known is None, or not there.
    """

    forwards: tuple[Forward, ...]
    losses: tuple[Loss, ...]
    optimizer: str
    where: Where | None
    moves: tuple[Moved, ...]
    with_gradient: tuple[str, ...]
    without_gradient: tuple[str, ...]
    parameters: int
    gradients: int | None
    state: int | None
    kept: tuple[KeptForBackward, ...]
    multiply_adds: int  # of the forwards
    ended: Ending | None = None
