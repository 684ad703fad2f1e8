"""torchvision's well-known models: the same parts, names and sizes at their ends, with few layers for each stage in
between.
"""

from __future__ import annotations

from typing import Any

from torch import nn

from torchlint.shapes.core.values import Special, Unknown


class Block(nn.Module):
    """One of a ResNet's blocks, with the names by which programs find its strides."""

    def __init__(self, width: int, planes: int, expansion: int, stride: int):
        super().__init__()
        channels = planes * expansion
        narrow = expansion > 1
        self.conv1 = nn.Conv2d(
            width, planes, 1 if narrow else 3, 1 if narrow else stride, 0 if narrow else 1, bias=False
        )
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride if narrow else 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        if narrow:
            self.conv3 = nn.Conv2d(planes, channels, 1, bias=False)
            self.bn3 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or width != channels:
            self.downsample = nn.Sequential(nn.Conv2d(width, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))
        self.stride = stride

    def forward(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        if hasattr(self, "conv3"):
            out = self.bn3(self.conv3(self.relu(out)))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """ResNet, ResNeXt and WideResNet; `expansion` is 4 for those with bottlenecks, which have three blocks or more in
    each stage.
    """

    def __init__(self, expansion: int, num_classes: int = 1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = _blocks(64, 64, expansion, 1)
        self.layer2 = _blocks(64 * expansion, 128, expansion, 2)
        self.layer3 = _blocks(128 * expansion, 256, expansion, 2)
        self.layer4 = _blocks(256 * expansion, 512, expansion, 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512 * expansion, num_classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


class Features(nn.Module):
    """Models made of `features`, an `avgpool` for some, and a `classifier`."""

    def __init__(self, features: nn.Sequential, classifier: nn.Module, pooled: int | None = None):
        super().__init__()
        self.features = features
        self.pooled = pooled
        if pooled is not None:
            self.avgpool = nn.AdaptiveAvgPool2d((pooled, pooled))
        self.classifier = classifier

    def forward(self, x):
        x = self.features(x)
        x = self.avgpool(x) if self.pooled is not None else nn.functional.adaptive_avg_pool2d(x, (1, 1))
        return self.classifier(x.flatten(1))


def _blocks(width: int, planes: int, expansion: int, stride: int) -> nn.Sequential:
    more = [Block(planes * expansion, planes, expansion, 1) for _ in range(2 if expansion > 1 else 1)]
    return nn.Sequential(Block(width, planes, expansion, stride), *more)


def _stage(width: int, channels: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(width, channels, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(inplace=True),
    )


def _resnet(expansion: int):
    return lambda machine, *args, num_classes=1000, **options: _unless_unknown(
        num_classes, lambda n: ResNet(expansion, n)
    )


def _unless_unknown(classes: Any, make: Any) -> Any:
    return make(classes) if type(classes) is int else Unknown("a model with an unknown number of classes")


def _head(*sizes: int, dropout_first: bool = False):
    """The layers of a classifier as torchvision orders them, for a number of classes."""

    def make(classes: int) -> nn.Sequential:
        layers: list[nn.Module] = [nn.Dropout()] if dropout_first else []
        for a, b in zip(sizes, sizes[1:]):
            layers += [nn.Linear(a, b), nn.ReLU(inplace=True), nn.Dropout()]
        if dropout_first and len(sizes) > 1:
            layers.pop()
        return nn.Sequential(*layers, nn.Linear(sizes[-1], classes))

    return make


def _features(layers: Any, head: Any, pooled: int | None = None):
    def make(machine, *args, num_classes=1000, **options):
        return _unless_unknown(num_classes, lambda n: Features(layers(), head(n), pooled))

    return make


def _narrowing(channels: int):
    """Five stages, each of half the size: for models whose single layers nobody counts."""
    return lambda: nn.Sequential(_stage(3, channels, 2), *[_stage(channels, channels, 2) for _ in range(4)])


def _vgg(stages: tuple[int, ...], normed: bool):
    """The layers of a VGG one by one: programs cut its features at certain numbers."""

    def make() -> nn.Sequential:
        layers: list[nn.Module] = []
        width = 3
        for channels, count in zip((64, 128, 256, 512, 512), stages):
            for _ in range(count):
                layers.append(nn.Conv2d(width, channels, 3, padding=1))
                layers += [nn.BatchNorm2d(channels)] * normed
                layers.append(nn.ReLU(inplace=True))
                width = channels
            layers.append(nn.MaxPool2d(2, stride=2))
        return nn.Sequential(*layers)

    return make


def _alexnet() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(3, 64, 11, stride=4, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(3, stride=2),
        nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(inplace=True), nn.MaxPool2d(3, stride=2),
        nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(inplace=True),
        nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(inplace=True),
        nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(3, stride=2),
    )  # fmt: skip


_VGG = {"vgg11": (1, 1, 2, 2, 2), "vgg13": (2, 2, 2, 2, 2), "vgg16": (2, 2, 3, 3, 3), "vgg19": (2, 2, 4, 4, 4)}


MODELS: dict[str, Any] = {
    **{f"torchvision.models.{name}": Special(name, _resnet(1)) for name in ("resnet18", "resnet34")},
    **{
        f"torchvision.models.{name}": Special(name, _resnet(4))
        for name in (
            "resnet50 resnet101 resnet152 resnext50_32x4d resnext101_32x8d resnext101_64x4d wide_resnet50_2 "
            "wide_resnet101_2"
        ).split()
    },
    **{
        f"torchvision.models.{name}{suffix}": Special(
            name, _features(_vgg(stages, bool(suffix)), _head(512 * 49, 4096, 4096), 7)
        )
        for name, stages in _VGG.items()
        for suffix in ("", "_bn")
    },
    "torchvision.models.alexnet": Special(
        "alexnet", _features(_alexnet, _head(256 * 36, 4096, 4096, dropout_first=True), 6)
    ),
    "torchvision.models.mobilenet_v2": Special(
        "mobilenet_v2", _features(_narrowing(1280), _head(1280, dropout_first=True))
    ),
    "torchvision.models.efficientnet_b0": Special(
        "efficientnet_b0", _features(_narrowing(1280), _head(1280, dropout_first=True), 1)
    ),
    "torchvision.models.densenet121": Special("densenet121", _features(_narrowing(1024), lambda n: nn.Linear(1024, n))),
}
