"""Tell `F.dropout` whether the model trains: `training=self.training`.

`nn.Dropout` knows from `model.eval()` that it must stop. The function `F.dropout` does not: its `training` is True unless
it is told, so that the network goes on dropping numbers when it is evaluated. Its scores are too low, and differ each
time. `F.scaled_dot_product_attention` does the same with its `dropout_p`.

```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        return self.fc(F.dropout(x, p=0.5))  # TL603
```
```python fixed
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)

    def forward(self, x):
        return self.fc(F.dropout(x, p=0.5, training=self.training))
```
```python bad
class Attention(nn.Module):
    def __init__(self, width, drop=0.1):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.drop = drop

    def attend(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        return F.scaled_dot_product_attention(q, k, v, dropout_p=self.drop)  # TL603

    def forward(self, x):
        x = nn.functional.dropout2d(x, 0.2, training=True)  # TL603
        return F.dropout2d(self.attend(x), self.drop)  # TL603
```
```python fixed
class Attention(nn.Module):
    def __init__(self, width, drop=0.1):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.drop = drop

    def attend(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        return F.scaled_dot_product_attention(q, k, v, dropout_p=self.drop if self.training else 0.0)

    def forward(self, x):
        x = nn.functional.dropout2d(x, 0.2, training=self.training)
        return F.dropout2d(self.attend(x), self.drop, training=self.training)
```
```python bad
def block(x, weight, p=0.2):
    return F.dropout(torch.relu(x @ weight), p)  # TL603

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 8))

    def forward(self, x):
        x = nn.Dropout(0.5)(block(x, self.weight))  # TL603
        drop = nn.Dropout2d(0.1)  # TL603
        return torch.dropout(drop(x), 0.5, True)  # TL603
```

It may be told in other words, run in training only, or be always on with intent.

```python good
class Net(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    @property
    def rate(self):
        return self.p if self.training else 0.0

    def forward(self, x):
        x = F.dropout(x, self.p, self.training)
        if self.training:
            x = F.dropout(x, self.p)
        p = self.p if self.training else 0
        x = F.scaled_dot_product_attention(x, x, x, dropout_p=p)
        x = F.scaled_dot_product_attention(x, x, x, dropout_p=0.0)
        x = F.scaled_dot_product_attention(x, x, x, dropout_p=self.rate)
        if self.training:
            x = nn.Dropout(0.5)(x)
        drop = nn.Dropout(0.1).train(self.training)
        x = F.alpha_dropout(drop(x), self.p)  # off unless it is told to be on
        return F.dropout(x, 0.0)

class Prenet(nn.Module):
    def forward(self, x):
        return F.dropout(F.relu(x), 0.5, training=True)

class Sampler(nn.Module):
    def monte_carlo(self, x):
        return F.dropout(x, 0.5)  # always on: each sample is another one

def block(x, p):
    return F.dropout(x, p)
```

How it is found: `torchlint/source/answers/always_on.py`.
"""

import ast

from torchlint import Call, ModuleClass, on_call, on_module
from torchlint.source.answers.always_on import is_always_on, is_moot, own_name, rates_of_callers, says_mode

read_on = ("TL610", "TL503", "torch.nn.functional.dropout", "torch.nn.Dropout")
in_tests = False

LAYERS = frozenset("Dropout Dropout1d Dropout2d Dropout3d AlphaDropout".split())


@on_call(
    "torch.nn.functional.dropout",
    "torch.nn.functional.dropout1d",
    "torch.nn.functional.dropout2d",
    "torch.nn.functional.dropout3d",
    "torch.nn.functional.alpha_dropout",
    "torch.nn.functional.feature_alpha_dropout",
    "torch.dropout",
)
def dropout(call: Call):
    told = call.argument("train" if call.is_call("torch.dropout") else "training", 2)
    function = call.fact.function if call.fact is not None else ""
    if not function or told is None and "alpha" in function:
        return  # these are off unless they are told
    if told is not None and not (isinstance(told, ast.Constant) and told.value is True):
        return
    if told is None and not call.has_stars:
        yield from told_by_callers(call, call.argument("p", 1))
    if (
        call.has_stars
        or call.number("p", 1) == 0
        or not is_always_on(call.value, call.argument("p", 1))
        or told is not None
        and says_mode(call.module, call.node)
    ):
        return
    is_told_here = told is None or told in list(call.inside(type(told)))
    may_be_told = is_told_here and is_of_self(call)
    fix = call.fix("tell it", set_training(call, told), applicability="unsafe") if may_be_told else None
    said = f"`{call.word()}`" if call.word() == function else f"`{call.quoted(call.node.func)}` is `{function}`, and"
    yield call.finding(
        f"{said} is on in eval mode too: "
        + ("nothing tells it whether the model trains" if told is None else "`training=True` says so"),
        help="pass `training=self.training`",
        fix=fix,
        # Whoever writes `training=True` out may want the noise.
        severity="info" if told is not None or is_moot(call.value, call.argument("p", 1)) else "warning",
    )


@on_call("torch.nn.functional.scaled_dot_product_attention", needs="dropout_p")
def attention(call: Call):
    p = call.argument_or_option("dropout_p", 4)
    yield from told_by_callers(call, p)
    if p is not None and call.number("dropout_p", 4) != 0 and is_always_on(call.value, p):
        text = call.source(p)
        fix = call.fix(
            "none in eval mode", call.replace(p, f"{text} if self.training else 0.0"), applicability="unsafe"
        )
        yield call.finding(
            f"the dropout of `{call.word()}` is on in eval mode too",
            help=f"pass `dropout_p={text} if self.training else 0.0`",
            fix=fix
            if not call.has_stars and is_of_self(call) and isinstance(p, (ast.Constant, ast.Attribute, ast.Name))
            else None,
            severity="info" if is_moot(call.value, p) else "warning",
        )


def told_by_callers(call: Call, rate):
    """A helper drops as much as the modules of other files say, and these say the same in each mode."""
    for caller, given in rates_of_callers(call.value, rate):
        user = call.at(caller)
        yield user.finding(
            f"`{user.word()}` drops with `{call.quoted(given)}` in eval mode too: nothing tells it whether the model trains",
            help=f"pass `{call.quoted(given)} if self.training else 0.0`",
            notes=[user.note(call, "it drops here")],
            severity="info" if is_moot(given, given.node) else "warning",
        )


@on_module(needs=("Dropout", "forward"))
def made_in_forward(cls: ModuleClass):
    for node, method in cls.made_anew:
        call = cls.at(node)
        if call.word() in LAYERS and call.number("p", 0) != 0 and is_always_on(call.value, call.argument("p", 0)):
            yield call.finding(
                f"`{call.word()}` is made anew in each `{method}`, in train mode: it drops in eval mode too",
                help="make it in `__init__` and keep it in an attribute",
                severity="info" if is_moot(call.value, call.argument("p", 0)) else "warning",
            )


def set_training(call: Call, told):
    mode = "self.training"
    return call.with_keyword("training", mode) if told is None else call.replace(told, mode)


def is_of_self(call: Call) -> bool:
    return own_name(call.module, call.node) == "self"
