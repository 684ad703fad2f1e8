"""Optimizers that are cleared in one loop, `for o in optimizers: o.zero_grad()`, and step in another."""

from __future__ import annotations

import ast

from torchlint.source.text.index import enclosing_function, statement_of, within
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.acts import Act


def clears_each(clear: Act, step: Act) -> bool:
    """Do two loops of one function go through the same things, of which the one clears each and the other steps with
    each?
    """
    mine = [loop for loop in clear.event.loops if loop not in step.event.loops]
    its = [loop for loop in step.event.loops if loop not in clear.event.loops]
    if len(mine) != 1 or len(its) != 1 or clear.on is None or step.on is None or clear.module is not step.module:
        return False
    [clearing], [stepping] = mine, its
    if not isinstance(clearing, ast.For) or not isinstance(stepping, ast.For) or not _is_one_place(clearing, stepping):
        return False
    asked = [(id(test.node), truth) for test, truth in step.event.tests]
    is_always = all((id(test.node), truth) in asked for test, truth in clear.event.tests)
    leaves = any(clear.module.index.holds(clearing, kind) for kind in (ast.Continue, ast.Break, ast.Return))
    return is_always and not leaves and _takes(clearing, clear) and _takes(stepping, step)


def is_for_each(clear: Act, backward: Act) -> bool:
    """Does it clear each that a loop of its own goes through, before a backward behind that loop?"""
    loops = clear.event.loops
    is_plain = len(loops) == 1 and isinstance(loops[0], ast.For) and _takes(loops[0], clear)
    return is_plain and [statement_of(clear.node)] == loops[0].body and not backward.event.loops


def _is_one_place(clearing: ast.For, stepping: ast.For) -> bool:
    """Do they go through what has the same text, which nothing between them gives another meaning?"""
    function, text = enclosing_function(clearing), unparsed(clearing.iter)
    if function is not enclosing_function(stepping) or text != unparsed(stepping.iter):
        return False
    names = [part for part in ast.walk(clearing.iter) if isinstance(part, ast.Name)]
    scopes = [(name, name.at.lookup(name.id)) for name in names]
    bound = (one for name, scope in scopes if scope is not None for one in scope.bindings[name.id])
    return not any(clearing.lineno < getattr(one, "lineno", 0) < stepping.lineno for one in bound)


def _takes(loop: ast.For, act: Act) -> bool:
    """Is what is cleared or steps the loop's own variable, `o` of `for o in …` or of `for name, o in ….items()`?"""
    target = loop.target.elts[-1] if isinstance(loop.target, ast.Tuple) else loop.target
    asked = act.on.node
    is_own = isinstance(target, ast.Name) and isinstance(asked, ast.Name) and asked.id == target.id
    return is_own and within(asked, loop)
