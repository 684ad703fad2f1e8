"""Use `torch.no_grad()` with `with` or as a decorator: alone it does nothing.

`torch.no_grad()` makes a context manager. As a statement it is made and thrown away, and gradients are recorded as
before: memory grows, and updates of parameters fail or enter the graph. `with torch.no_grad:` lacks the parentheses and
raises. Only `torch.set_grad_enabled(False)` works as a statement.

```python bad
torch.no_grad()  # TL514
output = model(x)
```
```python bad
with torch.no_grad:  # TL514
    output = model(x)
```
```python fixed
with torch.no_grad():
    output = model(x)
```
```python bad
from torch import inference_mode as fast

def evaluate(model, loader):
    fast()  # TL514
    return torch.cat([model(x) for x in loader]).detach()
```
```python bad
guard = torch.no_grad
with torch.autocast("cuda"), guard:  # TL514
    output = model(x)
```
```python bad
torch.no_grad  # TL514
torch.enable_grad()  # TL514
```

Kept, entered by hand, passed on or used as a decorator it works.

```python good
import contextlib

guard = torch.no_grad() if frozen else contextlib.nullcontext()
with guard:
    output = model(x)
torch.set_grad_enabled(False)
torch.no_grad().__enter__()
stack = contextlib.ExitStack()
stack.enter_context(torch.no_grad())

@torch.no_grad
def predict(x):
    return model(x)

@torch.inference_mode()
def score(x):
    return model(x)

evaluate = torch.no_grad()(model.forward)
```
```python good
def no_grad():
    torch.set_grad_enabled(False)

no_grad()
```
"""

import ast

from torchlint import Node, on_node

read_on = ("TL505", "TL513", "torch.no_grad")

GUARDS = ("torch.no_grad", "torch.inference_mode", "torch.enable_grad")
WORDS = ("no_grad", "inference_mode", "enable_grad")


@on_node("Expr", needs="torch")
def as_a_statement(place: Node):
    value = place.node.value
    guard = value.func if isinstance(value, ast.Call) else value
    if not isinstance(guard, ast.Name) and place.word(guard) not in WORDS:
        return
    name = place.name(guard)
    if name in GUARDS:
        recorded = name == "torch.enable_grad"
        needless = not place.no_grad if recorded else is_said_again(place)
        yield place.finding(
            f"`{place.short}` as a statement does nothing: gradients are recorded as before",
            severity="info" if needless else "warning",
            help=f"write `with {name}():` around what it is meant for, or `torch.set_grad_enabled(False)`",
        )


def is_said_again(place: Node) -> bool:
    """Does `with torch.no_grad():` come later in the function, around all that runs a model from here on?"""
    if place.function is None:
        return False
    blocks = [node for node in place.inside(ast.With, of=place.function) if place.may_follow(place.node, node)]
    guards = [item.context_expr for node in blocks for item in node.items]
    if not any(isinstance(guard, ast.Call) and place.name(guard.func) in GUARDS[:2] for guard in guards):
        return False
    later = [node for node in place.inside(ast.Call, of=place.function) if place.may_follow(place.node, node)]
    return not any(computes(call) for call in map(place.at, later) if not call.no_grad)


def computes(call) -> bool:
    """May it run a model? `model.to(device)` does not."""
    given = [*call.node.args, *(keyword.value for keyword in call.node.keywords)]
    if call.receiver is not None and call.role(call.receiver).seems_a("model"):
        return bool(given) and call.word(call.node) not in ("to", "train", "load_state_dict")
    if call.requires_grad(call.node) is True or call.role(call.node.func).seems_a("model"):
        return True
    if (call.word(call.node) or "")[:1].isupper():
        return False  # an object is made: `DataParallel(model)`
    return call.is_ours(call.node) or any(call.role(value).seems_a("model") for value in given)


@on_node("With", "AsyncWith", needs="torch")
def as_a_context(place: Node):
    for item in place.node.items:
        guard = item.context_expr
        if isinstance(guard, ast.Call) or not isinstance(guard, (ast.Name, ast.Attribute)):
            continue
        names = [
            origin.name() if isinstance(origin.node, (ast.Name, ast.Attribute, ast.alias)) else None
            for origin in place.origins(guard)
        ]
        if names and all(name in GUARDS for name in names):
            text = place.source(guard)
            yield place.finding(
                f"`with {text}:` raises: `{names[0]}` is not called",
                help=f"write `with {text}():`",
                fix=place.fix("call it", place.replace(guard, f"{text}()")),
                at=guard,
            )
