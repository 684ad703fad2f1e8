"""Look up the chosen index in a dataset that holds a part: `self.data[self.indices[i]]`.

A dataset that keeps the indices of its part counts them in `__len__`, but takes `self.data[i]` in `__getitem__`: each
part begins at the first sample. Training, validation and test data are the same ones, so that the test is as good as the
training, and most of the data is never seen.

```python bad
from torch.utils.data import Dataset

class Part(Dataset):
    def __init__(self, images, indices):
        self.images = images
        self.indices = indices

    def __len__(self):
        return len(self.indices)

    def __getitem__(self, i):
        return self.images[i]  # TL728

train, test = Part(images, order[:800]), Part(images, order[800:])
```
```python fixed
from torch.utils.data import Dataset

class Part(Dataset):
    def __init__(self, images, indices):
        self.images = images
        self.indices = indices

    def __len__(self):
        return len(self.indices)

    def __getitem__(self, i):
        return self.images[self.indices[i]]

train, test = Part(images, order[:800]), Part(images, order[800:])
```

Right is a dataset that chooses its part where it is made, or in a method that `__getitem__` calls.

```python good
from torch.utils.data import Dataset

class Chosen(Dataset):
    def __init__(self, images, indices):
        self.indices = indices
        self.images = images[indices]

    def __len__(self):
        return len(self.indices)

    def __getitem__(self, i):
        return self.images[i]

class Looked(Dataset):
    def __init__(self, images, indices):
        self.images, self.indices = images, indices

    def __len__(self):
        return len(self.indices)

    def at(self, i):
        return self.indices[i]

    def __getitem__(self, i):
        return self.images[self.at(i)]

train, test = Chosen(images, order[:800]), Chosen(images, order[800:])
train, test = Looked(images, order[:800]), Looked(images, order[800:])
```

How it is found: `torchlint/source/answers/unread_indices.py`.
"""

from torchlint import Node, on_node
from torchlint.source.answers.unread_indices import unread_indices

added = "0.2"
read_on = ("TL719", "torch.utils.data.Subset")


@on_node("ClassDef", needs=("__getitem__", "__len__", "ind|idx|idc|chosen|select|order|perm"))
def check(place: Node):
    found = unread_indices(place.module, place.node)
    if found is not None:
        kept, index = f"self.{found.kept}", place.source(found.index)
        yield place.finding(
            f"`{place.quoted(found.taken)}` takes sample `{index}` of all, not of the part that `{kept}` chooses",
            help=f"look it up, `{kept}[{index}]`",
            fix=place.fix("look it up", place.replace(found.index, f"{kept}[{index}]"), applicability="unsafe"),
            notes=[place.note(found.length, f"there are as many as `{kept}` has, which nothing else reads")],
            at=found.taken,
        )
