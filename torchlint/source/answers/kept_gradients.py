"""Whether the code of a file relies on gradients that are there: those that it reads without asking for None."""

from __future__ import annotations

import ast

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.regions import tests_around


@remembered
def reads_gradients_unasked(module: Module) -> bool:
    return any(_is_read(grad) and not _is_asked_for(grad) for grad in module.index.attributes("grad"))


def _is_read(grad: ast.Attribute) -> bool:
    """Is it not `torch.autograd.grad(…)`, not set, and not what is asked for?"""
    called = isinstance(grad.up, ast.Call) and grad.up.func is grad
    return isinstance(grad.ctx, ast.Load) and not called and not _is_for_none(grad.up)


def _is_for_none(test: ast.AST) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.comparators[0], ast.Constant)


def _is_asked_for(grad: ast.Attribute) -> bool:
    """`if p.grad is not None: read(p.grad)`, also in a comprehension, and after `if p.grad is None: continue`"""
    text, around = unparsed(grad), grad
    tests = list(tests_around(grad))
    while not isinstance(around, ast.stmt):
        around = around.up
        tests += [(test, True) for part in getattr(around, "generators", ()) for test in part.ifs]
    before = [one for one in getattr(around.up, "body", ()) if isinstance(one, ast.If) and one.lineno < around.lineno]
    tests += [(one.test, False) for one in before if isinstance(one.body[-1], (ast.Continue, ast.Return))]
    return any(f"{text} is {'not ' * holds}None" in _parts(test, holds) for test, holds in tests)


def _parts(test: ast.expr, holds: bool) -> list[str]:
    """What is true for itself where `a and b` holds, and what is false where `a or b` does not"""
    joined = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holds else ast.Or)
    return [unparsed(part) for part in (test.values if joined else [test])]
