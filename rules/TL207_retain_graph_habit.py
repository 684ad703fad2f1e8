"""Leave out `retain_graph=True` where backward runs once.

With `retain_graph=True` everything that the forward pass kept stays in memory after backward. That is needed only if
backward runs through the same graph again. As a habit, or as a cure for "Trying to backward through the graph a second
time", it costs memory and hides the real mistake, mostly a state that was not detached (TL205) or a value computed once
before the loop (TL206).

The rule is off by default: whether somebody needs the graph later is not always to be seen.

```python bad
def train(model, loader, optimizer):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)  # TL207
        optimizer.step()
```
```python fixed
def train(model, loader, optimizer):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
```
```python good
def train(model, critic, loader, optimizer):
    for x, y in loader:
        out = model(x)
        optimizer.zero_grad()
        F.cross_entropy(out, y).backward(retain_graph=True)
        critic(out).mean().backward()
        optimizer.step()

def meta(model, x, y):
    inner = F.cross_entropy(model(x), y)
    inner.backward(create_graph=True, retain_graph=True)
    penalty = torch.autograd.grad(inner, list(model.parameters()))
    return penalty

def saliency(out, classes):
    for c in classes:
        out[c].backward(retain_graph=True)

def step(loss, last):
    loss.backward(retain_graph=not last)

def first(loss):
    loss.backward(retain_graph=True)
    return loss
```
```python good surgery.py
def gradients(objectives):
    for objective in objectives:
        objective.backward(retain_graph=True)
```
```python good main.py
import torch
from surgery import gradients

model = torch.nn.Linear(3, 2)
out = model(x)
gradients([out.norm(), out.pow(2).mean()])
```

How it is found: `torchlint/source/answers/last_backwards.py`.
"""

import ast

from torchlint import Call, on_call
from torchlint.source.answers.last_backwards import is_last_backward

read_on = ("TL206", "torch.Tensor.backward")
default = False


@on_call(".backward", ".manual_backward", "torch.autograd.backward", needs="retain_graph", unknown=True)
def check(call: Call):
    for keyword in call.node.keywords:
        if (
            keyword.arg == "retain_graph"
            and isinstance(keyword.value, ast.Constant)
            and keyword.value.value is True
            and is_last_backward(call.module, call.node)
        ):
            yield call.finding(
                "the graph is kept after this backward, and nothing runs through it again",
                help="leave `retain_graph=True` out",
                fix=call.fix("free the graph", call.without_argument(keyword), applicability="unsafe"),
            )
