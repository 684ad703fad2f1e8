"""Which axis of a tensor is which, by the names that its sizes were given, and what a `view` makes of them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.facts import named, named_of, words
from torchlint.source.answers.last_axes import leaves_axes
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.index import enclosing_function, has_stars, last_word
from torchlint.source.text.spelling import argument

Factor = tuple  # (id of what the tensor comes from, its axis), or (a text,) for any other size
Layout = list[list[Factor]]  # the factors of the size of each axis


class _Merged(list):
    """The factors of an axis into which others were put together, in the order in which its numbers lie."""


_DEPTH = 12
_MASKED = 3  # axes that a mask surely does not exceed
_NAMES = 3  # of one tensor, from one to the next
_SAME = named("same_shape", but="broadcasts")  # `repeat` and `tile` keep the numbers, not the axes
_MASKS = named_of("masked_fill")
_PRODUCTS = named_of("matmul", "bmm")
_ATTENDS = named_of("scaled_dot_product_attention")
_PARTS = words(named_of("chunk", "split", "tensor_split", "unbind"))
_FROM_ARRAY = frozenset(("torch.from_numpy", "torch.tensor", "torch.as_tensor", "torch.FloatTensor"))
_OF_LAYERS = frozenset(("torch.nn.Sequential()", ""))  # and modules of the project
_UNKNOWN = ("?",)
_PADS = frozenset("cat concat concatenate pad".split())


class Misplaced(NamedTuple):
    """An axis that a `view` does not leave where it was: its name, and from which axis to which."""

    name: str
    before: int
    is_part: bool  # of that axis
    after: int
    order: list[int] | None  # what `permute` would have to be given, where the axes are the same ones


def misplaced(module: Module, call: ast.Call) -> Misplaced | None:
    """The first axis that a `view` or `reshape` plainly tears apart."""
    sizes = _sizes(call)
    if (
        len(sizes) < 2
        or not isinstance(call.func, ast.Attribute)
        or sum(_measured(size) is not None for size in sizes) < 2
    ):
        return None
    after = [_factors(module, size) for size in sizes]
    if sum(len(axis) == 1 and _is_axis(axis[0]) for axis in after) < 2:
        return None
    tensor = Value(module, call.func.value)
    before = None if _is_padded(tensor) else _layout(tensor, _DEPTH) or _all_named(tensor, after)
    if before is None:
        return None
    each = (([factor] for factor in axis) if isinstance(axis, _Merged) else [axis] for axis in before)
    parts = [(j, part) for j, axis in enumerate(each) for part in axis]
    split = [axis for _, axis in parts]
    for i, axis in enumerate(after):
        if len(axis) == 1 and _is_axis(axis[0]) and split.count(axis) == after.count(axis) == 1:
            j = split.index(axis)
            if axis[0] not in _flat(split[:j] + split[j + 1 :]) and _is_torn(split, j, after, i):
                number = parts[j][0]
                is_part = isinstance(before[number], _Merged)
                return Misplaced(module.segment(sizes[i]), number, is_part, i, _order(before, after))
    return None


def _all_named(tensor: Value, after: Layout) -> Layout | None:
    """`h.view(h.size(0), h.size(2), h.size(1))` names all axes that a tensor has, though nothing counts them."""
    source, factors = _source(tensor), _flat(after)
    axes = [] if source is None else [(id(source.node), i) for i in range(len(factors))]
    return [[axis] for axis in axes] if set(factors) == set(axes) else None


def _is_padded(tensor: Value) -> bool:
    """One column more, read as one row more: so relative positions are shifted, and tearing apart is the point."""
    return any(isinstance(o.node, ast.Call) and last_word(o.node.func) in _PADS for o in origins(tensor))


def layout(value: Value) -> Layout | None:
    """The axes of a tensor, as far as its sizes were given names."""
    return _layout(value, _DEPTH)


def _order(before: Layout, after: Layout) -> list[int] | None:
    if len(before) != len(after) or any(before.count(axis) != 1 for axis in after):
        return None
    order = [before.index(axis) for axis in after]
    return order if sorted(order) == list(range(len(before))) else None


def _is_torn(before: Layout, j: int, after: Layout, i: int) -> bool:
    """Do other numbers come before an axis than did, for certain? What comes behind tells the same."""
    sides = [(before[:j], after[:i]), (before[j + 1 :], after[i + 1 :])]
    answers = [None if _may_be_one(old, new) else _differ(_flat(old), _flat(new)) for old, new in sides]
    return False not in answers and True in answers


def _may_be_one(old: Layout, new: Layout) -> bool:
    """`x.view(1, n, -1)` of `b, n, d = x.shape`: who writes the 1 knows that there is one in the batch."""
    gone, come = [[axis for axis in one if axis not in other] for one, other in ((old, new), (new, old))]
    return len(gone) == 1 and come == [[]]


def _differ(old: list[Factor], new: list[Factor]) -> Answer:
    """Is the product of some sizes another one? None where that depends on numbers nobody knows."""
    if _UNKNOWN in old or _UNKNOWN in new:
        return None  # two of them need not be the same
    gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
    if not gone and not come:
        return False
    if not gone or not come:
        return True
    axes = [*gone, *come]  # those of another tensor may well be as long
    return True if all(map(_is_axis, axes)) and len({tensor for tensor, _ in axes}) == 1 else None


def _flat(layout: Layout) -> list[Factor]:
    return [factor for axis in layout for factor in axis]


def _is_axis(factor: Factor) -> bool:
    return len(factor) == 2


def _sizes(call: ast.Call) -> list[ast.expr]:
    if len(call.args) == 1 and isinstance(call.args[0], (ast.Tuple, ast.List)):
        return call.args[0].elts
    return call.args


def _factors(module: Module, size: ast.expr, follow: bool = True) -> list[Factor]:
    """What is multiplied in a size; a product that has a name is followed once, as it may be made of itself."""
    if isinstance(size, ast.BinOp) and isinstance(size.op, ast.Mult):
        return [*_factors(module, size.left, follow), *_factors(module, size.right, follow)]
    if isinstance(size, ast.Constant):
        return [] if size.value == 1 else [(str(size.value),)]
    if isinstance(size, (ast.UnaryOp, ast.Starred)):
        return [_UNKNOWN]
    axis = _axis(module, size)
    if axis is None and (several := _several(module, size)) is not None:
        return several
    product = _product(size) if axis is None and follow else None
    return _factors(module, product, False) if product is not None else [axis or (module.segment(size),)]


def _several(module: Module, size: ast.expr) -> list[Factor] | None:
    """The factors of an axis of which one size is asked for: two that were put together, or none of an axis of one."""
    measured = _measured(size)
    layout = _derived(Value(module, measured[0]), _DEPTH) if measured is not None else None
    return layout[measured[1]] if layout is not None and measured is not None and measured[1] < len(layout) else None


def _product(size: ast.expr) -> ast.BinOp | None:
    """`batch * frames` of `together`, if that is all it can be."""
    scope = size.at.lookup(size.id) if isinstance(size, ast.Name) else None
    bound = reaching(size, scope) if scope is not None else []
    holder = bound[0].up if len(bound) == 1 else None
    value = holder.value if isinstance(holder, ast.Assign) else None
    return value if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult) else None


def _axis(module: Module, size: ast.expr) -> Factor | None:
    """The axis whose size an expression is."""
    measured = _measured(size)
    return None if measured is None else _key(module, *measured)


def _measured(size: ast.expr) -> tuple[ast.expr, int] | None:
    """The tensor and the number of its axis in `x.shape[1]`, `x.size(1)`, or a name that was given such a size."""
    if isinstance(size, ast.Name):
        scope = size.at.lookup(size.id)
        bound = reaching(size, scope) if scope is not None else []
        if len(bound) != 1 or not isinstance(bound[0], ast.Name):
            return None
        target, holder = bound[0], bound[0].up
        if isinstance(holder, ast.Assign):
            return _measured(holder.value) if not isinstance(holder.value, ast.Name) else None
        if not isinstance(holder, (ast.Tuple, ast.List)) or not isinstance(holder.up, ast.Assign):
            return None
        place = holder.elts.index(target)
        if any(isinstance(e, ast.Starred) for e in holder.elts):
            return None
        if isinstance(holder.up.value, ast.Tuple) and len(holder.up.value.elts) == len(holder.elts):
            return _measured(holder.up.value.elts[place])
        tensor = _whose_shape(holder.up.value)
        return None if tensor is None else (tensor, place)
    if isinstance(size, ast.Subscript) and isinstance(size.slice, ast.Constant):
        tensor, number = _whose_shape(size.value), size.slice.value
    elif isinstance(size, ast.Call) and last_word(size.func) == "size" and len(size.args) == 1:
        tensor = size.func.value if isinstance(size.func, ast.Attribute) else None
        number = size.args[0].value if isinstance(size.args[0], ast.Constant) else None
    else:
        return None
    return (tensor, number) if tensor is not None and isinstance(number, int) and number >= 0 else None


def _whose_shape(node: ast.expr) -> ast.expr | None:
    """`x` of `x.shape` and `x.size()`"""
    if isinstance(node, ast.Attribute) and node.attr == "shape":
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "size":
        return node.func.value if not node.args and not node.keywords else None
    return None


def _key(module: Module, tensor: ast.expr, number: int) -> Factor | None:
    """An axis, by what the tensor comes from; an axis that the tensor has from another one is that one's."""
    layout = _derived(Value(module, tensor), _DEPTH)
    if layout is not None:
        axis = layout[number] if number < len(layout) else []
        return axis[0] if len(axis) == 1 and axis[0] != _UNKNOWN else None
    source = _source(Value(module, tensor))
    return None if source is None else (id(source.node), number)


def _source(value: Value) -> Value | None:
    """The one expression that a tensor comes from; the parameter or the call that gives it to this function, where
    several places make it, or one in another function or file, or a Sequential.
    """
    found = origins(value)
    one = found[0] if len(found) == 1 and found[0].node is not None and not found[0].path else None
    if one is None or one.module is not value.module or one.frame is not None:
        given = value.node if isinstance(value.node, ast.Call) else _given_as(value.node)
        return value.at(given, ()) if given is not None else None
    return one if isinstance(one.node, (ast.Call, ast.arg, ast.BinOp)) else None


def _given_as(node: ast.expr, names: int = _NAMES) -> ast.arg | ast.Call | None:
    """The parameter that a name is, or the call whose result it is, if nothing gives it another value before."""
    scope = node.at.lookup(node.id) if isinstance(node, ast.Name) else None
    bound = reaching(node, scope) if scope is not None else []
    if len(bound) != 1 or isinstance(bound[0], ast.arg):
        return bound[0] if len(bound) == 1 else None
    made = _given_to(bound[0])
    if isinstance(made, ast.Name) and names:
        return _given_as(made, names - 1)
    return made if isinstance(made, ast.Call) else None


def _given_to(target: ast.AST) -> ast.expr | None:
    """What an assignment gives to a name, be it one of several: `q, k = self.cut(x), self.cut(y)`"""
    holder = target.up
    if isinstance(holder, ast.Assign):
        return holder.value
    if not isinstance(holder, (ast.Tuple, ast.List)) or not isinstance(holder.up, ast.Assign):
        return None
    given = holder.up.value
    is_each = isinstance(given, (ast.Tuple, ast.List)) and len(given.elts) == len(holder.elts)
    is_each = is_each and not any(isinstance(one, ast.Starred) for one in (*given.elts, *holder.elts))
    return given.elts[holder.elts.index(target)] if is_each else None


def _layout(value: Value, depth: int) -> Layout | None:
    derived = _derived(value, depth)
    if derived is not None:
        return derived
    source = _source(value)
    if source is None:
        return None
    rank = _ranks(value.module, enclosing_function(value.node)).get(id(source.node))
    return None if rank is None else [[(id(source.node), i)] for i in range(rank)]


@remembered
def _ranks(module: Module, function: ast.AST | None) -> dict[int, int]:
    """How many sizes are taken from tensors by `b, n, d = x.shape` in a function, by what they come from; none where
    branches take so many and so many.
    """
    found: dict[int, int] = {}
    unsure = set()
    for statement in module.index.inside(function or module.tree, ast.Assign):
        target = statement.targets[0]
        if isinstance(target, (ast.Tuple, ast.List)) and not any(isinstance(e, ast.Starred) for e in target.elts):
            tensor = _whose_shape(statement.value)
            source = _source(Value(module, tensor)) if tensor is not None else None
            if source is not None and found.setdefault(id(source.node), len(target.elts)) != len(target.elts):
                unsure.add(id(source.node))
    return {source: rank for source, rank in found.items() if source not in unsure}


@remembered
def _derived(value: Value, depth: int) -> Layout | None:
    """The axes of what keeps, arranges or names those of another tensor; unknown where the code asks for another number
    of them, as a branch that is for others does.
    """
    if depth == 0:
        return None
    source = _source(value)
    if source is None:
        return _of_a_part(value, depth)
    if isinstance(source.node, ast.BinOp):
        layout = _combined(source, source.node, depth)
    else:
        layout = _arranged(source, source.node, depth) if isinstance(source.node, ast.Call) else None
    rank = _ranks(value.module, enclosing_function(value.node)).get(id(source.node))
    if layout is None or rank is None:
        return layout
    return layout if rank == len(layout) and [_UNKNOWN] not in layout else None  # its own axes say more


def _combined(source: Value, node: ast.BinOp, depth: int) -> Layout | None:
    """The axes of `weights @ values` and of `scores / 8 + mask`"""
    left, right = (_layout(source.at(side, ()), depth - 1) for side in (node.left, node.right))
    if isinstance(node.op, ast.MatMult):
        return _product_of(left, right)
    if not isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)) or (left is None) is (right is None):
        return left if left == right else None
    known = left or right or []
    # What is added to scores of four axes, scales them or is their mask; fewer axes may become more.
    return known if len(known) > _MASKED and all(known) else None


def _product_of(left: Layout | None, right: Layout | None) -> Layout | None:
    """The axes of a product of matrices; those before are of the first, whose sizes the other's are, or 1."""
    if left is None or right is None or len(left) != len(right) or len(left) < 2 or not all(left[:-1]):
        return None
    return [*left[:-1], right[-1]]


def _of_a_part(value: Value, depth: int) -> Layout | None:
    """The axes of `q` of `q, k, v = self.qkv(x).chunk(3, dim=-1)`, and of `qkv[0]`"""
    found = origins(value)
    part = found[0] if len(found) == 1 and found[0].module is value.module and found[0].frame is None else None
    if part is None or part.node is None:
        return None
    whole, is_first = part.node, len(part.path) == 1 and isinstance(part.path[0], int)
    if isinstance(whole, ast.Subscript) and not part.path:
        whole, is_first = whole.value, _number(whole.slice) is not None
    if not is_first or not isinstance(whole, ast.expr):
        return None
    word = last_word(whole.func) if isinstance(whole, ast.Call) else ""
    if not isinstance(whole, ast.Call) or word not in _PARTS:
        layout = _layout(part.at(whole, ()), depth - 1)
        return layout[1:] if layout is not None and len(layout) > 1 else None
    names = {c.name for c in callees(part.at(whole, ()))}
    given = next(_given(whole, names), None)
    layout = _layout(part.at(given, ()), depth - 1) if given is not None else None
    is_method = all(name.startswith(".") for name in names)
    place = argument(whole, "dim", (word != "unbind") + (not is_method))
    number = 0 if place is None else _number(place)
    if layout is None or number is None or not -len(layout) <= number < len(layout):
        return None
    number %= len(layout)
    cut = [] if word == "unbind" else [[(f"part of {id(whole)}",)]]
    return [*layout[:number], *cut, *layout[number + 1 :]]


def _looked_through(call: Value, depth: int) -> Layout | None:
    """The axes of what a helper gives, in those of what it is given: `self.cut(self.query(x))`"""
    called = callees(call)
    helper = called[0] if len(called) == 1 else None
    function = helper.function if helper is not None else None
    if (
        helper is None
        or helper.kind != "function"
        or helper.module is None
        or not isinstance(function, ast.FunctionDef)
    ):
        return None
    if len(function.gives) != 1 or function.yields or function.decorator_list or has_stars(call.node):
        return None
    inner = _layout(Value(helper.module, function.gives[0]), depth - 1)
    if inner is None:
        return None
    given: dict[int, Layout | None] = {}
    names = function.args.args[1:] if helper.owner is not None else function.args.args
    for place, name in enumerate(names):
        tensor = argument(call.node, name.arg, place)
        given[id(name)] = _layout(call.at(tensor, ()), depth - 1) if tensor is not None else None
    return [[_seen_from(call, factor, given) for factor in axis] for axis in inner]


def _seen_from(call: Value, factor: Factor, given: dict[int, Layout | None]) -> Factor:
    """What a size of a helper is where it is called; its own names mean nothing there."""
    if _is_axis(factor):
        layout = given.get(factor[0])
        is_one = layout is not None and factor[1] < len(layout) and len(layout[factor[1]]) == 1
        return layout[factor[1]][0] if is_one else (f"{factor} in {id(call.node)}",)
    stays = factor == _UNKNOWN or factor[0].startswith("self.") or factor[0].isdigit()
    return factor if stays else (f"{factor[0]} in {id(call.node)}",)


def _arranged(source: Value, call: ast.Call, depth: int) -> Layout | None:
    names = {c.name for c in callees(source)}
    word = last_word(call.func)
    if (through := _looked_through(source, depth)) is not None:
        return through
    given = next(_given(call, names), None)
    if given is None or not names:
        return None
    inner = source.at(given, ())
    if names <= {"torch.nn.Linear()"} or names <= _OF_LAYERS and leaves_axes(source):
        layout = _layout(inner, depth - 1)
        return layout and [*layout[:-1], [(f"out of {id(call)}",)]]
    if names <= _PRODUCTS or names <= _ATTENDS:
        return _multiplied(source, call, names <= _ATTENDS, depth)
    if names <= _MASKS and (layout := _layout(inner, depth - 1)) is not None:
        return layout if len(layout) > _MASKED and all(layout) else None
    if names <= _SAME or names <= _FROM_ARRAY or word in ("contiguous", "clone", "float"):
        return _layout(inner, depth - 1)
    if word in ("view", "reshape") and names <= {".view", ".reshape"}:
        sizes = _sizes(call)
        layout = [_factors(source.module, size) for size in sizes]
        if len(sizes) < 2 or layout.count([_UNKNOWN]) > 1 or any(isinstance(size, ast.Starred) for size in sizes):
            return None
        return [_merged(axis, _layout(inner, depth - 1)) if len(axis) > 1 else axis for axis in layout]
    if word == "flatten" and names <= {".flatten", "torch.flatten"}:
        return _flattened(_layout(inner, depth - 1), call)
    if word in ("transpose", "permute", "swapaxes") and names <= {".transpose", ".permute", ".swapaxes"}:
        return _turned(_layout(inner, depth - 1), word, [_number(a) for a in _sizes(call)])
    return None


def _multiplied(source: Value, call: ast.Call, attends: bool, depth: int) -> Layout | None:
    """The axes of `torch.matmul(weights, values)`, and of `F.scaled_dot_product_attention(q, k, v)`"""
    if attends:
        given = [argument(call, name, place) for name, place in (("query", 0), ("value", 2))]
    elif len(call.args) == 1 and isinstance(call.func, ast.Attribute):
        given = [call.func.value, call.args[0]]
    else:
        given = [*call.args] if len(call.args) == 2 else []
    if len(given) != 2 or None in given or any(isinstance(one, ast.Starred) for one in given):
        return None
    return _product_of(*(_layout(source.at(one, ()), depth - 1) for one in given))


def _merged(axis: list[Factor], before: Layout | None) -> list[Factor]:
    """The factors of an axis in the order of the axes before, if they stood there side by side, each once."""
    flat = _flat(before or [])
    if any(flat.count(factor) != 1 or not _is_axis(factor) for factor in axis):
        return axis
    ordered = sorted(axis, key=flat.index)
    first = flat.index(ordered[0])
    return _Merged(ordered) if flat[first : first + len(axis)] == ordered else axis


def _flattened(before: Layout | None, call: ast.Call) -> Layout | None:
    """`x.flatten(0, 1)`, with its two numbers"""
    places = [_number(given) for given in call.args[-2:]]
    if before is None or len(places) != 2 or call.keywords or None in places:
        return None
    first, last = (place % len(before) for place in places)
    together = _flat(before[first : last + 1])
    return [*before[:first], _Merged(together) if all(map(_is_axis, together)) else together, *before[last + 1 :]]


def _given(call: ast.Call, names: set[str]) -> Iterator[ast.expr]:
    """The tensor that a call is about."""
    if names and all(name.startswith(".") for name in names):
        if isinstance(call.func, ast.Attribute):
            yield call.func.value
    elif call.args and not isinstance(call.args[0], ast.Starred):
        yield call.args[0]


def _number(node: ast.expr) -> int | None:
    sign = -1 if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else 1
    node = node.operand if sign < 0 else node
    return sign * node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None


def _turned(layout: Layout | None, word: str, places: list[int | None]) -> Layout | None:
    if layout is None or None in places or any(not -len(layout) <= p < len(layout) for p in places):
        return None
    if word == "permute":
        return [layout[p] for p in places] if len(places) == len(layout) else None
    if len(places) != 2:
        return None
    turned = list(layout)
    turned[places[0]], turned[places[1]] = layout[places[1]], layout[places[0]]
    return turned
