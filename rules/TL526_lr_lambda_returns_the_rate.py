"""Return a factor from the function of `LambdaLR`, not a learning rate.

`LambdaLR` multiplies the optimizer's own rate by what the function gives. A function that gives the rate itself, `lr *
0.95**epoch`, makes it the square of what was meant: 1e-6 instead of 1e-3, and training hardly moves. Return only the
factor, or make the optimizer with `lr=1`.

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
"""

import ast

from torchlint import Call, on_call

added = "0.2"
read_on = ("TL507", "TL521", "torch.optim.lr_scheduler.LambdaLR")

SMALL = 0.1  # equal numbers below it are no accident
MOST = 8  # results of one function that are looked at


@on_call("torch.optim.lr_scheduler.LambdaLR", needs=("LambdaLR", "lr"))
def check(call: Call):
    given, function = call.argument("optimizer", 0), call.argument("lr_lambda", 1)
    if given is None or function is None:
        return
    rates = [rate for made in call.objects(given) if (rate := _rate(made)) is not None]
    if len(rates) != 1 or rates[0].usual_number("lr", 1) == 1:
        return
    [made] = rates
    for results in map(_results, call.origins(function)):
        squared = next((one for one in results if _is_times(one, made)), None)
        if squared is not None:
            rate = made.quoted(made.argument("lr", 1))
            yield call.finding(
                f"`LambdaLR` multiplies the optimizer's rate, `{rate}`, by what holds it already: the rate is squared",
                help=f"return the factor alone, without `{rate}`, or make the optimizer with `lr=1`",
                notes=[squared.note(squared.node, "what the rate is multiplied by"), made.note(made, "the optimizer")],
            )
            return


def _rate(made):
    """The making of an optimizer of torch that is given its rate."""
    is_known = bool(made.names) and all(name.startswith("torch.optim.") for name in made.names)
    return made if is_known and made.argument("lr", 1) is not None else None


def _results(function):
    """What a function of `LambdaLR` returns."""
    if isinstance(function.node, ast.Lambda):
        return [function.at(function.node.body)]
    return [function.at(given) for given in getattr(function.node, "gives", ())[:MOST]]


def _is_times(result: Call, made: Call) -> bool:
    """Is it a product with the rate as a factor, and is nothing divided by that?"""
    rate = made.argument("lr", 1)
    factors = list(_factors(result.node))
    divisors = [n.right for n in ast.walk(result.node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div)]
    if len(factors) < 2 or any(_is_rate(result, part, made, rate) for d in divisors for part in ast.walk(d)):
        return False
    return any(_is_rate(result, factor, made, rate) for factor in factors)


def _factors(node: ast.expr):
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from (*_factors(node.left), *_factors(node.right))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        yield from (*_factors(node.left), node)
    else:
        yield node


def _is_rate(result: Call, factor: ast.AST, made: Call, rate: ast.expr) -> bool:
    if not isinstance(factor, (ast.Name, ast.Attribute, ast.Constant)):
        return False
    if isinstance(factor, ast.Constant) or isinstance(rate, ast.Constant):
        is_same = isinstance(factor, ast.Constant) and isinstance(rate, ast.Constant) and factor.value == rate.value
        return is_same and type(rate.value) is float and rate.value < SMALL
    if result.module is not made.module or result.quoted(factor) != made.quoted(rate):
        return False
    roots = [next(n for n in ast.walk(one) if isinstance(n, ast.Name)) for one in (factor, rate)]
    scopes = [root.at.lookup(root.id) for root in roots]
    return scopes[0] is scopes[1] and scopes[0] is not None or roots[0].id == "self"
