"""Where a value comes from: backwards through assignments, attributes, calls and files, on demand and within a bound.

`origins` ends at the expressions that make a value (calls, constants, arithmetic), at parameters nobody is seen to
pass, or at an unknown. `callees` says what a call calls. The two need each other: a call of `criterion` is known by
where `criterion` comes from.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

from torchlint.facts import named, words
from torchlint.source.flow.branches import live, may_run
from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.calling import Callee, CallTracer
from torchlint.source.flow.changed import CONTAINERS, changes_of, is_changed, is_given_anew, may_have_grown, says_a_key
from torchlint.source.flow.classes import ClassInfo, method_class
from torchlint.source.flow.identity import instance_class
from torchlint.source.flow.module import Module, World
from torchlint.source.flow.names import brought_by_stars, named_file
from torchlint.source.flow.operands import followed
from torchlint.source.flow.reaching import MAX_BINDINGS, reaching
from torchlint.source.flow.records import field
from torchlint.source.flow.signatures import (
    bound_argument,
    default_of,
    first_parameter,
    further_arguments,
    has_decorator,
    is_static,
    stars_for,
)
from torchlint.source.flow.values import EACH, ENTER, VALUE, Stored, Value, frame_of, only_word
from torchlint.source.text.index import COMPREHENSIONS, FUNCTIONS, last_word
from torchlint.source.text.spelling import constant_key, root_of, rooted_in_import

MAX_STEPS = 3000  # of one question of a rule, with all the questions it leads to
MANY_STEPS = 100_000  # of all questions about a file: where so much leads everywhere, the others are told less
FEW_STEPS = 100  # of one question then
MAX_DEPTH = 40
MAX_WORLD_DEPTH = 50  # of all the searches that wait for each other: Python's own stack is bounded
MAX_NESTING = 8
SLACK = 8  # steps by which a search that ended at a bound may have been deeper than one that takes its answer
MAX_CALLERS = 100  # of one function, whose arguments are followed
COPIES = ("list", "tuple", "sorted", "reversed")  # in which there is what is in what they are given

# What returns the module (or the tensor) it was given, for the question "which object is this".
SAME_OBJECT = frozenset(f".{word}" for word in words(named("same_object"))) | frozenset(
    "torch.nn.DataParallel torch.nn.parallel.DistributedDataParallel torch.compile torch.jit.script copy.deepcopy"
    " copy.copy torch.nn.SyncBatchNorm.convert_sync_batchnorm .prepare .setup .setup_module .unwrap_model"
    " torch.nn.utils.weight_norm builtins.staticmethod torch.nn.utils.spectral_norm"
    " torch.nn.utils.parametrizations.weight_norm torch.nn.utils.parametrizations.spectral_norm".split()
)
SAME_WEIGHTS = SAME_OBJECT - {"copy.deepcopy"}  # and none that has others, which are the same only at first
# What moves, casts or reshapes a tensor without changing what its numbers mean; of what is cut off they are only read.
SAME_NUMBERS = named("same_numbers", but="cuts")
# And what changes them without changing what they stand for: probabilities that are scaled, clamped or cut are no
# logits.
SCALED = SAME_NUMBERS | named("clips") | named("joins") | {"[]", "scaling"}


def origins(value: Value, through: frozenset[str] = frozenset()) -> list[Value]:
    """The expressions that the value of an expression may come from, in a deterministic order, each once."""
    world = value.module.world
    key = ("origins", value.key, through)
    if key in world.memo:
        return world.memo[key]
    if not _enter(world):
        return [Value(value.module, None)]
    before = world.cuts
    found = [*_Tracer(through).trace(value, 0)] or [Value(value.module, None)]  # each once, as `trace` finds them
    return _leave(world, key, found, before)


def callees(call: Value) -> list[Callee]:
    """What the call may call; empty where nothing is known."""
    world = call.module.world
    call = _without_frame(call)
    key = ("callees", call.key)
    if key in world.memo:
        return world.memo[key]
    if key in world.pending:  # a call that needs itself to be known stays unknown
        world.ends_at_itself(world.pending[key])
        return []
    if not _enter(world):
        return []
    before = world.cuts
    return _leave(world, key, _Tracer(frozenset()).called(call, 0), before)


def _without_frame(call: Value) -> Value:
    """A call of what a global name means is the same from wherever its function is entered, and is looked up once."""
    if call.frame is not None:
        root = root_of(call.node.func)
        scope = root.at.lookup(root.id) if root is not None else None
        if root is not None and (scope is None or scope.parent is None):
            return Value(call.module, call.node, None, call.path)
    return call


def objects(value: Value) -> list[Value]:
    """The origins of an expression that holds an object, through moves and wrappers that return it."""
    return origins(value, SAME_OBJECT)


# Searches are not `@remembered`: whether an answer is kept follows from where the search stands among others and from
# whether it was cut short; and what one search finds out of calls, another takes from `short` or from the same key.


def _enter(world: World) -> bool:
    """Begin a search. The outermost one starts the count of steps; what is deep inside another one may not begin."""
    if world.nesting == 0:
        world.spent += world.steps
        world.steps = 0
        world.most_steps = MAX_STEPS if world.spent < MANY_STEPS else FEW_STEPS
    if world.nesting > MAX_NESTING or world.steps > world.most_steps:
        world.cuts += 1
        return False
    world.nesting += 1
    return True


def _leave(world: World, key: tuple, found: list, before: int) -> list:
    """End a search. What was cut short inside another search is not remembered: asked by itself it may get further."""
    world.nesting -= 1
    if world.cuts == before or world.nesting == 0:
        world.memo[key] = found
    return found


class Search:
    """One that is open: when it ends, it knows whether what it found depends on who asks."""

    __slots__ = ("world", "before", "number")

    def __init__(self, world: World):
        self.world = world
        self.before = world.cuts, world.circles, world.outermost
        self.number = world.open = world.outermost = world.open + 1

    def keep(self, key: tuple, found: Any, value: Value | None = None, depth: int = 0) -> None:
        """End it, and remember what it found: what ended at itself is whole, for its other parts say the rest. What
        came to a bound is remembered for places as deep, if it is about a value.
        """
        world, (cuts, circles, outermost) = self.world, self.before
        world.open -= 1
        is_own, world.outermost = world.outermost == self.number, min(world.outermost, outermost)
        if is_own and world.cuts - cuts == world.circles - circles:
            world.cuts, world.circles = cuts, circles
            world.memo[key] = found
        elif value is not None and is_own and world.steps <= world.most_steps:
            world.short[key] = _place(world, depth), found
        else:
            return
        world.kept.append(value)  # so that no id in a key is used twice


def _cut_short(world: World, key: tuple, depth: int) -> list | None:
    """What a search found that ended at a bound, if it was not much deeper than this one: from here it would not get
    much further. Without it, a chain of calls would be gone through in all ways there are to its beginning."""
    (deep, nesting), found = world.short[key]
    place = _place(world, depth)
    if place[0] + SLACK < deep or place[1] + 1 < nesting:
        return None
    world.cuts += 1
    return found


def _place(world: World, depth: int) -> tuple[int, int]:
    """How deep a search is among those that wait for others."""
    return max(depth + MAX_WORLD_DEPTH - MAX_DEPTH, world.depth), world.nesting


class _Tracer(CallTracer):
    """One search, which knows what it is already looking for."""

    def __init__(self, through: frozenset[str]):
        self.through = through
        self.active: dict[tuple, int] = {}  # and the number of its search

    def trace(self, value: Value, depth: int) -> list[Value]:
        """A list, not a generator: while somebody works on what was found, nothing may count as still being looked
        for.
        """
        world = value.module.world
        meant = value.key
        key = ("trace", meant, self.through)
        if key in world.memo:
            return world.memo[key]
        if key in world.short and (known := _cut_short(world, key, depth)) is not None:
            return known
        world.steps += 1
        if depth > MAX_DEPTH or world.steps > world.most_steps or world.depth > MAX_WORLD_DEPTH or value.node is None:
            world.cuts += 1
            return [Value(value.module, None)]
        if meant in self.active:  # a loop that carries a value round: the other origins say what it is
            world.ends_at_itself(self.active[meant])
            return []
        search = Search(world)
        self.active[meant] = search.number
        world.depth += 1
        found = self._name(value, depth + 1) if type(value.node) is ast.Name else [*self._expression(value, depth + 1)]
        if len(found) > 1:  # many ways may lead to one origin, and many questions go on from here
            found = list({origin.key: origin for origin in found}.values())
        world.depth -= 1
        del self.active[meant]
        search.keep(key, found, value, depth)
        return found

    def called(self, call: Value, depth: int) -> list[Callee]:
        """What a call calls, each once."""
        world = call.module.world
        call = _without_frame(call)
        key = ("callees", call.key)
        if key in world.memo:
            return world.memo[key]
        if key in world.pending:
            world.ends_at_itself(world.pending[key])
            return []
        if key in world.short and (known := _cut_short(world, key, depth)) is not None:
            return known
        search = Search(world)
        world.pending[key] = search.number
        every = self.callees(call, depth)
        found = list({(c.name, id(c.function), id(c.owner), id(c.made and c.made.node)): c for c in every}.values())
        del world.pending[key]
        search.keep(key, found, call, depth)
        return found

    def _expression(self, value: Value, depth: int) -> Iterator[Value]:
        node = value.node
        if isinstance(node, ast.Attribute):
            yield from self._attribute(value, depth)
        elif isinstance(node, ast.Call):
            is_copy = bool(value.path) and self._is_copy(value)
            yield from self._iterate(value.at(node.args[0]), depth) if is_copy else self._call(value, depth)
        elif isinstance(node, ast.IfExp):
            for branch in live(value):
                yield from self.trace(value.at(branch), depth)
        elif isinstance(node, ast.BoolOp):
            for operand in node.values:
                yield from self.trace(value.at(operand), depth)
        elif isinstance(node, (ast.NamedExpr, ast.Await, ast.Starred)):
            yield from self.trace(value.at(node.value), depth)
        elif value.path and isinstance(node, CONTAINERS) and is_changed(value):
            yield from self._filled(value, depth)
        elif isinstance(node, (ast.Tuple, ast.List, ast.Set)) and value.path:
            yield from self._element(value, node.elts, depth)
        elif isinstance(node, ast.Dict) and value.path:
            yield from self._entry(value, node, depth)
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp)) and value.path:
            yield from self.trace(value.at(node.elt, value.path[1:]), depth)
        elif isinstance(node, ast.DictComp) and value.path:
            yield from self.trace(value.at(node.value, value.path[1:]), depth)
        elif isinstance(node, ast.Subscript):
            yield from self._subscript(value, node, depth)
        elif isinstance(node, ast.BinOp) and (parts := followed(node, value.path, "scaling" in self.through)):
            for part in parts:
                yield from self.trace(value.at(part), depth)
        else:
            yield value

    def _is_copy(self, value: Value) -> bool:
        """`list(hooks)` and `sorted(hooks)`, each element of which is one of `hooks`, unless it is changed"""
        func, given = value.node.func, value.node.args
        is_list = isinstance(func, ast.Name) and func.id in COPIES and func.at.lookup(func.id) is None
        return is_list and len(given) == 1 and value.path[0] == EACH and not is_changed(value)

    def _element(self, value: Value, elements: list[ast.expr], depth: int) -> Iterator[Value]:
        step, rest = value.path[0], value.path[1:]
        if step == EACH:
            for element in elements:
                yield from self.trace(
                    value.at(element, value.path if isinstance(element, ast.Starred) else rest), depth
                )
        elif (
            isinstance(step, int)
            and -len(elements) <= step < len(elements)
            and not any(isinstance(e, ast.Starred) for e in elements[: step + 1 if step >= 0 else None])
        ):
            yield from self.trace(value.at(elements[step], rest), depth)
        else:
            yield Value(value.module, None)

    def _entry(self, value: Value, node: ast.Dict, depth: int) -> Iterator[Value]:
        step, rest = value.path[0], value.path[1:]
        if (
            step == VALUE
            and len({ast.unparse(getattr(v, "func", v)) for v in node.values}) == 1
            and None not in node.keys
        ):
            for each in node.values:  # all made by one class: what is computed by one of them is what all compute
                yield from self.trace(value.at(each, rest), depth)
            return
        last = max((i for i, key in enumerate(node.keys) if key is None), default=-1)  # `**other` may hold the key too
        hits = [
            v
            for i, (k, v) in enumerate(zip(node.keys, node.values))
            if i > last and isinstance(k, ast.Constant) and k.value == step
        ]
        if hits:
            yield from self.trace(value.at(hits[-1], rest), depth)
        else:
            yield Value(value.module, None)

    def _subscript(self, value: Value, node: ast.Subscript, depth: int) -> Iterator[Value]:
        step = constant_key(node.slice)
        if step is None and says_a_key(value.module, node.slice):
            step = only_word(self.trace(value.at(node.slice, ()), depth + 1))
        if step is None and "[]" in self.through:  # each of them, where all are computed alike
            inside = self.trace(value.at(node.value), depth)
            if inside and all(isinstance(v.node, (ast.ListComp, ast.DictComp)) for v in inside):
                step = EACH
        if step is not None:
            inside = list(self.trace(value.at(node.value, (step, *value.path)), depth))
            if inside and all(
                not v.unknown and (v.path != (step, *value.path) or not isinstance(v.node, (ast.Call, ast.arg)))
                for v in inside
            ):
                yield from inside
                return
        if "[]" in self.through:
            yield from self.trace(value.at(node.value), depth)
        else:
            yield value

    # Names

    def _name(self, value: Value, depth: int) -> list[Value]:
        node = value.node
        scope = node.at.lookup(node.id)
        if scope is None:
            return self._starred(value, node.id, depth) or [value]
        frame = value.frame.of(scope.node) if value.frame and isinstance(scope.node, FUNCTIONS) else None
        if isinstance(scope.node, COMPREHENSIONS):
            frame = value.frame
        bindings = reaching(node, scope)
        if len(bindings) == 1:
            return self._binding(Value(value.module, bindings[0], frame, value.path), depth)
        found = [Value(value.module, None)] if len(bindings) >= MAX_BINDINGS else []
        for binding in bindings:
            if may_run(Value(value.module, binding, frame)):
                found += self._binding(Value(value.module, binding, frame, value.path), depth)
        return found

    def _binding(self, value: Value, depth: int) -> list[Value]:
        """`value.node` is what binds a name."""
        node = value.node
        if isinstance(node, ast.arg):
            return list(self._parameter(value, depth))
        if isinstance(node, ast.alias):
            return self._import(value, node, depth)
        return self._target(value, node, depth) if isinstance(node, ast.Name) else [value]

    def _target(self, value: Value, node: ast.expr, depth: int) -> list[Value]:
        """A name or attribute that is stored to; the path grows by its place in a tuple on the left."""
        path, child, parent = value.path, node, node.up
        while isinstance(parent, (ast.Tuple, ast.List, ast.Starred)):
            if isinstance(parent, ast.Starred):
                return [Value(value.module, None)]  # the rest of a list is none of its elements
            place = parent.elts.index(child)
            if any(isinstance(e, ast.Starred) for e in parent.elts[:place]):
                place -= len(parent.elts)
            path = (place, *path)
            child, parent = parent, parent.up
        if isinstance(parent, (ast.Assign, ast.NamedExpr)) or (isinstance(parent, ast.AnnAssign) and parent.value):
            return self.trace(value.at(parent.value, path), depth)
        if isinstance(parent, (ast.For, ast.AsyncFor, ast.comprehension)):
            return list(self._iterate(value.at(parent.iter, (EACH, *path)), depth))
        if isinstance(parent, ast.withitem):
            return [value.at(parent.context_expr, (ENTER, *path))]
        return [value.at(parent) if isinstance(parent, ast.AugAssign) else Value(value.module, None)]

    def _iterate(self, value: Value, depth: int) -> Iterator[Value]:
        """The elements of an iterable, seen through `enumerate`, `zip`, `tqdm`, `.items()`."""
        node, path = value.node, value.path[1:]
        if isinstance(node, ast.Call) and node.args:
            word = last_word(node.func)
            if word == "enumerate":
                if path[:1] == (1,):
                    yield from self._iterate(value.at(node.args[0], (EACH, *path[1:])), depth)
                else:
                    yield value
                return
            if word == "zip":
                if path and isinstance(path[0], int) and path[0] < len(node.args):
                    yield from self._iterate(value.at(node.args[path[0]], (EACH, *path[1:])), depth)
                    return
            elif word in ("tqdm", "trange", "track", "list", "iter", "reversed", "sorted", "track_progress"):
                yield from self._iterate(value.at(node.args[0]), depth)
                return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            rest = path if node.func.attr == "values" else path[1:]
            if node.func.attr == "values" or node.func.attr == "items" and path[:1] == (1,):
                found = self.trace(value.at(node.func.value, (VALUE, *rest)), depth)
                if not any(v.unknown or VALUE in v.path for v in found):
                    yield from found
                    return
        yield from self.trace(value, depth)

    def _import(self, value: Value, alias: ast.alias, depth: int) -> list[Value]:
        statement = alias.up
        home = None
        if isinstance(statement, ast.ImportFrom):
            home = value.module.imported(statement.module or "", statement.level)
        if home and value.path and changes_of(value.module.index, alias.asname or alias.name):
            return [Value(value.module, None)]
        return home and self._global(home, alias.name, value.path, depth) or [value]

    def _global(self, module: Module, name: str, path: tuple, depth: int) -> list[Value]:
        """What the name `name` of a module of the project is."""
        module.world.steps += 1
        if (
            depth > MAX_DEPTH
            or module.world.steps > module.world.most_steps
            or ("global", module.path, name) in self.active
        ):
            return []
        self.active["global", module.path, name] = 0
        bindings = module.tree.scope.bindings.get(name, [])
        found = [one for b in bindings for one in self._binding(Value(module, b, None, path), depth + 1)]
        if not bindings:
            found = self._starred(Value(module, None, None, path), name, depth + 1)
        del self.active["global", module.path, name]
        return found

    def _starred(self, value: Value, name: str, depth: int) -> list[Value]:
        """What a name is that only a `from x import *` of a project file can have brought."""
        homes = brought_by_stars(value.module, name)
        return [found for home in homes for found in self._global(home, name, value.path, depth)]

    # Parameters

    def _parameter(self, value: Value, depth: int) -> Iterator[Value]:
        parameter: ast.arg = value.node
        function = parameter.up.up
        owner = method_class(value.module, function)
        if owner and parameter is first_parameter(function) and not is_static(function):
            if value.frame and value.frame.instance:
                yield from self.trace(value.frame.instance.at(value.frame.instance.node, value.path), depth)
            else:
                yield value
            return
        if value.frame and value.frame.call:
            yield from self._passed(value, value.frame.call, depth)
            return
        calls = list(islice(callers_of(value.module, function, owner), MAX_CALLERS + 1))
        if not calls or depth > MAX_DEPTH // 2:
            yield value
            return
        if len(calls) > MAX_CALLERS:
            yield Value(value.module, None)
        for call in calls:
            yield from self._passed(value, call, depth)

    def _passed(self, value: Value, call: Value, depth: int) -> Iterator[Value]:
        """What a call gives the parameter that `value` is."""
        function = value.node.up.up
        is_bound = method_class(value.module, function) is not None and not is_static(function)
        if value.node is function.args.vararg and value.path:
            further = further_arguments(function, call.node, is_bound)
            if further:
                yield from self._element(call.at(call.node, value.path), further, depth)
                return
        argument = bound_argument(function, value.node, call, is_bound)
        if argument is not None and argument.unknown and (given := self._in_stars(value, call, depth)):
            yield from given
        elif argument is not None:
            yield from self.trace(
                Value(argument.module, argument.node, argument.frame, argument.path + value.path), depth
            )
        else:
            default = default_of(function, value.node)
            yield from self.trace(Value(value.module, default, None, value.path), depth) if default else iter([value])

    def _in_stars(self, value: Value, call: Value, depth: int) -> list[Value]:
        """What `**options` gives a parameter by its name, where that is seen for certain."""
        options = stars_for(value.node, call.node)
        if options is None or may_have_grown(call.module, options):
            return []
        path = (value.node.arg, *value.path)
        found = self.trace(call.at(options, path), depth)
        return found if all(not one.unknown and one.path != path for one in found) else []

    # Attributes

    def _attribute(self, value: Value, depth: int) -> Iterator[Value]:
        node = value.node
        module = named_file(value.at(node.value, ()))
        if module:
            yield from self._global(module, node.attr, value.path, depth) or [value]
            return
        if rooted_in_import(node):
            yield value
            return
        known = False
        for owner, instance in self.classes_of(value.at(node.value, ()), depth):
            entries = owner.attribute(node.attr)
            given = field(owner, instance, node.attr)
            if given is not None:
                yield from self.trace(given.at(given.node, value.path), depth)
                known = True
                continue
            if entries and instance is not None and is_given_anew(instance, node.attr, entries):
                yield Value(value.module, None)
                known = True
                continue
            if entries:
                known = True
                yield from self._stored(value, entries, instance, depth)
            if not entries:
                method = owner.method(node.attr)
                if method:
                    known = True
                    if has_decorator(method.node, "property", "cached_property"):
                        frame = frame_of(value.module, method.node, None, instance)
                        yield from self._returns(method.module, method.node, frame, value.path, depth)
                    else:
                        yield Value(method.module, method.node, None, value.path)
        if not known:
            held = self.held(value.at(node.value, ()), node.attr, value.module, depth)
            for given in held:
                yield from self.trace(given.at(given.node, value.path), depth)
            if not held:
                yield value

    def _stored(self, value: Value, entries: list[Stored], instance: Value | None, depth: int) -> list[Value]:
        """What an attribute is given anywhere: the same wherever it is read, and so a search of its own. From place to
        place, what sets it from itself would be gone through in all orders there are."""
        world = value.module.world
        meant = ("stored", id(entries), instance and instance.key, value.path)
        key = ("trace", meant, self.through)
        if key in world.memo:
            return world.memo[key]
        if key in world.short and (known := _cut_short(world, key, depth)) is not None:
            return known
        if meant in self.active:
            world.ends_at_itself(self.active[meant])
            return []
        search = Search(world)
        self.active[meant] = search.number
        found = [Value(value.module, None)] if len(entries) > MAX_BINDINGS else []
        for entry in entries[:MAX_BINDINGS]:
            frame = None
            if (
                entry.method is not None
                and instance is not None
                and instance.node is not None
                and entry.method.name == "__init__"
            ):
                frame = frame_of(
                    value.module, entry.method, instance if isinstance(instance.node, ast.Call) else None, instance
                )
            if len(entries) > 1 and not may_run(Value(entry.module, entry.target or entry.value, frame)):
                continue
            if entry.target is not None:
                found += self._target(Value(entry.module, entry.target, frame, value.path), entry.target, depth)
            else:
                found += self.trace(Value(entry.module, entry.value, frame, value.path), depth)
        del self.active[meant]
        search.keep(key, found, value, depth)
        return found

    def classes_of(self, value: Value, depth: int) -> list[tuple[ClassInfo, Value | None]]:
        """The project classes that an expression is an instance of (or is itself), each with the call that made it, if
        it was seen.
        """
        found: dict[int, tuple[ClassInfo, Value | None]] = {}
        for origin in self.trace_with(and_objects(self.through), value, depth):
            owner = instance_class(origin)
            if owner:
                found.setdefault(id(owner.node), (owner, origin if isinstance(origin.node, ast.Call) else None))
        return list(found.values())

    def trace_with(self, through: frozenset[str], value: Value, depth: int) -> list[Value]:
        """Trace with another set of things to look through, within the same bounds."""
        kept, self.through = self.through, through
        found = self.trace(value, depth)
        self.through = kept
        return found


@cache
def and_objects(through: frozenset[str]) -> frozenset[str]:
    return SAME_OBJECT | through
