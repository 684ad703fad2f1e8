"""What certainly runs in the workers of a loader: what fetches samples and puts them together, and what that calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.source.answers.tests_with_a_gpu import holds_with_a_gpu
from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.identity import instance_class
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import EACH, LookedThrough, Value, frame_of
from torchlint.source.text.index import FUNCTIONS, enclosing_function, last_word
from torchlint.source.text.spelling import argument
from torchlint.source.training.events import events
from torchlint.source.training.keyword_values import keyword_values
from torchlint.source.training.regions import tests_around

_PARTS = frozenset(("torch.utils.data.Subset", "torch.utils.data.random_split"))
_ONE_AFTER_THE_OTHER = frozenset(
    f"torchvision.transforms.{name}" for name in ("Compose", "v2.Compose", "Lambda", "v2.Lambda")
)
MAX_HELPERS = 2  # that call each other
MAX_PARTS = 4  # of data that is a part of data, of transforms in transforms


def run_by_workers(loader: Value) -> list[Value]:
    """The calls that certainly run there, each in the frames through which it is reached; one that is reached in
    several ways is one.
    """
    return _certain_calls(_given_code(loader, ("dataset", "collate_fn", "worker_init_fn")))


def run_at_start(loader: Value) -> list[Value]:
    """Those of them that run once, when a worker starts."""
    return _certain_calls(_given_code(loader, ("worker_init_fn",)))


def _certain_calls(run: Iterable[Code]) -> list[Value]:
    found: dict[int, Value] = {}
    for code in run:
        for way in _calls(*code, MAX_PARTS):
            if all(map(_is_certain, way)):
                found.setdefault(id(way[-1].node), way[-1])
    return list(found.values())


def run_for_samples(loader: Value) -> list[Value]:
    """The functions that give a sample of the dataset, and those of the project that they may call for it, each as it
    is reached first: in a method of a base class `self` is the dataset.
    """
    given = argument(loader.node, "dataset", 0)
    made = objects(loader.at(given, ())) if given is not None else []
    fetching = [Value(*code) for dataset in made for code in _fetching(dataset, MAX_PARTS)]
    found = {id(code.node): code for code in fetching if code.node.name != "__iter__"}
    last = list(found.values())
    for _ in range(MAX_HELPERS):
        calls = [code.at(node) for code in last for node in code.module.index.inside(code.node, ast.Call)]
        last = []
        for call in calls:
            for callee in callees(call):
                if callee.function is not None and callee.module is not None and id(callee.function) not in found:
                    frame = frame_of(call.module, callee.function, call, callee.instance, callee.closure)
                    found[id(callee.function)] = Value(callee.module, callee.function, frame)
                    last.append(found[id(callee.function)])
    return list(found.values())


Code = tuple[Module, ast.AST, LookedThrough | None]  # a function, in the frame of who calls it


_PLACES = {"dataset": 0, "collate_fn": 6, "worker_init_fn": 9}


def _given_code(loader: Value, names: tuple[str, ...]) -> Iterator[Code]:
    """The functions that are called themselves: methods of the dataset, `collate_fn`, `worker_init_fn`."""
    for name in names:
        given = argument(loader.node, name, _PLACES[name])
        found = keyword_values(loader, name) if given is None else objects(loader.at(given, ()))
        for origin in found:
            yield from _fetching(origin, MAX_PARTS) if name == "dataset" else _called(origin, given)


def _fetching(dataset: Value, depth: int) -> Iterator[Code]:
    if not isinstance(dataset.node, ast.Call) or depth == 0:
        return
    owner = instance_class(dataset)
    for name in ("__getitem__", "__getitems__", "__iter__") if owner is not None else ():
        method = owner.method(name)
        if method is not None and (name != "__iter__" or owner.is_a("torch.utils.data.IterableDataset")):
            yield method.module, method.node, frame_of(dataset.module, method.node, None, dataset)
    if dataset.node.args and {c.name for c in callees(dataset)} <= _PARTS:
        for whole in objects(dataset.at(dataset.node.args[0], ())):
            yield from _fetching(whole, depth - 1)


def _called(origin: Value, written: ast.expr | None = None, depth: int = MAX_PARTS) -> Iterator[Code]:
    """The function that runs when what comes from there is called; all of them of `Compose([…])`."""
    node = origin.node
    if isinstance(node, FUNCTIONS) and not origin.path:
        if _is_given_more_elsewhere(origin):
            return
        made = objects(origin.at(written.value, ())) if isinstance(written, ast.Attribute) else []
        instance = made[0] if len(made) == 1 and isinstance(made[0].node, ast.Call) else None
        yield origin.module, node, frame_of(origin.module, node, None, instance, origin.frame)
    elif isinstance(node, ast.Call) and not origin.path:
        for callee in callees(origin):
            if callee.kind == "class" and (method := callee.owner.method("__call__")):
                yield method.module, method.node, frame_of(origin.module, method.node, None, origin)
            elif callee.name in _ONE_AFTER_THE_OTHER and node.args and depth:
                path = (EACH,) if callee.name.endswith("Compose") else ()
                for part in origins(origin.at(node.args[0], path)):
                    yield from _called(part, None, depth - 1)
            elif callee.name == "functools.partial" and node.args:
                for partial in origins(origin.at(node.args[0], ())):
                    if isinstance(partial.node, FUNCTIONS) and not partial.path:
                        frame = frame_of(origin.module, partial.node, origin, None, partial.frame)
                        yield partial.module, partial.node, frame


def _is_given_more_elsewhere(function: Value) -> bool:
    """May other calls give what a loader leaves as it is by default? Then nothing tells the two apart."""
    given = function.node.args
    others = callers_of(function.module, function.node, method_class(function.module, function.node))
    return bool(given.defaults or any(given.kw_defaults)) and any(True for _ in others)


def _calls(module: Module, function: ast.AST, frame: LookedThrough | None, depth: int) -> Iterator[tuple[Value, ...]]:
    """The calls that a function makes, each behind those that lead to it, also through transforms of torchvision."""
    body = function.body if isinstance(function.body, list) else [function.body]
    for event in events(module, body, frame):
        if event.stores_grad:
            continue
        yield (way := (*event.via, event.value))
        makers = [c.made for c in callees(event.value) if c.made and c.name.removesuffix("()") in _ONE_AFTER_THE_OTHER]
        for code in [code for made in makers for code in _called(made)] if depth else ():
            for inner in _calls(*code, depth - 1):
                yield (*way, *inner)


def _is_certain(place: Value) -> bool:
    """Does a call run whenever its function does, or whenever there is a GPU?"""
    function = enclosing_function(place.node)
    if any(holds_with_a_gpu(place.at(test, ())) is not truth for test, truth in tests_around(place.node)):
        return False
    left = place.module.index.inside(function, ast.Return, ast.Raise, ast.Continue) if function is not None else ()
    return all(
        enclosing_function(statement) is not function
        or statement.lineno >= place.node.lineno
        or any(holds_with_a_gpu(place.at(test, ())) is (not truth) for test, truth in tests_around(statement))
        for statement in left
    )


def is_behind_a_bound(call: ast.Call) -> bool:
    """Does it stand where one number has come to another, `if end > self.size:`? No sample may come so far."""
    return any(
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE))
        and all(last_word(node.func) == "len" for node in ast.walk(test) if isinstance(node, ast.Call))  # none draws
        for test, _ in tests_around(call)
    )
