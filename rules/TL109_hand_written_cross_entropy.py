"""Use `F.cross_entropy` instead of multiplying log-probabilities by class indices.

`-(log_p * target).sum()` is cross entropy only if `target` is one-hot. With class indices it weighs the
log-probabilities by the *number* of the class: class 0 never counts, class 9 counts nine times. It runs without an
error. `F.cross_entropy(logits, target)` takes the indices.

```python bad
logits = nn.Linear(8, 5)(x)
target = torch.randint(0, 5, (16,))
loss = -(torch.log_softmax(logits, dim=1) * target).sum()  # TL109
```
```python bad
def criterion(logits, labels):
    log_p = F.log_softmax(logits, dim=-1)
    labels = labels.long()
    return -(labels.unsqueeze(1).float() * log_p).mean()  # TL109
```
```python good
logits = nn.Linear(8, 5)(x)
target = torch.randint(0, 5, (16,))
one_hot = F.one_hot(target, 5).float()
loss = -(torch.log_softmax(logits, dim=1) * one_hot).sum()
soft = torch.softmax(teacher, dim=1)
distilled = -(F.log_softmax(logits, dim=1) * soft).sum(1).mean()
picked = -F.log_softmax(logits, dim=1)[torch.arange(16), target].mean()
bins = ((edges[:-1] < x) & (x <= edges[1:])).long()
binned = (torch.log_softmax(logits, dim=1) * bins).sum(dim=-1)
loss = F.cross_entropy(logits, target)
```

How it is found: `torchlint/source/answers/predicted.py`.
"""

import ast

from torchlint import SAME_NUMBERS, Call, Node, Origin, on_call, on_node
from torchlint.source.answers.predicted import holds_one_each, is_remainder, predicted, without_sign

read_on = ("TL101", "TL103", "torch.nn.functional.cross_entropy", "torch.gather")


@on_node("Mult", needs=("oftmax|logsumexp", "long|argmax|randint"))
def check(place: Node):
    yield from weighed(place, place.node.left, place.node.right)


@on_call(
    "torch.mul", ".mul", "torch.multiply", ".multiply", needs=("oftmax|logsumexp", "long|argmax|randint"), unknown=True
)
def called(call: Call):
    factors = call.argument("input", 0), call.argument("other", 1)
    if None not in factors:
        yield from weighed(call, *factors)


def weighed(place: Node, left: ast.expr, right: ast.expr):
    if any(isinstance(side, ast.Constant) for side in (left, right)):
        return
    if not place.says("log_softmax", "LogSoftmax", "logsumexp") and all(
        is_plain(place, call) for call in place.calls("log")
    ):
        return
    for scores, target in ((left, right), (right, left)):
        if is_log_probability(place, scores) and is_index(place, target):
            yield place.finding(
                f"`{place.short}` weighs log-probabilities by class numbers, not by a one-hot target",
                help="use `F.cross_entropy(logits, target)`",
            )
            return


def is_log_probability(place: Node, node: ast.expr) -> bool:
    for origin in map(Origin, without_sign(place.value.at(node, ()))):
        if origin.does("log_softmax") or is_normalized(origin):
            return True
        if origin.does("log"):
            inner = origin.argument("input", 0)
            if inner is not None and any(o.does("softmax") for o in origin.origins(inner)):
                return True
    return False


def is_normalized(origin) -> bool:
    """`scores - scores.logsumexp(1, keepdim=True)`, also with a name for what is taken off"""
    node = origin.node
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
        return False
    taken = origin.origins(node.right)
    return bool(taken) and all(
        o.does("logsumexp")
        and (scores := o.receiver if o.is_method else o.argument("input", 0)) is not None
        and ast.unparse(scores) == ast.unparse(node.left)
        for o in taken
    )


def is_plain(place: Node, call: Call) -> bool:
    """`math.log(2)`"""
    return (place.name(call.node.func) or "").startswith(("math.", "numpy."))


def is_index(place: Node, node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    made = place.origins(node, SAME_NUMBERS | {"[]"})  # `labels[order]` are labels
    origins = [one for origin in made for one in behind_new_axis(origin)]
    compared = None
    for origin in origins:
        made = origin.samples(SAME_NUMBERS | {"[]"}) or [origin]
        if not is_remainder(origin.value) and not all(
            o.does("randint", "long", "argmax") and not is_mask(o) and holds_one_each(o.value) for o in made
        ):
            compared = compared or predicted(place.module)
            if (origin.node, origin.path) not in compared:
                return False
    return bool(origins)


def behind_new_axis(origin) -> list:
    """`labels` of `labels[:, None]`"""
    node = origin.node
    if isinstance(node, ast.Subscript) and any(getattr(part, "value", 0) is None for part in ast.walk(node.slice)):
        return origin.origins(node.value, SAME_NUMBERS)
    return [origin]


def is_mask(origin) -> bool:
    """`((edges < x) & (x <= edges)).long()` is one-hot by itself."""
    receiver = (
        origin.node.func.value if origin.is_call(".long") and isinstance(origin.node.func, ast.Attribute) else None
    )
    for made in origin.origins(receiver, SAME_NUMBERS) if receiver is not None else ():
        if (
            made.does("one_hot")
            or not holds_one_each(made.value)
            or isinstance(made.node, (ast.Compare, ast.BinOp, ast.UnaryOp))
            or made.is_call(
                "torch.logical_and", ".logical_and", ".eq", "torch.eq", ".ge", ".lt", "torch.ge", "torch.lt"
            )
        ):
            return True
    return False
