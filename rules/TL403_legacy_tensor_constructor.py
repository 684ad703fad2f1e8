"""Write `torch.tensor(data)` or `torch.empty(n)`: `torch.Tensor(…)` is one or the other.

`torch.Tensor(3)` is three numbers that nobody has set, `torch.Tensor([3])` is one number, and `torch.Tensor(n)` is
whatever `n` happens to be. It is float32 for any data: labels lose their integers, float64 its digits. `torch.tensor`
keeps the dtype of the data, and takes `dtype=` and `device=`.

This rule is off by default: `nn.Parameter(torch.Tensor(n, m))`, which is filled later, is right, if old.

```python bad
x = torch.Tensor([1.0, 2.0])  # TL403
labels = torch.LongTensor([0, 1])  # TL403
weight = nn.Parameter(torch.Tensor(3, 4))  # TL403
```
```python fixed
x = torch.tensor([1.0, 2.0], dtype=torch.float32)
labels = torch.tensor([0, 1], dtype=torch.int64)
weight = nn.Parameter(torch.empty(3, 4))
```
```python bad
def batch(rows, n):
    return torch.FloatTensor(rows), torch.Tensor(n), torch.cuda.FloatTensor(n, 2)  # TL403, TL403, TL403
```
```python good
class Masked(torch.Tensor):
    pass

def batch(rows: torch.Tensor):
    assert isinstance(rows, torch.Tensor) and rows.type() == "torch.LongTensor"
    return rows.type(torch.FloatTensor), torch.tensor(rows.tolist()), Masked(rows)
```
"""

import ast

from torchlint import Call, on_call

read_on = ("TL401", "torch.tensor", "torch.empty")
default = False

DTYPES = {"Float": "float32", "Long": "int64", "Int": "int32", "Double": "float64", "Byte": "uint8", "Bool": "bool"}
LITERALS = (ast.List, ast.Tuple, ast.ListComp)
SIZES = (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.Constant)


@on_call(
    "torch.Tensor",
    "torch.FloatTensor",
    "torch.LongTensor",
    "torch.IntTensor",
    "torch.DoubleTensor",
    "torch.ByteTensor",
    "torch.BoolTensor",
    "torch.HalfTensor",
    "torch.cuda.FloatTensor",
    "torch.cuda.LongTensor",
    "torch.cuda.IntTensor",
    "torch.cuda.DoubleTensor",
    "torch.cuda.ByteTensor",
)
def check(call: Call):
    dtype = DTYPES.get(call.word().removesuffix("Tensor") or "Float")
    sizes, func = call.node.args, call.node.func
    name = new = None
    if dtype and not call.node.keywords and not any(n.startswith("torch.cuda") for n in call.names):
        if len(sizes) == 1 and isinstance(sizes[0], LITERALS):
            name, new = "tensor", f"({call.source(sizes[0])}, dtype=torch.{dtype})"
        elif dtype == "float32" and len(sizes) > 1 and all(isinstance(size, SIZES) for size in sizes):
            name, new = "empty", f"({', '.join(map(call.source, sizes))})"
    fix = None
    if new and isinstance(func, ast.Attribute) and not call.says("set_default_") and "#" not in call.text:
        home = call.source(func.value)  # `torch`, under the name that the file gave it
        text = f"{home}.{name}{new.replace('=torch.', f'={home}.')}"
        fix = call.fix(f"use `torch.{name}`", call.replace(call.node, text), applicability="unsafe")
    yield call.finding(
        f"`{call.short}` makes a tensor of {dtype or 'its own dtype'}, of data or of sizes",
        help=f"use `torch.{name}`" if name else "use `torch.tensor` for data, `torch.empty` for sizes",
        fix=fix,
    )
