"""torch's Python kernels and optimizers without the compiler that each imports first: a second, for nothing."""

from __future__ import annotations

import types
from typing import Any

_done = [False]


def without_compiler() -> None:
    """Tell the kernels that there is nothing to hide from the compiler; where torch is built otherwise, do nothing."""
    if _done[0]:
        return
    _done[0] = True
    try:
        import torch._compile
        import torch.utils.checkpoint
        from torch._decomp import global_decomposition_table as tables
    except ImportError:
        return
    code = torch._compile._disable_dynamo(lambda: None).__code__
    kernels = [kernel for table in tables.values() for kernel in table.values()]
    _unhide([*kernels, *vars(torch.optim.Optimizer).values(), torch.utils.checkpoint.checkpoint], code)


def _unhide(functions: list[Any], code: Any) -> None:
    """Mark what `torch._disable_dynamo` wraps as prepared; it asks for this mark before it imports the compiler."""
    seen: set[int] = set()
    while functions:
        function = functions.pop()
        if type(function) is not types.FunctionType or id(function) in seen:
            continue
        seen.add(id(function))
        held = [cell.cell_contents for cell in function.__closure__ or () if callable(_content(cell))]
        for inner in held if function.__code__ is code else ():
            setattr(inner, "__dynamo_disable", inner)
        functions += held


def _content(cell: Any) -> Any:
    """What a closure holds, which may be nothing yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return None
