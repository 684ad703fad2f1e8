"""Give a loader either `shuffle=True` or a sampler: both say in which order the samples come.

`DataLoader(data, shuffle=True, sampler=…)` raises "sampler option is mutually exclusive with shuffle". A `batch_sampler`
says even more, so `batch_size`, `shuffle`, `sampler` and `drop_last` must be left out beside it. An `IterableDataset`
has its own order, and takes neither a sampler nor `shuffle=True`. With `DistributedSampler(data, shuffle=True)`, which
is its default, the samples are shuffled.

```python bad
from torch.utils.data import DataLoader, RandomSampler

loader = DataLoader(data, batch_size=4, shuffle=True, sampler=RandomSampler(data))  # TL701
```
```python good
from torch.utils.data import DataLoader, RandomSampler

loader = DataLoader(data, batch_size=4, shuffle=False, sampler=RandomSampler(data))
```
```python bad
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def loader(data, distributed):
    sampler = DistributedSampler(data) if distributed else None
    return DataLoader(data, 32, True, sampler)  # TL701
```
```python good
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def loader(data, distributed):
    sampler = DistributedSampler(data) if distributed else None
    if sampler is None:
        return DataLoader(data, 32, shuffle=True, sampler=sampler)
    return DataLoader(data, 32, sampler=sampler, shuffle=(sampler is None))
```
```python bad
from torch.utils.data import BatchSampler, DataLoader, SequentialSampler

batches = BatchSampler(SequentialSampler(data), 8, False)
loader = DataLoader(data, batch_size=8, batch_sampler=batches)  # TL701
other = DataLoader(data, batch_sampler=batches, drop_last=True)  # TL701
```
```python good
from torch.utils.data import BatchSampler, DataLoader, SequentialSampler

batches = BatchSampler(SequentialSampler(data), 8, False)
loader = DataLoader(data, batch_size=1, shuffle=False, batch_sampler=batches, drop_last=False)
other = DataLoader(data, batch_size=None, sampler=batches)
```
```python bad
class Lines(torch.utils.data.IterableDataset):
    def __iter__(self):
        yield from open("lines.txt")

loader = torch.utils.data.DataLoader(Lines(), batch_size=4, shuffle=True)  # TL701
```
```python good
class Lines(torch.utils.data.Dataset):
    def __getitem__(self, i):
        return i

loader = torch.utils.data.DataLoader(Lines(), batch_size=4, shuffle=True)
```
"""

import ast

from torchlint import Call, on_call

read_on = ("TL708", "TL515", "data#torch.utils.data.DataLoader")
in_tests = False

BATCHES = ("batch_sampler", 4)


@on_call("torch.utils.data.DataLoader")
def check(loader: Call):
    clash = next(clashes(loader), None)
    if clash is not None:
        kept, refused = clash
        yield loader.finding(
            f"a loader takes no `{refused}` beside {kept}: this raises a ValueError", help=f"leave out `{refused}`"
        )


def clashes(loader: Call):
    """What is given although something else that is given excludes it."""
    shuffles = surely(loader, "shuffle", 2)
    one, many = (is_sampler(loader, *place) for place in (("sampler", 3), BATCHES))
    dataset = loader.argument("dataset", 0)
    if (shuffles or one or many) and dataset is not None and loader.dataset_is(dataset) == "iterated":
        yield "an `IterableDataset`", "shuffle" if shuffles else "sampler" if one else "batch_sampler"
    if many:
        sizes = loader.number("batch_size", 1)
        for name, given in (
            (
                "batch_size",
                sizes not in (None, 1)
                and loader.is_given("batch_size", 1)
                and (is_written(loader, "batch_size", 1) or always(loader, *BATCHES)),
            ),
            ("shuffle", shuffles and (is_written(loader, "shuffle", 2) or always(loader, *BATCHES))),
            ("sampler", one and (always(loader, "sampler", 3) or always(loader, *BATCHES))),
            ("drop_last", surely(loader, "drop_last", 8)),
        ):
            if given:
                yield "a `batch_sampler`", name
    if one and shuffles:
        yield "a `sampler`", "shuffle"


def surely(loader: Call, name: str, position: int) -> bool:
    """Is a flag True, whichever way the call is reached?"""
    found = loader.argument_origins(name, position)
    is_true = bool(found) and all(isinstance(o.node, ast.Constant) and o.node.value is True for o in found)
    return is_true and not any(o.path for o in found) and loader.is_given(name, position)


def is_written(loader: Call, name: str, position: int) -> bool:
    """Does it stand in the call itself? In `**options` it may be only where the sampler is not."""
    return len(loader.node.args) > position or any(keyword.arg == name for keyword in loader.node.keywords)


def is_sampler(loader: Call, name: str, position: int) -> bool:
    """May a sampler come here, with nothing asking for it first?"""
    given = loader.argument(name, position)
    if given is not None and any(loader.names_in(given) & loader.names_in(test) for test, _ in loader.tests):
        return False
    found = loader.argument_origins(name, position, frozenset())
    made = [o for o in found if isinstance(o.node, ast.Call) and not loader.excludes(o)]
    return any(o.role().is_a("sampler") is True for o in made)


def always(loader: Call, name: str, position: int) -> bool:
    """Is it given on each way here? Of two that may both be None, one may be there where the other is not."""
    found = loader.argument_origins(name, position, frozenset())
    is_made = bool(found) and all(isinstance(o.node, ast.Call) and not o.path for o in found)
    return is_made and loader.is_given(name, position)
