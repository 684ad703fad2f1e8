"""What stands behind a fault: values that the program itself makes, or a way to them that nobody is sure of.

Of what scripts did before a fault, something may have been left out, or answered without knowing: a list that is filled
there, a branch that makes the tensor. What torch then refuses for its sizes, dtypes, devices or graph may be the dry
run's own doing, and is a remark. What it refuses for the kind of thing that it is stays an error: a number that is
indexed, a view of what was transposed, an argument of the wrong type, layers that do not fit each other.
"""

from __future__ import annotations

import re

from torch import optim

from torchlint.shapes.machine.failures import FailedOperation
from torchlint.shapes.machine.machine import Machine

# A size that is doubled until the memory is full, which it never is here.
_TOO_LARGE = "size calculation overflowed"

TOO_EARLY = "before Module.__init__()"  # layers in a constructor that has not called the base's

# What torch says of things that are what they are whatever the data hold.
_OF_THE_KIND = ("invalid index of a 0-dim tensor", "view size is not compatible", "boolean masks", TOO_EARLY)

_INSTEAD_OF_A_TENSOR = re.compile(
    r"(must be Tensor, not|expected Tensor as element .* got) (float|int|bool|NoneType)\b"
)


def is_presumed(machine: Machine, failure: FailedOperation, text: str, between_layers: bool) -> bool:
    """Whether what was refused, in these words, came of something that nobody gave."""
    if failure.supposed or failure.never or _TOO_LARGE in text:
        return True
    if failure.by_dtype:
        return False
    if failure.guessed and not failure.by_data:
        return True
    unsure = not failure.sure if machine.scripting else failure.answered
    return unsure and not between_layers and not _is_of_the_kind(failure, text)


def _is_of_the_kind(failure: FailedOperation, text: str) -> bool:
    function = failure.function
    if any(isinstance(given, list) and not given for given in failure.args):
        return False  # a list of what is found may be filled
    if isinstance(failure.error, TypeError) and _INSTEAD_OF_A_TENSOR.search(text):
        return False  # `if not parts: return 0.0`: what is given back where there is nothing
    if isinstance(failure.error, TypeError):
        return True
    if isinstance(function, type) and issubclass(function, optim.Optimizer):
        return "Invalid" not in text  # a number, which may be a default that is never used
    return any(words in text for words in _OF_THE_KIND)
