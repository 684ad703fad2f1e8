"""A class of the project: its methods, what its attributes are set to, what it inherits and who derives from it."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import NamedTuple

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.names import canonical
from torchlint.source.flow.values import Stored, Value
from torchlint.source.text.index import FUNCTIONS, enclosing_class

MAX_BASES = 100  # of one class, with theirs
MAX_HEIRS = 10


class Method(NamedTuple):
    module: Module
    node: ast.FunctionDef
    owner: ClassInfo


class ClassInfo:
    def __init__(self, module: Module, node: ast.ClassDef):
        self.module = module
        self.node = node
        self.name = node.name
        self.methods: dict[str, ast.FunctionDef] = {}
        self.setters: dict[str, ast.FunctionDef] = {}  # of properties, whose getters are among the methods
        self._stored: dict[str, list[Stored]] = {}
        self._bases: list[ClassInfo | str | None] | None = None
        self._mro: list[ClassInfo] | None = None
        self._foreign: list[str | None] = []
        for statement in node.body:
            self._class_level(statement)

    def __repr__(self) -> str:
        return f"<class {self.name}>"

    @cached_property
    def attributes(self) -> dict[str, list[Stored]]:
        """What its body and its methods give a value, in this order; of most classes nobody asks."""
        for method in (*self.methods.values(), *self.setters.values()):
            self._method(method)
        return self._stored

    def _class_level(self, statement: ast.stmt) -> None:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            marks = [mark.attr for mark in statement.decorator_list if isinstance(mark, ast.Attribute)]
            if "setter" in marks:
                self.setters[statement.name] = statement
            elif "deleter" not in marks:
                self.methods[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    self._add(target.id, Stored(self.module, target, None, None))
        elif isinstance(statement, ast.AnnAssign) and statement.value and isinstance(statement.target, ast.Name):
            self._add(statement.target.id, Stored(self.module, statement.target, None, None))
        elif isinstance(statement, (ast.If, ast.Try)):
            for inner in (*statement.body, *statement.orelse):
                self._class_level(inner)

    def _method(self, method: ast.FunctionDef) -> None:
        arguments = [*method.args.posonlyargs, *method.args.args]
        if not arguments:
            return
        me = arguments[0].arg
        for node in self.module.index.in_method(method):
            if isinstance(node, ast.Call):
                name, value = _set_by_call(node, me)
                if name and value:
                    self._add(name, Stored(self.module, None, value, method))
            elif isinstance(node.value, ast.Name) and node.value.id == me and not isinstance(node.up, ast.AugAssign):
                self._add(node.attr, Stored(self.module, node, None, method))

    def _add(self, name: str, entry: Stored) -> None:
        self._stored.setdefault(name, []).append(entry)

    @property
    def mro(self) -> list[ClassInfo]:
        """This class and the project classes it inherits from, nearest first."""
        if self._mro is None:
            self._mro = []
            todo: list[ClassInfo | str | None] = [self]
            while todo:
                base = todo.pop()
                if not isinstance(base, ClassInfo):
                    self._foreign.append(base)
                elif len(self._mro) == MAX_BASES:
                    self._foreign.append(None)
                    break
                elif base not in self._mro:
                    self._mro.append(base)
                    todo += reversed(base.bases)
        return self._mro

    @property
    def bases(self) -> list[ClassInfo | str | None]:
        """What stands in its brackets: classes of the project, names of others, None for what is not known."""
        if self._bases is None:
            self._bases = []
            for base in self.node.bases:
                found = self._base(base.value if isinstance(base, ast.Subscript) else base)  # Generic[T]
                if found is not self:
                    self._bases.append(found)
        return self._bases

    def _base(self, base: ast.expr) -> ClassInfo | str | None:
        from torchlint.source.flow.flow import origins  # classes and flow need each other
        from torchlint.source.flow.identity import external_name

        for origin in origins(Value(self.module, base)):
            if isinstance(origin.node, ast.ClassDef):
                return class_info(origin.module, origin.node)
            name = external_name(origin)
            return canonical(name) if name else None
        return None

    @property
    def foreign(self) -> list[str | None]:
        """The dotted names of the library classes it inherits from; None stands for a base that is not known."""
        _ = self.mro  # which collects them
        return self._foreign

    def is_a(self, *names: str) -> bool:
        """Is it known to inherit from one of these library classes?"""
        return any(name in names for name in self.foreign)

    @property
    def is_module(self) -> bool:
        """An nn.Module, as far as one can see: by its bases, or by an unknown base together with a `forward`."""
        return self.is_named_module or bool(self.unseen) and self.method("forward") is not None

    @property
    def unseen(self) -> list[str | None]:
        """The bases of which nobody knows what they are."""
        plain = ("builtins", "typing", "abc", "torch", "enum", "dataclasses")
        return [n for n in self.foreign if n is None or n.split(".")[0] not in plain]

    @property
    def is_named_module(self) -> bool:
        """Does one of its bases have the name of an nn.Module?"""
        return any(
            n and (n in _MODULES or n.startswith("torch.nn.") and n[9:10].isupper() or n.endswith("LightningModule"))
            for n in self.foreign
        )

    @property
    def has_lightning_base(self) -> bool:
        return any(n and n.rsplit(".", 1)[-1] in ("LightningModule", "LightningDataModule") for n in self.foreign)

    @property
    def is_lightning(self) -> bool:
        """Also one that is written like Lightning's, though its base is not seen."""
        return self.has_lightning_base or (
            "training_step" in self.methods and ("configure_optimizers" in self.methods or bool(self.unseen))
        )

    @property
    def known(self) -> bool:
        """Are all its bases seen or named?"""
        return None not in self.foreign

    def setter(self, name: str) -> Method | None:
        """What runs where a property is given a value."""
        found = ((owner, owner.setters[name]) for owner in self.mro if name in owner.setters)
        return next((Method(owner.module, node, owner) for owner, node in found), None)

    def method(self, name: str) -> Method | None:
        for owner in self.mro:
            if name in owner.methods:
                return Method(owner.module, owner.methods[name], owner)
        return None

    def inherited(self, name: str) -> Method | None:
        """The method that `super()` finds."""
        for owner in self.mro[1:]:
            if name in owner.methods:
                return Method(owner.module, owner.methods[name], owner)
        return None

    def attribute(self, name: str) -> list[Stored]:
        for owner in self.mro:
            if name in owner.attributes:
                return owner.attributes[name]
        return []


def _set_by_call(node: ast.Call, me: str) -> tuple[str | None, ast.expr | None]:
    """`self.register_buffer("x", v)`, `self.add_module("x", v)`, `setattr(self, "x", v)`."""
    func = node.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == me:
        if (
            func.attr in ("register_buffer", "add_module", "register_module", "register_parameter")
            and len(node.args) >= 2
        ):
            if isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
                return node.args[0].value, node.args[1]
    elif isinstance(func, ast.Name) and func.id == "setattr" and len(node.args) == 3:
        if isinstance(node.args[0], ast.Name) and node.args[0].id == me and isinstance(node.args[1], ast.Constant):
            return str(node.args[1].value), node.args[2]
    return None, None


def class_info(module: Module, node: ast.ClassDef) -> ClassInfo:
    known = module.world.classes
    if node not in known:  # asked so often that it is not `@remembered`
        known[node] = ClassInfo(module, node)
    return known[node]


def method_class(module: Module, function: ast.AST) -> ClassInfo | None:
    """The class of which a function is a method."""
    if not isinstance(function, FUNCTIONS) or isinstance(function, ast.Lambda):
        return None
    owner = enclosing_class(function)
    return class_info(module, owner) if owner else None


def heirs_of(owner: ClassInfo) -> list[ClassInfo]:
    """The classes that derive from one, here and in other files; none where there are too many."""
    return _heirs(owner) or []


@remembered(meanwhile=())
def put_over(module: Module, function: ast.FunctionDef) -> tuple[Value, ...]:
    """The methods that classes which derive put over one, as far as these are seen."""
    return own_of(heirs_of(class_info(module, function.up)), function)


@remembered(meanwhile=())
def may_stand_for(owner: ClassInfo, function: ast.FunctionDef) -> tuple[Value, ...]:
    """What else may run where a method of `self` is called: those that classes which derive from that of `self` put
    over it, and an unknown one where these are too many.
    """
    heirs = _heirs(owner)
    return own_of(heirs, function) if heirs is not None else (Value(owner.module, None),)


def runs_for(other: Value, caller: ast.AST) -> bool:
    """May an object of the class of a method run another one, which is of a base: is nothing put in its place that
    leaves it out?
    """
    heir, name = method_class(other.module, other.node), getattr(caller, "name", "")
    found = heir.method(name) if heir is not None else None
    return found is None or found.node is caller or f"{name}(" in found.module.segment(found.node).partition("(")[2]


def own_of(heirs: list[ClassInfo], function: ast.FunctionDef) -> tuple[Value, ...]:
    """The methods that classes have under the name of one."""
    own = [(heir.module, heir.methods[function.name]) for heir in heirs if function.name in heir.methods]
    return tuple(Value(home, method) for home, method in own)


@remembered(meanwhile=[])
def _heirs(owner: ClassInfo) -> list[ClassInfo] | None:
    known = [owner]
    for one in known:  # which grows
        others = one.module.deriving(one.name) if one.node.up is one.module.tree else []
        for home in (one.module, *others):
            known += [heir for heir in _by_base(home).get(id(one.node), ()) if heir not in known]
        if len(known) > MAX_HEIRS:
            return None
    return known[1:]


@remembered(meanwhile={})
def _by_base(module: Module) -> dict[int, list[ClassInfo]]:
    """The classes of a file by the nodes of those of the project from which each derives directly."""
    found: dict[int, list[ClassInfo]] = {}
    for heir in (class_info(module, node) for node in module.index.classes):
        for base in heir.bases:
            if isinstance(base, ClassInfo):
                found.setdefault(id(base.node), []).append(heir)
    return found


_MODULES = frozenset(
    (
        "torch.nn.Module",
        "lightning.LightningModule",
        "transformers.PreTrainedModel",
        "torch.jit.ScriptModule",
        "torch_geometric.nn.MessagePassing",
    )
)
