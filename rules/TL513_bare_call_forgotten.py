"""Call it: `model.eval` without parentheses does nothing.

`optimizer.zero_grad`, `loss.backward`, `optimizer.step`, `model.eval` name a method; only `()` runs it. Python accepts
a name as a statement and drops it, so nothing fails: the model is simply not trained, or evaluated with dropout.

```python bad
model = nn.Linear(4, 2)
model.eval  # TL513
```
```python fixed
model = nn.Linear(4, 2)
model.eval()
```
```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad  # TL513
    loss = F.mse_loss(model(x), y)
    loss.backward  # TL513
    optimizer.step()
```
```python bad
class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 9)

    def step(self, x):
        self.optimizer.zero_grad()
        self.net(x).sum().backward()
        self.optimizer.step  # TL513
        self.scheduler.step  # TL513
```

```python bad
torch.cuda.synchronize  # TL513
torch.cuda.empty_cache  # TL513
```

The same where the result would be used:

```python bad
losses = []
for x, y in loader:
    loss = F.mse_loss(model(x), y)
    losses.append(loss.item)  # TL513
    print("loss", loss.item)  # TL513
    total = total + loss.item  # TL513
```

Other attributes may be looked at for their effect, methods handed over, and properties that go by these names exist.

```python good
class Batch:
    @property
    def train(self):
        self.used = True

model = nn.Linear(4, 2)
model.training
"loss.backward"
...
Batch().train
step = model.eval
hooks = [model.train, model.eval]
for hook in hooks:
    hook()
register(callback=model.eval)
```
"""

import ast

from torchlint import Node, on_node

# What nobody looks at without calling it, whoever has it.
ALWAYS = ("zero_grad", "backward")
# What is called so by other objects too: the receiver must be known or sound like it.
OF_OPTIMIZER = ("step",)
OF_TORCH = (
    "torch.cuda.empty_cache",
    "torch.cuda.synchronize",
    "torch.cuda.reset_peak_memory_stats",
    "torch.distributed.barrier",
    "torch.distributed.destroy_process_group",
)
OF_MODULE = ("eval", "train", "cuda", "cpu", "half", "float")


@on_node("Expr")
def as_a_statement(place: Node):
    attribute = place.node.value
    if not isinstance(attribute, ast.Attribute):
        return
    if place.name(attribute) in OF_TORCH:
        yield _finding(place, attribute, "is not called: nothing happens")
        return
    if _is_ours(place, attribute):
        return
    name = attribute.attr
    if name in ALWAYS or (
        name in OF_OPTIMIZER and (place.is_optimizer(attribute.value) or place.is_scheduler(attribute.value))
    ):
        effect = {"zero_grad": "no gradient is cleared", "backward": "no gradient is computed"}.get(
            name, "no step is taken"
        )
    elif name in OF_MODULE and place.is_model(attribute.value):
        effect = (
            f"the model stays in {'train' if name == 'eval' else 'eval'} mode"
            if name in ("eval", "train")
            else "nothing happens"
        )
    elif name in ("item", "detach_", "update") and (
        place.is_tensor(attribute.value) or name == "update" and place.kinds(attribute.value) == {"scaler"}
    ):
        effect = "nothing happens"
    else:
        return
    yield _finding(place, attribute, f"is not called: {effect}")


@on_node("Call", needs=".item")
def as_an_argument(place: Node):
    call = place.node
    is_output = (
        isinstance(call.func, ast.Name)
        and call.func.id == "print"
        or isinstance(call.func, ast.Attribute)
        and call.func.attr == "append"
    )
    for argument in call.args if is_output else ():
        if isinstance(argument, ast.Attribute) and argument.attr == "item" and place.is_tensor(argument.value):
            yield _finding(place, argument, "is not called: this is the method, not the number")


@on_node("BinOp", "AugAssign", needs=".item")
def as_a_number(place: Node):
    node = place.node
    for part in (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,):
        if (
            isinstance(part, ast.Attribute)
            and part.attr == "item"
            and (place.is_tensor(part.value) or _sounds_like_a_loss(part.value))
            and not _is_ours(place, part)
        ):
            yield _finding(place, part, "is not called: this is the method, not the number")


def _sounds_like_a_loss(node) -> bool:
    return isinstance(node, ast.Name) and node.id.lower().endswith("loss")


def _is_ours(place, attribute) -> bool:
    """An attribute or property that the project's own class defines."""
    return any(
        not isinstance(o.node, (ast.FunctionDef, ast.AsyncFunctionDef)) and o.node is not attribute
        for o in place.origins(attribute)
    )


def _finding(place, attribute, what: str):
    text = f"{place.module.segment(attribute)}"
    return place.finding(
        f"`{text}` {what}",
        help=f"write `{text}()`",
        fix=place.fix("call it", place.replace(attribute, f"{text}()"), applicability="unsafe"),
        at=attribute,
    )
