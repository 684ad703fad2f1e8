"""Do not put `lru_cache` around a function that is given tensors or a module.

A cache holds what it was asked with. Tensors are told apart by identity there: a batch is never met again, so the cache
answers nothing, and keeps the last 128 batches with their graphs and memory. Around a method it holds the module itself,
which is then not freed when the program lets go of it. Cache what depends on plain numbers, in a function.

This rule is off by default: a module that lives as long as the program loses nothing by it.

```python bad
from functools import lru_cache

@lru_cache(maxsize=None)  # TL615
def normalised(x: torch.Tensor):
    return x / x.norm()
```
```python good
from functools import lru_cache

@lru_cache(maxsize=None)
def causal_mask(length: int):
    return torch.ones(length, length).tril()
```
```python bad
import functools

class Block(nn.Module):
    @functools.cache  # TL615
    def scaled(self, steps):
        return steps + 1
```
```python good
import functools

class Config:
    @functools.lru_cache()
    def size(self, x):
        return x + 1

class Net(nn.Module):
    @staticmethod
    @functools.cache
    def positions(length):
        return torch.arange(length)

    @functools.cached_property
    def width(self):
        return 3
```
"""

import ast

from torchlint import Node, on_node

read_on = ("TL203", "torch.nn.Module")
default = False
added = "0.2"


@on_node("FunctionDef", needs="cache")
def check(place: Node):
    for decorator in place.node.decorator_list:
        made = decorator.func if isinstance(decorator, ast.Call) else decorator
        if place.name(made) in ("functools.lru_cache", "functools.cache"):
            first = place.node.args.args[:1]
            of_module = bool(first) and first[0].arg == "self" and place.at(place.node.body[0]).module_class is not None
            tensors = [a for a in place.node.args.args if place.is_tensor(a)]
            if of_module or tensors:
                what = "the modules whose method it is" if of_module else f"each `{tensors[0].arg}` it is given"
                yield place.finding(
                    f"the cache of `{place.node.name}` keeps {what} in memory",
                    help="cache a function of plain numbers",
                    at=decorator,
                )
