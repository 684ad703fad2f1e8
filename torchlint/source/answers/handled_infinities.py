"""What a program does about the logarithm of a 0: asks for it, cleans it away, chooses something else, or keeps the
numbers away from 0 before.
"""

from __future__ import annotations

import ast
import re
from itertools import islice

from torchlint.facts import named_of, words
from torchlint.source.flow.callers import callers_of
from torchlint.source.flow.changed import names_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.uses import may_follow, uses
from torchlint.source.flow.values import Value
from torchlint.source.text.index import ancestors, enclosing_function, last_word, standing_in, statement_of
from torchlint.source.text.spelling import dotted, unparsed
from torchlint.source.training.regions import under_no_grad

_CALLERS = 10  # of one function
_SEARCHES = re.compile(r"decode|beam|search|greedy|generate|translate|infer|predict")
_LEARNS = re.compile(r"loss|nll|entropy|criterion|objective|cost|bce|_ce\b|kl\b|elbo|focal|distil|perplexity|backward")


def is_handled(module: Module, logarithm: ast.Call, argument: ast.expr) -> bool:
    """Does the code around a logarithm deal with what it is of 0?"""
    statement = statement_of(logarithm)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    later = uses(module, target) if isinstance(target, ast.Name) else []
    if isinstance(target, ast.Name) and statement.value is logarithm and not later:
        return True  # nobody reads it: another value takes its place
    return (
        any(_is_asked_for(use) for use in (logarithm, *later))
        or _is_only_ranked(logarithm, later)
        or _is_chosen(logarithm, unparsed(argument))
        or _is_kept_away(module, logarithm, argument)
        or _is_tested(module, argument)
        or _is_differentiated_by(module, argument)
    )


def _is_tested(module: Module, argument: ast.expr) -> bool:
    """`if (p.data == 0).any(): …`: does the function ask whether the numbers are 0, or 1, where the complement is?"""
    sides = (argument.left, argument.right) if isinstance(argument, ast.BinOp) else (argument,)
    around = enclosing_function(argument) or module.tree
    return any(isinstance(root, ast.Name) and _is_compared_in(module, around, root.id) for root in map(_holding, sides))


@remembered
def _is_compared_in(module: Module, around: ast.AST, name: str) -> bool:
    named = standing_in(around, module.index.names(name))
    return any((enclosing_function(node) or module.tree) is around and _is_compared(node) for node in named)


def _holding(part: ast.expr) -> ast.expr:
    """What something is a part or a method's result of: `p` of `p.data[i, y[i]]`"""
    while isinstance(part, (ast.Attribute, ast.Subscript, ast.Call)):
        part = part.func if isinstance(part, ast.Call) else part.value
    return part


def _is_compared(node: ast.expr) -> bool:
    """Does a test of a statement compare a tensor, and not its sizes, with a number?"""
    while isinstance(node.up, (ast.Attribute, ast.Subscript, ast.Call)):
        if node is getattr(node.up, "slice", None):
            return False
        node = node.up
        word = node.attr if isinstance(node, ast.Attribute) else last_word(getattr(node, "func", None))
        if word in ("size", "shape", "dim", "ndim", "numel", "len", "dtype", "device"):
            return False
    test = node.up
    if not isinstance(test, ast.Compare) or not any(
        isinstance(side, ast.Constant) or "eps" in unparsed(side).lower() for side in (test.left, *test.comparators)
    ):
        return False
    inner: ast.AST = test
    for around in ancestors(test):
        if inner is getattr(around, "test", None):
            return True
        if isinstance(around, ast.stmt):
            return False
        inner = around
    return False


def _is_differentiated_by(module: Module, argument: ast.expr) -> bool:
    """`torch.autograd.grad(loss, p)`, `p.retain_grad()`: by the probabilities, which the logarithm of scores would not
    be computed from.
    """
    name = getattr(argument, "id", None)
    return name is not None and enclosing_function(argument) in _differentiating(module, name)


@remembered
def _differentiating(module: Module, name: str) -> set[ast.AST | None]:
    """The functions that do so by what has a name."""
    return {
        enclosing_function(node)
        for node in module.index.names(name)
        if isinstance(node.up, ast.Attribute)
        and node.up.attr == "retain_grad"
        or isinstance(node.up, ast.Call)
        and node in node.up.args[1:]
        and unparsed(node.up.func).endswith("autograd.grad")
    }


def only_scores(module: Module, logarithm: ast.Call) -> bool:
    """Is it how likely something is: in a search, without gradients, or where no name around speaks of a loss? There
    -inf says the right thing, unless it is multiplied by a 0, or an average of many in a loss.
    """
    is_averaged = False
    around = logarithm.up
    while isinstance(around, (ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Call)):
        if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Mult):
            return False
        is_averaged |= isinstance(around, ast.Call) and last_word(around.func) in ("mean", "sum")
        around = around.up
    if not _is_for_learning(module, logarithm):
        return True
    name = getattr(enclosing_function(logarithm), "name", "")
    return not is_averaged and (bool(_SEARCHES.search(name.lower())) or under_no_grad(module, logarithm))


def _is_for_learning(module: Module, logarithm: ast.Call) -> bool:
    """Does its function, a name around it, or else its file say that it is for a loss, or who calls the function?"""
    names = " ".join(getattr(place, "name", "") for place in ancestors(logarithm))
    function = enclosing_function(logarithm)
    is_said = bool(_LEARNS.search(names.lower())) or _speaks_of_losses(module, function)
    return is_said or isinstance(function, ast.FunctionDef) and _gives_a_loss(module, function)


@remembered(meanwhile=False)
def _gives_a_loss(module: Module, function: ast.FunctionDef) -> bool:
    """`loss = model(pairs)`: is all that it gives a loss to one that calls it?"""
    callers = islice(callers_of(module, function, method_class(module, function)), _CALLERS)
    return any(_is_called_a_loss(call.node) for call in callers)


def _is_called_a_loss(made: ast.expr) -> bool:
    """`loss = model(pairs).mean()`"""
    while isinstance(made.up, ast.Attribute) and isinstance(made.up.up, ast.Call):
        made = made.up.up
    target = made.up.targets[0] if isinstance(made.up, ast.Assign) else None
    return isinstance(target, (ast.Name, ast.Attribute)) and "loss" in last_word(target).lower()


@remembered
def _speaks_of_losses(module: Module, function: ast.AST | None) -> bool:
    text = module.index.text if function is None else module.segment(function)
    return bool(_LEARNS.search(text.lower()))


def _is_asked_for(use: ast.expr) -> bool:
    """`torch.isfinite(x)`, `x.nan_to_num()`"""
    words = ("isfinite", "isinf", "nan_to_num", "nan_to_num_")
    if isinstance(use.up, ast.Call):
        return unparsed(use.up.func).endswith(words)
    return isinstance(use.up, ast.Attribute) and use.up.attr in words


def _is_only_ranked(logarithm: ast.Call, later: list[ast.expr]) -> bool:
    """`scores = score + torch.log(p)`, sorted, and read number by number: what has no chance comes last."""
    node = logarithm
    while isinstance(node.up, ast.BinOp) and isinstance(node.up.op, (ast.Add, ast.Sub)):
        node = node.up
    uses = [node] if isinstance(node.up, (ast.Call, ast.Attribute)) else later
    ranked = [_is_ranked(use) for use in uses]
    return any(ranked) and all(ranks or _is_read(use) for ranks, use in zip(ranked, uses))


_RANKS = words(named_of("argsort", "argmax", "sort", "topk", "msort"))


def _is_ranked(use: ast.expr) -> bool:
    """`torch.topk(scores, k)`, `scores.view(-1).argmax()`"""
    around = use.up
    while isinstance(around, ast.Attribute) and isinstance(around.up, ast.Call) and around.up.func is around:
        if around.attr in _RANKS:
            return True
        use, around = around.up, around.up.up
    return isinstance(around, ast.Call) and use in around.args and last_word(around.func) in _RANKS


def _is_read(use: ast.expr) -> bool:
    """`float(scores[i])`, `scores[i].item()`"""
    while isinstance(use.up, ast.Subscript) and use is use.up.value:
        use = use.up
    around = use.up
    if isinstance(around, ast.Attribute):
        return around.attr in ("item", "tolist")
    return isinstance(around, ast.Call) and last_word(around.func) in ("float", "int")


def _is_chosen(node: ast.AST, argument: str) -> bool:
    """`torch.where(p == 0, 0, p * log(p))`: does what it is of say whether something else takes its place?"""
    while isinstance(node.up, (ast.BinOp, ast.UnaryOp, ast.Call)):
        node = node.up
        if isinstance(node, ast.Call) and node.args and unparsed(node.func).endswith("where"):
            return argument in unparsed(node.args[0])
    return False


def _is_kept_away(module: Module, logarithm: ast.Call, argument: ast.expr) -> bool:
    """`p.clamp_(1e-8)` in a statement before"""
    mine = {argument.id} if isinstance(argument, ast.Name) else set()
    return any(call.lineno < logarithm.lineno and may_follow(call, logarithm) for call in _raised(module, mine))


def is_kept_away_where_made(made: Value) -> bool:
    """The same for what comes from elsewhere: `p = torch.softmax(x, 1)`, and `p.clamp_(1e-8)` before it is given back;
    under the name of an attribute, in whatever method.
    """
    function = enclosing_function(made.node)
    return any(
        isinstance(call.func.value, ast.Attribute) or call.pos > made.node.pos and enclosing_function(call) is function
        for call in _raised(made.module, names_of(made))
    )


def _raised(module: Module, names: set[str]) -> list[ast.Call]:
    """What raises the numbers of a tensor of one of these names in place."""
    raised = _raised_by_name(module) if names else {}
    return [call for name in names for call in raised.get(name, ())]


@remembered
def _raised_by_name(module: Module) -> dict[str, list[ast.Call]]:
    found: dict[str, list[ast.Call]] = {}
    for word in ("clamp_", "clamp_min_", "clip_", "add_"):
        for call in module.index.callers(word):
            if isinstance(call.func, ast.Attribute):
                found.setdefault((dotted(call.func.value) or "").removesuffix(".data"), []).append(call)
    return found
