"""torchvision as far as scripts use it: images become tensors, well-known datasets yield them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from torchlint.shapes.core.standins import StandIn
from torchlint.shapes.core.values import Special, Unknown, UnknownUsed, machines
from torchlint.shapes.libraries.data import Dataset
from torchlint.shapes.tensors import wild
from torchlint.shapes.tensors.arrays import Array


def _size(known: Any) -> Any:
    """A side of an image; one that nobody knows is a free size."""
    if known is not None:
        return known
    return wild.size("the size of an image") if machines[-1].wild else Unknown("the size of an image")


class Image(StandIn):
    """A picture that was opened: channels, height and width, as far as they are known."""

    def __init__(self, channels: Any = None, height: Any = None, width: Any = None):
        self.channels = channels
        self.height = _size(height)
        self.width = _size(width)

    @property
    def size(self):
        return (self.width, self.height) if type(self.width) is int else Unknown("the size of an image")

    @property
    def mode(self):
        return {3: "RGB", 4: "RGBA"}.get(self.channels, Unknown("the mode of an image"))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return Unknown(f"{name} of an image")

    def convert(self, mode="RGB", matrix=None, dither=None, palette=0, colors=256):
        return Image({"L": 1, "RGB": 3, "RGBA": 4, "1": 1}.get(mode), self.height, self.width)

    def resize(self, size, *_, **__):
        return Image(self.channels, size[1], size[0]) if isinstance(size, (tuple, list)) else Image(self.channels)

    def tensor(self) -> Any:
        return self._filled((self.channels, self.height, self.width), torch.float32)

    def array(self) -> Any:
        """What NumPy makes of it: the channels come last."""
        if type(self.channels) is not int:
            if not machines[-1].wild:
                return Unknown("an image of unknown mode")
            return wild.tensor("an image of unknown mode", ranks=(3, 2), dtypes=(torch.uint8,), make=Array)
        channels = () if self.channels == 1 else (self.channels,)
        return self._filled((self.height, self.width, *channels), torch.uint8, Array)

    def _filled(self, shape: tuple, dtype: torch.dtype, make: Callable[[torch.Tensor], Any] = lambda made: made) -> Any:
        known = [size if type(size) is int else None for size in shape]
        if None not in known:
            return make(torch.empty(*shape, dtype=dtype))
        if not machines[-1].wild:
            return Unknown("an image of unknown size")
        return wild.tensor("an image of unknown size", known, dtypes=(dtype,), make=make)


class Transform(nn.Module):
    """A step of preprocessing; also a layer, as newer torchvision has it."""

    def __init__(self, change):
        super().__init__()
        self.change = change

    def forward(self, *values: Any) -> Any:
        """What comes of one thing, or of each of several, of which newer ones change what are pictures."""
        if len(values) != 1 or isinstance(values[0], (tuple, list, dict)):
            several = values if len(values) != 1 else ()
            changed = [self.change(one) if isinstance(one, Image) else Unknown("beside a picture") for one in several]
            return tuple(changed) if changed else Unknown("a table of pictures")
        return Unknown(values[0].reason) if type(values[0]) is Unknown else self.change(values[0])


class PlainTransform(Transform):
    """One that is no layer in torchvision, so that an object which is not ready for layers may hold it."""


def _made(make, kind=Transform):
    return lambda machine, *args, **kwargs: kind(make(*args, **kwargs))


def _to_tensor(*_, **__):
    def apply(value):
        if isinstance(value, Image):
            return value.tensor()
        if isinstance(value, Array) and value.ndim == 3:
            tensor = value.tensor.permute(2, 0, 1)
            return torch.empty(tensor.shape, dtype=torch.float32 if tensor.dtype == torch.uint8 else tensor.dtype)
        if isinstance(value, Array) and value.ndim == 2:
            return torch.empty(
                (1, *value.shape), dtype=torch.float32 if value.tensor.dtype == torch.uint8 else value.tensor.dtype
            )
        return value if isinstance(value, torch.Tensor) else Unknown("an image")

    return apply


def _sized(exact: bool):
    def make(size=None, *_, **__):
        def apply(value):
            if type(size) is int:
                height = width = size
            elif isinstance(size, (tuple, list)) and size and all(type(s) is int for s in size):
                height, width = size[0], size[-1]
            else:
                return Unknown("an image of unknown size")
            square = (
                isinstance(value, Image)
                and value.height == value.width
                or isinstance(value, torch.Tensor)
                and value.shape[-1] == value.shape[-2]
            )
            if type(size) is int and not exact and not square:
                return Image(value.channels) if isinstance(value, Image) else Unknown("an image of unknown size")
            if isinstance(value, Image):
                return Image(value.channels, height, width)
            return (
                torch.empty((*value.shape[:-2], height, width), dtype=value.dtype)
                if isinstance(value, torch.Tensor)
                else value
            )

        return apply

    return make


def _padded(padding=0, *_, **__):
    def apply(value):
        if isinstance(value, Image) and type(padding) is int and type(value.height) is int:
            return Image(value.channels, value.height + 2 * padding, value.width + 2 * padding)
        return Unknown("a padded image")

    return apply


def _grayscale(num_output_channels=1, *_, **__):
    def apply(value):
        if isinstance(value, Image):
            return Image(num_output_channels, value.height, value.width)
        return (
            torch.empty((*value.shape[:-3], num_output_channels, *value.shape[-2:]))
            if isinstance(value, torch.Tensor)
            else value
        )

    return apply


def _random_crop(size=None, padding=None, *_, **__):
    return _sized(True)(size)


def _same(*_, **__):
    return lambda value: value


def _to_picture(*_, **__):
    return picture_of


def picture_of(value: Any, *_) -> Any:
    """A picture of the numbers of a tensor, the channels first, or of an array, the channels last."""
    if isinstance(value, (Array, torch.Tensor)):
        if len(value.shape) not in (2, 3):
            raise ValueError(f"pic should be 2/3 dimensional. Got {len(value.shape)} dimensions.")
        if isinstance(value, torch.Tensor):
            return Image(*(1, *value.shape)[-3:])
        height, width, channels = (*value.shape, 1)[:3]
        return Image(channels, height, width)
    if isinstance(value, Image):
        return value
    return Image() if type(value) is Unknown else Unknown("a picture made of something")


class Composed(PlainTransform):
    def forward(self, *values: Any) -> Any:
        return self.change(*values)


def _compose(machine, steps=()):
    def apply(*values):
        for step in machines[-1].iterate(steps):
            given = machines[-1].call(step, list(values), {})
            values = given if len(values) > 1 and type(given) is tuple else (given,)
        return values[0] if len(values) == 1 else values

    return Composed(apply)


def _lambda(machine, function):
    return PlainTransform(lambda value: machines[-1].call(function, [value], {}))


class Pictures(Dataset):
    """A dataset of torchvision: an image and its class."""

    def __init__(self, image: Image, count: Any, transform: Any = None, target_transform: Any = None, kinds: int = 0):
        self.image = image
        self.count = count
        self._kinds = kinds
        self.transform = transform
        self.target_transform = target_transform
        self.classes = Unknown("the classes of a dataset")

    def __getitem__(self, index):
        image = machines[-1].call(self.transform, [self.image], {}) if self.transform is not None else self.image
        return image, self._label(0)

    def _label(self, label):
        return machines[-1].call(self.target_transform, [label], {}) if self.target_transform is not None else label

    def _is_changed(self) -> bool:
        """Whether the program has chosen among the images."""
        return not vars(self).keys().isdisjoint(("data", "targets", "labels", "samples", "imgs"))

    def extremes(self) -> list:
        """A sample, as far as its numbers go, of the last class."""
        return [(None, self._label(self._kinds - 1))] if self._kinds and not self._is_changed() else []

    def __len__(self):
        if type(self.count) is not int or self._is_changed():
            raise UnknownUsed("the number of images")
        return self.count


def _dataset(channels, size, train, test, labels=10):
    def make(machine, root=None, train=True, transform=None, target_transform=None, *args, **options):
        image = Image(channels, size, size)
        return Pictures(image, count[train is not True], transform, target_transform, labels)

    count = (train, test)
    return make


def _folder(machine, root=None, transform=None, target_transform=None, *args, **options):
    return Pictures(Image(3), None, transform, target_transform)


TRANSFORMS: dict[str, Any] = {
    "ToTensor": _made(_to_tensor, PlainTransform),
    "PILToTensor": _made(_to_tensor, PlainTransform),
    "ToImage": _made(_to_tensor),
    "Resize": _made(_sized(False)),
    "Scale": _made(_sized(False)),
    "CenterCrop": _made(_sized(True)),
    "RandomCrop": _made(_random_crop),
    "RandomResizedCrop": _made(_sized(True)),
    "RandomSizedCrop": _made(_sized(True)),
    "Pad": _made(_padded),
    "Grayscale": _made(_grayscale),
    "ToPILImage": _made(_to_picture, PlainTransform),
    "Compose": _compose,
    "Lambda": _lambda,
    **{
        name: _made(_same)
        for name in (
            "Normalize RandomHorizontalFlip RandomVerticalFlip ColorJitter RandomRotation RandomAffine RandomErasing "
            "RandomGrayscale RandomPerspective GaussianBlur RandomApply RandAugment TrivialAugmentWide AutoAugment "
            "ConvertImageDtype ToDtype"
        ).split()
    },
}
DATASETS: dict[str, Any] = {
    **{name: _dataset(1, 28, 60_000, 10_000) for name in ("MNIST", "FashionMNIST", "KMNIST", "QMNIST")},
    "CIFAR10": _dataset(3, 32, 50_000, 10_000),
    "CIFAR100": _dataset(3, 32, 50_000, 10_000, 100),
    "SVHN": _dataset(3, 32, 73_257, 26_032),
    "STL10": _dataset(3, 96, 5_000, 8_000, 0),
    "ImageFolder": _folder,
}
_FILTERS = {"NEAREST": 0, "LANCZOS": 1, "ANTIALIAS": 1, "BILINEAR": 2, "BICUBIC": 3, "BOX": 4, "HAMMING": 5}


def _functional(make: Callable) -> Callable:
    """A function of `transforms.functional`: what the class does that is made of the other arguments."""
    return lambda machine, img, *args, **options: machine.call(make(machine, *args, **options), [img], {})


def _kept_boxes(machine, boxes, *args, **options):
    """`nms`: the positions of some of the boxes, nobody knows how many."""
    if not machine.wild or not isinstance(boxes, torch.Tensor) or boxes.dim() != 2:
        return Unknown("the boxes that are kept")
    return wild.tensor("the boxes that are kept", [None], dtypes=(torch.int64,), free=wild.Free.COUNTED)


def _of_pairs(machine, one, other):
    """`box_iou`: a number for each pair."""
    if not all(isinstance(boxes, torch.Tensor) and boxes.dim() == 2 for boxes in (one, other)):
        return Unknown("how boxes overlap")
    return machine.foreign(torch.Tensor.matmul, (one[:, :4], other[:, :4].t()), {})


FUNCTIONS: dict[str, Any] = {
    **{
        f"torchvision.{home}.{name}": Special(name, _functional(TRANSFORMS[kind]))
        for home in ("transforms.functional", "transforms.v2.functional")
        for name, kind in {
            "to_tensor": "ToTensor",
            "pil_to_tensor": "PILToTensor",
            "to_pil_image": "ToPILImage",
            "resize": "Resize",
            "center_crop": "CenterCrop",
            "normalize": "Normalize",
            "hflip": "RandomHorizontalFlip",
            "vflip": "RandomVerticalFlip",
            "to_grayscale": "Grayscale",
        }.items()
    },
    **{f"torchvision.ops.{name}": Special(name, _kept_boxes) for name in ("nms", "batched_nms")},
    **{f"torchvision.ops.{name}": Special(name, _of_pairs) for name in ("box_iou", "generalized_box_iou")},
}
VISION: dict[str, Any] = {
    **FUNCTIONS,
    **{f"PIL.Image.{name}": number for name, number in _FILTERS.items()},
    **{
        f"torchvision.{module}.{name}": Special(name, make)
        for name, make in TRANSFORMS.items()
        for module in ("transforms", "transforms.v2")
    },
    **{f"torchvision.datasets.{name}": Special(name, make) for name, make in DATASETS.items()},
    "PIL.Image.fromarray": Special("fromarray", lambda machine, *args, **options: picture_of(*args)),
    "PIL.Image.open": Special("open", lambda machine, *args, **options: Image()),
    "torchvision.utils.save_image": Special("save_image", lambda machine, *args, **kwargs: None),
}
