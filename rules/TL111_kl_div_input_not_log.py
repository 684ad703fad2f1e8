"""Give `F.kl_div` log-probabilities as its first argument.

`F.kl_div(input, target)` expects the *logarithm* of the model's probabilities and plain probabilities as target (or
their logarithm with `log_target=True`). With probabilities as input the result is not a divergence: it can be negative,
and minimising it does not bring the distributions together.

```python bad
loss = F.kl_div(F.softmax(student, dim=1), F.softmax(teacher, dim=1), reduction="batchmean")  # TL111
```
```python fixed
loss = F.kl_div(F.log_softmax(student, dim=1), F.softmax(teacher, dim=1), reduction="batchmean")
```
```python bad
criterion = nn.KLDivLoss(reduction="batchmean")
p = torch.softmax(student / 2, dim=-1)
loss = criterion(p, torch.softmax(teacher / 2, dim=-1))  # TL111
```
```python good
p = F.log_softmax(student, dim=1)
loss = F.kl_div(p, F.softmax(teacher, dim=1), reduction="batchmean")
loss = F.kl_div(p, F.log_softmax(teacher, dim=1), log_target=True, reduction="batchmean")
loss = F.kl_div(F.softmax(student, dim=1).log(), F.softmax(teacher, dim=1), reduction="sum")  # noqa: TL105
loss = F.kl_div((F.softmax(student, dim=1) + 1e-8).log(), F.softmax(teacher, dim=1), reduction="batchmean")
```
"""

from torchlint import SAME_NUMBERS, Call, on_call

read_on = ("TL103", "TL105", "torch.nn.KLDivLoss", "torch.nn.functional.kl_div")

LOGARITHM = {"torch.softmax": "torch.log_softmax", "torch.nn.functional.softmax": "F.log_softmax"}


@on_call("torch.nn.functional.kl_div", "torch.nn.KLDivLoss()", needs="softmax|Softmax|sigmoid|Sigmoid|probs")
def check(call: Call):
    for origin in call.argument_origins("input", 0, SAME_NUMBERS):
        if origin.is_probability and not call.excludes(origin):
            yield call.finding(
                f"KL divergence is given probabilities by `{call.called(origin, 'input', 0)}` where it expects their logarithm",
                help="apply `log_softmax` to the first argument",
                fix=with_logarithm(call, origin),
                notes=[] if origin.node.lineno == call.node.lineno else [call.note(origin, "the probabilities")],
            )
            return


def with_logarithm(call: Call, origin: Call):
    written = {LOGARITHM.get(name) for name in origin.names}
    function = written.pop() if len(written) == 1 else None
    if (
        origin.node not in call.node.args
        or not function
        or (function.startswith("F.") and not call.name_is("F", "torch.nn.functional"))
    ):
        return None
    return call.fix("use log_softmax", call.replace(origin.node.func, function), applicability="unsafe")
