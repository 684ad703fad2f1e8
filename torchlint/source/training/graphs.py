"""The graph behind a value: the expressions that gradients reach from it, back through arithmetic, layers and local
functions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.facts import fact
from torchlint.source.flow.changed import is_changed
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.kinds import MODULE, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import EACH, Value
from torchlint.source.text.index import enclosing_function, last_word, statement_of
from torchlint.source.text.spelling import first_argument, unparsed
from torchlint.source.training.filled import put_in, put_where_made, read_of, variables
from torchlint.source.training.grads import (
    CONVERTS,
    STOPS,
    are_places,
    gives_gradients,
    is_set_later,
    is_stateless,
    makes_data,
    may_have_a_graph_of_gradients,
    requires_grad,
)
from torchlint.source.training.naming import word_of
from torchlint.source.training.regions import runs_without_grad
from torchlint.source.training.roles import seems

MAX_NODES = 300
MAX_DEPTH = 24
CUTTING_ATTRIBUTES = frozenset("data grad shape dtype device ndim requires_grad item tolist numpy".split())
_CONTAINERS = frozenset("sum tuple list zip enumerate reversed sorted dict max min".split())
_PLAIN = frozenset("float int bool str len range print round isinstance".split())
# `LossConfig()` and `loss_weights()` give what goes with a loss, and none.
_LOSS = re.compile(
    r"(loss|criterion|objective|penalty)(?!.*(weight|config|cfg|name|coef|schedule|factor|histor|meter))"
)


class Graph:
    """What gradients reach from a value.

    `nodes` are expressions by identity, nearest first; `cuts` are where they are stopped.
    """

    __slots__ = ("nodes", "cuts", "open")

    def __init__(self):
        self.nodes: dict[tuple, Value] = {}
        self.cuts: list[Value] = []
        self.open = False  # is there an origin nobody could look into?

    def sure(self) -> dict[tuple, Value]:
        """The nodes that certainly belong to a graph, whatever the data are."""
        return {key: node for key, node in self.nodes.items() if carries(node)}


@remembered
def graph(value: Value, strict: bool = False) -> Graph:
    """The graph behind a value.

    `strict` goes on only where gradients are known to flow, not through functions nobody can see.
    """
    found = Graph()
    _walk(value, found, strict, set(), MAX_DEPTH)
    return found


def mark(value: Value) -> tuple:
    """One expression in one call of its function: what two graphs share if they share it."""
    calls, frame = [id(value.node)], value.frame
    while frame and frame.call:
        calls.append(id(frame.call.node))
        frame = frame.call.frame
    return tuple(calls)


def carries(node: Value) -> bool:
    """Does the result of an expression certainly have a graph: made by a layer, a model or a loss, or of what requires
    grad?
    """
    if isinstance(node.node, ast.Call) and not node.path:
        func = node.at(node.node.func, ())
        word = last_word(func.node).lower()
        if isinstance(func.node, ast.Call):
            word = last_word(func.node.func).lower()
        if _LOSS.search(word):
            return not runs_without_grad(node)
    return is_model_call(node) or requires_grad(node) is True


def is_model_call(node: Value) -> bool:
    """A call of a module that has weights, or of something called like one where nothing is known.

    What is iterated over is a sampler or loader.
    """
    return calls_a_model(node) and not runs_without_grad(node)


def of_the_whole(call: Value) -> Value:
    """The call of the network for that of a layer in it, as it is called from outside of all."""
    frame = call.frame
    while frame is not None and (outside := frame.outside) is not None:
        made = outside.at(outside.node, ())  # all of it, be it one of its rows that is asked about
        call = made if is_model_call(made) else call
        frame = outside.frame
    return call


def calls_a_model(node: Value) -> bool:
    """The same, whether or not its graph is recorded."""
    if not isinstance(node.node, ast.Call) or EACH in node.path:
        return False
    known = callees(node)
    names = {c.name for c in known}
    if names and all(name.startswith("torch.nn.") and is_stateless(name) for name in names):
        return False
    if known and all(c.kind == "function" and isinstance(c.function, ast.FunctionDef) for c in known):
        return False  # `serialize_model(net)` of the program's own: what it gives is seen
    if not any(name.startswith("torch.") for name in names) and _makes_an_object(node.node):
        return False
    if "torch.Generator" in names:
        return False
    return seems(node.at(node.node.func, ()), MODULE)


def _makes_an_object(call: ast.Call) -> bool:
    """`LanguageModel()` of a class that is not seen or of some other package, `MODELS[name](**options)`, and
    `config.network_fn()`: without an input nothing is computed.
    """
    word = word_of(call.func)
    return (
        word[:1].isupper()
        and (not word.isupper() or isinstance(call.func, ast.Subscript))
        or not call.args
        and not call.keywords
    )


def is_cut(origin: Value) -> bool:
    """Does an expression stop gradients: `.detach()`, `.item()`, `.data`, `torch.tensor(…)`, a comparison, code under
    no_grad?
    """
    node = origin.node
    if isinstance(node, ast.Attribute):
        return node.attr in CUTTING_ATTRIBUTES
    if are_places(origin):
        return True
    if isinstance(node, ast.Call):
        names = {c.name for c in callees(origin)}
        if names and names <= _CUTTING_CALLS:
            return not is_set_later(origin)
        if names and names <= CONVERTS:
            return makes_data(origin)
        if gives_gradients(names):
            return not may_have_a_graph_of_gradients(origin)
        return isinstance(node.func, ast.Name) and node.func.id in _PLAIN or runs_without_grad(origin)
    if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Subscript)):
        return runs_without_grad(origin)
    return isinstance(node, (ast.Compare, ast.JoinedStr))


def is_cut_around(value: Value) -> bool:
    """Does what takes it, where it stands, stop gradients: `assert gap.sqrt() < 1`, `print(gap.sqrt().item())`?"""
    above = value.node.up
    while isinstance(above, (ast.expr, ast.keyword)):
        if isinstance(above, ast.expr) and is_cut(value.at(above, ())):
            return True
        above = above.up
    return False


_CUTTING_CALLS = STOPS | {
    "torch.tensor",
    "torch.Tensor",
    "torch.FloatTensor",
    "torch.autograd.Variable",
    "numpy.array",
    "numpy.asarray",
}


def _walk(value: Value, found: Graph, strict: bool, seen: set, depth: int) -> None:
    if value.node is None or depth == 0 or len(found.nodes) > MAX_NODES:
        found.open = True
        return
    is_filled = False
    if isinstance(value.node, (ast.Name, ast.Attribute)):
        variable = (*variables(value.node, isinstance(value.node.ctx, ast.Load)), id(value.frame))
        is_filled = variable in seen
        for element in put_in(value) if variable not in seen else ():
            is_filled = True
            _walk(element, found, strict, seen, depth - 1)
        seen.add(variable)
    for origin, key, marks, parts in _reached(value, strict):
        is_empty = isinstance(origin.node, ast.List) and not origin.node.elts
        if is_empty and strict and not is_filled:
            found.open = True  # nobody saw who fills it
        if key in seen:
            continue
        seen.add(key)
        if is_empty and not strict:
            elements = [*put_where_made(origin)]  # by another function
            found.open |= not is_filled and not elements
            for element in elements:
                _walk(element, found, strict, seen, depth - 1)
        if origin.node is None:
            found.open = True
        elif not marks:
            found.cuts.append(origin)
        else:
            for name, node in marks:
                found.nodes.setdefault(name, node)
            for part in parts:
                _walk(part, found, strict, seen, depth - 1)


@remembered(meanwhile=())
def _reached(value: Value, strict: bool) -> list[tuple[Value, tuple, tuple, tuple]]:
    """One step back from a value, the same for all graphs it is in: its origins, each with its key, the marks of its
    nodes (none for a cut) and the parts that gradients flow on to."""
    found: list[tuple[Value, tuple, tuple, tuple]] = []
    behind = origins(value)
    # `to_item(loss)` of the program's own gives what it is given where that is a number, else its `item()`
    has_ways = strict and len(behind) > 1 and isinstance(value.node, ast.Call) and any(map(_is_number, behind))
    for origin in behind:
        if origin.node is None or is_cut(origin) or has_ways:
            found.append((origin, origin.key, (), ()))
            continue
        marks = [(mark(origin), origin)]
        if origin.path[:1] == ("applied",) and origin.frame and origin.frame.call:
            marks.append((mark(origin.frame.call), origin.frame.call))
        found.append((origin, origin.key, tuple(marks), tuple(operands(origin, strict))))
    return found


def _is_number(origin: Value) -> bool:
    """`x.item()`"""
    return isinstance(origin.node, ast.Call) and last_word(origin.node.func) == "item" and not origin.path


def operands(origin: Value, strict: bool) -> Iterator[Value]:
    """The parts of an expression that gradients flow on to."""
    node = origin.node
    if origin.path[:1] == (
        "applied",
    ):  # the last layer of a Sequential: gradients flow on to what the Sequential was called with
        call = origin.frame.call if origin.frame else None
        if call is not None:
            yield from (call.at(a, ()) for a in call.node.args if not isinstance(a, ast.Starred))
        return
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.AugAssign):
        parts = [node.value]
        if isinstance(node.target, ast.Name):
            parts.append(read_of(node))
    elif isinstance(node, ast.UnaryOp):
        parts = [node.operand]
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
        yield origin.at(node.value, (node.slice.value,))  # `out["value"]` need not share a layer with `out["policy"]`
        return
    elif isinstance(node, ast.Attribute) and (fields := _fields(origin)) is not None:
        yield from fields
        return
    elif isinstance(node, ast.Subscript) and strict and _is_of_a_loop(node.slice) and _is_beside(origin):
        parts = []
    elif isinstance(node, (ast.Subscript, ast.Attribute)):
        parts = [node.value]
    elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        parts = [e.value if isinstance(e, ast.Starred) else e for e in node.elts]
    elif isinstance(node, ast.Dict):
        parts = node.values
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        parts = [node.elt]
    elif isinstance(node, ast.DictComp):
        parts = [node.value]
    elif isinstance(node, ast.Call) and origin.path and last_word(node.func) == "dict":
        parts = [k.value for k in node.keywords if k.arg == origin.path[0]]  # of `dict(zip(names, losses))` any one
    elif isinstance(node, ast.Call) and strict and _is_table_beside(origin):
        parts = []
    elif isinstance(node, ast.Call):
        parts = _call_parts(origin, strict)
    else:
        parts = []
    for part in parts:
        yield origin.at(part, ())


def _is_table_beside(origin: Value) -> bool:
    """`losses.parts.items()`, or `parts.items()` of `loss, parts = criterion(x)`: what is kept by name beside a loss is
    often its number.
    """
    func = origin.node.func
    if not isinstance(func, ast.Attribute) or func.attr not in ("items", "values"):
        return False
    return isinstance(func.value, ast.Attribute) or _is_beside(origin.at(func, ()))


def _is_of_a_loop(key: ast.expr) -> bool:
    """`name` of `for name in sums:`; what is picked by a mask is no entry of a table."""
    scope = key.at.lookup(key.id) if isinstance(key, ast.Name) else None
    return scope is not None and all(isinstance(bound.up, ast.For) for bound in scope.bindings[key.id])


def _is_beside(part: Value) -> bool:
    """`parts[name]` of `loss, parts = criterion(x)`"""
    tables = origins(part.at(part.node.value, ()))
    return any(isinstance(table.node, ast.Call) and table.path[:1] not in ((), (0,)) for table in tables)


def _fields(origin: Value) -> list[Value] | None:
    """What `losses.actor` was given, of `Losses(actor=a, critic=b)`: the other fields share no graph with it.

    Nothing where the record does not say which argument that is; None where it is no record.
    """
    found: list[Value] = []
    for made in origins(origin.at(origin.node.value, ())):
        call = made.node
        if not isinstance(call, ast.Call) or made.path or any(c.name.startswith("torch.") for c in callees(made)):
            return None
        named = {k.arg: k.value for k in call.keywords}
        if origin.node.attr in named:
            found.append(made.at(named[origin.node.attr], ()))
        elif last_word(call.func)[:1].isupper():
            found += [made.at(a, ()) for name, a in zip(_names(made), call.args) if name == origin.node.attr]
        else:
            return None
    return found


def _names(record: Value) -> list[str]:
    """The fields of a `collections.namedtuple`."""
    for made in origins(record.at(record.node.func, ())):
        if isinstance(made.node, ast.Call) and last_word(made.node.func) == "namedtuple" and len(made.node.args) > 1:
            names = made.node.args[1]
            parts = names.elts if isinstance(names, (ast.List, ast.Tuple)) else [names]
            texts = [p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)]
            return [name for text in texts for name in text.replace(",", " ").split()]
    return []


def _call_parts(origin: Value, strict: bool) -> list[ast.expr]:
    node: ast.Call = origin.node
    given = [a.value if isinstance(a, ast.Starred) else a for a in node.args] + [k.value for k in node.keywords]
    receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    known = callees(origin)
    if isinstance(node.func, ast.Name) and node.func.id in _CONTAINERS:
        return given
    if known and all(c.name.startswith("torch.") for c in known):
        return given
    if known and receiver and all(c.kind == "method" for c in known):
        if MODULE in kinds(origin.at(node.func.value, ())):
            return given if last_word(node.func) == "forward" or not strict else []
        if strict and seems(
            origin.at(node.func.value, ()), MODULE
        ):  # two results of one network need not share anything
            return given
        if last_word(node.func) in ("items", "values", "get", "pop"):
            return receiver
        if strict and any(isinstance(part, ast.Dict) for part in given):
            return []  # no operation of torch takes a dict: an evaluator gives numbers
        if (
            strict
            and len(given) > 1
            and not any(fact(c.name) for c in known)
            and not _LOSS.search(last_word(node.func))
        ):
            return []  # `wrapper.match(real, fake)` may detach one of them
        return [*receiver, *given]
    return given if not strict or is_model_call(origin) or carries(origin) or _calls_an_entry(origin) else []


def _calls_an_entry(call: Value) -> bool:
    """`losses[task](guess, y)`, or `loss(guess, y)` for each of `losses.items()`: gradients go through it, whichever of
    torch's losses and layers in a table it is.
    """
    for entry in origins(call.at(call.node.func, ())):
        node = entry.node
        if isinstance(node, ast.Subscript) and not entry.path:
            tables = origins(entry.at(node.value, ()))
        elif isinstance(node, ast.Call) and (last_word(node.func), *entry.path) in (
            ("items", EACH, 1),
            ("values", EACH),
        ):
            tables = origins(entry.at(node.func.value, ()))
        else:
            return False
        for table in tables:
            if not isinstance(table.node, ast.Dict) or table.path or is_changed(table):
                return False
            if not all(_is_of_torch(table.at(made, ())) for made in table.node.values):
                return False
    return True


def _is_of_torch(made: Value) -> bool:
    """`nn.L1Loss()`, `F.l1_loss`"""
    if isinstance(made.node, ast.Call):
        return all(c.name.startswith("torch.nn.") for c in callees(made)) and bool(callees(made))
    known = fact(external_name(made) or "")
    return known is not None and known.reduces


def loss_of(module: Module, call: ast.Call) -> Value | None:
    """What a call of `backward` runs through: its receiver, or its argument if the receiver is no tensor."""
    if not isinstance(call.func, ast.Attribute):
        return None
    receiver = last_word(call.func.value).lower()
    given = first_argument(call, "loss", "tensors")
    if given is not None and (
        call.func.attr != "backward" or receiver in ("accelerator", "fabric", "autograd", "self", "engine")
    ):
        return Value(module, given)
    return Value(module, call.func.value)


def returned_losses(info: ClassInfo) -> list[Value]:
    """What the `training_step` of a Lightning module gives its trainer, who goes backward through it."""
    step = info.methods.get("training_step")
    if step is None or step.yields or not info.is_lightning:
        return []
    found = []
    for returned in step.gives:
        if isinstance(returned, ast.Dict):
            found += [v for k, v in zip(returned.keys, returned.values) if getattr(k, "value", None) == "loss"]
        elif isinstance(returned, ast.Call) and last_word(returned.func) == "dict":
            found += [keyword.value for keyword in returned.keywords if keyword.arg == "loss"]
        else:
            found.append(returned)
    return [as_set(Value(info.module, loss)) for loss in found]


def as_set(item: Value) -> Value:
    """What is put into a table beside the place that reads it, and nowhere else: `terms["total"]`."""
    node = item.node
    if not (
        isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Constant)
    ):
        return item
    around = enclosing_function(node) or item.module.tree
    stores = [
        other
        for other in item.module.index.inside(around, ast.Subscript)
        if not isinstance(other.ctx, ast.Load) and unparsed(other) == unparsed(node)
    ]
    setting = stores[0].up if len(stores) == 1 else None
    is_plain = isinstance(setting, ast.Assign) and setting.up is statement_of(node).up and setting.pos < node.pos
    return item.at(setting.value, ()) if is_plain else item


def backpropagated(act) -> list[Value]:
    """The values whose graph an act of training (a backward) runs through."""
    node, receiver = act.event.node, act.event.receiver
    given = first_argument(node, "loss", "tensors")
    first = act.event.value.at(given, ()) if given is not None else None
    if first is None:
        return [receiver] if receiver is not None else []
    if (
        act.event.method == "backward"
        and receiver is not None
        and (not isinstance(receiver.node, ast.Name) or "loss" in receiver.node.id.lower())
    ):
        word = last_word(receiver.node).lower()
        if word not in ("accelerator", "fabric", "autograd", "engine", "strategy", "model", "trainer"):
            return [receiver]
    return [first]
