"""A call written anew from a template: `{input}` stands for an argument, `...` for all of them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.source.asking.rewrite import node_of

if TYPE_CHECKING:
    from torchlint.source.asking.views import Place

_MARK = "argument_of_the_call_"
_LOOSE = (
    cst.Await,
    cst.BinaryOperation,
    cst.BooleanOperation,
    cst.Comparison,
    cst.GeneratorExp,
    cst.IfExp,
    cst.Lambda,
    cst.NamedExpr,
    cst.UnaryOperation,
)


def filled(
    place: Place, call: ast.Call, template: str, given: dict[str, ast.expr], passed: list[str]
) -> cst.BaseExpression | None:
    """The template with the arguments of a call; `passed` are those that are added by their names."""
    old = node_of(place.module, call)
    values = {name: node_of(place.module, node) for name, node in given.items()}
    if old is None or None in values.values():
        return None
    pattern = cst.parse_expression(re.sub(r"\{(\w+)\}", rf"{_MARK}\1", template))
    named = any(arg.keyword is not None for arg in old.args)
    if isinstance(_home(pattern), cst.List) and (named or len(old.args) < 2):
        return None  # `multi_dot` refuses a list of one
    filling = _Filling(values, [_tight(arg) for arg in old.args])
    new = pattern.visit(filling)
    if passed and isinstance(new, cst.Call):
        named = [cst.Arg(keyword=cst.Name(name), value=values[name], equal=_TIGHT) for name in passed]
        new = new.with_changes(args=(*new.args, *named))
    return new


def _tight(arg: cst.Arg) -> cst.Arg:
    """An argument without what stands between it and its neighbours."""
    return arg.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=cst.SimpleWhitespace(""))


def _is_whole(value: cst.BaseExpression) -> bool:
    """Is it an expression without the parentheses of its call, too? Not if its methods stand on lines of their own."""
    try:
        ast.parse(cst.Module([]).code_for_node(value), mode="eval")
    except SyntaxError:
        return False
    return True


def _home(pattern: cst.BaseExpression) -> cst.CSTNode | None:
    """What holds the `...` of a template."""
    if isinstance(pattern, cst.Call):
        for arg in pattern.args:
            if isinstance(arg.value, cst.List) and any(isinstance(e.value, cst.Ellipsis) for e in arg.value.elements):
                return arg.value
    return pattern


class _Filling(cst.CSTTransformer):
    def __init__(self, values: dict[str, cst.BaseExpression], args: list[cst.Arg]):
        super().__init__()
        self.values, self.args = values, args

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        if not original_node.value.startswith(_MARK):
            return updated_node
        value = self.values[original_node.value.removeprefix(_MARK)]
        if not value.lpar and (isinstance(value, _LOOSE) or not _is_whole(value)):
            return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        return value

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg | cst.FlattenSentinel:
        if isinstance(original_node.value, cst.Ellipsis):
            positional = [arg for arg in self.args if arg.keyword is None]
            named = [arg for arg in self.args if arg.keyword is not None]
            return cst.FlattenSentinel([*positional, *named]) if self.args else cst.RemoveFromParent()
        name = original_node.value
        if isinstance(name, cst.Name) and name.value.startswith(_MARK):
            return updated_node.with_changes(value=self.values[name.value.removeprefix(_MARK)])
        return updated_node

    def leave_Element(self, original_node: cst.Element, updated_node: cst.Element):
        if isinstance(original_node.value, cst.Ellipsis):
            return cst.FlattenSentinel([cst.Element(arg.value) for arg in self.args])
        return updated_node

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        args = updated_node.args
        if args and isinstance(args[-1].comma, cst.Comma):
            args = (*args[:-1], args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT))
        return updated_node.with_changes(args=args)


_TIGHT = cst.AssignEqual(whitespace_before=cst.SimpleWhitespace(""), whitespace_after=cst.SimpleWhitespace(""))
