"""Move batches to the GPU in the training loop, not in the workers of a loader.

With `num_workers` above 0, `Dataset.__getitem__` and `collate_fn` run in other processes, which are forked. CUDA cannot be
used in a fork of a process that has used it: "Cannot re-initialize CUDA in forked subprocess". Let the workers give CPU
tensors, and `pin_memory=True` makes the copy fast.

```python bad
from torch.utils.data import DataLoader

def collate(batch):
    return torch.stack(batch).cuda()  # TL308

loader = DataLoader(rows, batch_size=2, num_workers=4, collate_fn=collate)
```
```python bad
class Rows(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.device = torch.device("cuda:0")

    def __getitem__(self, i):
        x = torch.tensor(self.rows[i], device="cuda")  # TL308
        return x, torch.tensor(i).to(self.device)  # TL308

loader = torch.utils.data.DataLoader(Rows(rows), num_workers=2)
```

Without workers, or with workers that are spawned, it runs.

```python good
from torch.utils.data import DataLoader

class Rows(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = torch.tensor(rows).cuda()

    def __getitem__(self, i):
        x = self.rows[i].cuda()
        return x

def collate(batch):
    if torch.utils.data.get_worker_info() is None:
        return torch.stack(batch).cuda()
    return torch.stack(batch)

a = DataLoader(Rows(rows), num_workers=0)
b = DataLoader(Rows(rows), num_workers=workers)
c = DataLoader(Rows(rows), num_workers=2, multiprocessing_context="spawn")
d = DataLoader(rows, num_workers=2, collate_fn=collate)
```

What they run is found by `torchlint/source/answers/worker_code.py`.
"""

import ast

from torchlint import Call, on_call
from torchlint.source.answers.worker_code import run_by_workers

read_on = ("TL702", "TL703", "data#torch.utils.data.DataLoader", "notes/multiprocessing")
in_tests = False


@on_call("torch.utils.data.DataLoader", needs="num_workers|worker")
def check(loader: Call):
    workers = loader.most_usual_number("num_workers", 5)
    if not workers or loader.argument("multiprocessing_context") or loader.project_says("spawn", "forkserver"):
        return
    for value in run_by_workers(loader.value):
        call = loader.at(value)
        if on_cuda(call):
            yield loader.finding(
                f"`{call.short}` runs in a worker of the loader in line {loader.node.lineno}, where CUDA cannot be used",
                help="move the batch in the training loop",
                notes=[loader.note(loader.node, f"a loader with {workers} workers")],
                at=call,
            )


def on_cuda(call) -> bool:
    if call.word() == "cuda":
        return call.is_call(".cuda")
    device = call.argument("device", 1) if call.word() == "to" else call.argument("device")
    if device is None or not all(name.startswith(("torch.", ".")) for name in call.names) or not call.names:
        return False
    return any(map(is_cuda, call.usual_origins(device)))


def is_cuda(origin) -> bool:
    if origin.is_call("torch.device"):
        return any(map(is_cuda, origin.argument_origins("device", 0)))
    return isinstance(origin.node, ast.Constant) and not origin.path and str(origin.node.value).startswith("cuda")
