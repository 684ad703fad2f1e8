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
beside it; and errors that are made and not raised, `ValueError("unknown mode")` as a statement: `errors_let_go.py`.
What does not happen then: `lost_effects.py`.
"""

import ast

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.certain_tensors import has_what_tensors_have
from torchlint.source.answers.errors_let_go import error_made, error_returned
from torchlint.source.answers.let_go import parts, unwanted_results
from torchlint.source.answers.lost_effects import WITHOUT_OBJECTS, lost_effect

read_on = ("TL503", "TL514", "torch.nn.Module")


@on_node("Expr")
def as_a_statement(place: Node):
    for attribute in parts(place.node.value):
        yield from _dropped(place, attribute)


@on_node("Expr", needs="Error|Exception|Warning")
def as_an_error(place: Node):
    """`ValueError("unknown mode")`"""
    if (made := error_made(place.module, place.node.value)) is not None:
        text, is_warning = place.source(made), place.word(made).endswith("Warning")
        written, imports = (f"warnings.warn({text})", ("import warnings",)) if is_warning else (f"raise {text}", ())
        fix = place.fix("raise it", place.replace(made, written), applicability="unsafe", imports=imports)
        help = f"write `{'warnings.warn' if is_warning else 'raise'}` before it"
        yield place.finding(f"`{place.word(made)}` is made and not raised: nothing happens", help=help, fix=fix)


@on_node("Return", value=("Call", "Name"), needs="Error|Exception")
def as_an_answer(place: Node):
    """`return NotImplementedError`"""
    if (made := error_returned(place.module, place.node)) is not None:
        yield place.finding(
            f"`{place.word(made)}` is returned, not raised: callers go on with it", help="write `raise` for `return`"
        )


@on_node("Lambda", "Return")
def as_a_result(place: Node):
    """`timed(lambda: loss.backward)`"""
    value = place.node.body if isinstance(place.node, ast.Lambda) else place.node.value
    if any(isinstance(part, ast.Attribute) and lost_effect(place.module, part) for part in parts(value)):
        for attribute in unwanted_results(place.value):
            yield from _dropped(place, attribute)


def _dropped(place, attribute):
    if not isinstance(attribute, ast.Attribute):
        return
    if place.name(attribute) in WITHOUT_OBJECTS:
        yield _finding(place, attribute, "nothing happens")
    elif (effect := lost_effect(place.module, attribute)) and not _is_ours(place, attribute):
        yield _finding(place, attribute, effect)


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
