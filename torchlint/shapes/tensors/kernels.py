"""torch's Python kernels and optimizers without the compiler that each imports first: two seconds, for nothing. And its
transformers, without a look at the values of their masks.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.modules import transformer

_done = [False]
_LOOKS = "_detect_is_causal_mask"


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
    hidden = torch._compile._disable_dynamo(lambda: None).__code__
    kernels = [kernel for table in tables.values() for kernel in table.values()]
    for function, held in _within([*kernels, *vars(torch.optim.Optimizer).values(), torch.utils.checkpoint.checkpoint]):
        for inner in held if function.__code__ is hidden else ():
            # what is prepared already has this mark, and the compiler is not imported for it
            setattr(inner, "__dynamo_disable", inner)
    plain = _with_gradients_as_chosen(without_compiler).__code__
    optimizers = [kind for kind in vars(torch.optim).values() if isinstance(kind, type)]
    for function, _ in _within([getattr(kind, "step", None) for kind in optimizers]):
        code = function.__code__
        if code.co_name == "_use_grad" and code.co_freevars == plain.co_freevars:
            function.__code__ = plain


@contextmanager
def masks_as_given() -> Iterator[None]:
    """While this lasts, transformers do not look whether a mask lets pass what comes before, which only makes them
    faster: it takes values that nobody has.
    """
    before = getattr(transformer, _LOOKS, None)
    if before is not None:
        setattr(transformer, _LOOKS, lambda mask, is_causal=None, size=None: is_causal is True)
    try:
        yield
    finally:
        if before is not None:
            setattr(transformer, _LOOKS, before)


def _with_gradients_as_chosen(func: Callable) -> Callable:
    """What torch puts around the step of an optimizer, but for the breaks in the graph of a compiler."""

    def step(*args: Any, **kwargs: Any) -> Any:
        with torch.set_grad_enabled(args[0].defaults["differentiable"]):
            return func(*args, **kwargs)

    return step


def _within(functions: list[Any]) -> Iterator[tuple[types.FunctionType, list[Any]]]:
    """Each of these functions, and of those that they wrap, with what it wraps."""
    seen: set[int] = set()
    while functions:
        function = functions.pop()
        if type(function) is not types.FunctionType or id(function) in seen:
            continue
        seen.add(id(function))
        held = [cell.cell_contents for cell in function.__closure__ or () if callable(_content(cell))]
        yield function, held
        functions += held


def _content(cell: Any) -> Any:
    """What a closure holds, which may be nothing yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return None
