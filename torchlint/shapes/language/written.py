"""The shapes that authors write beside what a function takes and gives: jaxtyping's annotations, and comments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from torchlint.shapes.core.named_axes import Axes, of_comment, of_jaxtyping
from torchlint.shapes.language.walking import last_word

if TYPE_CHECKING:
    from torchlint.shapes.language.program import Program

_JAXTYPING = "jaxtyping"
KINDS = re.compile(r"(Float|BFloat|Int|UInt|Integer|Bool|Complex|Shaped|Num|Real|Inexact)(\d*)")
_OF_KINDS = {
    "Float": "float bfloat", "Int": "int", "UInt": "uint", "Integer": "int uint", "Bool": "bool", "Complex": "complex",
    "Num": "float bfloat int uint complex", "Real": "float bfloat int uint", "Inexact": "float bfloat complex",
}  # fmt: skip
_DECORATORS = ("beartype", "typechecked")
_NAMED = re.compile(  # `x: (b, n, d)`, `x (Tensor): a tensor of shape (b, n, d)`
    r"\W*(\w+)\s*(?:\([^()]*\))?\s*(?::|=|--?|–)\s*"
    r"(?:[\w ]{0,30}\b(?:shape|size|tensor)\b[ :]*(?:of[ :]*)?)?([\[(][^\])]*[\])])"
)
_WIDEST = 200  # of a line that is looked at
_HEADER = 40  # lines in which a shape is looked for


class Written(NamedTuple):
    """A shape as its author wrote it: `text` quotes it, `kind` is jaxtyping's word for the dtypes that fit."""

    axes: Axes
    text: str
    node: ast.expr
    kind: str = "Shaped"

    def misfit(self, tensor: torch.Tensor, names: dict[str, int]) -> str:
        """Why a tensor is not what is written, in words; `names` holds what the names of axes stand for."""
        dtype = str(tensor.dtype).removeprefix("torch.")
        family, width = KINDS.fullmatch(self.kind).groups()
        if family != "Shaped" and not _is_of(dtype, _OF_KINDS.get(family, family.lower()).split(), width):
            return f"{dtype} where {self.kind} is written"
        return self.axes.misfit(tensor.shape, names)


def _is_of(dtype: str, families: Sequence[str], width: str) -> bool:
    family, number = re.fullmatch(r"([a-z]+)(\d*).*", dtype).groups()
    return family in families and number.startswith(width)


class WrittenShapes(NamedTuple):
    """What is written beside the parameters of a function, and beside what it returns."""

    taken: dict[str, Written]
    given: Written | tuple[Written | None, ...] | None
    is_enforced: bool  # whether a type checker refuses anything else when the program runs

    def parts(self, result: Any) -> Iterator[tuple[str, Any, Written]]:
        """What is returned, part by part: what it is called, the part, what is written of it."""
        if isinstance(self.given, Written):
            yield "what it returns", result, self.given
        elif self.given is not None and isinstance(result, tuple) and len(result) == len(self.given):
            for number, (part, written) in enumerate(zip(result, self.given), 1):
                if written is not None:
                    yield f"part {number} of what it returns", part, written


def signature(node: ast.AST, program: Program) -> WrittenShapes | None:
    """What jaxtyping's annotations say of a function; None where they say nothing."""
    names = program.written_names
    if not names or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    taken = {a.arg: found for a in arguments if (found := _annotated(a.annotation, program)) is not None}
    given: Any = _annotated(node.returns, program)
    if (
        given is None
        and isinstance(node.returns, ast.Subscript)
        and last_word(node.returns.value) in ("tuple", "Tuple")
    ):
        parts = node.returns.slice
        if isinstance(parts, ast.Tuple) and not any(isinstance(p, ast.Constant) for p in parts.elts):
            given = tuple(_annotated(part, program) for part in parts.elts)
    if not taken and not given:
        return None
    return WrittenShapes(taken, given or None, any(_enforces(decorator) for decorator in node.decorator_list))


def _enforces(decorator: ast.expr) -> bool:
    """`@jaxtyped(typechecker=beartype)`, or `@beartype` below it."""
    if isinstance(decorator, ast.Call) and last_word(decorator.func) == "jaxtyped":
        return any(k.arg == "typechecker" and last_word(k.value) for k in decorator.keywords)
    return last_word(decorator) in _DECORATORS


def _annotated(node: ast.expr | None, program: Program, deepest: int = 4) -> Written | None:
    """`Float[Tensor, "b 3 h w"]`, the same or None, or a name for it."""
    if deepest == 0:
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _annotated(node.left, program, deepest - 1) if _is_none(node.right) else None
    if isinstance(node, ast.Name):
        node = program.aliases.get(node.id)
    if not isinstance(node, ast.Subscript):
        return None
    if last_word(node.value) == "Optional":
        return _annotated(node.slice, program, deepest - 1)
    kind = _kind(node.value, program.written_names)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else ()
    if not KINDS.fullmatch(kind) or len(parts) != 2 or last_word(parts[0]) != "Tensor":
        return None
    text = parts[1].value if isinstance(parts[1], ast.Constant) else None
    axes = of_jaxtyping(text) if isinstance(text, str) else None
    return Written(axes, ast.unparse(node).replace("'", '"'), node, kind) if axes is not None else None


def _kind(node: ast.expr, names: dict[str, str]) -> str:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr if names.get(node.value.id) == "" else ""
    return names.get(node.id, "") if isinstance(node, ast.Name) else ""


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def names_of(imports: Sequence[ast.Import | ast.ImportFrom]) -> dict[str, str]:
    """What the words of jaxtyping are called in a program, and with "" the module: `{"Float": "Float", "jt": ""}`."""
    found = {}
    for node in imports:
        for name in node.names:
            if isinstance(node, ast.ImportFrom) and node.module == _JAXTYPING and not node.level:
                found[name.asname or name.name] = name.name
            elif isinstance(node, ast.Import) and name.name == _JAXTYPING:
                found[name.asname or name.name] = ""
    return found


def aliases_of(tree: ast.Module) -> dict[str, ast.Subscript]:
    """What a module calls its annotations: `Image = Float[Tensor, "b 3 h w"]`."""
    found: dict[str, ast.Subscript] = {}
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Subscript):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    found[target.id] = node.value
    return found


def beside(node: ast.AST, program: Program) -> dict[str, Axes]:
    """By parameter: the shape that a comment or the docstring says it has."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or not node.body:
        return {}
    arguments = [a for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs) if a.arg != "self"]
    second = node.body[1].lineno if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body[0].lineno
    found: dict[str, Axes] = {}
    for number in range(node.lineno, min(second, node.lineno + _HEADER)):
        here = [a.arg for a in arguments if a.lineno == number]
        named = _NAMED.match(program.line(number)[:_WIDEST]) if not here else None
        name, text = named.groups() if named else ("", "")
        if len(here) == 1:
            name, text = here[0], program.shape_comments.get(number, "")
        axes = of_comment(text) if name else None
        if axes is not None and any(a.arg == name for a in arguments):
            found.setdefault(name, axes)
    return found


def behind(node: ast.Assign, program: Program) -> Written | None:
    """The shape that a comment says a variable gets: `x = self.conv(x)  # (b, 64, h, w)`."""
    if not isinstance(node.targets[0], ast.Name):
        return None
    text = program.shape_comments.get(node.end_lineno or node.lineno, "")
    axes = of_comment(text)
    if axes is None:
        return None
    numbers = Axes(tuple(size if isinstance(size, int) else None for size in axes.sizes))
    return Written(numbers, text, node.targets[0])
