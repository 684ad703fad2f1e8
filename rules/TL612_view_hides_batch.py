"""Flatten with `torch.flatten(x, 1)`: `view(-1, n)` moves numbers between samples when `n` is wrong.

`x.view(-1, 64 * 7 * 7)` keeps the batch apart only as long as each sample has just so many numbers. With pictures of another
size the result has more or fewer rows than the batch, and samples are mixed. `torch.flatten(x, 1)` never touches the batch:
the next layer then says which size it does not fit. The dry run counts: where each sample is a row, or each frame of it, or
several whole samples are, nothing is said. Where nobody says how large the pictures are, a product is.

```python bad
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 64, 3, padding=1)
        self.fc = nn.Linear(64 * 7 * 7, 10)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = x.view(-1, 64 * 7 * 7)  # TL612
        return self.fc(x)

scores = Net()(torch.rand(4, 1, 14, 14))
```
```python bad
class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.fc = nn.Linear(8 * 13 * 13, 10)

    def forward(self, x):
        x = F.max_pool2d(self.conv(x), 2)
        return self.fc(x.view(-1, 8 * 13 * 13))  # TL612
```
```python bad
class Counter(nn.Module):
    def __init__(self, flat=600):
        super().__init__()
        self.flat = flat
        self.fc = nn.Linear(flat, 2)

    def forward(self, x):
        return self.fc(x.reshape((-1, self.flat)))  # TL612

totals = Counter()(torch.rand(30, 5, 10, 10))
```
```python good
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 64, 3, padding=1)
        self.fc = nn.Linear(64 * 14 * 14, 10)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).view(-1, 64 * 14 * 14))

scores = Net()(torch.rand(4, 1, 14, 14))
```
```python good
class Clips(nn.Module):
    def __init__(self, frames=5):
        super().__init__()
        self.frames = frames
        self.fc = nn.Linear(3 * 8 * 8, 16)
        self.head = nn.Linear(frames * 3 * 8 * 8, 2)

    def forward(self, clips):
        each = self.fc(clips.view(-1, 3 * 8 * 8))
        pictures = clips.flatten(0, 1)
        return each, self.head(pictures.view(-1, self.frames * 3 * 8 * 8))

each, whole = Clips()(torch.rand(6, 5, 3, 8, 8))
boxes = torch.rand(2, 7, 7, 36).view(-1, 2 * 2)
```
"""

import math
import re

from torchlint import on_op

read_on = ("TL611", "TL901", "torch.flatten")
default = False


@on_op(".view", ".reshape", "torch.reshape", needs="view(|reshape(")
def check(op):
    taken, made = op.argument("input", 0), op.result
    size = op.args[1] if len(op.args) == 2 and isinstance(op.args[1], (tuple, list)) else op.args[1:]
    if op.guessed or taken.is_open:
        if len(size) == 2 and size[0] == -1 and "*" in _written(op):
            yield op.finding(
                f"it mixes samples when `{_written(op)}` is not the size of one",
                help="write `torch.flatten(x, 1)`, which keeps the samples apart",
            )
        return
    if len(size) != 2 or size[0] != -1 or len(taken.shape) < 3 or 0 in made.shape:
        return
    rows, numbers = made.shape
    batch, sample = taken.shape[0], math.prod(taken.shape[1:])
    if numbers % sample == 0 or sample % numbers == 0 and not _has_all_channels(op, taken.shape, numbers):
        return
    yield op.finding(
        f"{rows} rows of {numbers} are made of a batch of {batch}, each sample of which has {sample} numbers",
        help="write `torch.flatten(x, 1)`, which keeps the samples apart, and fit the next layer to its size",
    )


def _written(op) -> str:
    """The second size, as it is written: `n` of `x.view(-1, n)` and of `x.reshape((-1, n))`"""
    return op.text(2) or op.text(1).strip("()[]").partition(",")[2].strip()


def _has_all_channels(op, shape: tuple[int, ...], numbers: int) -> bool:
    """Does a row of `64 * 7 * 7`, or of `self.flat` that is set so, speak of all 64 channels, which have more than
    7 * 7 places?
    """
    if len(shape) < 4 or numbers >= math.prod(shape[1:]):
        return False
    text, channels = _written(op), str(shape[1])
    factors = {factor.strip() for factor in text.split("*")}
    if len(factors) == 1 and re.fullmatch(r"[a-zA-Z_][\w.]*", text):
        products = op.file_writes(rf"\b{re.escape(text)} *= *([\w. ]*\*[\w. *]*)")
        factors = {factor.strip() for product in products for factor in product.split("*")}
        if len(products) != 1:
            return op.file_says(rf"\b{re.escape(text)} *= *(?=[\w *]*\*)[\w *]*\b{channels}\b")
    elif len(factors) == 1:
        return False
    return channels in factors or numbers % shape[1] == 0 and _channels_called(op, channels) in factors


def _channels_called(op, channels: str) -> str | None:
    """The one name that a convolution of this file can have its channels from, if none is made with just that number."""
    given = op.file_writes(r"\bConv\w{0,20}\([^,()]{1,60},([^,()]{1,60})[,)]")
    made = {one.strip().removeprefix("out_channels=") for one in given}
    names = {one for one in made if not one.isdigit()}
    return names.pop() if len(names) == 1 and channels not in made else None
