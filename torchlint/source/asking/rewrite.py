"""Edits that keep formatting and comments: libcst changes the nodes, and what is written differently becomes edits."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import libcst as cst

from torchlint.edits import Edits, between
from torchlint.finding import Edit
from torchlint.source.asking.trees import StatementPosition, Tree, first_line, lines_of, newline_of, tree_of
from torchlint.source.flow.module import Module
from torchlint.source.text.index import block_of, has_stars, statement_of

Lines = list[cst.BaseStatement]
Change = Callable[[Lines], Sequence[cst.BaseStatement] | None]
New = cst.CSTNode | cst.FlattenSentinel | cst.RemovalSentinel
_NOTHING = cst.SimpleWhitespace("")
_TIGHT = cst.AssignEqual(whitespace_before=_NOTHING, whitespace_after=_NOTHING)


def node_of(module: Module, place: ast.AST) -> cst.CSTNode | None:
    """The libcst node of a place; None where libcst cannot read it."""
    if isinstance(place, ast.mod):
        return None
    tree = tree_of(module, place)
    try:
        return tree and tree.node(place)
    except RecursionError:
        return None


def rewritten(module: Module, place: ast.AST, new: New) -> Edits | None:
    """Put a node in the place of another one; in that of a statement also several (FlattenSentinel) or none."""
    if isinstance(place, ast.stmt):
        given = list(new) if isinstance(new, cst.FlattenSentinel) else [] if new is cst.RemoveFromParent() else [new]
        return replaced(module, place, place, lambda old: _as_lines(given, old[0]))
    old = node_of(module, place)
    if old is None or not isinstance(new, cst.CSTNode):
        return None
    own = 1 if isinstance(old, (cst.Tuple, cst.GeneratorExp)) else 0
    if isinstance(new, cst.BaseExpression) and isinstance(old, cst.BaseExpression):
        kept = len(old.lpar) - own  # those around it stay in the text
        if kept > 0:
            new = new.with_changes(lpar=new.lpar[kept:], rpar=new.rpar[: max(len(new.rpar) - kept, 0)])
        elif not new.lpar and _binds_less(new, old) and not _stands_free(place):
            new = new.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    try:
        code = tree_of(module, place).code(new, statement_of(place))
    except RecursionError:
        return None
    return (Edit(module.span(place), code),) if code != module.segment(place) else None


def _as_lines(given: list[cst.CSTNode], old: cst.BaseStatement) -> Lines | None:
    """Statements on lines of their own; a comment behind the old one stays behind the last, or above what is long."""
    lines = [n if isinstance(n, _LINES) else cst.SimpleStatementLine([n]) for n in given]  # type: ignore[list-item]
    if not lines:
        return None if _has_comment(old) else lines
    lines[0] = lines[0].with_changes(leading_lines=())
    if _has_comment(old) and not any(map(_has_comment, lines)):
        if isinstance(lines[-1], cst.SimpleStatementLine):
            lines[-1] = lines[-1].with_changes(trailing_whitespace=old.trailing_whitespace)
        elif not any(isinstance(n, cst.SimpleStatementLine) for n in lines):
            above = cst.EmptyLine(comment=old.trailing_whitespace.comment)
            lines[0] = lines[0].with_changes(leading_lines=[above])
    return lines


def _has_comment(line: cst.BaseStatement) -> bool:
    return isinstance(line, cst.SimpleStatementLine) and line.trailing_whitespace.comment is not None


def _binds_less(new: cst.BaseExpression, old: cst.BaseExpression) -> bool:
    """May an expression without parentheses fall apart where another one stood?"""
    same = type(new) is type(old) and type(getattr(new, "operator", None)) is type(getattr(old, "operator", None))
    return isinstance(new, _OPERATIONS) and not same


def _stands_free(place: ast.AST) -> bool:
    """Is the expression no operand?"""
    if isinstance(place.up, (ast.Call, ast.Subscript)):
        return place is not (place.up.func if isinstance(place.up, ast.Call) else place.up.value)
    return not isinstance(place.up, _TIGHT_AROUND)


_LINES = (cst.SimpleStatementLine, cst.BaseCompoundStatement)
_OPERATIONS = (
    cst.Await,
    cst.BinaryOperation,
    cst.BooleanOperation,
    cst.Comparison,
    cst.IfExp,
    cst.Lambda,
    cst.NamedExpr,
    cst.Tuple,
    cst.UnaryOperation,
    cst.Yield,
)
_TIGHT_AROUND = (ast.Attribute, ast.Await, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Starred, ast.UnaryOp)


# Calls


def with_keyword(module: Module, call: ast.Call, name: str, value: str) -> Edits | None:
    """Give a call a keyword argument, or another value for the one it has."""
    node = node_of(module, call)
    if node is None or has_stars(call) or any(isinstance(a, ast.GeneratorExp) for a in call.args):
        return None  # `f(x for x in y)` takes no second argument
    new = cst.parse_expression(value)
    for i, argument in enumerate(node.args):
        if argument.keyword and argument.keyword.value == name:
            changed = (*node.args[:i], argument.with_changes(value=new), *node.args[i + 1 :])
            return rewritten(module, call, node.with_changes(args=changed))
    added = cst.Arg(keyword=cst.Name(name), value=new, equal=_TIGHT)
    if not node.args:
        return rewritten(module, call, node.with_changes(args=(added,)))
    *others, last = node.args
    comma = others[-1].comma if others else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    space = comma.whitespace_after
    if isinstance(space, cst.ParenthesizedWhitespace):  # a comment there belongs to its own line
        line = cst.TrailingWhitespace(newline=space.first_line.newline)
        comma = comma.with_changes(whitespace_after=space.with_changes(first_line=line, empty_lines=()))
    # A trailing comma stays one.
    comma_after = last.comma if isinstance(last.comma, cst.Comma) else cst.MaybeSentinel.DEFAULT
    added = added.with_changes(comma=comma_after, whitespace_after_arg=last.whitespace_after_arg)
    last = last.with_changes(comma=comma, whitespace_after_arg=_NOTHING)
    return rewritten(module, call, node.with_changes(args=(*others, last, added)))


def without_argument(module: Module, call: ast.Call, argument: ast.AST) -> Edits | None:
    """Take one argument out of a call."""
    node = node_of(module, call)
    if node is None or has_stars(call):
        return None
    given = [*call.args, *call.keywords]
    place = sorted(given, key=lambda a: (a.lineno, a.col_offset)).index(argument)
    kept = [a for i, a in enumerate(node.args) if i != place]
    if kept and place == len(node.args) - 1:
        last = node.args[-1]
        kept[-1] = kept[-1].with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
    elif place and isinstance(kept[place - 1].comma.whitespace_after, cst.SimpleWhitespace):
        kept[place - 1] = kept[place - 1].with_changes(comma=node.args[place].comma)  # its line ends where it did
    return rewritten(module, call, node.with_changes(args=tuple(kept)))


def with_callee(module: Module, call: ast.Call, name: str) -> Edits | None:
    """Let a call call something else, with the same arguments."""
    node = node_of(module, call)
    return node and rewritten(module, call, node.with_changes(func=cst.parse_expression(name)))


# Statements


def insert_before(module: Module, node: ast.AST, text: str) -> Edits | None:
    """A statement before the one that holds a node."""
    statement = statement_of(node)
    return replaced(module, statement, statement, lambda old: [_parsed(module, text), *old])


def insert_after(module: Module, node: ast.AST, text: str) -> Edits | None:
    """A statement after the one that holds a node."""
    statement = statement_of(node)
    return replaced(module, statement, statement, lambda old: [*old, _parsed(module, text)])


def delete(module: Module, statement: ast.stmt) -> Edits | None:
    """Take a statement out; None if it is the only one of its block or a comment would go with it."""
    return replaced(module, statement, statement, lambda old: None if _has_comment(old[0]) else [])


def move(
    module: Module, statement: ast.stmt, before: ast.AST | None = None, after: ast.AST | None = None
) -> Edits | None:
    """A simple statement and the comment behind it, before or after another one of its block."""
    target = statement_of(before or after)
    if target is statement or block_of(target)[0] is not block_of(statement)[0]:
        return None
    first, last = sorted((statement, target), key=lambda s: s.pos)
    if first_line(last) <= first.end_lineno:  # they share a line, of which there can be one change only

        def reordered(old: Lines) -> Lines:
            moved = old.pop(0 if statement is first else -1)
            at = len(old) - 1 if statement is first else 0
            old.insert(at if before else at + 1, moved)
            return old

        return replaced(module, first, last, reordered, apart=True)
    moved: Lines = []

    def take(old: Lines) -> Lines | None:
        moved[:] = old
        return [] if isinstance(old[0], cst.SimpleStatementLine) else None

    gone = replaced(module, statement, statement, take)
    there = replaced(module, target, target, lambda old: [*moved, *old] if before else [*old, *moved])
    return gone + there if gone and there else None


def wrap(module: Module, first: ast.stmt, last: ast.stmt, header: str) -> Edits | None:
    """Put statements of one block under a header such as `with torch.no_grad():`."""

    def under(old: Lines) -> Lines:
        body = cst.IndentedBlock(old, indent=_step(module))
        return [_parsed(module, f"{header} pass").with_changes(body=body)]

    return replaced(module, first, last, under)


def add_import(module: Module, statement: str, after: ast.stmt | None = None) -> Edits | None:
    """An import after the last one at the top of the file, or of those that `after` stands among. Where something
    else shares their line, which may use it already, it comes before that line.
    """
    body = module.tree.body
    count = block_of(after)[1] if after else 0
    for node in body[count:]:
        if not isinstance(node, _IMPORTS) and not (node is body[0] and _is_docstring(node)):
            break
        count += 1
    if not count:
        return insert_before(module, body[0], statement)
    last = body[count - 1]
    begin, end = count - 1, count
    while begin and body[begin - 1].end_lineno >= body[begin].lineno:
        begin -= 1
    while end < len(body) and first_line(body[end]) <= last.end_lineno:
        end += 1
    new = _parsed(module, statement)
    if end == count:
        return replaced(module, body[begin], body[end - 1], lambda old: [*old, new])
    if any(not isinstance(node, _IMPORTS) or _is_of_the_future(node) for node in body[begin:count]):
        return None
    return replaced(module, body[begin], body[end - 1], lambda old: [new, *old])


_IMPORTS = (ast.Import, ast.ImportFrom)


def _is_of_the_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _parsed(module: Module, text: str) -> cst.BaseStatement:
    return cst.parse_statement(text, cst.PartialParserConfig(default_newline=newline_of(module)))


def replaced(module: Module, first: ast.stmt, last: ast.stmt, change: Change, apart: bool = False) -> Edits | None:
    """The edits for `change(lines)` in the place of statements of one block. Comments and empty lines above them stay.
    None if libcst cannot read them, or if nothing would be left. `apart`: each statement is given as a line of its own,
    else only where others share its line.
    """
    tree = tree_of(module, first, last)
    try:
        begin, end = tree and tree.standing(first), tree and tree.standing(last)
        if not begin or not end or begin.block is not end.block:
            return None
        lines = lines_of(begin.block)[begin.line : end.line + 1]
        starts_line = begin.number in (None, 0) and not isinstance(begin.block, cst.SimpleStatementSuite)
        ends_line = end.number is None or end.number == len(lines[-1].body) - 1
        if starts_line and ends_line and (not apart or begin.number == end.number):
            return _of_lines(tree, first, last, lines, change)
        return _in_line(tree, first, begin, end.number + 1, change) if len(lines) == 1 else None
    except RecursionError:
        return None


def _of_lines(tree: Tree, first: ast.stmt, last: ast.stmt, old: Lines, change: Change) -> Edits | None:
    old = [old[0].with_changes(leading_lines=()), *old[1:]]
    new = change(list(old))
    block, at = block_of(first)
    is_all = at == 0 and block[-1] is last and not isinstance(first.up, ast.mod)
    if new is None or not new and is_all:
        return None
    indentation = tree.indentation(first)
    before, after = (tree.code_of_lines(lines, indentation) for lines in (old, new))
    return _written(tree, first_line(first), 1, before, after)


def _in_line(tree: Tree, first: ast.stmt, begin: StatementPosition, stop: int, change: Change) -> Edits | None:
    """Some of the statements of `a; b; c`, or those of `if x: a; b`."""
    line = lines_of(begin.block)[begin.line]
    ended = [small.with_changes(semicolon=cst.MaybeSentinel.DEFAULT) for small in line.body]
    alone = [cst.SimpleStatementLine([small]) for small in ended]
    behind = line.trailing_whitespace
    if behind.comment and not behind.whitespace.value:  # the space before it belongs to a last semicolon
        behind = behind.with_changes(whitespace=cst.SimpleWhitespace("  "))
    alone[-1] = alone[-1].with_changes(trailing_whitespace=behind)
    new = change(alone[begin.number : stop])
    if new is None:
        return None
    lines = [*alone[: begin.number], *new, *alone[stop:]]
    if not lines or any(_has_comment(n) and n.trailing_whitespace is not behind for n in lines):
        return None
    block, at = block_of(first)
    span = tree.module.span(block[at - begin.number])
    indentation = tree.indentation(first)
    old = cst.SimpleStatementLine(line.body, trailing_whitespace=line.trailing_whitespace)
    before = tree.code_of_lines([old], indentation)[len(indentation) :]
    column = span.column
    if all(isinstance(n, cst.SimpleStatementLine) for n in lines):
        # The semicolons that stay between two statements, with their spaces, are those that were there.
        there = {id(new): old.semicolon for new, old in zip(ended, line.body[:-1])}
        *smalls, last = [small for n in lines for small in n.body]
        smalls = [s.with_changes(semicolon=there.get(id(s), s.semicolon)) for s in smalls]
        last = last.with_changes(semicolon=line.body[-1].semicolon)
        together = cst.SimpleStatementLine([*smalls, last], trailing_whitespace=line.trailing_whitespace)
        after = tree.code_of_lines([together], indentation)[len(indentation) :]
    elif isinstance(line, cst.SimpleStatementSuite):
        column -= len(line.leading_whitespace.value)
        before = line.leading_whitespace.value + before
        after = tree.root.default_newline + tree.code_of_lines(lines, indentation + _step(tree.module))
    else:
        after = tree.code_of_lines(lines, indentation)[len(indentation) :]
    return _written(tree, span.line, column, before, after)


def _step(module: Module) -> str:
    """By how much a block of this file is indented."""
    for node in module.index.nodes(*_WITH_BLOCKS):
        inner = node.body[0]
        line = module.index.lines[first_line(inner) - 1]
        outer = module.index.lines[node.lineno - 1]
        inner_space, outer_space = (text[: len(text) - len(text.lstrip(" \t"))] for text in (line, outer))
        if first_line(inner) > node.lineno and inner_space.startswith(outer_space) and inner_space != outer_space:
            return inner_space[len(outer_space) :]
    return "    "


def _written(tree: Tree, line: int, column: int, old: str, new: str) -> Edits | None:
    """The edits from the old code to the new one; None where the old one is not what stands there."""
    count = old.count("\n") + old.count("\r")  # or more: "\r\n" counts twice
    source = "".join(tree.module.index.lines[line - 1 : line + count])[column - 1 :]
    newline = tree.root.default_newline
    if not source.startswith(old):
        if source + newline != old:  # the last line of a file may have no end
            return None
        old, new = source, new.removesuffix(newline)
    return between(old, new, line, column) or None


_WITH_BLOCKS = (ast.FunctionDef, ast.ClassDef, ast.For, ast.If, ast.With, ast.While, ast.AsyncFunctionDef, ast.Try)
