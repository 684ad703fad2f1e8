"""Whether a flag set on a module lacks nothing: its parameters are frozen already, or were made a moment ago."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import may_follow
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.index import FUNCTIONS, ancestors, block_of, is_in, last_word, statement_of
from torchlint.source.text.spelling import receiver, unparsed

_LISTING = ("children", "modules", "named_children", "named_modules", "enumerate", "list", "reversed")
_ALL = ("parameters", "named_parameters")
_SETTING = (*_ALL, "requires_grad_")
_ASKING = (*_ALL, *_LISTING, "len", "print", "state_dict", "eval", "train")


def is_so_anyhow(module: Module, layer: ast.expr, value: ast.expr) -> Answer:
    """Is `False` set on a part of what was frozen above, or `True` on a layer that was made there? No where it is
    `True` of what was frozen.
    """
    wanted = value.value if isinstance(value, ast.Constant) else None
    if wanted is not True and wanted is not False:
        return None
    name = _whole_of(layer)
    for before in _surely_before(statement_of(layer)):
        if wanted and isinstance(before, ast.Assign) and _sets(before, name):
            return True if _is_new(module, before.value) else None
        frozen = frozen_by(before)
        if frozen and _is_part(name, frozen):
            return not wanted
        if _has_a_new_last(module, before, name):
            if wanted or _is_of_the_last(layer) is not False:
                return True if wanted and _is_of_the_last(layer) else None
        elif _touches(before, name):
            return None
    return None


def _whole_of(layer: ast.expr) -> str:
    """How it is written; of the variable of a loop the whole, `net.features.` in `for child in net.features:`."""
    for loop in ancestors(layer) if isinstance(layer, ast.Name) else ():
        if isinstance(loop, ast.For) and any(getattr(part, "id", "") == layer.id for part in ast.walk(loop.target)):
            return f"{unparsed(_gone_through(loop.iter))}."
    return unparsed(layer)


def _gone_through(over: ast.expr) -> ast.expr:
    """`net` of `enumerate(list(net.children())[:-1])`"""
    while True:
        if isinstance(over, ast.Call) and last_word(over.func) in _LISTING:
            over = over.args[0] if over.args else receiver(over) or over.func
        elif isinstance(over, ast.Subscript) and isinstance(over.slice, ast.Slice):
            over = over.value
        else:
            return over


def _surely_before(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements above one in the blocks around it, the nearest first."""
    for around in (statement, *ancestors(statement)):
        if isinstance(around, (*FUNCTIONS, ast.ClassDef)):
            return
        if isinstance(around, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            block, at = block_of(around)
            yield from reversed(block[:at])


def _is_part(name: str, whole: str) -> bool:
    return name == whole or name.startswith((f"{whole}.", f"{whole}["))


def frozen_by(statement: ast.stmt) -> str:
    """`net` of `net.requires_grad_(False)` and of a loop over its parameters that does nothing else"""
    if isinstance(statement, ast.For) and len(statement.body) == 1:
        over, [inner] = statement.iter, statement.body
        is_all = isinstance(over, ast.Call) and last_word(over.func) in _ALL and not over.args and receiver(over)
        flag = inner.targets[0] if isinstance(inner, ast.Assign) else _switched_off(inner)
        is_flag = last_word(flag) == "requires_grad" if isinstance(inner, ast.Assign) else flag is not None
        is_off = not isinstance(inner, ast.Assign) or getattr(inner.value, "value", None) is False
        return unparsed(receiver(over)) if is_all and is_flag and is_off else ""
    switched = _switched_off(statement)
    return unparsed(switched) if switched is not None else ""


def _switched_off(statement: ast.stmt) -> ast.expr | None:
    """`x` of `x.requires_grad_(False)`"""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or last_word(call.func) != "requires_grad_":
        return None
    return receiver(call) if [getattr(one, "value", None) for one in call.args] == [False] else None


def _sets(assign: ast.Assign, name: str) -> bool:
    return [*map(unparsed, assign.targets)] == [name]


def _is_new(module: Module, value: ast.expr) -> bool:
    """`nn.Linear(8, 2)`, or a Sequential of such"""
    if not isinstance(value, ast.Call) or not (external_name(Value(module, value.func)) or "").startswith("torch.nn."):
        return False
    parts = [*value.args, *(keyword.value for keyword in value.keywords)]
    if last_word(value.func) in ("Sequential", "ModuleList"):
        return all(_is_new(module, part) for part in parts)
    return not any(isinstance(part, (ast.Starred, ast.Call)) for part in parts)


def _touches(statement: ast.stmt, name: str) -> bool:
    """May it change which of the parameters are trained, or what goes by the name?"""
    whole = name.rstrip(".")
    return any(_is_part(whole, text) or _is_part(text, whole) for text in map(unparsed, _changed_by(statement, whole)))


def _changed_by(statement: ast.stmt, whole: str) -> Iterator[ast.expr]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and (last_word(node.func) not in _ASKING or isinstance(node.up, ast.For)):
            yield from (*node.args, *(keyword.value for keyword in node.keywords))
            if isinstance(node.func, ast.Attribute):
                yield node.func.value
        elif isinstance(node, ast.Attribute) and node.attr == "requires_grad" and isinstance(node.ctx, ast.Store):
            if not _is_part(whole, unparsed(node.value)):  # a module's does nothing
                yield node.value
        elif isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            yield node
        elif isinstance(node, ast.For):
            yield _gone_through(node.iter)


def _has_a_new_last(module: Module, statement: ast.stmt, name: str) -> bool:
    """`net.head = nn.Sequential(*old[:-1], nn.Linear(8, 2))`: all others are the old ones."""
    whole = name.rstrip(".")
    made = statement.value if isinstance(statement, ast.Assign) and _sets(statement, whole) else None
    if isinstance(made, ast.Name):
        block, at = block_of(statement)
        made = next(
            (one.value for one in reversed(block[:at]) if isinstance(one, ast.Assign) and _sets(one, made.id)), None
        )
    if not isinstance(made, ast.Call) or last_word(made.func) != "Sequential" or len(made.args) != 2:
        return False
    old, new = made.args
    return isinstance(old, ast.Starred) and unparsed(_gone_through(old.value)) == whole and _is_new(module, new)


def _is_of_the_last(layer: ast.expr) -> bool | None:
    """Does it stand in the first branch of `if i == len(…) - 1:`, or in the other?"""
    for around in ancestors(layer):
        test = around.test if isinstance(around, ast.If) else None
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq):
            last = test.comparators[0]
            if isinstance(last, ast.BinOp) and isinstance(last.op, ast.Sub) and unparsed(last.right) == "1":
                is_length = last_word(getattr(last.left, "func", layer)) == "len"
                return not is_in(statement_of(layer), around.orelse) if is_length else None
    return None


def is_replaced(module: Module, function: ast.AST | None, flag: ast.AST, name: str) -> bool:
    """Does another layer surely come in its place later: `model.fc = nn.Linear(model.fc.in_features, 10)`?"""
    given = _given(module, function or module.tree)
    around = set(ancestors(flag))
    return any(
        later.up in around and may_follow(flag, later) and not _is_kept(module, later)
        for whole in _wholes(name)
        for later in given.get(whole, ())
    )


def _wholes(name: str) -> Iterator[str]:
    """`net.fc[0]`, `net.fc` and `net`: what it may be a part of, as it is written."""
    yield name
    yield from (name[:at] for at, letter in enumerate(name) if letter in ".[")


@remembered
def _given(module: Module, code: ast.AST) -> dict[str, list[ast.Assign]]:
    """The assignments in a part of a file, by what they are to."""
    found: dict[str, list[ast.Assign]] = {}
    for assign in module.index.inside(code, ast.Assign):
        for target in assign.targets:
            found.setdefault(unparsed(target), []).append(assign)
    return found


@remembered
def _is_kept(module: Module, assign: ast.Assign) -> bool:
    """Is more of the layers before in the new one than their sizes?"""
    old = set(map(unparsed, assign.targets))
    parts = module.index.inside(assign.value, ast.Name, ast.Attribute, ast.Subscript)
    return any(unparsed(part) in old and not getattr(part.up, "attr", "").startswith(("in_", "out_")) for part in parts)


def is_set_as_a_whole(module: Module, name: str) -> bool:
    """Are the parameters of a module set in the file, or those of what it is a part of?"""
    return not set_in(module, module.tree).isdisjoint(("self", *_wholes(name)))


@remembered
def set_in(module: Module, code: ast.AST) -> frozenset[str]:
    """The modules whose parameters are gone through or set in a function or file, as they are written."""
    calls = module.index.calls_of(*_SETTING, inside=code)
    return frozenset(unparsed(call.func.value) for call in calls if isinstance(call.func, ast.Attribute))
