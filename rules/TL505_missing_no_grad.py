"""Evaluate under `torch.no_grad()`: otherwise every batch keeps its graph.

Eval mode does not stop autograd. Without `no_grad` each forward stores all activations for a backward that never comes:
evaluation needs several times the memory and more time, and results that are collected in a list keep the graphs of all
batches until the GPU is full.

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

Guarded anywhere, with a frozen model, or where the gradient is wanted (attacks, saliency, fine-tuning in eval mode) it
is right.

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

In reinforcement learning a network often computes its own target, `reward + gamma * q(next_state)`. If that keeps its
graph, backward moves the target towards the prediction, too, which is another algorithm and learns badly. Compute it
under `no_grad`, detach it, or use a target network.

```python bad
def learn(q, batch, optimizer, gamma=0.99):
    state, action, reward, next_state, done = batch
    value = q(state).gather(1, action).squeeze(1)
    target = reward + gamma * q(next_state).max(1)[0] * (1 - done)  # TL505
    loss = F.smooth_l1_loss(value, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```
```python good
def learn(q, target_q, batch, optimizer, gamma=0.99):
    state, action, reward, next_state, done = batch
    value = q(state).gather(1, action).squeeze(1)
    with torch.no_grad():
        first = reward + gamma * q(next_state).max(1)[0] * (1 - done)
    second = reward + gamma * q(next_state).max(1)[0].detach() * (1 - done)
    third = reward + gamma * target_q(next_state).max(1)[0] * (1 - done)
    fourth = reward + gamma * target_q(next_state).gather(1, q(next_state).argmax(1, keepdim=True)).squeeze(1)
    loss = sum(F.smooth_l1_loss(value, target) for target in (first, second, third, fourth))
    fifth = reward + gamma * q(next_state).max(1)[0]
    loss = loss + F.mse_loss(value, fifth.detach())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
```

Where a forward of the project takes gradients itself, as forces are those of an energy, it is a remark.

How it is found: `torchlint/source/answers/evaluation.py`, `torchlint/source/answers/evaluating_helpers.py`,
`torchlint/source/answers/bootstrapped_targets.py`,
`torchlint/source/answers/gradients_in_forwards.py` and `torchlint/source/answers/few_forwards.py`.
"""

import ast
from itertools import chain

from torchlint import Node, on_node
from torchlint.source.answers.bootstrapped_targets import bootstraps
from torchlint.source.answers.evaluating_helpers import evaluations_in_helpers
from torchlint.source.answers.evaluation import evaluations_with_graph
from torchlint.source.answers.few_forwards import is_of_one_pass, is_soon_over
from torchlint.source.answers.gradients_in_forwards import forwards_take_gradients

read_on = ("TL503", "TL514", "torch.no_grad", "torch.autograd.grad_mode.inference_mode")
in_tests = False


@on_node(
    "FunctionDef",
    "AsyncFunctionDef",
    "Module",
    needs="eval(|def val|def test|def eval|accuracy(|def predict|def infer|_val(|_test(|_eval(",
)
def check(place: Node):
    direct = evaluations_with_graph(place.module, place.node)
    for found in chain(direct, evaluations_in_helpers(place.module, place.node)):
        model, needs_gradients = place.quoted(found.model), forwards_take_gradients(place.module)
        yield place.finding(
            f"`{model}` is evaluated, but every forward is recorded for a backward that never comes",
            help="put the evaluation under `with torch.no_grad():`",
            fix=None if needs_gradients else _wrap(place, found),
            notes=[place.note(found.switch, "put in eval mode here")] if found.switch else [],
            at=found,
            severity="info" if needs_gradients or is_of_a_moment(place, found) else "warning",
        )


@on_node("Module", needs=("backward|training_step", "gamma|discount|GAMMA|DISCOUNT|γ|0.9|0.8"))
def check_targets(file: Node):
    for found in bootstraps(file.module):
        model = file.quoted(found.call.at(found.call.node.func, ()))
        yield file.finding(
            f"the target is computed by `{model}` itself, and backward goes through it",
            help="compute the target under `with torch.no_grad():`, or `.detach()` it",
            notes=[file.note(found.target, "the target"), file.note(found.prediction, "what the target is for")],
            at=found.call.node,
        )


def is_of_a_moment(place, found) -> bool:
    return is_soon_over(found) or is_of_one_pass(found) or is_an_extra(place, found)


def is_an_extra(place, found) -> bool:
    """Has the function gone through the data without gradients, and this is for a few pictures more?"""
    name = ast.dump(found.node.func)
    alike = (call for call in place.inside(ast.Call, of=place.node) if ast.dump(call.func) == name)
    return any((one := place.at(call)).no_grad and one.loops for call in alike)


def _wrap(place, found):
    calls = list(place.inside(ast.Call, of=found.loop)) if isinstance(found.loop, ast.stmt) else []
    if found.node not in calls or any(place.word(call) in ("backward", "manual_backward") for call in calls):
        return None  # the loop of a helper may train, too, where somebody else calls it, or another model
    context, imports = place.at(found.loop).spelled("torch.no_grad")
    edits = place.wrap(found.loop, found.loop, f"with {context}():")
    return place.fix("evaluate under `no_grad`", edits, applicability="unsafe", imports=imports)
