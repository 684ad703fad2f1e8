"""What a program writes of its values: `format`, `%` and `str`, as far as they are known and not too long."""

from __future__ import annotations

import re
import string
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.budget import Budget
from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Exhausted, Unknown
from torchlint.shapes.language import functions
from torchlint.shapes.language.expressions import PLAIN
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import Array

_LONG = 1000
_WIDE = re.compile(r"%[^a-zA-Z%]*(\d{4}|\*)")  # `%99999d`, `%*d`


class Texts:
    """The part of the machine that makes texts."""

    def format(self, value: Any, spec: Any, conversion: str = "", place: Any = None) -> Any:
        """`format(value, spec)`, for plain values only."""
        if type(value) is Unknown or type(spec) is Unknown:
            return wild.text()
        self.budget.touch(spec)
        if spec and any(len(n) > 4 or int(n) > 1000 for n in _numbers(spec)):
            raise Exhausted("it formats a very long text")
        if type(value) is str:
            self.budget.length(len(value))
        elif type(value) not in PLAIN:
            if spec and not conversion and _has_no_format(value):
                self.place = place or self.place
                self.refuse_format(value, spec)
            return self.text(value) if not spec else wild.text()
        elif isinstance(value, int) and value.bit_length() > Budget.BITS:
            raise Exhausted("it prints a number that is too large")
        return (
            format(repr(value) if conversion == "r" else value, spec) if conversion != "s" else format(str(value), spec)
        )

    def percent(self, template: str | bytes, values: Any) -> Any:
        """`template % values`"""
        if _WIDE.search(template if isinstance(template, str) else template.decode("latin-1")):
            return Unknown("a text of unknown width")
        parts = values if type(values) is tuple else (values,)
        if type(template) is str and (type(values) is tuple or type(values) in PLAIN):
            self.ask_percents(template, parts)
        if any(type(p) not in (str, int, float, bool) for p in parts):
            return wild.text()
        widest = max(map(int, _numbers(template)), default=0) if len(template) < 10_000 else 999
        self.budget.length(len(template) + widest * len(parts) + sum(len(p) if type(p) is str else 64 for p in parts))
        return template % values

    def ask_percents(self, template: str, values: tuple) -> None:
        """Whether a text has a field for each value, whatever those are of which only that is known."""
        if len(template) < _LONG and len(values) < _LONG:
            numbers = (int, float, bool)  # of a text one letter will do: nothing long is made to be looked at
            filled = tuple(v[:1] if type(v) is str else v if type(v) in numbers else 1 for v in values)
            try:
                template % filled
            except (TypeError, ValueError, OverflowError) as error:
                self.insist(error, says=f"{error}: `{template[:40]}`")

    def ask_fields(self, template: str, values: tuple, named: dict[str, Any]) -> None:
        """Whether `template.format(…)` finds a value for each field, and one that can be written so."""
        taken = 0
        for _, name, spec, conversion in string.Formatter().parse(template) if len(template) < _LONG else ():
            if name is None or not name.isidentifier() and not name.isdecimal() and name:
                continue
            place = name if name.isidentifier() else int(name or taken)
            taken += not name
            if place not in named if type(place) is str else place >= len(values):
                words = f"there is no value for `{{{place}}}` of `{template[:40]}`"
                self.insist(KeyError(place) if type(place) is str else IndexError(words), says=words)
                return
            value = named[place] if type(place) is str else values[place]
            if spec and "{" not in spec and not conversion and _has_no_format(value):
                self.refuse_format(value, spec)

    def refuse_format(self, value: Any, spec: str) -> None:
        """`f"{x:.2f}"` of several numbers"""
        kind = type(value).__name__ if type(value) is not Array else "numpy.ndarray"
        self.refuse(TypeError(f"unsupported format string passed to {kind}.__format__"), format, (value, spec))

    def text(self, value: Any) -> Any:
        """`str(value)`, without calling into anything unknown."""
        kind = type(value)
        if kind is str:
            return value
        if kind in PLAIN:
            if isinstance(value, int) and value.bit_length() > Budget.BITS:
                raise Exhausted("it prints a number that is too large")
            return str(value)
        for name in ("__str__", "__repr__"):
            method = getattr(kind, name, None)
            if functions.closure_of(method) is not None:
                return method(value)
        if kind in (torch.dtype, torch.Size):
            return str(value)
        if kind in (list, tuple) and len(value) < 64 and all(type(v) in PLAIN or type(v) is str for v in value):
            return str(value)
        if isinstance(value, StandIn) and value.as_text is not None:
            return value.as_text
        if isinstance(value, nn.Module) and kind.__module__.startswith("torch.nn.") and not value._modules:
            return self.foreign(repr, (value,), {})
        return wild.text()


def _has_no_format(value: Any) -> bool:
    """`f"{x:.2f}"` of several numbers"""
    if isinstance(value, (torch.Tensor, Array)):
        return value.ndim > 0
    return type(value) in (list, tuple, dict, set)


def _numbers(text: Any) -> list[str]:
    """The runs of digits in a format: widths and precisions."""
    text = text.decode("latin-1") if isinstance(text, bytes) else str(text)
    return "".join(c if c.isdigit() else " " for c in text).split()
