"""What a file says of torch by its names, wherever that stands: for code that no run comes to."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from torchlint.shapes.language.program import Program
from torchlint.shapes.language.walking import children, last_word, walk

_ASKING = (  # in a test: it may be for other versions, or with an extension
    "hasattr",
    "getattr",
    "version",
    "available",
    "torch_",
    "_torch",
    "skip",
    "suppress",
    "raises",
    "xfail",
    "expectedfail",
)
_ANSWERING = ("hasattr", "version", "available", "torch_", "_torch")  # in what a name stands for
_EVERYWHERE = "is_available"  # whether there is a card says nothing of what torch has
_PATCHING = frozenset(("setattr", "patch", "object"))  # `setattr(nn, …)`, `mock.patch.object(nn, …)`
_TELLING = ("is_", "has_", "supports_")  # what an imported function tells
_ENDING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_BLOCKS = ("body", "orelse", "finalbody")
_DEEPEST = 8  # names in a row: torch has none with more
_SMALL = 3  # statements of a function that only answers
_ROUNDS = 3  # names that stand for names that stand for answers
_OF_ANSWERS = (ast.Name, ast.Attribute, ast.BoolOp, ast.Compare, ast.UnaryOp, ast.IfExp)
_PLAIN = frozenset(  # which ask nothing
    (ast.Name, ast.Constant, ast.Attribute, ast.arg, ast.arguments, ast.Assign, ast.Expr, ast.keyword, ast.BinOp)
)
_GIVING = (ast.Assign, ast.AnnAssign, ast.ImportFrom, ast.FunctionDef)
_TOLD = (ast.arg, ast.AnnAssign, ast.FunctionDef, ast.AsyncFunctionDef)
_BINDING = frozenset(
    (
        ast.Import,
        ast.ImportFrom,
        ast.Name,
        ast.arg,
        ast.ExceptHandler,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.MatchAs,
        ast.MatchStar,
        ast.MatchMapping,
    )
)
_KINDS = (ast.Attribute, ast.Call, ast.Import, ast.ImportFrom)


class TorchInText:
    """The names by which a file calls things of torch, wherever they stand, and what it says without asking first
    whether that is there: that is looked for where something is wrong, as it is in few files.
    """

    def __init__(self, program: Program):
        found: dict[str, set[str]] = {}
        lines: dict[str, int] = {}
        hidden = 0  # what is named before this line may be another thing of that name
        self._tree, self._every = program.tree, program.nodes
        self.naming = [node for node in self._every if isinstance(node, _KINDS)]  # whatever is asked before them
        for node in (node for node in self._every if type(node) in _BINDING and not _is_read(node)):
            for name, meant in _bound(node):
                found.setdefault(name, set()).add(meant)
                lines[name] = getattr(node, "lineno", 0)
            if isinstance(node, ast.ImportFrom) and _brings_anything(node):
                hidden = max(hidden, node.lineno)
        things = ((name, _thing(next(iter(meant)))) for name, meant in found.items() if len(meant) == 1)
        self._names = {
            name: thing
            for name, thing in things
            if thing is not None and (lines[name] > hidden or isinstance(thing, types.ModuleType))
        }

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """What names things and is said without asking first."""
        if None in self.changed:
            return []
        return [node for node in _unguarded(self._tree, _answers(self._every)) if isinstance(node, _KINDS)]

    @cached_property
    def texts(self) -> set[Any]:
        """The constants of the file."""
        return {node.value for node in self._every if isinstance(node, ast.Constant)}

    def thing(self, node: ast.expr) -> Any:
        """The thing of torch that an expression is: a module, a class, a function; None for all else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute) and len(parts) < _DEEPEST:
            parts.append(node.attr)
            node = node.value
        found = self._names.get(node.id) if isinstance(node, ast.Name) else None
        for part in reversed(parts):
            found = _part_of(found, part)
        return found

    @cached_property
    def changed(self) -> set[str | None]:
        """The words of all that is set or patched: `nn.Linear.__init__ = init`, `setattr(nn, "Linear", Mine)`; None
        among them if nobody can tell which, or nothing of torch is named.
        """
        found: set[str | None] = set() if self._names else {None}
        for node in self._every if self._names else ():
            if isinstance(node, (ast.Attribute, ast.Name)) and not isinstance(node.ctx, ast.Load):
                found |= {last_word(node), last_word(getattr(node, "value", None))}
            elif isinstance(node, ast.Call) and last_word(node.func) in _PATCHING:
                given = [one.value for one in node.args[:2] if isinstance(one, ast.Constant)]
                texts = [text for text in given if isinstance(text, str)]
                found |= {last_word(one) for one in node.args[:1]}
                found |= {text.rpartition(".")[2] for text in texts}
                if not texts and node.args and isinstance(self.thing(node.args[0]), types.ModuleType):
                    found.add(None)
        return found


def _is_read(node: ast.AST) -> bool:
    return type(node) is ast.Name and type(node.ctx) is ast.Load


def _part_of(module: Any, name: str) -> Any:
    """What a module of torch has of its own under a name."""
    found = vars(module).get(name) if isinstance(module, types.ModuleType) else None
    if isinstance(found, types.BuiltinFunctionType):
        return found  # which does not say where it is from
    home = getattr(found, "__name__" if isinstance(found, types.ModuleType) else "__module__", None) or ""
    return found if home.split(".")[0] == "torch" else None


def _bound(node: ast.AST) -> Iterator[tuple[str, str]]:
    """The names that a node gives a meaning, each with the dotted name that is imported, if it is one."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.split(".")[0]
            yield alias.asname or first, alias.name if alias.asname else first
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, "" if node.level else f"{node.module}.{alias.name}"
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id, ""
    elif isinstance(node, ast.arg):
        yield node.arg, ""
    elif isinstance(node, ast.MatchMapping):
        yield node.rest or "", ""
    elif isinstance(
        node, (ast.ExceptHandler, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.MatchAs, ast.MatchStar)
    ):
        yield node.name or "", ""


def _thing(name: str) -> Any:
    """A module that importing torch has made, or what stands in one."""
    module, _, last = name.rpartition(".")
    if name.split(".")[0] != "torch":
        return None
    return sys.modules[name] if name in sys.modules else vars(sys.modules.get(module, ast)).get(last)


def _brings_anything(node: ast.ImportFrom) -> bool:
    """`from layers import *`, which may bring its own `Conv2d`."""
    return not _is_known(node) and any(alias.name == "*" for alias in node.names)


def _is_known(node: ast.ImportFrom) -> bool:
    """Is it from torch or the standard library?"""
    first = (node.module or "").split(".")[0]
    return not node.level and (first == "torch" or first in sys.stdlib_module_names)


def _answers(every: list[ast.AST]) -> frozenset[str]:
    """The names that stand for what is asked of torch: `HAS_SILU = hasattr(nn, "SiLU")`, `TORCH = torch.__version__`"""
    pairs = [pair for node in every if isinstance(node, _GIVING) for pair in _answered(node)]
    found = {name for name, words, _ in pairs if _says(words, _ANSWERING)}
    for _ in range(_ROUNDS):
        found |= {name for name, words, is_of_answers in pairs if is_of_answers and not found.isdisjoint(words)}
    return frozenset(found - {""})


def _answered(node: ast.AST) -> Iterator[tuple[str, set[str], bool]]:
    """Names that a node gives a value, with the words of that, and whether it may be made of answers alone."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        words = _words(node.value)
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for one in getattr(target, "elts", [target]):
                yield last_word(one), words, isinstance(node.value, _OF_ANSWERS)
    elif isinstance(node, ast.ImportFrom) and not _is_known(node):
        for alias in node.names:
            name = alias.asname or alias.name
            if name.isupper() or name.startswith(_TELLING):
                yield name, {"torch_"}, False  # another file may have asked
    elif isinstance(node, ast.FunctionDef) and len(node.body) <= _SMALL:
        returned = (one.value for one in node.body if isinstance(one, ast.Return) and one.value is not None)
        yield node.name, {word for value in returned for word in _words(value)}, True


def _unguarded(tree: ast.AST, names: frozenset[str]) -> Iterator[ast.AST]:
    """The nodes of a file, but for what is tried, or done with some versions only."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.Try) and node.handlers:
            stack += [*node.orelse, *node.finalbody]
        elif type(node) in _PLAIN or not any(_asks(condition, names) for condition in _conditions(node)):
            left_out = _later(node, names) if hasattr(node, "body") else set()
            if isinstance(node, _TOLD):  # of what kind things are nobody may evaluate
                left_out |= {getattr(node, "annotation", None), getattr(node, "returns", None)}
            below = children(node)
            stack += [child for child in below if child not in left_out] if left_out else below


def _later(node: ast.AST, names: frozenset[str]) -> set[ast.AST | None]:
    """What comes only where a question before it in its block was not answered by leaving the block."""
    found: set[ast.AST | None] = set()
    for field in _BLOCKS:
        block = getattr(node, field, None)
        if isinstance(block, list):
            ends = next((place for place, one in enumerate(block) if _leaves(one, names)), len(block))
            found.update(block[ends + 1 :])
    return found


def _leaves(node: ast.stmt, names: frozenset[str]) -> bool:
    """`if torch.__version__ < "2": return`, `assert hasattr(nn, "SiLU")`, `pytest.skip("too old")`"""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return "skip" in last_word(node.value.func).lower()
    if isinstance(node, ast.Assert):
        return _tells(node.test, names)
    if not isinstance(node, ast.If) or not _tells(node.test, names):
        return False
    return any(_ends(block[-1]) for block in (node.body, node.orelse) if block)


def _ends(node: ast.stmt) -> bool:
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    return isinstance(node, _ENDING) or is_call and "exit" in last_word(node.value.func)


def _conditions(node: ast.AST) -> list[ast.expr]:
    """What decides whether the rest of a node is done, or may fail."""
    if isinstance(node, (ast.If, ast.IfExp, ast.While, ast.Assert)):
        return [node.test]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.Match):
        return [node.subject]
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return [item.context_expr for item in node.items]
    if isinstance(node, ast.Call):
        return [node.func] if "raises" in last_word(node.func).lower() else []
    return list(getattr(node, "decorator_list", ()))


def _asks(condition: ast.expr, names: frozenset[str]) -> bool:
    words = _words(condition)
    return not names.isdisjoint(words) or _says(words, _ASKING)


def _tells(condition: ast.expr, names: frozenset[str]) -> bool:
    words = _words(condition)
    return not names.isdisjoint(words) or _says(words, _ANSWERING)


def _words(node: ast.AST) -> set[str]:
    return {last_word(one) for one in walk(node)}


def _says(words: set[str], asking: tuple[str, ...]) -> bool:
    """Is one of the words about what there is? A name that a file sets may be called as it likes."""
    said = (word.lower() for word in words if asking is _ASKING or word != _EVERYWHERE)
    return any(one in word for word in said for one in asking)
