"""The layers that the methods of a module construct at each call: new ones, in train mode, that nobody else holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.classes import ClassInfo, method_class
from torchlint.source.flow.flow import callees, objects
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.kinds import is_tensor, is_tensor_method
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.signatures import first_parameter
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, parameters_of
from torchlint.source.text.spelling import is_super, receiver, rooted_in_import
from torchlint.source.training.members import has_weights
from torchlint.source.training.regions import asks_training_mode, loops_around, tests_around

_FEW = 40  # names that one layer has in turn, as it is moved
_MOVING = frozenset("to cuda half float double".split())


@remembered
def made_anew(cls: ClassInfo) -> list[tuple[ast.Call, str]]:
    """The constructions of layers of torch, each with the name of its method."""
    found = []
    for name, method in cls.methods.items():
        if name == "__init__":
            continue
        runs = _runs_with_forward(cls, name)
        for node in cls.module.index.inside(method, ast.Call):
            if (
                enclosing_function(node) is method
                and (runs or _is_called_at_once(node))
                and not _is_asked_for(cls, name, node)
                and _is_lost(cls.module, node)  # most are not, and that is seen sooner
                and (_is_torchs(cls.module, node) or _makes_layers(Value(cls.module, node)))
            ):
                found.append((node, name))
    for function in _helpers(cls):
        for node in cls.module.index.inside(function, ast.Call):
            if enclosing_function(node) is function and _is_lost(cls.module, node) and _is_torchs(cls.module, node):
                found.append((node, function.name))
    return found


def has_new_weights(made: Value) -> bool:
    """Has a layer that is made there weights of its own, be it where two sizes differ: of a function that gives
    `nn.Identity()` where `width == wanted`?
    """
    given = objects(made)
    answers = {has_weights(one) for one in given}
    if answers == {True, False}:
        tests = [test for one in given for test, _ in tests_around(one.node)]
        return bool(tests) and all(map(_compares_sizes, tests))
    return answers == {True}


def _compares_sizes(test: ast.expr) -> bool:
    """`inputs != outputs` of two parameters; of a kind or a flag most programs know only one."""
    function = enclosing_function(test)
    names = {parameter.arg for parameter in parameters_of(function)} if function is not None else set()
    return isinstance(test, ast.Compare) and all(
        isinstance(side, ast.Name) and side.id in names for side in (test.left, *test.comparators)
    )


def _helpers(cls: ClassInfo) -> Iterator[ast.FunctionDef]:
    """The functions of the file that are called where `forward` runs, first in this class, and nowhere else."""
    module, functions = cls.module, _plain_functions(cls.module)
    called = (call.func for call in module.index.inside(cls.node, ast.Call) if functions)
    for name in dict.fromkeys(func.id for func in called if isinstance(func, ast.Name) and func.id in functions):
        callers = [enclosing_function(node) for node in module.index.names(name)]
        owners = [method_class(module, caller) for caller in callers if isinstance(caller, ast.FunctionDef)]
        if (
            len(owners) == len(callers)
            and owners[0] is cls
            and all(o and o.is_module and _runs_with_forward(o, c.name) for o, c in zip(owners, callers))
            and not module.users(name)
        ):
            yield functions[name]


@remembered
def _plain_functions(module: Module) -> dict[str, ast.FunctionDef]:
    """The functions at the top of a file that nothing decorates, and of whose names each mention is a call."""
    index = module.index
    top = (node for node in index.nodes(ast.FunctionDef) if isinstance(node.up, ast.Module) and not node.decorator_list)
    plain = {function.name: function for function in top}
    return {
        name: function
        for name, function in plain.items()
        if all(isinstance(node.up, ast.Call) and node.up.func is node for node in index.names(name))
    }


def _runs_with_forward(cls: ClassInfo, name: str) -> bool:
    return name in _running_with_forward(cls)


@remembered
def _running_with_forward(cls: ClassInfo) -> set[str]:
    """`forward`, its own or of a base, and the methods that nothing in the file calls but methods that run with it."""
    callers: dict[str, set[str]] = {}
    for name in cls.methods.keys() - {"forward", "__init__"}:
        by = _calling(cls, name)
        if by:
            callers[name] = by
    called: dict[str, list[str]] = {}
    for name, own in callers.items():
        for caller in own:
            called.setdefault(caller, []).append(name)
    others = [name for name in called if name != "forward" and name not in callers]
    for name in others:  # which grows
        others += [one for one in called.get(name, ()) if callers.pop(one, None) is not None]
    running = dict.fromkeys(("forward",))
    queue = list(running)
    for name in queue:  # which grows
        new = [one for one in called.get(name, ()) if one in callers and one not in running]
        running.update(dict.fromkeys(new))
        queue += new
    return set(running)


def _calling(cls: ClassInfo, name: str) -> set[str]:
    """The methods of the class and its bases that call one; none where anything else in the file may."""
    known = _calls_by_class(cls.module, name)
    if None in known or cls in _bases_of_calling(cls.module, name):
        return set()
    by = list(map(enclosing_function, _calls_on_itself(cls, name)))
    its_own = {function for function in by if (method := cls.method(function.name)) and method.node is function}
    return {function.name for function in by} if its_own == set(by) else set()


def _calls_on_itself(cls: ClassInfo, name: str) -> list[ast.Call]:
    """Those of a method, in the class and its bases."""
    return [call for owner in cls.mro for call in _calls_by_class(owner.module, name).get(owner, ())]


@remembered
def _calls_by_class(module: Module, name: str) -> dict[ClassInfo | None, list[ast.Call]]:
    """The calls of a name in a file, by the class on whose own object they are made; None has the others.
    `x.squeeze(1)` of a tensor and `F.normalize(x)` call no method of a class.
    """
    found: dict[ClassInfo | None, list[ast.Call]] = {}
    for call in module.index.callers(name):
        owner = method_class(module, enclosing_function(call)) if _is_on_itself(call) else None
        if owner is not None or not _is_torchs_own(module, call, name):
            found.setdefault(owner, []).append(call)
    return found


@remembered
def _bases_of_calling(module: Module, name: str) -> set[ClassInfo]:
    """The classes whose heirs in a file call a name on themselves."""
    return {base for owner in _calls_by_class(module, name) if owner is not None for base in owner.mro[1:]}


def _is_on_itself(call: ast.Call) -> bool:
    """`self.encode(x)`, `super().encode(x)`"""
    on, function = receiver(call), enclosing_function(call)
    me = first_parameter(function) if isinstance(function, ast.FunctionDef) else None
    return is_super(on) or me is not None and isinstance(on, ast.Name) and on.id == me.arg


def _is_torchs_own(module: Module, call: ast.Call, name: str) -> bool:
    on = receiver(call)
    if on is not None and is_tensor_method(name) and is_tensor(Value(module, on)):
        return True
    return rooted_in_import(call.func) and (external_name(Value(module, call.func)) or "").startswith("torch.")


def _is_asked_for(cls: ClassInfo, name: str, node: ast.Call) -> bool:
    """`if self.head is None: self.build(x.shape[1])`: does `forward` keep what it makes, and make it only sometimes?"""
    statement = _outermost(node).up
    is_kept = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Attribute)
    if not is_kept or name == "forward":
        return False
    callers = [*cls.module.index.callers(name), *_calls_on_itself(cls, name)]
    return any(any(tests_around(c)) or enclosing_function(c) is not cls.methods.get("forward") for c in callers)


def _is_torchs(module: Module, call: ast.Call) -> bool:
    return (external_name(Value(module, call.func)) or "").startswith("torch.nn.")


def _makes_layers(made: Value) -> bool:
    """Does a function or class of the project make what it gives, at each call: `conv(8, 16)(x)`, `gate = Gate(8)`?"""
    called = callees(made)
    if len(called) != 1:
        return False
    [maker] = called
    if maker.kind == "class" and maker.owner.bases == ["torch.nn.Module"]:
        init = maker.owner.methods.get("__init__")
        return init is not None and _only_builds(maker.owner.module, init)
    if maker.kind != "function" or not isinstance(maker.function, ast.FunctionDef) or maker.function.decorator_list:
        return False
    return _only_builds(maker.module, maker.function) and all(
        isinstance(origin.node, ast.Call)
        and enclosing_function(origin.node) is maker.function
        and _is_torchs(origin.module, origin.node)
        for origin in objects(made)
    )


def _only_builds(module: Module, function: ast.FunctionDef) -> bool:
    """Are layers made there and put together, and that is all? Weights that are set there may be wanted as they are."""
    stored = (node for node in module.index.inside(function, ast.Attribute) if isinstance(node.ctx, ast.Store))
    return all(isinstance(node.value, ast.Name) and node.value.id == "self" for node in stored) and all(
        _builds(module, call) for call in module.index.inside(function, ast.Call)
    )


def _builds(module: Module, call: ast.Call) -> bool:
    word = last_word(call.func)
    puts_together = word in ("append", "extend", "insert", "add_module", "size")
    if word in _MOVING or puts_together or is_super(call) or is_super(getattr(call.func, "value", None)):
        return True
    if isinstance(call.func, ast.Name) and (external_name(Value(module, call.func)) or "").startswith("builtins."):
        return True
    return _is_torchs(module, call) and word[:1].isupper() and word != "Parameter"


def _outermost(node: ast.expr) -> ast.expr:
    """`nn.Linear(2, 2).cuda()` for the construction in it."""
    while isinstance(node.up, ast.Attribute) and node.up.attr in _MOVING and isinstance(node.up.up, ast.Call):
        node = node.up.up
    return node


def _is_called_at_once(node: ast.expr) -> bool:
    made = _outermost(node)
    return isinstance(made.up, ast.Call) and made.up.func is made


def _is_only_called(module: Module, stored: ast.Name) -> bool:
    """Is what a name holds called, and that is all but for being moved: `layer = layer.to(device)`?"""
    names, users = [stored], []
    for name in names:  # which grows
        if len(names) > _FEW:
            return False
        for user in uses(module, name):
            moved = _outermost(user)
            kept = moved.up.targets[0] if moved is not user and isinstance(moved.up, ast.Assign) else None
            if isinstance(kept, ast.Name) and len(moved.up.targets) == 1:
                names += [kept] if kept not in names else []
            elif _is_called_at_once(user):
                users.append(user)
            elif moved is user or not isinstance(moved.up, ast.Expr):
                return False
    return bool(users)


@remembered
def _moved_and_called(module: Module) -> set[str]:
    """The names of what is moved and called at once: `layer.to(x.device)(x)`"""
    moved = (
        call.func.func.value
        for call in module.index.calls
        if isinstance(call.func, ast.Call)
        and isinstance(call.func.func, ast.Attribute)
        and call.func.func.attr in _MOVING
    )
    return {node.id for node in moved if isinstance(node, ast.Name)}


def _is_lost(module: Module, node: ast.Call) -> bool:
    """Is it made under no condition, and given neither weights nor a mode afterwards?"""
    made = _outermost(node)
    while isinstance(made.up, ast.IfExp) and made is not made.up.test:
        made = made.up
    if _is_called_at_once(node):
        return not asks_training_mode(module, node)
    if not isinstance(made.up, ast.Assign) or len(made.up.targets) != 1:
        return False
    [target] = made.up.targets
    if isinstance(target, ast.Attribute):
        return not any(tests_around(node)) and not loops_around(node)
    if not isinstance(target, ast.Name) or not (
        module.index.callers(target.id) or target.id in _moved_and_called(module)
    ):
        return False  # nothing of that name is called: most are tensors
    return not asks_training_mode(module, node) and _is_only_called(module, target)
