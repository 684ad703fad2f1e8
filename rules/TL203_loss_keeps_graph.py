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
```python bad
import lightning as L

class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)
        self.seen = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.fc(x), y)
        self.seen.append(loss)  # TL203
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())
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
class Watch:
    def __init__(self):
        self.seen = []

    def look(self, value):
        if isinstance(value, (list, tuple)):
            for part in value:
                self.look(part)
        else:
            self.seen.append(value.item())

def train(model, loader, optimizer):
    watch = Watch()
    shrink = watch.look
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        watch.look([loss])
        shrink(loss)
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
A leaf has no graph, whoever shares it; a buffer that is emptied now and then, and a class of one's own that takes what
it is given, do not grow.

```python good
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.scale = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        return self.fc(x) * self.scale

class Window:
    def __init__(self):
        self.values = []

    def append(self, value):
        self.values.append(float(value))

def surrogate(policy, tasks, optimizer):
    losses, window = [], Window()
    for task in tasks:
        inner = policy(task.x).mean()
        optimizer.zero_grad()
        inner.backward()
        optimizer.step()
        losses.append(policy.scale.norm())
        losses.append(policy(task.y).pow(2).mean())
        window.append(inner)
    return torch.stack(losses).mean(), window.values

def detach(logs):
    if isinstance(logs, torch.Tensor):
        return logs.detach()
    return {key: detach(value) for key, value in logs.items()} if isinstance(logs, dict) else logs

def attack(images, delta, optimizer, n):
    best = [None] * n
    for _ in range(100):
        changed = images + delta
        loss = changed.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for i in range(n):
            best[i] = changed[i]
    return best

attack(torch.rand(4, 8), nn.Parameter(torch.zeros(4, 8)), None, 4)

def report(policy, loader, optimizer):
    logs = []
    for x in loader:
        loss = policy(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logs.append(detach(loss))
    return logs

def one_step(policy, x, optimizer):
    loss = policy(x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss

def one_step(policy, x, optimizer):  # as a later cell of a notebook defines it again
    loss = policy(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()

def steps(policy, loader, optimizer):
    losses = []
    for x in loader:
        loss = one_step(policy, x, optimizer)
        losses.append(loss)
    return losses

def cached(policy, batches, with_backward):
    losses = []
    for x in batches:
        loss = policy(x).mean()
        if with_backward:  # without it, the sum is what backward needs
            loss.backward()
            loss = loss.detach()
        losses.append(loss)
    return sum(losses)

def play(policy, env, optimizer, memory):
    surrogate(Policy(), env.tasks, optimizer)
    log_probs = []
    for episode in range(100):
        state = env.reset()
        for step in range(200):
            log_prob = policy(state).max()
            loss = -log_prob * env.reward
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            log_probs.append(log_prob)
            memory.append(loss)
        del log_probs[:]
```
```python bad
from elsewhere import Evaluator

def train_epoch(model, loader, optimizer):
    scores, labels = [], []
    for x, y in loader:
        score = model(x)
        loss = F.mse_loss(score, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scores.append(score)  # TL203
        labels.append(y)
    return Evaluator(name="area").eval({"y_pred": torch.cat(scores), "y_true": torch.cat(labels)})["area"]

def train(model, loader, optimizer):
    areas = []
    for epoch in range(10):
        area = train_epoch(model, loader, optimizer)
        areas.append(area)
    return areas
```

How it is found: `torchlint/source/answers/kept_graphs.py`.
"""

import ast

from torchlint import Loop, ModuleClass, Node, on_loop, on_module, on_node

in_tests = False


@on_loop(needs="backward")
def check(loop: Loop):
    for kept in loop.kept_graphs:
        yield found(loop, kept, "backward went through it here")


@on_node("FunctionDef", needs="backward")
def check_method(function: Node):
    for kept in function.kept_graphs:
        yield found(function, kept, "backward went through it here")


@on_module(needs="training_step")
def check_step(cls: ModuleClass):
    for kept in cls.kept_graphs:
        yield found(cls, kept, "Lightning runs backward through what is returned here")


def found(place, kept, why: str):
    part, into = ast.unparse(kept.part), ast.unparse(kept.into)
    named = part if isinstance(kept.part, ast.Name) else "…"
    return place.finding(
        f"`{into}` keeps the graph of `{part}` of every round, and memory grows",
        help=f"collect `{named}.detach()`" + (f", or `{named}.item()`" if kept.is_loss else ""),
        fix=place.fix(
            "detach what is collected",
            place.with_suffix(kept.part, ".detach()"),
            applicability="safe" if kept.is_loss or place.is_tensor(kept.part) else "unsafe",
        ),
        notes=[place.note(kept.backward, why)],
        at=kept.place,
    )
