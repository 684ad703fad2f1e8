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
"""

from torchlint import Call, on_call

read_on = ("TL308", "TL702", "data#torch.utils.data.DataLoader")
default = False
in_tests = False


@on_call("torch.utils.data.DataLoader", without="num_workers")
def check(loader: Call):
    dataset = loader.argument("dataset", 0)
    if loader.has_stars or dataset is None or loader.argument("num_workers", 5) is not None or not loader.uses_a_device:
        return
    owners = [callee.owner for made in loader.objects(dataset) for callee in made.callees]
    if owners and all(owners) and loader.dataset_is(dataset) == "indexed":
        yield loader.finding(
            f"`{loader.short}` loads each batch while the GPU waits", help="pass `num_workers=`, and `pin_memory=True`"
        )
