"""Give a loss its target in the dtype it takes: classes as `.long()`, probabilities as `.float()`.

`cross_entropy` and `nll_loss` take the numbers of classes as int64 (or uint8), and raise for int32, for bool, and for
floats that are no probabilities: "expected target dtype to be Long or Byte, but got Int". `binary_cross_entropy`, with
logits or without, takes floats, and raises for integers and truth values. `mse_loss` and `l1_loss` take both.

```python bad
loss = F.cross_entropy(model(x), y.int())  # TL402
```
```python fixed
loss = F.cross_entropy(model(x), y.long())
```
```python good
loss = F.cross_entropy(model(x), y.byte()) + F.cross_entropy(model(x), y.float()) + F.mse_loss(model(x), y.int())
```
```python bad
criterion = nn.BCEWithLogitsLoss()
for x, y in loader:
    y = y.to(device).long()
    loss = criterion(model(x), y)  # TL402
    loss = criterion(model(x), torch.randint(0, 2, (8,)))  # TL402
```
```python fixed
criterion = nn.BCEWithLogitsLoss()
for x, y in loader:
    y = y.to(device).long()
    loss = criterion(model(x), y.float())
    loss = criterion(model(x), torch.randint(0, 2, (8,)).float())
```
```python good
criterion = nn.BCEWithLogitsLoss()
for x, y in loader:
    y = y.to(device).long()
    loss = criterion(model(x), y.float()) + criterion(model(x), y.type_as(x)) + criterion(model(x), F.one_hot(y) * 1.0)
```
```python bad
class Net(nn.Module):
    def training_step(self, batch, i):
        x, y = batch
        wrong = x.argmax(1) != y
        return F.binary_cross_entropy(self(x), wrong) + F.nll_loss(self(x), y.to(torch.float32))  # TL402, TL402
```
```python good
class Smooth(nn.Module):
    def forward(self, x, y):
        return -x.log_softmax(1).mean()

class Net(nn.Module):
    def __init__(self, smooth):
        super().__init__()
        self.loss = Smooth() if smooth else F.cross_entropy

    def training_step(self, batch, i):
        x, y = batch
        wrong = (x.argmax(1) != y).float() + self.loss(x, y.long())
        return F.binary_cross_entropy(self(x), wrong) + F.nll_loss(self(x), x.argmax(1))
```
"""

import ast

from torchlint import SAME_NUMBERS, Call, Origin, on_call

read_on = ("TL113", "TL902", "torch.nn.CrossEntropyLoss", "torch.nn.BCEWithLogitsLoss")
also_said_by = ("TL902",)
in_tests = False

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "bool")


@on_call(
    "torch.nn.functional.cross_entropy",
    "torch.nn.functional.nll_loss",
    "torch.nn.functional.binary_cross_entropy",
    "torch.nn.functional.binary_cross_entropy_with_logits",
    "torch.nn.CrossEntropyLoss()",
    "torch.nn.NLLLoss()",
    "torch.nn.BCELoss()",
    "torch.nn.BCEWithLogitsLoss()",
)
def check(call: Call):
    target = call.argument("target", 1)
    dtype = call.dtype(target) if target is not None else None
    if dtype is None:
        return
    if call.does("cross_entropy"):
        # floats are right where they are probabilities of the classes
        is_class = dtype in FLOATS and all(map(is_number_of_class, call.origins(target, SAME_NUMBERS)))
        wanted, refused = "int64", is_class or dtype not in ("int64", "uint8", *FLOATS)
    elif call.does("nll_loss"):
        wanted, refused = "int64", dtype not in ("int64", "uint8")
    else:
        is_binary = call.does("binary_cross_entropy", "binary_cross_entropy_with_logits")
        wanted, refused = input_dtype(call), is_binary and dtype in INTEGERS
    if refused:
        cast = {"int64": ".long()", "float32": ".float()"}.get(wanted, f".to(torch.{wanted})")
        yield call.finding(
            f"the target `{call.quoted(target)}` is {dtype}, which this loss refuses: it takes {wanted}",
            help=f"write `{cast}`",
            fix=call.fix(f"convert it to {wanted}", recast(call, target, cast)),
        )


def input_dtype(call: Call) -> str:
    """`binary_cross_entropy` of float64 takes no float32."""
    given = call.argument("input", 0)
    dtype = call.dtype(given) if given is not None else None
    return dtype if dtype in FLOATS else "float32"


def is_number_of_class(origin: Origin) -> bool:
    """`scores.argmax(1)`, or `torch.tensor([int(row["label"]) for row in rows])` of the rows of a batch: in whatever
    dtype, these are no probabilities.
    """
    batch = origin.collated(SAME_NUMBERS)
    return origin.does("argmax") or bool(batch) and all(o.does("argmax") or is_list_of_int(o) for o in batch)


def is_list_of_int(made: Origin) -> bool:
    data = made.argument("data", 0) if made.is_call("torch.tensor") else None
    listed = [o.node for o in made.origins(data)] if data is not None else []
    return bool(listed) and all(isinstance(n, ast.ListComp) and is_whole(made, n.elt) for n in listed)


def is_whole(made: Origin, element: ast.expr) -> bool:
    """`int(row["label"])`; `int(i == label)` of each class is one-hot."""
    return all(
        o.is_call("builtins.int") and not any(isinstance(n, ast.Compare) for n in ast.walk(o.node))
        for o in made.origins(element)
    )


def recast(call: Call, target: ast.expr, cast: str):
    """The target in another dtype: in the place of the cast it has, if it has one."""
    is_cast = isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute) and not target.args
    if is_cast and target.func.attr in ("int", "short", "bool", "float", "double", "half", "long", "char"):
        return call.replace(target, call.source(target.func.value) + cast)
    return call.with_suffix(target, cast)
