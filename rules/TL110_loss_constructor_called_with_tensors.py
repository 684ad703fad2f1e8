"""Make the loss or activation first, then call it: `nn.CrossEntropyLoss()(output, target)`.

The classes of `torch.nn` are constructors. `nn.ReLU(x)` does not compute anything: it makes a layer whose `inplace`
flag is the tensor, and the layer is passed on as if it were a result. `nn.MSELoss(output, target)` makes a loss with
odd options; the error comes later, or a layer instead of a number is passed to `backward()`.

```python bad
output = nn.Linear(8, 3)(x)
hidden = nn.ReLU(output)  # TL110
loss = nn.CrossEntropyLoss(output, y)  # TL110
```
```python fixed
output = nn.Linear(8, 3)(x)
hidden = nn.ReLU()(output)
loss = nn.CrossEntropyLoss()(output, y)
```
```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 3)

    def forward(self, x):
        return nn.Sigmoid(self.fc(x))  # TL110

prediction = nn.Linear(8, 1)(x)
loss = nn.MSELoss(prediction, y)  # TL110
pooled = nn.MaxPool2d(nn.Conv2d(3, 8, 3)(x), 2)  # TL110
```
```python good
weights = torch.tensor([1.0, 2.0, 3.0])
criterion = nn.CrossEntropyLoss(weights)
other = nn.CrossEntropyLoss(weights, None, -100)
weighted = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0]))
hidden = nn.ReLU()(nn.Linear(8, 3)(x))
act = nn.ReLU(True)
loss = nn.CrossEntropyLoss()(hidden, y)
prelu = nn.PReLU(4)
```
"""

import ast

from torchlint import Call, on_call

read_on = ("TL513", "torch.nn.CrossEntropyLoss", "torch.nn.functional.cross_entropy")


@on_call(
    "torch.nn.ReLU",
    "torch.nn.Sigmoid",
    "torch.nn.Tanh",
    "torch.nn.GELU",
    "torch.nn.SiLU",
    "torch.nn.ELU",
    "torch.nn.LeakyReLU",
    "torch.nn.Softplus",
    "torch.nn.Softmax",
    "torch.nn.LogSoftmax",
    "torch.nn.Dropout",
    "torch.nn.Flatten",
    "torch.nn.Mish",
    "torch.nn.ReLU6",
    "torch.nn.Hardswish",
    "torch.nn.MaxPool1d",
    "torch.nn.MaxPool2d",
    "torch.nn.AvgPool1d",
    "torch.nn.AvgPool2d",
    "torch.nn.AdaptiveAvgPool1d",
    "torch.nn.AdaptiveAvgPool2d",
    "torch.nn.Dropout1d",
    "torch.nn.Dropout2d",
)
def activation(call: Call):
    if call.node.args and call.is_tensor(call.node.args[0]) and not is_called(call) and not is_option(call):
        yield finding(call, 1)


@on_call(
    "torch.nn.MSELoss",
    "torch.nn.L1Loss",
    "torch.nn.SmoothL1Loss",
    "torch.nn.CrossEntropyLoss",
    "torch.nn.NLLLoss",
    "torch.nn.BCELoss",
    "torch.nn.BCEWithLogitsLoss",
    "torch.nn.KLDivLoss",
    "torch.nn.HuberLoss",
)
def loss(call: Call):
    if len(call.node.args) >= 2 and (
        call.is_tensor(call.node.args[0])
        and (call.requires_grad(call.node.args[0]) is True or call.is_tensor(call.node.args[1]))
        or is_reckoned_with(call)
    ):
        yield finding(call, 2)


def is_reckoned_with(call: Call) -> bool:
    """Is what comes of it taken for a number: `loss.backward()`, `loss.item()`, `loss + penalty`?"""
    return any(
        isinstance(read.up, ast.Attribute)
        and read.up.attr in ("backward", "item", "detach")
        or isinstance(read.up, (ast.BinOp, ast.AugAssign))
        for read in reads_of(call)
    )


def reads_of(call: Call) -> list[ast.expr]:
    """Where what it makes is used."""
    around = call.node.up
    return call.uses(around.targets[0]) if isinstance(around, ast.Assign) else [call.node]


def is_called(call: Call) -> bool:
    """`nn.Dropout(rate)(x)`: whatever it is made with, it is meant as an option."""
    return any(isinstance(read.up, ast.Call) and read.up.func is read for read in reads_of(call))


def is_option(call: Call) -> bool:
    """`nn.Dropout(torch.tensor(0.1))`: a number as a tensor is what a layer can be made with."""
    return call.rank(call.node.args[0]) == 0


def is_taken_for_a_result(call: Call) -> bool:
    """Would a layer be wrong there? It is reckoned with, or nobody makes a loss with what belongs to a graph."""
    return is_reckoned_with(call) or call.requires_grad(call.node.args[0]) is True


def finding(call: Call, inputs: int):
    made = call.source(call.node.func)
    # What is given besides the inputs is an option; a pool cannot be made without any.
    is_all = len(call.node.args) == inputs and not call.node.keywords and "Pool" not in call.word()
    called = f"{made}(){call.text[len(made) :]}"
    return call.finding(
        f"`{call.short}` makes a layer and passes it the tensor as an option; nothing is computed",
        help=f"make it first: `{made}()(…)`",
        fix=call.fix(
            "call the made object",
            call.replace(call.node, called),
            applicability="safe" if is_taken_for_a_result(call) else "unsafe",
        )
        if is_all and not call.has_stars
        else None,
        severity="error",
    )
