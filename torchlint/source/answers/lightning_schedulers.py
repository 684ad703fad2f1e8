"""The schedulers that a Lightning module hands out, and how often Lightning steps them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.answers.horizons import Horizon, horizon_alone
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import origins
from torchlint.source.flow.values import Value
from torchlint.source.text.index import has_stars, last_word
from torchlint.source.training.dict_changes import changes_in
from torchlint.source.training.loops import BATCHES, EPOCHS

# Who says this steps the schedulers alone, or says later how often.
_BY_HAND = ("automatic_optimization", "lr_scheduler_step", '["interval"]', "['interval']", "lr_schedulers().step(")
_KEYS = ("lr_scheduler", "scheduler", "interval", "frequency")
_INTERVALS = {"step": BATCHES, "epoch": EPOCHS}


def stepped_otherwise(info: ClassInfo) -> Iterator[tuple[Horizon, ast.expr]]:
    """The schedulers of `configure_optimizers` whose horizon does not count what they are stepped by, each with the
    expression that says how often.
    """
    method = info.methods.get("configure_optimizers")
    if method is None or not info.has_lightning_base:
        return
    if any(map(info.module.index.says, _BY_HAND)) or info.method("lr_scheduler_step") is not None:
        return
    for returned in method.gives:
        for scheduler, unit, said in _handed_out(Value(info.module, returned)):
            counted = horizon_alone(scheduler)
            if counted is not None and counted.unit != unit and counted.module is info.module:
                yield counted, said


def _handed_out(returned: Value) -> Iterator[tuple[Value, str, ast.expr]]:
    """Each scheduler, what it is stepped by, and where that is said."""
    for made in origins(returned):
        node = made.node
        if made.path:
            continue
        if _is_table(node):
            configured = _entries(made).get("lr_scheduler")
            if configured is not None:
                yield from _configured(made.at(configured, ()))
        elif isinstance(node, ast.Tuple) and len(node.elts) == 2:
            for listed in origins(made.at(node.elts[1], ())):
                for element in listed.node.elts if isinstance(listed.node, (ast.List, ast.Tuple)) else ():
                    yield from _configured(listed.at(element, ()))


def _configured(value: Value) -> Iterator[tuple[Value, str, ast.expr]]:
    """`{"scheduler": …, "interval": "step"}`, or the scheduler itself, which is stepped once per epoch."""
    for made in origins(value):
        if _is_table(made.node) and not made.path:
            entries = _entries(made)
            interval, often = entries.get("interval"), entries.get("frequency")
            unit = _INTERVALS.get(getattr(interval, "value", "")) if interval is not None else EPOCHS
            is_each = often is None or isinstance(often, ast.Constant) and often.value == 1
            if "scheduler" in entries and unit is not None and is_each:
                yield made.at(entries["scheduler"], ()), unit, interval or made.node
        elif isinstance(made.node, ast.Call) and not made.path:
            yield made, EPOCHS, value.node


def _is_table(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Dict) or isinstance(node, ast.Call) and last_word(node.func) == "dict" and not node.args


def _entries(made: Value) -> dict[str, ast.expr]:
    """What is written under names that are plain; nothing where others are unpacked into the table, or one that
    matters may be put there later.
    """
    table = made.node
    kept = table.up.targets[0] if isinstance(table.up, ast.Assign) else None
    if kept is not None and any(map(changes_in(made.at(kept, ())).about, _KEYS)):
        return {}
    if isinstance(table, ast.Call):
        return {} if has_stars(table) else {k.arg: k.value for k in table.keywords}
    if any(not isinstance(key, ast.Constant) for key in table.keys):
        return {}
    return {key.value: value for key, value in zip(table.keys, table.values) if isinstance(key, ast.Constant)}
