"""What a text leaves to whoever does the exercise: comments that say that code is missing, or what is raised there."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePath

GIVES = "#%"  # ends a line of a notebook that stands for one that may give any name a value: `%run helpers.py`
_GAP = re.compile(
    r"#[^\n]{0,40}\b(?:your|fill|insert|complete|write)[ _]+(?:[^\W_]+[ _]+){0,2}(?:code|here|solution)\b"
    r"|# *TODO[:. ]*$"  # nothing but that
    r"|# *[\w.]+(?:\[[^\]#\n]*\])? *= *\.{3,}[ \r]*$"  # `# self.conv = ...`, and no sentence
    r"|^[ \t]*[\"'][* ]*your (?:code|solution) here[* ]*[\"'][ \r]*$",  # a text in place of code
    re.IGNORECASE,
)
_BLANK = re.compile(r"[ \t]*[\w.]+ *= *\.\.\.[ \r]*(#|$)")  # `self.conv = ...`
_UNWRITTEN = re.compile(  # `x = # YOUR CODE`, `torch.optim.<name>(...)`, `... = f()`
    r"=[ \t]*#|\.<[a-z_]+>|^[ \t]*\.{3}[ \t]*="
)
_TEMPLATE = re.compile(  # `{% if wanted %}`, `${methods}`, `import {{cookiecutter.package}}`
    r"^[ \t]*(?:\{%-?[ \t]|\$\{\w+\}[ \t\r]*$)|\{\{ ?cookiecutter\.", re.MULTILINE
)
_OPEN = re.compile(  # `model = Net(# fill this out)`: the comment takes the closing bracket with it
    r"[(\[{,][ \t]*#[ \t]*(?:TODO|fill|insert|complete|write|your|add)\b[^\n()\[\]{}]*[)\]}],?[ \t\r]*$",
    re.IGNORECASE | re.MULTILINE,
)
_BLANK_NAME = re.compile(r"(?<!\w)_{4,}(?!\w)")  # `________ = ________(x)`
_HOLLOW = re.compile(r"^[ \t]*(?:async )?def \w+\([^()\n]*\):[ \t]*\n(?:[ \t]*\n)+(?=[ \t]*def )", re.MULTILINE)
_NO_BLOCK = "expected an indented block"  # what Python says
_HEAD = re.compile(r":[ \t]*(?:#.*)?\r?$")  # the end of one
_PLAN = re.compile(r"[ \t]*#.*\bTODO\b")
_NOTHING_YET = re.compile(r"[ \t]*\w+ *= *None[ \r]*$")
_PLANNED = 3  # values or blocks that are only planned, or not done, in a file that is for whoever does the exercise
_CUT_OFF = re.compile(  # `raise NotImplementedError`, and then what would have been done after it
    r"^([ \t]+)raise NotImplementedError\b[^\n]*\n(?:[ \t]*\n)*"
    r"\1(?!(?:def|async|class|else|elif|except|finally)\b)[a-z]",
    re.MULTILINE,
)
_GAP_OR_PLAN = re.compile(rf"{_GAP.pattern}|^{_PLAN.pattern}", re.IGNORECASE)
_OR_NOTHING = re.compile(r"\b(?:None|Optional|Any|NoReturn|Never)\b")
_EXERCISE = re.compile(
    r"(?:^|[^a-z])(?:exercises?|empty|unsolved|unanswered|skeleton|starter)(?:[^a-z]|$)", re.IGNORECASE
)


class Gaps:
    """The lines of a text with such a comment, or with what stands for a missing value; all of a notebook whose name
    says that it is an exercise, and of a file that raises in place of code again and again.
    """

    def __init__(self, text: str, path: str):
        self.lines = sorted(_gaps(text))
        name = PurePath(path)
        is_named_so = name.suffix == ".ipynb" and _EXERCISE.search(name.stem) is not None
        cut_off = _CUT_OFF.finditer(text) if "NotImplementedError" in text else iter(())
        self.everywhere = is_named_so or len(list(islice(cut_off, _PLANNED))) == _PLANNED

    def is_in(self, node: ast.stmt | ast.expr) -> bool:
        """Whether something in a node is left to others: nobody knows what it will do."""
        if self.everywhere:
            return True
        at = bisect_left(self.lines, node.lineno)
        return at < len(self.lines) and self.lines[at] <= (node.end_lineno or node.lineno)


def stops_at_a_gap(text: str, line: int, why: str) -> bool:
    """Is a text no Python because code is left to others: a value, a block of which the comments right above say so, or
    what a template's engine puts in? What is written there and wrong is a mistake of whoever filled the gap.
    """
    if _TEMPLATE.search(text) or is_hollow(text):
        return True
    *above, written = text.split("\n")[:line]
    if _UNWRITTEN.search(written):
        return True
    if _NO_BLOCK not in why:
        return False
    for comment in reversed(above):
        if comment.strip() and not comment.lstrip().startswith("#"):
            return False
        if _PLAN.match(comment) or _GAP.search(comment):
            return True
    return False


def is_hollow(text: str) -> bool:
    """Are only the heads of several methods given, or does a comment that asks for code hide the bracket behind it?"""
    return len(_HOLLOW.findall(text)) > 1 or _OPEN.search(text) is not None


def ends_at_a_head(text: str, line: int, why: str) -> bool:
    """Is a text no Python because nothing follows the head of its last block: `for name, layer in layers:`?"""
    lines = text.split("\n")
    last = max((at for at, written in enumerate(lines) if _is_code(written)), default=0)
    return _NO_BLOCK in why and line > last and _HEAD.search(lines[last]) is not None


def is_blank(node: ast.expr | None) -> bool:
    """`x = ...`: a value that is to be written."""
    return isinstance(node, ast.Constant) and node.value is ...


def is_unwritten(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """`def solve() -> Tensor:` and nothing but its docstring: it says that it gives something, and does not yet."""
    if function.returns is None or _OR_NOTHING.search(ast.unparse(function.returns)):
        return False
    return all(
        isinstance(line, ast.Pass) or isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)
        for line in function.body
    )


def _gaps(text: str) -> Iterator[int]:
    """The lines with a gap; one that stands alone belongs to the code before it: it may end a function."""
    lines = text.split("\n")
    code, seen = 0, -1
    planned = _planned(lines) if "TODO" in text else []
    gap = _GAP if len(planned) < _PLANNED else _GAP_OR_PLAN
    if gap is _GAP_OR_PLAN:
        yield from (number for number in planned if _NOTHING_YET.match(lines[number - 1]))
    for at, written in enumerate(lines):
        is_blank_name = "____" in written and _BLANK_NAME.search(written.partition("#")[0]) is not None
        is_told = ("#" in written or "***" in written) and gap.search(written) is not None
        if is_blank_name or is_told or "..." in written and _BLANK.match(written):
            code, seen = next((i + 1 for i in range(at, seen, -1) if _is_code(lines[i])), code), at
            yield code


def _planned(lines: list[str]) -> list[int]:
    """Where a plan stands for code, `# TODO: compute the loss`, and then `pass` or `loss = None`."""
    found, is_planned = [], False
    for number, line in enumerate(lines, 1):
        if is_planned and (line.strip() == "pass" or _NOTHING_YET.match(line)):
            found.append(number)
        is_planned = "TODO" in line and _PLAN.match(line) is not None or is_planned and not _is_written(line)
    return found


def _is_written(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not (line[:1].isspace() and line.lstrip().startswith("#"))
