"""Give a program values that its own checks accept.

The `assert` or `raise` was written for this: the image does not divide into patches, the width not into heads, the name
of the loss is misspelled. torchlint runs the script without data, comes to the check with values that stand in the
program, and quotes the author.

```python bad
class Patches(nn.Module):
    def __init__(self, image, patch):
        super().__init__()
        assert image % patch == 0, "the image must divide into patches"  # TL908
        self.cut = nn.Conv2d(3, 64, patch, stride=patch)

    def forward(self, x):
        return self.cut(x).flatten(2)


patches = Patches(image=225, patch=16)
```
```python good
class Patches(nn.Module):
    def __init__(self, image, patch):
        super().__init__()
        assert image % patch == 0, "the image must divide into patches"
        self.cut = nn.Conv2d(3, 64, patch, stride=patch)

    def forward(self, x):
        return self.cut(x).flatten(2)


patches = Patches(image=224, patch=16)
```
```python bad
def activation(name):
    if name == "relu":
        return nn.ReLU()
    if name == "gelu":
        return nn.GELU()
    raise ValueError(f"no activation is called {name}")  # TL908


net = nn.Sequential(nn.Linear(4, 8), activation("Relu"))
```

Shapes that stand in annotations of [jaxtyping](https://docs.kidger.site/jaxtyping/) are such a check: they are tried as
inputs, and what is given and returned is compared with them, whether or not a type checker does so when the program
runs. A comment behind an assignment (`x = self.conv(x)  # (b, 16, h, w)`) that says another number is a remark for those
who select TL908.

```python bad
from jaxtyping import Float
from torch import Tensor


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(64, 10)

    def forward(self, x: Float[Tensor, "batch 64"]) -> Float[Tensor, "batch 100"]:
        return self.head(x)  # TL908
```
```python good
from jaxtyping import Float
from torch import Tensor


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.head = nn.Linear(64, classes)

    def forward(self, x: Float[Tensor, "batch 64"]) -> Float[Tensor, "batch 100"]:
        return self.head(x)
```

A check that is there to fail says nothing of the program: an option that must be given, a file, a machine, an error
that somebody catches.

```python good
import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--data", default=None)
options = parser.parse_args()
if options.data is None:
    raise ValueError("--data is needed")
if not os.path.exists(options.data):
    raise ValueError("there is no such folder")
```
```python good
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--split", default="all")
parser.add_argument("--train", action="store_true")
parser.add_argument("--workers", type=int, default=4)
options = parser.parse_args()
if not options.train and options.workers > 0:
    raise ValueError("say --train, or --workers 0")
assert options.split in ("odometry", "eigen"), "this script evaluates two of the four"
```
```python good
if not torch.cuda.is_available():
    raise RuntimeError("this needs a GPU")


def width_of(name):
    if name not in ("small", "large"):
        raise ValueError(name)
    return {"small": 8, "large": 64}[name]


try:
    net = nn.Linear(width_of("tiny"), 2)
except ValueError:
    net = nn.Linear(4, 2)
```
"""

from torchlint import on_error

read_on = ("TL901", "TL907", "nn")
across_files = False
in_tests = False  # they state what they do not know yet


@on_error("check")
def check(fault):
    yield fault.finding()
