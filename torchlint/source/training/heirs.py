"""What classes put in the place of a method that their base leaves to them, where all that derive are seen and do
nothing else, but for what they add to others of its methods.
"""

from __future__ import annotations

import ast
import re

from torchlint.source.flow.classes import ClassInfo, class_info, heirs_of, own_of
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, statement_of
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.events import may_mention

# Who says one of these in a class may do more than the methods that are asked for.
_MORE = re.compile(r"zero_|\.grad\b|optim|hook|callback|setattr")


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
    """The methods of all classes that derive from that of a method which is left to them, and those by which they add
    to others of it; none where one of them does more than that, or may.
    """
    owner = class_info(module, function.up)
    heirs = heirs_of(owner)
    if not heirs or not all(_does_no_more(heir, owner) for heir in heirs):
        return ()
    return (*own_of(heirs, function), *(method for heir in heirs for method, _ in _replacing(heir)))


def goes_up(call: ast.AST) -> bool:
    """Does a method run that of its base in whose place it stands: `super().begin()` in `begin`?"""
    method = enclosing_function(call)
    return (
        isinstance(method, ast.FunctionDef)
        and isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == method.name
        and isinstance(call.func.value, ast.Call)
        and last_word(call.func.value.func) == "super"
    )


def _replacing(heir: ClassInfo) -> list[tuple[Value, Value]]:
    """The methods that a class puts over those of its bases, and those, but for what these leave to it."""
    inherited = {
        name: Value(base.module, method) for base in reversed(heir.mro[1:]) for name, method in base.methods.items()
    }
    return [
        (Value(heir.module, method), inherited[name])
        for name, method in heir.methods.items()
        if name in inherited and name != "__init__" and not is_left_to_others(inherited[name].node)
    ]


def _changes_little(method: Value, old: Value) -> bool:
    """Does it run the one in whose place it stands, or did that do nothing for training?"""
    words = frozenset(("backward", "step", "zero_grad", "grad"))
    return _adds(method) or not may_mention(old.module, old.node.body, words)


def _adds(method: Value) -> bool:
    """Does it run the method in whose place it stands, whatever else it does?"""
    again = method.module.index.calls_of(method.node.name, inside=method.node)
    return any(goes_up(call) and statement_of(call).up is method.node for call in again)


def _asks_for_another(call: ast.Call) -> bool:
    """`super().learn()`, but where it is what the method adds to, or the beginning"""
    return last_word(call.func) == "super" and not (
        isinstance(call.up, ast.Attribute)
        and isinstance(call.up.up, ast.Call)
        and (call.up.attr == "__init__" or goes_up(call.up.up))
    )


def _does_no_more(heir: ClassInfo, owner: ClassInfo) -> bool:
    """Does a class give only what its base leaves to it, what it adds to other methods, and some of its own?"""
    return (
        len(heir.bases) == 1
        and not heir.node.decorator_list
        and all(base is owner or owner in base.mro for base in heir.mro[1:] if base not in owner.mro)
        and all(_changes_little(*pair) for pair in _replacing(heir))
        and not any(map(_asks_for_another, heir.module.index.calls_of("super", inside=heir.node)))
        and _MORE.search(heir.module.segment(heir.node)) is None
    )
