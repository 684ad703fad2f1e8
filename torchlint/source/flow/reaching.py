"""Which bindings of a name can reach a use of it, found by walking backwards over the statements before the use."""

from __future__ import annotations

import ast
from bisect import bisect_left

from torchlint.source.text.index import (
    COMPREHENSIONS,
    FUNCTIONS,
    LOOPS,
    Scope,
    ancestors,
    block_of,
    enclosing_function,
    first_of_elifs,
    is_in,
    owner_of,
    statement_of,
)
from torchlint.source.text.spelling import dumped

MAX_BINDINGS = 100  # of one name that are told apart at one place, the nearest ones
MAX_GUARDS = 20  # tests around a place that are looked at, the innermost ones
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_TRIES = (ast.Try, *([ast.TryStar] if hasattr(ast, "TryStar") else []))
_UNORDERED = (ast.ClassDef, *COMPREHENSIONS)  # whatever is bound in them counts


def reaching(use: ast.Name, scope: Scope) -> list[ast.AST]:
    """The nodes that may have bound `use` when it is evaluated: stored names, parameters, imports, functions, classes.

    The answer is kept with the node: it does not depend on who asks. Where there are MAX_BINDINGS, there may be more.
    """
    bindings = scope.bindings.get(use.id, [])
    if len(bindings) <= 1 or isinstance(scope.node, _UNORDERED):
        return bindings if len(bindings) <= MAX_BINDINGS else bindings[:MAX_BINDINGS]
    if not hasattr(use, "reached"):
        use.reached = _reaching(use, scope, bindings)
    return use.reached


def _reaching(use: ast.Name, scope: Scope, bindings: list[ast.AST]) -> list[ast.AST]:
    statement = _statement_in(use, scope)
    if statement is None:
        return _in_force_later(use, scope, bindings)
    name = _name(use.id, bindings, scope)
    found = list(name.remote[:MAX_BINDINGS])
    if not _before(statement, scope.node, name, found):
        found += name.parameters
    guards = _guards(use)
    if guards:
        found = [b for b in found if not _contradict(guards, _guards(b))]
    return list(dict.fromkeys(found))[:MAX_BINDINGS] or bindings[:MAX_BINDINGS]


def _in_force_later(use: ast.Name, scope: Scope, bindings: list[ast.AST]) -> list[ast.AST]:
    """A closure or another function's use of a global: any binding may be in force but those replaced before the
    function was made.
    """
    statement = statement_of(use)
    while (owner := owner_of(statement)) is not scope.node:
        if isinstance(owner, ast.Module):  # what a lambda binds
            return bindings[:MAX_BINDINGS]
        statement = owner
    if len(bindings) > MAX_BINDINGS:
        return bindings[:MAX_BINDINGS]
    name = _name(use.id, bindings, scope)
    found = list(name.remote)
    if not _before(statement, scope.node, name, found):
        found += name.parameters
    alive = set(map(id, found))
    return [
        b for b in bindings if id(b) in alive or getattr(b, "lineno", statement.lineno) >= statement.lineno
    ] or bindings


class _Name:
    """Where the bindings of a name in a scope stand, found out once, so that nothing else is looked at on the way to
    them.
    """

    def __init__(self, bindings: list[ast.AST], scope: Scope):
        self.parameters: list[ast.AST] = []
        self.remote: list[ast.AST] = []  # what other functions bind
        self.holds: dict[int, list[ast.AST]] = {}  # the bindings in each node around them, by its id
        self.places: dict[int, list[int]] = {}  # by the id of each block: where in it bindings are
        self.passed: dict[int, tuple[bool, list[ast.AST]]] = {}  # by the id of a statement: what leaves it alive
        self.in_tests = False  # is it bound by a test: `if (x := f()):`?
        for binding in bindings:
            if isinstance(binding, ast.arg):
                self.parameters.append(binding)
            elif _is_remote(binding, scope):
                self.remote.append(binding)
            else:
                self._stands(binding, scope)

    def _stands(self, binding: ast.AST, scope: Scope) -> None:
        self.in_tests = self.in_tests or isinstance(binding.up, ast.NamedExpr)
        for node in (binding, *ancestors(binding)):
            there = self.holds.setdefault(id(node), [])
            if len(there) > MAX_BINDINGS:  # and so there are around it
                break
            there.append(binding)
            if isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                block, i = block_of(node)
                places = self.places.setdefault(id(block), [])
                at = bisect_left(places, i)
                if places[at : at + 1] != [i]:
                    places.insert(at, i)
            if node is scope.node:
                break


def _name(name: str, bindings: list[ast.AST], scope: Scope) -> _Name:
    if name not in scope.paths:
        scope.paths[name] = _Name(bindings, scope)
    return scope.paths[name]


def _is_remote(binding: ast.AST, scope: Scope) -> bool:
    """Is a name bound by another function (`global x`, `nonlocal x`), which may run at any time?"""
    if isinstance(scope.node, ast.Lambda):
        return False
    owner = owner_of(statement_of(binding))
    while owner is not scope.node and isinstance(owner, ast.ClassDef):
        owner = owner_of(owner)
    return owner is not scope.node and isinstance(owner, FUNCTIONS)


def _statement_in(use: ast.AST, scope: Scope) -> ast.stmt | None:
    """The statement of the scope's own body in which a use stands, None if another function lies between."""
    statement = statement_of(use)
    while (owner := owner_of(statement)) is not scope.node:
        if not isinstance(owner, ast.ClassDef):
            return None  # a function runs later; its defaults and decorators run now
        statement = owner
    return statement


def _before(statement: ast.stmt, root: ast.AST, name: _Name, found: list) -> bool:
    """Collect what reaches the point before a statement from the start of `root`, a scope or a loop; True if every path
    binds the name.
    """
    node: ast.AST = statement
    while True:
        block, i = block_of(node)  # type: ignore[arg-type]
        if _block(block, name, found, i):
            return True
        parent = node.up
        if parent is root or isinstance(parent, ast.Module):
            return False
        if isinstance(parent, LOOPS) and block is parent.body:
            if isinstance(parent, (ast.For, ast.AsyncFor)) and _in_expression(parent.target, name, found):
                return True  # every round binds it anew
            if id(parent) in name.holds:
                _block(block, name, found, start=i)  # bound in an earlier round
                _from_jumps(parent, ast.Continue, name, found)
            if isinstance(parent, ast.While) and _in_expression(parent.test, name, found):
                return True
        elif isinstance(parent, (ast.With, ast.AsyncWith)):
            if any(_in_expression(item, name, found) for item in parent.items):
                return True
        elif isinstance(parent, ast.If):
            if _in_expression(parent.test, name, found):
                return True
            if not name.in_tests:
                parent = first_of_elifs(parent)
        elif isinstance(parent, _TRIES) and block is not parent.body:
            if block is parent.finalbody:
                for handler in parent.handlers:
                    _anywhere(handler.body, name, found)
                _anywhere(parent.orelse, name, found)
                _anywhere(parent.body, name, found)
            elif _block(parent.body, name, found):
                return True
        elif isinstance(parent, ast.ExceptHandler):
            if id(parent) in name.holds and parent in name.holds[id(parent)]:
                found.append(parent)
                return True
            node = parent.up
            _anywhere(node.body, name, found)
            continue
        elif isinstance(parent, ast.match_case):
            if _in_expression(parent.pattern, name, found):
                return True
            node = parent.up
            continue
        node = parent


def _from_jumps(loop: ast.AST, kind: type, name: _Name, found: list) -> bool:
    """Collect what reaches the `break` or `continue` statements of a loop within one round; True if all of them come
    with a binding.
    """
    return all(_before(jump, loop, name, found) for jump in loop.jumps if isinstance(jump, kind))


def _anywhere(block: list[ast.stmt], name: _Name, found: list) -> None:
    """Collect all that a block binds: an exception may leave it after any statement."""
    for i in name.places.get(id(block), ())[-MAX_BINDINGS:]:
        found += name.holds[id(block[i])]


def _block(block: list[ast.stmt], name: _Name, found: list, stop: int | None = None, start: int = 0) -> bool:
    """Collect the bindings that leave a block (or a part of it) alive; True if all paths through it bind the name (or
    never leave).
    """
    stop = len(block) if stop is None else stop
    held, ends = name.places.get(id(block), ()), _ends_in(block)
    i, j = bisect_left(held, stop), bisect_left(ends, stop)
    while i or j:
        at = max(held[i - 1] if i else -1, ends[j - 1] if j else -1)
        if at < start:
            return False
        if len(found) > MAX_BINDINGS or _statement(block[at], name, found):
            return True
        i, j = i - bool(i and held[i - 1] == at), j - bool(j and ends[j - 1] == at)
    return False


def _ends_in(block: list[ast.stmt]) -> list[int]:
    """Where in a block what comes after is not reached: `return` and its kin, also in both branches of an `if`."""
    if not block:
        return []
    if not hasattr(block[0], "ends"):
        block[0].ends = [
            i
            for i, statement in enumerate(block)
            if isinstance(statement, _ENDS)
            or isinstance(statement, ast.If)
            and statement.orelse
            and _ends(statement.body)
            and _ends(statement.orelse)
        ]
    return block[0].ends


def _statement(statement: ast.stmt, name: _Name, found: list) -> bool:
    """Collect the bindings that leave a statement alive. What it lets through does not depend on who asks."""
    if id(statement) not in name.passed:
        alive: list[ast.AST] = []
        name.passed[id(statement)] = _passes(statement, name, alive), alive
    surely, alive = name.passed[id(statement)]
    found += alive
    return surely


def _passes(statement: ast.stmt, name: _Name, found: list) -> bool:
    if isinstance(statement, _ENDS):
        return True
    if id(statement) not in name.holds:  # `if …: return` binds nothing, but its branch never arrives here
        return (
            isinstance(statement, ast.If)
            and bool(statement.orelse)
            and _ends(statement.body)
            and _ends(statement.orelse)
        )
    if isinstance(statement, ast.If):
        in_test, bodies = _in_expression(statement.test, name, found), [_block(statement.body, name, found)]
        while (
            len(statement.orelse) == 1
            and id(statement.orelse[0]) in name.holds
            and isinstance(statement.orelse[0], ast.If)
        ):  # a chain of `elif` may be long
            statement = statement.orelse[0]
            _in_expression(statement.test, name, found)
            bodies.append(_block(statement.body, name, found))
        is_elif = len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If)
        return in_test or all(
            [*bodies, _all_end(statement.orelse[0]) if is_elif else _block(statement.orelse, name, found)]
        )
    if isinstance(statement, LOOPS):
        by_break = _from_jumps(statement, ast.Break, name, found)
        if isinstance(statement, ast.While) and isinstance(statement.test, ast.Constant) and statement.test.value:
            return by_break  # there is no other way out
        if _block(statement.orelse, name, found):
            return by_break
        _block(statement.body, name, found)
        _from_jumps(statement, ast.Continue, name, found)
        if isinstance(statement, ast.While):
            return _in_expression(statement.test, name, found)
        _in_expression(statement.target, name, found)
        return False
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return _block(statement.body, name, found) or any(_in_expression(i, name, found) for i in statement.items)
    if isinstance(statement, _TRIES):
        if _block(statement.finalbody, name, found):
            return True
        handlers = [_block(handler.body, name, found) for handler in statement.handlers]
        if not all(handlers):
            _anywhere(statement.body, name, found)
        body = _block(statement.orelse, name, found) or _block(statement.body, name, found)
        return body and all(handlers)
    if isinstance(statement, ast.Match):
        for case in statement.cases:
            _block(case.body, name, found)
        return False
    return _in_expression(statement, name, found)


def _ends(block: list[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], _ENDS)


def _all_end(statement: ast.If) -> bool:
    """Does no branch of the rest of a chain of `elif` arrive at its end?"""
    chain = []
    while not hasattr(statement, "all_end"):
        chain.append(statement)
        if len(statement.orelse) != 1 or not isinstance(statement.orelse[0], ast.If):
            end = bool(_ends_in(statement.orelse))
            break
        statement = statement.orelse[0]
    else:
        end = statement.all_end
    for statement in reversed(chain):
        end = statement.all_end = end and bool(_ends_in(statement.body))
    return end


def _in_expression(node: ast.AST, name: _Name, found: list) -> bool:
    bindings = name.holds.get(id(node))
    if not bindings:
        return False
    found += bindings
    return True


def _guards(node: ast.AST) -> list[tuple[str, bool]]:
    """The conditions under which a node runs, as (text of the test, its truth), within its function."""
    if isinstance(node, ast.arg) or isinstance(enclosing_function(node), ast.Lambda):
        return []
    child: ast.AST = node if isinstance(node, (ast.ExceptHandler, ast.match_case)) else statement_of(node)
    if isinstance(child, FUNCTIONS) and child is not node:  # a default, an annotation, a decorator
        return []
    if hasattr(child, "guards"):
        return child.guards
    at, found = child, []
    for parent in ancestors(child):
        if isinstance(parent, FUNCTIONS):
            break
        if isinstance(parent, ast.If):
            if not hasattr(parent, "text"):
                test, sense = parent.test, True
                while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                    test, sense = test.operand, not sense
                parent.text, parent.sense = dumped(test), sense
            found.append((parent.text, (not is_in(child, parent.orelse)) == parent.sense))
            if len(found) == MAX_GUARDS:
                break
        child = parent
    at.guards = found
    return found


def _contradict(a: list[tuple[str, bool]], b: list[tuple[str, bool]]) -> bool:
    return any(test == other and truth != value for test, truth in a for other, value in b)


def contradict_in_words(a: ast.AST, b: ast.AST) -> bool:
    """Do two places run under the same test, once where it holds and once where it fails?"""
    return _contradict(_guards(a), _guards(b))
