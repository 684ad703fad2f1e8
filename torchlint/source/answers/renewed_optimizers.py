"""Optimizers that every round of a loop makes anew for parameters that are older than the round."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.facts import fact
from torchlint.source.answers.held_out import EVALUATES
from torchlint.source.flow.flow import SAME_WEIGHTS, callees, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import COMPREHENSIONS, body_of, enclosing_function, last_word, statement_of, within
from torchlint.source.text.spelling import unparsed
from torchlint.source.training.acts import BACKWARD, STEP, Act, acts
from torchlint.source.training.events import Event, events, imports_saying, leading_to, may_mention
from torchlint.source.training.optimizers import constructor_argument, holding
from torchlint.source.training.regions import loops_around
from torchlint.source.training.sameness import identity

_CLASSES = frozenset(
    "Adadelta Adafactor Adagrad Adam AdamW Adamax ASGD LBFGS Muon NAdam Optimizer RAdam RMSprop Rprop SGD "
    "SparseAdam".split()
)
# What gives a model fresh weights: a new optimizer is right then.
_RENEWS = re.compile(
    r"^_*(load_state_dict|apply|reinit|weight_reset|(re_?)?(init|reset)([a-z]*_)*"
    r"(weights?|param(eter)?s?|models?|net(work)?s?)(_\w+)?)$"
)
_TRAINS = re.compile(r"(^|_)(train|fit|cross)")
_MIXES = re.compile(r"randperm|permutation|\.split\(|\.chunk\(|batch")
COPIES = frozenset("deepcopy copy clone clone_module".split())


def renewed_optimizers(module: Module, loop: ast.AST) -> list[tuple[Event, Act]]:
    """The constructors of optimizers that run in every round for parameters that are older, each with a step of what it
    makes.
    """
    if not may_mention(module, body_of(loop), _optimizer_words(module)) and not _may_lead_to_one(module, loop):
        return []
    done = events(module, body_of(loop))
    if any(event.method and _RENEWS.match(event.method) for event in done) or not any(
        act.role == BACKWARD for act in acts(module, body_of(loop))
    ):
        return []  # without a backward nothing is trained: schedules are drawn like that
    if _is_over_settings(module, loop) or _is_over_data(module, loop, done) or _is_of_a_test(loop):
        return []
    made = {id(event.node): event for event in done}
    classes = {
        id(c.owner.node)
        for event in done
        if not event.stores_grad
        for c in callees(event.value)
        if c.kind == "class" and c.owner
    }
    found = []
    for event in done:
        if event.loops or event.tests or not _makes_optimizer(event):
            continue
        held = holding(event.value)
        sources = [origin for inner in held.modules for origin in identity(inner).values()]
        if not sources or held.tensors or not all(_is_older(origin, loop, made, classes) for origin in sources):
            continue
        learners = [origin for inner in held.modules for origin in origins(inner, SAME_WEIGHTS)]
        if any(_is_a_copy(origin) and not _is_older(origin, loop, made, classes) for origin in learners):
            continue
        steps = _steps_of_what_is_made(module, loop).get(event.node, [])
        if steps and not any(_is_a_training(module, loop, event, step) for step in steps):
            found.append((event, steps[0]))
    return [] if found and _draws_what_it_counts(loop, done) else found


def _may_lead_to_one(module: Module, loop: ast.AST) -> bool:
    """May a file that trains, which this one imports, have it made by a third one?"""
    training = imports_saying(module, ("backward",))
    behind = {home.path: home for one in training for home in imports_saying(one, tuple(sorted(_CLASSES)))}
    homes = tuple({one.path: one for one in (*training, *behind.values())}.values())
    words = frozenset().union(*map(_names_of_optimizers, behind.values())) if behind else _CLASSES
    return bool(behind) and not leading_to(module, homes, words).isdisjoint(_called_in(module, loop))


def _called_in(module: Module, loop: ast.AST) -> set[str]:
    return {last_word(call.func) for part in body_of(loop) for call in module.index.inside(part, ast.Call)}


def counts_epochs(module: Module, loop: ast.AST) -> bool:
    """Does a loop, or one around it in its function, say that it counts epochs?"""
    targets = [target for each in (loop, *loops_around(loop)) if (target := counted_over(each)[0]) is not None]
    names = [name.id.lower() for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    return any("epoch" in name for name in names)


@remembered
def _steps_of_what_is_made(module: Module, loop: ast.AST) -> dict[ast.AST, list[Act]]:
    """The steps of a loop by what makes their optimizers."""
    found: dict[ast.AST, list[Act]] = {}
    for act in acts(module, body_of(loop)):
        if act.role == STEP:
            for node in {origin.node for origin in identity(act.on).values()}:
                found.setdefault(node, []).append(act)
    return found


def made_at_each_access(module: Module, function: ast.FunctionDef) -> tuple[Value, ast.Call] | None:
    """Of a property that makes an optimizer whenever it is read: what makes it, and a `self.optimizer.step()` that may
    run again.
    """
    keeps = any(isinstance(n, (ast.Attribute, ast.Subscript)) for n in _written_in(module, function))
    if [ast.unparse(decorator) for decorator in function.decorator_list] != ["property"] or keeps:
        return None
    given = [o for value in function.gives for o in origins(Value(module, value))]
    if len(given) != 1 or enclosing_function(given[0].node) is not function or constructor_argument(given[0]) is None:
        return None
    for read in module.index.attributes(function.name):
        step = read.up.up
        if isinstance(read.up, ast.Attribute) and read.up.attr == "step" and isinstance(step, ast.Call):
            may_repeat = enclosing_function(step) is not None or bool(loops_around(step))
            if (
                may_repeat
                and step.func is read.up
                and any(o.node is given[0].node for o in origins(Value(module, read)))
            ):
                return given[0], step
    return None


def _written_in(module: Module, function: ast.AST) -> Iterator[ast.AST]:
    for node in module.index.inside(function, ast.Attribute, ast.Subscript, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node


def _is_a_copy(origin: Value) -> bool:
    """`fast = copy.deepcopy(model)`: what is learned in a round is learned by weights of its own."""
    return isinstance(origin.node, ast.Call) and last_word(origin.node.func) in COPIES


def _is_a_training(module: Module, loop: ast.AST, made: Event, step: Act) -> bool:
    """Is there more than one loop around a step in a round: epochs, so that one training comes after the other? Where
    all data are one batch, one loop that only counts does for that, if the rounds give it different settings.
    """
    loops = step.event.loops
    if len(loops) != 1:
        return len(loops) > 1
    return _only_counts(module, loops[0]) and made.via and _is_given(loop, made.via[0].node)


def _only_counts(module: Module, loop: ast.AST) -> bool:
    """`for _ in range(epochs)`, of which no round knows its number."""
    return (
        isinstance(loop, ast.For)
        and isinstance(loop.iter, ast.Call)
        and last_word(loop.iter.func) in ("range", "trange")
        and isinstance(loop.target, ast.Name)
        and not any(name.id == loop.target.id for part in body_of(loop) for name in module.index.inside(part, ast.Name))
    )


def _is_given(loop: ast.AST, call: ast.AST) -> bool:
    """`for head, width in zip(heads, widths): train(model, head, width)`: what the rounds give are settings."""
    target, iterated = counted_over(loop)
    if target is None or not isinstance(call, ast.Call):
        return False
    if isinstance(iterated, ast.Call) and last_word(iterated.func) in ("range", "trange", "tqdm", "enumerate"):
        return False
    settings = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return len(settings & {node.id for node in given if isinstance(node, ast.Name)}) > 0


def _is_over_settings(module: Module, loop: ast.AST) -> bool:
    """`for size in (16, 32): loader = DataLoader(data, size)`: each round is a run of its own, on data of its own."""
    target, iterated = counted_over(loop)
    if target is None or isinstance(iterated, ast.Call):
        return False
    settings = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
    if any(_sets_from(assigned, settings) for assigned in module.index.inside(loop, ast.Assign)):
        return True
    return any(
        last_word(call.func) == "DataLoader"
        and any(isinstance(n, ast.Name) and n.id in settings for n in ast.walk(call))
        for call in module.index.inside(loop, ast.Call)
    )


def _draws_what_it_counts(loop: ast.AST, done: list[Event]) -> bool:
    """`x = torch.randn(size, 9)` for each size that the loop goes through: how fast it runs is measured, and nothing is
    learned.
    """
    _, iterated = counted_over(loop)
    return any(
        origin.node is iterated
        for event in done
        if not event.stores_grad and any((row := fact(name)) and row.random and row.creates for name in event.names)
        for part in (*event.node.args, *(keyword.value for keyword in event.node.keywords))
        for name in ast.walk(part)
        if isinstance(name, ast.Name)
        for origin in origins(event.value.at(name, ()))
    )


def counted_over(loop: ast.AST) -> tuple[ast.expr | None, ast.expr | None]:
    """What a loop or the first part of a comprehension counts, and what it goes through."""
    over = loop.generators[0] if isinstance(loop, COMPREHENSIONS) else loop
    return (over.target, over.iter) if isinstance(over, (ast.For, ast.AsyncFor, ast.comprehension)) else (None, None)


def _is_of_a_test(loop: ast.AST) -> bool:
    """`def test_loop(self, tasks)`: a model is tuned for each task that it is tested on, and keeps nothing of it. What
    trains besides, as `cross_validate` and `train_and_test`, is none.
    """
    name = getattr(enclosing_function(loop), "name", "").lower()
    return bool(EVALUATES.search(name)) and not _TRAINS.search(name)


def _sets_from(assigned: ast.Assign, settings: set[str]) -> bool:
    """`args.lr = chosen["lr"]`"""
    value = assigned.value
    return (
        isinstance(assigned.targets[0], ast.Attribute)
        and isinstance(value, ast.Subscript)
        and isinstance(value.value, ast.Name)
        and value.value.id in settings
        and isinstance(value.slice, ast.Constant)
        and isinstance(value.slice.value, str)
    )


def _is_over_data(module: Module, loop: ast.AST, done: list[Event]) -> bool:
    """`train(model, tasks[i])`: each round trains on data of its own, of which the loop counts the places."""
    target, _ = counted_over(loop)
    if target is None:
        return False
    counted = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
    if _MIXES.search(unparsed(counted_over(loop)[1])):
        return False  # the places of a batch
    users = set()
    for part in module.index.inside(loop, ast.Subscript):
        if isinstance(part.slice, ast.Name) and part.slice.id in counted and isinstance(part.ctx, ast.Load):
            user = part.up.up if isinstance(part.up, ast.keyword) else part.up
            if isinstance(user, ast.For) and user.iter is part:
                return True
            if isinstance(user, ast.Call) and user.func is not part:
                users.add(last_word(user.func))
    called = [event for event in done if getattr(enclosing_function(event.node), "name", None) in users]
    return any(map(_makes_optimizer, called))


def _makes_optimizer(event: Event) -> bool:
    return not event.stores_grad and constructor_argument(event.value) is not None


def _is_older(origin: Value, loop: ast.AST, made: dict, classes: set) -> bool:
    """Was a module there before a round of the loop? Not every value is written down somewhere."""
    if origin.node is None or id(origin.node) in made or within(origin.node, loop):
        return False
    function = enclosing_function(origin.node)
    if isinstance(origin.node, ast.arg):
        function = origin.node.up.up
        return within(loop, function) or getattr(function, "name", "") == "__init__" and id(function.up) not in classes
    return isinstance(origin.node, ast.Call) and not (
        getattr(function, "name", "") == "__init__" and id(function.up) in classes
    )


@remembered
def _optimizer_words(module: Module) -> frozenset[str]:
    """The words by which a file and its imports may make optimizers."""
    return frozenset().union(*map(_names_of_optimizers, (module, *imports_saying(module, tuple(sorted(_CLASSES))))))


@remembered
def _names_of_optimizers(home: Module) -> frozenset[str]:
    """Torch's classes, what a file imports or keeps them as, classes derived from them."""
    words = set(_CLASSES)
    for statement in home.index.nodes(ast.ImportFrom):
        words.update(alias.asname for alias in statement.names if alias.asname and alias.name in _CLASSES)
    for name in _CLASSES:
        for node in (*home.index.names(name), *home.index.attributes(name)):
            statement = statement_of(node)
            if isinstance(statement, ast.Assign):
                words.update(last_word(target) for target in statement.targets)
            elif isinstance(statement, ast.ClassDef):
                words.add(statement.name)
    return frozenset(words - {""})
