"""What a loop finds that may end in any of its rounds: a number, word or layer may be that of another one."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.values import Unknown


def found_in_a_round(value: Any, written: ast.expr, bound: set[str], growing: frozenset[str] = frozenset()) -> Any:
    """What a search returns that may end in another round, if the rounds have named it: a tensor that each round makes
    of the last one's has any shape.
    """
    if isinstance(written, ast.Tuple) and type(value) is tuple and len(written.elts) == len(value):
        return tuple(found_in_a_round(part, node, bound, growing) for part, node in zip(value, written.elts))
    names = {n.id for n in ast.walk(written) if isinstance(n, ast.Name)}
    if names & growing and isinstance(value, torch.Tensor):
        return Unknown("each round makes another one of it")
    return of_any_round(value) if names & bound else value


@lru_cache(256)
def made_of_themselves(node: ast.For | ast.While) -> frozenset[str]:
    """`tokens = torch.cat([tokens, token])`: the names that a round sets to what is made of what they were."""
    return frozenset(
        target.id
        for part in node.body
        for one in ast.walk(part)
        if isinstance(one, ast.Assign) and not isinstance(one.value, ast.Name)
        for target in one.targets
        if isinstance(target, ast.Name)
        and any(isinstance(n, ast.Name) and n.id == target.id for n in ast.walk(one.value))
    )


def of_any_round(value: Any) -> Any:
    """A number, word or layer that may be that of another round; tensors have the shape of their kind."""
    found = type(value) in (int, float, str) or isinstance(value, (nn.Module, nn.Parameter))
    return Unknown("it is found in a round that nobody knows") if found else value


@lru_cache(256)
def given_by_rounds(node: ast.For | ast.While) -> tuple[frozenset[str], frozenset[str]]:
    """The names and attributes that a loop sets to what it goes over, or to a part of that."""
    names = {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)} if isinstance(node, ast.For) else set()
    fields = set()
    for part in node.body if names else ():
        for one in ast.walk(part):
            if not isinstance(one, ast.Assign) or any(isinstance(n, ast.Call) for n in ast.walk(one.value)):
                continue
            if any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(one.value)):
                names |= {t.id for t in one.targets if isinstance(t, ast.Name)}
                fields |= {t.attr for t in one.targets if isinstance(t, ast.Attribute)}
    return frozenset(names), frozenset(fields)
