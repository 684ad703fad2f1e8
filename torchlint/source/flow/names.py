"""What a name or a dotted expression is called outside this file, through imports and aliases."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from torchlint.facts import named, words
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.spelling import dotted, root_of

_PRIVATE_HOMES = (
    (re.compile(r"^torch\.nn\.modules\.\w+\."), "torch.nn."),
    (re.compile(r"^torch\.nn\.modules\.(?=[A-Z])"), "torch.nn."),
    (re.compile(r"^torch\.nn\.parameter\.Parameter$"), "torch.nn.Parameter"),
    (re.compile(r"^torch\.optim\.(?!lr_scheduler\b|swa_utils\b)[a-z_]\w*\.(?=[A-Z])"), "torch.optim."),
    (re.compile(r"^torch\.utils\.data\.\w+\.(?=[A-Z])"), "torch.utils.data."),
    (
        re.compile(r"^torch\.autograd\.(?:grad_mode\.)?(no_grad|inference_mode|set_grad_enabled|enable_grad)$"),
        r"torch.\1",
    ),
    (re.compile(r"^torch\.autograd\.grad_mode\."), "torch."),
    (re.compile(r"^torch\.cuda\.amp\.grad_scaler\."), "torch.cuda.amp."),
    (re.compile(r"^lightning(?:\.pytorch|\.fabric)?\."), "lightning."),
    (re.compile(r"^pytorch_lightning\."), "lightning."),
)


@lru_cache(20_000)
def canonical(name: str) -> str:
    """One spelling for things that can be imported from several places."""
    if name.startswith(("torch.", "lightning", "pytorch_lightning")):
        for pattern, home in _PRIVATE_HOMES:
            name, hits = pattern.subn(home, name)
            if hits:
                break
        if name.startswith("lightning."):
            name = "lightning." + name.rsplit(".", 1)[1] if name.rsplit(".", 1)[1][:1].isupper() else name
    return name


def imported_name(alias: ast.alias) -> tuple[str, int]:
    """The dotted name that an import binds, and the number of leading dots."""
    statement = alias.up
    if isinstance(statement, ast.ImportFrom):
        return f"{statement.module}.{alias.name}" if statement.module else alias.name, statement.level
    return (alias.name if alias.asname else alias.name.split(".")[0]), 0


def star_name(module: Module, name: str) -> str | None:
    """What `name` means if only a `from x import *` can have brought it."""
    for statement in module.index.stars:
        source = statement.module or ""
        if statement.level == 0 and source.split(".")[0] in ("torch", "numpy"):
            if name in _STARRED.get(source, ()):
                return f"{source}.{name}"
    return None


@remembered(meanwhile=())
def brought_by_stars(module: Module, name: str) -> tuple[Module, ...]:
    """The files of the project from which `from x import *` may have brought a name that this one does not bind, each
    looked at once, whichever way leads to it.
    """
    found: dict[str, Module] = {}
    seen, todo = {module.path}, [module]
    for here in todo:  # which grows
        for star in here.index.stars:
            home = here.imported(star.module or "", star.level)
            if home is not None and home.path not in seen:
                seen.add(home.path)
                if name in home.tree.scope.bindings:
                    found[home.path] = home
                else:
                    todo.append(home)
    return tuple(found.values())


# What the stars of torch bring in that the rules ask for; the packages themselves are not imported.
_STARRED = {
    "torch": words(named(home="torch"))
    | frozenset("nn optim autograd cuda no_grad inference_mode set_grad_enabled device float32 float64 long".split()),
    "torch.nn": words(named(home="nn")) | {"functional", "init"},
    "torch.optim": frozenset("Adam AdamW SGD RMSprop Adagrad LBFGS Optimizer lr_scheduler".split()),
    "torch.nn.functional": words(named(home="F")),
    "torch.utils.data": frozenset("Dataset DataLoader TensorDataset random_split Subset".split()),
}


def named_file(value: Value) -> Module | None:
    """The project file that an expression names (`import model` … `model.Net`)."""
    node = value.node
    if isinstance(node, ast.Name):
        scope = node.at.lookup(node.id)
        bindings = scope.bindings[node.id] if scope else []
        if len(bindings) == 1 and isinstance(bindings[0], ast.alias):
            alias = bindings[0]
            name, level = imported_name(alias)
            if isinstance(alias.up, ast.ImportFrom):
                return value.module.imported(name, level)
            return value.module.imported(name)
    elif isinstance(node, ast.Attribute):
        root = root_of(node)
        scope = root.at.lookup(root.id) if root else None
        if scope and len(scope.bindings[root.id]) == 1 and isinstance(scope.bindings[root.id][0], ast.alias):
            name = dotted(node)
            alias = scope.bindings[root.id][0]
            if name and isinstance(alias.up, ast.Import) and not alias.asname:
                return value.module.imported(name)
    return None
