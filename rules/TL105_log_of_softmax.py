"""Use `log_softmax` or `logsigmoid` instead of the logarithm of a softmax or sigmoid.

A softmax underflows to 0 for a very negative score, a sigmoid too; the logarithm turns that into -inf, and the gradient
into NaN. `F.log_softmax` and `F.logsigmoid` compute the same in one step and stay finite.

```python bad
loss = -torch.log(torch.softmax(logits, dim=1)).mean()  # TL105
```
```python fixed
loss = -F.log_softmax(logits, dim=1).mean()
```
```python bad
p = F.softmax(logits, dim=-1)
entropy = -(p * p.log()).sum(-1)  # TL105
q = torch.sigmoid(scores)
bce = -(y * torch.log(q) + (1 - y) * torch.log(1 - q)).mean()  # TL105, TL105
```
```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        return self.softmax(self.fc(x))

loss = F.nll_loss(torch.log(Net()(x)), y)  # TL105
```
```python bad
p = torch.softmax(logits, dim=1)
loss = -torch.log(p[torch.arange(len(y)), y]).mean()  # TL105
loss = -p.gather(1, y.unsqueeze(1)).squeeze(1).log().mean()  # TL105
```
```python good
p = torch.softmax(logits, dim=1)
positive = torch.log(p[p > 0])
safe = torch.log(p + 1e-8)
clamped = torch.log(p.clamp(min=1e-6)) + p.clamp_min(1e-6).log() + torch.clamp(p, 1e-6).log()
ratio = torch.log1p(torch.sigmoid(logits))
positive = torch.log(torch.exp(logits) + 1)
mixed = torch.log(0.5 * torch.softmax(a, 1) + 0.5 * torch.softmax(b, 1))
with torch.no_grad():
    perplexity = torch.exp(-(p * torch.log(p + 1e-10)).sum())
```
```python good
log_p = torch.log(torch.softmax(scores, dim=1))
log_p = torch.where(torch.isfinite(log_p), log_p, torch.finfo(log_p.dtype).min)
entropy = torch.nan_to_num(torch.softmax(scores, dim=1).log())
picked = torch.softmax(scores, dim=1).gather(1, y)
picked.data.clamp_(0.01, 0.99)
loss = -picked.log().mean()
with torch.no_grad():
    p = torch.sigmoid(scores)
    p.clamp_(1e-6, 1 - 1e-6)
    p.log()
```

What is written over before anybody reads it does no harm.

```python good
def log_of(scores):
    p = F.softmax(scores, dim=-1)
    log_p = torch.log(p)
    log_p = torch.log(p + (p == 0).float() * 1e-8)
    return log_p
```

In float64, and where a constant of 1 or more is added before a sigmoid, only scores far from all others underflow: this
is a remark. So is a logarithm where nothing around it speaks of a loss, or of the probability of an action that was taken.

How what is done about it is found: `torchlint/source/answers/handled_infinities.py`; which scores are far away:
`late_underflows.py` beside it.
"""

import ast
import re

from torchlint import SAME_NUMBERS, Call, named, on_call
from torchlint.source.answers.handled_infinities import is_handled, is_kept_away_where_made, only_scores
from torchlint.source.answers.late_underflows import underflows_late

read_on = ("TL101", "TL103", "torch.nn.functional.log_softmax", "torch.nn.functional.logsigmoid")
in_tests = False

# Also those that are picked by their places; a mask may pick the positive ones.
SAME = SAME_NUMBERS | named("picks")
JOINS = named("joins")
HAS_STABLE = re.compile(r"torch\.(?:nn\.functional\.)?(?:softmax|sigmoid)")


@on_call("torch.log", "torch.log2", "torch.log10", ".log", needs="softmax|sigmoid|Softmax|Sigmoid", unknown=True)
def check(call: Call):
    argument = call.argument("input", 0)
    if argument is None or is_handled(call.module, call.node, argument):
        return
    complement = (
        isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Sub) and isinstance(argument.left, ast.Constant)
    )
    for origin in picked_from(call, argument.right if complement else argument):
        was_drawn = is_drawn(call, argument)
        if is_of_plain_numbers(origin) or (call.no_grad and was_drawn):
            continue
        softmax = origin.does("softmax")
        is_one = (softmax and not complement) or origin.does("sigmoid")
        if is_one and not is_kept_away_where_made(origin.value):
            is_far = not complement and underflows_late(origin.value, origin.argument("input", 0))
            cure = "F.log_softmax" if softmax else "F.logsigmoid(-x)" if complement else "F.logsigmoid"
            called = call.called(origin, "input", 0)
            called = f"1 - {called}" if complement and called == origin.short else called
            gradient = "" if call.no_grad else ", and its gradient NaN"
            yield call.finding(
                f"the logarithm of `{called}` is -inf where it underflows to 0{gradient}",
                help=f"use `{cure}` on the scores",
                fix=fused(call, origin, argument),
                notes=[] if origin.node.lineno == call.node.lineno else [call.note(origin, "computed here")],
                severity="info" if was_drawn or is_far or only_scores(call.module, call.node) else "warning",
            )
            return


def picked_from(call: Call, argument: ast.expr, depth=2):
    """Where the probabilities come from, also those of `p[range(n), y]`, and of each part of `torch.stack([p, q])`."""
    for origin in call.origins(argument, SAME):
        if isinstance(origin.node, ast.Subscript) and isinstance(origin.node.slice, ast.Tuple):
            yield from origin.origins(origin.node.value, SAME)
        elif depth and origin.is_call(*JOINS):
            for part in (part for made in origin.argument_origins("tensors", 0) for part in made.pieces):
                if part.module is not call.module or not is_handled(call.module, call.node, part.node):
                    yield from picked_from(part, part.node, depth - 1)
        else:
            yield origin


def is_drawn(call: Call, argument: ast.expr) -> bool:
    """Is it the probability of what was drawn by it, as in `p.gather(1, p.multinomial(1))`, or of an action that was
    taken? It has not become 0.
    """
    named = [
        n for node in (argument, *(o.node for o in call.origins(argument))) for n in call.inside(ast.Name, of=node)
    ]
    return any("sampl" in name.id or "action" in name.id or any(map(draws, call.origins(name))) for name in named)


def draws(origin) -> bool:
    """Is it a call of what draws: `torch.multinomial`, a distribution's `sample`?"""
    return isinstance(origin.node, ast.Call) and ("sampl" in origin.word() or bool(origin.fact and origin.fact.random))


def is_of_plain_numbers(origin: Call) -> bool:
    """Is it of numbers that are near to 0, as the entries of a table are?"""
    scores = origin.argument("input", 0)
    made = list(origin.origins(scores, SAME)) if scores is not None else []
    return bool(made) and all(score.does("arange", "linspace", "tanh") or is_kept_near(score) for score in made)


def is_kept_near(score: Call) -> bool:
    """`torch.logit(p, eps=1e-4)` ends at the logits of 1e-4 and of its complement."""
    return score.is_call("torch.logit", ".logit") and score.argument("eps", 1) is not None


def fused(call: Call, origin: Call, argument: ast.expr):
    """`torch.log(torch.softmax(x, dim=1))` becomes `F.log_softmax(x, dim=1)`."""
    names = [name for name in origin.names if HAS_STABLE.fullmatch(name)]
    given = len(call.node.args) + len(call.node.keywords)
    if origin.node is not argument or not names or not call.is_call("torch.log", ".log") or given > 1:
        return None
    [name, *_] = names
    word = name.rpartition(".")[2]
    # `torch.softmax` takes the dtype third, `F.log_softmax` does not; neither of those in F writes into `out`.
    most = 1 if word == "sigmoid" else 4 if "functional" in name else 2
    if origin.has_stars or len(origin.node.args) > most or origin.argument("out", most) is not None:
        return None
    if word == "sigmoid" and "float" not in (origin.dtype(origin.argument("input", 0)) or "float"):
        return None  # `torch.sigmoid` takes integers and truth values too, `F.logsigmoid` does not
    stable = f"torch.nn.functional.log{'' if word == 'sigmoid' else '_'}{word}"
    written, imports = call.spelled(stable, origin.node.func, usual="import torch.nn.functional as F")
    arguments = origin.source(origin.node)[len(origin.source(origin.node.func)) :]
    return call.fix(f"use {written}", call.replace(call.node, written + arguments), imports=imports)
