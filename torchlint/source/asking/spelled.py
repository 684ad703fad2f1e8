"""The names that a fix writes: each must mean what the fix means by it, where it is written."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from torchlint.edits import Edits
from torchlint.finding import Edit, Span
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import Scope, block_of, is_in

if TYPE_CHECKING:
    from torchlint.source.asking.views import Place

PYTHONS_OWN = ("builtins.", "(str")  # what needs no import
_STRINGS = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_FREE_NAMES = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?!\w|\s*=[^=])")
_BUILTINS = frozenset(dir(builtins))
_OF_A_FUNCTION = ("decorator_list", "bases", "keywords", "returns")  # these are evaluated outside it


class Wanted(NamedTuple):
    """An import that a fix needs."""

    statement: str
    name: str  # what it binds
    meaning: str

    @classmethod
    def of(cls, statement: str) -> Wanted:
        node = ast.parse(statement).body[0]
        alias = node.names[0]
        if isinstance(node, ast.ImportFrom):
            return cls(statement, alias.asname or alias.name, f"{node.module}.{alias.name}")
        if alias.asname:
            return cls(statement, alias.asname, alias.name)
        root = alias.name.split(".")[0]
        return cls(statement, root, root)

    @property
    def root(self) -> str:
        return self.meaning.split(".")[0]


def spelled(place: Place, name: str, old: ast.expr | None = None, usual: str = "") -> tuple[str, tuple[str, ...]]:
    """A dotted name as this file would write it at a place, and what has to be imported for that. `old` is what is
    written there now; `usual` is the import that most files have for it.
    """
    if name.startswith(PYTHONS_OWN):
        return name.removeprefix("builtins."), ()
    own = _by_what_stands_there(place, name, old)
    if own and not usual:
        return own, ()
    bound = _by_an_import(place, name)
    if bound and (not own or len(bound) < len(own)):
        return bound, ()
    if usual:
        wanted = Wanted.of(usual)
        if not own or imported(place.module, wanted, [place.node]) is not None:
            return wanted.name + name.removeprefix(wanted.meaning), (usual,)
    if own:
        return own, ()
    root = name.split(".")[0]
    return name, (f"import {root if root.startswith('torch') else name.rsplit('.', 1)[0]}",)


def _by_what_stands_there(place: Place, name: str, old: ast.expr | None) -> str | None:
    """`th.outer` where `th.ger` stands."""
    node = old.value if isinstance(old, ast.Attribute) else None
    while node is not None:
        prefix = external_name(Value(place.module, node))
        if prefix and name.startswith(f"{prefix}."):
            return place.source(node) + name[len(prefix) :]
        node = node.value if isinstance(node, ast.Attribute) else None
    return None


def _by_an_import(place: Place, name: str) -> str | None:
    """The shortest spelling by a name that an import has bound there."""
    known = [
        bound + name[len(meaning) :]
        for bound, meaning in _imported_names(place.module, name.split(".")[0])
        if name.startswith(f"{meaning}.") and is_bound(place.module, bound, meaning, place.node)
    ]
    return min(known, key=len) if known else None


@remembered
def _imported_names(module: Module, root: str) -> tuple[tuple[str, str], ...]:
    """The names that imports bind to what is in a package, with what they mean: each once, however often."""
    found: dict[tuple[str, str], None] = {}
    for alias in _aliases(module, root):
        meaning = external_name(Value(module, alias)) if alias.asname or "." not in alias.name else None
        if meaning:
            found[alias.asname or alias.name, meaning] = None
    return tuple(found)


# What a name means at a place


def is_bound(module: Module, name: str, meaning: str, node: ast.AST) -> bool:
    """Have imports, and nothing else, given a name this meaning when a place is reached?"""
    scope = _scope_of(node).lookup(name)
    return _binds_only(module, scope, name, meaning) and any(
        _has_run(module, alias, node) for alias in scope.bindings[name]
    )


def _binds_only(module: Module, scope: Scope | None, name: str, meaning: str) -> bool:
    return scope is not None and all(_means(module, bound, meaning) for bound in scope.bindings[name])


def _means(module: Module, bound: ast.AST, meaning: str) -> bool:
    """Does an import bind a name to a library's module or function? `import torch.nn` binds `torch`."""
    if not isinstance(bound, ast.alias):
        return False
    if isinstance(bound.up, ast.Import) and not bound.asname:
        return bound.name.split(".")[0] == meaning
    return external_name(Value(module, bound)) == meaning


def _has_run(module: Module, alias: ast.alias, node: ast.AST) -> bool:
    """Stands an import before a place, in a block around it? Else it may have run as torch's own has, beside it."""
    if _stands_before(alias.up, node):
        return True
    others = {other.up for other in _aliases(module, external_name(Value(module, alias)).split(".")[0])}
    block = block_of(alias.up)[0]
    return not any(_stands_before(other, node) for other in others) and any(
        is_in(other, block) for other in others if other is not alias.up
    )


def _stands_before(statement: ast.stmt, node: ast.AST | None) -> bool:
    block, at = block_of(statement)
    if isinstance(node, ast.mod):
        return is_in(statement, node.body)
    while node is not None and not is_in(node, block):
        node = node.up
    return node is not None and at <= block_of(node)[1]


def _runs_before(node: ast.AST, statement: ast.stmt) -> bool:
    """Does what the file itself runs come before one of its statements? What a function does may come later."""
    is_of_file = not isinstance(node, ast.mod) and _scope_of(node).parent is None
    return is_of_file and not _stands_before(statement, node)


def _aliases(module: Module, root: str) -> Iterator[ast.alias]:
    """What is imported from a package, or from one that builds on it: torchvision needs torch."""
    statements = sorted(module.index.nodes(ast.Import, ast.ImportFrom), key=lambda statement: statement.pos)
    for statement in statements:
        for alias in statement.names:
            if _root(statement, alias).startswith(root) and alias.name != "*":
                yield alias


def _root(statement: ast.stmt, alias: ast.alias) -> str:
    """The package an import reads, nothing if it is a part of the project."""
    if isinstance(statement, ast.Import):
        return alias.name.split(".")[0]
    return "" if statement.level else statement.module.split(".")[0]


# Imports


def imported(module: Module, wanted: Wanted, nodes: Sequence[ast.AST]) -> Edits | None:
    """The edits that give a name its meaning at these places; None where it means something else, or where the import
    would be one of a package that the file can do without.
    """
    if all(is_bound(module, wanted.name, wanted.meaning, node) for node in nodes):
        return ()
    for node in nodes:
        scope = _scope_of(node).lookup(wanted.name)
        if scope is None:
            if module.index.stars and next(iter(module.index.names(wanted.name)), None):
                return None  # a star may have brought it
        elif scope.parent or not _binds_only(module, scope, wanted.name, wanted.meaning):
            return None
    own = [alias.up for alias in _aliases(module, wanted.root)]
    after = next((statement for statement in own if is_in(statement, module.tree.body)), None)
    if wanted.root not in sys.stdlib_module_names and own:
        if after is None or any(_runs_before(node, after) for node in nodes):
            return None
    else:
        after = None
    from torchlint.source.asking.rewrite import add_import

    return add_import(module, wanted.statement, after)


def names_at(module: Module, edits: Sequence[Edit], name: str) -> list[ast.AST]:
    """Where edits write a name."""
    return [node_at(module, edit.span) for edit in edits if re.search(rf"(?<![\w.]){name}(?!\w)", edit.text)]


def hides_a_builtin(module: Module, edits: Sequence[Edit]) -> bool:
    """Does one of these edits write `str` where the file gives that name to something else?"""
    for edit in edits:
        line = module.index.lines[edit.span.line - 1] if edit.span.line <= len(module.index.lines) else ""
        before = line[: edit.span.column - 1][-1:]
        written = _FREE_NAMES.findall(_STRINGS.sub("''", f"{before}{edit.text}"))
        new = _BUILTINS.intersection(written).difference(_FREE_NAMES.findall(module.text_of(edit.span)))
        if new and any(_scope_of(node_at(module, edit.span)).lookup(name) for name in new):
            return True
    return False


# Places


def node_at(module: Module, span: Span) -> ast.AST:
    """The innermost node that holds the start of a span."""
    node: ast.AST = module.tree
    while (inner := next(_holding(module, node, span), None)) is not None:
        node = inner
    return node


def _holding(module: Module, node: ast.AST, span: Span) -> Iterator[ast.AST]:
    for child in _children(node, span.line):
        if not hasattr(child, "lineno"):
            yield from _holding(module, child, span)
        elif child.lineno <= span.line <= child.end_lineno:
            there = module.span(child)
            start = span.line, span.column
            if (there.line, there.column) <= start < (there.end_line, there.end_column):
                yield child


def _children(node: ast.AST, line: int) -> Iterator[ast.AST]:
    """What a node holds; of the statements of a long block those on a line."""
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            last = bisect_right(value, line, key=lambda statement: statement.lineno)
            first = bisect_left(value, line, key=lambda statement: statement.end_lineno)
            yield from value[first:last]
        elif isinstance(value, list):
            yield from (part for part in value if isinstance(part, ast.AST))
        elif isinstance(value, ast.AST):
            yield value


def _scope_of(node: ast.AST) -> Scope:
    """The scope in which a name that is written at a node is looked up."""
    child = node
    while not hasattr(node, "scope") or child is not node and _is_outside(node, child):
        child, node = (node, node.up) if not isinstance(node.up, ast.arguments) else _of_arguments(node)
    return node.scope


def _of_arguments(node: ast.AST) -> tuple[ast.AST, ast.AST]:
    """A default is evaluated outside its function, other arguments stand in it."""
    arguments = node.up
    is_default = any(node is given for given in (*arguments.defaults, *arguments.kw_defaults))
    return (arguments.up, arguments.up.up) if is_default else (arguments, arguments.up)


def _is_outside(node: ast.AST, child: ast.AST) -> bool:
    held = (getattr(node, field, None) for field in _OF_A_FUNCTION)
    return any(child is part or isinstance(part, list) and child in part for part in held)
