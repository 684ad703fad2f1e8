"""Let workers load the batches: a loader without `num_workers` makes the GPU wait for each of them.

With `num_workers=0`, its default, the training loop itself reads and decodes the samples of a batch while the GPU does
nothing. Workers prepare the next batches meanwhile, and `pin_memory=True` makes the copy to the GPU faster.

This rule is off by default: data that lies in memory needs no workers, and how many are best is found by trying.

```python bad
class Images(torch.utils.data.Dataset):
    def __getitem__(self, i):
        return read(self.files[i])

loader = torch.utils.data.DataLoader(Images(), batch_size=32, shuffle=True)  # TL703
for x in loader:
    model(x.cuda())
```
```python good
from torch.utils.data import DataLoader, TensorDataset

class Images(torch.utils.data.Dataset):
    def __getitem__(self, i):
        return read(self.files[i])

loader = DataLoader(Images(), batch_size=32, shuffle=True, num_workers=4, pin_memory=True)
chosen = DataLoader(Images(), batch_size=32, num_workers=0)
small = DataLoader(TensorDataset(xs, ys), batch_size=32)
for x in loader:
    model(x.cuda())
```

The options of a loader have a name; where another may have been put among them, nothing is said.

```python bad
class Images(torch.utils.data.Dataset):
    def __getitem__(self, i):
        return read(self.files[i])

def build(train):
    options = {"batch_size": 32, "shuffle": train}
    if train:
        options["drop_last"] = True
    return torch.utils.data.DataLoader(Images(), **options)  # TL703

for x in build(True):
    model(x.cuda())
```
```python good
class Images(torch.utils.data.Dataset):
    def __getitem__(self, i):
        return read(self.files[i])

def build(train, workers, **more):
    options = {"batch_size": 32, "shuffle": train}
    if workers:
        options.update(num_workers=workers)
    quick = {"batch_size": 32} | settings
    Loader = torch.utils.data.DataLoader
    return Loader(Images(), **options), Loader(Images(), **quick), Loader(Images(), **more), Loader(Images(), *order)

for x in build(True, 4)[0]:
    model(x.cuda())
```
"""

import ast

from torchlint import Call, on_call

read_on = ("TL308", "TL702", "data#torch.utils.data.DataLoader")
default = False
in_tests = False


@on_call("torch.utils.data.DataLoader", without="num_workers")
def check(loader: Call):
    dataset = loader.argument("dataset", 0)
    if dataset is None or loader.argument("num_workers", 5) is not None or not loader.uses_a_device:
        return
    given = loader.keyword_names
    if given is None or "num_workers" in given or any(isinstance(each, ast.Starred) for each in loader.node.args):
        return
    owners = [callee.owner for made in loader.objects(dataset) for callee in made.callees]
    if owners and all(owners) and loader.dataset_is(dataset) == "indexed":
        yield loader.finding(
            f"`{loader.short}` loads each batch while the GPU waits", help="pass `num_workers=`, and `pin_memory=True`"
        )
