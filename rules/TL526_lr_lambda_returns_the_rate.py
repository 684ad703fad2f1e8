"""Return a factor from the function of `LambdaLR`, not a learning rate.

`LambdaLR` multiplies the optimizer's own rate by what the function gives, and `MultiplicativeLR` the rate of now. A
function that gives the rate itself, `lr * 0.95**epoch`, makes it the square of what was meant: 1e-6 instead of 1e-3, and
training hardly moves. Return only the factor, or make the optimizer with `lr=1`.

```python bad
lr = 1e-3
optimizer = torch.optim.Adam(model.parameters(), lr=lr)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: lr * 0.95**epoch)  # TL526
```
```python bad
from torch.optim.lr_scheduler import LambdaLR

def setup(model, args):
    def rate(step):
        if step < args.warmup:
            return args.lr * step / args.warmup
        return args.lr * 0.5 ** (step // 1000)

    optimizer = torch.optim.SGD(model.parameters(), args.lr)
    return optimizer, LambdaLR(optimizer, lr_lambda=rate)  # TL526
```
```python bad
class Trainer:
    def __init__(self, model, lr=0.01):
        self.lr = lr
        self.optimizer = torch.optim.SGD(model.parameters(), lr=self.lr, momentum=0.9)
        decay = lambda epoch: 0.9**epoch * self.lr
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, decay)  # TL526
```

Right are factors, rates over a rate, and rates for an optimizer whose own is 1.

```python good
from torch.optim.lr_scheduler import LambdaLR

lr, least = 1e-3, 1e-5
optimizer = torch.optim.Adam(model.parameters(), lr=lr)
LambdaLR(optimizer, lambda epoch: 0.95**epoch)
LambdaLR(optimizer, lambda epoch: lr * 0.95**epoch / lr)
LambdaLR(optimizer, lambda epoch: max(least, 0.95**epoch * lr) / lr)
LambdaLR(optimizer, lambda epoch: min(1.0, (epoch + 1) / 5))
unit = torch.optim.Adam(model.parameters(), lr=1)
LambdaLR(unit, lambda epoch: lr * 0.95**epoch)
base = 1.0
other = torch.optim.Adam(model.parameters(), lr=base)
LambdaLR(other, lambda epoch: base * 0.95**epoch)
```

How it is found: `torchlint/source/answers/squared_rates.py`.
"""

from torchlint import Call, on_call
from torchlint.source.answers.squared_rates import squared

added = "0.2"
read_on = ("TL507", "TL521", "torch.optim.lr_scheduler.LambdaLR")


@on_call(
    "torch.optim.lr_scheduler.LambdaLR",
    "torch.optim.lr_scheduler.MultiplicativeLR",
    needs=("LambdaLR|MultiplicativeLR", "lr"),
)
def check(call: Call):
    given, function = call.argument("optimizer", 0), call.argument("lr_lambda", 1)
    if given is None or function is None:
        return
    made = [one for one in call.objects(given) if is_told_its_rate(one)]
    if len(made) != 1 or made[0].usual_number("lr", 1) == 1:
        return
    [optimizer] = made
    rate = optimizer.argument("lr", 1)
    result = squared(call.value.at(function, ()), optimizer.value.at(rate, ()))
    if result is not None:
        said = optimizer.quoted(rate)
        yield call.finding(
            f"`{call.word()}` multiplies the optimizer's rate, `{said}`, by what holds it already: the rate is squared",
            help=f"return the factor alone, without `{said}`, or make the optimizer with `lr=1`",
            notes=[call.note(result, "what the rate is multiplied by"), call.note(optimizer, "the optimizer")],
        )


def is_told_its_rate(made):
    """Is it the making of an optimizer of torch that is given its rate?"""
    is_known = bool(made.names) and all(name.startswith("torch.optim.") for name in made.names)
    return is_known and made.argument("lr", 1) is not None
