"""What calls do for training: backward, an optimizer's step, clearing gradients, a scheduler's step, clipping, eval and
train mode.
"""

from __future__ import annotations

import ast
from bisect import bisect_left

from torchlint.printable import shortened
from torchlint.source.flow.choices import chosen_apart
from torchlint.source.flow.classes import method_class, put_over
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.kinds import LOADER, MODULE, OBJECT, OPTIMIZER, SCALER, SCHEDULER, kinds
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.named_methods import are_some_unseen, may_call_unseen
from torchlint.source.flow.signatures import further_arguments
from torchlint.source.flow.values import Answer, Value
from torchlint.source.text.index import (
    COMPREHENSIONS,
    FUNCTIONS,
    block_of,
    enclosing_function,
    is_in,
    last_word,
    statement_of,
    within,
)
from torchlint.source.text.spelling import first_argument, unparsed
from torchlint.source.training.counted import counts_rounds, is_between, passing_over
from torchlint.source.training.each_round import depends_on_round
from torchlint.source.training.events import MAX_EVENTS, Event, events
from torchlint.source.training.filled_ones import goes_through_some
from torchlint.source.training.heirs import goes_up, is_empty, is_left_to_others, put_in_place
from torchlint.source.training.naming import is_named, sounds_like
from torchlint.source.training.optimizers import holding, holds, holds_a_part_of, holds_nothing_but
from torchlint.source.training.own_backwards import gives_something
from torchlint.source.training.roles import seems
from torchlint.source.training.sameness import are_distinct, are_other_elements, identity
from torchlint.source.training.scalers import may_scale

BACKWARD, STEP, CLEAR, SUPPLY, SCHEDULE, CLIP, UNSCALE, EVAL, TRAIN, OPAQUE = (
    "backward step clear supply schedule clip unscale eval train opaque".split()
)

# What is given an optimizer and neither steps nor clears it.
_HARMLESS = frozenset(
    "unscale_ print len isinstance master_params scale_loss get_lr state_dict load_state_dict save clip_grad_norm_"
    " clip_grad_norm clip_master_grads optimizers lr_schedulers clip_gradients toggle_optimizer untoggle_optimizer"
    " append add id type getattr hasattr max min sum str repr prepare state adjust_learning_rate set_lr "
    "no_sync update".split()
)
_ALL_PARAMETERS = frozenset("parameters named_parameters param_groups".split())
_WHOLE = ("module", "_orig_mod")  # what a wrapper calls the whole model
_FIRST = ("optimizer", "loss", "tensors", "parameters")  # what `step`, `backward` and the clipping functions call it
_REPORTERS = frozenset("pbar bar progress logger writer wandb meter scaler ema".split())
_HOOKS = (
    "step",
    "optim",
    "grad",
    "update",
    "zero",
    "reset",
    "before",
    "hook",
    "callback",
    "on_",
    "begin",
    "start",
    "call_event",
    "fire",
)


class Act:
    """One event and what it does. `on` is what it does it to: the optimizer of a step, the module of `eval()`."""

    __slots__ = ("event", "role", "on")

    def __init__(self, event: Event, role: str, on: Value | None):
        self.event = event
        self.role = role
        self.on = on

    def __repr__(self) -> str:
        return f"<{self.role} line {self.event.node.lineno}>"

    @property
    def node(self) -> ast.AST:
        return self.event.node

    @property
    def on_text(self) -> str:
        """The source of what it acts on."""
        return (
            " ".join(self.on.module.segment(self.on.node).split())
            if self.on is not None and self.on.node is not None
            else ""
        )

    @property
    def module(self) -> Module:
        return self.event.module

    @property
    def text(self) -> str:
        return shortened(" ".join(self.module.segment(self.node).split()), 50)

    @property
    def statement(self) -> ast.stmt:
        return statement_of(self.node)

    @property
    def function(self) -> ast.AST | None:
        """The function in which it stands."""
        return enclosing_function(self.node)

    def stands_beside(self, other: Act) -> bool:
        """Are both statements of one block?"""
        return is_in(self.statement, block_of(other.statement)[0])

    def stands_right_before(self, other: Act) -> bool:
        """`optimizer.zero_grad()` and `optimizer.step()`, of one text, with nothing in between."""
        block, place = block_of(self.statement)
        is_next = place + 1 < len(block) and block[place + 1] is other.statement
        return is_next and self.on_text == other.on_text and isinstance(self.statement, ast.Expr)

    def runs_beside(self, other: Act) -> bool:
        """The same for the statements of the body that was asked about, through which they run; a loop over parameters
        that clears each of them is one statement.
        """
        block, _ = block_of(statement_of(other.event.here))
        statement = statement_of(self.event.here)
        while not is_in(statement, block) and isinstance(statement.up, ast.For):
            statement = statement.up
        return is_in(statement, block)

    def place_beside(self, *others: Act) -> Value:
        """The call through which it runs where one of the others stands: `reset()` instead of what `reset` does."""
        functions = [act.function for act in others]
        place = self.event.value
        while enclosing_function(place.node) not in functions:
            if place.frame is None or place.frame.call is None:
                return self.event.value
            place = place.frame.call
        return place

    @property
    def leaves_loop(self) -> bool:
        """Is the loop left right after it, by the `break`, `return` or `raise` at the end of its block?"""
        statement = statement_of(self.event.here)
        block, _ = block_of(statement)
        return isinstance(block[-1], (ast.Break, ast.Return, ast.Raise)) and not isinstance(statement.up, FUNCTIONS)

    def is_made_in(self, loop: ast.AST) -> bool:
        """Is the optimizer made anew in each round, for parameters that are not known to be older?"""
        held = holding(self.on)
        places = [loop, *self.event.helpers]
        if not any(within(made.node, place) for made in held.constructors for place in places):
            return False
        older = [
            o
            for m in held.modules
            for o in identity(m).values()
            if isinstance(o.node, ast.Call) and not any(within(o.node, place) for place in places)
        ]
        return not older or bool(held.tensors)

    def is_another_in_each_round_of(self, loop: ast.AST) -> bool:
        """`self.optimizers[i].step()` where the loop counts `i`, and `step(model, optimizer)` of one pair after the
        other
        """
        return self.on is not None and depends_on_round(self.on, loop)

    @property
    def clears_optimizer(self) -> bool:
        return self.role == CLEAR and seems(self.on, OPTIMIZER)

    def may_step(self, clear: Act) -> bool:
        """Is it the step of the optimizer that was cleared, as far as one can tell?"""
        return not are_distinct(self.on, clear.on)

    @property
    def is_plain_schedule(self) -> bool:
        """The step of a scheduler that counts its own steps: no metric, no epoch is given to it, and it is not made
        right before, for the rate of this round, nor by an object that nobody knows, whose first step may be the first.
        """
        made = [origin for origin in identity(self.on).values() if isinstance(origin.node, ast.Call)]
        if any(map(_is_of_lightning, made)):  # of what the module made for its trainer
            return self.role == SCHEDULE and not self.node.args and not self.on.module.index.says("Plateau")
        names = {name for origin in made for name in _names(origin)}
        block, statement = block_of(self.statement)[0], self.statement
        if any(names and all(n.startswith(".") for n in names) for names in map(_names, made)):
            return False
        if not isinstance(statement.up, ast.Module) and any(
            block_of(statement_of(origin.node))[0] is block for origin in made
        ):
            return False
        plateau = any("Plateau" in name for name in names) or "plateau" in last_word(self.on.node).lower()
        return self.role == SCHEDULE and not self.node.args and not self.node.keywords and not plateau

    def schedules(self, step: Act) -> Answer:
        """Is the scheduler that of the optimizer that steps? None where it cannot be told."""
        found: list[bool] = []
        for origin in identity(self.on).values():
            given = origin.node.args[0] if isinstance(origin.node, ast.Call) and origin.node.args else None
            keywords = [k.value for k in getattr(origin.node, "keywords", ()) if k.arg == "optimizer"]
            if given is None and not keywords:
                return None
            optimizer = origin.at(keywords[0] if keywords else given, ())
            found.append(not are_distinct(optimizer, step.on))
        return all(found) if found else None

    @property
    def is_scaled(self) -> bool:
        """Is it the backward of a loss that a GradScaler, which is on, has scaled?"""
        made = origins(self.on) if self.on is not None else []
        calls = [
            o
            for o in made
            if isinstance(o.node, ast.Call) and isinstance(o.node.func, ast.Attribute) and o.node.func.attr == "scale"
        ]
        scalers = [o.at(o.node.func.value, ()) for o in calls]
        return bool(scalers) and all(seems(scaler, SCALER) and may_scale(scaler) for scaler in scalers)

    @property
    def names_torch(self) -> bool:
        """Is it torch's own function, not a method of a library that knows better?"""
        return any(name.startswith("torch.") for name in self.event.names)

    def holds_clipped(self, clip: Act) -> Answer:
        """Does the optimizer of a step or an `unscale_` hold the parameters that are clipped? None where it cannot be
        told.
        """
        given = clip.on.node if clip.on is not None else None
        if (
            not (
                isinstance(given, ast.Call)
                and last_word(given.func) == "parameters"
                and isinstance(given.func, ast.Attribute)
            )
            or self.on is None
        ):
            return None
        return holds(self.on, clip.on.at(given.func.value, ()))

    def clears_surely(self, step: Act) -> bool:
        """Does it clear just what a step uses?"""
        if self.role != CLEAR:
            return False
        if self.on is None or self.on.node is None:
            return not self._is_of_chosen_ones
        if seems(self.on, OPTIMIZER):
            mine, other = identity(self.on), identity(step.on)
            return bool(mine) and mine.keys() == other.keys() and not are_other_elements(self.on, step.on)
        return kinds(self.on) == {MODULE} and holds_nothing_but(step.on, self.on) is True

    @property
    def _is_of_chosen_ones(self) -> bool:
        """`for p in actor_params: p.grad = None`, over a list that is not known to be all parameters of a model?"""
        loop = self.event.loops[-1] if self.event.loops else None
        if not isinstance(loop, ast.For) or not isinstance(loop.iter, (ast.Name, ast.Attribute)):
            return False
        found = [origin.node for origin in origins(Value(self.module, loop.iter)) if origin.node is not None]
        words = {n.attr for node in found for n in ast.walk(node) if isinstance(n, ast.Attribute)}
        return not words & _ALL_PARAMETERS

    @property
    def clears_a_part(self) -> bool:
        """Does it clear the gradients of a part of a model, `model.generator.zero_grad()`?"""
        node = None if self.on is None else self.on.node
        if self.role != CLEAR or not isinstance(node, ast.Attribute) or node.attr in _WHOLE:
            return False
        return seems(self.on.at(node.value, ()), MODULE)

    def may_clear(self, step: Act) -> bool:
        """May it clear the gradients that a step uses?"""
        if self.role != CLEAR or self.on is None:
            return (
                self.role in (CLEAR, SUPPLY) or self.role == OPAQUE and self.on is None
            )  # `train(flag)` clears nothing
        if _is_wrapper(self.on, step):
            return True
        if seems(self.on, OPTIMIZER) and are_distinct(self.on, step.on):
            # two optimizers may hold the same parameters
            shared = any(holds(step.on, module) for module in holding(self.on).modules)
            shared = shared or holding(self.on).is_open or holding(step.on).is_open
            return shared or holds_a_part_of(self.on, step.on)
        return not (kinds(self.on) == {MODULE} and holds(step.on, self.on) is False)

    def is_seldom_beside(self, other: Act) -> bool:
        """Does it run only in every n-th round (`if i % n == 0:`), the other act in each?"""
        return any(counts_rounds(test) for test, _ in self.event.tests) and not (
            any(counts_rounds(test) for test, _ in other.event.tests)
            or any(map(is_between, other.passed_over_beside(self)))
        )

    def passed_over_beside(self, other: Act) -> list[Value]:
        """The tests of counted rounds, `if i % n: return`, that leave before it and not before the other act."""
        shared = {id(test.node) for test in passing_over(other.event)}
        return [test for test in passing_over(self.event) if id(test.node) not in shared]

    def excludes(self, other: Act) -> bool:
        """Do the conditions of the two contradict each other, or are they of two classes, and their object of one?"""
        if self._is_of_a_sibling(other):
            return True
        mine = {(id(test.node), truth) for test, truth in self.event.tests}
        return any((id(test.node), not truth) in mine for test, truth in other.event.tests) or any(
            chosen_apart(
                [(test.node, truth) for test, truth in self.event.tests if test.frame is frame],
                [(test.node, truth) for test, truth in other.event.tests if test.frame is frame],
            )
            for frame in {test.frame for test, _ in self.event.tests}
        )

    def _is_of_a_sibling(self, other: Act) -> bool:
        """Do they stand in methods that two classes put in the place of one method of a base of both?"""
        mine, others = enclosing_function(self.node), enclosing_function(other.node)
        if mine is others or not (self.event.via and other.event.via):
            return False
        if getattr(mine, "name", "") != getattr(others, "name", None):
            return False
        here, there = method_class(self.event.module, mine), method_class(other.event.module, others)
        if here is None or there is None or here in there.mro or there in here.mro:
            return False
        return any(mine.name in base.methods for base in here.mro if base in there.mro)

    @property
    def runs_always(self) -> bool:
        """Once in each round: under no condition, and in no loop inside it."""
        return not self.event.tests and not self.event.loops

    @property
    def runs_in_each_round(self) -> bool:
        """Under no condition but that there is what is called, and in no loop but those that go through what is written
        out: `for hook in self.hooks`.
        """
        return all(truth and self._is_there(test) for test, truth in self.event.tests) and all(
            map(self._goes_through_some, self.event.loops)
        )

    def _is_there(self, test: Value) -> bool:
        """`hasattr(hook, event)`, `if begin is not None: begin(self)`"""
        asked = test.node
        if isinstance(asked, ast.Call) and last_word(asked.func) in ("hasattr", "callable"):
            return True
        if isinstance(asked, ast.Compare) and isinstance(asked.ops[0], ast.IsNot):
            asked = asked.left
        return isinstance(asked, ast.Name) and any(
            unparsed(getattr(call.node, "func", call.node)) == asked.id for call in self.event.via
        )

    def _goes_through_some(self, loop: ast.AST) -> bool:
        """Does a loop go through a list in which there is something, where the call that led there stands?"""
        places = (self.event.value, *self.event.via)
        home = next((one for one in places if enclosing_function(one.node) is enclosing_function(loop)), None)
        over = loop.generators[0] if isinstance(loop, COMPREHENSIONS) else loop
        if home is None or not isinstance(over, (ast.For, ast.comprehension)) or getattr(over, "ifs", ()):
            return False
        return goes_through_some(home.at(over.iter, ()))


def _is_wrapper(optimizer: Value, step: Act) -> bool:
    """Is it one of the project's own whose `step` makes the step of the optimizer that it wraps?"""
    mine = identity(optimizer)
    return any(
        isinstance(getattr(call.node, "func", None), ast.Attribute)
        and mine.keys() & identity(call.at(call.node.func.value, ())).keys()
        for call in step.event.via
    )


@remembered
def acts(module: Module, body: list[ast.stmt]) -> list[Act]:
    """The events of some statements that matter for training, in their order. Of more than are looked at, the last one
    stands for all that may follow.
    """
    seen = events(module, body)
    found = [act for event in seen if (act := _act(event))]
    rest = [Act(seen[-1], OPAQUE, None)] if len(seen) >= MAX_EVENTS else []
    return [one for act in found for one in _each_given(act)] + rest


def _each_given(act: Act) -> list[Act]:
    """`o.zero_grad()` of `def clear(*optimizers): for o in optimizers: …` once for each optimizer that a call gives."""
    event, frame = act.event, act.event.value.frame
    loop = event.loops[-1] if event.loops else None
    rest = frame.function.args.vararg if frame is not None and frame.call is not None else None
    if act.role != CLEAR or act.on is None or rest is None or not isinstance(loop, ast.For):
        return [act]
    is_plain = (unparsed(loop.iter), unparsed(loop.target)) == (rest.arg, act.on_text) and within(act.node, loop)
    leaves = any(act.module.index.holds(loop, kind) for kind in (ast.Continue, ast.Break, ast.Return))
    if not is_plain or leaves or len(frame.function.scope.bindings[rest.arg]) != 1:
        return [act]
    given = further_arguments(frame.function, frame.call.node, frame.instance is not None)
    once = Event(event.value, event.loops[:-1], event.tests, event.via)
    return [Act(once, CLEAR, frame.call.at(one, ())) for one in given] or [act]


def _act(event: Event) -> Act | None:
    if event.stores_grad:
        return Act(event, CLEAR if _is_none(event.node) else SUPPLY, None)
    node = event.node
    word = event.method or last_word(node.func)
    receiver = event.receiver
    given = first_argument(node, *_FIRST)
    first = event.value.at(given, ()) if given is not None else None
    if word in ("backward", "manual_backward"):
        if "torch.distributed.autograd.backward" in event.names:  # its gradients live in a context of their own
            return None
        if gives_something(event.module, node):
            return None
        inside = any(c.function is not None for c in callees(event.value))
        return None if inside else Act(event, BACKWARD, receiver if word == "backward" else first)
    if word in ("step", "optimizer_step"):
        return _step(event, receiver, first)
    if word == "zero_grad":
        return Act(event, CLEAR, receiver)
    lower = word.lower()
    if "grad" in lower and ("zero" in lower or "clear" in lower or "reset" in lower):
        return Act(event, CLEAR, None)
    if (
        word in ("zero_", "fill_", "zero", "mul_", "copy_", "add_")
        and receiver is not None
        and _mentions_grad(receiver.node)
    ):
        return Act(event, CLEAR if word in ("zero_", "zero") else SUPPLY, None)
    if word == "_foreach_zero_":
        return Act(event, CLEAR, None)
    if (
        word == "setattr"
        and len(node.args) == 3
        and isinstance(node.args[1], ast.Constant)
        and node.args[1].value == "grad"
    ):
        return Act(event, CLEAR, None)
    if "backward" in lower or lower.startswith(
        ("set_grad", "load_grad", "restore_grad", "assign_grad", "copy_grad", "add_grad")
    ):
        seen = event.is_followed and (found := callees(event.value)) and all(c.function is not None for c in found)
        return None if lower == "set_grad_enabled" or seen else Act(event, SUPPLY, None)
    if word in ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm") or (
        event.module.index.says("clip_grad") and any(n.startswith("torch.nn.utils.clip_grad") for n in event.names)
    ):
        return Act(event, CLIP, first)
    if word == "clamp_" and receiver is not None and _mentions_grad(receiver.node):
        return Act(event, CLIP, None)
    if word == "unscale_":
        return Act(event, UNSCALE, first)
    if word in ("eval", "train") and receiver is not None:
        if node.args and external_name(receiver) == "torch.nn.Module":  # `nn.Module.train(model, False)`
            return _mode(event, word, event.value.at(node.args[0], ()), node.args[1:])
        if _may_be_module(event, receiver):
            return _mode(event, word, receiver, node.args)
    return _opaque(event, word, receiver)


def _step(event: Event, receiver: Value | None, first: Value | None) -> Act | None:
    if seems(first, OPTIMIZER) and (
        receiver is None or not seems(receiver, OPTIMIZER)
    ):  # scaler.step(optimizer), xm.optimizer_step(optimizer)
        if any(c.function is not None for c in callees(event.value)):
            return None
        return Act(event, STEP, first)
    if receiver is None:
        return None
    if seems(receiver, SCHEDULER) and not seems(receiver, OPTIMIZER):
        around = event.node.up
        each = around.up if getattr(around, "elt", None) is event.node else around  # `[one.step() for one in all]`
        is_torchs = isinstance(each, ast.Expr)  # which returns nothing that could be used
        return Act(event, SCHEDULE, receiver) if is_torchs else None
    if seems(receiver, OPTIMIZER):
        return Act(event, STEP, receiver)
    return None


_ALL_PARTS = frozenset("modules named_modules children named_children".split())


def _mode(event: Event, word: str, receiver: Value, given: list[ast.expr]) -> Act:
    receiver = _whole(event, receiver)
    mode = given[0] if given else next((k.value for k in event.node.keywords if k.arg == "mode"), None)
    if mode is None or isinstance(mode, ast.Constant):
        wanted = word == "train" and (mode is None or bool(mode.value))
        return Act(event, TRAIN if wanted else EVAL, receiver)
    return Act(event, OPAQUE, receiver)  # train(was_training): whatever it was


def _whole(event: Event, receiver: Value) -> Value:
    """`model` of `for part in model.modules(): part.eval()`: whatever becomes of each becomes of the whole."""
    loop = statement_of(event.node).up
    over = loop.iter if isinstance(loop, ast.For) else None
    if not isinstance(over, ast.Call) or not isinstance(over.func, ast.Attribute) or over.func.attr not in _ALL_PARTS:
        return receiver
    target = loop.target.elts[-1] if isinstance(loop.target, ast.Tuple) else loop.target
    return receiver.at(over.func.value, ()) if unparsed(target) == unparsed(receiver.node) else receiver


def _may_be_module(event: Event, receiver: Value) -> bool:
    if len(event.node.args) + len(event.node.keywords) > 1:
        return False
    found = kinds(receiver) - {"plain"}
    if found:
        return MODULE in found
    return not external_name(receiver)


def _is_none(assignment: ast.AST) -> bool:
    return (
        isinstance(assignment, ast.Delete)
        or isinstance(assignment.value, ast.Constant)
        and assignment.value.value is None
    )


def _mentions_grad(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == "grad" for n in ast.walk(node)) or last_word(node) in (
        "grad",
        "grads",
        "g",
    )


def _opaque(event: Event, word: str, receiver: Value | None) -> Act | None:
    """A call nobody can look into, which may step or clear: it is given an optimizer, or is a hook of something
    unknown.
    """
    if word in _HARMLESS:
        return None
    called = [(c.module, c.function) for c in callees(event.value)]
    left = [(home, function) for home, function in called if is_left_to_others(function) or is_empty(function)]
    if any(_may_do_anything(home, function) for home, function in left):
        return Act(event, OPAQUE, None)
    is_hook = (
        receiver is not None
        and any(part in word.lower() for part in _HOOKS)
        and isinstance(receiver.node, (ast.Name, ast.Attribute))
    )
    optimizers = [
        a
        for a in (*event.node.args, *(k.value for k in event.node.keywords))
        if is_named(a) and sounds_like(a, OPTIMIZER)
    ]
    if may_call_unseen(event.value, _HOOKS):
        return Act(event, OPAQUE, None)
    if not (is_hook or optimizers) or any(n.startswith(("torch.", "builtins.", "numpy.")) for n in event.names):
        return None
    if any(c.function is not None or c.kind == "class" for c in callees(event.value)):
        if not is_hook or not are_some_unseen(receiver):
            return None
    if seems(receiver, OPTIMIZER) or seems(receiver, SCHEDULER) or seems(receiver, SCALER):
        return None
    if any(seems(event.value.at(argument, ()), OPTIMIZER) for argument in optimizers):
        return Act(event, OPAQUE, None)
    if (
        is_hook
        and not kinds(receiver) - {OBJECT, MODULE, LOADER}
        and not external_name(receiver)
        and last_word(receiver.node) not in _REPORTERS
    ):
        return Act(event, OPAQUE, None)
    return None


@remembered(meanwhile=True)
def _may_do_anything(module: Module, function: ast.FunctionDef) -> bool:
    """Is it a method that is left to classes which nobody sees, or in one of which it does something for training?"""
    is_left = is_left_to_others(function)
    methods = put_in_place(module, function) if is_left else put_over(module, function)
    runs = (event for method in methods for event in events(method.module, method.node.body))
    done = (event for event in runs if not any(goes_up(call.node) for call in event.via))  # which the round sees
    return is_left and not methods or any(_act(event) is not None or clears_itself(event.value) for event in done)


def clears_itself(call: Value) -> bool:
    """Does a module of the project that is called there begin with `self.zero_grad()`?"""
    return any(
        callee.kind == "object"
        and callee.function is not None
        and any(within(clear, callee.function) for clear in callee.module.index.callers("zero_grad"))
        for callee in callees(call)
    )


def last_above(found: list[Act], line: int) -> Act | None:
    at = bisect_left(found, line, key=lambda act: act.node.lineno)
    return found[at - 1] if at else None


def _is_of_lightning(made: Value) -> bool:
    """`self.lr_schedulers()`"""
    return isinstance(made.node.func, ast.Attribute) and made.node.func.attr == "lr_schedulers"


def _names(call: Value) -> set[str]:
    return {c.name for c in callees(call) if c.name}
