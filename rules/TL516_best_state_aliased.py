"""Copy a state that is kept: `state_dict()` returns references to the living weights.

`best = model.state_dict()` does not take a snapshot. The tensors in it are the model's own, and each optimizer step
changes them: at the end the "best" weights are the last ones, and loading them does nothing. Use
`copy.deepcopy(model.state_dict())`, clone each tensor, or save to disk. A shallow copy (`dict(…)`, `.copy()`) copies
the names only.

```python bad
best = None
for epoch in range(9):
    score = train_epoch(model)
    if best is None or score > best:
        best = score
        best_weights = model.state_dict()  # TL516
model.load_state_dict(best_weights)
```
```python fixed
import copy
best = None
for epoch in range(9):
    score = train_epoch(model)
    if best is None or score > best:
        best = score
        best_weights = copy.deepcopy(model.state_dict())
model.load_state_dict(best_weights)
```
```python bad
class EarlyStopping:
    def __init__(self):
        self.best = None
        self.state = None

    def update(self, score, model):
        if self.best is None or score > self.best:
            self.best = score
            self.state = model.state_dict().copy()  # TL516
```
```python bad
def fit(model, loader, optimizer):
    best_state, best_loss = model.state_dict(), float("inf")  # TL516
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if loss.item() < best_loss:
            best_loss = loss.item()
            best_state = {k: v for k, v in model.state_dict().items()}  # TL516
    model.load_state_dict(best_state)
```
```python bad
def snapshot(net):
    return net.state_dict()

class Keeper:
    def maybe(self, net, loss):
        if loss < self.lowest:
            self.lowest = loss
            self.best = {"epoch": 1, "model": net.state_dict()}  # TL516

for epoch in range(3):
    train_epoch(model)
    best_model_state = snapshot(model)  # TL516
```

```python bad
before = model.state_dict()  # TL516
for x, y in loader:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
model.load_state_dict(before)
```

It is no better in a list, and a second name for the model is no copy at all.

```python bad
history, by_epoch = [], {}
for epoch in range(9):
    train_epoch(model)
    history.append(model.state_dict())  # TL516
    by_epoch[epoch] = model.state_dict()  # TL516
    if epoch == 0 or evaluate(model) > best:
        best, best_model = evaluate(model), model  # TL516
model.load_state_dict(history[3])

class Average:
    def __init__(self):
        self.snapshots = []

    def add(self, net):
        self.snapshots.append(net.state_dict())  # TL516
```

A state that is copied, saved or handed on at once is right.

```python good
import copy

best_weights = copy.deepcopy(model.state_dict())
for epoch in range(9):
    score = train_epoch(model)
    if score > best:
        best_weights = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}
model.load_state_dict(best_weights)
```
```python good
for epoch in range(9):
    train_epoch(model)
    best_state = model.state_dict()
    torch.save(best_state, "model.pt")
    torch.save({"model": model.state_dict(), "epoch": epoch}, "checkpoint.pt")
target.load_state_dict(model.state_dict())
state = model.state_dict()
print({k: v.shape for k, v in state.items()})
```
```python good
states, models = [], []
for size in (8, 16, 32):
    net = nn.Linear(size, 2)
    train_epoch(net)
    states.append(net.state_dict())
    models.append(net)
    if evaluate(net) > best:
        best, best_net = evaluate(net), net
for client in clients:
    client.train()
    states.append(client.model.state_dict())
layers = []
for epoch in range(9):
    print(model.state_dict())
    layers.append(len(model.state_dict()))
```
```python good
best_checkpoint = {"model": model.state_dict()}
torch.save(best_checkpoint, "best.pt")

class Model(nn.Module):
    def state_dict(self):
        return {k: v.clone() for k, v in super().state_dict().items()}

best_state = Model().state_dict()
```
To begin again from the first weights, they must have been copied.

```python bad
net = nn.Linear(4, 2)
first = net.state_dict()  # TL516
for lr in (0.1, 0.01):
    net.load_state_dict(first)
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    for x in batches:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
```
```python good
first = nn.Linear(4, 2).state_dict()
for lr in (0.1, 0.01):
    net = nn.Linear(4, 2)
    net.load_state_dict(first)
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    for x in batches:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
```
"""

import ast
import re

from torchlint import Node, on_node

in_tests = False

KEPT = re.compile(r"best|snapshot|backup|lowest|highest|optimal|top_?(model|weights|state)|saved_(state|weights|model)")
SHALLOW = ("dict", "OrderedDict", "copy")


@on_node("Assign", "AnnAssign", needs="state_dict")
def check(place: Node):
    targets = place.node.targets if isinstance(place.node, ast.Assign) else [place.node.target]
    for target in targets:
        for name, value in _pairs(target, place.node.value):
            if not _is_kept(place, name):  # the cheap question first
                continue
            state = _state(place, value, 3)
            if state is None or _is_only_saved(place, name):
                continue
            yield place.finding(
                f"`{place.module.segment(name)}` holds references to the weights, and training changes them",
                help="keep a copy: `copy.deepcopy(…)` of the state",
                fix=_fix(place, value, state),
                at=state if state.lineno >= place.node.lineno and state.end_lineno <= place.node.end_lineno else value,
            )


@on_node("Call", needs="state_dict")
def check_collection(place: Node):
    """`history.append(model.state_dict())`"""
    call = place.node
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "appendleft", "insert") and call.args:
        value = call.args[-1]
        for part in value.elts if isinstance(value, ast.Tuple) else [value]:
            yield from _collected(place, call.func.value, part)


@on_node("Assign", needs="state_dict")
def check_entry(place: Node):
    """`states[epoch] = model.state_dict()`"""
    target = place.node.targets[0]
    if isinstance(target, ast.Subscript) and isinstance(target.slice, (ast.Name, ast.BinOp)):
        yield from _collected(place, target.value, place.node.value)


@on_node("Assign", needs="best")
def check_model(place: Node):
    """`best_model = model`"""
    for name, value in _pairs(place.node.targets[0], place.node.value):
        if (
            isinstance(name, ast.Name)
            and "best" in name.id.lower()
            and isinstance(value, ast.Name)
            and value.id != name.id
            and place.is_model(value)
        ):
            if any(isinstance(test, (ast.Compare, ast.BoolOp)) for test, _ in place.tests) and _is_trained_around(
                place, value
            ):
                yield place.finding(
                    f"`{name.id}` is another name for `{value.id}`, which goes on being trained",
                    help="keep a copy: `copy.deepcopy(…)`",
                    fix=place.fix(
                        "keep a copy",
                        place.replace(value, f"copy.deepcopy({value.id})"),
                        applicability="unsafe",
                        imports=("import copy",),
                    ),
                    at=value,
                )


def _collected(place, collection, value):
    state = _state(place, value, 3)
    if state is None or not isinstance(state.func, ast.Attribute):
        return
    model = state.func.value
    if not (_is_trained_around(place, model, collection) or _grows_from_call_to_call(place, collection, model)):
        return
    yield place.finding(
        f"each entry of `{place.module.segment(collection)}` refers to the same weights, and training changes them",
        help="keep copies: `copy.deepcopy(…)` of the state",
        fix=_fix(place, value, state),
        at=state,
    )


def _is_trained_around(place, model, collection=None) -> bool:
    """Does a loop around the place train one and the same model, into a collection that is older than the loop?"""
    for loop in place.loops:
        if _rebinds(loop, model) or isinstance(collection, ast.Name) and _rebinds(loop, collection):
            return False
        if _is_trained_by(loop, model, ("backward", "manual_backward", "step", "load_state_dict")):
            return True
    return False


def _rebinds(loop, thing) -> bool:
    while isinstance(thing, ast.Attribute):
        thing = thing.value
    return not isinstance(thing, ast.Name) or any(
        isinstance(n, ast.Name) and n.id == thing.id and not isinstance(n.ctx, ast.Load) for n in ast.walk(loop)
    )


def _is_trained_by(loop, model, methods=("backward", "manual_backward", "step")) -> bool:
    """Does a loop train a model that is older than it?"""
    if loop is None or _rebinds(loop, model):
        return False
    text = ast.unparse(model)
    for node in ast.walk(loop):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods:
            return True
        if (
            isinstance(node, ast.Call)
            and any(ast.unparse(a) == text for a in node.args)
            and re.search(r"train|fit|learn|optimi", ast.unparse(node.func).lower())
        ):
            return True
    return False


def _grows_from_call_to_call(place, collection, model) -> bool:
    """`self.snapshots.append(model.state_dict())` in a method that is given the model."""
    word = collection.attr if isinstance(collection, ast.Attribute) else ""
    return (
        bool(re.search(r"snapshot|histor|checkpoint|best|backup|swa", word.lower()))
        and isinstance(model, ast.Name)
        and "client" not in model.id
    )


def _pairs(target, value):
    if (
        isinstance(target, (ast.Tuple, ast.List))
        and isinstance(value, (ast.Tuple, ast.List))
        and len(target.elts) == len(value.elts)
    ):
        return list(zip(target.elts, value.elts))
    return [(target, value)] if value is not None else []


def _state(place, value, depth):
    """The `x.state_dict()` in a value that keeps its references."""
    if depth == 0:
        return None
    if isinstance(value, ast.Dict):
        found = [_state(place, entry, depth - 1) for entry in value.values]
        return next((f for f in found if f is not None), None)
    if isinstance(value, (ast.DictComp,)):
        items = value.generators[0].iter
        plain = isinstance(value.value, ast.Name)
        inner = (
            items.func.value
            if isinstance(items, ast.Call) and isinstance(items.func, ast.Attribute) and items.func.attr == "items"
            else None
        )
        return _state(place, inner, depth - 1) if plain and inner is not None else None
    if not isinstance(value, ast.Call):
        return None
    word = (
        value.func.attr
        if isinstance(value.func, ast.Attribute)
        else value.func.id
        if isinstance(value.func, ast.Name)
        else ""
    )
    if word in SHALLOW and isinstance(value.func, ast.Attribute) and not value.args and word == "copy":
        return _state(place, value.func.value, depth - 1)
    if (word in SHALLOW or place.name(value.func) == "copy.copy") and len(value.args) == 1:
        return _state(place, value.args[0], depth - 1)
    for origin in place.origins(value):
        if (
            not isinstance(origin.node, ast.Call)
            or not isinstance(origin.node.func, ast.Attribute)
            or origin.node.func.attr != "state_dict"
        ):
            return None
        if origin.is_optimizer(origin.node.func.value) or any(not c.name for c in origin.callees):
            return None
        if origin.is_scheduler(origin.node.func.value):
            return None
    return value


def _is_kept(place, name) -> bool:
    """Called like something to come back to, or loaded into a model again after training went on."""
    word = name.attr if isinstance(name, ast.Attribute) else name.id if isinstance(name, ast.Name) else ""
    if isinstance(name, ast.Subscript) and isinstance(name.slice, ast.Constant):
        word = str(name.slice.value)
    if KEPT.search(word.lower()):
        return True
    if _is_restored(place, name):
        return True
    guards = [test for test, _ in place.tests]
    compares = any(
        isinstance(test, (ast.Compare, ast.BoolOp)) and KEPT.search(ast.unparse(test).lower()) for test in guards
    )
    return compares and bool(word)


def _is_restored(place, name) -> bool:
    """Is it loaded into the same model again, after training went on?"""
    models = [
        n.func.value
        for n in place.inside(ast.Call)
        if isinstance(n.func, ast.Attribute) and n.func.attr == "state_dict"
    ]
    for use in place.uses(name) if models else ():
        load = use.up
        if isinstance(load, ast.Call) and isinstance(load.func, ast.Attribute) and load.func.attr == "load_state_dict":
            steps = [c.lineno for c in place.module.index.callers("step")]
            same = ast.unparse(load.func.value) == ast.unparse(models[0])
            if same and (
                any(place.node.lineno < line < use.lineno for line in steps)
                or _is_trained_by(_loop_without(place, load), load.func.value)
            ):
                return True
    return False


def _loop_without(place, load):
    """The innermost loop around a place that `place` does not stand in."""
    node = load
    while node.up is not None and not isinstance(node, (ast.FunctionDef, ast.Lambda)):
        node = node.up
        if isinstance(node, (ast.For, ast.While)) and node.lineno > place.node.lineno:
            return node
    return None


def _is_only_saved(place, name) -> bool:
    """Is it written to disk or sent away, and not loaded from the variable again?"""
    words = set()
    for use in place.uses(name):
        parent = use.up
        while not isinstance(parent, (ast.stmt, ast.Call)):
            parent = parent.up
        if isinstance(parent, ast.Call):
            words.add(parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", ""))
    return any("save" in word or word in ("dump", "put", "send") for word in words) and "load_state_dict" not in words


def _fix(place, value, state):
    return place.fix(
        "keep a copy",
        place.replace(value, f"copy.deepcopy({place.module.segment(value)})"),
        applicability="unsafe",
        imports=("import copy",),
    )
