"""Whether an expression is certainly a call of one of some functions."""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import callees
from torchlint.source.flow.values import Value


def is_call_of(value: Value, functions: frozenset[str]) -> bool:
    """Is it a call of one of these, whichever part of its result is meant?"""
    names = {callee.name for callee in callees(value)} if isinstance(value.node, ast.Call) else set()
    return bool(names) and names <= functions


def is_result_of(value: Value, functions: frozenset[str]) -> bool:
    """Is it all that a call of one of these gives?"""
    return not value.path and is_call_of(value, functions)
