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

The same of a distribution that choices are drawn from: what it takes first are probabilities, and their logarithms, or
raw scores, are `logits`. It norms what it is given, so that mostly nothing fails and only the choices are others.

```python bad
policy = torch.distributions.Categorical(F.log_softmax(scores, dim=-1))  # TL111
action = torch.distributions.Categorical(logits=F.softmax(scores, dim=-1)).sample()  # TL111
```
```python good
policy = torch.distributions.Categorical(F.softmax(scores, dim=-1))
action = torch.distributions.Categorical(logits=F.log_softmax(scores, dim=-1)).sample()
```
"""

from torchlint import SAME_NUMBERS, Call, on_call

read_on = ("TL103", "TL105", "torch.nn.KLDivLoss", "torch.nn.functional.kl_div", "torch.distributions.Categorical")

# Where they take probabilities; logarithms come after them.
AT = {"Multinomial": 1, "RelaxedOneHotCategorical": 1, "RelaxedBernoulli": 1}

LOGARITHM = {"torch.softmax": "torch.log_softmax", "torch.nn.functional.softmax": "torch.nn.functional.log_softmax"}


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


@on_call(
    "torch.distributions.Categorical",
    "torch.distributions.OneHotCategorical",
    "torch.distributions.RelaxedOneHotCategorical",
    "torch.distributions.Multinomial",
    "torch.distributions.Bernoulli",
    "torch.distributions.RelaxedBernoulli",
    "torch.distributions.categorical.Categorical",
    "torch.distributions.one_hot_categorical.OneHotCategorical",
    "torch.distributions.multinomial.Multinomial",
    "torch.distributions.bernoulli.Bernoulli",
)
def of_choices(call: Call):
    position = max(AT.get(name.rpartition(".")[2], 0) for name in call.names)
    for origin in call.argument_origins("probs", position, SAME_NUMBERS):
        if (is_logarithm := takes_for_probabilities(origin)) is not None and not call.excludes(origin):
            what = "logarithms of probabilities" if is_logarithm else "raw scores"
            yield confused(call, origin, ("probs", position), f"takes {what} for probabilities", "logits")
            return
    for origin in call.argument_origins("logits", position + 1, SAME_NUMBERS):
        if origin.is_probability and not call.excludes(origin):
            yield confused(call, origin, ("logits", position + 1), "takes probabilities for their logarithms", "probs")
            return


@on_call("torch.multinomial", ".multinomial", needs="log_softmax|LogSoftmax|logsigmoid")
def of_places(call: Call):
    for origin in call.argument_origins("input", 0, SAME_NUMBERS):
        if takes_for_probabilities(origin) and not call.excludes(origin):
            yield confused(call, origin, ("input", 0), "takes logarithms of probabilities for probabilities", "exp")
            return


def takes_for_probabilities(origin: Call) -> bool | None:
    """True of a logarithm, False of a raw score, None of all else."""
    if origin.does("log_softmax", "logsigmoid"):
        return True
    return False if origin.is_raw_score else None


def confused(call: Call, origin: Call, argument: tuple[str, int], what: str, wanted: str):
    said = call.called(origin, *argument)
    return call.finding(
        f"`{call.word()}` {what}: `{said}`",
        help="apply `exp` to them" if wanted == "exp" else f"give it as `{wanted}=`",
        notes=[] if origin.node.lineno == call.node.lineno else [call.note(origin, "they are made here")],
    )


def with_logarithm(call: Call, origin: Call):
    written = {LOGARITHM.get(name) for name in origin.names}
    function = written.pop() if len(written) == 1 else None
    if origin.node not in call.node.args or not function:
        return None
    written, imports = call.spelled(function, origin.node.func)
    edit = call.replace(origin.node.func, written)
    return call.fix("use log_softmax", edit, applicability="unsafe", imports=imports)
