"""On which device a tensor is, as far as the source says."""

from __future__ import annotations

import ast
from bisect import bisect_left
from operator import attrgetter

from torchlint.facts import fact, named, words
from torchlint.source.flow.classes import ClassInfo, class_info, method_class
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.kinds import ARRAY, MODULE, TENSOR, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import FUNCTIONS, ancestors, enclosing_function, last_word, standing_in
from torchlint.source.text.spelling import argument, is_super, unparsed
from torchlint.source.training.grads import CONVERTS
from torchlint.source.training.moves import is_moved_at
from torchlint.source.training.reckoned import looks_like_a_number

MOVED, HERE = "moved", "here"
MAX_MOVES = 40  # of one object, those nearest to its use
FACTORIES = named("creates") | {"torch.normal"}  # of numbers
MOVES = words(named("moves", home=".")) - {"cpu"} | {"mps", "to_device"}  # away from the CPU
NUMBERS = ("alpha", "beta")  # of `torch.add` and its kind: what is given by these names is read as a number
_COMPUTING = (
    "torch.nn.functional.",
    "torch.linalg.",
    "torch.fft.",
    "torch.special.",
)  # `torch.onnx` and others do other things


def is_the_other_branch(module: Module, node: ast.AST) -> bool:
    """Does the other branch of an `if` around a place move its tensors, or make them on a device? Then this one is for
    the CPU.
    """
    moves = _moves(module)
    child = node
    for parent in ancestors(node):
        if isinstance(parent, FUNCTIONS):
            return False
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            body, orelse = (part if isinstance(part, list) else [part] for part in (parent.body, parent.orelse))
            other = orelse if child in body else body
            if any(standing_in(part, moves) or _makes_there(module, part) for part in other):
                return True
        child = parent
    return False


@remembered
def _makes_there(module: Module, part: ast.AST) -> bool:
    """`torch.arange(5, device=device)`"""
    return any(keyword.arg == "device" for call in module.index.inside(part, ast.Call) for keyword in call.keywords)


@remembered
def _moves(module: Module) -> list[ast.Call]:
    """The calls of methods that move something, in source order."""
    found = (call for word in MOVES for call in module.index.callers(word) if isinstance(call.func, ast.Attribute))
    return sorted(found, key=attrgetter("pos"))


@remembered
def _moved_names(module: Module) -> frozenset[str]:
    """The names of what a file moves to where another tensor is, `lengths.to(x.device)`: it may come from elsewhere."""
    return frozenset(
        call.func.value.id
        for call in _moves(module)
        if isinstance(call.func.value, ast.Name) and call.args and _is_of_a_tensor(Value(module, call.args[0]))
    )


def _is_of_a_tensor(device: Value) -> bool:
    """`x.device`, and not `self.device`: a loop over batches moves all that a model gets to that one."""
    node = device.node
    return isinstance(node, ast.Attribute) and node.attr == "device" and not _sets_devices(device.at(node.value, ()))


def device_of(value: Value, depth: int = 8) -> str | None:
    """`moved`, `here` (the default device) or None: not known."""
    return None if depth == 0 or value.node is None else _device_of(value, depth)


@remembered(by=1)
def _device_of(value: Value, depth: int) -> str | None:
    answers = {_origin(origin, depth) for origin in origins(value)}
    return answers.pop() if len(answers) == 1 else None


def _origin(origin: Value, depth: int) -> str | None:
    node = origin.node
    if isinstance(node, ast.Call):
        return _call(origin, depth)
    if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Compare, ast.AugAssign)):
        parts = [p for p in (getattr(node, f, None) for f in ("left", "right", "operand", "value")) if p is not None]
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        answers = [device_of(origin.at(p, ()), depth - 1) for p in parts]
        return MOVED if MOVED in answers else HERE if answers and HERE in answers and None not in answers else None
    if isinstance(node, ast.Attribute):
        if node.attr in ("shape", "dtype", "device", "ndim"):
            return None
        if node.attr in ("T", "data", "grad", "mT"):
            return device_of(origin.at(node.value, ()), depth - 1)
        if node.attr in ("weight", "bias") and kinds(origin.at(node.value, ())) == {MODULE}:
            layer = origin.at(node.value, ())
            is_with_inputs = in_module_code(origin) and not is_made_here(layer)
            return MOVED if is_with_inputs or is_moved_object(layer, depth) else None
        return None
    if isinstance(node, ast.arg):
        return _parameter(origin)
    return None


def _call(origin: Value, depth: int) -> str | None:
    node: ast.Call = origin.node
    if origin.path == ("applied",):
        return MOVED if in_module_code(origin) else None
    answers = set()
    for callee in callees(origin):
        name, last = callee.name, callee.name.rsplit(".", 1)[-1]
        if name in FACTORIES or name in CONVERTS and _is_given_numbers(origin):
            answers.add(_factory(origin, depth))
        elif name == "torch.nn.Parameter":
            answers.add(MOVED if _is_kept_by_module(origin) else None)
        elif callee.kind == "method":
            if last in ("to", "cuda"):
                answers.add(_moved_to(origin, last, callee.receiver, depth))
            elif last == "cpu":
                answers.add(HERE)
            elif last.startswith("new_") or kinds(callee.receiver) != {MODULE}:
                answers.add(
                    device_of(callee.receiver, depth - 1)
                    if last not in ("item", "size", "numpy", "tolist", "dim", "numel", "type")
                    else None
                )
            elif last == "forward":
                answers.add(MOVED if is_moved_object(callee.receiver, depth) else None)
        elif callee.kind == "instance" and name.startswith("torch.nn."):
            layer = origin.at(node.func, ())
            inputs = [device_of(origin.at(a, ()), depth - 1) for a in node.args]
            row = fact(name)
            if row is not None and not row.weights:  # it computes where its input is
                answers.add(MOVED if MOVED in inputs else HERE if inputs and set(inputs) == {HERE} else None)
                continue
            answers.add(
                MOVED
                if MOVED in inputs
                or in_module_code(origin)
                and not is_made_here(layer)
                or is_moved_object(layer, depth)
                else None
            )
        elif callee.kind == "object":
            answers.add(MOVED if is_moved_object(origin.at(node.func, ()), depth) else None)
        elif callee.kind == "external" and (
            name.startswith(_COMPUTING) or name.startswith("torch.") and name.count(".") == 1
        ):
            if any(k.arg == "device" for k in node.keywords):
                return _factory(origin, depth)
            inputs = [device_of(origin.at(a, ()), depth - 1) for a in flat(node)]
            answers.add(MOVED if MOVED in inputs else HERE if inputs and set(inputs) == {HERE} else None)
        else:
            answers.add(None)
    return answers.pop() if len(answers) == 1 else None


def flat(call: ast.Call) -> list[ast.expr]:
    """The arguments that may be tensors, those inside a list or tuple too."""
    found: list[ast.expr] = []
    for given in [*call.args, *(k.value for k in call.keywords if k.arg not in NUMBERS)]:
        found += given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
    return found


def _factory(origin: Value, depth: int) -> str | None:
    for keyword in origin.node.keywords:
        if keyword.arg == "device":
            return _target(origin.at(keyword.value, ()), depth)
        if keyword.arg in (None, "generator", "out"):
            return None
    return HERE


def _is_given_numbers(origin: Value) -> bool:
    """Are they Python's or NumPy's, of which `torch.as_tensor` makes a tensor, and no tensor that it would leave where
    it is?
    """
    given = argument(origin.node, "data", 0) or argument(origin.node, "obj")
    found = origins(origin.at(given, ())) if given is not None else []
    return bool(found) and all(
        not o.path and (isinstance(o.node, (ast.List, ast.Tuple, ast.ListComp, ast.Constant)) or kinds(o) == {ARRAY})
        for o in found
    )


def is_cpu(value: Value, depth: int = 4) -> bool:
    """Can a device be nothing but the CPU? One that is made of itself, `device = torch.device(device)`, has no end."""
    found = origins(value) if depth else ()
    return bool(found) and all(_names_cpu(o, depth - 1) for o in found)


def _names_cpu(origin: Value, depth: int) -> bool:
    node = origin.node
    if isinstance(node, ast.Constant):
        return node.value is None or str(node.value) == "cpu"
    if isinstance(node, ast.Call) and {c.name for c in callees(origin)} == {"torch.device"} and node.args:
        return is_cpu(origin.at(node.args[0], ()), depth)
    return False


def _moved_to(origin: Value, method: str, receiver: Value, depth: int) -> str | None:
    if method == "cuda":
        return MOVED
    arguments = [*origin.node.args, *(k.value for k in origin.node.keywords if k.arg in ("device", "other"))]
    if not arguments:
        return device_of(receiver, depth - 1)
    target = origin.at(arguments[0], ())
    name = external_name(target)
    if name and name.startswith("torch.") and name != "torch.device":  # a dtype
        return device_of(receiver, depth - 1)
    if last_word(arguments[0]) in ("dtype", "float", "float32", "half"):
        return device_of(receiver, depth - 1)
    if kinds(target) == {TENSOR}:  # `mask.to(x)`
        return device_of(target, depth - 1)
    return _target(target, depth)


def goes_away(move: Value) -> bool:
    """Does a call of `.to`, `.cuda` or their kin lead from the CPU to a device?"""
    return device_of(move) == MOVED or getattr(move.node.func, "attr", "") in MOVES - {"to"}


def _target(device: Value, depth: int) -> str | None:
    """Where a device takes a tensor.

    `other.device` is where the other one is, which a function may not know of its argument.
    """
    for origin in (device, *origins(device)):
        if isinstance(origin.node, ast.Attribute) and origin.node.attr == "device":
            other = origin.at(origin.node.value, ())
            where = device_of(other, depth - 1)
            if where is not None or not _sets_devices(other):
                return where
    if is_cpu(device):
        return HERE
    return None if any(map(_may_be_default, origins(device))) else MOVED


def _may_be_default(device: Value) -> bool:
    """Is it None, by which a tensor is made where the default says, or hidden behind `*args`?"""
    return device.node is None or isinstance(device.node, ast.Constant) and device.node.value is None


def _sets_devices(value: Value) -> bool:
    """`self.device`, `model.device` and `args.device` are settings; of a tensor nobody knows it may be anywhere."""
    word = last_word(value.node)
    return (
        word == "self"
        or word.endswith(("args", "opt", "cfg", "config", "params", "opts", "options", "settings", "model", "net"))
        or kinds(value) == {MODULE}
    )


def _parameter(origin: Value) -> str | None:
    parameter: ast.arg = origin.node
    function = parameter.up.up
    owner = method_class(origin.module, function)
    if owner is None or not owner.is_module:
        return None
    positional = [*function.args.posonlyargs, *function.args.args]
    if parameter in positional[:1]:
        return None
    if function.name == "forward" and not origin.path:
        plain = (
            last_word(parameter.annotation) in ("int", "float", "bool", "str", "dict", "list", "Optional", "List")
            if parameter.annotation is not None
            else False
        )
        without_default = parameter in positional and positional.index(parameter) < len(positional) - len(
            function.args.defaults
        )
        if plain or not without_default or parameter.arg in _moved_names(origin.module):
            return None
        if _is_read_as_number(origin.module, parameter) or _is_a_record(owner, function, parameter):
            return None
        if parameter is not positional[1] and looks_like_a_number(origin.module, parameter) is not False:
            return None
        return MOVED
    if (
        owner.is_lightning
        and function.name in ("training_step", "validation_step", "test_step", "predict_step")
        and parameter is positional[1]
    ):
        return MOVED
    return None


def _is_read_as_number(module: Module, parameter: ast.arg) -> bool:
    """`int(rate)`, `math.gcd(rate, other)`: a number, or a tensor of one, which meets all devices."""
    return any(
        isinstance(use.up, ast.Call)
        and use in use.up.args
        and (last_word(use.up.func) in ("int", "float", "range") or unparsed(use.up.func).startswith("math."))
        for use in uses(module, parameter)
    )


def _is_a_record(owner: ClassInfo, function: ast.AST, parameter: ast.arg) -> bool:
    """Does a module that holds nothing give back the dict it was given? So do transforms of data, on the CPU."""
    if any(map(_holds_something, owner.mro)):
        return False
    gives = {value.id for value in function.gives if isinstance(value, ast.Name)}
    keys = (n for n in owner.module.index.inside(function, ast.Subscript) if isinstance(n.ctx, ast.Store))
    return gives == {parameter.arg} and any(
        isinstance(n.value, ast.Name) and n.value.id == parameter.arg and _is_a_key(n.slice) for n in keys
    )


def _holds_something(owner: ClassInfo) -> bool:
    """Layers, parameters or buffers: what calls make"""
    stored = [entry for entries in owner.attributes.values() for entry in entries]
    values = [entry.value or getattr(getattr(entry.target, "up", None), "value", None) for entry in stored]
    return any(isinstance(value, ast.Call) for value in values)


def _is_a_key(index: ast.expr) -> bool:
    """`record["x"]`, `record[names.x]`"""
    return isinstance(index, ast.Attribute) or isinstance(index, ast.Constant) and isinstance(index.value, str)


def _is_kept_by_module(parameter: Value) -> bool:
    """`self.scale = nn.Parameter(…)` goes where the module goes; one that a method makes for itself stays where it was
    made.
    """
    node = parameter.node
    holder = node.up
    while isinstance(
        holder, (ast.Call, ast.List, ast.ListComp, ast.Dict, ast.keyword)
    ):  # nn.ParameterList([…]), self.register_parameter(…)
        holder = holder.up
    targets = (
        holder.targets
        if isinstance(holder, ast.Assign)
        else [holder.target]
        if isinstance(holder, ast.AnnAssign)
        else []
    )
    if isinstance(holder, ast.Expr):
        targets = [holder.value.func]
    if not any(isinstance(target, ast.Attribute) for target in targets):
        return False
    while node is not None and not isinstance(node, ast.ClassDef):
        node = node.up
    return node is not None and not (
        _stays_here(parameter.module, class_info(parameter.module, node)) or _whole_stays_here(parameter)
    )


def _whole_stays_here(part: Value) -> bool:
    """Is the module that holds a part, or that holds what holds it, plainly never moved?"""
    whole = part
    while whole.frame is not None and whole.frame.instance is not None and whole.frame.instance.node is not None:
        whole = whole.frame.instance
    if whole is part or not isinstance(whole.node, ast.Call):
        return False
    made = callees(whole)
    return bool(made) and all(c.kind == "class" and _stays_here(whole.module, c.owner) for c in made)


def is_made_here(layer: Value) -> bool:
    """Is it a layer that the same function makes, on the default device?"""
    if is_set_here(layer):
        return True
    made = [origin.node for origin in origins(layer)]
    return bool(made) and all(
        isinstance(node, ast.Call) and enclosing_function(node) is enclosing_function(layer.node) for node in made
    )


def is_set_here(part: Value) -> bool:
    """Does a function set an attribute, or what it is taken from, before it reads it: itself, or by a method that it
    calls? `self.layers["out"].forward` is taken from `self.layers`.
    """
    node = part.node
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        if isinstance(node, ast.Attribute) and _is_set_before(part.module, node):
            return True
        node = node.func if isinstance(node, ast.Call) else node.value
    return False


def _is_set_before(module: Module, read: ast.Attribute) -> bool:
    function, whole = enclosing_function(read), unparsed(read.value)
    for stored in module.index.stored(read.attr):
        home = enclosing_function(stored)
        if home is None or unparsed(stored.value) != whole:
            continue
        places = [stored] if home is function else _calls_on(module, whole, getattr(home, "name", ""))
        if any(enclosing_function(place) is function and place.pos < read.pos for place in places):
            return True
    return False


def _calls_on(module: Module, whole: str, method: str) -> list[ast.Call]:
    """`self.method(…)`, `super().method(…)`"""
    calls = [call for call in module.index.callers(method) if isinstance(call.func, ast.Attribute)]
    return [call for call in calls if unparsed(call.func.value) == whole or is_super(call.func.value)]


def in_module_code(origin: Value) -> bool:
    """Inside a method of an nn.Module other than its construction, layers are where the inputs are; seen through a
    call, where that module is."""
    frame = origin.frame
    if frame is not None and frame.instance is not None and isinstance(frame.instance.node, ast.Call):
        if frame.call is None:
            return is_moved_object(frame.instance, 3)
        layer = frame.call.at(frame.call.node.func, ())
        return is_moved_object(layer, 3) or in_module_code(frame.call) and not is_made_here(layer)
    function = enclosing_function(origin.node)
    owner = method_class(origin.module, function) if function is not None else None
    return (
        bool(owner)
        and owner.is_module
        and not is_in_construction(origin.module, origin.node)
        and not _stays_here(origin.module, owner)
    )


def is_in_construction(module: Module, node: ast.AST) -> bool:
    """Does a place make a module: nobody can have moved it yet?"""
    function = enclosing_function(node)
    return function is not None and _constructs(module, function)


@remembered(meanwhile=False)
def _constructs(module: Module, function: ast.AST) -> bool:
    """Is it a constructor, or a method or function that only constructors call, of whatever object?"""
    name, is_method = getattr(function, "name", ""), bool(method_class(module, function))
    if is_method and name in ("__init__", "reset_parameters"):
        return True
    calls = module.index.callers(name) if name and name not in ("forward", "__call__") else []
    return bool(calls) and all(
        isinstance(call.func, ast.Attribute if is_method else ast.Name) and is_in_construction(module, call)
        for call in calls
    )


@remembered(meanwhile=False)
def _stays_here(module: Module, owner: ClassInfo) -> bool:
    """Is every object of a class of this file plainly never moved: made, trained and called under a name of its own?
    Or does the class, which moves nothing, give itself what its own loops bring, as it is?
    """
    if _is_fed_by_its_loops(module, owner):
        return True
    made = [
        call
        for call in module.index.callers(owner.name)
        if any(c.kind == "class" and c.owner is owner for c in callees(Value(module, call)))
    ]
    return bool(made) and all(_is_never_moved(module, call) for call in made)


def _is_fed_by_its_loops(module: Module, owner: ClassInfo) -> bool:
    if any(node.attr in MOVES or node.attr == "device" for node in module.index.inside(owner.node, ast.Attribute)):
        return False
    for call in module.index.inside(owner.node, ast.Call):
        if (
            unparsed(call.func) not in ("self", "self.forward")
            or not call.args
            or not isinstance(call.args[0], ast.Name)
        ):
            continue
        if any(
            isinstance(loop, ast.For)
            and any(name.id == call.args[0].id for name in module.index.inside(loop.target, ast.Name))
            for loop in ancestors(call)
        ):
            return True
    return False


def _is_never_moved(module: Module, made: ast.Call) -> bool:
    if isinstance(made.up, ast.Call) and made.up.func is made:  # Net()(x)
        return True
    statement = made.up
    if (
        not isinstance(statement, ast.Assign)
        or len(statement.targets) != 1
        or not isinstance(statement.targets[0], ast.Name)
    ):
        return False
    name = statement.targets[0]
    for node in uses(module, name):
        parent = node.up
        if not (
            isinstance(parent, ast.Attribute)
            and parent.attr not in MOVES
            or isinstance(parent, ast.Call)
            and (parent.func is node or last_word(parent.func) in ("print", "len"))
        ):
            return False
    return True


def is_moved_object(value: Value, depth: int) -> bool:
    """Was a module moved, in the expression that made it or by a later statement `model.to(device)`?"""
    return depth > 0 and _is_moved_object(value, depth)


@remembered(meanwhile=False)
def _is_moved_object(value: Value, depth: int) -> bool:
    made, statements = _moving_origin(value, depth), _moved_by_statement(value.module)
    if made is not None and all(away for moves in statements.values() for _, away in moves):
        return True
    moves = {id(call): (call, away) for origin in objects(value) for call, away in statements.get(origin.key, ())}
    near = sorted(moves.values(), key=lambda move: move[0].pos)
    if len(near) > MAX_MOVES:
        at = bisect_left(near, value.node.pos, key=lambda move: move[0].pos)
        near = near[max(at - MAX_MOVES // 2, 0) : at + MAX_MOVES // 2]
    return any(is_moved_at(place, near, made) for place in _runs_of(value, near))


def _runs_of(value: Value, moves: list[tuple[ast.Call, bool]]) -> list[ast.AST]:
    """The place of a use; of one in a function that moves nothing, the calls of it: a model may be back before them."""
    function = enclosing_function(value.node)
    if not isinstance(function, ast.FunctionDef) or method_class(value.module, function):
        return [value.node]
    if all(away for _, away in moves) or any(enclosing_function(call) is function for call, _ in moves):
        return [value.node]
    calls = [call for call in value.module.index.callers(function.name) if isinstance(call.func, ast.Name)]
    return calls or [value.node]


def _moving_origin(value: Value, depth: int) -> ast.AST | None:
    """The expression that made a module on its device."""
    for origin in origins(value):
        if not isinstance(origin.node, ast.Call):
            if (
                isinstance(origin.node, ast.arg)
                and method_class(origin.module, origin.node.up.up)
                and origin.node.arg == "self"
            ):
                if in_module_code(origin):
                    return origin.node
            continue
        for callee in callees(origin):
            last = callee.name.rsplit(".", 1)[-1]
            if callee.kind == "method" and last in ("to", "cuda"):
                if _moved_to(origin, last, callee.receiver, depth - 1) == MOVED:
                    return origin.node
            elif (
                callee.kind == "method"
                and last != "cpu"
                and callee.receiver is not None
                and is_moved_object(callee.receiver, depth - 1)
            ):
                return origin.node
            elif last in ("DataParallel", "DistributedDataParallel", "compile", "script") and origin.node.args:
                if is_moved_object(origin.at(origin.node.args[0], ()), depth - 1):
                    return origin.node
    return None


@remembered(meanwhile={})
def _moved_by_statement(module: Module) -> dict[tuple, list[tuple[ast.Call, bool]]]:
    """`model.to(device)` and its kin, and `model = model.cpu()`, by the objects that are moved: the calls, and whether
    away from the CPU.
    """
    found: dict[tuple, list[tuple[ast.Call, bool]]] = {}
    for call in (*module.index.callers("to"), *module.index.callers("cuda"), *module.index.callers("cpu")):
        if isinstance(call.func, ast.Attribute) and isinstance(call.up, (ast.Expr, ast.Assign)):
            value = Value(module, call)
            receiver = value.at(call.func.value, ())
            where = HERE if call.func.attr == "cpu" else _moved_to(value, call.func.attr, receiver, 3)
            if isinstance(call.up, ast.Assign) and not (where == HERE and _is_itself(call.up, call.func.value)):
                continue
            for origin in objects(receiver) if where is not None else ():
                if origin.node is not None:
                    found.setdefault(origin.key, []).append((call, where == MOVED))
    return found


def _is_itself(assignment: ast.Assign, receiver: ast.expr) -> bool:
    return [unparsed(target) for target in assignment.targets] == [unparsed(receiver)]
