"""Statements become closures: `block(nodes, scope)` runs them in a frame and says whether a jump ended them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from torchlint.gaps import is_blank
from torchlint.shapes.core.budget import work
from torchlint.shapes.core.doubts import Doubt
from torchlint.shapes.core.operators import GROWING, IN_PLACE
from torchlint.shapes.core.values import Unknown, UnknownUsed
from torchlint.shapes.language import written
from torchlint.shapes.language.awaiting import awaited
from torchlint.shapes.language.changed_in_loops import bound_in, filled_in
from torchlint.shapes.language.counted_tests import compiled, counted_names, counts, is_left_early
from torchlint.shapes.language.cut_short import CHANGING, Name, Rounds, holds_the_rest_only
from torchlint.shapes.language.expressions import NUMBERS, expression
from torchlint.shapes.language.filled_in_time import fills_in_time, fitted_anyway, padded_in_rounds
from torchlint.shapes.language.handlers import expects, has_an_answer, shows, throws_away
from torchlint.shapes.language.later_rounds import LaterRounds, number_of_rounds, trains_in_some_rounds
from torchlint.shapes.language.leanings import ends_loop, keeps_the_best, leaves_out, raises
from torchlint.shapes.language.program import CompiledScope, Frame, Question, price_of
from torchlint.shapes.language.running_down import FallingSides, limited
from torchlint.shapes.language.targets import read_name, read_or_none, store, store_name
from torchlint.shapes.language.unimportant_choices import changed_alike
from torchlint.shapes.language.walking import last_word, walk

Run = Callable[[Frame], Any]
BREAK, CONTINUE, RETURN = "break", "continue", "return"
ABANDONED = "a statement that would have set it failed"
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def statement(node: ast.stmt, scope: CompiledScope) -> Run:
    """The closure that runs one statement; it answers None, or BREAK, CONTINUE or RETURN."""
    return _COMPILERS[type(node)](node, scope)


def block(nodes: list[ast.stmt], scope: CompiledScope) -> Run:
    """The closure that runs several statements; one that fails for what nobody knows is left out."""
    steps = [(n, statement(n, scope)) for n in nodes if not isinstance(n, (ast.Pass, ast.Global, ast.Nonlocal))]
    price = price_of(nodes)

    def run(frame):
        work.spend(price)
        for node, step in steps:
            try:
                jump = step(frame)
            except Exception as error:
                if not frame.machine.goes_on(error):
                    raise
                jump = abandon(node, scope, frame, error)
            if jump is not None:
                return jump

    return run


def abandon(node: ast.stmt, scope: CompiledScope, frame: Frame, error: Exception) -> str | None:
    """Leave a statement out that failed: what it would have set is unknown, what it would have filled may hold more."""
    if isinstance(node, ast.Raise) or _initialises(node):
        raise error
    if not frame.machine.keeps_parameter(error):
        frame.machine.doubt(node, Doubt.LEFT_OUT)
        unset_targets(node, scope, frame, Unknown(str(error) if isinstance(error, UnknownUsed) else ABANDONED))
    if isinstance(node, ast.Return):
        frame.returned = Unknown(ABANDONED)
        return RETURN
    return None


def _initialises(node: ast.stmt) -> bool:
    """`super().__init__(…)`: without it the object is none."""
    return any(isinstance(n, ast.Attribute) and n.attr == "__init__" for n in walk(node)) and not isinstance(
        node, (ast.ClassDef, ast.FunctionDef)
    )


def unset_targets(node: ast.stmt, scope: CompiledScope, frame: Frame, unknown: Unknown) -> None:
    """What a statement would have set becomes unknown; what it may have changed else: `abandoned.loosen_reach`."""
    machine = frame.machine
    for part in walk(node) if not isinstance(node, _DEFINITIONS) else ():
        if isinstance(part, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(part.ctx, ast.Store):
            try:
                store(part, scope)(frame, unknown)
            except Exception:
                pass  # what would have held it is missing, too
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in CHANGING:
            if all(isinstance(n, (ast.Name, ast.Attribute, ast.expr_context)) for n in walk(part.func.value)):
                machine.may_have_changed(expression(part.func.value, scope)(frame))
    if isinstance(node, (*_DEFINITIONS, ast.Import, ast.ImportFrom)):
        names = (
            [node.name] if isinstance(node, _DEFINITIONS) else [a.asname or a.name.split(".")[0] for a in node.names]
        )
        for name in names:
            store_name(name, scope)(frame, unknown)


def _expression(node: ast.Expr, scope: CompiledScope) -> Run:
    if isinstance(node.value, ast.Constant):
        return lambda frame: None
    evaluate = expression(node.value, scope)

    def run(frame):
        evaluate(frame)

    def append(frame):
        changes = frame.machine.changes
        before = len(changes.containers)
        evaluate(frame)
        if len(changes.containers) == before + 1:
            changes.growing.add(before)

    is_append = isinstance(node.value, ast.Call) and last_word(node.value.func) == "append"
    return append if is_append and not scope.choosing else run


def _value_in(node: ast.expr, scope: CompiledScope) -> Callable[[Frame], Any]:
    """The closure of a value; nobody knows one that is still to be written."""
    if is_blank(node):
        return lambda frame: Unknown("what is left to whoever does the exercise")
    return expression(node, scope)


def _assign(node: ast.Assign, scope: CompiledScope) -> Run:
    value, targets = _value_in(node.value, scope), [store(t, scope) for t in node.targets]
    if len(targets) == 1:
        target = targets[0]
        said = written.behind(node, scope.program)

        def assign(frame):
            target(frame, value(frame))

        def assign_and_compare(frame):
            result = value(frame)
            frame.machine.as_said(said, result)
            target(frame, result)

        return assign if said is None else assign_and_compare

    def assign_all(frame):
        result = value(frame)
        for target in targets:
            target(frame, result)

    return assign_all


def _annotated(node: ast.AnnAssign, scope: CompiledScope) -> Run:
    value, target = expression(node.value, scope) if node.value else None, store(node.target, scope)
    field = node.target.id if scope.kind == "class" and isinstance(node.target, ast.Name) else None
    annotation = node.annotation

    def assign(frame):
        if field:
            frame.vars.setdefault("__annotations__", {})[field] = annotation
        if value:
            target(frame, value(frame))

    return assign


def _augmented(node: ast.AugAssign, scope: CompiledScope) -> Run:
    target, place = store(node.target, scope), scope.place(node)
    value, apply = _value_in(node.value, scope), IN_PLACE[type(node.op)]
    read = type(node.target)(**{**{f: getattr(node.target, f) for f in node.target._fields}, "ctx": ast.Load()})
    current = expression(ast.copy_location(read, node.target), scope)
    counting = counts(node) and not scope.choosing

    def assign(frame):
        a, b = current(frame), value(frame)
        if type(a) in NUMBERS and type(b) in NUMBERS and apply not in GROWING:
            changes = frame.machine.changes
            before = len(changes.fields)
            target(frame, apply(a, b))
            if counting and len(changes.fields) > before:
                changes.counting.add(before)
            return
        frame.machine.place = place
        target(frame, frame.machine.operate(apply, a, b))

    return assign


def _delete(node: ast.Delete, scope: CompiledScope) -> Run:
    parts = []
    for target in node.targets:
        match target:
            case ast.Name(id=name):
                parts.append((expression(ast.copy_location(ast.Constant(None), target), scope), "name", name))
            case ast.Attribute(value=value, attr=name):
                parts.append((expression(value, scope), "attribute", name))
            case ast.Subscript(value=value, slice=index):
                parts.append((expression(value, scope), "item", expression(index, scope)))

    def delete(frame):
        for owner, kind, which in parts:
            if kind == "name":
                frame.vars.pop(which, None)
            elif kind == "attribute":
                frame.machine.delete_attribute(owner(frame), which)
            else:
                frame.machine.delete_item(owner(frame), which(frame))

    return delete


def _return(node: ast.Return, scope: CompiledScope) -> Run:
    value = _value_in(node.value, scope) if node.value else None

    def leave(frame):
        frame.returned, frame.left = value(frame) if value else None, node
        return RETURN

    return leave


def _if(node: ast.If, scope: CompiledScope) -> Run:
    test, place = expression(node.test, scope), scope.place(node.test)
    key = None if keeps_the_best(node) else Question(node.test)  # what is there first is never what remains
    scope.choosing += 1
    body, orelse = changed_alike(node, scope, block(node.body, scope), expression), block(node.orelse, scope)
    scope.choosing -= not is_left_early(node)  # else all that follows depends on it, too
    asked = compiled(node, partial(expression, scope=scope))
    # On an unknown, the side that raises, or leaves out the round, is not the one a program is about.
    default = not (raises(node.body) or leaves_out(node.body))
    ends, filling = ends_loop(node.body), fills_in_time(node, partial(expression, scope=scope))

    def branch(frame):
        value = test(frame)
        if asked and frame.machine.changes.running:
            frame.machine.changes.ask(asked, frame)
        if ends and (type(value) is Unknown or frame.machine.is_tensor(value)) and frame.machine.changes.begins(frame):
            frame.machine.decide(None)
            if not frame.machine.changes.has_second_round(value):
                frame.machine.doubt(node.test)
            return orelse(frame)
        if filling is not None and type(value) is Unknown and filling.will_be_enough(frame):
            value = filling.answer
        if value is True or (value is not False and frame.machine.truth(value, place, key, default)):
            return body(frame)
        return orelse(frame)

    return fitted_anyway(node, test, body, orelse, branch)


def _changed(head: list[ast.AST], body: list[ast.stmt], scope: CompiledScope) -> tuple[list[Name], list[Callable]]:
    """How the names are read and set that a loop binds, and how the containers are read that it may fill."""
    nodes = [*head, *body]
    names = [(read_or_none(word, nodes[0], scope), store_name(word, scope)) for word in bound_in(nodes, scope)]
    return names, filled_in(body, partial(expression, scope=scope))


def _names(words: list[str], at: ast.AST, scope: CompiledScope) -> list[Name]:
    return [(read_name(word, at, scope), store_name(word, scope)) for word in words]


def _repeated(nodes: list[ast.stmt], scope: CompiledScope) -> Run:
    """The body of a loop."""
    scope.looping += 1
    body = block(nodes, scope)
    scope.looping -= 1
    return body


def _while(node: ast.While, scope: CompiledScope) -> Run:
    test, place, key = expression(node.test, scope), scope.place(node.test), Question(node.test)
    body, orelse = _repeated(node.body, scope), block(node.orelse, scope)
    names, filled = _changed([node.test], node.body, scope)
    compile_ = partial(expression, scope=scope)
    counters, later = _names(sorted(counted_names(node)), node, scope), LaterRounds(node, compile_)
    asked, sides = compiled(node, compile_), limited(node, compile_)

    def loop(frame):
        machine, guessed, falling = frame.machine, 0, FallingSides(sides, frame)
        with Rounds(node, frame, names, filled, counters=counters) as rounds:
            while True:
                value = test(frame)
                machine.changes.ask(asked, frame)
                if type(value) is Unknown or machine.is_tensor(value) or holds_the_rest_only(value):
                    guessed += 1
                    # Twice around says all: the second round meets what the first one left, if that is not less.
                    if falling.come_nearer() or guessed > 2:
                        rounds.leave_open(like_the_last=True)
                        break
                    falling.leave_more()
                elif not machine.truth(value, place, key):
                    break
                if rounds.trained():
                    later.turn(frame, rounds, None, None, rounds.whole_number(asked), lambda frame, item: None, body)
                    rounds.leave_open(like_the_last=True)
                    return None
                if rounds.expensive():
                    rounds.leave_open(like_the_last=False)
                    jump = body(frame) if rounds.affordable() else None
                    rounds.leave_open(like_the_last=False)
                    return jump if jump is RETURN else None
                machine.budget.spend()
                jump = body(frame)
                if jump is BREAK:
                    rounds.broken()
                    return None
                if jump is RETURN:
                    rounds.returned()
                    return jump
                if guessed:
                    falling.leave_more()
        return orelse(frame)

    return padded_in_rounds(node, compile_, partial(store_name, scope=scope), loop)


def _for(node: ast.For, scope: CompiledScope) -> Run:
    source, target = awaited(node, expression(node.iter, scope)), store(node.target, scope)
    place = scope.place(node.iter)
    body, orelse = _repeated(node.body, scope), block(node.orelse, scope)
    names, filled = _changed([node.target], node.body, scope)
    compile_ = partial(expression, scope=scope)
    periodic, count = trains_in_some_rounds(node), number_of_rounds(node.iter, compile_)
    later = LaterRounds(node, compile_)
    counters = _names(sorted(counted_names(node)), node, scope)

    def loop(frame):
        machine = frame.machine
        items = source(frame)
        machine.place = place
        with Rounds(node, frame, names, filled, periodic, counters) as rounds:
            for item in machine.iterate(items, looping=True):
                if rounds.trained():
                    total = count(frame, items)
                    turn = later.turn(frame, rounds, items, item, total, target, body)
                    for item in later.among(frame, items, item, turn, rounds.builds(), target):
                        rounds.leave_open(like_the_last=True)
                        if rounds.affordable():
                            target(frame, item)
                            body(frame)
                            rounds.skipped()
                    later.end(rounds, total)
                    return None
                if rounds.expensive():
                    if later.grow(frame, rounds, items, item, count(frame, items), target, body):
                        return None
                    rounds.leave_open(like_the_last=False)
                    target(frame, later.any_item(items, item))
                    jump = body(frame) if rounds.affordable() else None
                    rounds.leave_open(like_the_last=False)
                    return jump if jump is RETURN else None
                target(frame, item)
                jump = body(frame)
                machine.place = place  # of the next item, which may be made there
                if jump is BREAK:
                    rounds.broken()
                    return None
                if jump is RETURN:
                    rounds.returned()
                    return jump
                machine.changes.early = False
            if machine.changes.early:
                rounds.rest_of(count(frame, items))
                rounds.leave_open(like_the_last=True)
        return orelse(frame)

    return loop


def _with(node: ast.With, scope: CompiledScope) -> Run:
    items = [
        (
            expression(i.context_expr, scope),
            store(i.optional_vars, scope) if i.optional_vars else None,
            scope.place(i.context_expr),
        )
        for i in node.items
    ]
    body = block(node.body, scope)

    def enter(frame, depth):
        if depth == len(items):
            return body(frame)
        context, target, place = items[depth]
        manager = context(frame)
        frame.machine.place = place

        def inside(value):
            if target:
                target(frame, value)
            return enter(frame, depth + 1)

        return frame.machine.run_inside(manager, inside)

    return lambda frame: enter(frame, 0)


def _try(node: ast.Try, scope: CompiledScope) -> Run:
    names = {
        n.id if isinstance(n, ast.Name) else ""
        for h in node.handlers
        for n in ast.walk(h.type or ast.Name("Exception"))
    }
    guards = bool(names & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
    scope.guarded += guards
    body = block(node.body, scope)
    scope.guarded -= guards
    for_some = scope.kind != "module" or scope.looping > 0  # callers, or rounds
    handlers = [
        (
            expression(h.type, scope) if h.type else None,
            store_name(h.name, scope) if h.name else None,
            block(h.body, scope),
            not (has_an_answer(h.body, for_some) or expects(h) or throws_away(node.body) and shows(h)),
        )
        for h in node.handlers
    ]
    orelse, final = block(node.orelse, scope), block(node.finalbody, scope)

    def handle(frame, error):
        machine = frame.machine
        for kind, name, run, plain in handlers:
            if not machine.catches(kind(frame) if kind else BaseException, error):
                continue
            if plain:
                machine.report(error)
            if name:
                name(frame, error)
            before, frame.handling = frame.handling, error
            try:
                return run(frame)
            finally:
                frame.handling = before
        raise error

    def attempt(frame):
        frame.machine.trying += bool(handlers)
        try:
            jump = body(frame)
        except UnknownUsed:
            raise
        except Exception as error:
            frame.machine.trying -= bool(handlers)
            try:
                return handle(frame, error)
            finally:
                frame.machine.trying += bool(handlers)
        finally:
            frame.machine.trying -= bool(handlers)
        return orelse(frame) if jump is None else jump

    if not node.finalbody:
        return attempt

    def attempt_finally(frame):
        jump = None
        try:
            jump = attempt(frame)
        except Exception:
            returned = final(frame)
            if returned is not None:
                return returned
            raise
        returned = final(frame)
        return jump if returned is None else returned

    return attempt_finally


def _raise(node: ast.Raise, scope: CompiledScope) -> Run:
    value, place = expression(node.exc, scope) if node.exc else None, scope.place(node)

    def throw(frame):
        error = value(frame) if value else None
        frame.machine.place = place
        frame.machine.throw(frame, error)

    return throw


def _assert(node: ast.Assert, scope: CompiledScope) -> Run:
    parts = [(expression(part, scope), holds) for part, holds in _conditions(node.test)]
    place = scope.place(node)
    message = expression(node.msg, scope) if node.msg else None

    def check(frame):
        for test, holds in parts:
            value = test(frame)
            if type(value) is not Unknown and frame.machine.truth(value, place, None, holds) is not holds:
                said = message(frame) if message else None
                frame.machine.place = place
                said = said if type(said) is str and said else ast.unparse(node.test)
                frame.machine.throw(frame, AssertionError(said))

    return check


def _conditions(test: ast.expr, holds: bool = True) -> Iterator[tuple[ast.expr, bool]]:
    """What must be so, and what must not, for a condition to hold: of what nobody knows, an author is believed."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _conditions(test.operand, not holds)
    elif isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holds else ast.Or):
        for part in test.values:
            yield from _conditions(part, holds)
    else:
        yield test, holds


def _import(node: ast.Import, scope: CompiledScope) -> Run:
    guarded = bool(scope.guarded)
    parts = [(a.name, store_name(a.asname or a.name.split(".")[0], scope), a.asname) for a in node.names]
    path = scope.program.path

    def run(frame):
        for name, target, renamed in parts:
            target(frame, frame.machine.import_module(name, 0, path, guarded, whole=bool(renamed)))

    return run


def _import_from(node: ast.ImportFrom, scope: CompiledScope) -> Run:
    guarded, path = bool(scope.guarded), scope.program.path
    if node.module == "__future__":
        return lambda frame: None
    stored = (None if a.name == "*" else store_name(a.asname or a.name, scope) for a in node.names)
    parts = [(a.name, target, scope.place(a)) for a, target in zip(node.names, stored, strict=True)]
    says_of_itself = all(a.name.startswith("__") and a.name.endswith("__") for a in node.names)  # `__version__`

    def run(frame):
        if says_of_itself and frame.machine.is_unread(node.module or "", node.level, path):
            for name, target, _ in parts:  # not worth running a whole package
                target(frame, Unknown(f"{name} of {node.module}"))
            return
        module = frame.machine.import_module(node.module or "", node.level, path, guarded, whole=True)
        for name, target, place in parts:
            frame.machine.place = place
            if target is None:
                frame.machine.import_star(module, frame.globals)
            else:
                target(frame, frame.machine.import_name(module, name, guarded))

    return run


def _definition(node, scope: CompiledScope) -> Run:
    from torchlint.shapes.language.functions import compile_class, compile_function

    make = compile_class(node, scope) if isinstance(node, ast.ClassDef) else compile_function(node, scope)
    decorators = [(expression(d, scope), scope.place(d)) for d in node.decorator_list]
    target = store_name(node.name, scope)

    def define(frame):
        target(frame, make(frame))

    def define_decorated(frame):
        found = [(d(frame), place) for d, place in decorators]
        value = make(frame)
        for decorator, place in reversed(found):
            frame.machine.place = place
            value = frame.machine.decorate(decorator, value)
        target(frame, value)

    return define_decorated if decorators else define


def _match(node: ast.Match, scope: CompiledScope) -> Run:
    from torchlint.shapes.language.patterns import compile_match

    return compile_match(node, scope)


_COMPILERS: dict[type, Callable] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Delete: _delete,
    ast.Return: _return,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.FunctionDef: _definition,
    ast.AsyncFunctionDef: _definition,
    ast.ClassDef: _definition,
    ast.Match: _match,
    ast.Break: lambda node, scope: lambda frame: BREAK,
    ast.Continue: lambda node, scope: lambda frame: CONTINUE,
    ast.Pass: lambda node, scope: lambda frame: None,
    ast.Global: lambda node, scope: lambda frame: None,
    ast.Nonlocal: lambda node, scope: lambda frame: None,
}
if hasattr(ast, "TryStar"):
    _COMPILERS[ast.TryStar] = _try
