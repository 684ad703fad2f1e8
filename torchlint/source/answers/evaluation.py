"""Which call evaluates a model, in which mode the model is there, and whether a graph is recorded for nothing."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from torchlint.source.answers.asked_methods import asked, asked_by_method
from torchlint.source.answers.copied_models import is_of_another, may_be_copied_in_eval_mode
from torchlint.source.answers.dropped_graphs import is_dropped
from torchlint.source.answers.gradients_in_forwards import goes_backward_by_hand
from torchlint.source.answers.graphless_models import asked_model, becomes_an_array, leaves_no_graph
from torchlint.source.answers.held_out import (
    EVALUATES,
    are_held_out,
    evaluating_place,
    is_an_evaluator,
    is_held_out,
    is_other_phase,
    named_at,
)
from torchlint.source.answers.made_up_data import is_made_up, looks_at_sizes
from torchlint.source.answers.set_back_modes import sets_back
from torchlint.source.answers.told_losses import tells_losses
from torchlint.source.flow.classes import ClassInfo, method_class
from torchlint.source.flow.kinds import MODULE
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import (
    COMPREHENSIONS,
    DEFINITIONS,
    FUNCTIONS,
    LOOPS,
    UNWRITTEN,
    ancestors,
    enclosing_function,
    last_word,
    standing_in,
    statement_of,
    within,
)
from torchlint.source.text.spelling import dumped, unparsed
from torchlint.source.training.acts import BACKWARD, EVAL, OPAQUE, STEP, SUPPLY, TRAIN, Act, acts, last_above
from torchlint.source.training.events import (
    Event,
    events,
    imports_saying,
    iterated,
    leading_to,
    may_call_here,
    may_mention,
    own_events,
    reaches,
)
from torchlint.source.training.modes import asks_mode, may_switch_to_training, switches_a_model
from torchlint.source.training.naming import is_named, sounds_like, word_of
from torchlint.source.training.optimizers import contains
from torchlint.source.training.regions import NO_GRAD, has_twin_without_grad, loops_around, rounds_around, under_no_grad
from torchlint.source.training.roles import called_model
from torchlint.source.training.run_without_grad import may_run_without_grad
from torchlint.source.training.sameness import are_distinct, identity, is_same
from torchlint.source.training.unseen_gradients import may_record_nothing
from torchlint.source.training.unseen_switches import may_judge_unseen

# Of what asks for the mode:
_WORDS_OF_MODES = "Dropout|dropout|BatchNorm|DropPath|Transformer|RReLU|torchvision|timm|track_running_stats"
_FILLS = ("load_state_dict", "load_from_checkpoint", "from_pretrained", "load", "load_model", "load_weights", "restore")
_COMPARES = ("allclose", "assert_close", "isclose", "assert_allclose", "equal", "array_equal", "assert_array_equal")
_SWITCHING = frozenset(("eval", "train"))
_TRAIN, _TRAINS = frozenset(("train",)), frozenset(("step", "backward"))
_BACKWARD = frozenset(("backward",))
_NO_GRAD = frozenset(name.rpartition(".")[2] for name in NO_GRAD)
_VALIDATES = re.compile(
    r"^_?(val|validate|validation|evaluate|evaluation|eval|test)(_(model|epoch|loop|net|one_epoch|step))?$"
)
# What may also be said of a function that trains: believed only where nothing but numbers is read from the results.
_MEASURES = re.compile(r"(^|_)(val(id(ate|ation)?)?|eval\w*|test|acc(uracy)?|infer(ence)?|predict(ions?)?)(_|$)")
_OF_THE_MODE = re.compile(r"#.*(?:(?<![.\w])eval\(\)|\b(eval(uation)?|train(ing)?) mode\b)")


class Evaluation:
    """A call of a model where it is evaluated: `switch` is the act that put it in train mode, None if made so."""

    def __init__(self, event: Event, model: Value, switch: Act | None, place: Value | None = None):
        self.event = event
        self.model = model
        self.switch = switch
        self.module, self.node = (place or event).module, (place or event).node
        self.loops: list[ast.AST] = []  # those that evaluate, innermost first

    @property
    def loop(self) -> ast.AST | None:
        """The outermost of them."""
        return self.loops[-1] if self.loops else None


def evaluations_in_train_mode(module: Module) -> Iterator[Evaluation]:
    """One for each model and function: where dropout and batch norm surely, or by the author's own `train()`, work as
    in training.
    """
    has_modes, switches = module.mentions(_WORDS_OF_MODES), may_switch_to_training(module)
    if not has_modes and not switches:
        return
    # Of a model that nothing switches only its own file is told, or one that trains or loads it and asks another one.
    never = not switches and _never_switches(module)
    homes = [module, *(imports_saying(module, tuple(sorted(_NO_GRAD))) if switches or never else ())]
    places = [function for home in homes for function in _evaluating(home, module)]
    between = dict.fromkeys([*homes[1:], *(home for place in places for home in imports_saying(module, (place.name,)))])
    evaluating = set(places)
    seen: set[tuple] = set()
    for owner in (module.tree, *module.index.functions):
        body = owner.body
        here = owner in evaluating or (
            module.index.stands(_NO_GRAD, owner)
            and _runs_a_model(module, [s for s in body if not isinstance(s, DEFINITIONS)])
        )
        if not (here or places and reaches(module, body, places, tuple(between))) or not _starts_here(module, owner):
            continue
        if not has_modes and not (may_mention(module, body, _TRAIN) and may_mention(module, body, _TRAINS)):
            continue
        trace = _Trace(module, body)
        for event in trace.events:
            if event.stores_grad or not (event.node.args or event.method) or not _may_evaluate(event):
                continue
            model = called_model(event) or asked_by_method(event)
            place = evaluating_place(event)
            key = model and (id(enclosing_function(place.node)), dumped(model.node))
            if model is None or key in seen or not trace.evaluates(event, model):
                continue
            switch = trace.train_mode(event, model)
            elsewhere = place.node is not event.node or event.module is not module and not never
            if switch is True and (elsewhere or trace.is_trial and looks_at_sizes(event)):
                continue  # who switches it there, only its own file says
            if _is_of_a_step(event):
                continue
            if switch is not None:
                seen.add(key)
                yield Evaluation(event, named_at(place, model), switch if isinstance(switch, Act) else None, place)


def _never_switches(module: Module) -> bool:
    """Does a file train, or it or an import load weights, and does none of them put anything in eval or train mode?"""
    project, paths = module.world.view.project, list(module.imported_paths())
    loads = module.index.attributes("load_state_dict") or project.is_in_one("load_state_dict(", paths)
    switches = any(module.index.attributes(word) or project.is_in_one(word, paths) for word in ("eval", "train"))
    return not switches and bool(loads or all(map(module.index.attributes, ("backward", "step"))))


def _is_of_a_step(event: Event) -> bool:
    """Does it stand in a function that makes one step, without a loop? It measures the batch it has trained with."""
    function = enclosing_function(event.node)
    return function is not None and not loops_around(event.node) and event.module.index.stands(_BACKWARD, function)


def _evaluating(module: Module, asking: Module) -> list[ast.AST]:
    """The functions of a file in which a model may be evaluated, by their names or because they switch gradients
    off, of those that a file names, or that are called by what it names.
    """
    found = []
    for function in module.index.functions:
        name = function.name.lower()
        if (
            not name.lstrip("_").startswith("test_")
            and (EVALUATES.search(name) and _repeats(module, function) or _runs_a_model(module, [function]))
            and any(map(asking.index.says, _names_leading_to(module, asking, function)))
        ):
            owner = method_class(module, function)  # asked last: its bases may lie in other files
            if owner is None or not owner.is_module and not _is_hook_of_a_trainer(owner):
                found.append(function)
    return found


def _names_leading_to(module: Module, asking: Module, function: ast.AST) -> frozenset[str]:
    names = frozenset((function.name,))
    if module is not asking:
        names = leading_to(module, tuple(imports_saying(asking, (function.name,))), names)
        if not names.isdisjoint(UNWRITTEN):  # `scorer(net)` of `scorer = Scorer(loader)`
            names |= {cls.name for cls in module.index.classes}
    return names


def _is_hook_of_a_trainer(owner: ClassInfo) -> bool:
    """Methods of a callback run when the trainer has set the mode."""
    return any((name or "").endswith("Callback") for name in owner.foreign)


def _repeats(module: Module, function: ast.AST) -> bool:
    """Is there a loop in a function, or is anything in its file run without gradients?"""
    if any(map(module.index.says, _NO_GRAD)):
        return True
    return any(module.index.holds(function, kind) for kind in (*LOOPS, *COMPREHENSIONS))


def _runs_a_model(module: Module, code: list[ast.AST]) -> bool:
    """Does some code switch gradients off and give something to what goes by a model's name, or has loaded weights?"""
    filled = {unparsed(one.value) for one in module.index.attributes("load_state_dict")}
    return may_call_here(module, code, _NO_GRAD) and any(
        (call.args or asked(call) is not call.func)
        and is_named(func := asked(call))
        and (sounds_like(func, MODULE) or _is_handed(func) or unparsed(func) in filled)
        for part in code
        for call in module.index.inside(part, ast.Call)
    )


def _is_handed(called: ast.expr) -> bool:
    """Is what is called a parameter? Then it is an object, whatever its name."""
    scope = called.at.lookup(called.id) if isinstance(called, ast.Name) else None
    return scope is not None and any(isinstance(bound, ast.arg) for bound in scope.bindings[called.id])


def _starts_here(module: Module, function: ast.AST) -> bool:
    """Is it where something begins: nobody in its file calls it, it is no test, no part of a model or of a function?"""
    if isinstance(function, ast.Module) or enclosing_function(function) is not None:
        return isinstance(function, ast.Module)
    calls = [one for one in module.index.callers(function.name) if not switches_a_model(one)]
    is_called = function.name.lstrip("_").startswith("test_") or calls
    return not is_called and ((owner := method_class(module, function)) is None or not owner.is_module)


def _may_evaluate(event: Event) -> bool:
    """Does the name of a function say so, or is gradient off? A cheap question before the expensive ones."""
    return bool(EVALUATES.search(getattr(enclosing_function(event.node), "name", "").lower())) or event.no_grad


class _Trace:
    """What runs from the top of a file or function, in order."""

    def __init__(self, module: Module, body: list[ast.stmt]):
        self.module = module
        self.body = body
        self.events = events(module, body)
        self.place = {id(event): i for i, event in enumerate(self.events)}

    @cached_property
    def acts(self) -> list[Act]:
        return acts(self.module, self.body)

    @cached_property
    def learning(self) -> list[Act]:
        """What needs gradients."""
        return [act for act in self.acts if act.role in (BACKWARD, STEP, SUPPLY)]

    @cached_property
    def steps(self) -> list[Act]:
        return [act for act in self.learning if act.role == STEP]

    @cached_property
    def loads(self) -> list[Event]:
        return [event for event in self.events if event.method == "load_state_dict"]

    def before(self, event: Event, found: list[Act]) -> list[Act]:
        return found[: bisect_left(found, self.place[id(event)], key=lambda act: self.place[id(act.event)])]

    def evaluates(self, event: Event, model: Value) -> bool:
        """A name says so, or it runs under `no_grad` when training is over. Nothing there may need gradients."""
        place = evaluating_place(event)
        function = enclosing_function(place.node)
        owner = method_class(place.module, function) if function is not None else None
        name = getattr(function, "name", "").lower()
        if name.lstrip("_").startswith("test_") or owner and (owner.is_module or owner.is_lightning):
            return False  # a module does not choose its mode, and Lightning chooses for it
        if is_switched(event) or any(map(is_made_up, event.node.args[:1])) or tells_losses(event.module, event.node):
            return False
        if event.no_grad and is_held_out(event) and self.before(event, self.steps):
            return True
        loops = rounds_around(place.node)
        if loops and self._may_learn_in(loops[0], event, place.module):
            return False
        is_named = EVALUATES.search(name) or loops and event.no_grad and is_an_evaluator(owner)
        if is_named and (loops or event.no_grad) and not any(within(a.node, function) for a in self.learning):
            return True
        if not event.no_grad:
            return False
        before = self.before(event, self.steps)
        if are_held_out(event, loops) or loops and any(is_other_phase(act.event, event) for act in before):
            return True
        at = self.place[id(event)]
        goes_on = any(self.place[id(act.event)] > at for act in reversed(self.learning) if act.role != SUPPLY)
        again = any(event.loops and act.event.loops and event.loops[0] is act.event.loops[0] for act in before)
        loaded = any(self.place[id(e)] < at and is_same(e.receiver, model) for e in self.loads)
        return not goes_on and not again and (bool(before) or loaded)

    def _may_learn_in(self, loop: ast.AST, event: Event, home: Module) -> bool:
        """Does anything in a loop take gradients? What is called from so far away is not all followed."""
        if len(event.via) > 1 and may_mention(home, [loop], _BACKWARD):
            return True
        return any(within(way.node, loop) for act in self.learning for way in (act, *act.event.via))

    @cached_property
    def is_trial(self) -> bool:
        """Has nothing trained its models, does no file fill them, and is nothing compared with what is known? What they
        make of what was drawn means nothing in either mode then: whoever does so looks at sizes.
        """
        filled = any(e.method in _FILLS or "torch.load" in e.names for e in self.events)
        return not (self.learning or filled or any(map(self.module.index.says, _COMPARES)))

    def train_mode(self, event: Event, model: Value) -> Act | bool | None:
        """The act that put a model in train mode before a call, True if it was made so, None if it is or may be in eval
        mode.
        """
        switch = self._train_mode(event, model)
        since = switch.event if isinstance(switch, Act) else None
        if switch is None or may_judge_unseen(self.module, self.body, model, event, since):
            return None
        return switch

    def _train_mode(self, event: Event, model: Value) -> Act | bool | None:
        asks = asks_mode(model)
        if asks is False:
            return None
        trained_since = False
        for act in reversed(self.before(event, self.acts)):
            trained_since = trained_since or act.role in (STEP, BACKWARD)
            if act.role not in (EVAL, TRAIN, OPAQUE) or act.on is None or is_of_another(act, model):
                continue
            if is_same(act.on, model) and act.role == TRAIN:
                # Right before the call it is meant: dropout for uncertainty, batch norm that adapts.
                is_meant = not (trained_since or sets_back(act, event, self.acts)) or is_conditional(act, event)
                return None if is_meant or self._may_switch_unseen(act.event, event, model) else act
            if act.role != TRAIN and _may_reach(act.on, model):
                return None
        if not asks or not all(isinstance(o.node, ast.Call) for o in identity(model).values()):
            return None
        at_the_top = self.body is not self.module.tree.body and _is_switched_at_the_top(model)
        is_elsewhere = at_the_top or _is_switched_by_owner_or_maker(event, model) or _is_explained(event, model)
        return None if is_elsewhere or may_be_copied_in_eval_mode(model, self.acts) else True

    def _may_switch_unseen(self, start: Event, end: Event, model: Value) -> bool:
        """Is the model given to a function in between that was not followed, or is that a method of its own?"""
        between = self.events[self.place[id(start)] : self.place[id(end)]]
        return any(
            is_named(given) and _may_reach(event.value.at(given, ()), model)
            for event in between
            if not event.is_followed
            for given in (
                *event.node.args,
                *(keyword.value for keyword in event.node.keywords),
                *([event.node.func.value] if event.method else ()),
            )
        )


def _goes_through_layers(loop: ast.AST, model: Value) -> bool:
    """`for layer in self.layers: x = layer(x)`: rounds of one forward, not over data."""
    target = getattr(loop, "target", None)
    return isinstance(target, ast.Name) and isinstance(model.node, ast.Name) and target.id == model.node.id


def is_switched(event: Event) -> bool:
    """Under `set_grad_enabled(phase == "train")` it is training and evaluation at once."""
    for place in (event.value, *event.via):
        for around in ancestors(place.node):
            entered = around.items if isinstance(around, (ast.With, ast.AsyncWith)) else ()
            words = {last_word(getattr(item.context_expr, "func", item.context_expr)) for item in entered}
            if words & {"set_grad_enabled", "enable_grad"}:
                return True
    return False


def _may_reach(switched: Value, model: Value) -> bool:
    """May a switch of one module change the mode of the other: are they one, or is it a part?"""
    one, other = unparsed(switched.node) + ".", unparsed(model.node) + "."
    if not are_distinct(switched, model) or one.startswith(other) or other.startswith(one):
        return True
    return any(contains(whole, part) for whole in identity(switched).values() for part in identity(model).values())


def _is_switched_at_the_top(model: Value) -> bool:
    """Does the file that makes a model, or asks it, put it in eval mode, before anybody calls its functions?"""
    return any(
        isinstance(call.func, ast.Attribute)
        and enclosing_function(call) is None
        and _may_reach(Value(home, call.func.value), model)
        for home in {model.module, *(made.module for made in identity(model).values())}
        for call in home.index.callers("eval")
    )


def _is_switched_by_owner_or_maker(event: Event, model: Value) -> bool:
    """Does a method of the class that keeps the model, or of its bases, put it in eval mode, as its constructor may, or
    the function that makes it?
    """
    owner = _owner_around(event)
    around = [(part.module, part.node) for part in owner.mro] if owner is not None else []
    around += [(made.module, enclosing_function(made.node)) for made in identity(model).values()]
    return any(
        isinstance(call.func, ast.Attribute)
        and (unparsed(call.func.value) == unparsed(model.node) or _may_reach(Value(module, call.func.value), model))
        for module, place in around
        if place is not None
        for call in module.index.callers("eval")
        if within(call, place)
    )


def _is_explained(event: Event, model: Value) -> bool:
    """Does a comment speak of the mode, where the model is made or called?"""
    homes = {event.module, *(made.module for made in identity(model).values())}
    return any(_OF_THE_MODE.match(line, line.find("#")) for home in homes for line in home.index.lines if "#" in line)


def _owner_around(event: Event) -> ClassInfo | None:
    """The class in a method of which something happens, be it in a function inside of that method."""
    around = enclosing_function(event.node)
    while around is not None and (owner := method_class(event.module, around)) is None:
        around = enclosing_function(around)
    return None if around is None else owner


def is_conditional(act: Act, event: Event) -> bool:
    tests = [(id(test.node), truth) for test, truth in event.tests]
    return any((id(test.node), truth) not in tests for test, truth in act.event.tests)


def evaluations_with_graph(module: Module, owner: ast.AST) -> Iterator[Evaluation]:
    """The calls in a function (or a file's top) of models it has put in eval mode, in loops where nothing needs a
    gradient. Of those in one statement, as in `decoder(encoder(x))`, the first: what mends it mends all.
    """
    here = owner if isinstance(owner, FUNCTIONS) else None
    name = getattr(here, "name", "").lower()
    if name == "__init__":
        return  # what is made once looks at sizes, and gives up its results
    named = bool(_VALIDATES.search(name))
    measures = not named and bool(_MEASURES.search(name))
    named = named or measures
    switched = (n for word in ("eval", "train") for n in standing_in(owner, module.index.attributes(word)))
    if not named and not any(enclosing_function(node) is here for node in switched):
        return
    if not module.index.stands(_SWITCHING, owner) and not (named and here is not None and _is_called(module, here)):
        return

    def evaluated(event: Event) -> tuple[Value, list[ast.AST]] | None:
        """The model that an event calls here, and the loops it does so in, if that may be an evaluation."""
        if enclosing_function(event.node) is not here:
            return None
        model = called_model(event) or (asked_model(event) if rounds_around(event.node) else None)
        if model is None:
            return None
        loops = [loop for loop in rounds_around(event.node) if not _goes_through_layers(loop, model)]
        return (model, loops) if loops or (named and not measures) else None

    if not any(map(evaluated, own_events(module, owner.body))) or goes_backward_by_hand(module):
        return
    own = [event for event in events(module, owner.body) if not event.via]
    found = acts(module, owner.body)
    switches: dict[tuple, list[Act]] = {}  # by what is switched
    for act in found:
        for key in identity(act.on) if act.role in (EVAL, TRAIN) and not act.event.via and act.on is not None else ():
            switches.setdefault(key, []).append(act)
    seen = set()
    statements: set[ast.AST] = set()
    for event in own:
        model, loops = evaluated(event) or (None, [])
        if model is None or dumped(model.node) in seen:
            continue
        nearest = [
            (act.node.lineno, act)
            for key in identity(model)
            if (act := last_above(switches.get(key, []), event.node.lineno)) is not None
        ]
        before = [act for _, act in sorted(nearest, key=lambda pair: pair[0])]
        # Whoever calls has set the mode.
        called_for_it = not before and named and loops and bool(module.index.callers(here.name))
        if (measures and not before or not named and _counts_rounds(loops)) and not is_dropped(module, event.node):
            continue
        if not called_for_it and (not before or before[-1].role != EVAL or is_conditional(before[-1], event)):
            continue
        if under_no_grad(module, event.node) or is_switched(event) or is_called_without_grad(module, event.node):
            continue
        if has_twin_without_grad(module, event.node):
            continue
        if (
            _wants_gradients(module, found, event, loops[0] if loops else here)
            or leaves_no_graph(module, model)
            or becomes_an_array(module, event.node)
            or called_for_it
            and looks_at_sizes(event)
        ):
            continue
        seen.add(dumped(model.node))
        statement = statement_of(event.node)
        if statement in statements:
            continue
        statements.add(statement)
        evaluation = Evaluation(event, model, before[-1] if before else None)
        evaluation.loops = [loop for loop in loops if not before or loop.lineno > before[-1].node.lineno]
        yield evaluation


def _counts_rounds(loops: list[ast.AST]) -> bool:
    """`for step in range(9)`, `while`: a search whose steps may be learned from, and no data are gone through."""
    over = [loop.generators[0] if isinstance(loop, COMPREHENSIONS) else loop for loop in loops]
    return all(
        isinstance(loop, ast.While) or last_word(getattr(iterated(loop), "func", loop)) == "range" for loop in over
    )


def _is_called(module: Module, function: ast.AST) -> bool:
    """Is a function with a loop called, so that its caller may have set the mode?"""
    return bool(module.index.callers(function.name)) and any(
        module.index.holds(function, kind) for kind in (*LOOPS, *COMPREHENSIONS)
    )


def is_called_without_grad(module: Module, node: ast.AST) -> bool:
    """May all who run its function do so under `no_grad`? So may whoever is given lambdas, if only such call it."""
    calls = module.index.callers(getattr(enclosing_function(node), "name", ""))
    handed_on = bool(calls) and all(isinstance(enclosing_function(call), ast.Lambda) for call in calls)
    if handed_on or may_run_without_grad(module, node) or _is_run_by_others(module, node):
        return True
    return may_record_nothing(module, node)


def _is_run_by_others(module: Module, node: ast.AST) -> bool:
    """Is its function what an abstract method of the project asks for, and nobody in the project calls that? Then a
    framework does.
    """
    function = enclosing_function(node)
    owner = method_class(module, function) if isinstance(function, ast.FunctionDef) else None
    if owner is None or not _is_asked_for(owner, function.name):
        return False
    users = [module, *filter(None, map(module.world.module, module.world.view.mentions(function.name)))]
    return all(
        (around := enclosing_function(call)) is not None
        and (user := method_class(other, around)) is not None
        and _is_asked_for(user, around.name)
        for other in users
        for call in other.index.callers(function.name)
    )


def _is_asked_for(owner: ClassInfo, method: str) -> bool:
    asked = (part.methods.get(method) for part in owner.mro)
    return any(last_word(d) == "abstractmethod" for found in asked if found for d in found.decorator_list)


GRADIENT_WORDS = frozenset(
    "backward grad requires_grad_ requires_grad autograd jacobian hessian vjp jvp enable_grad manual_backward attack"
    " step".split()
)


def _wants_gradients(module: Module, found: list[Act], event: Event, loop: ast.AST) -> bool:
    """Is a gradient taken in the loop, after it, or from what the function returns?"""
    if may_mention(module, [loop], GRADIENT_WORDS) or any(
        "grad" in (word := last_word(call.func).lower()) and word not in ("no_grad", "set_grad_enabled")
        for call in module.index.inside(loop, ast.Call)
    ):
        return True
    outermost = loops_around(event.node)[-1:] or [loop]
    function = enclosing_function(event.node)
    if any(
        act.role in (BACKWARD, SUPPLY)
        and act.event.here.lineno > event.node.lineno
        and not within(act.event.here, outermost[0])
        for act in found
    ):
        return True
    if function is None:
        return False
    if isinstance(function, ast.Lambda) or EVALUATES.search(function.name.lower()):
        return False
    homes = (module, *module.users(function.name, function.name))
    callers = [Value(home, call) for home in homes for call in home.index.callers(function.name)]
    words = {"loss", "criterion", "objective"}
    if any(part in function.name.lower() for part in words) or any(map(_is_used_for_training, callers)):
        return True
    return any(map(_may_be_learned_from, callers)) and not is_dropped(module, event.node)


def _may_be_learned_from(call: Value) -> bool:
    """Does whoever calls a function keep what it returns, and go backward later in the same round?"""
    module, node = call.module, call.node
    code = (loops_around(node) or [enclosing_function(node) or module.tree])[0]
    return (
        isinstance(statement_of(node), ast.Assign)
        and not under_no_grad(module, node)
        and any(within(later, code) and later.lineno > node.lineno for later in module.index.callers("backward"))
    )


def _is_used_for_training(call: Value) -> bool:
    """`loss = f(…)` and `f(…).backward()`."""
    statement = statement_of(call.node)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(last_word(n) == "backward" for n in ast.walk(statement)) or any(
        "loss" in word_of(target).lower() for target in targets
    )
