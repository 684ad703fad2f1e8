"""Layers and networks that no gradient reaches: all that they compute is cut off on the way to the loss."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.facts import named
from torchlint.source.answers.brought_back import lets_gradients_through
from torchlint.source.flow.classes import ClassInfo
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, standing_in, statement_of, within
from torchlint.source.text.spelling import argument, receiver, unparsed
from torchlint.source.training.grads import CONVERTS, makes_data, requires_grad
from torchlint.source.training.graphs import carries, graph, is_model_call, loss_of, of_the_whole
from torchlint.source.training.optimizers import constructors, holds
from torchlint.source.training.regions import under_no_grad

_FLAT = named("flat")
_ANEW = ({"torch.tensor"}, {"torch.Tensor"}, {"torch.FloatTensor"}, {"torch.from_numpy"}, {"torch.autograd.Variable"})
_FEW = 4  # calls of one network
_MAKING = tuple(name.rpartition(".")[2] for names in (*_ANEW, CONVERTS) for name in names)


def layers_cut_off(info: ClassInfo) -> Iterator[tuple[Value, ast.expr, str]]:
    """The cuts in a module's `forward` behind which a layer of it lies that gradients reach on no other way: cut, layer
    call, name.
    """
    forward = info.methods.get("forward")
    if forward is None or not forward.gives or forward.yields:
        return
    module = info.module
    calls_of = module.index.calls_of
    bodies = [forward, *(method for name, method in info.methods.items() if any(calls_of(name, inside=forward)))]
    if not any(_says_a_cut(module, body) for body in bodies) and not any(_cuts_within(part) for part in _parts(info)):
        return
    if _may_freeze(info) or not (_own_parameters(info) or any(_uses_of(info, name) == 1 for name in _named(info))):
        return  # asked before the graphs, in which half of a model may lie
    uncut: set[int] = set()
    cuts: dict[int, Value] = {}
    is_open = False
    for returned in (*forward.gives, *_filled_in(module, forward)):
        behind = graph(Value(module, returned))
        is_open |= behind.open or any(_is_filled_elsewhere(node, forward) for node in behind.nodes.values())
        if is_open and not _own_parameters(info):
            return
        uncut |= {id(node.node) for node in behind.nodes.values()}
        plain = [inner for cut in behind.cuts for inner in _plain_cuts(cut)]
        cuts.update((id(cut.node), cut) for cut in plain if _is_in_a_module(info, cut))
    for cut in cuts.values():
        for node in behind_cut(cut, {}, info):
            if id(node.node) in uncut:
                continue
            name = "" if is_open else _own_layer(info, node)
            if name and _uses_of(info, name) == 1 and _runs_in_forward_only(module, node, forward):
                yield cut, node.node, name
                break
            name = _own_parameters(info).get(id(node.node), "") if _is_made_anew(cut) else ""
            if name and _is_lost_wherever_read(info, name, node):
                yield cut, node.node, name
                break


def _says_a_cut(module: Module, body: ast.AST) -> bool:
    """A cheap question before the others."""
    return bool(standing_in(body, module.index.attributes("data"))) or any(
        module.index.calls_of("detach", "item", "numpy", *_MAKING, inside=body)
    )


def _is_in_a_module(info: ClassInfo, cut: Value) -> bool:
    """Does a cut stand in a class, or in the forward of another one, where what does nothing but `detach` is meant?"""
    if within(cut.node, info.node):
        return True
    forward = enclosing_function(cut.node)
    return getattr(forward, "name", "") == "forward" and (
        last_word(getattr(cut.node, "func", None)) != "detach"
        or any(carries(node) for given in forward.gives for node in graph(Value(cut.module, given)).nodes.values())
    )


@remembered
def _parts(info: ClassInfo) -> list[ClassInfo]:
    """The module classes of the project of which a class keeps objects."""
    stores = (one for stored in info.attributes.values() for one in stored if one.method is not None and one.target)
    lines = {id(code): (store.module, code) for store in stores for code in [statement_of(store.target)]}
    calls = [Value(module, call) for module, code in lines.values() for call in module.index.inside(code, ast.Call)]
    return [c.owner for call in calls for c in callees(call) if c.kind == "class" and c.owner and c.owner.is_module]


def _cuts_within(part: ClassInfo) -> bool:
    forward = part.methods.get("forward")
    return forward is not None and _says_a_cut(part.module, forward)


@remembered
def _named(info: ClassInfo) -> set[str]:
    """The names of what a class may have layers under, as its file calls or reads them."""
    return _called_on_self(info.module) | info.attributes.keys()


@remembered
def _own_parameters(info: ClassInfo) -> dict[int, str]:
    """The parameters that a class makes for itself, by their constructors, with the names it gives them."""
    found: dict[int, str] = {}
    for name, stored in info.attributes.items():
        value = getattr(statement_of(stored[0].target), "value", None) if stored[0].target is not None else None
        if len(stored) == 1 and isinstance(value, ast.Call) and last_word(value.func) == "Parameter":
            found[id(value)] = name
    return found


def _is_lost_wherever_read(info: ClassInfo, name: str, parameter: Value) -> bool:
    """Is a parameter only looked at, or read by methods that give back and keep nothing that has its graph?"""
    methods: dict[int, ast.FunctionDef] = {}
    looks = ("detach", "item", "data", "grad", "shape", "size", "dtype", "device", "numel", "tolist")
    for read in info.module.index.attributes(name):
        if isinstance(read.up, ast.Attribute) and read.up.attr in looks and not _is_changed_by(read.up):
            continue
        method = enclosing_function(read)
        if not isinstance(read.ctx, ast.Load) and getattr(method, "name", "") == "__init__":
            continue
        if not isinstance(read.ctx, ast.Load) or method not in info.methods.values() or method.yields:
            return False
        methods[id(method)] = method
    for method in methods.values():
        for given in (*method.gives, *_filled_in(info.module, method)):
            behind = graph(Value(info.module, given))
            if behind.open or any(node.node is parameter.node for node in behind.nodes.values()):
                return False
    return bool(methods)


def _is_changed_by(look: ast.Attribute) -> bool:
    """`self.code.data.mul_(0.9)`, `self.code.data = mean`: learned by hand."""
    while isinstance(look.up, (ast.Attribute, ast.Call, ast.Subscript)) and look.up is not None:
        look = look.up
        if isinstance(look, ast.Attribute) and look.attr.endswith("_"):
            return True
    return not isinstance(getattr(look, "ctx", ast.Load()), ast.Load)


@remembered
def _called_on_self(module: Module) -> set[str]:
    """The names of what a file calls as `self.encoder(x)`."""
    named = [call.func for call in module.index.calls if isinstance(call.func, ast.Attribute)]
    return {func.attr for func in named if isinstance(func.value, ast.Name) and func.value.id == "self"}


def _filled_in(module: Module, forward: ast.FunctionDef) -> Iterator[ast.expr]:
    """What a table or a list gets that is given back, or that the module keeps: `losses.update(self.loss_of(x))`,
    `self.scores.append(score)`, `self.loss = loss`.
    """
    given = {returned.id for returned in forward.gives if isinstance(returned, ast.Name)}
    for call in module.index.inside(forward, ast.Call):
        func = call.func
        if isinstance(func, ast.Attribute) and func.attr in ("update", "append", "extend", "setdefault", "insert"):
            if isinstance(func.value, ast.Name) and func.value.id in given or _is_kept(func.value):
                yield from (*call.args, *(keyword.value for keyword in call.keywords))
    for assignment in module.index.inside(forward, ast.Assign):
        if any(_is_kept(target) for target in assignment.targets):
            yield assignment.value


def _is_kept(thing: ast.expr) -> bool:
    """An attribute of the module, or an entry of one."""
    while isinstance(thing, (ast.Attribute, ast.Subscript)):
        thing = thing.value
        if isinstance(thing, ast.Name):
            return thing.id == "self"
    return False


def _is_filled_elsewhere(node: Value, forward: ast.FunctionDef) -> bool:
    """Is it an empty table or list of another function, whose later contents are not followed?"""
    empty = isinstance(node.node, ast.expr) and unparsed(node.node) in ("{}", "[]", "dict()", "list()", "OrderedDict()")
    return empty and not within(node.node, forward)


def _runs_in_forward_only(module: Module, layer: Value, forward: ast.FunctionDef) -> bool:
    """Does a layer stand in the forward, or behind methods that only the forward calls, and no `loss` beside it, or
    that give nothing of it to anybody?
    """
    place = layer
    while (method := enclosing_function(place.node)) is not forward and isinstance(method, ast.FunctionDef):
        of_a_part = method.name == "forward"  # nobody calls that by its name
        is_in_use = not of_a_part and not all(within(call, forward) for call in module.index.callers(method.name))
        if is_in_use and not _gives_none_of(place, method):
            return False
        if place.frame is None or place.frame.call is None:
            return not of_a_part
        place = place.frame.call
    return True


def _gives_none_of(layer: Value, method: ast.FunctionDef) -> bool:
    """Is a layer cut off in all that a method gives back, or keeps?"""
    given = [Value(layer.module, one) for one in (*method.gives, *_filled_in(layer.module, method))]
    graphs = [graph(one) for one in given] if not method.yields else []
    return bool(graphs) and not any(
        behind.open or any(node.node is layer.node for node in behind.nodes.values()) for behind in graphs
    )


def behind_cut(cut: Value, seen: dict[tuple, int], info: ClassInfo | None = None, depth: int = 3) -> Iterator[Value]:
    """What certainly has a graph behind a cut, or behind another cut there: `from_numpy(h.detach().numpy())`; each is
    looked behind once, or from nearer again.
    """
    node = cut.node
    if seen.get(cut.key, -1) >= depth:
        return
    seen[cut.key] = depth
    inner = node.value if isinstance(node, ast.Attribute) else node.args[0] if _is_made_anew(cut) else node.func.value
    behind = graph(cut.at(inner, ()), strict=True)
    yield from behind.nodes.values()
    copied = (cut for computed in behind.nodes.values() for cut in _cuts_behind_numpy(computed))
    for other in (*behind.cuts, *copied) if depth else ():
        # `.numpy()` needs the `detach` that stands beside it
        is_beside = enclosing_function(other.node) is enclosing_function(node)
        if _is_plain_cut(other) and (info is None or is_beside or _is_in_a_module(info, other)):
            yield from behind_cut(other, seen, info, depth - 1)


def _cuts_behind_numpy(computed: Value, depth: int = 3) -> Iterator[Value]:
    """The cuts among what a function of NumPy is given through whose twin in torch a gradient would come."""
    names = {callee.name for callee in callees(computed)} if isinstance(computed.node, ast.Call) and depth else set()
    if computed.path or not names or not all(map(lets_gradients_through, names)):
        return
    for given in computed.node.args:
        behind = graph(computed.at(given, ()), strict=True)
        yield from behind.cuts
        for inner in behind.nodes.values():
            yield from _cuts_behind_numpy(inner, depth - 1)


def networks_cut_off(module: Module, backward: ast.Call) -> Iterator[tuple[Value, ast.expr]]:
    """The cuts on the way to a backward behind which a network lies that an optimizer holds and that no loss of the
    file reaches otherwise: cut and network."""
    loss = loss_of(module, backward)
    behind = graph(loss) if loss is not None else None
    if behind is None or behind.open:
        return
    cuts = [cut for cut in behind.cuts if cut.module is module and _is_plain_cut(cut)]
    reached = _reached_by_losses(module) if cuts else None
    if reached is None:
        return
    lost = [(cut, calls_of_networks(behind_cut(cut, {}))) for cut in cuts]
    unlearned = {id(call.node) for _, calls in lost for call in calls} - reached
    for cut, calls in lost:
        for call in calls:
            func, network = call.node.func, call.at(call.node.func, ())
            if (
                isinstance(func, (ast.Name, ast.Attribute))
                and id(call.node) in unlearned
                and _is_called_there_only(module, func, unlearned)
                and any(holds(optimizer, network) is True for optimizer in constructors(module))
                and not _is_for_others(module, backward, network)
            ):
                yield cut, func
                break


def calls_of_networks(nodes: Iterable[Value]) -> list[Value]:
    """Those among some expressions, and, of a layer's, the call from outside of the network it is in."""
    calls = [node for node in nodes if is_model_call(node)]
    return calls + [whole for whole in map(of_the_whole, calls) if whole.frame is None and whole not in calls]


def _is_for_others(module: Module, backward: ast.Call, network: Value) -> bool:
    """Is a network learned from another backward, as the steps after the backwards say: that of a critic may cut the
    generator off, that of the generator may not?
    """
    if _steps(module, backward, network):
        return False
    others = [call for word in ("backward", "manual_backward") for call in module.index.callers(word)]
    return any(_steps(module, other, network) for other in others if other is not backward)


def _steps(module: Module, backward: ast.Call, network: Value) -> bool:
    """Is the first step after a backward, in its function, one of an optimizer that holds a network?"""
    function = enclosing_function(backward)
    later = [
        call
        for word in ("step", "backward", "manual_backward")
        for call in module.index.callers(word)
        if call.pos > backward.pos and enclosing_function(call) is function and isinstance(call.func, ast.Attribute)
    ]
    first = min(later, key=lambda call: call.pos, default=None)
    return (
        first is not None
        and last_word(first.func) == "step"
        and holds(Value(module, first.func.value), network) is True
    )


@remembered
def _reached_by_losses(module: Module) -> set[int] | None:
    """The expressions that some backward of the file reaches; None where one of them cannot be followed."""
    losses = [loss_of(module, call) for word in ("backward", "manual_backward") for call in module.index.callers(word)]
    graphs = [graph(loss) for loss in losses if loss is not None]
    if len(graphs) < len(losses) or any(each.open for each in graphs) or any(module.index.callers("grad")):
        return None
    nodes = [node for each in graphs for node in each.nodes.values()]
    return {id(node.node) for node in (*nodes, *calls_of_networks(nodes))}


def _is_called_there_only(module: Module, func: ast.expr, places: set[int]) -> bool:
    """Is a network called in these places, be it for both of a pair, and nowhere else, and not handed on?"""
    text = unparsed(func)
    named = module.index.names if isinstance(func, ast.Name) else module.index.attributes
    used = [node for node in named(last_word(func)) if isinstance(node.ctx, ast.Load) and unparsed(node) == text]
    calls = [node for node in used if isinstance(node.up, ast.Call) and node.up.func is node]
    is_there = len(calls) <= _FEW and all(id(node.up) in places for node in calls)
    return is_there and all(node in calls or isinstance(node.up, ast.Attribute) for node in used)


def _plain_cuts(cut: Value, depth: int = 3) -> Iterator[Value]:
    """A cut itself, or those behind `torch.round(x.data)`, through which no gradient would come either."""
    if _is_plain_cut(cut):
        yield cut
    elif depth and isinstance(cut.node, ast.Call) and not cut.path and {c.name for c in callees(cut)} <= _FLAT:
        is_method = all(c.kind == "method" for c in callees(cut))
        inner = receiver(cut.node) if is_method else argument(cut.node, "input", 0)
        for other in graph(cut.at(inner, ()), strict=True).cuts if inner is not None else ():
            yield from _plain_cuts(other, depth - 1)


def _is_plain_cut(cut: Value) -> bool:
    node = cut.node
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "data"
        or _is_made_anew(cut)
        or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("detach", "item", "numpy")
            and not under_no_grad(cut.module, node)
        )
    )


def _is_made_anew(cut: Value) -> bool:
    """`torch.tensor(h)`, not `Variable(h, requires_grad=False)`, which says that it is meant"""
    node = cut.node
    if not isinstance(node, ast.Call) or last_word(node.func) == "Variable" and (node.keywords or len(node.args) > 1):
        return False
    names = {c.name for c in callees(cut)}
    return len(node.args) >= 1 and (names in _ANEW or bool(names) and names <= CONVERTS and makes_data(cut))


def _own_layer(info: ClassInfo, node: Value) -> str:
    """The name of the layer of the class that a call calls, if it has weights that nothing says are frozen or
    loaded.
    """
    func = getattr(node.node, "func", None)
    is_own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == "self"
    if not is_own and not isinstance(func, (ast.Name, ast.Subscript)):
        return ""
    made = origins(node.at(func, ()))
    names = {c.name for o in made if isinstance(o.node, ast.Call) for c in callees(o)}
    learning = tuple(f"torch.nn.{kind}" for kind in ("Linear", "Conv", "Sequential", "GRU", "LSTM", "Transformer"))
    if not made or not names or not all(name.startswith(learning) for name in names):
        return ""
    if requires_grad(node) is not True and "Sequential" not in "".join(names):
        return ""
    name = func.attr if is_own else _kept_as(info, made)
    words = ("teacher", "target", "ema", "momentum", "frozen", "pretrained", "ref", "old", "_k")
    return "" if _may_freeze(info) or any(word in name.lower() for word in words) else name


def _kept_as(info: ClassInfo, made: list[Value]) -> str:
    """`self.parts` of `self.parts = nn.ModuleList(nn.Linear(1, 4) for _ in range(3))`, of which one is called."""
    for name, stored in info.attributes.items():
        target = stored[0].target
        if len(stored) == 1 and target is not None and all(within(o.node, statement_of(target)) for o in made):
            return name if isinstance(target, ast.Attribute) else ""
    return ""


@remembered
def _may_freeze(info: ClassInfo) -> bool:
    """Does the text of a class speak of weights that are not to learn, or that come from elsewhere?"""
    text = "\n".join(info.module.index.lines[info.node.lineno - 1 : info.node.end_lineno])
    return any(
        word in text for word in ("requires_grad", "load_state_dict", "pretrained", "frozen", "freeze", "no_grad")
    )


def _uses_of(info: ClassInfo, name: str) -> int:
    return _mentions_of(info.module, name)


@remembered
def _mentions_of(module: Module, name: str) -> int:
    """How often a file mentions an attribute other than by setting it, or to look at a gradient."""
    loads = [n for n in module.index.attributes(name) if isinstance(n.ctx, ast.Load)]
    return sum(
        not (isinstance(n.up, ast.Attribute) and isinstance(n.up.up, ast.Attribute) and n.up.up.attr == "grad")
        for n in loads
    )
