"""Collect tensors in a list and join them once: `torch.cat` in a loop copies all in each round.

`x = torch.cat([x, new])` makes a new tensor of everything so far. After a thousand rounds half a million rows have been
copied for a thousand. Append to a list, and call `torch.cat` behind the loop.

This rule is off by default: where each round needs what the rounds before have made (text that is generated, a cache of
keys and values) there is nothing to collect.

```python bad
found = torch.empty(0, 4)
for x in loader:
    found = torch.cat([found, x])  # TL707
```
```python bad
def features(model, loader):
    found = None
    for x, _ in loader:
        y = model(x)
        found = y if found is None else torch.cat((found, y), dim=0)  # TL707
    return found
```
```python good
found = []
for x in loader:
    found.append(x)
found = torch.cat(found)
```

What is read again in the loop has to be there.

```python good
def generate(model, tokens, n):
    for _ in range(n):
        logits = model(tokens)
        tokens = torch.cat([tokens, logits[:, -1:].argmax(-1)], dim=1)
    return tokens

def pad(rows, n):
    for row in rows:
        row = torch.cat([row, torch.zeros(n - len(row))])
        yield row

def decode(blocks, h, skips):
    for block in blocks:
        h = block(torch.cat([h, skips.pop()], dim=1))
    return h

for x in loader:
    y = torch.cat([x, x.flip(0)])
    both = torch.cat([y, x])
```
"""

import ast

from torchlint import Call, on_call

read_on = ("TL203", "torch.cat", "torch.stack")
default = False
in_tests = False


@on_call("torch.cat", "torch.concat", "torch.concatenate", "torch.vstack", "torch.hstack")
def check(call: Call):
    parts = call.argument("tensors", 0)
    statement = call.statement
    if not isinstance(parts, (ast.List, ast.Tuple)) or len(parts.elts) < 2 or not isinstance(statement, ast.Assign):
        return
    if statement.value is not call.node and not isinstance(statement.value, ast.IfExp):
        return  # a layer makes something else of it
    [name, *others] = statement.targets
    if others or not isinstance(name, (ast.Name, ast.Attribute)):
        return
    text = call.source(name)
    if text not in (call.source(parts.elts[0]), call.source(parts.elts[-1])):
        return
    if call.loops:
        loop = call.loops[0]
        if text in {call.source(n) for n in call.inside(type(name), of=loop) if not within(n, statement)}:
            return  # set anew, or read, in each round
    elif not any(only_collects(call, name, place) for place in call.callers):
        return
    yield call.finding(
        f"each round copies all of `{text}` to make it a little longer",
        help="append to a list, and join it behind the loop",
    )


def only_collects(call, name, place) -> bool:
    """`index.add(x)` in a loop that does nothing else with the object; what the method reads of it says whether it is
    the first time.
    """
    if not isinstance(name, ast.Attribute) or call.method_of is None or not place.loops or place.receiver is None:
        return False
    method, text, held = call.function, call.source(name), place.source(place.receiver)
    if call.source(name.value) != "self" or any(call.inside(ast.Return, of=method)):
        return False
    if not all(text in call.source(test) for test, _ in call.tests):
        return False  # there may be an end to it
    reads = [n for n in call.inside(ast.Attribute, of=method) if call.source(n) == text]
    if not all(within(read, call.statement) or is_first_time(read) for read in reads):
        return False
    if held == "self":
        return place.method_of is call.method_of and uses_data_alone(place, name.attr)
    others = [n for n in place.inside(type(place.receiver), of=place.loops[0]) if place.source(n) == held]
    return others == [place.receiver]


def uses_data_alone(place, collected: str) -> bool:
    """`self._add(self.encoder(x))`: of the object that collects, the loop uses only what it was given."""
    own = [n for n in place.inside(ast.Attribute, of=place.method_of) if place.source(n.value) == "self"]
    kept = [n for n in own if isinstance(n.ctx, ast.Store) and n.attr != collected]
    methods = {n.name for n in place.inside(ast.FunctionDef, of=place.method_of)}
    data, made = {n.attr for n in kept} - methods, [place.at(n).statement for n in kept]
    set_up = {n for part in made for n in place.inside(ast.Attribute, of=part) if isinstance(n.ctx, ast.Store)}
    uses = [n for part in (place.loops[0], *made) for n in place.inside(ast.Name, of=part) if n.id == "self"]
    return all(
        isinstance(use.up, ast.Attribute) and (use.up.attr in data or use.up is place.node.func or use.up in set_up)
        for use in uses
    )


def is_first_time(read) -> bool:
    """`if self.bank is None: self.bank = x`"""
    return isinstance(read.ctx, ast.Store) or isinstance(read.up, ast.Compare)


def within(node, statement) -> bool:
    while node is not None and node is not statement:
        node = node.up
    return node is statement
