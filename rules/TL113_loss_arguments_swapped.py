"""Give a loss the prediction first and the target second: `F.cross_entropy(logits, labels)`.

`cross_entropy` and `nll_loss` with swapped arguments raise, if somewhere else than one looks. The binary losses and
`kl_div` take both in any order, and train another thing: the loss of labels under the prediction is capped at 100 each,
and its gradient pulls the wrong way.

```python bad
loss = F.binary_cross_entropy(labels, model(x))  # TL113
```
```python fixed
loss = F.binary_cross_entropy(model(x), labels)
```
```python good
loss = F.binary_cross_entropy(model(x), labels) + F.mse_loss(labels, model(x))
```
```python bad
criterion = nn.CrossEntropyLoss()
for inputs, target in loader:
    outputs = model(inputs)
    loss = criterion(target, outputs)  # TL113
```
```python fixed
criterion = nn.CrossEntropyLoss()
for inputs, target in loader:
    outputs = model(inputs)
    loss = criterion(outputs, target)
```

Between two networks either one may be the target.

```python good
for x, y in loader:
    teacher_logits, logits, target = teacher(x), student(x), centers(x)
    loss = F.cross_entropy(logits, teacher_logits.softmax(-1)) + F.kl_div(target, logits)
    loss = F.cross_entropy(target, logits) + F.cross_entropy(input=logits, target=y)
```

What only hands two arguments on may be called with them the right way round.

```python good
class Loss:
    def __init__(self):
        self.fn = nn.CrossEntropyLoss()

    def __call__(self, target, pred):
        return self.fn(target, pred)

loss = make_loss(config)(output, target)
```
"""

import ast
import re

from torchlint import Call, on_call

read_on = ("TL402", "TL905", "torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss")
in_tests = False

TARGET = re.compile(r"(batch_)?(y|ys|targets?|labels?|gt|truth|ground_?truth|y_true|true)(_batch)?")
PREDICTION = re.compile(r"(.*_)?(outputs?|out|logits?|pred|preds|predictions?|y_pred|y_hat|scores?|probs?)")


@on_call(
    "torch.nn.functional.cross_entropy",
    "torch.nn.functional.nll_loss",
    "torch.nn.functional.binary_cross_entropy",
    "torch.nn.functional.binary_cross_entropy_with_logits",
    "torch.nn.functional.kl_div",
    "torch.nn.CrossEntropyLoss()",
    "torch.nn.NLLLoss()",
    "torch.nn.BCELoss()",
    "torch.nn.BCEWithLogitsLoss()",
    "torch.nn.KLDivLoss()",
)
def check(call: Call):
    given = call.node.args[:2]
    if len(given) < 2 or call.has_stars:
        return
    first, second = given
    if not is_target(call, first) or not is_prediction(call, second) or is_handed_on(call, first, second):
        return
    swapped = (call.replace(first, call.source(second)), call.replace(second, call.source(first)))
    yield call.finding(
        f"`{call.short}` gets its target `{call.quoted(first)}` first, where the prediction belongs",
        help=f"write `{call.quoted(second)}, {call.quoted(first)}`",
        fix=call.fix("swap them", *swapped, applicability="unsafe"),
    )


def is_handed_on(call, first, second) -> bool:
    """Are they the parameters of a function around, in their order? Who calls that may have them the other way round."""
    order = [a.arg for a in call.function.args.args] if isinstance(call.function, ast.FunctionDef) else []
    names = [n.id for n in (first, second) if isinstance(n, ast.Name) and n.id in order]
    return len(names) == 2 and order.index(names[0]) < order.index(names[1])


def is_target(call, node) -> bool:
    """Is it called a target, and computed by no network?"""
    if not TARGET.fullmatch(plain(call, node)):
        return False
    return not any(is_computed(origin) for origin in call.origins(node))


def is_prediction(call, node) -> bool:
    """Is it called a prediction, or what a model returns?"""
    if isinstance(node, ast.Call):
        return call.is_module(node.func) or call.role(node.func).seems_a("model")
    return bool(PREDICTION.fullmatch(plain(call, node)))


def is_computed(origin) -> bool:
    return isinstance(origin.node, ast.Call) and (
        origin.is_module(origin.node.func) or not any(c.name for c in origin.callees) or origin.requires_grad() is True
    )


def plain(call, node) -> str:
    """The name of a thing, behind what moves, casts or reshapes it."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and call.at(node).fact is not None:
        node = node.func.value
    return call.word(node).lower() if isinstance(node, (ast.Name, ast.Attribute)) else ""
