"""The `eval()` of a model that outlasts its evaluation: the next round of the training runs in eval mode."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.source.flow.flow import callees
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word, standing_in, within
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.acts import BACKWARD, EVAL, OPAQUE, STEP, TRAIN, Act, acts
from torchlint.source.training.events import Event, events, may_call
from torchlint.source.training.modes import asks_mode
from torchlint.source.training.optimizers import holds
from torchlint.source.training.roles import called_model
from torchlint.source.training.sameness import are_distinct, identity, is_same
from torchlint.source.training.unseen_switches import may_train_unseen


def eval_modes_kept(module: Module, loop: ast.AST) -> list[tuple[Act, Act]]:
    """The `eval()` of a model in a loop that trains it and never calls `train()`, each with the step of the
    training.
    """
    if not any(may_call(module, loop.body, "backward", "step", switch) for switch in ("eval", "train")):
        return []
    if "__enter__" in module.index.users("train") and any(module.index.inside(loop, ast.With)):
        return []  # what is entered there sets the mode
    found = acts(module, loop.body)
    backwards = [act for act in found if act.role == BACKWARD]
    pairs = [(backwards[0], step) for step in found if step.role == STEP] if backwards else []
    switches = [act for act in found if act.role == EVAL and not act.leaves_loop]
    if not pairs or not switches:
        return []
    kept = []
    order = {id(act): i for i, act in enumerate(found)}
    for switch in switches:
        if _is_made_in(loop, switch.on) or _is_a_copy(switch.on) or _is_in_last_round(loop, switch):
            continue
        if _is_set_back_by_hand(module, loop, switch):
            continue
        if any(_may_switch(event, switch.on) for event in events(module, loop.body)):
            continue
        if any(
            act.role in (TRAIN, OPAQUE)
            and (
                act.on is None
                or not are_distinct(act.on, switch.on)
                or _is_given_to(act.on, switch.on)
                or _is_part(act.on, switch.on)
            )
            for act in found
        ):
            continue
        for backward, step in pairs:
            shared = switch.event.loops and step.event.loops and switch.event.loops[0] is step.event.loops[0]
            # In eval mode right before the training is a decision, whoever else switches it: frozen statistics.
            decided = any(
                order[id(other)] < order[id(backward)]
                and is_same(other.on, switch.on)
                and not _evaluated_between(module, loop, other, backward)
                for other in switches
            )
            if (
                not shared
                and not decided
                and not _begins_in_eval_mode(module, loop, switch)
                and _is_trained(module, loop, switch, step)
                and asks_mode(switch.on) is not False
                and not may_train_unseen(module, loop.body, switch.on)
            ):
                kept.append((switch, step))
                break
    return kept


def _is_part(part: Value, model: Value) -> bool:
    """`model.classifier.train()`: the modes of its parts are set one by one, as some are to stay as they are."""
    node = part.node
    while isinstance(node, ast.Attribute):
        node = node.value
        if is_same(part.at(node, ()), model):
            return True
    return False


def _may_switch(event: Event, model: Value) -> bool:
    """`options["mode"](model)`: a call of nobody knows what, which is given the model."""
    call = event.node
    if not isinstance(call, ast.Call) or isinstance(call.func, (ast.Name, ast.Attribute)):
        return False
    is_unknown = all(callee.kind == "method" and callee.function is None for callee in callees(event.value))
    return is_unknown and any(is_same(event.value.at(given, ()), model) for given in call.args)


def _is_set_back_by_hand(module: Module, loop: ast.AST, switch: Act) -> bool:
    """`for m, mode in modes.items(): m.training = mode`, in the loop or beside the switch."""
    places = [(module, loop)]
    if switch.event.via and (helper := enclosing_function(switch.node)) is not None:
        places.append((switch.module, helper))
    return any(
        value is None or not isinstance(value, ast.Constant) or bool(value.value)
        for home, place in places
        for value in _modes_given(home, place)
    )


def _modes_given(module: Module, place: ast.AST) -> Iterator[ast.expr | None]:
    """What modules are told by `m.training = …` or `setattr(m, "training", …)`."""
    yield from (getattr(store.up, "value", None) for store in standing_in(place, module.index.stored("training")))
    for call in module.index.calls_of("setattr", inside=place):
        if len(call.args) == 3 and isinstance(call.args[1], ast.Constant) and call.args[1].value == "training":
            yield call.args[2]


def _is_in_last_round(loop: ast.AST, switch: Act) -> bool:
    """`for epoch in range(n): … if epoch == n - 1: model.eval()`; or `if i + 1 == len(loader)`, whatever is counted."""
    if not isinstance(loop, ast.For):
        return False
    given = loop.iter.args[-1:] if isinstance(loop.iter, ast.Call) and last_word(loop.iter.func) == "range" else []
    ends = {unparsed(node) for node in given}
    counted = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    return any(truth and _is_last(test.node, counted, ends) for test, truth in switch.event.tests)


def _is_last(test: ast.expr, counted: set[str], ends: set[str]) -> bool:
    """`i == n - 1`, `i + 1 == n`, either way round."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    for count, end in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
        for number, shifted in ((_one_off(count, ast.Add), end), (count, _one_off(end, ast.Sub))):
            if isinstance(number, ast.Name) and number.id in counted and shifted is not None:
                is_length = isinstance(shifted, ast.Call) and last_word(shifted.func) == "len"
                if is_length or unparsed(shifted) in ends:
                    return True
    return False


def _one_off(node: ast.expr, how: type[ast.operator]) -> ast.expr | None:
    """`n` of `n - 1`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, how) and isinstance(node.right, ast.Constant):
        return node.left if node.right.value == 1 else None
    return None


def _is_made_in(loop: ast.AST, model: Value) -> bool:
    """Does each round make a model of its own, which is in train mode?"""
    made = identity(model).values()
    return bool(made) and all(
        isinstance(o.node, ast.Call) and any(within(node, loop) for node in _calls_to(o)) for o in made
    )


def _is_given_to(made: Value, model: Value, depth: int = 3) -> bool:
    """`ready, optimizer = amp.initialize(model, optimizer)`: what is made of a model switches it, for all we know."""
    return depth > 0 and any(
        is_same(given := origin.at(one, ()), model) or _is_given_to(given, model, depth - 1)
        for origin in identity(made).values()
        if isinstance(origin.node, ast.Call)
        for argument in origin.node.args
        for one in getattr(argument, "elts", (argument,))
    )


def _is_a_copy(model: Value, depth: int = 5) -> bool:
    """`copy.deepcopy(model).eval()`, under the names that it is given in this function and in those it is handed to:
    the copy is not trained.
    """
    node = model.node
    while isinstance(node, ast.Call):
        if last_word(node.func) == "deepcopy":
            return True
        node = node.func.value if isinstance(node.func, ast.Attribute) else None
    if not isinstance(node, ast.Name) or not depth or (scope := node.at.lookup(node.id)) is None:
        return False
    for binding in reaching(node, scope):
        call = model.frame.call if isinstance(binding, ast.arg) and model.frame else None
        if call is not None:
            names = [a.arg for a in model.frame.function.args.args]
            given = [k.value for k in call.node.keywords if k.arg == node.id] + (
                call.node.args[names.index(node.id) :][:1] if node.id in names else []
            )
            if given and _is_a_copy(call.at(given[0], ()), depth - 1):
                return True
        elif (
            isinstance(binding.up, ast.Assign)
            and binding.up.value is not node
            and _is_a_copy(model.at(binding.up.value, ()), depth - 1)
        ):
            return True
    return False


def _calls_to(origin: Value) -> Iterator[ast.AST]:
    """An expression, and the calls through which it is seen."""
    yield origin.node
    frame = origin.frame
    while frame and frame.call:
        yield frame.call.node
        frame = frame.call.frame


def _evaluated_between(module: Module, loop: ast.AST, switch: Act, backward: Act) -> bool:
    trace = events(module, loop.body)
    begin, end = trace.index(switch.event), trace.index(backward.event)
    return any(
        event.no_grad and (model := called_model(event)) and is_same(switch.on, model) for event in trace[begin:end]
    )


def _is_trained(module: Module, loop: ast.AST, switch: Act, step: Act) -> bool:
    """Does the step train the model, or has the same function put it in train mode, and not back, before? Where the
    loop puts another one in train mode, that may hold the part which is trained.
    """
    known = holds(step.on, switch.on)
    if known is not None:
        return known
    if any(act.role == TRAIN for act in acts(module, loop.body)):
        return False
    last = _set_before(module, loop, switch)
    return last is not None and last.role == TRAIN


def _set_before(module: Module, loop: ast.AST, switch: Act) -> Act | None:
    """What has set the mode of the model last before the loop, as far as the function around the loop shows."""
    by_object = _modes_by_object(module, _around(module, loop))
    of_it = dict(mode for made in identity(switch.on) for mode in by_object.get(made, ()))
    modes = (act for _, act in sorted(of_it.items(), reverse=True) if act.event.here.lineno < loop.lineno)
    return next((act for act in modes if is_same(act.on, switch.on)), None)


@remembered
def _modes_by_object(module: Module, body: list[ast.stmt]) -> dict[tuple, list[tuple[int, Act]]]:
    """The acts of a body that set a mode, each with its place, by what makes the objects whose mode it may be."""
    found: dict[tuple, list[tuple[int, Act]]] = {}
    for place, act in enumerate(acts(module, body)):
        if act.role in (TRAIN, EVAL) and act.on is not None:
            for made in identity(act.on):
                found.setdefault(made, []).append((place, act))
    return found


def _begins_in_eval_mode(module: Module, loop: ast.AST, switch: Act) -> bool:
    """`model.eval()` right before the training, for no evaluation: frozen statistics are meant, and no evaluation in
    the loop takes them away.
    """
    last = _set_before(module, loop, switch)
    if last is None or last.role != EVAL or last.event.via or last.event.tests:
        return False
    trace = events(module, _around(module, loop))
    after = (event for event in trace[trace.index(last.event) :] if event.here.lineno < loop.lineno)
    return not any(event.no_grad and called_model(event) for event in after)


def _around(module: Module, loop: ast.AST) -> list[ast.stmt]:
    return getattr(enclosing_function(loop), "body", module.tree.body)
