"""Import files that are there: the folder has none of that name, and the program ends with its import.

A file was renamed, moved or never kept, and a program that is not started often still takes it from where it was:
`ModuleNotFoundError`, and nothing in that program runs. Only what certainly means a folder of the project is looked at: an
import with dots, or one that begins with a folder of which other parts are imported.

```python bad evaluate.py
from models.encoder import Encoder
from models.decoder import Decoder  # TL725

model = nn.Sequential(Encoder(), Decoder())
```
```python bad models/__init__.py
from .encoder import Encoder
```
```python bad models/encoder.py
from .blocks import Block  # TL725

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block(64)
```

What is compiled or generated, what each user writes for himself, and what is only tried, may be there later.

```python good train.py
from layers import _C, norm
from layers.settings_local import DATA
from datasets.arrow_dataset import Dataset

try:
    from layers.fused import FusedNorm
except ImportError:
    FusedNorm = norm.Norm
```
```python good layers/__init__.py
from . import norm
```
```python good layers/norm.py
class Norm(nn.LayerNorm):
    pass
```

Names of files and texts alone are asked: `torchlint/source/answers/absent_files.py` says how.
"""

import os

from torchlint import Node, on_node
from torchlint.source.answers.absent_files import absent_files

read_on = ("TL718", "TL616", "torch.nn.Module")
added = "0.2"


@on_node("Import")
def check_import(place: Node):
    yield from _findings(place)


@on_node("ImportFrom")
def check_from(place: Node):
    yield from _findings(place)


def _findings(place: Node):
    for absent in absent_files(place.module, place.node):
        folder, file = os.path.split(absent.path)
        yield place.at(absent.node).finding(
            f"`{file.removesuffix('.py')}` is no file of `{os.path.basename(folder)}`", help=_advice(absent)
        )


def _advice(absent) -> str:
    if absent.alike is None:
        return "take what is there now: it was renamed, moved or never kept"
    folder, file = os.path.split(absent.alike)
    if folder == os.path.dirname(absent.path):
        return f"it is called `{file}`, which is another name on most machines"
    return f"there is one in `{os.path.basename(folder)}`"
