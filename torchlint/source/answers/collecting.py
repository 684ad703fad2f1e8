"""What adds to something that lasts: `total += loss`, `losses.append(loss)`, and a function or method that does so."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.answers.forgetting import Collecting, base, forgets, is_default
from torchlint.source.answers.keeping_flags import is_known_to_keep
from torchlint.source.flow.calling import Callee
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import PARAMETER, TENSOR, kinds
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import FUNCTIONS, last_word
from torchlint.source.text.spelling import receiver, unparsed


def collecting(module: Module, body: list[ast.stmt], methods: int = 2) -> Iterator[Collecting]:
    """The places in some statements that add to something: `t += x`, `t = t + x`, `xs.append(x)`, `meter.update(x)`."""
    stack: list[ast.AST] = list(reversed(body))
    while stack:
        node = stack.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            if not _are_numbers(module, node.target):
                yield Collecting(node, node.target, [node.value])
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            yield from _assigned(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if (
                node.func.attr in ("append", "appendleft", "extend", "insert")
                and node.args
                and _is_known_list(Value(module, node.func.value))
            ):
                yield Collecting(node, node.func.value, [node.args[-1]])
            elif methods:  # of methods that call each other, only the first few: they may do it in a circle
                yield from _by_method(module, node, methods)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and methods and len(node.args) > 1:
            yield from _by_function(module, node, methods)
        stack += reversed(list(ast.iter_child_nodes(node)))


def _are_numbers(module: Module, target: ast.expr) -> bool:
    """`weights.data[i] += step` changes numbers and records nothing."""
    holder = base(target)
    return (
        isinstance(holder, ast.Attribute)
        and holder.attr == "data"
        and bool(kinds(Value(module, holder.value)) & {TENSOR, PARAMETER})
    )


def _is_known_list(value: Value) -> bool:
    """Known to be a list or a deque: a class of somebody's own may do with what is appended what it likes."""
    found = origins(value)
    return bool(found) and all(map(_is_list, found))


def _is_list(origin: Value) -> bool:
    node = origin.node
    if isinstance(node, (ast.List, ast.ListComp)):
        return not origin.path
    if isinstance(node, ast.BinOp):  # `[[]] * n`, `history[-100:] + [loss]`
        return any(_is_known_list(origin.at(part, ())) for part in (node.left, node.right))
    if isinstance(node, ast.Subscript):
        holders = origins(origin.at(node.value, ()))
        return bool(holders) and all(_holds_lists(holder) for holder in holders)
    if not isinstance(node, ast.Call) or origin.path:
        return False
    if is_default(node):
        return _is_known_list(origin.at(node.args[1], ()))
    return (
        {c.name for c in callees(origin)} in ({"builtins.list"}, {"collections.deque"})
        or isinstance(node.func, ast.Name)
        and node.func.id in ("list", "deque")
    )


def _holds_lists(holder: Value) -> bool:
    """`{}`, `defaultdict(list)`, `[[] for _ in range(n)]`: what such a one holds and is appended to is a list."""
    node = holder.node
    if isinstance(node, ast.Call):
        return last_word(node.func) in ("dict", "defaultdict", "OrderedDict") and not holder.path
    return isinstance(node, (ast.Dict, ast.DictComp, ast.List, ast.ListComp)) and not holder.path


def _assigned(node: ast.Assign) -> Iterator[Collecting]:
    target, value = node.targets[0], node.value
    text = unparsed(target)
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        for mine, added in ((value.left, value.right), (value.right, value.left)):
            if any(unparsed(part) == text for part in _factors(mine)):  # `mean = 0.9 * mean + 0.1 * loss`
                yield Collecting(node, target, [added])
                return
    if (
        isinstance(value, ast.Call)
        and last_word(value.func) in ("cat", "concat", "stack", "hstack", "vstack")
        and value.args
    ):
        pieces = getattr(value.args[0], "elts", ())
        if any(unparsed(piece) == text for piece in pieces):
            yield Collecting(node, target, [piece for piece in pieces if unparsed(piece) != text])
    elif isinstance(target, ast.Subscript) and not isinstance(target.slice, (ast.Constant, ast.Slice)):
        counted = [
            loop
            for name in ast.walk(target.slice)
            if isinstance(name, ast.Name) and (loop := _counter(name, node)) is not None
        ]
        if counted:
            yield Collecting(node, target, [value], counted[0])


def _factors(node: ast.expr) -> list[ast.expr]:
    found, todo = [], [node]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            todo += (node.right, node.left)
        else:
            found.append(node)
    return found


def _counter(name: ast.Name, node: ast.AST) -> ast.AST | None:
    """The loop around a place whose variable a name is, so that each of its rounds has its own slot."""
    around = node.up
    while around is not None and not isinstance(around, FUNCTIONS):
        if isinstance(around, ast.For) and any(
            isinstance(n, ast.Name) and n.id == name.id for n in ast.walk(around.target)
        ):
            return around
        around = around.up
    return None


def _by_method(module: Module, call: ast.Call, methods: int) -> Iterator[Collecting]:
    """A method of the project that adds its argument to what its object holds, such as `update` of an average."""
    if not (call.args or call.keywords) or not isinstance(call.func.value, (ast.Name, ast.Attribute, ast.Subscript)):
        return
    for callee in callees(Value(module, call)):
        if callee.owner is None or callee.owner.is_module or not _may_take(callee, call, 1):
            continue
        me = callee.function.args.args[0].arg
        for place in collecting(callee.module, callee.function.body, methods - 1):
            holder = base(place.into)
            if isinstance(holder, ast.Attribute) and isinstance(holder.value, ast.Name) and holder.value.id == me:
                if not is_known_to_keep(callee, place.place, Value(module, call)):
                    continue
                added = [a for p in place.added for a in _arguments_in(p, callee.function, call, 1)]
                if added:
                    held = f"{unparsed(call.func.value)}.{holder.attr}"
                    is_own = unparsed(call.func.value) == me and callee.module is module
                    yield Collecting(call, holder if is_own else call.func.value, added, held=held)


def _by_function(module: Module, call: ast.Call, methods: int) -> Iterator[Collecting]:
    """`log(history, loss)` of the project's own, which appends to what it is given."""
    for callee in callees(Value(module, call)):
        if callee.owner is not None or not _may_take(callee, call, 0):
            continue
        for place in collecting(callee.module, callee.function.body, methods - 1):
            if not isinstance(place.place, ast.Call) or forgets(callee.module, place, callee.function):
                continue  # `total += x` of a number changes nothing for the caller
            into = _arguments_in(base(place.into), callee.function, call, 0)
            added = [a for p in place.added for a in _arguments_in(p, callee.function, call, 0)]
            if len(into) == 1 and isinstance(base(into[0]), (ast.Name, ast.Attribute)) and added:
                yield Collecting(call, into[0], added)


def _may_take(callee: Callee, call: ast.Call, bound: int) -> bool:
    """Is it a function with parameters, `bound` of which the call does not write, for all that it is given?"""
    if callee.kind != "function" or not isinstance(callee.function, ast.FunctionDef) or not callee.function.args.args:
        return False
    return len(call.args) + bound <= len(callee.function.args.args) or callee.function.args.vararg is not None


def _arguments_in(added: ast.expr, function: ast.FunctionDef, call: ast.Call, bound: int) -> list[ast.expr]:
    """The arguments of a call that an expression of the called method adds up as they are."""
    if isinstance(added, ast.BinOp):
        return _arguments_in(added.left, function, call, bound) + _arguments_in(added.right, function, call, bound)
    bindings = function.scope.bindings.get(added.id, ()) if isinstance(added, ast.Name) else ()
    if bindings and all(isinstance(b, ast.arg) for b in bindings):
        return _given_to(function, bindings[0], call, bound)
    return _elements_of_given(bindings[0], function, call, bound) if len(bindings) == 1 else []


def _elements_of_given(target: ast.AST, function: ast.FunctionDef, call: ast.Call, bound: int) -> list[ast.expr]:
    """What a call gives to `**values`, of `for name, value in values.items()`, or to `*values`; or in a display."""
    is_second = isinstance(target.up, ast.Tuple) and len(target.up.elts) == 2 and target.up.elts[1] is target
    loop = target.up.up if is_second else target.up
    over = loop.iter if isinstance(loop, ast.For) and target is not loop.iter else None
    word = last_word(over.func) if isinstance(over, ast.Call) and not over.args else ""
    if word != ("items" if is_second else "values" if word else ""):
        return []
    over = receiver(over) if word else over
    bindings = function.scope.bindings.get(over.id, ()) if isinstance(over, ast.Name) else ()
    if len(bindings) != 1 or not isinstance(bindings[0], ast.arg):
        return []
    given = _given_to(function, bindings[0], call, bound)
    if bindings[0] in (function.args.kwarg, function.args.vararg):
        return given if bool(word) is (bindings[0] is function.args.kwarg) else []
    [table] = given or [None]
    return table.values if isinstance(table, ast.Dict) and word else []


def _given_to(function: ast.FunctionDef, parameter: ast.arg, call: ast.Call, bound: int) -> list[ast.expr]:
    """The arguments that a parameter stands for in a call without stars; of `**values` several."""
    arguments = function.args
    own = [*arguments.posonlyargs, *arguments.args][bound:]
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return []
    if parameter is arguments.vararg:
        return call.args[len(own) :]
    if parameter is arguments.kwarg:
        names = {a.arg for a in (*own, *arguments.kwonlyargs)}
        return [k.value for k in call.keywords if k.arg not in names]
    given = [a for p, a in zip(own, call.args) if p is parameter]
    return given or [k.value for k in call.keywords if k.arg == parameter.arg]
