"""A source with the shapes of its tensors as comments: `x = self.conv(x)  # (B, 64, 28, 28)`."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable

from torchlint.finding import Hint
from torchlint.notation import guess_marked
from torchlint.syntax import syntax_tree

_WIDEST = 120
_SHAPE = r"~?\([\w ,.*]*\)(?: \| (?:~?\([\w ,.*]*\)|…))*"
_OURS = re.compile(rf"# (?:{_SHAPE}|\w+: {_SHAPE}(?:, \w+: {_SHAPE})*)$")
_MOST = 3  # shapes of one name


def annotated(text: str, hints: Iterable[Hint]) -> str:
    """The text with a comment behind each assignment of tensors; `~` marks what rests on a guess.

    A comment that was written so before gives way, any other stays, and so do lines that would become too wide.
    """
    lines = io.StringIO(text, newline="").readlines()  # as Python counts them
    comments = _comments(text)
    for number, said in _said(syntax_tree(text), hints).items():
        line = lines[number - 1]
        code = line.rstrip("\r\n")
        end, column = line[len(code) :], comments.get(number)
        if column is not None and not _OURS.fullmatch(code[column:].rstrip()):
            continue
        code = (code if column is None else code[:column]).rstrip()
        if len(code) + len(said) + 4 <= _WIDEST:
            lines[number - 1] = f"{code}  # {said}{end}"
    return "".join(lines)


def _said(tree: ast.Module, hints: Iterable[Hint]) -> dict[int, str]:
    """What stands behind the last line of each assignment."""
    ends = {
        (target.lineno, target.col_offset): node.end_lineno
        for node in ast.walk(tree)
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign))
        for top in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for target in ast.walk(top)
        if isinstance(target, (ast.Name, ast.Attribute))
    }
    starts = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    shapes: dict[int, dict[str, dict[str, None]]] = {}
    for hint in hints:
        number = ends.get((hint.span.line, hint.span.column - 1))
        if hint.name and hint.name != "_" and number and starts.count(hint.span.line) == 1:
            shown = guess_marked(hint.shape, hint.guessed)
            shapes.setdefault(number, {}).setdefault(hint.name, {})[shown] = None
    return {number: _line(names) for number, names in shapes.items()}


def _line(names: dict[str, dict[str, None]]) -> str:
    told = {
        name: " | ".join([*list(given)[:_MOST], *(["…"] if len(given) > _MOST else [])])
        for name, given in names.items()
    }
    return (
        next(iter(told.values())) if len(told) == 1 else ", ".join(f"{name}: {shape}" for name, shape in told.items())
    )


def _comments(text: str) -> dict[int, int]:
    """The column of the comment of each line that has one."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.start[0]: token.start[1] for token in tokens if token.type == tokenize.COMMENT}
