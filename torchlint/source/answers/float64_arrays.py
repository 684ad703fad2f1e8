"""The dtype of NumPy expressions, and where a float64 array reaches a float32 model as a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from torchlint.facts import named, named_of
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.kinds import MODULE, TENSOR, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import EACH, Value, frame_of
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import argument, dumped, first_argument
from torchlint.source.training.filled import read_of
from torchlint.source.training.keyword_values import keyword_names
from torchlint.source.training.members import class_has_weights

FLOAT64, FLOAT32, INT, SCALAR_FLOAT, SCALAR_INT = "float64", "float32", "int", "python float", "python int"
SMALL = "small int"  # up to 16 bits, booleans too: beside float32 the result is float32
_ARRAYS = frozenset((FLOAT64, FLOAT32, INT, SMALL))
CONVERSIONS = frozenset(("torch.from_numpy", "torch.tensor", "torch.as_tensor", "torch.asarray"))
# What leaves the dtype of a tensor as it is.
SAME_DTYPE = named("same_numbers", but="casts") | {"[]", ".T"}
_FLOATS = frozenset(
    "zeros ones empty linspace logspace eye identity geomspace hanning hamming loadtxt genfromtxt random.rand"
    " random.randn random.random random.uniform random.normal random.standard_normal random.random_sample random.ranf"
    " random.sample random.beta random.gamma random.exponential random.laplace random.logistic random.lognormal"
    " random.poisson_float random.triangular random.multivariate_normal random.standard_t random.dirichlet".split()
)
_DTYPE_POSITION = {
    "zeros": 1,
    "ones": 1,
    "empty": 1,
    "array": 1,
    "asarray": 1,
    "full": 2,
    "linspace": 5,
    "loadtxt": 1,
    "genfromtxt": 1,
    "ascontiguousarray": 1,
}
_FLOATING_RESULT = frozenset(
    "sin cos tan tanh arctan arctan2 exp expm1 log log2 log10 log1p sqrt deg2rad radians mean std var hypot".split()
)
_SAME = frozenset(
    "abs absolute clip reshape transpose expand_dims squeeze tile repeat flip roll sort copy ravel pad diff cumsum sum"
    " max min maximum minimum zeros_like ones_like empty_like stack concatenate vstack hstack column_stack dstack where"
    " dot matmul outer power square multiply add subtract array asarray ascontiguousarray meshgrid atleast_2d"
    " nan_to_num interp take split array_split random.permutation random.choice full_like".split()
)
_SAME_METHODS = frozenset(
    "reshape transpose copy flatten ravel squeeze clip sum max min cumsum repeat dot take round swapaxes".split()
)
_GENERATORS = frozenset(
    "random uniform normal standard_normal rand randn random_sample beta gamma exponential laplace".split()
)


def dtype_of(value: Value, depth: int = 10) -> str | None:
    """The dtype of an array (or sort of a Python number), None if it is not known."""
    return None if depth <= 0 or value.node is None else _dtype_of(value, depth)


@remembered(by=1)
def _dtype_of(value: Value, depth: int) -> str | None:
    found = {_origin(o, depth) for o in origins(value)}
    return found.pop() if len(found) == 1 else None


def _origin(origin: Value, depth: int) -> str | None:
    node = origin.node
    if depth <= 0:
        return None
    if isinstance(node, ast.Constant) and not origin.path:
        return SCALAR_FLOAT if isinstance(node.value, float) else SCALAR_INT if type(node.value) is int else None
    if isinstance(node, ast.UnaryOp):
        return dtype_of(origin.at(node.operand, ()), depth - 1)
    if isinstance(node, ast.BinOp):
        return _combined(origin, node.left, node.right, isinstance(node.op, ast.Div), depth)
    if isinstance(node, ast.AugAssign):  # in place, so that an array stays what it is
        before = dtype_of(origin.at(read_of(node), ()), depth - 1) if isinstance(node.target, ast.Name) else None
        return before if before in _ARRAYS else None
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Tuple)
        and external_name(origin.at(node.value, ())) in ("numpy.c_", "numpy.r_")
    ):
        return _promote([dtype_of(origin.at(part, ()), depth - 1) for part in node.slice.elts])
    if isinstance(node, ast.Subscript):
        inner = dtype_of(origin.at(node.value, ()), depth - 1)
        return inner if inner in _ARRAYS else None
    if isinstance(node, ast.Attribute):
        if node.attr == "T":
            return dtype_of(origin.at(node.value, ()), depth - 1)
        if external_name(origin) in ("numpy.pi", "math.pi", "numpy.e"):
            return SCALAR_FLOAT
        if node.attr == "data" and _is_sklearn_dataset(origin.at(node.value, ())):
            return FLOAT64
        return None
    if isinstance(node, ast.Call):
        found = {_call(origin, callee, depth) for callee in callees(origin)}
        return found.pop() if len(found) == 1 else None
    return None


def _combined(origin: Value, left: ast.expr, right: ast.expr, division: bool, depth: int) -> str | None:
    return _promote([dtype_of(origin.at(left, ()), depth - 1), dtype_of(origin.at(right, ()), depth - 1)], division)


def _promote(parts: list[str | None], floating: bool = False) -> str | None:
    if None in parts or not parts:
        return None
    if FLOAT64 in parts:
        return FLOAT64
    if FLOAT32 in parts:
        return FLOAT32 if INT not in parts else FLOAT64
    if INT in parts or SMALL in parts:
        return FLOAT64 if SCALAR_FLOAT in parts or floating else INT if INT in parts else SMALL
    return SCALAR_FLOAT if SCALAR_FLOAT in parts or floating else SCALAR_INT


def _call(origin: Value, callee, depth: int) -> str | None:
    node: ast.Call = origin.node
    name = callee.name
    if callee.kind == "external" and name.startswith("numpy."):
        return _numpy(origin, name[6:], depth)
    if callee.kind == "external" and name.startswith("sklearn."):
        return _sklearn(origin, name.rsplit(".", 1)[1], depth)
    if name in ("builtins.float", "math.sqrt", "math.sin", "math.cos", "math.exp"):
        return SCALAR_FLOAT
    if callee.kind != "method":
        return None
    method, receiver = name[1:], callee.receiver
    if method == "astype":
        return (
            _named_dtype(origin.at((node.args or [k.value for k in node.keywords])[0], ()))
            if node.args or node.keywords
            else None
        )
    makers = {c.name for o in origins(receiver) if isinstance(o.node, ast.Call) for c in callees(o)}
    if makers and makers <= {"numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator"}:
        return (_given_dtype(origin, None) or FLOAT64) if method in _GENERATORS else None
    if method in ("fit_transform", "transform") and any(m.endswith(("Scaler", "PCA")) for m in makers) and node.args:
        inner = dtype_of(origin.at(node.args[0], ()), depth - 1)
        return (
            FLOAT64 if inner in (FLOAT64, INT, SMALL) or _is_read_frame(origin.at(node.args[0], ()), depth) else inner
        )
    inner = dtype_of(receiver, depth - 1)
    if method in ("mean", "std", "var"):
        return FLOAT64 if inner in (FLOAT64, INT, SMALL) else inner
    if method in ("sum", "cumsum") and inner == SMALL:
        return INT
    return inner if method in _SAME_METHODS and inner in _ARRAYS else None


def _is_read_frame(value: Value, depth: int) -> bool:
    """A table that pandas has read, or columns of it, in whichever of its own dtypes: float64, or integers."""
    return depth > 0 and all(_is_of_a_frame(origin, depth) for origin in origins(value))


def _is_of_a_frame(origin: Value, depth: int) -> bool:
    node = origin.node
    if isinstance(node, ast.Subscript):
        return _is_read_frame(origin.at(node.value, ()), depth - 1)
    if isinstance(node, ast.Attribute):
        return node.attr in ("values", "iloc", "loc") and _is_read_frame(origin.at(node.value, ()), depth - 1)
    if not isinstance(node, ast.Call) or origin.path or any(k.arg in ("dtype", None) for k in node.keywords):
        return False
    names = {callee.name for callee in callees(origin)}
    if names <= {"pandas.read_csv", "pandas.read_excel"}:
        return bool(names)
    return names <= {".drop", ".dropna", ".to_numpy", ".copy", ".reset_index", ".fillna"} and _is_read_frame(
        origin.at(node.func.value, ()), depth - 1
    )


def _numpy(origin: Value, name: str, depth: int) -> str | None:
    node: ast.Call = origin.node
    last = name.rsplit(".", 1)[-1]
    given = _given_dtype(origin, _DTYPE_POSITION.get(name))
    if given:
        return None if given == "unknown" else given
    if name in ("float32", "float64"):
        return name
    if name in _FLOATS:
        return FLOAT64
    if name in ("random.randint", "arange", "full", "random.choice") or (
        last in ("array", "asarray", "ascontiguousarray") and node.args
    ):
        if name == "random.randint":
            return INT
        if name == "full":
            parts = [dtype_of(origin.at(node.args[1], ()), depth - 1)] if len(node.args) > 1 else [None]
        elif name == "arange":
            parts = [dtype_of(origin.at(a, ()), depth - 1) for a in node.args]
        else:
            data = first_argument(node, "a", "object")
            return _listed(origin, data, depth) if data is not None else None
        whole = _promote(parts)
        return FLOAT64 if whole == SCALAR_FLOAT else INT if whole == SCALAR_INT else whole
    if name in _FLOATING_RESULT and node.args:
        inner = _promote([dtype_of(origin.at(a, ()), depth - 1) for a in node.args])
        if inner == SMALL:
            return FLOAT64 if name in ("mean", "std", "var") else None
        return FLOAT64 if inner in (FLOAT64, INT, SCALAR_FLOAT, SCALAR_INT) else inner
    if name in _SAME and node.args:
        arguments = node.args[1:] if name == "where" and len(node.args) == 3 else node.args[:1]
        if name in (
            "dot",
            "matmul",
            "outer",
            "power",
            "multiply",
            "add",
            "subtract",
            "maximum",
            "minimum",
            "concatenate",
            "stack",
            "vstack",
            "hstack",
            "column_stack",
        ):
            arguments = (
                node.args[0].elts
                if isinstance(node.args[0], (ast.List, ast.Tuple))
                else node.args[: 1 if name.endswith("stack") or name == "concatenate" else 2]
            )
        whole = _promote([dtype_of(origin.at(a, ()), depth - 1) for a in arguments])
        return INT if whole == SMALL and name in ("sum", "cumsum") else whole
    return None


def _listed(origin: Value, data: ast.expr, depth: int) -> str | None:
    """`np.array([...])`: the numbers in a literal decide."""
    found = set()
    for source in origins(origin.at(data, ())):
        if isinstance(source.node, (ast.List, ast.Tuple)):
            numbers = [n for n in ast.walk(source.node) if isinstance(n, ast.Constant)]
            others = [
                n for n in ast.walk(source.node) if isinstance(n, (ast.Name, ast.Call, ast.Attribute, ast.Starred))
            ]
            if numbers and not others:
                found.add(
                    FLOAT64
                    if any(isinstance(n.value, float) for n in numbers)
                    else INT
                    if all(type(n.value) is int for n in numbers)
                    else None
                )
            elif (
                numbers
                and any(isinstance(n.value, float) for n in numbers)
                and all(isinstance(n, ast.Name) for n in others)
            ):
                found.add(
                    FLOAT64
                    if all(dtype_of(source.at(n, ()), depth - 1) in (SCALAR_FLOAT, SCALAR_INT) for n in others)
                    else None
                )
            else:
                found.add(None)
        elif isinstance(source.node, (ast.ListComp, ast.GeneratorExp)):
            inner = dtype_of(source.at(source.node.elt, ()), depth - 1)
            found.add(FLOAT64 if inner in (SCALAR_FLOAT, FLOAT64) else None)
        else:
            inner = _origin(source, depth - 1)
            found.add(inner if inner in _ARRAYS else None)
    return found.pop() if len(found) == 1 else None


def _given_dtype(origin: Value, position: int | None) -> str | None:
    """The dtype that a call names; `unknown` for one that cannot be read."""
    node: ast.Call = origin.node
    given = next((k.value for k in node.keywords if k.arg == "dtype"), None)
    if given is None and position is not None and len(node.args) > position:
        given = node.args[position]
    if given is None:
        return "unknown" if any(k.arg is None for k in node.keywords) else None
    return _named_dtype(origin.at(given, ())) or "unknown"


def _named_dtype(value: Value) -> str | None:
    node = value.node
    word = (
        str(node.value)
        if isinstance(node, ast.Constant)
        else (external_name(value) or last_word(node)).rsplit(".", 1)[-1]
    )
    if word in ("float64", "double", "float", "float_", "f8", "d"):
        return FLOAT64
    if word in ("float32", "single", "f4", "f"):
        return FLOAT32
    if word.rstrip("_") in ("bool", "int8", "uint8", "int16", "uint16"):
        return SMALL
    return INT if word.startswith(("int", "uint", "long")) or word in ("i8", "i4") else None


def _sklearn(origin: Value, name: str, depth: int) -> str | None:
    node: ast.Call = origin.node
    if name.startswith("make_") and origin.path:
        return FLOAT64 if origin.path[0] == 0 or name in ("make_regression", "make_friedman1") else INT
    if name.startswith(("load_", "fetch_")) and origin.path and any(k.arg == "return_X_y" for k in node.keywords):
        return FLOAT64 if origin.path[0] == 0 else None
    if name == "train_test_split" and origin.path and isinstance(origin.path[0], int):
        place = origin.path[0] // 2
        return dtype_of(origin.at(node.args[place], ()), depth - 1) if place < len(node.args) else None
    if name in ("scale", "minmax_scale", "normalize") and node.args:
        return dtype_of(origin.at(node.args[0], ()), depth - 1)
    return None


def _is_sklearn_dataset(value: Value) -> bool:
    return any(
        c.name.startswith("sklearn.datasets.load_") or c.name.startswith("sklearn.datasets.fetch_")
        for o in origins(value)
        if isinstance(o.node, ast.Call)
        for c in callees(o)
    )


# Where it goes


class Arrival(NamedTuple):
    """A conversion of an array whose tensor reaches a layer (or a loss, as a target) in the dtype it had."""

    conversion: Value
    node: ast.Call | ast.Assign  # that of a layer or loss, or of the weights that it becomes
    is_target: bool

    @property
    def what(self) -> ast.expr:
        """The layer, loss or weight, as it is written."""
        return self.node.func if isinstance(self.node, ast.Call) else self.node.targets[0]


@remembered
def arrivals(module: Module) -> dict[int, Arrival]:
    """By the id of the conversion's call: the first layer or loss that its tensor reaches without a cast."""
    found: dict[int, Arrival] = {}
    set_weights = [(s, list(_conversions(Value(module, weights), 6))) for s, weights in _weights_set(module)]
    whole = _all_set([statement for statement, conversions in set_weights if conversions])
    for call in module.index.calls:
        if whole and (enclosing_function(call), dumped(call.func)) in whole:
            continue
        for given, is_target in _watched(module, call):
            for conversion in _conversions(Value(module, given), 6):
                found.setdefault(id(conversion.node), Arrival(conversion, call, is_target))
    for statement, conversions in set_weights:
        if (enclosing_function(statement), _part_of_a_layer(statement.targets[0])[0]) not in whole:
            for conversion in conversions:
                found.setdefault(id(conversion.node), Arrival(conversion, statement, False))
    return found


def _all_set(statements: list[ast.Assign]) -> set[tuple[ast.AST | None, str]]:
    """The layers that get their weight and their bias in one function, so that all of them is in one dtype, maybe that
    of their input: by function and spelling.
    """
    parts: dict[tuple[ast.AST | None, str], set[str]] = {}
    for statement in statements:
        layer, part = _part_of_a_layer(statement.targets[0])
        parts.setdefault((enclosing_function(statement), layer), set()).add(part)
    return {layer for layer, own in parts.items() if own == {"weight", "bias"}}


def _part_of_a_layer(target: ast.expr) -> tuple[str, str]:
    """`fc`, `weight` of `fc.weight.data`."""
    weight = target.value if target.attr == "data" else target
    return dumped(weight.value), weight.attr


def _weights_set(module: Module) -> Iterator[tuple[ast.Assign, ast.expr]]:
    """The tensors that become the weights of a layer as they are: `layer.weight.data = x`, `layer.weight =
    nn.Parameter(x)`. `copy_` casts.
    """
    stored = [*module.index.stored("data"), *module.index.stored("weight"), *module.index.stored("bias")]
    for target in stored:
        weight = target.value if target.attr == "data" else target
        if not isinstance(target.up, ast.Assign) or not isinstance(weight, ast.Attribute):
            continue
        if weight.attr not in ("weight", "bias") or kinds(Value(module, weight.value)) != {MODULE}:
            continue
        value = target.up.value
        if isinstance(value, ast.Call) and value.args and last_word(value.func) == "Parameter":
            value = value.args[0]
        if not any(kinds(Value(module, call.func.value)) == {MODULE} for call in _float_calls(module)):
            yield target.up, value


def _float_calls(module: Module) -> list[ast.Call]:
    """The calls of `.float()` in the file: of a module, one casts all of its weights."""
    return [call for call in module.index.callers("float") if isinstance(call.func, ast.Attribute)]


def _watched(module: Module, call: ast.Call) -> Iterator[tuple[ast.expr, bool]]:
    """The arguments of a call that a float32 layer computes with, and the targets of losses."""
    if not call.args and not call.keywords:
        return
    known = callees(Value(module, call))
    names = {c.name for c in known}
    if known and all(c.kind == "object" and c.owner is not None and c.owner.is_module for c in known):
        method = known[0].function
        foreign = any(
            name is None or not name.startswith(("torch.", "lightning.", "pytorch_lightning.", "builtins."))
            for c in known
            for name in c.owner.foreign
        )
        with_weights = any(class_has_weights(c.owner) for c in known)
        casts = method is None or _casts_its_input(known[0].module, method)
        if not foreign and with_weights and not casts and call.args:
            yield call.args[0], False
    elif names and names <= _COMPUTING and not any(_begins_with_own_code(c) for c in known):
        yield from ((a, False) for a in call.args[:1])
    elif names and names <= _WEIGHTED:
        weights = [k.value for k in call.keywords if k.arg == "weight"] or call.args[:1] * all(
            not n.islower() for n in (m.rsplit(".", 1)[1] for m in names)
        )
        yield from ((w, False) for w in weights)
    elif names and names <= _WITH_KERNEL and len(call.args) > 1 and _is_float32(Value(module, call.args[0])):
        yield call.args[1], False
    elif names and names <= _LOSSES and len(call.args) > 1:
        if not all(_conversions(Value(module, given), 6) for given in call.args[:2]):  # else they agree
            yield call.args[0], False
            yield call.args[1], True
    elif not known and isinstance(call.func, ast.Name) and kinds(Value(module, call.func)) == {MODULE} and call.args:
        yield call.args[0], False


def _begins_with_own_code(callee) -> bool:
    """Is the first layer of a Sequential of a class of the project, which may cast?"""
    if callee.name != "torch.nn.Sequential()" or callee.made is None or not callee.made.node.args:
        return False
    first = origins(callee.made.at(callee.made.node.args[0], ()))
    return any(
        isinstance(o.node, ast.Call)
        and any(
            c.kind == "class" and (m := c.owner.method("forward")) and _casts_its_input(m.module, m.node)
            for c in callees(o)
        )
        for o in first
    )


def _casts_its_input(module: Module, method: ast.FunctionDef, depth: int = 3) -> bool:
    """Does a forward care for the dtype of what it gets, itself or where it hands that on?"""
    if any(getattr(n, "attr", getattr(n, "arg", "")) in _CASTS for n in ast.walk(method)):  # also `dtype=` of a call
        return True
    taken = {a.arg for a in method.args.args[1:]}
    return depth > 0 and any(
        _begins_with_own_code(callee)
        or isinstance(callee.function, ast.FunctionDef)
        and _casts_its_input(callee.module, callee.function, depth - 1)
        for call in module.index.inside(method, ast.Call)
        if any(isinstance(given, ast.Name) and given.id in taken for given in call.args)
        for callee in callees(Value(module, call))
    )


_CASTS = frozenset("float type type_as half double dtype to".split())
_COMPUTING = named("weights", "keeps_input", home="nn") | {"torch.nn.Sequential()"}
_LOSSES = named_of(
    *"mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits".split()
)


# A class weight must have the dtype of the scores.
_WEIGHTED = frozenset(
    (
        "torch.nn.CrossEntropyLoss",
        "torch.nn.NLLLoss",
        "torch.nn.functional.cross_entropy",
        "torch.nn.functional.nll_loss",
    )
)
_WITH_KERNEL = named_of(*"conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d linear".split())
_DRAWN = frozenset("torch.rand torch.randn torch.zeros torch.ones torch.full torch.linspace".split())


def _is_float32(tensor: Value) -> bool:
    """Is it plain that a tensor has torch's own dtype: made by torch, or what a forward is given?"""
    made = origins(tensor, SAME_DTYPE)
    return bool(made) and all(
        (
            isinstance(o.node, ast.arg) and o.node.up.up.name == "forward" and kinds(o) == {TENSOR}
            if isinstance(o.node, ast.arg)
            else isinstance(o.node, ast.Call)
            and {c.name for c in callees(o)} <= _DRAWN
            and not any(k.arg == "dtype" for k in o.node.keywords)
        )
        for o in made
    )


def _conversions(value: Value, depth: int) -> list[Value]:
    """The conversions of arrays that a tensor may come from, through loaders and datasets, as long as nothing casts
    it.
    """
    return _converted(value, depth) if depth else []


@remembered(meanwhile=[])
def _converted(value: Value, depth: int) -> list[Value]:
    return list({origin.key: origin for origin in _conversions_in(value, depth)}.values())


def _conversions_in(value: Value, depth: int) -> Iterator[Value]:
    for origin in origins(value, SAME_DTYPE):
        node = origin.node
        if isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                yield from _conversions(origin.at(side, ()), depth - 1)
        if isinstance(node, ast.Attribute) and node.attr == "T":
            yield from _conversions(origin.at(node.value, ()), depth - 1)
        if not isinstance(node, ast.Call):
            continue
        for callee in callees(origin):
            if callee.name in CONVERSIONS and not origin.path:
                yield origin
            elif callee.name == ".to" and not _is_cast(origin):
                yield from _conversions(callee.receiver, depth - 1)
            elif callee.name == "torch.utils.data.DataLoader" and origin.path[:1] == (EACH,) and node.args:
                if _puts_together_as_they_are(origin):
                    yield from _items(origin.at(node.args[0], ()), origin.path[1:], depth - 1)
            elif callee.name in ("builtins.next", "builtins.iter") and node.args:
                steps = (EACH, *origin.path) if callee.name == "builtins.next" else origin.path
                yield from _conversions(origin.at(node.args[0], steps), depth - 1)


def _puts_together_as_they_are(loader: Value) -> bool:
    """Has a batch of a loader certainly the dtypes of its items, since torch's own `collate_fn` makes it?"""
    given = argument(loader.node, "collate_fn", 6)
    if given is None:
        names = keyword_names(loader)
        return names is not None and "collate_fn" not in names
    return all(_is_of_torch(origin) for origin in origins(loader.at(given, ())))


def _is_of_torch(collate: Value) -> bool:
    if isinstance(collate.node, ast.Constant):
        return collate.node.value is None
    return (external_name(collate) or "").endswith(".default_collate")


def _items(dataset: Value, path: tuple, depth: int) -> Iterator[Value]:
    """What a dataset hands out, part `path` of an item."""
    for origin in origins(dataset):
        if not isinstance(origin.node, ast.Call):
            continue
        for callee in callees(origin):
            arguments = origin.node.args
            if (
                callee.name == "torch.utils.data.TensorDataset"
                and path
                and isinstance(path[0], int)
                and path[0] < len(arguments)
            ):
                yield from _conversions(origin.at(arguments[path[0]], ()), depth)
            elif callee.name in ("torch.utils.data.random_split", "torch.utils.data.Subset") and arguments:
                yield from _items(origin.at(arguments[0], ()), path, depth - 1)
            elif callee.kind == "class" and callee.owner is not None:
                method = callee.owner.method("__getitem__")
                for returned in method.node.gives if method else ():
                    frame = frame_of(origin.module, method.node, None, origin)
                    yield from _certain(Value(method.module, returned, frame, path), depth - 1)


def _certain(value: Value, depth: int) -> list[Value]:
    """The same where every way leads to a conversion: none goes through a transform, which may cast."""
    ways = [_conversions(origin, depth) for origin in origins(value, SAME_DTYPE)]
    return [conversion for way in ways for conversion in way] if all(ways) else []


def _is_cast(origin: Value) -> bool:
    """`x.to(torch.float32)`, `x.to(device, torch.float32)`, `x.to(dtype=…)`, `x.to(other)`: anything but a plain
    move.
    """
    call: ast.Call = origin.node
    if len(call.args) != 1 or any(k.arg in ("dtype", None) for k in call.keywords):
        return any(k.arg in ("dtype", None) for k in call.keywords) or len(call.args) > 1
    name = external_name(origin.at(call.args[0], ())) or ""
    word = last_word(call.args[0])
    return (
        (name.startswith("torch.") and name != "torch.device")
        or word in ("dtype", "float32", "float")
        or (
            isinstance(call.args[0], (ast.Name, ast.Attribute))
            and not any(part in word.lower() for part in ("dev", "cuda", "gpu", "rank"))
        )
    )
