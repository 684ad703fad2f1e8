"""Keep what you compute: `mask * weights` as a statement changes nothing.

Python computes it, gives it to nobody, and goes on: the mask is not weighted, the average stays at its first value, and
a term of a loss that stands on a line of its own is not in the loss. It is said where that is all that a branch does,
or where the name is read on as if it had changed.

```python bad
def consistency(loss, weights, mask=None):
    if mask is None:
        mask = weights
    else:
        mask * weights  # TL717
    return (loss * mask).mean()

def repulsion(points, radius):
    points / float(radius)  # TL717
    return torch.relu(1.5 - torch.cdist(points, points)).sum()
```
```python fixed
def consistency(loss, weights, mask=None):
    if mask is None:
        mask = weights
    else:
        mask = mask * weights
    return (loss * mask).mean()

def repulsion(points, radius):
    points = points / float(radius)
    return torch.relu(1.5 - torch.cdist(points, points)).sum()
```

```python bad
def shift(betas, mean=None):
    if mean is not None:
        betas[0] + mean  # TL717
    return betas

def average(slow, fast, keep):
    for old, new in zip(slow.parameters(), fast.parameters()):
        before, after = old.data, new.data
        if before is None:
            old.data = after
        else:
            before * keep + (1 - keep) * after  # TL717
```

A sum ends with its line, unless it stands in parentheses.

```python bad
def elbo(x, target, mu, log_var, beta):
    likelihood = F.mse_loss(x, target)
    kl = -0.5 * (1 + log_var - mu.pow(2) - log_var.exp()).sum()
    loss = likelihood
    + beta * kl  # TL717
    total = -likelihood.log()
    - kl  # TL717
    return loss, total
```
```python good
def elbo(x, target, mu, log_var, beta):
    kl = (
        -0.5 * (1 + log_var - mu.pow(2) - log_var.exp()).sum()
        - 1
    )
    return F.mse_loss(x, target) \\
        + beta * kl
```

What nobody reads on was left by a clean-up, a difference is another thing than what it is taken from, and an operator
may be there for its error or for its time.

```python good
def right_part(weight, rank, is_right):
    u, s, v = torch.linalg.svd(weight)
    if is_right:
        u[:, :rank] @ torch.diag(s[:rank])
        part = v[:rank]
        return part
    else:
        return u[:, :rank]

def channels(outputs, start, end):
    end - start
    2 * end + 1
    return outputs[:, start:end]

def fits(a, b):
    try:
        a + b
    except RuntimeError:
        return False
    return a.dim() == b.dim()

class Graph:
    def __init__(self, steps):
        self.steps = steps

"a" + "b"
```
```python good
import time

def measure(a, b):
    start = time.perf_counter()
    a @ b
    return time.perf_counter() - start, a
```

Who reads on, and where nobody wants the result: `torchlint/source/answers/lost_sums.py`.
"""

from torchlint import Node, on_node
from torchlint.source.answers.lost_sums import lost_sum

read_on = ("TL304", "TL513", "torch.mul")
in_tests = False


@on_node("Expr", value=("BinOp", "UnaryOp"))
def check(place: Node):
    is_shown = place.function is None and place.module.path.endswith(".ipynb")  # what stands last in a cell
    if is_shown or (lost := lost_sum(place.module, place.node)) is None:
        return
    said = place.quoted(place.node.value)
    if lost.of is not None:
        yield place.finding(
            f"`{said}` is a statement of its own, and adds nothing to the line above",
            help="put the sum in parentheses, so that it goes on in the next line",
            notes=[place.note(lost.of, "this sum has ended")],
        )
        return
    name = place.source(lost.kept_in) if lost.kept_in is not None else ""
    edit = place.replace(place.node, f"{name} = {place.source(place.node)}") if name else None
    yield place.finding(
        f"what `{said}` gives is dropped" + (f": `{name}` stays as it is" if name else ""),
        help=f"write `{name} = {said}`" if name else "keep what it gives",
        fix=place.fix("keep it", edit, applicability="unsafe") if edit else None,
    )
