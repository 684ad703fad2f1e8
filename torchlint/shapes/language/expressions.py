"""Expressions become closures: `expression(node, scope)` is compiled once, then called with a frame for its value."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from torchlint.shapes.core.budget import Budget, work
from torchlint.shapes.core.operators import GROWING, OPERATORS, UNARY
from torchlint.shapes.core.values import Unknown, UnknownUsed
from torchlint.shapes.language.alike_rounds import ENOUGH, filled_up
from torchlint.shapes.language.awaiting import awaited
from torchlint.shapes.language.comparisons import comparison
from torchlint.shapes.language.cut_short import REST, found_in_a_round, loosen
from torchlint.shapes.language.program import CompiledScope, Frame, Question, price_of
from torchlint.shapes.language.several import in_order
from torchlint.shapes.language.tables import ROWS, SomeRows, is_long, makes_rows, of_some_rows, some_of
from torchlint.shapes.language.truths import alternatives, conjunction
from torchlint.shapes.language.unimportant_choices import chosen_alike
from torchlint.shapes.language.walking import TABLE, last_word
from torchlint.shapes.language.windows import known_lengths, windows
from torchlint.shapes.tensors.wild import RANGE, TEXT

Evaluate = Callable[[Frame], Any]
MISSING = object()
NUMBERS = frozenset({int, float, bool})
PLAIN = NUMBERS | {type(None)}
_TAKING_ALL = frozenset(
    "join list tuple set sorted sum max min dict frozenset tensor array writelines writerows".split()
)


def expression(node: ast.expr, scope: CompiledScope) -> Evaluate:
    """The closure that evaluates an expression."""
    evaluate = _COMPILERS[type(node)](node, scope)
    return evaluate if scope.program.watch is None else scope.program.watch.expression(node, evaluate, scope)


def _constant(node: ast.Constant, scope: CompiledScope) -> Evaluate:
    value = _value(node)
    return lambda frame: value


def _value(node: ast.Constant) -> Any:
    too_long = type(node.value) is int and node.value.bit_length() > Budget.BITS
    return Unknown("a long number") if too_long else node.value


def _name(node: ast.Name, scope: CompiledScope) -> Evaluate:
    return _load(node.id, scope, node)


def _load(name: str, scope: CompiledScope, node: ast.Name | None = None) -> Evaluate:
    hops = scope.find(name)
    if hops is None:
        if name == "__class__":
            return lambda frame: frame.machine.lexical_class(frame)[0]

        def load_global(frame):
            try:
                return frame.globals[name]
            except KeyError:
                return frame.machine.builtin(name, scope.program, node)

        return load_global
    if scope.kind == "class" and hops == 0:
        outer = _load(name, scope.parent)

        def load_in_class(frame):
            value = frame.vars.get(name, MISSING)
            return outer(frame.parent) if value is MISSING else value

        return load_in_class
    if hops == 0:

        def load(frame):
            try:
                return frame.vars[name]
            except KeyError:
                return Unknown(f"{name} is not set here")

        return load

    def load_free(frame):
        for _ in range(hops):
            frame = frame.parent
        try:
            return frame.vars[name]
        except KeyError:
            return Unknown(f"{name} is not set yet")

    return load_free


def _attribute(node: ast.Attribute, scope: CompiledScope) -> Evaluate:
    owner, name, place = expression(node.value, scope), node.attr, scope.place(node)

    def get(frame):
        value = owner(frame)
        frame.machine.place = place
        return frame.machine.get(value, name)

    return get


def _subscript(node: ast.Subscript, scope: CompiledScope) -> Evaluate:
    owner, index, place = expression(node.value, scope), expression(node.slice, scope), scope.place(node)

    def item(frame):
        value, key = owner(frame), index(frame)
        frame.machine.place = place
        return frame.machine.item(value, key)

    found = windows(node.slice, lambda part: expression(part, scope))

    def window(frame):
        value, key = owner(frame), index(frame)
        frame.machine.place = place
        return frame.machine.item(value, known_lengths(value, key, found, frame))

    return window if found else item


def _slice(node: ast.Slice, scope: CompiledScope) -> Evaluate:
    parts = [expression(p, scope) if p else None for p in (node.lower, node.upper, node.step)]

    return lambda frame: slice(*(p(frame) if p else None for p in parts))


def _binary(node: ast.BinOp, scope: CompiledScope) -> Evaluate:
    left, right, place = expression(node.left, scope), expression(node.right, scope), scope.place(node)
    apply = OPERATORS[type(node.op)]
    growing = apply in GROWING

    def compute(frame):
        a, b = left(frame), right(frame)
        if not growing and type(a) in NUMBERS and type(b) in NUMBERS:
            return apply(a, b)
        frame.machine.place = place
        return frame.machine.operate(apply, a, b)

    return compute


def _unary(node: ast.UnaryOp, scope: CompiledScope) -> Evaluate:
    operand, place = expression(node.operand, scope), scope.place(node)
    if isinstance(node.op, ast.Not):
        key = Question(node.operand)

        def negate(frame):
            value = operand(frame)
            return value if type(value) is Unknown else not frame.machine.truth(value, place, key)

        return negate
    apply = UNARY[type(node.op)]

    def compute(frame):
        value = operand(frame)
        if type(value) in NUMBERS:
            return apply(value)
        frame.machine.place = place
        return frame.machine.operate_alone(apply, value)

    return compute


def _boolean(node: ast.BoolOp, scope: CompiledScope) -> Evaluate:
    parts = [(expression(v, scope), scope.place(v), Question(v)) for v in node.values]
    return alternatives(parts, node.values) if isinstance(node.op, ast.Or) else conjunction(parts)


def _compare(node: ast.Compare, scope: CompiledScope) -> Evaluate:
    rest = [(type(op), expression(c, scope)) for op, c in zip(node.ops, node.comparators)]
    return comparison(expression(node.left, scope), rest, scope.place(node))


def _choice(node: ast.IfExp, scope: CompiledScope) -> Evaluate:
    test, place, key = expression(node.test, scope), scope.place(node.test), Question(node.test)
    yes, no = chosen_alike(node, scope, expression(node.body, scope)), expression(node.orelse, scope)
    return lambda frame: yes(frame) if frame.machine.truth(test(frame), place, key) else no(frame)


def _items(nodes: list[ast.expr], scope: CompiledScope) -> Callable[[Frame], list]:
    """The values of a display or of positional arguments; an unknown star argument ends the list with MISSING."""
    if len(nodes) > TABLE and not any(type(n) is ast.Starred for n in nodes):
        return _table(nodes, scope)
    scope.program.taken_at_once.update(n.value for n in nodes if isinstance(n, ast.Starred))
    parts = [
        (expression(n.value if isinstance(n, ast.Starred) else n, scope), isinstance(n, ast.Starred)) for n in nodes
    ]
    if not any(starred for _, starred in parts):
        return in_order([part for part, _ in parts])

    def collect(frame):
        values = []
        for part, starred in parts:
            value = part(frame)
            if not starred:
                values.append(value)
            elif type(value) is Unknown:
                values.append(MISSING)
            else:
                values.extend(frame.machine.iterate(value))
        return values

    return collect


def _table(nodes: list[ast.expr], scope: CompiledScope) -> Callable[[Frame], list]:
    """The values of a long display: its constants are kept as they are, and evaluated and paid for together."""
    values = [_value(n) if type(n) is ast.Constant else None for n in nodes]
    computed = [(i, expression(n, scope)) for i, n in enumerate(nodes) if type(n) is not ast.Constant]

    def collect(frame):
        frame.machine.budget.length(len(values))
        found = values.copy()
        for i, part in computed:
            found[i] = part(frame)
        return found

    return collect


def _sequence(kind: type):
    def compile_sequence(node, scope: CompiledScope) -> Evaluate:
        collect = _items(node.elts, scope)

        def make(frame):
            values = collect(frame)
            missing = any(v is MISSING for v in values)
            return Unknown("it is made of an unknown number of items") if missing else frame.machine.build(kind, values)

        def make_plain(frame):
            return kind(collect(frame))

        starred = any(isinstance(n, ast.Starred) for n in node.elts)
        return collect if kind is list and not starred else make_plain if kind is tuple and not starred else make

    return compile_sequence


def _dict(node: ast.Dict, scope: CompiledScope) -> Evaluate:
    if len(node.keys) > TABLE and all(type(k) is ast.Constant for k in node.keys):
        keys, collect = [_value(k) for k in node.keys], _table(node.values, scope)
        if not any(type(key) is Unknown for key in keys):
            return lambda frame: dict(zip(keys, collect(frame)))
    parts = [(k and expression(k, scope), expression(v, scope)) for k, v in zip(node.keys, node.values)]

    def make(frame):
        made = {}
        for key, value in parts:
            if key is not None:
                frame.machine.put(made, key(frame), value(frame))
            else:
                frame.machine.update(made, value(frame))
        return made

    return make


def _joined(node: ast.JoinedStr, scope: CompiledScope) -> Evaluate:
    parts = [expression(v, scope) for v in node.values]

    def make(frame):
        texts = [part(frame) for part in parts]
        for text in texts:
            if type(text) is Unknown:
                return text
        frame.machine.budget.length(sum(map(len, texts)))
        return "".join(texts)

    return make


def _formatted(node: ast.FormattedValue, scope: CompiledScope) -> Evaluate:
    value, place = expression(node.value, scope), scope.place(node.value)
    conversion = chr(node.conversion) if node.conversion > 0 else ""
    spec = expression(node.format_spec, scope) if node.format_spec else None
    return lambda frame: frame.machine.format(value(frame), spec(frame) if spec else "", conversion, place)


def _lambda(node: ast.Lambda, scope: CompiledScope) -> Evaluate:
    from torchlint.shapes.language.functions import compile_function

    return compile_function(node, scope)


def _comprehension(node, scope: CompiledScope) -> Evaluate:
    from torchlint.shapes.language.targets import store

    targets = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    inner = CompiledScope("function", (), scope, scope.program, bound=targets)
    loops = []
    for position, generator in enumerate(node.generators):
        loops.append(
            (
                awaited(generator, expression(generator.iter, inner if position else scope)),
                store(generator.target, inner),
                [(expression(test, inner), inner.place(test), Question(test)) for test in generator.ifs],
                scope.place(generator.iter),
            )
        )
    made_of = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
    parts = [expression(part, inner) for part in made_of]
    first, some = loops[0][0], type(node) is SomeRows
    kind = type(node)
    one_by_one = kind is ast.ListComp and len(loops) == 1 and not node.generators[0].ifs
    price = price_of([node])
    in_turn = kind is ast.GeneratorExp and node not in scope.program.taken_at_once
    chosen = any(getattr(n, "id", "") in targets for g in node.generators for t in g.ifs for n in ast.walk(t))
    fill = filled_up(node, targets)

    def run(frame):
        machine = frame.machine
        source = some_of(first(frame)) if some else first(frame)
        if type(source) is Unknown and (source.known not in (RANGE, TEXT) or not machine.wild):
            made = Unknown(source.reason)
            return machine.changes.lengths.as_long_as(source, made) if one_by_one else made
        inside = Frame({}, frame, frame.globals, machine, frame.code)
        made: Any = {} if kind is ast.DictComp else []
        budget = machine.budget
        limit = (3 * budget.steps + budget.used) // 4
        guessed, longer, begun = False, False, work.used

        def loop(again, depth, items):  # which is itself: what holds itself waits for a search for garbage
            nonlocal guessed, longer
            _, target, tests, place = loops[depth]
            machine.place = place
            for value in machine.iterate(items, looping=type(items) is not Unknown or depth == 0):
                work.spend(price)
                if value is REST:
                    longer = True
                    continue
                if budget.used > limit:
                    raise UnknownUsed("it is made of very many items")
                target(inside, value)
                for test, where, key in tests:
                    before = machine.decisions
                    holds = machine.truth(test(inside), where, key)
                    guessed |= chosen and machine.decisions > before
                    if not holds:
                        break
                else:
                    if depth + 1 < len(loops):
                        deeper = loops[depth + 1][0](inside)
                        if type(deeper) is Unknown:
                            raise UnknownUsed(deeper.reason)
                        again(again, depth + 1, deeper)
                    elif kind is ast.DictComp:
                        machine.put(made, parts[0](inside), parts[1](inside))
                    else:
                        made.append(parts[0](inside))
                        if fill is not None and len(made) == ENOUGH and fill(frame, source, made, begun):
                            break
                changes.early = False  # what makes an item may go through what is open, too
            longer |= changes.early

        (changes := machine.changes).early = False
        changes.missed += in_turn  # else its items are made one by one, while others are
        try:
            loop(loop, 0, source)
        except UnknownUsed as unknown:
            return Unknown(str(unknown))
        if guessed:  # which of them it keeps, nobody knows
            for generator in node.generators:
                for test in generator.ifs:
                    machine.settle(test)  # from now on it may hold any of them, or none
            if kind is not ast.DictComp:
                made[:] = [found_in_a_round(part, node.elt, targets) for part in made]
            longer = True
        changes.early = False
        if longer:
            changes.miss_items(made)
            loosen(made)
            if one_by_one and not guessed:
                changes.lengths.as_long_as(source, made)
        return machine.build(set, made) if kind is ast.SetComp else iter(made) if kind is ast.GeneratorExp else made

    return run


def _walrus(node: ast.NamedExpr, scope: CompiledScope) -> Evaluate:
    from torchlint.shapes.language.targets import store

    value, target = expression(node.value, scope), store(node.target, scope)

    def assign(frame):
        result = value(frame)
        target(frame, result)
        return result

    return assign


def _yield(node: ast.Yield, scope: CompiledScope) -> Evaluate:
    value = expression(node.value, scope) if node.value else None

    def produce(frame):
        frame.machine.yielded(frame, value(frame) if value else None)
        return None

    return produce


def _yield_from(node: ast.YieldFrom, scope: CompiledScope) -> Evaluate:
    value = expression(node.value, scope)

    def produce(frame):
        source = value(frame)
        if type(source) is Unknown:
            frame.machine.yielded(frame, Unknown(source.reason))
        else:
            for item in frame.machine.iterate(source):
                frame.machine.yielded(frame, item)

    return produce


def _call(node: ast.Call, scope: CompiledScope) -> Evaluate:
    call = _any_call(node, scope)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if name == "step" and not node.args and not node.keywords:
        return _may_train(call)
    if name == "update" and scope.takes_globals(node.func.value):
        tables = [expression(one, scope) for one in (*node.args, *(k.value for k in node.keywords if k.arg is None))]
        named = {k.arg: expression(k.value, scope) for k in node.keywords if k.arg is not None}
        return lambda frame: frame.give_globals(
            [table(frame) for table in tables], {n: v(frame) for n, v in named.items()}
        )
    if name == "save_hyperparameters":  # it looks at the names of its caller
        return lambda frame: call(frame.machine.called_from(frame))
    if name not in ("backward", "manual_backward"):
        return call

    def train(frame):
        frame.machine.updates += 1  # even if the loss is unknown
        before = frame.machine.progress.backwards
        made = call(frame)
        if frame.machine.progress.backwards == before:
            frame.machine.gradients.doubt()
        if type(made) is Unknown:  # nobody knows who got gradients
            frame.machine.presume()
            frame.machine.reach.doubt()
            for hook, given in frame.machine.reach.hooks:
                frame.machine.call(hook, [Unknown(made.reason) for _ in range(given)], {})
        return made

    return train


def _may_train(call: Evaluate) -> Evaluate:
    """`….step()`: of what nobody knows it may be that of an optimizer."""

    def step(frame):
        made = call(frame)
        if type(made) is Unknown and frame.machine.scripting:
            frame.machine.progress.steps_unknown(made)
        return made

    return step


def _any_call(node: ast.Call, scope: CompiledScope) -> Evaluate:
    short = of_some_rows(node)
    return _plain_call(node, scope) if short is None else _many_rows(node, short, scope)


def _many_rows(node: ast.Call, short: ast.Call, scope: CompiledScope) -> Evaluate:
    """A tensor of very many rows."""
    whole, some = _plain_call(node, scope), _plain_call(short, scope)
    maker, several = expression(node.func, scope), expression(node.args[0].generators[0].iter, scope)
    row = node.args[0].elt
    called = expression(row.func, scope) if isinstance(row, ast.Call) and isinstance(row.func, ast.Name) else None

    def make(frame):
        count = several(frame)
        function = frame.machine.definition_of(called(frame)) if called is not None else None
        of_many = is_long(count, makes_rows(row, function))
        made = some(frame) if of_many and frame.machine.definition_of(maker(frame)) is None else None
        longer = frame.machine.lengthened(made, ROWS, len(count)) if made is not None else None
        return whole(frame) if longer is None else longer

    return make


def _plain_call(node: ast.Call, scope: CompiledScope) -> Evaluate:
    place = scope.place(node)
    if last_word(node.func) in _TAKING_ALL:
        scope.program.taken_at_once.update(node.args)
    function, positional = expression(node.func, scope), _items(node.args, scope)
    if any(isinstance(given, ast.Constant) and given.value is ... for given in node.args):
        return lambda frame: Unknown("what it is called with is to be written")  # `nn.Sequential(...)`
    if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args and not node.keywords:
        return lambda frame: frame.machine.super_of(frame)
    if (
        isinstance(node.func, ast.Name)
        and node.func.id in ("locals", "globals")
        and not node.args
        and scope.find(node.func.id) is None
    ):
        return lambda frame: frame.machine.all_names(frame.vars if node.func.id == "locals" else frame.globals)
    starred = any(isinstance(a, ast.Starred) for a in node.args)
    if isinstance(node.func, ast.Name) and node.func.id in ("exec", "eval"):
        return lambda frame: frame.machine.run_text()
    if not starred and not node.keywords:

        def call_plainly(frame):
            f, args = function(frame), positional(frame)
            machine = frame.machine
            machine.place = place
            try:
                return machine.call(f, args, {})
            except TypeError as error:
                machine.misfit(f, error)
                raise

        return call_plainly
    keywords = [(k.arg, expression(k.value, scope)) for k in node.keywords]

    def call(frame):
        f, args = function(frame), positional(frame)
        machine, named = frame.machine, {}
        for name, value in keywords:
            if name is not None:
                named[name] = value(frame)
            else:
                machine.update(named, value(frame), star=True)
        if starred and any(a is MISSING for a in args):
            named["*"] = Unknown("the number of arguments is unknown")
            args = args[: next(i for i, a in enumerate(args) if a is MISSING)]
        machine.place = place
        try:
            return machine.call(f, args, named)
        except TypeError as error:
            machine.misfit(f, error)
            raise

    return call


def _await(node: ast.Await, scope: CompiledScope) -> Evaluate:
    return awaited(node, expression(node.value, scope))


_COMPILERS: dict[type, Callable] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _choice,
    ast.Tuple: _sequence(tuple),
    ast.List: _sequence(list),
    ast.Set: _sequence(set),
    ast.Dict: _dict,
    ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted,
    ast.Lambda: _lambda,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.NamedExpr: _walrus,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.Call: _call,
    SomeRows: _comprehension,
    ast.Await: _await,
}
