"""Measures that are better high, and that a loss holds as they are: an overlap, an SSIM, a PSNR, a cosine."""

from __future__ import annotations

import ast
import re

from torchlint.facts import named_of, words
from torchlint.source.answers.policy_terms import Term, is_turned_round, minimised, terms_of
from torchlint.source.flow.classes import method_class
from torchlint.source.flow.flow import callees, origins
from torchlint.source.flow.memory import remembered
from torchlint.source.flow.module import Module
from torchlint.source.flow.numbers import number
from torchlint.source.flow.values import Value
from torchlint.source.text.index import enclosing_function, last_word
from torchlint.source.text.spelling import receiver

_LIBRARIES = re.compile(
    r"(torchmetrics|pytorch_msssim|pytorch_ssim|piq|kornia\.metrics)\.([a-z_]+\.)*"
    r"(ssim|ms_ssim|multi_scale_ssim|psnr|SSIM|MS_SSIM|structural_similarity_index_measure|peak_signal_noise_ratio"
    r"|multiscale_structural_similarity_index_measure|StructuralSimilarityIndexMeasure|PeakSignalNoiseRatio"
    r"|MultiScaleStructuralSimilarityIndexMeasure)(\(\))?"
)
_AGAINST = re.compile(r"attack|unlearn|forget|divers|orthogon|repel|disentangl|decorrel|negative", re.IGNORECASE)
_OVERLAP = re.compile(r"(^|_)(inter|intersections?|intersect|overlap|tp|true_pos|true_positives?)(_|$)")
_UNION = re.compile(r"(^|_)unions?(_|$)")
_PREDICTED = re.compile(r"(^|_)(preds?|predicted|predictions?|outputs?|logits?|probs?|inputs?|hat|scores?|p|x)(_|$)")
_MEANT = re.compile(r"(^|_)(targets?|tgt|gt|truth|true|labels?|masks?|ground)(_|$)|^(y|t)$")
_STUDENT = re.compile(r"(^|_)(preds?|predicted|prediction|student|recon|reconstructed|reconstruction)(_|$)")
_TEACHER = re.compile(r"(^|_)(targets?|tgt|teacher|gt|labels?|original|orig)(_|$)")
_SUMS = words(named_of("sum", "einsum", "norm", "count_nonzero"))
_DEEP = 6


def minimised_score(module: Module, backward: ast.Call) -> Value | None:
    """What counts with a plus in a loss that an optimizer minimises, and is better high."""
    return _score_in(module, minimised(module, backward))


def returned_score(module: Module, result: ast.Return) -> Value | None:
    """The same in what the `training_step` of Lightning gives as its loss."""
    function = enclosing_function(result)
    owner = method_class(module, function) if getattr(function, "name", "") == "training_step" else None
    loss = result.value
    if owner is None or not owner.has_lightning_base or loss is None or is_turned_round(module):
        return None
    if isinstance(loss, ast.Dict):
        keys = [getattr(key, "value", None) for key in loss.keys]
        loss = loss.values[keys.index("loss")] if "loss" in keys else None
    return _score_in(module, terms_of(Value(module, loss))) if loss is not None else None


def _score_in(module: Module, terms: list[Term]) -> Value | None:
    if not terms or _works_against(module):
        return None
    found = [(term, sign) for term in terms if (sign := _sign_of_score(term, len(terms) == 1))]
    if not found or any(sign * term.sign < 0 for term, sign in found):
        return None
    return found[0][0].value


@remembered
def _works_against(module: Module) -> bool:
    return _AGAINST.search(module.index.text) is not None


def _sign_of_score(term: Term, is_alone: bool) -> int:
    """1 of what is better high, -1 of its negative, 0 of anything else."""
    value, node = term.value, term.value.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return 1 if _is_overlap(value) else 0
    if not isinstance(node, ast.Call):
        return 0
    names = [callee.name or "" for callee in callees(value)]
    if names and all(map(_LIBRARIES.fullmatch, names)):
        return 1
    if names and set(names) <= named_of("log10"):
        return _sign_of_noise(value)
    agrees = is_alone and names and set(names) <= named_of("cosine_similarity") and _are_to_agree(node)
    return 1 if agrees else 0


def _is_overlap(quotient: Value) -> bool:
    """`2 * (p * y).sum() / (p.sum() + y.sum())`, `intersection / union`, in a function that is given what is meant"""
    function = enclosing_function(quotient.node)
    if not _compares_with_a_target(function):
        return False
    above, below = (_without_smoothing(quotient.at(side, ())) for side in (quotient.node.left, quotient.node.right))
    if above is None or below is None:
        return False
    if _OVERLAP.search(last_word(above.node)) and _is_union(below):
        return True
    return _is_twice(above) and _is_sum_of_two(below)


def _is_union(below: Value) -> bool:
    """What is called so, or is `a + b - intersection`."""
    node = _plain(below).node
    if _UNION.search(last_word(below.node)):
        return True
    is_less = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
    return is_less and _OVERLAP.search(last_word(node.right)) is not None and _is_sum_of_two(below.at(node.left, ()))


def _compares_with_a_target(function: ast.AST | None) -> bool:
    if not isinstance(function, ast.FunctionDef):
        return False
    given = [one.arg for one in (*function.args.args, *function.args.kwonlyargs) if one.arg != "self"]
    return any(map(_MEANT.search, given)) and any(_PREDICTED.search(one) and not _MEANT.search(one) for one in given)


def _without_smoothing(value: Value) -> Value | None:
    """`2 * intersection` of `2 * intersection + smooth`, and what a name is for"""
    for _ in range(_DEEP):
        node = value.node
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _is_small(value.at(node.right, ())):
            value = value.at(node.left, ())
        elif isinstance(node, ast.Name) and not _OVERLAP.search(node.id) and not _UNION.search(node.id):
            made = origins(value)
            if len(made) != 1 or made[0].node is None or made[0].key == value.key or made[0].path:
                return value
            value = made[0]
        elif isinstance(node, ast.Call) and last_word(node.func) in ("clamp", "clamp_min") and receiver(node):
            value = value.at(receiver(node), ())
        else:
            return value
    return None


def _is_small(value: Value) -> bool:
    return number(value) is not None or re.search(r"eps|smooth", last_word(value.node), re.IGNORECASE) is not None


def _plain(value: Value) -> Value:
    """What one thing makes."""
    if not isinstance(value.node, ast.Name):
        return value
    made = origins(value)
    return made[0] if len(made) == 1 and made[0].node is not None and not made[0].path else value


def _is_twice(value: Value) -> bool:
    """`2 * intersection`, `2 * (p * y).sum()`"""
    node = _plain(value).node
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return False
    for two, other in ((node.left, node.right), (node.right, node.left)):
        if number(value.at(two, ())) == 2:
            return _OVERLAP.search(last_word(other)) is not None or _is_summed(value.at(other, ()))
    return False


def _is_sum_of_two(value: Value) -> bool:
    node = _plain(value).node
    if _OVERLAP.search(last_word(value.node)) or not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return False
    return all(_is_summed(value.at(side, ())) for side in (node.left, node.right))


def _is_summed(value: Value) -> bool:
    node = _plain(value).node
    return isinstance(node, ast.Call) and last_word(node.func) in _SUMS


def _sign_of_noise(log: Value) -> int:
    """Of the logarithm in a PSNR: 1 of `log10(1 / mse)`, -1 of `log10(mse)`"""
    node = log.node
    given = node.args[0] if node.args else receiver(node)
    if given is None or "psnr" not in getattr(enclosing_function(node), "name", "").lower():
        return 0
    inner = _plain(log.at(given, ()))
    if isinstance(inner.node, ast.BinOp) and isinstance(inner.node.op, ast.Div):
        return 1 if _is_error(inner.at(inner.node.right, ())) else 0
    return -1 if _is_error(inner) else 0


def _is_error(value: Value) -> bool:
    """A mean of squares, or its root"""
    node = _plain(value).node
    word = last_word(getattr(node, "func", node))
    if word == "sqrt" and isinstance(node, ast.Call):
        inner = node.args[0] if node.args else receiver(node)
        return inner is not None and _is_error(_plain(value).at(inner, ()))
    is_called_so = isinstance(value.node, (ast.Name, ast.arg)) and "mse" in last_word(value.node).lower()
    return is_called_so or word in ("mse_loss", "MSELoss")


def _are_to_agree(call: ast.Call) -> bool:
    """`cosine_similarity(student, teacher)`: do names say that the two are to be alike?"""
    words = [last_word(getattr(one, "func", one)) for one in call.args[:2]]
    return len(words) == 2 and any(
        _STUDENT.search(one) and _TEACHER.search(other) and not _TEACHER.search(one)
        for one, other in (words, words[::-1])
    )
