"""Whether data are kept apart from training, as far as names say: here, or where a function is handed them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.source.answers.held_out_loaders import is_named_held_out
from torchlint.source.flow.called import is_result_of
from torchlint.source.flow.classes import ClassInfo, method_class
from torchlint.source.flow.flow import origins
from torchlint.source.flow.reaching import reaching
from torchlint.source.flow.signatures import bound_argument, is_static
from torchlint.source.flow.values import Value
from torchlint.source.text.index import COMPREHENSIONS, enclosing_function, statement_of
from torchlint.source.text.spelling import argument
from torchlint.source.training.events import Event, iterated
from torchlint.source.training.naming import word_of
from torchlint.source.training.regions import rounds_around

EVALUATES = re.compile(r"(^|_)(val(id(ate|ation)?)?|evaluat\w*|eval|infer(ence)?|predict(ion)?s?|test)(_|$|\d)")
_LOADERS = frozenset(("torch.utils.data.DataLoader",))
_HELD_OUT = re.compile(
    r"^(val(id(ation)?)?|eval|test)_|_(val(id(ation)?)?|eval|test)$|(^|_)(held|hold)_?out(_|$)"
    r"|(^|_)(val(id(ation)?)?|eval|test|dev)_?((data)?_?loader|dl|iter|(data)?set)s?$"  # `dev` alone is a device
)
_EVALUATOR = re.compile(r"(^|_)(evaluat|validat)(or|ion)(_|$)")
_TRAINING = re.compile(r"(^|_)(train|training|fit|fitting)(_|$)")
# what is made of them
_MEASURED = re.compile(r"^(val(id(ation)?)?|eval|test)(_(loss|err(or)?|acc(uracy)?|score|mse|mae))?$")


def is_an_evaluator(owner: ClassInfo | None) -> bool:
    """`class Evaluator`, `class ValidationHook`"""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", owner.name).lower() if owner is not None else ""
    return bool(_EVALUATOR.search(words)) and not _TRAINING.search(words)


def is_held_out(event: Event) -> bool:
    """Is what a model is given called so, or what its result becomes?"""
    given = event.value.at(_data(event.node.args[0]), ())
    return any(map(_HELD_OUT.search, _words(given))) or bool(_MEASURED.search(_result(event.node).lower()))


def evaluating_place(event: Event) -> Value:
    """Where a model is asked, as a function that evaluates sees it: at its call of a helper that has the forward, as
    `step(net, batch)` in its loop, else at the forward itself.
    """
    for place in (event.value, *reversed(event.via)):
        function = enclosing_function(place.node)
        owner = method_class(place.module, function) if function is not None else None
        if owner is not None and (owner.is_module or owner.is_lightning):
            break  # who calls it may be a trainer that has chosen the mode
        if rounds_around(place.node):
            return place if EVALUATES.search(getattr(function, "name", "").lower()) else event.value
    return event.value


def named_at(place: Value, model: Value) -> Value:
    """A model by the name that it has at a place from which a helper is handed it."""
    while enclosing_function(model.node) is not enclosing_function(place.node):
        handed = _handed(model)
        if handed is None:
            return model
        model = handed
    return model


def are_held_out(event: Event, loops: list[ast.AST]) -> bool:
    """Is what loops around an event go through called so, or of what is it made?"""
    over = [
        loop.generators[0] if isinstance(loop, COMPREHENSIONS) else loop
        for loop in loops
        if not isinstance(loop, ast.While)
    ]
    data = [event.value.at(iterated(loop), ()) for loop in over]
    words = (word for each in data for word in _words(each))
    return any(EVALUATES.search(word) or _HELD_OUT.search(word) for word in words) or any(map(_loads_held_out, data))


def _loads_held_out(data: Value) -> bool:
    """`self.loader`, where what makes the object gives it `DataLoader(val)`"""
    made = origins(data)
    return bool(made) and all(
        is_result_of(loader, _LOADERS) and (is_named_held_out(loader) or _goes_through_held_out(loader))
        for loader in made
    )


def _goes_through_held_out(loader: Value) -> bool:
    """`def batches(dataset): return DataLoader(dataset)`, called with `val_set`"""
    dataset = argument(loader.node, "dataset", 0)
    return dataset is not None and any(map(_HELD_OUT.search, _words(loader.at(dataset, ()))))


def is_other_phase(step: Event, event: Event) -> bool:
    """Does a step of training run in the other branch of a test that tells phases apart: `if phase == "fit":`?"""
    other = {(id(test.node), truth) for test, truth in step.tests}
    return any((id(test.node), not truth) in other and _asks_for_phase(test.node) for test, truth in event.tests)


def _asks_for_phase(test: ast.expr) -> bool:
    """`phase == "fit"`, `is_training`, `optimizer is None`; a number of rounds or a chance is another question."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        other = test.comparators[0]
        if isinstance(test.ops[0], (ast.Eq, ast.NotEq)):
            return isinstance(other, ast.Constant) and isinstance(other.value, str)
        is_none = isinstance(other, ast.Constant) and other.value is None
        return is_none and "optim" in word_of(test.left).lower()
    return bool(_TRAINING.search(word_of(test).lower())) if isinstance(test, (ast.Name, ast.Attribute)) else False


def _words(value: Value) -> Iterator[str]:
    """The name of something, and those by which the function in which it is a parameter is handed it."""
    while True:
        yield word_of(value.node).lower()
        handed = _handed(value)
        if handed is None:
            return
        value = handed


def _handed(value: Value) -> Value | None:
    node, frame = value.node, value.frame
    scope = node.at.lookup(node.id) if isinstance(node, ast.Name) and frame is not None and frame.call else None
    bound = reaching(node, scope) if scope is not None and scope.node is frame.function else []
    if len(bound) != 1 or not isinstance(bound[0], ast.arg):
        return None
    is_bound = method_class(value.module, frame.function) is not None and not is_static(frame.function)
    given = bound_argument(frame.function, bound[0], frame.call, is_bound)
    return given if given is not None and given.node is not None else None


def _data(node: ast.expr) -> ast.expr:
    """What is put in: `x_test` of `x_test[:9].to(device)`."""
    while isinstance(node, (ast.Subscript, ast.Call)) and (
        isinstance(node, ast.Subscript) or isinstance(node.func, ast.Attribute)
    ):
        node = node.value if isinstance(node, ast.Subscript) else node.func.value
    return node


def _result(node: ast.AST) -> str:
    """The name of what is made of a result: `val_loss` of `val_loss = F.mse_loss(model(x), y).item()`."""
    statement = statement_of(node)
    return word_of(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
