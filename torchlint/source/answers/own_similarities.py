"""Similarities of embeddings with themselves, each of which is most like itself unless that is taken out."""

from __future__ import annotations

import ast
import re

from torchlint.facts import named_of, words
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import argument, receiver, unparsed

# What a function says that takes out the diagonal, or what stands for it.
_TAKING_OUT = words(named_of("eye", "diag", "where", "triu", "tril", "scatter", "nonzero", "select"))
_TAKEN_OUT = re.compile(
    "|".join((*sorted(_TAKING_OUT), "mask", "fill", r"inf\b", r"\de\d", "off_", "!=", "~", "logical"))
)
_TURNS = words(named_of("t", "transpose", "permute")) | {"T"}
_PRODUCTS = named_of("mm", "matmul")
_SCALING = (ast.Div, ast.Mult)
_SCALED_BY = words(named_of("div", "mul", "clone", "float"))
_DEEP = 6


def similarity_with_itself(logits: Value) -> Value | None:
    """The product of embeddings with themselves that scores come from, through a temperature alone."""
    passed = unscaled(logits)
    return passed[-1] if passed and _is_of_itself(passed[-1]) and not any(map(_is_taken_out, passed)) else None


def unscaled(scores: Value) -> list[Value]:
    """What scores are made of behind a temperature, `a @ b.t()` of `(a @ b.t()) / t`, last, and all on the way."""
    passed = [scores]
    for _ in range(_DEEP):
        found = origins(passed[-1])
        if len(found) != 1 or found[0].node is None or found[0].path:
            return []
        [made] = found
        node = made.node
        passed.append(made)
        if isinstance(node, ast.BinOp) and isinstance(node.op, _SCALING):
            inner = next((side for side in (node.left, node.right) if _is_product(made.at(side, ()))), node.left)
            passed.append(made.at(inner, ()))
        elif (
            isinstance(node, ast.Call) and last_word(node.func) in _SCALED_BY and (given := receiver(node)) is not None
        ):
            passed.append(made.at(given, ()))
        else:
            return passed
    return []


def multiplied(made: Value) -> list[ast.expr]:
    """`a` and `b` of `a @ b`, `torch.mm(a, b)` and `a.matmul(b)`"""
    node = made.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return [node.left, node.right]
    names = {callee.name for callee in callees(made)} if isinstance(node, ast.Call) else set()
    if not names or not names <= _PRODUCTS:
        return []
    sides = node.args if len(node.args) == 2 else [receiver(node), *node.args]
    return sides if len(sides) == 2 and None not in sides else []


def _is_product(value: Value) -> bool:
    return any(multiplied(made) or _is_of_itself(made) for made in origins(value) if made.node is not None)


def _is_of_itself(made: Value) -> bool:
    """`z @ z.T`, `torch.mm(z, z.t())`, `F.cosine_similarity(z.unsqueeze(1), z.unsqueeze(0), dim=2)`"""
    node = made.node
    names = {callee.name for callee in callees(made)} if isinstance(node, ast.Call) else set()
    if names & {"torch.nn.functional.cosine_similarity", "torch.nn.CosineSimilarity()"}:
        first, second = argument(node, "x1", 0), argument(node, "x2", 1)
        return _widened(first, 1) is not None and _widened(first, 1) == _widened(second, 0)
    sides = multiplied(made)
    return bool(sides) and _is_turned(sides[1], sides[0])


def unturned(turned: ast.expr) -> ast.expr | None:
    """`z` of `z.T`, `z.t()` and `z.transpose(0, 1)`"""
    part = turned.func if isinstance(turned, ast.Call) else turned
    if not isinstance(part, ast.Attribute) or part.attr not in _TURNS:
        return None
    numbers = sorted(unparsed(one) for one in turned.args) if isinstance(turned, ast.Call) else []
    return part.value if numbers in ([], ["0", "1"]) else None


def _is_turned(turned: ast.expr, plain: ast.expr) -> bool:
    inner = unturned(turned)
    return inner is not None and unparsed(inner) == unparsed(plain)


def _widened(node: ast.expr | None, axis: int) -> str | None:
    """`z` of `z.unsqueeze(1)` and of `z[:, None]`, for 1"""
    if isinstance(node, ast.Call) and last_word(node.func) == "unsqueeze" and (given := receiver(node)) is not None:
        told = argument(node, "dim", 0)
        return unparsed(given) if told is not None and unparsed(told) == str(axis) else None
    if isinstance(node, ast.Subscript):
        places = unparsed(node.slice).replace(" ", "").strip("()")
        wanted = ("None", "None,:", "None,:,:") if axis == 0 else (":,None", ":,None,:")
        return unparsed(node.value) if places in wanted else None
    return None


def _is_taken_out(made: Value) -> bool:
    """May something in the function around it hide that each is most like itself?"""
    return _hides(made.module, enclosing_function(made.node) or made.module.tree)


@remembered
def _hides(module: Module, around: ast.AST) -> bool:
    text = module.index.text if around is module.tree else module.segment(around)
    return _TAKEN_OUT.search(text) is not None


def are_places_of_others(labels: Value) -> bool:
    """Are labels certainly the places of other rows: the second half for the first, and the other way round?"""
    found = origins(labels)
    if len(found) != 1 or found[0].node is None or found[0].path:
        return False
    [made] = found
    if isinstance(made.node, ast.Call) and last_word(made.node.func) in ("to", "long", "cuda"):
        return (given := receiver(made.node)) is not None and are_places_of_others(made.at(given, ()))
    text = unparsed(made.node)
    if "arange" not in text or isinstance(made.node, ast.Call) and last_word(made.node.func) == "arange":
        return False
    if isinstance(made.node, ast.BinOp):
        return isinstance(made.node.op, ast.Mod) and "+" in text
    if not isinstance(made.node, ast.Call):
        return False
    return last_word(made.node.func) == "roll" or _are_halves(made.node)


def _are_halves(joined: ast.Call) -> bool:
    """`torch.cat([torch.arange(n, 2 * n), torch.arange(n)])`, `torch.cat([torch.arange(n) + n, torch.arange(n)])`"""
    parts = getattr(joined.args[0], "elts", []) if joined.args and last_word(joined.func) in ("cat", "concat") else []
    if len(parts) != 2 or not all("arange" in unparsed(part) for part in parts):
        return False
    return _begins_behind(parts[0]) and not _begins_behind(parts[1])


def _begins_behind(part: ast.expr) -> bool:
    if isinstance(part, ast.BinOp):
        return isinstance(part.op, ast.Add)
    return isinstance(part, ast.Call) and len(part.args) > 1 and unparsed(part.args[0]) != "0"
