"""Change parameters and other leaves under `torch.no_grad()` only.

A leaf is a tensor that you made to be learned: an `nn.Parameter`, or a tensor created with `requires_grad=True`.
Changing it in place while autograd is watching raises "a leaf Variable that requires grad is being used in an in-place
operation". Put the update into a `with torch.no_grad():` block; the functions of `nn.init` do that themselves.

```python bad
w = torch.randn(3, requires_grad=True)
for x, y in data:
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    w -= 0.1 * w.grad  # TL202
    w.grad = None
```
```python fixed
w = torch.randn(3, requires_grad=True)
for x, y in data:
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
```
```python bad
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(3, 3))
        self.embedding = nn.Embedding(10, 3)
        self.reset_parameters()

    def reset_parameters(self):
        self.weight.normal_()  # TL202
        self.embedding.weight[0] = 0  # TL202

    def forward(self, x):
        return x @ self.weight
```
```python bad
model = nn.Linear(3, 1)
loss.backward()
for p in model.parameters():
    p -= 0.1 * p.grad  # TL202
```
```python good
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(3, 3))
        self.scale = nn.Parameter(torch.ones(3), requires_grad=False)
        self.fc = nn.Linear(3, 3)
        nn.init.normal_(self.weight)
        self.weight.data.uniform_(-1, 1)
        self.fc.weight.data[0] = 0
        self.scale *= 2
        with torch.no_grad():
            self.fc.weight.zero_()

w = torch.randn(3, requires_grad=True)
v = w * 2
v += 1
w.grad.zero_()
```
```python good
@torch.no_grad()
def update(teacher, student):
    for p, q in zip(teacher.parameters(), student.parameters()):
        p.mul_(0.9).add_(q, alpha=0.1)

teacher = nn.Linear(3, 1)
for p in teacher.parameters():
    p.requires_grad = False
for p in teacher.parameters():
    p.mul_(0.5)

torch.set_grad_enabled(False)
```

An index that is a tensor makes a copy; whole numbers and slices make a view.

```python good
class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(10))

    def forward(self, words):
        return self.bias[words].masked_fill_(words == 0, 0.0)
```
```python bad
class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(10))

    def forward(self, words):
        self.bias[1:, None].zero_()  # TL202
        self.bias[words] = 0.0  # TL202
        return self.bias
```

How it is found: `torchlint/source/answers/inplace.py`.
"""

import ast

from torchlint import Change, on_inplace
from torchlint.source.answers.inplace import changed_leaf

read_on = ("TL201", "TL204", "torch.no_grad", "notes/autograd#locally-disabling-gradient-computation")
across_files = False


@on_inplace(needs="requires_grad|Parameter|Embedding|parameters|nn.")
def check(change: Change):
    made = changed_leaf(change.module, change.tensor)
    if made is None or change.no_grad:
        return
    leaf = change.at(made)
    if frozen(change, leaf) or change.may_be_without_grad or asks_whether(change):
        return
    name = ast.unparse(change.tensor)
    at = (
        None
        if leaf.node.lineno == change.node.lineno and leaf.module is change.module
        else change.note(leaf, "this makes it a leaf that is learned")
    )
    yield change.finding(
        f"`{name}` is a leaf that requires grad and is changed in place: torch refuses that",
        help="do it under `with torch.no_grad():`",
        fix=under_no_grad(change) if is_all_of_it(change) else None,
        notes=[at] if at else [],
        severity="error",
    )


def is_all_of_it(change: Change) -> bool:
    """Does its statement do nothing besides? What else it computes, or the block that it heads, may need gradients."""
    value = getattr(change.statement, "value", None)
    while isinstance(value, ast.Call) and value is not change.node:  # `w.mul_(2).add_(1)`
        value = value.func.value if change.word(value).endswith("_") and isinstance(value.func, ast.Attribute) else None
    return change.node in (change.statement, value) or change.node in getattr(change.statement, "targets", ())


def under_no_grad(change: Change):
    context, imports = change.spelled("torch.no_grad")
    edits = change.wrap(change.statement, change.statement, f"with {context}():")
    return change.fix("put it under torch.no_grad()", edits, imports=imports)


def asks_whether(change: Change) -> bool:
    """Does it run only where something does not require grad: `if not p.requires_grad:`?"""
    for test, truth in change.tests:
        negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        asked = test.operand if negated else test
        if isinstance(asked, ast.Attribute) and asked.attr == "requires_grad" and truth == negated:
            return True
    return False


def frozen(change: Change, leaf) -> bool:
    """Is it frozen under its own name? Where a file freezes parameters, which ones a loop over `parameters()` meets is
    not known."""
    loop = (
        isinstance(leaf.node, ast.Call)
        and isinstance(leaf.node.func, ast.Attribute)
        and leaf.node.func.attr in ("parameters", "named_parameters")
    )
    made_elsewhere = isinstance(leaf.node, ast.Attribute)
    name = ast.unparse(change.tensor)
    if change.says(f"{name}.requires_grad = False", f"{name}.requires_grad_(False)"):
        return True
    return (loop or made_elsewhere) and change.says("requires_grad_(False)", "requires_grad = False", ".detach_()")
