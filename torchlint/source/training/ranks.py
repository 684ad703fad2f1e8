"""How many dimensions a tensor has, as far as the source says; where it has none left."""

from __future__ import annotations

import ast

from torchlint.facts import named, named_of, words
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import TENSOR, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.text.spelling import dotted

_REDUCTIONS = words(named("reduces"))
_IN_A_ROW = named("row")
_OF_SIZES = named("of_sizes")
_OF_DATA = named_of("tensor", "as_tensor", "from_numpy", "Tensor", "FloatTensor", "LongTensor")
# With one tensor: of several the others may have more dimensions.
_KEEPS_SHAPE = words(named("same_shape", but="broadcasts") | named("clips") | named_of("pow"))


def is_reduced(call: ast.Call) -> bool:
    """`x.mean()`, `torch.sum(x)`: one number, which mixes with every device."""
    function = (
        isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == "torch"
    )
    return last_word(call.func) in _REDUCTIONS and len(call.args) == int(function) and not call.keywords


def is_element(value: Value, index: ast.expr) -> bool:
    """`betas[t]` of a row, in a loop that counts `t`."""
    return _is_number(value.at(index, ())) and _is_row(value, 6)


def _is_number(index: Value) -> bool:
    node = index.node
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        parts = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
        return all(_is_number(index.at(part)) for part in parts)
    if isinstance(node, ast.Name):
        scope = node.at.lookup(node.id)
        return scope is not None and bool(bound := reaching(node, scope)) and all(counts(b) for b in bound)
    return isinstance(node, ast.Constant) and type(node.value) is int


def may_be_one_number(picked: ast.Subscript, value: Value) -> bool:
    """`betas[t]`: of a row it is one number, which mixes with every device. Not where more than one is picked for
    certain, where there is more than a row, and where it gets dimensions, `.view(-1, 1)`.
    """
    parts = picked.slice.elts if isinstance(picked.slice, ast.Tuple) else [picked.slice]
    if any(_keeps_dimensions(value.at(part, ())) for part in parts) or (rank(value) or 0) > len(parts):
        return False
    shaping = picked.up.up if isinstance(picked.up, ast.Attribute) and picked.up.attr in _RESHAPES else None
    return not isinstance(shaping, ast.Call) or len(shaping.args) < 2


def _keeps_dimensions(index: Value) -> bool:
    """`1:`, `None`, a list, a tensor that is not one number itself, as `x.argmax()` is"""
    node = index.node
    if isinstance(node, ast.Constant):
        return type(node.value) is not int
    if TENSOR in kinds(index):
        return not any(isinstance(origin.node, ast.Call) and is_reduced(origin.node) for origin in origins(index))
    return isinstance(node, (ast.Slice, ast.List, ast.Starred))


def counts(binding: ast.AST) -> bool:
    """Is a name the counter of a loop over `range` or `enumerate`?"""
    loop = getattr(binding, "up", None)
    first = isinstance(loop, ast.Tuple) and loop.elts[0] is binding
    loop = loop.up if first else loop
    if not isinstance(loop, (ast.For, ast.comprehension)):
        return False
    counted = loop.iter
    while (
        isinstance(counted, ast.Call)
        and last_word(counted.func) in ("reversed", "tqdm", "list")
        and counted.args
        and isinstance(counted.args[0], ast.Call)
    ):
        counted = counted.args[0]
    return isinstance(counted, ast.Call) and last_word(counted.func) in (
        ("enumerate",) if first else ("range", "trange")
    )


@remembered
def _is_row(value: Value, depth: int) -> bool:
    found = origins(value) if depth else []
    return bool(found) and all(_has_one_dimension(origin, depth) for origin in found)


def _has_one_dimension(origin: Value, depth: int) -> bool:
    node = origin.node
    if isinstance(node, ast.BinOp):
        sides = [
            origin.at(side, ())
            for side in (node.left, node.right)
            if not isinstance(side, ast.Constant) and kinds(origin.at(side, ())) != {"plain"}
        ]
        return bool(sides) and all(_is_row(side, depth - 1) for side in sides)
    if isinstance(node, (ast.List, ast.Tuple, ast.ListComp)):
        parts = [node.elt] if isinstance(node, ast.ListComp) else node.elts
        others = (ast.List, ast.Tuple, ast.ListComp, ast.Name, ast.Starred)
        return bool(parts) and not origin.path and not any(isinstance(part, others) for part in parts)
    if not isinstance(node, ast.Call) or origin.path:
        return False
    names = {c.name for c in callees(origin)}
    if names and (names <= _IN_A_ROW or names <= {"numpy.arange", "numpy.linspace"}):
        return True
    if names and names <= _OF_DATA and node.args:
        return _is_row(origin.at(node.args[0], ()), depth - 1)
    if names and names <= _OF_SIZES:
        return len(node.args) == 1 and isinstance(node.args[0], ast.Constant)
    if last_word(node.func) in _KEEPS_SHAPE and isinstance(node.func, ast.Attribute):
        inner = (
            node.func.value if kinds(origin.at(node.func.value, ())) & {TENSOR} else node.args[0] if node.args else None
        )
        return inner is not None and _is_row(origin.at(inner, ()), depth - 1)
    return False


# What has as many dimensions as its input.
_SAME_RANK = words(named("same_rank", but="broadcasts") | named("clips"))
_SAME_RANK_LAYERS = named("same_rank", home="nn")
_THREE = named_of("bmm", "baddbmm")
_RESHAPES = frozenset(("view", "reshape"))


@remembered
def rank(value: Value, depth: int = 8) -> int | None:
    """The number of dimensions; None where it is not plain, or differs from case to case."""
    found = {_rank(origin, depth) for origin in origins(value)} if depth else {None}
    return found.pop() if len(found) == 1 and not _is_reshaped(value) else None


def _is_reshaped(value: Value) -> bool:
    name = dotted(value.node)
    return name is not None and name in _reshaped_names(value.module)


@remembered
def _reshaped_names(module: Module) -> frozenset[str | None]:
    """What a file gives other sizes in place: `x.resize_(2, 12)`, `x.data = y`, `out=x`."""
    index = module.index
    words = ("resize_", "resize_as_", "squeeze_", "unsqueeze_", "set_")
    called = (call.func for word in words for call in index.callers(word))
    held = [func.value for func in called if isinstance(func, ast.Attribute)]
    given = [keyword.value for keyword in index.keywords("out")]
    stores = [store.value for store in index.stored("data")]
    return frozenset(map(dotted, (*held, *given, *stores)))


def _rank_of_a_part(origin: Value, depth: int) -> int | None:
    """Of `x[0]`, `x[:, None]` and `x[..., 2]`, which are indexed by nothing else: a list or a tensor may be a mask."""
    index = origin.node.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    constants = [part.value for part in parts if isinstance(part, ast.Constant)]
    plain = all(value is None or value is ... or type(value) is int for value in constants)
    if not plain or len(constants) + sum(isinstance(part, ast.Slice) for part in parts) < len(parts):
        return None
    whole = rank(origin.at(origin.node.value, ()), depth - 1)
    taken = sum(type(value) is int for value in constants)
    return None if whole is None or taken > whole else whole - taken + sum(value is None for value in constants)


def _sizes(call: Value) -> list[ast.expr]:
    """`2, 3` of `zeros(2, 3)`, `zeros((2, 3))` and `zeros(shape)`, where the shape is written out above"""
    sizes = call.node.args
    if len(sizes) == 1 and isinstance(sizes[0], ast.Name):
        found = origins(call.at(sizes[0], ()))
        sizes = [found[0].node] if len(found) == 1 and not found[0].path else sizes
    return sizes[0].elts if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)) else sizes


def _rank(origin: Value, depth: int) -> int | None:
    node = origin.node
    if isinstance(node, ast.Subscript) and not origin.path:
        return _rank_of_a_part(origin, depth)
    if not isinstance(node, ast.Call) or origin.path not in ((), (0,)):
        return None
    names = {c.name for c in callees(origin)}
    if origin.path == (0,):
        return (
            3
            if names
            and names <= {"torch.nn.LSTM()", "torch.nn.GRU()", "torch.nn.RNN()", "torch.nn.MultiheadAttention()"}
            else None
        )
    sizes, word = _sizes(origin), last_word(node.func)
    if (
        names
        and names <= _OF_SIZES
        or word in _RESHAPES
        and isinstance(node.func, ast.Attribute)
        and not names - {f".{word}"}
    ):
        return len(sizes) if len(sizes) > 1 and not any(isinstance(size, ast.Starred) for size in sizes) else None
    if names and names <= _THREE:
        return 3
    if not names or not (names <= _SAME_RANK_LAYERS or word in _SAME_RANK or word in ("unsqueeze", "squeeze")):
        return None
    is_method = all(name.startswith(".") for name in names) and isinstance(node.func, ast.Attribute)
    given = node.func.value if is_method else node.args[0] if node.args else None
    inner = rank(origin.at(given, ()), depth - 1) if given is not None else None
    if inner is None or word not in ("unsqueeze", "squeeze"):
        return inner
    if word == "unsqueeze":
        return inner + 1
    return None
