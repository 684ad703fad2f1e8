"""Shapes that a user writes down, in the configuration or on the command line, as inputs of a forward."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from torchlint.shapes.search.attempts import ShapePattern, TensorGuess

_DTYPES = {
    "float": "float", "float32": "float", "double": "double", "float64": "double",
    "long": "long", "int": "long", "int64": "long", "bool": "bool",
}  # fmt: skip
_PLAIN = {"None": None, "True": True, "False": False}


def parse(text: str) -> Any:
    """`8,3,224,224`, `B,T:long` with letters for what is to be found, `()` for a scalar; `None`, `True` and
    quoted texts stand for themselves. Raises ValueError."""
    text = text.strip()
    if text in _PLAIN:
        return _PLAIN[text]
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    sizes, _, dtype = text.partition(":")
    if dtype.strip() and dtype.strip() not in _DTYPES:
        raise ValueError(f"`{dtype.strip()}` is not a dtype here; these are: {', '.join(_DTYPES)}")
    shape = []
    for part in filter(None, re.split(r"\s*[,x×]\s*|\s+", sizes.strip().strip("()[]").strip())):
        if part.isdigit() and int(part) < 2**31:
            shape.append(int(part))
        elif part.isalpha() and len(part) <= 8:
            shape.append(part)
        else:
            raise ValueError(f"`{part}` is not a size; a shape is written like 8,3,224,224 or B,3,H,W:float")
    if not shape and "()" not in sizes.replace(" ", ""):
        raise ValueError("a shape is written like 8,3,224,224")
    kind = _DTYPES[dtype.strip() or "float"]
    has_letters = any(isinstance(size, str) for size in shape)
    return ShapePattern(tuple(shape), kind) if has_letters else TensorGuess(tuple(shape), kind)


def configured(inputs: Mapping[str, Sequence[str]], path: str, name: str, parameters: Sequence[str]) -> dict[str, list]:
    """What the configuration says of a class: `"package.model:Net" = ["B,3,224,224"]`, one text for each argument in
    order."""
    parts = re.split(r"[/\\]", path.removesuffix(".py").removesuffix("/__init__"))
    for key, texts in inputs.items():
        module, _, wanted = key.rpartition(":")
        dotted = module.split(".") if module else []
        if wanted == name and parts[len(parts) - len(dotted) :] == dotted:
            try:
                return {parameter: [parse(text)] for parameter, text in zip(parameters, texts)}
            except ValueError:
                return {}
    return {}
