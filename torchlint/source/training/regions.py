"""Under which conditions a place runs: gradients off, train or eval mode asked about, loops and tests around it."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator

from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.identity import external_name
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.values import Value
from torchlint.source.text.index import (
    COMPREHENSIONS,
    DEFINITIONS,
    FUNCTIONS,
    ancestors,
    block_of,
    enclosing_function,
    first_of_elifs,
    is_in,
    last_word,
    loop_around,
    statement_of,
    test_around,
)
from torchlint.source.text.spelling import dumped, receiver, unparsed

_NAMED_SO = re.compile(
    r"no_?grad|inference_mode|inference_decorator"
)  # a decorator or context of the project's own, or of nobody knows whom
_SPLIT = re.compile(r"(?i)(^|[_-])(train|val|valid|validation|dev|test)$")
_LIGHTNING_EVALUATION = re.compile(r"^(validation|test|predict)_(step|epoch_end)$|^on_(validation|test|predict)_")
SWITCHES = ("no_grad", "inference_mode", "set_grad_enabled")
_SETTING = (ast.Expr, ast.Assign)  # `torch.set_grad_enabled(False)`, in notebooks as `_ = …`
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_PLAIN_TYPES = {"list", "tuple", "dict", "set", "str", "bool", "int", "float", "Number", "ndarray"}
MAX_TESTS = 100  # around one place, the innermost ones
NO_GRAD = frozenset(("torch.no_grad", "torch.inference_mode"))
# Asked for in tests; all but the first are true where a forward is run without being trained.
_SAYS_WITHOUT_GRAD = ("is_grad_enabled", "is_tracing", "is_in_onnx_export", "is_exporting")


def under_no_grad(module: Module, node: ast.AST, depth: int = 3) -> bool:
    """Is it known that nothing at this place is recorded for backward: by a `with`, a decorator, a global switch or all
    callers?
    """
    return _under_no_grad(module, node if isinstance(node, ast.Module) else statement_of(node), depth)


def has_twin_without_grad(module: Module, call: ast.Call) -> bool:
    """Does the other side of an `if` around it the same without gradients, or the `try` for which it stands in? Then
    here they are wanted.
    """
    child: ast.AST = call
    while (parent := child.up) is not None and not isinstance(parent, FUNCTIONS):
        is_choice, is_second = isinstance(parent, ast.If), isinstance(child, ast.ExceptHandler)
        if is_second or is_choice and child is not parent.test:
            other = parent.orelse if is_choice and child in parent.body else parent.body
            twins = (n for part in other for n in ast.walk(part) if isinstance(n, ast.Call))
            if any(dumped(twin.func) == dumped(call.func) and under_no_grad(module, twin) for twin in twins):
                return True
        child = parent
    return False


@remembered
def _under_no_grad(module: Module, node: ast.AST, depth: int) -> bool:
    child, asks = node, any(map(module.index.says, _SAYS_WITHOUT_GRAD))
    while (parent := child.up) is not None:
        if isinstance(parent, ast.If) and not asks:
            parent = first_of_elifs(parent)
        if isinstance(parent, (ast.With, ast.AsyncWith)) and isinstance(child, ast.stmt):
            if _is_switched_off_by(module, parent) or _is_entered_before(module, parent, node):
                return True
            if any(_is_enable_grad(module, item.context_expr) for item in parent.items):
                return False
        elif asks and isinstance(parent, ast.If) and _is_test_without_grad(parent, child):
            return True
        elif isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)) and isinstance(child, ast.stmt):
            if _is_switched_off_by(module, parent):
                return True
            if any(_is_enable_grad(module, d) for d in parent.decorator_list):
                return False
            if _switches_off(module, parent, child):
                return True
            return (
                _switched_off_for_file(module)
                or _is_lightning_evaluation(module, parent)
                or _is_forward_of_a_function(module, parent)
                or (depth > 0 and _all_callers_under_no_grad(module, parent, depth))
            )
        elif _switches_off(module, parent, child):
            return True
        child = parent
    return False


def _is_entered_before(module: Module, block: ast.With | ast.AsyncWith, node: ast.AST) -> bool:
    """`with ExitStack() as stack:`, and in it above a place `stack.enter_context(torch.no_grad())`"""
    if not module.index.says("enter_context"):
        return False
    stacks = {item.optional_vars.id for item in block.items if isinstance(item.optional_vars, ast.Name)}
    return any(
        isinstance(receiver(call), ast.Name)
        and receiver(call).id in stacks
        and call.pos < node.pos
        and any(is_no_grad(Value(module, given)) or _is_named_so(given) for given in call.args)
        for call in module.index.calls_of("enter_context", inside=block)
    )


def _is_lightning_evaluation(module: Module, function: ast.AST) -> bool:
    """Lightning evaluates under `no_grad`; a step that training calls too is another matter."""
    if not _LIGHTNING_EVALUATION.search(getattr(function, "name", "")):
        return False
    owner = method_class(module, function)
    return (
        owner is not None
        and owner.is_lightning
        and not any(
            getattr(enclosing_function(call), "name", "").startswith("training")
            for call in module.index.callers(function.name)
        )
    )


def _is_forward_of_a_function(module: Module, function: ast.AST) -> bool:
    """What `torch.autograd.Function` computes it tells the gradients of itself: torch records nothing there."""
    if getattr(function, "name", "") != "forward" or not module.index.says("Function"):
        return False
    owner = method_class(module, function)
    return owner is not None and not {"torch.autograd.Function", "torch.autograd.function.Function"}.isdisjoint(
        owner.foreign
    )


def runs_without_grad(value: Value) -> bool:
    """The same for an expression that is looked at through a call: the call may stand under `no_grad`."""
    while value is not None:
        if value.node is not None and under_no_grad(value.module, value.node):
            return True
        value = value.frame.outside if value.frame else None
    return False


def switch_around(value: Value) -> Value | None:
    """The plain `torch.no_grad()` that an expression certainly runs under: a `with` or a decorator around it, or around
    a call that it is looked at through.
    """
    while value is not None and value.node is not None:
        child = value.node
        for parent in ancestors(value.node):
            inside = isinstance(parent, (ast.With, ast.FunctionDef)) and is_in(child, parent.body)
            switches = _heads(parent) if inside else []
            child = parent
            if any(_is_enable_grad(value.module, switch) for switch in switches):
                return None
            for switch in switches:
                if _is_plain_no_grad(value.at(switch, ())):
                    return value.at(switch, ())
            if isinstance(parent, FUNCTIONS):
                break
        value = value.frame.outside if value.frame else None
    return None


def _heads(block: ast.With | ast.AsyncWith | ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    return (
        [i.context_expr for i in block.items] if isinstance(block, (ast.With, ast.AsyncWith)) else block.decorator_list
    )


def _is_switched_off_by(
    module: Module, block: ast.With | ast.AsyncWith | ast.FunctionDef | ast.AsyncFunctionDef
) -> bool:
    """Is one of its contexts or decorators one that switches gradients off?"""
    return any(
        is_no_grad(head := Value(module, one)) or _is_named_so(one) or _is_made_of_switches(head)
        for one in _heads(block)
    )


def _is_plain_no_grad(switch: Value) -> bool:
    call = switch.node if isinstance(switch.node, ast.Call) else None
    if call is not None and (call.args or call.keywords):
        return False
    return external_name(switch.at(call.func if call is not None else switch.node, ())) in NO_GRAD


@remembered
def is_no_grad(value: Value) -> bool:
    """`torch.no_grad()`, `torch.inference_mode()`, `torch.set_grad_enabled(False)`, or a name that holds one."""
    for origin in origins(value):
        node = origin.node
        names = _names_called(origin) if isinstance(node, ast.Call) else {external_name(origin)}
        if names & NO_GRAD:
            return not (isinstance(node, ast.Call) and _is_false(node))
        given = [*node.args, *(k.value for k in node.keywords)] if isinstance(node, ast.Call) else []
        if "torch.set_grad_enabled" in names and given:
            # `set_grad_enabled(phase == "train")` is both; whoever asks wants to know that it is handled
            return not (isinstance(given[0], ast.Constant) and given[0].value is True)
    return False


def _names_called(call: Value) -> set[str | None]:
    """Also those of what an object or a class keeps: `quiet = torch.no_grad`, and then `self.quiet()`"""
    name = external_name(call.at(call.node.func, ()))
    return {name} if name is not None else {callee.name for callee in callees(call)}


def _is_false(call: ast.Call) -> bool:
    """`inference_mode(False)` switches nothing off."""
    return any(
        isinstance(a, ast.Constant) and a.value is False
        for a in (*call.args[:1], *(k.value for k in call.keywords if k.arg == "mode"))
    )


def _is_enable_grad(module: Module, expression: ast.expr) -> bool:
    return module.index.says("enable_grad") and external_name(Value(module, _callee(expression))) == "torch.enable_grad"


def _is_named_so(expression: ast.expr) -> bool:
    return bool(_NAMED_SO.search(last_word(_callee(expression)))) and not (
        isinstance(expression, ast.Call) and _is_false(expression)
    )


@remembered
def _is_made_of_switches(head: Value) -> bool:
    """A context or decorator of the project's own that uses torch's switches, unless it is told True."""
    own: list[ast.AST | None] = []
    for made in [head] if isinstance(head.node, ast.Call) else origins(head):
        given = [*made.node.args, *(k.value for k in made.node.keywords)] if isinstance(made.node, ast.Call) else []
        if any(isinstance(one, ast.Constant) and one.value is True for one in given):
            return False
        if isinstance(made.node, ast.Call):
            own += [callee.owner.node if callee.owner else callee.function for callee in callees(made)]
        elif isinstance(made.node, DEFINITIONS):
            own.append(made.node)
    return any(
        isinstance(part, ast.Attribute) and part.attr in SWITCHES
        for node in own
        if node is not None
        for part in ast.walk(node)
    )


def _callee(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _is_test_without_grad(test: ast.If, child: ast.AST) -> bool:
    """Of `if not torch.is_grad_enabled():` and `if not self.training:` only the first says anything about gradients.
    What is traced or exported is a forward that nobody trains.
    """
    condition = test.test
    negated = isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not)
    condition = condition.operand if negated else condition
    word = last_word(condition.func) if isinstance(condition, ast.Call) else ""
    if word in _SAYS_WITHOUT_GRAD:
        return (word == "is_grad_enabled") == (negated == is_in(child, test.body))
    return False


@remembered
def _switched_off_for_file(module: Module) -> bool:
    """`torch.set_grad_enabled(False)` (or `torch.no_grad().__enter__()`) as a statement of the module itself."""
    return any(_is_switch(module, s) for s in module.tree.body) and not any(
        _sets_grad(module, call, True) for call in module.index.callers("set_grad_enabled")
    )


def _is_switch(module: Module, statement: ast.stmt) -> bool:
    return (
        isinstance(statement, _SETTING)
        and isinstance(statement.value, ast.Call)
        and _sets_grad(module, statement.value, False)
    )


def _sets_grad(module: Module, call: ast.Call, to: bool) -> bool:
    return (
        external_name(Value(module, call.func)) == "torch.set_grad_enabled"
        and bool(call.args)
        and isinstance(call.args[0], ast.Constant)
        and call.args[0].value is to
    )


def _switches_off(module: Module, owner: ast.AST, statement: ast.AST) -> bool:
    """Is the last `torch.set_grad_enabled(…)` above a statement of the body of a function, file, `if` or loop one that
    switches off?
    """
    if not module.index.says("set_grad_enabled") or not is_in(statement, getattr(owner, "body", ())):
        return False
    lines, switches = _switches(module, owner)
    before = bisect_left(lines, statement.lineno)
    return before > 0 and switches[before - 1]


@remembered
def _switches(module: Module, owner: ast.AST) -> tuple[list[int], list[bool]]:
    """The lines of the `torch.set_grad_enabled(…)` statements in a body, and whether each switches off."""
    calls = [s.value for s in owner.body if isinstance(s, _SETTING) and isinstance(s.value, ast.Call)]
    found = [
        (call.up.lineno, _sets_grad(module, call, False))
        for call in calls
        if any(_sets_grad(module, call, to) for to in (False, True))
    ]
    return [line for line, _ in found], [off for _, off in found]


@remembered
def _all_callers_under_no_grad(module: Module, function: ast.FunctionDef, depth: int) -> bool:
    calls = calls_by_function(module, function.name).get(id(function), ())
    return bool(calls) and all(under_no_grad(module, call, depth - 1) for call in calls)


@remembered
def calls_by_function(module: Module, name: str) -> dict[int, list[ast.Call]]:
    """The calls of the functions of one name, by the ids of these: there may be as many of both."""
    found: dict[int, list[ast.Call]] = {}
    for call in module.index.callers(name):
        for function in {id(callee.function) for callee in callees(Value(module, call))}:
            found.setdefault(function, []).append(call)
    return found


def loops_around(node: ast.AST) -> list[ast.AST]:
    """The loops of the same function in whose body a place stands, innermost first."""
    if isinstance(enclosing_function(node), ast.Lambda):
        return []
    found = []
    loop = loop_around(statement_of(node))
    while loop is not None:
        found.append(loop)
        loop = loop_around(loop)
    return found


def rounds_around(node: ast.AST) -> list[ast.AST]:
    """The comprehensions and loops of the same function around a place, innermost first."""
    inside = [
        n
        for n in ancestors(node)
        if isinstance(n, COMPREHENSIONS) and enclosing_function(n) is enclosing_function(node)
    ]
    return inside + loops_around(node)


def tests_around(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """The conditions under which a place runs in its function, each with the truth it must have, innermost first; not
    more than matter.
    """
    for _ in range(MAX_TESTS):
        found = test_around(node)
        if found is None:
            return
        node, truth = found
        yield node.test, truth


def is_chosen_by_callers(node: ast.AST) -> bool:
    """Does the truth of a parameter of its function decide whether a place runs?"""
    function = enclosing_function(node)
    flags = [test for test, _ in tests_around(node)]
    for test in flags:  # which grows
        flags += (
            test.values if isinstance(test, ast.BoolOp) else [test.operand] if isinstance(test, ast.UnaryOp) else []
        )
    names = {p.arg for p in function.args.args} if isinstance(function, ast.FunctionDef) else set()
    return any(isinstance(flag, ast.Name) and flag.id in names for flag in flags)


def told_types(node: ast.AST) -> Iterator[tuple[ast.expr, set[str]]]:
    """What tests around a place say that something is: `x` and `list` below `if isinstance(x, list)`."""
    for test, truth in tests_around(node):
        if truth:
            yield from _types_in(test)


def _types_in(test: ast.expr) -> Iterator[tuple[ast.expr, set[str]]]:
    for call in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]:
        if isinstance(call, ast.Call) and last_word(call.func) == "isinstance" and len(call.args) == 2:
            subject, types = call.args
            yield subject, {last_word(kind) for kind in getattr(types, "elts", [types])}
        elif isinstance(call, ast.Call) and last_word(call.func) == "is_tensor" and len(call.args) == 1:
            yield call.args[0], {"Tensor"}


def is_told_to_be_tensor(node: ast.AST) -> bool:
    """Does a test say that it is a tensor: `if torch.is_tensor(x): …`, or `if not isinstance(x, torch.Tensor): return`
    before it?
    """
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return False
    text, names = unparsed(node), {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    statement = statement_of(node)
    while True:
        block, place = block_of(statement)
        for before in reversed(block[:place]):
            if _is_tensor_by(text, _told_by(before)):
                return True
            if not names.isdisjoint(_bound_by(before)):
                return False  # it may be another one since
        around = statement.up
        if isinstance(around, ast.If) and is_in(statement, around.body) and _is_tensor_by(text, _types_in(around.test)):
            return True
        if not isinstance(around, (ast.If, ast.With)):
            return False
        statement = around


def _bound_by(statement: ast.stmt) -> set[str]:
    """The names that a statement binds, with all that is in it; found out once."""
    if not hasattr(statement, "bound"):
        names = (part for part in ast.walk(statement) if isinstance(part, ast.Name))
        statement.bound = {name.id for name in names if not isinstance(name.ctx, ast.Load)}
    return statement.bound


def _is_tensor_by(text: str, told: Iterator[tuple[ast.expr, set[str]]]) -> bool:
    return any(types == {"Tensor"} and unparsed(subject) == text for subject, types in told)


def _told_by(statement: ast.stmt) -> Iterator[tuple[ast.expr, set[str]]]:
    """What runs on after a statement only for what is of these types."""
    if isinstance(statement, ast.Assert):
        yield from _types_in(statement.test)
    leaves = isinstance(statement, ast.If) and isinstance(statement.body[-1], _LEAVING) and not statement.orelse
    if leaves and isinstance(statement.test, ast.UnaryOp) and isinstance(statement.test.op, ast.Not):
        yield from _types_in(statement.test.operand)


def is_told_to_be_plain(node: ast.AST) -> bool:
    """Does a test say that it is a list, or another thing that is no tensor: `if isinstance(rows, list): …`?"""
    return isinstance(node, (ast.Name, ast.Attribute)) and any(
        types <= _PLAIN_TYPES and unparsed(subject) == unparsed(node) for subject, types in told_types(node)
    )


def asks_training_mode(module: Module, node: ast.AST) -> bool:
    """Does a place depend on a test that mentions `training` or an evaluation flag? Its function's early returns count
    too.
    """
    if any(_mentions_mode(test) for test, _ in tests_around(node)):
        return True
    function = enclosing_function(node)
    if function is None or isinstance(function, ast.Lambda):
        return False
    return any(line < node.lineno for line in _returns_by_mode(module, function))


@remembered
def _returns_by_mode(module: Module, function: ast.AST) -> list[int]:
    """The lines of the tests that mention a mode and after which a function returns."""
    return [
        s.lineno
        for s in module.index.inside(function, ast.If)
        if s.body and isinstance(s.body[-1], ast.Return) and _mentions_mode(s.test)
    ]


def _mentions_mode(test: ast.expr) -> bool:
    """Found out once for each test: it is kept with its node."""
    if not hasattr(test, "mentions_mode"):
        test.mentions_mode = _says_mode(test)
    return test.mentions_mode


def _says_mode(test: ast.expr) -> bool:
    for node in ast.walk(test):
        word = last_word(node).lower()
        if word and any(
            part in word
            for part in (
                "train",
                "eval",
                "infer",
                "predict",
                "return_prob",
                "deploy",
                "export",
                "softmax",
                "logits",
                "sigmoid",
                "activat",
            )
        ):
            return True
        if isinstance(node, ast.Compare) and any(map(_is_a_split, (node.left, *node.comparators))):
            return True
    return False


def _is_a_split(node: ast.expr) -> bool:
    """`"train"`, or `["dev", "custom_test"]`: a part of the data by its name."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return any(map(_is_a_split, node.elts))
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and _SPLIT.search(node.value) is not None
