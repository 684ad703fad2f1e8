"""Which bindings of a name can reach a use of it, found by walking backwards over the statements before the use."""

from __future__ import annotations

import ast

from torchlint.source.text.index import COMPREHENSIONS, FUNCTIONS, LOOPS, Scope, ancestors

MAX_GUARDS = 20  # tests around a place that are looked at, the innermost ones
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_TRIES = (ast.Try, *([ast.TryStar] if hasattr(ast, "TryStar") else []))
_UNORDERED = (ast.ClassDef, *COMPREHENSIONS)  # whatever is bound in them counts
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def reaching(use: ast.Name, scope: Scope) -> list[ast.AST]:
    """The nodes that may have bound `use` when it is evaluated: stored names, parameters, imports, functions, classes.

    The answer is kept with the node: it does not depend on who asks.
    """
    bindings = scope.bindings.get(use.id, [])
    if len(bindings) <= 1 or isinstance(scope.node, _UNORDERED):
        return bindings
    if not hasattr(use, "reached"):
        use.reached = _reaching(use, scope, bindings)
    return use.reached


def _reaching(use: ast.Name, scope: Scope, bindings: list[ast.AST]) -> list[ast.AST]:
    statement = _statement_in(use, scope)
    if statement is None:  # a closure or another function's use of a global: any binding may be in force
        return bindings
    by_statement, parameters, remote = _sorted(use.id, bindings, scope)
    found = list(remote)
    if not _before(statement, scope.node, by_statement, found):
        found += parameters
    guards = _guards(use)
    if guards:
        found = [b for b in found if not _contradict(guards, _guards(b))]
    return list(dict.fromkeys(found)) or bindings


def _sorted(name: str, bindings: list[ast.AST], scope: Scope) -> tuple[dict[int, list[ast.AST]], list[ast.AST], list[ast.AST]]:
    """The bindings of a name by the ids of the nodes around them, its parameters, and what other functions bind; found out once."""
    if name not in scope.paths:
        by_statement: dict[int, list[ast.AST]] = {}
        parameters, remote = [], []
        for binding in bindings:
            if isinstance(binding, ast.arg):
                parameters.append(binding)
            elif _is_remote(binding, scope):
                remote.append(binding)
            else:
                for node in (binding, *ancestors(binding)):  # so that a block is known to hold a binding without searching it
                    by_statement.setdefault(id(node), []).append(binding)
                    if node is scope.node:
                        break
        scope.paths[name] = by_statement, parameters, remote
    return scope.paths[name]


def _is_remote(binding: ast.AST, scope: Scope) -> bool:
    """Is a name bound by another function (`global x`, `nonlocal x`), which may run at any time?"""
    node = binding.up
    while node is not None and node is not scope.node:
        if isinstance(node, FUNCTIONS):
            return True
        node = node.up
    return False


def _statement_in(use: ast.AST, scope: Scope) -> ast.stmt | None:
    """The statement of the scope's own body in which a use stands, None if another function lies between."""
    child, node = use, use
    while node is not None and node is not scope.node:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and child in node.body:
            return None  # it runs later; its defaults and decorators run now
        if isinstance(node, ast.stmt) and _owner(node) is scope.node:
            return node
        child, node = node, node.up
    return None


def _owner(statement: ast.stmt) -> ast.AST:
    """The function, class or module in whose body a statement directly or through blocks stands."""
    node = statement.up
    while not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Module)):
        node = node.up
    return node


def block_of(statement: ast.stmt) -> tuple[list[ast.stmt], int]:
    """The list of statements that holds a statement, and its place there."""
    if not hasattr(statement, "place"):
        statement.place = [statement], 0
        for field in _BLOCKS:
            block = getattr(statement.up, field, None)
            if isinstance(block, list):
                for i, other in enumerate(block):
                    other.place = block, i
    return statement.place


def _before(statement: ast.stmt, root: ast.AST, holds: dict, found: list) -> bool:
    """Collect what reaches the point before a statement from the start of `root`, a scope or a loop; True if every path binds the name."""
    node: ast.AST = statement
    while True:
        block, i = block_of(node)  # type: ignore[arg-type]
        if _block(block[:i], holds, found):
            return True
        parent = node.up
        if parent is root or isinstance(parent, ast.Module):
            return False
        if isinstance(parent, LOOPS) and block is parent.body:
            if isinstance(parent, (ast.For, ast.AsyncFor)) and _in_expression(parent.target, holds, found):
                return True  # every round binds it anew
            if id(parent) in holds:
                _block(block[i:], holds, found)  # bound in an earlier round
                _from_jumps(parent, ast.Continue, holds, found)
            if isinstance(parent, ast.While) and _in_expression(parent.test, holds, found):
                return True
        elif isinstance(parent, (ast.With, ast.AsyncWith)):
            if any(_in_expression(item, holds, found) for item in parent.items):
                return True
        elif isinstance(parent, ast.If) and _in_expression(parent.test, holds, found):
            return True
        elif isinstance(parent, _TRIES) and block is not parent.body:
            if block is parent.finalbody:
                for handler in parent.handlers:
                    _anywhere(handler.body, holds, found)
                _anywhere(parent.orelse, holds, found)
                _anywhere(parent.body, holds, found)
            elif _block(parent.body, holds, found):
                return True
        elif isinstance(parent, ast.ExceptHandler):
            if id(parent) in holds and parent in holds[id(parent)]:
                found.append(parent)
                return True
            node = parent.up
            _anywhere(node.body, holds, found)
            continue
        elif isinstance(parent, ast.match_case):
            if _in_expression(parent.pattern, holds, found):
                return True
            node = parent.up
            continue
        node = parent


def _from_jumps(loop: ast.AST, kind: type, holds: dict, found: list) -> bool:
    """Collect what reaches the `break` or `continue` statements of a loop within one round; True if all of them come with a binding."""
    return all([_before(jump, loop, holds, found) for jump in loop.jumps if isinstance(jump, kind)])


def _anywhere(block: list[ast.stmt], holds: dict, found: list) -> None:
    """Collect all that a block binds: an exception may leave it after any statement."""
    for statement in block:
        found += holds.get(id(statement), ())


def _block(block: list[ast.stmt], holds: dict, found: list) -> bool:
    """Collect the bindings that leave a block alive; True if all paths through it bind the name (or never leave)."""
    return any(_statement(statement, holds, found) for statement in reversed(block))


def _statement(statement: ast.stmt, holds: dict, found: list) -> bool:
    if isinstance(statement, _ENDS):
        return True
    if id(statement) not in holds:
        if isinstance(statement, ast.If):  # `if …: return` binds nothing, but its branch never arrives here
            return bool(statement.orelse) and _ends(statement.body) and _ends(statement.orelse)
        return False
    if isinstance(statement, ast.If):
        in_test, bodies = _in_expression(statement.test, holds, found), [_block(statement.body, holds, found)]
        while len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):  # a chain of `elif` may be long
            statement = statement.orelse[0]
            _in_expression(statement.test, holds, found)
            bodies.append(_block(statement.body, holds, found))
        return in_test or all([*bodies, _block(statement.orelse, holds, found)])
    if isinstance(statement, LOOPS):
        by_break = _from_jumps(statement, ast.Break, holds, found)
        if isinstance(statement, ast.While) and isinstance(statement.test, ast.Constant) and statement.test.value:
            return by_break  # there is no other way out
        if _block(statement.orelse, holds, found):
            return by_break
        _block(statement.body, holds, found)
        _from_jumps(statement, ast.Continue, holds, found)
        if isinstance(statement, ast.While):
            return _in_expression(statement.test, holds, found)
        _in_expression(statement.target, holds, found)
        return False
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return _block(statement.body, holds, found) or any(_in_expression(i, holds, found) for i in statement.items)
    if isinstance(statement, _TRIES):
        if _block(statement.finalbody, holds, found):
            return True
        handlers = [_block(handler.body, holds, found) for handler in statement.handlers]
        if not all(handlers):
            _anywhere(statement.body, holds, found)
        body = _block(statement.orelse, holds, found) or _block(statement.body, holds, found)
        return body and all(handlers)
    if isinstance(statement, ast.Match):
        for case in statement.cases:
            _block(case.body, holds, found)
        return False
    return _in_expression(statement, holds, found)


def _ends(block: list[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], _ENDS)


def _in_expression(node: ast.AST, holds: dict, found: list) -> bool:
    bindings = holds.get(id(node))
    if not bindings:
        return False
    found += bindings
    return True


def _guards(node: ast.AST) -> list[tuple[str, bool]]:
    """The conditions under which a node runs, as (text of the test, its truth), within its function."""
    found: list[tuple[str, bool]] = []
    child = node
    for parent in ancestors(node):
        if isinstance(parent, FUNCTIONS):
            break
        if isinstance(parent, ast.If) and child is not parent.test:
            if not hasattr(parent, "text"):
                test, sense = parent.test, True
                while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                    test, sense = test.operand, not sense
                parent.text, parent.sense = ast.dump(test), sense
            found.append((parent.text, (child not in parent.orelse) == parent.sense))
            if len(found) == MAX_GUARDS:
                break
        child = parent
    return found


def _contradict(a: list[tuple[str, bool]], b: list[tuple[str, bool]]) -> bool:
    return any(test == other and truth != value for test, truth in a for other, value in b)


def exclusive(a: ast.AST, b: ast.AST) -> bool:
    """Do two places run only under contradicting conditions (`if c: … else: …`, `if c` and later `if not c`)?"""
    return _contradict(_guards(a), _guards(b))
