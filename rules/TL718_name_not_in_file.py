"""Take from another file of the project only what is there.

`from losses import FocalLoss`, where `losses.py` calls it `Focal` now: an `ImportError` as soon as the file is imported, so
that nothing in it runs. It happens where one file was changed and another, which nobody starts often, was not: an
evaluation script, a demo, a test.

```python bad evaluate.py
from losses import Dice, FocalLoss, weights  # TL718

criterion = FocalLoss()
```
```python bad losses.py
class Focal(nn.Module):
    def forward(self, output, target):
        return F.cross_entropy(output, target)

weights = torch.tensor([1.0, 4.0])
```

What is read of a file that was imported as a whole fails likewise, when that line runs.

```python bad train.py
import utils

def run(model, batches):
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        utils.show_progress(loss.item())  # TL718
```
```python bad utils.py
def report(loss):
    print(f"{loss:.3f}")
```

A file may get names by others, or take them from where nobody sees it; and what a `try` holds back is no mistake.

```python good demo.py
import settings
from layers import Norm
from blocks import Attention

try:
    from layers import FusedNorm
except ImportError:
    FusedNorm = Norm

settings.device = "cpu"
print(settings.device)
```
```python good layers.py
class Norm(nn.LayerNorm):
    pass
```
```python good blocks.py
from layers import *

def __getattr__(name):
    return Norm
```
```python good settings.py
seed = 0
```

Only the texts of the files are asked: `torchlint/source/answers/names_of_files.py` says how.
"""

import os

from torchlint import Node, on_node
from torchlint.source.answers.names_of_files import missing_from_files

read_on = ("TL616", "TL617", "torch.nn.Module")
added = "0.2"


@on_node("Import")
def check_import(place: Node):
    yield from _findings(place)


@on_node("ImportFrom")
def check_from(place: Node):
    yield from _findings(place)


def _findings(place: Node):
    for missing in missing_from_files(place.module, place.node):
        folder, file = os.path.split(missing.path)
        if file == "__init__.py":
            file = f"{os.path.basename(folder)}/{file}"
        *others, last = [f"`{name}`" for name in missing.names]
        said = f"{', '.join(others)} and {last} are no names" if others else f"{last} is no name"
        yield place.at(missing.node).finding(
            f"{said} of `{file}`",
            help=f"`{missing.names[0]}` is defined in `{os.path.basename(missing.home)}`"
            if missing.home
            else "take what is there now: it was renamed or moved",
        )
