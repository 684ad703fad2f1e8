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

    def restore(self, model):
        model.load_state_dict(self.state)
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

def weights_of(trainer):
    best_model = trainer.model.state_dict()
    return best_model

from apex import amp
best, checkpoint = 0.0, {}
for epoch in range(9):
    score = train_epoch(model)
    if score > best:
        best = score
        checkpoint["model"] = model.state_dict()
        history = {"amp": amp.state_dict()}
        torch.save(checkpoint, "best.pt")
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

An average or a target network that is to follow a model must be a copy, too: `average = model` follows itself.

How living weights are found: `torchlint/source/answers/aliased_weights.py`; who wants them: `wanted_states.py` and
`dropped_results.py` beside it; what follows itself: `own_averages.py`.
"""

from torchlint import Node, on_node
from torchlint.source.answers.aliased_weights import collected_states, kept_models, kept_states
from torchlint.source.answers.own_averages import becomes_its_model, own_averages
from torchlint.source.answers.wanted_states import does_harm, is_never_renewed

read_on = ("TL804", "torch.nn.Module", "notes/serialization")
in_tests = False


@on_node("Call", called=("update",), needs="state_dict")
@on_node("Assign", "AnnAssign", needs="state_dict")
def kept(place: Node):
    """`best = model.state_dict()`, `best.update(weights=model.state_dict())`"""
    for kept in kept_states(place.module, place.node):
        holder = place.source(kept.holder)
        yield _finding(place, kept, f"`{holder}` holds references to the weights, and training changes them")


@on_node("Call", called=("append", "appendleft", "insert"), needs="state_dict")
@on_node("Assign", needs="state_dict")
def collected(place: Node):
    """`history.append(model.state_dict())`, `states[epoch] = model.state_dict()`"""
    for kept in collected_states(place.module, place.node):
        holder = place.source(kept.holder)
        message = f"each entry of `{holder}` refers to the same weights, and training changes them"
        yield _finding(place, kept, message, help="keep copies: `copy.deepcopy(…)` of the state")


@on_node("Assign", needs="best")
def another_name(place: Node):
    """`best_model = model`"""
    for kept in kept_models(place.module, place.node):
        holder, model = place.source(kept.holder), place.source(kept.value)
        message = f"`{holder}` is another name for `{model}`, which goes on being trained"
        yield _finding(place, kept, message, help="keep a copy: `copy.deepcopy(…)`")


@on_node("Call", called=("load_state_dict",), needs="state_dict")
@on_node("For", needs="parameters|state_dict")
def followed(place: Node):
    """`average = model`, and then `for a, p in zip(average.parameters(), model.parameters()): a.lerp_(p, 0.1)`"""
    for found in own_averages(place.module, place.node):
        average, model = place.source(found.average), place.source(found.model)
        yield place.finding(
            f"`{average}` is `{model}` itself: what is to follow it has the same weights",
            help="let it be a model of its own: `copy.deepcopy(…)` where it is made",
            notes=[found.made.module.note(found.made.node, "both are this model")],
            at=found.update,
        )


@on_node("Assign", needs="target|ema|average")
def becomes(place: Node):
    """`self.target = self.policy`, to bring the target network up to date"""
    found = becomes_its_model(place.module, place.node)
    if found is not None and place.module.mentions("optim"):
        average, model = place.source(found.average), place.source(found.model)
        yield place.finding(
            f"`{average}` is `{model}` itself from here on, and goes with each of its steps",
            help=f"give it the weights: `{average}.load_state_dict({model}.state_dict())`",
            notes=[found.made.module.note(found.made.node, "made as a model of its own here")],
        )


def _finding(place, kept, message, help="keep a copy: `copy.deepcopy(…)` of the state"):
    if is_never_renewed(place.module, kept.holder):
        help = "nothing renews it: put `copy.deepcopy(…)` of the state there where a better one is found"
        return place.finding(message, help=help, at=kept.state)
    copied = place.replace(kept.value, f"copy.deepcopy({place.source(kept.value)})")
    fix = place.fix("keep a copy", copied, applicability="unsafe", imports=("import copy",))
    severity = "warning" if does_harm(place.module, kept, place.node) else "info"
    return place.finding(message, help=help, fix=fix, at=kept.state, severity=severity)
