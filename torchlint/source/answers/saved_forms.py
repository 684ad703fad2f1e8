"""In which form a program saves what it loads again from that file: weights, or a dict that has them as an entry."""

from __future__ import annotations

import ast
import os
from typing import NamedTuple

from torchlint.source.flow.called import is_result_of
from torchlint.source.flow.changed import is_changed
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import is_tried
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, standing_in
from torchlint.source.text.spelling import argument

_MOST_SAVERS = 45  # files that say `save`; of more nobody sees all
_STEPS = 6  # of expressions that make a path


class Path(NamedTuple):
    """What is known of the name of a file: its end, and whether that is all of it."""

    end: str
    is_whole: bool


class Saved(NamedTuple):
    """What a call of `torch.save` writes: the keys of a dict, those of weights among them; no keys of bare weights."""

    call: Value
    path: Path
    keys: tuple[str, ...] | None
    states: tuple[str, ...]
    may_have_others: bool = False


class Loaded(NamedTuple):
    """What is given to `load_state_dict`: all that a file holds, or an entry of that; and how that file was saved."""

    key: str | None
    saved: list[Saved]


def loaded(state: Value) -> Loaded | None:
    """Of what is loaded and given to `load_state_dict`, how all that save that file save it."""
    made = origins(state)
    if len(made) != 1 or made[0].path or made[0].node is None:
        return None
    one, key = made[0], None
    if isinstance(one.node, ast.Subscript):
        key = getattr(one.node.slice, "value", None)
        inner = origins(one.at(one.node.value, ()))
        if not isinstance(key, str) or len(inner) != 1:
            return None
        one = inner[0]
    if not is_result_of(one, frozenset(("torch.load",))) or _is_asked(state):
        return None
    given = argument(one.node, "f", 0)
    path = _path(one.at(given, ())) if given is not None else None
    if path is None or not path.is_whole:
        return None
    saved = _savers_to(one.module, path)
    return Loaded(key, saved) if saved else None


def _is_asked(state: Value) -> bool:
    """Does the function ask what it has loaded, `"state" in checkpoint`, or try both?"""
    named = state.node.value if isinstance(state.node, ast.Subscript) else state.node
    around = enclosing_function(state.node) or state.module.tree
    return is_tried(state.node) or isinstance(named, ast.Name) and _asks(state.module, around, named.id)


@remembered
def _asks(module: Module, around: ast.AST, name: str) -> bool:
    return any(map(_is_question, standing_in(around, module.index.names(name))))


def _is_question(read: ast.Name) -> bool:
    """`"state" in checkpoint`, `checkpoint.get("state", checkpoint)`, `isinstance(checkpoint, dict)`"""
    parent = read.up
    if isinstance(parent, ast.Compare):
        return any(isinstance(op, (ast.In, ast.NotIn)) for op in parent.ops)
    if isinstance(parent, ast.Attribute):
        return parent.attr in ("get", "keys", "pop")
    return isinstance(parent, ast.Call) and last_word(parent.func) in ("isinstance", "hasattr", "len", "type", "list")


def _savers_to(module: Module, path: Path) -> list[Saved]:
    """What is saved under a path, where all that may be are seen, and one of them certainly is."""
    paths = module.world.view.mentions("save")
    homes = [module, *map(module.world.module, paths)]
    if len(paths) > _MOST_SAVERS or None in homes:
        return []
    found: list[Saved] = []
    for home in homes:
        saved = _saved_in(home)
        if saved is None:
            return []
        found += [one for one in saved if _may_be(one.path, path)]
    beside = os.path.dirname(module.path)
    is_sure = any(one.path == path and os.path.dirname(one.call.module.path) == beside for one in found)
    return found if is_sure else []


def _may_be(one: Path, path: Path) -> bool:
    return one == path if one.is_whole else path.end.endswith(one.end)


@remembered
def _saved_in(module: Module) -> list[Saved] | None:
    """What a file saves; None where the form of one is not known."""
    found = []
    for call in module.index.callers("save"):
        value = Value(module, call)
        names = {callee.name for callee in callees(value)}
        if "torch.save" not in names:
            continue
        given, target = argument(call, "obj", 0), argument(call, "f", 1)
        form = _form(value, given) if given is not None and target is not None else None
        if form is None or target is None:
            return None
        found.append(Saved(value, _path(value.at(target, ())), *form))
    return found


def _form(call: Value, given: ast.expr) -> tuple[tuple[str, ...] | None, tuple[str, ...], bool] | None:
    made = origins(call.at(given, ()))
    if len(made) != 1 or made[0].path:
        return None
    [one] = made
    if _is_state(one):
        return None, (), False
    if not isinstance(one.node, ast.Dict):
        return (), (), True
    keys = [getattr(key, "value", None) for key in one.node.keys]
    entries = zip(keys, one.node.values)
    states = [key for key, part in entries if isinstance(key, str) and all(map(_is_state, origins(one.at(part, ()))))]
    named = tuple(key for key in keys if isinstance(key, str))
    return named, tuple(states), len(named) < len(keys) or is_changed(one)


def _is_state(one: Value) -> bool:
    """`model.state_dict()`"""
    node = one.node
    return isinstance(node, ast.Call) and not one.path and not node.args and last_word(node.func) == "state_dict"


def _path(value: Value, steps: int = _STEPS) -> Path:
    """`"best.pt"`, `os.path.join("runs", "best.pt")`, `Path("runs") / "best.pt"`, `f"{run}/best.pt"`"""
    made = origins(value) if steps else []
    one = made[0] if len(made) == 1 else None
    node = one.node if one is not None and not one.path else None
    parts: list[ast.expr] = []
    between = ""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return Path(os.path.normpath(node.value), True)
    if isinstance(node, ast.JoinedStr):
        parts = [part.value if isinstance(part, ast.FormattedValue) else part for part in node.values]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Div)):
        parts, between = [node.left, node.right], "/" if isinstance(node.op, ast.Div) else ""
    elif isinstance(node, ast.Call) and not node.keywords:
        name = external_name(one.at(node.func, ())) or last_word(node.func)
        parts, between = (node.args, "/") if name in ("os.path.join", "pathlib.Path", "str") else ([], "")
    return (
        _joined([_path(one.at(part, ()), steps - 1) for part in parts], between) if one and parts else Path("", False)
    )


def _joined(parts: list[Path], between: str) -> Path:
    """All of them, or the end from the first on of which only the end is known."""
    end, is_whole = "", True
    for part in reversed(parts):
        end = part.end + (between if end else "") + end
        if not part.is_whole:
            return Path(end, False)
    return Path(os.path.normpath(end), is_whole)
