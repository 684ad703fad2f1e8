"""Evaluate under `torch.no_grad()`: otherwise every batch keeps its graph.

Eval mode does not stop autograd. Without `no_grad` each forward stores all activations for a backward that never comes: evaluation needs
several times the memory and more time, and results that are collected in a list keep the graphs of all batches until the GPU is full.

```python bad
def evaluate(model, loader):
    model.eval()
    correct = 0
    for x, y in loader:
        correct += (model(x).argmax(1) == y).sum().item()  # TL505
    return correct
```
```python fixed
def evaluate(model, loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in loader:
            correct += (model(x).argmax(1) == y).sum().item()
    return correct
```
```python bad
def extract_features(encoder, loader):
    encoder.eval()
    bank = []
    for images in loader:
        bank.append(encoder(images))  # TL505
    return torch.cat(bank)
```
```python bad
for epoch in range(9):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
    model.eval()
    total = 0
    for x, y in val:
        output = model(x)  # TL505
        total += F.mse_loss(output, y).item()
```
```python bad
class Trainer:
    def __init__(self, net):
        self.net = net

    def validate(self, loader):
        self.net.eval()
        for x, y in loader:
            loss = F.mse_loss(self.net(x), y)  # TL505
            print(loss.item())
```

```python bad
def validate(model, loader, criterion):
    total = 0.0
    for x, y in loader:
        total += criterion(model(x), y)  # TL505
    return total / len(loader)

def evaluate(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean()  # TL505

validate(model.eval(), loader, criterion)
```

Guarded anywhere, with a frozen model, or where the gradient is wanted (attacks, saliency, fine-tuning in eval mode) it is right.

```python good
@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    return [model(x) for x in loader]

def test(model, loader):
    model.eval()
    with torch.inference_mode():
        for x in loader:
            print(model(x))

def run(model, loader, train):
    model.train() if train else model.eval()
    with torch.set_grad_enabled(train):
        for x in loader:
            print(model(x))

def predict(model, loader):
    model.eval()
    for x in loader:
        print(model(x))

with torch.no_grad():
    predict(model, loader)
```
```python good
def attack(model, loader):
    model.eval()
    for x, y in loader:
        x.requires_grad_()
        F.cross_entropy(model(x), y).backward()
        yield x + 0.1 * x.grad.sign()

def saliency(model, loader):
    model.eval()
    for x in loader:
        score = model(x).max()
        yield torch.autograd.grad(score, x)[0]

def finetune(model, loader, optimizer):
    model.eval()  # frozen statistics
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
```
```python good
vgg = build().requires_grad_(False)
vgg.eval()
features = [vgg(x) for x in images]
for p in encoder.parameters():
    p.requires_grad = False
encoder.eval()
for x in images:
    encoder(x)
torch.set_grad_enabled(False)
model.eval()
for x in images:
    print(model(x))
```
```python good
def perceptual_loss(vgg, images, targets):
    vgg.eval()
    losses = []
    for image, target in zip(images, targets):
        losses.append(F.mse_loss(vgg(image), vgg(target)))
    return sum(losses)

loss = perceptual_loss(vgg, images, targets)
loss.backward()
```
"""

import ast

from torchlint import Node, on_node


@on_node("FunctionDef", "AsyncFunctionDef", "Module", needs="eval(")
def check(place: Node):
    for found in place.evaluations_with_graph:
        model = place.short_of(found.model)
        yield place.finding(
            f"`{model}` is evaluated, but every forward is recorded for a backward that never comes",
            help="put the evaluation under `with torch.no_grad():`",
            fix=_wrap(place, found),
            notes=[place.note(found.switch, "put in eval mode here")] if found.switch else [],
            at=found,
        )


def _wrap(place, found):
    if found.loop is None or not isinstance(found.loop, ast.stmt):
        return None
    edits = place.wrap(found.loop, found.loop, "with torch.no_grad():")
    return place.fix("evaluate under `no_grad`", edits, applicability="unsafe", imports=("import torch",))
