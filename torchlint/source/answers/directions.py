"""Which way a measure gets better, by the name that it has: an accuracy is better high, an error low."""

from __future__ import annotations

import ast
import re

from torchlint.source.flow.flow import origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.usual_numbers import usual_origins
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.pinned import Pinned
from torchlint.source.text.spelling import argument, unparsed

MIN = "min"
MAX = "max"
_HIGH = re.compile(
    r"accs?|accuracy|accuracies|f1s?|f1score|auc|aucs|auroc|auprc|ious?|miou|map\d*|psnr|ssim|precision|recall|r2|"
    r"bleu|rouge|kappa|mcc"
)
_LOW = re.compile(r"loss|losses|errors?|err|mse|rmse|mae|wer|cer|ppl|perplexity|fid|nll|bce")
_OFTEN_LOSSES = re.compile(r"ious?|miou|ssim|dicescore")  # some call 1 - IoU so
# What turns it round, measures how far it is from another, says how well an opponent does, or is mostly a loss.
_TURNED = re.compile(
    r"neg|negative|minus|inv|inverse|one|not|non|diff|difference|delta|gap|drop|change|std|var|variance|time|forget\w*|"
    r"unlearn\w*|attack\w*|adv|adversar\w*|mia|member\w*|leak\w*|privacy|bias\w*|backdoor|poison\w*|trigger|random|"
    r"disc|discriminator|domain|critic|fool\w*|fake|anomaly|ood|elbo|reward|gain|improvement|reduction|dice|entropy"
)
_PARTS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+[0-9]*(?![a-z])")
_ONE_WORD = (
    (re.compile(r"mAP"), "map"),
    (re.compile(r"m?IoU"), "iou"),
    (re.compile(r"dice_?score", re.I), "dicescore"),
)
_MEANS = re.compile(r"f?mean|average")
_ORDERS = (ast.Gt, ast.GtE, ast.Lt, ast.LtE)
_ONES = (0, 1, 100)


def best_of(name: str, is_told: bool = False) -> str | None:
    """`max` for what is better high, `min` for what is better low, None where the name does not say. Where it is told
    to be better low, only what nobody takes for a loss is better high.
    """
    parts = _parts(name)
    high = [part for part in parts if _HIGH.fullmatch(part) or part == "dicescore"]
    is_low = any(map(_LOW.fullmatch, parts))
    if bool(high) is is_low or any(map(_TURNED.fullmatch, parts)):
        return None
    if is_low:
        return MIN
    return None if is_told and all(map(_OFTEN_LOSSES.fullmatch, high)) else MAX


def _parts(name: str) -> list[str]:
    """`val`, `acc` of `val/acc`, `val-acc` and `valAcc`."""
    for pattern, word in _ONE_WORD:
        name = pattern.sub(word, name)
    return [part.lower() for part in _PARTS.findall(name)]


def best_of_value(value: Value, is_told: bool) -> str | None:
    """The same of what is handed over: `val_acc`, `metrics["f1"]`, `np.mean(accuracies)`. Not of what is turned
    round where it gets its name, `acc = 1 - validate(model)`: it may be either.
    """
    node = value.node
    if isinstance(node, ast.Call):
        if last_word(node.func) == "item" and isinstance(node.func, ast.Attribute) and not node.args:
            return best_of_value(value.at(node.func.value, ()), is_told)
        is_mean = _MEANS.fullmatch(last_word(node.func)) and len(node.args) == 1
        return best_of_value(value.at(node.args[0], ()), is_told) if is_mean else None
    name = _called(node)
    best = (best_of(name, is_told) if name is not None else None) or _kept(value)
    if best is None or any(map(_is_turned, origins(value))):
        return None
    return best


def _kept(value: Value) -> str | None:
    """Which of it the same function keeps as the best: `if score > best_score:`"""
    around = enclosing_function(value.node) or value.module.tree
    kept = _comparisons(value.module, around).get(unparsed(value.node), set())
    return next(iter(kept)) if len(kept) == 1 else None


@remembered
def _comparisons(module: Module, around: ast.AST) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for compared in module.index.inside(around, ast.Compare):
        if len(compared.ops) > 1 or not isinstance(compared.up, ast.If) or not isinstance(compared.ops[0], _ORDERS):
            continue
        sides = [compared.left, compared.comparators[0]]
        are_best = ["best" in last_word(side).lower().split("_") for side in sides]
        if are_best[0] is not are_best[1]:
            is_more = isinstance(compared.ops[0], (ast.Gt, ast.GtE)) is are_best[1]
            found.setdefault(unparsed(sides[are_best[0]]), set()).add(MAX if is_more else MIN)
    return found


def _called(node: ast.AST | None) -> str | None:
    if isinstance(node, ast.Subscript):
        key = node.slice
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return key.value
        return _called(node.value) if isinstance(key, (ast.Constant, ast.UnaryOp)) else None
    word = last_word(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
    return word or None


def _is_turned(made: Value) -> bool:
    """`-x`, `1 - x`, `1 / x`"""
    node = made.node
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub)
    is_other = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Sub, ast.Div))
    return is_other and isinstance(node.left, ast.Constant) and node.left.value in _ONES


def direction(call: Value, position: int) -> tuple[str | None, ast.expr | None]:
    """The `mode` of a callback or scheduler, `min` if none is given, and the argument; None where nobody can tell."""
    given = argument(call.node, "mode", position)
    if given is None:
        return MIN, None
    texts = {text_of(made) for made in usual_origins(call.at(given, ()))}
    found = texts.pop() if len(texts) == 1 else None
    return (found if found in (MIN, MAX) else None), given


def text_of(made: Value) -> str | None:
    node = made.node
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and not made.path
    return node.value if is_text else None


@remembered
def reads_the_name(module: Module) -> bool:
    """Is it for a Lightning before 1.3, whose callbacks looked at the name to find the mode themselves?"""
    for call in module.index.calls_of("ModelCheckpoint", "Trainer", inside=module.tree):
        handed = (argument(call, name) for name in ("filepath", "early_stop_callback", "checkpoint_callback"))
        if any(
            one is not None and not (isinstance(one, ast.Constant) and one.value in (True, False)) for one in handed
        ):
            return True
    return Pinned(module.world.view).is_lightning_before(1, 3)
