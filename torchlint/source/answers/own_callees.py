"""What a call of the project's own code runs, where there is no doubt about it: the function, method or class itself,
and not what a decorator, an heir, a second definition or a metaclass makes of it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import NamedTuple

from torchlint.source.flow.callers import is_of_the_project, may_be_an_object, may_be_ours
from torchlint.source.flow.classes import ClassInfo, class_info, method_class
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.patched import is_patched
from torchlint.source.flow.signatures import first_parameter, has_decorator, is_given_its_class, is_static
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, parameters_of
from torchlint.source.text.spelling import is_super, root_of
from torchlint.source.training.members import words_in_strings

# Decorators below which a function is called as it is written.
_KEEPING = frozenset(
    "staticmethod classmethod abstractmethod no_grad inference_mode enable_grad set_grad_enabled autocast custom_fwd"
    " custom_bwd lru_cache cache override final contextmanager script script_method export ignore unused compile"
    " rank_zero_only cached".split()
)
_PLAIN_BASES = frozenset(("builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol"))
# Bases whose objects are not made by `__init__` alone.
_MADE_OTHERWISE = ("enum.", "typing.", "builtins.", "pydantic.", "ctypes.", "torch.Tensor", "torch.nn.Parameter")
_FREE = ("torch.autograd.Function",)
_MOST_BASES = 12


class Target(NamedTuple):
    """What runs, and what is known of whose it is."""

    module: Module
    node: ast.FunctionDef | ast.ClassDef  # the class where it has no function of its own
    is_bound: bool  # does something stand in the place of its first parameter?
    owner: ClassInfo | None = None  # the class that `self` is of, or one that derives from it
    may_be_of_heir: bool = False

    @property
    def name(self) -> str:
        """`Net.forward`, `Net` of its `__init__`, `evaluate`"""
        if self.node.name == "__init__" and isinstance(self.node.up, ast.ClassDef):
            return self.node.up.name  # which may be a base
        parts = [self.owner.name] if self.owner is not None else []
        return ".".join(parts + [self.node.name] * (self.node.name != "__init__" and self.node.name not in parts))


def targets(module: Module, call: ast.Call) -> list[Target]:
    """Each thing that a call may run, and that is all; empty where somebody could run something else."""
    func = call.func
    if isinstance(func, ast.Name):
        return _of_name(module, func)
    if not isinstance(func, ast.Attribute):
        return []
    if is_super(func.value):
        return _of_super(module, func)
    holder = _self_of(func.value)
    if holder is not None:
        return _of_self(module, func, holder)
    root = root_of(func)
    is_applied = func.attr == "apply" and last_word(func.value)[:1].isupper()
    if root is None or not is_applied and not may_be_ours(module, func.attr) and not _is_of_ours(module, root):
        return []
    return _of_attribute(module, func, root)


def _of_name(module: Module, name: ast.Name) -> list[Target]:
    scope = name.at.lookup(name.id)
    if scope is None:  # `len`, unless a star brings another one
        return _of_origins(origins(Value(module, name))) if module.index.stars else []
    bound = scope.bindings[name.id]
    if len(bound) == 1:
        if isinstance(bound[0], (ast.FunctionDef, ast.ClassDef)):
            return _of_definition(module, bound[0])
        if isinstance(bound[0], ast.alias):
            return _of_origins(origins(Value(module, name))) if is_of_the_project(module, bound[0]) else []
        if (holder := _self_of(name)) is not None:
            return _of_self_called(module, holder)
    if all(isinstance(one, ast.alias) for one in bound):
        return []
    return _of_objects(module, name) if may_be_an_object(module, name) else []


def _is_of_ours(module: Module, root: ast.Name) -> bool:
    scope = root.at.lookup(root.id)
    bound = scope.bindings[root.id] if scope is not None else []
    return len(bound) == 1 and isinstance(bound[0], ast.alias) and is_of_the_project(module, bound[0])


def _of_origins(found: list[Value]) -> list[Target]:
    """Of what a name means that another file defines, once."""
    if len(found) != 1 or found[0].path or not isinstance(found[0].node, (ast.FunctionDef, ast.ClassDef)):
        return []
    home, node = found[0].module, found[0].node
    if home.tree.scope.bindings.get(node.name) != [node]:
        return []
    return _of_definition(home, node)


@remembered
def _of_definition(home: Module, node: ast.FunctionDef | ast.ClassDef) -> list[Target]:
    if isinstance(node, ast.ClassDef):
        return list(_constructor(class_info(home, node)))
    return [Target(home, node, False)] if is_kept(home, node) else []


def is_kept(module: Module, function: ast.FunctionDef) -> bool:
    """Is it called as it is written?"""
    return all(_keeps(module, mark, _KEEPING) for mark in function.decorator_list)


def _keeps(module: Module, mark: ast.expr, keeping: Collection[str]) -> bool:
    """Is what stands below a decorator what goes by its name? So it is where something is only registered, and below
    one of our own that gives back what it gets, whatever it is called.
    """
    maker = mark.func if isinstance(mark, ast.Call) else mark
    word = last_word(maker)
    if word not in keeping and not word.startswith("register"):
        return False
    own = [one.node for one in origins(Value(module, maker)) if not one.path] if isinstance(maker, ast.Name) else []
    return all(_gives_back(one) for one in own if isinstance(one, ast.FunctionDef))


def _gives_back(decorator: ast.FunctionDef) -> bool:
    """Does it return what it is given, or a function that does?"""
    within_it = {one.name: one for one in decorator.body if isinstance(one, ast.FunctionDef)}
    taken = {one.arg for one in parameters_of(decorator)}
    return all(
        isinstance(one, ast.Name) and (one.id in taken or one.id in within_it and _gives_back(within_it[one.id]))
        for one in decorator.gives
    )


def _constructor(info: ClassInfo) -> Iterator[Target]:
    """The `__init__` of a class, or the class itself if its fields, or nothing at all, are what it takes."""
    if not _is_made_plainly(info):
        return
    writing = next((one for one in info.mro if "__init__" in one.methods or has_decorator(one.node, "dataclass")), info)
    method = certain_method(info, "__init__")
    if "__init__" not in writing.methods and has_decorator(writing.node, "dataclass"):
        if set(info.foreign) <= _PLAIN_BASES:
            yield Target(info.module, info.node, False, info)
    elif method is not None:
        yield method._replace(is_bound=True)
    elif all("__init__" not in one.methods for one in info.mro) and set(info.foreign) <= {*_PLAIN_BASES, _MODULE}:
        if not any(one.node.decorator_list for one in info.mro):
            yield Target(info.module, info.node, False, info)


_MODULE = "torch.nn.Module"


def _is_made_plainly(info: ClassInfo) -> bool:
    for one in info.mro:
        if "__new__" in one.methods or "__new__" in one.attributes or "__init__" in one.attributes:
            return False
        if any(last_word(word.value) != "ABCMeta" for word in one.node.keywords):
            return False
        if not all(_keeps(one.module, mark, ("dataclass", "final")) for mark in one.node.decorator_list):
            return False
    return not any(
        base is not None and base not in _PLAIN_BASES and base.startswith((*_MADE_OTHERWISE, *_FREE))
        for base in info.foreign
    )


def certain_method(info: ClassInfo, name: str) -> Target | None:
    """The method that an object of exactly this class has under a name, defined once."""
    owner, found = info, info
    for _ in range(_MOST_BASES):
        if name in found.methods:
            return _once(owner, found, name)
        if name in found.node.scope.bindings:
            return None
        bases = [base for base in found.bases if base not in _PLAIN_BASES]
        if not bases or not isinstance(bases[0], ClassInfo):
            return None
        if len(bases) > 1 and name not in bases[0].methods:
            return None
        found = bases[0]
    return None


def _once(owner: ClassInfo, found: ClassInfo, name: str) -> Target | None:
    node = found.methods[name]
    if found.node.scope.bindings.get(name) != [node] or not isinstance(node, ast.FunctionDef):
        return None
    if not is_kept(found.module, node):
        return None
    if owner.attribute(name):  # `self.run = …`
        return None
    return Target(found.module, node, not is_static(node), owner)


def _of_super(module: Module, func: ast.Attribute) -> list[Target]:
    inside = enclosing_function(func)
    owner = method_class(module, inside) if inside is not None else None
    given = func.value.args
    if owner is None or given and (len(given) != 2 or last_word(given[0]) != owner.name):
        return []
    bases = [base for base in owner.bases if base not in _PLAIN_BASES]
    if not bases or not isinstance(bases[0], ClassInfo) or len(bases) > 1 and func.attr not in bases[0].methods:
        return []
    found = certain_method(bases[0], func.attr)
    return [] if found is None else [found._replace(owner=owner)]


def _self_of(node: ast.expr) -> ast.FunctionDef | None:
    """The method whose `self` a name is."""
    scope = node.at.lookup(node.id) if isinstance(node, ast.Name) else None
    bound = scope.bindings[node.id] if scope is not None else []
    if len(bound) != 1 or not isinstance(bound[0], ast.arg) or not isinstance(scope.node, ast.FunctionDef):
        return None
    is_first = bound[0] is first_parameter(scope.node) and isinstance(scope.node.up, (ast.ClassDef, ast.If, ast.Try))
    return scope.node if is_first and not is_static(scope.node) else None


def _of_self(module: Module, func: ast.Attribute, method: ast.FunctionDef) -> list[Target]:
    info = method_class(module, method)
    if info is None:
        return []
    if any(func.attr in one.methods for one in info.mro):
        found = certain_method(info, func.attr)
        if found is None or is_given_its_class(method) and not _is_of_class(found.node):
            return []
        return [found._replace(may_be_of_heir=True)]
    return _of_part(module, info, func.attr, func) if info.attribute(func.attr) else []


@remembered(by=3)
def _of_part(module: Module, owner: ClassInfo, name: str, thing: ast.Attribute) -> list[Target]:
    """`self.net(x)`, the same wherever a class calls it."""
    return _of_objects(module, thing)


def _of_self_called(module: Module, method: ast.FunctionDef) -> list[Target]:
    """`self(x)`"""
    info = method_class(module, method)
    if info is None or is_given_its_class(method):
        return []
    found = _when_called(info)
    return [] if found is None else [found._replace(may_be_of_heir=True)]


def _when_called(info: ClassInfo) -> Target | None:
    """What runs when an object of a class is called."""
    name = "__call__" if any("__call__" in one.methods for one in info.mro) else "forward"
    is_known = name == "__call__" or info.is_named_module and info.known
    return certain_method(info, name) if is_known else None


def _is_of_class(method: ast.FunctionDef) -> bool:
    return has_decorator(method, "classmethod", "staticmethod")


def _of_attribute(module: Module, func: ast.Attribute, root: ast.Name) -> list[Target]:
    if _is_of_ours(module, root) or last_word(func.value)[:1].isupper():
        found = origins(Value(module, func.value))
        if len(found) == 1 and isinstance(found[0].node, ast.ClassDef) and not found[0].path:
            info = class_info(found[0].module, found[0].node)
            if func.attr == "apply" and info.is_a("torch.autograd.Function"):
                return _of_autograd(info)
            method = certain_method(info, func.attr)
            is_bound = method is not None and has_decorator(method.node, "classmethod")
            return [] if method is None else [method._replace(is_bound=is_bound)]
        return _of_origins(origins(Value(module, func)))
    found = []
    for info, value in _made(module, func.value):
        method = certain_method(info, func.attr)
        if method is None or is_patched(value, info, func.attr):
            return []
        found.append(method)
    return found


def _of_autograd(info: ClassInfo) -> list[Target]:
    """`Scale.apply(x, 2)` gives all but `ctx` to `forward`."""
    forward = certain_method(info, "forward")
    has_context = forward is not None and not any("setup_context" in one.methods for one in info.mro)
    return [forward._replace(is_bound=True)] if has_context else []


def _made(module: Module, thing: ast.expr) -> list[tuple[ClassInfo, Value]]:
    """The classes of which it is an object, if that is known of all that it may be."""
    if not _may_be_made(module, thing):
        return []
    found = []
    for origin in objects(Value(module, thing)):
        owner = None
        if isinstance(origin.node, ast.Call) and not origin.path and _is_made_there(module, thing, origin):
            makers = callees(origin)
            is_class = len(makers) == 1 and makers[0].kind == "class" and not makers[0].partials
            owner = makers[0].owner if is_class else None
        if owner is None:
            return []
        found.append((owner, origin))
    return found


def _may_be_made(module: Module, thing: ast.expr) -> bool:
    """Is it a name or an attribute of `self` that is given what a call makes? Of most things that is not so, and where
    they come from need not be asked.
    """
    if isinstance(thing, ast.Name):
        scope = thing.at.lookup(thing.id)
        return scope is not None and all(_is_made_by_call(one) for one in scope.bindings[thing.id])
    if not isinstance(thing, ast.Attribute) or _self_of(thing.value) is None:
        return False
    return any(_is_made_by_call(store) for store in module.index.stored(thing.attr))


def _is_made_by_call(stored: ast.AST) -> bool:
    return isinstance(stored.up, (ast.Assign, ast.AnnAssign)) and isinstance(stored.up.value, ast.Call)


def _is_made_there(module: Module, thing: ast.expr, made: Value) -> bool:
    """Is it made by what the function, the class or the file say themselves, and not handed over by one of several
    callers, or made by what an heir may have in another way, `self.layer_class()`?
    """
    root = root_of(made.node.func)
    scope = root.at.lookup(root.id) if root is not None else None
    bound = scope.bindings[root.id] if root is not None and scope is not None else []
    if not bound or not all(isinstance(one, (ast.ClassDef, ast.alias, ast.FunctionDef)) for one in bound):
        return False
    if made.frame is not None:
        return made.frame.instance is None
    holder = root_of(thing)
    method = _self_of(holder) if holder is not None else None
    home = enclosing_function(made.node)
    if method is not None:
        owner, maker = method_class(module, method), method_class(made.module, home) if home is not None else None
        return owner is not None and maker in owner.mro
    return holder is thing


def _of_objects(module: Module, thing: ast.expr) -> list[Target]:
    """`self.net(x)`: what runs when objects are called."""
    found = []
    for info, made in _made(module, thing):
        method = _when_called(info)
        if method is None or is_patched(made, info, method.node.name):
            return []
        found.append(method)
    return found


def all_targets(module: Module, call: ast.Call) -> list[Target]:
    """The same with what heirs have in the place of a method, without what is there only for them to write; empty
    where somebody may put something else in its place.
    """
    found: list[Target] = []
    held = _self_attribute(call.func)
    for target in targets(module, call):
        name = target.node.name
        if any(one.index.stored(name) for one in (module, target.module)) or _is_put_over(module, name):
            return []
        if held is not None and any(heir is None or held in heir.attributes for heir in _heirs_of_self(module, call)):
            return []
        if is_super(getattr(call.func, "value", call.func)) and _may_be_of_twin(target):
            return []
        if not target.may_be_of_heir:
            found.append(target)
            continue
        if not is_stub(target.node):
            found.append(target)
        for heir in _heirs(target.owner):
            method = certain_method(heir, name) if heir is not None else None
            if method is None:
                return []
            found += [method] * (name in heir.methods)
    return found


def _is_put_over(module: Module, name: str) -> bool:
    """May a test put something else in its place, `monkeypatch.setattr(nets, "loss", zero)`, `patch("nets.loss")`?"""
    return any(map(module.index.says, ("setattr", "patch"))) and name in words_in_strings(module)


def _may_be_of_twin(target: Target) -> bool:
    """Does a class derive from that of a `super()` and from another one, whose method may come first then?"""
    bases = (
        [base for base in heir.bases if base not in _PLAIN_BASES] if heir else None for heir in _heirs(target.owner)
    )
    return any(found is None or len(found) > 1 for found in bases)


def _self_attribute(func: ast.expr) -> str | None:
    """`net` of `self.net(x)` and `self.net.encode(x)`"""
    while isinstance(func, ast.Attribute):
        if _self_of(func.value) is not None:
            return func.attr
        func = func.value
    return None


def _heirs_of_self(module: Module, call: ast.Call) -> Iterator[ClassInfo | None]:
    root = root_of(call.func)
    method = _self_of(root) if root is not None else None
    owner = method_class(module, method) if method is not None else None
    return _heirs(owner) if owner is not None else iter(())


def is_stub(node: ast.FunctionDef) -> bool:
    """Is it there for heirs to write?"""
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return all(isinstance(statement, (ast.Pass, ast.Raise)) for statement in body) or has_decorator(
        node, "abstractmethod"
    )


def _heirs(owner: ClassInfo) -> Iterator[ClassInfo | None]:
    """The classes that derive from one, in whichever file; None for those that are not seen."""
    todo, seen = [owner], {owner.name}
    while todo:
        base = todo.pop()
        world = base.module.world
        for home in dict.fromkeys((base.module, *map(world.module, world.view.deriving(base.name)))):
            if home is None:
                yield None
                continue
            for node in _deriving(home).get(base.name, ()):
                if node.name not in seen:
                    seen.add(node.name)
                    todo.append(class_info(home, node))
                    yield todo[-1]


@remembered
def _deriving(home: Module) -> dict[str, list[ast.ClassDef]]:
    """The classes of a file by the words of their bases."""
    found: dict[str, list[ast.ClassDef]] = {}
    for node in home.index.classes:
        for word in map(last_word, node.bases):
            found.setdefault(word, []).append(node)
    return found
