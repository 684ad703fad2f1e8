"""Conditions that nobody can decide: what their statements say of which side is the less likely one."""

from __future__ import annotations

import ast

_EXITS = ("exit", "_exit", "quit")


def raises(nodes: list[ast.stmt]) -> bool:
    """`raise`, `sys.exit(1)`, `parser.error("…")`"""
    last = nodes[-1] if nodes else None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        words = ast.unparse(last.value.func).split(".")
        return words[-1] in _EXITS and len(words) < 3 or words[-1] == "error" and "pars" in words[0].lower()
    return isinstance(last, ast.Raise)


def leaves_out(nodes: list[ast.stmt]) -> bool:
    """`continue`, but for what is said or counted before."""
    return isinstance(nodes[-1], ast.Continue) and all(isinstance(n, (ast.Expr, ast.AugAssign)) for n in nodes[:-1])


def ends_loop(nodes: list[ast.stmt]) -> bool:
    """`break`, or `return` without a value."""
    return isinstance(nodes[-1], ast.Break) or isinstance(nodes[-1], ast.Return) and nodes[-1].value is None


def keeps_the_best(node: ast.If) -> bool:
    """`if loss < best: best = loss`: the search for the largest or smallest."""
    compared = {
        ast.unparse(side)
        for part in (node.test.values if isinstance(node.test, ast.BoolOp) else [node.test])
        if isinstance(part, ast.Compare) and isinstance(part.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
        for side in (part.left, part.comparators[0])
        if isinstance(side, (ast.Name, ast.Attribute))
    }
    if not compared or node.orelse:
        return False
    targets = [t for s in node.body if isinstance(s, ast.Assign) for t in s.targets]
    return any(ast.unparse(one) in compared for t in targets for one in getattr(t, "elts", [t]))
