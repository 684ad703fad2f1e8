"""Names that torch does not have, in code that no run came to: `nn.Paramter`, `from torch.nn import Functional`.

Only what is nearly one of its names is said, or what another part of torch or another library calls so: what an
extension of torch adds, or another version has, is called otherwise than all that is there.
"""

from __future__ import annotations

import ast
import inspect
import sys
import types
import warnings
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from importlib.util import find_spec, resolve_name

from torchlint.facts import fact
from torchlint.facts.deprecated import DEPRECATED
from torchlint.facts.of_others import OF_OTHERS
from torchlint.facts.removed import REMOVED
from torchlint.shapes.core.faults import Fault
from torchlint.shapes.language.program import Program
from torchlint.shapes.language.walking import blocks, last_word
from torchlint.shapes.search.torch_in_text import TorchInText

_Naming = ast.Attribute | ast.alias | ast.ImportFrom
_NEAR = 0.75  # how much of two names is the same
_SHORT = 4  # letters that a name has at least, of which one may be wrong
_KNOWN = frozenset(row.name for row in (*REMOVED, *DEPRECATED))  # rules of their own speak of these
_MOST = 8  # said of one file
_BY_NAME = ("dir", "vars", "__dict__", "hasattr", "getattr", "setattr", "globals", "import_module", "eval", "exec")


def misspelt(program: Program, torch: TorchInText) -> Iterator[Fault]:
    """A fault for each name of torch that is nearly one it has."""
    if not any(True for node in torch.naming for _ in _missing(node, torch)):
        return
    found = [missing for node in torch.nodes for missing in _missing(node, torch) if missing[2] not in torch.changed]
    if any(name in torch.texts for _, _, name in found) and _asks_by_name(program.nodes):
        found = [missing for missing in found if missing[2] not in torch.texts]  # `if "Swish" in dir(nn)`
    for node, module, name in found[:_MOST]:
        near = _elsewhere(module, name) or _near(module, name)
        if near and f"{module.__name__}.{name}" not in _KNOWN and not _may_be_added(module, name):
            says = (
                f"cannot import name '{name}' from '{module.__name__}'"
                if not isinstance(node, ast.Attribute)
                else f"module '{module.__name__}' has no attribute '{name}'"
            )
            yield Fault("operation", program.path, program.span(node), says, f"did you mean `{near}`?")


def _asks_by_name(nodes: list[ast.AST]) -> bool:
    """Does a file look for things by their names, or set them so?"""
    return any(last_word(node) in _BY_NAME for node in nodes if isinstance(node, (ast.Name, ast.Attribute)))


def _missing(node: ast.AST, torch: TorchInText) -> Iterator[tuple[_Naming, types.ModuleType, str]]:
    """The names of a module of torch that a node says, and that are not there."""
    if isinstance(node, ast.Attribute):
        module = torch.thing(node.value)
        if isinstance(module, types.ModuleType) and not _has(module, node.attr):
            yield node, module, node.attr
    elif isinstance(node, ast.ImportFrom):
        module = _module("" if node.level else node.module or "")
        if module is None and not node.level:
            yield from _missing_parts(node, node.module or "")
        for alias in node.names if module is not None else ():
            if alias.name != "*" and not _has(module, alias.name):
                yield alias, module, alias.name
    elif isinstance(node, ast.Import):
        for alias in node.names:
            yield from _missing_parts(alias, alias.name)


def _missing_parts(node: _Naming, dotted: str) -> Iterator[tuple[_Naming, types.ModuleType, str]]:
    """`torch.nn.Functional`: the first part that is not there."""
    first, *parts = dotted.split(".")
    module = _module(first)
    for part in parts:
        if module is None:
            return
        if not _has(module, part):
            yield node, module, part
            return
        module = _module(f"{module.__name__}.{part}")


def _module(name: str) -> types.ModuleType | None:
    """A module that importing torch has made."""
    module = sys.modules.get(name) if name.split(".")[0] == "torch" else None
    return module if isinstance(module, types.ModuleType) else None


def _has(module: types.ModuleType, name: str) -> bool:
    """Has a module a name, or a part of that name that is not imported yet?"""
    if name.startswith("_") or name in vars(module):
        return True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return hasattr(module, name) or find_spec(f"{module.__name__}.{name}") is not None
        except (ImportError, ValueError):
            return False


@lru_cache(maxsize=64)
def _of_all_builds(module: types.ModuleType, depth: int = 2) -> frozenset[str]:
    """The names that a module of torch imports by its text, of which this build may lack some: `ProcessGroupNCCL`."""
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        return frozenset()
    found: set[str] = set()
    for node in blocks(tree):
        if isinstance(node, ast.ImportFrom):
            names = {alias.asname or alias.name for alias in node.names}
            part = _part(module, node) if "*" in names and depth else None
            found |= names if part is None else _of_all_builds(part, depth - 1)
    return frozenset(found)


def _part(module: types.ModuleType, node: ast.ImportFrom) -> types.ModuleType | None:
    """Where a module imports from."""
    try:
        return sys.modules.get(resolve_name("." * node.level + (node.module or ""), module.__package__))
    except ImportError:
        return None


def _may_be_added(module: types.ModuleType, name: str) -> bool:
    """Does a build or an extension of torch decide whether a module has a name?"""
    is_open = module.__name__ == "torch.backends" or any(part.startswith("_") for part in module.__name__.split("."))
    return is_open or name in _of_all_builds(module)


def _elsewhere(module: types.ModuleType, name: str) -> str:
    """What is called so in another part of torch, `F.interpolate` for `torch.interpolate`, or in another library."""
    said = f"{module.__name__}.{name}"
    is_only_larger = any(one.lower() == name.lower() for one in dir(module))  # `nn.tanh`
    if said in OF_OTHERS or is_only_larger or module.__name__ not in ("torch", "torch.nn", "torch.nn.functional"):
        return OF_OTHERS.get(said, "")
    return next((there for home in ("torch", "torch.nn.functional") if fact(there := f"{home}.{name}") is not None), "")


def _near(module: types.ModuleType, name: str) -> str:
    """The name that is meant, if there is one that is nearly the same and not a part of it."""
    there = [one for one in dir(module) if not one.startswith("_")]
    same = [one for one in there if one.lower() == name.lower()]
    near = same or len(name) >= _SHORT and get_close_matches(name, there, 1, _NEAR)
    if not near or abs(len(near[0]) - len(name)) > 2 and (near[0] in name or name in near[0]):
        return ""
    return near[0]
