"""Shuffle the training data: without `shuffle=True` each epoch brings the same batches.

Data often lies sorted, by class, by date or by source. Batches of one kind pull the model to and fro, batch norm sees one
class at a time, and after each epoch the model has last seen the same end of the data. `shuffle` is False if nothing is
said. Test data needs no order.

```python bad
from torch.utils.data import DataLoader

class Rows(torch.utils.data.Dataset):
    def __getitem__(self, i):
        return self.x[i], self.y[i]

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Rows(), batch_size=32)  # TL708
for epoch in range(9):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
```
```python fixed
from torch.utils.data import DataLoader

class Rows(torch.utils.data.Dataset):
    def __getitem__(self, i):
        return self.x[i], self.y[i]

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Rows(), batch_size=32, shuffle=True)
for epoch in range(9):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
```
```python bad
from torch.utils.data import DataLoader
from torchvision.datasets import MNIST

class Trainer:
    def __init__(self, model):
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model = model
        self.train_loader = DataLoader(MNIST(".", train=True), 64, shuffle=False)  # TL708

    def epoch(self):
        for i, (x, y) in enumerate(self.train_loader):
            self.optimizer.zero_grad()
            F.cross_entropy(self.model(x), y).backward()
            self.optimizer.step()
```

Samplers choose an order themselves, as do datasets that are only iterated. Of series in time the order is the point, and
numbers that were drawn have none.

```python good
from torch.utils.data import DataLoader, IterableDataset, RandomSampler

class Rows(torch.utils.data.Dataset):
    def __getitem__(self, i):
        return self.x[i], self.y[i]

class Lines(IterableDataset):
    def __iter__(self):
        yield from open("lines.txt")

rows = Rows()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for loader in (
    DataLoader(rows, batch_size=32, sampler=RandomSampler(rows)),
    DataLoader(Lines(), batch_size=32),
    DataLoader(rows, batch_size=len(rows)),
    DataLoader(rows, batch_size=32, shuffle=shuffle),
):
    for x, y in loader:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
for x, y in DataLoader(rows, batch_size=32):
    print(F.mse_loss(model(x), y))
```

Which data sort themselves by length: `torchlint/source/answers/length_sorted.py`; which are made class by class:
`torchlint/source/answers/class_blocks.py`; which mix themselves: `torchlint/source/answers/mixing_datasets.py`; what Lightning
trains with: `torchlint/source/answers/lightning_loaders.py`; which are of held out data:
`torchlint/source/answers/held_out_loaders.py`.
"""

import ast
import re

from torchlint import Call, Loop, Node, on_call, on_node, on_round
from torchlint.source.answers.class_blocks import are_in_blocks
from torchlint.source.answers.held_out_loaders import is_named_held_out, shuffles_held_out
from torchlint.source.answers.length_sorted import is_sorted_by_length
from torchlint.source.answers.lightning_loaders import asked_by, training_loaders
from torchlint.source.answers.mixing_datasets import shuffles_itself

read_on = ("TL701", "TL515", "data#torch.utils.data.DataLoader")
in_tests = False
severity = "info"  # half of the loaders in public code had rows that were mixed before, or an order that was meant

LOADER = "torch.utils.data.DataLoader"
ORDERED = re.compile(
    r"forecast|time.?series|tempor|stock|traffic|lstm|\bgru|\brnn|seq2seq|language.?model|bptt|curriculum|video|benchmark"
)
DRAWN = tuple("torch.rand random.rand random.normal make_classification make_regression make_moons FakeData".split())


@on_round("loop", needs=("step", "DataLoader|loader"))
def check(loop: Loop):
    trains = loop.iterated is not None and loop.may_train and not loop.is_tried_once
    loaders = loop.objects(loop.iterated) if trains else []
    if loaders and all(made.is_call(LOADER) for made in loaders) and loop.updates and not takes_the_first(loop):
        yield from in_order(loop, loaders, loop.note(loop.node, "this loop trains with it"))


@on_node("FunctionDef", needs=("train_dataloader", "DataLoader"))
def given_to_lightning(function: Node):
    loaders = [function.at(made) for made in training_loaders(function.value)]
    if all(made.is_call(LOADER) for made in loaders):
        yield from in_order(function, loaders, function.note(function.node, "Lightning trains with it"))


@on_call("torch.utils.data.DataLoader", needs="shuffle")
def turned_round(call: Call):
    if shuffles_held_out(call.value) and not ORDERED.search(call.module.index.text.lower()):
        yield call.finding(
            f"`{call.short}` shuffles what is held out, and gives the training data in one order",
            help="shuffle the training data, and nothing else",
        )


def in_order(place, loaders, note):
    """The loaders that plainly give in one order what may be mixed."""
    if not loaders or ORDERED.search(place.module.index.text.lower()):
        return
    for loader in loaders:
        if (
            is_in_order(loader)
            and not is_named_held_out(loader.value)
            and not is_whole(loader)
            and not loader.module.is_test
        ):
            asked = loader.argument("shuffle", 2)
            shuffled = loader.with_keyword("shuffle", "True") if asked is None else loader.replace(asked, "True")
            shared = asked_by(place.value, loader.value) if isinstance(place, Node) else None
            shown = loader if shared is None else loader.at(shared)
            may_change = shared is None and loader.module is place.module and not loader.has_stars
            yield place.finding(
                f"`{shown.short}` gives the training data in one order in all epochs",
                help="pass `shuffle=True`",
                fix=place.fix("shuffle it", shuffled, applicability="unsafe") if may_change else None,
                notes=[note],
                at=shown,
            )


def takes_the_first(loop) -> bool:
    """`if i == 100: break`: then the order says which part of the data is trained with, the same in all epochs."""
    counters = loop.names_in(loop.node.target) if isinstance(loop.node, ast.For) else set()
    return any(
        (place := loop.at(leave)).loops[:1] == [loop.node]
        and any(counters & loop.names_in(test) for test, _ in place.tests)
        for leave in loop.inside(ast.Break, of=loop.node)
    )


def is_in_order(loader) -> bool:
    if loader.says(*DRAWN) and not are_in_blocks(loader.value):
        return False  # what is drawn has no order
    given = loader.keyword_names
    if given is None or any(isinstance(a, ast.Starred) for a in loader.node.args) or len(loader.node.args) > 3:
        return False
    dataset = loader.argument("dataset", 0)
    if dataset is None or given & {"sampler", "batch_sampler"} or loader.dataset_is(dataset) != "indexed":
        return False
    made = loader.origins(dataset)
    if shuffles_itself(loader.at(dataset).value) or any(is_sorted_by_length(one.value) for one in made):
        return False
    if "shuffle" not in given and loader.argument("shuffle", 2) is None:
        return True
    # Whoever says False may know why, unless it is a set of pictures that everybody shuffles, or one class after another.
    said = loader.argument_origins("shuffle", 2)
    pictures = (o for o in made if o.names and all(name.startswith("torchvision.") for name in o.names))
    known = are_in_blocks(loader.value) or any(pictures)
    return known and all(isinstance(o.node, ast.Constant) and not o.path and o.node.value is False for o in said)


def is_whole(loader) -> bool:
    """Is all of the data one batch, at least when it is not trained with: `32 if training else len(data)`?"""
    sizes = loader.argument_origins("batch_size", 1)
    seen = [size.node for size in sizes if size.node is not None and size.module is loader.module]
    return any(loader.word(call) == "len" for node in seen for call in loader.inside(ast.Call, of=node))
