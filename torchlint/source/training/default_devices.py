"""Whether a program leaves the CPU at all, and where it makes its tensors by default."""

from __future__ import annotations

import ast
import re
from pathlib import PurePath

from torchlint.project import imported_as
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.text.index import within
from torchlint.source.training.sample_transforms import is_of_transforms
from torchlint.source.training.using_files import MAX_USING, defined, using

_ELSEWHERE = r"cuda|device|accelerat|lightning|\bmps\b|\bxpu\b"
_NAMES = re.compile(_ELSEWHERE, re.IGNORECASE)
_LEAVES = re.compile(rf"{_ELSEWHERE}|\.to\(", re.IGNORECASE)
_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)


def is_default_moved(module: Module) -> bool:
    """Does the file itself say where new tensors go?"""
    said = (
        "set_default_device",
        "set_default_tensor_type",
        "with torch.device",
        "with device:",
        "init_empty_weights",
        "with self.device",
    )
    return any(map(module.index.says, said))


@remembered
def is_default_moved_elsewhere(module: Module) -> bool:
    """Does another file of the project say it for all? For a script that nobody uses only what it imports can."""
    view, words = module.world.view, ("set_default_tensor_type", "set_default_device")
    if _is_a_program(module):
        return any(view.project.is_in_one(word, module.behind.paths) for word in words)
    return any(map(view.mentions, words))


@remembered
def uses_a_device(module: Module) -> bool:
    """Does the program ever leave the CPU? A file of classes only may be used by one that does."""
    says = module.index.says
    words = [word for word in ("cuda", "accelerator", "Accelerator", "lightning", "Lightning") if says(word)]
    code = _COMMENT.sub("", module.index.text) if words else ""
    if any(word in code for word in words):
        return True
    if (says("mps") or says("xpu")) and re.search(r"\b(?:mps|xpu)\b", module.index.text):
        return True
    if says("device") and not says('"cpu"') and not says("'cpu'"):
        return True
    return not any(_runs_something(s) for s in module.tree.body)


@remembered
def is_used_on_the_cpu(module: Module) -> bool:
    """Is it a file of definitions, and are all programs that use it, through others too, seen to stay on the CPU?"""
    if module.finds(_LEAVES):
        return False
    found = [one for one, _ in using(module)]
    if len(found) > MAX_USING or any(one.finds(_LEAVES) for one in found):
        return False
    return any(_runs_something(statement) for one in found for statement in one.tree.body)


@remembered
def is_seen_to_leave_the_cpu(module: Module) -> bool:
    """Does the file name a device, or one that certainly uses it? For what nothing of its project uses, one beside it
    may.
    """
    if _names_a_device(module.index.text):
        return True
    if module.path.endswith(".py") and not imported_as(module.path).isidentifier():
        return False  # no import can name it
    found = using(module)
    if len(found) > 1 or any(map(_runs_something, module.tree.body)):
        return any(is_certain and _names_a_device(one.index.text) for one, is_certain in found)
    folder, view = PurePath(module.path).parent, module.world.view
    beside = {path for word in ("cuda", "device") for path in view.mentions(word) if PurePath(path).parent == folder}
    return any(_names_a_device(view.read(path) or "") for path in beside)


def is_named_by_nobody(module: Module, owner: ast.ClassDef) -> bool:
    """Is it a class of a script, which neither the script nor another file names?"""
    named = (*module.index.names(owner.name), *module.index.attributes(owner.name))
    if not any(map(_runs_something, module.tree.body)) or not all(within(node, owner) for node in named):
        return False
    return not module.world.view.mentions(owner.name)


def _names_a_device(text: str) -> bool:
    """In its code, not in what a comment has switched off."""
    return bool(_NAMES.search(text) and _NAMES.search(_COMMENT.sub("", text)))


def nothing_is_elsewhere(module: Module, owner: ast.ClassDef | None) -> bool:
    """Is what a file makes on the default device (in a method of a class) where all else is, for all that its project
    says?
    """
    return (
        is_default_moved_elsewhere(module)
        or is_used_on_the_cpu(module)
        or is_of_transforms(module, owner)
        or trains_on_the_cpu(module)
        or _trains_its_own(module, owner)
    )


def _trains_its_own(module: Module, owner: ast.ClassDef | None) -> bool:
    """Does the file that defines a class also make it and train, and says nothing of devices?"""
    is_alone = owner is not None and bool(module.index.callers(owner.name)) and not module.users(owner.name)
    return is_alone and module.index.says("backward(") and not module.finds(_LEAVES)


@remembered
def trains_on_the_cpu(module: Module) -> bool:
    """Is a project seen to train something, and does no file of it say how to leave the CPU?"""
    view = module.world.view
    users = view.mentions("torch")
    if module.finds(_LEAVES) or len(users) > MAX_USING:
        return False
    texts = [module.index.text, *(view.read(path) or "" for path in users)]
    return any("backward(" in text for text in texts) and not any(map(_LEAVES.search, texts))


def _is_a_program(module: Module) -> bool:
    """Does a file run something, and is nothing of it used by others?"""
    if not any(map(_runs_something, module.tree.body)):
        return False
    return not any(module.world.view.users(module.path, name) for name in defined(module))


def _runs_something(statement: ast.stmt) -> bool:
    """A statement of a script: more than definitions, imports, constants and a docstring."""
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Constant)
    return isinstance(statement, (ast.For, ast.While, ast.With, ast.If))
