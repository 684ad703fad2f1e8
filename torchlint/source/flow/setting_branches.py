"""Which places run only for different settings: `if kind == "ce"` where a loss is made, `if kind == "f1"` where it is
called.

In one function the order of tests tells. Between functions it is the setting that they ask, by the words they ask it
with: an attribute (`self.kind`, `args.loss`) or an entry (`self.config["loss"]`, `cfg.get("loss", "ce")`).
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from torchlint.source.flow.values import Value
from torchlint.source.text.index import FUNCTIONS, Index, Scope, ancestors, block_of, is_in, standing_in
from torchlint.source.text.spelling import unparsed

MAX_TESTS = 12
_LEAVES = (ast.Return, ast.Raise)
_READS = frozenset(("get", "lower", "upper", "strip", "casefold"))  # what reads a setting and changes nothing


class Requirement(NamedTuple):
    """What must hold of a setting at a place: its value is, or is not, one of these."""

    setting: str
    values: tuple
    holds: bool


def are_apart(a: Value, b: Value) -> bool:
    """Does a setting have to be different for two places to run?"""
    ours = _answers(a.module.index, a.node)
    if not ours:
        return False
    theirs = _summed(_answers(b.module.index, b.node))
    return any(_contradict(one, other) for one in _summed(ours) for other in theirs)


def _summed(answers: list[Requirement]) -> list[Requirement]:
    """The `else` of a chain of `elif`s has none of all their values."""
    denied: dict[str, tuple] = {}
    for answer in answers:
        if not answer.holds:
            denied[answer.setting] = denied.get(answer.setting, ()) + answer.values
    return [a for a in answers if a.holds] + [Requirement(setting, values, False) for setting, values in denied.items()]


def _contradict(one: Requirement, other: Requirement) -> bool:
    if one.setting != other.setting:
        return False
    if one.holds and other.holds:
        return not any(value in other.values for value in one.values)
    if one.holds != other.holds:
        yes, no = (one, other) if one.holds else (other, one)
        return all(value in no.values for value in yes.values)
    return False


def _answers(index: Index, node: ast.AST) -> list[Requirement]:
    """What the tests around a place, and those above it after which its function is left, say of settings."""
    if hasattr(node, "answers"):
        return node.answers
    found: list[Requirement] = []
    child = node
    for parent in ancestors(node):
        if isinstance(child, ast.stmt):
            block, at = block_of(child)
            for above in block[max(0, at - MAX_TESTS) : at]:
                if isinstance(above, ast.If) and not above.orelse and isinstance(above.body[-1], _LEAVES):
                    found += _answered(index, above.test, False)
        if isinstance(parent, FUNCTIONS) or len(found) >= MAX_TESTS:
            break
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            fails = child is parent.orelse if isinstance(parent, ast.IfExp) else is_in(child, parent.orelse)
            found += _answered(index, parent.test, not fails)
        child = parent
    node.answers = found
    return found


def _answered(index: Index, test: ast.expr, truth: bool) -> list[Requirement]:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _answered(index, test.operand, not truth)
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is truth:
            return [answer for operand in test.values for answer in _answered(index, operand, truth)]
        return []
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        setting, values = _setting(index, test.left), _constants(test.comparators[0], test.ops[0])
        if setting is None or values is None:
            return []
        return [Requirement(setting, values, isinstance(test.ops[0], (ast.Eq, ast.Is, ast.In)) is truth)]
    setting = _setting(index, test)
    return [Requirement(f"bool({setting})", (True,), truth)] if setting is not None else []


def _constants(node: ast.expr, how: ast.cmpop) -> tuple | None:
    """Those that a setting is compared with, each with its type: 1 is not True."""
    if isinstance(how, (ast.In, ast.NotIn)):
        given = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [None]
    else:
        given = [node] if isinstance(how, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)) else [None]
    if not all(isinstance(each, ast.Constant) for each in given):
        return None
    return tuple((type(each.value), each.value) for each in given)


def _setting(index: Index, node: ast.expr, known: bool = True) -> str | None:
    """The words by which a test asks a setting; a name that stands for one, by its only assignment, is seen through."""
    if isinstance(node, ast.Name):
        scope = node.at.lookup(node.id)
        bindings = scope.bindings[node.id] if scope is not None else []
        if len(bindings) == 1 and isinstance(bindings[0], ast.arg):
            attributes = _kept_by_class(index, node).items()
            kept = next((name for name, value in attributes if _is_of(value, node.id, scope)), None)
            return f"self.{kept}" if kept is not None else f"{node.id} of {id(scope)}"
        if not known or len(bindings) != 1 or not isinstance(bindings[0], ast.Name):
            return None
        made = bindings[0].up
        given = made.value if isinstance(made, (ast.Assign, ast.AnnAssign)) else None
        return _setting(index, given, known=False) if given is not None and bindings[0] is not given else None
    core = node
    while True:
        if isinstance(core, ast.Call) and isinstance(core.func, ast.Attribute) and core.func.attr in _READS:
            if not all(isinstance(each, ast.Constant) for each in core.args) or core.keywords:
                return None
            core = core.func.value
        elif isinstance(core, ast.Subscript) and isinstance(core.slice, ast.Constant):
            core = core.value
        elif isinstance(core, ast.Attribute):
            core = core.value
        else:
            return _as_given(index, node, core) if isinstance(core, ast.Name) and core is not node else None


def _as_given(index: Index, node: ast.expr, core: ast.Name) -> str:
    """`args.kind` for `self.args.kind` where the class keeps `self.args = args`, else as it is written."""
    text = unparsed(node)
    kept, dot, rest = text.removeprefix("self.").partition(".")
    if core.id != "self" or not dot or not rest:
        return text
    value = _kept_by_class(index, node).get(kept)
    return f"{value.id}.{rest}" if value is not None else text


def _is_of(value: ast.Name, name: str, scope: Scope) -> bool:
    return value.id == name and value.at.lookup(name) is scope


def _kept_by_class(index: Index, node: ast.AST) -> dict[str, ast.Name]:
    """The attributes that are set once in the class around a place, and to a plain name: `self.args = args`."""
    owner = next((parent for parent in ancestors(node) if isinstance(parent, ast.ClassDef)), None)
    if owner is None:
        return {}
    if not hasattr(owner, "kept_names"):
        stored: dict[str, list[ast.Name | None]] = {}
        for target in standing_in(owner, index.stores):
            if isinstance(target.value, ast.Name) and target.value.id == "self":
                value = target.up.value if isinstance(target.up, ast.Assign) else None
                stored.setdefault(target.attr, []).append(value if isinstance(value, ast.Name) else None)
        owner.kept_names = {name: values[0] for name, values in stored.items() if len(values) == 1 and values[0]}
    return owner.kept_names
