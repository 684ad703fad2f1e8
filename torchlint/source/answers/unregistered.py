"""Layers and parameters that a module keeps in a plain list, dict or tuple, where nn.Module does not see them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from torchlint.facts.fields import OF_MODULES
from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.calling import Callee
from torchlint.source.flow.changed import changes_of
from torchlint.source.flow.classes import ClassInfo, class_info
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.kinds import MODULE, PARAMETER, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.own_places import own
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.signatures import bound_argument, further_arguments, is_static
from torchlint.source.flow.values import Value, frame_of
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.training.members import (
    MemberAssignment,
    has_weights,
    is_group,
    is_of_self,
    parts_of,
    put_together,
    stores_of,
)

LIST, DICT = "list", "dict"
_DICTS = frozenset(("builtins.dict", "collections.OrderedDict", "collections.defaultdict"))
_LISTS = frozenset(("builtins.list", "builtins.tuple", "collections.deque"))
# Who does one of these with what is in the list takes care of it by hand.
_BY_HAND = frozenset(
    "add_module register_module register_parameter setattr __setattr__ parameters named_parameters".split()
)
_OF_DICTS = frozenset("clear items keys pop update values".split())
_REGISTERS = ("_modules", "_parameters")  # the dictionaries in which a module keeps what it knows
_OVERRIDDEN = frozenset("parameters named_parameters named_modules modules children _apply to cuda state_dict".split())
_PASSING = frozenset("enumerate zip reversed list tuple iter sorted".split())  # the elements of what they are given
_LOOKING = frozenset("len range print isinstance".split())
# Where a collection or its elements are looked at and go no further.
_ENDS = (
    *(ast.Expr, ast.If, ast.While, ast.Assert, ast.Delete, ast.AugAssign),
    *(ast.Compare, ast.BoolOp, ast.UnaryOp, ast.FormattedValue),
)
_BOUND = frozenset(("staticmethod", "classmethod"))
_HOPS = 3  # functions that hand on what another one makes
_FEW = 40  # elements of a display that are looked at, and displays under one name


class Unregistered(NamedTuple):
    """An attribute with such a collection: what makes it, and the layers that it was seen to get."""

    store: MemberAssignment
    name: str
    made: ast.expr  # the display, comprehension or call that makes it
    shape: str  # LIST or DICT
    layers: list[Value]
    holds: str  # MODULE or PARAMETER
    is_pure: bool  # is all that is put into it known, and of that kind?


def unregistered(cls: ClassInfo) -> Iterator[Unregistered]:
    if any(name in _OVERRIDDEN for owner in cls.mro for name in owner.methods):
        return
    for name, stores in stores_of(cls).items():
        collections = [one for store in stores[:_FEW] if (one := _collection(cls, name, store)) is not None]
        if collections and not _is_cared_for(cls, name, stores):
            yield from collections


class _Made(NamedTuple):
    node: ast.expr
    shape: str
    given: tuple[Value, ...]
    repeats: bool


def _collection(cls: ClassInfo, name: str, store: MemberAssignment) -> Unregistered | None:
    made = _container(Value(store.module, store.value))
    if made is None:
        return None
    shape, given, module = made.shape, made.given, store.module
    names = [f"{store.target.value.id}.{name}", *([store.value.id] if isinstance(store.value, ast.Name) else [])]
    changes = [c for n in names for c in changes_of(module.index, n) if _is_near(c, store.method, cls)]
    put = [Value(module, part) for change in changes for part in _put(change)]
    alone = len(given) == 1 and not put and not made.repeats
    if alone or len(given) > _FEW:  # `self._teacher = [teacher]` hides a module on purpose
        return None
    layers, holds = [], set()
    pure = module is cls.module and enclosing_function(made.node) is store.method  # not in a helper that others call
    pure = pure and _takes_words(made, changes) and all(_is_direct(part.node) for part in (*given, *put))
    pure = pure and not any(
        "." not in n and c.pos > store.statement.pos for n in names for c in changes_of(module.index, n)
    )
    for part in (*given, *(one for part in put for one in _handed(cls, part) or [part])):
        answer = _is_new_layer(part)
        if answer is None:
            pure = pure and (kinds(part) or {""}) <= {MODULE}
        else:
            layers.append(part)
            holds.add(answer)
    if not layers or len(holds) > 1:
        return None
    return Unregistered(store, name, made.node, shape, layers, holds.pop(), pure)


def _is_direct(part: ast.expr) -> bool:
    """Is it an element itself, and not one of a list in the list?"""
    around = part.up
    if isinstance(around, (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp, ast.GeneratorExp, ast.keyword)):
        outer = around.up
        added = isinstance(outer, ast.Call) and last_word(outer.func) in ("append", "insert")
        return isinstance(outer, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Call, ast.BinOp)) and not added
    return True


def _takes_words(made: _Made, changes: list[ast.AST]) -> bool:
    """Are all keys of a dict words, as nn.ModuleDict wants them: without a dot, and no names of its own?"""
    if made.shape != DICT:
        return True
    keys = [c.slice for c in changes if isinstance(c, ast.Subscript)]
    if isinstance(made.node, ast.Dict):
        keys += made.node.keys
    elif isinstance(made.node, ast.DictComp):
        keys.append(made.node.key)
    elif made.node.args:
        return False
    return all(map(_is_name_of_a_part, keys))


def _is_name_of_a_part(key: ast.expr | None) -> bool:
    if isinstance(key, ast.JoinedStr):
        return not any(isinstance(part, ast.Constant) and "." in part.value for part in key.values)
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        return False
    return bool(key.value) and "." not in key.value and key.value not in _OF_DICTS | OF_MODULES


def _container(value: Value, hops: int = 0) -> _Made | None:
    """The plain collection that an expression is: written there, or made under the local name that stands there, or
    by what is called there.
    """
    node = value.node
    if isinstance(node, ast.Name):
        found = origins(value)
        if len(found) != 1 or found[0].node is None or found[0].path:
            return None
        if enclosing_function(found[0].node) is not enclosing_function(node) or found[0].module is not value.module:
            call = _given_by_call(node)
            return _container(value.at(call, ()), hops) if call is not None else None
        node = found[0].node
    value = value.at(node, ())
    if isinstance(node, (ast.List, ast.Tuple)):
        return _Made(node, LIST, _parts(value, node), False)
    if isinstance(node, ast.Dict):
        return _Made(node, DICT, _parts(value, *node.values), False)
    if isinstance(node, ast.ListComp):
        return _Made(node, LIST, _parts(value, node.elt), True)
    if isinstance(node, ast.DictComp):
        return _Made(node, DICT, _parts(value, node.value), True)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List):
        return _Made(node, LIST, _parts(value, node.left), True)
    if isinstance(node, ast.Call):
        return _helped(value, hops) or _regrouped(value, hops) or (_called(value) if len(node.args) <= 1 else None)
    return None


def _given_by_call(name: ast.Name) -> ast.Call | None:
    """`make_heads()` of `heads = make_heads()`, if that is all that binds the name."""
    scope = name.at.lookup(name.id)
    bound = reaching(name, scope) if scope is not None else []
    given = bound[0].up if len(bound) == 1 and enclosing_function(bound[0]) is enclosing_function(name) else None
    is_plain = isinstance(given, ast.Assign) and given.targets == bound and isinstance(given.value, ast.Call)
    return given.value if is_plain else None


def _helped(value: Value, hops: int) -> _Made | None:
    """`make_blocks(widths)`, `self._make_heads(tasks)`: the collection that a function or method of the project makes
    and returns, with what it puts into it.
    """
    called = callees(value)
    helper = called[0].function if len(called) == 1 and called[0].kind == "function" else None
    if hops == _HOPS or not isinstance(helper, ast.FunctionDef) or len(helper.gives) != 1 or helper.yields:
        return None
    if not all(last_word(decorator) in _BOUND for decorator in helper.decorator_list) or _is_overridden(called[0]):
        return None
    [returned], home = helper.gives, called[0].module
    frame = frame_of(value.module, helper, value, called[0].instance, called[0].closure)
    return _filled(Value(home, returned, frame), hops + 1)


def _regrouped(value: Value, hops: int) -> _Made | None:
    """`dict(zip(names, heads))`, `tuple(heads)`: a collection of what stands in another one, which has a local name."""
    names = {callee.name for callee in callees(value)}
    shape = DICT if names and names <= _DICTS else LIST if names and names <= _LISTS else None
    inner = value.node.args[0] if shape and len(value.node.args) == 1 and not value.node.keywords else None
    if shape == DICT and isinstance(inner, ast.Call):
        place = {"builtins.zip": 1, "builtins.enumerate": 0}.get(_only_name(value.at(inner, ())))
        inner = inner.args[place] if place is not None and len(inner.args) == place + 1 else None
    made = _filled(value.at(inner, ()), hops) if isinstance(inner, (ast.Name, ast.ListComp)) else None
    if made is None or (made.shape, shape) == (DICT, LIST):  # `list(heads)` of a dict are its keys
        return None
    return made._replace(node=value.node, shape=shape)


def _only_name(call: Value) -> str | None:
    names = {callee.name for callee in callees(call)}
    return names.pop() if len(names) == 1 else None


def _filled(value: Value, hops: int) -> _Made | None:
    """The collection that an expression is, with all that it gets under its local name, if that leads to nothing
    else.
    """
    made, name, home = _container(value, hops), value.node, value.module
    if made is None or not isinstance(name, ast.Name):
        return made
    function = enclosing_function(name)
    names = [n for n in home.index.names(name.id) if n is not name and enclosing_function(n) is function]
    if any(isinstance(n.ctx, ast.Load) and _leads_on(home, n) for n in names):
        return None
    changes = [c for c in changes_of(home.index, name.id) if enclosing_function(c) is function]
    put = [value.at(part, ()) for change in changes for part in _put(change)]
    return made._replace(given=(*made.given, *put), repeats=made.repeats or bool(put))


def _is_overridden(called: Callee) -> bool:
    """May another method be meant, that of a class that inherits?"""
    owner, name = called.owner, called.function.name
    heirs = [class_info(called.module, node) for node in called.module.index.classes] if owner is not None else []
    return any(heir is not owner and name in heir.methods and owner in heir.mro for heir in heirs)


def _called(value: Value) -> _Made | None:
    """`dict(a=…)`, `list(…)`, `OrderedDict()`"""
    names = {callee.name for callee in callees(value)}
    node = value.node
    shape = DICT if names and names <= _DICTS else LIST if names and names <= _LISTS else None
    if shape is None or any(keyword.arg is None for keyword in node.keywords):
        return None
    given = _parts(value, *(keyword.value for keyword in node.keywords))
    first = node.args[0] if node.args else None
    if isinstance(first, (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp)):
        repeats = isinstance(first, (ast.ListComp, ast.GeneratorExp))
        return _Made(node, shape, (*given, *_parts(value, first)), repeats)
    if isinstance(first, ast.Call) and {callee.name for callee in callees(value.at(first))} == {"builtins.map"}:
        each = _mapped(value.at(first.args[0], ())) if first.args else None
        return _Made(node, shape, (*given, *_parts(each, each.node)), True) if each is not None else None
    return _Made(node, shape, given, False) if first is None or shape == DICT else None


def _mapped(function: Value) -> Value | None:
    """What `map` makes of each element: `list(map(lambda i: nn.Linear(i, i), sizes))`, also with the name of a lambda
    or of a function.
    """
    found = origins(function)
    made = found[0].node if len(found) == 1 and not found[0].path else None
    if isinstance(made, ast.Lambda):
        return found[0].at(made.body, ())
    if isinstance(made, ast.FunctionDef) and len(made.gives) == 1 and not made.yields and not made.decorator_list:
        return found[0].at(made.gives[0], ())
    return None


def _parts(value: Value, *nodes: ast.expr) -> tuple[Value, ...]:
    return tuple(value.at(part, ()) for node in nodes for part in _flat(node))


def _flat(node: ast.expr) -> Iterator[ast.expr]:
    """The elements of an element: `[(conv, norm), …]`, also in lists of lists."""
    if isinstance(node, (ast.List, ast.Tuple)):
        for element in node.elts:
            yield from _flat(element)
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        yield from _flat(node.elt)
    elif isinstance(node, ast.Dict):
        for value in node.values:
            yield from _flat(value)
    else:
        yield node


def _is_near(change: ast.AST, method: ast.FunctionDef, cls: ClassInfo) -> bool:
    """Does a change stand where the name means the same: in the method, or, for `self.x`, in another one?"""
    inside = enclosing_function(change)
    return inside is method or isinstance(_changed(change), ast.Attribute) and inside in cls.methods.values()


def _changed(change: ast.AST) -> ast.expr:
    if isinstance(change, ast.Call):
        return change.func.value
    return change.target if isinstance(change, ast.AugAssign) else change.value


def _put(change: ast.AST) -> Iterator[ast.expr]:
    """What a change puts into a collection."""
    if isinstance(change, ast.Call) and change.args:
        if last_word(change.func) in ("append", "insert", "extend", "setdefault"):
            yield from _flat(change.args[-1])
    elif isinstance(change, ast.AugAssign):
        yield from _flat(change.value)
    elif isinstance(change, ast.Subscript) and isinstance(change.up, ast.Assign) and len(change.up.targets) == 1:
        yield from _flat(change.up.value)  # of several targets another one may be registered


def _handed(cls: ClassInfo, part: Value) -> list[Value]:
    """What those who call a method of the class give it to be kept: `nn.Linear(4, 4)` of `self.add(nn.Linear(4, 4))`,
    where `add` does nothing else with it.
    """
    name, method = part.node, enclosing_function(part.node)
    bound = reaching(name, method.scope) if isinstance(name, ast.Name) and method in cls.methods.values() else []
    parameter = bound[0] if len(bound) == 1 and isinstance(bound[0], ast.arg) else None
    if parameter is None or is_static(method) or not _is_only_kept_here(part.module, name):
        return []
    found: list[Value] = []
    for call in islice(callers_of(part.module, method, cls), _FEW):
        if parameter is method.args.vararg:
            given = [call.at(one, ()) for one in further_arguments(method, call.node, True)]
        else:
            given = [one] if (one := bound_argument(method, parameter, call, True)) is not None else []
        is_own = is_of_self(call.node.func)  # of others it may be the parameters that an optimizer gets by hand
        parts = [one.at(each, ()) for one in given if one.node is not None for each in _flat(one.node)]
        found += [one for one in parts if is_own or call.module is cls.module and isinstance(one.node, ast.Call)]
    return found


def _is_new_layer(part: Value) -> str | None:
    """Is it a layer with weights or a parameter that is made for this collection, and registered nowhere else?"""
    made = part
    if isinstance(part.node, ast.Name):
        bound = origins(part)
        if len(bound) != 1 or not isinstance(bound[0].node, ast.Call) or bound[0].path:
            return None
        made = bound[0]
        if enclosing_function(made.node) is not enclosing_function(part.node) or made.frame is not part.frame:
            return None
        if not _is_only_kept_here(part.module, part.node):
            return None
    if not isinstance(made.node, ast.Call):
        return None
    for origin in objects(made):
        if not isinstance(origin.node, ast.Call):
            return None
    if has_weights(made) is not True or _only_groups(made):
        return None
    return PARAMETER if kinds(made) == {PARAMETER} else MODULE


def _only_groups(made: Value) -> bool:
    """Does `nn.Sequential(self.conv, self.norm)` hold nothing but layers that were made for something else?"""
    for group in objects(made):
        if not any(is_group(callee.name) for callee in callees(group)):
            continue
        parts = [group.at(part, ()) for part in parts_of(group.node)]
        layers = [layer for part in parts for layer in (put_together(part) or [part])]
        if not any(map(_is_new_layer, layers)):
            return True
    return False


def _is_only_kept_here(module: Module, name: ast.Name) -> bool:
    """Is what goes by a local name handed to nothing but the collection? `self.head = head` registers it."""
    function = enclosing_function(name)
    for use in module.index.names(name.id):
        if use is name or enclosing_function(use) is not function or not isinstance(use.ctx, ast.Load):
            continue
        if not isinstance(use.up, ast.Attribute):  # `layer.weight` and `layer.eval()` keep nothing
            return False
        if use.up.attr == "requires_grad_":
            return False
    return True


def _is_cared_for(cls: ClassInfo, name: str, stores: list[MemberAssignment]) -> bool:
    """Is what is in the collection registered, or handed to the optimizer, in another way, as far as one can see?"""
    module = cls.module
    if len(stores) < len(cls.attributes[name]) or any(
        _container(Value(module, store.value)) is None for store in stores
    ):
        return True
    if _is_taken_up(module, name):
        return True
    locals_ = (
        use
        for store in stores
        if isinstance(store.value, ast.Name)
        for use in own(module, module.index.names(store.value.id), store.method)
        if use is not store.value
    )
    if any(isinstance(use.ctx, ast.Load) and _leads_on(module, use) for use in locals_):
        return True
    # `for layer in net.layers: parameters += layer.parameters()`
    return any(_is_gone_through_in(user, name) for user in module.users(cls.name))


@remembered
def _is_taken_up(module: Module, name: str) -> bool:
    """Does a file lead an attribute on, or take it away: `del self.parts`, as their weights were wanted elsewhere?"""
    reads = module.index.attributes(name)
    if any(isinstance(use.ctx, ast.Del) for use in reads):
        return True
    return any(isinstance(use.ctx, ast.Load) and _leads_on(module, use) for use in reads)


@remembered
def _is_gone_through_in(user: Module, name: str) -> bool:
    return any(isinstance(use.ctx, ast.Load) and _is_gone_through(user, use) for use in user.index.attributes(name))


def _is_gone_through(module: Module, use: ast.expr) -> bool:
    """Is it what a loop takes care of, in a file that uses the class?"""
    around = use.up
    while isinstance(around, (ast.Call, ast.Attribute)):
        around = around.up
    if isinstance(around, ast.comprehension):
        around = around.up
    return isinstance(around, (ast.For, ast.ListComp, ast.GeneratorExp)) and _is_by_hand(module, around)


def _leads_on(module: Module, use: ast.expr) -> bool:
    """Is a collection, or what stands in it, given to what may register or train it? No for what only calls it."""
    child, node, is_element = use, use.up, False
    while True:
        if isinstance(node, ast.Call):
            if child is node.func:  # self.layers[0](x), self.layers.append(…)
                word = last_word(node.func)
                if word in _BY_HAND:
                    return True
                if word not in ("values", "items"):
                    return False
            elif is_element:
                word = last_word(node.func)
                return word in _BY_HAND or word == "append" or word[:1].isupper()
            elif last_word(node.func) not in _PASSING:
                return last_word(node.func) not in _LOOKING
        elif isinstance(node, ast.comprehension):
            if child is not node.iter:
                return False
            if _is_by_hand(module, node.up):
                return True
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            return child is node.iter and (_is_by_hand(module, node) or _goes_on(module, node))
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
            element = node.value if isinstance(node, ast.DictComp) else node.elt
            if not isinstance(element, (ast.Name, ast.Tuple)):
                return False
        elif isinstance(node, ast.Subscript):
            if child is node.slice or not isinstance(node.ctx, ast.Load):
                return False
            is_element = is_element or not isinstance(node.slice, ast.Slice)
        elif is_element and isinstance(node, ast.BinOp):
            return False
        elif not isinstance(node, (ast.Attribute, ast.BinOp, ast.IfExp, ast.keyword)):
            return not isinstance(node, _ENDS)
        child, node = node, node.up


def _is_by_hand(module: Module, loop: ast.AST) -> bool:
    index = module.index
    return any(last_word(call.func) in _BY_HAND for call in index.inside(loop, ast.Call)) or any(
        part.attr in _REGISTERS and isinstance(part.up, ast.Subscript) and isinstance(part.up.ctx, ast.Store)
        for part in index.inside(loop, ast.Attribute)
    )


def _goes_on(module: Module, loop: ast.For | ast.AsyncFor) -> bool:
    """`for layer, size in zip(layers, sizes): sequence.append(layer)`: is an element put into something else?"""
    names = {name.id for name in module.index.inside(loop.target, ast.Name)}
    return any(
        isinstance(part, ast.Name) and part.id in names
        for call in module.index.inside(loop, ast.Call)
        if last_word(call.func) in ("append", "extend", "insert")
        for given in call.args
        for part in _flat(given)
    )
