"""Keep a denominator that can be exactly zero away from zero.

The sum or norm of a ReLU output is 0 whenever all of it was negative, and that happens sooner or later for some sample.
The division gives NaN (or inf), the NaN reaches the loss, and after one step all weights are NaN. Add a small constant,
`clamp` the denominator, or use `F.normalize`, which does.

```python bad
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        weights = torch.relu(self.fc(x))
        return weights / weights.sum(dim=1, keepdim=True)  # TL106
```
```python fixed
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        weights = torch.relu(self.fc(x))
        return weights / (weights.sum(dim=1, keepdim=True) + 1e-8)
```
```python bad
features = F.relu(nn.Conv2d(3, 8, 3)(images)).flatten(1)
length = features.norm(dim=1, keepdim=True)
features = features / length  # TL106
total = torch.sum(nn.ReLU()(scores))
share = scores.div(total)  # TL106
```
So is the number of the triplets that still violate a margin, and there is no mean of none of them.

```python bad
cost = torch.relu(near - far + margin)
loss = cost.sum() / (cost > 0).sum()  # TL106
```
```python fixed
cost = torch.relu(near - far + margin)
loss = cost.sum() / (cost > 0).sum().clamp(min=1)
```
```python good
weights = torch.relu(scores)
a = weights / (weights.sum(dim=1, keepdim=True) + 1e-8)
b = weights / weights.sum(dim=1, keepdim=True).clamp(min=1e-6)
c = weights / (1e-5 + weights.norm(dim=1, keepdim=True))
total = weights.sum()
if total > 0:
    d = weights / total
p = torch.exp(scores)
e = p / p.sum(dim=1, keepdim=True)
direction = scores / scores.norm(dim=-1, keepdim=True)
mean = (losses * mask).sum() / mask.sum()
f = (torch.relu(scores) + 1e-6) / (torch.relu(scores) + 1e-6).sum()
```

So is the number of what was drawn at random, `(torch.rand(64, 12) < 0.1).sum(1)`, for some row of 12: the dry run knows
the sizes.

How it is found what is counted: `torchlint/source/answers/nothing_chosen.py`, of graphs `lone_rows.py` beside it, and
what is summed `sums_of_relus.py`.
"""

import ast

from torchlint import Call, Node, on_call, on_node, on_op
from torchlint.source.answers.lone_rows import empty_rows
from torchlint.source.answers.nothing_chosen import hinge_chosen_from, hinge_counted, is_asked_before, is_compared
from torchlint.source.answers.sums_of_relus import relu_summed, relu_totalled

read_on = ("TL107", "torch.clamp", "torch.nn.functional.normalize")
hears_others = True

# What asks whether there is something, or takes care of what is NaN.
GUARDS = r"nan|isfinite|where\(|masked_fill|\.(any|all|eq|ne|gt)\(|([=!]=|[<>]) *0(\.0*)?(?![.\d])|[<>]=? *1(?![.\d])"

CUT_OFF = "is 0 where the ReLU has cut everything off: the division gives NaN"
KEEP_OFF = "add a small constant to the denominator, or use `F.normalize`"


@on_node("Div", needs="relu|ReLU|clamp|maximum|cdist|fill_diagonal_")
def division(place: Node):
    yield from judge(place, place.node.right)


@on_call(
    ".div",
    "torch.div",
    "torch.true_divide",
    needs="relu|ReLU|clamp|maximum|cdist|fill_diagonal_",
    without="rounding_mode",
    unknown=True,
)
def method(call: Call):
    if (denominator := call.argument("other", 1)) is not None:
        yield from judge(call, denominator)


@on_call(".mean", "torch.mean", needs="relu|ReLU|clamp|maximum", without="dim", unknown=True)
def mean(call: Call):
    chosen = call.argument("input", 0)
    hinge = hinge_chosen_from(call.value.at(chosen, ())) if chosen is not None else None
    if hinge is not None and not is_asked_before(call.value, chosen, hinge):
        yield call.finding(
            f"`{call.short}` is NaN as soon as all are cut off: there is no mean of nothing",
            help="divide the sum by their number, kept away from 0: `.sum().clamp(min=1)`",
            notes=[call.note(hinge, "cut off here")],
        )


def judge(place, denominator: ast.expr):
    if any(place.names_in(test) & place.names_in(denominator) for test, _ in place.tests):
        return
    hinge = hinge_counted(place.value.at(denominator, ()))
    if hinge is not None and not is_asked_before(place.value, denominator, hinge):
        yield place.finding(
            f"`{place.quoted(denominator)}` is 0 as soon as all are cut off: the division gives NaN",
            help="keep the number away from 0: `.clamp(min=1)` of a tensor, `max(…, 1)` of a plain number",
            fix=at_least_one(place, denominator),
            notes=[place.note(hinge, "cut off here")],
        )
        return
    count = place.value.at(denominator, ())
    graph = empty_rows(place.value, denominator)
    if graph is not None:
        yield place.finding(
            f"`{place.quoted(denominator)}` is 0 for a row of the graph that is empty: the division gives NaN",
            help="a node may have no neighbour: keep the number away from 0, `.clamp(min=1)`",
            fix=at_least_one(place, denominator),
            notes=[place.note(graph, "these are neighbours")],
        )
        return
    relu = relu_summed(count)
    if relu is not None and not is_compared(count) and not is_asked_before(place.value, denominator, relu):
        text = place.quoted(denominator)
        added = place.replace(denominator, f"({place.source(denominator)} + 1e-8)")
        fix = place.fix("add 1e-8", added, applicability="unsafe")
        said = f"`{text if len(text) < 50 else 'the denominator'}` {CUT_OFF}"
        yield place.finding(said, help=KEEP_OFF, fix=fix, notes=[place.note(relu, "the ReLU")])


@on_op(".div", ".truediv", "torch.div", "torch.true_divide", needs=("rand(|rand_like(|randint(", "sum(|torch.sum"))
def by_chance(op):
    yield from judge_draw(op, getattr(op.argument("other", 1), "may_count_none", None))


@on_op(".div", ".truediv", "torch.div", "torch.true_divide", needs=("randint(", "index_add|scatter_add"))
def by_drawn_places(op):
    if getattr(op.argument("input", 0), "filled_by", None):  # of `1 / count` those may be picked that are there
        yield from judge_draw(op, getattr(op.argument("other", 1), "may_leave_some_out", None))


@on_op(".div", ".truediv", "torch.div", "torch.true_divide", needs=("norm(|sum(|torch.sum",))
def by_cut_off_rows(op):
    """`x / x.norm(dim=1, keepdim=True)` in a helper that is handed what a ReLU gives"""
    relu = relu_totalled(op.argument("other", 1))
    if relu is not None and not (op.file_says(GUARDS) or relu.file_says(GUARDS)):
        said = f"`{op.text(1) or 'the denominator'}` {CUT_OFF}"
        yield op.finding(said, help=KEEP_OFF, notes=[relu.note("the ReLU")])


def judge_draw(op, drawn):
    if drawn is not None and not (op.file_says(GUARDS) or drawn.file_says(GUARDS)):
        said = f"`{op.text(1) or 'the denominator'}` is 0 where nothing was drawn: the division gives NaN"
        help, fix = (
            "keep the number away from 0: `.clamp(min=1)`",
            op.with_suffix(1, ".clamp(min=1)", "count 1 at least"),
        )
        yield op.finding(said, help=help, fix=fix, notes=[drawn.note("drawn here, seldom enough")])


def at_least_one(place, count: ast.expr):
    text = place.source(count) if isinstance(count, (ast.Name, ast.Call)) else f"({place.source(count)})"
    fix = place.replace(count, f"{text}.clamp(min=1)") if place.is_tensor(count) else None
    return place.fix("count 1 at least", fix, applicability="unsafe") if fix else None
