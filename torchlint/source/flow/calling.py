"""What a call calls, and what comes back from it: the part of a search that goes through calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.facts import fact, named
from torchlint.source.flow import flow
from torchlint.source.flow.asked_identity import passes, tests_of
from torchlint.source.flow.branches import returned, runs, yielded
from torchlint.source.flow.changed import (
    added_layers,
    grows,
    is_changed,
    last_added,
    names_of,
    only_appended,
    only_entry,
)
from torchlint.source.flow.classes import ClassInfo, class_info, may_stand_for, method_class, runs_for
from torchlint.source.flow.decorated import gives_something_else
from torchlint.source.flow.heads import new_head
from torchlint.source.flow.identity import external_name, instance_class, made_by_default
from torchlint.source.flow.module import Module
from torchlint.source.flow.names import named_file
from torchlint.source.flow.patched import is_patched
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.records import entry, field, given_to
from torchlint.source.flow.setting_branches import are_apart
from torchlint.source.flow.signatures import is_class_itself, is_static
from torchlint.source.flow.values import EACH, VALUE, LookedThrough, Step, Value, frame_of
from torchlint.source.text.index import DEFINITIONS, FUNCTIONS, enclosing_function, last_word
from torchlint.source.text.spelling import constant_key, is_super, rooted_in_import, unparsed

if TYPE_CHECKING:
    from torchlint.source.flow.asked_identity import Thing

MAX_FRAMES = 6
MAX_DEFINITIONS = 30  # under one name of which each may be called at one place
MAX_ENTRIES = 40  # of a table of optimizers or layers, each of which is named for each call
_JOINS = named("joins")
_CONTAINERS = frozenset(("torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict"))


def _are_many(called: ast.AST) -> bool:
    """Is it a name under which a function finds so many others defined that it would be looked through each time?"""
    scope = called.at.lookup(called.id) if isinstance(called, ast.Name) else None
    if scope is None or len(scope.bindings[called.id]) <= MAX_DEFINITIONS:
        return False
    bound = reaching(called, scope)
    return len(bound) > MAX_DEFINITIONS and all(isinstance(one, DEFINITIONS) for one in bound)


class Callee:
    """One thing a call may call.

    kind       what                                            name
    external   a function or class of a library                its dotted name: `torch.softmax`
    instance   an object of a library class is called          the class's name with `()`: `torch.nn.Softmax()`
    method     a method of some value                          `.softmax`; `receiver` is the expression before the dot
    function   a function or method of the project             ``; `function` is its node
    class      a class of the project is constructed           ``; `owner`
    object     an instance of a project class is called        ``; `owner`
    """

    __slots__ = ("kind", "name", "module", "function", "owner", "receiver", "instance", "made", "closure", "partials")

    def __init__(
        self,
        kind,
        name="",
        module=None,
        function=None,
        owner=None,
        receiver=None,
        instance=None,
        made=None,
        closure=None,
        partials=(),
    ):
        self.kind: str = kind
        self.name: str = name
        self.module: Module | None = module
        self.function = function
        self.owner: ClassInfo | None = owner
        self.receiver: Value | None = receiver
        self.instance: Value | None = instance  # what `self` is in `function`
        self.made: Value | None = made  # the constructor call of a library object that is called
        self.closure: LookedThrough | None = closure
        self.partials: tuple[Value, ...] = (
            partials  # the functools.partial calls that bound some arguments, inner first
        )

    def __repr__(self) -> str:
        return (
            f"<{self.kind} {self.name or getattr(self.function, 'name', '') or (self.owner and self.owner.node.name)}>"
        )


def bound_by(call: Value) -> tuple[ast.Call, ...] | None:
    """The `functools.partial(…)` through which a call goes, the innermost first; None where they are not the same for
    all that it may call, or stand in another file.
    """
    bound = [callee.partials for callee in flow.callees(call)] if isinstance(call.node, ast.Call) else []
    if any(made.module is not call.module for partials in bound for made in partials):
        return None
    found = {tuple(made.node for made in partials) for partials in bound}
    return found.pop() if len(found) == 1 else () if not found else None


class CallTracer:
    """The methods of a search that deal with calls."""

    def _call(self, value: Value, depth: int) -> Iterator[Value]:
        call = value.node
        known = self.called(value, depth)
        if not known:
            yield value
            return
        for callee in known:
            if callee.partials:
                yield value  # which parameters are left is not followed
            elif (
                callee.kind in ("function", "object") and callee.function is not None and self._may_enter(value, callee)
            ):
                frame = frame_of(value.module, callee.function, value, callee.instance, callee.closure)
                yield from self._returns(callee.module, callee.function, frame, value.path, depth)
                yield from self._of_heirs(value, callee, depth)
            elif callee.kind == "instance" and callee.name == "torch.nn.Sequential()":
                yield from self._sequential(value, sequential_layers(callee.made), depth)
            elif callee.kind == "instance" and (head := new_head(callee.name, callee.made)) is not None:
                yield from self._applied(head, value, depth)
            elif (
                callee.kind == "object"
                and callee.function is None
                and callee.owner is not None
                and callee.owner.is_a("torch.nn.Sequential")
            ):
                yield from self._sequential(value, _inherited_layers(callee), depth)
            elif (
                callee.kind == "class"
                and value.path
                and (given := field(callee.owner, value.at(call, ()), value.path[0])) is not None
            ):
                yield from self.trace(given.at(given.node, value.path[1:]), depth)
            elif (
                callee.name == "collections.namedtuple()"
                and value.path
                and (given := given_to(callee.name, value, callee.made, value.path[0], value.module)) is not None
            ):
                yield from self.trace(given.at(given.node, value.path[1:]), depth)
            elif callee.name == "dataclasses.field":
                yield from self._field_default(value, depth)
            elif callee.name == "builtins.dict" and value.path and (given := entry(value)) is not None:
                yield from self.trace(given, depth)
            elif callee.kind == "external" and callee.name in _CONTAINERS and value.path:
                yield from self._layer(value, depth)
            elif callee.name in _JOINS and callee.name in self.through:
                if call.args and not (isinstance(call.args[0], (ast.List, ast.Tuple)) and len(call.args[0].elts) != 1):
                    yield from self.trace(value.at(call.args[0], (EACH, *value.path)), depth)
                else:
                    yield value
            elif callee.name in self.through:
                carried = (
                    callee.receiver
                    if callee.kind == "method" and callee.name not in (".prepare", ".setup", ".unwrap_model")
                    else None
                )
                if carried is None and call.args:
                    if len(call.args) > 1 and value.path and isinstance(value.path[0], int) and callee.kind == "method":
                        if value.path[0] < len(call.args):  # a, b = accelerator.prepare(a, b)
                            yield from self.trace(value.at(call.args[value.path[0]], value.path[1:]), depth)
                            continue
                    carried = value.at(call.args[0], ())
                if carried is None:
                    yield value
                else:
                    for origin in self.trace(Value(carried.module, carried.node, carried.frame, value.path), depth):
                        of_class = carried is callee.receiver and isinstance(origin.node, ast.ClassDef)
                        yield value if of_class else origin  # `Scaled.apply(x)` is no `Scaled`
            else:
                yield value

    def _of_heirs(self, value: Value, callee: Callee, depth: int) -> Iterator[Value]:
        """What comes of the methods that classes which derive put over one of `self`, whichever of them that is of."""
        me = callee.instance if not is_super(getattr(value.node.func, "value", None)) else None
        others = may_stand_for(callee.owner, callee.function) if me and callee.owner and callee.function.gives else ()
        held = [o.node for o in self.trace_with(flow.SAME_OBJECT, me, depth)] if others else []
        for self_of in (node.up.up for node in held if isinstance(node, ast.arg)):
            for other in (one for one in others if one.unknown or runs_for(one, self_of)):
                if other.unknown or not self._may_enter(value, Callee("", module=other.module, function=other.node)):
                    yield Value(value.module, None)
                else:
                    frame = frame_of(value.module, other.node, value, None)
                    yield from self._returns(other.module, other.node, frame, value.path, depth)

    def _field_default(self, value: Value, depth: int) -> Iterator[Value]:
        """What `field(default=0.1)`, `field(default_factory=lambda: nn.ReLU())`, `field(default_factory=pick_device)`
        are where nothing is given.
        """
        for keyword in value.node.keywords:
            if keyword.arg == "default":
                yield from self.trace(value.at(keyword.value), depth)
                return
            if keyword.arg == "default_factory":
                for made in self.trace(value.at(keyword.value, ()), depth):
                    is_known = isinstance(made.node, FUNCTIONS) and not made.path
                    if is_known and self._may_enter(value, Callee("function", function=made.node)):
                        frame = frame_of(made.module, made.node, None, None, made.frame)
                        yield from self._returns(made.module, made.node, frame, value.path, depth)
                    else:
                        yield value
                return
        yield value

    def held(self, record: Value, step: Step, reader: Module, depth: int) -> list[Value]:
        """What stands in a namespace or namedtuple under a name, where each call is seen that may have made it."""
        found = []
        for made in self.trace_with(flow.and_objects(self.through), record, depth):
            makers = self.called(made, depth) if isinstance(made.node, ast.Call) and not made.path else []
            given = [given_to(maker.name, made, maker.made, step, reader) for maker in makers]
            if not given or None in given:
                return []
            found += given
        return found

    def _may_enter(self, value: Value, callee: Callee) -> bool:
        frame, count = value.frame, 0
        while frame:
            if frame.function is callee.function:
                return False
            count, frame = count + 1, frame.outside.frame if frame.outside else None
        return count < MAX_FRAMES and not gives_something_else(callee.module, callee.function)

    def _returns(
        self, module: Module, function: ast.AST, frame: LookedThrough, path: tuple, depth: int
    ) -> Iterator[Value]:
        if isinstance(function, ast.Lambda):
            yield from self.trace(Value(module, function.body, frame, path), depth)
            return
        if function.yields:
            for given in yielded(module, function) if path[:1] == (EACH,) else [None]:
                if given is None:
                    yield Value(module, None)
                else:
                    yield from self.trace(Value(module, given, frame, path[1:]), depth)
            return
        for expression in returned(function, frame, Value(module, function)):
            yield from self.trace(Value(module, expression, frame, path), depth)

    def _sequential(self, value: Value, layers: list[Value], depth: int) -> Iterator[Value]:
        """What a Sequential returns is what its last layer returns; that layer's constructor call stands for its
        result.
        """
        if layers:
            yield from self._applied(layers[-1], value, depth)
        else:
            yield value

    def _filled(self, value: Value, depth: int) -> Iterator[Value]:
        """A list that is filled by a single `append`, where each of its elements is asked for, or a dict that gets its
        entries by statements; else what is in it is not known.
        """
        step, only = value.path[0], None
        if step == EACH:
            only = only_appended(value) if "torch.stack" in self.through else None
        elif isinstance(value.node, ast.Dict):
            only = only_entry(value, step)
        yield from (
            self.trace(value.at(only, value.path[1:]), depth) if only is not None else [Value(value.module, None)]
        )

    def _layer(self, value: Value, depth: int) -> Iterator[Value]:
        """`layers[1]`, `layers["head"]`, `for layer in layers` of what nn.Sequential(…), nn.ModuleList(…) or
        nn.ModuleDict(…) makes.
        """
        step, rest = value.path[0], value.path[1:]
        if is_changed(value):
            for added in added_layers(value) if step == EACH else [Value(value.module, None)]:
                yield from self.trace(added, depth)
        elif isinstance(step, str) and step != EACH or last_word(value.node.func) != "Sequential":
            yield from self.trace(value.at(value.node.args[0]), depth) if value.node.args else [value]
        else:
            layers = sequential_layers(value)
            wanted = layers if step == EACH else layers[step : step + 1 or None]
            if any(layer.unknown for layer in layers) or not wanted:
                yield Value(value.module, None)
                return
            for layer in wanted:
                yield from self.trace(layer.at(layer.node, rest), depth)

    def _applied(self, layer: Value, value: Value, depth: int) -> Iterator[Value]:
        if depth > flow.MAX_DEPTH:  # a Sequential that ends in itself
            yield Value(value.module, None)
            return
        for origin in self.trace(layer, depth):
            makers = self.called(origin, depth) if isinstance(origin.node, ast.Call) else []
            for made in makers:
                if made.kind == "class" and made.owner:
                    method = made.owner.method("forward")
                    if method and self._may_enter(value, Callee("object", module=method.module, function=method.node)):
                        frame = frame_of(value.module, method.node, None, origin, around=value)
                        yield from self._returns(method.module, method.node, frame, value.path, depth)
                        continue
                if made.kind == "external" and made.name == "torch.nn.Sequential":
                    inner = sequential_layers(origin)
                    if inner:
                        yield from self._applied(inner[-1], value, depth + 1)
                        continue
                # Which call of the Sequential it was:
                frame = frame_of(value.module, value.node, value, origin, origin.frame)
                yield Value(origin.module, origin.node, frame, ("applied", *value.path))
            if not makers:
                yield Value(value.module, None)

    def callees(self, call: Value, depth: int) -> Iterator[Callee]:
        """What a call calls: of all that it may be, what passes the tests around the call that ask what it is."""
        tests = tests_of(call.module, call.node)
        for callee in self._may_call(call, depth):
            if not tests or passes(callee, tests, lambda node: self._things(call.at(node, ()), depth + 1)):
                yield callee

    def _things(self, value: Value, depth: int) -> list[Thing | None]:
        """What an expression that things are compared with may be."""
        return [_thing(origin) for origin in self.trace_with(flow.SAME_OBJECT, value, depth)]

    def _may_call(self, call: Value, depth: int) -> Iterator[Callee]:
        func = call.node.func
        if isinstance(func, ast.Attribute):
            if is_super(func.value):
                yield from self._super_method(call, func.attr)
                return
            imported = rooted_in_import(func)
            may_be_class = last_word(func.value)[:2].istitle()  # `Tool.flat(net)` of an imported class
            if not named_file(call.at(func.value, ())) and (may_be_class or not imported):
                found = False
                for owner, instance in self._classes_of_receiver(call.at(func.value, ()), depth + 1):
                    method = owner.method(func.attr)
                    if method:
                        found = True
                        static = is_static(method.node)
                        me = None if static else instance or call.at(func.value, ())
                        yield Callee("function", module=method.module, function=method.node, owner=owner, instance=me)
                    elif owner.attribute(func.attr) or field(owner, instance, func.attr) is not None:
                        found = True
                        yield from self._called_values(call.at(func, ()), call, depth)
                if not found and func.attr == "forward":  # of a layer of torch, as if it were called itself
                    for callee in self._called_values(call.at(func.value, ()), call, depth):
                        if callee.kind == "instance" and callee.name.startswith("torch.nn."):
                            found = True
                            yield callee
                if not found and imported:
                    yield from self._called_values(call.at(func, ()), call, depth)
                elif not found:
                    name = external_name(call.at(func, ()))  # fn = nn.functional; fn.relu(x)
                    if name and name.startswith(("torch.", "numpy.")):
                        yield Callee("external", name)
                    else:
                        yield Callee("method", "." + func.attr, receiver=call.at(func.value, ()))
                return
        yield from self._called_values(call.at(func, ()), call, depth)

    def _called_values(self, func: Value, call: Value, depth: int) -> Iterator[Callee]:
        if depth > flow.MAX_DEPTH or _are_many(func.node):  # a partial of itself, or nobody knows which
            return
        for origin in self.trace_with(flow.SAME_OBJECT, func, depth + 1):
            node = origin.node
            if node is not None and node is not func.node and are_apart(origin, call):
                continue
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                owner = method_class(origin.module, node)
                closure = call.frame.of(node.up) if call.frame else None
                yield Callee(
                    "function",
                    module=origin.module,
                    function=node,
                    owner=owner,
                    closure=call.frame if closure is None else closure,
                )
            elif isinstance(node, ast.ClassDef):
                yield Callee("class", module=origin.module, owner=class_info(origin.module, node))
            elif isinstance(node, ast.Call):
                yield from self._called_object(origin, depth)
            elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice) and not origin.path:
                yield from self._called_element(origin, depth)
                yield from self._called_entry(origin, depth)
            elif isinstance(node, (ast.Name, ast.Attribute, ast.alias)):
                name = external_name(origin)
                if name:
                    yield Callee("external", name)
                elif isinstance(node, ast.Attribute):
                    yield Callee("method", "." + node.attr, receiver=origin.at(node.value, ()))
            elif isinstance(node, ast.arg):
                owner = instance_class(origin)
                if owner and is_class_itself(node):
                    yield Callee("class", module=origin.module, owner=owner)
                elif owner:
                    yield from _object_callees(owner, origin)

    def _called_element(self, item: Value, depth: int) -> Iterator[Callee]:
        """`self.heads[task](x)`: whichever it is, what is called."""
        for made in self._made_alike(item, depth):
            if isinstance(made.node, ast.Call):  # and no `kernel` of `defaultdict(lambda: kernel)`
                yield from self._called_object(made, depth)

    def _classes_of_receiver(self, receiver: Value, depth: int) -> Iterator[tuple[ClassInfo, Value | None]]:
        """The classes of what has a method that is called; of `meters[name].update(x)` whichever it is."""
        found = self.classes_of(receiver, depth)
        if found or not isinstance(receiver.node, ast.Subscript) or isinstance(receiver.node.slice, ast.Slice):
            return iter(found)
        return (owner for made in self._made_alike(receiver, depth) for owner in self.classes_of(made, depth))

    def _made_alike(self, item: Value, depth: int) -> list[Value]:
        """What `heads[task]` may be, where one constructor makes all that there are."""
        for step in (VALUE, EACH):
            each = self.trace_with(flow.SAME_OBJECT, item.at(item.node.value, (step,)), depth + 1)
            made = [one for one in each if isinstance(one.node, ast.Call) and not one.path]
            if len(made) != len(each) or len(made) > MAX_ENTRIES:
                continue
            if len({unparsed(one.node.func) for one in made}) == 1:
                return made
        return [one for table in self.trace(item.at(item.node.value, ()), depth + 1) for one in made_by_default(table)]

    def _called_entry(self, entry: Value, depth: int) -> Iterator[Callee]:
        """`OPTIMIZERS[name](params)`: each that the table holds, where all are optimizers or all schedulers. Of losses
        or layers it matters which it is.
        """
        for table in self.trace(entry.at(entry.node.value, ()), depth + 1):
            if not isinstance(table.node, ast.Dict) or table.path or len(table.node.keys) > MAX_ENTRIES:
                return
            if is_changed(table):
                return
            names = [key and external_name(table.at(made, ())) for key, made in zip(table.node.keys, table.node.values)]
            if {(name or "").rpartition(".")[0] for name in names} in ({"torch.optim"}, {"torch.optim.lr_scheduler"}):
                yield from (Callee("external", name) for name in names)

    def _called_object(self, made: Value, depth: int) -> Iterator[Callee]:
        """`made` is a call whose result is called: a constructor, a factory, a partial."""
        if made.path == ("applied",):
            return
        for maker in self.called(made, depth + 1):
            if maker.kind == "class" and maker.owner:
                yield from _object_callees(maker.owner, made)
            elif maker.kind == "external":
                if maker.name == "functools.partial" and made.node.args:
                    for callee in self._called_values(made.at(made.node.args[0], ()), made, depth + 2):
                        callee.partials = (*callee.partials, made)
                        yield callee
                elif maker.name == "dataclasses.field":
                    for keyword in made.node.keywords:
                        if keyword.arg == "default_factory":
                            yield from self._made_by_factory(made.at(keyword.value, ()), made, depth)
                elif not made.path:
                    yield Callee("instance", maker.name + "()", made=made)

    def _made_by_factory(self, factory: Value, made: Value, depth: int) -> Iterator[Callee]:
        if name := external_name(factory):
            yield Callee("instance", name + "()", made=made)
            return
        for origin in self.trace(factory, depth + 1):
            if isinstance(origin.node, ast.ClassDef) and not origin.path:
                yield from _object_callees(class_info(origin.module, origin.node), made)

    def _super_method(self, call: Value, name: str) -> Iterator[Callee]:
        node = call.node
        while node is not None and not isinstance(node, ast.ClassDef):
            node = node.up
        owner = class_info(call.module, node) if node else None
        method = owner.inherited(name) if owner else None
        if method:
            instance = call.frame.instance if call.frame else None
            yield Callee("function", module=method.module, function=method.node, owner=method.owner, instance=instance)
        elif owner:
            yield Callee("external", "super." + name)


def _thing(origin: Value) -> Thing | None:
    node = origin.node
    if node is None or origin.path:
        return None
    if isinstance(node, ast.ClassDef):
        return class_info(origin.module, node)
    return node if isinstance(node, (*FUNCTIONS, ast.Call)) else external_name(origin)


def _object_callees(owner: ClassInfo, made: Value) -> Iterator[Callee]:
    method = owner.method("__call__") or owner.method("forward")
    [layer] = owner.foreign if method is None and len(owner.foreign) == 1 else [None]
    if layer is not None and layer not in _CONTAINERS and layer != "torch.nn.Module" and fact(f"{layer}()") is not None:
        yield Callee("instance", f"{layer}()", made=_handed_up(owner, made))  # of a class that only sets its options
        return
    if method is not None and is_patched(made, owner, method.node.name):
        return
    home, function = (method.module, method.node) if method else (None, None)
    yield Callee("object", module=home, function=function, owner=owner, instance=made)


def sequential_layers(made: Value | None) -> list[Value]:
    """The layers given to `nn.Sequential(…)`: arguments, an unpacked list or an OrderedDict, or what is put into it
    last after an unknown one; empty where not even the last one is seen."""
    if made is None or not isinstance(made.node, ast.Call):
        return []
    if is_changed(made):
        last = last_added(made)
        return [Value(made.module, None), made.at(last, ())] if last is not None else []
    arguments = made.node.args
    if len(arguments) == 1 and not isinstance(arguments[0], ast.Starred):
        for origin in flow.origins(made.at(arguments[0], ())):
            if isinstance(origin.node, (ast.Dict, ast.Call)) and is_changed(origin):
                return [Value(made.module, None)]
            if isinstance(origin.node, ast.Call) and last_word(origin.node.func) == "OrderedDict" and origin.node.args:
                listed = origin.node.args[0]
                if isinstance(listed, ast.List) and all(
                    isinstance(e, ast.Tuple) and len(e.elts) == 2 for e in listed.elts
                ):
                    return [origin.at(e.elts[1], ()) for e in listed.elts]
            if (
                isinstance(origin.node, ast.Call)
                and last_word(origin.node.func) == "OrderedDict"
                and origin.node.keywords
            ):
                return [origin.at(k.value, ()) for k in origin.node.keywords]
            if isinstance(origin.node, ast.Dict):
                return [origin.at(v, ()) for v in origin.node.values]
    layers: list[Value] = []
    for argument in arguments:
        if isinstance(argument, ast.Starred):
            listed, cut = _without_last(argument.value)
            found = _of_one_list(flow.origins(made.at(listed, ())))
            if len(found) == 1 and isinstance(found[0].node, (ast.List, ast.Tuple)) and not grows(listed):
                layers += [found[0].at(e, ()) for e in found[0].node.elts[: -cut or None]]
            else:
                last = _last_of_list(found[0], listed, made, cut + 1) if len(found) == 1 else None
                layers = [Value(made.module, None)] + ([found[0].at(last, ())] if last is not None else [])
        else:
            layers.append(made.at(argument, ()))
    return layers


def _of_one_list(found: list[Value]) -> list[Value]:
    """The display, if all the others are what it is grown by: `layers = []`, and `layers += […]` in a loop."""
    made = [o for o in found if isinstance(o.node, ast.List)]
    grown = [o for o in found if isinstance(o.node, ast.AugAssign)]
    if len(made) == 1 and len(grown) == len(found) - 1 and all(names_of(o) == names_of(made[0]) for o in grown):
        return made
    return found


def _without_last(unpacked: ast.expr) -> tuple[ast.expr, int]:
    """The list of `layers[:-1]`, and how many of its last elements that leaves out."""
    if (
        isinstance(unpacked, ast.Subscript)
        and isinstance(unpacked.slice, ast.Slice)
        and unpacked.slice.lower is unpacked.slice.step is None
        and constant_key(unpacked.slice.upper) == -1
    ):
        return unpacked.value, 1
    return unpacked, 0


def _last_of_list(origin: Value, unpacked: ast.expr, made: Value, back: int) -> ast.expr | None:
    """The last element of a list (the one before it with `back` 2) that is filled here, or in the function that is
    called here, before it is unpacked into a Sequential.
    """
    if not isinstance(origin.node, (ast.List, ast.AugAssign)):
        return None
    home = enclosing_function(origin.node)
    if home is enclosing_function(made.node) and origin.module is made.module:
        return last_added(origin, made.node, back, lambda change: runs(origin.at(change, ())))
    returned = getattr(home, "gives", ())
    if not isinstance(unpacked, ast.Call) or len(returned) != 1:
        return None
    return last_added(origin, returned[0], back, lambda change: runs(origin.at(change, ())))


def _inherited_layers(callee: Callee) -> list[Value]:
    """The layers of a subclass of nn.Sequential: what its `__init__` hands up, or what it is made with if it has
    none.
    """
    made = _handed_up(callee.owner, callee.instance)
    return sequential_layers(made) if made is not None else []


def _handed_up(owner: ClassInfo, made: Value) -> Value | None:
    """The call that makes an object what the library's class is: of `super().__init__`, or of the class itself if it
    has no `__init__`; None where it is not one, as of `self`.
    """
    init = owner.method("__init__")
    if init is None:
        return made if isinstance(made.node, ast.Call) else None
    handed_up = [
        call
        for call in init.module.index.callers("__init__")
        if is_super(getattr(call.func, "value", None)) and enclosing_function(call) is init.node
    ]
    if len(handed_up) != 1:
        return None
    return Value(init.module, handed_up[0], frame_of(init.module, init.node, made, made))
