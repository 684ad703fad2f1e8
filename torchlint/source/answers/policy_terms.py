"""Losses of policies that are minimised: with which sign the gain counts in them, with which the entropy, and whether a
value is taken on at the end of an episode only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice
from math import prod
from typing import NamedTuple

from torchlint.facts import named, named_of, words
from torchlint.source.flow.changed import only_appended
from torchlint.source.flow.flow import origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.usual_numbers import usual_number
from torchlint.source.flow.values import Value
from torchlint.source.text.index import last_word
from torchlint.source.text.spelling import receiver
from torchlint.source.training.naming import word_of

_GAIN = re.compile(r"(^|_)(advs?|advantages?|returns?|rewards?|gaes?)\d*(_|$)|^[RG]$")
_LOG_PROB = re.compile(r"(^|_)log_?probs?(_|$)|^log_?pis?$")
_OTHERWISE = re.compile(r"cost|loss|neg|nll|penalt|regret|old|ref(_|$)|dist")  # a name of what is no gain
_WEIGHT = re.compile(r"(^|_)(masks?|weights?|gamma|discounts?)(_|$)")
_LOWER = re.compile(r"(^|_)(values?|v|vals?|critic|baseline)(_|$)")
_COUNTS = words(named_of("size", "numel")) | {"len"}
_ENDS = re.compile(
    r"^(batch_|b_|mb_)?(dones?|terminals?|terminated|terminateds|terminations?)(_batch|_batches|_b|_t)?$"
)
_DISCOUNT = re.compile(r"(^|_)(gamma|discount|discount_factor|discount_rate)$", re.IGNORECASE)
_REWARD = re.compile(r"(^|_)(rewards?|rews?|r|rs)(_|$)", re.IGNORECASE)
_TAKEN_OFF = re.compile(r"(?<![\w.])(1|1\.0?|True)\s*-\s*\(?(\w{1,20}\()?[\w.]{0,60}?(done|termin)[\w.]{0,40}")
_GIVEN_TURNED = re.compile(r"(?:done|termin)\w{0,20}\s*=(?!=)[^\n#]{0,120}?(?<![\w.])1(?:\.0?)?\s*-\s*\(?[A-Za-z_]")
_DENIED = re.compile(
    r"(?<!while )(?<!if )(?<!and )(?<!or )(\bnot\s|~)\s*\(?[\w.]{0,60}?(done|termin)|logical_not|bitwise_not|invert"
    r"|\b0(\.0?)?\s+if\s+[\w.]{0,60}?(done|termin)|\bif\s+not\s+[\w.]{0,60}?(done|termin)\w{0,20}\s+else\b"
)
_AT_END = re.compile(r"terminal|final|last|bonus|time_?out|trunc|true")
_NEAR = 12  # characters around what is in a product
_KEPT = words(
    named("same_numbers")
    | named_of("mean", "sum", "stack", "cat", "gather", "tensor", "as_tensor", "FloatTensor", "Tensor")
)
_LIBRARIES = re.compile(r"(?:torch|th|np|F)")
_TURNED_ROUND = re.compile(
    r"maximi[sz]e|minimi[sz]\w{1,3} (the )?(\w{1,20} )?(return|reward|advantage)|adversar"
    r"|ascent|ascend|grad\w*\s*\*=|grad\s*=\s*-|lr\s*=\s*-|\.grad\.(neg|mul)_"
)
_TURNED_PROB = re.compile(r"-\s*[\w.\[\]]*log_?prob")
_SURROGATE = re.compile(r"surr|ratio|^adv|clip")
_MOST_TERMS, _DEEP = 24, 14


class Factor(NamedTuple):
    """What a product is of: what makes it, if that is known, all names by which it goes on the way, and its sign."""

    made: Value
    names: tuple[str, ...]
    sign: int


class Term(NamedTuple):
    """A product in a sum, and whether more of it makes the sum larger (1) or smaller (-1)."""

    value: Value
    sign: int
    factors: tuple[Factor, ...]  # none of a quotient, or whatever is no product

    @property
    def is_gain(self) -> bool:
        """Is it the log probability of what was done, by how good that was, and by nothing unknown?"""
        kinds = [_kind(factor) for factor in self.factors]
        return kinds.count("log_prob") == 1 and "gain" in kinds and "" not in kinds

    @property
    def is_surrogate(self) -> bool:
        """`torch.min(ratio * advantage, clipped * advantage)`, the gain that is kept near the old policy"""
        node = self.factors[0].made.node if len(self.factors) == 1 else None
        is_least = isinstance(node, ast.Call) and last_word(node.func) in ("min", "minimum") and len(node.args) == 2
        return is_least and all(any(map(_SURROGATE.search, _words(one))) for one in node.args)

    @property
    def is_entropy(self) -> bool:
        """Is it the entropy of a distribution?"""
        return len(self.factors) == 1 and _is_method(self.factors[0].made, "entropy")


def minimised(module: Module, backward: ast.Call) -> list[Term]:
    """The terms of a loss of which the gradients are taken, where an optimizer then goes down."""
    if not module.index.callers("step") or is_turned_round(module):
        return []
    loss = backward.func.value
    is_scaled = isinstance(loss, ast.Call) and last_word(loss.func) == "scale" and len(loss.args) == 1
    return terms_of(Value(module, loss.args[0] if is_scaled else loss))


def terms_of(loss: Value) -> list[Term]:
    """The terms of a sum, each with its sign."""
    return list(islice(_terms(loss, 1, _DEEP), _MOST_TERMS))


def is_turned_round(module: Module) -> bool:
    """Does the file say that it goes up, or works against what it trains?"""
    return module.finds(_TURNED_ROUND)


def _terms(value: Value, sign: int, depth: int) -> Iterator[Term]:
    """The terms of a sum, whichever way they came into it."""
    node = value.node
    if depth == 0 or node is None:
        return
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield from _terms(value.at(node.operand, ()), -sign, depth - 1)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield from _terms(value.at(node.left, ()), sign, depth - 1)
        yield from _terms(value.at(node.right, ()), sign if isinstance(node.op, ast.Add) else -sign, depth - 1)
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield from _terms(value.at(node.value, ()), sign if isinstance(node.op, ast.Add) else -sign, depth - 1)
    elif (inner := _inside(value)) is not None:
        yield from _terms(inner, sign, depth - 1)
    elif isinstance(node, ast.BinOp):
        yield from _of_product(value, sign, depth)
    elif made := [one for one in origins(value) if one.key != value.key]:
        for one in made:
            yield from _terms(one, sign, depth - 1)
    else:
        yield Term(value, sign, (Factor(value, (word_of(node),), 1),))


def _of_product(value: Value, sign: int, depth: int) -> Iterator[Term]:
    """`0.5 * loss` counts as the loss does; what is multiplied by no number is a term."""
    node = value.node
    for number, other in ((node.right, node.left), (node.left, node.right)):
        factor = usual_number(value.at(number, ()))
        if factor and (isinstance(node.op, ast.Mult) or isinstance(node.op, ast.Div) and number is node.right):
            yield from _terms(value.at(other, ()), sign if factor > 0 else -sign, depth - 1)
            return
    if isinstance(node.op, ast.Div) and isinstance(node.right, ast.Call) and last_word(node.right.func) in _COUNTS:
        yield from _terms(value.at(node.left, ()), sign, depth - 1)
    elif isinstance(node.op, ast.Mult):
        factors = tuple(_factor(one) for one in multiplied(value))
        yield Term(value, sign * prod(factor.sign for factor in factors), factors)
    else:
        yield Term(value, sign, ())


def multiplied(product: Value, depth: int = _DEEP) -> list[Value]:
    """The factors of a product."""
    node = product.node
    if depth and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [one for side in (node.left, node.right) for one in multiplied(product.at(side, ()), depth - 1)]
    return [product]


def kind_of(value: Value) -> str:
    """What a factor is: `log_prob`, `gain`, `weight`, or nothing that is known."""
    return _kind(_factor(value))


def _factor(value: Value) -> Factor:
    names: list[str] = []
    sign = 1
    for _ in range(_DEEP):
        node = value.node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value, sign = value.at(node.operand, ()), -sign
            continue
        if (inner := _inside(value)) is not None:
            value = inner
            continue
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            names.append(word_of(node))
        made = origins(value)
        if len(made) != 1 or made[0].node is None or made[0].key == value.key:
            break
        value = made[0]
    return Factor(value, tuple(names), sign)


def _inside(value: Value) -> Value | None:
    """`x` of `x.mean()`, of `torch.stack(x)`, and what an empty list gets."""
    node = value.node
    if isinstance(node, ast.List) and not value.path and (only := only_appended(value)) is not None:
        return value.at(only, ())
    if not isinstance(node, ast.Call) or value.path or last_word(node.func) not in _KEPT:
        return None
    given = receiver(node)
    if given is None or isinstance(given, ast.Name) and _LIBRARIES.fullmatch(given.id):
        given = node.args[0] if node.args else None
    return value.at(given, ()) if given is not None else None


def _kind(factor: Factor) -> str:
    node, names = factor.made.node, factor.names
    if _is_method(factor.made, "log_prob"):
        return "log_prob"
    if any(map(_OTHERWISE.search, names)) or isinstance(node, ast.Call) and _OTHERWISE.search(last_word(node.func)):
        return ""
    if any(map(_LOG_PROB.search, names)):
        is_plain = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.List, ast.arg))
        return "log_prob" if is_plain and not factor.made.module.finds(_TURNED_PROB) else ""
    if any(map(_GAIN.search, names)):
        return "" if _is_turned(node) or not _is_of_gains(node) else "gain"
    return "weight" if any(map(_WEIGHT.search, names)) else ""


def _is_of_gains(node: ast.AST) -> bool:
    """Is it what nobody sees made, or made of what is called a gain or a value, too? `adv` of p-values is none."""
    names = _words(node)
    return not isinstance(node, (ast.BinOp, ast.Call)) or any(
        _GAIN.search(one) or _LOWER.search(one) or one in ("r", "ret", "rtg", "delta") for one in names
    )


def _is_turned(node: ast.AST, depth: int = _DEEP) -> bool:
    """`values - returns`, and what is taken from nothing"""
    if depth == 0:
        return True
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub)
    if isinstance(node, ast.Call):
        given = node.func.value if isinstance(node.func, ast.Attribute) else None
        return any(_is_turned(one, depth - 1) for one in (*node.args[:1], given) if one is not None)
    if not isinstance(node, ast.BinOp):
        return False
    if isinstance(node.op, ast.Sub):
        names = _words(node.left)
        return not any(map(_GAIN.search, names)) and any(map(_LOWER.search, names)) or _is_turned(node.left, depth - 1)
    return _is_turned(node.left, depth - 1) or _is_turned(node.right, depth - 1)


def _is_method(made: Value, name: str) -> bool:
    node = made.node
    return (
        isinstance(node, ast.Call) and not made.path and isinstance(node.func, ast.Attribute) and node.func.attr == name
    )


def kept_at_end(module: Module, product: ast.BinOp) -> ast.expr | None:
    """`done` of `reward + gamma * value * done`: the value counts where the episode ends, and nowhere else."""
    around = product.up
    while isinstance(around, ast.BinOp) and isinstance(around.op, ast.Sub) and product is around.left:
        product, around = around, around.up
    other = None
    if isinstance(around, ast.BinOp) and isinstance(around.op, ast.Add):
        other = around.left if around.right is product else around.right
    if other is None or not any(map(_REWARD.search, _words(other))):
        return None
    factors = [one.node for one in multiplied(Value(module, product))]
    ends = [one for one in factors if _ENDS.search(_plain_word(one))]
    rest = [one for one in factors if one not in ends]
    discounts = [one for one in rest if any(map(_DISCOUNT.search, _words(one)))]
    if any(_AT_END.search(word) for one in rest for word in _words(one)):
        return None  # what an episode that is cut short would still have gained
    if len(ends) != 1 or len(discounts) != 1 or len(rest) != 2 or _is_turned_anywhere(module):
        return None
    return ends[0]


def _plain_word(node: ast.expr) -> str:
    """`dones` of `dones[t].float().unsqueeze(1)`"""
    while isinstance(node, (ast.Call, ast.Subscript)):
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name) or node.args == []:
            node = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _KEPT and not _is_of_library(node.func):
            node = node.func.value
        else:
            node = node.args[0]
    return last_word(node)


def _is_of_library(func: ast.Attribute) -> bool:
    return isinstance(func.value, ast.Name) and _LIBRARIES.fullmatch(func.value.id) is not None


def _words(node: ast.AST) -> list[str]:
    return [last_word(one) for one in ast.walk(node) if isinstance(one, (ast.Name, ast.Attribute))]


@remembered
def _is_turned_anywhere(module: Module) -> bool:
    """May an end be 0, as somebody puts `1 - done` into a memory? What is turned in a product says that it is 1."""
    homes = [module, *(other for word in ("done", "termina") for other in module.others_that_mention(word))]
    return any(home is None or _is_turned_in(home.index.text) for home in homes)


def _is_turned_in(text: str) -> bool:
    if _DENIED.search(text) or _GIVEN_TURNED.search(text):
        return True
    for found in _TAKEN_OFF.finditer(text):
        before = text[max(found.start() - _NEAR, 0) : found.start()].rstrip(" (")
        behind = text[found.end() : found.end() + _NEAR].lstrip(" )")
        if not before.endswith("*") and not behind.startswith("*"):
            return True
    return False
