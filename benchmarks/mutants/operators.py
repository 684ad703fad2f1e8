"""Mistakes that can be put into a training program at one line, so that all other lines stay where they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

Edit = tuple[ast.AST, str]  # a node and what stands in its place

_LOSSES = re.compile(r"loss|criterion|entropy|nll|mse|bce", re.IGNORECASE)
_MODELS = re.compile(r"model|net|^G$|^D$|generator|discriminator|encoder|decoder|policy|actor|critic|vae|classifier")
_OPTIMIZERS = frozenset({"Adam", "AdamW", "SGD", "RMSprop", "Adadelta", "Adagrad", "NAdam", "RAdam", "LBFGS"})
_MADE = frozenset({"zeros", "ones", "randn", "rand", "full", "arange", "randint", "tensor", "eye", "normal", "empty"})


class Mutant(NamedTuple):
    """One mistake: its class (`step`, `data`, `device` or `shape`), its name, the line, and the text that has it."""

    kind: str
    operator: str
    line: int
    text: str


class Site(NamedTuple):
    """A node with the statement it is in and its source."""

    node: ast.AST
    statement: ast.stmt
    source: Callable[[ast.AST], str]


Operator = Callable[[Site], Iterator[Edit]]
OPERATORS: dict[str, tuple[str, Operator]] = {}


def mistake(kind: str) -> Callable[[Operator], Operator]:
    def enter(operator: Operator) -> Operator:
        OPERATORS[operator.__name__] = kind, operator
        return operator

    return enter


def _called(node: ast.AST) -> str:
    """The last word of what is called."""
    func = node.func if isinstance(node, ast.Call) else None
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _is_backward(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward"


def _is_loss(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and len(node.args) >= 2 and bool(_LOSSES.search(_called(node)))


def _is_forward(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and bool(node.args)
        and bool(_MODELS.search(_called(node)))
        and _called(node).islower()
        and not isinstance(node.args[0], (ast.Starred, ast.Constant))
    )


def _one_line(statement: ast.stmt) -> bool:
    return statement.lineno == statement.end_lineno


# The step


@mistake("step")
def detached(site: Site) -> Iterator[Edit]:
    if _is_backward(site.node) and not site.node.args:
        yield site.node.func.value, f"({site.source(site.node.func.value)}).detach()"


@mistake("step")
def backward_twice(site: Site) -> Iterator[Edit]:
    if _is_backward(site.node) and isinstance(site.statement, ast.Expr) and site.statement.value is site.node:
        yield site.statement, f"{site.source(site.statement)}; {site.source(site.statement)}"


@mistake("step")
def backward_of_many(site: Site) -> Iterator[Edit]:
    if _is_backward(site.node) and not site.node.args:
        yield site.node.func.value, f"({site.source(site.node.func.value)}).repeat(3)"


@mistake("step")
def reduction_none(site: Site) -> Iterator[Edit]:
    if isinstance(site.node, ast.Call) and _called(site.node) in (
        *("CrossEntropyLoss", "MSELoss", "BCELoss", "NLLLoss", "BCEWithLogitsLoss", "L1Loss", "SmoothL1Loss"),
        *("cross_entropy", "mse_loss", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"),
    ):
        if not any(k.arg == "reduction" for k in site.node.keywords):
            text = site.source(site.node)
            given = site.node.args or site.node.keywords
            yield site.node, f"{text[:-1].rstrip().rstrip(',')}{', ' if given else ''}reduction='none')"


@mistake("step")
def mean_forgotten(site: Site) -> Iterator[Edit]:
    node = site.node
    if isinstance(node, ast.Call) and _called(node) in ("mean", "sum") and not node.args and not node.keywords:
        if isinstance(node.func, ast.Attribute) and isinstance(site.statement, ast.Assign):
            if _LOSSES.search(site.source(site.statement.targets[0])):
                yield node, site.source(node.func.value)


@mistake("step")
def item_before_backward(site: Site) -> Iterator[Edit]:
    if isinstance(site.statement, ast.Assign) and site.node is site.statement.value and _is_loss(site.node):
        yield site.node, f"{site.source(site.node)}.item()"


@mistake("step")
def loss_without_target(site: Site) -> Iterator[Edit]:
    if _is_loss(site.node) and len(site.node.args) == 2 and not site.node.keywords:
        yield site.node, f"{site.source(site.node.func)}({site.source(site.node.args[0])})"


@mistake("step")
def forward_without_argument(site: Site) -> Iterator[Edit]:
    if _is_forward(site.node):
        rest = ", ".join(site.source(a) for a in (*site.node.args[:-1], *(k.value for k in site.node.keywords)))
        yield site.node, f"{site.source(site.node.func)}({rest})"


@mistake("step")
def forward_with_argument(site: Site) -> Iterator[Edit]:
    if _is_forward(site.node) and not site.node.keywords:
        yield site.node, f"{site.source(site.node)[:-1]}, {site.source(site.node.args[0])})"


@mistake("step")
def forward_without_gradients(site: Site) -> Iterator[Edit]:
    if isinstance(site.statement, ast.Assign) and site.node is site.statement.value and _is_forward(site.node):
        if _one_line(site.statement):
            yield site.statement, f"with torch.no_grad(): {site.source(site.statement)}"


@mistake("step")
def loss_without_gradients(site: Site) -> Iterator[Edit]:
    if isinstance(site.statement, ast.Assign) and site.node is site.statement.value and _is_loss(site.node):
        if _one_line(site.statement):
            yield site.statement, f"with torch.no_grad(): {site.source(site.statement)}"


@mistake("step")
def optimizer_of_nothing(site: Site) -> Iterator[Edit]:
    if isinstance(site.node, ast.Call) and _called(site.node) in _OPTIMIZERS and site.node.args:
        yield site.node.args[0], "[]"


@mistake("step")
def optimizer_of_a_model(site: Site) -> Iterator[Edit]:
    if isinstance(site.node, ast.Call) and _called(site.node) in _OPTIMIZERS and site.node.args:
        given = site.node.args[0]
        if isinstance(given, ast.Call) and _called(given) == "parameters":
            yield given, site.source(given.func.value)


@mistake("step")
def step_before_backward(site: Site) -> Iterator[Edit]:
    if _is_backward(site.node) and isinstance(site.statement, ast.Expr) and site.statement.value is site.node:
        yield site.statement, f"optimizer_step_here(); {site.source(site.statement)}"


@mistake("step")
def changed_in_place(site: Site) -> Iterator[Edit]:
    if _is_loss(site.node) and isinstance(site.statement, ast.Assign) and site.node is site.statement.value:
        first = site.node.args[0]
        if isinstance(first, ast.Name) and _one_line(site.statement):
            yield site.statement, f"{site.source(site.statement)}; {first.id}.zero_()"


@mistake("step")
def target_of_the_other_dtype(site: Site) -> Iterator[Edit]:
    if _is_loss(site.node):
        for cast in ("float", "long"):
            yield site.node.args[1], f"({site.source(site.node.args[1])}).{cast}()"


@mistake("step")
def tuple_not_unpacked(site: Site) -> Iterator[Edit]:
    statement = site.statement
    if isinstance(statement, ast.Assign) and site.node is statement.value and isinstance(site.node, ast.Call):
        target = statement.targets[0]
        if (
            isinstance(target, ast.Tuple)
            and isinstance(target.elts[0], ast.Name)
            and _MODELS.search(_called(site.node))
        ):
            yield target, target.elts[0].id


@mistake("step")
def one_name_too_many(site: Site) -> Iterator[Edit]:
    statement = site.statement
    if isinstance(statement, ast.Assign) and site.node is statement.value and isinstance(site.node, ast.Call):
        target = statement.targets[0]
        if isinstance(target, ast.Tuple) and not isinstance(target.elts[-1], ast.Starred):
            yield target, f"{site.source(target).strip('()')}, one_more"


# Data


@mistake("data")
def inputs_of_doubles(site: Site) -> Iterator[Edit]:
    if _is_forward(site.node):
        yield site.node.args[0], f"({site.source(site.node.args[0])}).double()"


@mistake("data")
def inputs_of_integers(site: Site) -> Iterator[Edit]:
    if _is_forward(site.node):
        yield site.node.args[0], f"({site.source(site.node.args[0])}).long()"


@mistake("data")
def batch_axis_too_many(site: Site) -> Iterator[Edit]:
    if _is_forward(site.node):
        yield site.node.args[0], f"({site.source(site.node.args[0])}).unsqueeze(0)"


@mistake("data")
def targets_without_last(site: Site) -> Iterator[Edit]:
    if _is_loss(site.node):
        yield site.node.args[1], f"({site.source(site.node.args[1])})[:-1]"


@mistake("data")
def targets_with_an_axis(site: Site) -> Iterator[Edit]:
    if _is_loss(site.node):
        yield site.node.args[1], f"({site.source(site.node.args[1])}).unsqueeze(-1)"


@mistake("data")
def cast_forgotten(site: Site) -> Iterator[Edit]:
    node = site.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
        if node.func.attr in ("float", "long", "unsqueeze", "flatten", "squeeze"):
            yield node, site.source(node.func.value)


@mistake("data")
def axis_forgotten(site: Site) -> Iterator[Edit]:
    node = site.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
        if node.func.attr in ("unsqueeze", "squeeze", "permute", "transpose"):
            yield node, site.source(node.func.value)


@mistake("data")
def other_dtype(site: Site) -> Iterator[Edit]:
    node = site.node
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("torch", "np"):
        others = {
            "float32": "float64",
            "long": "float32",
            "int64": "float32",
            "float": "float64",
            "FloatTensor": "LongTensor",
        }
        others["LongTensor"] = "FloatTensor"
        if node.attr in others:
            yield node, f"{node.value.id}.{others[node.attr]}"


@mistake("data")
def transform_forgotten(site: Site) -> Iterator[Edit]:
    if isinstance(site.node, ast.Call) and _called(site.node) == "Compose" and site.node.args:
        given = site.node.args[0]
        parts = given.elts if isinstance(given, ast.List) else []
        for part in parts:
            if _called(part) == "ToTensor":
                yield given, "[" + ", ".join(site.source(p) for p in parts if p is not part) + "]"


@mistake("data")
def loader_has_one_part_more(site: Site) -> Iterator[Edit]:
    statement = site.statement
    if isinstance(statement, ast.For) and site.node is statement.target:
        if "load" in site.source(statement.iter) and isinstance(site.node, ast.Tuple):
            last = site.node.elts[-1]
            inner = last if isinstance(last, ast.Tuple) else site.node
            text = site.source(inner)
            yield inner, f"({text.strip('()')}, one_more)"


@mistake("data")
def item_without_target(site: Site) -> Iterator[Edit]:
    if isinstance(site.statement, ast.Return) and site.node is site.statement.value:
        if isinstance(site.node, ast.Tuple) and len(site.node.elts) == 2:
            yield site.node, site.source(site.node.elts[0])


@mistake("data")
def classes_one_too_few(site: Site) -> Iterator[Edit]:
    node = site.node
    if isinstance(node, ast.Call) and _called(node) == "Linear" and len(node.args) == 2:
        yield node.args[1], f"{site.source(node.args[1])} - 1"


@mistake("data")
def vocabulary_one_too_small(site: Site) -> Iterator[Edit]:
    if isinstance(site.node, ast.Call) and _called(site.node) == "Embedding" and len(site.node.args) >= 2:
        yield site.node.args[0], f"{site.source(site.node.args[0])} - 1"


@mistake("data")
def range_too_wide(site: Site) -> Iterator[Edit]:
    node = site.node
    if isinstance(node, ast.Call) and _called(node) == "randint" and len(node.args) >= 2:
        bound = node.args[1] if not isinstance(node.args[1], (ast.Tuple, ast.List)) else node.args[0]
        yield bound, f"10 * ({site.source(bound)}) + 9"


@mistake("data")
def size_of_what_is_made(site: Site) -> Iterator[Edit]:
    node = site.node
    if isinstance(node, ast.Call) and _called(node) in _MADE - {"tensor", "arange"} and node.args:
        sizes = node.args[0].elts if isinstance(node.args[0], (ast.Tuple, ast.List)) else node.args
        for size in sizes[:2]:
            if not isinstance(size, (ast.Tuple, ast.List, ast.Starred)):
                yield size, f"({site.source(size)}) + 1"


@mistake("data")
def joined_along_another_axis(site: Site) -> Iterator[Edit]:
    node = site.node
    if isinstance(node, ast.Call) and _called(node) in ("cat", "stack", "concat"):
        for given in (*node.args[1:2], *(k.value for k in node.keywords if k.arg in ("dim", "axis"))):
            yield given, f"({site.source(given)} + 1) % 2"


# Devices


@mistake("device")
def never_moved(site: Site) -> Iterator[Edit]:
    node = site.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        words = [site.source(a) for a in node.args]
        if node.func.attr == "cuda" or node.func.attr == "to" and any("dev" in w or "cuda" in w for w in words):
            yield node, site.source(node.func.value)


@mistake("device")
def made_on_the_cpu(site: Site) -> Iterator[Edit]:
    node = site.node
    if isinstance(node, ast.Call):
        kept = [k for k in node.keywords if k.arg != "device"]
        if len(kept) < len(node.keywords):
            parts = [site.source(a) for a in node.args] + [f"{k.arg}={site.source(k.value)}" for k in kept if k.arg]
            yield node, f"{site.source(node.func)}({', '.join(parts)})"


@mistake("device")
def target_on_the_cpu(site: Site) -> Iterator[Edit]:
    if _is_loss(site.node):
        yield site.node.args[1], f"({site.source(site.node.args[1])}).cpu()"


@mistake("device")
def input_on_the_cpu(site: Site) -> Iterator[Edit]:
    if _is_forward(site.node):
        yield site.node.args[0], f"({site.source(site.node.args[0])}).cpu()"


# Sizes


@mistake("shape")
def layer_size(site: Site) -> Iterator[Edit]:
    node = site.node
    if isinstance(node, ast.Call) and _called(node) in ("Linear", "Conv2d", "LayerNorm", "BatchNorm2d", "LSTM", "GRU"):
        if node.args:
            yield node.args[0], f"({site.source(node.args[0])}) + 3"


@mistake("shape")
def another_view(site: Site) -> Iterator[Edit]:
    node = site.node
    if isinstance(node, ast.Call) and _called(node) in ("view", "reshape") and len(node.args) >= 2:
        if isinstance(node.args[-1], ast.Constant) and isinstance(node.args[-1].value, int) and node.args[-1].value > 1:
            yield node.args[-1], str(node.args[-1].value + 1)


def mutants(text: str, executed: set[int]) -> Iterator[Mutant]:
    """All mistakes that can be made on lines that ran."""
    tree = ast.parse(text)
    data = text.encode()
    starts = [0]
    for line in data.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    optimizer = re.search(r"^\s*([\w.]*optim\w*)\.step\(\)", text, re.MULTILINE)

    def span(node: ast.AST) -> tuple[int, int]:
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def source(node: ast.AST) -> str:
        first, last = span(node)
        return data[first:last].decode()

    for statement in ast.walk(tree):
        if not isinstance(statement, ast.stmt) or statement.lineno not in executed:
            continue
        for node in _own_nodes(statement):
            for name, (kind, operator) in OPERATORS.items():
                for old, new in operator(Site(node, statement, source)):
                    if "optimizer_step_here" in new:
                        if optimizer is None:
                            continue
                        new = new.replace("optimizer_step_here", f"{optimizer[1]}.step")
                    first, last = span(old)
                    changed = (data[:first] + new.encode() + data[last:]).decode()
                    if changed.count("\n") != text.count("\n"):
                        continue
                    try:
                        compile(changed, "mutant", "exec")
                    except SyntaxError:
                        continue
                    yield Mutant(kind, name, old.lineno, changed)


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement without those of statements in it."""
    yield statement
    stack = [child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt)]
    while stack:
        node = stack.pop()
        yield node
        stack += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
