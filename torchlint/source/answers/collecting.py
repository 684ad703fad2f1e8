"""What adds to something that lasts: `total += loss`, `losses.append(loss)`, and a function or method that does so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from operator import attrgetter

from torchlint.facts import fact
from torchlint.source.answers.forgetting import Collecting, base, forgets, is_default
from torchlint.source.answers.keeping_flags import is_known_to_keep
from torchlint.source.flow.calling import Callee
from torchlint.source.flow.changed import changes_of, names_of
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import PARAMETER, TENSOR, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.values import Value
from torchlint.source.text.index import FUNCTIONS, enclosing_function, last_word, within
from torchlint.source.text.spelling import dotted, receiver, rooted_in_import, unparsed
from torchlint.source.training.regions import loops_around, tests_around, under_no_grad

_FEW = 20  # changes of a table that are looked at


def collecting(module: Module, body: list[ast.stmt], methods: int = 2) -> Iterator[Collecting]:
    """The places in some statements that add to something: `t += x`, `t = t + x`, `xs.append(x)`, `meter.update(x)`."""
    for node in _adding(module, body):
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
                yield from _by_what_lasts(module, node, methods)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and methods:
            if len(node.args) > 1:
                yield from _by_function(module, node, methods)
            yield from _by_what_lasts(module, node, methods)


@remembered
def _adding(module: Module, body: list[ast.stmt]) -> list[ast.AST]:
    """The assignments and calls in some statements, in source order, without those of functions and classes there."""
    inside, found = module.index.inside, []
    for statement in body:
        others = list(inside(statement, *FUNCTIONS, ast.ClassDef))
        nodes = inside(statement, ast.AugAssign, ast.Assign, ast.Call)
        found += [node for node in nodes if not any(within(node, other) for other in others)]
    return sorted(found, key=attrgetter("pos"))


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
    ways = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]  # `loss if mean is None else …`
    for way in ways:
        if isinstance(way, ast.BinOp) and isinstance(way.op, ast.Add):
            for mine, added in ((way.left, way.right), (way.right, way.left)):
                if any(_is_what_it_was(part, text) for part in _factors(mine)):  # `mean = 0.9 * mean + 0.1 * loss`
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


def _is_what_it_was(part: ast.expr, text: str) -> bool:
    """`mean`, or `before` of `before = mean`"""
    if unparsed(part) == text:
        return True
    scope = part.at.lookup(part.id) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) else None
    before = [getattr(binding, "up", None) for binding in reaching(part, scope)] if scope is not None else []
    return len(before) == 1 and isinstance(before[0], ast.Assign) and unparsed(before[0].value) == text


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
                if not is_known_to_keep(callee, place.place, Value(module, call)) or _computes_without_grad(
                    callee, place
                ):
                    continue
                added = [a for p in place.added for a in _arguments_in(p, callee, Value(module, call), 1)]
                if added:
                    held = f"{unparsed(call.func.value)}.{holder.attr}"
                    is_own = unparsed(call.func.value) == me and callee.module is module
                    yield Collecting(call, holder if is_own else call.func.value, added, held=held)


def _computes_without_grad(callee: Callee, place: Collecting) -> bool:
    """`self.sum += x` under `no_grad`: what is computed there has no graph, though what is appended keeps its own."""
    return not isinstance(place.place, ast.Call) and under_no_grad(callee.module, place.place)


def _by_function(module: Module, call: ast.Call, methods: int) -> Iterator[Collecting]:
    """`log(history, loss)` of the project's own, which appends to what it is given."""
    for callee in callees(Value(module, call)):
        if callee.owner is not None or not _may_take(callee, call, 0):
            continue
        for place in collecting(callee.module, callee.function.body, methods - 1):
            if not isinstance(place.place, ast.Call) or forgets(callee.module, place, callee.function):
                continue  # `total += x` of a number changes nothing for the caller
            into = _arguments_in(base(place.into), callee, Value(module, call), 0)
            added = [a for p in place.added for a in _arguments_in(p, callee, Value(module, call), 0)]
            if len(into) == 1 and isinstance(base(into[0]), (ast.Name, ast.Attribute)) and added:
                yield Collecting(call, into[0], added)


def _by_what_lasts(module: Module, call: ast.Call, methods: int) -> Iterator[Collecting]:
    """`track(loss)` of a function that adds it to a variable of the function or file around it, or of an object of the
    project that is called and adds it to what it holds.
    """
    if not (call.args or call.keywords):
        return
    for callee in callees(Value(module, call)):
        bound = 1 if callee.kind == "object" else 0
        if callee.owner is not None and (callee.kind != "object" or callee.owner.is_module) or callee.partials:
            continue
        if not _may_take(callee, call, bound, ("object", "function")):
            continue
        for place in collecting(callee.module, callee.function.body, methods - 1):
            is_held = _is_held(callee, base(place.into)) if bound else _outlives(callee, place)
            if not is_held or _computes_without_grad(callee, place) or not _comes_there(callee.function, place.place):
                continue
            added = [a for p in place.added for a in _arguments_in(p, callee, Value(module, call), bound)]
            if added:
                yield Collecting(call, call.func, added, inner=(callee.module, base(place.into)))


def _comes_there(function: ast.FunctionDef, place: ast.AST) -> bool:
    """Does each call come to a place? Whether there is something to add to yet may be asked: `if mean is None`."""
    leaves = any(isinstance(n, (ast.Return, ast.Raise)) and n.pos < place.pos for n in ast.walk(function))
    return (
        not leaves
        and not any(loop for loop in loops_around(place) if within(loop, function))
        and all(
            isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot))
            for test, _ in tests_around(place)
        )
    )


def _is_held(callee: Callee, holder: ast.expr) -> bool:
    """Is it an attribute of the object that is called?"""
    me = callee.function.args.args[0].arg
    return isinstance(holder, ast.Attribute) and isinstance(holder.value, ast.Name) and holder.value.id == me


def _outlives(callee: Callee, place: Collecting) -> bool:
    """Is it a variable of a function or file around the function, which only this one changes after its beginning?"""
    holder = base(place.into)
    scope = holder.at.lookup(holder.id) if isinstance(holder, ast.Name) else None
    if scope is None or scope is callee.function.scope or not isinstance(scope.node, (*FUNCTIONS, ast.Module)):
        return False
    others = [
        changed
        for changed in (*scope.bindings[holder.id], *changes_of(callee.module.index, holder.id))
        if not within(changed, callee.function)
    ]
    if len(others) != 1 or enclosing_function(others[0]) is not enclosing_function(callee.function):
        return False
    return not forgets(callee.module, place, callee.function)


def _may_take(callee: Callee, call: ast.Call, bound: int, kinds: tuple[str, ...] = ("function",)) -> bool:
    """Is it a function with parameters, `bound` of which the call does not write, for all that it is given?"""
    if callee.kind not in kinds or not isinstance(callee.function, ast.FunctionDef) or not callee.function.args.args:
        return False
    return len(call.args) + bound <= len(callee.function.args.args) or callee.function.args.vararg is not None


def _arguments_in(added: ast.expr, callee: Callee, call: Value, bound: int) -> list[ast.expr]:
    """The arguments of a call that an expression of the called method adds up, as they are or with their graph."""
    function = callee.function
    parts = _computed_of(Value(callee.module, added))
    if parts and under_no_grad(callee.module, added):
        return []
    if parts:
        return [argument for part in parts for argument in _arguments_in(part, callee, call, bound)]
    bindings = function.scope.bindings.get(added.id, ()) if isinstance(added, ast.Name) else ()
    if bindings and all(isinstance(b, ast.arg) for b in bindings):
        return _given_to(function, bindings[0], call.node, bound)
    return _elements_of_given(bindings[0], callee, call, bound) if len(bindings) == 1 else []


def _computed_of(value: Value) -> list[ast.expr]:
    """What an expression is computed of with all its gradients: `guess` and `target` of `(guess - target).abs()`."""
    node = value.node
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if not isinstance(node, ast.Call) or node.keywords:
        return []
    if isinstance(node.func, ast.Attribute) and not rooted_in_import(node.func):
        known = fact(f".{node.func.attr}")
        return [node.func.value, *node.args] if known is not None and not known.cuts else []
    facts = [fact(called.name) for called in callees(value) if called.name]
    return node.args if facts and all(known is not None and not known.cuts for known in facts) else []


def _elements_of_given(target: ast.AST, callee: Callee, call: Value, bound: int) -> list[ast.expr]:
    """What a call gives to `**values`, of `for name, value in values.items()`, or to `*values`; or in a display, or
    in a table that is made elsewhere, of which all is taken.
    """
    function = callee.function
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
    given = _given_to(function, bindings[0], call.node, bound)
    if bindings[0] in (function.args.kwarg, function.args.vararg):
        return given if bool(word) is (bindings[0] is function.args.kwarg) else []
    [table] = given or [None]
    if isinstance(table, ast.Dict):
        return table.values if word else []
    takes_all = not any(isinstance(node, (ast.If, ast.IfExp)) for node in ast.walk(loop))
    is_changed = any(within(change, function) for change in changes_of(callee.module.index, over.id))
    return given if word and given and takes_all and not is_changed and _is_table(call.at(table, ())) else []


def _is_table(value: Value) -> bool:
    """Is it certainly a dict that is written out, here or in a function that gives it, and gets new keys at most?"""
    made = origins(value)
    if not made or not all(isinstance(origin.node, ast.Dict) and not origin.path for origin in made):
        return False
    keys = {getattr(key, "value", None) for origin in made for key in origin.node.keys}
    named = [(value, dotted(value.node) or ""), *((origin, name) for origin in made for name in names_of(origin))]
    changes = [change for where, name in named for change in changes_of(where.module.index, name)[:_FEW]]
    added = [getattr(c.slice, "value", None) for c in changes if isinstance(c, ast.Subscript)]
    return len(added) == len(changes) < _FEW and keys.isdisjoint(added) and None not in added


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
