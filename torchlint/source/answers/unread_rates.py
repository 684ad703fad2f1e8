"""Learning rates that are set where no optimizer of torch reads them: `optimizer.lr = 0.1`, a name in a loop."""

from __future__ import annotations

import ast
import re

from torchlint.source.flow.callers import given_for
from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_class, enclosing_function, last_word, standing_in, statement_of
from torchlint.source.training.sameness import identity

RATES = ("lr", "learning_rate", "weight_decay")
_MADE_BY = re.compile(r"torch\.optim\.(\w+\.)*[A-Z]\w+")
_SAYS = re.compile(
    r"(^|_)(print|log|logger|info|debug|warn|warning|write|tqdm|format|add_scalar|append|set_postfix)(_|$)"
)
_TURNED = re.compile(r"\badd_param_group\b|getattr\(|__getattr__|\bvars\(|__dict__")
_DEPTH = 2


def is_unread_attribute(module: Module, target: ast.Attribute) -> bool:
    """Is it a rate that an optimizer or scheduler of torch is given as an attribute, and that nobody else reads?"""
    return (
        target.attr in RATES
        and not _may_be_read(module, target.attr, last_word(target.value))
        and _is_of_torch(Value(module, target.value))
        and not _sets_groups(module, target)
    )


def is_unread_default(module: Module, target: ast.Subscript) -> bool:
    """`optimizer.defaults["lr"]`, from which only groups that are added later take theirs"""
    defaults = target.value
    return (
        isinstance(defaults, ast.Attribute)
        and defaults.attr == "defaults"
        and getattr(target.slice, "value", None) in RATES
        and not _may_be_turned(module)
        and not module.others_mention(("add_param_group",))
        and _is_of_torch(Value(module, defaults.value))
        and not _sets_groups(module, target)
    )


def is_unread_name(module: Module, assign: ast.Assign) -> bool:
    """`lr = group["lr"] * 0.1` in a loop over the groups of an optimizer: a name that nobody reads"""
    name, loop = assign.targets[0], assign.up
    function = enclosing_function(assign)
    if len(assign.targets) > 1 or not isinstance(name, ast.Name) or not isinstance(loop, ast.For) or function is None:
        return False
    over = loop.iter
    if not isinstance(over, ast.Attribute) or over.attr != "param_groups" or not isinstance(loop.target, ast.Name):
        return False
    scope = name.at.lookup(name.id)
    if scope is None or scope.node is not function or not isinstance(assign.value, ast.BinOp):
        return False
    takes = any(_is_entry(one, loop.target.id) for one in module.index.inside(assign.value, ast.Subscript))
    return takes and not uses(module, name) and not _sets_groups(module, name)


def is_a_name_in(module: Module, word: str, function: ast.AST | None) -> bool:
    """Does a name stand in a function, or in the file where there is none?"""
    return bool(standing_in(function or module.tree, module.index.names(word)))


def _is_entry(node: ast.Subscript, group: str) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == group and getattr(node.slice, "value", None) in RATES


def _is_of_torch(receiver: Value, depth: int = _DEPTH) -> bool:
    """Is it certainly made by a class of torch, here or by all who give it?"""
    made = list(identity(receiver).values())
    return bool(made) and all(_is_made_by_torch(one, depth) for one in made)


def _is_made_by_torch(made: Value, depth: int) -> bool:
    if isinstance(made.node, ast.arg) and depth and not made.path:
        given = given_for(made)
        return bool(given) and all(one is not None and _is_of_torch(one, depth - 1) for one in given)
    if not isinstance(made.node, ast.Call) or made.path:
        return False
    names = [callee.name for callee in callees(made)]
    return bool(names) and all(name and _MADE_BY.fullmatch(name) for name in names)


@remembered
def _may_be_read(module: Module, attribute: str, word: str) -> bool:
    """Does anybody read the attribute of what goes by a name, other than to say or store it?"""
    if _may_be_turned(module) or module.others_mention((f"{word}.{attribute}",)):
        return True
    reads = (one for one in module.index.attributes(attribute) if isinstance(one.ctx, ast.Load))
    return any(last_word(one.value) == word and not _is_only_said(one) for one in reads)


@remembered
def _may_be_turned(module: Module) -> bool:
    """Are groups added later, or attributes read by names that nobody sees?"""
    return _TURNED.search(module.index.text) is not None


def _is_only_said(read: ast.Attribute) -> bool:
    """`print(optimizer.lr)`, and `optimizer.lr = optimizer.lr * 0.1`"""
    statement = statement_of(read)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return _SAYS.search(last_word(statement.value.func)) is not None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return isinstance(target, ast.Attribute) and target.attr == read.attr


def _sets_groups(module: Module, target: ast.expr) -> bool:
    """Does the function, its class, or one that it calls also write into the groups of an optimizer?"""
    function = enclosing_function(target)
    owner = enclosing_class(function) if function is not None else None
    return _writes_groups(module, owner or function or module.tree) or _calls_who_writes(
        module, function or module.tree
    )


@remembered
def _calls_who_writes(module: Module, function: ast.AST | None) -> bool:
    inside = module.index.inside(function or module.tree, ast.Call)
    calls = (call for call in inside if enclosing_function(call) is function)
    called = (callee for call in calls for callee in callees(Value(module, call)))
    return any(one.function is not None and _writes_groups(one.module, one.function) for one in called)


@remembered
def _writes_groups(module: Module, around: ast.AST) -> bool:
    stores = (one for one in module.index.inside(around, ast.Subscript) if isinstance(one.ctx, ast.Store))
    if any(getattr(one.slice, "value", None) in RATES and last_word(one.value) != "defaults" for one in stores):
        return True
    calls = module.index.calls_of("update", "setdefault", inside=around)
    return any(part in RATES for call in calls for part in _told(call))


def _told(call: ast.Call) -> list[object]:
    """The entries that `group.update(lr=0.1)` and `group.update({"lr": 0.1})` name"""
    keys = [key for given in call.args if isinstance(given, ast.Dict) for key in given.keys]
    return [*(keyword.arg for keyword in call.keywords), *(getattr(one, "value", None) for one in (*keys, *call.args))]
