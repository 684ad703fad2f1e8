"""Let all ranks take part in `barrier`, `all_reduce` and the like: each waits for all others.

A collective operation ends when each process of the group has called it. Below `if rank == 0:` only one does: it waits
there until the timeout of half an hour, while the others run on, or wait at their own next one.

```python bad
import torch.distributed as dist

def save(model, rank):
    if rank == 0:
        torch.save(model.state_dict(), "model.pt")
        dist.barrier()  # TL520
```
```python good
import torch.distributed as dist

def save(model, rank):
    if rank == 0:
        torch.save(model.state_dict(), "model.pt")
    dist.barrier()
```
```python bad
import torch.distributed as dist

def report(loss):
    if dist.get_rank() == 0:
        dist.all_reduce(loss)  # TL520
        print(loss.item())
```

Branches that call it in pairs are a way to let one rank go first, or to tell the others that it ends.

```python good
import torch.distributed as dist

def download(rank, path):
    if rank != 0:
        dist.barrier()
    data = fetch(path)
    if rank == 0:
        dist.barrier()
    return data

class FirstAlone:
    def __enter__(self):
        if self.rank != 0:
            dist.barrier()

    def __exit__(self, *error):
        if self.rank == 0:
            dist.barrier()

def minimise(optimizer, model, signal, rank):
    def closure():
        if rank == 0:
            dist.broadcast(signal.fill_(1), src=0)
        return loss_of(model)

    if rank == 0:
        optimizer.step(closure)
    while rank != 0:
        dist.broadcast(signal, src=0)
        closure()

def spread(x, rank, group):
    if rank == 0:
        dist.broadcast(x, src=0)
    else:
        x = torch.empty(3)
        dist.broadcast(x, src=0)
    if rank == 0:
        dist.all_reduce(x, group=group)
    return x

def train(rank, stop, rounds):
    for epoch in range(rounds):
        dist.all_reduce(stop)
        if stop.item():
            break
        if fit() and rank == 0:
            dist.all_reduce(torch.ones(1))
            break
```
"""

import ast
import re

from torchlint import Call, on_call

read_on = ("TL515", "distributed#collective-functions")
in_tests = False

RANK = re.compile(r"(\w*_)?rank|rank\w*|is_(main|master)(_process)?|is_rank_?(0|zero)|main_process|master(_process)?")


@on_call(
    "torch.distributed.barrier",
    "torch.distributed.all_reduce",
    "torch.distributed.all_gather",
    "torch.distributed.all_gather_object",
    "torch.distributed.broadcast",
    "torch.distributed.broadcast_object_list",
    "torch.distributed.reduce",
    "torch.distributed.gather",
    without="group",
)
def check(call: Call):
    chosen = next((test for test, truth in call.tests if truth and is_one_rank(call, test)), None)
    if chosen is None:
        return
    others = [c for c in call.calls(call.word(), inside=around(call)) if c.node is not call.node]
    if any(ranks(other) for other in others):
        return  # paired: each rank comes to one of them
    if is_told_to_stop(call, others):
        return
    yield call.finding(
        f"`{call.short}` runs below `if {call.quoted(chosen)}:` and waits for ranks that do not come",
        help="call it on all ranks, outside of the condition",
    )


def is_told_to_stop(call, others) -> bool:
    """Does it meet the call with which the others begin their next round, as this rank leaves the loop?"""
    shared = [loop for loop in call.loops if any(loop in other.loops for other in others)]
    return any(leaving.lineno > call.node.lineno for loop in shared for leaving in call.inside(ast.Break, of=loop))


def around(call):
    """The class, the file, or the outermost of the functions around it: a closure runs where that one says."""
    function = call.function
    while function is not None and (outer := call.at(function).function) is not None:
        function = outer
    return call.method_of or function or call.module.tree


def is_one_rank(call, test) -> bool:
    """`rank == 0`, `dist.get_rank() == 0`, `is_main_process()`."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        [other] = test.comparators
        return isinstance(other, ast.Constant) and other.value == 0 and bool(RANK.fullmatch(word(call, test.left)))
    return bool(re.match("is_|main_|master_", word(call, test))) and bool(RANK.fullmatch(word(call, test)))


def word(call, node) -> str:
    return call.word(node).lower().removeprefix("get_") if isinstance(node, (ast.Name, ast.Attribute, ast.Call)) else ""


def ranks(call) -> bool:
    """Does a condition around it ask for a rank?"""
    return any(
        "rank" in call.source(test) or "main" in call.source(test) or "master" in call.source(test)
        for test, _ in call.tests
    )
