"""Join arrays with `np.stack` before they become a tensor: a list of them is read number by number.

`torch.tensor([array, array, …])` walks through all arrays as if they were lists. torch warns that this "is extremely
slow"; for a thousand rows of a hundred numbers it takes twenty times as long as `torch.tensor(np.array(rows))`.
What runs once, at the top of a file or where a table of all data is read, is a remark, and so are the few arrays of a
list that is written out.

```python bad
import numpy as np

def rows(count):
    return torch.tensor([np.zeros(3) for _ in range(count)])  # TL404
```
```python fixed
import numpy as np

def rows(count):
    return torch.tensor(np.array([np.zeros(3) for _ in range(count)]))
```
```python remark
import numpy as np

def act(net, numbers):
    state = np.asarray(numbers)
    return net(torch.tensor([state]))  # TL404
```
```python bad
import numpy as np

def collate(batch):
    images = [np.asarray(image) for image, _ in batch]
    return torch.as_tensor(images), torch.FloatTensor([np.load(f) for _, f in batch])  # TL404, TL404
```
```python bad
import numpy as np

def rollout(env, steps):
    states = []
    for _ in range(steps):
        states.append(np.zeros(4))
    return torch.tensor(states, dtype=torch.float32)  # TL404
```
```python fixed
import numpy as np

def rollout(env, steps):
    states = []
    for _ in range(steps):
        states.append(np.zeros(4))
    return torch.tensor(np.array(states), dtype=torch.float32)
```

Numbers of NumPy are no arrays, and of a few lists nobody waits long.

```python good
import numpy as np

a = torch.tensor([np.mean(x), np.float64(3)])
b = torch.tensor(np.stack([np.zeros(3), np.ones(3)]))
c = torch.stack([torch.from_numpy(np.zeros(3)), torch.from_numpy(np.ones(3))])
d = torch.tensor([np.zeros(3).tolist(), [1, 2, 3]])
e = torch.tensor([np.random.rand(), np.random.choice(4)])
```
"""

import ast

from torchlint import Call, on_call, on_op

read_on = ("TL401", "torch.from_numpy", "torch.stack")
in_tests = False

# What NumPy makes of these has a dimension, or cannot be made a tensor in a list at all.
ARRAYS = tuple(
    f"numpy.{word}"
    for word in "array asarray ascontiguousarray zeros ones full empty arange linspace eye zeros_like ones_like stack"
    " concatenate vstack hstack load loadtxt expand_dims".split()
)


@on_call("torch.tensor", "torch.as_tensor", "torch.asarray", "torch.Tensor", "torch.FloatTensor", "torch.LongTensor")
def check(call: Call):
    data = call.argument("data", 0) if len(call.node.args) == 1 and call.says("numpy") else None
    if data is None or isinstance(data, ast.Constant):
        return
    lists = call.origins(data)
    if not lists or not all(is_list_of_arrays(made) for made in lists):
        return
    array, imports = call.spelled("numpy.array", usual="import numpy as np")
    yield call.finding(
        f"`{call.short}` reads a list of arrays number by number",
        help=f"write `{array}({call.quoted(data)})`, or `np.stack`",
        fix=call.fix(
            "make one array",
            call.replace(data, f"{array}({call.source(data)})"),
            applicability="safe" if has_dtype(call) or all(map(is_of_one, lists)) else "unsafe",
            imports=imports,
        ),
        severity="info" if all(map(is_written_out, lists)) or runs_once(call) else "warning",
    )


def has_dtype(call: Call) -> bool:
    """Is an empty list of the same dtype as an empty array? torch takes float32 for it, NumPy float64."""
    return call.word().endswith("Tensor") or call.argument("dtype", 1) is not None


def is_written_out(made) -> bool:
    """`[state]`, `[left, right]`: a few arrays are read in less time than what is computed of them takes"""
    few = [] if made.path else getattr(made.node, "elts", [])  # an empty one is filled later
    return bool(few) and not any(isinstance(element, ast.Starred) for element in few)


def is_of_one(made) -> bool:
    """`[state]` has one dtype; of integers beside float32, torch makes float32 and NumPy float64"""
    return is_written_out(made) and len(made.node.elts) == 1


def runs_once(call: Call) -> bool:
    return not call.loops and (call.function is None or reads_a_table(call))


def reads_a_table(call: Call) -> bool:
    """Does it, or a function around it, load all data? Once takes a moment."""
    outer = call
    while outer.at(outer.function).function is not None:
        outer = outer.at(outer.function)
    tables = call.calls("read_csv", "read_excel", "genfromtxt", inside=outer.function)
    return bool(tables) and getattr(outer.function, "name", "") != "__getitem__"


@on_op("torch.tensor", needs="numpy")
def check_run(op):
    """What stands in a list may be known only when it runs, as in the memory of an agent."""
    shapes = op.arrays(0)
    if not op.guessed and len(shapes) > 1 and all(shapes):
        yield op.finding(
            f"a list of {len(shapes)} arrays is read number by number",
            help="join them with `np.stack` or `np.array` before",
            severity="info" if op.runs_once else "warning",
        )


def is_list_of_arrays(made) -> bool:
    if made.path:
        return is_column_of_arrays(made)
    if isinstance(made.node, (ast.List, ast.Tuple)) and made.node.elts:
        return all(is_array(made, element) for element in made.node.elts)
    if isinstance(made.node, ast.ListComp):
        return is_array(made, made.node.elt)
    only = made.only_appended
    return only is not None and is_array(made, only)


def is_column_of_arrays(made) -> bool:
    """`states` of `states, actions = zip(*batch)`, where each entry of the batch is a tuple"""
    number, call = made.path[0], made.node
    if len(made.path) != 1 or not isinstance(number, int) or made.word(call) != "zip" or len(call.args) != 1:
        return False
    rows = made.origins(call.args[0].value) if isinstance(call.args[0], ast.Starred) else []
    entries = [row.node.elt if isinstance(row.node, ast.ListComp) else row.only_appended for row in rows]
    return bool(entries) and all(
        isinstance(entry, ast.Tuple) and number < len(entry.elts) and is_array(row, entry.elts[number])
        for row, entry in zip(rows, entries)
    )


def is_array(place, node) -> bool:
    made = place.origins(node)
    return bool(made) and all(o.is_call(*ARRAYS) or o.is_call(".numpy") for o in made)
