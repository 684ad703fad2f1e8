"""Give a loss predictions and targets of one shape.

A network with one output gives a column, `(N, 1)`; the targets are often a row of numbers, `(N,)`. torch then does not
compare them one by one: it spreads both to `(N, N)` and compares every prediction with every target. No error, only a
warning that scrolls by, and the best the network can do is to predict the mean. With perfect predictions of unit normal
targets the loss is 2 instead of 0. Take the last axis off the column, or give the targets one.

torchlint sees it in the dry run, where every tensor has its shape.

```python bad
net = nn.Linear(4, 1)
x, y = torch.randn(30, 4), torch.randn(30)
loss = nn.MSELoss()(net(x), y)  # TL905
loss.backward()
```
```python fixed
net = nn.Linear(4, 1)
x, y = torch.randn(30, 4), torch.randn(30)
loss = nn.MSELoss()(net(x).squeeze(-1), y)
loss.backward()
```
```python good
net = nn.Linear(4, 1)
x, y = torch.randn(30, 4), torch.randn(30)
loss = nn.MSELoss()(net(x), y.unsqueeze(1))
loss.backward()
```

A difference that is squared, or made positive, and averaged is a loss too.

```python bad
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
x = torch.randn(16, 4)
y = x.sum(dim=1)
loss = ((net(x) - y) ** 2).mean()  # TL905
loss.backward()
```
```python fixed
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
x = torch.randn(16, 4)
y = x.sum(dim=1)
loss = ((net(x).squeeze(-1) - y) ** 2).mean()
loss.backward()
```

Shapes that differ on purpose: every pair is wanted, several quantiles are predicted for each target, one number is
compared with all, a mask weighs.

```python good
scores = nn.Linear(4, 1)(torch.randn(16, 4)).squeeze(-1)
ranks = torch.randn(16)
pairs = (scores.unsqueeze(1) - scores).abs().mean()
distances = ((ranks[:, None] - ranks) ** 2).mean()
table = F.mse_loss(ranks.unsqueeze(1), ranks, reduction="none")
```
```python good
quantiles = torch.tensor([0.1, 0.5, 0.9])
predicted, target = nn.Linear(4, 3)(torch.randn(16, 4)), torch.randn(16, 1)
error = target - predicted
loss = torch.max(quantiles * error, (quantiles - 1) * error).mean()
spread = ((target - predicted) ** 2).mean()
```
```python good
predicted = nn.Linear(4, 1)(torch.randn(16, 4))
anchor = ((predicted - torch.tensor(0.5)) ** 2).mean()
centred = ((predicted - predicted.mean(dim=0)) ** 2).mean()
mask = torch.ones(16, 1)
weighted = (mask * (predicted - torch.randn(16, 1)) ** 2).mean()
least_squares_gan = F.mse_loss(predicted, torch.ones_like(predicted))
```

How a loss by hand is read: `torchlint/source/answers/spread_differences.py`; classes that are chosen over a whole batch
and compared with all its labels, `(scores.argmax() == y).float().mean()`: `chosen_across.py` beside it.
"""

from torchlint import Node, named, named_of, on_node, on_op, shape_text, words
from torchlint.source.answers.chosen_across import chosen_across
from torchlint.source.answers.spread_differences import column_of, difference_of

hears_others = True
read_on = ("TL113", "TL114", "notes/broadcasting", "torch.nn.functional.mse_loss")

# What leaves the numbers of a layer where they are, and the tests of a loss by hand.
_POINTWISE = words(named("pointwise", but="broadcasts") | named("clips") | named_of("dropout"))
_FAR = 64  # operations
_WITHOUT_AXIS = {"squeeze", "flatten", "view", "reshape", "getitem", "select", "ravel"}
_LAYERS = {"linear", "bilinear", "addmm", "matmul", "conv1d"}
_DATA = words(named("creates") | named("joins") | named_of("as_tensor", "index_select"))


@on_op(
    "torch.nn.functional.mse_loss",
    "torch.nn.functional.l1_loss",
    "torch.nn.functional.smooth_l1_loss",
    "torch.nn.functional.huber_loss",
    needs="mse_loss|MSELoss|l1_loss|L1Loss|huber_loss|HuberLoss",
)
def check(op):
    first, second = op.argument("input", 0), op.argument("target", 1)
    column = column_of(first, second)
    if column is None:
        yield from _spread_before(first, second)
        return
    maker = getattr((first, second)[column].made_by, "name", "")
    if op.argument("reduction", 99) != "none" or maker not in ("unsqueeze", "getitem", "view", "reshape"):
        yield _finding(op, column, first, second)


@on_op(".mean", "torch.mean", ".sum", "torch.sum", needs=("mean|sum", "backward"), called="sub")
def check_by_hand(op):
    made, is_positive = difference_of(op.argument("input", 0))
    if not is_positive:
        return
    first, second = made.argument("input", 0), made.argument("other", 1)
    column = column_of(first, second)
    one, other = (first, second)[column], (first, second)[1 - column]
    made_alike = _maker(one, _POINTWISE) == _maker(other, _POINTWISE | _WITHOUT_AXIS)  # every pair of scores
    if _comes_from(one, _LAYERS) and not made_alike or _is_data(one) and _comes_from(other, _LAYERS, _WITHOUT_AXIS):
        yield _finding(made, column, first, second)


@on_node("Compare", needs="argmax")
@on_node("Call", called=("eq", "ne"), needs="argmax")
def check_classes(place: Node):
    """`(logits.argmax() == y).float().mean()`"""
    if (found := chosen_across(place.module, place.node)) is not None:
        said = place.quoted(found.call)
        yield place.finding(
            f"`{said}` chooses over {found.over}, and is compared with the label of each sample",
            help="choose among the classes of each sample: `.argmax(dim=1)`, or `dim=-1` where they stand last",
            notes=[place.note(found.call, "chosen here")],
        )


def _spread_before(first, second):
    """The operation that spread a column and a row to a table whose rows a column is compared with now."""
    shapes = [getattr(one, "shape", ()) for one in (first, second)]
    size = max(shapes, key=len)[:1]
    if size > (1,) and (*size, 1) in shapes and size * 2 in shapes:
        for made in (first, second)[shapes.index(size * 2)].behind():
            taken = made.argument("input", 0), made.argument("other", 1)
            column = column_of(*taken)
            if column is not None:
                yield _finding(made, column, *taken)
                return


def _comes_from(tensor, names, through=frozenset()):
    """Whether operations of these names made a tensor, but for what changes each number by itself."""
    return getattr(_maker(tensor, _POINTWISE | through), "name", "") in names


def _is_data(tensor):
    made = _maker(tensor, _POINTWISE)
    return made is None or made.name in _DATA


def _maker(tensor, through):
    """The operation that made a tensor, behind those of some names."""
    made = tensor.made_by
    for _ in range(_FAR):
        if made is None or made.name not in through:
            break
        made = getattr(made.argument("input", 0), "made_by", None)
    return made


def _finding(op, column, first, second):
    shown = [
        f"`{text}`" if text and len(text) < 40 else word
        for text, word in zip((op.text(0), op.text(1)), ("one side", "the other"))
    ]
    size = (first, second)[1 - column].shape
    return op.finding(
        f"{shown[0]} is {shape_text(first.shape)} and {shown[1]} is {shape_text(second.shape)}: both are spread to"
        f" {shape_text((*size[:-1], size[-1], size[-1]))}, each is compared with all",
        help="give both the same shape: `.squeeze(-1)` for the column, or `.unsqueeze(-1)` for the other",
        fix=op.with_suffix(column, ".squeeze(-1)", "take the last axis off"),
    )
