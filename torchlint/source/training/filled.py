"""What is put into lists by statements of their own, and what tells one list from another of the same name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.values import Value
from torchlint.source.text.index import FUNCTIONS, enclosing_class, enclosing_function, last_word
from torchlint.source.text.spelling import unparsed

MAX_ELEMENTS = 300  # of one list, the first ones


def put_in(value: Value) -> Iterator[Value]:
    """What is appended to the list that a name or attribute holds."""
    node = value.node
    if isinstance(node, (ast.Name, ast.Attribute)):
        known = _elements(value.module, last_word(node))
        lists = [known[variable] for variable in variables(node, isinstance(node.ctx, ast.Load)) if variable in known]
        found = {id(element): element for elements in lists for element in elements}
        for element in sorted(found.values(), key=lambda element: element.pos) if len(lists) > 1 else found.values():
            yield value.at(element, ())


def put_where_made(made: Value) -> Iterator[Value]:
    """What is appended to a list under the name that it is given where it is made: `terms, rewards = [], []`."""
    holder, place = made.node.up, None
    if isinstance(holder, ast.Tuple):
        holder, place = holder.up, holder.elts.index(made.node)
    for target in holder.targets if isinstance(holder, ast.Assign) else ():
        if place is not None:
            is_opposite = isinstance(target, ast.Tuple) and len(target.elts) == len(made.node.up.elts)
            target = target.elts[place] if is_opposite else None
        if target is not None:
            yield from put_in(made.at(target, ()))


@remembered
def _elements(module: Module, word: str) -> dict[tuple, list[ast.expr]]:
    """What is appended under a word, by the variable that it is; not more than so many."""
    found: dict[tuple, list[ast.expr]] = {}
    for call in appends(module).get(word, ()):
        if call.args and isinstance(call.func.value, (ast.Name, ast.Attribute)):
            for variable in {*variables(call.func.value, False), *variables(call.func.value, True)}:
                elements = found.setdefault(variable, [])
                if len(elements) <= MAX_ELEMENTS:
                    elements.append(call.args[-1])
    return found


@remembered
def appends(module: Module) -> dict[str, list[ast.Call]]:
    """The calls of `append`, `extend` and `insert`, by the word before the dot."""
    found: dict[str, list[ast.Call]] = {}
    for word in ("append", "extend", "insert"):
        for call in module.index.callers(word):
            if isinstance(call.func, ast.Attribute):
                found.setdefault(last_word(call.func.value), []).append(call)
    return found


def variables(node: ast.Name | ast.Attribute, by_binding: bool) -> list[tuple]:
    """What tells a name or attribute from others that are written so.

    Under one name there may be a list here and a sum of another one there.
    """
    if isinstance(node, ast.Attribute):
        return [(unparsed(node), id(_class_of(node)))]
    scope = node.at.lookup(node.id)
    bound = reaching(node, scope) if by_binding and scope is not None else ()
    return [(node.id, id(scope), id(binding)) for binding in bound] or [(node.id, id(scope))]


def _class_of(node: ast.AST) -> ast.AST | None:
    function = enclosing_function(node)
    while function is not None and isinstance(function, FUNCTIONS):
        owner = enclosing_class(function)
        if owner is not None:
            return owner
        function = enclosing_function(function)
    return None


def read_of(statement: ast.AugAssign) -> ast.Name:
    """`y` as it is read by `y += 1`: the parser marks it as stored only. One node for each statement, so that what is
    asked about it is found once.
    """
    if not hasattr(statement, "read"):
        target = statement.target
        statement.read = name = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        name.up, name.at, name.pos = statement, target.at, target.pos
    return statement.read
