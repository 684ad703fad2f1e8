"""Seed a generator of your own in each worker: the workers of a loader all get a copy of it.

A dataset that holds `np.random.default_rng()` is copied into each worker with the state that it has, so all workers draw
the same numbers, and again in the next epoch. What needs no care: `torch.rand`, `np.random.rand` and `random.random`,
whose global generators torch (since 1.9) seeds anew in each worker.

```python bad
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __getitem__(self, i):
        return self.rng.normal()  # TL702

loader = DataLoader(Noisy(), num_workers=2)
```
```python bad
import random
from torch.utils.data import DataLoader, Dataset

generator = random.Random(7)

class Crops(Dataset):
    def __init__(self):
        self.torch_rng = torch.Generator()

    def __getitem__(self, i):
        return generator.randint(0, 4), torch.rand(2, generator=self.torch_rng)  # TL702

loader = DataLoader(Crops(), num_workers=2)
```
```python good
import numpy as np
import random
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    def __init__(self, seed):
        self.seed = seed
        rng = np.random.default_rng(seed)
        self.offsets = rng.normal(size=100)

    def __getitem__(self, i):
        rng = np.random.default_rng(self.seed + i)
        return rng.normal() + np.random.rand() + random.random() + self.offsets[i]

class Held(Dataset):
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __getitem__(self, i):
        return self.rng.normal()

a = DataLoader(Noisy(0), num_workers=4)
b = DataLoader(Held(), num_workers=0)
c = DataLoader(Held(), num_workers=4, worker_init_fn=seed_worker)
```

What the workers run: `torchlint/source/answers/worker_code.py`.
"""

import ast
import re

from torchlint import Call, on_call
from torchlint.source.answers.worker_code import is_behind_a_bound, run_at_start, run_for_samples

read_on = ("TL706", "TL308", "notes/randomness#dataloader", "data#data-loading-randomness")
in_tests = False

LIBRARIES = ("torch.", "numpy.", "random.", "os.", "builtins.")
GENERATORS = ("numpy.random.default_rng", "numpy.random.RandomState", "random.Random", "torch.Generator")


@on_call("torch.utils.data.DataLoader", needs="num_workers|worker")  # in whichever file the settings stand
def check(loader: Call):
    if not loader.most_usual_number("num_workers", 5) or loader.keyword_names is None:
        return
    started = loader.argument("worker_init_fn", 9)
    starts = loader.origins(started) if started is not None else loader.keyword_origins("worker_init_fn")
    if started is not None and not starts:
        return
    functions = run_by_workers(loader)
    calls = [function.at(node) for function in functions for node in function.inside(ast.Call)]
    anew = {function.node for function in functions}
    anew |= {init.node for call in calls for init in call.methods("__init__")}
    told = set()
    for call in calls:
        held = held_generator(call, anew)
        if held is None or call.says("get_worker_info(", "get_worker_info as ") or is_behind_a_bound(call.node):
            continue
        if (call.module, call.node.lineno) in told or not all(leaves_alone(o, drawn_from(call)) for o in starts):
            continue
        told.add((call.module, call.node.lineno))
        yield loader.finding(
            f"`{held.short}` is copied into each worker: all of them draw the same numbers",
            help="make it per worker, or draw with torch, whose generator each worker seeds anew",
            notes=[held.note(held.node, "made once, here"), loader.note(loader.node, "a loader with workers")],
            at=call,
        )


SEEDS = {"numpy.random.seed": "numpy.random.", "random.seed": "random.", "torch.manual_seed": "torch."}


@on_call("torch.utils.data.DataLoader", needs=("num_workers|worker", "worker_init_fn|worker", "seed(|seed_all"))
def seeded_alike(loader: Call):
    """`worker_init_fn` gives each worker the same seed, and what workers run draws from that generator."""
    if not loader.most_usual_number("num_workers", 5):
        return
    drawn = {name for function in run_by_workers(loader) for name in names_drawn(function)}
    seeds = [
        (name, seed) for seed in map(loader.at, run_at_start(loader.value)) for name in SEEDS if seed.is_call(name)
    ]
    for library, seed in {SEEDS[name]: seed for name, seed in seeds}.items():  # of two the last holds
        if seed.says("worker_info") or seed.number("seed", 0) is None:
            continue
        if any(name.startswith(library) and name not in (*SEEDS, *GENERATORS) for name in drawn):
            yield loader.finding(
                f"`{seed.short}` starts each worker alike: all of them draw the same numbers",
                help="leave it out, or seed with `torch.initial_seed() % 2**32`, which differs",
                notes=[loader.note(loader.node, "a loader with workers")],
                at=seed,
            )


def names_drawn(function) -> list[str]:
    """What it calls of NumPy and Python, and of torch what draws numbers."""
    named = [(function.at(node), function.name(node.func)) for node in function.inside(ast.Call)]
    return [name for call, name in named if name and (not name.startswith("torch.") or draws(call))]


def draws(call: Call) -> bool:
    return call.fact is not None and call.fact.random and call.argument("generator") is None


def run_by_workers(loader: Call) -> list:
    """What gives an element of the dataset, and the functions of the project that it calls."""
    return [loader.at(function) for function in run_for_samples(loader.value)]


def leaves_alone(start, generator: ast.expr, depth=2) -> bool:
    """Does `worker_init_fn` certainly nothing to a generator: is it seen, and speaks neither of that nor of data?"""
    if isinstance(start.node, ast.Constant):
        return start.node.value is None
    if not isinstance(start.node, (ast.FunctionDef, ast.Lambda)) or not depth:
        return False
    words = set(re.findall(r"\w+", start.text))
    if words & {"get_worker_info", "worker_info", "dataset", "global", start.word(generator)}:
        return False
    calls = [start.at(node) for node in start.inside(ast.Call)]
    return all(
        call.names
        and (call.functions or all(name.startswith(LIBRARIES) for name in call.names))
        and all(leaves_alone(function, generator, depth - 1) for function in call.functions)
        for call in calls
    )


def drawn_from(call: Call) -> ast.expr | None:
    keyword = call.argument("generator")
    return keyword if keyword is not None else getattr(call.node.func, "value", None)


def held_generator(call: Call, anew):
    """What made the generator, outside of what runs for each element, from which a call draws."""
    source = drawn_from(call)
    if not isinstance(source, (ast.Name, ast.Attribute)):
        return None
    made = call.origins(source)
    outside = [o for o in made if o.is_call(*GENERATORS) and o.function not in anew]
    return outside[0] if len(outside) == len(made) == 1 else None
