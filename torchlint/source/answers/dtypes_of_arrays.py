"""The dtype of NumPy expressions."""

from __future__ import annotations

import ast

from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.text.spelling import first_argument
from torchlint.source.training.filled import read_of

FLOAT64, FLOAT32, INT, SCALAR_FLOAT, SCALAR_INT = "float64", "float32", "int", "python float", "python int"
SMALL = "small int"  # up to 16 bits, booleans too: beside float32 the result is float32
COMPLEX = "complex128"
_ARRAYS = frozenset((FLOAT64, FLOAT32, INT, SMALL, COMPLEX))
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
    "clip reshape transpose expand_dims squeeze tile repeat flip roll sort copy ravel pad diff cumsum sum"
    " max min maximum minimum zeros_like ones_like empty_like stack concatenate vstack hstack column_stack dstack where"
    " dot matmul outer power square multiply add subtract array asarray ascontiguousarray meshgrid atleast_2d"
    " nan_to_num interp take split array_split random.permutation random.choice full_like".split()
)
_REAL = frozenset("abs absolute real imag angle".split())  # of complex numbers
_TRANSFORMS = frozenset(f"fft.{way}fft{axes}" for way in ("", "i", "r", "ir") for axes in ("", "2", "n"))
_SAME_METHODS = frozenset(
    "reshape transpose copy flatten ravel squeeze clip sum max min cumsum repeat dot take round swapaxes".split()
)
_GENERATORS = frozenset(
    "random uniform normal standard_normal rand randn random_sample beta gamma exponential laplace".split()
)


def dtype_of(value: Value, depth: int = 20) -> str | None:
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
        if node.attr in ("real", "imag") and dtype_of(origin.at(node.value, ()), depth - 1) == COMPLEX:
            return FLOAT64
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
    if COMPLEX in parts:
        return COMPLEX
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
        is_sized = len(node.args) > 2 or any(k.arg == "size" for k in node.keywords)
        usual = FLOAT64 if method in _GENERATORS else INT if method in ("integers", "randint") and is_sized else None
        return (_given_dtype(origin, None) or usual) if usual else None
    if method in ("fit_transform", "transform") and any(m.endswith(("Scaler", "PCA")) for m in makers) and node.args:
        inner = dtype_of(origin.at(node.args[0], ()), depth - 1)
        return (
            FLOAT64 if inner in (FLOAT64, INT, SMALL) or _is_read_frame(origin.at(node.args[0], ()), depth) else inner
        )
    inner = dtype_of(receiver, depth - 1)
    if method in ("mean", "std", "var"):
        return None if inner == COMPLEX else FLOAT64 if inner in (FLOAT64, INT, SMALL) else inner
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
    if name in _REAL and node.args:
        inner = dtype_of(origin.at(node.args[0], ()), depth - 1)
        return FLOAT64 if inner == COMPLEX else inner if name != "angle" else None
    if name in _TRANSFORMS and node.args:
        inner = dtype_of(origin.at(node.args[0], ()), depth - 1)
        given = FLOAT64 if name in ("fft.irfft", "fft.irfft2", "fft.irfftn") else COMPLEX
        return given if inner in (FLOAT64, INT, COMPLEX) else None
    if name in ("random.randint", "arange", "full", "random.choice") or (
        last in ("array", "asarray", "ascontiguousarray") and node.args
    ):
        if name == "random.randint":
            return INT
        if name == "full":
            parts = [dtype_of(origin.at(node.args[1], ()), depth - 1)] if len(node.args) > 1 else [None]
        elif name == "arange":
            parts = [dtype_of(origin.at(a, ()), depth - 1) for a in node.args]
            parts = [SCALAR_INT] if parts == [None] else parts  # of a count that nobody gives
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
            joins = name.endswith("stack") or name == "concatenate"
            is_display = isinstance(node.args[0], (ast.List, ast.Tuple))
            if joins and not is_display and (each := _of_each(origin.at(node.args[0], ()), depth)) is not None:
                return each
            arguments = node.args[0].elts if is_display else node.args[: 1 if joins else 2]
        whole = _promote([dtype_of(origin.at(a, ()), depth - 1) for a in arguments])
        return INT if whole == SMALL and name in ("sum", "cumsum") else whole
    return None


def _of_each(arrays: Value, depth: int) -> str | None:
    """`series[i : i + 9] for i in range(90)`: the dtype of the arrays that are joined."""
    made = origins(arrays)
    listed = [o for o in made if isinstance(o.node, (ast.ListComp, ast.GeneratorExp)) and not o.path]
    found = {dtype_of(o.at(o.node.elt, ()), depth - 1) for o in listed}
    each = found.pop() if len(found) == 1 and len(listed) == len(made) else None
    return each if each in _ARRAYS else None


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
