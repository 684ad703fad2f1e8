"""Move an image and its mask by the same random numbers: transform both in one call.

A random crop, flip or rotation draws its numbers each time it is called. Called on the image and then on its mask, it
cuts another place out of each and flips one of them alone: the mask no longer says what is in the image. Nothing fails,
and the network learns to predict a blur. Give both to one call of `torchvision.transforms.v2` (with `tv_tensors.Mask`
for the mask), or draw the numbers once and give them to `torchvision.transforms.functional`.

```python bad
from torchvision import transforms

class Cells(torch.utils.data.Dataset):
    def __init__(self, images, masks):
        self.images, self.masks = images, masks
        self.transform = transforms.Compose([transforms.RandomHorizontalFlip(), transforms.ToTensor()])

    def __getitem__(self, i):
        image = self.transform(Image.open(self.images[i]))
        mask = self.transform(Image.open(self.masks[i]))  # TL721
        return image, mask
```
```python good
from torchvision import tv_tensors
from torchvision.transforms import v2

class Cells(torch.utils.data.Dataset):
    def __init__(self, images, masks):
        self.images, self.masks = images, masks
        self.transform = v2.Compose([v2.RandomHorizontalFlip(), v2.ToDtype(torch.float32, scale=True)])

    def __getitem__(self, i):
        image, mask = tv_tensors.Image(self.images[i]), tv_tensors.Mask(self.masks[i])
        return self.transform(image, mask)
```

Where the transform comes from another place, and where a dataset of torchvision has one for each.

```python bad
from torchvision import datasets
from torchvision.transforms import Compose, RandomCrop, RandomRotation, Resize, ToTensor

class Roads(torch.utils.data.Dataset):
    def __init__(self, files, transform=None):
        self.files, self.transform = files, transform

    def load(self, file):
        picture = Image.open(file)
        return self.transform(picture)

    def __getitem__(self, i):
        photo, mask = self.files[i]
        return {"photo": self.load(photo), "mask": self.load(mask)}  # TL721

train = Roads(files, Compose([Resize(286), RandomCrop(256), ToTensor()]))
test = Roads(others, Compose([Resize((256, 256)), ToTensor()]))
flips = Compose([RandomRotation(10), ToTensor()])
voc = datasets.VOCSegmentation("data", transform=flips, target_transform=flips)  # TL721
```

The same numbers are drawn again after the generator is set; two views of one image are to differ; and what changes
colours alone, or draws nothing, leaves each pixel where it was.

```python good
from torchvision import transforms

class Cells(torch.utils.data.Dataset):
    def __init__(self, transform):
        self.transform = transform

    def read(self, i):
        return Image.open(f"{i}.jpg"), Image.open(f"{i}.png")

    def __getitem__(self, i):
        image, mask = self.read(i)
        torch.manual_seed(i)
        image = self.transform(image)
        torch.manual_seed(i)
        return image, self.transform(mask)

class Views(Cells):
    def __getitem__(self, i):
        image, label = self.read(i)
        first, second = self.transform(image), self.transform(image)
        return first, second, label

class Plain(Cells):
    def __init__(self):
        self.transform = transforms.Compose([transforms.Resize(64), transforms.ToTensor()])
        self.colours = transforms.Compose([transforms.ColorJitter(0.2), transforms.ToTensor()])

    def __getitem__(self, i):
        image, mask = self.read(i)
        return self.colours(image), self.transform(mask)

cells = Cells(transforms.RandomCrop(32))
views = Views(transforms.RandomCrop(32))
```

That two images belong together is taken from their names (`mask`, `label`, `gt`, `depth`; `noisy` and `clean`), and
from their being returned together: `torchlint/source/answers/pairs_apart.py`.
"""

from torchlint import Call, Node, on_call, on_node
from torchlint.source.answers.pairs_apart import both_draw, pair_apart

read_on = ("TL720", "TL702", "torch.utils.data.Dataset")
added = "0.2"
in_tests = False

HELP = (
    "give both to one call of `torchvision.transforms.v2`, the mask as `tv_tensors.Mask`,"
    " or draw the numbers once and use `torchvision.transforms.functional`"
)


@on_node("FunctionDef", needs="__getitem__")
def check(place: Node):
    if (apart := pair_apart(place.module, place.node)) is not None:
        image, mapped = (place.quoted(call.args[0]) for call in apart)
        yield place.finding(
            f"`{place.quoted(apart.mapped.func)}` draws other random numbers for `{mapped}` than for `{image}`: the two"
            " no longer fit",
            help=HELP,
            notes=[place.note(apart.image, "the image is moved here")],
            at=apart.mapped,
        )


@on_call(
    "torchvision.datasets.VOCSegmentation",
    "torchvision.datasets.Cityscapes",
    "torchvision.datasets.OxfordIIITPet",
    needs="target_transform",
)
def check_datasets(call: Call):
    first, second = call.argument("transform"), call.argument("target_transform")
    if first is not None and second is not None and both_draw(call.value, first, second):
        yield call.finding(
            f"`{call.quoted(first)}` and `{call.quoted(second)}` draw random numbers each for itself: image and target no"
            " longer fit",
            help=HELP.replace("give both to one call", "give both, as `transforms=`, to one call"),
        )
