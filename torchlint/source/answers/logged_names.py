"""The names that a Lightning program logs, and the one that is near what it monitors and nobody logs."""

from __future__ import annotations

import ast
import re
from difflib import get_close_matches

from torchlint.source.answers.directions import text_of
from torchlint.source.flow.classes import ClassInfo, class_info, heirs_of
from torchlint.source.flow.flow import objects
from torchlint.source.flow.identity import external_name, instance_class
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.usual_numbers import usual_origins
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.text.spelling import argument, receiver

_ALWAYS = re.compile(r"loss|epoch|step|global_step|hp_metric|checkpoint_on|early_stop_on|lr.*")
_SUFFIX = re.compile(r"_(?:step|epoch)$|/dataloader_idx_\d{1,4}$")
_OTHERWISE = (
    "callback_metrics",
    "logged_metrics",
    '"log":',
    "'log':",
)  # how else metrics are set, today and before 1.0
_LOGGERS = re.compile(r"logger|logging|writer|experiment|wandb|console|mlflow|(?:^|_)run$", re.IGNORECASE)
_PLAIN_BASES = frozenset(("torch.nn.Module", "abc.ABC", "builtins.object", "object"))
_MOST_NAMES = 100


def near_logged(module: Module, monitor: Value, classes: list[ClassInfo]) -> tuple[str, str] | None:
    """What is monitored, and the nearest name of those that are logged, if all of them are seen and it is none."""
    texts = {text_of(made) for made in usual_origins(monitor)}
    name = texts.pop() if len(texts) == 1 else None
    if not name or _ALWAYS.fullmatch(name):
        return None
    logged = _logged_by(module, classes)
    if not logged or _plain(name) in map(_plain, logged):
        return None
    near = get_close_matches(name, sorted(logged), 1)
    return (name, near[0]) if near and not _is_key(module, name) else None


@remembered
def _logged_by(module: Module, classes: list[ClassInfo]) -> frozenset[str]:
    """All names that some classes and a file log, if all of them are seen."""
    if not classes or not all(map(_is_seen, classes)):
        return frozenset()
    homes = {one.module for owner in classes for one in owner.mro} | {module}
    every = [names for names in map(_logged, homes) if names is not None and len(names) <= _MOST_NAMES]
    return frozenset().union(*every) if len(every) == len(homes) else frozenset()


@remembered
def trained_classes(module: Module) -> list[ClassInfo]:
    """The classes of the modules that trainers of a file are given, none if one is not seen."""
    found: dict[ClassInfo, None] = {}
    for call in module.index.calls_of("fit", inside=module.tree):
        model = argument(call, "model", 0)
        made = [instance_class(one) for one in objects(Value(module, model))] if model is not None else []
        if not made or None in made:
            return []
        found.update((owner, None) for owner in made if owner is not None)
    return list(found)


def own_class(module: Module, node: ast.ClassDef) -> list[ClassInfo]:
    """The class itself, if no other derives from it, which may log more."""
    info = class_info(module, node)
    return [] if heirs_of(info) else [info]


def _is_seen(info: ClassInfo) -> bool:
    bases = [base or "?" for base in info.foreign]
    return info.has_lightning_base and all(one in _PLAIN_BASES or one.endswith(".LightningModule") for one in bases)


def _is_key(module: Module, name: str) -> bool:
    """Is it a key of a table, which an old Lightning takes for a metric, or which is logged on the way?"""
    for home in (module, *module.others_that_mention(name)):
        if home is None or name in _keys(home):
            return True
    return False


@remembered
def _keys(module: Module) -> frozenset[str]:
    """The texts that are keys of tables in a file, where these are made or filled."""
    keys = [key for table in module.index.nodes(ast.Dict) for key in table.keys]
    keys += [one.slice for one in module.index.nodes(ast.Subscript) if not isinstance(one.ctx, ast.Load)]
    return frozenset(key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str))


def _plain(name: str) -> str:
    """Without what Lightning adds to a name."""
    return _SUFFIX.sub("", _SUFFIX.sub("", name))


@remembered
def _logged(module: Module) -> frozenset[str] | None:
    """The names that a file, and those around it, log; None if some are made in another way."""
    if any(map(module.index.says, _OTHERWISE)) or module.others_mention(_OTHERWISE):
        return None
    found: set[str] = set()
    for home in (module, *module.others_that_mention(".log")):
        names = _logged_in(home) if home is not None else None
        if names is None:
            return None
        found |= names
    return frozenset(found)


@remembered
def _logged_in(module: Module) -> frozenset[str] | None:
    found: set[str] = set()
    for call in module.index.calls_of("log", "log_dict", inside=module.tree):
        if _is_of_another(module, call):
            continue
        given = call.args[0] if call.args else None
        keys = given.keys if isinstance(given, ast.Dict) else [given]
        names = [key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
        if len(names) < len(keys):
            return None
        found.update(names)
    return frozenset(found)


def _is_of_another(module: Module, call: ast.Call) -> bool:
    """`math.log(x)`, `p.log()`, `logger.log(…)`"""
    by = receiver(call)
    if by is None or not call.args and not call.keywords:
        return True
    return external_name(Value(module, call.func)) is not None or _LOGGERS.search(last_word(by)) is not None
