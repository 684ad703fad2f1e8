"""A stand-in for torchvision, as little of it as the fixtures need to be run on real torch."""

import sys
import types

import torch
from torch import nn


class Images(torch.utils.data.Dataset):
    """Twenty-four black images; `channels`, `size` and `classes` are those of the dataset it stands for."""

    channels, size, classes = 3, 32, 10

    def __init__(self, root=None, train=True, transform=None, target_transform=None, download=False):
        self.transform = transform

    def __len__(self):
        return 24

    def __getitem__(self, index):
        image = torch.zeros(self.channels, self.size, self.size)
        return (self.transform(image) if self.transform else image), index % self.classes


class MNIST(Images):
    channels, size = 1, 28


class Resize(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, image):
        return nn.functional.interpolate(image[None], size=self.size)[0]


class Grayscale(nn.Module):
    def __init__(self, num_output_channels=1):
        super().__init__()
        self.channels = num_output_channels

    def forward(self, image):
        return image.mean(0, keepdim=True).expand(self.channels, -1, -1)


class Normalize(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean, self.std = (torch.tensor(values).view(-1, 1, 1) for values in (mean, std))

    def forward(self, image):
        return (image - self.mean) / self.std


class ResNet(nn.Module):
    """The outline of a ResNet: its children have the names and the output widths of the real one."""

    def __init__(self, expansion, classes=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        widths = [64, *(64 * 2**stage * expansion for stage in range(4))]
        for stage in range(4):
            setattr(self, f"layer{stage + 1}", nn.Conv2d(widths[stage], widths[stage + 1], 1, stride=1 + (stage > 0)))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(widths[-1], classes)

    def forward(self, x):
        for child in list(self.children())[:-1]:
            x = child(x)
        return self.fc(torch.flatten(x, 1))


def submodule(name, **contents):
    module = sys.modules[f"torchvision.{name}"] = types.ModuleType(f"torchvision.{name}")
    vars(module).update(contents)
    return module


__path__ = []
datasets = submodule("datasets", MNIST=MNIST, FashionMNIST=MNIST, CIFAR10=Images)
transforms = submodule(
    "transforms",
    Compose=lambda steps: nn.Sequential(*steps),
    ToTensor=nn.Identity,
    Normalize=Normalize,
    Resize=Resize,
    Grayscale=Grayscale,
)
models = submodule("models", resnet18=lambda weights=None: ResNet(1), resnet50=lambda weights=None: ResNet(4))
