"""Start Adam with a small learning rate: with 0.1 and more its weights jump by that much in each step.

Adam divides by the size of the gradients, so that each weight moves by about `lr` in a step, however small its gradient
is. Weights of a layer are about 0.1 themselves. 0.1 is a rate for SGD; for Adam it is 0.001, give or take.

This rule is off by default: to fit a few numbers of a picture or a curve, large steps may be right.

```python bad
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)  # TL521
other = torch.optim.AdamW(model.parameters(), 1.0)  # TL521
```
```python good
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
plain = torch.optim.SGD(model.parameters(), lr=0.1)
image = torch.optim.Adam([pixels], lr=0.1)
given = torch.optim.Adam(model.parameters(), lr=args.lr)
```
"""

import ast

from torchlint import Call, on_call

read_on = ("TL511", "torch.optim.Adam")
default = False
in_tests = False


@on_call("torch.optim.Adam", "torch.optim.AdamW", "torch.optim.NAdam", "torch.optim.RAdam", "torch.optim.RMSprop")
def check(call: Call):
    rate, params = call.number("lr", 1), call.argument("params", 0)
    of_model = isinstance(params, ast.Call) and call.word(params) == "parameters"
    if rate is not None and rate >= 0.1 and of_model and not call.says("OneCycleLR", "LambdaLR", "CyclicLR"):
        yield call.finding(
            f"`lr={rate}` moves each weight by about {rate} in each step of {call.word()}", help="start with 1e-3"
        )
