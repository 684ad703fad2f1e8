"""Which samplers of a loader shuffle by the number of an epoch, which somebody has to tell them."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from torchlint.source.flow.branches import decided
from torchlint.source.flow.flow import callees, objects, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_class, enclosing_function, has_stars, last_word, statement_of
from torchlint.source.text.spelling import argument, unparsed
from torchlint.source.training.keyword_values import keyword_names

EVALUATES = re.compile(r"(^|[_.])(val|valid|validation|dev|test|eval)(_|$|set|loader|data)")
_TELLING = ".set_epoch("
_DISTRIBUTED = "torch.utils.data.DistributedSampler"


def _behind_bars(made: Value) -> Iterator[Value]:
    """`loader` of `batches = tqdm(enumerate(loader))`, which a name stands for, if no name says that it evaluates."""
    node = made.node
    is_around = isinstance(node, ast.Call) and not made.path and last_word(node.func) in ("enumerate", "tqdm", "iter")
    if is_around and node.args and not isinstance(node.args[0], ast.Starred):
        is_to_evaluate = EVALUATES.search(unparsed(node.args[0]).lower())
        for inner in () if is_to_evaluate else objects(made.at(node.args[0], ())):
            yield from _behind_bars(inner)
    else:
        yield made


def samplers_of(loader: Value) -> Iterator[Value]:
    """What makes the sampler of a loader, itself or inside a BatchSampler."""
    for made in _behind_bars(loader):
        if _makes(made, "torch.utils.data.DataLoader"):
            yield from _given(made, "sampler", 3)
            for batches in _given(made, "batch_sampler", 4):
                if _makes(batches, "torch.utils.data.BatchSampler"):
                    yield from _given(batches, "sampler", 0)


def may_be_told_by_others(module: Module) -> bool:
    """May another file of the project call `set_epoch`: in a function that somebody names, or that a library runs?"""
    if not module.others_mention((_TELLING, '"set_epoch"', "'set_epoch'")):
        return False
    if module.others_mention(('"set_epoch"', "'set_epoch'")):
        return True
    others = module.others_that_mention(_TELLING)
    return not all(
        other is not None and is_run_by_nobody(module, other, call)
        for other in others
        for call in (other.index.callers("set_epoch") if other is not None else [None])
    )


def is_run_by_nobody(asking: Module, home: Module, call: ast.AST) -> bool:
    """Does it stand in a plain function or method whose name is nowhere in the project but where it is defined?"""
    function = enclosing_function(call)
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or function.name.startswith("__"):
        return False
    owner, name = enclosing_class(function), function.name
    if owner is not None and (owner.bases or owner.keywords) or asking is not home and asking.index.says(name):
        return False
    if set(asking.world.view.mentions(name)) - {home.path}:
        return False
    return _words(home)[name] == 1


@remembered
def _words(module: Module) -> Counter[str]:
    """How often a file says each word."""
    return Counter(re.findall(r"\w+", module.index.text))


def is_distributed(sampler: Value) -> bool:
    return _makes(sampler, _DISTRIBUTED)


def shuffles_by_epoch(sampler: Value) -> bool:
    """Is it one that does, for data on which something is trained, as far as names say?"""
    if not is_distributed(sampler) or any(isinstance(given, ast.Starred) for given in sampler.node.args):
        return False
    shuffle = argument(sampler.node, "shuffle", 3)
    if shuffle is None and has_stars(sampler.node) and "shuffle" in (keyword_names(sampler) or ("shuffle",)):
        return False
    if shuffle is not None and not _is_true(sampler.at(shuffle, ())):
        return False
    statement = statement_of(sampler.node)
    named = statement.targets if isinstance(statement, ast.Assign) else []
    named = [*named, argument(sampler.node, "dataset", 0)]
    texts = [unparsed(node).lower() for node in named if isinstance(node, (ast.Name, ast.Attribute))]
    return not any(map(EVALUATES.search, texts))


def _is_true(asked: Value) -> bool:
    """Is it True for certain, in the call through which a sampler is seen: `shuffle=is_train`, `split == "train"`?"""
    found = origins(asked)
    said = [o.node.value if isinstance(o.node, ast.Constant) and not o.path else None for o in found]
    return decided(asked) is True or bool(said) and all(one is True for one in said)


def _makes(value: Value, name: str) -> bool:
    if not isinstance(value.node, ast.Call) or value.path:
        return False
    return {callee.name for callee in callees(value)} == {name}


def _given(call: Value, name: str, position: int) -> list[Value]:
    given = argument(call.node, name, position)
    return list(objects(call.at(given, ()))) if given is not None else []
