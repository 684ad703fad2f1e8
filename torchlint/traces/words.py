"""Shapes and numbers as people read them, the same in every form of output."""

from __future__ import annotations

import re

from torchlint.notation import shape_text
from torchlint.printable import printable
from torchlint.shapes.core.table import ShownValue, Step

# What a label can do without.
_LONG_WORDS = re.compile(
    r"in_features=|out_features=|kernel_size=|, stride=\((?:1(?:, )?,?)+\)|, bias=True|, eps=1e-05|"
    r", elementwise_affine=True|, momentum=0.1|, affine=True|, track_running_stats=True"
)


def shape(value: ShownValue) -> str:
    """`(2, 64, 28, 28)`"""
    return shape_text(value.shape) if value.shape else "scalar"


def shapes(values: tuple[ShownValue, ...], most: int = 3) -> str:
    """Several shapes; equal ones in a row are counted."""
    parts: list[list] = []
    for value in values:
        text = shape(value)
        if parts and parts[-1][0] == text:
            parts[-1][1] += 1
        else:
            parts.append([text, 1])
    texts = [text if count == 1 else f"{count} of {text}" for text, count in parts]
    return ", ".join(texts[:most]) + (", …" if len(texts) > most else "")


def dtypes(step: Step) -> str:
    """The dtype of the result, and the device if it is not the CPU."""
    values = step.outputs or step.inputs
    kinds = list(dict.fromkeys(v.dtype for v in values))
    places = [v.device for v in values if v.device != "cpu"]
    return ", ".join(kinds) + (f" {places[0]}" if places else "")


def title(step: Step) -> str:
    """`c1: Conv2d(…)` for a layer, `flatten(1)` for an operation."""
    label = printable(_LONG_WORDS.sub("", step.label))
    return f"{printable(step.module)}: {label}" if step.layer and step.module else label


def count(number: int) -> str:
    """`51,902`"""
    return f"{number:,}"
