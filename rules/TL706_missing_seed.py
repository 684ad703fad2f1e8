"""Set a seed before you train, so that a run can be repeated: `torch.manual_seed(0)`.

Weights start at random, dropout and the loader draw anew: two runs of the same program differ, and nobody can tell
whether a change helped. `torch.manual_seed` seeds torch on all devices; `random.seed` and `np.random.seed` are for what
your own code draws with these.

This rule is off by default: who compares over many runs wants them to differ.

```python bad
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in batches:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()  # TL706
    optimizer.step()
```
```python good
torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in batches:
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
```

A function that trains leaves it to the program.

```python good
def train(model, optimizer, batches):
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
```
"""

from torchlint import Round, on_round

read_on = ("TL702", "TL709", "torch.manual_seed", "notes/randomness")
default = False
in_tests = False


@on_round("file", needs=("backward", "step"))
def check(program: Round):
    if not program.may_train or program.project_says("seed"):
        return
    trains = [act for act in program.each("backward") if program.each("step")]
    if trains:
        yield program.finding(
            "this program trains, and nothing sets a seed: no run can be repeated",
            help="call `torch.manual_seed` first",
            at=trains[0],
        )
