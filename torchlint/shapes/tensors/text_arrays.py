"""Arrays of texts: what is in them nobody knows, but how many there are, and where one may equal a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from torchlint.shapes.core.values import Unknown
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import fresh


class TextPlaces:
    """What is known of an unknown that is an array of texts: an array of truths in its place."""

    __slots__ = ("truths",)

    def __init__(self, truths: Any):
        self.truths = truths  # known in part, where its sizes are


def text_array(shape: Sequence[int]) -> Unknown:
    return with_places(fresh(shape, torch.bool))


def with_places(truths: Any) -> Unknown:
    """An array of texts that has the places of another one."""
    return wild.unknown("an array of texts", TextPlaces(truths))


def places_of(value: Any) -> Any:
    """An array as large as this one of texts; None of other things."""
    return value.known.truths if type(value) is Unknown and type(value.known) is TextPlaces else None
