"""Set `requires_grad` on the finished tensor: what is computed from a leaf is no leaf.

Gradients are kept for leaves only: the tensors you make, not the results of operations on them. `torch.randn(3,
requires_grad=True) * 0.1`, and the copy that `.to(device)` or `.cuda()` makes, are results: an optimizer refuses them,
their `.grad` stays None, and a module does not know them as parameters. On a CPU `.to(device)` returns the leaf itself,
so that it fails on the GPU first. Move, cast and scale before.

```python bad
latent = torch.randn(1, 8, requires_grad=True) * 0.02  # TL210
optimizer = torch.optim.Adam([latent], lr=0.05)
```
```python fixed
latent = (torch.randn(1, 8) * 0.02).requires_grad_()
optimizer = torch.optim.Adam([latent], lr=0.05)
```
```python bad
def attack(model, image, device):
    delta = torch.zeros(1, 3, 8, 8, requires_grad=True).to(device)  # TL210
    loss = model(image + delta).sum()
    loss.backward()
    return delta.grad.sign()
```
```python bad
start = torch.rand(4, 4, requires_grad=True)
moved = start.cuda()  # TL210
settings = [{"params": [moved]}]
optimizer = torch.optim.SGD(settings, lr=0.1)
```
```python bad
class Layer(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 3)).to(device)  # TL210
        self.scale = nn.Parameter(torch.ones(3)) * 0.1  # TL210

    def forward(self, x):
        return x @ self.weight * self.scale
```
```python fixed
class Layer(nn.Module):
    def __init__(self, device):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 3).to(device))
        self.scale = nn.Parameter(torch.ones(3) * 0.1)

    def forward(self, x):
        return x @ self.weight * self.scale
```

Results that are only computed with are right, and so is a move that changes nothing.

```python good
raw = torch.randn(5, requires_grad=True)
scale = raw.exp() * 2
same = torch.randn(5, requires_grad=True).to("cpu").to(torch.float32).contiguous()
loss = (scale * same).sum()
loss.backward()
print(raw.grad, same.grad)
moved = torch.randn(3, device="cuda").requires_grad_()
optimizer = torch.optim.Adam([raw, moved], lr=0.1)
kept = torch.randn(3, requires_grad=True) * 2
kept.retain_grad()
kept.sum().backward()
print(kept.grad)

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3, 3).cuda())
        self.bias = nn.Parameter(torch.zeros(3)).requires_grad_(False)

    def forward(self, x):
        doubled = self.weight * 2
        return x @ doubled + self.bias
```

What is put into `.data` fills a parameter that is there.

```python good
class Net(nn.Module):
    def __init__(self, values):
        super().__init__()
        self.embedding = nn.Embedding(4, 3)
        self.embedding.weight.data = nn.Parameter(values).to(device)
```

How it is found: `torchlint/source/answers/non_leaves.py`.
"""

import ast

from torchlint import Node, on_node
from torchlint.source.answers.non_leaves import made_non_leaf

read_on = ("TL202", "TL209", "torch.Tensor.is_leaf", "torch.Tensor.requires_grad_")
in_tests = False

WHY = {
    "optimizer": "an optimizer refuses it",
    "grad": "its `.grad` stays None",
    "parameter": "the module does not know it as a parameter",
}


@on_node(
    "Assign",
    value=("Call", "BinOp", "UnaryOp", "List", "Tuple", "ListComp", "Dict", "DictComp"),
    needs="requires_grad|Parameter",
)
def check(node: Node):
    found = made_non_leaf(node.module, node.node)
    if found is None:
        return
    is_element = found.made.node is not node.node.value  # of a list that an optimizer is given
    name = ast.unparse(found.made.node if is_element else node.node.targets[0])
    parameter = found.why == "parameter"
    yield node.finding(
        f"`{name}` is computed from a leaf and is none itself: {WHY[found.why]}",
        help=(
            "compute first, then make it a"
            f" {'parameter: `nn.Parameter(…)` around all of it' if parameter else 'leaf: `(…).requires_grad_()`'}"
        ),
        fix=None if is_element else leaf_last(node, found),
        notes=[] if parameter else [node.note(found.use, "a leaf is needed here")],
        severity="error" if found.why == "optimizer" else "info" if is_shown(node, found) else "warning",
        at=found.made.node,
    )


def is_shown(node: Node, found) -> bool:
    """Does a lesson only show the gradient: a notebook, or what shows `is_leaf`, too? It lets readers see the None."""
    name = node.source(found.use)
    is_lesson = node.module.path.endswith(".ipynb") or f"{name}.is_leaf" in node.module.index.text
    if found.why != "grad" or not is_lesson:
        return False
    reads = [n for n in node.inside(ast.Attribute, of=node.module.tree) if n.attr == "grad"]
    return all(is_printed(read) for read in reads if node.source(read.value) == name)


def is_printed(read: ast.Attribute) -> bool:
    around: ast.AST = read
    while isinstance(around.up, (ast.Call, ast.Tuple, ast.FormattedValue, ast.JoinedStr)):
        around = around.up
    printed = not isinstance(around, ast.Call) or ast.unparse(around.func) in ("print", "display")
    return isinstance(around.up, ast.Expr) and printed


def leaf_last(node: Node, found):
    """`zeros(3, requires_grad=True) * a` becomes `(zeros(3) * a).requires_grad_()`, `Parameter(x).to(d)` becomes
    `Parameter(x.to(d))`.
    """
    whole, leaf = node.node.value, found.leaf.node
    if not any(inner is leaf for inner in ast.walk(whole)) or any(isinstance(a, ast.Starred) for a in leaf.args):
        return None
    text, inner = node.source(whole), node.source(leaf)
    if found.why == "parameter":
        if len(leaf.args) != 1 or leaf.keywords or not isinstance(leaf.args[0], (ast.Call, ast.Name)):
            return None
        made = text.replace(inner, node.source(leaf.args[0]), 1)
        return node.fix(
            "make the parameter last",
            node.replace(whole, f"{inner[: inner.index('(')]}({made})"),
            applicability="unsafe",
        )
    given = [k for k in leaf.keywords if k.arg == "requires_grad"]
    if not given or "\n" in inner:
        return None
    others = [node.source(a) for a in leaf.args] + [
        f"{k.arg}={node.source(k.value)}" for k in leaf.keywords if k.arg and k is not given[0]
    ]
    made = text.replace(inner, f"{node.source(leaf.func)}({', '.join(others)})", 1)
    made = made if isinstance(whole, ast.Call) else f"({made})"
    return node.fix("set requires_grad last", node.replace(whole, f"{made}.requires_grad_()"), applicability="unsafe")
