"""What classes put in the place of a method that their base leaves to them, where all that derive are seen and do
nothing else.
"""

from __future__ import annotations

import ast
import re

from torchlint.source.flow.classes import ClassInfo, class_info
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.text.spelling import unparsed

MAX_HEIRS = 10  # of one class, with theirs
# Who says one of these in a class may do more than the methods that are asked for.
_MORE = re.compile(
    r"zero_|\.grad\b|optim|hook|callback|setattr|super\(\)\.(?!__init__\b)|super\([^)]+\)\.(?!__init__\b)"
)


def is_left_to_others(function: ast.AST | None) -> bool:
    """Is it a method of which a base class only says that there is one: `raise NotImplementedError`?"""
    if not isinstance(function, ast.FunctionDef) or not isinstance(function.up, ast.ClassDef):
        return False
    if any(last_word(decorator) == "abstractmethod" for decorator in function.decorator_list):
        return True
    raised = function.body[-1].exc if isinstance(function.body[-1], ast.Raise) else None
    plain = all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in function.body[:-1])
    return raised is not None and plain and "NotImplemented" in unparsed(raised)


def is_empty(function: ast.AST | None) -> bool:
    """Is it a method that does nothing: a place for what classes that derive have to do?"""
    return (
        isinstance(function, ast.FunctionDef)
        and isinstance(function.up, ast.ClassDef)
        and all(map(_does_nothing, function.body))
    )


def _does_nothing(statement: ast.stmt) -> bool:
    is_said = isinstance(statement, (ast.Expr, ast.Return)) and isinstance(statement.value, ast.Constant)
    return is_said or isinstance(statement, ast.Pass)


@remembered(meanwhile=())
def put_in_place(module: Module, function: ast.FunctionDef) -> tuple[Value, ...]:
    """The methods of all classes that derive from that of a method which is left to them; none where one of them does
    more than that, or may.
    """
    owner = class_info(module, function.up)
    heirs = heirs_of(owner)
    if not heirs or not all(_does_no_more(heir, owner) for heir in heirs):
        return ()
    return _own_of(heirs, function)


@remembered(meanwhile=())
def put_over(module: Module, function: ast.FunctionDef) -> tuple[Value, ...]:
    """The methods that classes which derive put over one, as far as these are seen."""
    return _own_of(heirs_of(class_info(module, function.up)), function)


def _own_of(heirs: list[ClassInfo], function: ast.FunctionDef) -> tuple[Value, ...]:
    own = [(heir.module, heir.methods[function.name]) for heir in heirs if function.name in heir.methods]
    return tuple(Value(home, method) for home, method in own)


def heirs_of(owner: ClassInfo) -> list[ClassInfo]:
    """The classes that derive from one, here and in other files; none where there are too many."""
    known = [owner]
    for one in known:  # which grows
        others = one.module.deriving(one.name) if one.node.up is one.module.tree else []
        for home in (one.module, *others):
            heirs = (class_info(home, node) for node in home.index.classes)
            known += [heir for heir in heirs if heir not in known and one in heir.bases]
        if len(known) > MAX_HEIRS:
            return []
    return known[1:]


def _does_no_more(heir: ClassInfo, owner: ClassInfo) -> bool:
    """Does a class give only what its base leaves to it, and methods of its own?"""
    inherited = {name: method for base in reversed(heir.mro[1:]) for name, method in base.methods.items()}
    replaced = [inherited[name] for name in heir.methods if name in inherited and name != "__init__"]
    return (
        len(heir.bases) == 1
        and not heir.node.decorator_list
        and all(base is owner or owner in base.mro for base in heir.mro[1:] if base not in owner.mro)
        and all(map(is_left_to_others, replaced))
        and _MORE.search(heir.module.segment(heir.node)) is None
    )
