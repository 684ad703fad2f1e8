"""The libcst nodes of places, from one tree for each statement at the top of a file in which something is rewritten."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import libcst as cst

from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.text.index import block_of, statement_of

Block = cst.Module | cst.IndentedBlock | cst.SimpleStatementSuite
_DEEPEST = 500  # operands of one `and`: libcst makes as many levels of them, on the stack of the process


class StatementPosition(NamedTuple):
    """Where a statement stands in the tree. `number` counts in its line; None for a statement of many lines."""

    block: Block
    line: int
    number: int | None


class Tree:
    """What libcst makes of one statement at the top of a file, or of those that share its lines."""

    def __init__(self, module: Module, root: cst.Module, statements: list[ast.stmt]):
        self.module = module
        self.root = root
        self._holders: dict[ast.AST, cst.CSTNode | None] = {}
        self._standing: dict[ast.stmt, StatementPosition] = {}
        self._pairs: dict[tuple[ast.stmt, type], dict[ast.AST, cst.CSTNode]] = {}
        self._pair(root, statements)

    def node(self, place: ast.AST) -> cst.CSTNode | None:
        """The node of a statement or an expression; None where they cannot be told apart for certain."""
        if isinstance(place, ast.stmt):
            return self._holder(place)
        statement = statement_of(place)
        key = statement, type(place)
        if key not in self._pairs:
            self._pairs[key] = self._expressions(statement, type(place))
        found = self._pairs[key].get(place)
        return found if found is not None and self._says_the_same(found, place) else None

    def standing(self, statement: ast.stmt) -> StatementPosition | None:
        """Where it stands; None for an `elif`, which is no statement of a block."""
        self._holder(statement)
        return self._standing.get(statement)

    def _holder(self, place: ast.AST) -> cst.CSTNode | None:
        """The node of a statement, a handler or a case."""
        path = []
        node: ast.AST | None = place
        while node is not None and node not in self._holders:
            path.append(node)
            node = node.up
        while path and node is not None:
            self._descend(node, block_of(path[-1])[0])
            node = path.pop()
            if node not in self._holders:
                return None
        return self._holders.get(place)

    def _descend(self, parent: ast.AST, statements: list[ast.stmt]) -> None:
        """Pairs the statements of one block of a statement with its nodes."""
        holder = self._holders[parent]
        field = next(name for name in parent._fields if getattr(parent, name) is statements)
        part = getattr(holder, field, None)
        if field in ("handlers", "cases"):
            if len(part) == len(statements):
                self._holders.update(zip(statements, part))
        elif field == "orelse" and isinstance(part, cst.If):
            self._holders[statements[0]] = part
        elif part is not None:
            self._pair(part if field == "body" else part.body, statements)

    def _pair(self, block: Block, statements: list[ast.stmt]) -> None:
        found = [
            (StatementPosition(block, number, None if small is line else i), small)
            for number, line in enumerate(lines_of(block))
            for i, small in enumerate(line.body if isinstance(line, SIMPLE) else (line,))
        ]
        if len(found) == len(statements):
            for statement, (standing, node) in zip(statements, found):
                self._holders[statement], self._standing[statement] = node, standing

    def _expressions(self, statement: ast.stmt, kind: type) -> dict[ast.AST, cst.CSTNode]:
        """The nodes of one kind in a statement, but not in those inside it: they pair up in source order."""
        holder = self._holder(statement)
        if holder is None or kind not in _KINDS:
            return {}
        inside = self.module.index.inside(statement, kind)
        mine = (n for n in inside if statement_of(n) is statement and not isinstance(n.up, ast.JoinedStr))
        places = sorted(mine, key=_place)
        nodes = [n for n in _expressions_in(holder) if isinstance(n, _KINDS[kind]) and _is_meant(n, kind)]
        return dict(zip(places, nodes)) if len(places) == len(nodes) else {}

    def _says_the_same(self, node: cst.CSTNode, place: ast.AST) -> bool:
        own = 1 if isinstance(node, (cst.Tuple, cst.GeneratorExp)) else 0  # their parentheses belong to them
        if isinstance(node, cst.BaseExpression):
            node = node.with_changes(lpar=node.lpar[len(node.lpar) - own :], rpar=node.rpar[:own])
        return self.code(node, statement_of(place)) == self.module.segment(place)

    # As text

    def code(self, node: cst.CSTNode, statement: ast.stmt) -> str:
        """The source of an expression that stands in a statement: its further lines are indented as there."""
        if not isinstance(node, cst.BaseExpression):
            return self.root.code_for_node(node)
        line = cst.SimpleStatementLine([cst.Expr(node)])
        return self.code_of_lines([line], self.indentation(statement)).strip()

    def code_of_lines(self, lines: list[cst.BaseStatement], indentation: str) -> str:
        """The source of whole statements, each on lines of its own."""
        if not indentation or not lines:
            return "".join(map(self.root.code_for_node, lines))
        block = cst.IndentedBlock(lines, header=cst.TrailingWhitespace(), indent=indentation)
        return self.root.code_for_node(block).removeprefix(self.root.default_newline)

    def indentation(self, statement: ast.stmt) -> str:
        """What begins the line of the block in which a statement stands."""
        standing = self.standing(statement)
        while standing is None or isinstance(standing.block, cst.SimpleStatementSuite):
            statement = statement.up if isinstance(statement.up, ast.stmt) else statement_of(statement.up)
            standing = self.standing(statement)
        first = block_of(statement)[0][0]
        line = self.module.index.lines[first.lineno - 1]
        return "" if isinstance(standing.block, cst.Module) else line[: len(line) - len(line.lstrip())]


def tree_of(module: Module, first: ast.AST, last: ast.AST | None = None) -> Tree | None:
    """The tree in which places of a file stand; None where libcst cannot read it, and for places of another file."""
    begin, end = _top(first), _top(last or first)
    if begin.up is not module.tree or end.up is not module.tree:
        return None
    return _read(module, *_sharing_lines(begin, end))


def _top(place: ast.AST) -> ast.stmt:
    """The statement at the top of a file in which a place stands."""
    top = statement_of(place)
    while not isinstance(top.up, ast.mod):
        top = statement_of(top.up)
    return top


def _sharing_lines(begin: ast.stmt, end: ast.stmt) -> tuple[ast.stmt, ast.stmt]:
    """The first and the last of the statements that share lines with these."""
    block, first = block_of(begin)
    last = block_of(end)[1]
    while first and block[first - 1].end_lineno == first_line(block[first]):
        first -= 1
    while last + 1 < len(block) and first_line(block[last + 1]) == block[last].end_lineno:
        last += 1
    return block[first], block[last]


@remembered
def _read(module: Module, first: ast.stmt, last: ast.stmt) -> Tree | None:
    (block, begin), (_, end) = block_of(first), block_of(last)
    statements = block[begin : end + 1]
    if any(len(node.values) > _DEEPEST for top in statements for node in module.index.inside(top, ast.BoolOp)):
        return None
    # Comments up to the next statement may still belong to the last block.
    stop = first_line(block[end + 1]) - 1 if end + 1 < len(block) else len(module.index.lines)
    lines = module.index.lines[first_line(first) - 1 : stop]
    newline = newline_of(module)
    text = "".join(lines)
    module.world.rewritten_lines += len(lines)
    try:
        root = cst.parse_module(
            text if text.endswith(("\n", "\r")) else text + newline, cst.PartialParserConfig(default_newline=newline)
        )
    except (cst.ParserSyntaxError, RecursionError, ValueError):
        return None
    return Tree(module, root, statements)


def newline_of(module: Module) -> str:
    """How the lines of a file end, as the first one tells."""
    first = module.index.lines[0] if module.index.lines else ""
    return first[len(first.rstrip("\r\n")) :] or "\n"


def first_line(statement: ast.stmt) -> int:
    """The line in which a statement begins, with its decorators."""
    return min((d.lineno for d in getattr(statement, "decorator_list", ())), default=statement.lineno)


SIMPLE = (cst.SimpleStatementLine, cst.SimpleStatementSuite)


def lines_of(block: Block) -> list:
    """The lines of a block; `if a: b; c` has a block of one line."""
    return [block] if isinstance(block, cst.SimpleStatementSuite) else list(block.body)


def _place(node: ast.AST) -> tuple[int, ...]:
    return node.lineno, node.col_offset, -node.end_lineno, -node.end_col_offset


def _is_meant(node: cst.CSTNode, kind: type) -> bool:
    """Has `ast` a node of that kind for it, too?"""
    if isinstance(node, cst.Arg):
        return node.keyword is not None or node.star == "**"
    return not isinstance(node, cst.Name) or (node.value in ("True", "False", "None")) == (kind is ast.Constant)


def _expressions_in(holder: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes of a statement in source order, without those of the statements in it and without names that are no
    expressions.
    """
    stack = [holder]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (cst.ConcatenatedString, cst.SimpleString)):
            continue
        inner = []
        for field in _fields(type(node)):
            value = getattr(node, field)
            for child in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(child, cst.CSTNode) and not isinstance(child, _NOT_LOOKED_INTO):
                    inner.append(child)
        stack += reversed(inner)


@cache
def _fields(kind: type) -> tuple[str, ...]:
    """The fields of a node that hold expressions, as they stand in the source."""
    names = [f.name for f in dataclasses.fields(kind) if (kind.__name__, f.name) not in _LEFT_OUT]
    first = _FIRST.get(kind.__name__, ())
    return *first, *(name for name in names if name not in first)


_NOT_LOOKED_INTO = (cst.BaseSuite, cst.BaseCompoundStatement, cst.BaseParenthesizableWhitespace, cst.MaybeSentinel)
_FIRST = {
    "IfExp": ("body", "test"),
    "FunctionDef": ("decorators",),
    "ClassDef": ("decorators", "bases", "keywords"),
    "Parameters": ("posonly_params",),
}
_LEFT_OUT = {
    ("Attribute", "attr"),
    ("Arg", "keyword"),
    ("Param", "name"),
    ("FunctionDef", "name"),
    ("ClassDef", "name"),
    ("ImportAlias", "name"),
    ("ImportAlias", "asname"),
    ("ImportFrom", "module"),
    ("NameItem", "name"),
    ("ExceptHandler", "name"),
    ("ExceptStarHandler", "name"),
    ("MatchKeywordElement", "key"),
    ("MatchAs", "name"),
    ("MatchStar", "name"),
    ("MatchMapping", "rest"),
    ("TypeVar", "name"),
    ("NamedExpr", "walrus"),
}
_KINDS: dict[type, tuple[type, ...]] = {
    ast.Attribute: (cst.Attribute,),
    ast.Await: (cst.Await,),
    ast.BinOp: (cst.BinaryOperation,),
    ast.Call: (cst.Call,),
    ast.Compare: (cst.Comparison,),
    ast.Constant: (cst.BaseNumber, cst.ConcatenatedString, cst.Ellipsis, cst.Name, cst.SimpleString),
    ast.Dict: (cst.Dict,),
    ast.DictComp: (cst.DictComp,),
    ast.GeneratorExp: (cst.GeneratorExp,),
    ast.IfExp: (cst.IfExp,),
    ast.JoinedStr: (cst.FormattedString,),
    ast.Lambda: (cst.Lambda,),
    ast.List: (cst.List,),
    ast.ListComp: (cst.ListComp,),
    ast.Name: (cst.Name,),
    ast.NamedExpr: (cst.NamedExpr,),
    ast.Set: (cst.Set,),
    ast.SetComp: (cst.SetComp,),
    ast.Subscript: (cst.Subscript,),
    ast.Tuple: (cst.Tuple,),
    ast.UnaryOp: (cst.UnaryOperation,),
    ast.arg: (cst.Param,),
    ast.keyword: (cst.Arg,),
}
