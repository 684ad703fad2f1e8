"""Read only names that something binds.

`NameError`, when the line runs: at the first validation, in the branch of an option, at the end of an epoch. Often `self.`
was forgotten, or a variable was given another name and one use was not. Other linters say it too (F821): it is for those
who have none, and off unless it is selected.

```python bad
class Trainer:
    def __init__(self, model, criterion):
        self.model, self.criterion = model, criterion

    @torch.no_grad()
    def validate(self, batches):
        self.model.eval()
        total = 0.0
        for x, y in batches:
            total += criterion(self.model(x), y).item()  # TL716
        return total / len(batches)

def run(model, batches):
    return Trainer(model, nn.MSELoss()).validate(batches)
```
```python good
class Trainer:
    def __init__(self, model, criterion):
        self.model, self.criterion = model, criterion

    @torch.no_grad()
    def validate(self, batches):
        self.model.eval()
        total = 0.0
        for x, y in batches:
            total += self.criterion(self.model(x), y).item()
        return total / len(batches)

def run(model, batches):
    return Trainer(model, nn.MSELoss()).validate(batches)
```

Where names may come from elsewhere nothing is said: `from layers import *`, `exec`, `globals()`; nor of what is caught. It is
found in `torchlint/source/answers/undefined_names.py`.

```python good
try:
    scope = profile_scope
except NameError:
    scope = None

def run(x):
    global counter
    counter = x
    return [counter * row for row in x if (last := row)] + [last, __file__]

def show():
    return counter
```
"""

from torchlint import Node, on_node
from torchlint.source.answers.undefined_names import undefined_names

read_on = ("TL616", "torch.nn.Module")
default = False  # whoever has another linter has it there
added = "0.2"


@on_node("Module")
def check(place: Node):
    for name, is_of_self in undefined_names(place.module):
        yield place.at(name).finding(
            f"nothing binds `{name.id}`, which is read here",
            help=f"did you mean `self.{name.id}`?" if is_of_self else "bind it, or import it",
        )
