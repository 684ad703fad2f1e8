"""What a module class holds: whether a layer has weights, which attributes methods set, and where they are read."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from torchlint.facts import fact
from torchlint.source.flow.changed import changes_of, names_of
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Answer, Stored, Value
from torchlint.source.text.index import ancestors, enclosing_class, enclosing_function, last_word, standing_in

LISTING = ("children", "named_children", "modules", "named_modules", "_modules", "__dict__", "vars", "get_submodule")
SETTERS = frozenset(("register_parameter", "register_module", "add_module", "setattr", "__setattr__", "__dict__"))
_MODELS = ("torchvision.models.", "timm.create_model", "transformers.AutoModel")


class MemberAssignment(NamedTuple):
    """One `self.x = value` of a class: the statement, the value as it is written and the method around it."""

    module: Module
    statement: ast.stmt
    target: ast.Attribute
    value: ast.expr
    method: ast.FunctionDef
    path: tuple[int, ...] = ()  # to the part of the value that is meant, of `self.x, self.y = values`

    @property
    def made(self) -> Value:
        return Value(self.module, self.value, None, self.path)


@remembered(meanwhile=None)
def has_weights(value: Value) -> Answer:
    """Has the layer (or the list of layers) that an expression makes weights of its own? None where nobody can tell."""
    answers = [_made_with_weights(origin) for origin in objects(value)]
    if not answers or None in answers or len(set(answers)) > 1:
        return None
    return answers[0]


def _made_with_weights(origin: Value) -> Answer:
    if not isinstance(origin.node, ast.Call) or origin.path:
        return None
    found = {_callee_with_weights(callee, origin) for callee in callees(origin)}
    return found.pop() if len(found) == 1 else None


def is_group(name: str) -> bool:
    """Of a class that is given layers to hold"""
    return name in ("torch.nn.Sequential", "torch.nn.ModuleList")


def _callee_with_weights(callee, origin: Value) -> Answer:
    if callee.kind == "class":
        return class_has_weights(callee.owner)
    if callee.kind != "external":
        return None
    if is_group(callee.name):
        return _any(_part_with_weights(origin.at(part, ())) for part in parts_of(origin.node))
    if callee.name == "torch.nn.Parameter" or callee.name.startswith(_MODELS):
        return True
    row = fact(callee.name + "()") if callee.name.startswith("torch.nn.") else None
    return None if row is None else row.weights


def _part_with_weights(part: Value) -> Answer:
    """Of a layer, or of what is put into a list before it becomes layers: `layers += [nn.Linear(a, b), nn.ReLU()]`."""
    answer = has_weights(part)
    return answer if answer is not None else any(has_weights(one) is True for one in put_together(part)) or None


def put_together(part: Value) -> list[Value]:
    """What a list that goes by a name in a function certainly gets there."""
    found = origins(part) if isinstance(part.node, ast.Name) else []
    made = [o for o in found if not isinstance(o.node, ast.AugAssign)]
    if len(made) != 1 or not isinstance(made[0].node, (ast.List, ast.ListComp)) or made[0].path:
        return []
    function = enclosing_function(made[0].node)
    first = [made[0].node.elt] if isinstance(made[0].node, ast.ListComp) else made[0].node.elts
    changes = [c for name in names_of(made[0]) for c in changes_of(made[0].module.index, name)]
    put = [added for change in changes if enclosing_function(change) is function for added in _always_put(change)]
    return [made[0].at(one, ()) for one in (*first, *put)]


def _always_put(change: ast.AST) -> list[ast.expr]:
    """What a change puts into a list, if no test decides whether it does."""
    if any(isinstance(parent, (ast.If, ast.IfExp, ast.Try, ast.While)) for parent in ancestors(change)):
        return []
    if isinstance(change, ast.Call) and last_word(change.func) in ("append", "insert", "extend") and change.args:
        put = change.args[-1]
    elif isinstance(change, ast.AugAssign) and isinstance(change.op, ast.Add):
        put = change.value
    else:
        return []
    return put.elts if isinstance(put, (ast.List, ast.Tuple)) else [put]


def parts_of(call: ast.Call) -> list[ast.expr]:
    """The layers that stand in the brackets of a container."""
    parts: list[ast.expr] = []
    for given in call.args:
        given = given.value if isinstance(given, ast.Starred) else given
        if isinstance(given, (ast.List, ast.Tuple)):
            parts += given.elts
        else:
            parts.append(given.elt if isinstance(given, (ast.ListComp, ast.GeneratorExp)) else given)
    return parts


def _any(answers) -> Answer:
    answers = list(answers)
    return True if True in answers else None if None in answers or not answers else False


@remembered(meanwhile=None)
def class_has_weights(owner: ClassInfo) -> Answer:
    """Has a module class of the project weights: a layer or parameter that its methods, or those of a base, set?"""
    if not owner.is_module:
        return None
    own = [
        has_weights(Value(store.module, store.value))
        for cls in owner.mro
        for stores in stores_of(cls).values()
        for store in stores
    ]
    bases = [
        row.weights
        for name in owner.foreign
        if name and name.startswith("torch.nn.") and (row := fact(name + "()")) is not None and name[9:] != "Module"
    ]
    if True in own or True in bases:
        return True
    return False if _sets_nothing(owner) else None


def _sets_nothing(owner: ClassInfo) -> bool:
    """Does a class that is a torch.nn.Module and nothing else set nothing but plain constants and layers without
    weights?
    """
    return (
        set(owner.foreign) <= {"torch.nn.Module"}
        and all(
            isinstance(store.value, ast.Constant) or has_weights(Value(store.module, store.value)) is False
            for cls in owner.mro
            for stores in stores_of(cls).values()
            for store in stores
        )
        and not any(
            last_word(node) in SETTERS
            for cls in owner.mro
            for node in cls.module.index.inside(cls.node, ast.Attribute, ast.Name)
        )
    )


@remembered
def stores_of(cls: ClassInfo) -> dict[str, list[MemberAssignment]]:
    """What the methods of a class set on `self`, each alone: `self.x = value`, in source order."""
    found: dict[str, list[MemberAssignment]] = {}
    for name, entries in cls.attributes.items():
        for entry in entries:
            if (store := _store(entry)) is not None:
                found.setdefault(name, []).append(store)
    return found


@remembered
def unpacked_of(cls: ClassInfo) -> dict[str, list[MemberAssignment]]:
    """What they set together with something else: `self.x, self.y = pair(…)`, of which each is a part."""
    found: dict[str, list[MemberAssignment]] = {}
    for name, entries in cls.attributes.items():
        for target, method in ((entry.target, entry.method) for entry in entries if entry.method is not None):
            targets = target.up if target is not None else None
            if not isinstance(targets, (ast.Tuple, ast.List)) or not isinstance(statement := targets.up, ast.Assign):
                continue
            if not isinstance(statement.value, (ast.Tuple, ast.List)) and not _is_starred(targets):
                path = (targets.elts.index(target),)
                found.setdefault(name, []).append(
                    MemberAssignment(cls.module, statement, target, statement.value, method, path)
                )
    return found


def _store(entry: Stored) -> MemberAssignment | None:
    target, method = entry.target, entry.method
    if method is None or not isinstance(target, ast.Attribute):
        return None
    statement = target.up
    if isinstance(statement, ast.Tuple) and isinstance(statement.up, ast.Assign):
        value = _beside(target, statement, statement.up.value)
        statement = statement.up
    else:
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
    return None if value is None else MemberAssignment(entry.module, statement, target, value, method)


def _beside(target: ast.expr, targets: ast.Tuple, values: ast.expr) -> ast.expr | None:
    """What a name gets in `self.a, self.b = first, second`."""
    if not isinstance(values, ast.Tuple) or len(values.elts) != len(targets.elts):
        return None
    if _is_starred(targets) or _is_starred(values):
        return None
    return values.elts[targets.elts.index(target)]


def _is_starred(listed: ast.Tuple | ast.List) -> bool:
    return any(isinstance(part, ast.Starred) for part in listed.elts)


def reads_in(module: Module, node: ast.AST, name: str) -> list[ast.Attribute]:
    """The places in a node of a file where the attribute is read of the first parameter of the method around them."""
    found = standing_in(node, module.index.attributes(name))
    return [n for n in found if isinstance(n.ctx, ast.Load) and is_of_self(n)]


def is_of_self(node: ast.expr) -> bool:
    """Is it an attribute of what the method around it, or around the function around it, calls `self`?"""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    function = enclosing_function(node)
    while function is not None:
        if enclosing_class(function) is not None and not isinstance(function, ast.Lambda):
            arguments = [*function.args.posonlyargs, *function.args.args]
            return bool(arguments) and arguments[0].arg == node.value.id
        function = enclosing_function(function)
    return False


@remembered
def words_in_strings(module: Module) -> set[str]:
    """By which attributes may be meant, `getattr(self, "head")`: long texts are of something else."""
    strings = (n.value for n in module.index.nodes(ast.Constant) if isinstance(n.value, str))
    return {word for text in strings if len(text) < 100 for word in re.findall(r"\w+", text)}
