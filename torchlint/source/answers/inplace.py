"""Changes in place: what is changed, which tensor that is, and who has kept it for backward."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from typing import Iterator, NamedTuple

from torchlint.source.flow.classes import class_info
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.kinds import TENSOR, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import exclusive, reaching
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import EACH, Value, frame_of
from torchlint.source.text.index import FUNCTIONS, enclosing_class, enclosing_function, first_of_elifs, is_in, last_word, statement_of, within
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.grads import CUTS, is_leaf, requires_grad
from torchlint.source.training.graphs import graph, is_model_call, loss_of, mark, put_in, read_of
from torchlint.source.training.ranks import counts
from torchlint.source.training.regions import loops_around, tests_around, under_no_grad

MAX_KEEPERS = 50  # of one tensor that are asked whether they run before a change, the first ones
# A view shares its storage, so a change of one is a change of the other.
VIEWS = frozenset(
    ".view .squeeze .unsqueeze .transpose .permute .t .swapaxes .movedim .view_as torch.squeeze torch.unsqueeze torch.transpose torch.permute torch.t".split()
)
METHODS = frozenset(
    f"{name}_" for name in "add sub mul div pow clamp clamp_min clamp_max relu sigmoid tanh exp log sqrt abs neg fill zero copy masked_fill "
    "masked_scatter index_add index_copy index_fill index_put scatter scatter_add addmm addbmm baddbmm addcmul addcdiv floor ceil round lerp normal uniform bernoulli "
    "fill_diagonal tril triu sin cos log1p log2 expm1 rsqrt reciprocal square sign cumsum logit remainder".split()
)
FUNCTIONAL = frozenset(
    [f"torch.{name}_" for name in "relu sigmoid tanh exp sqrt clamp abs neg".split()]
    + [f"torch.nn.functional.{name}_" for name in "relu leaky_relu elu celu selu rrelu threshold hardtanh".split()]
)
WITH_FLAG = frozenset(
    [f"torch.nn.functional.{n}" for n in "relu leaky_relu elu celu selu silu mish relu6 hardtanh hardswish dropout dropout2d dropout3d".split()]
    + [f"torch.nn.{n}()" for n in "ReLU LeakyReLU ELU CELU SELU SiLU Mish ReLU6 Hardtanh Hardswish Dropout Dropout2d Dropout3d".split()]
)
NAMES = "relu sigmoid tanh tan exp expm1 softmax log_softmax sqrt rsqrt reciprocal norm std logsumexp amax amin prod softmin cdist cumprod pairwise_distance".split()
NAMES += ["linalg.norm", "linalg.vector_norm"]
NAMES += [f"{name}_" for name in "relu sigmoid tanh tan exp expm1 sqrt rsqrt reciprocal".split()]
KEEP_THEIR_OUTPUT = frozenset(
    [f"torch.{n}" for n in NAMES] + [f"torch.nn.functional.{n}" for n in NAMES] + [f".{n}" for n in NAMES]
    + [f"torch.nn.{n}()" for n in "ReLU Sigmoid Tanh Softmax LogSoftmax Softmax2d Softmin RNNCell".split()]
)
# What returns several views of one tensor, of which autograd lets none be changed.
SEVERAL_VIEWS = frozenset(f"{prefix}{n}" for n in "chunk split unbind split_with_sizes".split() for prefix in (".", "torch."))
_SEQUENCES = frozenset(("torch.nn.LSTM()", "torch.nn.RNN()"))  # their first result is kept


class Keeper(NamedTuple):
    """A consumer that keeps its operand for backward, `what` in words; `use` is the read of the tensor that led there."""

    node: ast.expr
    what: str
    use: ast.Name
    line: int


def changes(module: Module) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Every place that changes a tensor in place, if it is one, with the expression of that tensor."""
    for node in list(module.index.nodes(ast.AugAssign)):
        target = written_to(node.target)
        if target is not None:
            yield node, read_of(node) if target is node.target and isinstance(target, ast.Name) else target
    for node in list(module.index.nodes(ast.Assign)):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and not (isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)):
                if (changed := written_to(target)) is not None:
                    yield node, changed
    flagged = _flagged_words(module)
    for call in list(module.index.calls):
        word = last_word(call.func)
        if word.endswith("_") and not word.endswith("__"):
            if isinstance(call.func, ast.Attribute) and word in METHODS and not (names := _names(module, call)) - {f".{word}"} and names:
                if (changed := base_of(call.func.value)) is not None:
                    yield call, changed
            elif call.args and _names(module, call) & FUNCTIONAL:
                yield call, call.args[0]
        elif any(k.arg == "out" for k in call.keywords):
            written = next(k.value for k in call.keywords if k.arg == "out")
            if isinstance(written, (ast.Name, ast.Attribute)) and all(name.startswith("torch.") for name in _names(module, call) or [""]):
                yield call, written
        elif call.args and (word in flagged or (isinstance(call.func, ast.Call) and flagged) or any(k.arg == "inplace" for k in call.keywords)):
            if _has_flag(module, call):
                yield call, call.args[0]


def _names(module: Module, call: ast.Call) -> set[str]:
    return {c.name for c in callees(Value(module, call))}


def _flagged_words(module: Module) -> set[str]:
    """The names under which this file keeps layers that work in place; to ask every call what it calls would be slow."""
    words = set()
    for call in module.index.calls:
        if any(k.arg == "inplace" for k in call.keywords) or (last_word(call.func) == "ReLU" and call.args):
            parent = call.up
            for target in getattr(parent, "targets", ()) if isinstance(parent, ast.Assign) else (getattr(parent, "target", parent),):
                words.add(last_word(target))
    return words - {""}


def _has_flag(module: Module, call: ast.Call) -> bool:
    """`F.relu(x, inplace=True)`, and `self.act(x)` where `self.act = nn.ReLU(inplace=True)`."""
    known = callees(Value(module, call))
    if not known or not {c.name for c in known} <= WITH_FLAG or any("ropout" in c.name and not _drops(c.made.node if c.made is not None else call, c.made is not None) for c in known):
        return False
    return all(_is_true(c.made.node if c.made is not None else call, c.made is not None) for c in known)


def _drops(call: ast.Call, is_layer: bool) -> bool:
    """Does a dropout surely change something? One with `p=0`, which many defaults are, leaves its input alone."""
    given = next((k.value for k in call.keywords if k.arg == "p"), None) or next(iter(call.args if is_layer else call.args[1:]), None)
    if isinstance(given, ast.Name) and isinstance(function := enclosing_function(call), ast.FunctionDef):
        arguments = function.args
        places = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(zip([a.arg for a in places[len(places) - len(arguments.defaults) :]], arguments.defaults))
        defaults.update((a.arg, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None)
        if given.id in [a.arg for a in (*places, *arguments.kwonlyargs)]:
            given = defaults.get(given.id, ast.Constant(0))
    return not (isinstance(given, ast.Constant) and given.value == 0)


def _is_true(call: ast.Call, positional: bool) -> bool:
    for keyword in call.keywords:
        if keyword.arg == "inplace":
            return isinstance(keyword.value, ast.Constant) and keyword.value.value is True
    last = call.args[-1] if positional and call.args else None
    return isinstance(last, ast.Constant) and last.value is True


def written_to(target: ast.expr) -> ast.expr | None:
    """The tensor that `x[…] = 1` or `x.view(-1)[0] = 1` changes: whatever the last index is, it is written to."""
    return base_of(target.value if isinstance(target, (ast.Subscript, ast.Starred)) else target)


def base_of(tensor: ast.expr) -> ast.expr | None:
    """The tensor that `x[0]` is a view of; None where an index may be a list or tensor, by which it is a copy."""
    while isinstance(tensor, ast.Subscript):
        if not _is_basic(tensor.slice):
            return None
        tensor = tensor.value
    return tensor


def keepers(module: Module, use: ast.Name, change: ast.AST) -> Iterator[Keeper]:
    """What has kept the tensor that `use` names, before `change` changes it."""
    first = statement_of(change).lineno
    scope = use.at.lookup(use.id)
    if scope is None or not isinstance(scope.node, (*FUNCTIONS, ast.Module)):
        return
    keeping = _keeping(module, use.id, frozenset(map(id, reaching(use, scope))))
    after = _last_backward(module, change.lineno)
    start = bisect_right(keeping, after, key=lambda kept: kept.use.lineno)
    for kept in keeping[start : start + MAX_KEEPERS]:
        node = kept.use
        if node.lineno > change.end_lineno:
            return
        inside = within(node, change) and not (isinstance(change, ast.AugAssign) and not within(node, change.value))
        if node is use or not inside and node.lineno >= first or kept.line > change.end_lineno:
            continue
        if enclosing_function(node) is enclosing_function(use) and not exclusive(node, change) and not _apart(node, change):
            yield kept


@remembered
def _keeping(module: Module, name: str, bound: frozenset[int]) -> list[Keeper]:
    """What keeps the tensor that some bindings gave a name, in the order of the reads."""
    return [kept for read in _reads(module, name).get(bound, ()) if (kept := _keeper(module, read, read) or _keeper_of_view(module, read))]


@remembered
def _reads(module: Module, name: str) -> dict[frozenset[int], list[ast.Name]]:
    """The reads of a name, by the ids of all that may have bound it there."""
    found: dict[frozenset[int], list[ast.Name]] = {}
    for node in module.index.names(name):
        if isinstance(node.ctx, ast.Load) and (scope := node.at.lookup(name)) is not None:
            found.setdefault(frozenset(map(id, reaching(node, scope))), []).append(node)
    return found


def _view_of(module: Module, use: ast.expr) -> ast.expr:
    """The largest view of a tensor that an expression takes: `x[:, t].squeeze(1)`; what shares its storage keeps it too."""
    node = use
    if kinds(Value(module, use)) != {TENSOR} or not _is_run(module, enclosing_function(use)):
        return use
    while True:
        parent = node.up
        if isinstance(parent, ast.Subscript) and parent.value is node and _is_basic(parent.slice):
            node = parent
        elif isinstance(parent, ast.Attribute) and parent.attr in ("T", "mT"):
            node = parent
        elif isinstance(parent, ast.Attribute) and f".{parent.attr}" in VIEWS and isinstance(parent.up, ast.Call) and parent.up.func is parent:
            node = parent.up
        else:
            return node


def _is_run(module: Module, function: ast.AST | None) -> bool:
    """Does the file say that a function is run? What only another file calls may be for inference."""
    if not isinstance(function, ast.FunctionDef) or enclosing_class(function) is None:
        return True
    return function.name == "forward" or function.name.endswith("_step") or bool(module.index.callers(function.name))


def _is_basic(index: ast.expr) -> bool:
    """Is an index made of whole numbers and slices only? A list or tensor of indices would make a copy."""
    if isinstance(index, ast.Tuple):
        return all(_is_basic(e) for e in index.elts)
    if isinstance(index, ast.BinOp):
        return _is_basic(index.left) and _is_basic(index.right)
    if isinstance(index, ast.UnaryOp):
        return _is_basic(index.operand)
    if isinstance(index, ast.Name):
        scope = index.at.lookup(index.id)
        return scope is not None and all(counts(b) for b in reaching(index, scope))
    return isinstance(index, ast.Slice) or isinstance(index, ast.Constant) and not isinstance(index.value, bool)


def _keeper_of_view(module: Module, use: ast.Name) -> Keeper | None:
    """What keeps `last` of `last = out[:, t - 1]` before a change of `out`."""
    view = _view_of(module, use)
    assigned = view.up
    if view is use or not isinstance(assigned, ast.Assign) or assigned.value is not view or not isinstance(assigned.targets[0], ast.Name):
        return None
    name = assigned.targets[0]
    for node in _reads(module, name.id).get(frozenset((id(name),)), ()):
        if assigned.lineno < node.lineno and (kept := _keeper(module, node, use)):
            return kept
    return None


def _apart(a: ast.AST, b: ast.AST) -> bool:
    """Do two places stand in different branches of one `if`?"""
    child = a
    while (parent := child.up) is not None:
        if within(b, parent):
            return isinstance(parent, ast.If) and any(is_in(child, one) and one is not other and _holds(other, b) for one in (parent.body, parent.orelse) for other in (parent.body, parent.orelse))
        if isinstance(parent, ast.If):
            if is_in(child, parent.body) and isinstance(parent.body[-1], (ast.Return, ast.Raise)):
                return True
            first = first_of_elifs(parent)
            if first is not parent and within(b, first):  # under an earlier test of the same chain, if not in it
                test = statement_of(b)
                return not (isinstance(test, ast.If) and first_of_elifs(test) is first)
            parent = first
        child = parent
    return False


def _holds(block: list[ast.stmt], node: ast.AST) -> bool:
    return bool(block) and block[0].pos <= node.pos and (within(node, block[-1]) or node.pos < block[-1].pos)


def _last_backward(module: Module, line: int) -> int:
    """The last line up to this one on which backward is called; 0 if there is none."""
    lines = _backward_lines(module)
    at = bisect_right(lines, line)
    return lines[at - 1] if at else 0


@remembered
def _backward_lines(module: Module) -> list[int]:
    return sorted(call.lineno for call in module.index.callers("backward"))


def _backward_between(module: Module, a: ast.AST, b: ast.AST) -> bool:
    return _last_backward(module, b.lineno) >= a.lineno


_KEEPING_MODULES = frozenset(
    f"torch.nn.{name}()" for name in "Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d BatchNorm1d BatchNorm2d "
    "BatchNorm3d LayerNorm GroupNorm InstanceNorm2d LSTM GRU RNN LSTMCell GRUCell RNNCell Bilinear MultiheadAttention".split()
)
_KEEPING_FUNCTIONS = frozenset(
    "torch.log torch.log2 torch.log10 torch.log1p torch.abs torch.sin torch.cos torch.square torch.pow torch.nn.functional.gelu "
    "torch.nn.functional.silu torch.nn.functional.leaky_relu torch.nn.functional.softplus torch.nn.functional.max_pool2d "
    "torch.nn.functional.layer_norm .log .abs .sin .cos .square .pow .log1p torch.nn.GELU() torch.nn.SiLU() torch.nn.LeakyReLU() "
    "torch.nn.MaxPool2d() torch.nn.MaxPool1d() torch.nn.Softplus() torch.nn.functional.normalize torch.nn.functional.cosine_similarity".split()
    + [f"{prefix}{name}" for name in "norm std var logsumexp prod amax amin cumprod".split() for prefix in (".", "torch.", "torch.linalg.")]
)
_KEEPING_PRODUCTS = frozenset(
    "torch.matmul torch.bmm torch.mm torch.mul torch.nn.functional.linear torch.nn.functional.conv1d torch.nn.functional.conv2d "
    ".matmul .bmm .mm .mul torch.einsum".split()
)


def _keeper(module: Module, use: ast.Name, led: ast.Name) -> Keeper | None:
    """The operation that uses a name, or a view of it, and keeps it, if its backward will run."""
    kept = _keeping_operation(module, use)
    return Keeper(*kept, led, use.lineno) if kept else None


def _keeping_operation(module: Module, use: ast.Name) -> tuple[ast.expr, str] | None:
    node = _view_of(module, use)
    parent = node.up
    value = Value(module, parent)
    if _is_only_read(module, parent.up if isinstance(parent, ast.Attribute) and isinstance(parent.up, ast.Call) else parent):
        return None
    if isinstance(parent, ast.BinOp):
        other = parent.right if parent.left is node else parent.left
        if isinstance(parent.op, (ast.Mult, ast.MatMult)) or (isinstance(parent.op, ast.Div) and parent.right is node):
            if isinstance(other, ast.Name) and other.id == use.id:
                return (parent, "this product") if requires_grad(Value(module, use)) else None
            if requires_grad(Value(module, other)):
                return parent, "this division" if isinstance(parent.op, ast.Div) else "this product"
        elif isinstance(parent.op, ast.Pow) and parent.left is node and requires_grad(Value(module, use)):
            if not (isinstance(parent.right, ast.Constant) and parent.right.value == 1):
                return parent, "this power"
        return None
    if isinstance(parent, ast.Attribute) and isinstance(parent.up, ast.Call) and parent.up.func is parent:
        value = Value(module, parent.up)
    elif not (isinstance(parent, ast.Call) and node in parent.args):
        return None
    names = {c.name for c in callees(value)}
    if not names:
        return None
    if names <= _KEEPING_MODULES:
        return value.node, f"`{unparsed(value.node.func)}`"
    if names <= _KEEPING_FUNCTIONS and requires_grad(Value(module, use)):
        return value.node, f"`{last_word(value.node.func) or unparsed(value.node.func)}`"
    if names <= _KEEPING_PRODUCTS:
        operands = [*value.node.args, *([value.node.func.value] if isinstance(value.node.func, ast.Attribute) and names <= {".matmul", ".bmm", ".mm", ".mul"} else [])]
        if any(o is not node and requires_grad(Value(module, o)) for o in operands):
            return value.node, f"`{last_word(value.node.func)}`"
    return None


def _is_only_read(module: Module, result: ast.AST, depth: int = 4) -> bool:
    """Is nothing but a number read from a result (`x.norm().item() > 1`), so that no backward comes through it?"""
    parent = result.up
    if depth == 0 or isinstance(parent, (ast.Compare, ast.FormattedValue)):
        return depth > 0
    if isinstance(parent, ast.Attribute):
        if f".{parent.attr}" in CUTS or parent.attr in ("data", "shape", "dtype", "device", "ndim"):
            return True
        return isinstance(parent.up, ast.Call) and parent.up.func is parent and _is_only_read(module, parent.up, depth - 1)
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id in ("print", "float", "int", "bool", "len")
    if isinstance(parent, ast.BinOp):
        return _is_only_read(module, parent, depth - 1)
    if isinstance(parent, (ast.If, ast.While, ast.IfExp)):
        return parent.test is result
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        reads = uses(module, parent.targets[0])
        return bool(reads) and all(_is_only_read(module, read, depth - 1) for read in reads)
    return False


_WITHOUT_TRAINING = re.compile(r"^__init__$|^step$|(^|_)(sampl|generat|predict|decod|infer|beam|search|translat|greedy|eval|test|valid|visuali[sz]|show|plot)")


def _plain(known: tuple[ast.expr, bool]) -> tuple[ast.expr, bool]:
    """`not x` is true where `x` is false."""
    test, truth = known
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, truth = test.operand, not truth
    return test, truth


def is_trained(module: Module, node: ast.AST) -> bool:
    """Is it plain that backward will go through this place: code of a module, of a loss, or of a function that calls backward after it?"""
    function = enclosing_function(node)
    if any(last_word(test) == "training" and not truth for test, truth in map(_plain, tests_around(node))):
        return False
    if function is None or isinstance(function, ast.Lambda):
        return _last_backward(module, len(module.index.lines)) >= node.lineno
    return _is_training_code(module, function) or _last_backward(module, function.end_lineno) >= max(function.lineno, node.lineno)


@remembered(meanwhile=False)
def _is_training_code(module: Module, function: ast.FunctionDef) -> bool:
    owner = enclosing_class(function)
    if owner is not None and class_info(module, owner).is_module and not _WITHOUT_TRAINING.search(function.name):
        return True
    return "loss" in function.name.lower() or any(is_trained(module, call) for call in _calls_of(module, function)[:5] if not within(call, function))


def has_alias(module: Module, use: ast.Name) -> bool:
    """Does another name hold the same tensor (`identity = x`), so that `x = x + y` would part them?"""
    scope = use.at.lookup(use.id)
    if scope is None or any(isinstance(getattr(b.up, "value", None), (ast.Name, ast.Attribute)) for b in reaching(use, scope)):
        return True
    return _first_alias(module, use.id).get(id(scope), use.lineno) < use.lineno


@remembered
def _first_alias(module: Module, name: str) -> dict[int, int]:
    """By the ids of scopes: the first line that puts what a name holds into something else."""
    found: dict[int, int] = {}
    for node in module.index.names(name):
        if isinstance(node.ctx, ast.Load) and (
            isinstance(node.up, (ast.Assign, ast.Tuple, ast.List, ast.Dict, ast.Return)) or isinstance(node.up, ast.Call) and last_word(node.up.func) == "append"
        ):
            scope, line = id(node.at.lookup(name)), statement_of(node).lineno
            found[scope] = min(found.get(scope, line), line)
    return found


def keeping_producer(module: Module, tensor: ast.expr, change: ast.AST) -> Value | None:
    """The operation that made a tensor (or that it is a view of), if it keeps its output and its backward will run."""
    for value, place in _seen_from(module, tensor, change):
        made = _made(value, change)
        for origin in made:
            if isinstance(origin.node, ast.Call) and _keeps_output(origin) and not (len(made) > 1 and (_is_chosen_in_a_loop(origin) or _is_replaced(tensor, origin))):
                at = change if enclosing_function(origin.node) is enclosing_function(change) else place
                here = origin.module is module
                if len(made) > 1 and at is place and any(tests_around(origin.node)) and not within(origin.node, enclosing_function(change) or module.tree):
                    continue  # another function's `if self.act is not None: x = self.act(x)`
                if not (here and (exclusive(origin.node, at) or _backward_between(module, origin.node, at))) and is_in_loss(module, origin, place):
                    return origin
    return None


def _seen_from(module: Module, tensor: ast.expr, change: ast.AST) -> Iterator[tuple[Value, ast.AST]]:
    """A tensor as it is in its function, and as it is in the calls of that function, with the place from which that is."""
    yield Value(module, tensor), change
    for call in _calls_of(module, enclosing_function(change))[:5]:
        yield Value(module, tensor, frame_of(module, enclosing_function(change), Value(module, call), None)), call


@remembered(meanwhile=())
def _calls_of(module: Module, function: ast.AST | None) -> list[ast.Call]:
    """The calls of a function of a file that is no method."""
    if not isinstance(function, ast.FunctionDef) or enclosing_class(function) is not None:
        return []
    return [call for call in module.index.callers(function.name) if any(c.function is function for c in callees(Value(module, call)))]


def _made(value: Value, change: ast.AST) -> list[Value]:
    """What made a tensor, or the elements of the list of which `tensors[i] += x` changes one."""
    made = origins(value, VIEWS)
    if isinstance(change, ast.AugAssign) and isinstance(change.target, ast.Subscript) and made and all(isinstance(o.node, (ast.List, ast.ListComp)) for o in made):
        return origins(Value(value.module, value.node, value.frame, (EACH,)), VIEWS)
    elements = []
    for origin in made:
        if isinstance(origin.node, ast.Subscript) and isinstance(origin.node.value, ast.Name):
            elements += [made for element in put_in(origin.at(origin.node.value, ())) for made in origins(element, VIEWS)]
    return [*made, *elements]


def _is_replaced(tensor: ast.expr, origin: Value) -> bool:
    """`if self.training: x = other(x)` after it: what is left of it is not trained."""
    scope = tensor.at.lookup(tensor.id) if isinstance(tensor, ast.Name) else None
    later = [b for b in reaching(tensor, scope) if b.lineno > origin.node.lineno] if scope is not None else []
    return any(last_word(test) == "training" and truth for binding in later for test, truth in map(_plain, tests_around(binding)))


def _is_chosen_in_a_loop(origin: Value) -> bool:
    """`x = relu(layer(x)) if i < last else layer(x)`: which of them comes last is for the loop to know."""
    return bool(loops_around(origin.node)) and any(within(test, loops_around(origin.node)[0]) for test, _ in tests_around(origin.node))


def _keeps_output(origin: Value) -> bool:
    names = {c.name for c in callees(origin)}
    if origin.path == ("applied",):
        return bool(names) and {name + "()" for name in names} <= KEEP_THEIR_OUTPUT
    is_view = bool(names) and names <= SEVERAL_VIEWS and len(origin.path) == 1
    is_sequence = bool(names) and names <= _SEQUENCES and origin.path == (0,)
    if not (is_view or is_sequence) and (origin.path or not names or not names <= KEEP_THEIR_OUTPUT):
        return False
    if is_sequence:
        return requires_grad(origin.at(origin.node, ())) is not False and not under_no_grad(origin.module, origin.node)
    operands = list(origin.node.args)
    if isinstance(origin.node.func, ast.Attribute) and all(n.startswith(".") for n in names):
        operands.append(origin.node.func.value)
    return any(_has_graph(origin.at(o, ())) for o in operands) and not under_no_grad(origin.module, origin.node)


def _has_graph(operand: Value) -> bool:
    return requires_grad(operand) is True or any(not o.path and is_model_call(o) for o in origins(operand))


def is_in_loss(module: Module, producer: Value, change: ast.AST) -> bool:
    """Does a backward run through what was made here? In a module it does; elsewhere it may be for a metric only."""
    last = _last_lines(module, enclosing_function(change))
    return last.get("backward", 0) < change.lineno or max(last.get("open", 0), last.get(mark(producer), 0)) >= change.lineno


@remembered
def _last_lines(module: Module, function: ast.AST | None) -> dict:
    """The last lines of a function (or the file's top) with a backward, one through what nobody can look into, one through each expression."""
    found: dict = {}
    for call in sorted(module.index.callers("backward"), key=lambda call: call.lineno):
        if enclosing_function(call) is function:
            behind = graph(loss) if (loss := loss_of(module, call)) is not None else None
            reached = () if behind is None else (*(["open"] if behind.open else ()), *behind.nodes)
            found.update(dict.fromkeys(("backward", *reached), call.lineno))
    return found


def changed_leaf(module: Module, tensor: ast.expr) -> Value | None:
    """The creation of the leaf (parameter, or tensor made with `requires_grad=True`) that a tensor is or is a view of."""
    found = origins(Value(module, tensor), VIEWS)
    leaves = [origin for origin in found if is_leaf(origin)]
    others = [origin for origin in found if origin not in leaves and not isinstance(origin.node, ast.AugAssign)]  # itself, a round before
    return leaves[0] if leaves and not others else None


def changed_in_sequence(made: Value) -> Iterator[tuple[ast.Call, ast.Call]]:
    """The layers given to a Sequential that work in place on what the layer before them keeps: that layer, and the one in place."""
    before = None
    for argument in made.node.args:
        for origin in origins(made.at(argument, ()))[:1]:
            names = {f"{c.name}()" for c in callees(origin) if c.name} if isinstance(origin.node, ast.Call) else set()
            if before is not None and names and names <= WITH_FLAG and _is_true(origin.node, True):
                yield before, argument
            before = argument if names and names <= KEEP_THEIR_OUTPUT else None
