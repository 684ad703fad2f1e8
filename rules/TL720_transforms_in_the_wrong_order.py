"""Put the transforms of an image in an order in which each gets what it takes.

`ToTensor` makes a tensor of a PIL image, with numbers from 0 to 1. `Normalize` and `RandomErasing` take tensors, so they
stand behind it, and mean and std are those of numbers from 0 to 1: what is written for 0 to 255 (`127.5`) makes every
pixel nearly the same, and nothing fails. `RandAugment` and its like count in bytes and stand before `ToTensor`.

```python bad
from torchvision import transforms

train = transforms.Compose([
    transforms.Resize(256),
    transforms.Normalize((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
    transforms.ToTensor(),  # TL720
])
```
```python fixed
from torchvision import transforms

train = transforms.Compose([
    transforms.Resize(256),
    transforms.ToTensor(),
    transforms.Normalize((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
])
```

```python bad
from torchvision import transforms

test = transforms.Compose([
    transforms.Resize(256),
    transforms.ToTensor(),
    transforms.Normalize((127.5, 127.5, 127.5), (127.5, 127.5, 127.5)),  # TL720
])
```
```python good
from torchvision import transforms

test = transforms.Compose([
    transforms.Resize(256),
    transforms.ToTensor(),
    transforms.Lambda(lambda image: image * 255),
    transforms.Normalize((127.5, 127.5, 127.5), (127.5, 127.5, 127.5)),
])
```

What a dataset of torchvision gives is known: a PIL image, of MNIST with one channel.

```python bad
from torchvision import datasets, transforms as T
from torchvision.transforms import v2

gray = T.Compose([T.ToTensor(), T.Normalize([0.5, 0.5, 0.5], [0.5, 0.5, 0.5])])  # TL720
digits = datasets.MNIST("data", transform=gray)

steps = [T.RandomCrop(32), T.ToTensor()]
steps = steps + [T.RandAugment()]  # TL720
augmented = datasets.CIFAR10("data", transform=T.Compose(steps))

new = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32), v2.Normalize([0.5], [0.5])])  # TL720
objects = datasets.CIFAR10("data", transform=new)
```
```python good
from torchvision import datasets, transforms as T
from torchvision.transforms import v2

gray = T.Compose([T.ToTensor(), T.Normalize([0.5], [0.5])])
digits = datasets.MNIST("data", transform=gray)
coloured = datasets.MNIST("data", transform=T.Compose([T.Grayscale(3), T.ToTensor(), T.Normalize([0.5] * 3, [0.5] * 3)]))

new = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5], [0.5])])
objects = datasets.CIFAR10("data", transform=new)

back = T.Compose([T.ToTensor(), T.Normalize([0.5], [0.5]), T.Lambda(lambda x: x), T.ToPILImage(), T.ToTensor()])
tensors = T.Compose([T.Resize(32), T.ColorJitter(0.2), T.Normalize([0.5], [0.5]), T.RandomErasing()])
arrays = T.Compose([T.ToTensor(), T.Normalize([127.5], [127.5])])
```

How it is found: `torchlint/source/answers/transform_orders.py`. `ToTensor` leaves an array of floats as it is, so numbers
of 0 to 255 are said only where the image is seen to be another.
"""

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.transform_orders import dataset_of, is_part_of_another, misplaced, normalized_late

read_on = ("TL721", "torch.utils.data.Dataset")
added = "0.2"


@on_call("torchvision.transforms.Compose", "torchvision.transforms.v2.Compose", needs="Normalize|ToTensor|ToPILImage")
def check(call: Call):
    if not is_part_of_another(call.value):
        yield from said(call, misplaced(call.value))


@on_node("Call", holds="transform", needs="datasets")
def check_datasets(place: Node):
    call = place.at(place.node)
    dataset = dataset_of(call.value) if call.argument("transform") is not None else ""
    origins = call.argument_origins("transform") if dataset else []
    asked = {id(test) for test, _ in call.tests}
    for made in origins if len(origins) == 1 else ():
        is_composed = made.is_call("torchvision.transforms.Compose", "torchvision.transforms.v2.Compose")
        if is_composed and asked.issuperset(id(test) for test, _ in made.tests):
            if not any(misplaced(made.value)):  # else it is said of the composition itself
                yield from said(call, misplaced(made.value, dataset))


@on_call("albumentations.Compose", needs="ToTensorV2")
def check_albumentations(call: Call):
    if (found := normalized_late(call.value)) is not None:
        tensor, late = map(call.at, found)
        yield call.finding(
            "`Normalize` takes an array, and gets a tensor",
            help="put it before `ToTensorV2()`",
            notes=[call.note(tensor, "which comes from here")],
            at=late,
        )


def said(call: Call, found):
    for one in found:
        part, before = call.at(one.part.made), one.before and call.at(one.before.made)
        if part.module is not call.module:
            return
        swaps = "put it before" in one.help and before is not None and follows(before.node, part.node)
        edits = (call.replace(part.node, before.text), call.replace(before.node, part.text)) if swaps else ()
        yield call.finding(
            one.why,
            help=one.help,
            fix=call.fix("exchange them", *edits, applicability="unsafe") if swaps else None,
            notes=[call.note(before, "which comes from here")] if before is not None else (),
            at=part,
        )


def follows(first, second) -> bool:
    """Do they stand in one list, side by side?"""
    listed = getattr(first.up, "elts", [])
    return second in listed and listed.index(second) - listed.index(first) == 1
