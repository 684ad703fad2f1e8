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

Who wants what a function returns: `torchlint/source/answers/let_go.py`; what must be a tensor: `certain_tensors.py`
beside it.
"""

import ast

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.certain_tensors import has_what_tensors_have
from torchlint.source.answers.let_go import parts, unwanted_results

read_on = ("TL503", "TL514", "torch.nn.Module")

# What happens not, of calls that are written without parentheses. The receiver of most must be known, or sound like it.
OF_ALL = {"zero_grad": "no gradient is cleared", "backward": "no gradient is computed"}
OF_OPTIMIZER = {"step": "no step is taken"}
OF_MODULE = {"eval": "the model stays in train mode", "train": "the model stays in eval mode"}
OF_MODULE |= dict.fromkeys(("cuda", "cpu", "half", "float"), "nothing happens")
OF_TENSOR = dict.fromkeys(("item", "detach_", "update"), "nothing happens")
OF_SCALER = {"update": "nothing happens"}
OF_TORCH = (
    "torch.cuda.empty_cache",
    "torch.cuda.synchronize",
    "torch.cuda.reset_peak_memory_stats",
    "torch.distributed.barrier",
    "torch.distributed.destroy_process_group",
)


@on_node("Expr")
def as_a_statement(place: Node):
    for attribute in parts(place.node.value):
        yield from _dropped(place, attribute)


@on_node("Lambda", "Return")
def as_a_result(place: Node):
    """`timed(lambda: loss.backward)`"""
    value = place.node.body if isinstance(place.node, ast.Lambda) else place.node.value
    if any(isinstance(part, ast.Attribute) and _effect(place, part) for part in parts(value)):
        for attribute in unwanted_results(place.value):
            yield from _dropped(place, attribute)


def _dropped(place, attribute):
    if not isinstance(attribute, ast.Attribute):
        return
    if place.name(attribute) in OF_TORCH:
        yield _finding(place, attribute, "nothing happens")
    elif (effect := _effect(place, attribute)) and not _is_ours(place, attribute):
        yield _finding(place, attribute, effect)


def _effect(place, attribute) -> str | None:
    name, owner = attribute.attr, attribute.value
    if name in OF_ALL:
        return OF_ALL[name]
    if name in OF_OPTIMIZER and (place.role(owner).seems_a("optimizer") or place.role(owner).seems_a("scheduler")):
        return OF_OPTIMIZER[name]
    if name in OF_MODULE and place.role(owner).seems_a("model"):
        return OF_MODULE[name]
    if name in OF_TENSOR and place.is_tensor(owner):
        return OF_TENSOR[name]
    return OF_SCALER[name] if name in OF_SCALER and place.role(owner).seems_a("scaler") else None


@on_node("Call", called=("append", "print"), needs=".item")
def as_an_argument(place: Node):
    is_output = place.word() == ("append" if isinstance(place.node.func, ast.Attribute) else "print")
    for argument in place.node.args if is_output else ():
        if _is_item(argument) and place.is_tensor(argument.value):
            yield _finding(place, argument, "this is the method, not the number")


@on_call(
    ".type", ".view", ".reshape", ".expand", "torch.zeros", "torch.ones", "torch.randn", "torch.rand", unknown=True
)
def as_a_description(call: Call):
    """`x.type(y.type)`, `torch.zeros(x.size)`"""
    given, wanted = (call.node.args or [None])[0], "type" if call.word() == "type" else "size"
    if isinstance(given, ast.Attribute) and given.attr == wanted:  # an array has its size in an attribute
        if call.is_tensor(given.value) or given.attr == "type" and has_what_tensors_have(call.module, given.value):
            instead = ".dtype" if given.attr == "type" else ".size()"
            help = f"write `{call.source(given.value)}{instead}`"
            yield call.finding(f"`{call.source(given)}` is the method, not what it gives", help=help, at=given)


@on_node("BinOp", "AugAssign", holds="item")
def as_a_number(place: Node):
    node = place.node
    for part in (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,):
        if _is_item(part) and not _is_ours(place, part):
            if place.is_tensor(part.value) or getattr(part.value, "id", "").lower().endswith("loss"):
                yield _finding(place, part, "this is the method, not the number")


def _is_item(node) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "item"


def _is_ours(place, attribute) -> bool:
    """An attribute or property that the project's own class defines."""
    return any(
        not isinstance(o.node, (ast.FunctionDef, ast.AsyncFunctionDef)) and o.node is not attribute
        for o in place.origins(attribute)
    )


def _finding(place, attribute, effect: str):
    text = place.source(attribute)
    return place.finding(
        f"`{text}` is not called: {effect}",
        help=f"write `{text}()`",
        fix=place.fix("call it", place.replace(attribute, f"{text}()"), applicability="unsafe"),
        at=attribute,
    )
