"""Functions of the standard library that make one plain value of others: of texts and short lists of numbers, and
nothing else.
"""

from __future__ import annotations

import bisect
import fnmatch
import keyword
import os.path
import statistics
import string
import textwrap
from collections.abc import Callable
from typing import Any

from torchlint.shapes.core.values import Special, Unknown

_LONGEST = 4000  # characters or items of an argument
_SCALARS = (int, float, str, bool, type(None))


def _plain(name: str, function: Callable) -> Special:
    def compute(machine, *args, **kwargs):
        if not all(map(_is_plain, (*args, *kwargs.values()))):
            return Unknown(f"{name} of an unknown")
        return function(*args, **kwargs)

    made = Special(name, compute)
    made.__dict__["pure"] = True
    return made


def _is_plain(value: Any) -> bool:
    if type(value) is str:
        return len(value) <= _LONGEST
    if type(value) is list or type(value) is tuple:
        return len(value) <= _LONGEST and all(type(item) in _SCALARS and _is_plain(item) for item in value)
    return type(value) in _SCALARS


_MODULES: dict[str, Any] = {
    "bisect": bisect,
    "fnmatch": fnmatch,
    "keyword": keyword,
    "os.path": os.path,
    "statistics": statistics,
    "string": string,
    "textwrap": textwrap,
}
_FUNCTIONS: dict[str, tuple[str, ...]] = {
    "bisect": ("bisect", "bisect_left", "bisect_right"),
    "fnmatch": ("fnmatch", "fnmatchcase"),
    "keyword": ("iskeyword",),
    "os.path": ("isabs", "normpath", "split", "splitext"),
    "statistics": ("mean", "median"),
    "string": ("capwords",),
    "textwrap": ("dedent", "indent"),
}
_TEXTS = "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits printable punctuation whitespace"
PLAIN: dict[str, Any] = {
    **{
        f"{home}.{name}": _plain(name, getattr(_MODULES[home], name))
        for home in _FUNCTIONS
        for name in _FUNCTIONS[home]
    },
    **{f"string.{name}": getattr(string, name) for name in _TEXTS.split()},
}
