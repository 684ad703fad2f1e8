"""Change a tensor in place or keep the new one: to assign a loop variable anew changes nothing.

`for average, p in zip(...): average = 0.99 * average + 0.01 * p` computes a new tensor, calls it `average` and forgets
it in the next round. The parameters that were meant stay as they are: the average never follows, the batch is not moved.
Write `average.mul_(0.99).add_(p, alpha=0.01)`, `average.copy_(...)`, or build a new list.

```python bad
with torch.no_grad():
    for average, p in zip(ema.parameters(), model.parameters()):
        average = 0.99 * average + 0.01 * p  # TL726
```
```python bad
class Trainer:
    def update_target(self, tau):
        for (name, old), new in zip(self.target.named_parameters(), self.policy.parameters()):
            old = old.data * (1 - tau) + new.data * tau  # TL726
```
```python bad
loader = torch.utils.data.DataLoader(dataset, batch_size=4)
for batch in loader:
    for x in batch:
        x = x.to("cuda")  # TL726
    loss = model(*batch).sum()
```

Right are what changes in place, what is read afterwards, and what moves modules, which are moved in place.

```python good
with torch.no_grad():
    for average, p in zip(ema.parameters(), model.parameters()):
        average *= 0.99
        average.add_(0.01 * p)
    for p in model.parameters():
        p = p.requires_grad_(False)
    for p in model.parameters():
        p = p.data.mul_(0.5) + 0
    for name, p in model.named_parameters():
        p = p.detach().cpu()
        print(name, p.norm())
    for p in model.parameters():
        p.data = p.data * 0.5
for m in (model, ema):
    m = m.to("cuda")
moved = []
for p in model.parameters():
    p = p * 2
    moved.append(p)
for p in model.parameters():
    p = p * 2
print(p)
```

How it is found: `torchlint/source/answers/rebound_loop_variables.py`.
"""

from torchlint import Node, on_node
from torchlint.source.answers.rebound_loop_variables import is_rebound

added = "0.2"
read_on = ("TL304", "TL516", "torch.Tensor.copy_", "torch.Tensor.lerp_")


@on_node("Assign", value=("BinOp", "Call"), needs="for")
def check(place: Node):
    """`for a, p in zip(…): a = 0.9 * a + 0.1 * p`"""
    if is_rebound(place.module, place.node):
        name = place.quoted(place.node.targets[0])
        yield place.finding(
            f"`{name}` is only a name for what the loop goes through: what is assigned to it here is lost",
            help=f"change it in place, `{name}.copy_(…)`, or store the new one where it is kept",
        )
