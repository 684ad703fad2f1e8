"""Text edits that keep formatting and comments: expressions are changed as libcst nodes, statements as whole lines."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from torchlint.finding import Edit, Span
from torchlint.source.flow.module import Module
from torchlint.source.text.index import block_of, statement_of
from torchlint.source.text.spelling import has_stars

if TYPE_CHECKING:
    import libcst


def rewrite(
    module: Module, node: ast.expr, change: Callable[[libcst.BaseExpression], libcst.BaseExpression]
) -> Edit | None:
    """The edit that puts `change(node)` in the place of an expression; None where libcst cannot read it."""
    import libcst

    span = module.span(node)
    text = module.text_of(span)
    module.world.rewritten_lines += span.end_line - span.line + 1
    newline = "\r\n" if "\r\n" in text else "\n"
    try:
        # In parentheses an expression may go over several lines; a line of their own keeps a closing comment out.
        tree = libcst.parse_expression(f"({text}{newline})", config=libcst.PartialParserConfig(default_newline=newline))
    except (libcst.ParserSyntaxError, RecursionError):
        return None
    tree = tree.with_changes(lpar=tree.lpar[1:], rpar=tree.rpar[:-1])
    code = libcst.Module([], default_newline=newline).code_for_node(change(tree))
    return None if code == text else Edit(span, code)


def with_keyword(module: Module, call: ast.Call, name: str, value: str) -> Edit | None:
    """Give a call a keyword argument, or another value for the one it has."""
    import libcst

    if has_stars(call) or any(
        isinstance(a, ast.GeneratorExp) for a in call.args
    ):  # `f(x for x in y)` takes no second argument
        return None

    def change(node):
        new = libcst.parse_expression(value)
        for i, argument in enumerate(node.args):
            if argument.keyword and argument.keyword.value == name:
                return node.with_changes(args=(*node.args[:i], argument.with_changes(value=new), *node.args[i + 1 :]))
        added = libcst.Arg(keyword=libcst.Name(name), value=new, equal=_tight_equal())
        if not node.args:
            return node.with_changes(args=(added,))
        *others, last = node.args
        comma = others[-1].comma if others else libcst.Comma(whitespace_after=libcst.SimpleWhitespace(" "))
        space = comma.whitespace_after
        if isinstance(space, libcst.ParenthesizedWhitespace):  # a comment there belongs to its own line
            line = libcst.TrailingWhitespace(newline=space.first_line.newline)
            comma = comma.with_changes(whitespace_after=space.with_changes(first_line=line, empty_lines=()))
        if isinstance(last.comma, libcst.Comma):  # a trailing comma stays one
            added = added.with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
        else:
            added = added.with_changes(whitespace_after_arg=last.whitespace_after_arg)
        last = last.with_changes(comma=comma, whitespace_after_arg=libcst.SimpleWhitespace(""))
        return node.with_changes(args=(*others, last, added))

    return rewrite(module, call, change)


def without_argument(module: Module, call: ast.Call, argument: ast.AST) -> Edit | None:
    """Take one argument out of a call."""
    if has_stars(call):
        return None
    given = [*call.args, *call.keywords]
    place = sorted(given, key=lambda a: (a.lineno, a.col_offset)).index(argument)

    def change(node):
        kept = [a for i, a in enumerate(node.args) if i != place]
        if kept and place == len(node.args) - 1:
            kept[-1] = kept[-1].with_changes(
                comma=node.args[-1].comma, whitespace_after_arg=node.args[-1].whitespace_after_arg
            )
        return node.with_changes(args=tuple(kept))

    return rewrite(module, call, change)


def with_callee(module: Module, call: ast.Call, name: str) -> Edit | None:
    """Let a call call something else, with the same arguments."""
    import libcst

    return rewrite(module, call, lambda node: node.with_changes(func=libcst.parse_expression(name)))


def with_suffix(module: Module, node: ast.expr, suffix: str) -> Edit | None:
    """`x` becomes `x.suffix`, with parentheses where `x` needs them."""
    text = module.segment(node)
    atom = isinstance(
        node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List, ast.Dict, ast.Set, ast.ListComp)
    )
    return Edit(module.span(node), f"{text}{suffix}" if atom else f"({text}){suffix}")


def replace(module: Module, node: ast.AST, text: str) -> Edit:
    """Put a text in the place of a node. The text must be as tight as the node it replaces."""
    return Edit(module.span(node), text)


def insert_before(module: Module, node: ast.AST, line: str) -> Edit | None:
    """A line of its own before the statement that holds a node."""
    statement = statement_of(node)
    at, indent = _own_line(module, statement)
    if at is None:
        return None
    return Edit(Span(at, 1, at, 1), f"{indent}{line}{_newline(module)}")


def insert_after(module: Module, node: ast.AST, line: str) -> Edit | None:
    """A line of its own after the statement that holds a node."""
    statement = statement_of(node)
    at, indent = _own_line(module, statement)
    if at is None:
        return None
    last = statement.end_lineno
    rest = module.index.lines[last - 1].encode()[statement.end_col_offset :].decode(errors="ignore").strip()
    if rest and not rest.startswith("#"):
        return None
    if last == len(module.index.lines) and not module.index.lines[-1].endswith(("\n", "\r")):
        end = len(module.index.lines[-1]) + 1
        return Edit(Span(last, end, last, end), f"{_newline(module)}{indent}{line}")
    return Edit(Span(last + 1, 1, last + 1, 1), f"{indent}{line}{_newline(module)}")


def delete_statement(module: Module, statement: ast.stmt) -> Edit | None:
    """Take a statement out with its line; None if it is the only one of its block or shares its line."""
    at, _ = _own_line(module, statement)
    block, _ = block_of(statement)
    last = statement.end_lineno
    rest = module.index.lines[last - 1].encode()[statement.end_col_offset :].decode(errors="ignore").strip()
    if at is None or len(block) == 1 or rest:
        return None
    return Edit(Span(at, 1, last + 1, 1), "")


def wrap(module: Module, first: ast.stmt, last: ast.stmt, header: str) -> tuple[Edit, ...]:
    """Put whole statements of one block under a header such as `with torch.no_grad():`; empty where a string would
    change.
    """
    at, indent = _own_line(module, first)
    if at is None or _strings_over_lines(first, last):
        return ()
    step = (
        "\t"
        if indent.startswith("\t") or module.index.text.count("\n\t") > module.index.text.count("\n    ")
        else "    "
    )
    edits = [Edit(Span(at, 1, at, 1), f"{indent}{header}{_newline(module)}{step}")]
    for line in range(at + 1, last.end_lineno + 1):
        if module.index.lines[line - 1].strip():
            edits.append(Edit(Span(line, 1, line, 1), step))
    return tuple(edits)


def add_import(module: Module, statement: str) -> Edit | None:
    """An edit that adds an import after the last import at the top of the file; None if the file has it already."""
    bound = module.tree.scope.bindings.get(statement.removeprefix("import "), ())
    if any(isinstance(b, ast.alias) and not b.asname for b in bound) or re.search(
        rf"^{re.escape(statement)}\s*(#.*)?$", module.index.text, re.MULTILINE
    ):
        return None
    last = 0
    for node in module.tree.body:
        is_docstring = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if isinstance(node, (ast.Import, ast.ImportFrom)) or (is_docstring and node is module.tree.body[0]):
            last = node.end_lineno
        else:
            break
    return Edit(Span(last + 1, 1, last + 1, 1), statement + _newline(module))


def _own_line(module: Module, statement: ast.stmt) -> tuple[int | None, str]:
    """The line a statement begins, and its indentation; None if something else stands before it on that line."""
    decorators = getattr(statement, "decorator_list", None)
    line = decorators[0].lineno if decorators else statement.lineno
    before = (
        module.index.lines[line - 1]
        .encode()[: decorators[0].col_offset - 1 if decorators else statement.col_offset]
        .decode(errors="ignore")
    )
    is_elif = isinstance(statement, ast.If) and module.index.lines[line - 1][len(before) :].startswith("elif")
    return (line, before) if not before.strip() and not is_elif else (None, "")


def _strings_over_lines(first: ast.stmt, last: ast.stmt) -> bool:
    block, start = block_of(first)
    for statement in block[start : block_of(last)[1] + 1]:
        for node in ast.walk(statement):
            if isinstance(node, (ast.Constant, ast.JoinedStr)) and getattr(node, "end_lineno", 0) != getattr(
                node, "lineno", 0
            ):
                return True
    return False


def _newline(module: Module) -> str:
    return "\r\n" if module.index.lines and module.index.lines[0].endswith("\r\n") else "\n"


def _tight_equal():
    import libcst

    nothing = libcst.SimpleWhitespace("")
    return libcst.AssignEqual(whitespace_before=nothing, whitespace_after=nothing)
