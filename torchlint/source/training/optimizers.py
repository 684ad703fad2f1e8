"""What an optimizer was given: whose parameters it holds."""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import MODULE, OPTIMIZER, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.index import last_word, within
from torchlint.source.text.spelling import receiver, unparsed
from torchlint.source.training.filled import put_in, read_of
from torchlint.source.training.sameness import comprehension_of, identity, is_same, key_of, of_two_calls

_PASSES_ON = frozenset("list tuple set sorted iter filter chain from_iterable reversed parameters_to_train".split())
_PARAMETERS = frozenset("parameters named_parameters trainable_parameters".split())


class Holding:
    """What an optimizer was given: the modules whose parameters it holds, other tensors, and whether that is all. Of
    one that a comprehension makes with others it may be open which of their modules.
    """

    __slots__ = ("modules", "tensors", "complete", "constructors", "is_open")

    def __init__(self):
        self.modules: list[Value] = []
        self.tensors: list[Value] = []
        self.constructors: list[Value] = []
        self.complete = True
        self.is_open = False


@remembered
def holding(optimizer: Value) -> Holding:
    found, seen = Holding(), set()
    for origin in identity(optimizer).values():
        given = constructor_argument(origin)
        if given is None:
            found.complete = False
        else:
            found.constructors.append(origin)
            _held(given, found, 6, seen)
    found.complete = found.complete and bool(found.constructors)
    if any(map(_is_one_of_several, found.constructors)):
        mine = [_of_its_round(module, found.constructors[0], key_of(optimizer)) for module in found.modules]
        found.is_open = None in mine or len(found.constructors) > 1
        found.modules = found.modules if found.is_open else mine
    return found


def _of_its_round(module: Value, made: Value, key: int | str | None) -> Value | None:
    """`nets["G"]` for `n`, of the optimizer `"G"` of `{key: Adam(n.parameters()) for key, n in nets.items()}`"""
    comprehension, node = comprehension_of(made), module.node
    if comprehension is None or key is None or len(comprehension.generators) > 1 or comprehension.generators[0].ifs:
        return None
    target, over = comprehension.generators[0].target, comprehension.generators[0].iter
    name = unparsed(getattr(comprehension, "key", target))
    if isinstance(node, ast.Subscript) and unparsed(node.slice) == name and isinstance(key, str):
        return module.at(node.value, (key,))
    if isinstance(comprehension, ast.ListComp):
        return module.at(over, (key,)) if unparsed(node) == name and isinstance(key, int) else None
    is_items = isinstance(over, ast.Call) and last_word(over.func) == "items" and receiver(over) is not None
    return module.at(receiver(over), (key,)) if is_items and unparsed(target) == f"({name}, {unparsed(node)})" else None


@remembered
def constructors(module: Module) -> list[Value]:
    """The calls of a file that make optimizers."""
    made = [Value(module, call) for call in module.index.calls if last_word(call.func)[:1].isupper()]
    return [value for value in made if kinds(value) == {OPTIMIZER}]


def constructor_argument(made: Value) -> Value | None:
    """The parameters given to the constructor of an optimizer."""
    node = made.node
    if not isinstance(node, ast.Call) or made.path or OPTIMIZER not in kinds(made):
        return None
    for keyword in node.keywords:
        if keyword.arg in ("params", "parameters", "model_params"):
            return made.at(keyword.value, ())
    return made.at(node.args[0], ()) if node.args and not isinstance(node.args[0], ast.Starred) else None


def _held(value: Value, found: Holding, depth: int, seen: set[tuple]) -> None:
    if depth == 0:
        found.complete = False
        return
    for more in put_in(value):  # `params.extend(net.parameters())`
        _held(more, found, depth - 1, seen)
    for origin in origins(value):
        node = origin.node
        if (origin.key, depth) in seen:
            continue
        seen.add((origin.key, depth))
        if isinstance(node, ast.Call):
            word = last_word(node.func)
            if word in _PARAMETERS and isinstance(node.func, ast.Attribute) and not node.args:
                found.modules.append(origin.at(node.func.value, ()))
            elif word in _PASSES_ON and node.args:
                for argument in node.args[1:] if word == "filter" else node.args:
                    _held(origin.at(argument, ()), found, depth - 1, seen)
            elif any(
                c.name in ("torch.nn.Parameter", "torch.zeros", "torch.randn", "torch.rand", "torch.tensor")
                for c in callees(origin)
            ):
                found.tensors.append(origin)
            else:
                found.complete = False
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            for element in node.elts:
                _held(
                    origin.at(element.value if isinstance(element, ast.Starred) else element, ()),
                    found,
                    depth - 1,
                    seen,
                )
        elif isinstance(node, ast.Dict):
            for key, entry in zip(node.keys, node.values):
                if isinstance(key, ast.Constant) and key.value == "params":
                    _held(origin.at(entry, ()), found, depth - 1, seen)
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            _held(origin.at(node.generators[0].iter, ()), found, depth - 1, seen)
            found.complete = found.complete and not node.generators[0].ifs
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            _held(origin.at(node.left, ()), found, depth - 1, seen)
            _held(origin.at(node.right, ()), found, depth - 1, seen)
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name):
            _held(origin.at(node.value, ()), found, depth - 1, seen)
            _held(origin.at(read_of(node), ()), found, depth - 1, seen)
        elif isinstance(node, ast.Attribute) and MODULE in kinds(origin.at(node.value, ())):
            found.tensors.append(origin)
        else:
            found.complete = False


def holds(optimizer: Value, module: Value) -> Answer:
    """Are parameters of a module in an optimizer? None where it cannot be told."""
    held = holding(optimizer)
    mine = identity(module)
    if not mine or any(not isinstance(o.node, ast.Call) for o in mine.values()):
        return None
    if any(is_same(other, module) for other in held.modules):
        return None if held.is_open else True
    for other in held.modules:
        theirs = identity(other)
        if theirs.keys() & mine.keys():
            return None
        for origin in theirs.values():
            if not isinstance(origin.node, ast.Call) or any(
                contains(m, origin) or contains(origin, m) for m in mine.values()
            ):
                return None
    return False if held.complete and not held.tensors else None


def _is_one_of_several(made: Value) -> bool:
    """`[Adam(net.parameters()) for net in (one, other)]`: each holds another module."""
    node = made.node
    while isinstance(node, ast.expr):
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.DictComp)):
            return True
        node = node.up
    return False


def holds_nothing_but(optimizer: Value, module: Value) -> Answer:
    """Are a module's parameters all that an optimizer was given? None where it cannot be told."""
    held = holds(optimizer, module)
    return all(is_same(other, module) for other in holding(optimizer).modules) if held else held


def holds_a_part_of(optimizer: Value, other: Value) -> bool:
    """May an optimizer have been given parts of a module that another one holds as a whole?"""
    parts = [part for module in holding(optimizer).modules for part in identity(module).values()]
    wholes = [whole for module in holding(other).modules for whole in identity(module).values()]
    return any(isinstance(whole.node, ast.Call) and contains(whole, part) for whole in wholes for part in parts)


def contains(whole: Value, part: Value) -> bool:
    """May a module be a part of another one: made in its class, or given to its constructor?"""
    if not isinstance(whole.node, ast.Call):
        return True
    for callee in callees(whole):
        if callee.kind == "class" and callee.owner and any(within(part.node, owner.node) for owner in callee.owner.mro):
            return True
    given = (*whole.node.args, *(keyword.value for keyword in whole.node.keywords))
    if any(_may_hold(whole.at(argument, ()), part) for argument in given):
        return True
    return within(part.node, whole.node) and not (part.node is whole.node and of_two_calls(whole, part))


def _may_hold(given: Value, part: Value) -> bool:
    """Is a module what is given to another one, or in a list of what is given, as far as it is written out?"""
    given = given.at(given.node.value) if isinstance(given.node, ast.Starred) else given
    found, wanted = identity(given), (id(part.node), part.path)
    lists = [one for one in found.values() if isinstance(one.node, (ast.List, ast.Tuple)) and not one.path]
    return wanted in found or any(
        not one.node.elts or any(wanted in identity(one.at(element, ())) for element in one.node.elts) for one in lists
    )
