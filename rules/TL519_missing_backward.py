"""Call `loss.backward()` before `optimizer.step()`: without gradients nothing is learned.

A step without gradients changes nothing and says nothing: each parameter whose `grad` is None is left out. The loss of
the training stays where it is.

```python bad
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    optimizer.step()  # TL519
```
```python good
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
```

Whoever makes gradients in another way, or in another file, needs none.

```python good engine.py
def learn(loss):
    loss.backward()
```
```python good main.py
from engine import learn

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    learn(loss)
    optimizer.step()
```
"""

from torchlint import Loop, on_loop

read_on = ("TL512", "TL502", "torch.Tensor.backward", "torch.optim.Optimizer.step")
in_tests = False

OTHERWISE = ("backward", "autograd", ".grad", "accelerat", "deepspeed", "closure", "scaler", "step_fn", "engine")


@on_loop(needs=("step()", "zero_grad", "loss"))
def check(loop: Loop):
    if loop.project_says(*OTHERWISE) or loop.inner_iterations or not loop.is_seen_through:
        return
    steps = [
        step for step in loop.each("step") if step.on is not None and loop.role(step.on.node).is_a("optimizer") is True
    ]
    losses = [name for name in loop.names_in() if name.lower().endswith("loss")]
    if len(steps) == 1 and loop.each("clear") and losses:
        yield loop.finding(
            f"`{steps[0].text}` has no gradients to go by: nothing calls `backward()`",
            help=f"call `{min(losses)}.backward()` before it",
            at=steps[0],
        )
