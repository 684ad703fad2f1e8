"""Errors that authors announce: a lesson shows what does not work, and says so beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from torchlint.columns import lines_with_ends
from torchlint.source.text.index import DEFINITIONS, last_word

_MOST = 10  # lines of a comment
_MOST_TRIED = 2  # statements
_OF_MISTAKES = re.compile(
    r"(Base)?Exception|(Runtime|Type|Value|Index|Key|Attribute|Name|Assertion|NotImplemented)Error"
)
# In the text before a cell of a notebook, or in a comment.
ANNOUNCED = re.compile(
    r"\b(will|would|should|does|is (going|expected|supposed|meant) to) (fail|crash|error|raise|throw|not work"
    r"|(give( us| you)?|cause|produce|lead to|result in|return) an? (\w+ )?(error|exception))"
    r"|\b(raises|throws|gives( us)?|produces|causes|results in|leads to) an? (\w+ )?(error|exception)\b|\b(doesn't|does"
    r" not|won't|will not|cannot) work\b",
    re.I,
)
_AWAITS = ("raises", "assertRaises", "assertRaisesRegex")
_BESIDE = re.compile(  # what is said of the line below or of its own, in few words
    r"(?<!#)#+\s*(fails?|crash(es)?|error|raises|wrong)\W*$"
    r"|\btensors? (at|on) different devices can ?(not|'t)\b",
    re.I,
)
_QUOTES = re.compile(r"[ \t]*#[#> \t]*(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception): \w")  # `# RuntimeError: element 0 of …`


class Comments:
    """Those of a text."""

    def __init__(self, text: str):
        self.lines = lines_with_ends(text)

    def announce(self, numbers: Iterable[int]) -> bool:
        """Does one at the end of one of some lines (from 1), or right above it, say that it fails, or quote below what
        Python says?
        """
        return any(
            any(map(_says_so, beside(self.lines, number)))
            or number < len(self.lines)
            and _QUOTES.match(self.lines[number]) is not None
            for number in numbers
        )


def beside(lines: Sequence[str], number: int) -> Iterator[str]:
    """The comments at the end of a line (from 1), and in the lines above that say nothing else, the nearest first."""
    if 0 < number <= len(lines) and "#" in lines[number - 1]:
        yield "#" + lines[number - 1].partition("#")[2].rstrip()
    for above in range(number - 1, max(0, number - _MOST), -1):
        line = lines[above - 1].strip() if above <= len(lines) else ""
        if not line.startswith("#"):
            return
        yield line


def caught(tree: ast.Module) -> set[int]:
    """The lines of statements that are tried alone at the top of a script or in a cell, where an error is printed and
    the next line is reached: lessons show errors so.
    """
    tried = [one for one in tree.body if isinstance(one, ast.Try) and len(one.body) <= _MOST_TRIED]
    shown = [one for one in tried if any(map(_takes_errors, one.handlers)) and all(map(_prints, one.handlers))]
    return _lines_of(part for one in shown for part in one.body)


def awaited(tree: ast.Module) -> set[int]:
    """The lines of which a test awaits an error: below `with pytest.raises(…):`, given to `assertRaises`, and of what
    the file names there only.
    """
    nodes = list(ast.walk(tree))
    lines = _lines_of(node for node in nodes if _awaits(node))
    named: dict[str, set[int]] = {}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            named.setdefault(node.id, set()).add(node.lineno)
    bodies = (
        getattr(node, "body", ()) for node in nodes if not isinstance(node, (ast.ClassDef, ast.Lambda, ast.IfExp))
    )
    defined = [part for body in bodies for part in body if isinstance(part, DEFINITIONS) and not part.decorator_list]
    others = ((part, named.get(part.name, set()) - _lines_of([part])) for part in defined)
    return lines | _lines_of(part for part, uses in others if uses and uses <= lines)


def _awaits(node: ast.AST) -> bool:
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return any(last_word(getattr(item.context_expr, "func", item)) in _AWAITS for item in node.items)
    return isinstance(node, ast.Call) and last_word(node.func) in _AWAITS and len(node.args) > 1


def _lines_of(nodes: Iterable[ast.stmt | ast.expr]) -> set[int]:
    return {line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def _takes_errors(handler: ast.ExceptHandler) -> bool:
    """Does it take what torch or Python raise of a mistake? `KeyboardInterrupt` is none."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(kind is None or _OF_MISTAKES.fullmatch(last_word(kind)) for kind in kinds)


def _prints(handler: ast.ExceptHandler) -> bool:
    """Does it print, and go on?"""
    first, *_ = handler.body
    printed = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Call) and last_word(first.value.func) == "print"
    )
    return printed and not any(_leaves(node) for part in handler.body for node in ast.walk(part))


def _leaves(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Raise) or isinstance(node, ast.Call) and last_word(node.func) in ("exit", "_exit", "quit")
    )


def _says_so(comment: str) -> bool:
    return (ANNOUNCED.search(comment) or _BESIDE.search(comment)) is not None
