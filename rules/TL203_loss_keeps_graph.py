"""Collect numbers, not losses: a tensor keeps the graph it came from.

A loss holds on to everything it was computed from. `total += loss` and `history.append(loss)` therefore keep a graph
alive for each batch, and memory grows round after round until the program is out of it. What is only reported does not
need gradients: collect `loss.item()`, or `loss.detach()`, which does not wait for the GPU.

```python bad
def train(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss  # TL203
    return total / len(loader)
```
```python fixed
def train(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total / len(loader)
```
```python bad
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
history, epochs, smooth, stats = [], [], 0.0, {"loss": 0.0}
for epoch in range(9):
    running = 0
    for x, y in loader:
        out = net(x)
        loss = nn.MSELoss()(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        weighted = loss * len(x)
        running = running + weighted  # TL203
        stats["loss"] += loss / 2  # TL203
        history.append((epoch, loss))  # TL203
        smooth = 0.9 * smooth + 0.1 * loss  # TL203
    epochs.append(running.item())
```

The collection can be an attribute or an object of your own, and the step a function of its own.

```python bad
class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0, 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

def step(model, x, y, optimizer):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss

class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.losses, self.total = [], 0

    def fit(self, loader):
        meter = AverageMeter()
        for x, y in loader:
            loss = step(self.model, x, y, self.optimizer)
            self.losses.append(loss)  # TL203
            meter.update(loss, x.size(0))  # TL203

    def step(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.total = self.total + loss  # TL203
        self.last = loss
        return loss.item()
```

What is summed up in order to run backward through the sum is right, and so is what has no graph.

```python good
def train(model, loader, optimizer):
    total, correct, seen = 0.0, 0, []
    for x, y in loader:
        out = model(x)
        loss = F.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct += (out.argmax(1) == y).sum()
        total += loss.item() * len(x)
        seen.append(loss.detach())
        loss = loss.item()
        seen.append(loss)
        with torch.no_grad():
            total += F.l1_loss(model(x), y)
```
```python good
def step(model, criterion, batch, optimizer):
    loss, size, numbers = criterion(model(batch), batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss, size, numbers

def train(model, criterion, loader, optimizer):
    seen, report = 0, {"words": 0}
    for batch in loader:
        loss, size, numbers = step(model, criterion, batch, optimizer)
        seen += size
        report["words"] += numbers["words"]
    return seen, report
```
```python good
for _ in range(2):
    total_loss, terms = 0, []
    for task in tasks:
        loss = net(task).pow(2).mean()
        total_loss += loss
        terms.append(loss)
    optimizer.zero_grad()
    (total_loss + torch.stack(terms).mean()).backward()
    optimizer.step()
```
```python good
policy = nn.Linear(4, 2)
for episode in range(2):
    log_probs, rewards = [], []
    for t in range(5):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(4)))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        rewards.append(1.0)
    loss = 0
    for log_prob, reward in zip(log_probs, rewards):
        loss += -log_prob * reward
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```

How it is found: `torchlint/source/answers/collecting.py` and `torchlint/source/answers/kept_graphs.py`.
"""

import ast

from torchlint import Loop, ModuleClass, Node, on_loop, on_module, on_node
from torchlint.source.answers.kept_graphs import kept_by_function, kept_by_loop, kept_by_step

read_on = ("TL211", "TL505", "torch.Tensor.item", "torch.Tensor.detach")
in_tests = False

MANY, FEW = 50, 200  # rounds
OF_TRAINING = tuple("epoch batch iter step load data train episode set".split())  # what a loop counts or reads


@on_loop(needs="backward")
def check(loop: Loop):
    for kept in kept_by_loop(loop.module, loop.node):
        is_small = (
            is_of_one_step(loop, kept.into)
            or is_of_one_batch(loop, kept.into)
            or is_freed(loop, kept)
            and (is_last_of_an_epoch(loop, kept) or is_of_few_epochs(loop, kept.into))
            or not is_long(loop)
            or kept.is_short_lived
        )
        yield found(loop, kept, "backward went through it here", "info" if is_small else "warning")


@on_node("FunctionDef", needs="backward")
def check_method(function: Node):
    for kept in kept_by_function(function.module, function.node):
        yield found(function, kept, "backward went through it here")


@on_module(needs="training_step")
def check_step(cls: ModuleClass):
    for kept in kept_by_step(cls.info):
        severity = "info" if is_of_one_epoch(cls, kept.into) else "warning"
        yield found(cls, kept, "Lightning runs backward through what is returned here", severity)


def is_long(loop: Loop) -> bool:
    """Is it seen to have many rounds? Agents, critics, samples of a noise are few, and their sum goes with the call."""
    if loop.counts or (loop.length or 0) >= MANY or isinstance(loop.node, ast.While):
        return True
    over = f"{ast.unparse(loop.node.target)} {ast.unparse(loop.node.iter)}".lower()
    return any(word in over for word in OF_TRAINING)


def is_of_one_epoch(cls, into) -> bool:
    """Is it emptied at an epoch's begin or end, as Lightning's own guide does? Backward has freed the graphs by then."""
    whole = ast.unparse(into.value if isinstance(into, ast.Subscript) else into)
    names = {whole, ast.unparse(into)}  # `self.curves` of `self.curves[name]`, and `rows` of its `.values()`
    loops = (loop.target for loop in cls.inside(ast.For) if f"{whole}." in ast.unparse(loop.iter))
    names |= {name.id for target in loops for name in ast.walk(target) if isinstance(name, ast.Name)}
    cleared = [call for call in cls.calls("clear", inside=cls.node) if ast.unparse(call.node.func.value) in names]
    renewed = [cls.at(n) for n in cls.inside(ast.Assign) if not names.isdisjoint(map(ast.unparse, n.targets))]
    return any("epoch" in getattr(place.function, "name", "") for place in (*cleared, *renewed))


def is_of_one_step(loop, into) -> bool:
    """Do the parts of one batch add up in a name of a function that changes no weights? With the step they are gone."""
    function = loop.function
    if function is None or not isinstance(into, ast.Name):
        return False
    if any(loop.module.index.calls_of("step", inside=function)):
        return False
    return not any(node.attr in ("grad", "data") for node in loop.inside(ast.Attribute, of=function))


def is_of_one_batch(loop, into) -> bool:
    """Are they slots of a tensor, one for each step of a sequence that the function was given? They go with it."""
    if not isinstance(into, ast.Subscript) or not isinstance(into.value, ast.Name) or not loop.is_tensor(into.value):
        return False
    sizes = [n.attr for n in loop.inside(ast.Attribute, of=getattr(loop.node, "iter", loop.node))]
    return loop.function is not None and loop.counts is None and bool({"size", "shape"} & set(sizes))


def is_freed(loop, kept) -> bool:
    """Has backward freed what weighs in its graph?"""
    return not {"retain_graph", "create_graph"} & {k.arg for k in loop.at(kept.backward).node.keywords}


def is_last_of_an_epoch(loop, kept) -> bool:
    """Is it what the last batch of an epoch leaves? A function may have trained with it."""
    around = {loop.node, *loop.at(kept.place).loops}
    return loop.counts == "epochs" and not set(loop.at(kept.backward).loops) <= around


def is_of_few_epochs(loop, into) -> bool:
    """Does a loop around which there is no other give all its data at once, a number of times?"""
    return isinstance(into, ast.Name) and not loop.loops and (loop.length or FEW) < FEW


def may_be_a_number(place, kept) -> bool:
    """`loss = 0.0`, where backward runs only below `if not isinstance(loss, float):`: a number has no `detach`."""
    around = [test for test, _ in place.at(kept.place).tests]
    is_chosen = any(test not in around for test, _ in place.at(kept.backward.node).tests)
    return is_chosen and any(isinstance(origin.node, ast.Constant) for origin in place.origins(kept.part))


def found(place, kept, why: str, severity="warning"):
    part, into = ast.unparse(kept.part), ast.unparse(kept.into)
    is_table = any(isinstance(origin.node, ast.Dict) and not origin.path for origin in place.origins(kept.part))
    is_plain = (kept.is_loss or place.is_tensor(kept.part)) and not any(place.calls("retain_grad"))  # read later
    edit = place.with_suffix(kept.part, ".detach()")
    fix = place.fix("detach what is collected", edit, applicability="safe" if is_plain else "unsafe")
    named = "value" if is_table else part if isinstance(kept.part, ast.Name) else "…"
    return place.finding(
        f"`{into}` keeps the graph of `{part}` of every round, and memory grows",
        help=f"collect `{named}.detach()`{' of each' if is_table else ''}"
        + (f", or `{named}.item()`" if kept.is_loss else ""),
        fix=None if is_table or may_be_a_number(place, kept) else fix,
        notes=[place.note(kept.backward, why)],
        at=kept.place,
        severity=severity,
    )
