"""Keep what `x.to(device)` returns: a tensor stays where and what it is.

On a module, `.to()`, `.cuda()` and `.float()` change the module itself. On a tensor they return another tensor, as
`detach`, `unsqueeze` and `clamp` do. Written as a statement, that one is thrown away: the tensor is still on the CPU,
and the next layer says so only on a machine with a GPU; or nothing says so, and its numbers are used unclamped. Keep
what is returned, or, if all is well without it, remove the line.

A move that is lost is what matters, and a change of weights. Of a shape or a clamp of anything else, public code mostly
went on as well: a remark.

```python bad
model = nn.Linear(4, 2).cuda()
x = torch.stack(rows)
x.to("cuda")  # TL304
model(x)
```
```python fixed
model = nn.Linear(4, 2).cuda()
x = torch.stack(rows)
x = x.to("cuda")
model(x)
```
```python remark
def clipped(scores):
    ratio = torch.exp(scores)
    ratio.clamp(0.8, 1.2)  # TL304
    ratio.unsqueeze(0)  # TL304
    return ratio.sum()
```
```python bad
for x, target in loader:
    target.to("cuda")  # TL304
    loss = F.cross_entropy(model(x.cuda()), target)
```

Modules are changed themselves, as is a tensor by `clamp_`. What is no tensor for certain has a `to` of its own.

```python good
model = nn.Sequential(nn.Linear(4, 2), nn.ReLU())
model.to("cuda")
model.float()
x = torch.rand(3)
x.clamp_(0, 1)
x.requires_grad_()
for batch, graph in loader:
    graph.to("cuda")
for batch in torch.utils.data.DataLoader(texts):
    batch.to("cuda")
    model(**batch)
try:
    x.view(4)
except RuntimeError:
    x.backward()
```

Where a tensor may stay: `torchlint/source/answers/unmoved.py`; what is one: `certain_tensors.py` beside it; what was to
grow by `np.append(rows, x)` or `torch.cat([rows, x])`: `lost_joins.py`.
"""

import ast

from torchlint import Node, named, on_node, words
from torchlint.source.answers.certain_tensors import batch_around, has_fields, is_a_batch, is_used_as_tensor, record_of
from torchlint.source.answers.lost_joins import can_be_kept, lost_join
from torchlint.source.answers.unmoved import (
    is_awaited,
    is_learned,
    is_read_later,
    is_that_already,
    is_wanted,
    next_use,
    put_in_place,
    target_of,
    writes,
)

read_on = ("TL301", "TL303", "torch.Tensor.to")
in_tests = False

# The methods whose only work is what they return.
PURE = words(named("same_numbers", but="in_place", home=".") | named("clips", home=".") | named("pointwise", home="."))
COMPUTING = named("clips") | named("pointwise", but="in_place")  # `torch.clamp`, `F.relu`


@on_node("Expr", value=("Call", "Tuple", "ListComp", "SetComp", "GeneratorExp"))
def check(place: Node):
    value = getattr(place.node.value, "elt", place.node.value)  # `[x.to(d) for x in batch]`
    calls = value.elts if isinstance(value, ast.Tuple) else [value]  # `x.to(d), y.to(d)`
    if all(isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) for call in calls):  # no lost `return`
        for call in (one for one in calls if one.func.attr in PURE):
            yield from computed(place, call) if place.name(call.func) in COMPUTING else dropped(place, call)


@on_node("Expr", value="Call", needs="append|insert|delete|cat|stack")
def check_joined(place: Node):
    """`np.append(rows, x)`, where `rows` is read as if that had made it longer."""
    call = place.node.value
    if is_awaited(place.module, place.node) or isinstance(place.node.up, ast.Module) and shows(place):
        return
    if (grown := lost_join(place.module, call)) is not None:
        said, text = place.quoted(call), place.source(grown)
        fix = can_be_kept(grown) and place.replace(place.node, f"{text} = {place.source(place.node)}")
        yield place.finding(
            f"what `{said}` returns is dropped: `{text}` stays as it is",
            help=f"write `{text} = {said}`; of many, append to a list and join it once, behind the loop",
            fix=place.fix("keep it", fix, applicability="unsafe") if fix else None,
        )


def computed(place: Node, call: ast.Call):
    """`torch.clamp(delta, -1, 1)`, where `delta` is read as if that had changed it."""
    tensor = next(iter((*call.args, *(k.value for k in call.keywords if k.arg == "input"), None)))
    if writes(call) or not isinstance(tensor, ast.Name) or is_awaited(place.module, place.node):
        return
    if shows(place) or not is_read_later(place.module, tensor):
        return  # only its time is taken
    said, text = place.quoted(call), place.source(tensor)
    yield place.finding(
        f"what `{said}` returns is dropped: `{text}` stays as it is",
        help=f"write `{text} = {said}`, or remove the call if nothing needs it",
        at=call,
        severity="info",
    )


def dropped(place: Node, call: ast.Call):
    tensor = call.func.value
    is_told = place.is_told_to_be_tensor(tensor)
    is_entry = isinstance(tensor, ast.Subscript) and (is_told or place.is_tensor(tensor))
    is_part = isinstance(tensor, ast.Attribute) or is_entry
    owner = tensor.value if is_part else tensor  # what is an object's, others may replace
    record = record_of(place.module, tensor)
    if is_awaited(place.module, place.node) or shows(place) or not (record or isinstance(owner, ast.Name)):
        return
    is_own = "object" in place.kinds(tensor)  # of a class that may move and clamp what it holds
    is_used = isinstance(tensor, ast.Name) and not is_own and is_used_as_tensor(place.module, tensor, call.func.attr)
    whole = batch_around(place.module, tensor)
    is_plain = place.is_tensor(tensor) and not is_a_batch(place.module, tensor)
    is_one = is_told or is_used or is_plain or whole or record
    if not is_one or is_that_already(place.module, call) or has_fields(place.module, tensor):
        return
    is_parameter = "parameter" in place.kinds(tensor)  # its name takes no other tensor
    text, said = place.source(tensor), place.quoted(call)
    kept, alone = "" if record else target_of(place.module, tensor, place.node), call is place.node.value
    is_leaf = is_parameter or is_learned(place.module, tensor)  # which a result of an operation is no longer
    fix = alone and kept and not is_leaf and place.replace(place.node, f"{kept} = {place.source(place.node)}")
    help = f"write `{kept} = {said}`" if kept else "put what it returns where the tensor came from"
    help = "make the tensor as it is to be" if is_leaf else help
    help = "move the module that holds it" if is_parameter else f"{help}, or remove the call if nothing needs it"
    yield place.finding(
        f"what `{said}` returns is dropped: `{text}` stays as it is",
        help=put_in_place(place.module, call) or help,
        fix=place.fix("keep it", fix, applicability="unsafe") if fix else None,
        notes=[place.note(use, "and is used like that") for use in next_use(place.module, tensor, place.node)],
        at=call,
        severity="warning" if is_wanted(place.module, call, whole or tensor, record) else "info",
    )


def shows(place) -> bool:
    """A notebook prints what stands last in a cell."""
    return place.function is None and place.module.path.endswith(".ipynb")
